//! `store check`: does the journal keep its promises?

use std::process::ExitCode;

use stopgate_engine::CheckView;

use super::count;
use crate::commands::common;
use crate::output::{self, Audience, BAD, CommandResult, GOOD, styled};

/// Check that the journal is intact and every state follows from its events; exit 1 if not
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// Looks, and says what was found.
pub(super) fn run(to: Audience) -> CommandResult {
    let view = common::engine()?.upkeep().check_store()?;
    output::answer(to, &view, show);
    Ok(ExitCode::from(u8::from(!view.ok)))
}

fn show(view: &CheckView) {
    let (loops, events) = (count(view.audit.loops, "loop"), count(view.audit.events, "event"));
    output::line(&format!("{}: {loops}, {} running, {events}", view.address, view.audit.running));
    for finding in &view.audit.findings {
        output::line(&format!("{} {finding}", styled(BAD, "✗")));
    }
    if view.audit.unchained > 0 {
        let loops = count(view.audit.unchained, "loop");
        output::line(&format!("{loops} unchained: an older stopgate wrote part of the record"));
    }
    if view.audit.unknown > 0 {
        let loops = count(view.audit.unknown, "loop");
        output::line(&format!("{loops} by an unknown writer: the key is on another machine"));
    }
    if view.ok {
        output::line(&styled(GOOD, "OK: the journal is consistent."));
    }
}
