//! `receipt`: signed proof that can be carried away.

mod keys;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use stopgate_engine::{Certificate, Failure, Inspection, Proven, ReceiptDemands, project_of};

use super::common;
use crate::output::{self, BAD, CommandResult, GOOD, styled};

/// Export the signed receipt of a loop that is done, check one, or manage keys
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
    /// Check a receipt: signature and signer, the criteria that stopgate.toml demands here, the
    /// repository, and that these files are the ones it proves
    Check {
        /// The receipt
        file: PathBuf,
        /// The signer's public key (repeatable); without it the keys that are known here
        #[arg(long, value_name = "HEX")]
        key: Vec<String>,
        /// A criterion that must have been proven with this definition (repeatable)
        #[arg(long, value_name = "NAME=HASH", value_parser = requirement)]
        require: Vec<(String, String)>,
        /// Check only the signature, its signer and --require
        #[arg(long)]
        signature_only: bool,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// List the keys whose signatures are accepted here; add, remove or rotate them
    Keys(keys::Args),
}

fn requirement(text: &str) -> Result<(String, String), String> {
    let (name, hash) = text.rsplit_once('=').ok_or("write NAME=HASH")?;
    if name.trim().is_empty() || hash.trim().is_empty() {
        return Err("write NAME=HASH".into());
    }
    Ok((name.trim().into(), hash.trim().into()))
}

/// Exports or checks.
pub(crate) fn run(args: &Args) -> CommandResult {
    match &args.command {
        Command::Export { output, on } => export(output.as_deref(), on),
        Command::Keys(args) => keys::run(args),
        Command::Check { file, key, require, signature_only, json } => {
            let project = (!signature_only).then(common::directory).transpose()?;
            let demands = ReceiptDemands {
                keys: key.clone(),
                require: require.clone(),
                project: project.map(|directory| project_of(&directory)),
            };
            let found = common::engine()?.certificates().inspect(read(file)?, &demands)?;
            output::answer(*json, &found, show);
            Ok(ExitCode::from(u8::from(!found.valid)))
        }
    }
}

fn export(path: Option<&Path>, on: &common::OnLoop) -> CommandResult {
    let mut engine = common::engine()?;
    let certificate = engine.certificates().certificate(&on.target()?)?;
    let Some(path) = path else {
        output::json_line(&serde_json::to_string(&certificate).unwrap_or_default());
        return Ok(ExitCode::SUCCESS);
    };
    let text = serde_json::to_string_pretty(&certificate)
        .map_err(|error| Failure::fault("could not write the receipt").because(error))?;
    std::fs::write(path, text + "\n").map_err(|error| {
        Failure::usage(format!("could not write {}", path.display())).because(error)
    })?;
    if on.json {
        output::json_line(&serde_json::to_string(&certificate).unwrap_or_default());
    } else {
        output::line(&format!(
            "Written to {}; signed with key {}",
            path.display(),
            certificate.key
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path) -> Result<Certificate, Failure> {
    let text = common::read_named(file).map_err(|error| {
        Failure::usage(format!("could not read {}", file.display())).because(error)
    })?;
    serde_json::from_str(&text).map_err(|error| {
        Failure::usage(format!("{} is not a receipt of stopgate", file.display())).because(error)
    })
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
    output::line(&format!("  goal       {}", proven.goal.lines().next().unwrap_or_default()));
    for criterion in &proven.criteria {
        let definition = criterion.definition.as_deref().unwrap_or("not told");
        output::line(&format!(
            "  {:<9}  {} (definition {definition})",
            criterion.status, criterion.name
        ));
    }
    for line in origin_lines(proven) {
        output::line(&format!("  {line}"));
    }
    output::line(&format!("  signature  {}", found.signature.words()));
    output::line(&format!("  key        {}", found.key));
}

/// Who began the loop, who vouched for it, and what was put aside for it.
fn origin_lines(proven: &Proven) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(by) = &proven.begun_by {
        let shown = proven.begun_shown_by.as_ref().map(|by| format!(" ({by})")).unwrap_or_default();
        lines.push(format!("begun by   {by}{shown}"));
    }
    if let Some(by) = &proven.approved_by {
        lines.push(format!("approved   by a {by}"));
    }
    for earlier in &proven.replaced {
        lines.push(format!("replaced   {} by {}", earlier.id, earlier.by));
    }
    if let Some(head) = proven.repository.as_ref().and_then(|found| found.head.as_ref()) {
        lines.push(format!("commit     {head}"));
    }
    lines
}
