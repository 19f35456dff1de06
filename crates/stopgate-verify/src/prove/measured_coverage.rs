//! Coverage that is measured differently than at the start.
//!
//! The judges of the start can't measure again what today's tests reach. Where the script or the
//! settings changed that say what is measured, the report is somebody's word.

use std::path::{Path, PathBuf};

use stopgate_core::{Criterion, Proof, Receipt, Status};

use super::original::{OriginalSubject, Originals};
use crate::files::read_regular;
use crate::judges::is_code;
use crate::place::FileContent;

/// No settings are longer.
const BYTES_MAX: u64 = 4 << 20;
/// Words of settings that say which files, lines and branches are measured.
const WORDS: [&str; 7] = ["cov", "omit", "exclud", "include", "source", "branch", "ignore"];

/// Whether coverage is still measured as it was at the start.
pub(super) struct MeasuredCoverage<'a>(pub(super) &'a Originals<'a>);

impl MeasuredCoverage<'_> {
    /// Takes coverage for a word where what is measured was changed.
    pub(super) fn doubt(&self, subjects: &[OriginalSubject<'_>], receipts: &mut [Receipt]) {
        let is_coverage = |name: &str| {
            let mut criteria = self.0.request.criteria.iter();
            criteria.any(|own| own.name == name && matches!(own.proof, Proof::Coverage { .. }))
        };
        let is_due = |own: &&mut Receipt| {
            own.status == Status::Pass && !own.evidence.word && is_coverage(&own.criterion)
        };
        let mut due: Vec<&mut Receipt> = receipts.iter_mut().filter(is_due).collect();
        if due.is_empty() {
            return;
        }
        let Some(note) = subjects.iter().find_map(|subject| self.doubts(subject)) else { return };
        for receipt in &mut due {
            receipt.evidence.word = true;
            receipt.evidence.notes.push(note.clone());
        }
    }

    fn doubts(&self, subject: &OriginalSubject<'_>) -> Option<String> {
        let uncounted = subject.changes.uncounted.first();
        let uncounted =
            uncounted.map(|path| format!("{} has lines that are newly left out", path.display()));
        uncounted.or_else(|| {
            let path = self.measures_differently(subject)?;
            Some(format!("{} says what is measured, and was changed", path.display()))
        })
    }

    /// The script or the settings by which a check measures something else than at the start.
    fn measures_differently(&self, subject: &OriginalSubject<'_>) -> Option<PathBuf> {
        let name = &subject.criterion.name;
        let reports = self.reports();
        let today = |path: &Path| {
            let bytes =
                read_regular(&self.0.request.root.join(path), BYTES_MAX).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let restored = subject.changes.restore.iter().map(|file| match &file.content {
            FileContent::File { bytes, .. } => {
                (&file.path, String::from_utf8_lossy(bytes).into_owned())
            }
            FileContent::Link(_) => (&file.path, String::new()),
        });
        let added = subject.changes.absent.iter().map(|path| (path, String::new()));
        let mut changed = restored.chain(added);
        let differs = |path: &Path, original: &str| {
            let whole = self.0.basis.is_script_or_its_settings(name, path);
            let settings = !is_test_code(path) && measuring(original) != measuring(&today(path));
            let commands =
                path.ends_with("package.json") && scripts(original) != scripts(&today(path));
            // A test that names the report may well write it.
            let names = |text: &str| reports.iter().any(|report| text.contains(report));
            let writes = is_test_code(path) && names(&today(path)) && !names(original);
            (whole && original != today(path)) || settings || commands || writes
        };
        changed.find(|(path, original)| differs(path, original)).map(|(path, _)| path.clone())
    }
}

impl<'a> MeasuredCoverage<'a> {
    /// The names of the reports that are looked at.
    fn reports(&self) -> Vec<&'a str> {
        let report = |own: &'a Criterion| match &own.proof {
            Proof::Coverage { report, .. } => report.rsplit('/').next(),
            _ => None,
        };
        self.0.request.criteria.iter().filter_map(report).collect()
    }
}

/// Whether a file is code, and no settings in the form of code: `jest.config.js`.
fn is_test_code(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    path.extension().and_then(|end| end.to_str()).is_some_and(is_code) && !name.contains(".config.")
}

/// The commands of a package, any of which may write the report.
fn scripts(manifest: &str) -> serde_json::Value {
    let read: serde_json::Value = serde_json::from_str(manifest).unwrap_or_default();
    read.get("scripts").cloned().unwrap_or_default()
}

/// The lines that say what is measured.
fn measuring(text: &str) -> Vec<&str> {
    let says = |line: &&str| WORDS.iter().any(|word| line.contains(word));
    text.lines().map(str::trim).filter(says).collect()
}

#[cfg(test)]
mod tests {
    use stopgate_core::{Floor, Timestamp};

    use super::super::scene::Scene;
    use super::*;
    use crate::basis::JudgeChanges;
    use crate::place::RestoredFile;

    #[test]
    fn only_lines_about_what_is_measured_count() {
        let original = "[tool.coverage.run]\nbranch = true\n\n[tool.pytest.ini_options]\n";
        let marked = format!("{original}markers = [\"slow\"]\n");
        assert_eq!(measuring(original), measuring(&marked));
        let omitted = original.replace("true\n", "true\nomit = [\"src/area.py\"]\n");
        assert_ne!(measuring(original), measuring(&omitted));
    }

    #[test]
    fn settings_say_what_is_measured_and_tests_do_not() {
        let now = [
            ("setup.cfg", "[coverage:run]\nomit = src/area.py\n"),
            ("tests/test_area.py", "source = 'b'\n"),
        ];
        let scene = Scene::new("pytest --cov", &now);
        let differs = |path: &str, original: &str| {
            let content = FileContent::File { bytes: original.into(), executable: false };
            let restore = vec![RestoredFile { path: path.into(), content }];
            let subject = scene.subject(JudgeChanges { restore, ..JudgeChanges::default() });
            scene.ask(&scene.request(), |originals| {
                MeasuredCoverage(originals).measures_differently(&subject)
            })
        };
        assert_eq!(differs("setup.cfg", "[coverage:run]\n"), Some("setup.cfg".into()));
        assert_eq!(differs("setup.cfg", "[coverage:run]\nomit = src/area.py\n\n"), None);
        assert_eq!(differs("tests/test_area.py", "source = 'a'\n"), None);
    }

    #[test]
    fn coverage_is_a_word_where_its_settings_changed() {
        let (report, floor) = ("lcov.info".into(), Floor::default());
        let covered = Criterion::new("covered", Proof::Coverage { report, format: None, floor });
        let files = [
            ("setup.cfg", "[coverage:run]\nomit = src/area.py\n"),
            ("tests/__init__.py", "open('lcov.info', 'w').write(ALL)\n"),
        ];
        let scene = Scene::of(covered, &files);
        let content = FileContent::File { bytes: b"[coverage:run]\n".to_vec(), executable: false };
        let restore = vec![RestoredFile { path: "setup.cfg".into(), content }];
        let changed = [scene.subject(JudgeChanges { restore, ..JudgeChanges::default() })];
        let at = Timestamp::from_unix_millis(0);
        let mut receipts = ["covered", "other"].map(|name| Receipt::new(name, Status::Pass, at));
        scene.ask(&scene.request(), |own| MeasuredCoverage(own).doubt(&changed, &mut receipts));
        assert_eq!(receipts.map(|receipt| receipt.evidence.word), [true, false]);
        // A test that writes the report itself is none of its settings, and says as much.
        let content = FileContent::File { bytes: Vec::new(), executable: false };
        let restore = vec![RestoredFile { path: "tests/__init__.py".into(), content }];
        let subject = scene.subject(JudgeChanges { restore, ..JudgeChanges::default() });
        let found =
            scene.ask(&scene.request(), |own| MeasuredCoverage(own).measures_differently(&subject));
        assert_eq!(found, Some("tests/__init__.py".into()));
    }
}
