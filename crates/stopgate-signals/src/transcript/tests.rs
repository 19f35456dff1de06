use std::io::{self, Cursor, Read, Seek, SeekFrom};

use super::{
    BLOCK_BYTES, Bound, Last, TranscriptRecord, TranscriptToolUse, last_message, last_message_by,
    tool_used_by, tool_used_since,
};

/// A line of a scene: `a1 text` is a part of message 1, `a1` a part without text,
/// `a text` a message without an id, `u` a user's turn, `o` a record that does not
/// matter. All else is foreign.
pub(super) fn classify(line: &[u8]) -> TranscriptRecord {
    let Ok(line) = std::str::from_utf8(line) else {
        return TranscriptRecord::Foreign;
    };
    let (kind, text) = line.split_once(' ').map_or((line, None), |(kind, text)| (kind, Some(text)));
    match (kind, kind.strip_prefix('a')) {
        ("u", _) => TranscriptRecord::UserTurn,
        ("o", _) => TranscriptRecord::Other,
        (_, Some(id)) => TranscriptRecord::Assistant {
            message: Some(id.to_owned()).filter(|id| !id.is_empty()),
            text: text.map(str::to_owned),
        },
        _ => TranscriptRecord::Foreign,
    }
}

pub(super) fn word(last: Last) -> String {
    match last {
        Last::Text(text) => format!("said {text}"),
        Last::Silent => "silent".into(),
        Last::Unreadable => "unreadable".into(),
        Last::Empty => "empty".into(),
    }
}

/// Reads `file` in blocks of every small size, and of the real one.
#[track_caller]
fn check(file: impl AsRef<[u8]>, expected: &str) {
    for block_bytes in (1..12).chain([BLOCK_BYTES]) {
        let file = file.as_ref();
        let last = last_message_by(Cursor::new(file), Bound::default(), block_bytes, classify);
        let shown = String::from_utf8_lossy(&file[..file.len().min(200)]);
        assert_eq!(word(last.unwrap()), expected, "{shown:?} by {block_bytes}");
    }
}

#[track_caller]
fn check_bound(file: &str, bytes_max: u64, expected: &str) {
    for block_bytes in (1..12).chain([BLOCK_BYTES]) {
        let last = last_message_by(Cursor::new(file), Bound { bytes_max }, block_bytes, classify);
        assert_eq!(word(last.unwrap()), expected, "{file:?} within {bytes_max} by {block_bytes}");
    }
}

#[track_caller]
fn check_tools(file: &str, offset: u64, bytes_max: u64, expected: TranscriptToolUse) {
    for block_bytes in (1..12).chain([BLOCK_BYTES]) {
        let used = tool_used_by(Cursor::new(file), offset, bytes_max, block_bytes, is_tool_use);
        assert_eq!(used.unwrap(), expected, "{file:?} from {offset} by {block_bytes}");
    }
}

pub(super) fn is_tool_use(line: &[u8]) -> bool {
    line == b"tool"
}

#[test]
fn the_last_message_is_said() {
    check("u\na1 hello\n", "said hello");
    check("u\na1 one\nu\na2 two\n", "said two");
    check("u\na1 one\na2 two\n", "said two");
    check("a1 <promise>COMPLETE</promise>\na2 more work\n", "said more work");
    check("a1 only", "said only");
    check("a alone", "said alone");
}

#[test]
fn the_parts_of_a_message_are_joined_in_order() {
    check("a1 one\na1 two\na1 three\n", "said one\ntwo\nthree");
    check("a1 one\na1\na1 three\na1\n", "said one\nthree");
    check("a0 zero\na1 one\no\nforeign\na1 two\no\n", "said one\ntwo");
    check("a1 one\na1 \n", "said one");
    check("a1 one\nu\na1 two\n", "said two");
    check("a one\na two\n", "said two");
    check("a one\na1 two\n", "said two");
    check("a1 one\na two\n", "said two");
    check("a1 one\na2 two\na1 three\n", "said three");
}

#[test]
fn what_follows_the_last_message_does_not_matter() {
    check(format!("a1 done\n{}", "o\n".repeat(30)), "said done");
    check(format!("a1 done\n{}", "o sidechain or meta\nforeign\n".repeat(60)), "said done");
    check("a1 done\n{\"half\": ", "said done");
    check("a1 done\n\n\n  \n", "said done");
    check(b"a1 done\n\xff\xfe\n\0\0\0\n", "said done");
}

#[test]
fn a_turn_without_text_is_silent() {
    check("u\n", "silent");
    check("o\no\n", "silent");
    check("a1 old\nu\n", "silent");
    check("a1 old\nu\no\nforeign\n", "silent");
    check("u\na1\n", "silent");
    check("a1 old\na2\n", "silent");
    check("a1 old\na2 \n", "silent");
    check("foreign\nu", "silent");
}

#[test]
fn what_holds_no_record_is_unreadable_and_what_holds_no_line_is_empty() {
    check("", "empty");
    check("\n\r\n \n", "empty");
    check("foreign", "unreadable");
    check("foreign\nmore\n", "unreadable");
    check(b"\xff\xfe\xfd\n\0", "unreadable");
}

#[test]
fn line_ends_may_be_windows_ones() {
    check("a1 one\r\na1 two\r\n\r\no\r\n", "said one\ntwo");
    check("a1 one\r\na1 two\r", "said one\ntwo");
}

#[test]
fn an_open_last_line_counts_when_it_can_be_read() {
    check("a1 one\na2 two", "said two");
    check("a1 one\na1 two", "said one\ntwo");
    check("a1 one\n??a2 two", "said one");
}

#[test]
fn a_bound_that_cuts_the_message_makes_it_unreadable() {
    let file = "a0 zero\na1 one\na1 two\n";
    check_bound(file, 100, "said one\ntwo");
    check_bound(file, 22, "said one\ntwo");
    check_bound(file, 21, "unreadable");
    check_bound(file, 14, "unreadable");
    check_bound(file, 8, "unreadable");
    check_bound(file, 3, "unreadable");
    check_bound(file, 0, "unreadable");
    check_bound("a alone\n", 8, "said alone");
    check_bound("cut cut cut\na alone\n", 9, "said alone");
    check_bound("cut cut cut\nu\na1 all\n", 10, "said all");
    check_bound("a1 old\no\no\no\n", 5, "unreadable");
    check_bound("", 0, "empty");
}

#[test]
fn a_long_message_is_read_whole() {
    let text = "word ".repeat(20_000);
    let file = format!("u\na1 <loop-complete>\na1 {text}\no\n");
    let last = last_message(Cursor::new(&file), Bound::default(), classify).unwrap();
    assert_eq!(last, Last::Text(format!("<loop-complete>\n{text}")));
}

#[test]
fn a_tool_is_used_when_a_line_after_the_offset_says_so() {
    check_tools("tool\nx\n", 0, 100, TranscriptToolUse::Used);
    check_tools("x\ntool\n", 2, 100, TranscriptToolUse::Used);
    check_tools("x\ntool\r\nx\n", 2, 100, TranscriptToolUse::Used);
    check_tools("tool\nx\n", 5, 100, TranscriptToolUse::None);
    check_tools("tool\n", 5, 100, TranscriptToolUse::None);
    check_tools("", 0, 100, TranscriptToolUse::None);
}

#[test]
fn a_line_that_is_still_being_written_is_left_for_later() {
    check_tools("x\ntool", 2, 100, TranscriptToolUse::None);
    check_tools("x\ntool\nhalf", 2, 100, TranscriptToolUse::Used);
}

#[test]
fn too_much_or_a_replaced_file_is_unknown() {
    check_tools("x\n", 3, 100, TranscriptToolUse::Unknown);
    check_tools("tool\nxxxx\nyyyy\n", 0, 10, TranscriptToolUse::Unknown);
    check_tools("tool\nxxxx\nyyyy\n", 5, 10, TranscriptToolUse::None);
    check_tools("xxxx\nyyyy\ntool\n", 0, 10, TranscriptToolUse::Used);
    check_tools("xxxxtool\n", 0, 5, TranscriptToolUse::Unknown);
    check_tools("x\n", 0, 0, TranscriptToolUse::Unknown);
}

/// A file that counts what is asked of it.
struct Counted {
    len: u64,
    at: u64,
    end: &'static [u8],
    seeks: usize,
    reads: usize,
    bytes: u64,
}

impl Counted {
    /// `len` bytes without a line end, then `end`.
    fn new(len: u64, end: &'static [u8]) -> Self {
        Self { len: len + end.len() as u64, at: 0, end, seeks: 0, reads: 0, bytes: 0 }
    }
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let filler = self.len - self.end.len() as u64;
        let places = (self.at..self.len).zip(into.iter_mut());
        let mut count = 0;
        for (at, byte) in places {
            *byte =
                at.checked_sub(filler).map_or(b'x', |at| self.end[usize::try_from(at).unwrap()]);
            count += 1;
        }
        self.at += count;
        self.reads += 1;
        self.bytes += count;
        Ok(usize::try_from(count).unwrap())
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.seeks += 1;
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(back) => self.len.checked_add_signed(back),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[test]
fn the_common_case_is_one_seek_and_one_read() {
    let mut file = Counted::new(200 << 20, b"\nu\na1 done\no\n");
    let last = last_message(&mut file, Bound::default(), classify).unwrap();
    assert_eq!(word(last), "said done");
    assert_eq!((file.seeks, file.reads, file.bytes), (1, 1, 64 << 10));
}

#[test]
fn one_endless_line_costs_no_more_than_the_bound() {
    let mut file = Counted::new(50 << 20, b"");
    let last = last_message(&mut file, Bound { bytes_max: 200_000 }, classify).unwrap();
    assert_eq!((word(last).as_str(), file.bytes), ("unreadable", 200_000));

    let mut file = Counted::new(50 << 20, b"\n");
    let used = tool_used_since(&mut file, 10, 100_000, is_tool_use).unwrap();
    assert_eq!((used, file.bytes), (TranscriptToolUse::Unknown, 100_000));
}

#[test]
fn nothing_appended_is_not_read_for() {
    let mut file = Counted::new(50 << 20, b"\n");
    let used = tool_used_since(&mut file, (50 << 20) + 1, 100_000, is_tool_use).unwrap();
    assert_eq!((used, file.seeks, file.bytes), (TranscriptToolUse::None, 1, 0));
}

/// A file that is truncated after its length was told.
struct Shrunk(Counted);

impl Read for Shrunk {
    fn read(&mut self, _into: &mut [u8]) -> io::Result<usize> {
        Ok(0)
    }
}

impl Seek for Shrunk {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_not_known() {
    for len in [100, 1 << 20] {
        let last = last_message(Shrunk(Counted::new(len, b"")), Bound::default(), classify);
        assert_eq!(word(last.unwrap()), "unreadable");
        let used = tool_used_since(Shrunk(Counted::new(len, b"")), 0, 1 << 20, is_tool_use);
        assert_eq!(used.unwrap(), TranscriptToolUse::Unknown);
    }
}

/// A file that can't be read.
struct Broken;

impl Read for Broken {
    fn read(&mut self, _into: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::IsADirectory.into())
    }
}

impl Seek for Broken {
    fn seek(&mut self, _to: SeekFrom) -> io::Result<u64> {
        Ok(1)
    }
}

#[test]
fn a_fault_of_the_file_is_passed_on() {
    assert!(last_message(Broken, Bound::default(), classify).is_err());
    assert!(tool_used_since(Broken, 0, 10, is_tool_use).is_err());
}
