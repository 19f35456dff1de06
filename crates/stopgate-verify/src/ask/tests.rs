use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use super::ask;

const LONG: Duration = Duration::from_secs(30);

fn sh(script: &str, patience: Duration) -> std::io::Result<super::Told> {
    ask("sh", &["-c", script], Path::new("/"), patience)
}

#[test]
fn an_answer_is_caught_and_complaints_are_dropped() {
    let told = sh("pwd; echo no >&2; exit 3", LONG).expect("it runs");
    assert_eq!((told.success, told.stdout.as_slice()), (false, &b"/\n"[..]));
}

#[test]
fn much_output_does_not_block() {
    let told = sh("head -c 300000 /dev/zero", LONG).expect("it runs");
    assert_eq!((told.success, told.stdout.len()), (true, 300_000));
}

#[test]
fn who_takes_too_long_is_ended() {
    let error = sh("sleep 600", Duration::from_millis(50)).expect_err("it is ended");
    assert_eq!(error.kind(), ErrorKind::TimedOut);
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let error = ask("no-such-program-here", &[], Path::new("/"), LONG).expect_err("nobody there");
    assert_eq!(error.kind(), ErrorKind::NotFound);
}
