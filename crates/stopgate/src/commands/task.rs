//! `task`: the lifecycle of a task record, for agents and people.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use serde::Serialize;
use stopgate_dialects::Dialect;
use stopgate_dialects::task::{JUDGE_PROMPT, NewTask, Shape};
use stopgate_engine::{
    DialectCall, DialectRequest, Failure, OkForm, Settings, TaskChange, TaskView,
};

use super::common;
use crate::output::{self, Audience, BOLD, CommandResult, DIM, styled};
use crate::stores::STORES;

/// Keep a task record: begin, iterate, pause, resume, complete
///
/// The record is the one that `--task-file` names; in an agent's shell, without it, the one
/// that is in progress in the agent's own task directory. `stopgate hook claude --dialect task`
/// judges stops by the same record.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
    /// The task record
    #[arg(long, global = true, value_name = "FILE")]
    task_file: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Start(StartArgs),
    Iterate(IterateArgs),
    /// Pause the task until it is resumed
    Pause {
        /// Why
        why: String,
    },
    Resume(ResumeArgs),
    /// End the task on your word and summarize it
    Complete,
    /// Show how the task stands and what comes next
    Status,
    Prompt(PromptArgs),
}

/// Begin a task
#[derive(Debug, clap::Args)]
struct StartArgs {
    /// The full request; its first line becomes the subject
    spec: String,
    /// A step, in order (repeatable)
    #[arg(long, value_name = "STEP")]
    step: Vec<String>,
    /// How independently the agent may work; `stopgate score` suggests it
    #[arg(long, value_enum, default_value = "tool")]
    shape: ShapeWord,
    /// Money allowed
    #[arg(long, value_name = "USD", value_parser = money)]
    budget: Option<f64>,
    /// How often the agent may be sent back
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_iterations: Option<u32>,
    /// The task's name
    #[arg(long, value_name = "ID", default_value = "1")]
    id: String,
}

/// Record the result of one iteration
#[derive(Debug, clap::Args)]
struct IterateArgs {
    /// A step that is done now (repeatable)
    #[arg(long, value_name = "STEP")]
    step_done: Vec<String>,
    /// An error that occurred; the class is transient, logic, blocking or unknown (repeatable)
    #[arg(long, value_name = "CLASS:MESSAGE", value_parser = error)]
    error: Vec<(String, String)>,
    /// Money spent so far
    #[arg(long, value_name = "USD", value_parser = money)]
    cost: Option<f64>,
}

/// Resume a paused task
#[derive(Debug, clap::Args)]
struct ResumeArgs {
    /// How often the agent may be sent back in total
    #[arg(long, value_name = "N")]
    max_iterations: Option<u32>,
    /// Money allowed in total
    #[arg(long, value_name = "USD", value_parser = money)]
    budget: Option<f64>,
}

/// Print the prompt of a hook that lets a model judge the stop instead
#[derive(Debug, clap::Args)]
struct PromptArgs {
    /// Print the whole entry for the agent's settings
    #[arg(long)]
    settings: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ShapeWord {
    /// Alone, to the end
    Tool,
    /// With questions along the way
    Colleague,
}

impl From<ShapeWord> for Shape {
    fn from(word: ShapeWord) -> Self {
        match word {
            ShapeWord::Tool => Self::Tool,
            ShapeWord::Colleague => Self::Colleague,
        }
    }
}

/// Runs one of them.
pub(crate) fn run(args: Args) -> CommandResult {
    let audience = Audience::from(args.json);
    let change = match args.command {
        Command::Prompt(PromptArgs { settings: true }) => return Ok(settings()),
        Command::Prompt(PromptArgs { settings: false }) => return Ok(prompt(audience)),
        Command::Status => {
            let view = desk(args.task_file)?.task_status()?;
            return Ok(show(&view, audience));
        }
        Command::Start(start) => {
            let view = desk(args.task_file)?.task_start(&new_task(start))?;
            return Ok(show(&view, audience));
        }
        Command::Iterate(IterateArgs { step_done, error, cost }) => {
            TaskChange::Iterate { steps_done: step_done, errors: error, cost }
        }
        Command::Pause { why } => TaskChange::Pause { why },
        Command::Resume(ResumeArgs { max_iterations, budget }) => {
            TaskChange::Resume { max_iterations, budget }
        }
        Command::Complete => TaskChange::Complete,
    };
    let view = desk(args.task_file)?.task_change(&change)?;
    Ok(show(&view, audience))
}

fn desk(task_file: Option<PathBuf>) -> Result<DialectCall, Failure> {
    let request = DialectRequest { dialect: Dialect::Task, task_file, form: OkForm::Full };
    DialectCall::new(Settings, STORES, request, common::directory()?)
}

fn new_task(args: StartArgs) -> NewTask {
    NewTask {
        id: args.id,
        spec: args.spec,
        steps: args.step,
        shape: Some(args.shape.into()),
        budget: args.budget,
        max_iterations: args.max_iterations,
    }
}

fn show(view: &TaskView, audience: Audience) -> ExitCode {
    if audience == Audience::Programs {
        output::json_member("task", view);
        return ExitCode::SUCCESS;
    }
    let limit = view.max_iterations.map(|max| format!(" of {max}")).unwrap_or_default();
    output::line(&format!("{} is {}", styled(BOLD, &view.subject), view.status));
    let steps = view.completed.len() + view.remaining.len();
    output::line(&styled(
        DIM,
        &format!(
            "  iteration {}{limit}; {} of {steps} steps; {} errors; {}",
            view.iteration,
            view.completed.len(),
            view.errors,
            view.file.display()
        ),
    ));
    output::line(&view.told);
    ExitCode::SUCCESS
}

#[derive(Serialize)]
struct PromptAnswer {
    prompt: &'static str,
    timeout: u32,
}

/// How long a model may think about a stop, in seconds.
const JUDGE_SECONDS: u32 = 30;

fn prompt(audience: Audience) -> ExitCode {
    match audience {
        Audience::People => output::line(JUDGE_PROMPT),
        Audience::Programs => {
            output::json(&PromptAnswer { prompt: JUDGE_PROMPT, timeout: JUDGE_SECONDS });
        }
    }
    ExitCode::SUCCESS
}

/// Prints the entry for the agent's settings, which are JSON anyway.
fn settings() -> ExitCode {
    let hook =
        serde_json::json!({"type": "prompt", "prompt": JUDGE_PROMPT, "timeout": JUDGE_SECONDS});
    output::line(&format!("{:#}", serde_json::json!({"hooks": {"Stop": [{"hooks": [hook]}]}})));
    ExitCode::SUCCESS
}

fn error(text: &str) -> Result<(String, String), String> {
    let wrong = "write it as CLASS:MESSAGE, for example logic:'2 tests fail'";
    let (class, message) = text.split_once(':').ok_or(wrong)?;
    let known = ["transient", "logic", "blocking", "unknown"];
    if !known.contains(&class) || message.trim().is_empty() {
        return Err(format!("{wrong}; the class is one of {}", known.join(", ")));
    }
    Ok((class.into(), message.trim().into()))
}

fn money(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.trim_start_matches('$').parse().ok();
    number
        .filter(|number| number.is_finite() && *number >= 0.0)
        .ok_or_else(|| format!("`{text}` is not an amount of money; write for example 25 or 2.50"))
}
