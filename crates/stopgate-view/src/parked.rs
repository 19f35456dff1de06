//! What a parked loop waits for, in words.

use stopgate_core::{Parking, UnparkedBy, WaitCondition, clean};

use crate::when::utc_minute;

/// What a parked loop waits for, and until when: `the end of process 4711, until …`.
pub fn waits_for(parking: &Parking) -> String {
    let what = condition_text(&parking.condition);
    if parking.held_at.is_some() {
        return format!("{what}: it has happened");
    }
    match &parking.condition {
        WaitCondition::Time { .. } => what,
        WaitCondition::Process { .. }
        | WaitCondition::Path { .. }
        | WaitCondition::Command { .. }
        | WaitCondition::Url { .. }
        | WaitCondition::Reference { .. } => {
            format!("{what} (until {} UTC)", utc_minute(parking.deadline))
        }
    }
}

/// What must happen, as a noun: one line, without what moves a terminal, for an agent wrote it.
pub fn condition_text(condition: &WaitCondition) -> String {
    clean(&as_written(condition)).replace('\n', " ")
}

fn as_written(condition: &WaitCondition) -> String {
    match condition {
        WaitCondition::Time { at } => format!("{} UTC", utc_minute(*at)),
        WaitCondition::Process { pid, .. } => format!("the end of process {pid}"),
        WaitCondition::Path { path, .. } => format!("a change of {path}"),
        WaitCondition::Command { command, .. } => format!("`{command}` to exit with 0"),
        WaitCondition::Url { url } => format!("{url} to answer 2xx"),
        WaitCondition::Reference { name, .. } => format!("git reference {name} to move"),
    }
}

/// Who found out that the wait is over.
pub fn unparked(by: &UnparkedBy) -> &'static str {
    match by {
        UnparkedBy::Stop => "what it waited for has happened",
        UnparkedBy::Client { .. } => "what it waited for has happened: its session was resumed",
        UnparkedBy::Driver => "what it waited for has happened: its driver goes on",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hostile::PAYLOADS;

    #[test]
    fn what_an_agent_wrote_moves_no_terminal() {
        for payload in PAYLOADS {
            let text = || String::from(payload);
            let all = [
                WaitCondition::Path { path: text(), seen: String::new() },
                WaitCondition::Command { command: text(), directory: String::new() },
                WaitCondition::Url { url: text() },
                WaitCondition::Reference { directory: String::new(), name: text(), seen: None },
            ];
            for condition in all {
                let shown = condition_text(&condition);
                let is_odd = |letter: char| letter.is_control() && letter != '\t';
                assert!(!shown.contains(is_odd), "{shown:?}");
                assert!(!shown.contains(['\u{202e}', '\u{2066}']), "{shown:?}");
            }
        }
    }
}
