//! Commands that run inside a place, and how they end.

use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

use super::*;

#[test]
fn exit_codes_signals_and_arguments_are_the_commands_own() {
    for kind in kinds() {
        let stage = Stage::new();
        let place = stage.open(kind);
        for code in [0, 1, 2, 125, 126, 127, 137, 255] {
            let ran = stage.run(&place, &format!("exit {code}"));
            assert_eq!(ran.status_code, Some(code), "{kind:?}");
        }
        assert_eq!(stage.run(&place, "kill -9 $$").status_code, None, "{kind:?}");
        assert_eq!(stage.run(&place, "kill -TERM $$").status_code, None, "{kind:?}");
        let words = ["/bin/echo", "a b", "", "$HOME", "'", "--", "-n", "*"];
        let launch = stage.launch(&place, &words);
        let ran = tool(&launch.argv, &launch.cwd, TIME).unwrap();
        assert_eq!(ran.stdout, b"a b  $HOME ' -- -n *\n", "{kind:?}");
    }
}

#[test]
fn a_command_that_is_not_there_or_not_executable_is_told_by_its_code() {
    for kind in kinds_at_the_path() {
        let stage = Stage::new();
        let place = stage.open(kind);
        for (program, code) in [("no-such-program-here", 127), ("./src/x.py", 126)] {
            let launch = stage.launch(&place, &[program]);
            let ran = tool(&launch.argv, &launch.cwd, TIME).unwrap();
            assert_eq!(ran.status_code, Some(code), "{kind:?} {program}");
            assert!(place.entered());
        }
    }
}

#[test]
fn the_command_runs_where_it_was_told_to_as_the_same_user() {
    for kind in kinds() {
        let stage = Stage::new();
        let place = stage.open(kind);
        let inside = place.root().canonicalize().unwrap();
        assert_eq!(Path::new(&stage.says(&place, "pwd -P")), inside);
        assert_eq!(kind == PlaceKind::Copy, inside != stage.scene.root().canonicalize().unwrap());
        let deep = place.command(vec!["/bin/pwd".into()], &stage.scene.path("tests"));
        let ran = tool(&deep.argv, &deep.cwd, TIME).unwrap();
        let said = String::from_utf8(ran.stdout).unwrap();
        assert_eq!(Path::new(said.trim_end()), inside.join("tests"));
        let user = rustix::process::getuid().as_raw();
        let group = rustix::process::getgid().as_raw();
        assert_eq!(stage.says(&place, "echo $(id -u):$(id -g)"), format!("{user}:{group}"));
    }
}

#[test]
fn the_environment_is_the_one_that_was_given() {
    for kind in kinds_at_the_path() {
        let stage = Stage::new();
        let place = stage.open(kind);
        let launch = stage.launch(&place, &["/usr/bin/env"]);
        let mut command = command(&launch);
        command.env_clear().env("A", "1").env("PWD", "/nowhere").env("ODD", "a\nb'c");
        let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let mut lines: Vec<&str> = said.lines().collect();
        lines.sort_unstable();
        let pwd = format!("PWD={}", place.root().canonicalize().unwrap().display());
        assert_eq!(lines, ["A=1", "ODD=a", &pwd, "b'c"], "{kind:?}");
    }
}

#[test]
fn a_place_that_refuses_is_told_from_a_check_that_fails() {
    for kind in kinds_at_the_path() {
        let mut stage = Stage::new();
        stage.mounts =
            vec![BindMount { from: stage.scene.root(), at: "/no/such/mount/point".into() }];
        let place = stage.open(kind);
        let launch = stage.launch(&place, &["/bin/sh", "-c", "exit 0"]);
        let ran = tool(&launch.argv, &launch.cwd, TIME).unwrap();
        assert!(!place.entered(), "{kind:?}");
        assert_eq!(ran.status_code, Some(125));
        assert!(!ran.stderr.is_empty());
        stage.mounts.clear();
        let place = stage.open(kind);
        assert!(!place.entered(), "nothing ran yet");
        assert_eq!(stage.run(&place, "exit 1").status_code, Some(1));
        let _ = stage.launch(&place, &["true"]);
        assert!(!place.entered(), "the mark of an earlier run is gone");
    }
}

#[test]
fn a_check_can_not_undo_the_mounts() {
    for kind in kinds_at_the_path() {
        let stage = Stage::new().restore("tests/a.py", "strong");
        let place = stage.open(kind);
        let escapes = [
            "umount \"$PWD\"",
            "umount -l \"$PWD\"",
            "unshare -m umount \"$PWD\"",
            "unshare -rm umount -l \"$PWD\"",
            "mount -o remount,ro \"$PWD\"",
        ];
        for escape in escapes {
            let script = format!("cd /; {escape} && cat \"{}/tests/a.py\"", place.root().display());
            let script = script.replace("$PWD", &place.root().display().to_string());
            let ran = stage.run(&place, &script);
            assert_ne!(ran.status_code, Some(0), "{kind:?}: {escape}");
            assert_eq!(ran.stdout, b"", "{kind:?}: {escape}");
        }
        assert_eq!(stage.says(&place, "cat tests/a.py"), "strong");
    }
}

#[test]
fn the_whole_group_can_be_ended_by_its_number() {
    for kind in kinds() {
        let stage = Stage::new();
        let place = stage.open(kind);
        assert_dies_with_its_group(&stage, &place);
    }
}

/// Ends the group once its innermost process has said that it runs.
pub(super) fn assert_dies_with_its_group(stage: &Stage, place: &RunPlace) {
    let killed = ended_by(Signal::KILL, stage, place, "sleep 60 & echo up; wait");
    assert_eq!(killed.0.signal(), Some(9), "{:?}", place.kind);
    // A command that tidies up has the time to.
    let tidy = "trap 'echo bye; exit 7' TERM; sleep 60 >/dev/null & echo up; wait";
    let ended = ended_by(Signal::TERM, stage, place, tidy);
    assert_eq!((ended.0.code(), &*ended.1), (Some(7), "bye\n"), "{:?}", place.kind);
}

fn ended_by(signal: Signal, stage: &Stage, place: &RunPlace, script: &str) -> (ExitStatus, String) {
    let launch = stage.launch(place, &["/bin/sh", "-c", script]);
    let mut child = command(&launch).process_group(0).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = child.stdout.take().unwrap();
    output.read_exact(&mut [0; 3]).unwrap();
    let group = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    kill_process_group(group, signal).unwrap();
    // Ends only when nobody holds the other end of the pipe any more.
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    (child.wait().unwrap(), rest)
}

#[expect(clippy::disallowed_methods, reason = "tests watch the process itself")]
pub(super) fn command(launch: &Launch) -> Command {
    let mut command = Command::new(&launch.argv[0]);
    command.args(&launch.argv[1..]).current_dir(&launch.cwd).stdin(Stdio::null());
    command
}

#[test]
fn paths_with_odd_names_work() {
    for kind in kinds() {
        let scene = TreeScene::new();
        scene.write("a,b:c 'd'/root/x", "x");
        let root = scene.path("a,b:c 'd'/root");
        let scratch = scene.beside("s,c:r 'a'\\t");
        let content = FileContent::File { bytes: b"y".to_vec(), executable: true };
        let restore = [RestoredFile { path: "it's/y".into(), content }];
        let recipe = PlaceRecipe {
            root: &root,
            scratch: &scratch,
            restore: &restore,
            absent: &[],
            unmade: &[],
            mounts: &[],
            masks: &[],
            isolation: Isolation::None,
        };
        let place = RunPlace::open(&recipe, kind, TIME).unwrap();
        let argv = ["/bin/sh", "-c", "cat x \"it's/y\"; test -x \"it's/y\""].map(OsString::from);
        let launch = place.command(argv.to_vec(), &root);
        let ran = tool(&launch.argv, &launch.cwd, TIME).unwrap();
        assert_eq!((ran.status_code, &*ran.stdout), (Some(0), &b"xy"[..]), "{kind:?}: {ran:?}");
    }
}

#[test]
fn a_directory_of_ours_covers_one_of_the_tree() {
    for kind in kinds_at_the_path() {
        let mut stage = Stage::new();
        let own = stage.scene.beside("own");
        fs::create_dir(&own).unwrap();
        fs::write(own.join("built"), "ours").unwrap();
        stage.scene.write("target/built", "theirs").write("elsewhere/built", "elsewhere");
        stage.scene.link("linked", "elsewhere");
        let at = |at: &str| BindMount { from: own.clone(), at: at.into() };
        stage.mounts = vec![at("target"), at("linked"), at("new/deep")];
        let place = stage.open(kind);
        let script = "cat target/built linked/built new/deep/built; echo more >target/more";
        assert_eq!(stage.says(&place, script), "oursoursours", "{kind:?}");
        assert_eq!(stage.says(&place, "cat elsewhere/built"), "elsewhere");
        assert_eq!(fs::read_to_string(own.join("more")).unwrap(), "more\n");
        assert_eq!(fs::read_dir(stage.scene.path("target")).unwrap().count(), 1);
    }
}

#[test]
fn files_outside_the_tree_are_masked() {
    for kind in kinds_at_the_path() {
        let mut stage = Stage::new();
        let home = stage.scene.beside("home");
        fs::create_dir_all(home.join("site")).unwrap();
        for name in ["npmrc", "gitconfig", "site/x.pth"] {
            fs::write(home.join(name), "steered").unwrap();
        }
        let mask = |name: &str, text: Option<&str>| Mask {
            path: home.join(name),
            content: text.map(|text| text.as_bytes().to_vec()),
            executable: false,
        };
        stage.masks =
            vec![mask("npmrc", None), mask("gitconfig", Some("as it was")), mask("site", None)];
        let place = stage.open(kind);
        let script = format!("cd {}; cat npmrc gitconfig; ls site", home.display());
        assert_eq!(stage.says(&place, &script), "as it was", "{kind:?}");
        assert_eq!(fs::read_to_string(home.join("npmrc")).unwrap(), "steered");
        stage.masks = vec![mask("absent", None)];
        assert!(matches!(stage.try_open(kind, TIME), Err(PlaceError::Io { .. })));
    }
}
