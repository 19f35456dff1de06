//! Programs that a check calls, as it finds them now.

use std::path::Path;

use super::super::lasting::LastingChange;
use super::Compare;

/// Programs that are found elsewhere, say something else or are gone.
pub(super) fn programs(compare: &mut Compare<'_>) {
    let path = compare.basis.path(compare.criterion);
    for program in &compare.noted.programs {
        let Some(change) = program.change(path.as_deref(), compare.since) else { continue };
        let name = &change.name;
        match change.now {
            Some(now) if now != change.then && now.starts_with(compare.root) => {
                let inner = now.strip_prefix(compare.root).unwrap_or(&now).to_path_buf();
                compare.found.texts.push(format!("{} hides {name}", inner.display()));
                compare.found.absent.push(inner);
            }
            // A file of the project is among its other files, or is the work itself.
            Some(now) if now == change.then && is_projects_own(compare.root, &now) => {}
            Some(now) if now == change.then => {
                let text = format!("{} was changed", now.display());
                compare.last([LastingChange::of_file(text, &now)]);
            }
            Some(now) => {
                let (found, was) = (now.display(), change.then.display());
                let text = format!("{name} is found at {found} now; it was {was}");
                compare.last([LastingChange::of_file(text, &now)]);
            }
            None if change.then.starts_with(compare.root) => {}
            None => compare.found.lasting.push(format!("{} is gone", change.then.display())),
        }
    }
}

/// Whether git knows the file, or it can only be the work.
fn is_projects_own(root: &Path, path: &Path) -> bool {
    let Ok(inner) = path.strip_prefix(root) else { return false };
    let installed = inner.iter().any(|part| crate::judges::is_installed(part.as_encoded_bytes()));
    !installed
}
