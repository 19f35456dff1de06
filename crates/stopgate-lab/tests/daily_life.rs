//! The first minutes and the evenings after, played with the real Claude Code client in its usual
//! permission mode: nothing is allowed that `install` did not ask for.

use std::fs;

use anyhow::{Context, Result, ensure};
use stopgate_lab::{
    Exit, Lab, LabClient, LabOutput, Program, ScriptedTurn, Session, SessionResult,
};

/// A project with a client, and the program on the search path.
struct Scene {
    stage: Lab,
    program: Program,
    /// How many commands the person typed.
    typed: usize,
}

impl Scene {
    fn new() -> Result<Self> {
        let program = Program::find().context("could not")?;
        let stage = Lab::new(LabClient::install().context("could not")?)?;
        stage.put_on_path(&program)?;
        Ok(Self { stage, program, typed: 0 })
    }

    fn installed(scope: &str) -> Result<Self> {
        let mut scene = Self::new()?;
        scene.types(&["install", "claude", "--scope", scope])?;
        Ok(scene)
    }

    fn types(&mut self, args: &[&str]) -> Result<LabOutput> {
        self.typed += 1;
        let reply = self.stage.stopgate(&self.program, args)?;
        ensure!(reply.code == 0, "stopgate {args:?}: {reply:#?}");
        Ok(reply)
    }

    /// Starts a loop whose only check wants a file, and tells its id.
    fn start(&mut self, options: &[&str]) -> Result<String> {
        let check = ["start", "--json", "--check", "made=test -f made.txt"];
        let reply = self.types(&[&check, options, &["make the file"]].concat())?;
        let id = reply.json()["loop"]["id"].as_str().map(str::to_owned);
        id.context("start printed no loop id")
    }

    fn outcome(&mut self, id: &str) -> Result<String> {
        let status = self.types(&["status", id, "--json"])?.json();
        Ok(status["loop"]["outcome"].as_str().unwrap_or("open").to_owned())
    }

    fn run(&self, session: &Session, turns: &[ScriptedTurn]) -> Result<SessionResult> {
        self.stage.model().script(&session.id, turns.iter().cloned());
        let result = self.stage.run(session)?;
        ensure!(result.exit == Exit::Code(0), "{result}");
        Ok(result)
    }
}

/// Whether the client printed a text that one of its hooks sent.
fn is_shown(result: &SessionResult, text: &str) -> bool {
    result.events.iter().any(|event| event.to_string().contains(text))
}

/// A project in Python whose only test fails, and the edit that makes it pass.
fn write_project(stage: &Lab) -> Result<&'static str> {
    let project = stage.project();
    fs::create_dir_all(project.join("tests"))?;
    fs::write(project.join("calc.py"), "def add(a, b):\n    return a - b\n")?;
    fs::write(project.join("pyproject.toml"), "[project]\nname = \"calc\"\nversion = \"1\"\n")?;
    let test = "import unittest\nfrom calc import add\n\n\nclass AddTest(unittest.TestCase):\n    \
                def test_small(self):\n        self.assertEqual(add(2, 2), 4)\n";
    fs::write(project.join("tests/test_calc.py"), test)?;
    fs::write(project.join("tests/__init__.py"), "")?;
    fs::write(project.join("Makefile"), "test:\n\tpython3 -m unittest discover\n")?;
    Ok("sed -i 's/a - b/a + b/' calc.py")
}

#[test]
fn the_readme_leads_from_an_empty_home_to_done_in_six_commands() -> Result<()> {
    let mut scene = Scene::new()?;
    let repair = write_project(&scene.stage)?;
    scene.types(&["install", "claude"])?;
    scene.types(&["doctor"])?;
    scene.types(&["init"])?;
    scene.types(&["trust", "--yes"])?;
    scene.types(&["start", "add() is correct and all tests pass"])?;
    let session = scene.stage.session("make the tests pass").allowing_bash();
    let turns =
        [ScriptedTurn::text("Done."), ScriptedTurn::bash(repair), ScriptedTurn::text("Done now.")];
    let result = scene.run(&session, &turns)?;
    assert_eq!(result.told_at("Loop 1/20"), Some(2), "{result}");
    assert_eq!(result.told_at("test_small"), Some(2), "{result}");
    assert_eq!(result.model_calls, 3, "{result}");
    let status = scene.types(&["status"])?;
    assert!(status.stdout.contains("DONE"), "{status:#?}");
    assert!(scene.typed <= 6, "{} commands", scene.typed);
    Ok(())
}

#[test]
fn the_agents_exits_need_no_permission() -> Result<()> {
    for (verb, outcome) in [("blocked", "blocked"), ("impossible", "impossible")] {
        let mut scene = Scene::installed("user")?;
        let id = scene.start(&[])?;
        let session = scene.stage.session("begin");
        let leave = ScriptedTurn::bash(&format!("stopgate {verb} 'no network here'"));
        let result = scene.run(&session, &[leave, ScriptedTurn::text("I can't go on.")])?;
        assert_eq!(result.told_at("requires approval"), None, "{result}");
        assert_eq!(result.model_calls, 2, "{result}");
        assert_eq!(scene.outcome(&id)?, outcome, "{result}");
    }
    Ok(())
}

#[test]
fn an_agent_without_a_shell_leaves_by_its_words() -> Result<()> {
    let mut scene = Scene::installed("user")?;
    let id = scene.start(&[])?;
    let session = scene.stage.session("begin").args(["--disallowedTools", "Bash"]);
    let words = "The registry is not reachable.\n<promise>BLOCKED: no network here</promise>";
    let result = scene.run(&session, &[ScriptedTurn::text(words)])?;
    assert_eq!(result.model_calls, 1, "{result}");
    assert_eq!(scene.outcome(&id)?, "blocked", "{result}");
    Ok(())
}

#[test]
fn a_loop_whose_session_is_gone_is_told_to_the_next_one_and_attached() -> Result<()> {
    let mut scene = Scene::installed("user")?;
    let gone = scene.stage.session("begin");
    let id = scene.start(&["--session", gone.id.as_str()])?;
    scene.types(&["pause", &id])?;
    scene.run(&gone, &[ScriptedTurn::text("Resting.")])?;
    scene.types(&["resume", &id])?;
    let status = scene.types(&["status", &id])?;
    assert!(status.stdout.contains("session ended"), "{status:#?}");

    let told = scene.stage.session("anything new?");
    let result = scene.run(&told, &[ScriptedTurn::text("Hello.")])?;
    assert_eq!(result.model_calls, 1, "a session that was only told is not held\n{result}");
    assert!(is_shown(&result, &id), "{:#?}", result.events);
    let later = scene.stage.session("and now?");
    let result = scene.run(&later, &[ScriptedTurn::text("Hello.")])?;
    assert!(!is_shown(&result, &id), "told once is enough: {:#?}", result.events);

    scene.types(&["attach", &id])?;
    let heir = scene.stage.session("go on").allowing_bash();
    let turns = [
        ScriptedTurn::text("Done."),
        ScriptedTurn::bash("touch made.txt"),
        ScriptedTurn::text("Done now."),
    ];
    let result = scene.run(&heir, &turns)?;
    assert_eq!(result.told_at("Loop 1/20"), Some(2), "{result}");
    assert_eq!(scene.outcome(&id)?, "done", "{result}");
    Ok(())
}

#[test]
fn a_teammate_without_the_program_sees_no_error_of_the_projects_entry() -> Result<()> {
    let mut scene = Scene::installed("project")?;
    let id = scene.start(&[])?;
    let path = scene.stage.home().join("../bin/stopgate");
    fs::remove_file(&path).with_context(|| path.display().to_string())?;
    let session = scene.stage.session("begin");
    let result = scene.run(&session, &[ScriptedTurn::text("Done.")])?;
    assert_eq!(result.model_calls, 1, "{result}");
    let hooks = result.events.iter().filter(|event| event["subtype"] == "hook_response");
    let hooks: Vec<_> = hooks.map(|hook| (&hook["exit_code"], &hook["stderr"])).collect();
    assert!(!hooks.is_empty(), "{:#?}", result.events);
    assert!(hooks.iter().all(|(code, complaint)| **code == 0 && **complaint == ""), "{hooks:#?}");
    assert_eq!(scene.outcome(&id)?, "open", "{result}");
    Ok(())
}

#[test]
fn cancel_frees_the_agent_that_a_check_holds() -> Result<()> {
    let mut scene = Scene::installed("user")?;
    let session = scene.stage.session("begin");
    let check = ["start", "--json", "--no-preflight", "--session", session.id.as_str()];
    let slow = "slow=touch running; sleep 50; false";
    let reply = scene.types(&[&check[..], &["--check", slow, "wait"]].concat())?;
    let id = reply.json()["loop"]["id"].as_str().context("no id")?.to_owned();
    scene.stage.model().script(&session.id, [ScriptedTurn::text("Done.")]);
    let running = scene.stage.project().join("running");
    let result = std::thread::scope(|scope| {
        let held = scope.spawn(|| scene.stage.run(&session));
        while !running.exists() && !held.is_finished() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let cancelled = scene.stage.stopgate(&scene.program, ["cancel", &id]);
        (held.join(), cancelled)
    });
    let (held, cancelled) = result;
    ensure!(cancelled?.code == 0, "cancel failed");
    let held = held.map_err(|_| anyhow::anyhow!("the session's thread failed"))??;
    assert_eq!(held.exit, Exit::Code(0), "{held}");
    assert_eq!(held.model_calls, 1, "{held}");
    assert_eq!(scene.outcome(&id)?, "cancelled", "{held}");
    Ok(())
}
