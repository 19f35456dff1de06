//! `cargo test` and `cargo nextest`.

use std::collections::BTreeMap;

use super::{Report, count};

/// The results of Rust's own harness, those of all programs added up.
pub(super) fn test(lines: &[&str]) -> Option<Report> {
    let mut reading = Reading::default();
    for line in lines {
        reading.take(line);
    }
    reading.close();
    reading.is_recognised.then_some(reading.report)
}

/// What was read so far.
#[derive(Default)]
struct Reading {
    report: Report,
    is_recognised: bool,
    /// What is being run: `tests/it.rs`.
    label: Option<String>,
    /// How many tests are under way.
    running: Option<u32>,
    /// Failing tests of the program that is under way, or has just ended.
    names: Vec<String>,
    /// How many failed in the program that has just ended.
    failed: u32,
    within: Within,
}

/// What the lines are about.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Within {
    #[default]
    Tests,
    /// Names of those that failed.
    List,
}

impl Reading {
    fn take(&mut self, line: &str) {
        if let Some(label) = label(line) {
            self.close();
            self.label = Some(label);
        } else if let Some(number) = line.strip_prefix("running ").and_then(running) {
            self.close();
            self.running = Some(number);
        } else if let Some(result) = result(line) {
            self.is_recognised = true;
            self.running = None;
            self.within = Within::Tests;
            self.failed = result.tests.failed;
            self.report.add(result);
        } else if let Some(target) = rerun(line) {
            self.end_with(target);
        } else {
            self.take_name(line);
        }
    }

    fn take_name(&mut self, line: &str) {
        if line == "failures:" {
            self.within = Within::List;
        } else if let Some(name) = line.strip_prefix("    ").filter(|_| self.within == Within::List)
        {
            self.names.push(stable(name));
        } else if let Some(name) = failed(line) {
            self.names.push(stable(name));
        } else if !line.is_empty() {
            self.within = Within::Tests;
        }
    }

    /// Cargo says how to run a program again that failed.
    fn end_with(&mut self, target: &str) {
        self.is_recognised = true;
        self.label = Some(target.into());
        if self.failed == 0 {
            // It gave no result: it died, which no test's name tells.
            self.report.add_failed(self.running.take().unwrap_or(1).max(1));
            self.names.push("ended before its result".into());
        }
        self.close();
    }

    /// Files the names of a program under what it is called.
    fn close(&mut self) {
        let label = self.label.take();
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        // Each stands twice, where it failed and in the list: the fuller half counts.
        let half = usize::try_from(self.failed).unwrap_or(usize::MAX);
        let names = std::mem::take(&mut self.names);
        let from = if names.len() > half && half > 0 { names.len() - half } else { 0 };
        for name in &names[from..] {
            let number = numbers.entry(name.clone()).or_default();
            *number += 1;
            let name = if *number > 1 { format!("{name} #{number}") } else { name.clone() };
            self.report.failures.push(match &label {
                Some(label) => format!("{label}: {name}"),
                None => name,
            });
        }
        self.failed = 0;
        self.running = None;
        self.within = Within::Tests;
    }
}

/// `     Running unittests src/lib.rs (target/debug/deps/demo-834…)`, `   Doc-tests demo`.
fn label(line: &str) -> Option<String> {
    let text = line.strip_prefix("  ")?.trim_start();
    if let Some(name) = text.strip_prefix("Doc-tests ") {
        return Some(format!("doc {name}"));
    }
    let (what, program) = text.strip_prefix("Running ")?.rsplit_once(" (")?;
    program.ends_with(')').then(|| what.into())
}

/// `4 tests`, `1 test`.
fn running(text: &str) -> Option<u32> {
    let number = text.strip_suffix(" tests").or_else(|| text.strip_suffix(" test"))?;
    number.parse().ok()
}

/// `test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; …`
fn result(line: &str) -> Option<Report> {
    let text = line.strip_prefix("test result: ")?;
    let (_, counts) = text.split_once(". ")?;
    let measured = count(counts, "measured").unwrap_or(0);
    let passed = count(counts, "passed")?.saturating_add(measured);
    Some(Report::counted(passed, count(counts, "failed")?, count(counts, "ignored")?))
}

/// ``error: test failed, to rerun pass `--lib` ``
fn rerun(line: &str) -> Option<&str> {
    let text = line.strip_prefix("error: ")?;
    let text = text.strip_prefix("test failed").or_else(|| text.strip_prefix("doctest failed"))?;
    let target = text.strip_prefix(", to rerun pass ")?.trim_matches(['`', '\'']);
    (!target.is_empty()).then_some(target)
}

/// `test a::b ... FAILED`, or `a::b --- FAILED` where it is quiet.
fn failed(line: &str) -> Option<&str> {
    if let Some(name) = line.strip_prefix("test ") {
        return name.strip_suffix(" ... FAILED").map(str::trim);
    }
    line.strip_suffix(" --- FAILED").map(str::trim)
}

/// A name without the line that a documentation test stands in.
fn stable(name: &str) -> String {
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    match name.split_once(" (line ") {
        Some((before, after)) => {
            let rest = after.split_once(')').map_or("", |(_, rest)| rest);
            format!("{before}{rest}")
        }
        None => name.into(),
    }
}

/// The summary of nextest, and the list below it.
pub(super) fn nextest(lines: &[&str]) -> Option<Report> {
    let mut found: Option<Report> = None;
    for line in lines {
        if let Some(summary) = nextest_summary(line) {
            found.get_or_insert_with(Report::default).add(summary);
        } else if let Some(report) = &mut found {
            report.failures.extend(nextest_failure(line));
        }
    }
    found
}

/// `     Summary [   0.182s] 5/9 tests run: 3 passed (1 slow), 2 failed, 1 skipped`
fn nextest_summary(line: &str) -> Option<Report> {
    let text = line.trim_start().strip_prefix("Summary [")?;
    let (_, text) = text.split_once(']')?;
    let (run, counts) = text.split_once(" tests run:").or_else(|| text.split_once(" test run:"))?;
    let run: u32 = run.rsplit('/').next()?.trim().parse().ok()?;
    let counts = without_parentheses(counts);
    let of = |word| count(&counts, word).unwrap_or(0);
    let failed = of("failed").saturating_add(of("timed out")).saturating_add(of("exec failed"));
    let skipped = of("skipped");
    let mut report = Report::counted(run, 0, skipped);
    report.tests.failed = failed;
    Some(report)
}

/// `        FAIL [   0.084s] (2/5) demo tests::fails`
fn nextest_failure(line: &str) -> Option<String> {
    let (status, rest) = line.trim_start().split_once('[')?;
    let (_, rest) = rest.split_once(']')?;
    let mut words = status.split_whitespace().peekable();
    if words.next_if_eq(&"TRY").is_some() {
        words.next();
    }
    let first = words.next()?;
    let bad = ["FAIL", "TIMEOUT", "TMT", "ABORT", "EXEC", "XFAIL", "LEAK-FAIL", "FLKY-FL"];
    if !first.starts_with("SIG") && !bad.contains(&first) {
        return None;
    }
    let name = rest.trim_start();
    let name = match name.strip_prefix('(').and_then(|numbered| numbered.split_once(") ")) {
        Some((_, name)) => name.trim_start(),
        None => name,
    };
    (!name.is_empty()).then(|| name.into())
}

fn without_parentheses(text: &str) -> String {
    let mut depth = 0_u32;
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(character),
            _ => {}
        }
    }
    plain
}
