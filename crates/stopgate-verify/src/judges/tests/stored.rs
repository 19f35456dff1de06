//! Sets as texts, in one order, within bounds.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Scene, criterion};
use crate::judges::{JudgeOptions, JudgeRole, JudgeSet, ListedFiles};

fn text(set: &JudgeSet) -> String {
    serde_json::to_string(set).expect("a text")
}

fn read(text: &str) -> JudgeSet {
    serde_json::from_str(text).expect("a set")
}

#[test]
fn a_set_is_the_same_when_it_is_read_back() {
    let scene = Scene::new(
        "Makefile = test:\\n\\tpytest\\n\npackage.json = {\"scripts\":{\"x\":\"jest\"}}\ntests/test_a.py",
    );
    let set = scene.set(&criterion("tests", "make test && npm run x && ./check.sh"));
    let read_back = read(&text(&set));
    assert_eq!(read_back, set);
    assert_eq!(text(&read_back), text(&set));
    serde_json::from_str::<JudgeSet>("{").expect_err("not a set");
}

#[test]
fn paths_that_are_not_unicode_are_kept() {
    let scene = Scene::new("calc.py");
    let odd = Path::new(OsStr::from_bytes(b"tests/test_\xff.py"));
    let files = ListedFiles::new(scene.root(), &[odd.into()]);
    let mut own = criterion("tests", "pytest");
    own.terms.protect = vec!["tests/**".into()];
    let options = JudgeOptions::default();
    let set = JudgeSet::find(scene.root(), &own, &files, options).expect("patterns");
    assert_ne!(read(&text(&set)).role(odd), JudgeRole::Work);
}

#[test]
fn a_pattern_that_is_not_one_is_named() {
    let scene = Scene::new("calc.py");
    let mut own = criterion("tests", "pytest");
    own.terms.protect = vec!["../x".into()];
    let found = JudgeSet::find(scene.root(), &own, &scene.files(), JudgeOptions::default());
    assert_eq!(found.expect_err("a pattern").to_string(), "read the pattern `../x`");
}

#[test]
fn many_files_are_found_in_the_same_order_every_time() {
    let scene = Scene::new("Cargo.toml");
    let name = |number: usize| PathBuf::from(format!("src/d{}/f{number}.py", number % 100));
    let files = ListedFiles::new(scene.root(), &(0..50_000).map(name).collect::<Vec<_>>());
    let find = || {
        let own = criterion("t", "pytest");
        let set = JudgeSet::find(scene.root(), &own, &files, JudgeOptions::default());
        text(&set.expect("patterns"))
    };
    assert_eq!(find(), find());
}

#[test]
fn what_calls_itself_is_followed_once() {
    let scene = Scene::new(
        "check.sh = . ./check.sh; ./check.sh; make test; npm test; just test\nMakefile = test: test\\n\\t$(MAKE) test; ./check.sh\\ninclude Makefile\\nX = $(Y)\\nY = $(X)\npackage.json = {\"scripts\":{\"test\":\"npm run test && ./check.sh\"}}\njustfile = import 'justfile'\\ntest: test\\n  just test\\n  ./check.sh",
    );
    let set = scene.set(&criterion("tests", "./check.sh"));
    assert_eq!(scene.judges(&set), "~Makefile check.sh ~justfile ~package.json");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        cases: 400, failure_persistence: None, ..proptest::prelude::ProptestConfig::default()
    })]

    #[test]
    fn no_command_is_too_odd(
        command in proptest::collection::vec(
            proptest::sample::select(&[
                "sh", "-c", "'", "\"", "$(", ")", "`", "|", "||", "&&", ";", "<<", "E", "\n", "(", "{",
                "}", "$x", "${x", "make", "-C", "npm", "run", "test", "python", "-m", "pytest", "-p",
                "--", "é", "\\", ">", "<(", "for", "in", "*", "find", "-exec", "xargs", "env", "a=b",
                "./check.sh", "cd", "..", "just", "-f", "cargo", "#", "case", "x)", "esac", "-", "=",
            ][..]),
            0..14,
        ),
        script in "\\PC{0,40}",
    ) {
        let scene = Scene::new("check.sh\nMakefile = test:\\n\\tpytest\\n\njustfile");
        std::fs::write(scene.root().join("check.sh"), &script).expect("a file");
        for joint in [" ", ""] {
            let own = criterion("tests", &command.join(joint));
            let set = scene.set(&own);
            proptest::prop_assert_eq!(read(&text(&set)), set);
            let _ = crate::judges::warnings::warnings(&own);
        }
    }
}
