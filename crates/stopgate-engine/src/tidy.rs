//! What piles up goes by itself: once a day, when a loop begins.
//!
//! Sessions that fell silent, seals and contents of loops that are gone, logs of checks and
//! backups that are old. Nothing here can fail a command: what can't be removed stays.

pub(crate) mod sweep;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use stopgate_verify::files::{Durable, read_text, replace_private};

use crate::context::Context;
use crate::tidy::sweep::sweep;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Logs and backups of this age have been looked at, or never will be.
const KEPT: Duration = Duration::from_hours(24 * 30);
/// How many backups of one file are kept whatever their age.
const BACKUPS_MIN: usize = 20;

/// Tidies up, unless that was done within a day.
pub(crate) fn tidy(context: &mut Context) {
    let now = context.now().unix_millis();
    let stamp = context.home.directory().join("tidied");
    let last = read_text(&stamp, 64).ok().and_then(|text| text.trim().parse::<i64>().ok());
    if last.is_some_and(|last| (0..DAY_MS).contains(&now.saturating_sub(last))) {
        return;
    }
    if replace_private(&stamp, now.to_string().as_bytes(), Durable::Buffered).is_err() {
        return;
    }
    context.presence.forget_silent(context.now());
    let _ = sweep(context, &[]);
    let Some(then) = before(now, KEPT) else { return };
    let home = context.home.directory();
    for logs in directories(&home.join("checks")) {
        remove_older(&logs, then, 0);
        // Goes only when it is empty.
        let _ = fs::remove_dir(logs);
    }
    for background in directories(&home.join("background")) {
        remove_older(&background, then, 0);
        let _ = fs::remove_dir(background);
    }
    for backups in directories(&home.join("backups")) {
        remove_older(&backups, then, BACKUPS_MIN);
    }
    remove_older(&home.join("held-back"), then, 0);
    remove_older(&home.join("outbox"), then, 0);
}

fn before(now_ms: i64, age: Duration) -> Option<SystemTime> {
    let now = UNIX_EPOCH.checked_add(Duration::from_millis(u64::try_from(now_ms).ok()?))?;
    now.checked_sub(age)
}

fn directories(path: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|e| e.path())
}

/// Removes files that were last changed before `then`, but for the newest `kept`.
fn remove_older(directory: &Path, then: SystemTime, kept: usize) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let changed = |entry: &fs::DirEntry| entry.metadata().and_then(|found| found.modified()).ok();
    let mut files: Vec<(SystemTime, PathBuf)> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| Some((changed(&entry)?, entry.path())))
        .collect();
    files.sort();
    let spare = files.len().saturating_sub(kept);
    for (_, path) in files.into_iter().take(spare).filter(|(changed, _)| *changed < then) {
        let _ = fs::remove_file(path);
    }
}
