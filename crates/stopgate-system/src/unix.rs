//! Unix: what the system and the standard library have.

use std::io;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal};

/// Bytes of paths and arguments.
pub use std::os::unix::ffi;

/// Modes, owners, kinds and links of files.
pub use std::os::unix::fs;

/// Options for opening a file, to be given to `custom_flags`.
pub mod open {
    use super::OFlags;

    /// A link at the path's end is not followed.
    pub const NO_FOLLOW: i32 = OFlags::NOFOLLOW.bits().cast_signed();
    /// Nothing is waited for.
    pub const NO_WAIT: i32 = OFlags::NONBLOCK.bits().cast_signed();
    /// A terminal does not become this process's own.
    pub const NO_TERMINAL: i32 = OFlags::NOCTTY.bits().cast_signed();
}

/// This process's number.
pub fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// The number of the process that started this one.
pub fn parent_pid() -> Option<i32> {
    Some(rustix::process::getppid()?.as_raw_nonzero().get())
}

/// The number of the user that this process acts as.
pub fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether this process may do everything.
pub fn is_superuser() -> bool {
    rustix::process::geteuid().is_root()
}

/// The name of this machine.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Whether a process has this number, and may be signalled.
pub fn is_running(pid: i32) -> bool {
    number(pid).is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

/// Only a positive number is one process's.
fn number(pid: i32) -> Option<Pid> {
    Some(pid).filter(|pid| *pid > 0).and_then(Pid::from_raw)
}

/// Asks a process to end.
pub fn ask_to_end(pid: i32) {
    if let Some(pid) = number(pid) {
        let _ = rustix::process::kill_process(pid, Signal::TERM);
    }
}

/// Sets when a file, directory or link itself was last changed: seconds and nanoseconds.
pub fn set_modified(path: &Path, (seconds, nanoseconds): (i64, i64)) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_OMIT, utimensat};
    let times = Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec { tv_sec: seconds, tv_nsec: nanoseconds },
    };
    Ok(utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Sets who may do what with a file or directory.
pub fn set_mode(path: impl AsRef<Path>, mode: u32) -> io::Result<()> {
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
}

/// Sets who may do what with an open file.
pub fn set_file_mode(file: &std::fs::File, mode: u32) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))
}

/// The signals by which this program is asked to end: TERM, INT and HUP.
pub const END_SIGNALS: [i32; 3] = [15, 2, 1];

/// Whether a process has this number; one of another user's counts, too.
pub fn exists(pid: i32) -> bool {
    let test = |pid| rustix::process::test_kill_process(pid);
    number(pid).is_some_and(|pid| !matches!(test(pid), Err(rustix::io::Errno::SRCH)))
}

impl crate::CanonicalPath for Path {
    fn canonical(&self) -> io::Result<std::path::PathBuf> {
        self.canonicalize()
    }
}

/// Puts a program that is about to be started apart: in a process group of its own.
pub fn apart(command: &mut std::process::Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

/// How names of programs may end, where a person leaves the end out.
pub const PROGRAM_ENDS: &[&str] = &[""];
