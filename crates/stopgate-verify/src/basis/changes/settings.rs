//! What tools keep between two runs of a check.

use std::fs;
use std::path::Path;

use stopgate_core::JudgesAre;

use super::super::build_settings::BuildSettings;
use super::super::outside::start_up_code;
use super::Compare;

/// Tools of Python, which may run in an environment of the project.
const PYTHON: [&str; 7] = ["python", "pytest", "py.test", "unittest", "coverage", "tox", "nox"];
/// What every environment has in it.
const MARK: &str = "pyvenv.cfg";
/// Directories in which tools make environments of their own.
const ENVIRONMENTS: [&str; 2] = [".tox", ".nox"];

impl Compare<'_> {
    /// Code that came since the start, and that Python runs at its start in an environment of the
    /// project: what decides about tests there decides whatever the tests say.
    pub(super) fn own_environments(&mut self) {
        if !self.noted.judges.tools().any(|tool| PYTHON.contains(&tool.as_str())) {
            return;
        }
        let directory = self.noted.judges.directory().to_path_buf();
        for place in directory.ancestors() {
            let place = self.root.join(place);
            let tools = ENVIRONMENTS.map(|own| place.join(own));
            let places = tools.iter().chain([&place]).flat_map(fs::read_dir).flatten().flatten();
            let made = places.map(|entry| entry.path()).filter(|own| own.join(MARK).is_file());
            let since = self.since;
            for (path, content) in made.flat_map(|own| start_up_code(&own, since)) {
                self.without_start_up_code(&path, &content);
            }
        }
    }

    /// An original run does not have the file, unless it is masked already.
    fn without_start_up_code(&mut self, path: &Path, content: &str) {
        if self.found.masks.iter().any(|mask| mask.path == path) {
            return;
        }
        let Ok(path) = path.strip_prefix(self.root) else { return };
        self.found.texts.push(format!("{} changed", path.display()));
        self.bind(path, content);
        self.found.absent.push(path.into());
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
}
