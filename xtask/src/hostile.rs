//! Hostile trees against every command that looks at one: an answer in time, an exit code
//! that is documented, and a `cancel` that works.
//!
//! Black box: the built program, a time limit for each call, and nothing of ours inside.

mod trees;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};

use self::trees::{Cancel, Size, TRANSCRIPT, Tree};
use crate::Verdict;
use crate::table::{Gates, Table};
use crate::tools::{self, ProgramOption};

/// What is promised beside the time that checks take.
const PROMISED: Duration = Duration::from_secs(5);
/// What the one check may take, and then to end.
const CHECK: Duration = Duration::from_secs(3);
/// What a machine under load may add to that.
const SLACK: Duration = Duration::from_secs(3);
/// When a call is killed, and counted as one that never answers.
const LIMIT: Duration = PROMISED.saturating_add(CHECK).saturating_add(SLACK);
/// The codes that the contract lists.
const CODES: [i32; 12] = [0, 1, 2, 3, 4, 5, 6, 66, 70, 74, 75, 130];
const SESSION: &str = "held";
/// Trees that are tried at the same time.
const ABREAST: usize = 3;

/// Which trees, and against what.
#[derive(Args)]
pub(crate) struct HostileOptions {
    #[arg(long)]
    quick: bool,
    /// Only trees whose name has this in it
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    #[command(flatten)]
    program: ProgramOption,
}

/// What the command line asks for.
struct Plan {
    size: Size,
    program: PathBuf,
}

/// One machine with one project.
struct Place {
    directory: tempfile::TempDir,
    program: PathBuf,
}

/// What came of one call.
#[derive(Debug)]
struct Came {
    /// None where it was killed by a signal, ours or another.
    code: Option<i32>,
    took: Duration,
    stdout: String,
}

/// Runs every command on every tree.
pub(crate) fn run(HostileOptions { quick, only, program }: &HostileOptions) -> Result<Verdict> {
    let size = if *quick { Size::Quick } else { Size::Full };
    let plan = Plan { size, program: program.find()? };
    let columns = ["tree", "hook", "start", "status", "verify", "trust", "cancel"];
    let mut table = Table::new("Hostile trees, in milliseconds", &columns);
    let mut gates = Gates::default();
    let mut struck = 0;
    let is_asked = |tree: &String| only.as_ref().is_none_or(|only| tree.contains(only));
    let names = trees::all(plan.size).into_iter().map(|tree| tree.name);
    let asked: Vec<bool> = names.map(|name| is_asked(&name)).collect();
    for (name, came) in strike_all(&plan, &asked) {
        let Some((row, violations)) = came? else {
            eprintln!("{name}: can't be made here");
            continue;
        };
        struck += 1;
        let wrong = format!("{name}: {}", violations.join("; "));
        gates.ask((!violations.is_empty()).then_some(wrong));
        table.row(row);
    }
    table.note(format!("{struck} trees, 6 commands each."));
    table.print();
    if only.is_none() {
        gates.ask(moved_by_tests(&plan.program)?);
    }
    if struck == 0 {
        bail!("find a tree that was asked for");
    }
    Ok(gates.verdict())
}

/// What is wrong where the clock or the names of a released program can be moved from outside.
///
/// A program that is built for tests may be moved.
fn moved_by_tests(program: &Path) -> Result<Option<String>> {
    if program.components().any(|part| part.as_os_str() == "debug") {
        eprintln!("{} is built for tests: its clock may be moved", program.display());
        return Ok(None);
    }
    let begin = || -> Result<Value> {
        let place = Place::new(program)?;
        let mut command = place.command(&["start", "the goal", "--session", SESSION, "--json"]);
        command.env("STOPGATE_TEST_CLOCK", "1700000000000").env("STOPGATE_TEST_SEED", "7");
        fs::remove_file(place.project().join("stopgate.toml"))?;
        let begun = within(command, "", LIMIT)?;
        let view: Value = serde_json::from_str(&begun.stdout)
            .with_context(|| format!("begin a loop: {begun:?}"))?;
        Ok(view["loop"].clone())
    };
    let (one, other) = (begin()?, begin()?);
    let is_moved = one["id"] == other["id"] || one.to_string().contains("2023-11-14");
    Ok(is_moved.then(|| format!("a test's clock or seed moves the released program: {one}")))
}

/// A row of times and what went wrong; nothing where the tree can't be made here.
type Row = Option<([String; 7], Vec<String>)>;

/// Strikes with every tree that was asked for, a few at a time; in the order of the trees.
fn strike_all(plan: &Plan, asked: &[bool]) -> Vec<(String, Result<Row>)> {
    let next = AtomicUsize::new(0);
    let work = || {
        // Made by each for itself: a tree is planted by a closure that stays on its thread.
        let trees = trees::all(plan.size);
        let mut came = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(tree) = trees.get(number) else { return came };
            if asked.get(number) == Some(&true) {
                came.push((number, tree.name.clone(), strike(plan, tree)));
            }
        }
    };
    let mut came: Vec<(usize, String, Result<Row>)> = thread::scope(|scope| {
        let running: Vec<_> = (0..ABREAST).map(|_| scope.spawn(work)).collect();
        running.into_iter().flat_map(|one| one.join().unwrap_or_default()).collect()
    });
    came.sort_by_key(|(number, ..)| *number);
    came.into_iter().map(|(_, name, row)| (name, row)).collect()
}

fn strike(plan: &Plan, tree: &Tree) -> Result<Row> {
    let place = Place::new(&plan.program)?;
    let id = place.begin()?;
    if (tree.plant)(&place.project()).is_err() {
        return Ok(None);
    }
    let mut violations = Vec::new();
    let mut row = vec![tree.name.clone()];
    let payload = place.payload();
    let other = ["start", "another goal", "--session", "other"];
    let calls: [(&str, &[&str], &str); 6] = [
        ("hook", &["hook", "claude"], &payload),
        ("start", &other, ""),
        ("status", &["status", "--json"], ""),
        ("verify", &["verify"], ""),
        ("trust", &["trust", "--yes"], ""),
        ("cancel", &["cancel", &id], ""),
    ];
    for (name, arguments, input) in calls {
        let came = place.call(arguments, input)?;
        row.push(came.took.as_millis().to_string());
        violations.extend(wrong(name, &came, tree.cancel));
    }
    if tree.cancel == Cancel::Works && !place.is_cancelled(&id)? {
        violations.push("cancel: the loop is not cancelled".into());
    }
    place.tidy();
    let row = row.try_into().map_err(|_| anyhow::anyhow!("fill the row of {}", tree.name))?;
    Ok(Some((row, violations)))
}

/// What is wrong with the answer of the command called `name`.
fn wrong(name: &str, came: &Came, cancel: Cancel) -> Option<String> {
    let Came { code, took, stdout } = came;
    let ms = took.as_millis();
    match code {
        _ if *took > LIMIT => Some(format!("{name}: no answer in {ms} ms")),
        None => Some(format!("{name}: ended by a signal after {ms} ms")),
        Some(code) if !CODES.contains(code) => Some(format!("{name}: exit code {code}")),
        Some(code) if name == "hook" && *code != 0 => Some(format!("hook: exit code {code}")),
        Some(0) if name == "hook" && !is_answer(stdout) => Some(format!("hook said {stdout:?}")),
        Some(code) if name == "cancel" && *code != 0 && cancel == Cancel::Works => {
            Some(format!("cancel: exit code {code}"))
        }
        Some(_) => None,
    }
}

/// One JSON value or nothing.
fn is_answer(stdout: &str) -> bool {
    stdout.trim().is_empty() || serde_json::from_str::<Value>(stdout).is_ok()
}

impl Place {
    /// An honest project, and a home beside it.
    fn new(program: &Path) -> Result<Self> {
        let directory = tempfile::Builder::new().prefix("stopgate-chore-").tempdir()?;
        let place = Self { directory, program: program.into() };
        for name in ["home", "user", "project/src", "project/tests"] {
            fs::create_dir_all(place.directory.path().join(name))?;
        }
        let project = place.project();
        fs::write(project.join("src/main.txt"), "work\n")?;
        fs::write(project.join("tests/test.sh"), "exit 1\n")?;
        let toml = "[[criterion]]\nname = \"tests\"\nrun = [\"sh\", \"tests/test.sh\"]\n\
                    timeout = \"1s\"\nprotect = [\"tests/**\"]\n";
        fs::write(project.join("stopgate.toml"), toml)?;
        let mut git = Command::new("git");
        git.current_dir(&project).args(["init", "-q"]).env("HOME", place.directory.path());
        tools::run(&mut git).context("make a repository")?;
        Ok(place)
    }

    fn project(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    fn payload(&self) -> String {
        let transcript = self.project().join(TRANSCRIPT);
        let mut payload = json!({
            "session_id": SESSION,
            "cwd": self.project(),
            "hook_event_name": "Stop",
            "transcript_path": transcript,
        });
        // Where there is a transcript, the message must be looked for in it.
        if fs::symlink_metadata(transcript).is_err() {
            payload["last_assistant_message"] = json!("I looked around.");
        }
        payload.to_string()
    }

    /// Begins a loop while the tree is still honest; its name.
    fn begin(&self) -> Result<String> {
        self.call(&["trust", "--yes"], "")?;
        let begun = self.call(&["start", "the goal", "--session", SESSION, "--json"], "")?;
        let view: Value = serde_json::from_str(&begun.stdout)
            .with_context(|| format!("begin a loop: {begun:?}"))?;
        let id = view["loop"]["id"].as_str();
        Ok(id.with_context(|| format!("find the loop's name in {view}"))?.into())
    }

    /// Asked from a directory, and by a person, with nothing hostile in it.
    fn is_cancelled(&self, id: &str) -> Result<bool> {
        let mut command = self.command(&["status", id, "--json"]);
        command.current_dir(self.directory.path()).env("HOME", self.directory.path());
        let seen = within(command, "", LIMIT)?;
        let view: Value = serde_json::from_str(&seen.stdout).unwrap_or_default();
        Ok(view["loop"]["outcome"] == "cancelled")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let directory = self.directory.path();
        command.args(arguments).current_dir(self.project()).env_clear().env("PATH", path);
        command.env("HOME", directory.join("user")).env("STOPGATE_HOME", directory.join("home"));
        command
    }

    fn call(&self, arguments: &[&str], input: &str) -> Result<Came> {
        within(self.command(arguments), input, LIMIT)
    }

    /// What nobody may enter, nobody could remove.
    fn tidy(&self) {
        let mut chmod = Command::new("chmod");
        let _ =
            chmod.args(["-R", "u+rwx"]).arg(self.directory.path()).stderr(Stdio::null()).status();
    }
}

/// Runs `command`; kills it where it takes longer than `limit`.
fn within(mut command: Command, input: &str, limit: Duration) -> Result<Came> {
    let directory = tempfile::tempdir()?;
    let given = directory.path().join("input");
    fs::write(&given, input)?;
    let said = directory.path().join("output");
    command.stdin(fs::File::open(given)?).stdout(fs::File::create(&said)?).stderr(Stdio::null());
    let begun = Instant::now();
    let mut child = command.spawn().context("start the program")?;
    let code = wait(&mut child, begun + limit)?;
    let took = begun.elapsed();
    let mut stdout = String::new();
    let read = fs::File::open(&said)?.take(1 << 20).read_to_string(&mut stdout);
    read.context("read what the program said")?;
    Ok(Came { code, took, stdout })
}

fn wait(child: &mut Child, until: Instant) -> Result<Option<i32>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        if Instant::now() > until {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(2));
    }
}
