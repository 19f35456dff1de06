//! Commands for people and agents: one file each.

mod agent_exits;
mod agent_files;
mod agents;
mod approve;
mod attack;
mod cancel;
mod check_flags;
mod client;
mod common;
mod completions;
mod config;
mod controls;
mod criteria;
mod daemon;
mod dialects;
mod doctor;
mod edit;
mod explain;
mod features;
mod frames;
mod import;
mod init;
mod install;
mod interview;
mod lint;
mod list;
mod log;
mod man;
#[cfg(feature = "mcp")]
mod mcp;
mod overview;
mod preflight;
mod receipt;
mod replay;
mod report;
mod restore;
#[cfg(unix)]
mod run;
#[cfg(windows)]
#[path = "commands/run_windows.rs"]
mod run;
mod schema;
mod score;
mod start;
mod stats;
mod status;
mod statusline;
mod store;
mod task;
mod trust;
mod try_it;
mod uninstall;
mod verify;
mod wait;
#[cfg(feature = "tui")]
mod watch;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::output::{self, Audience};

/// The stop hook that lets a coding agent stop only when its work is proven.
///
/// An agent runs `stopgate hook AGENT` each time it is about to stop. Begin a loop with
/// `stopgate start GOAL`, and the agent works on until your checks pass, a limit is
/// reached, or you say so.
#[derive(Debug, Parser)]
#[command(name = "stopgate", version, max_term_width = 100, after_help = AFTER)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER: &str = "\
Exit codes: 0 fine, 1 not done, 2 usage, 3 a limit ended it, 4 a person is needed, 5 tampered,
6 cancelled, 66 no such loop, 70 fault in stopgate, 74 store unreachable, 75 try later,
130 interrupted. Kill switches: STOPGATE_DISABLE=1, or a file STOP in STOPGATE_HOME.
Every key of stopgate.toml: stopgate help toml; of your own settings: stopgate help config.toml.";

#[derive(Debug, Subcommand)]
enum Command {
    Start(start::Args),
    Status(status::Args),
    List(list::Args),
    Push(frames::PushArgs),
    Pop(frames::PopArgs),
    Done(agent_exits::DoneArgs),
    Blocked(agent_exits::BlockedArgs),
    Impossible(agent_exits::ImpossibleArgs),
    Ask(agent_exits::AskArgs),
    Wait(wait::Args),
    #[command(hide = true)]
    Hold(controls::HoldArgs),
    Pause(controls::PauseArgs),
    Resume(controls::ResumeArgs),
    Cancel(cancel::Args),
    Edit(edit::Args),
    Attach(controls::AttachArgs),
    Answer(controls::AnswerArgs),
    Verify(verify::Args),
    Approve(approve::Args),
    Receipt(receipt::Args),
    Attack(attack::Args),
    Trust(trust::TrustArgs),
    Untrust(trust::UntrustArgs),
    Config(config::Args),
    Schema(schema::Args),
    Explain(explain::Args),
    Log(log::Args),
    Stats(stats::Args),
    Report(report::Args),
    Replay(replay::Args),
    Run(run::Args),
    Restore(restore::Args),
    #[cfg(feature = "tui")]
    Watch(watch::Args),
    Statusline(statusline::Args),
    Iterate(criteria::IterateArgs),
    Complete(criteria::CompleteArgs),
    Features(features::Args),
    Task(task::Args),
    Score(score::Args),
    Import(import::Args),
    Store(store::Args),
    Init(init::Args),
    Lint(lint::Args),
    Install(install::Args),
    Uninstall(uninstall::Args),
    Doctor(doctor::Args),
    Daemon(daemon::Args),
    Agents(agents::Args),
    Try(try_it::Args),
    #[cfg(feature = "mcp")]
    Mcp(mcp::Args),
    Hook(HookArgs),
    Completions(completions::Args),
    Man(man::Args),
}

/// What an agent calls when something happens; the payload is read from standard input
///
/// Prints exactly what the agent accepts, and nothing else. Exits with 0, and with 2 only
/// where --dialect idle blocks, or for an agent that is blocked by it (kimi, qoder): a fault lets the
/// agent stop and is written to the log.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
struct HookArgs {
    /// The agent that calls: claude, codex, gemini … (stopgate agents lists them)
    agent: String,
    /// The event, where the payload does not name one
    #[arg(long)]
    event: Option<String>,
    /// The client's own limit on continuations, where its settings change it: a number, or none
    #[arg(long, value_name = "N")]
    cap: Option<String>,
    /// Decide and record, but always allow
    #[arg(long)]
    shadow: bool,
    /// The loop is kept in another tool's files: idle, features, criteria, task, ralph-loop
    #[arg(long, value_name = "D")]
    dialect: Option<String>,
    /// The task record of --dialect task; else the agent's own task directory of the session
    #[arg(long, value_name = "F")]
    task_file: Option<std::path::PathBuf>,
    /// The entry is shared by a team: stand down where the person has one of their own
    #[arg(long)]
    shared: bool,
    /// --dialect criteria and task answer with `ok` and `reason` only
    #[arg(long)]
    strict_ok: bool,
}

/// Runs the command that the arguments ask for.
pub(crate) fn main() -> ExitCode {
    completions::answer();
    let audience = Audience::from(std::env::args_os().any(|argument| argument == "--json"));
    if let Some(file) = help_topic() {
        return schema::explain(file, audience);
    }
    let parsed = overview::grouped(Cli::command())
        .try_get_matches()
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return refused(&error, audience),
    };
    run(cli.command).unwrap_or_else(|failure| output::failure(&failure, audience))
}

fn run(command: Command) -> Result<ExitCode, stopgate_engine::Failure> {
    match command {
        Command::Start(args) => start::run(args),
        Command::Status(args) => status::run(&args),
        Command::List(args) => list::run(&args),
        Command::Push(args) => frames::push(&args),
        Command::Pop(args) => frames::pop(&args),
        Command::Done(args) => agent_exits::done(&args),
        Command::Blocked(args) => agent_exits::blocked(&args),
        Command::Impossible(args) => agent_exits::impossible(&args),
        Command::Ask(args) => agent_exits::ask(&args),
        Command::Wait(args) => wait::run(&args),
        Command::Hold(args) => controls::hold(&args),
        Command::Pause(args) => controls::pause(&args),
        Command::Resume(args) => controls::resume(&args),
        Command::Cancel(args) => cancel::run(&args),
        Command::Edit(args) => edit::run(args),
        Command::Attach(args) => controls::attach(&args),
        Command::Answer(args) => controls::answer(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Approve(args) => approve::run(&args),
        Command::Receipt(args) => receipt::run(&args),
        Command::Attack(args) => attack::run(&args),
        Command::Trust(args) => trust::trust(&args),
        Command::Untrust(args) => trust::untrust(&args),
        Command::Config(args) => config::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Log(args) => log::run(&args),
        Command::Stats(args) => stats::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Restore(args) => restore::run(&args),
        #[cfg(feature = "tui")]
        Command::Watch(args) => watch::run(&args),
        Command::Statusline(args) => Ok(statusline::run(&args)),
        Command::Iterate(args) => criteria::iterate(args),
        Command::Complete(args) => criteria::complete(&args),
        Command::Features(args) => features::run(args),
        Command::Task(args) => task::run(args),
        Command::Score(args) => score::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Store(args) => store::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Lint(args) => lint::run(&args),
        Command::Install(args) => install::run(&args),
        Command::Uninstall(args) => uninstall::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Daemon(args) => daemon::run(&args),
        Command::Agents(args) => agents::run(&args),
        Command::Try(args) => try_it::run(&args),
        #[cfg(feature = "mcp")]
        Command::Mcp(args) => mcp::run(&args),
        // `hook` never gets here: it is taken before arguments are parsed.
        Command::Hook(_) => Ok(ExitCode::SUCCESS),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}

/// What `help TOPIC` is about, where that is not a command.
fn help_topic() -> Option<schema::FileWord> {
    let mut words = std::env::args_os().skip(1);
    let (first, second) = (words.next()?, words.next()?);
    if first == "help" { schema::topic(second.to_str()?) } else { None }
}

/// Says what is wrong with the arguments: in JSON where that was asked for.
fn refused(error: &clap::Error, audience: Audience) -> ExitCode {
    if audience == Audience::People || !error.use_stderr() {
        // A closed pipe has seen enough.
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    }
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    output::usage_error(text.lines().next().unwrap_or_default())
}

/// Prints the help of `hook`, which has no other way to be shown.
pub(crate) fn hook_help() -> ExitCode {
    let mut cli = Cli::command();
    if let Some(hook) = cli.find_subcommand_mut("hook") {
        output::line(&hook.clone().bin_name("stopgate hook").render_long_help().ansi().to_string());
    }
    ExitCode::SUCCESS
}

/// The background process, as a process that nobody sees.
pub(crate) fn background() -> ExitCode {
    daemon::hidden()
}

/// The whole command line as data.
fn cli() -> clap::Command {
    Cli::command()
}
