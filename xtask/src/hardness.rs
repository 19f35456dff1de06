//! What a stop survives: crowds, kills at every point, cancels, and a failing disk.
//!
//! After each blow the journal must be sound (see [`crate::journal::inspect`]) and
//! nothing that was answered may be lost.

mod cancel;
mod disk;
mod engines;
mod faults;
mod fuzz;
mod hangs;
mod kills;
mod points;
mod power;
mod remains;
mod scratch_left;
pub(crate) mod storm;

use anyhow::{Context, Result, bail};

use crate::Verdict;
use crate::table::{Gates, Table};
use crate::tools::{self, Tool};

/// How much is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// What a push can wait for.
    Bounded,
    /// Every path, every point, by hand.
    Long,
}

/// What the command line asks for.
#[derive(Debug)]
struct Plan {
    reach: Reach,
    seed: u64,
    only: Option<String>,
    scope: Scope,
    /// How long each fuzz target runs.
    fuzz_seconds: u64,
}

/// What is struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// The program with its own file.
    Program,
    /// Every engine, and the servers below them.
    Engines,
}

impl Plan {
    fn wants(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == part)
    }

    /// Fuzzing takes more than an hour: it is asked for by its name, or with all that is long.
    fn wants_fuzz(&self) -> bool {
        match self.reach {
            Reach::Bounded => self.only.as_deref() == Some("fuzz"),
            Reach::Long => self.wants("fuzz"),
        }
    }
}

/// What was found, blow by blow.
#[derive(Debug)]
struct Findings {
    table: Table,
    gates: Gates,
}

impl Findings {
    /// Adds a row; every violation breaks a gate.
    fn add(&mut self, what: &str, blows: usize, violations: &[String], figures: &str) {
        let complaint = match (blows, violations) {
            (0, _) => Some(format!("{what}: nothing was tried")),
            (_, []) => None,
            (_, some) => {
                let shown = some.iter().take(5).cloned().collect::<Vec<_>>().join("; ");
                Some(format!("{what}: {} violations: {shown}", some.len()))
            }
        };
        let word = self.gates.ask(complaint);
        let counted = violations.len().to_string();
        self.table.row([what.into(), blows.to_string(), counted, figures.into(), word]);
    }

    /// Says that a part could not be run.
    fn skip(&mut self, what: &str, why: &str) {
        let word = self.gates.unmeasured(why);
        self.table.row([what.into(), "0".into(), "-".into(), String::new(), word]);
    }
}

/// Runs everything that was asked for and prints it.
pub(crate) fn run(options: &[&str]) -> Result<Verdict> {
    let plan = plan(options)?;
    let columns = ["what", "blows", "violations", "figures", ""];
    let table = Table::new("Hardness", &columns);
    let mut findings = Findings { table, gates: Gates::default() };
    findings.table.note(format!("Seed {}.", plan.seed));
    match plan.scope {
        Scope::Program => program(&plan, &mut findings)?,
        Scope::Engines => engines::measure(&plan, &mut findings)?,
    }
    findings.table.print();
    Ok(findings.gates.verdict())
}

fn program(plan: &Plan, findings: &mut Findings) -> Result<()> {
    if plan.wants("storm") {
        storm::measure(findings)?;
    }
    if plan.wants("kills") {
        kills::measure(plan, findings)?;
    }
    if plan.wants("remains") {
        remains::measure(plan, findings)?;
    }
    if plan.wants("cancel") {
        cancel::measure(plan, findings)?;
    }
    let strace = tools::get("strace", "strace");
    let traced: [(&str, Measure); 5] = [
        ("remains", scratch_left::measure),
        ("points", points::measure),
        ("faults", faults::measure),
        ("hangs", hangs::measure),
        ("power", power::measure),
    ];
    for (part, measure) in traced {
        match (plan.wants(part), strace) {
            (false, _) => {}
            (true, Tool::Here) => measure(plan, findings)?,
            (true, Tool::Missing) => findings.skip(part, "not measured: no strace"),
        }
    }
    if plan.wants_fuzz() {
        fuzz::measure(plan, findings)?;
    }
    Ok(())
}

const PARTS: [&str; 13] = [
    "storm", "kills", "remains", "cancel", "points", "faults", "hangs", "power", "fuzz", "restart",
    "promote", "copy", "errors",
];
const FUZZ_SECONDS: u64 = 600;

type Measure = fn(&Plan, &mut Findings) -> Result<()>;

fn plan(options: &[&str]) -> Result<Plan> {
    let mut plan = Plan {
        reach: Reach::Bounded,
        seed: 20_260_101,
        only: None,
        scope: Scope::Program,
        fuzz_seconds: FUZZ_SECONDS,
    };
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match *option {
            "--engines" => plan.scope = Scope::Engines,
            "--long" => plan.reach = Reach::Long,
            "--seed" => {
                let seed = options.next().and_then(|seed| seed.parse().ok());
                plan.seed = seed.context("understand --seed: give a number")?;
            }
            "--seconds" => {
                let seconds = options.next().and_then(|text| text.parse().ok());
                // The fuzzer takes 0 for no end at all.
                let seconds = seconds.filter(|seconds| *seconds > 0);
                plan.fuzz_seconds =
                    seconds.context("understand --seconds: give a number above 0")?;
            }
            "--only" => {
                let part = options.next().filter(|part| PARTS.contains(part));
                let part = part.with_context(|| format!("understand --only: one of {PARTS:?}"))?;
                plan.only = Some((*part).to_string());
            }
            other => bail!("understand {other}: see cargo xtask --help"),
        }
    }
    Ok(plan)
}
