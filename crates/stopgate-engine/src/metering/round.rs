//! One look at all files that a loop's agent has written.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use stopgate_core::{ContextUse, MeterDoubt, Spend, State, Timestamp, UsageFile};
use stopgate_usage::{
    Counting, MoreToRead, PriceBook, UsageFormat, UsageNews, UsageReader, absorb, day_of,
    first_line_since, known_window, read_news,
};
use stopgate_verify::files::open_regular;

use super::LATE_MS;

/// Sub-agents that are looked for.
const COMPANIONS_MAX: usize = 512;
/// Files that are remembered; beyond that, those that were read to their end are forgotten.
const FILES_MAX: usize = 32;

/// Where a client's record is.
pub(super) struct RoundSource<'a> {
    /// The agent, in the word that commands use.
    pub(super) agent: &'a str,
    /// The record of its session.
    pub(super) transcript: Option<&'a str>,
}

/// One look.
pub(super) struct MeterRound<'a> {
    spend: Spend,
    prices: &'a PriceBook,
    /// What was recorded before this in a file that is seen for the first time is not the loop's,
    /// or was counted before.
    since: Timestamp,
    until: Option<Timestamp>,
    now: Timestamp,
    bytes_left: u64,
    doubt: Option<MeterDoubt>,
}

/// Whether a file is the record of the session itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Session,
    SubAgent,
}

impl<'a> MeterRound<'a> {
    pub(super) fn begin(
        state: &State,
        prices: &'a PriceBook,
        bytes_max: u64,
        now: Timestamp,
    ) -> Self {
        let spend = state.spend.as_deref().cloned().unwrap_or_default();
        let since = spend.at.unwrap_or(state.started_at);
        // What was passed over once stays unknown.
        let doubt = spend.doubt.filter(|doubt| *doubt == MeterDoubt::Skipped);
        Self { spend, prices, since, until: None, now, bytes_left: bytes_max, doubt }
    }

    /// Counts nothing that was recorded after `until`.
    pub(super) const fn end_at(&mut self, until: Timestamp) {
        self.until = Some(until);
    }

    /// Reads what is new.
    pub(super) fn run(mut self, source: &RoundSource<'_>) -> Spend {
        let format = UsageFormat::of_agent(source.agent);
        let earlier: Vec<(String, String)> =
            self.spend.files.iter().map(|file| (file.path.clone(), file.agent.clone())).collect();
        match (format, source.transcript) {
            (Some(format), Some(path)) => {
                self.read(path, source.agent, format, Part::Session);
                self.companions(path, source.agent, format);
            }
            // A driver writes down what it hears, and hooks do not know where.
            (Some(UsageFormat::Heard), None)
                if earlier.iter().any(|(_, agent)| agent == source.agent) => {}
            (None, _) | (_, None) => self.doubt = self.doubt.or(Some(MeterDoubt::NoRecord)),
        }
        for (path, agent) in earlier.iter().filter(|(path, _)| Some(&**path) != source.transcript) {
            if let Some(format) = UsageFormat::of_agent(agent) {
                self.read(path, agent, format, Part::SubAgent);
            }
        }
        self.forget();
        self.spend.at = Some(self.now);
        self.spend.begin_day(day_of(self.now));
        self.spend.doubt = self.doubt;
        self.spend
    }

    /// The sub-agents of a session, where they have files of their own.
    fn companions(&mut self, transcript: &str, agent: &str, format: UsageFormat) {
        let Some(directory) = format.companions(transcript) else { return };
        let Ok(entries) = std::fs::read_dir(Path::new(&directory)) else { return };
        for entry in entries.flatten().take(COMPANIONS_MAX) {
            let path = entry.path();
            let is_record = path.extension().is_some_and(|end| end == "jsonl");
            let Some(name) = path.to_str().filter(|_| is_record) else { continue };
            let known = self.spend.files.iter().any(|file| file.path == name);
            let changed = entry.metadata().and_then(|found| found.modified());
            let fresh = changed.is_ok_and(|at| {
                let age = at.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_millis();
                i64::try_from(age).unwrap_or(i64::MAX) >= self.since.plus(-LATE_MS).unix_millis()
            });
            if known || fresh {
                self.read(name, agent, format, Part::SubAgent);
            }
        }
    }

    fn read(&mut self, path: &str, agent: &str, format: UsageFormat, part: Part) {
        let file = match open_regular(Path::new(path)) {
            Ok(file) => file,
            Err(error) => {
                let doubt = match error.kind() {
                    // The client may write it late.
                    ErrorKind::NotFound => MeterDoubt::Behind,
                    _other => MeterDoubt::Unreadable,
                };
                if part == Part::Session {
                    self.doubt = Some(doubt);
                }
                return;
            }
        };
        if self.read_open(&file, path, agent, format, part).is_err() && part == Part::Session {
            self.doubt = Some(MeterDoubt::Unreadable);
        }
    }

    fn read_open(
        &mut self,
        file: &File,
        path: &str,
        agent: &str,
        format: UsageFormat,
        part: Part,
    ) -> std::io::Result<()> {
        let length = file.metadata()?.len();
        let place = self.spend.files.iter().position(|known| known.path == path);
        let (mut mark, mut since) = if let Some(place) = place {
            (self.spend.files.remove(place), None)
        } else {
            let offset = first_line_since(file, length, self.since)?;
            let (path, agent) = (path.into(), agent.into());
            (UsageFile { path, agent, offset, ..UsageFile::default() }, Some(self.since))
        };
        if length < mark.offset {
            // Another file under the same name: what is older was counted before.
            (mark.offset, mark.inside_line, since) = (0, false, Some(self.since));
        }
        let mut news = UsageNews::default();
        let mut reader = UsageReader::resume(format, mark);
        let more = read_news(file, &mut reader, &mut self.bytes_left, &mut news);
        mark = reader.into_file();
        let (prices, until, now) = (self.prices, self.until, self.now);
        absorb(&mut self.spend, &mut mark, news.calls, &Counting { prices, since, until, now });
        let is_behind = mark.offset < length;
        let at = if part == Part::Session { 0 } else { place.unwrap_or(self.spend.files.len()) };
        self.spend.files.insert(at.min(self.spend.files.len()), mark);
        match more? {
            MoreToRead::Perhaps if is_behind => {
                self.doubt = self.doubt.or(Some(MeterDoubt::Behind));
            }
            MoreToRead::Nothing | MoreToRead::Perhaps => {}
            MoreToRead::Skipped => self.doubt = Some(MeterDoubt::Skipped),
        }
        if part == Part::Session {
            self.session_news(news.context);
            self.spend.quota = news.quota.or(self.spend.quota);
        }
        Ok(())
    }

    /// How full the context is; how much fits may have been told before, or be published.
    fn session_news(&mut self, context: Option<ContextUse>) {
        let Some(context) = context else { return };
        let told = context.window.or_else(|| self.spend.context.and_then(|known| known.window));
        let model = self.spend.models.last().map(|model| model.model.as_str());
        let window = told.or_else(|| model.and_then(known_window));
        self.spend.context = Some(ContextUse { used: context.used, window });
    }

    /// Forgets files beyond what is remembered; one that grows again is found by its time, and what
    /// is older than this look is not counted again.
    fn forget(&mut self) {
        while self.spend.files.len() > FILES_MAX {
            let is_read = |file: &UsageFile| {
                std::fs::metadata(&file.path).map_or(true, |found| found.len() <= file.offset)
            };
            let Some(last) = self.spend.files.iter().skip(1).rposition(is_read) else { return };
            self.spend.files.remove(last + 1);
        }
    }
}
