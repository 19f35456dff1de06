//! An earlier program and this one on the same journal and settings, in both directions.
//!
//! What the earlier one began goes on with the next one. What the next one wrote and the earlier
//! one does not understand lets the agent stop, and says so in the client.

mod stage;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::{Verdict, tools};
use stage::{UpgradeStage, blocks, message};

/// Runs the story.
pub(crate) fn run(previous: &str, next: &Path) -> Result<Verdict> {
    let earlier = match Path::new(previous) {
        file if file.is_file() => file.to_path_buf(),
        _commit => build(previous)?,
    };
    let stage = UpgradeStage::new(&earlier, next)?;
    let played = play(&stage);
    stage.end_background();
    played?;
    println!("an earlier program's journal, settings and loops work with this one, and back");
    Ok(Verdict::Fine)
}

fn play(stage: &UpgradeStage) -> Result<()> {
    upgrade(stage)?;
    downgrade(stage)?;
    settings_back(stage)?;
    unknown_format(stage)
}

/// Builds the program of a commit, below `target`.
fn build(commit: &str) -> Result<PathBuf> {
    let root = tools::root()?;
    let place = root.join("target/upgrade");
    let source = place.join("source");
    if source.exists() {
        fs::remove_dir_all(&source)?;
    }
    fs::create_dir_all(&source)?;
    let archive = place.join("source.tar");
    let mut git = Command::new("git");
    git.current_dir(&root).args(["archive", "--output"]).arg(&archive).arg(commit);
    tools::run(&mut git).with_context(|| format!("find the commit {commit}"))?;
    let mut tar = Command::new("tar");
    tools::run(tar.arg("-xf").arg(&archive).arg("-C").arg(&source))?;
    let output = place.join("build");
    let mut cargo = Command::new("cargo");
    cargo.current_dir(&source).args(["build", "--locked", "--quiet", "--package", "stopgate"]);
    tools::run(cargo.arg("--target-dir").arg(&output))?;
    Ok(output.join("debug/stopgate"))
}

/// Loops, a receipt and settings of the earlier program go on with the next one.
fn upgrade(stage: &UpgradeStage) -> Result<()> {
    stage.earlier(&["install", "claude"])?;
    let proven = stage.start_earlier("proven", "test -d .")?;
    ensure!(!blocks(&stage.stop_earlier("proven")?), "end the first loop with the earlier program");
    let id = stage.start_earlier("open", "test -f made.txt")?;
    ensure!(blocks(&stage.stop_earlier("open")?), "hold the second one with the earlier program");

    ensure!(stage.loop_of(&proven)?["outcome"] == "done", "read what is done");
    stage.next(&["receipt", "export", &proven])?;
    ensure!(stage.loop_of(&id)?["iteration"] == 1, "read what runs");
    ensure!(blocks(&stage.stop_next("open")?), "hold on");
    ensure!(stage.loop_of(&id)?["iteration"] == 2, "count on");
    fs::write(stage.path("project/made.txt"), "")?;
    ensure!(!blocks(&stage.stop_next("open")?), "let go once proven");
    ensure!(stage.loop_of(&id)?["outcome"] == "done", "end as done: {}", stage.loop_of(&id)?);

    stage.next(&["install", "claude"])?;
    let settings = fs::read_to_string(stage.path("home/.claude/settings.json"))?;
    let settings: Value = serde_json::from_str(&settings).context("read the settings")?;
    let stops = settings["hooks"]["Stop"].as_array().map(Vec::len);
    ensure!(stops == Some(1), "keep one entry: {settings}");
    stage.next(&["uninstall", "claude"])?;
    println!("upgrade: a proven loop, a running loop and settings go on");
    Ok(())
}

/// The earlier program on what only the next one understands.
fn downgrade(stage: &UpgradeStage) -> Result<()> {
    let started =
        stage.next(&["start", "wait", "--session", "later", "--criterion", "never", "--json"])?;
    let started: Value = serde_json::from_str(&started)?;
    let id = started["loop"]["id"].as_str().context("find the loop's id")?;
    stage.next(&["wait", id, "--until", "2099-01-01T00:00:00Z"])?;
    let before = stage.loop_of(id)?;
    let answer = stage.stop_earlier("later")?;
    ensure!(!blocks(&answer), "let the agent go: {answer}");
    let after = stage.loop_of(id)?;
    if stage.understands_earlier(id) {
        // It may write down that there was a stop, and nothing else.
        for key in ["state", "outcome", "why", "iteration", "record"] {
            ensure!(after[key] == before[key], "keep {key}: {before} became {after}");
        }
        println!("downgrade: the earlier program understands a parked loop");
    } else {
        let told = message(&answer);
        let is_clear = told.contains("newer") || told.contains("can't be used");
        ensure!(is_clear, "say why in the client: {answer}");
        ensure!(after == before, "leave the loop as it was: {before} became {after}");
        println!("downgrade: {told}");
    }
    stage.next(&["cancel", id])?;
    Ok(())
}

/// The earlier program on settings that the next one wrote.
fn settings_back(stage: &UpgradeStage) -> Result<()> {
    stage.next(&["install", "claude"])?;
    stage.earlier(&["install", "claude"])?;
    let path = stage.path("home/.claude/settings.json");
    let settings: Value = serde_json::from_str(&fs::read_to_string(&path)?)?;
    let stops = settings["hooks"]["Stop"].as_array().map(Vec::len);
    ensure!(stops == Some(1), "keep one entry: {settings}");
    stage.earlier(&["uninstall", "claude"])?;
    let left = fs::read_to_string(&path).unwrap_or_default();
    ensure!(!left.contains("stopgate hook"), "remove every hook: {left}");
    println!("downgrade: the earlier program replaces and removes the next one's hooks");
    Ok(())
}

/// Both programs on a journal of a format that neither knows. Each has a session of its own: a
/// person is told once in a session.
fn unknown_format(stage: &UpgradeStage) -> Result<()> {
    for session in ["old", "new"] {
        stage.next(&["start", "hold", "--session", session, "--criterion", "never"])?;
    }
    stage.raise_format()?;
    for answer in [stage.stop_earlier("old")?, stage.stop_next("new")?] {
        ensure!(!blocks(&answer), "let the agent go: {answer}");
        let told = message(&answer);
        ensure!(told.contains("install a newer stopgate"), "say why in the client: {answer}");
    }
    println!("a newer format: both let go, and say: install a newer stopgate");
    Ok(())
}
