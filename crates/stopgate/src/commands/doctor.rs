//! `doctor`: does it work here?

mod proof;

use std::process::ExitCode;

use serde::Serialize;
use stopgate_engine::{Failure, Finding, Level, SCHEMA_VERSION, Settings, examine};

use super::client::door::is_interrupted;
use super::{agent_files, common};
use crate::output::{self, BAD, BOLD, DIM, GOOD, Outcome, WAITS, styled};
use crate::stores::STORES;

/// Look for what could keep the hook from its work, and prove by a made-up stop that it holds
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct DoctorView<'a> {
    schema_version: u32,
    version: &'static str,
    ok: bool,
    findings: &'a [Finding],
}

/// Looks, tries, and says what was found.
pub(crate) fn run(args: &Args) -> Outcome {
    let program = agent_files::program()?;
    let examined = examine(Settings, STORES, &common::folder()?, &program);
    let about = format!("stopgate {} at {}", env!("CARGO_PKG_VERSION"), program.display());
    let mut findings = vec![Finding::ok("program", about)];
    findings.extend(examined.findings);
    findings.extend(proof::prove(&program, &examined.hooks)?);
    if is_interrupted() {
        return Err(Failure::interrupted("interrupted before everything was looked at"));
    }
    let count = |level| findings.iter().filter(|finding| finding.level == level).count();
    let (problems, warnings) = (count(Level::Problem), count(Level::Warning));
    if args.json {
        output::json(&DoctorView {
            schema_version: SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION"),
            ok: problems == 0,
            findings: &findings,
        });
    } else {
        findings.iter().for_each(show);
        output::line(&format!("\n{}", sum(problems, warnings)));
    }
    Ok(ExitCode::from(u8::from(problems > 0)))
}

fn show(finding: &Finding) {
    let (style, mark) = match finding.level {
        Level::Ok => (GOOD, "✓"),
        Level::Warning => (WAITS, "!"),
        Level::Problem => (BAD, "✗"),
    };
    let about = styled(BOLD, &format!("{:<9}", finding.about));
    output::line(&format!("{} {about} {}", styled(style, mark), finding.text));
    if let Some(hint) = &finding.hint {
        output::line(&format!("  {:<9} {} {hint}", "", styled(DIM, "→")));
    }
}

fn sum(problems: usize, warnings: usize) -> String {
    let count = |number: usize, word: &str| {
        format!("{number} {word}{}", if number == 1 { "" } else { "s" })
    };
    match (problems, warnings) {
        (0, 0) => styled(GOOD, "All is well."),
        (0, _) => styled(WAITS, &format!("It works, with {}.", count(warnings, "warning"))),
        (_, 0) => styled(BAD, &format!("{}.", count(problems, "problem"))),
        (_, _) => {
            let text = format!("{}, {}.", count(problems, "problem"), count(warnings, "warning"));
            styled(BAD, &text)
        }
    }
}
