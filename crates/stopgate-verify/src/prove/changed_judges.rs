//! What a person is shown who is asked about changed judges.

use std::path::PathBuf;

use super::original::story;
use super::round::tree_of;
use super::standing::{BasisFound, find_basis};
use super::{Directories, ProofRequest};
use crate::basis::JudgeChanges;
use crate::files::read_regular;
use crate::place::FileContent;

/// A judge that is longer is not shown.
const SHOWN_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// What a person is asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedJudges {
    /// What changed, one sentence each.
    pub texts: Vec<String>,
    /// What it was and is, file by file.
    pub files: Vec<ChangedFile>,
}

/// A judge, as it was and as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path from the root.
    pub path: PathBuf,
    /// What it said at the start, as an original run has it; nothing where it was not there.
    pub original: Option<String>,
    /// What it says now; nothing where it is not there.
    pub today: Option<String>,
}

/// What changed of that which judges the criteria; the reason where it can't be told.
pub fn changed_judges(request: &ProofRequest<'_>) -> Result<ChangedJudges, String> {
    let basis = match find_basis(request) {
        BasisFound::Sound(basis) => basis,
        BasisFound::None => return Err("nothing was noted at the start".into()),
        BasisFound::Gone(why) | BasisFound::Forged(why) => return Err(why),
    };
    let tree = tree_of(request, &[]).ok_or("the files can't be told apart")?;
    let directories = Directories::of(request.place);
    let mut all = ChangedJudges::default();
    for criterion in request.criteria.iter().filter(|c| c.is_checked()) {
        let changes =
            basis.changes(request.root, criterion, &tree, directories.store(), request.since);
        let changes = changes.map_err(|error| story(&error))?;
        all.texts.extend(changes.texts.iter().chain(&changes.lasting).cloned());
        if !changes.texts.is_empty() {
            all.files.extend(changed_files(request, &changes));
        }
    }
    all.texts.sort();
    all.texts.dedup();
    all.files.sort_by(|one, other| one.path.cmp(&other.path));
    all.files.dedup();
    Ok(all)
}

fn changed_files(request: &ProofRequest<'_>, changes: &JudgeChanges) -> Vec<ChangedFile> {
    let today = |path: &PathBuf| {
        let bytes = read_regular(&request.root.join(path), SHOWN_BYTES_MAX).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let restored = changes.restore.iter().map(|file| {
        let original = match &file.content {
            FileContent::File { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
            FileContent::Link(target) => format!("a link to {}\n", target.display()),
        };
        ChangedFile { path: file.path.clone(), original: Some(original), today: today(&file.path) }
    });
    let added = changes.absent.iter().map(|path| ChangedFile {
        path: path.clone(),
        original: None,
        today: today(path),
    });
    restored.chain(added).filter(|file| file.original != file.today).collect()
}

#[cfg(test)]
mod tests {
    use super::super::scene::Scene;
    use super::*;
    use crate::place::RestoredFile;

    #[test]
    fn a_person_sees_what_each_judge_was_and_is() {
        let long = "x".repeat(2 * 1024 * 1024);
        let files = [("tests/run.sh", "exit 0\n"), ("tests/long.txt", &long), ("tests/same", "1")];
        let scene = Scene::new("sh tests/run.sh", &files);
        let restore = ["tests/run.sh", "tests/gone.sh", "tests/same"].map(|path| {
            let content = FileContent::File { bytes: b"1".to_vec(), executable: false };
            RestoredFile { path: path.into(), content }
        });
        let changes = JudgeChanges {
            restore: restore.into(),
            absent: vec!["tests/long.txt".into()],
            ..JudgeChanges::default()
        };
        let file = |path: &str, original: Option<&str>, today: Option<&str>| ChangedFile {
            path: path.into(),
            original: original.map(String::from),
            today: today.map(String::from),
        };
        let told = [
            file("tests/run.sh", Some("1"), Some("exit 0\n")),
            file("tests/gone.sh", Some("1"), None),
            file("tests/long.txt", None, Some(&long)),
        ];
        assert!(changed_files(&scene.request(), &changes) == told, "each is told once");
    }
}
