//! The lab drives the real client: a stand-in hook of five lines shows it.
//!
//! What the client does here is what every expectation on the product's own
//! hook rests on.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use stopgate_lab::{
    Exit, HookLaunch, Kind, Lab, LabClient, Scope, ScriptedTurn, Session, SessionResult,
};

/// A hook that holds each session this many times, then lets it go.
fn stand_in(stage: &Lab, times: usize) -> Result<PathBuf> {
    let reason = format!(r#"{{"decision":"block","reason":"held %s of {times}"}}\n"#);
    let text = format!(
        "cat >/dev/null\n\
         file=$HOME/held.$CLAUDE_CODE_SESSION_ID\n\
         held=$(($(cat \"$file\" 2>/dev/null || echo 0) + 1))\n\
         [ $held -gt {times} ] && exit 0\n\
         echo $held >\"$file\"\n\
         printf '{reason}' $held\n"
    );
    written(stage, "stand-in.sh", &text)
}

fn written(stage: &Lab, name: &str, text: &str) -> Result<PathBuf> {
    let path = stage.state().join(name);
    fs::write(&path, text)?;
    Ok(path)
}

fn shell(script: &std::path::Path) -> HookLaunch {
    HookLaunch::Shell(format!("sh '{}'", script.display()))
}

fn stage() -> Result<Lab> {
    Ok(Lab::new(LabClient::install()?)?)
}

fn ended_well(outcome: &SessionResult) -> Result<()> {
    ensure!(outcome.exit == Exit::Code(0), "{outcome}");
    Ok(())
}

#[test]
fn the_model_sees_each_block() -> Result<()> {
    let stage = stage()?;
    stage.hook(Scope::Project, &["Stop"], &shell(&stand_in(&stage, 3)?))?;
    let outcome = stage.run(&stage.session("start"))?;
    ended_well(&outcome)?;
    assert_eq!(outcome.model_calls, 4);
    let told = [1, 2, 3].map(|held| outcome.told_at(&format!("held {held} of 3")));
    assert_eq!(told, [Some(2), Some(3), Some(4)]);
    assert_eq!(outcome.final_result(), "turn 4");
    assert!(!outcome.capped);
    Ok(())
}

#[test]
fn the_cap_of_eight_strikes_unless_lifted() -> Result<()> {
    let stage = stage()?;
    stage.hook(Scope::Project, &["Stop"], &shell(&stand_in(&stage, 12)?))?;
    let capped = stage.session("start");
    let free = stage.session("start").uncapped();
    let outcomes = stage.run_all(&[capped, free])?;
    for outcome in &outcomes {
        ended_well(outcome)?;
    }
    let seen = |outcome: &SessionResult| (outcome.model_calls, outcome.capped);
    assert_eq!(outcomes.iter().map(seen).collect::<Vec<_>>(), [(9, true), (13, false)]);
    // A capped run looks like success that has nothing to say.
    assert_eq!(outcomes[0].final_result(), "");
    assert_eq!(outcomes[1].final_result(), "turn 13");
    Ok(())
}

#[test]
fn a_users_hook_in_exec_form_runs_too() -> Result<()> {
    let stage = stage()?;
    let script = stand_in(&stage, 1)?.display().to_string();
    let hook = HookLaunch::Exec { program: "/bin/sh".into(), args: vec![script] };
    stage.hook(Scope::User, &["Stop"], &hook)?;
    let outcome = stage.run(&stage.session("start"))?;
    ended_well(&outcome)?;
    assert_eq!(outcome.model_calls, 2);
    Ok(())
}

#[test]
fn sessions_in_one_directory_are_told_apart() -> Result<()> {
    let stage = stage()?;
    let sessions: Vec<Session> = (0..4).map(|_| stage.session("start")).collect();
    let owner = &sessions[2].id;
    let held = stand_in(&stage, 2)?;
    let text = format!(
        "[ \"$CLAUDE_CODE_SESSION_ID\" = {owner} ] || exit 0\nexec sh '{}'\n",
        held.display()
    );
    let script = written(&stage, "owner.sh", &text)?;
    stage.hook(Scope::Project, &["Stop"], &shell(&script))?;
    stage.model().script(owner, [ScriptedTurn::text("mine")]);
    let outcomes = stage.run_all(&sessions)?;
    for outcome in &outcomes {
        ended_well(outcome)?;
    }
    let calls: Vec<usize> = outcomes.iter().map(|outcome| outcome.model_calls).collect();
    assert_eq!(calls, [1, 1, 3, 1]);
    assert_eq!(outcomes[0].final_result(), "turn 1");
    Ok(())
}

#[test]
fn tools_work_in_the_project_and_their_results_are_told() -> Result<()> {
    let stage = stage()?;
    stage.model().script_for_all([ScriptedTurn::bash("touch made.txt && echo made it")]);
    let outcome = stage.run(&stage.session("start").allowing_bash())?;
    ended_well(&outcome)?;
    assert_eq!(outcome.told_at("made it"), Some(2));
    assert!(stage.project().join("made.txt").exists());
    Ok(())
}

#[test]
fn a_background_task_is_named_at_the_stop_and_announced_when_it_ends() -> Result<()> {
    let stage = stage()?;
    let text = format!("cat >>'{}/payloads'\n", stage.state().display());
    let script = written(&stage, "keep.sh", &text)?;
    stage.hook(Scope::Project, &["Stop"], &shell(&script))?;
    stage.model().script_for_all([
        ScriptedTurn::background("sleep 3; echo over"),
        ScriptedTurn::text("waiting"),
    ]);
    let outcome = stage.run(&stage.session("start").allowing_bash())?;
    ended_well(&outcome)?;
    let payloads = fs::read_to_string(stage.state().join("payloads"))?;
    let stops: Vec<Value> = payloads.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let running = |stop: &Value| stop["background_tasks"].as_array().map(Vec::len);
    assert_eq!(stops.iter().map(running).collect::<Vec<_>>(), [Some(1), Some(0)]);
    assert_eq!(outcome.told_at("<task-notification>"), Some(3));
    assert_eq!(outcome.results.len(), 2);
    Ok(())
}

#[test]
fn a_full_window_is_compacted_and_a_session_start_hook_can_speak() -> Result<()> {
    let stage = stage()?;
    let answer = json!({"hookSpecificOutput": {
        "hookEventName": "SessionStart", "additionalContext": "THE GOAL AGAIN",
    }});
    let text = format!(
        "payload=$(cat)\n\
         case $payload in\n\
         *'\"source\":\"compact\"'*) echo '{answer}' ;;\n\
         *'\"hook_event_name\":\"Stop\"'*) printf '%s' \"$payload\" | sh '{}' ;;\n\
         esac\n",
        stand_in(&stage, 1)?.display()
    );
    let script = written(&stage, "compact.sh", &text)?;
    stage.hook(Scope::Project, &["Stop", "SessionStart"], &shell(&script))?;
    stage.model().script_for_all([ScriptedTurn::text("full").filling(990_000)]);
    let outcome = stage.run(&stage.session("start"))?;
    ended_well(&outcome)?;
    let requests = stage.model().requests();
    assert!(requests.iter().any(|request| request.kind == Kind::Compact), "{outcome}");
    let calls = stage.model().main_calls();
    let last = calls.last().context("no call")?.body.to_string();
    assert!(last.contains("SUMMARY-OF-CONVERSATION"), "{last}");
    assert!(last.contains("THE GOAL AGAIN"), "{last}");
    Ok(())
}

#[test]
fn a_resumed_session_keeps_its_id_and_can_be_compacted_by_hand() -> Result<()> {
    let stage = stage()?;
    let text = format!("cat >>'{}/payloads'\n", stage.state().display());
    let script = written(&stage, "keep.sh", &text)?;
    stage.hook(Scope::Project, &["SessionStart"], &shell(&script))?;
    let session = stage.session("start");
    for step in [session.clone(), session.resumed("go on"), session.resumed("/compact")] {
        ended_well(&stage.run(&step)?)?;
    }
    let payloads = fs::read_to_string(stage.state().join("payloads"))?;
    let starts: Vec<Value> =
        payloads.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    assert!(starts.iter().all(|start| start["session_id"] == session.id.as_str()), "{payloads}");
    let sources: Vec<&str> = starts.iter().filter_map(|start| start["source"].as_str()).collect();
    assert_eq!(sources, ["startup", "resume", "resume", "compact"]);
    let calls = stage.model().main_calls_of(&session.id);
    assert_eq!(calls.len(), 2);
    assert!(calls[1].body["messages"].to_string().contains("turn 1"));
    Ok(())
}

#[test]
fn a_session_past_its_limit_is_ended() -> Result<()> {
    let stage = stage()?;
    stage.model().script_for_all([ScriptedTurn::text("late").after(Duration::from_mins(1))]);
    let outcome = stage.run(&stage.session("start").limit(Duration::from_secs(5)))?;
    assert_eq!(outcome.exit, Exit::TimedOut);
    assert_eq!(outcome.model_calls, 1);
    Ok(())
}

#[test]
fn nothing_of_the_person_reaches_a_hook() -> Result<()> {
    let stage = stage()?;
    let text = format!("env | sed 's/=.*//' | sort >'{}/names'\n", stage.state().display());
    let script = written(&stage, "names.sh", &text)?;
    stage.hook(Scope::Project, &["Stop"], &shell(&script))?;
    ended_well(&stage.run(&stage.session("start"))?)?;
    let names = fs::read_to_string(stage.state().join("names"))?;
    let has = |name: &str| names.lines().any(|line| line == name);
    // Cargo sets this one for every test it runs.
    assert!(!has("CARGO_MANIFEST_DIR"), "{names}");
    assert!(has("STOPGATE_HOME") && has("CLAUDE_CODE_SESSION_ID"), "{names}");
    Ok(())
}
