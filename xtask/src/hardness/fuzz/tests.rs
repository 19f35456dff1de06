//! Logs in small.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;

use super::{Said, read, violations, wanted};

const QUIET: &str = "\
INFO: Running with entropic power schedule (0xFF, 100).
#1\tpulse  cov: 8 ft: 9 exec/s: 0 rss: 30Mb
#31\tINITED cov: 512 ft: 900 corp: 29/11Kb exec/s: 0 rss: 30Mb
#64\tNEW    cov: 530 ft: 910 corp: 30/11Kb lim: 810 exec/s: 0 rss: 30Mb L: 5/9 MS: 1 CopyPart-
#197327\tDONE   cov: 541 ft: 990 corp: 31/11Kb lim: 810 exec/s: 17938 rss: 31Mb
Done 197327 runs in 11 second(s)
stat::number_of_executed_units: 197327
stat::average_exec_per_sec:     17938
stat::new_units_added:          1993
stat::slowest_unit_time_sec:    0
stat::peak_rss_mb:              31
";

#[test]
fn a_log_tells_what_was_done() {
    let expected = Said {
        executions: 197_327,
        per_second: 17_938,
        edges: (512, 541),
        peak_mib: 31,
        broke: Vec::new(),
    };
    assert_eq!(read(QUIET), expected);
    assert_eq!(found(0, QUIET), Vec::<String>::new());
}

#[test]
fn a_crash_is_named_by_its_input() {
    let written = "artifact_prefix='/c/'; Test unit written to /c/task-crash-1\nBase64: Cg==\n";
    let log = format!("{QUIET}{written}");
    assert_eq!(found(77, &log), ["task: /c/task-crash-1"]);
}

#[test]
fn a_fuzzer_that_broke_down_or_saw_nothing_is_no_success() {
    assert_eq!(found(1, QUIET), ["task: exit status: 1, see /l/task"]);
    assert_eq!(found(0, ""), ["task: no edge was seen, see /l/task"]);
}

fn found(code: i32, log: &str) -> Vec<String> {
    let status = ExitStatus::from_raw(code << 8);
    violations("task", status, &read(log), Path::new("/l/task"))
}

#[test]
fn a_target_that_does_not_exist_is_named() {
    let all = || ["glob", "report", "task"].map(String::from).to_vec();
    let asked = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect::<Vec<_>>();
    assert_eq!(wanted(all(), &[]).unwrap(), all());
    assert_eq!(wanted(all(), &asked(&["task", "glob"])).unwrap(), ["task", "glob"]);
    let refused = wanted(all(), &asked(&["glob", "globs"])).unwrap_err().to_string();
    assert_eq!(refused, "globs is not a fuzz target; there are glob, report, task");
}
