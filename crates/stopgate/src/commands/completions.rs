//! `completions`: for shells; they know loops, sessions and checks.

use std::io;
use std::process::ExitCode;

use clap_complete::engine::CompletionCandidate;
use clap_complete::env::{EnvCompleter, Shells};
use clap_complete::{CompleteEnv, Shell};
use stopgate_engine::{Failure, LoopView, project_of};
use stopgate_store::EndedFilter;

use super::common;
use crate::output::{self, CommandResult, cut};

/// Set by the scripts, and by nobody else.
const VARIABLE: &str = "STOPGATE_COMPLETE";
const LOOPS_MAX: usize = 50;
const ABOUT_COLUMNS: usize = 60;

/// Print completions for a shell; they know commands, loops, sessions and checks
///
/// bash: `eval "$(stopgate completions bash)"` in ~/.bashrc; zsh: the same in ~/.zshrc; fish:
/// `stopgate completions fish | source` in config.fish.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
    /// A script that knows commands and flags only, and never calls stopgate
    #[arg(long = "static")]
    fixed: bool,
}

/// Prints the script that asks this program at every tab.
pub(crate) fn run(args: &Args) -> CommandResult {
    if args.fixed {
        let mut script = Vec::new();
        clap_complete::generate(args.shell, &mut super::cli(), "stopgate", &mut script);
        output::line(String::from_utf8_lossy(&script).trim_end());
        return Ok(ExitCode::SUCCESS);
    }
    let name = args.shell.to_string();
    let shells = Shells::builtins();
    let shell: Option<&dyn EnvCompleter> = shells.completer(&name);
    let mut script = Vec::new();
    let written = shell.map_or_else(
        || Err(io::Error::other("unknown shell")),
        |shell| shell.write_registration(VARIABLE, "stopgate", "stopgate", "stopgate", &mut script),
    );
    written.map_err(|error| {
        Failure::usage(format!("could not write completions for {name}")).because(error)
    })?;
    output::line(String::from_utf8_lossy(&script).trim_end());
    Ok(ExitCode::SUCCESS)
}

/// Answers a shell that asks what could come next, and ends there; nothing where none asks.
pub(super) fn answer() {
    CompleteEnv::with_factory(super::cli).var(VARIABLE).complete();
}

/// Loops: those that run first.
pub(crate) fn loops() -> Vec<CompletionCandidate> {
    let about = |view: &LoopView| {
        let word = view.outcome.map_or_else(|| view.state.word(), stopgate_core::Outcome::word);
        let goal = view.goal.lines().next().unwrap_or_default();
        format!("{word}: {}", cut(goal, ABOUT_COLUMNS))
    };
    let mut views = known(EndedFilter::Any);
    views.sort_by_key(|view| view.outcome.is_some());
    let views = views.iter().take(LOOPS_MAX);
    views.map(|view| CompletionCandidate::new(&view.id).help(Some(about(view).into()))).collect()
}

/// Sessions that are held.
pub(crate) fn sessions() -> Vec<CompletionCandidate> {
    let candidate = |view: &LoopView| {
        let goal = cut(view.goal.lines().next().unwrap_or_default(), ABOUT_COLUMNS);
        view.session.as_ref().map(|id| CompletionCandidate::new(id).help(Some(goal.into())))
    };
    known(EndedFilter::Running).iter().filter_map(candidate).collect()
}

/// Criteria of loops that run here, and of this project's file.
pub(crate) fn checks() -> Vec<CompletionCandidate> {
    let Ok(project) = common::directory().map(|directory| project_of(&directory)) else {
        return Vec::new();
    };
    let here = project.display().to_string();
    let running = known(EndedFilter::Running).into_iter().filter(|view| view.project == here);
    let mut names: Vec<String> =
        running.flat_map(|view| view.criteria).map(|criterion| criterion.name).collect();
    let rules = common::engine().and_then(|mut engine| engine.trust().rules(&project));
    names.extend(rules.into_iter().flat_map(|rules| rules.criteria).map(|one| one.name));
    names.sort();
    names.dedup();
    names.into_iter().map(CompletionCandidate::new).collect()
}

/// A shell that completes shows no error: what can't be read is not offered.
fn known(standing: EndedFilter) -> Vec<LoopView> {
    let listed = common::engine().and_then(|mut engine| engine.views().list(None, standing));
    listed.unwrap_or_default()
}
