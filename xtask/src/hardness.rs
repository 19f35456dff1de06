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

use anyhow::Result;
use clap::{Args, value_parser};

use crate::Verdict;
use crate::table::{Gates, Table};
use crate::tools::{self, Tool};

/// What is struck, and how long.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct HardnessOptions {
    /// Every journal engine, and what becomes of a stop when its server dies, changes or can't be used
    #[arg(long)]
    engines: bool,
    /// Every path, every point
    #[arg(long)]
    long: bool,
    #[arg(long, value_name = "N", default_value_t = 20_260_101)]
    seed: u64,
    /// restart, promote, copy and errors are of --engines; fuzz runs by its name, or with --long
    #[arg(long, value_name = "PART", value_parser = PARTS)]
    only: Option<String>,
    /// How long each fuzz target runs; the fuzzer takes 0 for no end at all
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = value_parser!(u64).range(1..))]
    seconds: u64,
    /// Only this fuzz target; repeat it for several
    #[arg(long = "target", value_name = "NAME")]
    targets: Vec<String>,
}

impl HardnessOptions {
    fn wants(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == part)
    }

    /// Fuzzing takes more than an hour: it is asked for by its name, or with all that is long.
    fn wants_fuzz(&self) -> bool {
        self.wants("fuzz") && (self.long || self.only.is_some())
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
pub(crate) fn run(plan: &HardnessOptions) -> Result<Verdict> {
    let columns = ["what", "blows", "violations", "figures", ""];
    let table = Table::new("Hardness", &columns);
    let mut findings = Findings { table, gates: Gates::default() };
    findings.table.note(format!("Seed {}.", plan.seed));
    let measure = if plan.engines { engines::measure } else { program };
    measure(plan, &mut findings)?;
    findings.table.print();
    Ok(findings.gates.verdict())
}

fn program(plan: &HardnessOptions, findings: &mut Findings) -> Result<()> {
    if plan.wants("storm") {
        storm::measure(findings)?;
    }
    let untraced: [(&str, Measure); 3] =
        [("kills", kills::measure), ("remains", remains::measure), ("cancel", cancel::measure)];
    for (_, measure) in untraced.into_iter().filter(|(part, _)| plan.wants(part)) {
        measure(plan, findings)?;
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

type Measure = fn(&HardnessOptions, &mut Findings) -> Result<()>;
