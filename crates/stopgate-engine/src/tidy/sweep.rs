//! What loops left behind beside the journal goes when they have gone: logs of checks, seals,
//! contents that only those seals kept, fingerprints that nobody asked for in a long while.
//!
//! A file that is young stays: it may belong to a loop that is just beginning.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use stopgate_core::LoopId;

use crate::context::Context;
use crate::failure::Failure;
use stopgate_verify::files::read_text;

/// No seal is longer.
const SEAL_BYTES_MAX: u64 = 64 * 1024 * 1024;

const YOUNG: Duration = Duration::from_hours(24);
const PAGE: usize = 500;

/// Takes away what belongs to no loop any more; how many files that were.
///
/// What can't be read or removed stays for the next time.
pub(crate) fn sweep(context: &mut Context, gone: &[LoopId]) -> Result<u64, Failure> {
    let mut swept = 0;
    for id in gone {
        let logs = context.home.check_logs(id);
        let count = files(&logs).count();
        if fs::remove_dir_all(&logs).is_ok() {
            swept += count as u64;
        }
    }
    let seals = seals_in_use(context)?;
    let place = context.place(context.home.start_logs());
    let directory = context.home.directory().join("seals");
    swept +=
        sweep_directory(context, &directory, |name| seals.contains(name.trim_end_matches(".json")));
    let texts: Vec<String> =
        files(&directory).filter_map(|path| read_text(&path, SEAL_BYTES_MAX).ok()).collect();
    let is_kept = |name: &str| texts.iter().any(|text| text.contains(name));
    for shelf in fs::read_dir(place.objects()).into_iter().flatten().flatten() {
        swept += sweep_directory(context, &shelf.path(), is_kept);
    }
    swept +=
        sweep_directory(context, &place.trees(), |name| name == stopgate_verify::TREE_KEY_NAME);
    Ok(swept)
}

/// The seals of all loops that the journal still has.
fn seals_in_use(context: &mut Context) -> Result<HashSet<String>, Failure> {
    let mut seals = HashSet::new();
    let mut last = LoopId::new("");
    loop {
        let page = context.journal.names(&last, PAGE)?;
        let Some(end) = page.last() else { return Ok(seals) };
        last = end.clone();
        for id in page {
            let stored = context.journal.load(&id)?;
            seals.extend(stored.and_then(|stored| stored.state.ground.seal));
        }
    }
}

/// Removes the files of a directory that are neither young nor kept.
fn sweep_directory(context: &Context, directory: &Path, is_kept: impl Fn(&str) -> bool) -> u64 {
    let millis = u64::try_from(context.now().unix_millis()).unwrap_or(0);
    let young = (UNIX_EPOCH + Duration::from_millis(millis)).checked_sub(YOUNG);
    let old = |path: &Path| {
        let changed = fs::metadata(path).and_then(|found| found.modified());
        changed.is_ok_and(|changed| young.is_some_and(|young: SystemTime| changed < young))
    };
    let name = |path: &Path| path.file_name().unwrap_or_default().display().to_string();
    let stale = files(directory).filter(|path| old(path) && !is_kept(&name(path)));
    stale.filter(|path| fs::remove_file(path).is_ok()).count() as u64
}

fn files(directory: &Path) -> impl Iterator<Item = std::path::PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_file())
}
