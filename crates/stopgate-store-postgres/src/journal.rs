//! The journal's door on PostgreSQL.

use std::collections::BTreeSet;
use std::time::Duration;

use stopgate_core::{LoopId, SessionId, State};
use stopgate_store::{
    Appended, ChainBase, Cursor, Delivered, EventSeal, Filter, Journal, JournalEntry, KeySource,
    Migrated, Recorded, Revision, Soundness, StoreError, Stored,
};
use tokio_postgres::types::Type;

use crate::address::ServerAddress;
use crate::desk::{Broken, PostgresClient, StatementError, WriteTurn};
use crate::listener::NOTIFY;
use crate::parcel::{Parcel, PostgresAppend, PostgresHold};
use crate::patience::Patience;
use crate::rows::{self, FoundRow};
use crate::{schema, trouble, upkeep};

/// Whose journal it is, and how long its server may take.
#[derive(Clone, Debug)]
pub struct Options {
    /// The tenant: what one tenant stores, no other sees.
    pub tenant: String,
    /// How long one question may take, connecting included; and one turn of questions.
    pub deadline: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { tenant: "default".into(), deadline: Duration::from_secs(2) }
    }
}

/// A journal in a PostgreSQL database.
///
/// Connects when first used, sets the tables up where they are missing, and connects
/// anew when the server has hung up in the meantime.
pub struct PostgresJournal {
    desk: PostgresClient,
    tenant: String,
    /// The loop that another process was faster with: the next turn queues for it.
    crowded: Option<LoopId>,
    /// While appends are gathered: whether any was sent, and which loops will run.
    gathered: Option<Gathered>,
    /// Whether something was stored that nobody was told of.
    has_news: bool,
    writer: KeySource,
    /// The loop that was read or written last: an append need not look again.
    spot: Option<Spot>,
}

/// What the next event of a loop follows.
#[derive(Clone, Debug)]
struct Spot {
    id: LoopId,
    revision: Revision,
    seal: Option<Vec<u8>>,
    base: ChainBase,
}

#[derive(Debug, Default)]
struct Gathered {
    is_begun: bool,
    running: BTreeSet<LoopId>,
}

impl PostgresJournal {
    /// A journal at `address`, a URL or `key=value` pairs as libpq reads them.
    ///
    /// Nothing is connected yet; only the address is read.
    pub fn new(address: &str, options: Options) -> Result<Self, StoreError> {
        let desk =
            PostgresClient::new(ServerAddress::parse(address)?, Patience::new(options.deadline));
        let tenant = options.tenant;
        let writer = KeySource::default();
        Ok(Self {
            desk,
            tenant,
            crowded: None,
            gathered: None,
            has_news: false,
            writer,
            spot: None,
        })
    }

    /// Remembers what the next event of a loop follows.
    fn remember(&mut self, found: Option<FoundRow>) -> Option<Stored> {
        let FoundRow { stored, seal, base } = found?;
        let (id, revision) = (stored.state.id.clone(), stored.revision);
        self.spot = Some(Spot { id, revision, seal, base });
        Some(stored)
    }

    /// What the next event of a loop follows, read again where that is not known.
    fn spot(&mut self, id: &LoopId, expected: Revision) -> Result<Option<Spot>, StoreError> {
        if expected == Revision::NONE {
            return Ok(None);
        }
        let known = self.spot.take().filter(|spot| spot.id == *id && spot.revision == expected);
        if known.is_none() {
            self.load(id)?;
        }
        Ok(known.or_else(|| self.spot.take()).filter(|spot| spot.revision == expected))
    }

    fn put(
        &mut self,
        expected: Revision,
        events: &[Recorded],
        kept: Option<&[Option<EventSeal>]>,
        state: &State,
    ) -> Result<Appended, StoreError> {
        let spot = self.spot(&state.id, expected)?;
        let parcel = Parcel::new(&PostgresAppend {
            writer: &self.writer,
            base: spot.as_ref().map_or(ChainBase::FIRST, |spot| spot.base),
            before: spot.as_ref().and_then(|spot| spot.seal.as_deref()),
            expected,
            events,
            kept,
            state,
        })?;
        let appended = self.try_append(&parcel)?;
        self.conclude(appended, state)?;
        if let Appended::Stored(revision) = appended {
            let base = parcel.base(&self.writer);
            self.spot = Some(Spot { id: state.id.clone(), revision, seal: parcel.seal(), base });
        }
        Ok(appended)
    }

    fn try_append(&mut self, parcel: &Parcel) -> Result<Appended, StoreError> {
        let hold = match &self.gathered {
            None => PostgresHold::Now,
            Some(gathered) if gathered.is_begun => PostgresHold::LaterAgain,
            Some(_) => PostgresHold::Later,
        };
        let query = parcel.query(&self.tenant, hold);
        match self.desk.query(&query, Broken::Tell) {
            Ok(rows) => match rows::number(&rows, 1) {
                Ok(0) => Ok(Appended::Conflict),
                Ok(_) => Ok(Appended::Stored(parcel.leads_to())),
                Err(error) => Err(self.desk.unreadable(query.doing, error)),
            },
            Err(StatementError::Said(error)) if trouble::breaks(&error, schema::HELD) => {
                Ok(Appended::SessionTaken)
            }
            Err(StatementError::Said(error)) if trouble::is_conflict(&error) => {
                Ok(Appended::Conflict)
            }
            Err(StatementError::Said(error)) => Err(self.desk.refusal(query.doing, error)),
            Err(StatementError::Store(error)) => Err(error),
        }
    }

    /// Ends the turn as the append ended; gathered appends end with their delivery.
    fn conclude(&mut self, appended: Appended, state: &State) -> Result<(), StoreError> {
        match (&mut self.gathered, appended) {
            (Some(gathered), Appended::Stored(_)) => {
                gathered.is_begun = true;
                if state.outcome().is_none() {
                    gathered.running.insert(state.id.clone());
                } else {
                    gathered.running.remove(&state.id);
                }
            }
            (Some(_), Appended::Conflict | Appended::SessionTaken) => {}
            (None, Appended::Stored(_)) => {
                self.desk.leave("COMMIT")?;
                self.has_news = true;
            }
            (None, Appended::Conflict) => {
                self.desk.leave("ROLLBACK").ok();
                self.crowded = Some(state.id.clone());
            }
            (None, Appended::SessionTaken) => {
                self.desk.leave("ROLLBACK").ok();
            }
        }
        Ok(())
    }

    /// Lets the gathered loops run, unless one of them may not.
    fn hold_gathered(&mut self, gathered: &Gathered) -> Result<Delivered, StoreError> {
        let names: Vec<&str> = gathered.running.iter().map(LoopId::as_str).collect();
        let names = names.as_slice();
        let taken = self.desk.read(&upkeep::taken(&self.tenant, &names), rows::names)?.pop();
        if let Some(id) = taken {
            return Ok(Delivered::SessionTaken(id));
        }
        let hold = upkeep::hold(&self.tenant, &names);
        match self.desk.query(&hold, Broken::Tell) {
            Ok(_) => Ok(Delivered::Stored),
            // Somebody took a session since it was looked at.
            Err(StatementError::Said(error)) if trouble::breaks(&error, schema::HELD) => {
                Ok(Delivered::Conflict)
            }
            Err(StatementError::Said(error)) => Err(self.desk.refusal(hold.doing, error)),
            Err(StatementError::Store(error)) => Err(error),
        }
    }
}

impl Journal for PostgresJournal {
    fn begin(&mut self) -> Result<(), StoreError> {
        self.desk.patience.begin();
        match self.crowded.take() {
            Some(id) if self.desk.turn == WriteTurn::Free => {
                let tenant = &self.tenant;
                self.desk
                    .enter(WriteTurn::Queued, async |client| rows::queue(client, tenant, &id).await)
            }
            Some(_) | None => Ok(()),
        }
    }

    fn end(&mut self) {
        // A rollback that fails leaves a transaction that dies with its connection.
        self.desk.leave("ROLLBACK").ok();
        self.gathered = None;
        self.spot = None;
        self.desk.patience.end();
    }

    fn settle(&mut self) {
        if !std::mem::take(&mut self.has_news) || !self.desk.is_connected() {
            return;
        }
        let (until, tenant) = (self.desk.patience.until(), &self.tenant);
        // A listener that is not told finds out by looking.
        let _ = self
            .desk
            .ask(until, async |client| client.query_typed(NOTIFY, &[(tenant, Type::TEXT)]).await);
    }

    fn load(&mut self, id: &LoopId) -> Result<Option<Stored>, StoreError> {
        let (id, writer) = (id.as_str(), &self.writer);
        let query = rows::load(&self.tenant, &id);
        let found = self.desk.read(&query, |rows| rows::loops(rows, writer))?.pop();
        Ok(self.remember(found))
    }

    fn load_held(&mut self, session: &SessionId) -> Result<Option<Stored>, StoreError> {
        let (session, writer) = (session.as_str(), &self.writer);
        let query = rows::load_held(&self.tenant, &session);
        let found = self.desk.read(&query, |rows| rows::loops(rows, writer))?.pop();
        Ok(self.remember(found))
    }

    fn pending(&mut self, project: &str) -> Result<Vec<Stored>, StoreError> {
        let writer = &self.writer;
        let query = rows::pending(&self.tenant, &project);
        let mut found = self.desk.read(&query, |rows| rows::loops(rows, writer))?.into_iter();
        // A claim takes the oldest one, as a rule.
        let first = found.next();
        let first = self.remember(first);
        Ok(first.into_iter().chain(found.map(|found| found.stored)).collect())
    }

    fn find(&mut self, prefix: &str) -> Result<Vec<LoopId>, StoreError> {
        let end = format!("{prefix}{}", char::MAX);
        self.desk.read(&rows::find(&self.tenant, &prefix, &end), rows::names)
    }

    fn list(&mut self, filter: &Filter<'_>) -> Result<Vec<Stored>, StoreError> {
        let limit = if filter.limit == 0 { i64::MAX } else { rows::as_i64(filter.limit as u64) };
        let writer = &self.writer;
        let query = rows::list(&self.tenant, filter, &limit);
        let found = self.desk.read(&query, |rows| rows::loops(rows, writer))?;
        Ok(found.into_iter().map(|found| found.stored).collect())
    }

    fn history(&mut self, id: &LoopId) -> Result<Vec<JournalEntry>, StoreError> {
        self.desk.read(&rows::history(&self.tenant, &id.as_str()), rows::entries)
    }

    fn tail(&mut self, cursor: Cursor, limit: usize) -> Result<Vec<JournalEntry>, StoreError> {
        let horizon = |rows: &[_]| Ok((rows::says(rows, 1)?, rows::number(rows, 2)?));
        let (recovers, horizon) = self.desk.read(&rows::horizon(), horizon)?;
        if recovers {
            // A standby does not know who is still writing: entries might be passed over.
            return Err(StoreError::ReadOnly { address: self.desk.address.shown.clone() });
        }
        let (after, limit) = (rows::as_i64(cursor.0), rows::as_i64(limit as u64));
        self.desk.read(&rows::tail(&self.tenant, &after, &horizon, &limit), rows::entries)
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
        let (writer, id) = (&self.writer, id.as_str());
        let query = rows::chain(&self.tenant, &id);
        self.desk.read(&query, |rows| rows::soundness(rows, writer, id))
    }

    fn names(&mut self, after: &LoopId, limit: usize) -> Result<Vec<LoopId>, StoreError> {
        let limit = rows::as_i64(limit as u64);
        self.desk.read(&upkeep::names(&self.tenant, &after.as_str(), &limit), rows::names)
    }

    fn gather(&mut self) -> Result<(), StoreError> {
        self.end();
        // Tables are set up before, for they can't be within.
        self.find("")?;
        self.desk.enter(WriteTurn::Gathering, async |_| Ok(()))?;
        self.gathered = Some(Gathered::default());
        Ok(())
    }

    fn deliver(&mut self) -> Result<Delivered, StoreError> {
        let Some(gathered) = self.gathered.take() else { return Ok(Delivered::Stored) };
        let delivered = self.hold_gathered(&gathered);
        if matches!(delivered, Ok(Delivered::Stored)) {
            self.desk.leave("COMMIT")?;
            self.has_news = true;
        }
        self.end();
        delivered
    }

    fn remove(&mut self, loops: &[(LoopId, Revision)]) -> Result<u64, StoreError> {
        let names: Vec<&str> = loops.iter().map(|(id, _)| id.as_str()).collect();
        let revisions: Vec<i64> = loops.iter().map(|(_, at)| rows::as_i64(at.0)).collect();
        let (names, revisions) = (names.as_slice(), revisions.as_slice());
        let query = upkeep::remove(&self.tenant, &names, &revisions);
        self.desk.write(&query, |rows| Ok(rows::as_u64(rows::number(rows, 1)?)))
    }

    fn check(&mut self) -> Result<Vec<String>, StoreError> {
        upkeep::check(&mut self.desk, &self.tenant)
    }

    fn migrate(&mut self) -> Result<Migrated, StoreError> {
        self.desk.migrate()
    }
}

/// Sets the tables up at `address`, or brings them to the version that this program knows.
pub fn migrate(address: &str, options: &Options) -> Result<Migrated, StoreError> {
    PostgresJournal::new(address, options.clone())?.migrate()
}
