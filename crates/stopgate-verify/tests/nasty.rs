//! Checks that do everything to outlive, outlast or flood the hook.
//!
//! What they leave is counted from outside: each runs in a process of its own, and
//! carries that process's mark in its arguments or its environment.

#![expect(clippy::print_stderr, clippy::unwrap_used, reason = "a test says where it broke")]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use stopgate_core::{Status, Timestamp};
use stopgate_verify::{
    Check, CheckCommand as What, ChecksRun, CompiledPython, OutputWanted, Run, RunLimits,
    Strangers, run,
};

const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_mins(1);
const BUDGET: Duration = Duration::from_secs(90);
/// What the run may take beyond its budget.
const GRACE: Duration = Duration::from_secs(5);
const MEMORY_KIB_MAX: u64 = 32 * 1024;
/// All that a gigabyte leaves in memory.
const TEXT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// A family that flees in all directions.
const MULTIPLY: &str = "[ $1 = 0 ] || for i in 1 2; do setsid sh multiply $(($1-1)) & done; NAP";
const GIGABYTE: u64 = 1_000_000_000;

/// What a check does, how long it may, how it must come out, and how many there are of it.
/// `NAP` sleeps for ever.
const NASTY: &[(&str, Duration, Status, usize)] = &[
    // They hang, and fork.
    ("NAP", SHORT, Status::Timeout, 6),
    ("NAP & NAP & wait", SHORT, Status::Timeout, 6),
    ("kill -STOP $$", SHORT, Status::Timeout, 2),
    // They ignore the request to end.
    ("trap '' TERM INT HUP; while :; do NAP; done", SHORT, Status::Timeout, 8),
    ("trap 'setsid NAP & NAP' TERM; NAP & wait", SHORT, Status::Timeout, 4),
    // They flee into sessions of their own.
    ("setsid NAP & NAP", SHORT, Status::Timeout, 8),
    ("setsid NAP & exit 0", LONG, Status::Pass, 8),
    ("setsid sh -c 'setsid sh -c \"NAP & NAP\" & exit 0' & exit 3", LONG, Status::Fail, 8),
    ("(setsid setsid NAP </dev/null >/dev/null 2>&1 &) ; exit 0", LONG, Status::Pass, 8),
    ("trap '' TERM; setsid sh -c 'trap \"\" TERM; NAP & NAP' & NAP", SHORT, Status::Timeout, 4),
    // They lose their mark as well.
    ("setsid env -i NAP >/dev/null 2>&1 & exit 0", LONG, Status::Pass, 6),
    ("(setsid env -i NAP &) ; echo left", LONG, Status::Pass, 4),
    // They print without end, or a gigabyte of it.
    ("yes", SHORT, Status::Timeout, 4),
    ("yes | head -c 1000000000", LONG, Status::Pass, 3),
    // They close their pipes, or leave them to others.
    ("exec >&- 2>&-; NAP", SHORT, Status::Timeout, 6),
    ("NAP & echo left; exit 0", LONG, Status::Pass, 6),
    ("exec >&- 2>&-; setsid NAP & exit 1", LONG, Status::Fail, 3),
    // They multiply.
    (
        "f() { [ $1 = 0 ] && NAP; f $(($1-1)) & f $(($1-1)) & wait; }; f 4",
        SHORT,
        Status::Timeout,
        3,
    ),
    ("sh multiply 4", SHORT, Status::Timeout, 3),
];

#[test]
fn a_hundred_nasty_checks_are_bounded_and_leave_nobody_behind() {
    let role = role(&[], "a_hundred_nasty_checks");
    let mark = mark(role.id());
    assert_ended_well(role);
    assert_eq!(marked(&mark), Vec::<String>::new(), "somebody is left");
}

#[test]
fn checks_end_with_the_hook_that_is_ended() {
    let role = role(&[], "an_interrupted_run");
    let mark = mark(role.id());
    // Three that nap, of which one has fled: then it is the time to strike.
    wait_until(|| marked(&mark).iter().filter(|line| line.starts_with("sleep")).count() >= 3);
    let pid = rustix::process::Pid::from_child(&role);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_ended_well(role);
    assert_eq!(marked(&mark), Vec::<String>::new(), "somebody is left");
}

#[test]
fn a_hook_that_was_told_to_ignore_its_children_hears_them_all_the_same() {
    assert_ended_well(role(
        &["bash", "-c", "trap '' CHLD; exec \"$@\"", "bash"],
        "a_run_below_an_ignorant_parent",
    ));
}

#[test]
fn the_budget_is_kept_by_checks_that_would_not_end() {
    let lines = lines(&[("trap '' TERM; while :; do NAP; done", LONG, Status::Timeout, 20)]);
    let begun = instant();
    let runs = runs(&lines, Duration::from_millis(700), Strangers::Spare);
    assert!(begun.elapsed() < Duration::from_millis(700) + GRACE, "{:?}", begun.elapsed());
    assert!(runs.iter().all(|run| run.receipt.status == Status::Timeout), "{runs:?}");
    assert_eq!(marked(&mark(std::process::id())), Vec::<String>::new(), "somebody is left");
}

#[test]
#[ignore = "needs a process of its own, and gets one from the test above"]
fn a_hundred_nasty_checks() {
    let lines = lines(NASTY);
    assert_eq!(lines.len(), 100);
    let begun = instant();
    let runs = runs(&lines, BUDGET, Strangers::End);
    assert!(begun.elapsed() < BUDGET + GRACE, "{:?}", begun.elapsed());
    for ((line, _, status), run) in lines.iter().zip(&runs) {
        assert_eq!(run.receipt.status, *status, "{line}: {:?}", run.receipt);
        assert!(run.receipt.tail.len() <= 4096);
        if line.contains("head -c 1000000000") {
            assert_eq!(run.receipt.output_bytes, GIGABYTE);
        }
        assert!(run.text.as_ref().is_some_and(|text| text.len() <= TEXT_BYTES_MAX));
    }
    assert_eq!(children(), Vec::<String>::new(), "somebody, or a zombie, is left");
    assert_eq!(marked(&mark(std::process::id())), Vec::<String>::new(), "somebody is left");
    let peak = peak_kib();
    eprintln!("took {:?}, peak {peak} KiB", begun.elapsed());
    assert!(peak <= MEMORY_KIB_MAX, "the peak was {peak} KiB");
}

#[test]
#[ignore = "needs a process of its own, and gets one from the test above"]
fn an_interrupted_run() {
    let nasty = [
        ("NAP & trap '' TERM; while :; do NAP; done", LONG, Status::Timeout, 1),
        ("setsid NAP & NAP", LONG, Status::Timeout, 1),
    ];
    let lines = lines(&nasty);
    let stage = tempfile::tempdir().unwrap();
    let ran = ran(&lines, BUDGET, Strangers::End, stage.path());
    assert!(matches!(ran, ChecksRun::Interrupted), "{ran:?}");
    assert_eq!(children(), Vec::<String>::new(), "somebody, or a zombie, is left");
}

#[test]
#[ignore = "needs a process of its own, and gets one from the test above"]
fn a_run_below_an_ignorant_parent() {
    assert!(ignores_ends_of_children(), "the scene is not set");
    let lines = lines(&[("true", LONG, Status::Pass, 1), ("exit 3", LONG, Status::Fail, 1)]);
    for ((line, _, status), run) in lines.iter().zip(runs(&lines, BUDGET, Strangers::End)) {
        assert_eq!(run.receipt.status, *status, "{line}: {:?}", run.receipt);
    }
}

type Line = (String, Duration, Status);

/// The lines, in an order that mixes the kinds.
fn lines(nasty: &[(&str, Duration, Status, usize)]) -> Vec<Line> {
    let most = nasty.iter().map(|(.., count)| *count).max().unwrap_or(0);
    let mut lines = Vec::new();
    for round in 0..most {
        for (line, timeout, status, _) in nasty.iter().filter(|(.., count)| round < *count) {
            lines.push((with_naps(line), *timeout, *status));
        }
    }
    lines
}

fn with_naps(line: &str) -> String {
    line.replace("NAP", &format!("sleep {}", mark(std::process::id())))
}

fn runs(lines: &[Line], budget: Duration, strangers: Strangers) -> Vec<Run> {
    let stage = tempfile::tempdir().unwrap();
    match ran(lines, budget, strangers, stage.path()) {
        ChecksRun::Runs(runs) => runs,
        ChecksRun::Interrupted => panic!("interrupted"),
    }
}

fn ran(lines: &[Line], budget: Duration, strangers: Strangers, stage: &Path) -> ChecksRun {
    fs::write(stage.join("multiply"), with_naps(MULTIPLY)).unwrap();
    let set = [("NASTY_MARK".to_string(), mark(std::process::id()))];
    let checks: Vec<Check<'_>> = lines
        .iter()
        .enumerate()
        .map(|(number, (line, timeout, _))| Check {
            timeout: *timeout,
            set: &set,
            whole: OutputWanted::Text { bytes_max: TEXT_BYTES_MAX },
            ..Check::new(
                "it",
                What::Shell(line),
                stage.into(),
                stage.join(format!("logs/{number}.log")),
            )
        })
        .collect();
    run(
        &checks,
        RunLimits { budget, jobs: 8, pass: &[], strangers, compiled: CompiledPython::Anew },
        &clock,
    )
}

/// A time to sleep that nobody else would choose.
fn mark(pid: u32) -> String {
    format!("86{pid:08}.25")
}

/// The command lines of all processes that carry a mark.
fn marked(mark: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let read = |path: &Path, name: &str| fs::read(path.join(name)).unwrap_or_default();
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.path();
        let (line, environment) = (read(&path, "cmdline"), read(&path, "environ"));
        let has = |text: &[u8]| text.windows(mark.len()).any(|part| part == mark.as_bytes());
        if has(&line) || has(&environment) {
            found.push(String::from_utf8_lossy(&line).replace('\0', " "));
        }
    }
    found
}

/// All children of this process, dead or alive.
fn children() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists = tasks.map(|task| fs::read_to_string(task.path().join("children")).unwrap());
    lists.flat_map(|list| list.split_whitespace().map(String::from).collect::<Vec<_>>()).collect()
}

/// How much memory this process ever had.
fn peak_kib() -> u64 {
    own_status("VmHWM:").parse().unwrap()
}

fn ignores_ends_of_children() -> bool {
    let ignored = u64::from_str_radix(&own_status("SigIgn:"), 16).unwrap();
    let bit = rustix::process::Signal::CHILD.as_raw() - 1;
    ignored >> bit & 1 == 1
}

/// What the system says about this process under this heading.
fn own_status(heading: &str) -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(heading)).unwrap();
    line.split_whitespace().nth(1).unwrap().into()
}

/// One of the ignored tests, in a process of its own, begun by `wrapper`.
#[expect(clippy::disallowed_methods, reason = "the test's door")]
fn role(wrapper: &[&str], name: &str) -> Child {
    let own = std::env::current_exe().unwrap();
    let words: Vec<&str> = wrapper.iter().copied().chain(own.to_str()).collect();
    let mut role = Command::new(words[0]);
    role.args(&words[1..]).args(["--ignored", "--exact", name, "--nocapture", "--test-threads=1"]);
    role.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[track_caller]
fn assert_ended_well(role: Child) {
    let ran = role.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && out.contains("1 passed"), "{out}\n{err}");
}

#[track_caller]
fn wait_until(holds: impl Fn() -> bool) {
    let begun = instant();
    while !holds() {
        assert!(begun.elapsed() < LONG, "it never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[expect(clippy::disallowed_methods, reason = "the test's clock")]
fn instant() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "the test's clock")]
fn clock() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp::from_unix_millis(i64::try_from(since.as_millis()).unwrap())
}
