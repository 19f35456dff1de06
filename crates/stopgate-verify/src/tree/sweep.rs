//! Compares what is known with what is there, without listing a directory.
//!
//! A directory whose own times are the same has the same names in it: only its files are looked
//! at, each with one call.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::access::{OpenDirectory, Purpose, open_directory, stat_at, stat_of};
use super::index::{FileMark, FileSelection, Index};
use super::stat::{Sort, Stat};

/// Fewer files than this are not worth a second thread.
const SHARED_MIN: usize = 2_000;
/// How many directories a thread takes at once.
const SHARE: usize = 64;

/// What a sweep found.
#[derive(Debug, Default)]
pub(crate) struct Swept {
    /// Directories that must be listed again, in order.
    pub(crate) directories: Vec<u32>,
    /// Files whose content must be read again, in order, and how they are now.
    pub(crate) entries: Vec<(u32, Stat)>,
}

impl Swept {
    pub(crate) const fn is_clean(&self) -> bool {
        self.directories.is_empty() && self.entries.is_empty()
    }
}

/// Looks at every directory and file of the index.
pub(crate) fn sweep(root: &OpenDirectory, index: &Index) -> Swept {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut swept = Swept::default();
        let mut path = Vec::new();
        loop {
            let from = next.fetch_add(SHARE, Ordering::Relaxed);
            if from >= index.directories.len() {
                return swept;
            }
            for directory in from..index.directories.len().min(from + SHARE) {
                index.directory_path(directory, &mut path);
                sweep_directory(root, index, directory, &path, &mut swept);
            }
        }
    };
    let mut all = std::thread::scope(|scope| {
        let other = (index.entries.len() >= SHARED_MIN).then(|| scope.spawn(work));
        let mut own = work();
        if let Some(other) = other.and_then(|other| other.join().ok()) {
            own.directories.extend(other.directories);
            own.entries.extend(other.entries);
        }
        own
    });
    all.directories.sort_unstable();
    all.entries.sort_unstable_by_key(|(entry, _)| *entry);
    all
}

fn sweep_directory(root: &OpenDirectory, index: &Index, at: usize, path: &[u8], swept: &mut Swept) {
    let directory = &index.directories[at];
    let before = swept.entries.len();
    let is_same = open_directory(root, path, Purpose::Stat).is_ok_and(|fd| {
        stat_of(&fd).is_some_and(|now| now.still_is(&directory.stat, index.taken))
            && directory.reading != FileSelection::Unreadable
            && sweep_entries(&fd, index, at, swept)
    });
    if !is_same {
        swept.entries.truncate(before);
        swept.directories.push(super::index::index(at));
    }
}

/// Says whether every file is still there.
fn sweep_entries(fd: &OpenDirectory, index: &Index, directory: usize, swept: &mut Swept) -> bool {
    for at in index.entries_of(directory) {
        let entry = &index.entries[at];
        let Some(now) = stat_at(fd, index.name(entry.name)) else { return false };
        if now.still_is(&entry.stat, index.taken) && entry.mark != FileMark::Unreadable {
            continue;
        }
        let was_link = entry.mark == FileMark::Link;
        let is_known = match now.sort() {
            Sort::File => !was_link,
            Sort::Link => was_link,
            Sort::Directory | Sort::Other => false,
        };
        if !is_known {
            return false;
        }
        swept.entries.push((super::index::index(at), now));
    }
    true
}
