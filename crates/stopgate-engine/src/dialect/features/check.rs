//! Before a loop over features begins: are its files, directories and hooks as they must be?

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use stopgate_dialects::features::{
    FeatureList, ProgressFile, list_template, progress_template, prompt_template,
};
use stopgate_system::fs::symlink;

use super::super::{DialectCall, files};
use super::Place;
use crate::failure::{Failure, chain};
use stopgate_verify::files::append_private;

/// The loop that the hook looks at is a link to one, or a directory of its own.
const CURRENT: &str = "current";

/// What a new loop over features should be.
#[derive(Clone, Debug)]
pub struct NewFeatures {
    /// The loop's name, where several share the project.
    pub name: Option<String>,
    /// What is to be built, one description each.
    pub features: Vec<String>,
    /// How many iterations there may be.
    pub max_iterations: u32,
}

/// What was found before a loop begins.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedView {
    /// Where the loop's files are.
    pub directory: PathBuf,
    /// Files that were made just now.
    pub made: Vec<PathBuf>,
    /// How many features there are.
    pub features: usize,
    /// How many of them are complete.
    pub complete: usize,
    /// The iteration that runs.
    pub iteration: u32,
    /// How many there may be.
    pub max_iterations: u32,
    /// What keeps the loop from its work.
    pub problems: Vec<FeatureTrouble>,
    /// What works, but not as well as it could.
    pub warnings: Vec<FeatureTrouble>,
}

/// One thing that is wrong, and what to do.
#[derive(Clone, Debug, Serialize)]
pub struct FeatureTrouble {
    /// What is wrong.
    pub text: String,
    /// What to do.
    pub hint: String,
}

impl DialectCall {
    /// Makes the files of a new loop that are missing, and looks at all of them.
    pub fn features_init(&self, new: &NewFeatures) -> Result<CheckedView, Failure> {
        let mut made = Vec::new();
        if let Some(name) = &new.name {
            made.push(self.features_choose(name)?);
        }
        let place = Place::of(self);
        let _held = self.hold(&place.progress)?;
        if !new.features.is_empty() {
            if place.list.exists() {
                return Err(Failure::usage(format!("{} is there already", place.list.display()))
                    .hint("add the features to it, or omit --feature"));
            }
            files::write(&place.list, &list_template(&new.features))?;
            made.push(place.list.clone());
        }
        if !place.progress.exists() {
            let directory = self.directory.file_name().unwrap_or_default().to_string_lossy();
            let name = new.name.as_deref().unwrap_or(&directory);
            files::write(&place.progress, &progress_template(name, new.max_iterations))?;
            made.push(place.progress.clone());
        }
        let prompt = place.directory.join("RALPH_PROMPT.md");
        if !prompt.exists() {
            let near = place.directory.strip_prefix(&self.directory).unwrap_or(&place.directory);
            files::write(&prompt, &prompt_template(&near.display().to_string()))?;
            made.push(prompt);
        }
        Ok(CheckedView { made, ..self.features_check() })
    }

    /// Makes the directory of a loop by name, and lets `current` point to it.
    fn features_choose(&self, name: &str) -> Result<PathBuf, Failure> {
        if self.settings.features_directory().is_some() {
            return Err(Failure::usage("RALPH_LOOP_DIR says where the loop is; --name can't")
                .hint("use only one of them"));
        }
        if name.is_empty() || name.contains('/') || name.starts_with('.') || name == CURRENT {
            return Err(Failure::usage(format!("a loop can't be called \"{name}\"")));
        }
        let current = self.directory.join(super::DIRECTORY);
        let loops = current.parent().unwrap_or(&self.directory);
        if current.exists() && !current.is_symlink() {
            let text = format!("{} is a directory, not a link to one", current.display());
            return Err(Failure::usage(text).hint("give it a name of its own first: mv it"));
        }
        let directory = loops.join(name);
        point(&current, &directory, name).map_err(|error| {
            Failure::fault(format!("could not make {}", directory.display())).because(error)
        })?;
        Ok(directory)
    }

    /// Looks at everything that a loop over features needs.
    pub fn features_check(&self) -> CheckedView {
        let place = Place::of(self);
        let mut view = CheckedView {
            directory: place.directory.clone(),
            made: Vec::new(),
            features: 0,
            complete: 0,
            iteration: 0,
            max_iterations: 0,
            problems: Vec::new(),
            warnings: Vec::new(),
        };
        view.look_at_directory(&place.directory);
        view.look_at_list(&place.list);
        view.look_at_progress(&place.progress);
        view.look_at_log(&place.log);
        view.look_at_home(self);
        view
    }
}

impl CheckedView {
    fn problem(&mut self, text: String, hint: &str) {
        self.problems.push(FeatureTrouble { text, hint: hint.into() });
    }

    fn warn(&mut self, text: String, hint: &str) {
        self.warnings.push(FeatureTrouble { text, hint: hint.into() });
    }

    /// The progress file is replaced whole, so its directory must be writable.
    fn look_at_directory(&mut self, directory: &Path) {
        if !directory.is_dir() {
            self.problem(
                format!("{} is not a directory", directory.display()),
                "make the loop: stopgate features init --feature \"what is to be built\"",
            );
        } else if let Err(error) = writable(directory) {
            self.problem(
                format!("{} can't be written to: {error}", directory.display()),
                "chmod u+w it: the counts and the log are kept there",
            );
        }
    }

    /// The text of a file that must be there; `how` says how to make it.
    fn text_of(&mut self, path: &Path, how: &str) -> Option<String> {
        match files::read(path) {
            Ok(Some(text)) => return Some(text),
            Ok(None) => self.problem(format!("{} is missing", path.display()), how),
            Err(failure) => self.problem(failure.story(), "see that it is yours to read"),
        }
        None
    }

    fn look_at_list(&mut self, path: &Path) {
        let how = "make it: stopgate features init --feature \"what is to be built\"";
        let Some(text) = self.text_of(path, how) else { return };
        let list = match FeatureList::read(&text) {
            Ok(list) => list,
            Err(error) => {
                return self.problem(
                    format!("{}: could not {}", path.display(), chain(&error)),
                    "write {\"features\": [{\"id\": 1, \"description\": \"…\", \"passes\": false}]}",
                );
            }
        };
        (self.features, self.complete) = (list.features.len(), list.complete());
        if list.features.is_empty() {
            self.problem(
                format!("{} lists no features", path.display()),
                "an empty list proves nothing; add features",
            );
        } else if list.remaining() == 0 {
            self.warn(
                format!("all {} features are complete already", list.features.len()),
                "add features, or set \"passes\" to false where that is not so",
            );
        }
        for oddity in list.oddities {
            self.warn(oddity, "each feature needs an id, a description, and passes: true or false");
        }
    }

    fn look_at_progress(&mut self, path: &Path) {
        let Some(text) = self.text_of(path, "make it: stopgate features init") else { return };
        let progress = ProgressFile::read(&text);
        (self.iteration, self.max_iterations) = (progress.iteration, progress.max);
        if fs::metadata(path).is_ok_and(|found| found.permissions().readonly()) {
            self.warn(
                format!("{} is read-only; the hook replaces it all the same", path.display()),
                "chmod u+w it, so that the agent can write to it, too",
            );
        }
        for label in ["Iteration:", "Max Iterations:", "Status:"] {
            if !text.contains(label) {
                self.warn(
                    format!("{} has no line \"{label}\"; a default stands in", path.display()),
                    "see the template: stopgate features init in an empty directory",
                );
            }
        }
        if progress.iteration >= progress.max {
            self.problem(
                format!(
                    "the limit is reached: iteration {} of {}",
                    progress.iteration, progress.max
                ),
                "raise \"Max Iterations:\", or set \"Iteration:\" back",
            );
        }
    }

    fn look_at_log(&mut self, path: &Path) {
        if path.exists() && append_private(path).is_err() {
            self.warn(
                format!("{} can't be written to", path.display()),
                "chmod u+w it: every stop leaves a line there",
            );
        }
    }

    /// The lock and the backups are kept in stopgate's home.
    fn look_at_home(&mut self, desk: &DialectCall) {
        let made = desk.home.create();
        if let Err(error) = made.and_then(|()| writable(desk.home.directory())) {
            self.problem(
                format!("{} can't be written to: {error}", desk.home.directory().display()),
                "set STOPGATE_HOME to a directory that you may write to",
            );
        }
        if !is_hooked(desk) {
            self.warn(
                "no Stop hook with --dialect features is set up for this project".into(),
                "add it to .claude/settings.local.json: stopgate hook claude --dialect features",
            );
        }
    }
}

/// Makes `directory` and lets the link point to it, without a moment in which it is missing.
fn point(link: &Path, directory: &Path, name: &str) -> std::io::Result<()> {
    fs::create_dir_all(directory)?;
    let draft = link.with_extension(format!("stopgate-{}", std::process::id()));
    symlink(name, &draft)?;
    fs::rename(&draft, link)
}

/// Tries it: permissions alone don't tell.
fn writable(directory: &Path) -> std::io::Result<()> {
    let probe = directory.join(format!(".stopgate-probe-{}", std::process::id()));
    fs::write(&probe, b"")?;
    fs::remove_file(&probe)
}

fn is_hooked(desk: &DialectCall) -> bool {
    let agents = stopgate_agents::Agent::ALL.into_iter();
    let places: Vec<crate::setup::ScopeFiles> = agents
        .flat_map(|agent| crate::setup::ScopeFiles::all(desk.settings, agent, &desk.directory))
        .collect();
    let texts = places.iter().filter_map(|place| place.read().ok().flatten());
    texts.into_iter().any(|text| text.contains("--dialect") && text.contains("features"))
}
