//! What was seen at a recorded stop, read back from the journal.
//!
//! The journal keeps what a stop saw as facts, receipts and the tally that came of it; the few
//! things it does not name follow from those. What can't be told stays out: nothing is guessed.

use stopgate_core::{
    CapScope, ClientCap, FileTrust, Leave, Rule, Ruling, Seen, Soundness, State, Stopped, ToolUse,
};

/// What precedes a task's objection in the text that an agent was sent.
const OBJECTED: &str = "\nYou said that it is complete, but the task's own rules do not agree:\n";

/// What the rest of a decision hung on that the journal does not name: whether the record was
/// sound, and whether a person trusted the project's file.
pub(crate) const UNNAMED: [(Soundness, FileTrust); 8] = [
    (Soundness::Sound, FileTrust::Untrusted),
    (Soundness::Sound, FileTrust::Trusted),
    (Soundness::Unchained, FileTrust::Untrusted),
    (Soundness::UnknownWriter, FileTrust::Untrusted),
    (Soundness::Forged, FileTrust::Untrusted),
    (Soundness::Unchained, FileTrust::Trusted),
    (Soundness::UnknownWriter, FileTrust::Trusted),
    (Soundness::Forged, FileTrust::Trusted),
];

/// What was seen at the stop that found the loop in the state `before`.
pub(crate) fn recall(before: &State, stopped: &Stopped) -> Seen {
    let facts = &stopped.facts;
    let counted = is_counted(stopped.ruling);
    let tally = &stopped.tally;
    let new_prompt = counted && tally.prompt_id != before.tally.prompt_id;
    // A tool call or a new prompt starts the client's count again, whatever the client says.
    let explained = facts.tools == ToolUse::Used || new_prompt;
    Seen {
        markers: facts.markers.clone(),
        exit: facts.exit.clone(),
        message: facts.message.or(tally.message.filter(|_| counted)),
        tools: facts.tools,
        tool_mark: facts.tool_mark.or(tally.tool_mark.filter(|_| counted)),
        transcript_mark: facts.transcript_mark.or(tally.transcript_mark.filter(|_| counted)),
        continued: facts
            .continued
            .or_else(|| if explained { None } else { continued(before, stopped) }),
        background: facts.background.clone(),
        prompt_id: tally.prompt_id.clone().filter(|_| new_prompt),
        cap: client_cap(stopped),
        untrusted: facts.untrusted || stopped.rule == Rule::Trust,
        receipts: stopped.receipts.clone(),
        gates: stopped.gates.clone(),
        objection: objection(&stopped.text).map(String::from),
        ..Seen::default()
    }
}

/// The client's limit. Only the number is kept; a count that outlived a tool call tells its scope.
fn client_cap(stopped: &Stopped) -> Option<ClientCap> {
    let own = u32::from(stopped.ruling == Ruling::Continue);
    let outlived = stopped.facts.tools == ToolUse::Used && stopped.tally.refusals > own;
    let without_tool = stopped.why.contains(" without a tool call");
    let turn = outlived || (stopped.rule == Rule::Cap && !without_tool);
    let scope = if turn { CapScope::Turn } else { CapScope::SinceTool };
    stopped.facts.cap.map(|refusals| ClientCap { refusals, scope, lift: "" })
}

/// Whether the tally counted the stop; one that was allowed for a while is passed over.
pub(crate) const fn is_counted(ruling: Ruling) -> bool {
    match ruling {
        Ruling::Allow(Leave::Popped)
        | Ruling::Continue
        | Ruling::Complete(_)
        | Ruling::Escalate(_) => true,
        Ruling::Allow(_) => false,
    }
}

/// Whether the client said that no hook had sent the agent back; told by the count of refusals,
/// for stops of versions that did not note it.
fn continued(before: &State, stopped: &Stopped) -> Option<bool> {
    let refusals = before.tally.refusals;
    if refusals == 0 {
        return None;
    }
    if !is_counted(stopped.ruling) {
        // The cap was asked before the agent's question, and did not answer.
        let past =
            stopped.rule == Rule::Signals && stopped.facts.cap.is_some_and(|c| refusals >= c);
        return past.then_some(false);
    }
    let own = u32::from(stopped.ruling == Ruling::Continue);
    (stopped.tally.refusals.saturating_sub(own) == 0).then_some(false)
}

/// Why a task's own rules did not believe a claim, as the agent was told.
pub(crate) fn objection(text: &str) -> Option<&str> {
    text.split_once(OBJECTED).map(|(_, why)| why.strip_suffix('\n').unwrap_or(why))
}

/// The text of a continuation with a task's objection behind it.
pub(crate) fn with_objection(text: &str, why: &str) -> String {
    format!("{text}{OBJECTED}{why}\n")
}
