//! Commits as work: how often is an honest person asked, and does the place ever fail?
//!
//! A loop begins at a commit's parent with the project's test command; the commit's
//! changes are the work. Beside the program, the chore itself runs the parent's tests on
//! the commit's code, so that a question without need and a missed one both show.

mod study;
mod walk;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::kit::TruthKit;
use super::options::{Shown, TruthPlan};
use super::side_by_side;
use crate::Verdict;
use crate::table::{Gates, Table};
use study::{CommitEnding, StudiedCommit};

/// A clone whose commits are replayed.
#[derive(Debug)]
struct StudiedClone {
    name: String,
    directory: PathBuf,
    /// The test command, if it was given; else it is found in the tree.
    command: Option<String>,
}

/// A commit that changes code and tests.
#[derive(Clone, Debug)]
struct CodeAndTests {
    commit: String,
    parent: String,
    /// Its test files, added or changed or deleted.
    tests: Vec<String>,
}

/// Replays the commits and prints the rates.
pub(crate) fn run(plan: &TruthPlan) -> Result<Verdict> {
    let needs = ["pytest", "node", "jest", "cargo", "go"].map(String::from);
    let kit = TruthKit::gather(plan, needs.iter())?;
    let clones = plan.commits.iter().map(|named| clone(named)).collect::<Result<Vec<_>>>()?;
    let mut work = Vec::new();
    for clone in &clones {
        let found = walk::commits(&clone.directory, plan.limit)?;
        eprintln!("{}: {} commits change code and tests", clone.name, found.len());
        work.extend(found.into_iter().map(|commit| (clone, commit)));
    }
    let studied = side_by_side(plan.jobs, &work, |(clone, commit)| {
        let one = study::commit(&kit, plan, clone, commit);
        eprintln!("{:9} {} {} {}", one.ending.word(), one.project, one.commit, one.detail);
        one
    });
    Ok(print(plan, &studied))
}

fn clone(named: &str) -> Result<StudiedClone> {
    let (directory, command) = match named.split_once('=') {
        Some((directory, command)) => (directory, Some(command.to_string())),
        None => (named, None),
    };
    let path = std::path::Path::new(directory);
    let directory = path.canonicalize().with_context(|| format!("find {directory}"))?;
    if !directory.is_dir() {
        bail!("read {}: it is not a directory", directory.display());
    }
    let parts: Vec<_> = directory.iter().rev().take(2).map(|part| part.to_string_lossy()).collect();
    let name = match parts.as_slice() {
        [last, above] if matches!(last.as_ref(), "repo" | ".git") => above.to_string(),
        [last, ..] => last.to_string(),
        [] => "/".into(),
    };
    Ok(StudiedClone { name, directory, command })
}

fn print(plan: &TruthPlan, studied: &[StudiedCommit]) -> Verdict {
    let mut gates = Gates::default();
    let mut ask = |ending: CommitEnding, words: &str| {
        let count = studied.iter().filter(|one| one.ending == ending).count();
        gates.ask((count > 0).then(|| format!("{count} commits {words}")));
    };
    ask(CommitEnding::AskedWithoutNeed, "asked, although the parent's tests pass");
    ask(CommitEnding::Missed, "ended as done, although the parent's tests fail");
    ask(CommitEnding::Held, "were held");
    ask(CommitEnding::Accused, "were accused");
    ask(CommitEnding::Hung, "hung");
    if plan.shows == Shown::Json {
        let rows = studied.iter().map(|one| {
            json!({"project": one.project, "commit": one.commit, "ending": one.ending.word(),
                   "detail": one.detail})
        });
        println!("{}", json!({"place": plan.place, "commits": rows.collect::<Vec<_>>()}));
        return gates.quiet_verdict();
    }
    table(studied).print();
    for one in studied.iter().filter(|one| !one.ending.is_expected()) {
        println!("- {} {} {}: {}", one.ending.word(), one.project, one.commit, one.detail);
    }
    gates.verdict()
}

fn table(studied: &[StudiedCommit]) -> Table {
    let endings = CommitEnding::ALL;
    let mut columns = vec!["project", "commits"];
    columns.extend(endings.map(CommitEnding::word));
    let mut table = Table::new("Commits that change code and tests", &columns);
    let mut projects = BTreeMap::<&str, Vec<&StudiedCommit>>::new();
    for one in studied {
        projects.entry(&one.project).or_default().push(one);
        projects.entry("~ all").or_default().push(one);
    }
    for (project, commits) in projects {
        let count = |ending| commits.iter().filter(|one| one.ending == ending).count().to_string();
        let [unusable, done, asked, needless, missed, held, accused, hung] = endings.map(count);
        let name = project.trim_start_matches("~ ").to_string();
        let all = commits.len().to_string();
        table.row([name, all, unusable, done, asked, needless, missed, held, accused, hung]);
    }
    table.note("A commit is unusable where its own tests don't pass on this machine.");
    table
}
