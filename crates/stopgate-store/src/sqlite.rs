//! The embedded default: one SQLite file, many short-lived processes.
//!
//! Set up for cold processes: write-ahead log without automatic checkpoints, a
//! fair lock taken before the file is opened, and a truncating checkpoint after
//! the answer, once the log has grown. So the cost of a stop never grows, and a
//! stop pays no fsync on the common path.

mod lock;
mod platform;
mod record;
mod rows;
mod schema;
#[cfg(test)]
mod tests;
mod upkeep;

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use stopgate_core::{LoopId, SessionId, Soundness, State};

use crate::StoreError;
use crate::chain::{EventSeal, KeySource};
use crate::journal::{
    Appended, Cursor, Delivered, Filter, Journal, JournalEntry, Migrated, Recorded, Revision,
    Stored,
};
use lock::DatabaseLock;
use platform::{create_private, tighten};

/// The write-ahead log is put back into the database once it has this many pages.
pub const WAL_PAGES_MAX: u64 = 112;
const PAGE_BYTES: u64 = 4096;

/// What a stop that was answered survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The death of any process. After a power loss the last few stops may be missing.
    #[default]
    Process,
    /// A power loss too: each stop syncs the log, and the directory that it is in.
    PowerLoss,
}

/// A journal in one SQLite file.
#[derive(Debug)]
pub struct SqliteJournal {
    path: PathBuf,
    patience: Duration,
    durability: Durability,
    /// The format that was found when the file was opened.
    found: u32,
    missing: Missing,
    lock: Option<DatabaseLock>,
    connection: Option<Connection>,
    in_transaction: bool,
    /// The row that was loaded last in this transaction: an append need not look again.
    spot: Option<rows::RowSpot>,
    /// While appends are gathered: the loops that will run.
    gathered: Option<BTreeSet<LoopId>>,
    writer: KeySource,
}

/// What becomes of a journal that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Missing {
    Make,
    Refuse,
}

impl SqliteJournal {
    /// A journal at `path`, whose users wait for each other for `patience` at most.
    ///
    /// Nothing is opened yet; a missing file is made when it is first used.
    pub fn new(path: &Path, patience: Duration) -> Self {
        Self::at(path, patience, Missing::Make)
    }

    /// A journal that must be there: a missing or empty file is an error, not a new journal.
    pub fn existing(path: &Path, patience: Duration) -> Self {
        Self::at(path, patience, Missing::Refuse)
    }

    fn at(path: &Path, patience: Duration, missing: Missing) -> Self {
        Self {
            path: path.into(),
            patience,
            durability: Durability::default(),
            found: 0,
            missing,
            lock: None,
            connection: None,
            in_transaction: false,
            spot: None,
            gathered: None,
            writer: KeySource::default(),
        }
    }

    /// The same journal, whose appends survive what is asked for.
    #[must_use]
    pub const fn surviving(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The connection, opened while no other process opens, writes or recovers.
    fn open(&mut self) -> Result<&Connection, StoreError> {
        if self.connection.is_none() {
            let held = self.lock.is_some();
            self.take_lock()?;
            let opened = self.connect();
            if !held {
                self.lock = None;
            }
            self.connection = Some(opened?);
        }
        self.connection.as_ref().ok_or(StoreError::Busy { path: self.path.clone() })
    }

    fn take_lock(&mut self) -> Result<(), StoreError> {
        if self.lock.is_none() {
            self.lock = Some(DatabaseLock::take(&self.path.with_extension("lock"), self.patience)?);
        }
        Ok(())
    }

    fn connect(&mut self) -> Result<Connection, StoreError> {
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if self.missing == Missing::Make {
            flags |= OpenFlags::SQLITE_OPEN_CREATE;
        }
        if self.missing == Missing::Make {
            keep_private(&self.path);
        }
        refuse_others(&self.path)?;
        let open = |source| StoreError::Open { path: self.path.clone(), source };
        let connection = Connection::open_with_flags(&self.path, flags).map_err(open)?;
        connection.busy_timeout(self.patience).map_err(open)?;
        self.found = schema::prepare(&connection, &self.path, self.missing)?;
        match self.durability {
            Durability::Process => {}
            Durability::PowerLoss => {
                connection.execute_batch("PRAGMA synchronous = FULL").map_err(open)?;
            }
        }
        Ok(connection)
    }

    /// Runs `work` on the open connection and says what was being done if it fails.
    fn with<T>(
        &mut self,
        doing: &'static str,
        work: impl FnOnce(&Connection, &KeySource) -> Result<T, rows::SqliteRowError>,
    ) -> Result<T, StoreError> {
        self.open()?;
        let Some(connection) = &self.connection else {
            return Err(StoreError::Busy { path: self.path.clone() });
        };
        work(connection, &self.writer).map_err(|error| error.at(doing, self.path.clone()))
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.with("commit", |connection, _| Ok(connection.execute_batch("COMMIT")?))?;
        self.leave();
        Ok(())
    }

    /// What was known within the transaction is not known any more.
    fn leave(&mut self) {
        self.in_transaction = false;
        self.spot = None;
        self.gathered = None;
    }

    fn remember(&mut self, found: Option<rows::FoundLoop>) -> Option<Stored> {
        let (stored, spot) = found?;
        self.spot = self.in_transaction.then_some(spot);
        Some(stored)
    }

    fn rollback(&mut self) {
        if let (true, Some(connection)) = (self.in_transaction, &self.connection) {
            // A rollback that fails leaves a transaction that dies with the process.
            let _ = connection.execute_batch("ROLLBACK");
        }
        self.leave();
    }

    /// Notes whether a gathered loop will run.
    fn note(&mut self, state: &State) {
        if let Some(running) = &mut self.gathered {
            match state.outcome() {
                None => running.insert(state.id.clone()),
                Some(_) => running.remove(&state.id),
            };
        }
    }

    fn put(
        &mut self,
        expected: Revision,
        events: &[Recorded],
        kept: Option<&[Option<EventSeal>]>,
        state: &State,
    ) -> Result<Appended, StoreError> {
        let own_turn = !self.in_transaction;
        if own_turn {
            self.begin()?;
        }
        let hold =
            if self.gathered.is_some() { rows::SqliteHold::Later } else { rows::SqliteHold::Now };
        let spot = self.spot.take().filter(|spot| spot.is_of(&state.id));
        let appended = self.with("append", |connection, writer| {
            let spot = match spot {
                Some(spot) => Some(spot),
                None => rows::spot(connection, writer, &state.id)?,
            };
            let news = rows::SqliteAppend { writer, expected, events, kept, state, hold };
            rows::append(connection, spot, &news)
        });
        match appended {
            Ok(Appended::Stored(_)) if hold == rows::SqliteHold::Later => self.note(state),
            Ok(Appended::Stored(_)) => {
                let committed = self.commit();
                if committed.is_err() {
                    self.rollback();
                }
                committed?;
            }
            Ok(Appended::Conflict | Appended::SessionTaken) | Err(_) => self.rollback(),
        }
        if own_turn {
            self.lock = None;
        }
        appended
    }

    fn wal_bytes(&self) -> u64 {
        let mut wal = self.path.clone().into_os_string();
        wal.push("-wal");
        std::fs::metadata(PathBuf::from(wal)).map_or(0, |found| found.len())
    }
}

/// Sees to it that only its owner can read the file, and those that SQLite puts beside it.
///
/// SQLite gives those the rights of the file itself.
fn keep_private(path: &Path) {
    match create_private(OpenOptions::new().write(true).create_new(true), path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            for path in &of_journal(path) {
                tighten(path);
            }
        }
        // SQLite says what is wrong.
        Ok(_) | Err(_) => {}
    }
}

/// The journal's own file and those that SQLite puts beside it.
fn of_journal(path: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|end| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        name.into()
    })
}

/// Refuses what is there and is not a file: SQLite would wait for a pipe for ever.
fn refuse_others(path: &Path) -> Result<(), StoreError> {
    let is_other = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|found| !found.is_file());
    match of_journal(path).into_iter().find(is_other) {
        Some(path) => Err(StoreError::NotAFile { path }),
        None => Ok(()),
    }
}

impl Journal for SqliteJournal {
    fn begin(&mut self) -> Result<(), StoreError> {
        if self.in_transaction {
            return Ok(());
        }
        self.take_lock()?;
        let begun =
            self.with("begin", |connection, _| Ok(connection.execute_batch("BEGIN IMMEDIATE")?));
        self.in_transaction = begun.is_ok();
        if begun.is_err() {
            // A process that could not begin must not keep the others waiting.
            self.lock = None;
        }
        begun
    }

    fn end(&mut self) {
        self.rollback();
        self.lock = None;
    }

    fn settle(&mut self) {
        if self.wal_bytes() <= WAL_PAGES_MAX * PAGE_BYTES {
            return;
        }
        let held = self.lock.is_some();
        if self.take_lock().is_err() {
            return;
        }
        if let Some(connection) = &self.connection {
            // Somebody reads: the next stop will try again.
            let _ = connection.busy_timeout(Duration::ZERO);
            let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
            // A fresh log's first commit pays an fsync for its header: better here than in a
            // stop that an agent waits for.
            let _ = connection.execute_batch(schema::SAME_FORMAT);
            let _ = connection.busy_timeout(self.patience);
        }
        if !held {
            self.lock = None;
        }
    }

    fn load(&mut self, id: &LoopId) -> Result<Option<Stored>, StoreError> {
        let found =
            self.with("load a loop", |connection, writer| rows::load(connection, writer, id))?;
        Ok(self.remember(found))
    }

    fn load_held(&mut self, session: &SessionId) -> Result<Option<Stored>, StoreError> {
        let doing = "load a session's loop";
        let found =
            self.with(doing, |connection, writer| rows::load_held(connection, writer, session))?;
        Ok(self.remember(found))
    }

    fn pending(&mut self, project: &str) -> Result<Vec<Stored>, StoreError> {
        self.with("look for pending loops", |connection, writer| {
            rows::pending(connection, writer, project)
        })
    }

    fn find(&mut self, prefix: &str) -> Result<Vec<LoopId>, StoreError> {
        self.with("look for a loop", |connection, _| rows::find(connection, prefix))
    }

    fn list(&mut self, filter: &Filter<'_>) -> Result<Vec<Stored>, StoreError> {
        let mut found = Vec::new();
        self.each(filter, &mut |stored| found.push(stored))?;
        Ok(found)
    }

    fn each(
        &mut self,
        filter: &Filter<'_>,
        look: &mut dyn FnMut(Stored),
    ) -> Result<(), StoreError> {
        self.with("list loops", |connection, writer| rows::each(connection, writer, filter, look))
    }

    fn history(&mut self, id: &LoopId) -> Result<Vec<JournalEntry>, StoreError> {
        self.with("read a loop's history", |connection, _| rows::history(connection, id))
    }

    fn tail(&mut self, cursor: Cursor, limit: usize) -> Result<Vec<JournalEntry>, StoreError> {
        self.with("read the tail", |connection, _| rows::tail(connection, cursor, limit))
    }

    fn append(
        &mut self,
        expected: Revision,
        events: &[Recorded],
        state: &State,
    ) -> Result<Appended, StoreError> {
        self.put(expected, events, None, state)
    }

    fn append_kept(
        &mut self,
        expected: Revision,
        events: &[Recorded],
        seals: &[Option<EventSeal>],
        state: &State,
    ) -> Result<Appended, StoreError> {
        self.put(expected, events, Some(seals), state)
    }

    fn sign_as(&mut self, writer: KeySource) {
        self.writer = writer;
    }

    fn soundness(&mut self, id: &LoopId) -> Result<Soundness, StoreError> {
        let own = !self.in_transaction;
        self.with("follow a loop's chain", |connection, writer| {
            // A state and its events must be of one moment.
            if own {
                connection.execute_batch("BEGIN")?;
            }
            let found = record::soundness(connection, writer, id);
            if own {
                connection.execute_batch("COMMIT")?;
            }
            found
        })
    }

    fn names(&mut self, after: &LoopId, limit: usize) -> Result<Vec<LoopId>, StoreError> {
        self.with("list names", |connection, _| rows::names(connection, after, limit))
    }

    fn gather(&mut self) -> Result<(), StoreError> {
        self.begin()?;
        self.gathered = Some(BTreeSet::new());
        Ok(())
    }

    fn deliver(&mut self) -> Result<Delivered, StoreError> {
        let running = self.gathered.take().unwrap_or_default();
        let held = self.with("hold sessions", |connection, _| rows::hold(connection, &running));
        let delivered = match held {
            Ok(None) => self.commit().map(|()| Delivered::Stored),
            Ok(Some(id)) => Ok(Delivered::SessionTaken(id)),
            Err(error) => Err(error),
        };
        self.end();
        self.settle();
        delivered
    }

    fn remove(&mut self, loops: &[(LoopId, Revision)]) -> Result<u64, StoreError> {
        self.begin()?;
        let removed = self.with("remove loops", |connection, _| upkeep::remove(connection, loops));
        let removed = removed.and_then(|removed| self.commit().map(|()| removed));
        self.end();
        self.settle();
        removed
    }

    fn reclaim(&mut self) -> Result<(), StoreError> {
        self.take_lock()?;
        let reclaimed = self.with("give room back", |connection, _| upkeep::reclaim(connection));
        self.lock = None;
        reclaimed
    }

    fn check(&mut self) -> Result<Vec<String>, StoreError> {
        self.with("check", |connection, _| upkeep::check(connection))
    }

    fn migrate(&mut self) -> Result<Migrated, StoreError> {
        self.open()?;
        Ok(Migrated { from: self.found, to: schema::FORMAT })
    }
}

impl Drop for SqliteJournal {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether the engine says that another process is at it.
fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Whether the engine says that the file is damaged or foreign.
fn is_corrupt(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}
