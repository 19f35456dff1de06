//! Tells when paths change, without looking at them again and again.
//!
//! A path that exists is watched itself, and the nearest directory above it for the name that
//! leads to it: so it is noticed when it comes, goes, or is replaced. Where the system can't watch,
//! the caller looks from time to time.

#[cfg(target_os = "linux")]
use std::collections::BTreeMap;
#[cfg(target_os = "linux")]
use std::ffi::OsString;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::path::PathBuf;

/// Paths that are watched, by the number of who waits for them.
#[derive(Debug, Default)]
pub(crate) struct FileWatches {
    #[cfg(target_os = "linux")]
    handle: Option<rustix::fd::OwnedFd>,
    #[cfg(target_os = "linux")]
    points: BTreeMap<i32, Vec<WatchPoint>>,
}

/// One thing that is looked for in what was told of a directory or file.
#[cfg(target_os = "linux")]
#[derive(Debug)]
struct WatchPoint {
    waiter: usize,
    /// The name in the directory; all news counts without it.
    name: Option<OsString>,
}

/// The directories and files to watch for `path`, with the name that counts in each.
#[cfg(target_os = "linux")]
fn points_of(path: &Path) -> Vec<(PathBuf, Option<OsString>)> {
    let mut points = vec![(path.to_path_buf(), None)];
    let mut below = path;
    while let (Some(above), Some(name)) = (below.parent(), below.file_name()) {
        if above.is_dir() {
            points.push((above.to_path_buf(), Some(name.to_os_string())));
            break;
        }
        below = above;
    }
    points
}

#[cfg(target_os = "linux")]
impl FileWatches {
    /// Watches the paths of each waiter; says for whom that is not possible.
    pub(crate) fn over(waiters: &[Vec<PathBuf>]) -> (Self, Vec<usize>) {
        use rustix::fs::inotify::{CreateFlags, init};
        if waiters.iter().all(Vec::is_empty) {
            return (Self::default(), Vec::new());
        }
        let flags = CreateFlags::CLOEXEC | CreateFlags::NONBLOCK;
        let mut watches = Self { handle: init(flags).ok(), points: BTreeMap::new() };
        let mut blind = Vec::new();
        for (waiter, paths) in waiters.iter().enumerate() {
            let seen: Vec<bool> = paths.iter().map(|path| watches.add(waiter, path)).collect();
            if seen.contains(&false) {
                blind.push(waiter);
            }
        }
        (watches, blind)
    }

    /// Watches one path; says whether that is possible.
    fn add(&mut self, waiter: usize, path: &Path) -> bool {
        use rustix::fs::inotify::{WatchFlags, add_watch};
        use rustix::io::Errno;
        let Some(handle) = &self.handle else { return false };
        let wanted = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF;
        let mut seen = false;
        for (at, name) in points_of(path) {
            match add_watch(handle, &at, wanted) {
                Ok(number) => {
                    self.points.entry(number).or_default().push(WatchPoint { waiter, name });
                    seen = true;
                }
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(_) => return false,
            }
        }
        seen
    }

    /// Becomes readable when there is news.
    pub(crate) const fn handle(&self) -> Option<&rustix::fd::OwnedFd> {
        self.handle.as_ref()
    }

    /// Those for whom there is news; each once.
    pub(crate) fn news(&self) -> Vec<usize> {
        use rustix::fs::inotify::{ReadFlags, Reader};
        use std::os::unix::ffi::OsStrExt;
        let Some(handle) = &self.handle else { return Vec::new() };
        let mut block = [const { std::mem::MaybeUninit::uninit() }; 4096];
        let mut reader = Reader::new(handle, &mut block);
        let mut told = std::collections::BTreeSet::new();
        while let Ok(event) = reader.next() {
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                // Nobody knows what was missed: everybody looks.
                told.extend(self.points.values().flatten().map(|point| point.waiter));
                continue;
            }
            let name = event.file_name().map(|name| std::ffi::OsStr::from_bytes(name.to_bytes()));
            let points = self.points.get(&event.wd()).into_iter().flatten();
            let counts = |point: &&WatchPoint| {
                name.is_none() || point.name.is_none() || point.name.as_deref() == name
            };
            told.extend(points.filter(counts).map(|point| point.waiter));
        }
        told.into_iter().collect()
    }
}

#[cfg(not(target_os = "linux"))]
impl FileWatches {
    /// Nothing can be watched here: everybody who waits for a path looks from time to time.
    pub(crate) fn over(waiters: &[Vec<PathBuf>]) -> (Self, Vec<usize>) {
        let blind = waiters.iter().enumerate().filter(|(_, paths)| !paths.is_empty());
        (Self::default(), blind.map(|(waiter, _)| waiter).collect())
    }

    /// There is nothing to wait for.
    pub(crate) const fn handle(&self) -> Option<&rustix::fd::OwnedFd> {
        None
    }

    /// There is not news.
    pub(crate) const fn news(&self) -> Vec<usize> {
        Vec::new()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs;

    fn told(watches: &FileWatches) -> Vec<usize> {
        watches.news()
    }

    #[test]
    fn what_comes_goes_and_is_replaced_is_told() {
        let room = tempfile::tempdir().unwrap();
        let at = |name: &str| room.path().join(name);
        fs::write(at("there"), "1").unwrap();
        let waiters = [vec![at("there")], vec![at("deep/er/missing")], vec![at("other")]];
        let (watches, blind) = FileWatches::over(&waiters);
        assert_eq!(blind, Vec::<usize>::new());
        assert_eq!(told(&watches), Vec::<usize>::new());
        fs::write(at("noise"), "1").unwrap();
        assert_eq!(told(&watches), Vec::<usize>::new(), "another name is not news");
        fs::write(at("there"), "2").unwrap();
        assert_eq!(told(&watches), [0]);
        fs::create_dir(at("deep")).unwrap();
        assert_eq!(told(&watches), [1], "a directory on the way");
        fs::write(at("new"), "3").unwrap();
        fs::rename(at("new"), at("there")).unwrap();
        assert_eq!(told(&watches), [0]);
        fs::write(at("other"), "").unwrap();
        assert_eq!(told(&watches), [2]);
    }
}
