//! Which programs and files a criterion's command uses, and whether they are the same ones.
//!
//! Nothing is run. What a shell would work out at run time stays unknown.

mod shell;
mod uses;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use stopgate_core::{Criterion, ProofCommand};
use stopgate_system::PROGRAM_ENDS;
use stopgate_system::fs::PermissionsExt;

use crate::environment::variable;
use crate::tree::{Stat, hex};

pub(crate) use self::uses::Uses;

/// The fingerprint of the check itself: what is asked, how, and by which programs.
///
/// Programs count by where they are found, their size and times, so it is cheap.
pub fn command_fingerprint(root: &Path, criterion: &Criterion) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(definition(criterion).as_bytes());
    let path = path_of(criterion);
    for name in uses(root, criterion).programs {
        hasher.update(name.as_bytes());
        if let Some(program) = find(&name, path.as_deref())
            && let Ok(metadata) = fs::metadata(&program)
        {
            let stat = Stat::of_metadata(&metadata);
            hasher.update(program.as_os_str().as_encoded_bytes());
            for figure in [stat.mtime.cast_unsigned(), stat.size, stat.inode] {
                hasher.update(&figure.to_le_bytes());
            }
        }
    }
    hex(&hasher.finalize().as_bytes()[..16])
}

/// The fingerprint of what a criterion asks: the same as long as nobody rewrote it.
pub(crate) fn definition(criterion: &Criterion) -> String {
    let mut plain = criterion.clone();
    plain.last = None;
    plain.approved_at = None;
    plain.tests = None;
    plain.first = None;
    plain.visibility = stopgate_core::Visibility::default();
    // What failed before is found out after the start; that it is asked for is not.
    plain.terms.baseline = plain.terms.baseline.map(|_| stopgate_core::Baseline::default());
    let text = serde_json::to_vec(&plain).unwrap_or_default();
    hex(&blake3::hash(&text).as_bytes()[..16])
}

/// What a criterion's command uses; nothing where it runs none.
pub(crate) fn uses(root: &Path, criterion: &Criterion) -> Uses {
    let directory = criterion.terms.cwd.as_ref().map_or_else(|| root.into(), |cwd| root.join(cwd));
    let mut look = uses::CommandLook { root, directory, uses: Uses::default() };
    match criterion.proof.command() {
        Some(ProofCommand::Shell(line)) => look.shell(line, 0),
        Some(ProofCommand::Argv(argv)) => {
            let words: Vec<&str> = argv.iter().map(String::as_str).collect();
            look.words(&words, 0);
        }
        None => {}
    }
    look.uses
}

/// The directories that programs of this criterion are looked for in.
pub(crate) fn path_of(criterion: &Criterion) -> Option<OsString> {
    let own = criterion.terms.set.iter().rev().find(|(name, _)| name == "PATH");
    own.map(|(_, value)| value.into()).or_else(|| variable("PATH"))
}

/// Where a program is found.
pub(crate) fn find(name: &str, path: Option<&std::ffi::OsStr>) -> Option<PathBuf> {
    let can_run = |file: &PathBuf| {
        fs::metadata(file)
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    let names = PROGRAM_ENDS.iter().map(|end| format!("{name}{end}"));
    if name.contains(std::path::is_separator) {
        let mut files = names.map(PathBuf::from);
        return files.find(can_run);
    }
    std::env::split_paths(path?)
        .find_map(|directory| names.clone().map(|name| directory.join(name)).find(can_run))
}

#[cfg(test)]
mod tests;
