//! What an agent is told when it is sent back to work.
//!
//! The first line is for people. The rest stands on its own, because compaction
//! may have dropped everything said before. Check output is data: cleaned, fenced
//! and cut, never an instruction.

mod fence;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use crate::budget;
use crate::clean::{clean, clip};
use crate::criterion::{Criterion, CriterionJudge, Proof};
use crate::decide::claims;
use crate::judges;
use crate::policy::GoalShape;
use crate::receipt::{Evidence, OriginalRun, OriginalVerdict, Receipt, Status};
use crate::seen::{Seen, ToolUse};
use crate::state::{Frame, Mode, State};
use crate::tally::Tally;

pub use self::fence::fenced;

/// The longest text an agent is sent.
pub const PROMPT_BYTES_MAX: usize = 2048;
const GOAL_BYTES_MAX: usize = 600;
/// What a long goal leaves for the failures: one told in full, at its longest.
const FAILURES_BYTES_MIN: usize = 720;
const COMMAND_BYTES_MAX: usize = 160;
const LOG_BYTES_MAX: usize = 240;
const NAME_BYTES_MAX: usize = 60;
const GATE_BYTES_MAX: usize = 400;
const ANSWER_BYTES_MAX: usize = 600;
/// Criteria named when a session begins.
const ANNOUNCED_MAX: usize = 8;
/// Failing criteria told in full; the others are named.
const TOLD_MAX: usize = 3;
/// Places and earlier failures named for one criterion.
const SPOTS_MAX: usize = 3;
const RESTORE: &str = "  Restore it as it was at the start and stop again. If it must change, ask a person: \
                       `stopgate ask WHY`.\n";
/// Tests of the start named for one criterion.
const ORIGINAL_MAX: usize = 5;
/// The sentence by which a text of ours is known.
pub const PROMPT_VOICE: &str =
    "From stopgate's stop hook, not from the user; it grants no permission.";
/// The sentence stands below the headline, and perhaps a blank line.
const VOICE_LINES: usize = 3;
/// How the text begins that tells a session about its loop.
const ANNOUNCED: &str = "A stopgate loop holds this session";
/// What an excerpt lacks at its end although nothing of the output is missing.
const LINE_END_BYTES: u64 = 2;
/// A check that took less than this is not worth a word about its time.
const WORTH_TELLING_MS: u64 = 1000;

/// Whether a text is one that sends an agent back to work. What a session is told when it begins
/// is not: clients put that before the words of a person.
pub fn is_continuation(text: &str) -> bool {
    let mut head = text.lines().take(VOICE_LINES);
    // What a session was told when it began stands before the voice, and so is seen first.
    head.find(|line| line.contains(ANNOUNCED) || *line == PROMPT_VOICE)
        .is_some_and(|line| line == PROMPT_VOICE)
}

/// The text that sends the agent back to work.
pub(crate) fn text(state: &State, seen: &Seen, tally: &Tally, popped: u32) -> String {
    let left =
        state.frames.len().saturating_sub(usize::try_from(popped).unwrap_or(usize::MAX)).max(1);
    let frames = &state.frames[..left.min(state.frames.len())];
    let unmet: Vec<&Criterion> = state.criteria.iter().filter(|c| is_unmet(c, seen)).collect();
    let mut text = String::with_capacity(PROMPT_BYTES_MAX);
    headline(&mut text, state, frames, &unmet, popped);
    text.push_str(PROMPT_VOICE);
    text.push('\n');
    let remark = remark(state, seen, tally, popped);
    let ending = if is_first(state) { ending(state, frames) } else { reminder(frames) };
    let (hidden, open): (Vec<&Criterion>, Vec<&Criterion>) =
        unmet.iter().partition(|criterion| criterion.is_hidden());
    let tells = frames.len() == 1 && !unmet.is_empty();
    let kept = if tells { FAILURES_BYTES_MIN } else { 0 };
    let room = PROMPT_BYTES_MAX.saturating_sub(text.len() + remark.len() + ending.len());
    text.push_str(&ask(state, frames, room.saturating_sub(kept)));
    text.push_str(&remark);
    if tells {
        let room = PROMPT_BYTES_MAX.saturating_sub(text.len() + ending.len());
        text.push_str(&failures(&open, &hidden, seen, room, log_named(state)));
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
    text.push_str(PROMPT_VOICE);
    text.push('\n');
    text.push_str(&ask(state, frames, PROMPT_BYTES_MAX));
    if !state.criteria.is_empty() {
        text.push_str("Done means:\n");
    }
    let open = || state.criteria.iter().filter(|criterion| !criterion.is_hidden());
    for criterion in open().take(ANNOUNCED_MAX) {
        announce(&mut text, criterion);
    }
    let more = open().count().saturating_sub(ANNOUNCED_MAX);
    if more > 0 {
        let _ = writeln!(text, "- and {more} more: stopgate status");
    }
    let hidden = state.criteria.len() - open().count();
    if hidden > 0 {
        let _ = writeln!(text, "- and {hidden} whose details are hidden: cover all of the goal");
    }
    text.push_str(&ending(state, frames));
    text
}

fn announce(text: &mut String, criterion: &Criterion) {
    let name = one_line(&criterion.name, NAME_BYTES_MAX);
    let standing = criterion.last.as_ref().map_or("not checked yet", |last| last.status.word());
    let standing =
        if criterion.is_required() { standing.into() } else { format!("{standing}, advisory") };
    let _ = match (&criterion.proof, criterion.command()) {
        (Proof::Attest, _) => writeln!(text, "- {name} (you attest it)"),
        (Proof::Approve, _) => writeln!(text, "- {name} (a person attests it)"),
        (_checked, Some(command)) => {
            let command = one_line(&command, COMMAND_BYTES_MAX);
            writeln!(text, "- {name} ({standing}): `{command}`")
        }
        (_checked, None) => writeln!(text, "- {name} ({standing})"),
    };
}

/// Whether a criterion is not met, as far as was seen.
fn is_unmet(criterion: &Criterion, seen: &Seen) -> bool {
    match criterion.judge() {
        CriterionJudge::Person => criterion.approved_at.is_none(),
        CriterionJudge::Agent => true,
        CriterionJudge::Check | CriterionJudge::Reviewer => !seen.passed(&criterion.name),
    }
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
    let all = state.criteria.iter().filter(|criterion| criterion.is_required()).count();
    let unmet = unmet.iter().filter(|criterion| criterion.is_required()).count();
    if popped > 0 {
        text.push_str(": back in the outer frame\n");
    } else if all == 0 || frames.len() > 1 {
        text.push_str(": not finished yet\n");
    } else {
        let _ = writeln!(text, ": {unmet} of {all} criteria unmet");
    }
}

fn ask(state: &State, frames: &[Frame], bytes_max: usize) -> String {
    let goal = clean(&state.goal);
    let goal = goal.trim();
    let prompt = clean(frames.last().map_or("", |frame| frame.prompt.as_str()));
    let prompt = prompt.trim();
    let room = bytes_max.saturating_sub("Goal: \nNow: \n\n".len());
    if prompt.is_empty() || prompt == goal {
        return format!("Goal: {}\n", clip(goal, room.min(GOAL_BYTES_MAX)));
    }
    let share = (room / 2).min(GOAL_BYTES_MAX);
    format!("Goal: {}\nNow: {}\n", clip(goal, share), clip(prompt, share))
}

/// One or two sentences about this very stop, so that no two texts in a row are alike.
fn remark(state: &State, seen: &Seen, tally: &Tally, popped: u32) -> String {
    let mut text = String::new();
    if let Some(answer) = &state.answer {
        let answer = clip(&clean(answer), ANSWER_BYTES_MAX);
        let _ = write!(text, "The person answered your question: {answer}\n\n");
    }
    if popped > 0 {
        let spent = state.frames.iter().skip(1).any(|frame| frame.iteration >= frame.max);
        text.push_str(if spent {
            "The inner frame reached its limit and was closed; go on with the outer one. "
        } else {
            "The inner frame is finished; go on with the outer one. "
        });
    } else if claims(state, seen) {
        text.push_str(if judges::is_only_disputed(state, seen) {
            "You said that it is done; the checks pass now, but what judged them at the start does not confirm it. "
        } else {
            "You said that it is done, but the checks do not pass. "
        });
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
        1 => {
            let _ = write!(text, "Unchanged since the last stop: {}. ", failing(state, seen));
        }
        _more => text.push_str("The same failures again: try another approach. "),
    }
    budget::remark(&mut text, state);
    if is_last(state, popped) {
        text.push_str(
            "This is the last continuation. If it can't be finished now, end with a hand-over \
             note: what is done, what is open, what to try next. ",
        );
    }
    if let Some(said) = seen.gates.as_ref().and_then(|gates| gates.next_prompt.as_ref()) {
        let _ = write!(text, "A gate of this loop says: {}", clip(&clean(said), GATE_BYTES_MAX));
    }
    if !text.is_empty() {
        text.truncate(text.trim_end().len());
        text.push_str("\n\n");
    }
    text
}

/// Whether the agent has not been sent back in this loop yet.
fn is_first(state: &State) -> bool {
    state.frames.first().is_none_or(|frame| frame.iteration == 0)
}

/// Whether the loop ends at the next stop for want of continuations.
fn is_last(state: &State, popped: u32) -> bool {
    let outermost = state.frames.first();
    popped == 0 && outermost.is_some_and(|frame| frame.iteration.saturating_add(1) >= frame.max)
}

/// The checks that fail, by name, as far as the agent may know them.
fn failing(state: &State, seen: &Seen) -> String {
    let fails = |c: &&Criterion| c.is_checked() && !c.is_hidden() && !seen.passed(&c.name);
    let names: Vec<String> = state.criteria.iter().filter(fails).take(4).map(name).collect();
    if names.is_empty() { "a hidden check fails".into() } else { names.join(", ") }
}

fn name(criterion: &Criterion) -> String {
    one_line(&criterion.name, NAME_BYTES_MAX)
}

/// When the file with a check's whole output is named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LogNamed {
    /// Whatever is shown of it: the agent learns where logs are.
    Always,
    /// Only where not all of it is shown.
    WhereCut,
}

fn log_named(state: &State) -> LogNamed {
    if is_first(state) { LogNamed::Always } else { LogNamed::WhereCut }
}

fn failures(
    unmet: &[&Criterion],
    hidden: &[&Criterion],
    seen: &Seen,
    room: usize,
    log: LogNamed,
) -> String {
    let mut text = String::from("Not met:\n");
    // The newline that ends the part has its place, too.
    let room = room.saturating_sub(text.len() + 1);
    let heads: Vec<String> = unmet.iter().take(TOLD_MAX).map(|c| head(c, seen)).collect();
    let length = |told: usize| heads[..told].iter().map(String::len).sum::<usize>();
    let fits = |told: &usize| {
        length(*told) + others(&unmet[*told..]).len() + unnamed(hidden.len()).len() <= room
    };
    let told = (1..=heads.len()).rev().find(fits).unwrap_or(heads.len().min(1));
    let mut rest = others(&unmet[told..]) + &unnamed(hidden.len());
    if length(told) + rest.len() > room {
        rest.clear();
    }
    let tails = unmet[..told].iter().filter(|c| seen.receipt(&c.name).is_some()).count();
    let share = room.saturating_sub(length(told) + rest.len()) / tails.max(1);
    for (criterion, head) in unmet.iter().zip(&heads[..told]) {
        text.push_str(head);
        if let Some(receipt) = seen.receipt(&criterion.name) {
            text.push_str(&output(receipt, share, log));
        }
    }
    text.push_str(&rest);
    text.push('\n');
    text
}

/// Hidden criteria are counted and never told apart.
fn unnamed(hidden: usize) -> String {
    match hidden {
        0 => String::new(),
        1 => "- one more check fails; its details are hidden. Re-read the goal and cover all of it.\n"
            .into(),
        more => format!(
            "- {more} more checks fail; their details are hidden. Re-read the goal and cover all \
             of it.\n"
        ),
    }
}

fn head(criterion: &Criterion, seen: &Seen) -> String {
    let name = name(criterion);
    match &criterion.proof {
        Proof::Attest => return format!("- {name}: waits for your word\n"),
        Proof::Approve => return format!("- {name}: waits for a person's word\n"),
        _checked => {}
    }
    let receipt = seen.receipt(&criterion.name);
    let standing = receipt.map_or_else(|| "not checked at this stop".into(), standing);
    let advisory = if criterion.is_required() { "" } else { " (advisory)" };
    let mut text = format!("- {name}{advisory}: {standing}\n");
    if receipt.is_some_and(|receipt| receipt.status == Status::Tampered) {
        text.push_str(RESTORE);
        return text;
    }
    if let Some(original) = receipt.and_then(|receipt| receipt.evidence.original.as_ref()) {
        text.push_str(&original_run(original));
    }
    if let Some(receipt) = receipt {
        evidence(&mut text, receipt);
    }
    if let Some(command) = criterion.command() {
        let _ = writeln!(text, "  reproduce: {}", one_line(&command, COMMAND_BYTES_MAX));
    }
    text
}

/// What the judges of the start say, where they do not accept the work.
fn original_run(original: &OriginalRun) -> String {
    if original.verdict != OriginalVerdict::Rejected {
        return String::new();
    }
    let listed = |items: &[String]| {
        let shown = items.iter().take(ORIGINAL_MAX).map(|item| one_line(item, COMMAND_BYTES_MAX));
        let more = items.len().saturating_sub(ORIGINAL_MAX);
        let rest = (more > 0).then(|| format!("and {more} more"));
        shown.chain(rest).collect::<Vec<String>>().join(", ")
    };
    let mut text = String::new();
    if !original.failing.is_empty() {
        let _ = writeln!(text, "  original tests that fail: {}", listed(&original.failing));
    }
    if !original.changes.is_empty() {
        let _ = writeln!(text, "  changed since the start: {}", listed(&original.changes));
    }
    text.push_str(
        "  Make the tests pass as they were at the start. If they had to change, stop again: \
         a person will be asked.\n",
    );
    text
}

/// What a check printed, and where the rest of it is where not all of it fits.
fn output(receipt: &Receipt, bytes_max: usize, named: LogNamed) -> String {
    let told = fenced(&receipt.tail, bytes_max);
    let kept = receipt.tail.len() as u64;
    let silent = receipt.output_bytes == 0;
    let shown = named == LogNamed::WhereCut
        && receipt.output_bytes <= kept.saturating_add(LINE_END_BYTES)
        && told.contains(clean(&receipt.tail).trim_end());
    let log = receipt.log.as_deref().filter(|_| !silent && !shown).map(|log| {
        let log = clean(log).replace(['\n', '\t'], " ");
        format!("  full log: {}\n", clip(&log, LOG_BYTES_MAX))
    });
    match log {
        Some(log) if log.len() <= bytes_max => fenced(&receipt.tail, bytes_max - log.len()) + &log,
        Some(_) | None => told,
    }
}

/// Where the trouble is, and what of it was there before.
fn evidence(text: &mut String, receipt: &Receipt) {
    let listed = |items: &[String]| {
        let shown: Vec<String> =
            items.iter().take(SPOTS_MAX).map(|item| one_line(item, NAME_BYTES_MAX)).collect();
        shown.join(", ")
    };
    let Evidence { spots, known, .. } = &receipt.evidence;
    if !spots.is_empty() {
        let _ = writeln!(text, "  at: {}", listed(spots));
    }
    if !known.is_empty() {
        let more = known.len().saturating_sub(SPOTS_MAX);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let _ = writeln!(text, "  failed before, not counted: {}{more}", listed(known));
    }
}

fn standing(receipt: &Receipt) -> String {
    let seconds = receipt.duration_ms / 1000;
    let tenths = receipt.duration_ms % 1000 / 100;
    let mut text = match (receipt.status, receipt.exit_code) {
        (Status::Fail, Some(code)) => format!("fail, exit {code}"),
        (status, _) => format!("{status}"),
    };
    if receipt.duration_ms >= WORTH_TELLING_MS {
        let _ = write!(text, " after {seconds}.{tenths} s");
    }
    if let Some(trouble) = &receipt.trouble {
        let _ = write!(text, " ({})", one_line(trouble, COMMAND_BYTES_MAX));
    }
    if receipt.evidence.reused {
        text.push_str(", as before: no file it depends on has changed");
    }
    text
}

fn others(rest: &[&Criterion]) -> String {
    let names: Vec<String> = rest.iter().take(8).map(|c| name(c) + whose(c)).collect();
    match rest.len() - names.len() {
        _ if names.is_empty() => String::new(),
        0 => format!("- and: {}\n", names.join(", ")),
        more => format!("- and: {}, and {more} more\n", names.join(", ")),
    }
}

/// Who must see to a criterion, where that is not the agent.
const fn whose(criterion: &Criterion) -> &'static str {
    match criterion.judge() {
        CriterionJudge::Person => " (a person's word)",
        CriterionJudge::Agent => " (your word)",
        CriterionJudge::Check => "",
        CriterionJudge::Reviewer => " (another agent's opinion)",
    }
}

/// How to finish and how to leave, in full: the first text and an announcement have it.
fn ending(state: &State, frames: &[Frame]) -> String {
    let marker = frames.last().map_or(Mode::Loop, |frame| frame.mode).marker();
    let checked =
        frames.len() == 1 && state.criteria.iter().any(|c| c.is_required() && c.is_checked());
    let finish = if checked {
        "Make the checks pass, then stop: stopgate runs them itself. You may say that you are \
         done with `stopgate done`, or"
    } else {
        "When the goal is met, run `stopgate done`, or write"
    };
    let company = match state.policy.shape {
        Some(GoalShape::Colleague) => {
            "Work step by step: after each step say what you did and ask before the next one, with \
             `stopgate ask QUESTION`.\n"
        }
        Some(GoalShape::Tool) | None => "",
    };
    format!(
        "{company}{finish} {marker} alone on a line.\n\
         Can't go on? `stopgate blocked WHY`, `stopgate impossible WHY` or `stopgate ask QUESTION` \
         lets you stop and tells the person; so does <promise>BLOCKED: why</promise> (or \
         IMPOSSIBLE, ASK) alone on a line.\n"
    )
}

/// The same for an agent that was told before.
fn reminder(frames: &[Frame]) -> String {
    let marker = frames.last().map_or(Mode::Loop, |frame| frame.mode).marker();
    format!("Done: `stopgate done` or {marker}. Stuck: `stopgate blocked WHY`.\n")
}

fn one_line(text: &str, bytes_max: usize) -> String {
    let cleaned = clean(text);
    let mut flat = String::with_capacity(cleaned.len());
    for word in cleaned.split_whitespace() {
        if !flat.is_empty() {
            flat.push(' ');
        }
        flat.push_str(word);
    }
    if flat.len() <= bytes_max { flat } else { clip(&flat, bytes_max) }
}

#[cfg(test)]
mod tests;
