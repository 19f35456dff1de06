//! What real clients wrote, read in one piece, in any pieces, twice and cut off.

#![expect(clippy::unwrap_used, reason = "a test says where it broke")]

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use proptest::prelude::*;
use stopgate_core::{ContextUse, QuotaUse, Spend, Timestamp, TokenUse, UsageFile};
use stopgate_usage::{
    Counting, MoreToRead, PriceBook, UsageFormat, UsageNews, UsageReader, absorb, first_line_since,
    read_news,
};

const RECORDS: [(UsageFormat, &str); 7] = [
    (UsageFormat::Claude, include_str!("records/claude.jsonl")),
    (UsageFormat::Codex, include_str!("records/codex.jsonl")),
    (UsageFormat::Gemini, include_str!("records/gemini.jsonl")),
    (UsageFormat::Qwen, include_str!("records/qwen.jsonl")),
    (UsageFormat::Copilot, include_str!("records/copilot.jsonl")),
    (UsageFormat::Kimi, include_str!("records/kimi.jsonl")),
    (UsageFormat::Pi, include_str!("records/pi.jsonl")),
];

/// All that is kept between two looks.
#[derive(Clone, Debug, Default)]
struct Desk {
    spend: Spend,
    file: UsageFile,
    context: Option<ContextUse>,
    quota: Option<QuotaUse>,
}

impl Desk {
    /// Looks at the record as it is now, as a stop does: from a file, with a bound.
    fn look(&mut self, format: UsageFormat, record: &[u8], bound: u64) -> MoreToRead {
        let mut news = UsageNews::default();
        let mut reader = UsageReader::resume(format, self.file.clone());
        let mut budget = bound;
        let more = read_news(Cursor::new(record), &mut reader, &mut budget, &mut news).unwrap();
        self.take(reader, news);
        more
    }

    fn take(&mut self, reader: UsageReader, news: UsageNews) {
        self.file = reader.into_file();
        let prices = PriceBook::default();
        let now = Timestamp::from_unix_millis(0);
        let by = Counting { prices: &prices, since: None, until: None, now };
        absorb(&mut self.spend, &mut self.file, news.calls, &by);
        self.context = news.context.or(self.context);
        self.quota = news.quota.or(self.quota);
    }
}

fn read(format: UsageFormat, record: &str) -> Desk {
    let mut desk = Desk::default();
    desk.look(format, record.as_bytes(), u64::MAX);
    desk
}

#[track_caller]
fn check(format: UsageFormat, calls: u64, [input, read_, write, output, reasoning]: [u64; 5]) {
    let (_, record) = RECORDS.into_iter().find(|(known, _)| *known == format).unwrap();
    let desk = read(format, record);
    let expected = TokenUse {
        input,
        cache_read: read_,
        cache_write: write,
        cache_write_long: 0,
        output,
        reasoning,
    };
    assert_eq!(desk.spend.tokens(), expected, "{format:?}");
    assert_eq!(desk.spend.models.iter().map(|model| model.calls).sum::<u64>(), calls, "{format:?}");
}

/// The sums that the servers sent, whatever the client's words mean.
#[test]
fn what_real_clients_wrote_is_what_their_servers_sent() {
    check(UsageFormat::Claude, 3, [101 + 211 + 12_110, 70_016, 2020, 50, 0]);
    // A run of three calls; another thread's records name responses of its own.
    check(UsageFormat::Codex, 3, [6005 - 1211, 1211, 0, 167, 49]);
    check(UsageFormat::Gemini, 3, [6005 - 610, 610, 0, 167 + 30, 30]);
    check(UsageFormat::Qwen, 1, [798, 203, 0, 37, 13]);
    check(UsageFormat::Copilot, 3, [6005 - 610, 610, 0, 167, 30]);
    check(UsageFormat::Kimi, 3, [798 + 1596 + 3001, 610, 0, 167, 0]);
    check(UsageFormat::Pi, 5, [30 + 798 + 1596, 610, 0, 15 + 37 + 59, 30]);
}

#[test]
fn models_context_and_quota_are_told() {
    let of = |format| {
        let (_, record) = RECORDS.into_iter().find(|(known, _)| *known == format).unwrap();
        let desk = read(format, record);
        let models: Vec<String> = desk.spend.models.iter().map(|m| m.model.clone()).collect();
        (models.join(" "), desk.context, desk.quota.map(|quota| quota.percent))
    };
    let context = |used, window| Some(ContextUse { used, window });
    assert_eq!(of(UsageFormat::Claude), ("claude-opus-5-5".into(), context(12_120, None), None));
    let (models, used, quota) = of(UsageFormat::Codex);
    assert_eq!((models.as_str(), quota), ("gpt-5", Some(100)));
    assert_eq!(used, context(15, Some(258_400)));
    let gemini = of(UsageFormat::Gemini);
    assert_eq!(gemini, ("gemini-2.5-flash".into(), context(3072, Some(1_048_576)), None));
    assert_eq!(of(UsageFormat::Copilot).1, context(3072, Some(128_000)));
    assert_eq!(of(UsageFormat::Kimi), ("fake".into(), context(3072, None), None));
    assert_eq!(of(UsageFormat::Qwen).0, "fake-model");
}

/// Claude Code itself says what this session cost.
#[test]
fn the_price_of_a_session_is_what_its_client_says() {
    let desk = read(UsageFormat::Claude, RECORDS[0].1);
    assert_eq!(desk.spend.nanos(), 74_791_200);
    assert_eq!(desk.spend.unpriced().count(), 0);
}

#[test]
fn a_quota_comes_with_the_time_at_which_it_begins_anew() {
    let line = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":1794757879,"utilization":0.81,"unifiedWindows":{"five_hour":{"utilization":0.875,"resetsAt":1794757880}}}}"#;
    let desk = read(UsageFormat::Claude, &format!("{line}\n"));
    let resets_at = Some(Timestamp::from_unix_millis(1_794_757_880_000));
    assert_eq!(desk.quota, Some(QuotaUse { percent: 87, resets_at }));
}

#[test]
fn a_rollout_without_records_has_its_running_totals() {
    let total = |total: u64, last: u64| {
        format!(
            r#"{{"timestamp":"2026-11-15T14:51:50.974Z","type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"total_tokens":{total}}},"last_token_usage":{{"input_tokens":{last},"total_tokens":{last}}},"model_context_window":1000}}}}}}"#
        )
    };
    let record = [total(10, 10), total(10, 10), total(30, 20)].join("\n") + "\n";
    assert_eq!(read(UsageFormat::Codex, &record).spend.tokens().total(), 30);
}

#[test]
fn answers_that_a_client_made_up_cost_nothing() {
    let line = r#"{"type":"assistant","message":{"id":"x","model":"<synthetic>","usage":{"input_tokens":7}}}"#;
    assert_eq!(read(UsageFormat::Claude, &format!("{line}\n")).spend.models.len(), 0);
}

#[test]
fn a_cache_for_an_hour_is_told_apart() {
    let line = r#"{"type":"assistant","message":{"id":"x","model":"m","usage":{"cache_creation_input_tokens":10,"cache_creation":{"ephemeral_5m_input_tokens":3,"ephemeral_1h_input_tokens":7}}}}"#;
    let tokens = read(UsageFormat::Claude, &format!("{line}\n")).spend.tokens();
    assert_eq!((tokens.cache_write, tokens.cache_write_long), (3, 7));
}

#[test]
fn lines_that_make_no_sense_are_passed_over() {
    for (format, record) in RECORDS {
        let whole = read(format, record).spend;
        let noise = "\"usage\" token_usage_record \"tokens\" api_response session.usage_record\n\
                     {\"type\":\"assistant\",\"message\":{\"usage\":null}}\n{\"type\":7}\n\n[]\nnull\n";
        let lines: Vec<&str> = record.lines().collect();
        let mixed = lines.join(&format!("\n{noise}")) + "\n";
        assert_eq!(read(format, &mixed).spend.tokens(), whole.tokens(), "{format:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However the record grows between two looks, the sum is the same.
    #[test]
    fn any_pieces_give_the_same_sum(format in 0usize..7, mut cuts in proptest::collection::vec(0usize..14_000, 0..12), bound in 1u64..4000) {
        let (format, record) = RECORDS[format];
        let bytes = record.as_bytes();
        cuts.retain(|cut| *cut < bytes.len());
        cuts.sort_unstable();
        cuts.push(bytes.len());
        let whole = read(format, record).spend;
        let mut desk = Desk::default();
        for cut in cuts {
            desk.look(format, &bytes[..cut], u64::MAX);
        }
        prop_assert_eq!(&desk.spend, &whole);
        // A bound that no line exceeds changes only how many looks it takes.
        let mut slow = Desk::default();
        let bound = bound.max(record.lines().map(|line| line.len() as u64 + 1).max().unwrap_or(1));
        for _ in 0..bytes.len() {
            if slow.look(format, bytes, bound) == MoreToRead::Nothing {
                break;
            }
        }
        prop_assert_eq!(&slow.spend, &whole);
    }

    /// A record that is written again is not counted again, nor is the beginning of one.
    #[test]
    fn what_is_written_twice_or_cut_off_counts_once(format in 0usize..6, again in proptest::collection::vec((0usize..20, 0usize..4), 0..10), cut in 0usize..400) {
        let (format, record) = RECORDS[format];
        // Kimi's records have no names but their places.
        prop_assume!(format != UsageFormat::Kimi);
        let mut lines: Vec<&str> = record.lines().collect();
        for (place, later) in again {
            let place = place % lines.len();
            lines.insert((place + 1 + later).min(lines.len()), lines[place]);
        }
        let mut text = lines.join("\n") + "\n";
        text.push_str(&lines[0][..cut.min(lines[0].len())]);
        let mut desk = Desk::default();
        for end in [text.len() / 3, text.len() / 2, text.len()] {
            desk.look(format, &text.as_bytes()[..end], u64::MAX);
        }
        prop_assert_eq!(desk.spend.tokens(), read(format, record).spend.tokens());
    }
}

/// A transcript of a gigabyte that nobody wrote: one line again and again, each with a time.
struct Endless {
    length: u64,
    at: u64,
    read: u64,
}

const LINE: usize = 1000;

impl Endless {
    fn line(number: u64) -> Vec<u8> {
        let minutes = number / 2000;
        let (hour, minute) = (minutes / 60, minutes % 60);
        let mut line = format!(
            r#"{{"type":"assistant","timestamp":"2026-11-15T{hour:02}:{minute:02}:00.000Z","message":{{"id":"m{number}","model":"opus","usage":{{"output_tokens":1}}}},"pad":""#
        );
        line.push_str(&"x".repeat(LINE - 3 - line.len()));
        line.push_str("\"}\n");
        line.into_bytes()
    }
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.length || buffer.is_empty() {
            return Ok(0);
        }
        let within = usize::try_from(self.at % LINE as u64).unwrap();
        let line = Self::line(self.at / LINE as u64);
        let part = &line[within..];
        let count = part.len().min(buffer.len());
        buffer[..count].copy_from_slice(&part[..count]);
        self.at += count as u64;
        self.read += count as u64;
        Ok(count)
    }
}

impl Seek for Endless {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let SeekFrom::Start(at) = to else { return Err(io::Error::other("from the start only")) };
        self.at = at;
        Ok(at)
    }
}

#[test]
fn a_long_transcript_costs_a_stop_no_more_than_a_short_one() {
    const TURN: u64 = 20;
    let mut reads = Vec::new();
    for gigabyte_share in [1, 10, 1000] {
        let length = gigabyte_share * 1_000_000;
        let mut source = Endless { length, at: 0, read: 0 };
        let file = UsageFile { offset: length - TURN * LINE as u64, ..UsageFile::default() };
        let mut reader = UsageReader::resume(UsageFormat::Claude, file);
        let (mut news, mut budget) = (UsageNews::default(), 4 << 20);
        let more = read_news(&mut source, &mut reader, &mut budget, &mut news).unwrap();
        assert_eq!((more, news.calls.len()), (MoreToRead::Nothing, 20));
        reads.push(source.read);
    }
    assert_eq!(reads, [TURN * LINE as u64; 3]);
}

#[test]
fn a_backlog_is_read_bit_by_bit() {
    let mut source = Endless { length: 20_000_000, at: 0, read: 0 };
    let mut desk = Desk::default();
    let mut looks = 0;
    loop {
        let mut reader = UsageReader::resume(UsageFormat::Claude, desk.file.clone());
        let (mut news, mut budget, before) = (UsageNews::default(), 4 << 20, source.read);
        let more = read_news(&mut source, &mut reader, &mut budget, &mut news).unwrap();
        assert!(source.read - before <= 4 << 20, "{}", source.read - before);
        desk.take(reader, news);
        looks += 1;
        if more == MoreToRead::Nothing {
            break;
        }
    }
    assert_eq!((looks, desk.spend.tokens().output), (5, 20_000));
}

#[test]
fn the_beginning_of_a_loop_is_found_without_reading_what_was_before() {
    let length = 1_000_000_000;
    let mut source = Endless { length, at: 0, read: 0 };
    // Line 900 000 is of 07:30.
    let since = Timestamp::from_unix_millis(1_794_700_800_000 + 450 * 60_000);
    let offset = first_line_since(&mut source, length, since).unwrap();
    assert!(source.read < 2 << 20, "{}", source.read);
    let first = 900_000 * LINE as u64;
    assert!(offset <= first && first - offset <= 1 << 20, "{offset}");
    assert_eq!(offset % LINE as u64, 0);
    let mut early = Endless { length, at: 0, read: 0 };
    assert_eq!(first_line_since(&mut early, length, Timestamp::from_unix_millis(0)).unwrap(), 0);
}

#[test]
fn a_line_that_is_too_long_is_passed_over_and_said() {
    let mut record = vec![b'x'; 5 << 20];
    record.push(b'\n');
    record.extend_from_slice(RECORDS[0].1.as_bytes());
    let mut desk = Desk::default();
    assert_eq!(desk.look(UsageFormat::Claude, &record, 4 << 20), MoreToRead::Skipped);
    assert_eq!(desk.look(UsageFormat::Claude, &record, 4 << 20), MoreToRead::Nothing);
    assert_eq!(desk.spend.tokens(), read(UsageFormat::Claude, RECORDS[0].1).spend.tokens());
}
