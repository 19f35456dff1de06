//! `run`: carries a loop through session after session of an agent.

mod board;
mod jobs;
mod show;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap_complete::engine::ArgValueCandidates;
use stopgate_core::Outcome as LoopOutcome;
use stopgate_drive::{
    AgentCommand, AnswerPlan, DriveEnd, DriveEnded, DriveNews, DrivePlan, FailureLimits,
    FeatureBuilder, FreshPolicy, Interrupts, SessionScreen, Waits, WorkPlace, drive_file,
    drive_native,
};
use stopgate_engine::{DialectRequest, Engine, Failure, LoopTarget, OkForm, Settings, span_ms};
use stopgate_view::markdown;

use super::common;
use super::completions::loops;
use super::dialects::DialectWord;
use super::status;
use crate::output::{self, CommandResult};
use crate::stores::STORES;

const INTERRUPTED: u8 = 130;

/// Drive a loop through many sessions, with nobody at the keyboard
///
/// Starts the agent after `--` in a fresh session per iteration, hands over what is open, reads its
/// output, waits for rate limits, resumes after crashes, and ends when the loop does. Clients are
/// known by their program's name (claude, codex, gemini, qwen, copilot, opencode, kimi, pi); any
/// other command gets the prompt on standard input, or where `{prompt}`, `{prompt_file}` and `{model}`
/// stand in its arguments. Your own flags for the client, such as its permissions, go after it.
///
/// With `--worktree` the work is done on a branch of its own and merged when the proof holds on the
/// merged tree; a conflict waits for you as `needs_approval` (4). `--jobs N` builds the features of a
/// list so, side by side.
///
/// Exit codes are those of the loop's outcome: 0 done, 3 a limit, 4 a person is needed, 5 tampered,
/// 6 cancelled, 75 rate-limited (with --no-wait), 130 interrupted. Ctrl-C once ends the run after
/// this session, twice now; `run --continue` goes on.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// The loop's id or the beginning of it; without it the only one running here
    #[arg(value_name = "LOOP", add = ArgValueCandidates::new(loops), conflicts_with = "dialect")]
    name: Option<String>,
    /// Go on after a crash, an interrupt or a limit: no prompt is sent twice
    #[arg(long = "continue")]
    continues: bool,
    /// When a fresh session begins: every (iteration), after N iterations, or on-context (when the
    /// context is nearly full)
    #[arg(long, value_name = "every|N|on-context", default_value = "every", value_parser = fresh)]
    fresh: FreshPolicy,
    /// Do not wait for a rate limit: leave with exit code 75
    #[arg(long)]
    no_wait: bool,
    /// Keep each session's output in this directory
    #[arg(long, value_name = "DIR")]
    log: Option<PathBuf>,
    /// The loop is kept in another tool's files: features or task
    #[arg(long, value_enum, value_name = "D")]
    dialect: Option<DialectWord>,
    /// Work in a git worktree of the loop's own; merge when the proof holds on the merged tree
    #[arg(long)]
    worktree: bool,
    /// Build the features of a list side by side, N at a time, each in a worktree of its own
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64), conflicts_with = "name")]
    jobs: Option<u16>,
    /// The task record of --dialect task
    #[arg(long, value_name = "F", requires = "dialect")]
    task_file: Option<PathBuf>,
    /// Failures in a row after which the loop ends as `infra_error`
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    max_failures: u32,
    /// The first pause after a failure of the service; it doubles
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = span_ms)]
    retry_after: u64,
    /// A session that prints nothing for so long is ended, and resumed once
    #[arg(long, value_name = "TIME", default_value = "6m", value_parser = span_ms)]
    hang_after: u64,
    /// Wait so long for an answer when the agent asks something; without it the run ends (4)
    #[arg(long, value_name = "TIME", value_parser = span_ms)]
    answer_within: Option<u64>,
    /// What is answered when no answer came in time
    #[arg(long, value_name = "TEXT", requires = "answer_within")]
    default_answer: Option<String>,
    /// The model, where a feature names none
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// The model for features of a category
    #[arg(long, value_name = "CATEGORY=MODEL", value_parser = pair)]
    model_for: Vec<(String, String)>,
    /// Show lines instead of the client's own screen, also in a terminal
    #[arg(long)]
    headless: bool,
    /// Give each session a window of its own in the tmux that this runs in
    #[arg(long, conflicts_with = "headless")]
    tmux: bool,
    /// Let a sub-agent of the session build each feature, with the feature's model (Claude Code)
    #[arg(long, requires = "dialect")]
    sub_agents: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
    /// The agent and its own flags
    #[arg(last = true, required = true, value_name = "AGENT")]
    agent: Vec<String>,
}

/// Drives the loop.
pub(crate) fn run(args: &Args) -> CommandResult {
    let plan = plan(args)?;
    if let Some(jobs) = args.jobs {
        return jobs::run(args, &plan, jobs.into());
    }
    if args.worktree && args.dialect.is_some() {
        return Err(Failure::usage("--worktree works with loops of stopgate's own")
            .hint("features of a list have worktrees with --jobs N"));
    }
    let interrupts = Interrupts::listen();
    let mut shown = show::DriveScreen::new(args.json.into());
    let mut tell = |news: &DriveNews<'_>| shown.tell(news);
    let ended = if let Some(dialect) = args.dialect {
        let task_file = args.task_file.clone();
        let request = DialectRequest { dialect: dialect.into(), task_file, form: OkForm::Full };
        let from = (Settings, STORES);
        drive_file(from, request, common::directory()?, &plan, &interrupts, &mut tell)?
    } else {
        let target = common::target(args.name.as_deref(), None)?;
        let mut engine = common::engine()?;
        warn_of_prices(&mut engine, &target, &plan)?;
        drive_native(engine, &target, &plan, &interrupts, &mut tell)?
    };
    drop(shown);
    finish(args, ended)
}

/// Says so where the loop has a limit on money and a model is named that has no price.
fn warn_of_prices(
    engine: &mut Engine,
    target: &LoopTarget,
    plan: &DrivePlan,
) -> Result<(), Failure> {
    let state = engine.loops().resolve(target)?.state;
    if state.policy.max_cost_micros > 0 {
        let models: Vec<&str> = plan.models_named().collect();
        common::warn_of_prices(&engine.metering().unpriced_models(&state.project, &models));
    }
    Ok(())
}

fn plan(args: &Args) -> Result<DrivePlan, Failure> {
    let command = AgentCommand::read(&args.agent)?;
    if args.sub_agents && !command.has_sub_agents() {
        let name = command.name();
        return Err(Failure::usage(format!("{name} has no sub-agents that run can define"))
            .hint("use claude, or leave out --sub-agents"));
    }
    let screen = if args.tmux {
        SessionScreen::Tmux
    } else if args.headless || args.json || !common::has_person() {
        SessionScreen::Headless
    } else {
        SessionScreen::Terminal
    };
    Ok(DrivePlan {
        command,
        fresh: args.fresh,
        limits: FailureLimits {
            max_failures: args.max_failures,
            retry_after: Duration::from_millis(args.retry_after),
            waits: if args.no_wait { Waits::Never } else { Waits::ForReset },
        },
        hang_after: Duration::from_millis(args.hang_after),
        log: args.log.clone(),
        answer: AnswerPlan {
            within: args.answer_within.map(Duration::from_millis),
            default: args.default_answer.clone(),
        },
        screen,
        model: args.model.clone(),
        models: args.model_for.clone(),
        continues: args.continues,
        builder: if args.sub_agents { FeatureBuilder::SubAgent } else { FeatureBuilder::Session },
        place: if args.worktree { WorkPlace::Worktree } else { WorkPlace::Project },
    })
}

/// Prints the report and says how it ended.
fn finish(args: &Args, ended: DriveEnded) -> CommandResult {
    let DriveEnded { end, view, sessions } = ended;
    let code = match end {
        DriveEnd::Interrupted => INTERRUPTED,
        DriveEnd::Loop => status::exit_code(&view),
    };
    if args.json {
        output::json_member("loop", &view);
        return Ok(ExitCode::from(code));
    }
    if args.dialect.is_none() {
        let mut engine = common::engine()?;
        output::document(&markdown(
            &engine.records().report_on(&LoopTarget::Named(view.id.clone()))?,
        ));
    } else {
        output::document(&show::file_report(&view, sessions));
    }
    let outcome = view.outcome.map_or(view.state.word(), LoopOutcome::word);
    let why = view.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    let many = if sessions == 1 { "" } else { "s" };
    let what = match end {
        DriveEnd::Interrupted => {
            format!("Interrupted after {sessions} session{many}; the loop is {outcome}.")
        }
        DriveEnd::Loop => format!("{outcome} after {sessions} session{many}{why}"),
    };
    output::line(&what);
    if let Some(hint) = show::next_hint(&view, end) {
        output::line(&hint);
    }
    Ok(ExitCode::from(code))
}

fn fresh(word: &str) -> Result<FreshPolicy, String> {
    match word {
        "every" => Ok(FreshPolicy::Every),
        "on-context" => Ok(FreshPolicy::OnContext),
        number => match number.parse::<u32>() {
            Ok(most @ 1..) => Ok(FreshPolicy::After(most)),
            Ok(0) | Err(_) => Err("say every, on-context or a number above 0".into()),
        },
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, model)) if !name.is_empty() && !model.is_empty() => {
            Ok((name.into(), model.into()))
        }
        Some(_) | None => Err("write it as CATEGORY=MODEL".into()),
    }
}
