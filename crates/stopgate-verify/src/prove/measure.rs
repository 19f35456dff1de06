//! The first run of a check, before the work begins: what fails already, how many tests run, and
//! which files the check itself writes.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use stopgate_core::{Baseline, Receipt, Status, Timestamp};

use super::reading::{OutputKept, Printed};
use super::round::{Round, tree_of};
use super::{ProofRequest, reading};
use crate::baseline::{self, CommandExit};
use crate::builds::{BuildOutputs, written_since};
use crate::bytecode::CompiledPython;
use crate::env::kept_variables;
use crate::judges::may_judge;

/// Places of more files than this are not noted.
const MADE_MAX: usize = 2_000;

/// What the first run of a check showed.
#[derive(Debug)]
pub struct Measured {
    /// How it came out.
    pub receipt: Receipt,
    /// What failed; more than can be told apart is an error.
    pub baseline: Result<Baseline, String>,
    /// What the checks wrote while they ran.
    pub writes: FirstWrites,
    /// The fingerprint of the tree afterwards; nothing where files can't be told apart.
    pub tree: Option<String>,
}

/// What checks wrote in their first run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirstWrites {
    /// Files of the project.
    pub outputs: Vec<PathBuf>,
    /// Directories with files that git ignores, and such files in the root: what is in there the
    /// check makes itself.
    pub made: Vec<PathBuf>,
    /// Compiled Python but for the project's own, as it is called among the kept contents.
    pub bytecode: Option<String>,
    /// Whether the check did not accept what was there.
    pub failed: bool,
}

/// Runs every command among the criteria once, one receipt each, in their order; nothing where
/// the program was asked to end meanwhile.
pub fn measure(request: &ProofRequest<'_>, now: &dyn Fn() -> Timestamp) -> Option<Vec<Measured>> {
    let variables = kept_variables();
    for criterion in request.criteria {
        BuildOutputs::of(criterion, request.root, &request.place.home, &variables)
            .fill(request.root);
    }
    let begun = now();
    let before = tree_of(request, &[]);
    let (objects, compiled) = (request.place.objects(), OnceCell::new());
    let keep = CompiledPython::Keep { root: request.root, objects: &objects, name: &compiled };
    let runs = Round::new(request, None, request.freshness, request.budget).run_all(keep, now)?;
    let after = tree_of(request, &[]);
    let tree = after.as_ref().map(|after| after.hash().to_string());
    let mut outputs = match (&before, &after) {
        (Some(before), Some(after)) => after.touched_since(before).files,
        (_, _) => Vec::new(),
    };
    // Of what git ignores, only what could be taken for a judge later.
    let ignored = written_since(request.root, begun);
    let made = places_of(&ignored);
    let judging = ignored.into_iter();
    outputs.extend(judging.filter(|path| may_judge(path.as_os_str().as_encoded_bytes())));
    let writes = FirstWrites { outputs, made, bytecode: compiled.into_inner(), failed: false };
    let measured = request.criteria.iter().zip(runs).map(|(criterion, run)| {
        let printed = Printed::of(&run.receipt, run.text.as_deref());
        let receipt = reading::read(criterion, run, request.root);
        let exit = match receipt.status {
            Status::Fail => CommandExit::Failed,
            Status::Pass
            | Status::Error
            | Status::Timeout
            | Status::Tampered
            | Status::NeedsApproval => CommandExit::Passed,
        };
        let baseline = match printed.whole {
            OutputKept::All => {
                let taken = baseline::take(&printed.text, exit, request.root);
                taken.map_err(|many| many.to_string())
            }
            OutputKept::Cut => Err("it prints too much to tell its failures apart".into()),
        };
        let writes = FirstWrites { failed: receipt.status == Status::Fail, ..writes.clone() };
        Measured { receipt, baseline, writes, tree: tree.clone() }
    });
    Some(measured.collect())
}

/// The directories that files are in; those in the root by themselves.
fn places_of(files: &[PathBuf]) -> Vec<PathBuf> {
    let place = |path: &PathBuf| {
        let parent = path.parent().filter(|own| !own.as_os_str().is_empty());
        parent.map_or_else(|| path.clone(), Path::to_path_buf)
    };
    let found: BTreeSet<PathBuf> = files.iter().map(place).take(MADE_MAX).collect();
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_check_makes_is_noted_by_its_directory() {
        let files = ["dist/app.js", "dist/app.css", "report.xml"].map(PathBuf::from);
        assert_eq!(places_of(&files), ["dist", "report.xml"].map(PathBuf::from));
    }
}
