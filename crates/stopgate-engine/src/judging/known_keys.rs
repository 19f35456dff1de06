//! The public keys whose signatures count here: this home's own, and those that a person added.
//!
//! They are kept for each tenant, in the state directory: a store may be shared by machines, the
//! word on whose keys count is each one's own.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use stopgate_verify::Key;
use stopgate_verify::files::{Durable, read_regular, replace_private};

use crate::context::Context;
use crate::failure::Failure;
use crate::home::file_name;
use crate::judging::certificate::Certificates;
use crate::view::time_text;

/// Room for ten thousand keys.
const KEYS_BYTES_MAX: u64 = 4 * 1024 * 1024;

const KEY_DIGITS: usize = 64;

/// The keys whose signatures count.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownKeys {
    keys: Vec<String>,
}

/// All keys that are known here.
#[derive(Clone, Debug, Serialize)]
pub struct KeysView {
    /// The tenant that they count for.
    pub tenant: String,
    /// The keys; this home's own comes first.
    pub keys: Vec<KeyView>,
}

/// One key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyView {
    /// The public half.
    pub key: String,
    /// What the person calls it.
    pub name: Option<String>,
    /// Whether this home signs with it.
    pub own: bool,
    /// When a person added it, or it was put aside for a new one.
    pub added_at: Option<String>,
}

/// A key that a person added, as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct KnownKeyWire {
    key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    added_at: String,
}

impl KnownKeys {
    /// These keys, however they are written.
    pub(crate) fn of(keys: &[String]) -> Self {
        Self { keys: keys.iter().map(|key| plain(key)).collect() }
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.keys.contains(&plain(key))
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

/// The keys whose signatures count here.
pub(crate) fn known_keys(context: &Context) -> Result<KnownKeys, Failure> {
    let added = added_keys(context)?.into_iter().map(|known| known.key);
    let own = own_key(context);
    Ok(KnownKeys { keys: own.into_iter().chain(added).collect() })
}

fn own_key(context: &Context) -> Option<String> {
    Key::existing(context.home.directory()).ok().map(|key| key.public())
}

fn keys_path(context: &Context) -> PathBuf {
    let name = format!("{}.json", file_name(&context.choice.tenant));
    context.home.directory().join("keys").join("known").join(name)
}

fn added_keys(context: &Context) -> Result<Vec<KnownKeyWire>, Failure> {
    let path = keys_path(context);
    let trouble = || format!("could not read {}", path.display());
    let text = match read_regular(&path, KEYS_BYTES_MAX) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Failure::fault(trouble()).because(error)),
    };
    serde_json::from_slice(&text).map_err(|error| Failure::fault(trouble()).because(error))
}

fn write_keys(context: &Context, keys: &[KnownKeyWire]) -> Result<(), Failure> {
    let path = keys_path(context);
    let trouble = |error: io::Error| {
        Failure::fault(format!("could not write {}", path.display())).because(error)
    };
    let text = serde_json::to_vec_pretty(keys)
        .map_err(|error| Failure::fault("could not write the keys down").because(error))?;
    replace_private(&path, &text, Durable::Synced).map_err(trouble)
}

impl Certificates<'_> {
    /// All keys that are known here.
    pub fn keys(&self) -> Result<KeysView, Failure> {
        let own =
            own_key(self.context).map(|key| KeyView { key, name: None, own: true, added_at: None });
        let added = added_keys(self.context)?.into_iter().map(|known| KeyView {
            key: known.key,
            name: known.name,
            own: false,
            added_at: Some(known.added_at),
        });
        Ok(KeysView {
            tenant: self.context.choice.tenant.clone(),
            keys: own.into_iter().chain(added).collect(),
        })
    }

    /// A person says that signatures by `key` count.
    pub fn add_key(&mut self, key: &str, name: Option<&str>) -> Result<KeysView, Failure> {
        self.context.as_person("add a key")?;
        let key = plain(key);
        if key.len() != KEY_DIGITS || !key.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(Failure::usage(format!(
                "a public key has {KEY_DIGITS} hexadecimal digits"
            ))
            .hint("its owner sees it with: stopgate receipt keys"));
        }
        let mut added = added_keys(self.context)?;
        added.retain(|known| known.key != key);
        let name = name.map(String::from);
        added.push(KnownKeyWire { key, name, added_at: time_text(self.context.now()) });
        write_keys(self.context, &added)?;
        self.keys()
    }

    /// A person takes that back; `key` is a key, the beginning of one, or a name.
    pub fn remove_key(&mut self, key: &str) -> Result<KeysView, Failure> {
        self.context.as_person("remove a key")?;
        let mut added = added_keys(self.context)?;
        let wanted = plain(key);
        let is_meant = |known: &KnownKeyWire| {
            known.name.as_deref() == Some(key) || known.key.starts_with(&wanted)
        };
        match added.iter().filter(|known| is_meant(known)).count() {
            1 => added.retain(|known| !is_meant(known)),
            0 if own_key(self.context).is_some_and(|own| own.starts_with(&wanted)) => {
                return Err(Failure::usage("this home signs with that key")
                    .hint("a new one takes its place: stopgate receipt keys rotate"));
            }
            0 => return Err(Failure::usage(format!("no key called {key} was added"))),
            _several => {
                return Err(Failure::usage(format!("more than one key begins with {key}")));
            }
        }
        write_keys(self.context, &added)?;
        self.keys()
    }

    /// A person begins to sign with a new key; what the old one signed still counts.
    pub fn rotate_key(&mut self) -> Result<KeysView, Failure> {
        self.context.as_person("rotate the signing key")?;
        self.context.prepare()?;
        if let Some(old) = own_key(self.context) {
            let mut added = added_keys(self.context)?;
            added.retain(|known| known.key != old);
            let name = Some("own, until it was rotated".into());
            added.push(KnownKeyWire { key: old, name, added_at: time_text(self.context.now()) });
            // The old key is known before it is gone.
            write_keys(self.context, &added)?;
        }
        Key::replace(self.context.home.directory())
            .map_err(|error| Failure::fault("could not write a new key").because(error))?;
        self.keys()
    }
}

/// A key as it is compared: case and blanks around it don't matter.
fn plain(key: &str) -> String {
    key.trim().to_ascii_lowercase()
}
