//! `init`: a project says what done means there.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use serde::Serialize;
use stopgate_engine::{
    Failure, FoundCheck, Settings, discover, is_installed, pipeline_commands, project_of,
};

use super::common::{self, Default};
use crate::output::{self, BOLD, CommandResult, DIM, styled};

const HINTS_MAX: usize = 5;

/// Find this project's checks and write a commented stopgate.toml
///
/// An existing file stays as it is.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct InitView<'a> {
    file: &'a Path,
    written: bool,
    checks: &'a [FoundCheck],
}

/// Writes the file, unless there is one.
pub(crate) fn run(args: &Args) -> CommandResult {
    let project = project_of(&common::directory()?);
    let file = project.join("stopgate.toml");
    let checks = discover(&project);
    let exists = file.exists();
    let text = text(&checks, &pipeline_commands(&project, HINTS_MAX));
    let written = !exists && !args.dry_run;
    if written {
        write_new(&file, &text)?;
    }
    if args.json {
        let view = InitView { file: &file, written, checks: &checks };
        output::json(&view);
        return Ok(ExitCode::SUCCESS);
    }
    if args.dry_run {
        output::line(text.trim_end());
        return Ok(ExitCode::SUCCESS);
    }
    if exists {
        output::line(&format!("{} is there already and stays as it is.", file.display()));
        return Ok(ExitCode::SUCCESS);
    }
    tell(&file, &checks);
    next(&project, &checks)
}

fn tell(file: &Path, checks: &[FoundCheck]) {
    output::line(&format!("Wrote {}", styled(BOLD, &file.display().to_string())));
    for check in checks {
        output::line(&format!(
            "  {}: {}  {}",
            check.name,
            check.command(),
            styled(DIM, &format!("({})", check.from))
        ));
    }
    if checks.is_empty() {
        output::line("  No check was found: fill in the example.");
    }
}

/// Offers what comes next, or says it where there is no terminal to ask on.
fn next(project: &Path, checks: &[FoundCheck]) -> CommandResult {
    let installed = is_installed(Settings, project);
    if !common::has_person() {
        output::line("\nReview the file, then:");
        output::line("  stopgate trust");
        if !installed {
            output::line("  stopgate install claude");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let asks = "Trust this file, so that its commands are run? [y/N] ";
    if !checks.is_empty() && common::agrees(asks, Default::No) {
        let mut engine = common::engine()?;
        let view = engine.trust().trust_view(project)?;
        engine.trust().trust(&view)?;
        output::line("Trusted, until the file changes.");
    }
    if !installed && common::agrees("Install the hook for Claude Code now? [Y/n] ", Default::Yes) {
        return install();
    }
    if !installed {
        output::line("To hold agents to it: stopgate install claude");
    }
    output::line("Begin: stopgate start \"what must be true at the end\"");
    Ok(ExitCode::SUCCESS)
}

/// What `stopgate install claude` does.
fn install() -> CommandResult {
    let parsed = super::Cli::try_parse_from(["stopgate", "install", "claude"]);
    match parsed.map(|cli| cli.command) {
        Ok(super::Command::Install(args)) => super::install::run(&args),
        Ok(_) | Err(_) => Ok(ExitCode::SUCCESS),
    }
}

fn write_new(file: &Path, text: &str) -> Result<(), Failure> {
    let mut options = std::fs::OpenOptions::new();
    let written = options
        .write(true)
        .create_new(true)
        .open(file)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        Failure::usage(format!("could not write {}", file.display())).because(error)
    })
}

fn text(checks: &[FoundCheck], hints: &[FoundCheck]) -> String {
    let mut text = String::from(
        "#:schema stopgate.schema.json\n\
         # (for completion in your editor, write that file: stopgate schema > stopgate.schema.json)\n\n\
         # What done means in this project. stopgate runs these checks itself when an agent is\n\
         # about to stop; nothing here is run before a person trusts the file: stopgate trust\n\
         # Every key is explained by: stopgate help toml\n\n\
         [loop]\n\
         # How often an agent may be sent back, and for how many minutes it may work.\n\
         # max_iterations = 20\n\
         # max_minutes = 240\n",
    );
    for check in checks {
        let argv: Vec<String> = check.argv.iter().map(|word| quoted(word)).collect();
        let _ = write!(
            text,
            "\n# found in {}\n[[criterion]]\nname = {}\nrun = [{}]\n# timeout = \"10m\"\n\
             # protect = [\"tests/**\"]  # files that the work must not change\n",
            check.from,
            quoted(&check.name),
            argv.join(", ")
        );
    }
    if checks.is_empty() {
        text.push_str(
            "\n# [[criterion]]\n# name = \"tests pass\"\n# run = [\"make\", \"test\"]     # or: \
             shell = \"make test\"\n# timeout = \"10m\"\n",
        );
    }
    if !hints.is_empty() {
        text.push_str("\n# Your pipelines also run:\n");
        for hint in hints {
            let _ = writeln!(text, "#   {}   ({})", hint.command(), hint.from);
        }
    }
    text
}

/// A text as TOML writes it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
