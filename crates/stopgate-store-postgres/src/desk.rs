//! Where questions are put to the server: connected when needed, with tables that are there.
//!
//! Knows statements and turns, but nothing of loops.

use std::time::Instant;

use stopgate_core::FORMAT;
use stopgate_store::{Migrated, StoreError};
use tokio_postgres::{Client, Error, Row};

use crate::address::ServerAddress;
use crate::link::Link;
use crate::patience::Patience;
use crate::rows::{self, PostgresRowError, Query};
use crate::{schema, trouble};

/// How a turn is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteTurn {
    /// Every statement stands for itself.
    Free,
    /// A transaction holds the place at the head of a loop's queue.
    Queued,
    /// A transaction gathers appends.
    Gathering,
}

/// What may be done when the connection breaks under a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// Reading changes nothing: ask again.
    AskAgain,
    /// It may have been done: say so.
    Tell,
}

/// Why a statement gave no rows.
pub(crate) enum StatementError {
    /// The server could not be asked.
    Store(StoreError),
    /// It was asked and said no.
    Said(Error),
}

impl From<StoreError> for StatementError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// A server, a deadline, and a connection once there is one.
pub(crate) struct PostgresClient {
    pub(crate) address: ServerAddress,
    pub(crate) patience: Patience,
    pub(crate) turn: WriteTurn,
    link: Option<Link>,
}

impl PostgresClient {
    pub(crate) fn new(address: ServerAddress, patience: Patience) -> Self {
        Self { address, patience, turn: WriteTurn::Free, link: None }
    }

    /// Whether a connection is at hand that seems alive.
    pub(crate) fn is_connected(&self) -> bool {
        self.link.as_ref().is_some_and(|link| !link.is_dead())
    }

    /// Sets the tables up, or brings them to the version that this program knows.
    pub(crate) fn migrate(&mut self) -> Result<Migrated, StoreError> {
        let until = self.patience.until();
        let migrated = self.ask(until, async |client| schema::migrate(client).await)?;
        let from = migrated.map_err(|error| self.refusal("set up the tables", error))?;
        self.known(from)?;
        Ok(Migrated { from: as_u32(from), to: as_u32(schema::VERSION) })
    }

    /// What the server said, as something a person can act on.
    pub(crate) fn refusal(&self, doing: &'static str, error: Error) -> StoreError {
        trouble::asking(doing, &self.address.shown, self.patience.deadline(), error)
    }

    /// What is wrong with a row, as something a person can act on.
    pub(crate) fn unreadable(&self, doing: &'static str, error: PostgresRowError) -> StoreError {
        let address = self.address.shown.clone();
        match error {
            PostgresRowError::Column(source) => {
                StoreError::Server { doing, address, source: Box::new(source) }
            }
            PostgresRowError::Damaged { id, source } => StoreError::Record { id, source },
            PostgresRowError::Newer { found } => {
                StoreError::NewerServer { address, found, known: FORMAT }
            }
        }
    }

    /// Asks what changes nothing, and tells what the rows mean.
    pub(crate) fn read<T>(
        &mut self,
        query: &Query<'_>,
        meaning: impl FnOnce(&[Row]) -> Result<T, PostgresRowError>,
    ) -> Result<T, StoreError> {
        self.told(query, Broken::AskAgain, meaning)
    }

    /// Does what is never done twice, and tells what the rows mean.
    pub(crate) fn write<T>(
        &mut self,
        query: &Query<'_>,
        meaning: impl FnOnce(&[Row]) -> Result<T, PostgresRowError>,
    ) -> Result<T, StoreError> {
        self.told(query, Broken::Tell, meaning)
    }

    /// Sends a statement; where the tables are missing or old, sets them up and sends it again.
    pub(crate) fn query(
        &mut self,
        query: &Query<'_>,
        broken: Broken,
    ) -> Result<Vec<Row>, StatementError> {
        match self.send(query, broken) {
            Err(StatementError::Said(error))
                if trouble::is_missing(&error) && self.turn == WriteTurn::Free => {}
            Err(failed) => return Err(failed),
            Ok(rows) => {
                let found = rows::version(&rows).map_err(StatementError::Said)?;
                self.known(found)?;
                if found == schema::VERSION {
                    return Ok(rows);
                }
            }
        }
        self.migrate()?;
        self.send(query, broken)
    }

    /// Begins a transaction, which [`Desk::leave`] ends.
    pub(crate) fn enter(
        &mut self,
        turn: WriteTurn,
        first: impl AsyncFnOnce(&Client) -> Result<(), Error>,
    ) -> Result<(), StoreError> {
        let until = self.patience.until();
        let entered = self.ask(until, async |client| {
            client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED").await?;
            first(client).await
        })?;
        self.turn = turn;
        entered.map_err(|error| {
            self.leave("ROLLBACK").ok();
            self.refusal("take a turn", error)
        })
    }

    /// Ends the transaction, if there is one.
    pub(crate) fn leave(&mut self, how: &'static str) -> Result<(), StoreError> {
        if self.turn == WriteTurn::Free {
            return Ok(());
        }
        self.turn = WriteTurn::Free;
        if self.link.is_none() {
            // The connection broke, and the transaction with it.
            let address = self.address.shown.clone();
            let source = "it broke in the middle of the turn".into();
            return Err(StoreError::Lost { doing: "commit", address, source });
        }
        let until = self.patience.until();
        let left = self.ask(until, async |client| client.batch_execute(how).await)?;
        left.map_err(|error| {
            self.link = None;
            self.refusal("commit", error)
        })
    }

    /// Asks once, by `until`; a connection that is of no more use is thrown away.
    pub(crate) fn ask<T>(
        &mut self,
        until: Instant,
        question: impl AsyncFnOnce(&Client) -> Result<T, Error>,
    ) -> Result<Result<T, Error>, StoreError> {
        self.connect(until)?;
        match self.link.as_ref().and_then(|link| link.ask(until, question)) {
            Some(Err(error)) if trouble::ends_connection(&error) => {
                self.link = None;
                Ok(Err(error))
            }
            Some(answer) => Ok(answer),
            None => {
                self.link = None;
                let address = self.address.shown.clone();
                Err(StoreError::Late { address, deadline: self.patience.deadline() })
            }
        }
    }

    fn told<T>(
        &mut self,
        query: &Query<'_>,
        broken: Broken,
        meaning: impl FnOnce(&[Row]) -> Result<T, PostgresRowError>,
    ) -> Result<T, StoreError> {
        match self.query(query, broken) {
            Ok(rows) => meaning(&rows).map_err(|error| self.unreadable(query.doing, error)),
            Err(StatementError::Said(error)) => Err(self.refusal(query.doing, error)),
            Err(StatementError::Store(error)) => Err(error),
        }
    }

    fn send(&mut self, query: &Query<'_>, broken: Broken) -> Result<Vec<Row>, StatementError> {
        let until = self.patience.until();
        let send = async |client: &Client| client.query_typed(&query.sql, &query.values).await;
        let answer = self.ask(until, send)?;
        match answer {
            Err(error) if self.may_repeat(broken, &error) => {
                self.ask(until, send)?.map_err(StatementError::Said)
            }
            answer => answer.map_err(StatementError::Said),
        }
    }

    fn may_repeat(&self, broken: Broken, error: &Error) -> bool {
        let is_harmless = broken == Broken::AskAgain && self.turn == WriteTurn::Free;
        is_harmless && trouble::ends_connection(error)
    }

    /// Opens a connection unless there is one that seems alive, or a turn that died with it.
    fn connect(&mut self, until: Instant) -> Result<(), StoreError> {
        if self.link.as_ref().is_some_and(Link::is_dead) {
            self.link = None;
        }
        if self.link.is_none() && self.turn != WriteTurn::Free {
            self.leave("ROLLBACK")?;
        }
        if self.link.is_none() {
            self.link = Some(Link::open(&self.address, until, self.patience.deadline())?);
        }
        Ok(())
    }

    /// Refuses tables that a newer program has set up.
    fn known(&self, found: i32) -> Result<(), StoreError> {
        if found <= schema::VERSION {
            return Ok(());
        }
        let address = self.address.shown.clone();
        let known = as_u32(schema::VERSION);
        Err(StoreError::NewerServer { address, found: as_u32(found), known })
    }
}

fn as_u32(version: i32) -> u32 {
    u32::try_from(version).unwrap_or(u32::MAX)
}
