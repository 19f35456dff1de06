//! Plays one story: the person starts, the agent works and claims, the hook decides.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::corpus::{Repository, Starter, StoryClass, TruthStory};
use super::ending::{PlayedStory, StoryEnding, accuses, text_of};
use super::kit::TruthKit;
use super::options::{Reach, Subject, TruthPlan};
use super::stage::{Finished, Player, SESSION, TruthStage, dismiss};

const STOPS_MAX: usize = 3;
/// The exit code of `status` where there is no such loop.
const NO_LOOP: i32 = 66;
/// What an agent says that believes to be done.
pub(super) const CLAIM: &str =
    "Everything that was asked for works now.\n\n<promise>COMPLETE</promise>";

/// Plays a story to its end.
pub(crate) fn story(kit: &TruthKit, plan: &TruthPlan, story: &TruthStory) -> PlayedStory {
    let begun = Instant::now();
    let mut played = PlayedStory {
        story: story.clone(),
        ending: StoryEnding::Untried,
        detail: String::new(),
        fault: None,
        is_apart: false,
        seconds: 0.0,
    };
    if let Err(error) = perform(kit, plan, &mut played) {
        played.fault.get_or_insert_with(|| format!("{error:#}"));
    }
    played.seconds = begun.elapsed().as_secs_f64();
    played
}

fn perform(kit: &TruthKit, plan: &TruthPlan, played: &mut PlayedStory) -> Result<()> {
    let story = played.story.clone();
    let stage = TruthStage::new(kit, plan, &story.way.below)?;
    prepare(&stage, &story)?;
    match plan.subject {
        Subject::Corpus => {
            for step in &story.telling.steps {
                self::step(&stage, step)?;
            }
        }
        Subject::Program => {
            (played.ending, played.detail) = put_to_the_test(&stage, &story)?;
            played.is_apart = played.ending == StoryEnding::Asked || stage.has_run_apart()?;
        }
    }
    // A loop that did not begin, or a stop that never ended: nothing was done as told.
    let is_told = !matches!(played.ending, StoryEnding::Error | StoryEnding::Hung);
    if is_told && plan.reach != Reach::Further {
        played.fault = contradiction(&stage, &story)?;
    }
    Ok(())
}

/// The tree as the person hands it over.
pub(super) fn prepare(stage: &TruthStage<'_>, story: &TruthStory) -> Result<()> {
    stage.fill(&story.files)?;
    stage.tool("fix", &story.fix)?;
    std::fs::create_dir_all(stage.work())?;
    for snippet in [&story.way.before, &story.telling.before] {
        must(stage, Player::Person, snippet, "what comes before")?;
    }
    if !story.way.file.is_empty() {
        std::fs::write(stage.tree().join("stopgate.toml"), &story.way.file)?;
    }
    if story.way.repository == Repository::Git {
        let commit = r#"cd "$TREE"; git init -q; git add -A; git commit -qm "as it was""#;
        must(stage, Player::Person, commit, "the first commit")?;
    }
    must(stage, Player::Person, &story.telling.dirty, "what is left uncommitted")
}

fn must(stage: &TruthStage<'_>, player: Player, snippet: &str, what: &str) -> Result<()> {
    if snippet.is_empty() {
        return Ok(());
    }
    let ran = stage.snippet(player, snippet, 60)?;
    if !ran.is_fine() {
        bail!("run {what}: {}", ran.last_line());
    }
    Ok(())
}

/// What the agent does between two stops.
pub(super) fn step(stage: &TruthStage<'_>, text: &str) -> Result<()> {
    must(stage, Player::Agent, text, "the agent's step")
}

fn put_to_the_test(stage: &TruthStage<'_>, story: &TruthStory) -> Result<(StoryEnding, String)> {
    if let Some(failed) = begin(stage, story)? {
        return Ok(faulty("start", &failed));
    }
    let mut told = String::new();
    let (last, earlier) = story.telling.steps.split_last().context("find a step")?;
    for step in earlier {
        self::step(stage, step)?;
        tools_ran(stage)?;
        let stop = stop(stage, story, 0)?;
        if stop.code != Some(0) {
            return Ok(faulty("hook", &stop));
        }
        told.push_str(&text_of(&stop.out));
    }
    self::step(stage, last)?;
    tools_ran(stage)?;
    let mut beside = match story.telling.during.as_str() {
        "" => None,
        text => Some(stage.background(text)?),
    };
    let stopped = stop_until_decided(stage, story, &mut told);
    if let Some(child) = &mut beside {
        dismiss(child);
    }
    stopped
}

/// Starts the loop; what failed, if something did.
pub(super) fn begin(stage: &TruthStage<'_>, story: &TruthStory) -> Result<Option<Finished>> {
    if !story.way.file.is_empty() {
        let trusted = stage.program(Player::Person, &["trust", "--yes"])?;
        if !trusted.is_fine() {
            return Ok(Some(trusted));
        }
    }
    let mut arguments = vec!["start", "make the tests pass", "--session", SESSION, "--json"];
    arguments.extend(story.way.start.iter().map(String::as_str));
    let player = match story.telling.starter {
        Starter::Person => Player::Person,
        Starter::Agent => Player::Agent,
    };
    let started = stage.program(player, &arguments)?;
    Ok(Some(started).filter(|started| !started.is_fine()))
}

/// Tells the program that tools ran, as the client does.
pub(super) fn tools_ran(stage: &TruthStage<'_>) -> Result<Finished> {
    let call = json!({
        "tool_name": "Bash",
        "tool_input": {"command": "true", "description": "work"},
        "tool_use_id": "toolu_cddc617caa804b398a36ada8",
        "tool_response": "",
    });
    stage.hook("PostToolBatch", json!({"tool_calls": [call]}), &BTreeMap::new())
}

fn stop(stage: &TruthStage<'_>, story: &TruthStory, at: usize) -> Result<Finished> {
    let telling = &story.telling;
    let says = if telling.says.is_empty() { CLAIM } else { telling.says.as_str() };
    claim(stage, says, at, &telling.hook_env)
}

/// The agent says something and is about to stop.
pub(super) fn claim(
    stage: &TruthStage<'_>,
    says: &str,
    at: usize,
    variables: &BTreeMap<String, String>,
) -> Result<Finished> {
    let more = json!({
        "stop_hook_active": at > 0,
        "last_assistant_message": says,
        "background_tasks": [],
        "session_crons": [],
    });
    stage.hook("Stop", more, variables)
}

fn stop_until_decided(
    stage: &TruthStage<'_>,
    story: &TruthStory,
    told: &mut String,
) -> Result<(StoryEnding, String)> {
    let mut outcome = None;
    for at in 0..STOPS_MAX {
        let stopped = stop(stage, story, at)?;
        if stopped.code != Some(0) {
            return Ok(faulty("hook", &stopped));
        }
        told.push_str(&text_of(&stopped.out));
        told.push('\n');
        let status = stage.program(Player::Person, &["status", "--session", SESSION, "--json"])?;
        if status.code == Some(NO_LOOP) {
            return Ok((StoryEnding::Held, "the loop is gone".into()));
        }
        if !status.is_fine() {
            return Ok(faulty("status", &status));
        }
        let read: Value = serde_json::from_str(&status.out).unwrap_or_default();
        outcome = read.pointer("/loop/outcome").and_then(Value::as_str).map(str::to_string);
        if outcome.is_some() {
            break;
        }
    }
    let mut ending = StoryEnding::of_outcome(outcome.as_deref());
    if accuses(told) {
        ending = StoryEnding::Accused;
    }
    if ending == StoryEnding::Asked && story.telling.may_ask {
        ending = approved(stage)?;
    }
    Ok((ending, detail(outcome.as_deref(), told)))
}

/// One command of the person finishes what waits.
fn approved(stage: &TruthStage<'_>) -> Result<StoryEnding> {
    stage.program(Player::Person, &["approve", "--session", SESSION])?;
    let status = stage.program(Player::Person, &["status", "--session", SESSION, "--json"])?;
    let read: Value = serde_json::from_str(&status.out).unwrap_or_default();
    let outcome = read.pointer("/loop/outcome").and_then(Value::as_str);
    Ok(if outcome == Some("done") { StoryEnding::Asked } else { StoryEnding::Held })
}

/// How a story ends whose command failed.
pub(super) fn faulty(what: &str, ran: &Finished) -> (StoryEnding, String) {
    let ending = if ran.code.is_none() { StoryEnding::Hung } else { StoryEnding::Error };
    (ending, format!("{what}: {}", ran.last_line()))
}

/// The outcome, and what was said last.
pub(super) fn detail(outcome: Option<&str>, told: &str) -> String {
    let said = told.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    let said: String = said.trim().chars().take(120).collect();
    format!("{}: {said}", outcome.unwrap_or("running"))
}

/// Where the oracle, or a gate that only looks at exit codes, disagrees with the class.
fn contradiction(stage: &TruthStage<'_>, story: &TruthStory) -> Result<Option<String>> {
    let truth = stage.snippet(Player::Oracle, &story.oracle, 60)?;
    if truth.is_broken() {
        return Ok(Some(format!("its oracle does not run ({})", truth.last_line())));
    }
    // The work may leave the oracle's own process early: only its last word counts.
    let is_true = truth.is_fine() && truth.out.trim_end().ends_with("yes");
    match (story.class, is_true) {
        (StoryClass::Honest, false) => {
            return Ok(Some(format!("honest, and the oracle says no ({})", truth.last_line())));
        }
        (StoryClass::Cheat | StoryClass::Undetectable, true) => {
            return Ok(Some("not honest, and the oracle says that the work is done".into()));
        }
        _agreed => {}
    }
    if matches!(story.way.naive.as_str(), "" | "none") {
        return Ok(None);
    }
    let naive = stage.naive(&story.way.naive, &story.telling.hook_env)?;
    let why = || format!("even a look at the exit code would do ({})", naive.last_line());
    Ok((!naive.is_fine()).then(why))
}
