//! `red_first`: new and changed tests must fail on the base commit, or they prove nothing.
//!
//! The base commit's work is put beside today's tests, in a place of its own. Where nothing of
//! them fails there, they would have passed without the work. Tests that can't be built there
//! are weak, not wrong: they are accepted, and the receipt says so.

use std::path::{Path, PathBuf};

use stopgate_core::{Criterion, OriginalVerdict, Proof, Receipt, Status, Tests};

use super::apart::{Apart, ApartRun, Judges};
use super::base_tree::{BaseFile, differing};
use super::original::OriginalSubject;
use super::red_tests::{BaseRun, RedFinding, TestTexts, finding};
use crate::basis::JudgeChanges;
use crate::judges::sections::restore;
use crate::judges::{
    JudgeOptions, JudgeRole, JudgeSet, JudgeStance, ListedFiles, MixedKind, ProjectFiles, Why,
};
use crate::place::{FileContent, RestoredFile};
use crate::tree::Tree;

/// How many test files are named.
const NAMED_MAX: usize = 5;
/// Files that describe the work and are not part of it.
const PROSE: [&str; 4] = ["md", "rst", "adoc", "gitignore"];

/// What becomes of a criterion that asks for it.
enum RedVerdict {
    /// Nothing stands against it; perhaps a note.
    Accepted(Option<String>),
    /// The tests prove nothing.
    Refused(String),
    /// It can't be told.
    Unclear(String),
}

/// What the base commit looks like with today's tests.
struct BasePlan {
    /// The base commit's work with today's judges.
    with_tests: JudgeChanges,
    /// The base commit, judges and all.
    without: JudgeChanges,
    /// Test files that were added or changed.
    tests: Vec<PathBuf>,
    texts: Vec<TestTexts>,
    /// Tests inside new source files, which the base commit has no room for.
    homeless: Vec<PathBuf>,
    work_changed: bool,
}

/// Asks whether new and changed tests fail on the base commit; nothing where the program was
/// asked to end meanwhile.
pub(super) fn ask(
    apart: &Apart<'_>,
    subjects: &[OriginalSubject<'_>],
    receipts: &mut [Receipt],
) -> Option<()> {
    for subject in subjects.iter().filter(|subject| subject.criterion.terms.red_first) {
        let name = &subject.criterion.name;
        let passes = |r: &&mut Receipt| r.criterion == *name && r.status == Status::Pass;
        let Some(receipt) = receipts.iter_mut().find(passes) else { continue };
        let (status, why) = match verdict(apart, subject, receipt)? {
            RedVerdict::Accepted(note) => {
                receipt.evidence.notes.extend(note.map(|note| format!("red_first: {note}")));
                continue;
            }
            RedVerdict::Refused(why) => (Status::Fail, why),
            RedVerdict::Unclear(why) => (Status::Error, why),
        };
        receipt.status = status;
        receipt.trouble = Some(format!("red_first: {why}"));
        receipt.evidence.tree = None;
    }
    Some(())
}

fn verdict(
    apart: &Apart<'_>,
    subject: &OriginalSubject<'_>,
    receipt: &Receipt,
) -> Option<RedVerdict> {
    let Some(commit) = apart.basis.commit() else {
        let why = "there was no commit when the loop began to run the new tests on";
        return Some(RedVerdict::Unclear(why.into()));
    };
    let plan = match plan(apart, subject.criterion, commit) {
        Ok(plan) => plan,
        Err(why) => {
            let why = format!("the base commit {} can't be compared: {why}", short(commit));
            return Some(RedVerdict::Unclear(why));
        }
    };
    if plan.tests.is_empty() && plan.homeless.is_empty() {
        return Some(if plan.work_changed {
            RedVerdict::Refused("no test was added or changed".into())
        } else {
            RedVerdict::Accepted(None)
        });
    }
    let original = receipt.evidence.original.as_ref().map(|original| original.verdict);
    let place_is_tried = original == Some(OriginalVerdict::Accepted);
    if !place_is_tried && !apart.run(&[subject], Judges::Today, ".red-control")?.first()?.passes() {
        let why = "the check can't be run apart from this tree, so not on the base commit either";
        return Some(RedVerdict::Unclear(why.into()));
    }
    judged(apart, &unhurried(subject.criterion), plan, receipt.evidence.tests)
}

/// Runs today's tests on the base commit, and its own where that is needed to compare; `today`
/// is how many there are.
fn judged(
    apart: &Apart<'_>,
    criterion: &Criterion,
    plan: BasePlan,
    today: Option<Tests>,
) -> Option<RedVerdict> {
    let BasePlan { with_tests, without, tests, texts, homeless, .. } = plan;
    let new = match run(apart, criterion, with_tests, ".red")? {
        Ok(run) => run,
        Err(why) => return Some(RedVerdict::Unclear(why)),
    };
    let found = if new.receipt.status == Status::Pass {
        RedFinding::Pale
    } else {
        match run(apart, criterion, without, ".base")? {
            Ok(old) => finding(&new, &old, &texts, today),
            Err(why) => return Some(RedVerdict::Unclear(why)),
        }
    };
    Some(match found {
        RedFinding::Red => RedVerdict::Accepted(None),
        RedFinding::Unbuilt => unbuilt(),
        RedFinding::Unreached => {
            let note = "the base commit's own failures end the check before all tests have run";
            RedVerdict::Accepted(Some(note.into()))
        }
        RedFinding::Pale if !homeless.is_empty() => unbuilt(),
        RedFinding::Pale => RedVerdict::Refused(format!(
            "the new or changed tests pass on the base commit, too, so they do not show that \
             the work is needed: {}",
            named(&tests)
        )),
    })
}

fn unbuilt() -> RedVerdict {
    RedVerdict::Accepted(Some("the new tests do not build on the base commit".into()))
}

/// The criterion with a command that goes on after a failure: cargo ends with the first program
/// of tests that fails, and does not get to the new ones.
fn unhurried(criterion: &Criterion) -> Criterion {
    let mut own = criterion.clone();
    if let Proof::Check { command, .. } = &mut own.proof
        && !command.contains("fail-fast")
    {
        *command = format!("{command} ").replace("cargo test ", "cargo test --no-fail-fast ");
    } else if let Proof::Run { argv, .. } = &mut own.proof
        && matches!(argv.as_slice(), [cargo, test, ..] if cargo == "cargo" && test == "test")
        && !argv.iter().any(|word| word.contains("fail-fast"))
    {
        argv.insert(2, "--no-fail-fast".into());
    }
    own
}

/// One run on the base commit; the reason where it says nothing.
fn run(
    apart: &Apart<'_>,
    criterion: &Criterion,
    changes: JudgeChanges,
    suffix: &str,
) -> Option<Result<BaseRun, String>> {
    let subject =
        OriginalSubject { criterion, changes, floor: criterion.tests, failed: 0, fewer: None };
    let mut runs = apart.run(&[&subject], Judges::Original, suffix)?;
    Some(match runs.pop()? {
        ApartRun::NoPlace(why) => Err(format!("the base commit can't be run: {why}")),
        ApartRun::Ran { receipt, failing, is_reported, .. } => match receipt.status {
            Status::Timeout => Err("the check took too long on the base commit".into()),
            _ => Ok(BaseRun { receipt: *receipt, failing, is_reported }),
        },
    })
}

fn plan(apart: &Apart<'_>, criterion: &Criterion, commit: &str) -> Result<BasePlan, String> {
    let root = apart.request.root;
    let files = differing(root, commit)?;
    let today = ListedFiles::new(root, &paths_of(apart.tree));
    // A person may have made judges work: a test is a test all the same.
    let options = JudgeOptions { may_change: &[], stance: JudgeStance::Judges };
    let set = JudgeSet::find(root, criterion, &today, options).map_err(|e| e.to_string())?;
    let outputs = apart.basis.outputs(&criterion.name);
    let mut plan = BasePlan {
        with_tests: JudgeChanges::default(),
        without: JudgeChanges::default(),
        tests: Vec::new(),
        texts: Vec::new(),
        homeless: Vec::new(),
        work_changed: false,
    };
    for file in files {
        put_back(&mut plan.without, &file.path, file.then.clone());
        if outputs.contains(&file.path) {
            continue;
        }
        let role = match file.then {
            None => set.rules().role_of_new(&file.path, &today),
            Some(_) => set.role(&file.path),
        };
        match role {
            JudgeRole::Whole(Why::Hides(_)) | JudgeRole::Work => plan.work(file),
            JudgeRole::Whole(why) => plan.judge(file, &why, &today),
            JudgeRole::Sections(kind) => {
                let reach = set.reach_of(&file.path);
                let now = today.text(&file.path);
                let merged = now.as_deref().zip(file.text()).and_then(|(now, then)| {
                    restore(kind, now, then, &reach).ok().filter(|merged| merged != then)
                });
                plan.mixed(file, kind, now, merged);
            }
        }
    }
    Ok(plan)
}

impl BasePlan {
    fn work(&mut self, file: BaseFile) {
        let end = file.path.extension().or(file.path.file_name());
        let end = end.and_then(|end| end.to_str()).unwrap_or_default();
        self.work_changed |= !PROSE.contains(&end.trim_start_matches('.'));
        put_back(&mut self.with_tests, &file.path, file.then);
    }

    /// Judges are as they are today; those that are gone stay so.
    fn judge(&mut self, file: BaseFile, why: &Why, today: &ListedFiles) {
        let is_test = !matches!(why, Why::Configuration(_) | Why::Helper)
            && file.path.file_name().is_none_or(|name| name != "conftest.py");
        if file.is_there && is_test {
            let now = today.text(&file.path).unwrap_or_default();
            self.texts.push(TestTexts { then: file.text().map(String::from), now });
            self.tests.push(file.path);
        }
    }

    /// Today's sections with the base commit's rest.
    fn mixed(
        &mut self,
        file: BaseFile,
        kind: MixedKind,
        now: Option<String>,
        merged: Option<String>,
    ) {
        let is_rust = kind == MixedKind::RustSource;
        let has_tests = || now.as_deref().is_some_and(|text| text.contains("#[cfg(test)]"));
        if file.then.is_none() && is_rust && has_tests() {
            self.homeless.push(file.path.clone());
        }
        let Some(merged) = merged else { return self.work(file) };
        if is_rust {
            let now = now.unwrap_or_default();
            self.texts.push(TestTexts { then: file.text().map(String::from), now });
            self.tests.push(file.path.clone());
        }
        self.work_changed = true;
        let bytes = merged.into_bytes();
        let content = FileContent::File { bytes, executable: false };
        put_back(&mut self.with_tests, &file.path, Some(content));
    }
}

/// The file is what it was in the base commit.
fn put_back(changes: &mut JudgeChanges, path: &Path, then: Option<FileContent>) {
    match then {
        Some(content) => changes.restore.push(RestoredFile { path: path.into(), content }),
        None => changes.absent.push(path.into()),
    }
}

fn paths_of(tree: Option<&Tree>) -> Vec<PathBuf> {
    let files = tree.into_iter().flat_map(Tree::files);
    files.filter(|file| file.root == 0).map(|file| file.path).collect()
}

fn named(tests: &[PathBuf]) -> String {
    let shown: Vec<String> =
        tests.iter().take(NAMED_MAX).map(|path| path.display().to_string()).collect();
    match tests.len().saturating_sub(NAMED_MAX) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

#[cfg(test)]
mod tests {
    use super::super::ProofRequest;
    use super::super::original::Originals;
    use super::super::scene::Scene;
    use super::*;

    fn unhurried_command(proof: Proof) -> Option<String> {
        unhurried(&Criterion::new("tests", proof)).command()
    }

    #[test]
    fn cargo_goes_on_after_a_program_of_tests_that_fails() {
        let check = |command: &str| {
            let proof = Proof::Check { command: command.into(), timeout_ms: 1 };
            unhurried_command(proof).unwrap_or_default().trim_end().to_string()
        };
        assert_eq!(check("cargo test && x"), "cargo test --no-fail-fast && x");
        assert_eq!(check("cargo test"), "cargo test --no-fail-fast");
        for same in ["cargo test --no-fail-fast", "cargo test-all", "pytest -x"] {
            assert_eq!(check(same), same);
        }
        let argv = ["cargo", "test", "-q"].map(String::from).to_vec();
        let said = unhurried_command(Proof::Run { argv, timeout_ms: 1 }).unwrap_or_default();
        assert_eq!(said, "cargo test --no-fail-fast -q");
    }

    #[test]
    fn tests_in_a_new_source_file_can_not_fail_where_it_is_not() {
        let scene = Scene::new("true", &[("src/lib.rs", "")]);
        let request = ProofRequest { only_place: Some("copy"), ..scene.request() };
        let refused = |homeless: Vec<PathBuf>| {
            let plan = BasePlan {
                with_tests: JudgeChanges::default(),
                without: JudgeChanges::default(),
                tests: vec!["src/new.rs".into()],
                texts: Vec::new(),
                homeless,
                work_changed: true,
            };
            let asked = |own: &Originals<'_>| judged(&own.apart(), scene.criterion(), plan, None);
            let verdict = scene.ask(&request, asked).expect("nobody ends it");
            matches!(verdict, RedVerdict::Refused(_))
        };
        assert!(refused(Vec::new()));
        assert!(!refused(vec!["src/new.rs".into()]));
    }
}
