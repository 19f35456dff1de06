//! One turn of a client in a window of its own of the tmux that the driver runs in.
//!
//! The window's process is our own program in a small role: it runs the client on the window's
//! terminal and writes down how it ended, since the client is tmux's child and not ours. The driver
//! stays in its own window, and ends the client when the journal says that its stop was judged.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use stopgate_agents::ClientExit;
use stopgate_engine::{Failure, Settings};

use crate::command::StartedCommand;
use crate::guard::{SessionGuard, command, end_group};
use crate::interrupt::Interrupt;
use crate::mark::{self, MARK, began};
use crate::process::{ClientPlace, exit};
use crate::session::{SessionWatch, TurnCut, TurnResult, TurnStage, now};
use crate::terminal::unread;

/// The word by which the program is asked to run a client in a window.
pub const TMUX_SESSION: &str = "session-tmux";
const LOOK_EVERY: Duration = Duration::from_millis(50);
const WATCH_EVERY: Duration = Duration::from_secs(1);
/// How long a client is left to show its last words after its stop was judged.
const LAST_WORDS: Duration = Duration::from_millis(1500);

/// A window for one session.
pub(crate) struct TmuxWindow {
    /// The loop and the how-many-th session it is.
    pub(crate) name: String,
    /// Where the client's exit code is written.
    pub(crate) status: PathBuf,
}

impl TmuxWindow {
    /// Runs one turn in the window.
    pub(crate) fn run(
        &self,
        started: &StartedCommand,
        place: &ClientPlace<'_>,
        stage: &mut TurnStage<'_>,
    ) -> Result<TurnResult, Failure> {
        // What an earlier window left says nothing of this one.
        let _ = std::fs::remove_file(&self.status);
        let (pane, pid) = self.open(started, place)?;
        let guard = SessionGuard::over(pid, place.mark).ok();
        if let Some(log) = &stage.log {
            let keep = format!("cat >>'{}'", log.display().to_string().replace('\'', "'\\''"));
            // A log that can't be kept must not end a session.
            let _ = tmux(&["pipe-pane", "-o", "-t", &pane, &keep]);
        }
        let followed = self.follow(pid, stage);
        end_group(pid);
        mark::end_marked(place.mark);
        drop(guard);
        // It is gone already where its process ended by itself.
        let _ = tmux(&["kill-pane", "-t", &pane]);
        let cut = followed?;
        Ok(unread(stage, cut, self.ended()))
    }

    /// Opens the window; gives its pane and the process in it, which leads a group of its own.
    fn open(
        &self,
        started: &StartedCommand,
        place: &ClientPlace<'_>,
    ) -> Result<(String, i32), Failure> {
        let program = std::env::current_exe().map_err(|error| unusable(&error.to_string()))?;
        let directory = place.directory.display().to_string();
        let mut words: Vec<String> =
            ["new-window", "-d", "-P", "-F", "#{pane_id} #{pane_pid}"].map(String::from).into();
        words.extend(["-n".to_owned(), self.name.clone(), "-c".to_owned(), directory]);
        for (name, value) in variables(started, place) {
            words.extend(["-e".to_owned(), format!("{name}={value}")]);
        }
        words.extend(["--".to_owned(), program.display().to_string(), TMUX_SESSION.to_owned()]);
        words.push(self.status.display().to_string());
        words.extend(started.argv.iter().cloned());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let said = tmux(&words).map_err(|error| unusable(&error))?;
        let (pane, pid) = said.trim().split_once(' ').unwrap_or_default();
        let pid = pid.parse().map_err(|_| unusable(&said))?;
        Ok((pane.to_owned(), pid))
    }

    fn follow(&self, pid: i32, stage: &mut TurnStage<'_>) -> Result<Option<TurnCut>, Failure> {
        (stage.started)(pid)?;
        let mut watched_at = now();
        let mut judged_at = None;
        loop {
            std::thread::sleep(LOOK_EVERY);
            if self.ended().is_some() || began(pid).is_none() {
                return Ok(None);
            }
            if stage.interrupts.wish() == Interrupt::Now {
                return Ok(Some(TurnCut::Interrupted));
            }
            if judged_at.is_some_and(|at: std::time::Instant| at.elapsed() >= LAST_WORDS) {
                return Ok(Some(TurnCut::HandedOver));
            }
            if watched_at.elapsed() < WATCH_EVERY {
                continue;
            }
            watched_at = now();
            let word = (stage.watch)();
            if word == SessionWatch::Unwanted {
                return Ok(Some(TurnCut::Unwanted));
            }
            judged_at = judged_at.or_else(|| (word == SessionWatch::Judged).then(now));
        }
    }

    /// How the client ended, once it has.
    fn ended(&self) -> Option<ClientExit> {
        let text = std::fs::read_to_string(&self.status).ok()?;
        let code = text.strip_suffix('\n')?;
        Some(code.parse().map_or(ClientExit::Signal, ClientExit::Code))
    }
}

/// What the client needs of our own variables: tmux gives it those of its server.
fn variables(started: &StartedCommand, place: &ClientPlace<'_>) -> Vec<(String, String)> {
    let is_tmux = |name: &str| matches!(name, "TMUX" | "TMUX_PANE" | "TERM");
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let own = stopgate_verify::variables().filter_map(text).filter(|(name, _)| !is_tmux(name));
    let known = started.env.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    let mut all: Vec<(String, String)> = known.chain(own).collect();
    all.extend(place.env.iter().cloned());
    all.push((MARK.to_owned(), place.mark.to_owned()));
    all
}

/// Fails where sessions can't have windows: outside of tmux, or without it.
pub(crate) fn needs_tmux() -> Result<(), Failure> {
    if !Settings.is_in_tmux() {
        return Err(Failure::usage("--tmux needs a tmux around it, and there is none here")
            .hint("start one and run it there: tmux new-session"));
    }
    tmux(&["display-message", "-p", "#{session_id}"]).map(drop).map_err(|said| unusable(&said))
}

fn unusable(said: &str) -> Failure {
    Failure::usage(format!("could not open a window in tmux: {}", said.trim()))
        .hint("run it without: --headless, or in the terminal itself")
}

/// Runs tmux with these words; what it says.
fn tmux(words: &[&str]) -> Result<String, String> {
    let mut tmux: Command = command("tmux".as_ref());
    let output = tmux.args(words).output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// Runs the client in `arguments` on this terminal, and writes its exit code to the file that comes
/// first among them.
pub fn run_tmux_session(mut arguments: impl Iterator<Item = OsString>) -> io::Result<()> {
    let status = arguments.next().unwrap_or_default();
    let program = arguments.next().ok_or_else(|| io::Error::other("the command is empty"))?;
    let code = match command(&program).args(arguments).status().map(exit) {
        Ok(ClientExit::Code(code)) => code.to_string(),
        Ok(ClientExit::Signal) => "signal".to_owned(),
        Err(error) => {
            note(Path::new(&status), "127")?;
            return Err(error);
        }
    };
    note(Path::new(&status), &code)
}

fn note(status: &Path, code: &str) -> io::Result<()> {
    std::fs::write(status, format!("{code}\n"))
}
