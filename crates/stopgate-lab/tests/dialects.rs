//! Loops in another tool's files hold the real Claude Code client, from start to end.
//!
//! Each format with the kind of settings that its own pages show: a command on Stop in
//! `.claude/settings.local.json`, with that page's time limit. Needs the program and the
//! client, as `real_client.rs` does.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use stopgate_lab::{Exit, Lab, LabClient, Program, ScriptedTurn, Session, SessionResult};

struct Scene {
    stage: Lab,
    program: Program,
    session: Session,
}

impl Scene {
    /// The hook of this dialect on these events, with this many seconds to answer.
    fn new(dialect: &str, events: &[&str], timeout: u32) -> Result<Self> {
        let program = Program::find().context("could not")?;
        let client = LabClient::install().context("could not")?;
        let stage = Lab::new(client)?;
        let tools = "Bash,TaskCreate,TaskUpdate,TaskList";
        let session = stage.session("begin").uncapped().args(["--allowedTools", tools]);
        let scene = Self { stage, program, session };
        let command =
            format!("'{}' hook claude --dialect {dialect}", scene.program.path().display());
        let hook = json!({"type": "command", "command": command, "timeout": timeout});
        let entry = json!([{"hooks": [hook]}]);
        let hooks: serde_json::Map<String, Value> =
            events.iter().map(|event| ((*event).to_string(), entry.clone())).collect();
        scene.write(".claude/settings.local.json", &json!({ "hooks": hooks }).to_string())?;
        Ok(scene)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.stage.project().join(name)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.path(name);
        fs::create_dir_all(path.parent().context("a directory")?)?;
        Ok(fs::write(path, text)?)
    }

    fn read(&self, name: &str) -> Result<String> {
        fs::read_to_string(self.path(name)).with_context(|| format!("could not read {name}"))
    }

    fn play(&self, turns: impl IntoIterator<Item = ScriptedTurn>) -> Result<SessionResult> {
        self.stage.model().script(&self.session.id, turns);
        let outcome = self.stage.run(&self.session)?;
        ensure!(outcome.exit == Exit::Code(0), "{outcome}");
        ensure!(!outcome.capped, "the client overrode the hook\n{outcome}");
        Ok(outcome)
    }

    /// A stopgate command for the agent's own shell.
    fn command(&self, args: &str) -> String {
        format!("'{}' {args}", self.program.path().display())
    }
}

#[test]
fn idle() -> Result<()> {
    let scene = Scene::new("idle", &["Stop"], 30)?;
    let file = ".claude/idle-loop.local.md";
    scene.write(
        file,
        "---\nactive: true\nmode: loop\niteration: 0\nmax_iterations: 10\n---\nDo it\n",
    )?;
    let outcome = scene.play([
        ScriptedTurn::text("First."),
        ScriptedTurn::text("I will print\n```\n<loop-done>COMPLETE</loop-done>\n```\nwhen done."),
        ScriptedTurn::text("All done.\n\n<loop-done>COMPLETE</loop-done>"),
    ])?;
    assert_eq!(outcome.model_calls, 3, "{outcome}");
    assert_eq!(outcome.told_at("[ITERATION 1/10] Continue working on the task."), Some(2));
    assert_eq!(outcome.told_at("[ITERATION 2/10] Continue working on the task."), Some(3));
    assert!(!scene.path(file).exists(), "the loop is over");
    Ok(())
}

#[test]
fn idle_to_its_limit() -> Result<()> {
    let scene = Scene::new("idle", &["Stop"], 30)?;
    let file = ".claude/idle-loop.local.md";
    scene.write(
        file,
        "---\nactive: true\nmode: loop\niteration: 0\nmax_iterations: 3\n---\nDo it\n",
    )?;
    let outcome = scene.play([])?;
    assert_eq!(outcome.model_calls, 4, "{outcome}");
    assert_eq!(outcome.told_at("[ITERATION 3/3]"), Some(4), "{outcome}");
    assert!(!scene.path(file).exists(), "the loop is over");
    Ok(())
}

#[test]
fn idle_in_the_message_store() -> Result<()> {
    let mut scene = Scene::new("idle", &["Stop"], 30)?;
    let frame = json!({"id": "a", "mode": "loop", "iter": 0, "max": 10, "prompt": "Do it"});
    let message = json!({"schema": 1, "event": "STATE", "run_id": "r", "stack": [frame]});
    scene.write(".jwz/loop:current.log", &format!("{message}\n"))?;
    let stand_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stopgate/tests/cases/bin");
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", stand_in.canonicalize()?.display());
    scene.session = scene.session.env("PATH", &path);
    let outcome = scene.play([
        ScriptedTurn::text("First."),
        ScriptedTurn::text("<loop-done>COMPLETE</loop-done>"),
    ])?;
    assert_eq!(outcome.told_at("[ITERATION 1/10]"), Some(2), "{outcome}");
    let topic = scene.read(".jwz/loop:current.log")?;
    let last: Value = serde_json::from_str(topic.lines().last().context("a message")?)?;
    assert_eq!((outcome.model_calls, &last["event"]), (2, &json!("DONE")), "{topic}");
    Ok(())
}

#[test]
fn features_in_their_usual_place_to_the_limit() -> Result<()> {
    let scene = Scene::new("features", &["Stop"], 30)?;
    let directory = ".claude/data/ralph-loops/current";
    let list = json!({"features": [{"id": 1, "description": "one", "passes": false}]});
    scene.write(&format!("{directory}/feature_list.json"), &list.to_string())?;
    let progress = "- Max Iterations: 3\n- Iteration: 1\n- Status: IN_PROGRESS\n";
    scene.write(&format!("{directory}/progress.txt"), progress)?;
    let outcome = scene.play([])?;
    assert_eq!(outcome.model_calls, 3, "{outcome}");
    let progress = scene.read(&format!("{directory}/progress.txt"))?;
    assert_eq!(progress, "- Max Iterations: 3\n- Iteration: 3\n- Status: REACHED_LIMIT\n");
    Ok(())
}

#[test]
fn features() -> Result<()> {
    let mut scene = Scene::new("features", &["Stop"], 30)?;
    // The client lets no agent write below .claude without asking a person each time, and
    // nobody is there to be asked; so the loop lies where its variable says.
    let directory = "loop";
    scene.session = scene.session.env("RALPH_LOOP_DIR", directory);
    let feature = |id: u32, name: &str| json!({"id": id, "description": name, "passes": false});
    let list = json!({"features": [feature(1, "one"), feature(2, "two")]});
    scene.write(&format!("{directory}/feature_list.json"), &format!("{list:#}\n"))?;
    let progress =
        "# Loop\n\n- Max Iterations: 15\n- Iteration: 1\n- Status: IN_PROGRESS\n\nNotes\n";
    scene.write(&format!("{directory}/progress.txt"), progress)?;
    // GNU sed: from line 0 to the first match, so one feature a time.
    let tick = format!("sed -i '0,/false/s//true/' {directory}/feature_list.json");
    let outcome = scene.play([
        ScriptedTurn::text("Looking."),
        ScriptedTurn::bash(&tick),
        ScriptedTurn::text("One is done."),
        ScriptedTurn::bash(&tick),
        ScriptedTurn::text("Two is done."),
    ])?;
    assert_eq!(outcome.model_calls, 5, "{outcome}");
    assert_eq!(outcome.told_at("Ralph Loop iteration 2:"), Some(2), "{outcome}");
    assert_eq!(outcome.told_at("Ralph Loop iteration 3:"), Some(4), "{outcome}");
    let progress = scene.read(&format!("{directory}/progress.txt"))?;
    assert!(progress.contains("- Status: COMPLETE\n\nNotes\n"), "{progress}");
    let log = scene.read(&format!("{directory}/hook.log"))?;
    assert!(log.contains(&scene.session.id), "{log}");
    Ok(())
}

#[test]
fn criteria() -> Result<()> {
    let scene = Scene::new("criteria", &["Stop", "SessionStart"], 10)?;
    let started = ["start", "--dialect", "criteria", "--criterion", "tests pass", "--criterion"];
    let args = [&started[..], &["lint clean", "--step", "write it", "Do the thing"]].concat();
    let reply = scene.stage.stopgate(&scene.program, args)?;
    ensure!(reply.code == 0, "{reply:?}");
    let met = scene.command("iterate --dialect criteria --met 'tests pass' --met 'lint clean'");
    let outcome = scene.play([
        ScriptedTurn::text("First."),
        ScriptedTurn::bash(&scene.command("iterate --dialect criteria --met 'tests pass'")),
        ScriptedTurn::text("Second."),
        ScriptedTurn::bash(&met),
        ScriptedTurn::bash(&scene.command("complete --dialect criteria")),
        ScriptedTurn::text("Third."),
    ])?;
    assert_eq!(outcome.model_calls, 6, "{outcome}");
    let first =
        scene.stage.model().main_calls_of(&scene.session.id)[0].body["messages"].to_string();
    assert!(first.contains("[LOOP RESUME] Active loop detected"), "{first}");
    assert_eq!(outcome.told_at("unmet criteria: tests pass, lint clean"), Some(2), "{outcome}");
    assert_eq!(outcome.told_at("unmet criteria: lint clean"), Some(4), "{outcome}");
    let state: Value = serde_json::from_str(&scene.read(".loop/state.json")?)?;
    assert_eq!(state["status"], "completed", "{state}");
    Ok(())
}

#[test]
fn task_in_the_clients_own_directory() -> Result<()> {
    let scene = Scene::new("task", &["Stop"], 30)?;
    let metadata = json!({
        "iteration": 0, "cost": 0, "shape": "tool", "budget": 25, "maxIterations": 10,
        "completedSteps": [], "remainingSteps": ["step1", "step2"], "errors": []
    });
    let create = json!({"subject": "Complete: it", "description": "all", "metadata": metadata});
    let done = json!({"completedSteps": ["step1"], "remainingSteps": ["step2"]});
    let outcome = scene.play([
        ScriptedTurn::tool("TaskCreate", create),
        ScriptedTurn::tool("TaskUpdate", json!({"taskId": "1", "status": "in_progress"})),
        ScriptedTurn::text("Begun."),
        ScriptedTurn::tool("TaskUpdate", json!({"taskId": "1", "metadata": done})),
        ScriptedTurn::text("Step 1 is done."),
        ScriptedTurn::text(
            "<loop-complete>\nAll success criteria satisfied:\n- tests: ✓\n</loop-complete>",
        ),
    ])?;
    assert_eq!(outcome.model_calls, 6, "{outcome}");
    assert_eq!(outcome.told_at("next: step1"), Some(4), "{outcome}");
    assert_eq!(outcome.told_at("next: step2"), Some(6), "{outcome}");
    let told = outcome.warnings.iter().any(|told| told.contains("2 of 10 iterations"));
    assert!(told || outcome.events.iter().any(|event| event.to_string().contains("2 of 10")));
    let file = scene.stage.home().join(".claude/tasks").join(&scene.session.id).join("1.json");
    let task: Value = serde_json::from_slice(&fs::read(file)?)?;
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!(task["metadata"]["iteration"], 2, "{task}");
    still_a_task_to_the_client(&scene)
}

/// What the hook wrote is a task that the client itself can read.
fn still_a_task_to_the_client(scene: &Scene) -> Result<()> {
    let again = scene.session.resumed("list them").args(["--allowedTools", "TaskList"]);
    let turns = [ScriptedTurn::text("earlier"); 1].into_iter().cycle().take(6);
    let turns =
        turns.chain([ScriptedTurn::tool("TaskList", json!({})), ScriptedTurn::text("Listed.")]);
    scene.stage.model().script(&again.id, turns);
    let outcome = scene.stage.run(&again)?;
    let listed = outcome.told.iter().any(|told| told.text.contains("#1 [completed] Complete: it"));
    ensure!(listed, "{outcome}");
    Ok(())
}

#[test]
fn ralph_loop() -> Result<()> {
    let scene = Scene::new("ralph-loop", &["Stop"], 30)?;
    let file = ".claude/ralph-loop.local.md";
    scene.write(
        file,
        &format!(
            "---\nactive: true\niteration: 1\nsession_id: {}\nmax_iterations: 20\n\
             completion_promise: \"ALL GREEN\"\nstarted_at: \"2026-11-15T05:00:00Z\"\n---\n\n\
             Make every test pass\n",
            scene.session.id
        ),
    )?;
    let outcome = scene.play([
        ScriptedTurn::text("I am not saying <promise>ALL GREEN</promise> yet."),
        ScriptedTurn::text("ALL GREEN"),
        ScriptedTurn::text("They pass.\n\n<promise>ALL GREEN</promise>"),
    ])?;
    assert_eq!(outcome.model_calls, 3, "{outcome}");
    assert_eq!(outcome.told_at("Make every test pass"), Some(2), "{outcome}");
    assert!(!scene.path(file).exists(), "the loop is over");
    Ok(())
}
