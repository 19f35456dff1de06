//! Windows: counterparts with what that system has.

pub mod ffi;
pub mod fs;
mod processes;

use std::fs::{File, FileTimes, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

pub use self::processes::{
    ProcessFacts, ask_to_end, end_process, is_running, own_pid, parent_pid, process_facts,
};

/// The link itself is opened, where a path's end is one.
const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
/// Directories can be opened, too.
const BACKUP_SEMANTICS: u32 = 0x0200_0000;
/// Only what is known about a file is written.
const WRITE_ATTRIBUTES: u32 = 0x0100;

/// No console window flashes up.
const CREATE_NO_WINDOW: u32 = 0x0800_0000;
/// Programs that know no longer paths can't use longer ones.
const PATH_CHARS_MAX: usize = 260;

/// Options for opening a file, to be given to `custom_flags`.
pub mod open {
    /// A link at the path's end is opened itself.
    pub const NO_FOLLOW: i32 = super::OPEN_REPARSE_POINT.cast_signed();
    /// Named pipes are not files here: there is nothing to wait for.
    pub const NO_WAIT: i32 = 0;
    /// A console never becomes a process's own by opening it.
    pub const NO_TERMINAL: i32 = 0;
}

/// Files have no owners' numbers here: each counts as this user's own.
pub const fn own_user() -> u32 {
    0
}

/// Always false: no user may do everything here.
pub const fn is_superuser() -> bool {
    false
}

/// The name of this machine.
#[expect(clippy::disallowed_methods, reason = "where Windows keeps the machine's name")]
pub fn host_name() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

/// Sets when a file, directory or link itself was last changed: seconds and nanoseconds.
pub fn set_modified(path: &Path, (seconds, nanoseconds): (i64, i64)) -> io::Result<()> {
    let seconds = Duration::from_secs(seconds.unsigned_abs());
    let nanoseconds = Duration::from_nanos(nanoseconds.unsigned_abs());
    let file: File = OpenOptions::new()
        .access_mode(WRITE_ATTRIBUTES)
        .custom_flags(OPEN_REPARSE_POINT | BACKUP_SEMANTICS)
        .open(path)?;
    file.set_times(FileTimes::new().set_modified(UNIX_EPOCH + seconds + nanoseconds))
}

/// Lets the owner write where `mode` does; the rest is inherited.
pub fn set_mode(path: impl AsRef<Path>, mode: u32) -> io::Result<()> {
    let path = path.as_ref();
    let mut permissions = std::fs::metadata(path)?.permissions();
    if permissions.readonly() && mode & 0o200 != 0 {
        permissions.set_readonly(false);
        return std::fs::set_permissions(path, permissions);
    }
    Ok(())
}

/// Does nothing: a file that is open for writing can be written.
pub const fn set_file_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

/// The signals by which this program is asked to end, as C's library knows them: TERM and INT.
pub const END_SIGNALS: [i32; 2] = [15, 2];

/// Whether a process has this number.
pub fn exists(pid: i32) -> bool {
    is_running(pid)
}

impl crate::CanonicalPath for Path {
    fn canonical(&self) -> io::Result<std::path::PathBuf> {
        let whole = self.canonicalize()?;
        // Programs do not know the form without limits, and `/` divides nothing in it.
        let plain = whole.to_str().and_then(|text| text.strip_prefix(r"\\?\"));
        let plain = plain.filter(|text| text.len() < PATH_CHARS_MAX && has_drive(text));
        Ok(plain.map_or_else(|| whole.clone(), Into::into))
    }
}

fn has_drive(text: &str) -> bool {
    text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) && text[1..].starts_with(":\\")
}

/// Puts a program that is about to be started apart: without a console window of its own.
pub fn apart(command: &mut std::process::Command) {
    std::os::windows::process::CommandExt::creation_flags(command, CREATE_NO_WINDOW);
}

/// How names of programs may end, where a person leaves the end out.
pub const PROGRAM_ENDS: &[&str] = &[".exe", ".cmd", ".bat", ""];
