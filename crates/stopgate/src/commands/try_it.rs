//! `try`: the whole thing in a few seconds, with a scripted agent.
//!
//! The agent is made up, everything else is real: this very program is started as the
//! hook, with the payloads of the real client, and its answers are shown as they are.

mod play;

mod script;

mod show;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use stopgate_engine::{Failure, has_posix_shell};

use self::play::{Played, Stumble};
use self::script::SCENES;
use super::agent_files;
use super::client::door::is_interrupted;
use super::client::{Household, ThrowawayProject};
use crate::output::{self, CommandResult};

const PAUSE: Duration = Duration::from_millis(450);

/// See it work: a scripted agent stops too early, cheats, and at last does the work
///
/// Takes a few seconds and needs no account. The project is a temporary one, and neither
/// your settings nor your loops are touched.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pace: Pace,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, clap::Args)]
struct Pace {
    /// Don't pause between the steps
    #[arg(long)]
    fast: bool,
}

#[derive(Serialize)]
struct TryView<'a> {
    ok: bool,
    steps: &'a [Played],
    #[serde(skip_serializing_if = "Option::is_none")]
    stumble: Option<&'a str>,
}

/// Plays every scene.
pub(crate) fn run(args: &Args) -> CommandResult {
    let program = agent_files::program()?;
    if !has_posix_shell() {
        return Err(Failure::usage("`try` plays with shell scripts, and there is no POSIX shell")
            .hint(
                "install Git for Windows, which brings bash; your own checks may do without it",
            ));
    }
    let stage = ThrowawayProject::new(Household::Empty)?;
    let audience = Audience::of(args);
    audience.curtain();
    let mut steps = Vec::new();
    let stumble = perform(&stage, &program, audience, &mut steps).err();
    if args.json {
        output::json(&TryView {
            ok: stumble.is_none(),
            steps: &steps,
            stumble: stumble.as_ref().map(|stumble| stumble.0.as_str()),
        });
    } else if stumble.is_none() {
        show::end(&steps);
    }
    let left = stage.close();
    if is_interrupted() {
        return Err(Failure::interrupted("interrupted"));
    }
    match stumble {
        None => left.map(|()| ExitCode::SUCCESS),
        Some(_) if args.json => Ok(ExitCode::FAILURE),
        Some(Stumble(what)) => {
            output::failure(
                &Failure::fault(what).hint("stopgate doctor may tell why"),
                output::Audience::People,
            );
            Ok(ExitCode::FAILURE)
        }
    }
}

fn perform(
    stage: &ThrowawayProject,
    program: &std::path::Path,
    audience: Audience,
    steps: &mut Vec<Played>,
) -> Result<(), Stumble> {
    for scene in &SCENES {
        let acting = play::begin(stage, program, scene)?;
        audience.watch(|| show::scene(scene, &acting.told));
        for step in scene.steps {
            let played = acting.play(step)?;
            audience.watch(|| show::step(steps.len() + 1, &played));
            steps.push(played);
        }
        acting.end()?;
    }
    Ok(())
}

/// Who looks on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Audience {
    /// A person who wants time to read.
    Watching,
    /// A person, or a file, that wants it at once.
    Reading,
    /// A program: it gets everything at the end.
    Program,
}

impl Audience {
    fn of(args: &Args) -> Self {
        match (args.json, args.pace.fast || !std::io::stdout().is_terminal()) {
            (true, _) => Self::Program,
            (false, true) => Self::Reading,
            (false, false) => Self::Watching,
        }
    }

    fn curtain(self) {
        self.watch(show::curtain);
    }

    fn watch(self, show: impl FnOnce()) {
        match self {
            Self::Watching => {
                show();
                std::thread::sleep(PAUSE);
            }
            Self::Reading => show(),
            Self::Program => {}
        }
    }
}
