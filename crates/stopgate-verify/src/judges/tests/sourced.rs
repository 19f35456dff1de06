//! Shell code of the work that judges read into themselves.

use std::path::Path;

use super::{JudgeRole, Scene, criterion};
use crate::judges::MixedKind;
use crate::judges::sections::restore;

const LIBRARY: JudgeRole = JudgeRole::Sections(MixedKind::ShellLibrary);

fn scene() -> Scene {
    Scene::new(
        "
        app.sh = . lib/greet.sh\\ngreet \"$1\"\\n
        lib/greet.sh = . \"$here/words.sh\"\\ngreet() { echo \"hi $1\"; }\\n
        lib/words.sh = word=hi\\n
        lib/other.sh = other() { :; }\\n
        tests/assert.sh = same() { if diff \"$1\" \"$2\"; then echo ok; fi; }\\n
        tests/run.sh = for part in tests/assert.sh; do . \"$part\"; done\\n. \"$root/lib/greet.sh\"\\nsame a b\\n
        ",
    )
}

#[test]
fn what_judges_read_has_sections_and_other_shell_code_is_work() {
    let scene = scene();
    let set = scene.set(&criterion("tests", "sh tests/run.sh"));
    assert_eq!(set.role(Path::new("lib/greet.sh")), LIBRARY);
    assert_eq!(set.role(Path::new("lib/words.sh")), LIBRARY);
    for path in ["app.sh", "lib/other.sh"] {
        assert_eq!(set.role(Path::new(path)), JudgeRole::Work, "{path}");
    }
    assert_eq!(scene.judges(&set), "tests/assert.sh tests/run.sh");
}

#[test]
fn a_function_with_the_name_of_a_command_that_judges_run_is_left_out() {
    let scene = scene();
    let set = scene.set(&criterion("tests", "sh tests/run.sh"));
    let reach = set.reach_of(Path::new("lib/greet.sh"));
    let greet = "greet() { echo \"hello $1\"; }\n";
    let after = |more: &str| {
        let today = format!("{greet}{more}");
        restore(MixedKind::ShellLibrary, greet, &today, &reach).expect("a text")
    };
    assert_eq!(after("diff() {\n  [ -s \"$1\" ]\n}\n"), greet);
    // Names of its own, and commands that no judge runs, are the work's.
    for own in ["shown() { cat \"$1\"; }\n", "sort() { command sort -f \"$@\"; }\n"] {
        assert_eq!(after(own), format!("{greet}{own}"));
    }
}

#[test]
fn what_is_read_by_now_counts_too() {
    let scene = scene();
    let set = scene.set(&criterion("tests", "sh tests/run.sh"));
    scene.add("lib/greet.sh = . lib/more.sh\\n");
    scene.add("lib/more.sh = diff() { :; }\\n");
    scene.add("lib/unread.sh = diff() { :; }\\n");
    let role = |path: &str| set.rules().role_of_new(Path::new(path), &scene.files());
    assert_eq!(role("lib/more.sh"), LIBRARY);
    assert_eq!(role("lib/unread.sh"), JudgeRole::Work);
}
