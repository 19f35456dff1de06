//! `push` and `pop`: nested frames.

use super::common::{self, OnLoop};
use super::dialects::{self, DialectWord};
use super::start::ModeWord;
use crate::output::CommandResult;

/// Nest a frame in the loop: a smaller goal that is finished first
#[derive(Debug, clap::Args)]
pub(crate) struct PushArgs {
    /// The frame's goal
    prompt: String,
    /// The frame's mode, which decides the markers it listens for
    #[arg(long, value_enum, default_value = "issue")]
    mode: ModeWord,
    /// How often the agent may be sent back within it; counts against the outer frames, too
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true)]
    max_iterations: u32,
    /// The loop is kept in another tool's files
    #[arg(long, value_enum, value_name = "D", conflicts_with_all = ["name", "session"])]
    dialect: Option<DialectWord>,
    #[command(flatten)]
    on: OnLoop,
}

/// Close the top frame and return to the outer one
#[derive(Debug, clap::Args)]
pub(crate) struct PopArgs {
    /// The loop is kept in another tool's files
    #[arg(long, value_enum, value_name = "D", conflicts_with_all = ["name", "session"])]
    dialect: Option<DialectWord>,
    #[command(flatten)]
    on: OnLoop,
}

/// Puts a frame on top.
pub(crate) fn push(args: &PushArgs) -> CommandResult {
    if let Some(dialect) = args.dialect {
        let frame = dialects::frame(&args.prompt, args.mode, args.max_iterations);
        return dialects::push(dialect.into(), &frame, args.on.json.into());
    }
    let mut engine = common::engine()?;
    let stored = engine.loops().push(
        &args.on.target()?,
        args.mode.into(),
        args.max_iterations,
        &args.prompt,
    )?;
    Ok(args.on.show(&mut engine, &stored, |view| {
        let depth = view.frames.len().saturating_sub(1);
        let marker = view.frames.last().map_or("", |frame| frame.mode.marker());
        format!(
            "Frame {depth} of loop {}: {}\nWhen it is finished, run `stopgate done` or write \
             {marker} alone on a line.",
            view.id,
            args.prompt.trim()
        )
    }))
}

/// Takes the top frame off.
pub(crate) fn pop(args: &PopArgs) -> CommandResult {
    if let Some(dialect) = args.dialect {
        return dialects::pop(dialect.into(), args.on.json.into());
    }
    let mut engine = common::engine()?;
    let stored = engine.loops().pop(&args.on.target()?)?;
    Ok(args.on.show(&mut engine, &stored, |view| {
        let top = view.frames.last().map_or("", |frame| frame.prompt.as_str());
        format!("Back to: {top}")
    }))
}
