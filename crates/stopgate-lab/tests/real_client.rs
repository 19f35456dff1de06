//! stopgate holds the real Claude Code client, and lets it go.
//!
//! Needs the program (`STOPGATE_BIN`, else `target/release/stopgate`) and the
//! client (`STOPGATE_LAB_CLAUDE`, else installed by npm). Where one is missing
//! every scene fails and says so.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use stopgate_lab::{
    Exit, Kind, Lab, LabClient, LabOutput, Program, Scope, ScriptedTurn, Session, SessionResult,
};

const GOAL: &str = "move every test to the new runner";

/// A stage and the program under test.
struct Scene {
    stage: Lab,
    program: Program,
}

impl Scene {
    fn new() -> Result<Self> {
        let program = Program::find().context("could not")?;
        let client = LabClient::install().context("could not")?;
        Ok(Self { stage: Lab::new(client)?, program })
    }

    /// With the hook on Stop in the project's settings, by way of a shell.
    fn with_stop_hook() -> Result<Self> {
        let scene = Self::new()?;
        scene.stage.hook(Scope::Project, &["Stop"], &scene.program.shell_hook())?;
        Ok(scene)
    }

    /// With whatever `install` puts in place.
    fn installed(scope: &str) -> Result<Self> {
        let scene = Self::new()?;
        scene.stage.put_on_path(&scene.program)?;
        scene.stopgate(&["install", "claude", "--scope", scope])?;
        Ok(scene)
    }

    fn stopgate(&self, args: &[&str]) -> Result<LabOutput> {
        let reply = self.stage.stopgate(&self.program, args)?;
        ensure!(reply.code == 0, "stopgate {args:?}: {reply:#?}");
        Ok(reply)
    }

    /// Starts a loop on the goal and tells its id.
    fn start(&self, options: &[&str]) -> Result<String> {
        let args = [&["start", "--json"], options, &[GOAL]].concat();
        let id = self.stopgate(&args)?.json()["loop"]["id"].as_str().map(str::to_owned);
        id.context("start printed no loop id")
    }

    /// Starts a loop that belongs to this session.
    fn start_for(&self, session: &Session, options: &[&str]) -> Result<String> {
        self.start(&[&["--session", session.id.as_str()], options].concat())
    }

    fn run(&self, session: &Session) -> Result<SessionResult> {
        let outcome = self.stage.run(session)?;
        ensure!(outcome.exit == Exit::Code(0), "{outcome}");
        Ok(outcome)
    }

    /// How the loop stands, as `outcome iteration`.
    fn standing(&self, id: &str) -> Result<String> {
        let status = self.stopgate(&["status", id, "--json"])?.json();
        let outcome = status["loop"]["outcome"].as_str().unwrap_or("open");
        Ok(format!("{outcome} {}", status["loop"]["iteration"]))
    }
}

/// The session was sent back `times` times, each counted aloud, and then let
/// go with its last answer.
#[track_caller]
fn check_held(outcome: &SessionResult, times: usize, limit: usize) {
    assert_eq!(outcome.model_calls, times + 1, "{outcome}");
    for iteration in 1..=times {
        let told = outcome.told_at(&format!("Loop {iteration}/{limit}"));
        assert_eq!(told, Some(iteration + 1), "{outcome}");
    }
    assert!(!outcome.capped, "the client overrode the hook\n{outcome}");
    assert_eq!(outcome.final_result(), format!("turn {}", times + 1), "{outcome}");
}

#[test]
fn twelve_iterations_then_it_may_stop() -> Result<()> {
    let scene = Scene::with_stop_hook()?;
    let session = scene.stage.session("begin").uncapped();
    let id = scene.start_for(&session, &["--max-idle", "0", "--max-iterations", "12"])?;
    check_held(&scene.run(&session)?, 12, 12);
    assert_eq!(scene.standing(&id)?, "max_iterations 12");
    Ok(())
}

#[test]
fn the_exec_form_holds_as_well() -> Result<()> {
    let scene = Scene::new()?;
    scene.stage.hook(Scope::Project, &["Stop"], &scene.program.exec_hook())?;
    let session = scene.stage.session("begin").uncapped();
    let id = scene.start_for(&session, &["--max-idle", "0", "--max-iterations", "2"])?;
    check_held(&scene.run(&session)?, 2, 2);
    assert_eq!(scene.standing(&id)?, "max_iterations 2");
    Ok(())
}

#[test]
fn an_idle_session_is_let_go_as_stalled() -> Result<()> {
    let scene = Scene::with_stop_hook()?;
    let session = scene.stage.session("begin").uncapped();
    // The client writes its transcript a moment after it answers; no real model is faster.
    let turn =
        |number| ScriptedTurn::text(&format!("turn {number}")).after(Duration::from_millis(500));
    scene.stage.model().script(&session.id, (1..=6).map(turn));
    let id = scene.start_for(&session, &["--max-iterations", "12"])?;
    check_held(&scene.run(&session)?, 3, 12);
    assert_eq!(scene.standing(&id)?, "stalled 3");
    Ok(())
}

#[test]
fn of_four_sessions_only_the_owner_is_held() -> Result<()> {
    let scene = Scene::with_stop_hook()?;
    let sessions: Vec<Session> = (0..4).map(|_| scene.stage.session("begin").uncapped()).collect();
    let id = scene.start_for(&sessions[1], &["--max-idle", "0", "--max-iterations", "5"])?;
    let outcomes = scene.stage.run_all(&sessions)?;
    for (at, outcome) in outcomes.iter().enumerate() {
        assert_eq!(outcome.exit, Exit::Code(0), "{outcome}");
        check_held(outcome, if at == 1 { 5 } else { 0 }, 5);
    }
    assert_eq!(scene.standing(&id)?, "max_iterations 5");
    Ok(())
}

#[test]
fn install_in_a_project_holds_past_the_cap() -> Result<()> {
    check_install("project", Scope::Project)
}

#[test]
fn install_for_a_user_holds_past_the_cap() -> Result<()> {
    check_install("user", Scope::User)
}

fn check_install(scope: &str, at: Scope) -> Result<()> {
    let scene = Scene::installed(scope)?;
    let settings: Value = serde_json::from_slice(&fs::read(scene.stage.settings_path(at))?)?;
    let entry = &settings["hooks"]["Stop"][0]["hooks"][0];
    // A user's entry names this machine's program; a project's is committed and must work anywhere.
    let (exec, path) = (entry["args"].is_array(), scene.program.path().display().to_string());
    assert_eq!(exec, at == Scope::User, "{settings:#}");
    assert_eq!(settings.to_string().contains(&path), at == Scope::User, "{settings:#}");
    // No variable from us here: install itself has to lift the cap.
    let session = scene.stage.session("begin");
    let id = scene.start_for(&session, &["--max-idle", "0", "--max-iterations", "10"])?;
    check_held(&scene.run(&session)?, 10, 10);
    assert_eq!(scene.standing(&id)?, "max_iterations 10");
    Ok(())
}

#[test]
fn where_the_cap_stands_we_let_go_before_it_strikes() -> Result<()> {
    let scene = Scene::with_stop_hook()?;
    let session = scene.stage.session("begin");
    let id = scene.start_for(&session, &["--max-idle", "0", "--max-iterations", "12"])?;
    check_held(&scene.run(&session)?, 8, 12);
    assert_eq!(scene.standing(&id)?, "capped 8");
    Ok(())
}

#[test]
fn proof_ends_the_loop_as_done() -> Result<()> {
    let scene = Scene::installed("project")?;
    let session = scene.stage.session("begin").allowing_bash();
    let turns = [
        ScriptedTurn::text("All done."),
        ScriptedTurn::bash("touch done.txt"),
        ScriptedTurn::text("Really done."),
    ];
    scene.stage.model().script(&session.id, turns);
    let id = scene.start_for(&session, &["--check", "ok=test -f done.txt"])?;
    let outcome = scene.run(&session)?;
    assert_eq!(outcome.model_calls, 3, "{outcome}");
    assert_eq!(outcome.told_at("Loop 1/20"), Some(2), "{outcome}");
    assert_eq!(outcome.told_at("test -f done.txt"), Some(2), "{outcome}");
    assert_eq!(outcome.final_result(), "Really done.");
    assert_eq!(scene.standing(&id)?, "done 1");
    Ok(())
}

#[test]
fn a_pending_loop_is_claimed_by_the_session_that_comes() -> Result<()> {
    let scene = Scene::installed("project")?;
    let id = scene.start(&["--max-idle", "0", "--max-iterations", "2"])?;
    let session = scene.stage.session("begin");
    check_held(&scene.run(&session)?, 2, 2);
    let status = scene.stopgate(&["status", &id, "--json"])?.json();
    assert_eq!(status["loop"]["session"], session.id.as_str(), "{status:#}");
    assert_eq!(scene.standing(&id)?, "max_iterations 2");
    Ok(())
}

#[test]
fn a_background_task_parks_the_loop_and_costs_nothing() -> Result<()> {
    let scene = Scene::installed("project")?;
    let session = scene.stage.session("begin").allowing_bash();
    let turns = [
        ScriptedTurn::background("sleep 3; echo over"),
        ScriptedTurn::text("Waiting for the task."),
    ];
    scene.stage.model().script(&session.id, turns);
    let id = scene.start_for(&session, &["--max-idle", "0", "--max-iterations", "2"])?;
    let outcome = scene.run(&session)?;
    // Tool, parked stop, then the task's end begins a turn that is held twice.
    assert_eq!(outcome.model_calls, 5, "{outcome}");
    assert_eq!(outcome.told_at("<task-notification>"), Some(3), "{outcome}");
    assert_eq!(outcome.told_at("Loop 1/2"), Some(4), "{outcome}");
    assert_eq!(outcome.told_at("Loop 2/2"), Some(5), "{outcome}");
    assert_eq!(scene.standing(&id)?, "max_iterations 2");
    Ok(())
}

#[test]
fn compaction_brings_the_goal_back_and_is_not_counted() -> Result<()> {
    let scene = Scene::installed("project")?;
    let session = scene.stage.session("begin");
    // Fills any window this client knows, so that it compacts before call 2.
    scene.stage.model().script(&session.id, [ScriptedTurn::text("Much read.").filling(990_000)]);
    let id = scene.start_for(&session, &["--max-idle", "0", "--max-iterations", "2"])?;
    let outcome = scene.run(&session)?;
    let requests = scene.stage.model().requests();
    assert!(requests.iter().any(|request| request.kind == Kind::Compact), "{outcome}");
    let calls = scene.stage.model().main_calls_of(&session.id);
    assert_eq!(calls.len(), 3, "{outcome}");
    let first_after = calls[1].body["messages"].to_string();
    assert!(first_after.contains("SUMMARY-OF-CONVERSATION"), "{first_after}");
    assert!(first_after.contains(GOAL), "{first_after}");
    assert_eq!(scene.standing(&id)?, "max_iterations 2");
    Ok(())
}
