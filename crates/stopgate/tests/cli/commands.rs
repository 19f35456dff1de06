//! Commands: what they accept, what they print, how they exit.

use insta::assert_snapshot;

use crate::stage::Stage;

#[test]
fn a_loop_that_is_not_there_is_exit_66() {
    let stage = Stage::new();
    assert_snapshot!(stage.run("status"), @r#"
    [stderr]
    error: no loop in $STAGE/project
     hint: begin one with: stopgate start "GOAL", or name one: stopgate list
    [exit 66]
    "#);
    assert_snapshot!(stage.run("status nosuch"), @"
    [stderr]
    error: no loop is called nosuch
     hint: stopgate list shows them all
    [exit 66]
    ");
    assert_snapshot!(stage.run("cancel --session s9"), @"
    [stderr]
    error: no loop holds or held session s9
     hint: stopgate list
    [exit 66]
    ");
    assert_snapshot!(stage.run("explain"), @r#"
    [stderr]
    error: no loop in $STAGE/project
     hint: begin one with: stopgate start "GOAL", or name one: stopgate list
    [exit 66]
    "#);
    stage.start("Finish --session s1");
    assert_snapshot!(stage.run("explain"), @"
    [stderr]
    error: loop 1stage0000 has had no stop yet
     hint: the hook answers when the agent is about to stop; stopgate doctor checks it
    [exit 66]
    ");
}

#[test]
fn nonsense_is_exit_2_and_says_why() {
    let stage = Stage::new();
    assert_snapshot!(stage.run("start ' '"), @r#"
    [stderr]
    error: the goal is empty
     hint: stopgate start "what must be true at the end"
    [exit 2]
    "#);
    assert_snapshot!(stage.run("start Finish --max-iterations 0"), @"
    [stderr]
    error: --max-iterations must be at least 1
    [exit 2]
    ");
    assert_snapshot!(stage.run("start Finish --check a=true --check a=false"), @r#"
    [stderr]
    error: two criteria are called "a"
    [exit 2]
    "#);
    assert_snapshot!(stage.run("start Finish --session ''"), @"
    [stderr]
    error: --session can't be empty
    [exit 2]
    ");
    assert_snapshot!(stage.run("blocked ' '"), @r#"
    [stderr]
    error: say why, for the person who reads it
     hint: stopgate blocked "what is in the way"
    [exit 2]
    "#);
    assert_snapshot!(stage.run("list").out, @r#"No loops. Begin one with: stopgate start "GOAL""#);
}

#[test]
fn a_flag_that_is_not_built_yet_is_an_error() {
    let stage = Stage::new();
    for flag in ["--max-dollars 5", "--max-coffee 5"] {
        let ran = stage.run(&format!("start Finish {flag}"));
        assert_eq!(ran.code, 2, "{flag}: {ran}");
        assert!(ran.err.contains("unexpected argument"), "{flag}: {ran}");
    }
    assert_eq!(stage.json("list")["loops"], serde_json::json!([]));
    for line in ["", "no-such-command", "status --frobnicate", "start Finish --stale-after 5x"] {
        assert_eq!(stage.run(line).code, 2, "{line}");
    }
}

#[test]
fn a_name_may_be_shortened_as_long_as_it_is_clear() {
    let stage = Stage::new();
    stage.start("One --session s1");
    stage.start("Two --session s2");
    assert_eq!(stage.run("status 2st").code, 0);
    assert_eq!(stage.run("status 3").code, 66);
    assert_eq!(stage.run("status ''").code, 66);
}

#[test]
fn the_exit_code_of_status_tells_the_outcome_when_asked() {
    let stage = Stage::new();
    let code = |session: &str| {
        let plain = stage.run(&format!("status --session {session}")).code;
        assert_eq!(plain, 0, "a plain status is 0");
        stage.run(&format!("status --session {session} --exit-code")).code
    };
    stage.start("Finish --session running");
    assert_eq!(code("running"), 1);
    stage.start("Finish --session limit --max-iterations 1 --max-idle 0");
    stage.stop("limit", "one");
    stage.stop("limit", "two");
    assert_eq!(code("limit"), 3);
    stage.start("Finish --session blocked");
    stage.run("blocked 'no network' --session blocked");
    assert_eq!(code("blocked"), 4);
    stage.start("Finish --session asks");
    stage.run("ask 'Which?' --session asks");
    assert_eq!(code("asks"), 4);
    stage.start("Finish --session cancelled");
    stage.run("cancel --session cancelled");
    assert_eq!(code("cancelled"), 6);
    stage.start("Finish --session proven --check ok=true");
    stage.stop("proven", "one");
    assert_eq!(code("proven"), 0);
    stage.start("Finish --session stalled --max-idle 1");
    stage.stop("stalled", "one");
    stage.stop("stalled", "one");
    assert_eq!(code("stalled"), 4);
}

#[test]
fn a_damaged_or_newer_journal_is_exit_74_and_is_kept() {
    let stage = Stage::with_loop("Finish");
    let path = stage.path("home/journal.db");
    rusqlite::Connection::open(&path)
        .and_then(|journal| journal.pragma_update(None, "user_version", 99))
        .expect("age the journal");
    let newer = std::fs::read(&path).expect("read");
    assert_snapshot!(stage.run("status"), @"
    [stderr]
    error: could not use the journal at $STAGE/home/journal.db: its format is 99, this program knows 2; install a newer stopgate
    [exit 74]
    ");
    assert_snapshot!(stage.run("start Finish --session s2").code, @"74");
    assert!(std::fs::read(&path).expect("read") == newer, "kept as evidence");
    std::fs::write(&path, "no journal at all ".repeat(500)).expect("damage it");
    let damaged = std::fs::read(&path).expect("read");
    assert_snapshot!(stage.run("status"), @"
    [stderr]
    error: could not read the journal at $STAGE/home/journal.db: it is damaged, or not a journal; it is kept as evidence (move it away to begin anew): file is not a database: Error code 26: file is not a database
    [exit 74]
    ");
    assert_eq!(stage.run("cancel --all").code, 74);
    assert!(std::fs::read(&path).expect("read") == damaged, "kept as evidence");
}

#[test]
fn an_unknown_store_is_named() {
    let stage = Stage::new();
    let ran = stage.run_with("list", &[("STOPGATE_STORE", "mysql://me:secret@localhost/x")]);
    assert_snapshot!(ran, @"
    [stderr]
    error: could not use the store: its scheme is unknown
     hint: this program knows sqlite:PATH and postgres://USER@HOST/DATABASE
    [exit 2]
    ");
}

#[test]
fn another_store_is_used_where_one_is_named() {
    let stage = Stage::new();
    let address = format!("sqlite:{}", stage.path("user/own.db").display());
    let store = [("STOPGATE_STORE", address.as_str())];
    assert_eq!(stage.run_with("start Finish --session s1", &store).code, 0);
    assert_eq!(stage.run("status").code, 66);
    let call = stage.stop_call("s1", "one").var("STOPGATE_STORE", &address);
    assert!(call.send().is_sent_back());
    assert!(!stage.stop("s1", "one").is_sent_back());
}

#[test]
fn a_home_is_made_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let stage = Stage::new();
    let home = stage.path("user/.local/state/stopgate");
    let mut command = stage.command("start Finish --session s1");
    command.env_remove("STOPGATE_HOME");
    assert_eq!(stage.finish(command, b"").code, 0);
    let mode = std::fs::metadata(home).expect("the home is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let mut command = stage.command("list");
    command.env_remove("STOPGATE_HOME").env_remove("HOME");
    assert_snapshot!(stage.finish(command, b""), @"
    [stderr]
    error: could not tell where to keep the journal: HOME is not set
     hint: set HOME, or set STOPGATE_HOME to a directory of your own
    [exit 2]
    ");
}

#[test]
fn nothing_is_coloured_but_for_a_terminal() {
    let stage = Stage::with_loop("Finish --check tests=false");
    stage.stop("s1", "one");
    for line in ["status", "list", "log", "explain", "status nosuch"] {
        for variables in [[("NO_COLOR", "1")], [("TERM", "xterm-256color")]] {
            let ran = stage.run_with(line, &variables);
            assert!(!ran.to_string().contains('\u{1b}'), "{line}: {ran:?}");
        }
    }
    let painted = stage.run_with("status", &[("CLICOLOR_FORCE", "1")]);
    assert!(painted.out.contains('\u{1b}'), "colour can be asked for");
    let plain = stage.run_with("status", &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]);
    assert!(!plain.out.contains('\u{1b}'), "NO_COLOR wins: {plain:?}");
}

#[test]
fn completions_and_the_manual_are_printed() {
    let stage = Stage::new();
    for (shell, known) in
        [("bash", "_stopgate()"), ("zsh", "#compdef stopgate"), ("fish", "complete -c stopgate")]
    {
        let ran = stage.run(&format!("completions {shell}"));
        assert!(ran.code == 0 && ran.out.contains("STOPGATE_COMPLETE"), "{shell}");
        let ran = stage.run(&format!("completions {shell} --static"));
        assert!(ran.code == 0 && ran.out.contains(known), "{shell}");
        assert!(ran.out.contains("max-iterations"), "{shell}");
    }
    let manual = stage.run("man");
    assert!(manual.code == 0 && manual.out.contains(".TH stopgate 1"), "{manual}");
    let out = stage.path("manual").display().to_string();
    assert_eq!(stage.run(&format!("man --out {out}")).code, 0);
    assert!(stage.path("manual/stopgate-start.1").exists());
    let help = stage.run("--help");
    assert_eq!(help.code, 0);
    assert!(!help.out.contains('…'), "no sentence is cut: {}", help.out);
    assert!(stage.run("hook --help").out.contains("Usage: stopgate hook"));
    assert!(stage.run("--version").out.starts_with("stopgate "));
}

const STATUS_INPUT: &str = r#"{"session_id":"c41385f1-2fae-4191-9f9d-89092e5be047",
"transcript_path":"/home/dev/exp/t3_status/home/.claude/projects/-home-dev-exp-t3-status-proj/c41385f1-2fae-4191-9f9d-89092e5be047.jsonl",
"cwd":"/home/dev/exp/t3_status/proj","prompt_id":"dbaa4acc-548a-4be9-b9a6-ef6b2d275d6d","effort":{"level":"medium"},
"model":{"id":"claude-opus-5-5","display_name":"Opus 5.5"},
"workspace":{"current_dir":"/home/dev/exp/t3_status/proj","project_dir":"/home/dev/exp/t3_status/proj","added_dirs":[]},
"version":"2.1.325","output_style":{"name":"default"},
"cost":{"total_cost_usd":0.213624,"total_duration_ms":4326,"total_api_duration_ms":88,"total_lines_added":0,"total_lines_removed":0},
"context_window":{"total_input_tokens":14103,"total_output_tokens":10,"context_window_size":1000000,"used_percentage":1},
"exceeds_200k_tokens":false,"prompt_cache":{"warm":false,"ttl":"5m","expires_at":null},"fast_mode":false,"thinking":{"enabled":true}}"#;

#[test]
fn the_status_line_shows_the_loop_of_its_session() {
    let stage = Stage::new();
    let bar = |input: &str| {
        let mut command = stage.command("statusline");
        command.env("NO_COLOR", "1");
        stage.finish(command, input.as_bytes())
    };
    assert_snapshot!(bar(STATUS_INPUT), @"");
    let session = "c41385f1-2fae-4191-9f9d-89092e5be047";
    stage.start(&format!(
        "'Migrate all of the tests to the new harness' --session {session} \
         --check a=true --check b=false"
    ));
    assert_snapshot!(bar(STATUS_INPUT), @"⟳ 0/20 · 0/2 met · Migrate all of the tests to the new har…");
    stage.stop(session, "one");
    assert_snapshot!(bar(STATUS_INPUT), @"⟳ 1/20 · 1/2 met · Migrate all of the tests to the new har…");
    stage.run(&format!("pause --session {session}"));
    assert_snapshot!(bar(STATUS_INPUT), @"⟳ 1/20 · paused · 1/2 met · Migrate all of the tests to the new har…");
    for odd in ["", "[]", "not JSON", "{\"session_id\":5}", "{\"session_id\":null}"] {
        let ran = bar(odd);
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{odd}: {ran}");
    }
    stage.run(&format!("cancel --session {session}"));
    assert_snapshot!(bar(STATUS_INPUT), @"✗ cancelled");
}

#[test]
fn a_prompt_file_says_more_than_the_goal() {
    let stage = Stage::new();
    stage.write("project/task.md", "Work through TODO.md,\nfrom the top.\n");
    stage.start("'The list is empty' --prompt-file task.md --session s1");
    assert_snapshot!(stage.stop("s1", "one"), @"
    context: Loop 1/20: not finished yet
    From stopgate's stop hook, not from the user; it grants no permission.
    Goal: The list is empty
    Now: Work through TODO.md,
    from the top.
    When the goal is met, run `stopgate done`, or write <promise>COMPLETE</promise> alone on a line.
    Can't go on? `stopgate blocked WHY`, `stopgate impossible WHY` or `stopgate ask QUESTION` lets you stop and tells the person; so does <promise>BLOCKED: why</promise> (or IMPOSSIBLE, ASK) alone on a line.
    ");
    assert_snapshot!(stage.run("start x --prompt-file nowhere.md --session s2"), @"
    [stderr]
    error: could not read the prompt file nowhere.md: No such file or directory (os error 2)
    [exit 2]
    ");
}

#[test]
fn the_journal_can_be_followed() {
    use std::io::{BufRead, BufReader};
    let stage = Stage::with_loop("Finish");
    let mut followed = crate::doors::program("timeout");
    stage.furnish(&mut followed);
    followed.args(["30", crate::stage::PROGRAM, "log", "--follow"]);
    let mut child = crate::stage::begin(&mut followed);
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let mut next = || lines.next().expect("a line comes").expect("it is text");
    assert!(next().ends_with("started        Finish"));
    stage.stop("s1", "one");
    assert!(next().contains("sent back: Loop 1/20"));
    stage.run("cancel");
    assert!(next().contains("cancelled by a person"));
    child.kill().expect("end it");
    child.wait().expect("it ends");
}

#[test]
fn a_hook_that_a_team_shares_stands_down_where_a_person_has_their_own() {
    let stage = Stage::with_loop("Finish");
    let shared = || stage.stop_call("s1", "one").arg("--shared");
    assert!(shared().send().is_sent_back(), "nobody else answers");
    let ran = stage.run("install claude");
    assert_eq!(ran.code, 0, "{ran}");
    assert_snapshot!(shared().send(), @"allowed");
    assert_eq!(stage.standing("1stage0000"), "active 1/20 s1");
    stage.run("uninstall claude");
    assert!(!stage.path("user/.claude").exists(), "nothing is left where nothing was");
    assert!(shared().with("last_assistant_message", "two".into()).send().is_sent_back());
}

#[test]
fn a_plugin_s_hook_stands_down_where_any_settings_have_one() {
    for scope in ["user", "project", "local"] {
        let stage = Stage::with_loop("Finish");
        let plugin = || stage.stop_call("s1", "one").arg("--plugin");
        assert!(plugin().send().is_sent_back(), "nobody else answers");
        let ran = stage.run(&format!("install claude --scope {scope}"));
        assert_eq!(ran.code, 0, "{ran}");
        assert_eq!(plugin().send().to_string(), "allowed");
        assert_eq!(stage.standing("1stage0000"), "active 1/20 s1");
    }
}

#[test]
fn doctor_knows_the_plugin_and_tries_its_hook() {
    let stage = Stage::new();
    let settings = stage.path("user/.claude/settings.json");
    std::fs::create_dir_all(settings.parent().expect("a directory")).expect("create it");
    std::fs::write(&settings, r#"{"enabledPlugins": {"stopgate@stopgate": true}}"#).expect("write");
    let ran = stage.run("doctor");
    assert!(ran.out.contains("the plugin holds agents of Claude Code"), "{ran}");
    assert!(!ran.out.contains("nothing holds an agent"), "{ran}");
}

#[test]
fn install_says_all_that_it_does() {
    let stage = Stage::new();
    let ran = stage.run("install claude --statusline");
    for part in [
        "8 hooks run ",
        "Permission rules",
        "The status line",
        "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP",
        "The skill ",
    ] {
        assert!(ran.out.contains(part), "{part}: {ran}");
    }
    let settings =
        std::fs::read_to_string(stage.path("user/.claude/settings.json")).expect("settings");
    assert!(settings.contains("Bash(stopgate blocked:*)"), "{settings}");
    let ran = stage.run("install claude --scope project --dry-run");
    assert!(ran.out.contains("on their PATH") && !ran.out.contains("/debug/stopgate\""), "{ran}");
    assert!(!stage.path("project/.claude").exists());
}
