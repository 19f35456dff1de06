//! The state directory is its owner's alone, and secrets stay where they are.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::damage;
use crate::doors;
use crate::stage::{PROGRAM, Stage};

/// A shell that sets this umask and then runs the program with `line`.
fn with_umask(stage: &Stage, umask: &str, line: &str) -> std::process::Command {
    let mut command = doors::program("sh");
    stage.furnish(&mut command);
    command.args(["-c", &format!("umask {umask}; exec {PROGRAM} {line}")]);
    command
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("look at it").permissions().mode() & 0o777
}

/// Everything below a directory, itself included.
fn all(path: &Path) -> Vec<std::path::PathBuf> {
    let mut found = vec![path.to_path_buf()];
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("list it").flatten() {
            found.extend(all(&entry.path()));
        }
    }
    found
}

/// Regardless of which command writes first, and of the umask: nobody else can read it.
#[test]
fn the_state_directory_is_private_from_the_first_write() {
    for umask in ["000", "022", "077", "777"] {
        let stage = Stage::new();
        fs::remove_dir(stage.path("home")).expect("begin without a home");
        let ran = stage.finish(with_umask(&stage, umask, "hook claude"), b"not a payload");
        assert_eq!(ran.code, 0, "{ran}");
        assert!(stage.path("home/stopgate.log").exists(), "a fault is the first to write");
        let line = "start Finish --session s1 --check 'a=echo hi; false'";
        let ran = stage.finish(with_umask(&stage, umask, line), b"");
        assert_eq!(ran.code, 0, "{ran}");
        let call = stage.stop_call("s1", "Done.");
        let mut command = with_umask(&stage, umask, "hook claude");
        command.env("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0");
        stage.finish(command, &call.bytes());
        for path in all(&stage.path("home")) {
            let mode = mode(&path);
            assert_eq!(mode & 0o077, 0, "umask {umask}: {} is {mode:o}", path.display());
            assert_eq!(mode & 0o600, 0o600, "umask {umask}: {} is {mode:o}", path.display());
        }
    }
}

#[test]
fn a_journal_elsewhere_is_private_too() {
    let stage = Stage::new();
    let store = format!("sqlite:{}", stage.path("other/j.db").display());
    assert_eq!(stage.run_with("start Finish --session s1", &[("STOPGATE_STORE", &store)]).code, 0);
    for name in ["other/j.db", "other/j.lock", "other/j.signs"] {
        assert_eq!(mode(&stage.path(name)) & 0o077, 0, "{name}");
    }
}

/// What others could write to, or point elsewhere, is refused, and the agent may stop.
#[test]
fn a_state_directory_that_others_reach_is_refused() {
    type Open = fn(&Stage);
    let cases: [(&str, &str, Open); 3] = [
        ("other users may write to it", "chmod 700", |stage| {
            let mode = fs::Permissions::from_mode(0o777);
            fs::set_permissions(stage.path("home"), mode).expect("open it");
        }),
        ("it is a symbolic link", "STOPGATE_HOME", |stage| {
            fs::rename(stage.path("home"), stage.path("real")).expect("move it");
            symlink(stage.path("real"), stage.path("home")).expect("a link");
        }),
        ("it is not a directory", "STOPGATE_HOME", |stage| {
            fs::remove_dir_all(stage.path("home")).expect("remove it");
            fs::write(stage.path("home"), "").expect("a file");
        }),
    ];
    for (what, hint, open) in cases {
        let stage = Stage::with_loop("Finish");
        open(&stage);
        let ran = stage.run("status");
        assert_ne!(ran.code, 0, "{what}: {ran}");
        assert!(ran.err.contains(what) && ran.err.contains(hint), "{what}: {ran}");
        let call = stage.stop_call("s1", "Done.");
        let ran = call.send_bytes(&call.bytes());
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{what}: {ran}");
    }
    let stage = Stage::new();
    let ran = stage.run_with("status", &[("STOPGATE_HOME", "relative/home")]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains("absolute"), "{ran}");
}

/// Another user can neither read what checks printed, nor take the lock, nor plant a link.
#[test]
fn another_user_is_kept_out() {
    if !doors::is_root() {
        // Only root can act as two users.
        return doors::note("skipped: only root can act as two users");
    }
    let stage = Stage::new();
    fs::remove_dir(stage.path("home")).expect("begin without a home");
    stage.start("Finish --session s1 --check 'a=echo words; false'");
    assert!(stage.stop("s1", "Done.").is_sent_back());
    // The stage itself may be looked into; only the home may not.
    fs::set_permissions(stage.path(""), fs::Permissions::from_mode(0o755)).expect("open the stage");
    let home = stage.path("home").display().to_string();
    for script in [
        format!("cat {home}/journal.db"),
        format!("grep -r words {home}"),
        format!("flock -n {home}/journal.lock true"),
        format!("ln -s /etc/passwd {home}/stopgate.log.1"),
        format!("ls {home}"),
    ] {
        let mut sh = doors::as_ordinary_user(Path::new("/bin/sh"));
        let ran = sh.args(["-c", &script]).output().expect("run it as another user");
        assert!(!ran.status.success(), "{script}");
        // The same words of the owner's do it: it is the other user who is kept out.
        let mut sh = doors::program("/bin/sh");
        let ran = sh.args(["-c", &script]).output().expect("run it as the owner");
        assert!(ran.status.success(), "{script}: {}", String::from_utf8_lossy(&ran.stderr));
    }
    assert_eq!(stage.run("cancel 1stage0000").code, 0);
    doors::give_away(&stage.path("home"));
    let ran = stage.run("status");
    assert!(ran.err.contains("belongs to another user"), "{ran}");
}

/// A planted link is not followed by the log.
#[test]
fn a_link_in_place_of_the_log_is_not_written_through() {
    let stage = Stage::new();
    stage.write("user/victim", "mine");
    symlink(stage.path("user/victim"), stage.path("home/stopgate.log")).expect("plant a link");
    let ran = stage.call("Stop", "s1").send_bytes(b"not a payload");
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.err.contains("could not read the payload"), "told where it can be: {ran}");
    assert_eq!(fs::read_to_string(stage.path("user/victim")).expect("read it"), "mine");
}

#[test]
fn keys_are_masked_for_the_model_in_the_journal_and_in_logs() {
    let stage = Stage::new();
    let key = "ghp_0123456789abcdefABCDEF0123456789abcd";
    stage.start(&format!(
        "Finish --session s1 --check 'a=echo got {key}; echo password=hunter2; false'"
    ));
    let answer = stage.stop("s1", "Done.");
    let (shown, _) = answer.text.split_once("reproduce:").expect("what was printed");
    assert!(!shown.contains(key), "{answer}");
    assert!(answer.text.contains("ghp_[masked]") && answer.text.contains("password=[masked]"));
    let log = fs::read_to_string(stage.path("home/checks/1stage0000/1/a.log")).expect("the log");
    assert_eq!(log, "got ghp_[masked]\npassword=[masked]\n");
}

/// No form of an address shows its password, in a command or in the log.
#[test]
fn a_password_in_an_address_is_never_shown() {
    let stage = Stage::with_loop("Finish");
    for address in [
        "host=h user=u password=SECRETPW",
        "postgres//u:SECRETPW@h/x",
        "mysql://u:SECRETPW@h/x",
        "postgres:u:SECRETPW@h/x",
        "SECRETPW",
        "sqlite:postgres://u:SECRETPW@h/x",
        " postgres://u:SECRETPW@h/x",
        "postgres://127.0.0.1:1/x?user=u&Password=SECRETPW",
        "postgres://u:p@SECRETPW@127.0.0.1:1/x",
        "postgres://u:SECRETPW@[::1/x",
    ] {
        let ran = stage.run_with("status", &[("STOPGATE_STORE", address)]);
        assert_ne!(ran.code, 0, "{address}: {ran}");
        assert!(!ran.to_string().contains("SECRETPW"), "{address}: {ran}");
        let call = stage.stop_call("s1", "Done.").var("STOPGATE_STORE", address);
        let ran = call.send_bytes(&call.bytes());
        assert!(!ran.to_string().contains("SECRETPW"), "{address}: {ran}");
    }
    assert!(!stage.complaints().concat().contains("SECRETPW"));
}

/// A check can't read the environment of the hook that started it.
#[test]
#[cfg(target_os = "linux")]
fn a_check_can_not_read_the_hook_s_environment() {
    let stage = Stage::new();
    for name in ["home", "project", "user"] {
        doors::give_away(&stage.path(name));
    }
    let check = "a=cat /proc/$PPID/environ > seen 2>&1; false";
    let start = |line: &str| {
        let mut command = damage::ordinary_user(&stage);
        stage.furnish(&mut command);
        command.env("MADE_UP_TOKEN", "made-up-value").args(line.split('|'));
        command
    };
    let line = format!("start|Finish|--session|s1|--check|{check}");
    let ran = stage.finish(start(&line), b"");
    assert_eq!(ran.code, 0, "{ran}");
    let call = stage.stop_call("s1", "Done.");
    let ran = stage.finish(start("hook|claude"), &call.bytes());
    assert_eq!(ran.code, 0, "{ran}");
    let seen = fs::read_to_string(stage.path("project/seen")).expect("the check ran");
    assert!(!seen.contains("made-up-value"), "{seen}");
}
