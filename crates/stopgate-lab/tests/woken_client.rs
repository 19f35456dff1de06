//! The real Claude Code client, parked by its own agent and woken by the background process: once,
//! and with no turn sent twice, counted at its model.

use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use stopgate_lab::{Exit, Lab, LabClient, Program, ScriptedTurn};

const GOAL: &str = "bring the build home";
const NUDGE: &str = "it has happened. Go on with the goal";
/// How long something that must happen may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// A stage with the hooks installed, and both programs on its path.
struct Scene {
    stage: Lab,
    program: Program,
}

impl Scene {
    fn new() -> Result<Self> {
        let program = Program::find().context("could not")?;
        let stage = Lab::new(LabClient::install().context("could not")?)?;
        stage.put_on_path(&program)?;
        stage.put_client_on_path()?;
        let scene = Self { stage, program };
        scene.stopgate(&["install", "claude", "--scope", "project"])?;
        Ok(scene)
    }

    fn stopgate(&self, args: &[&str]) -> Result<String> {
        let reply = self.stage.stopgate(&self.program, args)?;
        ensure!(reply.code == 0, "stopgate {args:?}: {reply:#?}");
        Ok(reply.stdout)
    }

    fn outcome(&self, id: &str) -> Result<String> {
        let reply = self.stage.stopgate(&self.program, ["status", id, "--json"])?;
        let view = &reply.json()["loop"];
        let word = view["outcome"].as_str().or(view["state"].as_str());
        Ok(word.unwrap_or_default().to_owned())
    }

    fn until(&self, what: &str, is_so: impl Fn(&Self) -> Result<bool>) -> Result<()> {
        let begun = now();
        while !is_so(self)? {
            let log = self.stopgate(&["log"])?;
            ensure!(begun.elapsed() < PATIENCE, "{what}\n{log}{}", self.wakes());
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// What woken clients printed, for a failed test.
    fn wakes(&self) -> String {
        let entries = fs::read_dir(self.stage.state().join("wakes")).into_iter().flatten();
        entries.flatten().filter_map(|entry| fs::read_to_string(entry.path()).ok()).collect()
    }

    /// How often a session's model was told this, by any client.
    fn told(&self, session: &str, text: &str) -> usize {
        let told = self.stage.model().told();
        told.iter().filter(|told| told.session == session && told.text.contains(text)).count()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.stage.stopgate(&self.program, ["daemon", "--stop"]);
    }
}

#[expect(clippy::disallowed_methods, reason = "what never happens must fail its test")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "a process to wait for")]
fn sleeper() -> Result<Child> {
    Ok(std::process::Command::new("sleep").arg("600").spawn()?)
}

/// Parks a session by its own agent, lets `happen`, and counts what its model is told.
fn check(flags: &str, happen: impl FnOnce(&Scene) -> Result<()>) -> Result<()> {
    let scene = Scene::new()?;
    let session = scene.stage.session("begin").allowing_bash().uncapped();
    let wait = format!("stopgate wait {flags}");
    scene.stage.model().script(
        &session.id,
        [
            ScriptedTurn::bash(&wait),
            ScriptedTurn::text("I wait."),
            ScriptedTurn::text("The build is home."),
            ScriptedTurn::text("I am sure."),
        ],
    );
    let args = ["start", "--json", "--session", &session.id, "--max-iterations", "1", GOAL];
    let begun: serde_json::Value = serde_json::from_str(&scene.stopgate(&args)?)?;
    let id = begun["loop"]["id"].as_str().context("a loop has an id")?.to_owned();
    let outcome = scene.stage.run(&session)?;
    ensure!(outcome.exit == Exit::Code(0) && outcome.model_calls == 2, "{outcome}");
    happen(&scene)?;
    scene.until("the loop goes on to its end", |scene| {
        Ok(scene.outcome(&id)? == "max_iterations")
    })?;
    scene.until("nobody is left to watch for", |scene| {
        let reply = scene.stage.stopgate(&scene.program, ["daemon", "--status", "--json"])?;
        Ok(reply.json()["waiting"] == 0)
    })?;
    assert_eq!(scene.told(&session.id, NUDGE), 1, "woken once: {}", scene.wakes());
    assert_eq!(scene.told(&session.id, "Loop 1/1"), 1, "held once after it was woken");
    let calls = scene.stage.model().main_calls_of(&session.id).len();
    assert_eq!(calls, 4, "no turn was sent twice: {}", scene.wakes());
    let log = scene.stopgate(&["log", &id])?;
    assert_eq!(log.matches("its session was resumed").count(), 1, "{log}");
    Ok(())
}

#[test]
fn a_session_that_waits_for_a_file_is_woken_once() -> Result<()> {
    check("--path built/done", |scene| {
        let directory = scene.stage.project().join("built");
        fs::create_dir(&directory)?;
        fs::write(directory.join("done"), "")?;
        Ok(())
    })
}

#[test]
fn a_session_that_waits_for_a_process_is_woken_once() -> Result<()> {
    let mut sleeper = sleeper()?;
    check(&format!("--pid {}", sleeper.id()), move |_| {
        sleeper.kill()?;
        sleeper.wait()?;
        Ok(())
    })
}

#[test]
fn a_session_that_waits_for_a_time_is_woken_once() -> Result<()> {
    check("--until 4s", |_| Ok(()))
}

/// A client in a terminal, with a person before it, is not doubled: they are told, and go on there.
#[test]
fn a_client_in_a_terminal_is_never_resumed_beside_itself() -> Result<()> {
    let scene = Scene::new()?;
    scene.stage.model().script_for_all([ScriptedTurn::text("I wait.")]);
    let terminal = scene.stage.terminal()?;
    terminal.bang(&format!("stopgate start '{GOAL}' && stopgate wait --path built"))?;
    terminal.wait_for("Parked: you may stop now")?;
    terminal.wait_for("I wait.")?;
    // The screen shows the turn's words before its stop is asked, and a stop that finds the file
    // would go on by itself.
    scene.until("the turn has ended", |scene| {
        Ok(scene.stopgate(&["log"])?.contains("allowed: the loop is parked"))
    })?;
    let calls = scene.stage.model().main_calls().len();
    fs::write(scene.stage.project().join("built"), "")?;
    scene.until("it is noted that it happened", |scene| {
        Ok(scene.stopgate(&["log"])?.contains("condition_held"))
    })?;
    let log = scene.stopgate(&["log"])?;
    assert!(!log.contains("its session was resumed"), "{log}");
    assert_eq!(scene.stage.model().main_calls().len(), calls, "no model was asked");
    assert!(!scene.stage.state().join("wakes").exists(), "no client was started");
    terminal.say("go on")?;
    scene.until("the client's own stop finds out", |scene| {
        Ok(scene.stopgate(&["log"])?.contains("unparked"))
    })
}
