//! How many planted faults the tests notice: cargo-mutants on what decides.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::Verdict;
use crate::table::{Gates, Table};
use crate::tools;

/// A part of the program, its files and the least share of faults that must be noticed.
struct Part {
    name: &'static str,
    package: &'static str,
    files: &'static str,
    /// In per cent.
    floor: usize,
}

const PARTS: [Part; 2] = [
    Part {
        name: "core",
        package: "stopgate-core",
        files: "decide decide/gates fold brakes budget criterion criterion/judge gate ground idle \
                judges ledger marker order outcome parking policy receipt seen soundness spend \
                state tally word written",
        floor: 95,
    },
    Part {
        name: "verify",
        package: "stopgate-verify",
        files: "check prove prove/round prove/original prove/reading prove/standing baseline \
                baseline/stable judges judges/by_path judges/names judges/role judges/rules \
                judges/test_content judges/test_data",
        floor: 85,
    },
];

/// What became of the faults of one part.
#[derive(Debug, Default, PartialEq, Eq)]
struct Score {
    caught: usize,
    timeout: usize,
    missed: Vec<String>,
    unviable: usize,
}

impl Score {
    /// In per cent, of those that could be built.
    fn share(&self) -> usize {
        let noticed = self.caught + self.timeout;
        (100 * noticed).checked_div(noticed + self.missed.len()).unwrap_or(0)
    }
}

/// Plants faults and counts; `--only core` or `--only verify`, `--file FILE` for one file.
pub(crate) fn run(only: Option<&str>, file: Option<&str>) -> Result<Verdict> {
    tools::cargo_tool("cargo-mutants")?;
    let mut table =
        Table::new("Mutants", &["part", "caught", "timeout", "missed", "unviable", "%"]);
    let mut gates = Gates::default();
    for part in PARTS.iter().filter(|part| only.is_none_or(|only| only == part.name)) {
        let score = score(part, file)?;
        let figures = [score.caught, score.timeout, score.missed.len(), score.unviable];
        let [caught, timeout, missed, unviable] = figures.map(|figure| figure.to_string());
        let share = score.share();
        table.row([part.name.into(), caught, timeout, missed, unviable, share.to_string()]);
        score.missed.iter().for_each(|missed| table.note(format!("- missed: {missed}")));
        let short = share < part.floor;
        gates.ask(short.then(|| format!("{}: {share} %, at least {} %", part.name, part.floor)));
    }
    table.print();
    Ok(gates.verdict())
}

fn score(part: &Part, file: Option<&str>) -> Result<Score> {
    let root = tools::root()?;
    let out = root.join("target/mutants").join(part.name);
    fs::create_dir_all(&out)?;
    let mut cargo = Command::new("cargo");
    cargo.current_dir(&root).args(["mutants", "--package", part.package, "--no-shuffle"]);
    cargo.args(["--colors", "never", "--output"]).arg(&out);
    // The tests count through many states: built to be fast, a fault costs seconds.
    cargo.env("CARGO_PROFILE_DEV_OPT_LEVEL", "2").env("CARGO_PROFILE_DEV_DEBUG", "0");
    // A fault that only chance finds is not noticed.
    cargo.env("PROPTEST_CASES", "32");
    let source = |name| format!("crates/{}/src/{name}.rs", part.package);
    let files = part.files.split_whitespace().map(source);
    for file in files.filter(|known| file.is_none_or(|file| known.ends_with(file))) {
        // A file that moved would be left out without a word.
        if !root.join(&file).is_file() {
            bail!("find {file}: name its new place in the list of this chore");
        }
        cargo.args(["--file", &file]);
    }
    // It ends with 2 where something was missed, and with 3 where a test took too long.
    let status = cargo.status().context("start cargo-mutants")?;
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        bail!("run cargo-mutants: {status}");
    }
    read(&out.join("mutants.out/outcomes.json"))
}

fn read(file: &Path) -> Result<Score> {
    let text = fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
    let told: Value = serde_json::from_str(&text)?;
    let mut score = Score::default();
    for outcome in told["outcomes"].as_array().into_iter().flatten() {
        let Some(name) = outcome["scenario"]["Mutant"]["name"].as_str() else { continue };
        match outcome["summary"].as_str() {
            Some("CaughtMutant") => score.caught += 1,
            Some("Timeout") => score.timeout += 1,
            Some("MissedMutant") => score.missed.push(name.into()),
            Some("Unviable") => score.unviable += 1,
            _other => {}
        }
    }
    Ok(score)
}
