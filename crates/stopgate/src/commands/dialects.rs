//! `--dialect D`: commands on loops that somebody else's files keep.

use std::process::ExitCode;

use stopgate_core::Frame;
use stopgate_dialects::Dialect;
use stopgate_engine::{
    Desk, DialectRequest, Failure, Incumbent, LoopView, OkForm, Settings, StatusView,
};

use super::common;
use super::criteria;
use super::start::{Args, MAX_ITERATIONS, ModeWord};
use crate::output::{self, Audience, Outcome};
use crate::stores::STORES;

/// Whose files keep the loop.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum DialectWord {
    /// A topic of a message store, or .claude/idle-loop.local.md
    Idle,
    /// A feature list and a progress file
    Features,
    /// Criteria in .loop/state.json
    Criteria,
    /// A task record
    Task,
    /// .claude/ralph-loop.local.md
    RalphLoop,
}

impl From<DialectWord> for Dialect {
    fn from(word: DialectWord) -> Self {
        match word {
            DialectWord::Idle => Self::Idle,
            DialectWord::Features => Self::Features,
            DialectWord::Criteria => Self::Criteria,
            DialectWord::Task => Self::Task,
            DialectWord::RalphLoop => Self::RalphLoop,
        }
    }
}

/// The desk of a command in this folder.
pub(crate) fn desk(dialect: Dialect) -> Result<Desk, Failure> {
    let request = DialectRequest { dialect, task_file: None, form: OkForm::Full };
    Desk::new(Settings, STORES, request, common::folder()?)
}

/// A new frame as the command line describes it.
pub(crate) fn frame(prompt: &str, mode: ModeWord, max: u32) -> Frame {
    Frame { mode: mode.into(), iteration: 0, max, prompt: prompt.trim().into() }
}

/// `start --dialect D`
pub(crate) fn start(dialect: Dialect, args: &Args) -> Outcome {
    match dialect {
        Dialect::Idle => {
            refuse_flags(dialect, args)?;
            let incumbent = if args.replace { Incumbent::Replace } else { Incumbent::Keep };
            let max = args.max_iterations.unwrap_or(MAX_ITERATIONS);
            let frame = frame(&args.goal, args.mode, max);
            let view = desk(dialect)?.idle_start(&frame, incumbent)?;
            let sentence = format!("Idle loop {} has begun: {}", view.id, view.goal);
            Ok(show(view, args.json.into(), &sentence))
        }
        Dialect::Criteria => {
            refuse_flags(dialect, args)?;
            criteria::start(args)
        }
        Dialect::Features => Err(unbuilt("start", dialect)
            .hint("make the loop with: stopgate features init --feature \"what is to be built\"")),
        Dialect::Task | Dialect::RalphLoop => Err(unbuilt("start", dialect)),
    }
}

/// A flag that means nothing to a format is an error, never ignored.
fn refuse_flags(dialect: Dialect, args: &Args) -> Result<(), Failure> {
    let known: &[&str] = match dialect {
        Dialect::Criteria => &["--criterion", "--step"],
        Dialect::Idle | Dialect::RalphLoop => &["--max-iterations"],
        Dialect::Features | Dialect::Task => &[],
    };
    let given = [
        ("--criterion", !args.criterion.is_empty()),
        ("--step", !args.step.is_empty()),
        ("--max-iterations", args.max_iterations.is_some()),
        ("--session", args.session.is_some()),
    ];
    let strange = given.iter().find(|(flag, given)| *given && !known.contains(flag));
    match strange {
        Some((flag, _)) => {
            Err(Failure::usage(format!("{flag} means nothing to a loop in --dialect {dialect}")))
        }
        None => Ok(()),
    }
}

/// `push --dialect D`
pub(crate) fn push(dialect: Dialect, frame: &Frame, to: Audience) -> Outcome {
    match dialect {
        Dialect::Idle => {
            let view = desk(dialect)?.idle_push(frame)?;
            let depth = view.frames.len().saturating_sub(1);
            Ok(show(view, to, &format!("Frame {depth}: {}", frame.prompt)))
        }
        Dialect::Features | Dialect::Criteria | Dialect::Task | Dialect::RalphLoop => {
            Err(unbuilt("push", dialect))
        }
    }
}

/// `resume --dialect D`
pub(crate) fn resume(dialect: Dialect, max: Option<u32>, to: Audience) -> Outcome {
    match dialect {
        Dialect::Idle if max.is_some() => {
            Err(Failure::usage("--max-iterations can't be changed in an idle loop"))
        }
        Dialect::Idle => {
            let view = desk(dialect)?.idle_resume()?;
            let sentence = format!("Idle loop {} goes on.", view.id);
            Ok(show(view, to, &sentence))
        }
        Dialect::Criteria if max.is_some() => {
            Err(Failure::usage("a criteria loop has no --max-iterations"))
        }
        Dialect::Criteria => criteria::resume(to),
        Dialect::Features | Dialect::Task | Dialect::RalphLoop => Err(unbuilt("resume", dialect)),
    }
}

/// `pause --dialect D`
pub(crate) fn pause(dialect: Dialect, to: Audience) -> Outcome {
    match dialect {
        Dialect::Criteria => criteria::pause(to),
        Dialect::Idle | Dialect::Features | Dialect::Task | Dialect::RalphLoop => {
            Err(unbuilt("pause", dialect))
        }
    }
}

/// `cancel --dialect D`
pub(crate) fn cancel(dialect: Dialect, to: Audience) -> Outcome {
    match dialect {
        Dialect::Idle => {
            let view = desk(dialect)?.idle_cancel()?;
            let sentence = format!("Idle loop {} is cancelled; its agent may stop.", view.id);
            Ok(show(view, to, &sentence))
        }
        Dialect::RalphLoop => {
            let view = desk(dialect)?.ralph_loop_cancel()?;
            Ok(show(view, to, "The loop is cancelled; its agent may stop."))
        }
        Dialect::Criteria => criteria::cancel(to),
        Dialect::Features | Dialect::Task => Err(unbuilt("cancel", dialect)),
    }
}

/// `status --dialect D`
pub(crate) fn view(dialect: Dialect) -> Result<LoopView, Failure> {
    match dialect {
        Dialect::Idle => desk(dialect)?.idle_view(),
        Dialect::RalphLoop => desk(dialect)?.ralph_loop_view(),
        Dialect::Features => desk(dialect)?.features_view(),
        Dialect::Criteria => Ok(desk(dialect)?.criteria_status()?.found),
        Dialect::Task => Err(unbuilt("status", dialect)),
    }
}

/// Prints a loop: as JSON, or a sentence for people.
pub(crate) fn show(view: LoopView, to: Audience, sentence: &str) -> ExitCode {
    match to {
        Audience::Programs => output::json(&StatusView::of(view)),
        Audience::People => output::line(sentence),
    }
    ExitCode::SUCCESS
}

pub(crate) fn unbuilt(command: &str, dialect: Dialect) -> Failure {
    let failure = Failure::usage(format!("{command} knows no --dialect {dialect}"));
    match dialect {
        Dialect::Task => failure.hint("tasks have commands of their own: stopgate task --help"),
        Dialect::Idle | Dialect::Features | Dialect::Criteria | Dialect::RalphLoop => failure,
    }
}
