//! What a check depends on beside the project's files: environments, settings of builds, git.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use stopgate_core::JudgesAre;

use super::super::build_settings::BuildSettings;
use super::super::environments::{self, SteeringFile};
use super::super::lasting::LastingChange;
use super::super::outside::{self, OutsideChange, Undone};
use super::super::outside_of;
use super::super::text::{FileText, text_path};
use super::Compare;
use super::as_found::nanos;
use crate::judges::{JudgeRole, MixedKind, ProjectFiles, Why, asks_git, is_code};
use crate::place::Mask;
use crate::tree::TreeFile;

/// Languages that tests are written in.
const LANGUAGES: [&str; 9] = ["py", "js", "mjs", "cjs", "ts", "rs", "go", "sh", "bats"];

/// For how many files that hide something their directory is looked at.
const HIDING_MAX: usize = 100;

impl Compare<'_> {
    /// What is outside of the project and steers the check, or is read by its judges.
    pub(super) fn outside(&mut self) {
        let variables = outside_of(&self.basis.variables());
        let tools: BTreeSet<&String> = self.noted.judges.tools().collect();
        let noted = &self.basis.text.outside;
        for change in outside::changes(noted, self.root, &variables, &tools, &self.keep) {
            self.outside_change(change);
        }
        self.environments();
    }

    fn outside_change(&mut self, OutsideChange { path, undone, now }: OutsideChange) {
        let (content, executable) = match undone {
            Undone::Says { content, executable } => (Some(content), executable),
            Undone::Absent => (None, false),
            Undone::Never => {
                let what = if now.is_empty() { "is gone" } else { "was changed" };
                let text = format!("{} {what}", path.display());
                return self.last([LastingChange::new(text, &now)]);
            }
        };
        self.found.texts.push(format!("{} changed", path.display()));
        self.bind(&path, &now);
        self.found.masks.push(Mask { path, content, executable });
    }

    /// What came into environments of Python that the check may use, and steers its runner.
    pub(super) fn environments(&mut self) {
        let command = self.criterion.command().unwrap_or_default();
        let directory = self.noted.judges.directory();
        let masked: BTreeSet<PathBuf> =
            self.found.masks.iter().map(|mask| mask.path.clone()).collect();
        let environments = environments::in_reach(self.root, directory, &command);
        let (since, known) = (self.since, &self.noted.plugins);
        let files = environments
            .iter()
            .flat_map(|own| environments::steering_since(self.root, own, since, known));
        let mut places = environments.clone();
        places.extend(environments::usual_places(self.root, directory));
        places.sort();
        places.dedup();
        let called = self.noted.judges.called();
        let programs = places
            .iter()
            .flat_map(|own| environments::written_since(self.root, own, since, &called));
        let files: Vec<SteeringFile> = files.chain(programs).collect();
        for file in files.into_iter().filter(|file| !masked.contains(&file.path)) {
            self.steered(file);
        }
    }

    /// An original run goes without what steers its runner.
    fn steered(&mut self, file: SteeringFile) {
        self.found.texts.push(format!("{} was added", file.path.display()));
        self.bind(&file.path, &file.content);
        match file.path.strip_prefix(self.root) {
            Ok(inner) => {
                self.found.steering.push(inner.into());
                self.found.absent.push(inner.into());
            }
            Err(_) => {
                self.found.masks.push(Mask { path: file.path, content: None, executable: false });
            }
        }
    }

    /// What says that a check need not run is not evidence: without it, the check runs.
    pub(super) fn stamps(&mut self) {
        let is_young = |path: &&Path| {
            let about = self.root.join(path).symlink_metadata();
            about
                .and_then(|about| about.modified())
                .ok()
                .and_then(nanos)
                .is_some_and(|written| self.since.is_none_or(|since| written > since))
        };
        let stamps: Vec<PathBuf> =
            self.noted.judges.stamps().filter(is_young).map(Path::to_path_buf).collect();
        self.found.rewritten |= !stamps.is_empty();
        self.found.absent.extend(stamps);
    }

    /// Settings of the build that came since the start.
    pub(super) fn build_settings(&mut self) {
        if self.criterion.terms.judges == JudgesAre::Work {
            return;
        }
        let now = BuildSettings::note(self.root, self.noted.judges.tools());
        for (path, says) in self.noted.built.added(&now) {
            self.found.texts.push(format!("{}: settings of the build changed", path.display()));
            self.bind(&path, &says);
            self.found.steering.push(path.clone());
            self.found.absent.push(path);
        }
    }

    /// Whether nothing but comments about the licence came or went: every source of a project may
    /// have to have one, and no runner reads them.
    pub(super) fn differs_by_licence(&self, file: &FileText, now: &TreeFile) -> bool {
        let end = now.path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        let is_source = is_code(end) && file.kind == now.kind && file.kept;
        let texts = || Some((self.original(file)?, self.files.text(&now.path)?));
        is_source && texts().is_some_and(|(then, today)| unlicensed(&then) == unlicensed(&today))
    }

    /// The directory that has nothing but files that hide something, or the file itself: an empty
    /// directory would go on hiding it.
    pub(super) fn hiding_place(&self, path: &Path) -> PathBuf {
        // Each asks about all files.
        if self.found.absent.len() > HIDING_MAX {
            return path.into();
        }
        let rules = self.noted.judges.rules();
        let hides = |file: &TreeFile| {
            let role = rules.role_of_new(&file.path, &self.files);
            matches!(role, JudgeRole::Whole(Why::Hides(_)))
        };
        let is_whole = |place: &&Path| {
            let mut inside = self.now.files().filter(|file| file.path.starts_with(place));
            !place.as_os_str().is_empty() && inside.all(hides)
        };
        path.ancestors().skip(1).take_while(is_whole).last().unwrap_or(path).to_path_buf()
    }

    /// The words of the command and of the scripts that it runs, among them names of branches.
    pub(super) fn words_of_judges(&self) -> BTreeSet<String> {
        let is_end = |letter: char| !(letter.is_alphanumeric() || "-_/.".contains(letter));
        let words = |text: &str| {
            let parts = text.split(is_end).flat_map(|word| word.split(".."));
            parts.map(str::to_string).collect::<Vec<_>>()
        };
        let rules = self.noted.judges.rules();
        let runs = |file: &&FileText| {
            let role = rules.role(&text_path(&file.path));
            matches!(
                role,
                JudgeRole::Whole(Why::Script | Why::UsedByScript)
                    | JudgeRole::Sections(
                        MixedKind::Makefile | MixedKind::Justfile | MixedKind::PackageJson
                    )
            )
        };
        let scripts = self.basis.text.files.iter().filter(runs);
        let texts = scripts.filter_map(|file| self.original(file));
        let command = self.criterion.command().unwrap_or_default();
        // Scripts that are work may give git names, too.
        let work = self.noted.judges.work().filter_map(|path| self.files.text(path));
        let work = work.filter(|text| text.contains("git"));
        texts.chain(work).chain([command]).flat_map(|text| words(&text)).collect()
    }

    /// Whether a test of the start asks git about the files, and finds others than there were.
    pub(super) fn tests_ask_git(&self) -> bool {
        let rules = self.noted.judges.rules();
        let differs = !self.found.restore.is_empty() || !self.found.absent.is_empty();
        let asks = |file: &FileText| {
            let path = text_path(&file.path);
            let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
            LANGUAGES.contains(&end)
                && matches!(rules.role(&path), JudgeRole::Whole(_))
                && self.original(file).is_some_and(|text| asks_git(&text))
        };
        differs && self.basis.text.files.iter().any(asks)
    }
}

/// A source without comments about its licence, and without the blank lines at its beginning.
fn unlicensed(text: &str) -> String {
    const MARKS: [&str; 6] = ["//", "#", "/*", "*", "--", "<!--"];
    const WORDS: [&str; 3] = ["SPDX-", "Copyright", "Licensed under"];
    let is_licence = |line: &str| {
        let begins = MARKS.iter().any(|mark| line.starts_with(mark));
        begins && WORDS.iter().any(|word| line.contains(word))
    };
    let rest: String = text.split_inclusive('\n').filter(|line| !is_licence(line)).collect();
    rest.trim_start_matches('\n').into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_comments_about_the_licence_are_left_out() {
        let text = "// SPDX-License-Identifier: MIT\n\nuse a;\n\n// why\n";
        assert_eq!(unlicensed(text), "use a;\n\n// why\n");
        assert_ne!(unlicensed("a\nb\n"), unlicensed("a\nb"));
        assert_ne!(unlicensed("assert(\"Copyright\");\n"), "");
    }
}
