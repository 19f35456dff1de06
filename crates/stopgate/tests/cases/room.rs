//! One case's directory, home and environment.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use regex_lite::{Captures, Regex};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// Where one case plays. Hermetic: an empty environment, a home of its own.
pub(crate) struct Room {
    directory: TempDir,
    home: TempDir,
    variables: Vec<(String, String)>,
    has_topic: bool,
}

/// What a call of the program left behind.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Room {
    /// A room furnished as `given` says.
    pub(crate) fn new(given: &Value) -> Self {
        let directory = TempDir::with_prefix("case-").expect("a directory");
        let home = TempDir::with_prefix("home-").expect("a home");
        let pairs = |name: &str| given[name].as_object().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let variables = pairs("env").into_iter().map(|(name, value)| (name, text(&value)));
        let variables = variables.collect();
        let room = Self { directory, home, variables, has_topic: given["jwz"].is_array() };
        for (name, body) in pairs("files") {
            room.write(&name, &clock(&text(&body)));
        }
        if let Some(bodies) = given["jwz"].as_array() {
            let line =
                |body: &Value| body.as_str().map_or_else(|| clock(&body.to_string()), Into::into);
            let lines: Vec<String> = bodies.iter().map(line).collect();
            room.write(".jwz/loop:current.log", &(lines.join("\n") + "\n"));
        }
        if given["task_record"].is_object() {
            room.write("task.json", &clock(&given["task_record"].to_string()));
        }
        room
    }

    /// Sends a stop, or whatever event `input` names.
    pub(crate) fn stop(&self, arguments: &[&str], input: &Value, transcript: Option<&str>) -> Ran {
        if let Some(raw) = input["@raw"].as_str() {
            return self.call(arguments, raw);
        }
        let mut payload = Map::new();
        payload.insert("cwd".into(), json!(self.directory.path()));
        payload.insert("session_id".into(), json!("s1"));
        payload.insert("hook_event_name".into(), json!("Stop"));
        if let Some(transcript) = transcript {
            self.write("t.jsonl", transcript);
            payload.insert("transcript_path".into(), json!(self.path("t.jsonl")));
        }
        payload.extend(input.as_object().cloned().unwrap_or_default());
        self.call(arguments, &Value::Object(payload).to_string())
    }

    /// Runs the program in the room.
    pub(crate) fn call(&self, arguments: &[&str], input: &str) -> Ran {
        let mut command = program(env!("CARGO_BIN_EXE_stopgate"));
        command.args(arguments).env_clear().current_dir(self.directory.path());
        command.env("PATH", self.search_path()).env("HOME", self.home.path());
        command.env("TMPDIR", self.home.path());
        command.env("STOPGATE_HOME", self.home.path().join("stopgate"));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("start the program");
        // A closed pipe need not be told.
        let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
        let ended = child.wait_with_output().expect("wait for the program");
        Ran {
            code: ended.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&ended.stdout).into_owned(),
            err: String::from_utf8_lossy(&ended.stderr).into_owned(),
        }
    }

    /// A file of the room; nothing where there is none.
    pub(crate) fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("make the directory");
        fs::write(path, text).expect("write a file");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The stand-in for the message store's command is found first, where there is a topic.
    fn search_path(&self) -> String {
        let system = search_path();
        if !self.has_topic {
            return system;
        }
        let stand_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/bin");
        format!("{}:{system}", stand_in.display())
    }
}

/// `text` with each `@now-Ns` replaced by the time that many seconds ago.
fn clock(text: &str) -> String {
    let place = Regex::new(r"@now-(\d+)s((?:\.\d+)?Z|[+-]\d\d:\d\d)?").expect("a pattern");
    let now = seconds_now();
    let at = |found: &Captures<'_>| {
        let ago: i64 = found[1].parse().expect("seconds");
        let suffix = found.get(2).map_or("Z", |suffix| suffix.as_str());
        format!("{}{suffix}", date_time(now - ago + offset_seconds(suffix)))
    };
    place.replace_all(text, at).into_owned()
}

fn offset_seconds(suffix: &str) -> i64 {
    let sign = match suffix.as_bytes()[0] {
        b'+' => 1,
        b'-' => -1,
        _other => return 0,
    };
    let number = |range: std::ops::Range<usize>| suffix[range].parse::<i64>().expect("an offset");
    sign * (number(1..3) * 3600 + number(4..6) * 60)
}

/// Seconds since 1970 as `2026-11-15T06:00:00`, by the civil calendar.
fn date_time(seconds: i64) -> String {
    let (mut day, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let mut year = 1970;
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    while day >= 365 + i64::from(leap(year)) {
        day -= 365 + i64::from(leap(year));
        year += 1;
    }
    let february = 28 + i64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let (hour, minute, second) = (rest / 3600, rest % 3600 / 60, rest % 60);
    format!("{year}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}", day + 1)
}

#[expect(clippy::disallowed_methods, reason = "the program under test reads the same clock")]
fn seconds_now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.expect("after 1970").as_secs()).expect("before the end of time")
}

#[expect(clippy::disallowed_methods, reason = "these tests run the built program")]
fn program(path: &str) -> Command {
    Command::new(path)
}

#[expect(clippy::disallowed_methods, reason = "the stand-in is a shell script")]
fn search_path() -> String {
    std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".into())
}

#[test]
fn times_are_written_in_their_own_offset() {
    assert_eq!(date_time(1_794_722_400), "2026-11-15T06:00:00");
    assert_eq!(date_time(1_709_164_800), "2024-02-29T00:00:00");
    assert_eq!(offset_seconds("-02:30"), -9000);
    assert_eq!(offset_seconds(".5Z"), 0);
}
