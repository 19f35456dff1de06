//! Hermetic places: their own processes, home, temporary files and network.

use std::os::unix::process::ExitStatusExt;

use super::entering::{assert_dies_with_its_group, command};
use super::*;
use crate::place::NetworkAccess::{self, Allowed, Denied};

fn stage(network: NetworkAccess) -> Stage {
    let mut stage = Stage::new().restore("tests/a.py", "strong");
    stage.isolation = Isolation::Hermetic { network };
    stage
}

/// The kinds in which a hermetic run works here.
fn hermetic_kinds() -> Vec<PlaceKind> {
    let stage = Stage::new();
    let isolation = Isolation::Hermetic { network: Denied };
    let found = crate::place::probe(&stage.scene.root(), &stage.scratch(), isolation);
    // A container may hide parts of /proc; nothing else is a reason to skip these tests.
    let is_reason = |why: &String| why.contains("/proc") || why.contains("not permitted");
    assert!(found.missing.iter().all(is_reason), "{found:?}");
    match found.kind {
        PlaceKind::Overlay => vec![PlaceKind::Overlay, PlaceKind::BoundCopy],
        PlaceKind::BoundCopy => vec![PlaceKind::BoundCopy],
        PlaceKind::Copy => Vec::new(),
    }
}

#[test]
fn a_hermetic_run_has_processes_home_and_temporary_files_of_its_own() {
    for kind in hermetic_kinds() {
        let stage = stage(Denied);
        let place = stage.open(kind);
        assert_eq!(stage.says(&place, "cat tests/a.py src/x.py"), "strongwork", "{kind:?}");
        assert_eq!(stage.says(&place, "ls -A \"$HOME\"; echo $TMPDIR"), "/tmp");
        assert_eq!(
            stage
                .says(&place, "test -w \"$HOME\" && touch /tmp/stopgate-hermetic ~/y && echo fine"),
            "fine"
        );
        let processes = stage.says(&place, "ls /proc | grep -c '^[0-9]'");
        assert!(processes.parse::<u32>().unwrap() < 6, "{processes}");
        assert_eq!(
            stage.says(&place, "kill -0 1 && readlink /proc/self"),
            stage.says(&place, "readlink /proc/self")
        );
        drop(place);
        assert!(!Path::new("/tmp/stopgate-hermetic").exists());
    }
}

#[test]
fn a_hermetic_run_has_a_loopback_interface_and_a_network_only_if_allowed() {
    for kind in hermetic_kinds() {
        let interfaces = |network| {
            let stage = stage(network);
            let place = stage.open(kind);
            stage.says(&place, "tail -n +3 /proc/net/dev | cut -d: -f1 | sort")
        };
        let outside = tool(
            &["/bin/sh", "-c", "tail -n +3 /proc/net/dev | cut -d: -f1 | sort"],
            Path::new("/"),
            TIME,
        );
        let outside = String::from_utf8(outside.unwrap().stdout).unwrap();
        assert_eq!(interfaces(Allowed), outside.trim_end(), "{kind:?}");
        assert_eq!(interfaces(Denied).trim(), "lo", "{kind:?}");
        let stage = stage(Denied);
        let place = stage.open(kind);
        let up = stage.says(&place, "cat /proc/net/fib_trie | grep -c 127.0.0.1");
        assert_ne!(up, "0", "the loopback interface is up");
    }
}

#[test]
fn a_hermetic_run_ends_as_its_command_does() {
    for kind in hermetic_kinds() {
        let stage = stage(Allowed);
        let place = stage.open(kind);
        for code in [0, 1, 125, 126, 127, 128] {
            assert_eq!(stage.run(&place, &format!("exit {code}")).status_code, Some(code));
        }
        for signal in [6, 9, 11, 15] {
            let launch = stage.launch(&place, &["/bin/sh", "-c", &format!("kill -{signal} $$")]);
            let ended = command(&launch).output().unwrap();
            assert_eq!(ended.status.signal(), Some(signal), "{kind:?}");
            assert_eq!(String::from_utf8_lossy(&ended.stderr), "", "{kind:?}");
        }
        let launch = stage.launch(&place, &["no-such-program-here"]);
        assert_eq!(tool(&launch.argv, &launch.cwd, TIME).unwrap().status_code, Some(127));
        assert_dies_with_its_group(&stage, &place);
    }
}

#[test]
fn nothing_outlives_a_hermetic_run() {
    for kind in hermetic_kinds() {
        let stage = stage(Allowed);
        let place = stage.open(kind);
        let launch = stage.launch(&place, &["/bin/sh", "-c", "setsid sleep 60 & echo up"]);
        // All output is read, so nobody has the pipe any more.
        let ended = command(&launch).output().unwrap();
        assert_eq!((ended.status.code(), &*ended.stdout), (Some(0), &b"up\n"[..]), "{kind:?}");
    }
}

#[test]
fn what_a_hermetic_run_lacks_is_told() {
    let Ok(mut namespace) = Namespace::find() else { return };
    namespace.loopback = None;
    let stage = stage(Denied);
    let found = |network| {
        let isolation = Isolation::Hermetic { network };
        probe_in(&stage.scene.root(), &stage.scratch(), isolation, Ok(namespace.clone()))
    };
    let without = found(Denied);
    assert_eq!(without.kind, PlaceKind::Copy);
    assert_eq!(without.missing.len(), 2);
    assert!(without.missing[0].contains("`ip` or `ifconfig`"), "{without:?}");
    let allowed = found(Allowed);
    assert!(allowed.missing.len() < 2, "{allowed:?}");
}

#[test]
fn toolchains_are_still_found() {
    for kind in hermetic_kinds() {
        let stage = stage(Allowed);
        let home = stage.scene.beside("home");
        fs::create_dir_all(home.join(".cargo")).unwrap();
        fs::create_dir_all(home.join(".rustup")).unwrap();
        let place = stage.open(kind);
        let script = "echo $CARGO_HOME $RUSTUP_HOME $GOPATH $HOME";
        let launch = stage.launch(&place, &["/bin/sh", "-c", script]);
        let mut command = command(&launch);
        command.env_clear().env("HOME", &home).env("RUSTUP_HOME", "/opt/rustup");
        let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert_eq!(said.trim_end(), format!("{}/.cargo /opt/rustup /tmp/home", home.display()));
    }
}
