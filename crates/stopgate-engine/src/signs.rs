//! Signs beside the database that say whether it is worth opening.
//!
//! A sign is a hint, never the truth: one too many costs a look at the journal, so
//! one must never be missing. A sign is written before the journal knows, and taken
//! down after, within the same turn.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use stopgate_core::{Digest, Timestamp};
use stopgate_verify::files::{Durable, append_private, read_text, replace_private};

use crate::home::{below, file_name};

/// No note is longer.
const NOTE_BYTES_MAX: u64 = 64 * 1024;

/// The signs of one journal.
#[derive(Clone, Debug)]
pub(crate) struct Signs {
    directory: PathBuf,
    trust: Trust,
}

/// Whether signs can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    /// Everybody who writes to the journal keeps them.
    Kept,
    /// The journal is on a server that others write to: it must be asked itself. No sign is
    /// written or read; only tools are counted and cleared sessions noted, for this machine.
    Never,
    /// The same, and nothing is noted on disk: the machine is simulated.
    Nowhere,
}

impl Signs {
    /// The signs in `directory`.
    pub(crate) const fn at(directory: PathBuf) -> Self {
        Self { directory, trust: Trust::Kept }
    }

    /// The notes in `directory` about a journal that must always be asked itself.
    pub(crate) const fn untrusted(directory: PathBuf) -> Self {
        Self { directory, trust: Trust::Never }
    }

    /// No notes at all, about a journal that must always be asked itself.
    pub(crate) const fn nowhere() -> Self {
        Self { directory: PathBuf::new(), trust: Trust::Nowhere }
    }

    /// Whether there is a place for notes.
    fn are_somewhere(&self) -> bool {
        self.trust != Trust::Nowhere
    }

    /// Whether what the signs say means anything.
    pub(crate) fn are_kept(&self) -> bool {
        self.trust == Trust::Kept
    }

    /// The signs beside the journal at `journal`.
    pub(crate) fn beside(journal: &Path) -> Self {
        Self::at(journal.with_extension("signs"))
    }

    /// Whether `session` may be held.
    pub(crate) fn may_hold(&self, session: &str) -> bool {
        !self.are_kept() || self.held(session).exists()
    }

    /// Whether a loop holds `session`, or held it and nobody has spoken to it since.
    pub(crate) fn know(&self, session: &str) -> bool {
        let freed = || self.in_directory("freed", session);
        !session.is_empty()
            && [self.held(session), self.tools(session), freed()].iter().any(|sign| sign.exists())
    }

    /// Whether any session may be held.
    pub(crate) fn any_held(&self) -> bool {
        let held = std::fs::read_dir(self.directory.join("held"));
        !self.are_kept() || held.is_ok_and(|mut held| held.next().is_some())
    }

    /// Whether any project has a loop that waits to be claimed.
    pub(crate) fn any_pending(&self) -> bool {
        !self.are_kept() || self.pending_directory().exists()
    }

    /// Whether neither `session` is held nor any loop waits: then nobody opens the journal.
    pub(crate) fn are_silent(&self, session: &str) -> bool {
        !self.may_hold(session) && !self.any_pending()
    }

    /// Whether `project` may have a loop that waits to be claimed.
    pub(crate) fn may_be_pending(&self, project: &Path) -> bool {
        !self.are_kept() || self.pending(project).exists()
    }

    /// Says that `session` is held from now on.
    pub(crate) fn put_held(&self, session: &str) -> io::Result<()> {
        if self.are_kept() { put(&self.held(session)) } else { Ok(()) }
    }

    /// Says that `session` is held no more.
    pub(crate) fn take_held(&self, session: &str) {
        if self.are_kept() {
            let _ = fs::remove_file(self.held(session));
        }
        if self.are_somewhere() {
            let _ = fs::remove_file(self.tools(session));
        }
    }

    /// Says that a loop of `project` waits to be claimed.
    pub(crate) fn put_pending(&self, project: &Path) -> io::Result<()> {
        if self.are_kept() { put(&self.pending(project)) } else { Ok(()) }
    }

    /// Says that no loop of `project` waits to be claimed.
    pub(crate) fn take_pending(&self, project: &Path) {
        let _ = fs::remove_file(self.pending(project));
        // Goes only when it is empty: then no stop looks for a project any more.
        let _ = fs::remove_dir(self.pending_directory());
    }

    /// Whether tool calls of `session` are worth counting.
    pub(crate) fn counts_tools(&self, session: &str) -> bool {
        match self.trust {
            Trust::Kept => self.may_hold(session),
            Trust::Never => self.tools(session).exists(),
            Trust::Nowhere => false,
        }
    }

    /// Says that a loop was seen to hold `session`: its tool calls count from now on.
    pub(crate) fn watch_tools(&self, session: &str) {
        if self.trust == Trust::Never {
            // Without a counter the transcript is looked at instead.
            let _ = put(&self.tools(session));
        }
    }

    /// Counts one batch of tool calls of a held session.
    pub(crate) fn count_tools(&self, session: &str) -> io::Result<()> {
        let path = self.tools(session);
        append_private(&path)?.write_all(b".")
    }

    /// How many batches of tool calls were counted; nothing where nobody counts.
    pub(crate) fn tools_counted(&self, session: &str) -> Option<u64> {
        let counted = self.are_somewhere().then(|| fs::metadata(self.tools(session)))?.ok()?.len();
        (counted > 0).then_some(counted)
    }

    /// Notes that `client` cleared the session whose loop this is.
    pub(crate) fn put_cleared(&self, client: &str, id: &str) -> io::Result<()> {
        let path = self.cleared(client);
        replace_private(&path, id.as_bytes(), Durable::Buffered)
    }

    /// The loop whose session `client` cleared last, once.
    pub(crate) fn take_cleared(&self, client: &str) -> Option<String> {
        let path = self.cleared(client);
        let id = read_text(&path, NOTE_BYTES_MAX).ok()?;
        let _ = fs::remove_file(path);
        Some(id)
    }

    /// Notes that loop `id` of `session` ended: until a person speaks to it, the session does
    /// not claim a loop that waited before, and its status line says how it ended.
    pub(crate) fn put_freed(&self, session: &str, id: &str, at: Timestamp) {
        if !self.are_somewhere() {
            return;
        }
        let path = self.in_directory("freed", session);
        let text = format!("{} {id}", at.unix_millis());
        // Without the note the session may claim a loop, which does no harm to that loop.
        let _ = replace_private(&path, text.as_bytes(), Durable::Buffered);
    }

    /// When the last loop of `session` ended, if no person has spoken to it since.
    pub(crate) fn freed(&self, session: &str) -> Option<Timestamp> {
        let note = self.are_somewhere().then(|| self.in_directory("freed", session))?;
        let text = read_text(&note, NOTE_BYTES_MAX).ok()?;
        text.split(' ').next()?.parse().ok().map(Timestamp::from_unix_millis)
    }

    /// The loop of `session` that ended, if no person has spoken to it since.
    pub(crate) fn freed_from(&self, session: &str) -> Option<String> {
        let text = read_text(&self.in_directory("freed", session), NOTE_BYTES_MAX).ok()?;
        text.split_once(' ').map(|(_, id)| id.to_string())
    }

    /// A person speaks to `session`.
    pub(crate) fn take_freed(&self, session: &str) {
        let _ = fs::remove_file(self.in_directory("freed", session));
    }

    /// Notes that the session of loop `id` ended: the next session in `project` is told.
    pub(crate) fn put_left(&self, project: &Path, id: &str) {
        // Without the note nobody is told, and `status` still says it.
        let _ = put(&self.left_directory(project).join(&*file_name(id)));
    }

    /// The loops of `project` whose sessions ended and of which nobody was told, once.
    pub(crate) fn take_left(&self, project: &Path) -> Vec<String> {
        let directory = self.left_directory(project);
        let Ok(entries) = fs::read_dir(&directory) else { return Vec::new() };
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into());
        let names: Vec<String> = names.collect();
        let _ = fs::remove_dir_all(directory);
        names
    }

    fn left_directory(&self, project: &Path) -> PathBuf {
        let digest = Digest::new().part(project.as_os_str().as_encoded_bytes());
        self.directory.join("left").join(format!("{:016x}", digest.value()))
    }

    fn held(&self, session: &str) -> PathBuf {
        self.in_directory("held", session)
    }

    fn tools(&self, session: &str) -> PathBuf {
        self.in_directory("tools", session)
    }

    fn cleared(&self, client: &str) -> PathBuf {
        self.in_directory("cleared", client)
    }

    /// One allocation, for a stop without a loop builds this path and hardly more.
    fn in_directory(&self, directory: &str, name: &str) -> PathBuf {
        below(&self.directory, [directory, &file_name(name)])
    }

    fn pending_directory(&self) -> PathBuf {
        below(&self.directory, ["pending"])
    }

    fn pending(&self, project: &Path) -> PathBuf {
        let digest = Digest::new().part(project.as_os_str().as_encoded_bytes());
        self.pending_directory().join(format!("{:016x}", digest.value()))
    }
}

fn put(path: &Path) -> io::Result<()> {
    append_private(path).map(drop)
}
