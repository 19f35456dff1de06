//! The keyed chain under a journal: whether a record is what its writer wrote.
//!
//! Every event carries a tag over itself and the seal before it, every state one over itself
//! and the seal of its newest event. An event's seal also says what its writer could say about
//! the state that it was appended to, so that an edited state can't be sealed by the next
//! append. A program that edits, removes or reorders rows without the writer's key leaves a tag that
//! does not fit. Who has another key can't tell, and says so: a record of an unknown writer is
//! never called forged.
//!
//! The stored form of events and states does not change: seals lie beside them.

mod fingerprint;

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use stopgate_core::Soundness;

use self::fingerprint::fingerprint;

/// How many bytes a writer's name and key have together.
pub const WRITER_KEY_BYTES: usize = NAME_BYTES + KEY_BYTES + POINT_BYTES;
const NAME_BYTES: usize = 8;
const KEY_BYTES: usize = 32;
const POINT_BYTES: usize = 8;
const TAG_BYTES: usize = 16;
const EVENT_SEAL_BYTES: usize = NAME_BYTES + 1 + TAG_BYTES;
/// What goes into the keyed hash: the kind, two fingerprints, and what stands before a text.
const HASHED_BYTES: usize = 17 + EVENT_SEAL_BYTES + 21;
const STATE_SEAL_BYTES: usize = NAME_BYTES + EVENT_SEAL_BYTES + TAG_BYTES;

type Tag = [u8; TAG_BYTES];

/// What the next event follows: a state as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainBase {
    /// What could be said about that state.
    pub soundness: Soundness,
    /// The seal of its newest event; all zeros where it has none.
    newest: EventSeal,
}

/// Where the writer's key comes from; asked once, when it is first needed.
#[derive(Clone)]
pub struct KeySource {
    home: PathBuf,
    source: fn(&Path) -> Option<WriterKey>,
    key: OnceLock<Option<WriterKey>>,
}

/// A writer's name and its key.
#[derive(Clone)]
pub struct WriterKey {
    name: [u8; NAME_BYTES],
    key: [u8; KEY_BYTES],
    /// Where texts are fingerprinted.
    point: u64,
}

/// Who sealed an event, what they could say about the state before it, and the tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventSeal([u8; EVENT_SEAL_BYTES]);

/// Who sealed a state, the seal of its newest event, and the tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateSeal([u8; STATE_SEAL_BYTES]);

/// An event as it is stored.
#[derive(Clone, Copy, Debug)]
pub struct EventRecord<'a> {
    /// The loop.
    pub id: &'a str,
    /// Its number within the loop.
    pub revision: u64,
    /// The version of its form.
    pub format: u32,
    /// When it happened, in milliseconds.
    pub at: i64,
    /// Its text.
    pub body: &'a str,
}

/// A state as it is stored.
#[derive(Clone, Copy, Debug)]
pub struct StateRecord<'a> {
    /// The loop.
    pub id: &'a str,
    /// How many events led to it.
    pub revision: u64,
    /// Its text.
    pub body: &'a str,
}

impl KeySource {
    /// A writer whose key `source` finds in `home`, or makes there.
    pub fn new(home: &Path, source: fn(&Path) -> Option<WriterKey>) -> Self {
        Self { home: home.into(), source, key: OnceLock::new() }
    }

    /// The key, where there is one.
    pub fn key(&self) -> Option<&WriterKey> {
        self.key.get_or_init(|| (self.source)(&self.home)).as_ref()
    }
}

impl Default for KeySource {
    /// A writer without a key: it seals nothing.
    fn default() -> Self {
        Self::new(Path::new(""), |_| None)
    }
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("home", &self.home).finish_non_exhaustive()
    }
}

impl WriterKey {
    /// The key as it is kept: a name, then the secrets.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (name, secrets) = bytes.split_at_checked(NAME_BYTES)?;
        let (key, point) = secrets.split_at_checked(KEY_BYTES)?;
        let point = u64::from_le_bytes(point.try_into().ok()?);
        Some(Self { name: name.try_into().ok()?, key: key.try_into().ok()?, point })
    }

    /// Seals an event that is appended to `base`.
    pub fn event(&self, base: &ChainBase, record: &EventRecord<'_>) -> EventSeal {
        let mut head = [0; EVENT_SEAL_BYTES + 21];
        head[..EVENT_SEAL_BYTES].copy_from_slice(&base.newest.0);
        head[EVENT_SEAL_BYTES..EVENT_SEAL_BYTES + 8]
            .copy_from_slice(&record.revision.to_le_bytes());
        head[EVENT_SEAL_BYTES + 8..EVENT_SEAL_BYTES + 16].copy_from_slice(&record.at.to_le_bytes());
        head[EVENT_SEAL_BYTES + 16..EVENT_SEAL_BYTES + 20]
            .copy_from_slice(&record.format.to_le_bytes());
        head[EVENT_SEAL_BYTES + 20] = byte(base.soundness);
        let mut seal = [0; EVENT_SEAL_BYTES];
        seal[..NAME_BYTES].copy_from_slice(&self.name);
        seal[NAME_BYTES] = byte(base.soundness);
        seal[NAME_BYTES + 1..].copy_from_slice(&self.tag(b'e', &head, record.id, record.body));
        EventSeal(seal)
    }

    /// Seals a state whose newest event has the seal `newest`.
    pub fn state(&self, newest: &EventSeal, record: &StateRecord<'_>) -> StateSeal {
        let mut head = [0; EVENT_SEAL_BYTES + 8];
        head[..EVENT_SEAL_BYTES].copy_from_slice(&newest.0);
        head[EVENT_SEAL_BYTES..].copy_from_slice(&record.revision.to_le_bytes());
        let mut seal = [0; STATE_SEAL_BYTES];
        seal[..NAME_BYTES].copy_from_slice(&self.name);
        seal[NAME_BYTES..NAME_BYTES + EVENT_SEAL_BYTES].copy_from_slice(&newest.0);
        seal[NAME_BYTES + EVENT_SEAL_BYTES..].copy_from_slice(&self.tag(
            b's',
            &head,
            record.id,
            record.body,
        ));
        StateSeal(seal)
    }

    /// One keyed hash, over what has a fixed length and fingerprints of the texts: a hash over
    /// the texts themselves would cost a stop ten times as much.
    fn tag(&self, kind: u8, head: &[u8], id: &str, body: &str) -> Tag {
        let mut told = [0; HASHED_BYTES];
        told[0] = kind;
        told[1..9].copy_from_slice(&fingerprint(self.point, id.as_bytes()).to_le_bytes());
        told[9..17].copy_from_slice(&fingerprint(self.point, body.as_bytes()).to_le_bytes());
        told[17..17 + head.len()].copy_from_slice(head);
        let mut tag = [0; TAG_BYTES];
        tag.copy_from_slice(&blake3::keyed_hash(&self.key, &told).as_bytes()[..TAG_BYTES]);
        tag
    }
}

impl fmt::Debug for WriterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriterKey").finish_non_exhaustive()
    }
}

const fn byte(soundness: Soundness) -> u8 {
    match soundness {
        Soundness::Sound => 0,
        Soundness::Unchained => 1,
        Soundness::UnknownWriter => 2,
        Soundness::Forged => 3,
    }
}

impl ChainBase {
    /// What a loop's first event follows.
    pub const FIRST: Self = Self { soundness: Soundness::Sound, newest: EventSeal::NONE };
}

impl EventSeal {
    /// What stands for a seal where there is none.
    pub const NONE: Self = Self([0; EVENT_SEAL_BYTES]);

    /// The seal as it is stored.
    pub const fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The stored seal; nothing where it can't be one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// What the writer could say about the state before.
    const fn base(&self) -> Soundness {
        match self.0[NAME_BYTES] {
            0 => Soundness::Sound,
            1 => Soundness::Unchained,
            2 => Soundness::UnknownWriter,
            _ => Soundness::Forged,
        }
    }

    fn is_by(&self, key: &WriterKey) -> bool {
        self.0[..NAME_BYTES] == key.name
    }

    /// The seal as an export has it.
    pub(crate) fn to_hex(self) -> String {
        use fmt::Write as _;
        self.0.iter().fold(String::with_capacity(2 * EVENT_SEAL_BYTES), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// The seal of an export's line; nothing where it can't be one.
    pub(crate) fn from_hex(text: &str) -> Option<Self> {
        let mut seal = [0; EVENT_SEAL_BYTES];
        if !text.is_ascii() || text.len() != 2 * EVENT_SEAL_BYTES {
            return None;
        }
        for (at, byte) in seal.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
        }
        Some(Self(seal))
    }
}

impl StateSeal {
    /// The seal as it is stored.
    pub const fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// What a stored state's seal says, and what the next event follows.
pub fn look_at_state(
    writer: &KeySource,
    seal: Option<&[u8]>,
    record: &StateRecord<'_>,
) -> ChainBase {
    let without = |soundness| ChainBase { soundness, newest: EventSeal::NONE };
    let Some(seal) = seal else { return without(Soundness::Unchained) };
    let Ok(bytes) = <[u8; STATE_SEAL_BYTES]>::try_from(seal) else {
        return without(Soundness::Forged);
    };
    let newest = &bytes[NAME_BYTES..NAME_BYTES + EVENT_SEAL_BYTES];
    let newest = EventSeal::from_bytes(newest).unwrap_or(EventSeal::NONE);
    let soundness = match writer.key() {
        Some(key) if bytes[..NAME_BYTES] != key.name => Soundness::UnknownWriter,
        None => Soundness::UnknownWriter,
        Some(key) if key.state(&newest, record).0 == bytes => Soundness::Sound,
        Some(_) => Soundness::Forged,
    };
    ChainBase { soundness, newest }
}

/// Events that are appended together: each follows the one before.
pub struct ChainLink<'a> {
    key: Option<&'a WriterKey>,
    base: ChainBase,
}

impl<'a> ChainLink<'a> {
    /// Begins at a state as it was read.
    pub fn new(writer: &'a KeySource, base: ChainBase) -> Self {
        Self { key: writer.key(), base }
    }

    /// The seal of the next event; nothing where there is no key.
    pub fn event(&mut self, record: &EventRecord<'_>) -> Option<EventSeal> {
        let seal = self.key.map(|key| key.event(&self.base, record));
        self.keep(seal)
    }

    /// The next event comes from elsewhere and keeps the seal that it has there, or none.
    pub fn keep(&mut self, seal: Option<EventSeal>) -> Option<EventSeal> {
        self.base.newest = seal.unwrap_or(EventSeal::NONE);
        seal
    }

    /// The seal of the state that the events led to; `before` is the one that is stored now.
    ///
    /// A state that was found forged keeps a seal that does not fit, whatever is appended to it.
    pub fn state<'s>(
        &self,
        before: Option<&'s [u8]>,
        record: &StateRecord<'_>,
    ) -> Option<Cow<'s, [u8]>> {
        if self.base.soundness == Soundness::Forged {
            return before.map(Cow::Borrowed);
        }
        let seal = self.key?.state(&self.base.newest, record);
        Some(Cow::Owned(seal.as_bytes().to_vec()))
    }
}

/// A walk along a loop's events, from the first to the newest.
pub struct ChainWalk<'a> {
    writer: &'a KeySource,
    newest: EventSeal,
    revision: u64,
    worst: Soundness,
}

impl<'a> ChainWalk<'a> {
    /// A walk that has seen nothing yet.
    pub const fn new(writer: &'a KeySource) -> Self {
        Self { writer, newest: EventSeal::NONE, revision: 0, worst: Soundness::Sound }
    }

    /// Looks at the next event and its seal.
    pub fn event(&mut self, seal: Option<&[u8]>, record: &EventRecord<'_>) {
        self.revision += 1;
        let found = match (seal, seal.and_then(EventSeal::from_bytes)) {
            (None, _) => Soundness::Unchained,
            (Some(_), None) => Soundness::Forged,
            (Some(_), Some(seal)) => self.sealed(&seal, record),
        };
        self.newest = seal.and_then(EventSeal::from_bytes).unwrap_or(EventSeal::NONE);
        self.worst = self.worst.max(found);
    }

    fn sealed(&self, seal: &EventSeal, record: &EventRecord<'_>) -> Soundness {
        let base = ChainBase { soundness: seal.base(), newest: self.newest };
        match self.writer.key() {
            Some(key) if !seal.is_by(key) => Soundness::UnknownWriter,
            None => Soundness::UnknownWriter,
            Some(key) if key.event(&base, record) != *seal => Soundness::Forged,
            Some(_) if record.revision != self.revision => Soundness::Forged,
            Some(_) => base.soundness,
        }
    }

    /// What can be said about the whole: `state` is what its own seal says, `revision` how many
    /// events it counts.
    pub fn finish(self, state: &ChainBase, revision: u64) -> Soundness {
        let ends = self.newest == state.newest && self.revision == revision;
        let own = self.writer.key().is_some_and(|key| self.newest.is_by(key));
        let found = match state.soundness {
            // A state without a seal never follows a sealed event.
            Soundness::Unchained if own => Soundness::Forged,
            Soundness::Sound if !ends => Soundness::Forged,
            found => found,
        };
        self.worst.max(found)
    }

    /// What can be said where an event that must be there is not.
    pub fn broken(self, state: &ChainBase) -> Soundness {
        match state.soundness {
            Soundness::Sound | Soundness::Forged => Soundness::Forged,
            found @ (Soundness::Unchained | Soundness::UnknownWriter) => self.worst.max(found),
        }
    }
}

#[cfg(test)]
mod tests;
