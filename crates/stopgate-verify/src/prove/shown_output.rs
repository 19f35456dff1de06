//! Commands that show what their tests print only where they fail: `pytest > log || { cat log; false; }`.
//!
//! How many tests ran at the start, when they failed, can't be held against a run that passes.

use std::path::Path;

use stopgate_core::Criterion;

use crate::basis::{Basis, JudgeChanges};
use crate::files::read_text;

/// A longer script is not read.
const SCRIPT_BYTES_MAX: u64 = 256 * 1024;
/// More scripts than this are not read.
const SCRIPTS_MAX: usize = 50;

/// Whether the command, or a script of it that is as it was, shows its tests only where they fail.
pub(super) fn tells_only_failures(
    root: &Path,
    basis: &Basis,
    criterion: &Criterion,
    changes: &JudgeChanges,
) -> bool {
    if hides_passes(&criterion.command().unwrap_or_default()) {
        return true;
    }
    // All that was counted at the start may be all that is ever told.
    let all_failed = criterion.tests.is_some_and(|tests| tests.failed == tests.collected);
    let name = &criterion.name;
    let judges = basis.judges(name);
    let is_kept = |path: &Path| !changes.restore.iter().any(|file| file.path == path);
    let paths = judges.iter().map(|line| line.path.as_path()).filter(|path| is_kept(path));
    let roles = paths.map(|path| {
        let is_named = all_failed && basis.is_script(name, path);
        (path, basis.is_script_or_its_settings(name, path), is_named)
    });
    let mut scripts = roles.filter(|(_, hides, names)| *hides || *names).take(SCRIPTS_MAX);
    scripts.any(|(path, hides, names)| {
        let text = read_text(&root.join(path), SCRIPT_BYTES_MAX).unwrap_or_default();
        hides && hides_passes(&text) || names && names_failures_only(&text)
    })
}

/// Whether a script prints `not ok` where something fails, and never `ok`.
fn names_failures_only(text: &str) -> bool {
    let is_sign = |letter: char| !letter.is_alphanumeric();
    let words: Vec<&str> = text.split(is_sign).filter(|word| !word.is_empty()).collect();
    let is_denied = |at: usize| at > 0 && words[at - 1] == "not";
    let mut told = words.iter().enumerate().filter(|(_, word)| **word == "ok").peekable();
    told.peek().is_some() && told.all(|(at, _)| is_denied(at))
}

/// Whether something is written to a file that is shown only on one of two ways.
fn hides_passes(text: &str) -> bool {
    let is_sign = |letter: char| letter.is_whitespace() || "(){};".contains(letter);
    let words: Vec<&str> = text.split(is_sign).filter(|word| !word.is_empty()).collect();
    words.iter().enumerate().any(|(at, word)| {
        let Some(target) = target_of(word, words.get(at + 1).copied()) else { return false };
        let after = &words[at + 1..];
        let way = after.iter().position(|word| ["||", "then", "else"].contains(word));
        let rest = way.map(|way| &after[way..]).unwrap_or_default();
        let from =
            rest.iter().position(|word| ["cat", "tail", "head", "sed", "grep"].contains(word));
        from.is_some_and(|from| rest[from..].contains(&target))
    })
}

/// The file that a word sends output to, where it says so: `>log`, `&> log`.
fn target_of<'t>(word: &'t str, next: Option<&'t str>) -> Option<&'t str> {
    let sign = word.trim_start_matches(['1', '&']);
    let rest = sign.strip_prefix('>')?.trim_start_matches('>');
    let target = if rest.is_empty() { next? } else { rest };
    (!target.starts_with('&') && target != "/dev/null").then_some(target)
}

#[cfg(test)]
mod tests {
    use super::super::scene::Scene;
    use super::*;
    use crate::place::{FileContent, RestoredFile};

    #[test]
    fn output_that_only_a_failure_shows_is_known() {
        for text in [
            "sh tests/run.sh > run.log 2>&1 || { cat run.log; false; }",
            "log=$(mktemp); pytest >\"$log\" 2>&1 || (tail -n 50 \"$log\"; exit 1)",
            "if ! pytest -q &> out.log; then cat out.log; exit 1; fi",
        ] {
            assert!(hides_passes(text), "{text}");
        }
        for text in [
            "pytest -q",
            "pytest > log 2>&1; cat log",
            "pytest -q 2>/dev/null || echo failed",
            "pytest > log || { cat other; false; }",
            "pytest | tee log || { cat log; false; }",
        ] {
            assert!(!hides_passes(text), "{text}");
        }
    }

    #[test]
    fn a_script_that_never_says_ok_names_failures_only() {
        let script = "run || { echo \"not ok: $case\"; failed=1; }\nexit $failed\n";
        assert!(names_failures_only(script));
        assert!(!names_failures_only("run && echo \"ok: $1\" || echo \"not ok: $1\"\n"));
        assert!(!names_failures_only("run\n"));
    }

    #[test]
    fn a_script_that_is_as_it_was_may_show_only_failures() {
        let hiding = "pytest > run.log 2>&1 || { cat run.log; exit 1; }\n";
        let plain = "pytest\n";
        let tells = |script: &str, test: &str, is_changed: bool| {
            let files = [("ci/check.sh", script), ("tests/test_log.sh", test)];
            let scene = Scene::new("sh ci/check.sh && sh tests/test_log.sh", &files);
            let content = FileContent::File { bytes: plain.into(), executable: false };
            let file = RestoredFile { path: "ci/check.sh".into(), content };
            let restore = if is_changed { vec![file] } else { Vec::new() };
            let changes = JudgeChanges { restore, ..JudgeChanges::default() };
            let request = scene.request();
            scene.ask(&request, |own| {
                tells_only_failures(request.root, own.basis, scene.criterion(), &changes)
            })
        };
        assert!(tells(hiding, plain, false));
        assert!(!tells(plain, plain, false));
        assert!(!tells(hiding, plain, true));
        // A test that prints such a line is not a script that runs the tests.
        assert!(!tells(plain, hiding, false));
    }
}
