//! Every test there is, on a machine that has only Rust.
//!
//! Says what it does, installs what is missing where it may, and stops at the
//! first step that fails.

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::tools::{self, Tool};
use crate::{
    Verdict, bench, dist, hardness, hostile, package, platforms, see, sim, truth, waiting,
};

/// A program that the tests call, the package that brings it, and what it is for.
const NEEDED: [(&str, &str, &str); 10] = [
    ("chromium", "chromium", "reports, as a browser shows them"),
    ("git", "git", "projects that agents work in"),
    ("python3", "python3", "a lease on a file, which makes a disk hang"),
    ("npm", "npm", "the real agent clients, from their packages"),
    ("pytest-3", "python3-pytest", "a suite of tests in Python, as a project has one"),
    ("setpriv", "util-linux", "hooks that run as an ordinary user"),
    ("strace", "strace", "system calls: counted, and killed at"),
    ("tmux", "tmux", "a terminal for the real client, with a person at the keys"),
    ("valgrind", "valgrind", "instructions, counted"),
    ("musl-gcc", "musl-tools", "the static program"),
];
/// Timings on a busy machine deserve another look before they count.
const LOOKS_MAX: usize = 3;

/// Runs every test; with `--quick` only what gives everyday feedback within minutes.
pub(crate) fn run(options: &[&str]) -> Result<Verdict> {
    let mut steps = Steps::default();
    match options {
        [] => all(&mut steps)?,
        ["--quick"] => quick(&mut steps)?,
        _ => bail!("understand {options:?}: test takes --quick"),
    }
    steps.print();
    println!("\nEvery test passed.");
    Ok(Verdict::Fine)
}

fn all(steps: &mut Steps) -> Result<()> {
    steps.run("tools", set_up)?;
    steps.run("program for the tests with the real clients", build)?;
    steps.run("real clients, each in its pinned version", clients)?;
    steps.run("tests of every crate, the real clients among them", tests)?;
    steps.run("contract of every journal engine", contract)?;
    steps.run("the program compiles for Windows", || compiled(platforms::windows()?))?;
    steps.run("released program", dist::run)?;
    steps.run("packages, each installed and used", || packed(package::run(&["--test"])?))?;
    steps.run("speed and counts of one stop", || again(|| bench::run(&["--quick"])))?;
    steps.run("proof on a large tree", || again(|| bench::run(&["--tree", "--quick"])))?;
    steps.run("does done mean done", || stories(truth::run(&["--quick"])?))?;
    steps.run("simulated histories", || once(sim::run(&[])?))?;
    steps.run("hostile trees", || once(hostile::run(&["--quick"])?))?;
    steps.run("reports in a browser", || once(see::run(&["--only", "report"])?))?;
    steps.run("loops that wait", || once(waiting::run(&["--quick"])?))?;
    steps.run("storms, kills, hangs and faults", || once(hardness::run(&[])?))?;
    steps.run("the same on every journal engine", || once(hardness::run(&["--engines"])?))
}

/// The rooms that change most, without a client, a server or a released program.
fn quick(steps: &mut Steps) -> Result<()> {
    steps.run("tests of the rooms", || {
        let rooms = [
            "core", "signals", "gates", "agents", "dialects", "store", "verify", "engine", "drive",
        ];
        let names: Vec<String> = rooms.iter().map(|room| format!("stopgate-{room}")).collect();
        let mut arguments = vec!["test", "--locked", "--quiet", "--lib"];
        for name in &names {
            arguments.extend(["--package", name.as_str()]);
        }
        cargo(&arguments)
    })?;
    steps.run("tests of the program", || {
        cargo(&["test", "--locked", "--quiet", "--package", "stopgate", "--test", "cli"])
    })
}

/// What was done, and how long it took.
#[derive(Default)]
struct Steps {
    done: Vec<(String, u64)>,
}

impl Steps {
    fn run(&mut self, name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
        println!("\n── {name} ──");
        let begun = Instant::now();
        work()?;
        let seconds = begun.elapsed().as_secs();
        println!("── {name}: fine, {seconds} s");
        self.done.push((name.into(), seconds));
        Ok(())
    }

    fn print(&self) {
        println!("\n| step | minutes |\n|---|---:|");
        let all = ("all".to_string(), self.done.iter().map(|(_, seconds)| seconds).sum());
        for (name, seconds) in self.done.iter().chain([&all]) {
            println!("| {name} | {}.{} |", seconds / 60, seconds % 60 / 6);
        }
    }
}

fn set_up() -> Result<()> {
    let missing: Vec<_> = NEEDED.iter().filter(|(name, ..)| !tools::has(name)).collect();
    if !missing.is_empty() {
        tools::refresh();
    }
    if !has_postgres() {
        println!("PostgreSQL is missing, installing postgresql: a server for the shared journal");
        tools::refresh();
        tools::get("pg_ctlcluster", "postgresql");
    }
    println!("PostgreSQL: the tests run servers of their own, and stop them");
    for (name, package, purpose) in NEEDED {
        if tools::has(name) {
            println!("{name} is here: {purpose}");
            continue;
        }
        println!("{name} is missing, installing {package}: {purpose}");
        if tools::get(name, package) == Tool::Missing {
            bail!("find {name}: install the package {package} and try again");
        }
    }
    Ok(())
}

/// Debian keeps the server's programs off the path.
fn has_postgres() -> bool {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let kept = versions.map(|version| version.path().join("bin/initdb")).any(|path| path.is_file());
    kept || tools::has("initdb")
}

fn build() -> Result<()> {
    cargo(&["build", "--release", "--locked", "--package", "stopgate"])
}

/// A step of its own, so that its minutes are seen.
fn clients() -> Result<()> {
    println!("the clients are installed below target/lab, once, two at a time");
    let test = ["--package", "stopgate-lab", "--test", "clients"];
    cargo(&[&["test", "--locked"], test.as_slice(), &["--", "--test-threads", "2"]].concat())
}

fn tests() -> Result<()> {
    // One run tells everything that fails, not only the first program with a failure.
    cargo(&["test", "--workspace", "--locked", "--no-fail-fast"])
}

/// Once more, for its table.
fn contract() -> Result<()> {
    let engines = ["--package", "stopgate-store", "--package", "stopgate-store-postgres"];
    let mut arguments = vec!["test", "--locked", "--quiet"];
    arguments.extend(engines);
    arguments.extend(["keeps_the_contract", "--", "--nocapture"]);
    cargo(&arguments)
}

fn cargo(arguments: &[&str]) -> Result<()> {
    tools::run(Command::new("cargo").current_dir(tools::root()?).args(arguments))
}

/// A violation counts at once: what is lost in one run of three is lost.
fn once(verdict: Verdict) -> Result<()> {
    match verdict {
        Verdict::Fine => Ok(()),
        Verdict::Broken => bail!("survive every blow"),
    }
}

fn compiled(verdict: Verdict) -> Result<()> {
    match verdict {
        Verdict::Fine => Ok(()),
        Verdict::Broken => bail!("compile for Windows"),
    }
}

/// A newcomer sees something at once, by every way of installing.
fn packed(verdict: Verdict) -> Result<()> {
    match verdict {
        Verdict::Fine => Ok(()),
        Verdict::Broken => bail!("show something soon after each way of installing"),
    }
}

/// No cheat may pass, not even once.
fn stories(verdict: Verdict) -> Result<()> {
    match verdict {
        Verdict::Fine => Ok(()),
        Verdict::Broken => bail!("end every story as it must"),
    }
}

/// Looks again where a gate of speed is broken: noise goes away, a count stays.
fn again(chore: impl Fn() -> Result<Verdict>) -> Result<()> {
    for look in 1..=LOOKS_MAX {
        match chore()? {
            Verdict::Fine => return Ok(()),
            Verdict::Broken => println!("a gate is broken (look {look} of {LOOKS_MAX})"),
        }
    }
    bail!("keep every gate")
}
