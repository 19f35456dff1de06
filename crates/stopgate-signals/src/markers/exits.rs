//! An honest exit in words: `<promise>BLOCKED: why</promise>` and its kin.
//!
//! What the commands `blocked`, `impossible` and `ask` do, for agents whose shell asks for
//! permission first.

use stopgate_core::SpokenExit;

use super::quoted::Quoted;
use super::{MarkerPlace, is_escaped, place, tags};

const OPEN: &str = "<promise>";
const CLOSE: &str = "</promise>";

/// The first exit with a reason that was said on a line of its own, outside of all that is
/// only shown.
pub fn spoken_exit(message: &str) -> Option<SpokenExit> {
    let message = message.strip_prefix('\u{feff}').unwrap_or(message);
    let found: Vec<(usize, SpokenExit)> = message
        .match_indices(OPEN)
        .filter_map(|(start, _)| Some((start, exit_at(message, start)?)))
        .collect();
    if found.is_empty() {
        return None;
    }
    let quoted = Quoted::find(&tags::disarm(message));
    let is_said = |start: usize| !quoted.hides(start) && !is_escaped(&message[..start]);
    found.into_iter().find(|(start, _)| is_said(*start)).map(|(_, exit)| exit)
}

fn exit_at(message: &str, start: usize) -> Option<SpokenExit> {
    let inner = &message[start + OPEN.len()..];
    let length = inner.find(CLOSE)?;
    let end = start + OPEN.len() + length + CLOSE.len();
    let said = &inner[..length];
    if said.contains(['\n', '\r'])
        || place(&message[..start], &message[end..]) != MarkerPlace::OwnLine
    {
        return None;
    }
    let (word, reason) = said.split_once(':')?;
    let reason = reason.trim();
    if reason.is_empty() {
        return None;
    }
    match word.trim() {
        "BLOCKED" => Some(SpokenExit::Blocked(reason.into())),
        "IMPOSSIBLE" => Some(SpokenExit::Impossible(reason.into())),
        "ASK" => Some(SpokenExit::Ask(reason.into())),
        _other => None,
    }
}

#[cfg(test)]
mod tests {
    use stopgate_core::SpokenExit;

    use super::spoken_exit;

    #[track_caller]
    fn check(message: &str, expected: Option<&SpokenExit>) {
        assert_eq!(spoken_exit(message).as_ref(), expected, "{message}");
    }

    #[test]
    fn an_exit_with_its_reason_is_heard_on_a_line_of_its_own() {
        let blocked = SpokenExit::Blocked("no network".into());
        check("I tried.\n\n<promise>BLOCKED: no network</promise>\n", Some(&blocked));
        check("<promise> BLOCKED :  no network </promise>  ", Some(&blocked));
        let impossible = SpokenExit::Impossible("P: is not NP".into());
        check("<promise>IMPOSSIBLE: P: is not NP</promise>", Some(&impossible));
        let ask = SpokenExit::Ask("Which <db>?".into());
        check("a\n<promise>ASK: Which <db>?</promise>", Some(&ask));
    }

    #[test]
    fn what_is_shown_or_has_no_reason_is_not_heard() {
        for message in [
            "<promise>BLOCKED</promise>",
            "<promise>BLOCKED:  </promise>",
            "<promise>blocked: no</promise>",
            "<promise>DONE: yes</promise>",
            "I could write <promise>BLOCKED: why</promise>",
            "```\n<promise>BLOCKED: why</promise>\n```",
            "> <promise>BLOCKED: why</promise>",
            "    <promise>BLOCKED: why</promise>",
            "`<promise>BLOCKED: why</promise>`",
            "<promise>BLOCKED: a\nb</promise>",
            "<!--\n<promise>BLOCKED: why</promise>\n-->",
        ] {
            check(message, None);
        }
    }
}
