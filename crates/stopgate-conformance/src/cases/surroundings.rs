//! A machine that is not as it should be: no program, no home, no transcript, no directory.

use std::fs;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use super::{HookCase, case, held, let_go, not_for};
use crate::shot::{Shot, ShotInput};
use crate::stage::{CaseMachine, Miss};
use crate::subject::without_program;

pub(super) const CASES: &[HookCase] = &[
    case(
        "program missing",
        "Some clients take the shell's complaint for an answer and never stop again.",
        program_missing,
    ),
    case("no home", "Services and containers often have no HOME.", no_home),
    case("home unwritable", "A full or read-only disk must not hold the agent.", home_unwritable),
    case(
        "directory gone",
        "The agent may have removed the directory that it works in.",
        directory_gone,
    ),
    case(
        "transcript missing",
        "Sessions without persistence name a transcript that is never written.",
        transcript_missing,
    ),
    case(
        "transcript a directory",
        "What stands at the transcript's path is not ours to trust.",
        transcript_directory,
    ),
    case("transcript a FIFO", "Opening one waits without end.", transcript_fifo),
    case(
        "transcript torn",
        "The last record is often half written when the hook runs.",
        transcript_torn,
    ),
    case(
        "killed, then asked",
        "Esc kills the hook; a lock that it leaves must not end or free the loop.",
        killed,
    ),
];

fn stop_shot(stage: &CaseMachine<'_>) -> Shot {
    stage.shot(ShotInput::Bytes(stage.stop().to_string().into_bytes()))
}

fn program_missing(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    let mut shot = stop_shot(stage);
    shot.line = without_program(&shot.line);
    let heard = shot.fire(stage.deadline)?;
    stage.settled(&heard)?;
    let_go(&stage.understood(&heard), "without its program")
}

fn no_home(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    let mut shot = stop_shot(stage);
    shot.variables.retain(|(name, _)| name != "HOME");
    let_go(&stage.fire(&shot)?, "without HOME")
}

fn home_unwritable(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    // A file: nobody can write below it, not even root.
    let file = stage.root().join("not a directory");
    fs::write(&file, "")?;
    let mut shot = stop_shot(stage);
    for (_, value) in shot.variables.iter_mut().filter(|(name, _)| name == "HOME") {
        *value = file.clone().into_os_string();
    }
    let_go(&stage.fire(&shot)?, "with a home that is a file")
}

fn directory_gone(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    let mut shot = stop_shot(stage);
    shot.line = format!("rm -rf \"$PWD\"; {}", shot.line);
    let_go(&stage.fire(&shot)?, "in a directory that is gone")
}

/// The loop outlives one stop with a useless transcript; the answer to that stop is the
/// hook's own affair, as long as it is one.
fn with_transcript(
    stage: &CaseMachine<'_>,
    spoil: fn(&Path) -> std::io::Result<()>,
) -> Result<(), Miss> {
    if stage.stop().get("transcript_path").or(stage.stop().get("transcriptPath")).is_none() {
        return Err(not_for(stage, "names no transcript"));
    }
    stage.arm()?;
    let transcript = stage.transcript();
    let kept = fs::read(&transcript)?;
    fs::remove_file(&transcript)?;
    spoil(&transcript)?;
    stage.ask(&stage.stop())?;
    if transcript.is_dir() {
        fs::remove_dir(&transcript)?;
    } else if transcript.exists() {
        fs::remove_file(&transcript)?;
    }
    fs::write(&transcript, kept)?;
    held(&stage.ask(&stage.stop())?, "one stop later")
}

fn transcript_missing(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    with_transcript(stage, |_| Ok(()))
}

fn transcript_directory(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    with_transcript(stage, |path| fs::create_dir(path))
}

fn transcript_fifo(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    with_transcript(stage, |path| {
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        Ok(())
    })
}

fn transcript_torn(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    with_transcript(stage, |path| {
        let record = json!({"type": "assistant", "message": {"role": "assistant"}}).to_string();
        let torn = [record.as_bytes(), b"\n\xff\xfe{\"role\":\"assistant\",\"con"].concat();
        fs::write(path, torn)
    })
}

fn killed(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    stage.arm()?;
    let shot = stop_shot(stage);
    for _ in 0..3 {
        shot.fire_and_kill()?;
    }
    held(&stage.fire(&shot)?, "after three calls that were killed")
}
