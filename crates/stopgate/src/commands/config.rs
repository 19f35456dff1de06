//! `config show`: what a loop begun here would be bound by, and who says so.

use std::process::ExitCode;

use stopgate_engine::{Rules, project_of};

use super::common;
use crate::output::{self, BOLD, DIM, Outcome, styled};

/// Show the settings that count here
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show the limits and criteria of a loop that would begin here
    Show {
        /// Say where each value comes from, and what was asked for and not taken
        #[arg(long)]
        origin: bool,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
}

/// Shows what counts here.
pub(crate) fn run(args: &Args) -> Outcome {
    let Command::Show { origin, json } = &args.command;
    let engine = common::engine()?;
    let rules = engine.rules(&project_of(&common::folder()?))?;
    if *json {
        output::json(&rules);
    } else {
        let detail = if *origin { Detail::Origin } else { Detail::Value };
        show(&rules, detail);
    }
    Ok(ExitCode::SUCCESS)
}

/// How much is told about a setting.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Value,
    Origin,
}

fn show(rules: &Rules, detail: Detail) {
    for setting in &rules.settings {
        let mut line = format!("{:<15} {:<8}", setting.key, setting.value);
        if detail == Detail::Origin {
            line.push_str(&styled(DIM, &format!(" {}", place(rules, setting.origin.word()))));
            if let Some(refused) = &setting.refused {
                line.push_str(&styled(DIM, &format!("; {refused}, so it is not taken")));
            }
        }
        output::line(line.trim_end());
    }
    for criterion in &rules.criteria {
        let command = criterion.command.as_deref().unwrap_or(criterion.kind);
        output::line(&format!("criterion       {}: {command}", styled(BOLD, &criterion.name)));
    }
    if rules.trusted == Some(false) {
        output::line("stopgate.toml is not trusted: nothing of it is run. stopgate trust");
    }
}

/// Who said so, with the file where there is one.
fn place(rules: &Rules, origin: &str) -> String {
    let file = match origin {
        "user" => rules.user_file.as_deref(),
        "project" => rules.project_file.as_deref(),
        _other => None,
    };
    file.map_or_else(|| origin.into(), |file| format!("{origin}: {file}"))
}
