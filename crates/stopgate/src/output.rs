//! How commands speak: to people in colour, to programs in JSON.

mod progress;
mod text;
mod when;

use std::io::Write;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use stopgate_core::{LoopState, Outcome as LoopOutcome};
use stopgate_engine::{Failure, LoopView, SCHEMA_VERSION};

pub(crate) use self::progress::{Elsewhere, ProgressLine};
pub(crate) use self::text::{cut, cut_start, width, window, wrap};
pub(crate) use self::when::{Zone, clock};
pub(crate) use crate::terminal::is_unread;

/// For what matters most.
pub(crate) const BOLD: Style = Style::new().bold();
/// For what matters least.
pub(crate) const DIM: Style = Style::new().dimmed();
/// For what is well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// For what is not.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// For what waits.
pub(crate) const WAITS: Style = AnsiColor::Yellow.on_default();

/// Where the second line of a message begins.
const HINT_COLUMN: usize = 7;

/// What a command leaves behind.
pub(crate) type CommandResult = Result<ExitCode, Failure>;

/// Who reads the answer of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Somebody at a terminal.
    People,
    /// A program that reads JSON.
    Programs,
}

impl From<bool> for Audience {
    /// What `--json` asks for.
    fn from(json: bool) -> Self {
        if json { Self::Programs } else { Self::People }
    }
}

/// Prints a line for people, wrapped at words where a window is narrower; a closed pipe has
/// seen enough.
pub(crate) fn line(text: &str) {
    // A style may stand before the blanks.
    let plain = anstream::adapter::strip_str(text).to_string();
    let lead = plain.bytes().take_while(|byte| *byte == b' ').count();
    hanging(text, if lead == 0 { 0 } else { lead + 2 });
}

/// Prints a line whose continuation begins in column `hang`.
pub(crate) fn hanging(text: &str, hang: usize) {
    let mut out = anstream::stdout().lock();
    let columns = window().unwrap_or(usize::MAX);
    for part in text.split('\n') {
        let _ = writeln!(out, "{}", wrap(part, columns, hang));
    }
}

/// Prints a line in colour although a program reads it: a status bar shows it to a person.
pub(crate) fn coloured(text: &str) {
    let plain = anstream::ColorChoice::global() == anstream::ColorChoice::Never
        || stopgate_engine::Settings.is_colourless();
    let mut out = std::io::stdout().lock();
    let _ = if plain {
        writeln!(out, "{}", anstream::adapter::strip_str(text))
    } else {
        writeln!(out, "{text}")
    };
}

/// Prints a label and what it says, as a table of two columns.
pub(crate) fn row(label: &str, label_columns: usize, text: &str) {
    let padding = " ".repeat(label_columns.saturating_sub(width(label)));
    let shown = format!("  {}{padding}  {text}", styled(DIM, label));
    hanging(&shown, label_columns + 4);
}

/// Asks a person something; the answer is theirs to type behind it.
pub(crate) fn ask(question: &str) {
    let mut out = anstream::stdout().lock();
    let _ = write!(out, "{}", wrap(question, window().unwrap_or(usize::MAX), 0));
    let _ = out.flush();
}

/// Prints a warning for people beside the answer.
pub(crate) fn warn(text: &str) {
    let mut out = anstream::stderr().lock();
    let text = format!("{}warning:{} {text}", paint(WAITS.bold()), reset());
    let _ = writeln!(out, "{}", wrap(&text, window().unwrap_or(usize::MAX), HINT_COLUMN));
}

/// Prints an answer: in JSON, or as `show` does it for people.
pub(crate) fn answer<T: Serialize>(to: impl Into<Audience>, view: &T, show: impl FnOnce(&T)) {
    match to.into() {
        Audience::Programs => json(view),
        Audience::People => show(view),
    }
}

/// Prints one JSON object on one line.
pub(crate) fn json(value: &impl Serialize) {
    json_line(&versioned(value));
}

/// Prints a JSON object with one member on one line.
pub(crate) fn json_member(name: &str, value: &impl Serialize) {
    json_line(&versioned_member(name, value));
}

/// Prints what is JSON already.
pub(crate) fn json_line(text: &str) {
    let _ = writeln!(anstream::stdout().lock(), "{text}");
}

/// An object that has members, with the version of its form before them.
pub(crate) fn versioned(value: &impl Serialize) -> String {
    let begin = format!("{{\"schema_version\":{SCHEMA_VERSION},");
    serde_json::to_string(value).unwrap_or_default().replacen('{', &begin, 1)
}

fn versioned_member(name: &str, value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_else(|_| "null".into());
    format!("{{\"schema_version\":{SCHEMA_VERSION},\"{name}\":{text}}}")
}

/// Prints a whole document as it is; a closed pipe has seen enough.
pub(crate) fn document(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
}

/// Prints why a command failed, and says the exit code.
pub(crate) fn failure(failure: &Failure, to: Audience) -> ExitCode {
    let mut out = anstream::stderr().lock();
    if to == Audience::Programs {
        let _ = writeln!(out, "{}", versioned_member("error", &ErrorWire::of(failure)));
        return ExitCode::from(failure.kind.exit_code());
    }
    let error = format!("{}error:{} {}", paint(BAD.bold()), reset(), failure.story());
    let hint = failure.hint.as_ref().map(|hint| format!("{} hint:{} {hint}", paint(BOLD), reset()));
    for part in error.split('\n').chain(hint.iter().flat_map(|hint| hint.split('\n'))) {
        let _ = writeln!(out, "{}", wrap(part, window().unwrap_or(usize::MAX), HINT_COLUMN));
    }
    ExitCode::from(failure.kind.exit_code())
}

/// A failure for programs.
#[derive(Serialize)]
struct ErrorWire<'a> {
    kind: &'static str,
    message: String,
    hint: Option<&'a str>,
    exit_code: u8,
}

impl<'a> ErrorWire<'a> {
    fn of(failure: &'a Failure) -> Self {
        Self {
            kind: failure.kind.word(),
            message: failure.story(),
            hint: failure.hint.as_deref(),
            exit_code: failure.kind.exit_code(),
        }
    }
}

/// Says why a client could not be started in its terminal.
#[cfg(unix)]
pub(crate) fn failure_to_start(error: &std::io::Error) -> ExitCode {
    let _ = writeln!(std::io::stderr().lock(), "stopgate: could not start the client: {error}");
    ExitCode::from(127)
}

/// Prints what is wrong with the arguments of a command that answers in JSON.
pub(crate) fn usage_error(message: &str) -> ExitCode {
    failure(&Failure::usage(message), Audience::Programs)
}

/// `text` in a style.
pub(crate) fn styled(style: Style, text: &str) -> String {
    format!("{}{text}{}", paint(style), reset())
}

/// The style of a loop's state or outcome.
pub(crate) fn mood(view: &LoopView) -> Style {
    match (view.outcome, view.state) {
        (Some(LoopOutcome::Done), _) => GOOD,
        (Some(LoopOutcome::Attested), _)
        | (None, LoopState::Waiting | LoopState::Paused | LoopState::Idle) => WAITS,
        (Some(_), _) => BAD,
        (None, _) => AnsiColor::Cyan.on_default(),
    }
}

/// Milliseconds as people say them.
pub(crate) fn span(millis: i64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _long => format!("{} days", seconds / 86_400),
    }
}

fn paint(style: Style) -> String {
    style.render().to_string()
}

fn reset() -> String {
    anstyle::Reset.render().to_string()
}
