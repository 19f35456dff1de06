//! `cargo test`: a block for each program, from `running 4 tests` to its result.
//!
//! All programs of one invocation count together: one that failed in the middle makes the
//! invocation a failure, also where `--no-fail-fast` lets the ones after it pass. A program with a
//! `main` of its own (`harness = false`) is one test, whether it passes or dies.

use std::collections::BTreeMap;

use super::session::{RunnerEnd, RunnerSession};
use super::{Report, count};

const RUNNER: &str = "cargo test";
const DIED: &str = "ended before its result";
/// How the label of the examples in documentation begins.
const DOC: &str = "doc ";
/// How that of the tests beside the code begins: those that say nothing did not run.
const UNIT: &str = "unittests ";

/// The sessions of Rust's own harness, one an invocation of cargo.
pub(super) fn read(lines: &[&str]) -> Vec<RunnerSession> {
    let mut reading = Reading { lines, ..Reading::default() };
    for (at, line) in lines.iter().enumerate() {
        reading.take(at, line);
    }
    reading.finish()
}

/// What was read so far.
#[derive(Default)]
struct Reading<'a> {
    lines: &'a [&'a str],
    /// What is about to run: `tests/it.rs`.
    label: Option<String>,
    /// The line that says so, as long as the program said nothing that a harness says.
    silent: Option<usize>,
    /// Programs that began and have no result yet; those after the first are printed by a test.
    open: Vec<Program>,
    /// The last program that ended, until cargo has said what it is called.
    ended: Option<Program>,
    invocation: Option<RunnerSession>,
    sessions: Vec<RunnerSession>,
    /// Results without a beginning.
    bare: Vec<(usize, Report)>,
    is_framed: bool,
    cargo: Cargo,
}

/// What cargo itself is doing.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Cargo {
    #[default]
    Runs,
    /// It said that a program failed, and may have ended with it.
    MayHaveEnded,
}

/// One run of a test program.
#[derive(Default)]
struct Program {
    first: usize,
    last: usize,
    announced: u32,
    label: Option<String>,
    names: Vec<String>,
    skipped: Vec<String>,
    in_list: bool,
    result: Option<Report>,
    /// A result that does not fit what was announced.
    spare: Option<Report>,
}

impl Reading<'_> {
    fn take(&mut self, at: usize, line: &str) {
        if let Some(label) = label(line) {
            if self.open.is_empty() {
                self.file_silent();
                self.file_program();
                let has_harness = [DOC, UNIT].iter().any(|own| label.starts_with(own));
                self.silent = Some(at).filter(|_| !has_harness);
            }
            self.label = Some(label);
        } else if let Some(announced) = line.strip_prefix("running ").and_then(running) {
            self.begin(at, announced);
        } else if let Some(result) = result(line) {
            self.silent = None;
            self.end(at, result);
        } else if let Some(target) = rerun(line) {
            self.name_program(at, target);
        } else if self.open.is_empty() && is_finished(line) {
            self.file_silent();
            self.file_invocation();
        } else if let [program] = self.open.as_mut_slice() {
            program.take_name(line);
        }
    }

    /// A program that cargo ran, without a harness: it passed, or cargo would have said so.
    fn file_silent(&mut self) {
        let Some(at) = self.silent.take() else { return };
        self.file_program();
        let label = self.label.take();
        let result = Some(Report::counted(1, 0, 0));
        self.ended = Some(Program { first: at, last: at, label, result, ..Program::default() });
        self.file_program();
    }

    fn begin(&mut self, at: usize, announced: u32) {
        self.silent = None;
        if self.open.is_empty() {
            self.file_program();
            self.take_bare();
            self.file_program();
            // A quiet cargo does not say that it began; where it goes on, it counts targets.
            let goes_on = || self.lines[at..].iter().any(|line| is_target_count(line));
            if self.cargo == Cargo::MayHaveEnded && self.label.is_none() && !goes_on() {
                self.file_invocation();
            }
            self.cargo = Cargo::Runs;
            self.is_framed = true;
        }
        let label = self.label.take();
        self.open.push(Program { first: at, last: at, announced, label, ..Program::default() });
    }

    /// A result without a beginning is of a program whose first lines are gone.
    fn take_bare(&mut self) {
        if self.is_framed {
            return;
        }
        let Some((at, report)) = self.bare.pop() else { return };
        let names = self.lines[..at].iter().filter_map(|line| listed(line)).collect();
        self.bare.clear();
        let label = self.label.clone();
        self.ended =
            Some(Program { last: at, names, label, result: Some(report), ..Program::default() });
    }

    fn end(&mut self, at: usize, result: Report) {
        let fits = |program: &Program| program.announced == result.tests.collected;
        if let Some(depth) = self.open.iter().rposition(fits) {
            self.open.truncate(depth + 1);
            let program = self.open.pop().filter(|_| self.open.is_empty());
            if let Some(mut program) = program {
                program.result = Some(result);
                program.last = at;
                self.ended = Some(program);
            }
        } else if let Some(program) = self.open.first_mut() {
            program.spare = Some(result);
            program.last = at;
        } else if let Some(program) = self.ended.as_mut().filter(|program| fits(program)) {
            // What came first was printed by a test if this one knows of more failures.
            if program.result.as_ref().is_none_or(|first| first.tests.failed < result.tests.failed)
            {
                program.result = Some(result);
                program.last = at;
            }
        } else if !self.is_framed {
            self.bare.push((at, result));
        }
    }

    /// Cargo says how to run a program again that failed.
    fn name_program(&mut self, at: usize, target: &str) {
        let is_one_test = self.silent.take().is_some();
        self.take_bare();
        let open = self.open.drain(..).next();
        if let Some(open) = open {
            self.file_program();
            self.ended = Some(open);
        }
        let program = self.ended.get_or_insert_with(|| Program { first: at, ..Program::default() });
        program.label = Some(target.into());
        program.last = at;
        let failed = program.result.as_ref().or(program.spare.as_ref());
        if failed.is_none_or(|result| result.tests.failed == 0) {
            // It gave no result: it died, which no test's name tells.
            let mut report = program.result.take().unwrap_or_default();
            match program.announced {
                0 if is_one_test => report.add_failed(1),
                announced if announced > 0 && report.tests.collected == 0 => {
                    report.add_failed(announced);
                }
                // A quiet cargo says nothing of a program that passes without a harness.
                _ => report.add_broken(1),
            }
            program.names.push(DIED.into());
            program.result = Some(report);
        }
        self.is_framed = true;
        self.file_program();
        self.cargo = Cargo::MayHaveEnded;
    }

    /// Counts the program that has ended.
    fn file_program(&mut self) {
        let Some(program) = self.ended.take() else { return };
        let span = (program.first, program.last);
        let report = program.report();
        match &mut self.invocation {
            Some(invocation) => {
                invocation.report.add(report);
                invocation.span.1 = span.1;
            }
            none => *none = Some(RunnerSession::new(RUNNER, report, span)),
        }
    }

    fn file_invocation(&mut self) {
        self.file_program();
        self.sessions.extend(self.invocation.take());
        self.cargo = Cargo::Runs;
    }

    fn finish(mut self) -> Vec<RunnerSession> {
        self.file_silent();
        self.file_program();
        let unfinished = self.open.drain(..).next();
        if let Some(program) = unfinished {
            if program.spare.is_some() {
                self.ended = Some(program);
            } else if program.label.is_some() {
                self.file_unfinished(program);
            }
        }
        if !self.is_framed && !self.bare.is_empty() {
            return self.all_bare();
        }
        self.file_invocation();
        self.sessions
    }

    /// A program that cargo started said nothing more.
    fn file_unfinished(&mut self, mut program: Program) {
        let mut report = Report::default();
        report.add_failed(program.announced.max(1));
        program.result = Some(report);
        program.names = vec![DIED.into()];
        program.last = self.lines.len().saturating_sub(1);
        self.ended = Some(program);
        self.file_program();
        if let Some(invocation) = &mut self.invocation {
            invocation.ending = RunnerEnd::Missing;
        }
    }

    /// Only results were printed, as by `| grep 'test result'`.
    fn all_bare(self) -> Vec<RunnerSession> {
        let (Some((first, _)), Some((last, _))) = (self.bare.first(), self.bare.last()) else {
            return Vec::new();
        };
        let span = (*first, *last);
        let mut sum = Report::default();
        let failed = self.bare.last().map_or(0, |(_, report)| report.tests.failed);
        for (_, report) in self.bare {
            sum.add(report);
        }
        let names = self.lines.iter().filter_map(|line| listed(line)).collect();
        sum.failures = numbered(names, failed, None);
        vec![RunnerSession::new(RUNNER, sum, span).bare()]
    }
}

impl Program {
    fn take_name(&mut self, line: &str) {
        if line == "failures:" {
            self.in_list = true;
        } else if let Some(name) = line.strip_prefix("    ").filter(|_| self.in_list) {
            self.names.push(stable(name));
        } else if let Some(name) = failed(line) {
            self.names.push(stable(name));
        } else if let Some(name) = ignored(line) {
            self.skipped.push(stable(name));
        } else if !line.is_empty() {
            self.in_list = false;
        }
    }

    fn report(self) -> Report {
        let mut report = self.result.or(self.spare).unwrap_or_default();
        report.failures = numbered(self.names, report.tests.failed, self.label.as_deref());
        report.skipped = self.skipped;
        report
    }
}

/// Names of failing tests under what their program is called; each stands twice, where it failed
/// and in the list, and only the later half counts.
fn numbered(names: Vec<String>, failed: u32, label: Option<&str>) -> Vec<String> {
    let half = usize::try_from(failed).unwrap_or(usize::MAX);
    let from = if names.len() > half && half > 0 { names.len() - half } else { 0 };
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    let mut distinct = Vec::new();
    for name in names.into_iter().skip(from) {
        let number = numbers.entry(name.clone()).or_default();
        *number += 1;
        let name = if *number > 1 { format!("{name} #{number}") } else { name };
        distinct.push(match label {
            Some(label) => format!("{label}: {name}"),
            None => name,
        });
    }
    distinct
}

/// `     Running unittests src/lib.rs (target/debug/deps/demo-834…)`, `   Doc-tests demo`.
fn label(line: &str) -> Option<String> {
    let text = line.strip_prefix("  ")?.trim_start();
    if let Some(name) = text.strip_prefix("Doc-tests ") {
        return Some(format!("{DOC}{name}"));
    }
    let (what, program) = text.strip_prefix("Running ")?.rsplit_once(" (")?;
    program.ends_with(')').then(|| what.into())
}

/// `    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.28s`
fn is_finished(line: &str) -> bool {
    line.starts_with("    Finished ") && line.contains(" target(s) in ")
}

/// `error: 3 targets failed:`
fn is_target_count(line: &str) -> bool {
    line.starts_with("error: ") && line.contains(" target") && line.ends_with(" failed:")
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

/// `test a::b ... ignored, slow`
fn ignored(line: &str) -> Option<&str> {
    let (name, why) = line.strip_prefix("test ")?.split_once(" ... ")?;
    (why == "ignored" || why.starts_with("ignored, ")).then_some(name)
}

/// A name in a list, or where the test failed.
fn listed(line: &str) -> Option<String> {
    let name =
        failed(line).or_else(|| line.strip_prefix("    ").filter(|name| !name.starts_with(' ')));
    name.map(stable)
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
