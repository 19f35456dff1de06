//! `receipt`: signed proof that can be carried away.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use stopgate_engine::{Certificate, Failure, Inspection, Settings, inspect, project_of};

use super::common;
use crate::output::{self, BAD, GOOD, Outcome, styled};

/// Export the signed receipt of a loop that is done, or check one
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print the signed receipt of a loop that is done, as JSON
    Export {
        /// Write it to this file instead
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        on: common::OnLoop,
    },
    /// Check a receipt: its signature, its signer, and that these files are the ones it proves
    Check {
        /// The receipt
        file: PathBuf,
        /// The signer's public key; without it this person's own
        #[arg(long, value_name = "HEX")]
        key: Option<String>,
        /// Don't compare the project's files with those that were proven
        #[arg(long)]
        signature_only: bool,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
}

/// Exports or checks.
pub(crate) fn run(args: &Args) -> Outcome {
    match &args.command {
        Command::Export { output, on } => export(output.as_deref(), on),
        Command::Check { file, key, signature_only, json } => {
            let project = project_of(&common::folder()?);
            let project = (!signature_only).then_some(project.as_path());
            let found = check(file, key.as_deref(), project)?;
            if *json {
                output::json(&found);
            } else {
                show(&found);
            }
            Ok(ExitCode::from(u8::from(!found.valid)))
        }
    }
}

fn export(path: Option<&Path>, on: &common::OnLoop) -> Outcome {
    let mut engine = common::engine()?;
    let certificate = engine.certificate(&on.target()?)?;
    let Some(path) = path else {
        output::json(&certificate);
        return Ok(ExitCode::SUCCESS);
    };
    let text = serde_json::to_string_pretty(&certificate)
        .map_err(|error| Failure::fault("could not write the receipt").because(error))?;
    std::fs::write(path, text + "\n").map_err(|error| {
        Failure::usage(format!("could not write {}", path.display())).because(error)
    })?;
    if on.json {
        output::json(&certificate);
    } else {
        output::line(&format!(
            "Written to {}; signed with key {}",
            path.display(),
            certificate.key
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn check(file: &Path, key: Option<&str>, project: Option<&Path>) -> Result<Inspection, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failure::usage(format!("could not read {}", file.display())).because(error)
    })?;
    let certificate: Certificate = serde_json::from_str(&text).map_err(|error| {
        Failure::usage(format!("{} is no receipt of stopgate", file.display())).because(error)
    })?;
    let home = Settings.home()?;
    Ok(inspect(certificate, key, project, home.folder()))
}

fn show(found: &Inspection) {
    let proven = &found.proven;
    if found.valid {
        let said = format!("Valid: loop {} was proven at {}", proven.id, proven.proven_at);
        output::line(&styled(GOOD.bold(), &said));
    } else {
        output::line(&styled(BAD.bold(), "Not valid:"));
        for fault in &found.faults {
            output::line(&format!("  {fault}"));
        }
    }
    output::line(&format!("  goal  {}", proven.goal.lines().next().unwrap_or_default()));
    for criterion in &proven.criteria {
        output::line(&format!("  {}  {}", criterion.status, criterion.name));
    }
    output::line(&format!("  key   {}", found.key));
}
