//! `watch` and `run` in a real terminal: tmux draws it, and says what it drew.

use std::num::NonZeroU16;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::doors;
use crate::run::agent;
use crate::stage::{Stage, program_path};

/// Long enough for a busy machine; what is waited for comes within a second.
const PATIENCE: Duration = Duration::from_mins(1);
const LINES: NonZeroU16 = NonZeroU16::new(24).expect("some lines");
const COLUMNS: NonZeroU16 = NonZeroU16::new(80).expect("some columns");
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A terminal of 80×24 in which a command runs.
struct Terminal<'a> {
    stage: &'a Stage,
}

impl<'a> Terminal<'a> {
    /// With `watch` in it; `None` where there is no tmux.
    fn open(stage: &'a Stage, variables: &[(&str, &str)]) -> Option<Self> {
        Self::running(stage, "watch", variables)
    }

    fn running(stage: &'a Stage, words: &str, variables: &[(&str, &str)]) -> Option<Self> {
        let found = doors::program("tmux").arg("-V").output().is_ok_and(|ran| ran.status.success());
        if !found {
            doors::note("tmux is not here: nothing is tried in a terminal");
            return None;
        }
        let program = program_path().display();
        let pid = stage.path("user/pid");
        // With jobs of its own, so that one can go to the background.
        let shell = format!(
            "set -m; sh -c 'echo $$ > {}; exec {program} {words}'; echo \"left with $?\"; read x; \
             fg; echo \"left with $?\"; exec cat",
            pid.display()
        );
        Some(Self::with(stage, &shell, variables))
    }

    /// With `watch` in it, and every byte that it sends in the file `user/bytes`.
    fn recorded(stage: &'a Stage, variables: &[(&str, &str)]) -> Option<Self> {
        let has = |name: &str| doors::program(name).arg("-V").output().is_ok();
        if !(has("tmux") && has("script")) {
            doors::note("tmux or script is not here: nothing is tried in a terminal");
            return None;
        }
        let (program, bytes) = (program_path().display(), stage.path("user/bytes"));
        let shell = format!(
            "script -qfec '{program} watch' {}; echo \"left with $?\"; exec cat",
            bytes.display()
        );
        Some(Self::with(stage, &shell, variables))
    }

    fn with(stage: &'a Stage, shell: &str, variables: &[(&str, &str)]) -> Self {
        let terminal = Self { stage };
        let mut tmux = terminal.tmux();
        tmux.envs(variables.iter().copied());
        tmux.args(["-u", "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24"])
            .arg(shell);
        let ran = tmux.output().expect("run tmux");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        terminal
    }

    fn tmux(&self) -> Command {
        let mut tmux = doors::program("tmux");
        self.stage.furnish(&mut tmux);
        tmux.env("TMUX_TMPDIR", self.stage.path("user")).env("LANG", "C.UTF-8");
        tmux.env("TERM", "xterm-256color");
        tmux
    }

    fn press(&self, keys: &[&str]) {
        let ran = self.tmux().arg("send-keys").args(keys).output().expect("run tmux");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    }

    fn shown(&self) -> String {
        let ran = self.tmux().args(["capture-pane", "-p"]).output().expect("run tmux");
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }

    /// The process that shows the view.
    fn pid(&self) -> Pid {
        let pid = std::fs::read_to_string(self.stage.path("user/pid")).expect("a pid");
        pid.trim().parse().ok().and_then(Pid::from_raw).expect("a pid")
    }

    /// Waits until the terminal shows `text`.
    #[track_caller]
    fn shows(&self, text: &str) -> String {
        let begun = doors::now();
        loop {
            let shown = self.shown();
            if shown.contains(text) {
                return shown;
            }
            assert!(begun.elapsed() < PATIENCE, "{text:?} never came:\n{shown}");
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let _ = self.tmux().arg("kill-server").output();
    }
}

#[test]
fn watch_follows_loops_and_its_keys_do_what_the_commands_do() {
    let stage = Stage::with_loop("'Make it green' --check tests='test -f ok'");
    let Some(terminal) = Terminal::open(&stage, &[]) else { return };
    let frame = terminal.shows("Make it green");
    assert!(frame.contains("1 running") && frame.contains("0/1"), "{frame}");
    stage.stop("s1", "One.");
    terminal.shows("1/20");
    terminal.press(&["p"]);
    terminal.shows("1stage0000 is paused");
    assert_eq!(stage.standing("1stage0000"), "paused 1/20 s1");
    terminal.press(&["r"]);
    terminal.shows("is resumed");
    stage.run_as("s1", "ask 'Which one?'");
    terminal.shows("1 needs you");
    terminal.press(&["w", "The second", "Enter"]);
    terminal.shows("Answered");
    assert_eq!(stage.standing("1stage0000"), "active 1/20 s1");
    terminal.press(&["Enter"]);
    terminal.shows("now, after stop 1");
    terminal.press(&["Left"]);
    terminal.shows("as of stop 1 of 1");
    stage.write("project/ok", "");
    stage.stop("s1", "Two.");
    terminal.press(&["Escape"]);
    terminal.shows("1 ended");
    stage.start("Other --session s2");
    terminal.shows("Other");
    terminal.press(&["Home", "c"]);
    terminal.shows("any other key");
    terminal.press(&["y"]);
    terminal.shows("can't be resumed");
    terminal.press(&["y"]);
    terminal.shows("is cancelled");
    terminal.press(&["q"]);
    let left = terminal.shows("left with 0");
    assert!(!left.contains("Make it green"), "the terminal is as it was: {left}");
}

#[test]
fn a_command_that_reads_its_prompt_is_driven_from_a_terminal_too() {
    let stage = Stage::new();
    stage.start("--check 'made=test -f done.txt' 'make the file'");
    let worker = agent(&stage, "worker", "grep -q 'make the file' && touch done.txt\necho Done.\n");
    let Some(terminal) = Terminal::running(&stage, &format!("run -- {worker}"), &[]) else {
        return;
    };
    let shown = terminal.shows("left with 0");
    assert!(shown.contains("done after 1 session"), "{shown}");
}

#[test]
fn what_is_pasted_is_taken_in_at_once() {
    let stage = Stage::with_loop("Finish");
    stage.run_as("s1", "ask 'Which one?'");
    let Some(terminal) = Terminal::open(&stage, &[]) else { return };
    terminal.shows("needs_input");
    // One letter a look would take longer than anybody waits.
    let pasted = "the second one, ".repeat(20);
    terminal.press(&["w", &pasted, "Enter"]);
    terminal.shows("Answered");
    let told = stage.run("log 1stage0000").out;
    assert!(told.contains("the second one, the second one"), "{told}");
}

#[test]
fn an_agents_shell_can_t_answer_by_key_either() {
    let stage = Stage::with_loop("Finish");
    stage.run_as("s1", "ask 'Which one?'");
    let Some(terminal) = Terminal::open(&stage, &[("CLAUDECODE", "1")]) else { return };
    terminal.shows("needs_input");
    terminal.press(&["w", "mine", "Enter"]);
    terminal.shows("only a person can answer");
    assert_eq!(stage.standing("1stage0000"), "waiting 0/20 s1");
    terminal.press(&["C-c"]);
    terminal.shows("left with 130");
}

#[test]
fn a_running_checks_output_is_shown_live() {
    let check = "echo half way; while ! test -f go; do sleep 0.05; done";
    let stage = Stage::with_loop(&format!("Finish --check tests='{check}' --no-preflight"));
    let Some(terminal) = Terminal::open(&stage, &[]) else { return };
    terminal.shows("Finish");
    terminal.press(&["Enter"]);
    terminal.shows("no stop yet");
    std::thread::scope(|scope| {
        scope.spawn(|| stage.stop("s1", "One."));
        let shown = terminal.shows("half way");
        assert!(shown.contains("a check runs now"), "{shown}");
        stage.write("project/go", "");
    });
    terminal.shows("done");
}

#[test]
fn the_terminal_is_given_back_after_a_signal() {
    let stage = Stage::with_loop("Finish");
    let Some(terminal) = Terminal::open(&stage, &[]) else { return };
    terminal.shows("Finish");
    kill_process(terminal.pid(), Signal::TERM).expect("end the view");
    let left = terminal.shows("left with 130");
    assert!(!left.contains("Finish"), "the terminal is as it was: {left}");
}

#[test]
fn a_view_in_the_background_gives_the_terminal_back() {
    let stage = Stage::with_loop("Finish");
    let Some(terminal) = Terminal::open(&stage, &[]) else { return };
    terminal.shows("Finish");
    terminal.press(&["C-z"]);
    let left = terminal.shows("left with 148");
    assert!(!left.contains("enter open"), "the terminal is as it was: {left}");
    terminal.press(&["Enter"]);
    terminal.shows("Finish");
    terminal.press(&["q"]);
    terminal.shows("left with 0");
}

/// A closed window must not leave a process behind that reads from nothing, as fast as it can.
#[test]
fn a_view_whose_terminal_is_closed_ends() {
    let stage = Stage::with_loop("Finish");
    let Some(terminal) = Terminal::open(&stage, &[]) else { return };
    terminal.shows("Finish");
    let pid = terminal.pid();
    drop(terminal);
    let begun = doors::now();
    while test_kill_process(pid).is_ok() {
        assert!(begun.elapsed() < PATIENCE, "it lives on without a terminal");
        std::thread::sleep(LOOK_EVERY);
    }
}

/// What a terminal was sent, shown step by step on another one.
fn never_blank(bytes: &[u8]) {
    let mut screen = vt100::Parser::new(LINES, COLUMNS, 0);
    let (mut began, mut frames) = (false, 0);
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == 0x1b && screen.screen().alternate_screen() {
            let is_blank = screen.screen().contents().trim().is_empty();
            assert!(!(began && is_blank), "the screen is blank after {at} bytes");
            began |= !is_blank;
            frames += usize::from(!is_blank);
        }
        screen.process(&[*byte]);
    }
    assert!(frames > 0, "nothing was shown");
}

#[test]
fn no_frame_is_blank_after_the_first() {
    let stage = Stage::with_loop("'Make it green' --check tests='test -f ok' --max-idle 0");
    let Some(terminal) = Terminal::recorded(&stage, &[]) else { return };
    terminal.shows("Make it green");
    let bytes = || std::fs::read(stage.path("user/bytes")).expect("what was sent");
    stage.stop("s1", "One.");
    terminal.shows("1/20");
    terminal.press(&["Enter"]);
    terminal.shows("now, after stop 1");
    stage.write("project/ok", "");
    stage.stop("s1", "Two.");
    terminal.shows("ended as done");
    terminal.press(&["Escape"]);
    terminal.shows("1 ended");
    terminal.press(&["q"]);
    terminal.shows("left with 0");
    never_blank(&bytes());
}

#[test]
fn the_view_stays_up_without_its_journal_and_says_so() {
    if !cfg!(feature = "postgres") {
        return;
    }
    let stage = Stage::new();
    let away = [("STOPGATE_STORE", "postgres://nobody@127.0.0.1:1/none")];
    let Some(terminal) = Terminal::open(&stage, &away) else { return };
    let shown = terminal.shows("trying again");
    assert!(shown.contains("could not reach the journal"), "{shown}");
    terminal.press(&["q"]);
    terminal.shows("left with 0");
}

#[test]
fn a_view_of_a_newer_versions_journal_stays_up_and_says_so() {
    let stage = Stage::with_loop("'Make it green'");
    let journal = rusqlite::Connection::open(stage.path("home/journal.db")).expect("the journal");
    journal.pragma_update(None, "user_version", 99).expect("another version");
    drop(journal);
    let Some(terminal) = Terminal::open(&stage, &[]) else { return };
    let shown = terminal.shows("trying again");
    assert!(shown.contains("newer"), "{shown}");
    terminal.press(&["q"]);
    terminal.shows("left with 0");
}

#[cfg(feature = "postgres")]
#[test]
fn watch_follows_a_journal_on_a_server_and_its_keys_work_there() {
    let served = crate::server::Served::new();
    served.start("'Make it green' --check tests='test -f ok' --session s1");
    let store = [("STOPGATE_STORE", served.url.as_str()), ("STOPGATE_STORE_DEADLINE", "20s")];
    let Some(terminal) = Terminal::open(&served.stage, &store) else { return };
    let frame = terminal.shows("Make it green");
    assert!(frame.contains("1 running") && frame.contains("0/1"), "{frame}");
    served.stop("s1", "One.");
    terminal.shows("1/20");
    terminal.press(&["p"]);
    terminal.shows("1stage0000 is paused");
    assert_eq!(served.standing("1stage0000"), "paused 1/20");
    terminal.press(&["r"]);
    terminal.shows("is resumed");
    let agent = [("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s1")];
    served.stage.run_with("ask 'Which one?'", &[agent.as_slice(), &store].concat());
    terminal.shows("1 needs you");
    terminal.press(&["w", "The second", "Enter"]);
    terminal.shows("Answered");
    assert_eq!(served.standing("1stage0000"), "active 1/20");
    terminal.press(&["v"]);
    terminal.shows("not proven");
    terminal.press(&["Enter"]);
    terminal.shows("✗ tests");
    served.stage.write("project/ok", "");
    served.stop("s1", "Two.");
    terminal.shows("✓ tests");
    terminal.press(&["Escape"]);
    served.start("Other --session s2");
    terminal.shows("Other");
    terminal.press(&["Home", "c", "y", "y"]);
    terminal.shows("is cancelled");
    assert_eq!(served.standing("2stage0000"), "cancelled 0/20");
    terminal.press(&["q"]);
    terminal.shows("left with 0");
}
