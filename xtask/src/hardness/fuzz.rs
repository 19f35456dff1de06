//! What the readers of other people's files survive: a fuzzer's inputs, minutes for each target.
//!
//! The targets are those of `fuzz/`, built by the stable toolchain. What the fuzzer learns stays
//! below `target/fuzz`: the repository's corpus is read, never written.

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result, bail};

use super::{Findings, HardnessOptions};
use crate::table::Table;
use crate::tools::{self, Tool};

/// What cargo-fuzz asks a nightly compiler for: which edges ran, and what was compared.
const FLAGS: [&str; 8] = [
    "--cfg",
    "fuzzing",
    "-Ccodegen-units=1",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];
/// An input may use this much memory, this many seconds, and be this long.
const LIMITS: [&str; 3] = ["-rss_limit_mb=1024", "-timeout=10", "-max_len=16384"];
/// The fuzzer reads its seed as a signed number, and takes 0 for none.
const SEED_MAX: u64 = i32::MAX as u64;

/// The directories of one run.
struct Place {
    root: PathBuf,
    programs: PathBuf,
}

/// How one target came out.
struct Ran {
    said: Said,
    violations: Vec<String>,
}

/// What the fuzzer says of its run.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said {
    executions: usize,
    per_second: usize,
    /// Edges that the corpus reaches, and that were reached in the end.
    edges: (usize, usize),
    peak_mib: usize,
    /// Inputs that it wrote because they broke something.
    broke: Vec<String>,
}

/// Builds every target and lets each run as long as is asked for.
pub(super) fn measure(plan: &HardnessOptions, findings: &mut Findings) -> Result<()> {
    if tools::get("c++", "g++") == Tool::Missing {
        findings.skip("fuzz", "not measured: no C++ compiler");
        return Ok(());
    }
    let root = tools::root()?;
    let names = wanted(targets(&root)?, &plan.targets)?;
    let place = build(root)?;
    let columns = ["target", "executions", "per s", "edges", "new edges", "peak MiB", "crashes"];
    let mut table = Table::new("Fuzzing", &columns);
    let (mut executions, mut violations) = (0, Vec::new());
    for name in &names {
        eprintln!("fuzz {name}: {} s, log target/fuzz/log/{name}", plan.seconds);
        let Ran { said, violations: found } = place.run(name, plan)?;
        for violation in &found {
            eprintln!("fuzz {violation}");
        }
        executions += said.executions;
        table.row(row(name, &said, found.len()));
        violations.extend(found);
    }
    table.print();
    let what = format!("fuzz: {} targets, {} s each", names.len(), plan.seconds);
    findings.add(&what, executions, &violations, "blows are executions");
    Ok(())
}

fn row(name: &str, said: &Said, crashes: usize) -> [String; 7] {
    let (before, after) = said.edges;
    let new = after.saturating_sub(before);
    let counts = [said.executions, said.per_second, after, new, said.peak_mib, crashes];
    let [executions, per_second, edges, new, peak, crashes] = counts.map(|n| n.to_string());
    [name.into(), executions, per_second, edges, new, peak, crashes]
}

/// Every target has a file.
fn targets(root: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root.join("fuzz/fuzz_targets")).context("list the fuzz targets")? {
        let path = entry?.path();
        names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

/// Those that were asked for; all of them where none was.
fn wanted(all: Vec<String>, asked: &[String]) -> Result<Vec<String>> {
    if let Some(unknown) = asked.iter().find(|name| !all.contains(name)) {
        bail!("{unknown} is not a fuzz target; there are {}", all.join(", "));
    }
    Ok(if asked.is_empty() { all } else { asked.to_vec() })
}

/// Builds all targets; a machine that is named spares build scripts and macros the flags.
fn build(root: PathBuf) -> Result<Place> {
    let mut rustc = Command::new("rustc");
    let said = rustc.current_dir(&root).args(["--print", "host-tuple"]).output()?;
    let host = String::from_utf8(said.stdout)?.trim().to_string();
    if host.is_empty() {
        bail!("learn from rustc which machine this is");
    }
    let directory = root.join("target/fuzz");
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root.join("fuzz")).args(["build", "--release", "--locked", "--bins"]);
    cargo.args(["--target", &host]).arg("--target-dir").arg(&directory);
    cargo.env_remove("RUSTFLAGS").env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"));
    tools::run(&mut cargo).context("build the fuzz targets")?;
    Ok(Place { programs: directory.join(host).join("release"), root })
}

impl Place {
    fn run(&self, name: &str, plan: &HardnessOptions) -> Result<Ran> {
        let directory = |kind: &str| self.root.join("target/fuzz").join(kind);
        let (new, crashes, log) =
            (directory("new").join(name), directory("crashes"), directory("log"));
        // An earlier run's inputs would hide what this one finds anew.
        if new.exists() {
            fs::remove_dir_all(&new)?;
        }
        for needed in [&new, &crashes, &log] {
            fs::create_dir_all(needed).with_context(|| format!("make {}", needed.display()))?;
        }
        let log = log.join(name);
        let written = fs::File::create(&log).with_context(|| format!("write {}", log.display()))?;
        let mut fuzzer = Command::new(self.programs.join(name));
        fuzzer.args(LIMITS).arg("-print_final_stats=1");
        fuzzer.arg(format!("-max_total_time={}", plan.seconds));
        fuzzer.arg(format!("-seed={}", (plan.seed % SEED_MAX).max(1)));
        fuzzer.arg(format!("-artifact_prefix={}/{name}-", crashes.display()));
        // New inputs go into the first directory; the others are only read.
        fuzzer.arg(&new).arg(self.root.join("fuzz/corpus").join(name));
        fuzzer.stdout(written.try_clone()?).stderr(written);
        let status = fuzzer.status().with_context(|| format!("start the fuzz target {name}"))?;
        let said = read(&String::from_utf8_lossy(&fs::read(&log)?));
        let violations = violations(name, status, &said, &log);
        Ok(Ran { said, violations })
    }
}

/// Each input that broke something; a fuzzer that broke down itself, or did nothing, counts too.
fn violations(name: &str, status: ExitStatus, said: &Said, log: &Path) -> Vec<String> {
    let named = said.broke.iter().map(|input| format!("{name}: {input}"));
    let mut violations: Vec<String> = named.collect();
    if violations.is_empty() && !status.success() {
        violations.push(format!("{name}: {status}, see {}", log.display()));
    }
    if violations.is_empty() && said.edges.0 == 0 {
        violations.push(format!("{name}: no edge was seen, see {}", log.display()));
    }
    violations
}

/// Reads the fuzzer's log: its progress, its last figures, and what it kept as evidence.
fn read(log: &str) -> Said {
    let mut said = Said::default();
    for line in log.lines() {
        if let Some((_, edges)) = line.split_once(" cov: ") {
            let edges = number(edges);
            said.edges.1 = said.edges.1.max(edges);
            if line.contains("INITED") {
                said.edges.0 = edges;
            }
        }
        if let Some((_, input)) = line.split_once("Test unit written to ") {
            said.broke.push(input.trim().into());
        }
        if let Some(figure) = line.strip_prefix("stat::") {
            said.note(figure);
        }
    }
    said
}

impl Said {
    fn note(&mut self, figure: &str) {
        let Some((name, value)) = figure.split_once(':') else { return };
        let place = match name {
            "number_of_executed_units" => &mut self.executions,
            "average_exec_per_sec" => &mut self.per_second,
            "peak_rss_mb" => &mut self.peak_mib,
            _ => return,
        };
        *place = number(value);
    }
}

/// The number that a text begins with.
fn number(text: &str) -> usize {
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0)
}
