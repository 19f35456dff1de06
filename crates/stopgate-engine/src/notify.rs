//! Tells the person that a loop ended or needs them, by a command or on their desktop.
//!
//! Set in the person's own `config.toml` (`[notify]`) or by `STOPGATE_NOTIFY`, never by a
//! repository. Sent after the answer is printed, by a process that nobody waits for; each
//! change of a loop is told once.

use std::path::Path;

use stopgate_core::{Outcome, Phase, State, Timestamp, Waiting, clean, clip};

use crate::config::Config;
use crate::engine::Engine;
use crate::settings::Settings;
use crate::view::local_time;

const TEXT_BYTES_MAX: usize = 400;

/// How the person wants to be told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NotifyWish {
    /// A command; the message is its last argument.
    pub(crate) command: Option<String>,
    /// Whether the desktop shows it.
    pub(crate) desktop: bool,
    /// When nobody wants to be told, in minutes of the day: from, until.
    pub(crate) quiet: Option<(u16, u16)>,
}

/// What a change of a loop is worth telling, if it is.
pub(crate) fn news(before: Option<&State>, after: &State) -> Option<String> {
    let before = before.map(|before| &before.phase);
    let id = &after.id;
    let goal = clip(&clean(after.goal.lines().next().unwrap_or_default()), 80);
    let said = match &after.phase {
        Phase::Ended { outcome: Outcome::Cancelled, .. } => return None,
        Phase::Ended { .. } if matches!(before, Some(Phase::Ended { .. })) => return None,
        Phase::Ended { outcome, why, .. } => format!("ended as {outcome}: {why}"),
        Phase::Waiting { on: Waiting::Answer(question), .. }
            if !matches!(before, Some(Phase::Waiting { on: Waiting::Answer(_), .. })) =>
        {
            format!("asks you: {question}")
        }
        Phase::Waiting { on: Waiting::Approval, .. }
            if !matches!(before, Some(Phase::Waiting { on: Waiting::Approval, .. })) =>
        {
            "waits for your approval: stopgate approve".into()
        }
        Phase::Active | Phase::Completing | Phase::Waiting { .. } | Phase::Paused { .. } => {
            return None;
        }
    };
    let said = clean(&said).replace('\n', " ");
    Some(clip(&format!("stopgate: loop {id} ({goal}) {said}"), TEXT_BYTES_MAX))
}

/// Sends messages as the person wishes; nothing where they wish nothing.
pub(crate) fn send(settings: Settings, folder: &Path, now: Timestamp, messages: &[String]) {
    if messages.is_empty() {
        return;
    }
    // A file that makes no sense is told by every command.
    let wish = Config::read(settings).map(|config| config.notify).unwrap_or_default();
    if wish.quiet.is_some_and(|hours| is_quiet(hours, now)) {
        return;
    }
    let command = settings.notify().or(wish.command);
    for message in messages {
        if let Some(command) = &command {
            let line = format!("{command} \"$1\"");
            let _ =
                stopgate_verify::detached(&["/bin/sh", "-c", &line, "stopgate", message], folder);
        }
        if wish.desktop {
            let _ = stopgate_verify::detached(&desktop(message), folder);
        }
    }
}

fn desktop(message: &str) -> Vec<&str> {
    if cfg!(target_os = "macos") {
        let script =
            "on run argv\ndisplay notification (item 1 of argv) with title \"stopgate\"\nend run";
        return vec!["osascript", "-e", script, message];
    }
    vec!["notify-send", "--app-name=stopgate", "stopgate", message]
}

fn is_quiet((from, until): (u16, u16), now: Timestamp) -> bool {
    let clock = local_time(now, "%H:%M");
    let Some(minute) = minute_of(&clock) else { return false };
    if from <= until { (from..until).contains(&minute) } else { minute >= from || minute < until }
}

/// Hours of the day as people write them: `22:00-07:30`.
pub(crate) fn hours(text: &str) -> Option<(u16, u16)> {
    let (from, until) = text.split_once('-')?;
    Some((minute_of(from.trim())?, minute_of(until.trim())?))
}

fn minute_of(clock: &str) -> Option<u16> {
    let (hours, minutes) = clock.split_once(':')?;
    let (hours, minutes): (u16, u16) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}

impl Engine {
    /// Sends what is worth telling, once.
    pub(crate) fn send_news(&mut self) {
        let news = std::mem::take(&mut self.news);
        send(self.settings, self.home.folder(), self.now(), &news);
    }
}

#[cfg(test)]
mod tests {
    use stopgate_core::Timestamp;

    use super::{hours, is_quiet};

    #[test]
    fn quiet_hours_may_last_over_midnight() {
        assert_eq!(hours("22:00-07:30"), Some((1320, 450)));
        assert_eq!(hours("22-7"), None);
        assert_eq!(hours("25:00-07:00"), None);
        let noon = (11 * 60, 13 * 60);
        let all_day = (0, 24 * 60 - 1);
        let now = Timestamp::from_unix_millis(0);
        assert!(is_quiet(all_day, now));
        assert_eq!(is_quiet(noon, now), is_quiet((660, 780), now));
    }
}
