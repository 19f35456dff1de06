//! Parked loops by the hundred: one process watches for all, sleeps while nothing happens, wakes each
//! session once, and may be killed at any moment.
//!
//! The client is a script that notes who called it and then stops once, as a client does.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::figures::Chance;
use crate::table::{Gates, Table};
use crate::{Verdict, tools};

/// How many loops wait at once.
const LOOPS: usize = 100;
/// What the process may take, in KiB.
const MEMORY_KIB_MAX: u64 = 10 * 1024;
/// How often it is killed.
const KILLS: usize = 50;
/// How long something that must happen may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// Runs the chore: `--quick` for the tests, `--program FILE` for another program.
pub(crate) fn run(quiet: Duration, program: &Path) -> Result<Verdict> {
    let mut table = Table::new("Waiting", &["what", "figure", "must be", ""]);
    let mut gates = Gates::default();
    crowd(program, quiet, &mut table, &mut gates)?;
    storm(program, &mut table, &mut gates)?;
    table.print();
    Ok(gates.verdict())
}

/// A machine with a project, a state directory and a client of its own.
struct Machine {
    directory: TempDir,
    program: PathBuf,
}

impl Machine {
    fn new(program: &Path) -> Result<Self> {
        let machine =
            Self { directory: TempDir::with_prefix("waiting-")?, program: program.into() };
        for name in ["user", "home", "project/.git", "bin", "signs"] {
            fs::create_dir_all(machine.at(name))?;
        }
        fs::set_permissions(machine.at("home"), fs::Permissions::from_mode(0o700))?;
        machine.write_client()?;
        Ok(machine)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write_client(&self) -> Result<()> {
        let script = format!(
            "#!/bin/sh\nwhile [ \"$1\" != --resume ]; do shift; done\n\
             echo \"$2\" >> {}\n\
             printf '{{\"hook_event_name\":\"Stop\",\"session_id\":\"%s\",\"cwd\":\"%s\",\
             \"last_assistant_message\":\"Hm.\",\"stop_hook_active\":false}}' \"$2\" \"$PWD\" \
             | {} hook claude >/dev/null\n",
            self.at("calls").display(),
            self.program.display()
        );
        let path = self.at("bin/claude");
        fs::write(&path, script)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
        Ok(())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.at("bin").display());
        command.env_clear().env("PATH", path).env("HOME", self.at("user"));
        command.env("STOPGATE_HOME", self.at("home")).current_dir(self.at("project"));
        command.stdin(Stdio::null());
        command
    }

    /// Begins a loop for a session and parks it, as its agent would.
    fn park(&self, session: &str, flags: &[&str]) -> Result<()> {
        let goal = ["start", "Wait well", "--session", session, "--json"];
        ran(self.command().args(goal))?;
        let mut wait = self.command();
        wait.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", session);
        ran(wait.arg("wait").args(flags))?;
        Ok(())
    }

    /// As after the ends of all clients: this process stands above every shell of theirs.
    fn forget_clients(&self) {
        let _ = fs::remove_dir_all(self.at("home/sessions"));
    }

    fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.at("calls")).unwrap_or_default();
        let mut calls: Vec<String> = text.lines().map(String::from).collect();
        calls.sort();
        calls
    }

    fn daemon(&self) -> Result<Option<u32>> {
        let ran = self.command().args(["daemon", "--status", "--json"]).output()?;
        let view: Value = serde_json::from_slice(&ran.stdout)?;
        Ok(view["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()))
    }

    fn until_called(&self, wanted: usize) {
        let begun = Instant::now();
        while self.calls().len() < wanted && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(50));
        }
        // One too many would come now.
        thread::sleep(Duration::from_secs(1));
    }

    /// How many of the state directory's background processes there are.
    fn watchers(&self) -> usize {
        let home = format!("STOPGATE_HOME={}", self.at("home").display());
        let mut ours = tools::processes("environ", |word| word == home.as_bytes());
        let daemons = tools::processes("cmdline", |word| word == b"__daemon");
        ours.retain(|process| daemons.contains(process));
        ours.len()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.command().args(["daemon", "--stop"]).output();
    }
}

/// Processes to wait for; ended when dropped.
struct Sleepers(Vec<Child>);

impl Sleepers {
    fn new(count: usize) -> Result<Self> {
        let one = || Command::new("sleep").arg("3600").stdin(Stdio::null()).spawn();
        Ok(Self((0..count).map(|_| one()).collect::<std::io::Result<_>>()?))
    }
}

impl Drop for Sleepers {
    fn drop(&mut self) {
        for sleeper in &mut self.0 {
            let _ = sleeper.kill();
            let _ = sleeper.wait();
        }
    }
}

/// A hundred loops that wait for times, processes and paths.
fn crowd(program: &Path, quiet: Duration, table: &mut Table, gates: &mut Gates) -> Result<()> {
    let machine = Machine::new(program)?;
    let sleepers = Sleepers::new(LOOPS / 3)?;
    // Late enough for every loop to be parked and for the quiet stretch to pass.
    let due = Instant::now() + quiet + Duration::from_secs(45);
    let mut number = 0;
    for sleeper in &sleepers.0 {
        machine.park(&format!("s{number}"), &["--pid", &sleeper.id().to_string()])?;
        number += 1;
    }
    for _ in 0..LOOPS / 3 {
        let path = machine.at(&format!("signs/{number}")).display().to_string();
        machine.park(&format!("s{number}"), &["--path", &path])?;
        number += 1;
    }
    while number < LOOPS {
        let left = due.saturating_duration_since(Instant::now()).as_secs().max(1);
        machine.park(&format!("s{number}"), &["--until", &format!("{left}s")])?;
        number += 1;
    }
    machine.forget_clients();
    let pid = machine.daemon()?.context("find the background process")?;
    // What it asked at the beginning is answered.
    thread::sleep(Duration::from_secs(2));
    quiet_stretch(quiet, pid, table, gates)?;
    let memory = status(pid, "VmRSS")?;
    let complaint = (memory > MEMORY_KIB_MAX).then(|| format!("it takes {memory} KiB"));
    let word = gates.ask(complaint);
    table.row(["memory, 100 loops".into(), format!("{memory} KiB"), "≤ 10,240".into(), word]);
    let watchers = machine.watchers();
    let word = gates.ask((watchers != 1).then(|| format!("{watchers} processes watch")));
    table.row(["processes that watch".into(), watchers.to_string(), "1".into(), word]);
    drop(sleepers);
    for number in LOOPS / 3..2 * (LOOPS / 3) {
        fs::write(machine.at(&format!("signs/{number}")), "")?;
    }
    thread::sleep(due.saturating_duration_since(Instant::now()));
    machine.until_called(LOOPS);
    told(&machine, "resumed, of 100 that waited", LOOPS, table, gates);
    Ok(())
}

/// Nothing may wake the process while nothing happens.
fn quiet_stretch(quiet: Duration, pid: u32, table: &mut Table, gates: &mut Gates) -> Result<()> {
    let before = switches(pid)?;
    thread::sleep(quiet);
    let woken = switches(pid)? - before;
    let seconds = quiet.as_secs();
    let word = gates.ask((woken > 0).then(|| format!("it woke {woken} times in {seconds} s")));
    table.row([format!("wake-ups in {seconds} quiet s"), woken.to_string(), "0".into(), word]);
    if !tools::has("strace") {
        let word = gates.unmeasured("strace is missing");
        table.row(["system calls".into(), "?".into(), "1".into(), word]);
        return Ok(());
    }
    // To attach wakes it once: the call that it sleeps in is begun again.
    let calls = traced(pid, quiet.min(Duration::from_secs(20)))?;
    let word = gates.ask((calls > 1).then(|| format!("it made {calls} system calls")));
    table.row(["system calls, by strace".into(), calls.to_string(), "≤ 1".into(), word]);
    Ok(())
}

/// How many system calls a process makes in a while.
fn traced(pid: u32, time: Duration) -> Result<usize> {
    let place = TempDir::new()?;
    let out = place.path().join("calls");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-q", "-p", &pid.to_string(), "-o"]).arg(&out);
    let mut strace = strace.stdin(Stdio::null()).stderr(Stdio::null()).spawn()?;
    thread::sleep(time);
    Command::new("kill").args(["-INT", &strace.id().to_string()]).status()?;
    strace.wait()?;
    let text = fs::read_to_string(out).unwrap_or_default();
    Ok(text.lines().filter(|line| line.contains('(')).count())
}

/// How often a process went to sleep of itself.
fn switches(pid: u32) -> Result<u64> {
    status(pid, "voluntary_ctxt_switches")
}

fn status(pid: u32, key: &str) -> Result<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status"))
        .with_context(|| format!("look at process {pid}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    let word = line.and_then(|line| line.split_whitespace().next());
    Ok(word.with_context(|| format!("find {key}"))?.parse()?)
}

/// The process is killed again and again while what loops wait for happens.
fn storm(program: &Path, table: &mut Table, gates: &mut Gates) -> Result<()> {
    let machine = Machine::new(program)?;
    let mut chance = Chance::new(0x77a1_7e57);
    for number in 0..KILLS {
        let path = machine.at(&format!("signs/{number}")).display().to_string();
        machine.park(&format!("s{number}"), &["--path", &path])?;
    }
    machine.forget_clients();
    let mut killed = 0;
    for number in 0..KILLS {
        fs::write(machine.at(&format!("signs/{number}")), "")?;
        let pause = chance.below(60);
        thread::sleep(Duration::from_millis(pause));
        if let Some(pid) = machine.daemon()? {
            let ended = Command::new("kill").args(["-KILL", &pid.to_string()]).status()?;
            killed += usize::from(ended.success());
        }
        // Any command that shows a parked loop brings it back.
        ran(machine.command().arg("list"))?;
    }
    machine.until_called(KILLS);
    let word = gates.ask((killed < KILLS / 2).then(|| format!("only {killed} kills struck")));
    table.row(["killed with -9".into(), killed.to_string(), KILLS.to_string(), word]);
    told(&machine, "resumed under kills", KILLS, table, gates);
    Ok(())
}

/// Each session was called once: none was lost, none was called twice.
fn told(machine: &Machine, what: &str, wanted: usize, table: &mut Table, gates: &mut Gates) {
    let calls = machine.calls();
    let mut distinct = calls.clone();
    distinct.dedup();
    let twice = calls.len() - distinct.len();
    let lost = wanted - distinct.len().min(wanted);
    let complaint = (lost + twice > 0).then(|| format!("{what}: {lost} lost, {twice} twice"));
    let word = gates.ask(complaint);
    let figure = format!("{} ({lost} lost, {twice} twice)", distinct.len());
    table.row([what.into(), figure, wanted.to_string(), word]);
}

/// What a command printed, where it ended well.
fn ran(command: &mut Command) -> Result<String> {
    let ran = command.output()?;
    let said = String::from_utf8_lossy(&ran.stderr);
    ensure!(ran.status.success(), "run {command:?}: {said}");
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}
