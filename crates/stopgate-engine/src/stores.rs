//! Which store is used, how it is reached, and who knows how to open it.
//!
//! The engine itself knows SQLite. An engine that needs more than the hook should carry is
//! handed in by the program, so that nothing here is built upon it.

use std::path::Path;
use std::time::Duration;

use stopgate_store::{Durability, Journal, KeySource, SqliteJournal, WriterKey};

use crate::address::Address;
use crate::config::{Config, OnStoreError, span};
use crate::failure::Failure;
use crate::home::Home;
use crate::settings::Settings;
use crate::signs::Signs;

/// How long one process waits for the others: less than the watchdog does, to say why.
const PATIENCE: Duration = Duration::from_secs(4);
/// How long a server may take.
const DEADLINE: Duration = Duration::from_secs(2);
const TENANT: &str = "default";

/// A journal on a server, and how to use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Its URL, with its password: never shown.
    pub address: String,
    /// Whose loops are meant.
    pub tenant: String,
    /// How long it may take to answer.
    pub deadline: Duration,
}

/// Opens a journal on a server.
pub type Opener = fn(&Remote) -> Result<Box<dyn Journal>, Failure>;

/// The stores that the program can open beside those that the engine knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stores {
    /// Opens `postgres://…`, where the program can.
    pub postgres: Option<Opener>,
}

/// A journal that is ready to be used, and its signs.
pub(crate) struct Opened {
    pub(crate) journal: Box<dyn Journal>,
    pub(crate) signs: Signs,
}

/// Which store is used, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoreChoice {
    pub(crate) address: Address,
    pub(crate) tenant: String,
    pub(crate) deadline: Option<Duration>,
    pub(crate) durability: Durability,
    pub(crate) on_error: OnStoreError,
    /// Variables that checks get beyond the usual ones.
    pub(crate) pass: Vec<String>,
    /// How long a stop waits for checks, where the person says so.
    pub(crate) hook_time: Option<Duration>,
}

impl StoreChoice {
    /// What the environment says, else what the person's file says.
    pub(crate) fn read(settings: Settings) -> Result<Self, Failure> {
        let config = Config::read(settings)?;
        let address = Self::address(settings, || Ok(config.address.clone()))?;
        let (choice, trouble) = Self::of(settings, config, address);
        trouble.map_or(Ok(choice), Err)
    }

    /// The address alone: `file` is asked only where the environment names none.
    pub(crate) fn address(
        settings: Settings,
        file: impl FnOnce() -> Result<Option<String>, Failure>,
    ) -> Result<Address, Failure> {
        let named = match settings.store() {
            Some(named) => Some(named),
            None => file()?,
        };
        named.map_or(Ok(Address::Own), |text| Address::read(&text))
    }

    /// The choice of `address`, and what is wrong with the rest; defaults stand in for that.
    pub(crate) fn of(
        settings: Settings,
        config: Config,
        address: Address,
    ) -> (Self, Option<Failure>) {
        let asked = settings.store_deadline().map(|text| span(&text));
        let (asked, trouble) = match asked {
            Some(Ok(deadline)) => (Some(deadline), None),
            Some(Err(why)) => {
                let what = format!("could not understand STOPGATE_STORE_DEADLINE: {why}");
                (None, Some(Failure::usage(what)))
            }
            None => (None, None),
        };
        let choice = Self {
            address,
            tenant: settings.tenant().or(config.tenant).unwrap_or_else(|| TENANT.into()),
            deadline: asked.or(config.deadline),
            durability: config.durability,
            on_error: config.on_error,
            pass: config.pass,
            hook_time: config.hook_time,
        };
        (choice, trouble)
    }
}

impl Stores {
    /// Makes the chosen journal ready; nothing is reached or opened yet.
    pub(crate) fn open(self, choice: &StoreChoice, home: &Home) -> Result<Opened, Failure> {
        self.open_by(choice, home, SqliteJournal::new)
    }

    /// The same, but an embedded journal that is missing is an error, not begun anew.
    pub(crate) fn open_existing(
        self,
        choice: &StoreChoice,
        home: &Home,
    ) -> Result<Opened, Failure> {
        self.open_by(choice, home, SqliteJournal::existing)
    }

    fn open_by(self, choice: &StoreChoice, home: &Home, embed: Embed) -> Result<Opened, Failure> {
        let signs = signs(&choice.address, home);
        let mut journal: Box<dyn Journal> = match &choice.address {
            Address::Own => embedded(&home.journal(), choice, embed),
            Address::Sqlite(path) => embedded(path, choice, embed),
            Address::Postgres(url) => {
                let Some(open) = self.postgres else {
                    return Err(Failure::usage(format!("could not use {}", choice.address))
                        .hint("this program was built without the feature `postgres`"));
                };
                open(&Remote {
                    address: url.clone(),
                    tenant: choice.tenant.clone(),
                    deadline: choice.deadline.unwrap_or(DEADLINE),
                })?
            }
        };
        journal.sign_as(KeySource::new(home.directory(), writer_key));
        Ok(Opened { journal, signs })
    }
}

/// The key with which this home's records are sealed.
fn writer_key(home: &Path) -> Option<WriterKey> {
    stopgate_verify::record_key(home).as_ref().and_then(|key| WriterKey::from_bytes(key))
}

/// The signs of the journal at `address`.
pub(crate) fn signs(address: &Address, home: &Home) -> Signs {
    match address {
        Address::Own => Signs::at(home.signs()),
        Address::Sqlite(path) => Signs::beside(path),
        Address::Postgres(_) => Signs::untrusted(home.server_notes()),
    }
}

/// Makes an embedded journal at a path, whose users wait for each other so long.
type Embed = fn(&Path, Duration) -> SqliteJournal;

fn embedded(path: &Path, choice: &StoreChoice, embed: Embed) -> Box<dyn Journal> {
    let patience = choice.deadline.unwrap_or(PATIENCE);
    Box::new(embed(path, patience).surviving(choice.durability))
}
