//! `trust` and `untrust`: whether a project's file may have its commands run.

use std::io::IsTerminal;
use std::process::ExitCode;

use stopgate_dialects::Dialect;
use stopgate_engine::{Failure, TrustView, project_of};

use super::common::{self, Default};
use super::dialects::{self, DialectWord};
use crate::output::{self, BOLD, CommandResult, DIM, styled};

/// Let the commands of this project's stopgate.toml run, as they stand there now
///
/// Shows everything the file asks for first. Any change to the file needs to be trusted again.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct TrustArgs {
    /// Don't ask
    #[arg(long)]
    yes: bool,
    /// Let the checks of a loop in another tool's files run instead
    #[arg(long, value_enum, value_name = "D", conflicts_with = "print_hash")]
    dialect: Option<DialectWord>,
    /// Print the hash of the file's content, for `verify --trust-hash`, and trust nothing
    #[arg(long, conflicts_with = "yes")]
    print_hash: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Stop trusting this project's stopgate.toml
#[derive(Debug, clap::Args)]
pub(crate) struct UntrustArgs {
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Shows what would be run, and takes a person's word.
pub(crate) fn trust(args: &TrustArgs) -> CommandResult {
    let mut engine = common::engine()?;
    let project = project_of(&common::directory()?);
    let mut view = match args.dialect {
        None => engine.trust().trust_view(&project)?,
        Some(DialectWord::Criteria) => dialects::desk(Dialect::Criteria)?.criteria_trust_view()?,
        Some(other) => return Err(dialects::unbuilt("trust", other.into())),
    };
    if args.print_hash && !args.json {
        output::line(&view.content);
        return Ok(ExitCode::SUCCESS);
    }
    if !args.json {
        show(&view);
    }
    if !view.trusted && !args.print_hash {
        if !args.yes && !agrees()? {
            output::line("Not trusted: nothing in it will run.");
            return Ok(ExitCode::from(1));
        }
        engine.trust().trust(&view)?;
        view.trusted = true;
    }
    output::answer(args.json, &view, |_| output::line("Trusted, until the file changes."));
    Ok(ExitCode::SUCCESS)
}

/// Takes it back.
pub(crate) fn untrust(args: &UntrustArgs) -> CommandResult {
    let mut engine = common::engine()?;
    let removed = engine.trust().untrust(&project_of(&common::directory()?))?;
    if args.json {
        output::json_member("removed", &removed);
    } else {
        let said = if removed { "No longer trusted." } else { "It was not trusted." };
        output::line(said);
    }
    Ok(ExitCode::SUCCESS)
}

fn show(view: &TrustView) {
    output::line(&format!("{} asks for:", styled(BOLD, &view.path)));
    let mut last = None;
    for grant in &view.allows {
        if last != Some(&grant.criterion) {
            let about = grant.criterion.as_deref().unwrap_or("the whole file");
            output::line(&format!("  {}", styled(DIM, &stopgate_core::clean(about))));
            last = Some(&grant.criterion);
        }
        output::line(&format!("    {}: {}", grant.kind, stopgate_core::clean(&grant.what)));
    }
    if view.allows.is_empty() {
        output::line("  nothing that needs your trust");
    }
}

fn agrees() -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage("there is no terminal to ask on")
            .hint("review the file, then: stopgate trust --yes"));
    }
    let question = "Allow all of this whenever a loop here is verified? [y/N] ";
    Ok(common::agrees(question, Default::No))
}
