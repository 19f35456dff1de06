//! Waiting for news instead of asking for it again and again.
//!
//! A hint, never the truth: what happened is read from the journal's tail. Needs a
//! connection of its own, straight to the server: a pooler that shares connections
//! between transactions would lose the news.

use std::time::Duration;

use stopgate_store::StoreError;

use crate::address::ServerAddress;
use crate::journal::Options;
use crate::link::Link;
use crate::patience::Patience;
use crate::trouble;

/// Tells listeners of a tenant's news, if there are any.
///
/// Listeners share a lock; a writer that can take it exclusively need not notify. A notification makes
/// commits queue behind each other, so it is never sent from an append, nor in vain.
pub(crate) const NOTIFY: &str = "SELECT pg_notify('stopgate', $1) \
    WHERE NOT pg_try_advisory_xact_lock(x'73676c6973746e72'::bigint)";

const LISTEN: &str = "LISTEN stopgate; SELECT pg_advisory_lock_shared(x'73676c6973746e72'::bigint)";

/// Hears when something was stored.
pub struct Listener {
    address: ServerAddress,
    tenant: String,
    patience: Patience,
    link: Option<Link>,
}

/// What came of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Listened {
    /// There may be news: read the tail.
    News,
    /// Nothing in all the time.
    Nothing,
}

impl Listener {
    /// A listener at `address`, which must not be a pooler's; connects when first used.
    pub fn new(address: &str, options: Options) -> Result<Self, StoreError> {
        let patience = Patience::new(options.deadline);
        Ok(Self {
            address: ServerAddress::parse(address)?,
            tenant: options.tenant,
            patience,
            link: None,
        })
    }

    /// Waits for news, but not longer than `time`.
    ///
    /// A new connection means news: something may have been missed without it.
    pub fn wait(&mut self, time: Duration) -> Result<Listened, StoreError> {
        if self.link.as_ref().is_none_or(Link::is_dead) {
            self.link = Some(self.listen()?);
            return Ok(Listened::News);
        }
        let until = Patience::new(time).until();
        while let Some(link) = &mut self.link {
            match link.listen(until) {
                Some(tenant) if tenant == self.tenant => return Ok(Listened::News),
                Some(_others) => {}
                None if link.is_dead() => {
                    self.link = Some(self.listen()?);
                    return Ok(Listened::News);
                }
                None => break,
            }
        }
        Ok(Listened::Nothing)
    }

    fn listen(&self) -> Result<Link, StoreError> {
        let (until, deadline) = (self.patience.until(), self.patience.deadline());
        let link = Link::open(&self.address, until, deadline)?;
        let answer = link.ask(until, async |client| client.batch_execute(LISTEN).await);
        let shown = &self.address.shown;
        match answer {
            Some(Ok(())) => Ok(link),
            Some(Err(error)) => Err(trouble::asking("listen", shown, deadline, error)),
            None => Err(StoreError::Late { address: shown.clone(), deadline }),
        }
    }
}
