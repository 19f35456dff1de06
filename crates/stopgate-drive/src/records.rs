//! Where a client keeps its record of a session: what it used, and why it failed.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use stopgate_agents::{Agent, Headless};
use stopgate_engine::Settings;
use stopgate_verify::files::open_regular;

/// How deep below a client's directory a record may be.
const DEPTH_MAX: u8 = 5;
/// How much of a record is read after a failure.
const LAST_BYTES_MAX: u64 = 512 * 1024;

/// The record of a session, if the client keeps one and has written it.
pub(crate) fn record_of(agent: Agent, headless: Headless, session: &str) -> Option<PathBuf> {
    let record = headless.record().filter(|_| !session.is_empty())?;
    let home = Settings.agent_home(agent)?;
    find(&home.join(record.below), &record.ending(session), 0)
}

/// Looks at a directory's own files before it looks deeper.
fn find(below: &Path, ending: &str, depth: u8) -> Option<PathBuf> {
    let entries = fs::read_dir(below).ok()?.flatten();
    let (directories, files): (Vec<PathBuf>, Vec<PathBuf>) =
        entries.map(|entry| entry.path()).partition(|path| path.is_dir());
    let is_it = |path: &&PathBuf| path.to_str().is_some_and(|path| path.ends_with(ending));
    if let Some(found) = files.iter().find(is_it) {
        return Some(found.clone());
    }
    if depth >= DEPTH_MAX {
        return None;
    }
    directories.iter().find_map(|directory| find(directory, ending, depth + 1))
}

/// The last lines of a file; the first of them may be cut.
pub(crate) fn last_lines(file: &Path) -> Vec<Vec<u8>> {
    let read = || {
        let mut file = open_regular(file)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LAST_BYTES_MAX)))?;
        let mut bytes = Vec::new();
        file.take(LAST_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(bytes)
    };
    let bytes = read().unwrap_or_default();
    bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::find;

    #[test]
    fn a_record_is_found_by_the_end_of_its_path() {
        let home = tempfile::tempdir().expect("make a directory");
        let put = |name: &str| {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("make a directory");
            fs::write(&path, "").expect("write a file");
            path
        };
        put("2026/11/15/rollout-1-other.jsonl");
        let rollout = put("2026/11/15/rollout-2-one.jsonl");
        let events = put("two/events.jsonl");
        assert_eq!(find(home.path(), "one.jsonl", 0), Some(rollout));
        assert_eq!(find(home.path(), "two/events.jsonl", 0), Some(events));
        assert_eq!(find(home.path(), "three/events.jsonl", 0), None);
    }
}
