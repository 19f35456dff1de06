//! Tells the person that a loop ended or needs them.
//!
//! Set in the person's own `config.toml` (`[notify]`) or by `STOPGATE_NOTIFY`, never by a
//! repository. Sent after the answer is printed, by processes that nobody waits for and that
//! have a time limit; each change of a loop is told once.

mod delivery;
mod notice;
mod sender;
mod wish;

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use stopgate_core::Timestamp;
use stopgate_system::fs::OpenOptionsExt;
use stopgate_system::open;
use stopgate_verify::files::{Durable, replace_private};
use stopgate_verify::{detached, detached_for};

use crate::config::Config;
use crate::home::Home;
use crate::settings::Settings;
use crate::view::local_time;

pub(crate) use self::notice::{NoticeWire, given_up, news};
pub(crate) use self::sender::web_agent;
pub use self::sender::{NOTIFY, deliver};
pub(crate) use self::wish::{NotifyWire, NotifyWish};

/// What one notification may take in all, however often it is tried.
const SENDER_SECONDS: u32 = 90;
/// Does not block where a terminal takes nothing, and does not become our terminal.
const BELL_FLAGS: i32 = open::NO_WAIT | open::NO_TERMINAL;
/// Where a bell rings.
const TERMINAL: &str = if cfg!(windows) { "CONOUT$" } else { "/dev/tty" };

/// Sends notices as the person wishes; nothing where they wish nothing.
pub(crate) fn send(settings: Settings, home: &Home, now: Timestamp, notices: &[NoticeWire]) {
    if notices.is_empty() {
        return;
    }
    // A file that makes no sense is told by every command.
    let wish = Config::read(settings).map(|config| config.notify).unwrap_or_default();
    if wish.quiet.is_some_and(|hours| is_quiet(hours, now)) {
        return;
    }
    if wish.bell {
        ring();
    }
    let command = settings.notify().or_else(|| wish.command.clone());
    let directory = home.directory();
    for notice in notices {
        if let Some(command) = &command {
            let line = format!("{command} \"$1\"");
            let _ = detached(&["/bin/sh", "-c", &line, "stopgate", &notice.text], directory);
        }
        if wish.desktop {
            let _ = detached(&desktop(&notice.text), directory);
        }
        if wish.posts() {
            post_later(home, notice);
        }
    }
}

/// Leaves a notice to a process of its own, in a file that this process takes away.
fn post_later(home: &Home, notice: &NoticeWire) {
    let path = home.outbox(&notice.id);
    let (Ok(text), Ok(program)) = (serde_json::to_vec(notice), std::env::current_exe()) else {
        return;
    };
    let written = replace_private(&path, &text, Durable::Buffered);
    let argv = [program.as_os_str(), NOTIFY.as_ref(), path.as_os_str()];
    if written.and_then(|()| detached_for(&argv, home.directory(), SENDER_SECONDS)).is_err() {
        let _ = std::fs::remove_file(path);
    }
}

/// Rings the bell of the terminal that this runs in, if it runs in one.
fn ring() {
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(BELL_FLAGS);
    if let Ok(mut terminal) = options.open(TERMINAL) {
        let _ = terminal.write_all(b"\x07");
    }
}

fn desktop(message: &str) -> Vec<&str> {
    if cfg!(target_os = "macos") {
        let script =
            "on run argv\ndisplay notification (item 1 of argv) with title \"stopgate\"\nend run";
        return vec!["osascript", "-e", script, message];
    }
    if cfg!(windows) {
        let script = "Add-Type -AssemblyName System.Windows.Forms; \
                      $n = New-Object System.Windows.Forms.NotifyIcon; \
                      $n.Icon = [System.Drawing.SystemIcons]::Information; $n.Visible = $true; \
                      $n.ShowBalloonTip(9000, 'stopgate', $args[0], 'Info'); Start-Sleep 9";
        return vec!["powershell", "-NoProfile", "-Command", script, message];
    }
    vec!["notify-send", "--app-name=stopgate", "--", "stopgate", message]
}

fn is_quiet((from, until): (u16, u16), now: Timestamp) -> bool {
    let clock = local_time(now, "%H:%M");
    let Some(minute) = wish::minute_of(&clock) else { return false };
    if from <= until { (from..until).contains(&minute) } else { minute >= from || minute < until }
}

/// The project's own directory name, for short texts.
fn project_name(project: &str) -> String {
    let name = Path::new(project).file_name().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| project.into())
}

#[cfg(test)]
mod tests;
