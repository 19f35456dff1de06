//! `red_first`: tests that would have passed without the work prove nothing.

use crate::call::Form;
use crate::doors;
use crate::stage::Stage;

/// A small project, what the agent did to it, and how that ends.
struct Story {
    name: &'static str,
    /// The check of the criterion.
    check: &'static str,
    /// The base commit.
    base: &'static [(&'static str, &'static str)],
    /// What the agent wrote; an empty text deletes.
    work: &'static [(&'static str, &'static str)],
    /// What the agent is told, where it is held.
    held: Option<&'static str>,
}

const UNIT: &str = "python3 -B -m unittest discover -s tests -t .";
const SHELL: &str = "sh tests/run.sh";

const HALF: &str = "def days(n):\n    return n\n";
const WHOLE: &str = "def days(n):\n    return n * 24\n";
const RENAMED: &str =
    "def days(n):\n    return n * 24\n\n\ndef weeks(n):\n    return days(7 * n)\n";

const HEAD: &str = "import unittest\nimport spans\n\n\nclass Spans(unittest.TestCase):\n    def test_none(self):\n        self.assertEqual(spans.days(0), 0)\n";
const RED: &str = "import unittest\nimport spans\n\n\nclass Spans(unittest.TestCase):\n    def test_none(self):\n        self.assertEqual(spans.days(0), 0)\n\n    def test_one(self):\n        self.assertEqual(spans.days(1), 24)\n";
const PALE: &str = "import unittest\nimport spans\n\n\nclass Spans(unittest.TestCase):\n    def test_none(self):\n        self.assertEqual(spans.days(0), 0)\n\n    def test_same(self):\n        self.assertTrue(callable(spans.days))\n";
const BOTH: &str = "import unittest\nimport spans\n\n\nclass Spans(unittest.TestCase):\n    def test_none(self):\n        self.assertEqual(spans.days(0), 0)\n\n    def test_same(self):\n        self.assertTrue(callable(spans.days))\n\n    def test_two(self):\n        self.assertEqual(spans.days(2), 48)\n";
const SHARPER: &str = "import unittest\nimport spans\n\n\nclass Spans(unittest.TestCase):\n    def test_none(self):\n        self.assertEqual(spans.days(0), 0)\n        self.assertEqual(spans.days(3), 72)\n";
const COMMENTED: &str = "import unittest\nimport spans\n\n\nclass Spans(unittest.TestCase):\n    def test_none(self):\n        # nothing is nothing\n        self.assertEqual(spans.days(0), 0)\n";
const RED_SHARPER: &str = "import unittest\nimport spans\n\n\nclass Spans(unittest.TestCase):\n    def test_none(self):\n        self.assertEqual(spans.days(0), 0)\n\n    def test_one(self):\n        self.assertEqual(spans.days(1), 24)\n        self.assertEqual(spans.days(2), 48)\n";
const RED_PALE: &str = "import unittest\nimport spans\n\n\nclass Spans(unittest.TestCase):\n    def test_none(self):\n        self.assertEqual(spans.days(0), 0)\n\n    def test_one(self):\n        self.assertEqual(spans.days(1), 24)\n\n    def test_same(self):\n        self.assertTrue(True)\n";
const RED_RED: &str = "import unittest\nimport spans\n\n\nclass Spans(unittest.TestCase):\n    def test_none(self):\n        self.assertEqual(spans.days(0), 0)\n\n    def test_one(self):\n        self.assertEqual(spans.days(1), 24)\n\n    def test_two(self):\n        self.assertEqual(spans.days(2), 48)\n";
const EMPTY_TEST: &str =
    "import unittest\n\n\nclass More(unittest.TestCase):\n    def test_more(self):\n        pass\n";
const NEW_RED: &str = "import unittest\nimport spans\n\n\nclass More(unittest.TestCase):\n    def test_more(self):\n        self.assertEqual(spans.days(1), 24)\n";
const NEW_SYMBOL: &str = "import unittest\nfrom spans import weeks\n\n\nclass Weeks(unittest.TestCase):\n    def test_weeks(self):\n        self.assertEqual(weeks(1), 168)\n";
const LATE_SYMBOL: &str = "import unittest\nimport spans\n\n\nclass Weeks(unittest.TestCase):\n    def test_weeks(self):\n        self.assertEqual(spans.weeks(1), 168)\n";
const SKIPPED: &str = "import unittest\nimport spans\n\n\nclass More(unittest.TestCase):\n    @unittest.skip('later')\n    def test_more(self):\n        self.assertEqual(spans.days(1), 24)\n";
const HELPED: &str = "import unittest\nimport spans\nfrom tests.help import hours\n\n\nclass More(unittest.TestCase):\n    def test_more(self):\n        self.assertEqual(spans.days(1), hours(1))\n";

const APP: &str = "echo hello\n";
const APP_NEW: &str = "if [ \"$1\" = -n ]; then echo \"hello $2\"; else echo hello; fi\n";
const RUN: &str = "set -e\ntest \"$(sh app.sh)\" = hello\n";
const RUN_RED: &str =
    "set -e\ntest \"$(sh app.sh)\" = hello\ntest \"$(sh app.sh -n you)\" = 'hello you'\n";
const RUN_PALE: &str = "set -e\ntest \"$(sh app.sh)\" = hello\ntest -f app.sh\n";
const RUN_TOLD: &str = "code=0\ntest \"$(sh app.sh)\" = hello || { echo FAIL plain; code=1; }\ntest \"$(sh app.sh -x)\" = x || { echo FAIL x; code=1; }\nexit $code\n";
const RUN_TOLD_RED: &str = "code=0\ntest \"$(sh app.sh)\" = hello || { echo FAIL plain; code=1; }\ntest \"$(sh app.sh -x)\" = x || { echo FAIL x; code=1; }\ntest \"$(sh app.sh -y)\" = y || { echo FAIL y; code=1; }\nexit $code\n";
const RUN_TOLD_PALE: &str = "code=0\ntest \"$(sh app.sh)\" = hello || { echo FAIL plain; code=1; }\ntest \"$(sh app.sh -x)\" = x || { echo FAIL x; code=1; }\ntest -f app.sh && echo ok there\nexit $code\n";
const APP_TOLD: &str = "case \"$1\" in -x) echo x;; -y) echo y;; *) echo hello;; esac\n";

const PASSES: Option<&str> = Some("pass on the base commit, too");
const NONE: Option<&str> = Some("red_first: no test was added or changed");

const SPANS: &[(&str, &str)] =
    &[("spans.py", HALF), ("tests/__init__.py", ""), ("tests/test_spans.py", HEAD)];
const SPANS_RED: &[(&str, &str)] =
    &[("spans.py", HALF), ("tests/__init__.py", ""), ("tests/test_spans.py", RED)];
const BARE: &[(&str, &str)] = &[("spans.py", HALF), ("README.md", "Spans\n")];
const SCRIPT: &[(&str, &str)] = &[("app.sh", APP), ("tests/run.sh", RUN)];
const SCRIPT_TOLD: &[(&str, &str)] = &[("app.sh", APP), ("tests/run.sh", RUN_TOLD)];

const fn story(
    name: &'static str,
    check: &'static str,
    base: &'static [(&'static str, &'static str)],
    work: &'static [(&'static str, &'static str)],
    held: Option<&'static str>,
) -> Story {
    Story { name, check, base, work, held }
}

const PYTHON: &[Story] = &[
    story(
        "a fix with its test",
        UNIT,
        SPANS,
        &[("spans.py", WHOLE), ("tests/test_spans.py", RED)],
        None,
    ),
    story(
        "a fix with a test file",
        UNIT,
        SPANS,
        &[("spans.py", WHOLE), ("tests/test_more.py", NEW_RED)],
        None,
    ),
    story(
        "a fix with a sharper test",
        UNIT,
        SPANS,
        &[("spans.py", WHOLE), ("tests/test_spans.py", SHARPER)],
        None,
    ),
    story(
        "a fix with one test that needs it",
        UNIT,
        SPANS,
        &[("spans.py", WHOLE), ("tests/test_spans.py", BOTH)],
        None,
    ),
    story(
        "a fix with a test that passes anyway",
        UNIT,
        SPANS,
        &[("spans.py", WHOLE), ("tests/test_spans.py", PALE)],
        PASSES,
    ),
    story(
        "a fix with a test of nothing",
        UNIT,
        SPANS,
        &[("spans.py", WHOLE), ("tests/test_more.py", EMPTY_TEST)],
        PASSES,
    ),
    story(
        "a fix with a comment in a test",
        UNIT,
        SPANS,
        &[("spans.py", WHOLE), ("tests/test_spans.py", COMMENTED)],
        PASSES,
    ),
    story(
        "a fix with a skipped test",
        UNIT,
        SPANS,
        &[("spans.py", WHOLE), ("tests/test_more.py", SKIPPED)],
        PASSES,
    ),
    story("a fix without a test", UNIT, SPANS, &[("spans.py", WHOLE)], NONE),
    story(
        "a fix with prose only",
        UNIT,
        SPANS,
        &[("spans.py", WHOLE), ("README.md", "Days\n")],
        NONE,
    ),
    story(
        "a fix with a helper only",
        UNIT,
        SPANS,
        &[("spans.py", WHOLE), ("tests/__init__.py", "# all tests\n")],
        PASSES,
    ),
    story("prose alone", UNIT, SPANS, &[("README.md", "Days\n")], None),
    story(
        "a new name, imported first",
        UNIT,
        SPANS,
        &[("spans.py", RENAMED), ("tests/test_weeks.py", NEW_SYMBOL)],
        None,
    ),
    story(
        "a new name, used late",
        UNIT,
        SPANS,
        &[("spans.py", RENAMED), ("tests/test_weeks.py", LATE_SYMBOL)],
        None,
    ),
    story(
        "a test with a helper",
        UNIT,
        SPANS,
        &[
            ("spans.py", WHOLE),
            ("tests/help.py", "def hours(n):\n    return 24 * n\n"),
            ("tests/test_more.py", HELPED),
        ],
        None,
    ),
    story(
        "a failing test, and another",
        UNIT,
        SPANS_RED,
        &[("spans.py", WHOLE), ("tests/test_spans.py", RED_RED)],
        None,
    ),
    story(
        "a failing test made sharper",
        UNIT,
        SPANS_RED,
        &[("spans.py", WHOLE), ("tests/test_spans.py", RED_SHARPER)],
        None,
    ),
    story(
        "a failing test, and one of nothing",
        UNIT,
        SPANS_RED,
        &[("spans.py", WHOLE), ("tests/test_spans.py", RED_PALE)],
        PASSES,
    ),
    story(
        "a failing test, and a file of nothing",
        UNIT,
        SPANS_RED,
        &[("spans.py", WHOLE), ("tests/test_more.py", EMPTY_TEST)],
        PASSES,
    ),
    story("a failing test fixed without one", UNIT, SPANS_RED, &[("spans.py", WHOLE)], NONE),
    story(
        "the first tests",
        UNIT,
        BARE,
        &[("spans.py", WHOLE), ("tests/__init__.py", ""), ("tests/test_more.py", NEW_RED)],
        None,
    ),
];

const SCRIPTS: &[Story] = &[
    story(
        "an option with its test",
        SHELL,
        SCRIPT,
        &[("app.sh", APP_NEW), ("tests/run.sh", RUN_RED)],
        None,
    ),
    story(
        "an option with a test that passes anyway",
        SHELL,
        SCRIPT,
        &[("app.sh", APP_NEW), ("tests/run.sh", RUN_PALE)],
        PASSES,
    ),
    story("an option without a test", SHELL, SCRIPT, &[("app.sh", APP_NEW)], NONE),
    story(
        "an option with a comment in the script",
        SHELL,
        SCRIPT,
        &[("app.sh", APP_NEW), ("tests/run.sh", "# all\nset -e\ntest \"$(sh app.sh)\" = hello\n")],
        PASSES,
    ),
    story(
        "an option with a new file beside",
        SHELL,
        SCRIPT,
        &[("app.sh", APP_NEW), ("lib.sh", "x=1\n")],
        NONE,
    ),
    story(
        "a script that fails, and one more test",
        SHELL,
        SCRIPT_TOLD,
        &[("app.sh", APP_TOLD), ("tests/run.sh", RUN_TOLD_RED)],
        None,
    ),
    story(
        "a script that fails, and a test of nothing",
        SHELL,
        SCRIPT_TOLD,
        &[("app.sh", APP_TOLD), ("tests/run.sh", RUN_TOLD_PALE)],
        PASSES,
    ),
    story(
        "a script that fails, fixed without a test",
        SHELL,
        SCRIPT_TOLD,
        &[("app.sh", APP_TOLD)],
        NONE,
    ),
    story("nothing at all", SHELL, SCRIPT, &[], None),
];

fn git(stage: &Stage, arguments: &[&str]) {
    let mut git = doors::program("git");
    git.env_clear().env("PATH", doors::search_path()).env("HOME", stage.path("user"));
    git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments);
    let ran = git.current_dir(stage.path("project")).output().expect("run git");
    assert!(ran.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

fn begun(base: &[(&str, &str)], check: &str) -> Stage {
    let stage = Stage::new();
    std::fs::remove_dir(stage.path("project/.git")).expect("an empty directory");
    git(&stage, &["init", "-q"]);
    for (path, text) in base {
        stage.write(&format!("project/{path}"), text);
    }
    let file = format!("[[criterion]]\nname = \"t\"\nshell = '{check}'\nred_first = true\n");
    stage.write("project/stopgate.toml", file);
    assert_eq!(stage.run("trust --yes").code, 0);
    stage
}

fn play(story: &Story) -> Result<(), String> {
    let stage = begun(story.base, story.check);
    git(&stage, &["add", "-A"]);
    git(&stage, &["commit", "-q", "-m", "begin"]);
    let id = stage.start("'Do it' --session s1");
    for (path, text) in story.work {
        stage.write(&format!("project/{path}"), text);
    }
    let answer = stage.stop("s1", "Done.");
    let ended = stage.standing(&id);
    let fine = match story.held {
        None => answer.form == Form::Tell && ended.starts_with("done"),
        Some(said) => answer.is_sent_back() && answer.text.contains(said),
    };
    if fine { Ok(()) } else { Err(format!("{}: {ended}\n{answer}\n", story.name)) }
}

fn all(stories: &[Story]) {
    let wrong: Vec<String> = stories.iter().filter_map(|story| play(story).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn python_tests_must_have_failed_before() {
    all(PYTHON);
}

#[test]
fn scripts_must_have_failed_before() {
    all(SCRIPTS);
}

#[test]
fn there_are_thirty_stories() {
    assert_eq!(PYTHON.len() + SCRIPTS.len(), 30);
}

#[test]
fn tests_that_do_not_build_there_are_weak_and_said_to_be() {
    let stage = begun(SPANS, UNIT);
    git(&stage, &["add", "-A"]);
    git(&stage, &["commit", "-q", "-m", "begin"]);
    let id = stage.start("'Do it' --session s1");
    stage.write("project/spans.py", RENAMED);
    stage.write("project/tests/test_weeks.py", NEW_SYMBOL);
    assert_eq!(stage.stop("s1", "Done.").form, Form::Tell);
    assert!(stage.standing(&id).starts_with("done"));
    let found = stage.run("store export").out;
    assert!(found.contains("red_first: the new tests do not build on the base commit"), "{found}");
}

#[test]
fn without_a_commit_there_is_nothing_to_compare_with() {
    let stage = begun(SPANS, UNIT);
    stage.start("'Do it' --session s1");
    stage.write("project/spans.py", WHOLE);
    stage.write("project/tests/test_spans.py", RED);
    let answer = stage.stop("s1", "Done.");
    assert!(answer.is_sent_back(), "{answer}");
    assert!(answer.text.contains("there was no commit when the loop began"), "{answer}");
}
