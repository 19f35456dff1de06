//! Looking at loops: replay, back-tests, statistics, reports, and one frame of the view.

use serde_json::Value;

use crate::stage::Stage;

/// A loop that was sent back three times and then proven.
fn proven() -> Stage {
    let stage = Stage::with_loop("'Make it green' --check tests='test -f ok' --max-repeat 0");
    for message in ["One.", "Two.", "Three."] {
        stage.stop("s1", message);
        stage.advance_minutes(10);
    }
    stage.write("project/ok", "");
    stage.stop("s1", "Four.");
    assert_eq!(stage.standing("1stage0000"), "done 3/20 s1");
    stage
}

#[test]
fn a_loop_is_decided_again_as_it_was() {
    let stage = proven();
    let ran = stage.run("replay");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "Loop 1stage0000: 4 stops, all decided as they were\n")
    );
    let told = stage.json("replay 1stage0000");
    assert_eq!((told["same"].as_u64(), told["differs"].as_u64()), (Some(4), Some(0)));
    assert_eq!(told["stops"][3]["rule"], "proof");
}

#[test]
fn loops_of_every_kind_are_decided_again_as_they_were() {
    let stage = Stage::with_loop("Finish --check tests=false --check lint=true");
    stage.stop("s1", "<promise>COMPLETE</promise>");
    stage.run("pause");
    stage.stop("s1", "Two.");
    stage.run("resume");
    stage.run_as("s1", "push 'one issue' --mode issue --max-iterations 2");
    stage.stop("s1", "Three.");
    stage.stop("s1", "<issue-complete>DONE</issue-complete>");
    stage.stop("s1", "<promise>BLOCKED: no key</promise>");
    let ran = stage.run("replay 1stage0000");
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("5 stops, all decided as they were"), "{ran}");
    // An agent began this one, by its shell; its gate is heard, too.
    let ran =
        stage.run_as("s2", "start Other --check t=true --gate 'escalate if iteration > 5' --json");
    assert_eq!(ran.code, 0, "{ran}");
    stage.stop("s2", "Done.");
    let other: Value = serde_json::from_str(&ran.out).expect("JSON");
    let id = other["loop"]["id"].as_str().expect("an id");
    let ran = stage.run(&format!("replay {id}"));
    assert!(ran.out.contains("1 stop, all decided as they were"), "{ran}");
}

#[test]
fn a_tighter_limit_is_tried_on_what_happened() {
    let stage = proven();
    stage.write("project/tight.toml", "[loop]\nmax_iterations = 1\n");
    let ran = stage.run("replay --policy tight.toml --since 30d");
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("ends at stop 2 as max_iterations: saves 2 continuations"), "{ran}");
    assert!(ran.out.contains("one proven end is lost"), "{ran}");
    stage.write("project/loose.toml", "[loop]\nmax_iterations = 50\n");
    let told = stage.json("replay --policy loose.toml");
    assert_eq!(told["total"]["same"], 1);
    stage.advance_minutes(60 * 24 * 40);
    let told = stage.json("replay --policy tight.toml --since 30d");
    assert_eq!(told["loops"].as_array().map(Vec::len), Some(0), "it is older than that");
}

#[test]
fn a_policy_s_gates_and_criteria_are_tried_on_what_happened() {
    let stage = proven();
    let ran = |file: &str| {
        stage.write("project/try.toml", file);
        stage.run("replay --policy try.toml")
    };
    let gated = ran("gates = ['escalate if iteration > 2']\n");
    assert_eq!(gated.code, 0, "{gated}");
    assert!(gated.out.contains("ends at stop 3 as needs_input: saves 1 continuation"), "{gated}");
    assert!(gated.out.contains("one proven end is lost"), "{gated}");
    let blind = ran("gates = ['escalate if filesModified|length == 0']\n");
    assert!(blind.out.contains("not known from stop 1 on: which files were changed"), "{blind}");
    let person = ran("[[criterion]]\nname = 'look'\nattest = 'person'\n");
    assert!(person.out.contains("goes on at stop 4 instead of ending as done"), "{person}");
    let unknown = ran("[[criterion]]\nname = 'lint'\nshell = 'true'\n");
    assert!(unknown.out.contains("a check of this policy has no recorded result"), "{unknown}");
    let odd = ran("gates = ['escalate if nonsense > 2']\n");
    assert!(odd.code == 2 && odd.err.contains("unknown name `nonsense`"), "{odd}");
}

#[test]
fn how_many_files_changed_is_told_with_each_stop() {
    let stage = Stage::with_loop("'Make it green' --check tests='test -f ok' --max-repeat 0");
    stage.stop("s1", "One.");
    stage.write("project/a", "a");
    stage.write("project/b", "b");
    stage.stop("s1", "Two.");
    stage.write("project/a", "another a");
    stage.write("project/ok", "");
    stage.stop("s1", "Three.");
    let told = stage.json("report 1stage0000");
    let changed = |stop: usize| told["loops"][0]["stops"][stop]["changed_files"].as_u64();
    assert_eq!([changed(0), changed(1), changed(2)], [Some(0), Some(2), Some(2)], "{told}");
    let shown = stage.run("report 1stage0000").out;
    assert!(shown.contains("| rule | files changed |"), "{shown}");
    let shown = stage.run("explain 2").out;
    assert!(shown.contains("files changed"), "{shown}");
}

#[test]
fn what_can_t_be_shown_is_one_sentence_and_a_remedy() {
    let stage = proven();
    stage.write("project/odd.toml", "[loop]\nmax_iteration = 1\n");
    stage.write("project/empty.toml", "");
    let away = [("STOPGATE_STORE", "postgres://nobody@127.0.0.1:1/none")];
    for (line, code, said) in [
        ("replay --policy odd.toml", 2, "unknown field `max_iteration`"),
        ("replay --policy empty.toml", 2, "has nothing to try"),
        ("replay --policy missing.toml", 2, "does not exist"),
        ("replay nosuch", 66, "no loop is called nosuch"),
        ("report nosuch", 66, "no loop is called nosuch"),
        ("watch nosuch --once", 66, "no loop is called nosuch"),
        ("report --since soon", 2, "soon"),
        ("report 1stage0000 -o missing/report.md", 2, "could not write"),
        ("watch", 2, "watch needs a terminal"),
    ] {
        if line.starts_with("watch") && !cfg!(feature = "tui") {
            continue;
        }
        let ran = stage.run(line);
        assert_eq!(ran.code, code, "{line}: {ran}");
        assert!(ran.err.contains(said), "{line}: {ran}");
    }
    if cfg!(feature = "postgres") {
        for line in ["stats", "report --since 1h", "replay x"] {
            let ran = stage.run_with(line, &away);
            assert_eq!(ran.code, 74, "{line}: {ran}");
            assert!(ran.err.contains("check that the server runs"), "{line}: {ran}");
        }
    }
}

#[test]
fn where_several_loops_run_all_of_them_are_shown() {
    let stage = Stage::with_loop("First --check t=false --no-preflight");
    stage.stop("s1", "One.");
    stage.start("Second --session s2");
    let told = stage.json("report");
    assert_eq!(told["loops"].as_array().map(Vec::len), Some(2), "{told}");
    let ran = stage.run("replay");
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("1 stop, all decided as they were"), "{ran}");
    assert!(ran.out.contains("has had no stop yet"), "{ran}");
}

#[test]
fn stats_count_outcomes_rules_and_checks() {
    let stage = proven();
    let told = stage.json("stats");
    assert_eq!(told["outcomes"]["done"], 1);
    assert_eq!(told["rules"]["continue"], 3);
    assert_eq!(told["checks"][0]["caught_alone"], 3);
    let shown = stage.run("stats").out;
    assert!(shown.starts_with("1 loop, 0 running; 4 stops, 3 of them sent back\n"), "{shown}");
    assert!(shown.contains("tests: 2 runs, 1 failed"), "{shown}");
    stage.start("Shadow --check t=false --session s2 --shadow");
    stage.stop("s2", "<promise>COMPLETE</promise>");
    let shadow = &stage.json("stats")["shadow"];
    assert_eq!((shadow["would_hold"].as_u64(), shadow["would_catch"].as_u64()), (Some(1), Some(1)));
}

#[test]
fn a_report_says_what_needs_a_person_first() {
    let stage = proven();
    stage.start("'Find the <b>key</b>' --session s2");
    stage.run_as("s2", "ask 'Which key?'");
    let text = stage.run("report --since 12h").out;
    let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
    assert!(place("## Needs a person") < place("`Which key?`"), "{text}");
    assert!(place("`Which key?`") < place("1stage0000: done"), "{text}");
    assert!(text.contains("record sound; signed, and the signature holds"), "{text}");
    let ran = stage.run("report --since 12h --html -o report.html");
    assert_eq!(ran.code, 0, "{ran}");
    let page = std::fs::read_to_string(stage.path("project/report.html")).expect("a page");
    assert!(page.contains("&lt;b&gt;key&lt;/b&gt;") && !page.contains("<b>"), "{page}");
    assert!(!page.contains("<script"), "{page}");
    let told = stage.json("report 1stage0000");
    assert_eq!(told["loops"][0]["signature"], "genuine");
    assert_eq!(told["loops"][0]["stops"][3]["outcome"], "done");
}

#[test]
fn hidden_criteria_stay_hidden_from_an_agent() {
    let stage = Stage::new();
    let criterion =
        "[[criterion]]\nname = \"secret\"\nrun = [\"false\"]\nvisibility = \"hidden\"\n";
    stage.write("project/stopgate.toml", criterion);
    stage.run("trust --yes");
    stage.start("Finish --session s1");
    stage.stop("s1", "One.");
    for line in ["report", "report --html", "report --json", "stats", "stats --json"] {
        let ran = stage.run_as("s1", line);
        assert_eq!(ran.code, 0, "{line}: {ran}");
        assert!(!ran.out.contains("secret"), "{line}: {ran}");
    }
    assert!(stage.run("report").out.contains("secret"));
}

#[cfg(feature = "tui")]
#[test]
fn one_frame_shows_every_loop_in_its_group() {
    let stage = proven();
    stage.start("'Find \u{1b}[2Jthe key' --session s2");
    stage.run_as("s2", "ask 'Which key?'");
    stage.start("Other --session s3");
    let frame = stage.run_with("watch --once", &[("LANG", "C.UTF-8")]).out;
    let lines: Vec<&str> = frame.lines().collect();
    assert_eq!(lines.len(), 24, "{frame}");
    assert_eq!(lines[0], "stopgate: 1 needs you · 1 running · 0 waiting · 1 ended");
    assert!(lines[2].contains("needs_input") && lines[2].contains("Find ␛[2Jthe key"), "{frame}");
    assert!(stage.run("watch --once").out.is_ascii(), "without a UTF-8 locale");
    let opened = stage.run_with("watch 1stage0000 --once", &[("LANG", "C.UTF-8")]).out;
    assert!(opened.contains("✗✗✗✓"), "{opened}");
    assert!(opened.contains("ended as done by rule proof"), "{opened}");
    let told = stage.json("watch");
    assert_eq!(told["loops"][0]["group"], "needs you");
    let away = [("STOPGATE_STORE", "postgres://nobody@127.0.0.1:1/none")];
    assert!(!cfg!(feature = "postgres") || stage.run_with("watch --once", &away).code == 74);
}

#[test]
fn a_newer_versions_journal_is_one_sentence_too() {
    let stage = proven();
    let journal = rusqlite::Connection::open(stage.path("home/journal.db")).expect("the journal");
    journal.pragma_update(None, "user_version", 99).expect("another version");
    drop(journal);
    let lines = ["stats", "report --since 1h", "replay 1stage0000", "watch --once", "watch --json"];
    for line in lines.iter().filter(|line| cfg!(feature = "tui") || !line.starts_with("watch")) {
        let ran = stage.run(line);
        assert_eq!(ran.code, 74, "{line}: {ran}");
        assert!(ran.err.contains("newer"), "{line}: {ran}");
    }
}
