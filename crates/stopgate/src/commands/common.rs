//! What commands on one loop share.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap_complete::engine::ArgValueCandidates;
use stopgate_engine::{Engine, Failure, LoopTarget, LoopView, PRICES_AS_OF, Settings, WaitsFor};
use stopgate_store::Stored;

use super::completions::{loops, sessions};
use crate::output::{self, Audience};
use crate::stores::STORES;

/// A yes or a no is not longer.
const ANSWER_BYTES_MAX: u64 = 64;

/// No prompt and no receipt is longer.
const NAMED_BYTES_MAX: u64 = 16 << 20;

/// Which loop, and how to answer.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct OnLoop {
    /// The loop's id or the beginning of it; without it this session's, else the only one running here
    #[arg(value_name = "LOOP", add = ArgValueCandidates::new(loops))]
    pub(crate) name: Option<String>,
    /// The loop that holds this session
    #[arg(long, value_name = "ID", conflicts_with = "name", add = ArgValueCandidates::new(sessions))]
    pub(crate) session: Option<String>,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl OnLoop {
    /// The loop that is meant.
    pub(crate) fn target(&self) -> Result<LoopTarget, Failure> {
        target(self.name.as_deref(), self.session.as_deref())
    }

    /// Prints the loop: as JSON, or `sentence` for people.
    pub(crate) fn show(
        &self,
        engine: &mut Engine,
        stored: &Stored,
        sentence: impl Fn(&LoopView) -> String,
    ) -> ExitCode {
        show(&engine.views().view(stored), self.json.into(), sentence)
    }
}

/// Prints a loop: as JSON, or `sentence` for people.
pub(crate) fn show(
    view: &LoopView,
    to: Audience,
    sentence: impl Fn(&LoopView) -> String,
) -> ExitCode {
    match to {
        Audience::Programs => output::json_member("loop", view),
        Audience::People => output::line(&sentence(view)),
    }
    ExitCode::SUCCESS
}

/// The loop called `name`, or that of `session`, or the one that is meant here.
pub(crate) fn target(name: Option<&str>, session: Option<&str>) -> Result<LoopTarget, Failure> {
    Ok(match (name, session) {
        (Some(name), _) => LoopTarget::Named(name.into()),
        (None, Some(session)) => LoopTarget::Session(session.into()),
        (None, None) => LoopTarget::Here(directory()?),
    })
}

/// The engine that the environment asks for.
pub(crate) fn engine() -> Result<Engine, Failure> {
    Engine::open(Settings, STORES)
}

/// Sees to it that somebody watches for what loops wait for that are shown.
pub(crate) fn watch_over(views: &[LoopView]) {
    if views.iter().any(|view| view.waiting == Some(WaitsFor::Condition)) {
        stopgate_daemon::nudge(Settings);
    }
}

/// The directory that the command was called in.
pub(crate) fn directory() -> Result<PathBuf, Failure> {
    Settings.working_directory().map_err(|error| {
        Failure::usage("could not determine the current directory")
            .hint("cd to a directory that exists")
            .because(error)
    })
}

/// What an empty answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Default {
    /// Yes.
    Yes,
    /// No.
    No,
}

/// Whether a person is there to ask.
pub(crate) fn has_person() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Asks a person a question whose answer is yes or no.
pub(crate) fn agrees(question: &str, default: Default) -> bool {
    output::ask(question);
    let mut answer = String::new();
    let _ = std::io::stdin().read_line(&mut answer);
    means_yes(&answer, default)
}

/// Whether an answer that was piped in says no: `echo n | stopgate approve`.
pub(crate) fn declines() -> bool {
    let mut answer = String::new();
    if crate::terminal::has_piped_answer() {
        let _ = BufReader::new(io::stdin().take(ANSWER_BYTES_MAX)).read_line(&mut answer);
    }
    !means_yes(&answer, Default::Yes)
}

/// Whether a person's answer to a question of yes or no means yes.
pub(crate) fn means_yes(answer: &str, default: Default) -> bool {
    match answer.trim().to_ascii_lowercase().as_str() {
        "" => default == Default::Yes,
        word => matches!(word, "y" | "yes"),
    }
}

/// The text of a file that the person named; a pipe will do, an endless one will not.
pub(crate) fn read_named(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(NAMED_BYTES_MAX + 1).read_to_string(&mut text)?;
    if read as u64 > NAMED_BYTES_MAX {
        let why = format!("it is larger than {} MiB", NAMED_BYTES_MAX >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(text)
}

/// Says so where a limit on money can't be kept, since nobody knows what a model costs.
pub(crate) fn warn_of_prices(unpriced: &[String]) {
    if unpriced.is_empty() {
        return;
    }
    let models = unpriced.join(", ");
    output::warn(&format!(
        "no price is known for {models}: the list of {PRICES_AS_OF} does not have it, so the cost \
         limit can't hold it. Give it a price: [prices] in config.toml"
    ));
}
