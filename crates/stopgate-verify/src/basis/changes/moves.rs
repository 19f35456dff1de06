//! Sources and packages of the start that are elsewhere now.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::super::moved::{MovedPackages, NamedSource, is_manifest, moves};
use super::super::text::text_path;
use super::{Compare, is_same};
use crate::judges::sections::{MovedTests, SourcePair};
use crate::judges::{JudgeRole, MixedKind, ProjectFiles};
use crate::tree::TreeFile;

impl Compare<'_> {
    /// Sources with tests that are gone, and new ones that say the same.
    pub(super) fn moved_sources(&self) -> BTreeMap<PathBuf, PathBuf> {
        let rules = self.noted.judges.rules();
        let is_source =
            |path: &Path| rules.role(path) == JudgeRole::Sections(MixedKind::RustSource);
        let (gone, fresh) = self.gone_and_fresh(&is_source);
        moves(&gone, &fresh)
    }

    /// Tests that went to another source together with their code.
    pub(super) fn moved_tests(&self) -> MovedTests {
        let rules = self.noted.judges.rules();
        let is_source =
            |path: &Path| rules.role(path) == JudgeRole::Sections(MixedKind::RustSource);
        let (mut known, mut sources) = (BTreeSet::new(), Vec::new());
        for file in &self.basis.text.files {
            let was = text_path(&file.path);
            let path = self.packages.today(was.clone());
            let now = self.now.get(&path);
            if is_source(&was) && now.is_none_or(|now| !is_same(file, now)) {
                let now = now.and_then(|now| self.files.text(&now.path));
                let then = self.original(file);
                sources.push(SourcePair { path: path.clone(), then, now });
            }
            known.insert(path);
        }
        if sources.is_empty() {
            return MovedTests::default();
        }
        let is_fresh = |path: &Path| !known.contains(path) && is_source(path);
        for file in self.now.files().filter(|file| is_fresh(&file.path)) {
            let now = self.files.text(&file.path);
            sources.push(SourcePair { path: file.path.clone(), then: None, now });
        }
        MovedTests::of(&sources)
    }

    /// Packages whose manifest is gone, and is elsewhere now.
    pub(super) fn moved_packages(&self) -> MovedPackages {
        let (gone, fresh) = self.gone_and_fresh(&is_manifest);
        let has_files = |place: &Path| self.now.files().any(|file| file.path.starts_with(place));
        MovedPackages::of(&gone, &fresh, &has_files)
    }

    /// Judges of a kind that are not where they were, and files of that kind that are new.
    fn gone_and_fresh(
        &self,
        is_it: &dyn Fn(&Path) -> bool,
    ) -> (Vec<NamedSource>, Vec<NamedSource>) {
        let (mut known, mut gone) = (BTreeSet::new(), Vec::new());
        for file in &self.basis.text.files {
            let was = text_path(&file.path);
            let path = self.packages.today(was.clone());
            let is_gone = self.now.get(&path).is_none() && is_it(&was);
            if let Some(text) = is_gone.then(|| self.original(file)).flatten() {
                gone.push(NamedSource { path: was, text });
            }
            known.insert(path);
        }
        if gone.is_empty() {
            return (gone, Vec::new());
        }
        let fresh = self.now.files().filter(|file| !known.contains(&file.path));
        let named = |file: &TreeFile| {
            let text = self.files.text(&file.path)?;
            Some(NamedSource { path: file.path.clone(), text })
        };
        let fresh = fresh.filter(|file| is_it(&file.path)).filter_map(named).collect();
        (gone, fresh)
    }
}
