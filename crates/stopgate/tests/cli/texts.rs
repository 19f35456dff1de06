//! What agents and people read, as the whole program says it.

use std::fs;

use crate::stage::Stage;

#[test]
fn the_failing_line_is_told_however_much_noise_follows() {
    let stage = Stage::new();
    stage.write(
        "project/t.sh",
        "echo 'test parser ... FAILED'; i=0; while [ $i -lt 300 ]; do \
         echo \"note: trailing noise line $i\"; i=$((i+1)); done; exit 1\n",
    );
    stage.start("Finish --session s1 --check 'tests=sh t.sh'");
    let told = stage.stop("s1", "one");
    assert!(told.text.contains("test parser ... FAILED"), "{told}");
    assert!(told.text.contains("noise line 299"), "{told}");
    assert!(told.text.contains("full log: "), "{told}");
}

#[test]
fn each_stop_keeps_its_own_log() {
    let stage = Stage::with_loop("Finish --check 't=cat word; exit 1'");
    stage.write("project/word", "A\n");
    stage.stop("s1", "one");
    stage.write("project/word", "B\n");
    stage.stop("s1", "two");
    let log = |stop: &str| {
        let explained = stage.run(&format!("explain {stop} --json")).out;
        let value: serde_json::Value = serde_json::from_str(&explained).expect("JSON");
        let path = value["stopped"]["receipts"][0]["log"].as_str().expect("a log").to_string();
        let path = path.replace("$STAGE", &stage.path("").display().to_string());
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    assert_eq!((log("1").as_str(), log("2").as_str()), ("A\n", "B\n"));
}

#[test]
fn other_digits_make_another_message() {
    let stage = Stage::with_loop("Finish --check 't=false' --max-idle 1 --max-repeat 0");
    stage.stop("s1", "I fixed 3 of the 9 errors.");
    let told = stage.stop("s1", "I fixed 5 of the 9 errors.");
    assert!(told.is_sent_back() && !told.text.contains("repeated"), "{told}");
    stage.stop("s1", "I fixed  5 of the 9 errors.");
    assert_eq!(stage.standing("1stage0000"), "stalled 2/20 s1");
}

#[test]
fn a_gate_on_tests_without_a_check_speaks_of_no_test() {
    let stage = Stage::with_loop("Finish --gate tdd");
    let told = stage.stop("s1", "one");
    assert!(told.is_sent_back() && !told.text.to_lowercase().contains("test"), "{told}");
    assert!(!stage.history("1stage0000").contains("Tests still failing"));
}

#[test]
fn a_variable_that_a_check_lacks_is_named_and_can_be_passed() {
    let check = "db=test -n \"$DATABASE_URL\" || { echo DATABASE_URL is missing; exit 1; }";
    let stage = Stage::with_loop(&format!("Finish --check '{check}'"));
    let secret = ("DATABASE_URL", "postgres://me:pw@db/x");
    let told = stage.stop_call("s1", "one").var(secret.0, secret.1).send();
    assert!(told.text.contains("checks are not given DATABASE_URL"), "{told}");
    assert!(!told.text.contains("me:pw"), "{told}");
    let stage = Stage::new();
    stage.start(&format!("Finish --session s1 --check '{check}' --pass-env DATABASE_URL"));
    let told = stage.stop_call("s1", "one").var(secret.0, secret.1).send();
    assert!(!told.is_sent_back(), "{told}");
}

#[test]
fn checks_run_where_they_are_asked_to() {
    let stage = Stage::new();
    stage.write("project/packages/web/here", "");
    let line = "start Goal --session s1 --check t='test -f here'";
    for cwd in ["", "--cwd ."] {
        let ran = stage.run_in("project/packages/web", &format!("{line} {cwd}"));
        assert_eq!(ran.code, 0, "{ran}");
        assert!(!stage.stop("s1", "one").is_sent_back(), "{cwd}");
    }
    let ran = stage.run_in("project/packages/web", &format!("{line} --cwd ../.."));
    assert_eq!(ran.code, 0, "{ran}");
    assert!(stage.stop("s1", "two").is_sent_back());
    for wrong in ["/", "here", "nowhere"] {
        let ran = stage.run_in("project/packages/web", &format!("{line} --cwd {wrong} --replace"));
        assert_eq!(ran.code, 2, "{ran}");
    }
    assert_eq!(stage.run("start Goal --cwd .").code, 2);
}

#[test]
fn the_last_continuation_says_that_it_is_the_last() {
    let stage = Stage::with_loop("Finish --check t=false --max-iterations 2 --max-idle 0");
    assert!(!stage.stop("s1", "one").text.contains("last continuation"));
    assert!(stage.stop("s1", "two").text.contains("This is the last continuation."));
}

#[test]
fn errors_under_json_are_json() {
    let stage = Stage::new();
    for (line, kind, code) in [
        ("status --json", "no_loop", 66),
        ("status nonsense --json", "no_loop", 66),
        ("start '' --json", "usage", 2),
        ("start --json", "usage", 2),
        ("nonsense --json", "usage", 2),
        ("list --json --bad", "usage", 2),
    ] {
        let ran = stage.run(line);
        let error: serde_json::Value = serde_json::from_str(&ran.err).expect(&ran.err);
        assert_eq!(error["schema_version"], 1, "{line}");
        assert_eq!(error["error"]["kind"], kind, "{line}: {ran}");
        assert_eq!(error["error"]["exit_code"], code, "{line}: {ran}");
        assert_eq!(ran.code, code, "{line}: {ran}");
        assert!(error["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{line}");
    }
}

/// What a short failure costs the model, told again and again in one session.
#[test]
fn a_short_failure_costs_few_tokens() {
    let counter = tiktoken_rs::o200k_base().expect("the vocabulary is built in");
    let stage = Stage::new();
    let program = "echo \"FAIL greet: expected 'hello, world', got 'helo, world'\"; cat n; false";
    stage.write("project/test.sh", format!("{program}\n"));
    stage.start("'greet() says hello, world' --session s1 --max-idle 0 --max-repeat 0 --check 'tests=sh test.sh'");
    let mut costs: Vec<usize> = Vec::new();
    for turn in 0..9 {
        stage.write("project/n", format!("run {turn}\n"));
        let told = stage.stop("s1", &format!("I changed line {turn}."));
        assert!(told.text.contains("FAIL greet"), "{told}");
        costs.push(counter.encode_with_special_tokens(&told.text).len());
    }
    costs.sort_unstable();
    let median = costs[costs.len() / 2];
    crate::doors::note(&format!("tokens of a short failure: median {median}, all {costs:?}"));
    assert!(median <= 120, "{costs:?}");
}

/// Nothing is cut within a word: every word of the wide form is in the narrow one.
#[test]
fn at_80_columns_no_word_is_cut() {
    let stage = Stage::new();
    stage.start("'A goal that is long enough to be wrapped, because it goes on and on' --check t=false --session s1");
    stage.stop("s1", "one");
    stage.run_as(
        "s1",
        "ask 'Which of the many databases that we have should be used for the tests?'",
    );
    for line in ["status", "log", "explain", "doctor"] {
        let wide = stage.run_with(line, &[("COLUMNS", "1000")]).out;
        let narrow = stage.run_with(line, &[("COLUMNS", "80")]).out;
        let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
        assert_eq!(words(&wide), words(&narrow), "{line}");
        let long = |text: &&str| text.chars().count() > 80 && text.trim().contains("  ");
        let broken: Vec<&str> = narrow.lines().filter(long).collect();
        assert_eq!(broken, Vec::<&str>::new(), "{line}");
    }
    let list = stage.run_with("list", &[("COLUMNS", "80")]).out;
    assert!(list.lines().all(|line| line.chars().count() <= 80), "{list}");
    assert!(list.contains('…'), "{list}");
}

#[test]
fn log_follows_a_loop_to_its_end() {
    let stage = Stage::with_loop("Finish");
    stage.run("cancel");
    let ran = stage.run("log -f 1stage0000");
    assert!(ran.code == 0 && ran.out.contains("cancelled by a person"), "{ran}");
}

#[test]
fn log_shows_times_in_utc_when_asked() {
    let stage = Stage::with_loop("Finish");
    assert!(stage.run("log").out.starts_with("2026-11-15 06:00:00  "));
    assert!(stage.run("log --utc").out.starts_with("2026-11-15T06:00:00Z  "));
    let ran = stage.run_with("log", &[("TZ", "Asia/Kolkata")]);
    assert!(ran.out.starts_with("2026-11-15 11:30:00  "), "{ran}");
}

#[test]
fn help_groups_every_command_by_what_one_wants_to_do() {
    let stage = Stage::new();
    let help = stage.run_with("--help", &[("COLUMNS", "80")]).out;
    for title in ["Every day:", "What agents run:", "Proof:", "Setting up:", "For programs:"] {
        assert!(help.contains(&format!("\n{title}\n  ")), "{title}: {help}");
    }
    assert!(!help.contains("\nMore:\n"), "a command is in no group: {help}");
    assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    assert!(!help.contains("  hold "), "the old name is hidden: {help}");
}

#[test]
fn the_status_line_keeps_how_a_loop_ended_until_the_next_prompt() {
    let line = |stage: &Stage| {
        stage.run_with("statusline --session s1", &[("NO_COLOR", "1")]).out.trim_end().to_string()
    };
    let stage = Stage::with_loop("'Make it green' --check t=true");
    assert_eq!(line(&stage), "⟳ 0/20 · 0/1 met · Make it green");
    stage.stop("s1", "one");
    assert_eq!(line(&stage), "✓ done");
    stage
        .prompt("s1", "p2", "<task-notification>\n<task-id>x</task-id>\n</task-notification>")
        .send();
    assert_eq!(line(&stage), "✓ done");
    stage.prompt("s1", "p3", "Thanks.").send();
    assert_eq!(line(&stage), "");
    let stage = Stage::with_loop("Finish");
    stage.run_as("s1", "blocked 'no network here'");
    assert_eq!(line(&stage), "! blocked: no network here");
    let chained = "statusline --session s1 --with 'echo mine'";
    assert_eq!(
        stage.run_with(chained, &[("NO_COLOR", "1")]).out,
        "mine · ! blocked: no network here\n"
    );
    let coloured = stage.run("statusline --session s1").out;
    assert!(coloured.contains("\u{1b}["), "a bar has colours although it is read by a program");
}

const FAILING: &str =
    "[[criterion]]\nname = \"tests pass\"\nshell = \"echo 'FAIL: a < b'; exit 3\"\n";

#[test]
fn verify_shows_what_failed_and_where_its_log_is() {
    let stage = Stage::new();
    stage.write("project/stopgate.toml", FAILING);
    stage.run("trust --yes");
    let ran = stage.run("verify --project --junit report.xml");
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.out.contains("| FAIL: a < b") && ran.out.contains("log: $STAGE/home/"), "{ran}");
    let report = fs::read_to_string(stage.path("project/report.xml")).expect("a report");
    assert!(report.contains("FAIL: a &lt; b") && report.contains("log: "), "{report}");
}

#[test]
fn verify_says_what_it_runs() {
    let stage = Stage::with_loop("Goal --check slow=true --check lint=true");
    let ran = stage.run("verify");
    assert_eq!(ran.err, "checking slow\nchecking lint\n");
    let ran = stage.run("verify --json");
    assert_eq!(ran.err, "", "programs are told nothing but the answer");
}

#[test]
fn a_pipeline_trusts_by_a_hash_and_verifies_the_project() {
    let stage = Stage::new();
    stage.write("project/stopgate.toml", FAILING);
    let hash = stage.run("trust --print-hash").out.trim().to_string();
    assert!(hash.len() >= 16, "{hash}");
    let ci = [("CI", "true")];
    let ran = stage.run_with("verify", &ci);
    assert_eq!(ran.code, 2, "nobody trusted it: {ran}");
    let ran = stage.run_with(&format!("verify --trust-hash {hash}"), &ci);
    assert_eq!(ran.code, 1, "{ran}");
    stage.write("project/stopgate.toml", FAILING.replace("exit 3", "exit 0"));
    let ran = stage.run_with(&format!("verify --trust-hash {hash}"), &ci);
    assert_eq!(ran.code, 2, "another content: {ran}");
    assert!(ran.err.contains("changed since it was trusted"), "{ran}");
    // With CI set, a loop that happens to be there does not stand in for the project.
    let hash = stage.run("trust --print-hash").out.trim().to_string();
    stage.start("Other --session s1 --check no=false");
    let ran = stage.run_with(&format!("verify --trust-hash {hash}"), &ci);
    assert_eq!(ran.code, 0, "{ran}");
    let ran = stage.run_as("s1", &format!("verify --trust-hash {hash}"));
    assert_eq!(ran.code, 2, "an agent can't trust: {ran}");
}

#[test]
fn a_negative_limit_is_called_a_wrong_value() {
    let stage = Stage::new();
    for flag in ["--max-iterations", "--max-minutes", "--max-idle"] {
        let ran = stage.run(&format!("start Goal {flag} -1"));
        assert!(ran.code == 2 && ran.err.contains("invalid value '-1' for '"), "{flag}: {ran}");
    }
}

#[test]
fn errors_in_the_configuration_name_line_and_column() {
    let stage = Stage::new();
    stage.write("user/.config/stopgate/config.toml", "[store]\nadress = \"x\"\n");
    let ran = stage.run("list");
    assert!(ran.err.contains("line 2, column 1: unknown field `adress`"), "{ran}");
}
