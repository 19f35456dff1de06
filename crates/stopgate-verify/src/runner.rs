//! Leads all checks of a run, in one loop and one thread.
//!
//! Within the budget and a few seconds of grace everything is over, whatever the
//! checks do: nothing here waits for anything but the next news or the next deadline.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::SigId;
use stopgate_core::{Status, Timestamp};

use crate::attempt::{Attempt, End, Interrupted, Moment};
use crate::capture::{BLOCK_BYTES, Capture, Captured, LogTarget};
use crate::check::{
    Allowance, Check, ChecksRun, OutputWanted, Run, RunLimits, Span, TAIL_BYTES_MAX, bare, judged,
};
use crate::child::Child;
use crate::env::{Additions, environment, sources};
use crate::leash::Leash;
use crate::orphans::{Keeper, SweepResult};
use crate::output_pipe::wait_for_news;
use crate::scratch::{Scratch, sweep_dead_runs};
use crate::stop::RunStop;
use crate::watch::{RunningCheck, tell};

/// Checks that would have less time than this are not begun.
const TIME_MIN: Duration = Duration::from_millis(10);
/// A clock can't be read beyond its end.
const BUDGET_MAX: Duration = Duration::from_hours(24 * 365);
/// How long a tool may take to say its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);
/// How much of a version line is kept.
const VERSION_BYTES_MAX: usize = 200;
/// How much of the output of all checks is held for those who read it afterwards.
const TEXTS_BYTES_MAX: usize = 24 * 1024 * 1024;
/// How long we sleep at most, for signals that came just before.
const LOOK_LAST: Duration = Duration::from_millis(100);
/// How often we look where nothing would wake us.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How long the last hunt may take, and then the removal of temporary files.
const END_GRACE: Duration = Duration::from_millis(500);

/// What is to be run next.
#[derive(Clone, Copy, Debug)]
enum Task {
    /// The check with this number, after so many failed tries.
    Check { index: usize, failed: u32 },
    /// What tells the version for the checks that share this number.
    Version { index: usize },
}

/// A version that is asked for once, on behalf of the first check that wants it.
#[derive(Debug)]
struct Version {
    check: usize,
    line: Option<String>,
}

struct Running {
    task: Task,
    attempt: Attempt,
    allowance: Allowance,
    begun: Timestamp,
}

/// A run under way.
pub(crate) struct Runner<'a> {
    checks: &'a [Check<'a>],
    limits: RunLimits<'a>,
    now: &'a dyn Fn() -> Timestamp,
    deadline: Instant,
    tasks: VecDeque<Task>,
    running: Vec<Running>,
    runs: Vec<Option<Run>>,
    versions: Vec<Version>,
    text_bytes_max: usize,
    begun: usize,
    /// Which checks were said to run.
    told: Vec<usize>,
    keeper: Keeper,
    scratch: Option<Scratch>,
    /// Taken off last, when everybody is gone.
    _leash: Option<Leash>,
    signals: Signals,
}

/// A flag that rises when somebody asks this program to end.
///
/// A check runs in a process group of its own, so it would outlive us otherwise.
struct Signals {
    flag: Arc<AtomicBool>,
    stop: Option<RunStop>,
    ids: Vec<SigId>,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(
        checks: &'a [Check<'a>],
        limits: RunLimits<'a>,
        now: &'a dyn Fn() -> Timestamp,
    ) -> Self {
        let keeper = Keeper::new(limits.strangers);
        sweep_dead_runs();
        // The leash comes first: killed between the two, we would leave a directory behind.
        let leash = Leash::fasten(keeper.name(), &Scratch::path_of(keeper.name()));
        let scratch = Scratch::new(keeper.name());
        if let Some(scratch) = &scratch {
            limits.compiled.before(scratch.path());
        }
        let (tasks, versions) = plan(checks);
        let texts =
            checks.iter().filter(|check| matches!(check.whole, OutputWanted::Text { .. })).count();
        Self {
            checks,
            limits,
            now,
            deadline: instant() + limits.budget.min(BUDGET_MAX),
            tasks,
            running: Vec::new(),
            runs: checks.iter().map(|_| None).collect(),
            versions,
            text_bytes_max: TEXTS_BYTES_MAX / texts.max(1),
            begun: 0,
            told: Vec::new(),
            keeper,
            scratch,
            _leash: leash,
            signals: Signals::listen(),
        }
    }

    /// Runs everything to its end.
    pub(crate) fn run(mut self) -> ChecksRun {
        let mut block = vec![0; BLOCK_BYTES];
        while self.begin() || !self.running.is_empty() {
            self.tell();
            self.read(&mut block);
            self.step();
        }
        self.tell();
        let until = instant() + END_GRACE;
        self.sweep(until);
        if let Some(scratch) = self.scratch.take() {
            self.limits.compiled.after(scratch.path());
            scratch.remove(until + END_GRACE);
        }
        if self.signals.asked() == Interrupted::Asked {
            return ChecksRun::Interrupted;
        }
        ChecksRun::Runs(self.results())
    }

    /// Begins as many as there is room for; says whether any is left to be begun.
    fn begin(&mut self) -> bool {
        if self.signals.asked() == Interrupted::Asked {
            self.tasks.clear();
        }
        while self.running.len() < self.limits.jobs.max(1) {
            let Some(task) = self.tasks.pop_front() else { break };
            match task {
                Task::Check { index, failed } => self.begin_check(index, failed),
                Task::Version { index } => self.begin_version(index),
            }
        }
        !self.tasks.is_empty()
    }

    /// Tells who watches which checks run, if that changed.
    fn tell(&mut self) {
        let index = |one: &Running| match one.task {
            Task::Check { index, .. } => Some(index),
            Task::Version { .. } => None,
        };
        let now: Vec<usize> = self.running.iter().filter_map(index).collect();
        if now == self.told {
            return;
        }
        let checks = self.checks;
        let running = self.running.iter().filter_map(|one| {
            let criterion = checks[index(one)?].criterion;
            Some(RunningCheck { criterion, begun: one.begun })
        });
        tell(&running.collect::<Vec<_>>());
        self.told = now;
    }

    fn begin_check(&mut self, index: usize, failed: u32) {
        let check = &self.checks[index];
        let begun = (self.now)();
        let trouble = match self.allowance(check.timeout) {
            None => (Status::Timeout, "not begun: the time for checks was used up".to_string()),
            Some(_) if !check.directory.is_dir() => {
                (Status::Error, format!("no such directory: {}", check.directory.display()))
            }
            Some(allowance) => {
                let line = format!("\n[it failed: try {} of {}]", failed + 1, check.retries + 1);
                let log = match failed {
                    0 => LogTarget::Fresh(&check.log),
                    _ => LogTarget::After(&check.log, &line),
                };
                let argv = check.argv();
                match self.spawn(check, &argv, log, self.end_bytes_max(check), allowance) {
                    Ok(attempt) => {
                        let task = Task::Check { index, failed };
                        self.running.push(Running { task, attempt, allowance, begun });
                        return;
                    }
                    Err(error) => (Status::Error, not_started(&argv, &error)),
                }
            }
        };
        // What failed before stays what it was when there is no time for another try.
        if self.runs[index].is_none() || trouble.0 == Status::Error {
            let span = Span { begun, ended: (self.now)() };
            let mut receipt = bare(check, trouble.0, Some(trouble.1), span);
            receipt.evidence.retries = failed;
            self.runs[index] = Some(Run { receipt, text: None });
        }
    }

    fn begin_version(&mut self, index: usize) {
        let check = &self.checks[self.versions[index].check];
        let Some(allowance) = self.allowance(VERSION_TIMEOUT) else { return };
        let argv: Vec<OsString> = check.version.iter().map(OsString::from).collect();
        // A tool that can't say its version has none in the receipt.
        if let Ok(attempt) = self.spawn(check, &argv, LogTarget::Nowhere, TAIL_BYTES_MAX, allowance)
        {
            let task = Task::Version { index };
            self.running.push(Running { task, attempt, allowance, begun: (self.now)() });
        }
    }

    fn spawn(
        &mut self,
        check: &Check<'_>,
        argv: &[OsString],
        log: LogTarget<'_>,
        end_bytes_max: usize,
        allowance: Allowance,
    ) -> io::Result<Attempt> {
        self.begun += 1;
        let token = self.keeper.token(self.begun);
        let additions = Additions {
            pass: check.pass,
            person: self.limits.pass,
            set: check.set,
            scratch: self.scratch.as_ref().map(Scratch::path),
            mark: &token,
        };
        let ours = sources(check.noted, &additions);
        let variables = environment(ours.into_iter(), &additions);
        let (reader, writer) = io::pipe()?;
        let writers = (writer.try_clone()?, writer);
        let child = Child::spawn(argv, &check.directory, variables, writers)?;
        let capture = Capture::new(reader, log, end_bytes_max);
        Ok(Attempt::new(child, capture, token, instant() + allowance.time()))
    }

    /// How long something may take that would like `own`; nothing if that is not worth a start.
    fn allowance(&self, own: Duration) -> Option<Allowance> {
        let rest = self.deadline.saturating_duration_since(instant());
        let allowance = if own <= rest { Allowance::Own(own) } else { Allowance::Rest(rest) };
        (rest >= TIME_MIN).then_some(allowance)
    }

    fn end_bytes_max(&self, check: &Check<'_>) -> usize {
        match check.whole {
            OutputWanted::Tail => TAIL_BYTES_MAX,
            OutputWanted::Text { bytes_max } => {
                bytes_max.min(self.text_bytes_max).max(TAIL_BYTES_MAX)
            }
        }
    }

    /// Sleeps until there is news, and reads what was printed.
    fn read(&mut self, block: &mut [u8]) {
        let now = instant();
        let looks = self.running.iter().map(|one| one.attempt.next_look(now, LOOK_EVERY));
        let wake_at = looks.fold(now + LOOK_LAST, Instant::min);
        let ready = wait(&self.running, wake_at.saturating_duration_since(now));
        for (running, has_printed) in self.running.iter_mut().zip(ready) {
            if has_printed {
                running.attempt.capture().read(block);
            }
        }
    }

    /// Leads everybody one step on, and takes the results of those who are done.
    fn step(&mut self) {
        let moment = Moment { now: instant(), interrupted: self.signals.asked() };
        let mut at = 0;
        while let Some(running) = self.running.get_mut(at) {
            match running.attempt.step(moment, &mut self.keeper) {
                None => at += 1,
                Some(end) => {
                    let Running { task, attempt, allowance, begun } = self.running.remove(at);
                    let span = Span { begun, ended: (self.now)() };
                    self.take(task, end, attempt.finish(), allowance, span);
                }
            }
        }
    }

    fn take(&mut self, task: Task, end: End, captured: Captured, allowance: Allowance, span: Span) {
        let (index, failed) = match task {
            Task::Check { index, failed } => (index, failed),
            Task::Version { index } => {
                self.versions[index].line = version_line(&end, &captured);
                return;
            }
        };
        let check = &self.checks[index];
        let Some(mut receipt) = judged(check, end, &captured, allowance, span) else { return };
        receipt.evidence.retries = failed;
        if receipt.status == Status::Fail && failed < check.retries {
            self.tasks.push_front(Task::Check { index, failed: failed + 1 });
        }
        let text = match check.whole {
            OutputWanted::Tail => None,
            OutputWanted::Text { .. } => Some(captured.end),
        };
        self.runs[index] = Some(Run { receipt, text });
    }

    /// Hunts what is left of all checks, until nobody is or the time is up.
    fn sweep(&mut self, until: Instant) {
        let mut looks = 1;
        while looks > 0 && instant() < until {
            match self.keeper.sweep_all() {
                SweepResult::Nobody => looks -= 1,
                // After a find, two looks in a row must find nobody.
                SweepResult::Somebody => looks = 2,
            }
            if looks > 0 {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }

    fn results(self) -> Vec<Run> {
        let versions = self.versions;
        let checks = self.checks;
        let with_version = |(index, run): (usize, Option<Run>)| {
            let mut run = run?;
            let version = versions.iter().find(|one| same_version(checks, one.check, index));
            run.receipt.evidence.version = version.and_then(|version| version.line.clone());
            Some(run)
        };
        self.runs.into_iter().enumerate().filter_map(with_version).collect()
    }
}

impl Signals {
    fn listen() -> Self {
        let flag = Arc::new(AtomicBool::new(false));
        // Without the handler the check is orphaned, but the program still ends.
        let ids = stopgate_system::END_SIGNALS
            .into_iter()
            .filter_map(|signal| signal_hook::flag::register(signal, Arc::clone(&flag)).ok())
            .collect();
        Self { flag, stop: RunStop::current(), ids }
    }

    fn asked(&self) -> Interrupted {
        let stopped = self.stop.as_ref().is_some_and(RunStop::is_raised);
        if stopped || self.flag.load(Ordering::Relaxed) {
            Interrupted::Asked
        } else {
            Interrupted::Not
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for id in self.ids.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}

/// Waits for output or the end of any of `running`, up to `time`; says who has printed.
fn wait(running: &[Running], time: Duration) -> Vec<bool> {
    let outputs: Vec<_> = running.iter().map(|one| one.attempt.output()).collect();
    let ends = running.iter().filter_map(|one| one.attempt.handle());
    // A wait that failed is one that saw nothing.
    wait_for_news(&outputs, ends, time).unwrap_or_else(|_| vec![false; running.len()])
}

/// The checks in their order, each version before the first check that wants it.
fn plan(checks: &[Check<'_>]) -> (VecDeque<Task>, Vec<Version>) {
    let mut tasks = VecDeque::new();
    let mut versions: Vec<Version> = Vec::new();
    for (index, check) in checks.iter().enumerate() {
        let known = versions.iter().any(|one| same_version(checks, one.check, index));
        if !check.version.is_empty() && !known {
            tasks.push_back(Task::Version { index: versions.len() });
            versions.push(Version { check: index, line: None });
        }
        tasks.push_back(Task::Check { index, failed: 0 });
    }
    (tasks, versions)
}

/// Whether two checks would get the same answer: directories and variables choose tools, too.
fn same_version(checks: &[Check<'_>], one: usize, other: usize) -> bool {
    let key = |index: usize| {
        let check = &checks[index];
        (check.version, &check.directory, check.set, check.pass)
    };
    !checks[other].version.is_empty() && key(one) == key(other)
}

fn version_line(end: &End, captured: &Captured) -> Option<String> {
    if !matches!(end, End::Exited(status) if status.success()) {
        return None;
    }
    let text = stopgate_core::clean(&String::from_utf8_lossy(&captured.end));
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(stopgate_core::clip(line, VERSION_BYTES_MAX))
}

fn not_started(argv: &[OsString], error: &io::Error) -> String {
    let program = argv.first().map(|program| program.display().to_string()).unwrap_or_default();
    match error.kind() {
        io::ErrorKind::NotFound => format!("the command was not found: {program}"),
        io::ErrorKind::PermissionDenied => format!("the command can't be executed: {program}"),
        _ => format!("could not be started: {program}: {error}"),
    }
}

#[expect(clippy::disallowed_methods, reason = "the door that waits")]
fn instant() -> Instant {
    Instant::now()
}
