//! Sources and packages of the start that are elsewhere now.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::super::moved::{MovedPackages, NamedSource, is_manifest, moves};
use super::super::text::text_path;
use super::Compare;
use super::as_found::is_same;
use super::workspaces::stays_member;
use crate::judges::sections::{MovedTests, SourcePair};
use crate::judges::{JudgeRole, MixedKind, ProjectFiles, Why};
use crate::tree::TreeFile;

/// Languages in which tests are beside the code that they are about.
const BESIDE_CODE: [&str; 9] = ["go", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"];
/// Directories that runners leave out.
const PASSED_OVER: [&str; 8] =
    ["testdata", "vendor", "node_modules", "dist", "build", "out", "coverage", "fixtures"];

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

    /// Packages whose manifest is gone, and is elsewhere now; so with directories of tests.
    pub(super) fn moved_packages(&self) -> MovedPackages {
        let (gone, fresh) = self.gone_and_fresh(&is_manifest);
        let has_files = |place: &Path| self.now.files().any(|file| file.path.starts_with(place));
        let stays =
            |from: &Path, to: &Path, manifest: &OsStr| stays_member(self, from, to, manifest);
        let found = MovedPackages::of(&gone, &fresh, &has_files, &stays);
        let rules = self.noted.judges.rules();
        let is_test = |path: &Path| {
            let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
            BESIDE_CODE.contains(&end) && rules.role(path) == JudgeRole::Whole(Why::TestByName)
        };
        let (gone, fresh) = self.gone_and_fresh(&is_test);
        let fits = |from: &Path, to: &Path| !has_files(from) && self.is_looked_at(from, to);
        found.with_directories(&gone, &fresh, &fits)
    }

    /// Whether runners look into a directory as they did into the one that it was, and find code
    /// beside its tests.
    fn is_looked_at(&self, from: &Path, to: &Path) -> bool {
        let is_skipped = |part: &OsStr| {
            let name = part.to_string_lossy();
            name.starts_with(['_', '.']) || PASSED_OVER.contains(&name.as_ref())
        };
        let new = to.strip_prefix(from.parent().unwrap_or(Path::new(""))).unwrap_or(to);
        let module = |place: &Path| {
            let mut above = place.ancestors();
            above.find(|own| self.now.get(&own.join("go.mod")).is_some()).map(Path::to_path_buf)
        };
        let rules = self.noted.judges.rules();
        let is_code = |file: &TreeFile| {
            let end = file.path.extension().and_then(|end| end.to_str()).unwrap_or_default();
            file.path.parent() == Some(to)
                && BESIDE_CODE.contains(&end)
                && rules.role(&file.path) == JudgeRole::Work
        };
        // Tests in a directory of their own are about code elsewhere, wherever they are now.
        let was_beside = rules.role(&from.join("code.go")) == JudgeRole::Work;
        was_beside
            && !new.iter().any(is_skipped)
            && module(from) == module(to)
            && self.now.files().any(is_code)
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
