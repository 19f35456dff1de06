//! Tests that nothing compiles any more, although their file is where it was.
//!
//! Where the work did not compile at the start, no count of tests tells that some are missing. A
//! module that its crate no longer declares takes its tests along.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::super::text::{FileText, text_path};
use super::Compare;
use super::as_found::is_same;
use crate::judges::sections::{SectionReach, judging};
use crate::judges::{JudgeRole, MixedKind, ProjectFiles};

/// The modules that the files below each `src` declare.
type Declared = BTreeMap<PathBuf, BTreeSet<String>>;

/// Sources with tests that their crate declared at the start and does not declare now.
pub(super) fn undeclared_tests(compare: &Compare<'_>) -> Vec<String> {
    let rules = compare.noted.judges.rules();
    let is_source = |path: &Path| {
        rules.role(path) == JudgeRole::Sections(MixedKind::RustSource) && module_of(path).is_some()
    };
    let known = compare.basis.text.files.iter().map(|file| (text_path(&file.path), file));
    let known: Vec<_> = known.filter(|(path, _)| is_source(path)).collect();
    let is_changed = |path: &PathBuf, file: &FileText| {
        let now = compare.now.get(&compare.packages.today(path.clone()));
        now.is_none_or(|now| !is_same(file, now))
    };
    let changed = known.iter().filter(|(path, file)| is_changed(path, file));
    let places: BTreeSet<PathBuf> =
        changed.filter_map(|(path, _)| Some(module_of(path)?.0)).collect();
    let (mut then, mut now) = (Declared::new(), Declared::new());
    for (path, file) in &known {
        note(&mut then, &places, path, || compare.original(file));
    }
    for file in compare.now.files().filter(|file| is_source(&file.path)) {
        let origin = compare.packages.origin(&file.path);
        note(&mut now, &places, &origin, || compare.files.text(&file.path));
    }
    let is_lost = |path: &Path| {
        let Some((place, Some(module))) = module_of(path) else { return false };
        let has = |all: &Declared| all.get(&place).is_some_and(|own| own.contains(&module));
        has(&then) && !has(&now)
    };
    let lost: Vec<_> = known.iter().filter(|(path, _)| is_lost(path)).collect();
    let mut found = Vec::new();
    for (path, file) in lost {
        let today = compare.packages.today(path.clone());
        let text = compare.original(file).unwrap_or_default();
        let tests = judging(MixedKind::RustSource, &text, &SectionReach::default());
        let has_tests = tests.is_ok_and(|tests| !tests.is_empty());
        if has_tests && compare.now.get(&today).is_some() {
            let why = format!("{} is not compiled for tests any more", today.display());
            found.push(why);
        }
    }
    found
}

fn note(
    all: &mut Declared,
    places: &BTreeSet<PathBuf>,
    path: &Path,
    text: impl FnOnce() -> Option<String>,
) {
    if let Some((place, _)) = module_of(path).filter(|(place, _)| places.contains(place)) {
        all.entry(place).or_default().extend(declared(&text().unwrap_or_default()));
    }
}

/// The `src` that a source is in, and the module that it is, unless it is a root.
fn module_of(path: &Path) -> Option<(PathBuf, Option<String>)> {
    let place = path.ancestors().skip(1).find(|place| place.ends_with("src"))?;
    let stem = path.file_stem()?.to_str()?;
    let is_program = path.strip_prefix(place).is_ok_and(|own| own.starts_with("bin"));
    let name = match stem {
        "lib" | "main" => None,
        "mod" => path.parent()?.file_name()?.to_str().map(str::to_string),
        stem => Some(stem.to_string()),
    };
    Some((place.into(), name.filter(|_| !is_program)))
}

/// The modules in files of their own that a text declares for builds of tests.
fn declared(text: &str) -> BTreeSet<String> {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '#';
    let mut found = BTreeSet::new();
    for (at, word) in text.match_indices("mod ") {
        let (before, after) = (&text[..at], text[at + word.len()..].trim_start());
        let name: String = after.chars().take_while(|letter| is_letter(*letter)).collect();
        let ends = after[name.len()..].trim_start().starts_with(';');
        if before.ends_with(is_letter) || !ends {
            continue;
        }
        let line = before.rsplit('\n').next().unwrap_or_default();
        let head = before.rsplit([';', '{', '}']).next().unwrap_or_default();
        let head: String = head.split_whitespace().collect();
        if !line.contains("//") && !head.contains("cfg(not(test") {
            found.insert(name.trim_start_matches("r#").to_string());
        }
    }
    // `#[path = "other/lease.rs"]`
    let quoted = text.split('"').skip(1).step_by(2);
    let files = quoted.map(Path::new).filter_map(|own| {
        own.extension().filter(|end| *end == "rs")?;
        let own = if own.ends_with("mod.rs") { own.parent()? } else { own };
        own.file_stem()?.to_str()
    });
    found.extend(files.map(str::to_string));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_declared_unless_builds_of_tests_leave_it_out() {
        let found = declared(
            "//! mod words;\npub mod clock;\npub(crate) mod r#type ;\n#[cfg(not(test))]\nmod lease;\n\
             // mod old;\nmod inner { mod deep; }\n#[path = \"other/term.rs\"]\nmod x;\nlet modern = 1;\n",
        );
        let wanted = ["clock", "deep", "term", "type", "x"].map(String::from);
        assert_eq!(found, BTreeSet::from(wanted));
    }

    #[test]
    fn a_source_is_a_module_of_its_crate() {
        let of = |path: &str| module_of(Path::new(path));
        let at = |place: &str, name: Option<&str>| Some((place.into(), name.map(String::from)));
        assert_eq!(of("src/lib.rs"), at("src", None));
        assert_eq!(of("a/src/b/c.rs"), at("a/src", Some("c")));
        assert_eq!(of("a/src/b/mod.rs"), at("a/src", Some("b")));
        assert_eq!(of("src/bin/tool.rs"), at("src", None));
        assert_eq!(of("build.rs"), None);
    }
}
