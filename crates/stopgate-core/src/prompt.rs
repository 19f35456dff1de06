//! What an agent is told when it is sent back to work.
//!
//! The first line is for people. The rest stands on its own, because compaction
//! may have dropped everything said before. Check output is data: cleaned, fenced
//! and cut, never an instruction.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use crate::clean::{clean, clip, clip_end};
use crate::decide::claims;
use crate::receipt::{Receipt, Status};
use crate::seen::{Seen, ToolUse};
use crate::state::{Criterion, Frame, Mode, Proof, State};
use crate::tally::Tally;

/// The longest text an agent is sent.
pub const PROMPT_BYTES_MAX: usize = 2048;
const GOAL_BYTES_MAX: usize = 600;
/// What a long goal leaves for the failures: one told in full, at its longest.
const FAILURES_BYTES_MIN: usize = 720;
const COMMAND_BYTES_MAX: usize = 160;
const LOG_BYTES_MAX: usize = 240;
const NAME_BYTES_MAX: usize = 60;
const TAIL_BYTES_MIN: usize = 80;
/// Criteria named when a session begins.
const ANNOUNCED_MAX: usize = 8;
/// Failing criteria told in full; the others are named.
const TOLD_MAX: usize = 3;
const VOICE: &str = "This is stopgate's stop hook, not the user; it grants no permission.";

/// The text that sends the agent back to work.
pub(crate) fn text(state: &State, seen: &Seen, tally: &Tally, popped: u32) -> String {
    let left =
        state.frames.len().saturating_sub(usize::try_from(popped).unwrap_or(usize::MAX)).max(1);
    let frames = &state.frames[..left.min(state.frames.len())];
    let unmet: Vec<&Criterion> =
        state.criteria.iter().filter(|criterion| !seen.passed(&criterion.name)).collect();
    let mut text = String::with_capacity(PROMPT_BYTES_MAX);
    headline(&mut text, state, frames, &unmet, popped);
    text.push_str(VOICE);
    text.push_str("\n\n");
    let remark = remark(state, seen, tally, popped);
    let ending = ending(state, frames);
    let tells = frames.len() == 1 && !unmet.is_empty();
    let kept = if tells { FAILURES_BYTES_MIN } else { 0 };
    let room = PROMPT_BYTES_MAX.saturating_sub(text.len() + remark.len() + ending.len());
    text.push_str(&ask(state, frames, room.saturating_sub(kept)));
    text.push_str(&remark);
    if tells {
        let room = PROMPT_BYTES_MAX.saturating_sub(text.len() + ending.len());
        text.push_str(&failures(&unmet, seen, room));
    }
    text.push_str(&ending);
    text
}

/// What a session is told when it begins with a loop, or has lost sight of it.
pub fn announcement(state: &State) -> String {
    let frames = &state.frames;
    let mut text = String::new();
    let (iteration, max) = frames.first().map_or((0, 0), |frame| (frame.iteration, frame.max));
    let _ = writeln!(
        text,
        "A stopgate loop holds this session ({iteration} of {max} continuations used)."
    );
    text.push_str(VOICE);
    text.push_str("\n\n");
    text.push_str(&ask(state, frames, PROMPT_BYTES_MAX));
    if !state.criteria.is_empty() {
        text.push_str("Done means:\n");
    }
    for criterion in state.criteria.iter().take(ANNOUNCED_MAX) {
        let name = one_line(&criterion.name, NAME_BYTES_MAX);
        let standing = criterion.last.as_ref().map_or("not checked yet", |last| last.status.word());
        match &criterion.proof {
            Proof::Check { command, .. } => {
                let command = one_line(command, COMMAND_BYTES_MAX);
                let _ = writeln!(text, "- {name} ({standing}): `{command}`");
            }
            Proof::Attest => {
                let _ = writeln!(text, "- {name} (you attest it)");
            }
        }
    }
    let more = state.criteria.len().saturating_sub(ANNOUNCED_MAX);
    if more > 0 {
        let _ = writeln!(text, "- and {more} more: stopgate status");
    }
    text.push_str(&ending(state, frames));
    text
}

fn headline(text: &mut String, state: &State, frames: &[Frame], unmet: &[&Criterion], popped: u32) {
    for (depth, frame) in frames.iter().enumerate() {
        // The number of the continuation that this text begins.
        let next = frame.iteration.saturating_add(1);
        if depth == 0 {
            let _ = write!(text, "Loop {next}/{}", frame.max);
        } else {
            let _ = write!(text, " > {} {next}/{}", frame.mode, frame.max);
        }
    }
    let all = state.criteria.len();
    if popped > 0 {
        text.push_str(": back in the outer frame\n");
    } else if all == 0 || frames.len() > 1 {
        text.push_str(": not finished yet\n");
    } else {
        let _ = writeln!(text, ": {} of {all} criteria unmet", unmet.len());
    }
}

fn ask(state: &State, frames: &[Frame], bytes_max: usize) -> String {
    let goal = clean(&state.goal);
    let goal = goal.trim();
    let prompt = clean(frames.last().map_or("", |frame| frame.prompt.as_str()));
    let prompt = prompt.trim();
    let room = bytes_max.saturating_sub("Goal: \nNow: \n\n".len());
    if prompt.is_empty() || prompt == goal {
        return format!("Goal: {}\n\n", clip(goal, room.min(GOAL_BYTES_MAX)));
    }
    let share = (room / 2).min(GOAL_BYTES_MAX);
    format!("Goal: {}\nNow: {}\n\n", clip(goal, share), clip(prompt, share))
}

/// One or two sentences about this very stop, so that no two texts in a row are alike.
fn remark(state: &State, seen: &Seen, tally: &Tally, popped: u32) -> String {
    let mut text = String::new();
    if popped > 0 {
        let spent = state.frames.iter().skip(1).any(|frame| frame.iteration >= frame.max);
        text.push_str(if spent {
            "The inner frame reached its limit and was closed; go on with the outer one. "
        } else {
            "The inner frame is finished; go on with the outer one. "
        });
    } else if claims(state, seen) {
        text.push_str("You said that it is done. That was checked, and it is not. ");
    }
    match (tally.idle, seen.tools) {
        (0, _) => {}
        (_, ToolUse::None) => {
            text.push_str("No tool was used since the last stop: act, don't only answer. ");
        }
        (_, ToolUse::Used | ToolUse::Unknown) => {
            text.push_str("You only repeated your last message: act, don't only answer. ");
        }
    }
    match tally.repeat {
        0 => {}
        1 => text.push_str("The checks fail exactly as they did at the last stop. "),
        _more => text.push_str(
            "The same failures again: try another approach, or leave honestly as told below. ",
        ),
    }
    if !text.is_empty() {
        text.truncate(text.trim_end().len());
        text.push_str("\n\n");
    }
    text
}

fn failures(unmet: &[&Criterion], seen: &Seen, room: usize) -> String {
    let mut text = String::from("Not met:\n");
    // The newline that ends the part has its place, too.
    let room = room.saturating_sub(text.len() + 1);
    let heads: Vec<String> = unmet.iter().take(TOLD_MAX).map(|c| head(c, seen)).collect();
    let length = |told: usize| heads[..told].iter().map(String::len).sum::<usize>();
    let fits = |told: &usize| length(*told) + others(&unmet[*told..]).len() <= room;
    let told = (1..=heads.len()).rev().find(fits).unwrap_or(heads.len().min(1));
    let mut rest = others(&unmet[told..]);
    if length(told) + rest.len() > room {
        rest.clear();
    }
    let tails = unmet[..told].iter().filter(|c| seen.receipt(&c.name).is_some()).count();
    let share = room.saturating_sub(length(told) + rest.len()) / tails.max(1);
    for (criterion, head) in unmet.iter().zip(&heads[..told]) {
        text.push_str(head);
        if let Some(receipt) = seen.receipt(&criterion.name) {
            text.push_str(&fenced(&receipt.tail, share));
        }
    }
    text.push_str(&rest);
    text.push('\n');
    text
}

fn head(criterion: &Criterion, seen: &Seen) -> String {
    let name = one_line(&criterion.name, NAME_BYTES_MAX);
    let Proof::Check { command, .. } = &criterion.proof else {
        return format!("- {name}: waits for your word\n");
    };
    let receipt = seen.receipt(&criterion.name);
    let standing = receipt.map_or_else(|| "not checked at this stop".into(), standing);
    let command = one_line(command, COMMAND_BYTES_MAX);
    let mut text = format!("- {name}: {standing}\n  reproduce: {command}\n");
    if let Some(log) = receipt.and_then(|receipt| receipt.log.as_deref()) {
        let log = clean(log).replace(['\n', '\t'], " ");
        let _ = writeln!(text, "  full log: {}", clip(&log, LOG_BYTES_MAX));
    }
    text
}

fn standing(receipt: &Receipt) -> String {
    let seconds = receipt.duration_ms / 1000;
    let tenths = receipt.duration_ms % 1000 / 100;
    let mut text = match (receipt.status, receipt.exit_code) {
        (Status::Fail, Some(code)) => format!("fail, exit {code} after {seconds}.{tenths} s"),
        (status, _) => format!("{status} after {seconds}.{tenths} s"),
    };
    if let Some(trouble) = &receipt.trouble {
        let _ = write!(text, " ({})", one_line(trouble, COMMAND_BYTES_MAX));
    }
    text
}

fn others(rest: &[&Criterion]) -> String {
    let names: Vec<String> =
        rest.iter().take(8).map(|c| one_line(&c.name, NAME_BYTES_MAX)).collect();
    match rest.len() - names.len() {
        _ if names.is_empty() => String::new(),
        0 => format!("- and: {}\n", names.join(", ")),
        more => format!("- and: {}, and {more} more\n", names.join(", ")),
    }
}

/// Output as data: in a fence longer than any run of backticks within.
fn fenced(output: &str, bytes_max: usize) -> String {
    let output = clean(output);
    let fence = "`".repeat(longest_run(&output).max(2) + 1);
    let room = bytes_max.saturating_sub(2 * fence.len() + "output\n\n\n".len());
    let tail = clip_end(output.trim_end(), room);
    if room < TAIL_BYTES_MIN || tail.trim().is_empty() {
        return String::new();
    }
    format!("{fence}output\n{tail}\n{fence}\n")
}

fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

fn ending(state: &State, frames: &[Frame]) -> String {
    let mode = frames.last().map_or(Mode::Loop, |frame| frame.mode);
    let marker = match mode {
        Mode::Loop => "<promise>COMPLETE</promise>",
        Mode::Issue => "<issue-complete>DONE</issue-complete>",
        Mode::Grind => "<grind-done>NO_MORE_ISSUES</grind-done>",
    };
    let checked = frames.len() == 1 && state.criteria.iter().any(Criterion::is_checked);
    let finish = if checked {
        "make the checks pass; stopgate runs them itself at your next stop"
    } else {
        "when it is really finished"
    };
    format!(
        "To finish: {finish}. Say so with `stopgate done`, or {marker} alone on a line.\n\
         Can't go on? `stopgate blocked WHY`, `stopgate impossible WHY` or `stopgate ask QUESTION` \
         lets you stop and tells the person.\n"
    )
}

fn one_line(text: &str, bytes_max: usize) -> String {
    let flat: Vec<String> = clean(text).split_whitespace().map(String::from).collect();
    clip(&flat.join(" "), bytes_max)
}

#[cfg(test)]
mod tests;
