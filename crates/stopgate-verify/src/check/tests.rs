use std::path::Path;
use std::time::Duration;

use stopgate_core::{Receipt, Status, Timestamp};

use super::{Check, Ran, run};

#[test]
fn a_command_passes_fails_or_could_not_be_run() {
    check("true", "pass exit 0 |");
    check("echo seen; exit 3", "fail exit 3 | seen");
    check("echo out; echo err >&2; false", "fail exit 1 | out err");
    check("no-such-command-here", "error exit 127 | /bin/sh: 1: no-such-command-here: not found");
    check("./not-executable", "error exit 126 | /bin/sh: 1: ./not-executable: Permission denied");
    check("kill -SEGV $$", "fail |");
}

#[test]
fn a_missing_folder_is_an_error_not_a_failure() {
    let receipt = one("true", Path::new("/no/such/folder"), Duration::from_secs(5));
    assert_eq!(receipt.status, Status::Error);
    assert!(
        receipt.trouble.is_some_and(|t| t.starts_with("could not be started in /no/such/folder"))
    );
}

#[test]
fn a_slow_command_is_killed_with_its_children() {
    let stage = tempfile::tempdir().unwrap();
    let command = "(sleep 3; touch survived) & sleep 60";
    let receipt = one(command, stage.path(), Duration::from_millis(200));
    assert_eq!(receipt.status, Status::Timeout);
    std::thread::sleep(Duration::from_millis(3300));
    assert!(!stage.path().join("survived").exists(), "a child outlived the check");
}

#[test]
fn a_grandchild_that_keeps_the_pipe_open_does_not_hold_us() {
    let stage = tempfile::tempdir().unwrap();
    let receipt =
        one("echo first; setsid sleep 30 & exit 0", stage.path(), Duration::from_secs(20));
    assert_eq!(receipt.status, Status::Pass);
    assert_eq!(receipt.tail, "first\n");
    assert!(receipt.duration_ms < 10_000, "waited for the grandchild");
}

#[test]
fn endless_output_is_counted_and_cut() {
    let stage = tempfile::tempdir().unwrap();
    let receipt =
        one("yes 0123456789 | head -c 9000000; exit 1", stage.path(), Duration::from_mins(1));
    assert_eq!((receipt.status, receipt.output_bytes), (Status::Fail, 9_000_000));
    assert!(receipt.tail.len() <= 4096);
    let log = std::fs::metadata(receipt.log.unwrap()).unwrap().len();
    assert!(log <= 4 * 1024 * 1024 + 64, "the log has {log} bytes");
}

#[test]
fn a_check_reads_nothing_and_knows_no_secret() {
    let stage = tempfile::tempdir().unwrap();
    let command = "cat; env | grep -E '^(CLAUDE|ANTHROPIC_|STOPGATE_DISABLE)'";
    let receipt = one(command, stage.path(), Duration::from_secs(20));
    assert_eq!(receipt.tail, "STOPGATE_DISABLE=1\n");
}

#[test]
fn the_budget_of_all_checks_is_kept() {
    let stage = tempfile::tempdir().unwrap();
    let log = stage.path().join("check.log");
    let check = |command| Check {
        criterion: command,
        command,
        timeout: Duration::from_secs(30),
        log: log.clone(),
    };
    let checks = [check("sleep 20"), check("true")];
    let ran = run(&checks, stage.path(), Duration::from_millis(150), &clock);
    let Ran::Receipts(receipts) = ran else { panic!("interrupted") };
    let statuses: Vec<Status> = receipts.iter().map(|r| r.status).collect();
    assert_eq!(statuses, [Status::Timeout, Status::Timeout]);
    assert_eq!(receipts[1].trouble.as_deref(), Some("not begun: the time for checks was used up"));
}

#[track_caller]
fn check(command: &str, expected: &str) {
    let stage = tempfile::tempdir().unwrap();
    std::fs::write(stage.path().join("not-executable"), "").unwrap();
    let receipt = one(command, stage.path(), Duration::from_secs(20));
    let code = receipt.exit_code.map(|code| format!(" exit {code}")).unwrap_or_default();
    let tail: Vec<&str> = receipt.tail.split_whitespace().collect();
    let shown = format!("{}{code} | {}", receipt.status, tail.join(" "));
    assert_eq!(shown.trim_end(), expected, "{command}");
}

fn one(command: &str, folder: &Path, timeout: Duration) -> Receipt {
    let logs = tempfile::tempdir().unwrap().keep();
    let check = Check { criterion: "it", command, timeout, log: logs.join("it.log") };
    match run(&[check], folder, Duration::from_mins(1), &clock) {
        Ran::Receipts(mut receipts) => receipts.remove(0),
        Ran::Interrupted => panic!("interrupted"),
    }
}

#[expect(clippy::disallowed_methods, reason = "the test's clock")]
fn clock() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp::from_unix_millis(i64::try_from(since.as_millis()).unwrap())
}
