//! One line for status bars and prompts: whichever program shows it.

use crate::doors;
use crate::stage::{PROGRAM, Ran, Stage};

/// The line that a client with this session is told.
fn told(stage: &Stage, line: &str, input: &str) -> Ran {
    stage.finish(stage.command(line), input.as_bytes())
}

/// What Qwen Code sends to a command of its status line.
const QWEN: &str = r#"{"session_id":"s1","version":"0.24.4","model":{"display_name":"m"},
    "context_window":{"context_window_size":1000,"used_percentage":10},
    "workspace":{"current_dir":"/tmp"},"git":{"branch":"main"}}"#;

#[test]
fn a_person_chooses_what_the_line_says() {
    let stage = Stage::with_loop("'Make it green' --check tests='test -f ok' --check lint=true");
    stage.stop("s1", "One.");
    let ran = told(&stage, "statusline --format '{id} {count} {met} {state}: {goal}'", QWEN);
    assert_eq!(ran.out, "1stage0000 1/20 1/2 active: Make it green\n");
    let ran = told(&stage, "statusline --format '{count}' --session s2", "");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "no loop, no line");
    for (format, said) in
        [("'{nonsense}'", "has no {nonsense}; it has id, state"), ("'{count'", "without a }")]
    {
        let ran = told(&stage, &format!("statusline --format {format}"), QWEN);
        assert_eq!(ran.code, 2, "{ran}");
        assert!(ran.err.contains(said), "{ran}");
    }
}

#[test]
fn a_prompt_shows_the_loop_of_its_directory_and_a_bar_counts_all() {
    let stage = Stage::with_loop("'Make it green'");
    assert_eq!(
        stage.run("statusline --here --format '{count} {goal}'").out,
        "0/20 Make it green\n"
    );
    assert_eq!(stage.run_in("other", "statusline --here --format '{goal}'").out, "");
    assert_eq!(stage.run("statusline --all").out, "1 running\n");
    stage.start("Other --session s2");
    stage.run_as("s2", "ask 'Which one?'");
    assert_eq!(stage.run("statusline --all").out, "1 needs you · 1 running\n");
    assert_eq!(stage.run("statusline --all --format '{needs_you}!'").out, "1!\n");
    let first = stage.run("statusline --here --format '{goal}: {why}'").out;
    assert!(first.starts_with("Other: "), "who waits for a person comes first: {first}");
}

#[test]
fn a_goal_is_text_to_every_program_that_shows_it() {
    let stage = Stage::with_loop("'#(reboot) 100% \u{1b}[2Jdone'");
    let shown = |format: &str| stage.run(&format!("statusline --here --format '{format}'")).out;
    assert_eq!(shown("{goal}"), "#(reboot) 100% ␛[2Jdone\n");
    assert_eq!(shown("tmux:{goal}"), "##(reboot) 100% ␛[2Jdone\n");
    assert_eq!(shown("zsh:{goal}"), "#(reboot) 100%% ␛[2Jdone\n");
}

/// A bar asks every few seconds, and most sessions have no loop.
#[test]
fn without_a_loop_no_database_is_opened() {
    let traces = doors::program("strace").arg("-V").output().is_ok_and(|ran| ran.status.success());
    if !traces {
        doors::note("strace is not here: nobody looks at what is opened");
        return;
    }
    let stage = Stage::with_loop("'Make it green'");
    let opened = |line: &str| {
        let trace = stage.path("trace");
        let mut command = doors::program("strace");
        stage.furnish(&mut command);
        command.args(["-f", "-e", "trace=open,openat,connect", "-o"]).arg(&trace).arg(PROGRAM);
        command.args(line.split(' '));
        let ran = stage.finish(command, b"{}");
        assert_eq!(ran.code, 0, "{ran}");
        let calls = std::fs::read_to_string(&trace).expect("a trace");
        calls.lines().filter(|call| call.contains("journal.db")).count()
    };
    assert!(opened("statusline --session s1") > 0, "the trace sees what is opened");
    assert_eq!(opened("statusline --session s2"), 0, "another session");
    stage.run("cancel 1stage0000");
    for line in ["statusline --here", "statusline --all", "statusline --session s2"] {
        assert_eq!(opened(line), 0, "{line}");
    }
}
