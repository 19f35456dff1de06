//! `--dialect criteria`: the lifecycle of a loop in `.loop/state.json`.

use std::fmt::Write;
use std::process::ExitCode;

use serde::Serialize;
use stopgate_dialects::Dialect;
use stopgate_dialects::criteria::{IterationChange, NewCriteria};
use stopgate_engine::{
    Completion, CriteriaView, DialectCall, Failure, Incumbent, LoopView, review_goal,
};

use super::dialects::{self, DialectWord};
use super::start;
use crate::output::{self, Audience, BAD, CommandResult, styled};

/// Record the result of one iteration of a loop kept in another tool's files
///
/// Counts it, moves the circuit breaker, and sets the exit signal once every criterion is met.
#[derive(Debug, clap::Args)]
pub(crate) struct IterateArgs {
    /// Whose files keep the loop
    #[arg(long, value_enum, value_name = "D")]
    dialect: DialectWord,
    /// A criterion that was verified (repeatable)
    #[arg(long, value_name = "NAME")]
    met: Vec<String>,
    /// A criterion that does not hold, or no longer (repeatable)
    #[arg(long, value_name = "NAME")]
    unmet: Vec<String>,
    /// A step that is done now (repeatable)
    #[arg(long, value_name = "STEP")]
    step_done: Vec<String>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Complete a loop in another tool's files; refused while a criterion is unmet
#[derive(Debug, clap::Args)]
pub(crate) struct CompleteArgs {
    /// Whose files keep the loop
    #[arg(long, value_enum, value_name = "D")]
    dialect: DialectWord,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct CriteriaAnswer<'a> {
    #[serde(rename = "loop")]
    found: &'a LoopView,
    record: &'a CriteriaView,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'a str>,
}

/// `start --dialect criteria`
pub(crate) fn start(args: &start::Args) -> CommandResult {
    let incumbent = if args.replace { Incumbent::Replace } else { Incumbent::Keep };
    let goal = args.goal.as_deref().unwrap_or_default();
    let new = NewCriteria {
        spec: goal,
        criteria: &args.criterion,
        steps: &args.step,
        checks: &args.check,
        score: None,
    };
    let view = desk()?.criteria_start(&new, incumbent)?;
    let review = review_goal(goal, args.check.len(), args.criterion.len());
    let mut sentence = format!("The loop has begun in {}.\n{}", view.file.display(), view.block);
    if review.needs_clarity() {
        let _ = write!(
            sentence,
            "\nThe request is vague ({} of 10 points): stopgate lint says what to make clearer.",
            review.score
        );
    }
    Ok(show(&view, args.json.into(), &sentence))
}

/// `iterate --dialect criteria`
pub(crate) fn iterate(args: IterateArgs) -> CommandResult {
    only_criteria("iterate", args.dialect)?;
    let change = IterationChange { met: args.met, unmet: args.unmet, steps_done: args.step_done };
    let view = desk()?.criteria_iterate(&change)?;
    let mut sentence = view.block.clone();
    if let Some(why) = view.unrun {
        let _ = write!(sentence, "\nIts checks did not run: {why}.");
    }
    Ok(show(&view, args.json.into(), &sentence))
}

/// `complete --dialect criteria`
pub(crate) fn complete(args: &CompleteArgs) -> CommandResult {
    only_criteria("complete", args.dialect)?;
    match desk()?.criteria_complete()? {
        Completion::Completed(view) => Ok(show(&view, args.json.into(), "<loop-complete>")),
        Completion::Refused { why, view } => {
            if args.json {
                print(&view, Some(&why));
            } else {
                output::line(&format!("{} {why}", styled(BAD, "Not done:")));
                output::line(&view.block);
            }
            Ok(ExitCode::FAILURE)
        }
    }
}

/// `cancel --dialect criteria`
pub(crate) fn cancel(to: Audience) -> CommandResult {
    let view = desk()?.criteria_cancel()?;
    let list = |steps: &[String]| if steps.is_empty() { "none".into() } else { steps.join(", ") };
    let sentence = format!(
        "The loop is cancelled; its agent may stop. Its record stays in {}.\n\
         Steps done: {}\nSteps left: {}",
        view.file.display(),
        list(&view.completed_steps),
        list(&view.remaining_steps)
    );
    Ok(show(&view, to, &sentence))
}

/// `pause --dialect criteria`
pub(crate) fn pause(to: Audience) -> CommandResult {
    let view = desk()?.criteria_pause()?;
    Ok(show(&view, to, "The loop is paused; go on with: stopgate resume --dialect criteria"))
}

/// `resume --dialect criteria`
pub(crate) fn resume(to: Audience) -> CommandResult {
    let view = desk()?.criteria_resume()?;
    Ok(show(&view, to, &format!("The loop goes on.\n{}", view.block)))
}

/// `status --dialect criteria --block`
pub(crate) fn block(dialect: Dialect) -> CommandResult {
    if dialect != Dialect::Criteria {
        return Err(Failure::usage(format!("--dialect {dialect} has no status block")));
    }
    output::line(&desk()?.criteria_status()?.block);
    Ok(ExitCode::SUCCESS)
}

fn desk() -> Result<DialectCall, Failure> {
    dialects::desk(Dialect::Criteria)
}

fn only_criteria(command: &str, dialect: DialectWord) -> Result<(), Failure> {
    match dialect {
        DialectWord::Criteria => Ok(()),
        other @ DialectWord::Task => Err(dialects::unbuilt(command, other.into())
            .hint(format!("a task has commands of its own: stopgate task {command}"))),
        other @ (DialectWord::Idle | DialectWord::Features | DialectWord::RalphLoop) => {
            Err(dialects::unbuilt(command, other.into()))
        }
    }
}

fn show(view: &CriteriaView, to: Audience, sentence: &str) -> ExitCode {
    match to {
        Audience::Programs => print(view, None),
        Audience::People => output::line(sentence),
    }
    ExitCode::SUCCESS
}

fn print(view: &CriteriaView, refused: Option<&str>) {
    output::json(&CriteriaAnswer { found: &view.found, record: view, refused });
}
