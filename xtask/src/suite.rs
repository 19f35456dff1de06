//! Every test there is, on a machine that has only Rust.
//!
//! Says what it does, and installs what is missing where it may. A step that fails does not keep
//! later ones from telling what they find, unless they need what it makes.

use std::process::Command;
use std::time::Instant;

use anyhow::{Error, Result, bail};

use crate::tools::{self, Tool};
use crate::{Verdict, chore, dist, platforms, sim};

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
pub(crate) fn run(plan: fn(&mut Steps) -> Result<()>) -> Result<Verdict> {
    let mut steps = Steps::default();
    plan(&mut steps)?;
    steps.end()?;
    println!("\nEvery test passed.");
    Ok(Verdict::Fine)
}

/// Every test there is.
pub(crate) fn all(steps: &mut Steps) -> Result<()> {
    steps.need("tools", set_up)?;
    steps.need("program for the tests with the real clients, and the simulator", build)?;
    steps.need("real clients, each in its pinned version", clients)?;
    steps.run("tests of every crate, the real clients among them", tests);
    steps.run("contract of every journal engine", contract);
    steps.run("the program compiles for Windows", || {
        fine(platforms::windows()?, "compile for Windows")
    });
    steps.need("released program", dist::run)?;
    // A newcomer sees something at once, by every way of installing.
    steps.run("packages, each installed and used", || {
        fine(chore(&["package", "--test"])?, "show something soon after each way of installing")
    });
    steps.run("speed and counts of one stop", || again(|| chore(&["bench", "--quick"])));
    steps.run("proof on a large tree", || again(|| chore(&["bench", "--tree", "--quick"])));
    // No cheat may pass, not even once.
    steps.run("does done mean done", || {
        fine(chore(&["truth", "--quick"])?, "end every story as it must")
    });
    // A violation counts at once: what is lost in one run of three is lost.
    let survived = |verdict| fine(verdict, "survive every blow");
    steps.run("simulated histories", || survived(sim::run_built()?));
    steps.run("hostile trees", || survived(chore(&["hostile", "--quick"])?));
    steps.run("reports in a browser", || survived(chore(&["see", "--only", "report"])?));
    steps.run("loops that wait", || survived(chore(&["waiting", "--quick"])?));
    steps.run("storms, kills, hangs and faults", || survived(chore(&["hardness"])?));
    steps.run("the same on every journal engine", || survived(chore(&["hardness", "--engines"])?));
    Ok(())
}

/// The rooms that change most, without a client, a server or a released program.
pub(crate) fn quick(steps: &mut Steps) -> Result<()> {
    steps.need("tools", || {
        get_tools(&["git", "python3", "pytest-3"])?;
        // One test reads the manifest of everything that the workspace uses.
        cargo(&["fetch", "--locked"])
    })?;
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
    });
    steps.need("tests of the program", || {
        cargo(&["test", "--locked", "--quiet", "--package", "stopgate", "--test", "cli"])
    })
}

/// What was done, how it ended, and how long it took.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<Step>,
}

struct Step {
    name: String,
    seconds: u64,
    failure: Option<Error>,
}

impl Steps {
    /// A step; one that fails is told at the end.
    fn run(&mut self, name: &str, work: impl FnOnce() -> Result<()>) {
        println!("\n── {name} ──");
        let begun = Instant::now();
        let failure = work().err();
        let seconds = begun.elapsed().as_secs();
        match &failure {
            None => println!("── {name}: fine, {seconds} s"),
            Some(error) => println!("── {name}: FAILED, {seconds} s: could not {error:#}"),
        }
        self.done.push(Step { name: name.into(), seconds, failure });
    }

    /// A step that later ones need.
    fn need(&mut self, name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
        self.run(name, work);
        if self.done.last().is_some_and(|step| step.failure.is_some()) {
            self.end()
        } else {
            Ok(())
        }
    }

    /// Prints what was done; fails where a step did.
    fn end(&self) -> Result<()> {
        println!("\n| step | minutes | |\n|---|---:|---|");
        for Step { name, seconds, failure } in &self.done {
            let word = if failure.is_some() { "FAILED" } else { "" };
            println!("| {name} | {} | {word} |", minutes(*seconds));
        }
        println!("| all | {} | |", minutes(self.done.iter().map(|step| step.seconds).sum()));
        let failed: Vec<&str> = self
            .done
            .iter()
            .filter(|step| step.failure.is_some())
            .map(|step| step.name.as_str())
            .collect();
        if failed.is_empty() { Ok(()) } else { bail!("pass: {}", failed.join("; ")) }
    }
}

fn minutes(seconds: u64) -> String {
    format!("{}.{}", seconds / 60, seconds % 60 / 6)
}

fn set_up() -> Result<()> {
    if !has_postgres() {
        println!("PostgreSQL is missing, installing postgresql: a server for the shared journal");
        tools::refresh();
        tools::get("pg_ctlcluster", "postgresql");
    }
    println!("PostgreSQL: the tests run servers of their own, and stop them");
    get_tools(&NEEDED.map(|(name, ..)| name))
}

/// Installs those of the needed tools that are missing.
fn get_tools(wanted: &[&str]) -> Result<()> {
    let wanted: Vec<_> = NEEDED.into_iter().filter(|(name, ..)| wanted.contains(name)).collect();
    if wanted.iter().any(|(name, ..)| !tools::has(name)) {
        tools::refresh();
    }
    for (name, package, purpose) in wanted {
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
    let packages = ["--package", "stopgate", "--package", "stopgate-sim"];
    cargo(&[&["build", "--release", "--locked"], packages.as_slice()].concat())
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

fn fine(verdict: Verdict, goal: &'static str) -> Result<()> {
    match verdict {
        Verdict::Fine => Ok(()),
        Verdict::Broken => bail!(goal),
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
