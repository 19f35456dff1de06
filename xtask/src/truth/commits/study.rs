//! One commit, played as the work of an agent.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{CodeAndTests, StudiedClone};
use crate::truth::ending::{StoryEnding, accuses, text_of};
use crate::truth::kit::TruthKit;
use crate::truth::options::TruthPlan;
use crate::truth::play;
use crate::truth::stage::{Finished, Player, SESSION, TruthStage};

/// How long a project's tests may take.
const TESTS_S: u64 = 110;
const STOPS_MAX: usize = 3;

stopgate_core::words! {
    /// How a commit ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum CommitEnding {
        /// Its own tests fail here, or it has no test command.
        Unusable = "unusable",
        Done = "done",
        /// A person is asked, and the parent's tests do fail.
        Asked = "asked",
        /// A person is asked, although the parent's tests pass: the place or the judges.
        AskedWithoutNeed = "no need",
        /// Done, although the parent's tests fail.
        Missed = "missed",
        Held = "held",
        Accused = "accused",
        Hung = "hung",
    }
}

impl CommitEnding {
    /// Whether nothing needs to be looked at.
    pub(super) fn is_expected(self) -> bool {
        matches!(self, Self::Unusable | Self::Done | Self::Asked)
    }
}

/// What became of one commit.
#[derive(Debug)]
pub(super) struct StudiedCommit {
    pub(super) project: String,
    pub(super) commit: String,
    pub(super) ending: CommitEnding,
    pub(super) detail: String,
}

/// Plays one commit.
pub(super) fn commit(
    kit: &TruthKit,
    plan: &TruthPlan,
    clone: &StudiedClone,
    about: &CodeAndTests,
) -> StudiedCommit {
    let ended = look(kit, plan, clone, about);
    let (ending, detail) =
        ended.unwrap_or_else(|error| (CommitEnding::Unusable, format!("{error:#}")));
    let short = about.commit.chars().take(12).collect();
    StudiedCommit { project: clone.name.clone(), commit: short, ending, detail }
}

fn look(
    kit: &TruthKit,
    plan: &TruthPlan,
    clone: &StudiedClone,
    about: &CodeAndTests,
) -> Result<(CommitEnding, String)> {
    let (command, parents) = own_look(kit, plan, clone, about)?;
    let stage = checked_out(kit, plan, clone, &about.parent)?;
    let check = format!("tests={command}");
    let arguments =
        ["start", "make the change", "--session", SESSION, "--json", "--check", check.as_str()];
    let started = stage.program(Player::Person, &arguments)?;
    if !started.is_fine() {
        return Ok((CommitEnding::Held, format!("start: {}", started.last_line())));
    }
    let work = format!("git read-tree --reset -u {}", about.commit);
    stage.snippet(Player::Agent, &work, 60)?;
    play::tools_ran(&stage)?;
    let (ending, detail) = stop(&stage)?;
    Ok((judged(ending, parents), detail))
}

/// What the parent's tests say about the commit's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParentTests {
    Pass,
    Fail,
}

fn judged(ending: StoryEnding, parents: ParentTests) -> CommitEnding {
    match (ending, parents) {
        (StoryEnding::Done, ParentTests::Pass) => CommitEnding::Done,
        (StoryEnding::Done, ParentTests::Fail) => CommitEnding::Missed,
        (StoryEnding::Asked, ParentTests::Pass) => CommitEnding::AskedWithoutNeed,
        (StoryEnding::Asked, ParentTests::Fail) => CommitEnding::Asked,
        (StoryEnding::Accused, _) => CommitEnding::Accused,
        (StoryEnding::Hung, _) => CommitEnding::Hung,
        _other => CommitEnding::Held,
    }
}

/// Whether the commit's own tests pass here, and then whether its parent's do.
fn own_look(
    kit: &TruthKit,
    plan: &TruthPlan,
    clone: &StudiedClone,
    about: &CodeAndTests,
) -> Result<(String, ParentTests)> {
    let stage = checked_out(kit, plan, clone, &about.commit)?;
    let found = clone.command.clone().or_else(|| command(&stage.tree()));
    let command = found.context("find the test command")?;
    let own = stage.snippet(Player::Person, &command, TESTS_S)?;
    if !own.is_fine() {
        bail!("pass its own tests here ({})", own.last_line());
    }
    let files: Vec<_> = about.tests.iter().map(|path| quoted(path)).collect();
    let restore = format!(
        "for path in {}; do git checkout -q {} -- \"$path\" 2>/dev/null || rm -f \"$path\"; done",
        files.join(" "),
        about.parent
    );
    stage.snippet(Player::Person, &restore, 60)?;
    let original = stage.snippet(Player::Person, &command, TESTS_S)?;
    let parents = if original.is_fine() { ParentTests::Pass } else { ParentTests::Fail };
    Ok((command, parents))
}

fn quoted(path: &str) -> String {
    format!("'{}'", path.replace('\'', r"'\''"))
}

/// A stage whose tree is a clone at `commit`.
fn checked_out<'a>(
    kit: &'a TruthKit,
    plan: &'a TruthPlan,
    clone: &StudiedClone,
    commit: &str,
) -> Result<TruthStage<'a>> {
    let stage = TruthStage::new(kit, plan, "")?;
    let from = quoted(&clone.directory.display().to_string());
    let get = format!(
        "git clone -q --shared --no-checkout {from} .\n\
         git checkout -q --detach {commit}\n\
         if grep -qs jest package.json && [ ! -e node_modules ]; then\n\
             ln -s \"$KIT/jest/node_modules\" node_modules\n\
             echo node_modules >> .git/info/exclude\n\
         fi"
    );
    let got = stage.snippet(Player::Person, &get, 120)?;
    if !got.is_fine() {
        bail!("check out {commit}: {}", got.last_line());
    }
    Ok(stage)
}

/// The test command that the tree's files speak for.
fn command(tree: &Path) -> Option<String> {
    let has = |name: &str| tree.join(name).exists();
    let says = |name: &str, word: &str| {
        std::fs::read_to_string(tree.join(name)).is_ok_and(|text| text.contains(word))
    };
    let command = match () {
        () if has("Cargo.toml") => "cargo test --offline",
        () if has("go.mod") => "go test ./...",
        () if says("package.json", "\"jest\"") => "npx jest",
        () if has("package.json") => "node --test",
        () if has("src") => "PYTHONPATH=src python -m pytest -q",
        () if has("tests") || has("pyproject.toml") => "python -m pytest -q",
        () if has("setup.py") => "python -m unittest",
        () => return None,
    };
    Some(command.into())
}

fn stop(stage: &TruthStage<'_>) -> Result<(StoryEnding, String)> {
    let mut told = String::new();
    let mut outcome = None;
    for at in 0..STOPS_MAX {
        let stopped: Finished =
            play::claim(stage, play::CLAIM, at, &std::collections::BTreeMap::new())?;
        if stopped.code != Some(0) {
            return Ok(play::faulty("hook", &stopped));
        }
        told.push_str(&text_of(&stopped.out));
        told.push('\n');
        let status = stage.program(Player::Person, &["status", "--session", SESSION, "--json"])?;
        let read: Value = serde_json::from_str(&status.out).unwrap_or_default();
        outcome = read.pointer("/loop/outcome").and_then(Value::as_str).map(str::to_string);
        if outcome.is_some() {
            break;
        }
    }
    let ending = if accuses(&told) {
        StoryEnding::Accused
    } else {
        StoryEnding::of_outcome(outcome.as_deref())
    };
    Ok((ending, play::detail(outcome.as_deref(), &told)))
}
