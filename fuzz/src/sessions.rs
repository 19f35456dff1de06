//! What sessions of agents leave and say: output of clients, records of use, status lines,
//! opinions of reviewers, words for a time.

use std::io::Cursor;

use stopgate_agents::{Agent, ClientExit};
use stopgate_core::{Spend, Timestamp, UsageFile};
use stopgate_usage::{
    Counting, PriceBook, UsageFormat, UsageNews, UsageReader, absorb, first_line_since,
    read_statusline,
};
use stopgate_verify::read_opinion;

use super::Target;

const NOW: Timestamp = Timestamp::from_unix_millis(1_794_788_400_000);

/// Every target of this kind.
pub const TARGETS: [Target; 5] = [
    ("stream", stream),
    ("usage_record", usage_record),
    ("statusline", statusline),
    ("opinion", opinion),
    ("wait_time", wait_time),
];

/// The output of any agent's client: read the same twice, and no success without a last word.
pub fn stream(bytes: &[u8]) {
    for headless in Agent::ALL.into_iter().filter_map(Agent::headless) {
        let read = |exit: ClientExit| {
            let mut reader = headless.reader().with_session("s");
            let mut facts = Vec::new();
            for line in bytes.split(|byte| *byte == b'\n') {
                facts.extend(reader.line(line));
                facts.extend(reader.error_line(&String::from_utf8_lossy(line)));
                reader.record_line(line);
            }
            let has_ended = reader.has_ended();
            (facts, has_ended, reader.report(exit))
        };
        for exit in [ClientExit::Signal, ClientExit::Code(0), ClientExit::Code(1)] {
            let (facts, has_ended, report) = read(exit);
            assert_eq!(read(exit), (facts, has_ended, report.clone()), "an output has one meaning");
            if exit == ClientExit::Signal && !has_ended {
                assert!(report.end.is_err(), "a client that was killed has not finished");
            }
        }
    }
}

/// A client's record of use: whole lines are read, once, however they arrive.
pub fn usage_record(bytes: &[u8]) {
    let whole = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let found = first_line_since(Cursor::new(bytes), whole, NOW).expect("memory can be read");
    assert!(found <= whole);
    for format in Agent::ALL.iter().filter_map(|agent| UsageFormat::of_agent(agent.word())) {
        let file = UsageFile { path: "record".into(), ..UsageFile::default() };
        let (mut at_once, mut in_parts) = (UsageNews::default(), UsageNews::default());
        let mut reader = UsageReader::resume(format, file.clone());
        reader.read(bytes, &mut at_once);
        let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        assert_eq!(usize::try_from(reader.offset()), Ok(complete));
        let mut parts = UsageReader::resume(format, file);
        parts.read(&bytes[..bytes.len() / 2], &mut in_parts);
        let from = usize::try_from(parts.offset()).expect("no file is longer");
        // What was stored between two stops reads on where it was.
        let mut parts = UsageReader::resume(format, parts.into_file());
        parts.read(&bytes[from..], &mut in_parts);
        assert_eq!(in_parts, at_once);
        let (mut spend, mut file) = (Spend::default(), reader.into_file());
        let prices = PriceBook::default();
        let by = Counting { prices: &prices, since: None, until: None, now: NOW };
        let calls = at_once.calls.clone();
        absorb(&mut spend, &mut file, at_once.calls, &by);
        let once = spend.tokens();
        absorb(&mut spend, &mut file, calls.into_iter().rev().take(8).rev().collect(), &by);
        assert_eq!(spend.tokens(), once, "a call that is read again counts once");
    }
}

/// What a client hands its status line.
pub fn statusline(bytes: &[u8]) {
    let told = read_statusline(bytes);
    assert_eq!(told, read_statusline(bytes));
}

/// A reviewer's answer: a verdict has reasons that can be shown.
pub fn opinion(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Ok(opinion) = read_opinion(text) else { return };
    assert!(!opinion.reasons.is_empty() && opinion.reasons.len() <= 20, "{opinion:?}");
    for reason in &opinion.reasons {
        assert!(!reason.trim().is_empty() && reason.len() <= 1010, "{reason:?}");
        assert!(!reason.contains(|letter: char| letter.is_control()), "{reason:?}");
    }
}

/// Words for the time of a wait: whatever they mean, it can be reckoned with.
pub fn wait_time(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Some(at) = stopgate_engine::fuzzing::wait_time(text, NOW) {
        let _ = at.since(NOW);
        let _ = at.plus(i64::MAX);
    }
}
