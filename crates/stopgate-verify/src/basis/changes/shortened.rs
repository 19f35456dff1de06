//! Lists of what a judging script looks at, such as `po/LINGUAS`, that lost names of what is still
//! there: an original run looks at it all the same.
//!
//! Lists are work: a name may go with what it names.

use std::collections::BTreeSet;
use std::path::Path;

use super::super::keep::ContentStore;
use super::super::listing::Listing;
use super::super::note_file;
use super::super::text::{FileText, text_path};
use super::{BasisError, Compare};
use crate::judges::{JudgeRole, JudgeSet, ProjectFiles};
use crate::tree::{FileKind, TreeFile};

/// So many files that may be lists are kept, and none that is longer.
const LISTS_MAX: usize = 50;
const BYTES_MAX: u64 = 64 * 1024;
/// How many names are told.
const NAMED_MAX: usize = 3;

/// What they say at the start.
pub(in crate::basis) fn note(
    root: &Path,
    judges: &JudgeSet,
    found: &Listing,
    keep: &mut ContentStore<'_>,
) -> Result<Vec<FileText>, BasisError> {
    let rules = judges.rules();
    let is_list = |file: &&TreeFile| {
        file.kind == FileKind::Plain
            && file.size <= BYTES_MAX
            && rules.role(&file.path) == JudgeRole::Work
    };
    let own = judges.lists().filter_map(|path| found.get(path)).filter(is_list);
    own.take(LISTS_MAX).map(|file| note_file(root, file, None, keep)).collect()
}

/// Has an original run look at what is still there and no longer named.
pub(super) fn lengthen_lists(compare: &mut Compare<'_>) {
    for noted in &compare.noted.lists {
        let path = text_path(&noted.path);
        let Some(now) = compare.now.get(&path).filter(|now| !super::is_same(noted, now)) else {
            continue;
        };
        let (Some(original), Some(today)) = (compare.original(noted), compare.files.text(&path))
        else {
            continue;
        };
        let lost = lost_names(&original, &today);
        let still = names_of_files(compare.now, &path, &lost);
        if still.is_empty() {
            continue;
        }
        let named: Vec<&str> = still.iter().take(NAMED_MAX).copied().collect();
        let told = format!(
            "{} no longer names {}, which {} still there",
            path.display(),
            named.join(", "),
            if still.len() == 1 { "is" } else { "are" }
        );
        compare.restored(&path, told, with_names(&original, &today, &still), now);
    }
}

/// Names that a list had and has no more; none where the text does not list names.
fn lost_names<'t>(original: &'t str, today: &str) -> Vec<&'t str> {
    let is_list = entries(original).all(|line| line.split_whitespace().count() == 1);
    let kept: BTreeSet<&str> = today.split_whitespace().collect();
    let lost = entries(original).filter(|name| is_list && !kept.contains(name));
    lost.collect()
}

fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Those that name something by its path, or a file beside the list without its ending.
fn names_of_files<'n>(now: &Listing, list: &Path, names: &[&'n str]) -> Vec<&'n str> {
    let place = list.parent().unwrap_or(Path::new(""));
    if names.is_empty() {
        return Vec::new();
    }
    let beside = now.files().filter(|file| file.path.parent() == Some(place) && file.path != list);
    let stems: BTreeSet<&str> = beside.filter_map(|file| file.path.file_stem()?.to_str()).collect();
    let is_there = |path: &Path| now.get(path).is_some() || now.has_below(path);
    let is_name = |name: &&&str| {
        let name = name.trim_end_matches('/');
        !name.is_empty()
            && (stems.contains(name) || is_there(&place.join(name)) || is_there(Path::new(name)))
    };
    names.iter().filter(is_name).copied().collect()
}

/// Today's list with these lines of the original.
fn with_names(original: &str, today: &str, names: &[&str]) -> String {
    let mut text = today.to_string();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    for line in original.lines().filter(|line| names.contains(&line.trim())) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lists_of_names_lose_names() {
        assert_eq!(lost_names("# all\nde\nfr\n\n", "de\n"), ["fr"]);
        assert_eq!(lost_names("de\nfr\n", "fr de en\n"), Vec::<&str>::new());
        assert_eq!(lost_names("a text of\nwords\n", ""), Vec::<&str>::new());
    }

    #[test]
    fn names_come_back_behind_todays() {
        assert_eq!(with_names("de\nfr\n", "de\nen", &["fr"]), "de\nen\nfr\n");
    }
}
