//! `features`: what a loop over a list of features needs before it begins.

use std::process::ExitCode;

use clap::Subcommand;
use serde::Serialize;
use stopgate_dialects::Dialect;
use stopgate_engine::{CheckedView, FeatureTrouble, NewFeatures};

use super::dialects;
use crate::output::{self, BAD, CommandResult, DIM, GOOD, WAITS, styled};

/// Set up or check a loop over a list of features (--dialect features)
///
/// Its files are in `RALPH_LOOP_DIR`, by default .claude/data/ralph-loops/current.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
    /// Answer in JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(InitArgs),
    Check(CheckArgs),
}

/// Create the files that are missing, and check that the loop can start
#[derive(Debug, clap::Args)]
struct InitArgs {
    /// The loop's name, where several share the project; `current` then points to it
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// What is to be built (repeatable); makes `feature_list.json`
    #[arg(long, value_name = "DESCRIPTION")]
    feature: Vec<String>,
    /// How many iterations there may be
    #[arg(long, value_name = "N", default_value_t = 15,
          value_parser = clap::value_parser!(u32).range(1..))]
    max_iterations: u32,
}

/// Check the files, directories and settings that the loop needs; exit 1 if something is wrong
#[derive(Debug, clap::Args)]
struct CheckArgs {}

#[derive(Serialize)]
struct CheckedAnswer<'a> {
    ok: bool,
    checked: &'a CheckedView,
}

/// Sets a loop up, or looks at it.
pub(crate) fn run(args: Args) -> CommandResult {
    let desk = dialects::desk(Dialect::Features)?;
    let checked = match args.command {
        Command::Init(new) => desk.features_init(&NewFeatures {
            name: new.name,
            features: new.feature,
            max_iterations: new.max_iterations,
        })?,
        Command::Check(CheckArgs {}) => desk.features_check(),
    };
    let ok = checked.problems.is_empty();
    let answer = CheckedAnswer { ok, checked: &checked };
    output::answer(args.json, &answer, |answer| show(answer.checked));
    Ok(ExitCode::from(u8::from(!ok)))
}

fn show(checked: &CheckedView) {
    for file in &checked.made {
        output::line(&format!("Made {}", file.display()));
    }
    let trouble = |style, mark: &str, trouble: &FeatureTrouble| {
        output::line(&format!("{} {}", styled(style, mark), trouble.text));
        output::line(&format!("  {} {}", styled(DIM, "→"), trouble.hint));
    };
    checked.problems.iter().for_each(|problem| trouble(BAD, "✗", problem));
    checked.warnings.iter().for_each(|warning| trouble(WAITS, "!", warning));
    if checked.problems.is_empty() {
        output::line(&format!(
            "{} The loop can run: {} of {} features complete, iteration {} of {}.",
            styled(GOOD, "✓"),
            checked.complete,
            checked.features,
            checked.iteration,
            checked.max_iterations
        ));
    }
}
