//! A stranger's repository: nothing in it can keep a call waiting, eat memory, or read beyond it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;

use crate::doors;
use crate::stage::{Ran, Stage, begin};

/// Far beyond what a call may take, and far below what a client waits.
const LIMIT: Duration = Duration::from_mins(1);

/// Runs a command that must come back by itself.
#[track_caller]
pub(crate) fn within(stage: &Stage, mut command: Command, input: &[u8], about: &str) -> Ran {
    let mut child = begin(&mut command);
    let mut pipe = child.stdin.take().expect("its input");
    std::io::Write::write_all(&mut pipe, input).expect("hand it its input");
    drop(pipe);
    let begun = doors::now();
    while child.try_wait().expect("look at it").is_none() {
        if begun.elapsed() > LIMIT {
            child.kill().expect("end it");
            panic!("{about}: no answer");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    stage.end(child, b"")
}

pub(crate) fn pipe(path: &Path) {
    if path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        fs::remove_dir_all(path).expect("make room");
    } else {
        let _ = fs::remove_file(path);
    }
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("make a pipe");
}

fn git(stage: &Stage, arguments: &[&str]) {
    let mut git = doors::program("git");
    stage.furnish(&mut git);
    let ran = git.args(arguments).output().expect("run git");
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// A project in git with a loop that has a check.
fn project() -> Stage {
    let stage = Stage::new();
    fs::remove_dir_all(stage.path("project/.git")).expect("make room for git");
    git(&stage, &["init", "-q", "."]);
    stage.write("project/stopgate.toml", "[[criterion]]\nname = \"a\"\nrun = [\"true\"]\n");
    stage.write("project/file", "text");
    assert_eq!(stage.run("trust --yes").code, 0);
    stage.start("'Do it' --session s1 --check 'b=false'");
    stage
}

/// Sets a trap.
type Set = fn(&Stage);

/// What a stranger may put into a repository.
const TRAPS: [(&str, Set); 12] = [
    ("a pipe as stopgate.toml", |stage| pipe(&stage.path("project/stopgate.toml"))),
    ("an endless stopgate.toml", |stage| {
        fs::remove_file(stage.path("project/stopgate.toml")).expect("make room");
        symlink("/dev/zero", stage.path("project/stopgate.toml")).expect("a link");
    }),
    ("a socket as stopgate.toml", |stage| {
        fs::remove_file(stage.path("project/stopgate.toml")).expect("make room");
        drop(UnixListener::bind(stage.path("project/stopgate.toml")).expect("a socket"));
    }),
    ("a huge stopgate.toml", |stage| {
        let file = fs::File::create(stage.path("project/stopgate.toml")).expect("a file");
        file.set_len(1 << 40).expect("a huge file");
    }),
    ("a pipe as .git", |stage| pipe(&stage.path("project/.git"))),
    ("a pipe as .git/info/exclude", |stage| pipe(&stage.path("project/.git/info/exclude"))),
    ("a pipe as core.excludesFile", |stage| {
        pipe(&stage.path("user/excludes"));
        let path = stage.path("user/excludes").display().to_string();
        git(stage, &["config", "core.excludesFile", &path]);
    }),
    ("a pipe as .git/index", |stage| pipe(&stage.path("project/.git/index"))),
    ("a pipe as .git/commondir", |stage| pipe(&stage.path("project/.git/commondir"))),
    ("a pipe as .git/config", |stage| pipe(&stage.path("project/.git/config"))),
    ("a pipe as .gitignore", |stage| pipe(&stage.path("project/.gitignore"))),
    ("a git that never answers", |stage| {
        stage.write("bin/git", "#!/bin/sh\nsleep 600\n");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(stage.path("bin/git"), mode).expect("a program");
    }),
];

#[test]
fn nothing_in_a_repository_keeps_a_call_waiting() {
    for (name, set) in TRAPS {
        let stage = project();
        set(&stage);
        let path = format!("{}:{}", stage.path("bin").display(), doors::search_path().display());
        let call = stage.stop_call("s1", "Done.").var("PATH", &path);
        let ran = within(&stage, call.command(), &call.bytes(), name);
        assert_eq!(ran.code, 0, "{name}: {ran}");
        assert!(ran.out.is_empty() || serde_json::from_str::<Value>(&ran.out).is_ok(), "{name}");
        for line in ["status", "verify", "trust --yes", "config show", "start x --session s2"] {
            let mut command = stage.command(line);
            command.env("PATH", &path);
            let ran = within(&stage, command, b"", &format!("{name}, {line}"));
            assert!(ran.code >= 0, "{name}, {line}: {ran}");
        }
        let cancelled = within(&stage, stage.command("cancel 1stage0000"), b"", name);
        assert_eq!(cancelled.code, 0, "{name}: {cancelled}");
    }
}

/// A stop that nobody answers is allowed, what ran for it ends, and the person is told.
#[test]
fn a_call_that_hangs_lets_the_agent_stop() {
    let stage = Stage::with_loop("Finish --gate tdd");
    // A journal on a disk that hangs is as good as one whose lock is never given back.
    let lock = fs::File::open(stage.path("home/journal.lock")).expect("the journal's lock");
    lock.lock().expect("hold the lock");
    let call = stage.stop_call("s1", "one");
    let ran = within(&stage, call.command(), &call.bytes(), "a held lock");
    assert_eq!(ran.code, 0, "{ran}");
    let said: Value = serde_json::from_str(&ran.out).expect("one JSON value");
    let keys: Vec<&String> = said.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["systemMessage"], "allowed, and the person is told: {ran}");
    assert!(ran.out.contains("journal.lock") && ran.out.contains("stopgate doctor"), "{ran}");
    assert!(!stage.complaints().is_empty());
}

/// Each of these reads a file of the person, or runs something, without anybody's word.
#[test]
fn a_file_that_nobody_trusts_reads_and_runs_nothing() {
    for criterion in [
        "pattern = { file = \"$STAGE/user/secret\", must_not = \"sec.*\" }",
        "pattern = { file = \"$STAGE/*/secret\", must_not = \"sec.*\" }",
        "pattern = { file = \"secret\", must_not = \"sec.*\" }\ncwd = \"$STAGE/user\"",
        "pattern = { file = \"secret\", must_not = \"sec.*\" }\ncwd = \"../user\"",
        "pattern = { file = \"secret\", must_not = \"sec.*\" }\ncwd = \"link\"",
        "pattern = { file = \"link/secret\", must_not = \"sec.*\" }",
        "pattern = { file = \"../user/secret\", must_not = \"sec.*\" }",
        "files = { absent = [\"$STAGE/user/*\"] }",
        "coverage = { report = \"$STAGE/user/secret\", lines = 1 }",
        "features = \"$STAGE/user/secret\"",
        "git = [\"clean\"]",
        "run = [\"cat\", \"$STAGE/user/secret\"]",
    ] {
        let stage = Stage::new();
        stage.write("user/secret", "secret=hunter2\n");
        symlink(stage.path("user"), stage.path("project/link")).expect("a link");
        let criterion = criterion.replace("$STAGE", &stage.path("").display().to_string());
        let file = format!("[[criterion]]\nname = \"a\"\n{criterion}\n");
        stage.write("project/stopgate.toml", &file);
        stage.start("'Do it' --session s1");
        let answer = stage.stop("s1", "Done.");
        assert!(!answer.text.contains("hunter2"), "{criterion}: {answer}");
        let told = stage.run("log 1stage0000 --json");
        assert!(!told.out.contains("hunter2") && !told.out.contains("secret:"), "{criterion}");
        let verified = stage.run("verify");
        assert!(!verified.to_string().contains("hunter2"), "{criterion}: {verified}");
    }
}

#[test]
fn gates_and_roots_of_a_file_that_nobody_trusts_are_not_asked() {
    for file in [
        "gates = [\"escalate if iteration > 0\"]\n",
        "[proof]\nroots = [\"/\"]\n[[criterion]]\nname = \"a\"\nattest = \"agent\"\n",
    ] {
        let stage = Stage::new();
        stage.write("project/stopgate.toml", file);
        stage.start("'Do it' --session s1");
        let answer = stage.stop("s1", "Done.");
        assert!(answer.text.contains("not trusted"), "{file}: {answer}");
        assert_eq!(stage.run("trust --yes").code, 0);
        let answer = stage.stop("s1", "Going on.");
        assert!(!answer.text.contains("not trusted"), "{file}: {answer}");
    }
}

/// What trust allows is shown in full, on the screen and in JSON.
#[test]
fn trust_shows_everything_that_it_allows() {
    let stage = Stage::new();
    stage.write(
        "project/stopgate.toml",
        "gates = [\"escalate if iteration > 9\"]\n[proof]\nroots = [\"../other\"]\n\
         [[criterion]]\nname = \"tests\"\nrun = [\"true\"]\nversion = [\"sh\", \"-c\", \"id\"]\n\
         env = { LD_PRELOAD = \"x.so\" }\npass_env = [\"DATABASE_HOST\"]\ncwd = \"sub\"\n\
         protect = [\"t/**\"]\npristine = true\n\
         [[criterion]]\nname = \"repo\"\ngit = [\"clean\"]\n\
         [[criterion]]\nname = \"far\"\nfiles = { exist = [\"/etc/hosts\"] }\n",
    );
    insta::assert_snapshot!(stage.run("trust --yes"), @"
    $STAGE/project/stopgate.toml asks for:
      tests
        command: true
        cwd: sub
        version: sh -c id
        env: LD_PRELOAD=x.so
        pass_env: DATABASE_HOST
      repo
        git: asks git, which may run filters of the repository's settings
      far
        path: /etc/hosts
      the whole file
        root: ../other
        gate: escalate if iteration > 9
    Trusted, until the file changes.
    ");
    let kinds: Vec<Value> = stage.json("trust --yes")["allows"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|grant| grant["kind"].clone())
        .collect();
    let expected = ["command", "cwd", "version", "env", "pass_env", "git", "path", "root", "gate"];
    assert_eq!(kinds, expected);
}

#[test]
fn a_project_s_file_can_not_ask_for_keys() {
    for name in ["*", "A*", "ANTHROPIC_API_KEY", "AWS_*", "GH_TOKEN"] {
        let stage = Stage::new();
        let file =
            format!("[[criterion]]\nname = \"a\"\nrun = [\"true\"]\npass_env = [\"{name}\"]\n");
        stage.write("project/stopgate.toml", &file);
        let ran = stage.run("trust --yes");
        assert_eq!(ran.code, 2, "{name}: {ran}");
        assert!(ran.err.contains("pass_env"), "{name}: {ran}");
    }
}
