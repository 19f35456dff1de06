use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use stopgate_core::{Receipt, Status, Timestamp};

use super::{Check, CheckCommand, ChecksRun, OutputWanted, Run, RunLimits, run};
use crate::bytecode::CompiledPython;
use crate::orphans::Strangers;

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
fn a_program_without_a_shell_passes_fails_or_could_not_be_run() {
    check_argv(&["true"], "pass exit 0 |");
    check_argv(&["echo", "$HOME;", "exit 1"], "pass exit 0 | $HOME; exit 1");
    check_argv(&["sh", "-c", "exit 3"], "fail exit 3 |");
    check_argv(&["./script"], "pass exit 0 | a script");
    check_argv(&["no-such-program"], "error | | the command was not found: no-such-program");
    check_argv(&["./not-executable"], "error | | the command can't be executed: ./not-executable");
    check_argv(
        &["env", "no-such-program"],
        "error exit 127 | env: 'no-such-program': No such file \
        or directory | the command was not found",
    );
    check_argv(&[], "error | | could not be started: : the command is empty");
}

#[test]
fn a_missing_directory_is_an_error_not_a_failure() {
    let receipt = one("true", Path::new("/no/such/directory"), Duration::from_secs(5));
    assert_eq!(receipt.status, Status::Error);
    assert_eq!(receipt.trouble.as_deref(), Some("no such directory: /no/such/directory"));
}

#[test]
fn a_slow_command_is_killed_with_its_children() {
    let stage = tempfile::tempdir().unwrap();
    let command = "(sleep 3; touch survived) & sleep 60";
    let receipt = one(command, stage.path(), Duration::from_millis(200));
    assert_eq!(receipt.status, Status::Timeout);
    assert_eq!(receipt.trouble.as_deref(), Some("killed after 0.2 s"));
    std::thread::sleep(Duration::from_millis(3300));
    assert!(!stage.path().join("survived").exists(), "a child outlived the check");
}

#[test]
fn a_command_has_time_to_clean_up() {
    let stage = tempfile::tempdir().unwrap();
    let command = "trap 'sleep 0.2; touch cleaned; exit' TERM; while :; do sleep 0.05; done";
    let receipt = one(command, stage.path(), Duration::from_secs(2));
    assert_eq!(receipt.status, Status::Timeout);
    assert!(stage.path().join("cleaned").exists(), "no grace was given");
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
fn endless_output_is_counted_fingerprinted_and_cut() {
    let stage = tempfile::tempdir().unwrap();
    let receipt =
        one("yes 0123456789 | head -c 9000000; exit 1", stage.path(), Duration::from_mins(1));
    assert_eq!((receipt.status, receipt.output_bytes), (Status::Fail, 9_000_000));
    assert!(receipt.tail.len() <= 4096);
    let printed: Vec<u8> = b"0123456789\n".iter().copied().cycle().take(9_000_000).collect();
    let expected = blake3::hash(&printed).to_hex().to_string();
    assert_eq!(receipt.evidence.output, Some(expected));
    let log = fs::read(receipt.log.unwrap()).unwrap();
    assert_eq!(log[..1000], printed[..1000]);
    assert!(log.len() <= 4 * 1024 * 1024 + 64, "the log has {} bytes", log.len());
    assert!(log.ends_with(b"\n[the rest is not kept]\n"));
}

#[test]
fn a_log_is_for_its_owner_only() {
    let stage = tempfile::tempdir().unwrap();
    let log = stage.path().join("a/b/it.log");
    let check = Check::new("it", CheckCommand::Shell("echo x"), stage.path().into(), log.clone());
    let run = &runs(&[check], Duration::from_mins(1), 1)[0];
    assert_eq!(run.receipt.log.as_deref(), log.to_str());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&log), mode(log.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn a_check_reads_nothing_and_knows_no_secret() {
    let stage = tempfile::tempdir().unwrap();
    // This one would be inherited, like those that an agent leaves open.
    let _open = rustix::io::dup(fs::File::open("/dev/null").unwrap()).unwrap();
    let command = "cat; env | grep -E '^(CLAUDE|ANTHROPIC_|STOPGATE_DISABLE)'; ls /proc/self/fd | \
        wc -l; ulimit -c; touch $TMPDIR/here; echo $TMPDIR";
    let receipt = one(command, stage.path(), Duration::from_secs(20));
    let lines: Vec<&str> = receipt.tail.lines().collect();
    // Standard input, output and error, and the directory that `ls` has opened.
    assert_eq!(lines[..3], ["STOPGATE_DISABLE=1", "4", "0"]);
    assert!(lines[3].contains("stopgate-"), "{}", lines[3]);
    assert!(!Path::new(lines[3]).exists(), "the temporary directory is still there");
}

#[test]
fn a_check_has_variables_of_its_own() {
    let stage = tempfile::tempdir().unwrap();
    let set = [("MY_TOKEN".to_string(), "mine".to_string())];
    let check = Check { set: &set, ..shell("echo $MY_TOKEN", stage.path()) };
    assert_eq!(runs(&[check], TIME, 1)[0].receipt.tail, "mine\n");
}

#[test]
fn a_program_is_looked_for_on_the_path_of_the_check() {
    let stage = stage();
    let set = [("PATH".to_string(), stage.path().display().to_string())];
    let argv = ["script".to_string()];
    let check = Check { command: CheckCommand::Argv(&argv), set: &set, ..shell("", stage.path()) };
    assert_eq!(runs(&[check], TIME, 1)[0].receipt.tail, "a script\n");
}

#[test]
fn what_fled_from_a_check_is_gone_before_the_next() {
    let stage = tempfile::tempdir().unwrap();
    let flee = "setsid sh -c 'echo $$ >fled; exec sleep 60' >/dev/null 2>&1 &
        while [ ! -s fled ]; do sleep 0.02; done";
    let checks = [flee, "test -s fled && ! kill -0 $(cat fled)"];
    let ran = runs(&checks.map(|line| shell(line, stage.path())), TIME, 1);
    let statuses: Vec<Status> = ran.iter().map(|run| run.receipt.status).collect();
    assert_eq!(statuses, [Status::Pass, Status::Pass], "{ran:?}");
}

#[test]
fn a_stranger_is_spared() {
    let stage = tempfile::tempdir().unwrap();
    let mut stranger = None;
    std::thread::scope(|scope| {
        scope.spawn(|| runs(&[shell("sleep 0.5", stage.path())], TIME, 1));
        stranger = Some(sleeper());
    });
    let mut stranger = stranger.unwrap();
    assert!(stranger.try_wait().unwrap().is_none(), "a stranger was killed");
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[test]
fn there_may_be_no_checks_no_jobs_and_no_end_of_time() {
    assert!(runs(&[], Duration::ZERO, 0).is_empty());
    let stage = tempfile::tempdir().unwrap();
    let check = Check { timeout: Duration::MAX, ..shell("echo x", stage.path()) };
    assert_eq!(runs(&[check], Duration::MAX, 0)[0].receipt.tail, "x\n");
}

#[test]
fn the_budget_of_all_checks_is_kept() {
    let stage = tempfile::tempdir().unwrap();
    let checks = [shell("sleep 20", stage.path()), shell("true", stage.path())];
    let runs = runs(&checks, Duration::from_millis(150), 1);
    let statuses: Vec<Status> = runs.iter().map(|run| run.receipt.status).collect();
    assert_eq!(statuses, [Status::Timeout, Status::Timeout]);
    let troubles: Vec<&str> =
        runs.iter().filter_map(|run| run.receipt.trouble.as_deref()).collect();
    assert!(troubles[0].ends_with("s: the time for checks was used up"), "{troubles:?}");
    assert_eq!(troubles[1], "not begun: the time for checks was used up");
}

#[test]
fn checks_run_side_by_side_up_to_the_number_of_jobs() {
    // Each waits for the other: alone, neither could pass.
    let stage = tempfile::tempdir().unwrap();
    let meet = |own: &str, other: &str| {
        format!(
            "touch {own}; i=0; while [ ! -e {other} ]; do sleep 0.05; i=$((i+1)); \
            [ $i -lt 400 ] || exit 1; done; echo {own}"
        )
    };
    let lines = [meet("a", "b"), meet("b", "a")];
    let checks = lines.each_ref().map(|line| shell(line, stage.path()));
    let tails: Vec<String> = runs(&checks, Duration::from_mins(1), 2)
        .into_iter()
        .map(|run| format!("{} {}", run.receipt.status, run.receipt.tail))
        .collect();
    assert_eq!(tails, ["pass a\n", "pass b\n"]);
    // And with one job they come in order.
    let lines = ["mkdir first", "sleep 0.1; rmdir first", "mkdir first; rmdir first"];
    let checks = lines.map(|line| shell(line, stage.path()));
    let ran = runs(&checks, Duration::from_mins(1), 1);
    assert!(ran.iter().all(|run| run.receipt.status == Status::Pass), "{ran:?}");
}

#[test]
fn only_a_failure_is_tried_again() {
    let flaky = "echo try >>tries; [ $(wc -l <tries) -ge 3 ]";
    check_retries(flaky, 2, "pass after 2, flaky; tries 3");
    check_retries(flaky, 1, "fail after 1; tries 2");
    check_retries("echo try >>tries", 3, "pass after 0; tries 1");
    check_retries("echo try >>tries; exit 127", 3, "error after 0; tries 1");
    check_retries("echo try >>tries; sleep 20", 3, "timeout after 0; tries 1");
}

#[test]
fn a_retry_adds_to_the_log() {
    let stage = tempfile::tempdir().unwrap();
    let check = Check { retries: 1, ..shell("echo seen; false", stage.path()) };
    let run = runs(&[check], Duration::from_mins(1), 1).remove(0);
    assert_eq!(run.receipt.tail, "seen\n");
    let log = fs::read_to_string(run.receipt.log.unwrap()).unwrap();
    assert_eq!(log, "seen\n\n[it failed: try 2 of 2]\nseen\n");
}

#[test]
fn the_version_of_a_tool_is_asked_for_once() {
    let stage = tempfile::tempdir().unwrap();
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    let version = words(&["sh", "-c", "echo asked >>asked; echo; echo tool 1.2; echo more"]);
    let broken = words(&["sh", "-c", "echo tool 0.0; exit 1"]);
    let with = |version| Check { version, ..shell("true", stage.path()) };
    let checks = [with(&version), with(&version), with(&broken), shell("true", stage.path())];
    let ran = runs(&checks, Duration::from_mins(1), 2);
    let versions: Vec<Option<&str>> =
        ran.iter().map(|run| run.receipt.evidence.version.as_deref()).collect();
    assert_eq!(versions, [Some("tool 1.2"), Some("tool 1.2"), None, None]);
    assert_eq!(fs::read_to_string(stage.path().join("asked")).unwrap(), "asked\n");
}

#[test]
fn the_whole_text_is_there_for_who_asks() {
    let stage = tempfile::tempdir().unwrap();
    let line = "echo first; yes | head -c 50000; echo last";
    let with =
        |bytes_max| Check { whole: OutputWanted::Text { bytes_max }, ..shell(line, stage.path()) };
    let ran = runs(&[with(100_000), with(10_000), shell(line, stage.path())], TIME, 1);
    let texts: Vec<Option<&[u8]>> = ran.iter().map(|run| run.text.as_deref()).collect();
    let whole = texts[0].unwrap();
    assert!(whole.starts_with(b"first\ny\ny\n") && whole.ends_with(b"y\nlast\n"));
    assert_eq!(whole.len() as u64, ran[0].receipt.output_bytes);
    assert_eq!(texts[1].unwrap(), &whole[whole.len() - 10_000..]);
    assert_eq!(texts[2], None);
}

#[test]
fn limits_hold_the_check_and_not_us() {
    let stage = tempfile::tempdir().unwrap();
    let busy = shell("while :; do :; done", stage.path());
    let busy = Check { cpu_seconds: Some(1), ..busy };
    let memory = shell("ulimit -v; ulimit -t", stage.path());
    let memory = Check { memory_bytes: Some(256 << 20), ..memory };
    let missing = ["no-such-program".to_string()];
    let missing =
        Check { command: CheckCommand::Argv(&missing), cpu_seconds: Some(9), ..memory.clone() };
    let ran = runs(&[busy, memory, missing], TIME, 3);
    let shown: Vec<String> = ran
        .iter()
        .map(|run| format!("{} {:?}", run.receipt.status, run.receipt.trouble.as_deref()))
        .collect();
    assert_eq!(
        shown,
        [
            "timeout Some(\"used a processor for 1 s\")",
            "pass None",
            "error Some(\"the command was not found\")"
        ]
    );
    assert_eq!(ran[1].receipt.tail, "262144\nunlimited\n");
}

const TIME: Duration = Duration::from_mins(1);

#[track_caller]
fn check(command: &str, expected: &str) {
    let stage = stage();
    let receipt = one(command, stage.path(), Duration::from_secs(20));
    assert_eq!(shown(&receipt), expected, "{command}");
}

#[track_caller]
fn check_argv(argv: &[&str], expected: &str) {
    let stage = stage();
    let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
    let logs = tempfile::tempdir().unwrap();
    let command = CheckCommand::Argv(&argv);
    let check = Check::new("it", command, stage.path().into(), logs.path().join("it.log"));
    let receipt = runs(&[check], TIME, 1).remove(0).receipt;
    let trouble = receipt.trouble.as_ref().map(|trouble| format!(" | {trouble}"));
    let shown = format!("{}{}", shown(&receipt), trouble.unwrap_or_default());
    // Some systems quote differently.
    assert_eq!(shown.replace(['‘', '’'], "'"), expected, "{argv:?}");
}

#[track_caller]
fn check_retries(line: &str, retries: u32, expected: &str) {
    let stage = tempfile::tempdir().unwrap();
    let seconds = if line.contains("sleep") { 2 } else { 60 };
    let check =
        Check { retries, timeout: Duration::from_secs(seconds), ..shell(line, stage.path()) };
    let receipt = runs(&[check], TIME, 1).remove(0).receipt;
    let flaky = if receipt.is_flaky() { ", flaky" } else { "" };
    let tries = fs::read_to_string(stage.path().join("tries")).unwrap().lines().count();
    let shown =
        format!("{} after {}{flaky}; tries {tries}", receipt.status, receipt.evidence.retries);
    assert_eq!(shown, expected, "{line}");
}

fn stage() -> tempfile::TempDir {
    let stage = tempfile::tempdir().unwrap();
    fs::write(stage.path().join("not-executable"), "").unwrap();
    let script = stage.path().join("script");
    fs::write(&script, "#!/bin/sh\necho a script\n").unwrap();
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    stage
}

fn shown(receipt: &Receipt) -> String {
    let code = receipt.exit_code.map(|code| format!(" exit {code}")).unwrap_or_default();
    let tail: Vec<&str> = receipt.tail.split_whitespace().collect();
    format!("{}{code} | {}", receipt.status, tail.join(" ")).trim_end().to_string()
}

/// A check in `directory`, with its log beside.
fn shell<'a>(line: &'a str, directory: &Path) -> Check<'a> {
    let log = tempfile::tempdir().unwrap().keep().join("it.log");
    Check::new("it", CheckCommand::Shell(line), directory.into(), log)
}

fn one(command: &str, directory: &Path, timeout: Duration) -> Receipt {
    let check = Check { timeout, ..shell(command, directory) };
    runs(&[check], TIME, 1).remove(0).receipt
}

fn runs(checks: &[Check<'_>], budget: Duration, jobs: usize) -> Vec<Run> {
    let limits = RunLimits {
        budget,
        jobs,
        pass: &[],
        strangers: Strangers::Spare,
        compiled: CompiledPython::Anew,
    };
    match run(checks, limits, &clock) {
        ChecksRun::Runs(runs) => runs,
        ChecksRun::Interrupted => panic!("interrupted"),
    }
}

#[expect(clippy::disallowed_methods, reason = "the test's door")]
fn sleeper() -> std::process::Child {
    std::process::Command::new("sleep").arg("60").spawn().unwrap()
}

#[expect(clippy::disallowed_methods, reason = "the test's clock")]
fn clock() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp::from_unix_millis(i64::try_from(since.as_millis()).unwrap())
}
