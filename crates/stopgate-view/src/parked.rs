//! What a parked loop waits for, in words.

use stopgate_core::{BackgroundChecks, Parking, UnparkedBy, WaitCondition, clean};

use crate::when::utc_minute;

/// What a parked loop waits for, and until when: `the end of process 4711, until …`.
pub fn waits_for(parking: &Parking) -> String {
    let what = parking_text(parking);
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

/// What a parked loop waits for, as a noun: one line.
pub fn parking_text(parking: &Parking) -> String {
    match &parking.checks {
        Some(checks) if checks.first => format!("the first run of {} to end", named(checks)),
        Some(checks) => format!("{} to end in the background", named(checks)),
        None => condition_text(&parking.condition),
    }
}

/// Why a stop is allowed while checks go on without it: `check tests takes about 20 min, longer
/// than the 9 min that a stop waits: …`.
pub fn background_text(checks: &BackgroundChecks) -> String {
    let log = checks.logs.as_deref().map(|logs| format!(" Output: {}", clean(logs)));
    let log = log.unwrap_or_default();
    if checks.first {
        return format!(
            "the first run of {}, on a copy of the tree as it was at the start, has not ended yet: \
             the loop goes on when it is known how long it takes and how many tests ran.{log}",
            named(checks)
        );
    }
    let stop = rounded(checks.hook_ms);
    let about = match checks.usual_ms.filter(|usual| *usual > checks.hook_ms) {
        Some(usual) => format!("about {}, longer", rounded(usual)),
        None => "longer".into(),
    };
    let (takes, rest) = match checks.names.len() {
        0 | 1 => ("takes", "it goes on in the background, and the loop goes on when it has ended."),
        _ => ("take", "they go on in the background, and the loop goes on when they have ended."),
    };
    format!("{} {takes} {about} than the {stop} that a stop waits: {rest}{log}", named(checks))
}

/// `check tests`, `checks a, b`.
fn named(checks: &BackgroundChecks) -> String {
    let names: Vec<String> =
        checks.names.iter().map(|name| clean(name).replace('\n', " ")).collect();
    match names.as_slice() {
        [] => "a check".into(),
        [one] => format!("check {one}"),
        more => format!("checks {}", more.join(", ")),
    }
}

/// A span in words that people say.
pub(crate) fn rounded(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..120_000 => format!("{} s", ms / 1000),
        _ => format!("{} min", (ms + 30_000) / 60_000),
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

    fn checks(names: &[&str], usual_ms: Option<u64>) -> BackgroundChecks {
        BackgroundChecks {
            names: names.iter().map(ToString::to_string).collect(),
            usual_ms,
            hook_ms: 540_000,
            logs: None,
            claimed: false,
            first: false,
        }
    }

    #[test]
    fn a_stop_says_how_long_a_check_takes_where_that_is_known() {
        assert_eq!(
            background_text(&checks(&["tests"], Some(1_200_000))),
            "check tests takes about 20 min, longer than the 9 min that a stop waits: it goes on \
             in the background, and the loop goes on when it has ended."
        );
        // What was cut short says nothing about how long it takes.
        let unknown = background_text(&checks(&["tests"], Some(3)));
        assert!(unknown.starts_with("check tests takes longer than the 9 min"), "{unknown}");
        let several = background_text(&checks(&["a", "b"], None));
        assert!(several.starts_with("checks a, b take longer"), "{several}");
        assert!(several.contains("they go on"), "{several}");
        let first = BackgroundChecks { first: true, ..checks(&["tests"], None) };
        let shown = background_text(&first);
        assert!(shown.contains("the first run of check tests"), "{shown}");
        for payload in PAYLOADS {
            let shown = background_text(&checks(&[payload], None));
            assert!(!shown.contains(|letter: char| letter.is_control()), "{shown:?}");
        }
    }
}
