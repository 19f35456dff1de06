//! Criteria of every kind: how they are proven, told, trusted and approved.

use insta::assert_snapshot;

use crate::call::Form;
use crate::doors;
use crate::stage::Stage;

/// A stage whose project has this `stopgate.toml`, trusted.
pub(crate) fn project(file: &str) -> Stage {
    let stage = untrusted(file);
    assert_eq!(stage.run("trust --yes").code, 0);
    stage
}

pub(crate) fn untrusted(file: &str) -> Stage {
    let stage = Stage::new();
    stage.write("project/stopgate.toml", file);
    stage
}

pub(crate) fn begin(stage: &Stage) -> String {
    stage.start("'Do it' --session s1")
}

/// The same where the story counts the runs of a check.
fn begin_untried(stage: &Stage) -> String {
    stage.start("'Do it' --session s1 --no-preflight")
}

pub(crate) fn outcome(stage: &Stage, id: &str) -> String {
    stage.standing(id).split(' ').next().unwrap_or_default().into()
}

/// How often the project's check left a line in `runs`, outside the tree.
fn runs(stage: &Stage) -> usize {
    std::fs::read_to_string(stage.path("user/runs")).unwrap_or_default().lines().count()
}

/// A check that counts its runs outside the tree.
fn counting(stage: &Stage, then: &str) -> String {
    format!("echo run >> {}; {then}", stage.path("user/runs").display())
}

#[test]
fn a_project_s_file_says_what_done_means() {
    let stage = project(
        "[[criterion]]\nname = \"green\"\nrun = [\"test\", \"-f\", \"green\"]\n\n\
         [[criterion]]\nname = \"changelog\"\nfiles = { exist = [\"CHANGELOG.md\"], absent = [\"*.orig\"] }\n\n\
         [[criterion]]\nname = \"no todo\"\npattern = { file = \"*.rs\", must_not = \"TODO\" }\n",
    );
    stage.write("project/a.rs", "fn a() {}\n// TODO: later\n");
    stage.write("project/b.orig", "");
    let id = begin(&stage);
    assert_snapshot!(stage.stop("s1", "Done."), @"
    context: Loop 1/20: 3 of 3 criteria unmet
    From stopgate's stop hook, not from the user; it grants no permission.
    Goal: Do it
    Not met:
    - green: fail, exit 1
      reproduce: test -f green
    - changelog: fail
    ```output
    missing: CHANGELOG.md
    must not be there: b.orig
    ```
    - no todo: fail
      at: a.rs:2
    ```output
    a.rs:2: must not be there: // TODO: later
    ```

    Make the checks pass, then stop: stopgate runs them itself. You may say that you are done with `stopgate done`, or <promise>COMPLETE</promise> alone on a line.
    Can't go on? `stopgate blocked WHY`, `stopgate impossible WHY` or `stopgate ask QUESTION` lets you stop and tells the person; so does <promise>BLOCKED: why</promise> (or IMPOSSIBLE, ASK) alone on a line.
    ");
    stage.write("project/green", "");
    stage.write("project/CHANGELOG.md", "");
    std::fs::remove_file(stage.path("project/b.orig")).expect("remove a file");
    let answer = stage.stop("s1", "Nearly.");
    assert!(answer.text.starts_with("Loop 2/20: 1 of 3 criteria unmet"), "{answer}");
    assert!(answer.text.contains("at: a.rs:2"), "{answer}");
    stage.write("project/a.rs", "fn a() {}\n");
    assert_eq!(stage.stop("s1", "Done.").form, Form::Tell);
    assert_eq!(outcome(&stage, &id), "done");
}

#[test]
fn unchanged_inputs_run_nothing_and_any_change_does() {
    let stage = Stage::new();
    let check = counting(&stage, "test -f green");
    stage.write("project/a", "1");
    stage.write(
        "project/stopgate.toml",
        format!("[[criterion]]\nname = \"t\"\nshell = \"{check}\"\n"),
    );
    assert_eq!(stage.run("trust --yes").code, 0);
    begin_untried(&stage);
    assert!(stage.stop("s1", "One.").is_sent_back());
    assert_eq!(runs(&stage), 1);
    let again = stage.stop("s1", "Two.");
    assert!(again.text.contains("as before: no file it depends on has changed"), "{again}");
    assert_eq!(runs(&stage), 1, "nothing changed, nothing ran");
    stage.write("project/a", "2");
    assert!(stage.stop("s1", "Three.").is_sent_back());
    assert_eq!(runs(&stage), 2, "a changed file voids it");
    stage.write("project/b", "");
    assert!(stage.stop("s1", "Four.").is_sent_back());
    assert_eq!(runs(&stage), 3, "a new file voids it");
    stage.tools("s1");
    assert!(stage.stop("s1", "Five.").is_sent_back());
    assert_eq!(runs(&stage), 4, "the agent may have repaired something that is not a file");
}

#[test]
fn a_check_that_writes_what_it_wrote_at_the_start_runs_once() {
    let stage = Stage::new();
    let check = counting(&stage, "cp /proc/sys/kernel/random/uuid result.txt; test -f green");
    stage.start(&format!("'Do it' --session s1 --check 't={check}'"));
    assert_eq!(runs(&stage), 1, "the first run");
    stage.write("project/green", "");
    let ended = stage.stop("s1", "Done.");
    assert!(ended.brief().contains("ended as done"), "{ended}");
    assert_eq!(runs(&stage), 2, "its own output needs no run in another place");
}

#[test]
fn what_waits_for_a_person_is_not_run_again_until_something_happens() {
    let stage = Stage::new();
    let check = counting(&stage, "sh tests/check.sh");
    stage.write("project/tests/check.sh", "test -f green\n");
    stage.start(&format!("'Do it' --session s1 --check 't={check}'"));
    stage.write("project/tests/check.sh", "true\n");
    stage.tools("s1");
    assert!(stage.stop("s1", "One.").is_sent_back());
    let asked = runs(&stage);
    stage.stop("s1", "Two.");
    assert_eq!(runs(&stage), asked, "no tool was used");
    stage.tools("s1");
    stage.stop("s1", "Three.");
    assert!(runs(&stage) > asked, "something that is not a file may be different");
}

#[test]
fn inputs_say_what_a_check_depends_on() {
    let stage = Stage::new();
    let check = counting(&stage, "false");
    stage.write(
        "project/stopgate.toml",
        format!("[[criterion]]\nname = \"t\"\nshell = \"{check}\"\ninputs = [\"src/**\"]\n"),
    );
    stage.write("project/src/a", "1");
    assert_eq!(stage.run("trust --yes").code, 0);
    begin_untried(&stage);
    assert!(stage.stop("s1", "One.").is_sent_back());
    stage.write("project/notes", "x");
    stage.tools("s1");
    assert!(stage.stop("s1", "Two.").is_sent_back());
    assert_eq!(runs(&stage), 1, "notes are none of its inputs");
    stage.write("project/src/a", "2");
    assert!(stage.stop("s1", "Three.").is_sent_back());
    assert_eq!(runs(&stage), 2);
}

#[test]
fn hidden_criteria_stay_hidden_from_the_agent_and_not_from_the_person() {
    let stage = project(
        "[[criterion]]\nname = \"no secrets\"\nshell = \"echo s3cr3t; false\"\nvisibility = \"hidden\"\n",
    );
    let id = begin(&stage);
    let answer = stage.stop("s1", "Done.");
    assert!(
        answer.is_sent_back() && !answer.text.contains("secret") && !answer.text.contains("s3cr3t")
    );
    for command in ["status", "verify", "explain", "log"] {
        let seen = stage.run_as("s1", &format!("{command} {id}"));
        assert!(
            !seen.out.contains("no secrets") && !seen.out.contains("s3cr3t"),
            "{command}: {seen}"
        );
        let seen = stage.run_as("s1", &format!("{command} {id} --json"));
        assert!(
            !seen.out.contains("no secrets") && !seen.out.contains("s3cr3t"),
            "{command}: {seen}"
        );
    }
    assert!(stage.run(&format!("status {id}")).out.contains("no secrets"));
}

#[test]
fn what_is_advisory_is_told_and_holds_nobody() {
    let stage = project(
        "[[criterion]]\nname = \"must\"\nshell = \"true\"\n\n\
         [[criterion]]\nname = \"nice\"\nshell = \"false\"\nadvisory = true\n",
    );
    let id = begin(&stage);
    assert_eq!(stage.stop("s1", "Done.").form, Form::Tell);
    assert_eq!(outcome(&stage, &id), "done");
    let shown = stage.run(&format!("status {id}"));
    assert!(shown.out.contains("nice (advisory)  fail"), "{shown}");
}

#[test]
fn a_pass_after_a_retry_is_called_flaky() {
    let stage = Stage::new();
    let runs = stage.path("user/runs").display().to_string();
    stage.write(
        "project/stopgate.toml",
        format!(
            "[[criterion]]\nname = \"t\"\nretries = 2\n\
             shell = \"echo run >> {runs}; test $(wc -l < {runs}) -ge 2\"\n"
        ),
    );
    assert_eq!(stage.run("trust --yes").code, 0);
    let id = begin_untried(&stage);
    assert_eq!(stage.stop("s1", "Done.").form, Form::Tell);
    let found = stage.json(&format!("status {id}"));
    assert_eq!(found["loop"]["criteria"][0]["receipt"]["flaky"], true);
    let shown = stage.run(&format!("status {id}"));
    assert!(shown.out.contains("flaky: it passed only when tried again"), "{shown}");
}

#[test]
fn only_new_failures_count_against_a_baseline() {
    let stage = Stage::new();
    stage.write("project/report", "FAIL old_one\nFAIL old_two\n");
    stage.write(
        "project/stopgate.toml",
        "[[criterion]]\nname = \"no new failures\"\nshell = \"cat report; ! grep -q FAIL report\"\n\
         baseline = true\n",
    );
    let ran = stage.run("start 'Do it' --session s1");
    assert!(ran.code == 2 && ran.err.contains("not trusted"), "it must run now: {ran}");
    assert_eq!(stage.run("trust --yes").code, 0);
    let ran = stage.run("start 'Do it' --session s1");
    assert!(ran.out.contains("2 known failures will not be counted"), "{ran}");
    stage.write("project/report", "FAIL old_one\nFAIL new_one\n");
    let answer = stage.stop("s1", "Done.");
    assert!(answer.is_sent_back() && answer.text.contains("1 new failure: "), "{answer}");
    assert!(answer.text.contains("failed before, not counted: FAIL old_one"), "{answer}");
    stage.write("project/report", "FAIL old_two\n");
    let answer = stage.stop("s1", "Done.");
    assert_eq!(answer.form, Form::Tell, "{answer}");
    let found = stage.json("status");
    assert_eq!(found["loop"]["outcome"], "done");
    let known = &found["loop"]["criteria"][0]["receipt"]["known"];
    assert!(known[0].as_str().is_some_and(|name| name.contains("old_two")), "{known}");
}

#[test]
fn a_person_attests_what_only_a_person_can() {
    let stage = project(
        "[[criterion]]\nname = \"t\"\nshell = \"test -f green\"\n\n\
         [[criterion]]\nname = \"design\"\nattest = \"person\"\n",
    );
    let id = begin(&stage);
    assert!(stage.stop("s1", "Done.").is_sent_back());
    stage.write("project/green", "");
    let answer = stage.stop("s1", "Done.");
    assert!(answer.form == Form::Tell && answer.text.contains("stopgate approve"), "{answer}");
    assert_eq!(stage.standing(&id), "needs_approval 1/20 s1");
    let ran = stage.run_as("s1", "approve");
    assert!(ran.code == 2 && ran.err.contains("only a person"), "{ran}");
    let ran = stage.run("approve --criterion t");
    assert!(ran.code == 2 && ran.err.contains("is not waiting"), "{ran}");
    assert_snapshot!(stage.run("approve"), @"
    design waits for a person's word
    accepted: design
    Loop 1stage0000 ended as attested.
    ");
    assert_eq!(outcome(&stage, &id), "attested");
    assert_eq!(stage.run(&format!("approve {id}")).code, 2);
}

#[test]
fn an_approval_of_work_that_no_longer_passes_ends_nothing() {
    let stage = project(
        "[[criterion]]\nname = \"t\"\nshell = \"test -f green\"\n\n\
         [[criterion]]\nname = \"design\"\nattest = \"person\"\n",
    );
    stage.write("project/green", "");
    let id = begin(&stage);
    assert_eq!(stage.stop("s1", "Done.").form, Form::Tell);
    std::fs::remove_file(stage.path("project/green")).expect("remove a file");
    let ran = stage.run("approve");
    assert!(ran.out.contains("\"t\" does not pass any more"), "{ran}");
    assert_eq!(stage.standing(&id), "active 0/20 s1");
    assert!(stage.stop("s1", "Done.").is_sent_back());
}

#[test]
fn a_weakened_protected_config_is_caught() {
    let stage = Stage::new();
    stage.write("project/lint.cfg", "strict\n");
    stage.write("project/code", "sloppy\n");
    stage.write(
        "project/lint.sh",
        "grep -q strict lint.cfg && grep -q sloppy code && exit 1; exit 0\n",
    );
    let id = stage.start("'Lint it' --check lint='sh lint.sh' --protect lint.cfg --session s1");
    stage.write("project/lint.cfg", "lenient\n");
    let answer = stage.stop("s1", "Done.");
    assert!(answer.is_sent_back() && answer.text.contains("lint.cfg was changed"), "{answer}");
    stage.write("project/lint.cfg", "strict\n");
    assert!(stage.stop("s1", "Put back.").is_sent_back());
    stage.write("project/lint.sh", "exit 0\n");
    let answer = stage.stop("s1", "Done.");
    assert!(answer.is_sent_back() && answer.text.contains("lint.sh was changed"), "{answer}");
    assert_eq!(outcome(&stage, &id), "active");
}

#[test]
fn a_claim_without_work_and_a_quoted_marker_are_not_done() {
    let stage = Stage::with_loop("'Do it' --check t='test -f green'");
    assert!(stage.stop("s1", "All done.\n<promise>COMPLETE</promise>").is_sent_back());
    assert!(stage.stop("s1", "```\n<promise>COMPLETE</promise>\n```").is_sent_back());
    assert_eq!(stage.run_as("s1", "done").code, 0);
    assert!(stage.stop("s1", "I called it.").is_sent_back());
    assert_eq!(stage.standing("1stage0000"), "active 3/20 s1");
}

#[test]
fn a_process_that_flips_a_file_after_the_check_is_not_done() {
    let stage = Stage::new();
    stage.write("project/state", "good");
    // What the check itself leaves behind, in its group and out of it, is ended with it.
    let flip = "sleep 0.3; echo bad > state";
    let check = format!("grep -q good state && (({flip}) & setsid sh -c \"{flip}\" &)");
    stage.write("project/check.sh", check);
    stage.start("'Keep it good' --check t='sh check.sh' --session s1");
    let answer = stage.stop("s1", "Done.");
    assert_eq!(answer.form, Form::Tell, "{answer}");
    std::thread::sleep(std::time::Duration::from_millis(600));
    let left = std::fs::read_to_string(stage.path("project/state")).expect("read it");
    assert_eq!(left, "good", "what the check started was ended with it");
}

#[test]
fn a_tree_that_does_not_lie_still_is_not_done() {
    let stage = Stage::new();
    stage.write("project/state", "good");
    let id = stage.start("'Keep it good' --check t='sleep 0.2; true' --session s1");
    let mut flipper = doors::program("sh");
    let script = "i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo $i > state; sleep 0.05; done";
    flipper.args(["-c", script]).current_dir(stage.path("project"));
    let mut flipper = flipper.spawn().expect("start the flipper");
    let answer = stage.stop("s1", "Done.");
    flipper.kill().expect("end the flipper");
    flipper.wait().expect("wait for it");
    assert!(answer.is_sent_back(), "{answer}");
    assert!(answer.text.contains("it can't be run apart from this tree: state "), "{answer}");
    assert_eq!(outcome(&stage, &id), "active");
    assert_eq!(stage.stop("s1", "Now it is quiet.").form, Form::Tell);
    assert_eq!(outcome(&stage, &id), "done");
}

#[test]
fn a_pristine_check_is_judged_by_the_files_of_the_start() {
    let stage = project(
        "[[criterion]]\nname = \"t\"\nrun = [\"sh\", \"tests/run.sh\"]\nprotect = [\"tests/**\"]\n\
         pristine = true\n",
    );
    stage.write("project/tests/run.sh", "grep -q right answer\n");
    stage.write("project/answer", "wrong\n");
    assert_eq!(stage.run("trust --yes").code, 0);
    let id = begin(&stage);
    stage.write("project/tests/run.sh", "exit 0\n");
    let answer = stage.stop("s1", "Done.");
    assert!(answer.is_sent_back(), "{answer}");
    stage.write("project/answer", "right\n");
    assert_eq!(stage.stop("s1", "Done.").form, Form::Tell, "the weakened test was never used");
    assert_eq!(outcome(&stage, &id), "done");
    let left = std::fs::read_dir(stage.path("home/copies")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "copies are taken away");
}

#[test]
fn what_a_loop_left_beside_the_journal_goes_with_it_and_nothing_else() {
    let stage = Stage::new();
    stage.write("project/tests/a", "1");
    let old = stage.start("Old --check t=true --protect 'tests/**' --session s1");
    assert_eq!(stage.stop("s1", "Done.").form, Form::Tell);
    stage.write("project/tests/a", "2");
    stage.advance_minutes(31 * 24 * 60);
    let new = stage.start("New --check t='test -f green' --protect 'tests/**' --session s2");
    assert!(stage.stop("s2", "Done.").is_sent_back());
    let seals = || std::fs::read_dir(stage.path("home/seals")).expect("seals").count();
    assert_eq!(seals(), 2);
    // The stage's clock is ahead of the files' times by its own leap.
    let swept = stage.json("store compact --older-than 30d")["swept"].as_u64().expect("a count");
    assert!(swept >= 3, "a log, a seal and a content: {swept}");
    assert_eq!(seals(), 1);
    assert!(!stage.path(&format!("home/checks/{old}")).exists());
    assert!(stage.path(&format!("home/checks/{new}")).exists());
    stage.write("project/green", "");
    assert_eq!(stage.stop("s2", "Done.").form, Form::Tell, "its own seal is still there");
    assert_eq!(outcome(&stage, &new), "done");
}

#[test]
fn kinds_without_a_command_are_looked_at_by_stopgate_itself() {
    let stage = project(
        "[[criterion]]\nname = \"said\"\npattern = { message = true, must = \"(?i)migrated\" }\n\n\
         [[criterion]]\nname = \"covered\"\ncoverage = { report = \"lcov.info\", lines = 80 }\n\n\
         [[criterion]]\nname = \"features\"\nfeatures = \"features.json\"\n\n\
         [[criterion]]\nname = \"merged\"\ngit = [\"no-conflicts\"]\n",
    );
    let git =
        doors::program("git").args(["init", "-q"]).current_dir(stage.path("project")).status();
    assert!(git.expect("run git").success());
    stage.write("project/a.txt", "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n");
    stage.write("project/features.json", "[{\"id\": \"login\", \"passes\": false}]");
    let id = begin(&stage);
    let answer = stage.stop("s1", "Done.");
    assert!(answer.text.starts_with("Loop 1/20: 4 of 4 criteria unmet"), "{answer}");
    stage.write("project/a.txt", "ab\n");
    stage.write("project/features.json", "[{\"id\": \"login\", \"passes\": true}]");
    stage.write("project/lcov.info", "SF:a\nDA:1,1\nDA:2,0\nLF:2\nLH:1\nend_of_record\n");
    let answer = stage.stop("s1", "All is migrated.");
    assert!(answer.text.starts_with("Loop 2/20: 1 of 4 criteria unmet"), "{answer}");
    assert!(answer.text.contains("50") && answer.text.contains("80"), "{answer}");
    stage.write("project/lcov.info", "SF:a\nDA:1,1\nDA:2,4\nLF:2\nLH:2\nend_of_record\n");
    assert_eq!(stage.stop("s1", "All is migrated.").form, Form::Tell);
    assert_eq!(outcome(&stage, &id), "attested", "a message and a list are somebody's word");
}

#[test]
fn tests_that_are_shown_only_where_they_fail_ask_nobody() {
    let stage = Stage::new();
    let summary = "echo 'Ran 3 tests in 0.1s'; echo; echo 'FAILED (failures=1)'";
    stage.write("project/tests/run.sh", format!("{summary}\ntest -f green\n"));
    let check = "tests=sh tests/run.sh > log 2>&1 || { cat log; false; }";
    let id = stage.start(&format!("'Do it' --session s1 --check '{check}'"));
    stage.write("project/green", "");
    stage.write("project/tests/more.sh", "true\n");
    let answer = stage.stop("s1", "Done.");
    assert_eq!(outcome(&stage, &id), "done", "{answer}");
}
