//! Looks at files below a root, never through a link at a path's end.

#[cfg(unix)]
mod unix;

#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use self::unix::{
    OpenDirectory, link_target, list, open_directory, open_file, open_root, stat_at, stat_of,
};

#[cfg(windows)]
pub(crate) use self::windows::{
    OpenDirectory, link_target, list, open_directory, open_file, open_root, stat_at, stat_of,
};

use super::stat::Stat;

/// What a directory is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Stat,
    List,
}

/// What a directory's list says about a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(windows, expect(dead_code, reason = "its file systems say"))]
pub(crate) enum ListedKind {
    Directory,
    NotDirectory,
    /// The file system does not say.
    Unknown,
}

/// What a directory has in it.
pub(crate) struct DirectoryListing {
    pub(crate) stat: Stat,
    /// In order.
    pub(crate) names: Vec<(Vec<u8>, ListedKind)>,
}
