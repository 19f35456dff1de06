//! How commands and the background process talk: one line each way over a socket of the person's own.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_engine::{Failure, Home, Settings};

use crate::DAEMON;
use crate::terms::DaemonState;
use crate::waker::start_self;

/// What both sides must be.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// No answer takes longer.
const PATIENCE: Duration = Duration::from_millis(1500);
/// No line is longer.
const LINE_BYTES_MAX: u64 = 64 * 1024;
/// The system takes no longer path for a socket.
const PATH_BYTES_MAX: usize = 100;
/// How long a process that was just started may take to answer.
const LOOKS: u32 = 150;
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Why there was no answer.
#[derive(Debug)]
enum NoAnswer {
    /// Nobody listens.
    Nobody,
    /// Another version listens.
    OtherVersion,
    /// It belongs to another user, or does not talk as it should.
    Foreign,
}

/// Sees to it that a background process runs and knows what there is to watch.
pub fn ensure(settings: Settings) -> Result<(), Failure> {
    if settings.test_daemon_off() {
        return Ok(());
    }
    let home = settings.home()?;
    match ask(&home, "look") {
        Ok(_) => return Ok(()),
        Err(NoAnswer::Foreign) => return Err(unusable(&home)),
        Err(NoAnswer::OtherVersion) => {
            // The older one makes room; what it watches is in the journal.
            let _ = ask_any(&home, "stop");
        }
        Err(NoAnswer::Nobody) => {}
    }
    for look in 0..LOOKS {
        // One that is about to leave may still hold the lock when the next one comes.
        if look % 25 == 0 {
            let started = start_self(settings, &[DAEMON]);
            started.map_err(|error| unusable(&home).because(error))?;
        }
        std::thread::sleep(LOOK_EVERY);
        if ask(&home, "look").is_ok() {
            return Ok(());
        }
    }
    Err(unusable(&home))
}

/// Starts a background process where none runs, and waits for nothing.
pub fn nudge(settings: Settings) {
    if settings.test_daemon_off() {
        return;
    }
    let Ok(home) = settings.home() else { return };
    if matches!(ask(&home, "look"), Err(NoAnswer::Nobody)) {
        let _ = start_self(settings, &[DAEMON]);
    }
}

/// Has a background process look again, where one runs.
pub fn poke(settings: Settings) {
    if let Ok(home) = settings.home()
        && socket_path(&home).exists()
    {
        let _ = ask(&home, "look");
    }
}

/// What the background process says of itself; nothing where none runs.
pub fn state(settings: Settings) -> Result<Option<DaemonState>, Failure> {
    let home = settings.home()?;
    match ask_any(&home, "state") {
        Ok(line) => Ok(serde_json::from_str(&line).ok()),
        Err(NoAnswer::Nobody) => Ok(None),
        Err(NoAnswer::OtherVersion | NoAnswer::Foreign) => Err(unusable(&home)),
    }
}

/// Asks the background process to end; says whether one ran.
pub fn stop(settings: Settings) -> Result<bool, Failure> {
    let home = settings.home()?;
    if ask_any(&home, "stop").is_err() {
        return Ok(false);
    }
    for _ in 0..LOOKS {
        if ask_any(&home, "state").is_err() {
            return Ok(true);
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Err(Failure::fault("the background process does not end")
        .hint("end it: stopgate daemon --status names its process"))
}

fn unusable(home: &Home) -> Failure {
    Failure::fault(format!(
        "could not reach a background process of this version in {}",
        home.directory().display()
    ))
    .hint("stops still ask for what the loop waits for; look at: stopgate daemon --status")
}

/// Asks a process of the same version.
fn ask(home: &Home, word: &str) -> Result<String, NoAnswer> {
    let answer = ask_any(home, word)?;
    let said: DaemonState = serde_json::from_str(&answer).map_err(|_| NoAnswer::Foreign)?;
    if said.version == VERSION { Ok(answer) } else { Err(NoAnswer::OtherVersion) }
}

fn ask_any(home: &Home, word: &str) -> Result<String, NoAnswer> {
    let stream = connect(home).map_err(|_| NoAnswer::Nobody)?;
    if !is_own(&stream) {
        return Err(NoAnswer::Foreign);
    }
    let said = stream
        .set_read_timeout(Some(PATIENCE))
        .and_then(|()| stream.set_write_timeout(Some(PATIENCE)))
        .and_then(|()| (&stream).write_all(format!("stopgate {VERSION} {word}\n").as_bytes()))
        .and_then(|()| read_line(&stream));
    match said {
        Ok(line) if !line.is_empty() => Ok(line),
        // One that was killed or is about to leave says nothing.
        Ok(_) | Err(_) => Err(NoAnswer::Nobody),
    }
}

/// Reads one line, of no more than a certain length.
pub(crate) fn read_line(stream: &UnixStream) -> io::Result<String> {
    let mut line = String::new();
    BufReader::new(io::Read::take(stream, LINE_BYTES_MAX)).read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

/// Whether the other side belongs to the same user.
#[cfg(target_os = "linux")]
pub(crate) fn is_own(stream: &UnixStream) -> bool {
    let peer = rustix::net::sockopt::socket_peercred(stream);
    peer.is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

/// The socket is in a directory that only its owner can reach.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_own(_stream: &UnixStream) -> bool {
    true
}

/// The one process that may listen for a state directory.
#[derive(Debug)]
pub(crate) struct Listening {
    pub(crate) listener: UnixListener,
    path: PathBuf,
    _lock: File,
}

impl Listening {
    /// Listens, unless another process does.
    pub(crate) fn begin(home: &Home) -> io::Result<Option<Self>> {
        let lock = fs::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(home.directory().join("daemon.lock"))?;
        if lock.try_lock().is_err() {
            return Ok(None);
        }
        let path = socket_path(home);
        // Who held the lock before is gone, and its socket with it.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let listener = with_short(&path, |short| UnixListener::bind(short))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        Ok(Some(Self { listener, path, _lock: lock }))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // Before the lock goes: after that it may be another's.
        let _ = fs::remove_file(&self.path);
    }
}

fn connect(home: &Home) -> io::Result<UnixStream> {
    with_short(&socket_path(home), |short| UnixStream::connect(short))
}

fn socket_path(home: &Home) -> PathBuf {
    home.directory().join("daemon.sock")
}

/// Does something with a path that may be too long for a socket's name.
fn with_short<T>(path: &Path, act: impl Fn(&Path) -> io::Result<T>) -> io::Result<T> {
    if path.as_os_str().len() <= PATH_BYTES_MAX || !cfg!(target_os = "linux") {
        return act(path);
    }
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return act(path);
    };
    let open = File::open(directory)?;
    let number = std::os::fd::AsRawFd::as_raw_fd(&open);
    act(&Path::new(&format!("/proc/self/fd/{number}")).join(name))
}
