use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use super::tool;

const TIME: Duration = Duration::from_mins(1);

#[test]
fn a_tool_answers_whether_it_fails_or_not() {
    let ran = tool(&["sh", "-c", "echo out; echo err >&2; exit 3"], Path::new("/"), TIME).unwrap();
    assert_eq!(ran.status_code, Some(3));
    assert_eq!((&*ran.stdout, &*ran.stderr), (&b"out\n"[..], &b"err\n"[..]));
    let killed = tool(&["sh", "-c", "kill -9 $$"], Path::new("/"), TIME).unwrap();
    assert_eq!(killed.status_code, None);
}

#[test]
fn a_tool_that_is_not_there_is_an_error() {
    let error = tool(&["no-such-tool-here"], Path::new("/"), TIME).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let error = tool(&["true"], Path::new("/no/such/directory"), TIME).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(tool::<&str>(&[], Path::new("/"), TIME).is_err());
}

#[test]
fn a_slow_tool_is_ended() {
    let slow = tool(&["sh", "-c", "trap '' TERM; sleep 60"], Path::new("/"), TIME / 600);
    assert_eq!(slow.unwrap_err().kind(), ErrorKind::TimedOut);
}

#[test]
fn a_tool_that_says_too_much_is_an_error_and_one_that_complains_is_not() {
    let much = tool(&["sh", "-c", "yes | head -c 70000000"], Path::new("/"), TIME);
    assert_eq!(much.unwrap_err().kind(), ErrorKind::FileTooLarge);
    let loud = tool(&["sh", "-c", "yes | head -c 200000 >&2; echo fine"], Path::new("/"), TIME);
    let loud = loud.unwrap();
    assert_eq!((&*loud.stdout, loud.stderr.len()), (&b"fine\n"[..], 64 * 1024));
}

#[test]
fn a_child_of_the_tool_that_keeps_the_pipe_does_not_hold_us() {
    let ran = tool(&["sh", "-c", "echo first; sleep 60 & exit 0"], Path::new("/"), TIME).unwrap();
    assert_eq!((ran.status_code, &*ran.stdout), (Some(0), &b"first\n"[..]));
}

#[test]
fn everything_is_read_however_much_is_in_the_pipe_at_the_end() {
    let script = "i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done";
    let ran = tool(&["sh", "-c", script], Path::new("/"), TIME).unwrap();
    assert_eq!(ran.stdout.len(), 220_000);
}
