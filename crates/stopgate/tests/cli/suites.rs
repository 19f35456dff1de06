//! Real suites of tests, from failing to fixed, through the real hook; and every way to
//! make them pass without the work.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::call::{Answer, Form};
use crate::doors;
use crate::stage::Stage;

/// A stage with a copy of one of the projects under `tests/fixtures`, trusted.
struct Suite {
    stage: Stage,
}

impl Suite {
    fn of(name: &str) -> Self {
        let stage = Stage::new();
        std::fs::remove_dir_all(stage.path("project")).expect("empty the project");
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
        copy(&fixture, &stage.path("project"));
        let hidden = stage.path("project/gitignore");
        if hidden.exists() {
            std::fs::rename(hidden, stage.path("project/.gitignore")).expect("rename a file");
        }
        let git = |arguments: &[&str]| {
            let mut git = doors::program("git");
            git.env_clear().env("PATH", doors::search_path()).env("HOME", stage.path("user"));
            git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments);
            let ran = git.current_dir(stage.path("project")).output().expect("run git");
            assert!(
                ran.status.success(),
                "git {arguments:?}: {}",
                String::from_utf8_lossy(&ran.stderr)
            );
        };
        git(&["init", "-q"]);
        git(&["add", "-A"]);
        git(&["commit", "-q", "-m", "begin"]);
        let suite = Self { stage };
        let ran = suite.stage.run_with("trust --yes", &suite.tools());
        assert_eq!(ran.code, 0, "{ran}");
        suite
    }

    /// Cargo and rustup find their things below the person's real home.
    fn tools(&self) -> Vec<(&'static str, &'static str)> {
        let _ = self;
        doors::toolchain()
    }

    fn begin(&self) -> String {
        let ran =
            self.stage.run_with("start 'Make the tests pass' --session s1 --json", &self.tools());
        assert_eq!(ran.code, 0, "{ran}");
        let answer: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
        answer["loop"]["id"].as_str().expect("an id").into()
    }

    fn stop(&self, message: &str) -> Answer {
        let mut call = self.stage.stop_call("s1", message);
        for (name, value) in self.tools() {
            call = call.var(name, value);
        }
        call.send()
    }

    fn write(&self, name: &str, text: &str) {
        self.stage.write(&format!("project/{name}"), text);
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("read a file")
    }

    fn remove(&self, name: &str) {
        std::fs::remove_file(self.path(name)).expect("remove a file");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.stage.path("project").join(name)
    }

    /// The work that makes the suite pass honestly.
    fn do_the_work(&self, fixed: &str, place: &str) {
        let text = self.read(fixed);
        self.write(place, &text);
    }

    fn outcome(&self, id: &str) -> String {
        self.stage.standing(id).split(' ').next().unwrap_or_default().into()
    }

    /// Half of the work: `show` is right, `parse` is as it was.
    fn do_half_of_the_work(&self) {
        let half = self.read("durations.py").replace(
            "return f\"{seconds}s\"",
            "return f\"{seconds // 60}m\" if seconds % 60 == 0 else f\"{seconds}s\"",
        );
        self.write("durations.py", &half);
    }

    /// A stop after the judges were weakened: it is said which of the original tests fail; left
    /// so, a person is asked; and it is never done.
    fn needs_a_person(&self, id: &str, said: &[&str]) {
        let answer = self.stop("All tests pass now. <promise>COMPLETE</promise>");
        assert!(answer.is_sent_back(), "{answer}");
        for said in said {
            assert!(answer.text.contains(said), "{said}: {answer}");
        }
        assert!(answer.text.contains("Make the tests pass as they were at the start"), "{answer}");
        assert_eq!(self.outcome(id), "active");
        let answer = self.stop("It passes. <promise>COMPLETE</promise>");
        assert_eq!((answer.form, self.outcome(id).as_str()), (Form::Tell, "needs_approval"));
        assert!(answer.text.contains("stopgate approve"), "{answer}");
    }
}

#[test]
fn a_python_suite_from_failing_to_fixed() {
    let suite = Suite::of("pytest");
    let id = suite.begin();
    let first = suite.stop("Done!");
    assert!(first.is_sent_back(), "{first}");
    assert!(first.text.contains("at: durations.py:7"), "{first}");
    assert!(first.text.contains("reproduce: pytest-3 -q"), "{first}");
    suite
        .write("durations.py", &suite.read("durations.py").replace("3600}", "3600, \"d\": 86400}"));
    let second = suite.stop("Days work, too.");
    assert!(second.is_sent_back() && second.text.contains("test_nonsense"), "{second}");
    suite.do_the_work("fixed.py", "durations.py");
    let third = suite.stop("Now it is really done.");
    assert_eq!(third.form, Form::Tell, "{third}");
    assert_eq!(suite.outcome(&id), "done");
    let criterion = &suite.stage.json(&format!("status {id}"))["loop"]["criteria"][0];
    let tests = &criterion["receipt"]["tests"];
    assert_eq!((&tests["collected"], &tests["failed"]), (&5.into(), &0.into()), "{criterion}");
    assert!(criterion["receipt"]["version"].as_str().is_some_and(|v| v.starts_with("pytest")));
}

#[test]
fn a_node_suite_from_failing_to_fixed() {
    let suite = Suite::of("node");
    let id = suite.begin();
    let first = suite.stop("Done!");
    assert!(first.is_sent_back() && first.text.contains("at: test/slug.test.js:6"), "{first}");
    suite.do_the_work("fixed.js", "slug.js");
    assert_eq!(suite.stop("Done.").form, Form::Tell);
    assert_eq!(suite.outcome(&id), "done");
    let criterion = &suite.stage.json(&format!("status {id}"))["loop"]["criteria"][0];
    assert_eq!(criterion["receipt"]["tests"]["collected"], 3, "{criterion}");
}

#[test]
fn a_cargo_suite_from_failing_to_fixed_and_proven_by_a_receipt() {
    let suite = Suite::of("cargo");
    let id = suite.begin();
    let first = suite.stop("Done!");
    assert!(first.is_sent_back() && first.text.contains("tests/numerals.rs:"), "{first}");
    suite.do_the_work("fixed.rs", "src/lib.rs");
    let second = suite.stop("Done.");
    assert_eq!(second.form, Form::Tell, "{second}");
    assert_eq!(suite.outcome(&id), "done");
    let receipt = suite.stage.path("receipt.json").display().to_string();
    let ran = suite.stage.run(&format!("receipt export {id} --output {receipt}"));
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(suite.stage.run(&format!("receipt check {receipt}")).code, 0);
    suite.write("src/lib.rs", "pub fn roman(_: u32) -> String { String::new() }\n");
    let ran = suite.stage.run(&format!("receipt check {receipt}"));
    assert!(ran.code == 1 && ran.out.contains("proven for other files than these"), "{ran}");
    let text = std::fs::read_to_string(&receipt).expect("read the receipt");
    std::fs::write(&receipt, text.replace("Make the tests pass", "Make all tests pass"))
        .expect("edit");
    let ran = suite.stage.run(&format!("receipt check {receipt} --signature-only"));
    assert!(ran.code == 1 && ran.out.contains("changed after it was signed"), "{ran}");
}

#[test]
fn an_edited_program_under_test_is_the_work() {
    let stage = Stage::new();
    stage.write("project/app.sh", "echo goodbye\n");
    let line = "start Greet --session s1 --check 'works=sh app.sh | grep -q hello' --json";
    let ran = stage.run(line);
    assert_eq!(ran.code, 0, "{ran}");
    let answer: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let id = answer["loop"]["id"].as_str().expect("an id").to_string();
    assert!(stage.stop("s1", "Done. <promise>COMPLETE</promise>").is_sent_back());
    stage.write("project/app.sh", "echo hello\n");
    assert_eq!(stage.stop("s1", "Done. <promise>COMPLETE</promise>").form, Form::Tell);
    assert!(stage.standing(&id).starts_with("done "), "{}", stage.standing(&id));
}

#[test]
fn a_new_conftest_with_a_fixture_is_done() {
    let suite = Suite::of("pytest");
    let id = suite.begin();
    suite.do_the_work("fixed.py", "durations.py");
    suite.write(
        "tests/conftest.py",
        "import pytest\n\n\n@pytest.fixture\ndef a_day():\n    return 86400\n",
    );
    suite.write(
        "tests/test_days.py",
        "from durations import parse\n\n\ndef test_two_days(a_day):\n    assert parse(\"2d\") == 2 * a_day\n",
    );
    assert_eq!(suite.stop("Done.").form, Form::Tell);
    assert_eq!(suite.outcome(&id), "done");
}

#[test]
fn a_weakened_assertion_is_not_done_and_its_test_is_named() {
    let suite = Suite::of("pytest");
    let id = suite.begin();
    suite.do_half_of_the_work();
    let weak = suite.read("tests/test_parse.py").replace("parse(\"1d\") == 86400", "True");
    suite.write(
        "tests/test_parse.py",
        &weak.replace("pytest.raises(ValueError)", "pytest.raises(Exception)"),
    );
    suite.needs_a_person(
        &id,
        &["tests/test_parse.py was changed", "tests/test_parse.py::test_days"],
    );
}

#[test]
fn a_deleted_test_still_judges() {
    let suite = Suite::of("pytest");
    let id = suite.begin();
    suite.remove("tests/test_parse.py");
    suite.do_half_of_the_work();
    let said = ["tests/test_parse.py was deleted", "tests/test_parse.py::test_days"];
    suite.needs_a_person(&id, &said);
    let shown = suite.stage.json(&format!("status {id}"));
    assert_eq!(shown["loop"]["state"], "waiting", "{shown}");
    assert_eq!(suite.stage.run(&format!("status {id} --exit-code")).code, 4);
    suite.do_the_work("fixed.py", "durations.py");
    let answer = suite.stop("Now the work is done.");
    assert_eq!(answer.form, Form::Tell, "{answer}");
    assert_eq!(suite.outcome(&id), "done", "the tests of the start accept it");
}

#[test]
fn a_test_that_is_skipped_is_run_as_it_was() {
    let suite = Suite::of("pytest");
    let id = suite.begin();
    suite.write(
        "tests/test_show.py",
        "import pytest\nfrom durations import show\n\n\n@pytest.mark.skip\ndef test_a_minute():\n    assert show(60) == \"1m\"\n",
    );
    let work = suite.read("fixed.py").replace("return f\"{seconds // size}{unit}\"", "return \"\"");
    suite.write("durations.py", &work);
    let said = ["tests/test_show.py was changed", "tests/test_show.py::test_a_minute"];
    suite.needs_a_person(&id, &said);
}

#[test]
fn tests_that_go_with_the_work_are_nobody_s_business() {
    let suite = Suite::of("pytest");
    let id = suite.begin();
    suite.remove("tests/test_show.py");
    suite.do_the_work("fixed.py", "durations.py");
    assert_eq!(suite.stop("Done.").form, Form::Tell);
    assert_eq!(suite.outcome(&id), "done", "the tests of the start accept it");
}

#[test]
fn a_conftest_that_leaves_early_is_absent_from_the_original_run() {
    for (name, text) in [
        ("tests/conftest.py", "import os\nos._exit(0)\n"),
        ("conftest.py", "import os\nos._exit(0)\n"),
    ] {
        let suite = Suite::of("pytest");
        let id = suite.begin();
        suite.write(name, text);
        suite.needs_a_person(&id, &[name, "tests/test_parse.py::test_days"]);
    }
}

#[test]
fn another_program_of_the_same_name_is_not_run() {
    let suite = Suite::of("pytest");
    let id = suite.begin();
    let fake = suite.stage.path("user/bin/pytest-3");
    suite.stage.write("user/bin/pytest-3", "#!/bin/sh\necho '5 passed in 0.01s'\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&fake, mode).expect("make it a program");
    let path =
        format!("{}:{}", suite.stage.path("user/bin").display(), doors::search_path().display());
    let answer = suite.stage.stop_call("s1", "All pass.").var("PATH", &path).send();
    assert!(answer.is_sent_back() && answer.text.contains("3 failed, 2 passed"), "{answer}");
    assert_eq!(suite.outcome(&id), "active");
}

#[test]
fn an_edited_project_file_counts_from_the_next_loop_on() {
    let suite = Suite::of("pytest");
    let id = suite.begin();
    suite.write("stopgate.toml", "[[criterion]]\nname = \"tests pass\"\nrun = [\"true\"]\n");
    let answer = suite.stop("All tests pass now. <promise>COMPLETE</promise>");
    assert!(answer.is_sent_back() && answer.text.contains("3 failed, 2 passed"), "{answer}");
    suite.do_the_work("fixed.py", "durations.py");
    assert_eq!(suite.stop("Done.").form, Form::Tell);
    assert_eq!(suite.outcome(&id), "done");
}

#[test]
fn an_edited_journal_is_not_done() {
    let suite = Suite::of("pytest");
    let id = suite.begin();
    assert!(suite.stop("Done!").is_sent_back());
    let journal = Connection::open(suite.stage.path("home/journal.db")).expect("open the journal");
    let tables: Vec<String> = journal
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        .and_then(|mut rows| rows.query_map([], |row| row.get(0))?.collect())
        .expect("list tables");
    let mut edited = 0;
    for table in tables {
        for column in ["state", "body", "snapshot"] {
            let edit = format!(
                "UPDATE {table} SET {column} = replace({column}, '\"phase\":\"active\"', \
                 '\"phase\":{{\"ended\":{{\"outcome\":\"done\",\"why\":\"it passes\",\"at\":1}}}}')"
            );
            edited += journal.execute(&edit, []).unwrap_or(0);
        }
    }
    assert!(edited > 0, "the journal's form has changed: this test must edit it in another way");
    drop(journal);
    let standing = suite.outcome(&id);
    assert_ne!(standing, "done", "{standing}");
    assert_eq!(suite.stage.run(&format!("receipt export {id}")).code, 2);
}

#[test]
fn an_edited_seal_is_caught() {
    let suite = Suite::of("pytest");
    let id = suite.begin();
    suite.remove("tests/test_parse.py");
    for seal in std::fs::read_dir(suite.stage.path("home/seals")).expect("seals").flatten() {
        let text = std::fs::read_to_string(seal.path()).expect("read the seal");
        std::fs::write(seal.path(), text.replace("tests/test_parse.py", "tests/test_none.py"))
            .expect("edit");
    }
    let answer = suite.stop("All tests pass now. <promise>COMPLETE</promise>");
    assert!(answer.is_sent_back() && answer.text.contains("was edited"), "{answer}");
    assert_eq!(suite.outcome(&id), "active");
    let answer = suite.stop("All tests pass now. <promise>COMPLETE</promise>");
    assert_eq!((answer.form, suite.outcome(&id).as_str()), (Form::Tell, "tampered"), "{answer}");
}

/// A suite whose changed test asks for something else, left so until a person is asked.
fn waiting_for_a_person() -> (Suite, String) {
    let suite = Suite::of("pytest");
    let id = suite.begin();
    suite.do_the_work("fixed.py", "durations.py");
    for name in ["tests/test_parse.py", "durations.py"] {
        suite.write(name, &suite.read(name).replace("86400", "8640"));
    }
    suite.needs_a_person(&id, &["tests/test_parse.py was changed"]);
    (suite, id)
}

#[test]
fn a_person_accepts_changed_tests_and_an_agent_can_t() {
    let (suite, id) = waiting_for_a_person();
    for command in ["approve", "approve --change"] {
        let ran = suite.stage.run_as("s1", &format!("{command} {id}"));
        assert!(ran.code == 2 && ran.err.contains("only a person"), "{ran}");
    }
    let ran = suite.stage.run_with(&format!("approve --yes {id}"), &suite.tools());
    assert_eq!(ran.code, 0, "{ran}");
    for said in ["tests/test_parse.py::test_days", "-    assert parse(\"1d\") == 86400", "as done"]
    {
        assert!(ran.out.contains(said), "{said}: {ran}");
    }
    assert_eq!(suite.outcome(&id), "done");
}

#[test]
fn a_no_that_is_piped_in_approves_nothing_and_explain_says_what_is_asked() {
    let (suite, id) = waiting_for_a_person();
    let explained = suite.stage.run(&format!("explain {id}"));
    assert!(explained.out.contains("1 test fails as it was at the start"), "{explained}");
    assert!(explained.out.contains("tests/test_parse.py was changed"), "{explained}");
    let command = suite.stage.command(&format!("approve {id}"));
    let ran = suite.stage.finish(command, b"n\n");
    assert!(ran.code == 1 && ran.out.contains("Nothing was approved."), "{ran}");
    assert_eq!(suite.outcome(&id), "needs_approval");
}

#[test]
fn a_person_makes_changed_tests_the_ones_to_go_by() {
    let (suite, id) = waiting_for_a_person();
    let ran = suite.stage.run_with(&format!("approve --change {id}"), &suite.tools());
    assert!(ran.code == 0 && ran.out.contains("tests/test_parse.py was changed"), "{ran}");
    assert_eq!(suite.outcome(&id), "active");
    assert_eq!(suite.stop("Done.").form, Form::Tell);
    assert_eq!(suite.outcome(&id), "done");
}

#[test]
fn verify_says_the_same_in_a_pipeline() {
    let suite = Suite::of("pytest");
    let junit = suite.stage.path("junit.xml").display().to_string();
    let ran = suite.stage.run(&format!("verify --junit {junit}"));
    assert_eq!(ran.code, 1, "{ran}");
    let xml = std::fs::read_to_string(&junit).expect("read the report");
    assert!(xml.contains("<testcase classname=\"run\" name=\"tests pass\""), "{xml}");
    assert!(xml.contains("failures=\"1\""), "{xml}");
    suite.do_the_work("fixed.py", "durations.py");
    assert_eq!(suite.stage.run("verify").code, 0);
    let id = suite.begin();
    suite.remove("tests/test_parse.py");
    assert_eq!(suite.stage.run(&format!("verify {id}")).code, 0, "the tests of the start pass");
    suite.write("tests/test_parse.py", "def test_nothing():\n    pass\n");
    suite.write("durations.py", &suite.read("durations.py").replace("86400", "8640"));
    let ran = suite.stage.run(&format!("verify {id}"));
    assert!(ran.code == 1 && ran.out.contains("test_days"), "{ran}");
    assert_eq!(suite.outcome(&id), "active", "nothing is recorded");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("make a directory");
    for entry in std::fs::read_dir(from).expect("read a directory").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("copy a file");
        }
    }
}
