//! A stage: a project, a home, a clock and a seed of its own, and the built program.
//!
//! Hermetic: the environment is empty but for `PATH`, time stands still until a
//! test moves it, and `$STAGE` stands for the stage's directory in all that is shown.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use serde_json::Value;
use tempfile::TempDir;

use crate::doors;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_stopgate");
/// 2026-11-15, six in the morning.
const BEGIN_MS: i64 = 1_794_722_400_000;
/// The first loop of a stage is `1stage0000`, the second `2stage0000`.
const SEED: u64 = 25 * 32 + 26 * 1024 + 10 * 32_768 + 16 * 1_048_576 + 14 * 33_554_432;

/// Where one test plays.
pub(crate) struct Stage {
    directory: PathBuf,
    clock: AtomicI64,
    starts: AtomicU64,
    /// What each session was told last, to see that it is never told the same twice.
    pub(crate) told: Mutex<HashMap<String, String>>,
    _kept: TempDir,
}

impl Stage {
    /// A stage with an empty home and an empty project.
    pub(crate) fn new() -> Self {
        let kept = TempDir::with_prefix("stage-").expect("make the stage");
        let directory = kept.path().canonicalize().expect("find the stage");
        for name in ["user", "home", "project/.git", "other/.git"] {
            fs::create_dir_all(directory.join(name)).expect("furnish the stage");
        }
        Self {
            directory,
            clock: AtomicI64::new(BEGIN_MS),
            starts: AtomicU64::new(0),
            told: Mutex::default(),
            _kept: kept,
        }
    }

    /// A stage on which `start` was run with these arguments for session `s1`.
    pub(crate) fn with_loop(arguments: &str) -> Self {
        let stage = Self::new();
        stage.start(&format!("{arguments} --session s1"));
        stage
    }

    /// Runs `start`; the loop's name.
    pub(crate) fn start(&self, arguments: &str) -> String {
        let ran = self.run(&format!("start {arguments} --json"));
        assert_eq!(ran.code, 0, "start {arguments}: {ran}");
        let answer: Value = serde_json::from_str(&ran.out).expect("start answers in JSON");
        answer["loop"]["id"].as_str().expect("a loop has an id").into()
    }

    /// Runs a command as a person would, in the project's directory.
    pub(crate) fn run(&self, line: &str) -> Ran {
        self.run_with(line, &[])
    }

    /// Runs a command in another directory of the stage.
    pub(crate) fn run_in(&self, directory: &str, line: &str) -> Ran {
        let mut command = self.command(line);
        command.current_dir(self.path(directory));
        self.finish(command, b"")
    }

    /// Runs a command as the agent of `session` would, in its shell.
    pub(crate) fn run_as(&self, session: &str, line: &str) -> Ran {
        self.run_with(line, &[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", session)])
    }

    /// Runs a command with more variables.
    pub(crate) fn run_with(&self, line: &str, variables: &[(&str, &str)]) -> Ran {
        let mut command = self.command(line);
        command.envs(variables.iter().copied());
        self.finish(command, b"")
    }

    /// The command that `line` asks for, ready to be run.
    pub(crate) fn command(&self, line: &str) -> Command {
        let words = split(line);
        let mut command = doors::program(PROGRAM);
        self.furnish(&mut command);
        if words.first().is_some_and(|word| word == "start") {
            let earlier = self.starts.fetch_add(1, Ordering::SeqCst);
            command.env("STOPGATE_TEST_SEED", (SEED + earlier).to_string());
            self.told.lock().expect("nobody panicked").clear();
        }
        command.args(words);
        command
    }

    /// Empties a command's environment and gives it the stage's.
    pub(crate) fn furnish(&self, command: &mut Command) {
        command.env_clear().current_dir(self.path("project"));
        command.env("PATH", doors::search_path());
        command.env("HOME", self.path("user")).env("STOPGATE_HOME", self.path("home"));
        command.env("TZ", "UTC").env("STOPGATE_TEST_DAEMON", "off");
        command.env("STOPGATE_TEST_CLOCK", self.clock.load(Ordering::SeqCst).to_string());
    }

    /// Gives `input` to a command and waits for its end.
    pub(crate) fn finish(&self, mut command: Command, input: &[u8]) -> Ran {
        self.end(begin(&mut command), input)
    }

    /// Gives `input` to a child and waits for its end.
    pub(crate) fn end(&self, mut child: Child, input: &[u8]) -> Ran {
        if let Some(mut pipe) = child.stdin.take() {
            // A closed pipe need not be told.
            let _ = pipe.write_all(input);
        }
        let ended = child.wait_with_output().expect("wait for the program");
        Ran {
            code: ended.status.code().unwrap_or(-1),
            out: self.shown(&String::from_utf8_lossy(&ended.stdout)),
            err: self.shown(&String::from_utf8_lossy(&ended.stderr)),
        }
    }

    /// `text` as it is the same on every stage.
    pub(crate) fn shown(&self, text: &str) -> String {
        still(&text.replace(&self.directory.display().to_string(), "$STAGE"))
    }

    /// Lets time pass.
    pub(crate) fn advance_minutes(&self, minutes: i64) {
        self.clock.fetch_add(minutes * 60_000, Ordering::SeqCst);
    }

    /// A place on the stage.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Writes a file on the stage.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).expect("make a directory");
        }
        fs::write(path, text).expect("write a file");
    }

    /// Makes a directory on the stage.
    pub(crate) fn make_directory(&self, name: &str) {
        fs::create_dir_all(self.path(name)).expect("make a directory");
    }

    /// What the program complained about, a line each.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("home/stopgate.log")).unwrap_or_default();
        text.lines().map(|line| self.shown(line)).collect()
    }

    /// The answer of a command in JSON.
    pub(crate) fn json(&self, line: &str) -> Value {
        let ran = self.run(&format!("{line} --json"));
        assert_eq!(ran.code, 0, "{line}: {ran}");
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{line}: {error}: {ran}"))
    }

    /// How a loop stands, in a few words: `active 3/12 s1`.
    pub(crate) fn standing(&self, id: &str) -> String {
        let found = &self.json(&format!("status {id}"))["loop"];
        let word = found["outcome"].as_str().or(found["state"].as_str()).unwrap_or("?");
        let session = found["session"].as_str().unwrap_or("nobody");
        format!("{word} {}/{} {session}", found["iteration"], found["max_iterations"])
    }

    /// What happened to a loop, without times and names: `stopped: sent back: …`.
    pub(crate) fn history(&self, id: &str) -> String {
        let ran = self.run(&format!("log {id} --json"));
        assert_eq!(ran.code, 0, "log {id}: {ran}");
        let entries = ran.out.lines().map(|line| {
            let entry: Value = serde_json::from_str(line).expect("log answers in JSON lines");
            let word = |key: &str| entry[key].as_str().unwrap_or("?").to_string();
            format!("{}: {}\n", word("kind"), word("what"))
        });
        entries.collect()
    }
}

/// Starts a command whose three pipes are ours.
pub(crate) fn begin(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("start the program")
}

/// What a command left behind.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    /// Its exit code; -1 where a signal ended it.
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.out)?;
        if !self.err.is_empty() {
            write!(f, "[stderr]\n{}", self.err)?;
        }
        if self.code != 0 {
            write!(f, "[exit {}]", self.code)?;
        }
        Ok(())
    }
}

/// Splits a line as a shell would, as far as these tests go: blanks and quotes.
fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// Checks run in real time: how long they took is not part of a test.
fn still(text: &str) -> String {
    let shown = calm(text, " s", |number| number.contains('.').then_some("0.0"));
    calm(&shown, " ms", |_| Some("0"))
}

/// Replaces each number before `unit` by what `instead` says.
fn calm(text: &str, unit: &str, instead: impl Fn(&str) -> Option<&'static str>) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(unit) {
        let (before, after) = rest.split_at(at);
        let digits = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let number = &before[digits.len()..];
        shown.push_str(digits);
        shown.push_str(if number.is_empty() { "" } else { instead(number).unwrap_or(number) });
        shown.push_str(unit);
        rest = &after[unit.len()..];
    }
    shown + rest
}

/// Where the built program lies, for those who must copy it.
pub(crate) fn program_path() -> &'static Path {
    Path::new(PROGRAM)
}
