//! Damage done to a stage: to its home, its journal, its disk.

use std::fs::{self, File, OpenOptions, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rusqlite::Connection;

use crate::bad_input::mute_call;
use crate::call::Call;
use crate::doors;
use crate::stage::{Ran, Stage, program_path};

/// A hook gives up before this, regardless of which process holds the journal.
const PATIENCE_MAX: Duration = Duration::from_secs(10);

pub(crate) fn unreadable_transcript(stage: &Stage) -> Ran {
    let transcript = "user/.claude/projects/-project/s1.jsonl";
    stage.write(transcript, "{}\n");
    set_mode(&stage.path(transcript), 0o000);
    everywhere(&stage.path("home"), &doors::give_away);
    let ran = as_ordinary_user(stage, &mute_call(stage));
    everywhere(&stage.path("home"), &doors::take_back);
    ran
}

pub(crate) fn read_only_home(stage: &Stage) -> Ran {
    let home = stage.path("home");
    everywhere(&home, &|path| set_mode(path, if path.is_dir() { 0o555 } else { 0o444 }));
    everywhere(&home, &doors::give_away);
    let ran = as_ordinary_user(stage, &stage.stop_call("s1", "x"));
    everywhere(&home, &doors::take_back);
    everywhere(&home, &|path| set_mode(path, if path.is_dir() { 0o755 } else { 0o644 }));
    ran
}

/// No file may grow: the same to a program as a disk without room.
pub(crate) fn full_disk(stage: &Stage) -> Ran {
    limited(stage, "trap '' XFSZ; ulimit -f 0; exec \"$@\"")
}

/// The same with the signal that the system sends along.
#[test]
fn a_limit_on_the_size_of_files_is_a_full_disk() {
    let stage = Stage::with_loop("Finish");
    assert!(stage.stop("s1", "zero").is_sent_back());
    let ran = limited(&stage, "ulimit -f 0; exec \"$@\"");
    assert_eq!(ran.code, 0, "{ran}");
    crate::bad_input::lets_go(&ran.out);
    assert_eq!(ran.err.lines().count(), 1, "{ran}");
    assert_eq!(stage.standing("1stage0000"), "active 1/20 s1");
}

fn limited(stage: &Stage, script: &str) -> Ran {
    let call = stage.stop_call("s1", "x");
    let mut command = doors::program("/bin/sh");
    command.args(["-c", script, "sh"]).arg(program_path());
    finish(stage, command, &call)
}

pub(crate) fn locked_database(stage: &Stage) -> Ran {
    let journal = Connection::open(stage.path("home/journal.db")).expect("open the journal");
    journal.execute_batch("BEGIN EXCLUSIVE").expect("hold the journal");
    let ran = patiently(&stage.stop_call("s1", "x"));
    journal.execute_batch("ROLLBACK").expect("let it go");
    ran
}

pub(crate) fn locked_lock(stage: &Stage) -> Ran {
    let path = stage.path("home/journal.lock");
    let lock = File::options().write(true).open(path).expect("open the lock");
    lock.lock().expect("hold the lock");
    patiently(&stage.stop_call("s1", "x"))
}

fn patiently(call: &Call<'_>) -> Ran {
    let begun = doors::now();
    let ran = call.send_bytes(&call.bytes());
    assert!(begun.elapsed() < PATIENCE_MAX, "it waited for {:?}", begun.elapsed());
    ran
}

pub(crate) fn garbage(stage: &Stage) -> Ran {
    damaged(stage, |path| fs::write(path, "this is not a journal ".repeat(2000)).expect("write"))
}

pub(crate) fn truncated(stage: &Stage) -> Ran {
    damaged(stage, |path| cut(path, 4096))
}

pub(crate) fn cut_header(stage: &Stage) -> Ran {
    damaged(stage, |path| cut(path, 60))
}

pub(crate) fn emptied(stage: &Stage) -> Ran {
    damaged(stage, |path| cut(path, 0))
}

pub(crate) fn gone(stage: &Stage) -> Ran {
    let (here, there) = (stage.path("home/journal.db"), stage.path("home/elsewhere.db"));
    stage.run("status");
    fs::rename(&here, &there).expect("move the journal away");
    let call = stage.stop_call("s1", "x");
    let ran = call.send_bytes(&call.bytes());
    assert!(!here.exists(), "nothing is begun anew in its place");
    fs::rename(&there, &here).expect("bring the journal back");
    ran
}

pub(crate) fn newer(stage: &Stage) -> Ran {
    damaged(stage, |path| {
        let journal = Connection::open(path).expect("open the journal");
        journal.pragma_update(None, "user_version", 99).expect("age the journal");
        journal.close().expect("close the journal");
    })
}

pub(crate) fn corrupt_field(stage: &Stage) -> Ran {
    damaged(stage, |path| {
        let journal = Connection::open(path).expect("open the journal");
        let spoil =
            "UPDATE loop SET state = replace(state, '\"iteration\":1', '\"iteration\":\"x\"')";
        assert_eq!(journal.execute(spoil, []).expect("spoil the record"), 1);
        journal.close().expect("close the journal");
    })
}

fn cut(path: &Path, bytes: u64) {
    let file = OpenOptions::new().write(true).open(path).expect("open the journal");
    file.set_len(bytes).expect("cut the journal");
}

/// Damages the journal, lets the hook run, sees that the evidence is kept, and repairs it.
fn damaged(stage: &Stage, damage: impl Fn(&Path)) -> Ran {
    let path = stage.path("home/journal.db");
    // A command closes the journal in order, so that all of it is in one file.
    stage.run("status");
    assert!(!stage.path("home/journal.db-wal").exists(), "the journal is in one file");
    let sound = fs::read(&path).expect("read the journal");
    damage(&path);
    let evidence = fs::read(&path).expect("read the journal");
    assert!(evidence != sound, "it is damaged");
    let call = stage.stop_call("s1", "x");
    let ran = call.send_bytes(&call.bytes());
    assert!(fs::read(&path).expect("read the journal") == evidence, "kept byte for byte");
    for left in ["home/journal.db-wal", "home/journal.db-shm"] {
        let _ = fs::remove_file(stage.path(left));
    }
    fs::write(&path, sound).expect("repair the journal");
    ran
}

/// Makes the call as a user whom permissions stop.
fn as_ordinary_user(stage: &Stage, call: &Call<'_>) -> Ran {
    finish(stage, ordinary_user(stage), call)
}

/// The program, as somebody without rights would run it.
pub(crate) fn ordinary_user(stage: &Stage) -> Command {
    set_mode(&stage.path(""), 0o755);
    let own = stage.path("stopgate");
    // Anybody may run it there. Copied by another process: a file that this one has open for
    // writing could not be run while any other test starts a program.
    let copied = doors::program("cp").arg(program_path()).arg(&own).status();
    assert!(copied.is_ok_and(|status| status.success()), "copy the program");
    doors::as_ordinary_user(&own)
}

fn finish(stage: &Stage, mut command: Command, call: &Call<'_>) -> Ran {
    call.dress(&mut command);
    stage.finish(command, &call.bytes())
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("set permissions");
}

/// Does something to a directory and all that is in it, the directories last.
fn everywhere(path: &Path, act: &impl Fn(&Path)) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("look into the directory") {
            everywhere(&entry.expect("an entry").path(), act);
        }
    }
    act(path);
}
