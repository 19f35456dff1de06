use std::io::Cursor;

use proptest::prelude::*;

use super::tests::{classify, is_tool_use};
use super::{Bound, Last, TranscriptRecord, TranscriptToolUse, last_message_by, tool_used_by};

fn file() -> impl Strategy<Value = Vec<u8>> {
    let lines: [&[u8]; 18] = [
        b"a1 one",
        b"a1 two",
        b"a1",
        b"a2 three",
        b"a2",
        b"a four",
        b"a",
        b"a1 ",
        b"u",
        b"o",
        b"o meta",
        b"foreign",
        b"\xff\xfe",
        b"tool",
        b"",
        b" ",
        b"tool x",
        b"a3 a longer text that spans blocks",
    ];
    let line = prop::sample::select(lines.to_vec());
    let end = prop::sample::select(vec!["\n", "\n", "\n", "\r\n", "\n\n", ""]);
    prop::collection::vec((line, end), 0..14).prop_map(|lines| {
        lines.into_iter().flat_map(|(line, end)| [line, end.as_bytes()].concat()).collect()
    })
}

/// The same answer from the whole file, in the plainest way.
fn oracle(file: &[u8]) -> Last {
    let lines =
        file.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let lines: Vec<_> = lines.filter(|line| !line.trim_ascii().is_empty()).collect();
    let mut records: Vec<_> = lines.iter().map(|line| classify(line)).collect();
    records.retain(|record| *record != TranscriptRecord::Foreign);
    let turn =
        records.rsplit(|record| *record == TranscriptRecord::UserTurn).next().unwrap_or_default();
    let parts: Vec<_> = turn.iter().filter_map(part).collect();
    let same = |(id, _): &&(Option<String>, String)| {
        id.is_some() && Some(id) == parts.last().map(|(id, _)| id)
    };
    let count = parts.iter().rev().take_while(same).count().max(1);
    let last = &parts[parts.len().saturating_sub(count)..];
    let texts: Vec<_> =
        last.iter().map(|(_, text)| text.as_str()).filter(|text| !text.is_empty()).collect();
    match (lines.is_empty(), records.is_empty(), texts.is_empty()) {
        (true, _, _) => Last::Empty,
        (_, true, _) => Last::Unreadable,
        (_, _, true) => Last::Silent,
        _ => Last::Text(texts.join("\n")),
    }
}

fn part(record: &TranscriptRecord) -> Option<(Option<String>, String)> {
    match record {
        TranscriptRecord::Assistant { message, text } => {
            Some((message.clone(), text.clone().unwrap_or_default()))
        }
        TranscriptRecord::UserTurn | TranscriptRecord::Other | TranscriptRecord::Foreign => None,
    }
}

fn tool_oracle(added: &[u8]) -> TranscriptToolUse {
    let mut lines: Vec<_> = added.split(|byte| *byte == b'\n').collect();
    lines.pop();
    let used = lines.iter().any(|line| is_tool_use(line.strip_suffix(b"\r").unwrap_or(line)));
    if used { TranscriptToolUse::Used } else { TranscriptToolUse::None }
}

fn read_by(file: &[u8], bytes_max: u64, block_bytes: u32) -> Last {
    last_message_by(Cursor::new(file), Bound { bytes_max }, block_bytes, classify).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn blocks_do_not_change_the_answer(file in file(), block_bytes in 1_u32..40) {
        prop_assert_eq!(read_by(&file, u64::MAX, block_bytes), oracle(&file));
        prop_assert_eq!(read_by(&file, file.len() as u64, block_bytes), oracle(&file));
    }

    #[test]
    fn a_bound_gives_the_same_answer_or_none(file in file(), bytes_max in 0_u64..120, block_bytes in 1_u32..40) {
        let last = read_by(&file, bytes_max, block_bytes);
        prop_assert!(last == Last::Unreadable || last == oracle(&file), "{:?}", last);
    }

    #[test]
    fn any_bytes_are_read(file in prop::collection::vec(any::<u8>(), 0..200), block_bytes in 1_u32..40) {
        prop_assert_eq!(read_by(&file, u64::MAX, block_bytes), oracle(&file));
    }

    #[test]
    fn tool_use_is_found_in_what_was_added(file in file(), offset in 0_usize..60, block_bytes in 1_u32..40) {
        let used = tool_used_by(Cursor::new(&file), offset as u64, u64::MAX, block_bytes, is_tool_use).unwrap();
        prop_assert_eq!(used, file.get(offset..).map_or(TranscriptToolUse::Unknown, tool_oracle));
    }

    #[test]
    fn a_bound_on_tool_use_only_adds_doubt(file in file(), bytes_max in 0_u64..60, block_bytes in 1_u32..40) {
        let used = tool_used_by(Cursor::new(&file), 0, bytes_max, block_bytes, is_tool_use).unwrap();
        let is_cut = file.len() as u64 > bytes_max;
        prop_assert!(used == tool_oracle(&file) || (is_cut && used == TranscriptToolUse::Unknown), "{:?}", used);
    }
}
