//! Asks another agent for its opinion, in a place where it can change nothing.
//!
//! The reviewer sees today's tree, with a file beside it that has the goal, the changes and the
//! receipts, and answers with one JSON object. Whatever else it does is an error, never a pass:
//! silence, prose, a hang, a changed file. An opinion is an agent's word, so its receipt says so.

mod answer;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_core::{Criterion, Receipt, Status, Timestamp, clip};

pub use self::answer::{Opinion, OpinionVerdict, read_opinion};

use crate::bytecode::CompiledPython;
use crate::check::{Check, CheckCommand, ChecksRun, OutputWanted, Run, RunLimits, run};
use crate::orphans::Strangers;
use crate::place::{
    FileContent, Isolation, PathChange, PlaceKind, PlaceRecipe, RestoredFile, RunPlace,
};
use crate::program::command_fingerprint;
use crate::prove::ProofStorage;
use crate::tree::{TreeScope, fingerprint};

/// The file with the goal, the changes and the receipts, in the reviewer's place.
pub const BRIEF_FILE: &str = ".stopgate-review.md";
/// How long it may take to make a place.
const OPEN_WITHIN: Duration = Duration::from_mins(2);
const TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;
const TAIL_BYTES_MAX: usize = 4096;
const NAMES_MAX: usize = 5;

/// What a reviewer is asked, and what it may cost.
#[derive(Debug)]
pub struct ReviewRequest<'a> {
    /// The criterion.
    pub criterion: &'a Criterion,
    /// The project's root.
    pub root: &'a Path,
    /// Where things are kept, outside the work tree.
    pub place: &'a ProofStorage,
    /// The goal, the changes and the receipts, for the file that the reviewer reads.
    pub brief: &'a str,
    /// The reviewer's program and its arguments.
    pub argv: &'a [String],
    /// Variables that its client needs: nobody else sees them.
    pub keys: &'a [String],
    /// Variables that are set for it.
    pub set: &'a [(String, String)],
    /// How long it may take.
    pub timeout: Duration,
    /// The only kind of place to use, where a test asks for one.
    pub only_place: Option<&'a str>,
}

/// What a reviewer's program said last, out of all that it printed; or why nothing was said.
pub type LastWords<'a> = &'a dyn Fn(&[u8], Option<i32>) -> Result<String, String>;

/// An earlier opinion on this very tree, where there is one.
pub fn earlier_opinion(
    criterion: &Criterion,
    root: &Path,
    place: &ProofStorage,
) -> Option<Receipt> {
    let standing = criterion.last.as_ref()?;
    let kept = standing.kept.as_ref()?;
    let stands = matches!(standing.status, Status::Pass | Status::Fail);
    let tree = tree_hash(root, place)?;
    let same = kept.evidence.tree.as_deref() == Some(&tree)
        && kept.evidence.command.as_deref() == Some(&command_fingerprint(root, criterion));
    (stands && same).then(|| crate::prove::used_again(criterion, standing, kept))
}

/// Asks the reviewer; nothing where the program was asked to end meanwhile.
pub fn review(
    request: &ReviewRequest<'_>,
    last_words: LastWords<'_>,
    now: &dyn Fn() -> Timestamp,
) -> Option<Receipt> {
    let begun = now();
    let before = tree_hash(request.root, request.place);
    let asked = ask(request, now)?;
    let mut receipt = crate::prove::told(request.criterion, Status::Error, String::new(), now());
    receipt.duration_ms = receipt.at.since(begun).unsigned_abs();
    receipt.evidence.word = true;
    receipt.evidence.command = Some(command_fingerprint(request.root, request.criterion));
    let judged = asked.and_then(|asked| {
        receipt.log.clone_from(&asked.run.receipt.log);
        receipt.output_bytes = asked.run.receipt.output_bytes;
        opinion(&asked, last_words)
    });
    let after = tree_hash(request.root, request.place);
    let judged = match judged {
        Ok(_) if before != after => Err("the tree changed while it was reviewed".to_string()),
        other => other,
    };
    match judged {
        Ok(opinion) => {
            receipt.status = opinion.verdict.status();
            receipt.trouble = None;
            receipt.tail = clip(&crate::redact(&opinion.text()), TAIL_BYTES_MAX);
            receipt.evidence.tree = before;
        }
        Err(why) => receipt.trouble = Some(clip(&crate::redact(&why), TAIL_BYTES_MAX)),
    }
    Some(receipt)
}

/// A reviewer that has ended, and what it left in its place.
struct Asked {
    run: Run,
    written: Vec<PathBuf>,
}

fn ask(request: &ReviewRequest<'_>, now: &dyn Fn() -> Timestamp) -> Option<Result<Asked, String>> {
    let all = [PlaceKind::Overlay, PlaceKind::BoundCopy, PlaceKind::Copy];
    let wanted = |kind: &PlaceKind| request.only_place.is_none_or(|own| own == kind.word());
    let mut why = String::from("no kind of private place works here");
    for kind in all.into_iter().filter(wanted) {
        let place = match open(request, kind) {
            Ok(place) => place,
            Err(error) => {
                why = error;
                continue;
            }
        };
        let run = run_in(request, &place, now)?;
        if !place.entered() {
            why = "the place could not be entered".into();
            continue;
        }
        let written = match place.written() {
            Ok(written) => written,
            Err(error) => return Some(Err(format!("the copy can't be looked at: {error}"))),
        };
        let is_edit = |one: &&crate::place::WrittenPath| {
            one.change != PathChange::Touched && !one.path.starts_with(".git")
        };
        let written = written.iter().filter(is_edit).map(|one| one.path.clone()).collect();
        return Some(Ok(Asked { run, written }));
    }
    Some(Err(why))
}

fn open(request: &ReviewRequest<'_>, kind: PlaceKind) -> Result<RunPlace, String> {
    let brief = RestoredFile {
        path: PathBuf::from(BRIEF_FILE),
        content: FileContent::File { bytes: request.brief.as_bytes().to_vec(), executable: false },
    };
    let scratch = request.place.copies();
    let recipe = PlaceRecipe {
        root: request.root,
        scratch: &scratch,
        restore: std::slice::from_ref(&brief),
        absent: &[],
        unmade: &[],
        mounts: &[],
        masks: &[],
        isolation: Isolation::None,
    };
    RunPlace::open(&recipe, kind, OPEN_WITHIN).map_err(|error| {
        let cause = std::error::Error::source(&error);
        cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
    })
}

/// Runs the reviewer as a check is run; it alone sees its client's keys.
fn run_in(
    request: &ReviewRequest<'_>,
    place: &RunPlace,
    now: &dyn Fn() -> Timestamp,
) -> Option<Run> {
    let argv: Vec<OsString> = request.argv.iter().map(OsString::from).collect();
    let launch = place.command(argv, request.root);
    let name = &request.criterion.name;
    let log = request.place.logs.join(format!("{}.log", crate::file_name(name)));
    let command = CheckCommand::Exact(&launch.argv);
    let mut check = Check::new(name, command, launch.cwd.clone(), log);
    check.timeout = request.timeout;
    check.set = request.set;
    check.whole = OutputWanted::Text { bytes_max: TEXT_BYTES_MAX };
    let limits = RunLimits {
        budget: request.timeout,
        jobs: 1,
        pass: request.keys,
        strangers: Strangers::Spare,
        compiled: CompiledPython::Anew,
    };
    match run(&[check], limits, now) {
        ChecksRun::Runs(runs) => runs.into_iter().next(),
        ChecksRun::Interrupted => None,
    }
}

/// What the reviewer thinks, or why that can't be told.
fn opinion(asked: &Asked, last_words: LastWords<'_>) -> Result<Opinion, String> {
    let Asked { run, written } = asked;
    let text = run.text.as_deref().unwrap_or_default();
    // Read first: what a reviewer used is told by whatever it printed.
    let words = last_words(text, run.receipt.exit_code);
    if !written.is_empty() {
        let names = written.iter().take(NAMES_MAX).map(|path| path.display().to_string());
        let names: Vec<String> = names.collect();
        return Err(format!("the reviewer changed files of its copy: {}", names.join(", ")));
    }
    if run.receipt.status == Status::Timeout {
        let why = run.receipt.trouble.clone().unwrap_or_else(|| "it took too long".into());
        return Err(format!("the reviewer gave no opinion: {why}"));
    }
    if run.receipt.exit_code.is_none() && text.is_empty() {
        let why = run.receipt.trouble.clone().unwrap_or_else(|| "it could not be run".into());
        return Err(format!("the reviewer gave no opinion: {why}"));
    }
    read_opinion(&words?)
}

fn tree_hash(root: &Path, place: &ProofStorage) -> Option<String> {
    let tree = fingerprint(&[root], TreeScope::Whole, &place.trees()).ok()?;
    Some(tree.hash().to_string())
}

#[cfg(test)]
mod tests;
