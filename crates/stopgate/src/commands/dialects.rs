//! `--dialect D`: commands on loops that another tool's files keep.

use std::process::ExitCode;

use stopgate_core::Frame;
use stopgate_dialects::Dialect;
use stopgate_engine::{
    DialectCall, DialectRequest, Failure, Incumbent, LoopView, OkForm, Settings,
};

use super::common;
use super::criteria;
use super::start::{Args, MAX_ITERATIONS, ModeWord};
use crate::output::{self, Audience, CommandResult};
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

/// The desk of a command in this directory.
pub(crate) fn desk(dialect: Dialect) -> Result<DialectCall, Failure> {
    let request = DialectRequest { dialect, task_file: None, form: OkForm::Full };
    DialectCall::new(Settings, STORES, request, common::directory()?)
}

/// A new frame as the command line describes it.
pub(crate) fn frame(prompt: &str, mode: ModeWord, max: u32) -> Frame {
    Frame { mode: mode.into(), iteration: 0, max, prompt: prompt.trim().into() }
}

/// `start --dialect D`
pub(crate) fn start(dialect: Dialect, args: &Args) -> CommandResult {
    match dialect {
        Dialect::Idle => {
            refuse_flags(dialect, args)?;
            let incumbent = if args.replace { Incumbent::Replace } else { Incumbent::Keep };
            let max = args.max_iterations.unwrap_or(MAX_ITERATIONS);
            let frame = frame(args.goal.as_deref().unwrap_or_default(), args.mode, max);
            let view = desk(dialect)?.idle_start(&frame, incumbent)?;
            let sentence = format!("Idle loop {} has begun: {}", view.id, view.goal);
            Ok(show(&view, args.json.into(), &sentence))
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
        Dialect::Criteria => &["--criterion", "--step", "--check"],
        Dialect::Idle | Dialect::RalphLoop => &["--max-iterations"],
        Dialect::Features | Dialect::Task => &[],
    };
    let given = [
        ("--criterion", !args.criterion.is_empty()),
        ("--step", !args.step.is_empty()),
        ("--check", !args.check.is_empty()),
        ("--max-iterations", args.max_iterations.is_some()),
        ("--session", args.session.is_some()),
    ];
    let strange = given.iter().find(|(flag, given)| *given && !known.contains(flag));
    match strange {
        Some((flag, _)) => {
            Err(Failure::usage(format!("{flag} has no effect on a loop of --dialect {dialect}")))
        }
        None => Ok(()),
    }
}

/// `push --dialect D`
pub(crate) fn push(dialect: Dialect, frame: &Frame, to: Audience) -> CommandResult {
    match dialect {
        Dialect::Idle => {
            let view = desk(dialect)?.idle_push(frame)?;
            let depth = view.frames.len().saturating_sub(1);
            Ok(show(&view, to, &format!("Frame {depth}: {}", frame.prompt)))
        }
        Dialect::Features | Dialect::Criteria | Dialect::Task | Dialect::RalphLoop => {
            Err(unbuilt("push", dialect))
        }
    }
}

/// `pop --dialect D`
pub(crate) fn pop(dialect: Dialect, to: Audience) -> CommandResult {
    match dialect {
        Dialect::Idle => {
            let view = desk(dialect)?.idle_pop()?;
            let top = view.frames.last().map_or_else(String::new, |frame| frame.prompt.clone());
            Ok(show(&view, to, &format!("Back to: {top}")))
        }
        Dialect::Features | Dialect::Criteria | Dialect::Task | Dialect::RalphLoop => {
            Err(unbuilt("pop", dialect))
        }
    }
}

/// `resume --dialect D`
pub(crate) fn resume(dialect: Dialect, max: Option<u32>, to: Audience) -> CommandResult {
    if max.is_some() {
        return Err(Failure::usage(format!(
            "--max-iterations can't be changed in a loop of --dialect {dialect}"
        )));
    }
    if dialect == Dialect::Criteria {
        return criteria::resume(to);
    }
    let view = desk(dialect)?.resume()?;
    let sentence = format!("{} goes on.", title(dialect, &view));
    Ok(show(&view, to, &sentence))
}

/// `pause --dialect D`
pub(crate) fn pause(dialect: Dialect, to: Audience) -> CommandResult {
    if dialect == Dialect::Criteria {
        return criteria::pause(to);
    }
    let view = desk(dialect)?.pause()?;
    let what = title(dialect, &view);
    let sentence = format!("{what} is paused; let it go on: stopgate resume --dialect {dialect}");
    Ok(show(&view, to, &sentence))
}

/// `cancel --dialect D`
pub(crate) fn cancel(dialect: Dialect, to: Audience) -> CommandResult {
    if dialect == Dialect::Criteria {
        return criteria::cancel(to);
    }
    let view = desk(dialect)?.cancel()?;
    let sentence = format!("{} is cancelled; its agent may stop.", title(dialect, &view));
    Ok(show(&view, to, &sentence))
}

/// `status --dialect D`
pub(crate) fn view(dialect: Dialect) -> Result<LoopView, Failure> {
    desk(dialect)?.view_loop()
}

fn title(dialect: Dialect, view: &LoopView) -> String {
    match dialect {
        Dialect::Idle => format!("Idle loop {}", view.id),
        Dialect::Task => "The task".into(),
        Dialect::Features | Dialect::Criteria | Dialect::RalphLoop => "The loop".into(),
    }
}

/// Prints a loop: as JSON, or a sentence for people.
pub(crate) fn show(view: &LoopView, to: Audience, sentence: &str) -> ExitCode {
    match to {
        Audience::Programs => output::json_member("loop", view),
        Audience::People => output::line(sentence),
    }
    ExitCode::SUCCESS
}

pub(crate) fn unbuilt(command: &str, dialect: Dialect) -> Failure {
    let failure = Failure::usage(format!("{command} does not work with --dialect {dialect}"));
    match dialect {
        Dialect::Task => failure.hint("tasks have commands of their own: stopgate task --help"),
        Dialect::Idle | Dialect::Features | Dialect::Criteria | Dialect::RalphLoop => failure,
    }
}
