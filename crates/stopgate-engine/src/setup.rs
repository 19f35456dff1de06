//! Claude Code's files: where they are, what of ours is in them, and how that changes.
//!
//! A change is planned first, as sentences and whole texts, and carried out later or
//! never. Nobody else's entry is touched, and a file that was there is kept beside it.

mod examine;

mod file;

mod skill;

use std::path::{Path, PathBuf};

use serde::Serialize;
use stopgate_agents::claude::SKILL_PATH;
use stopgate_agents::claude::settings::{
    self as text, Command, Entry, EntryForm, ExitRules, Found, SettingsError, StatusLine,
};

pub use self::examine::{Configured, Examination, Finding, Level, examine};
pub use self::file::FileChange;
use self::file::Keep;
use self::skill::Author;
use crate::failure::Failure;
use crate::project::project_of;
use crate::settings::Settings;

#[cfg(test)]
mod tests;

/// Whose settings are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// A person's, for all projects.
    User,
    /// A project's, for everybody who works on it.
    Project,
    /// A person's, for one project.
    Local,
}

impl Scope {
    /// All of them, in the order in which the client reads them.
    pub const ALL: [Self; 3] = [Self::User, Self::Project, Self::Local];

    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

/// The files of one scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Whose they are.
    pub scope: Scope,
    /// The settings.
    pub settings: PathBuf,
    /// What the agent is told about stopgate.
    pub skill: PathBuf,
}

/// What would change, and what the person should know.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The files that change.
    pub files: Vec<FileChange>,
    /// What changes, a sentence each.
    pub changes: Vec<String>,
    /// What does not, and why; a sentence each.
    pub notes: Vec<String>,
}

impl Place {
    /// The files of `scope` for somebody who works in `folder`.
    pub fn of(settings: Settings, scope: Scope, folder: &Path) -> Result<Self, Failure> {
        let claude = match scope {
            Scope::User => settings.claude_home().ok_or_else(|| {
                Failure::usage("could not tell where Claude Code keeps your settings")
                    .hint("set HOME, or name another scope: --scope project")
            })?,
            Scope::Project | Scope::Local => project_of(folder).join(".claude"),
        };
        let name = match scope {
            Scope::User | Scope::Project => "settings.json",
            Scope::Local => "settings.local.json",
        };
        Ok(Self { scope, settings: claude.join(name), skill: claude.join(SKILL_PATH) })
    }

    /// The files of every scope; a file that serves two of them is named once.
    pub fn all(settings: Settings, folder: &Path) -> Vec<Self> {
        let mut places: Vec<Self> = Vec::new();
        for place in Scope::ALL.iter().filter_map(|scope| Self::of(settings, *scope, folder).ok()) {
            if !places.iter().any(|earlier| same_file(&earlier.settings, &place.settings)) {
                places.push(place);
            }
        }
        places
    }

    /// The settings as they are; nothing where there is no file.
    pub fn read(&self) -> Result<Option<String>, Failure> {
        file::read(&self.settings)
    }

    /// Our entries in the settings.
    pub fn entries(&self) -> Result<Vec<Found>, Failure> {
        let text = self.read()?.unwrap_or_default();
        text::find(&text).map_err(|error| self.refused(error))
    }

    /// What it takes to have `program` called from here, in the usual way.
    pub fn install(
        &self,
        settings: Settings,
        folder: &Path,
        program: &Path,
    ) -> Result<Plan, Failure> {
        self.install_with(settings, folder, program, Wishes::default())
    }

    /// What it takes to have `program` called from here, as the person wishes.
    pub fn install_with(
        &self,
        settings: Settings,
        folder: &Path,
        program: &Path,
        wishes: Wishes,
    ) -> Result<Plan, Failure> {
        let program = program.to_str().ok_or_else(|| {
            Failure::usage(format!("the path {} can't be written as JSON", program.display()))
                .hint("move stopgate to a folder whose name is plain text")
        })?;
        let before = self.read()?;
        let form = if self.scope == Scope::Project { EntryForm::Shared } else { EntryForm::Own };
        let entry = Entry {
            form,
            exits: wishes.exits,
            statusline: wishes.statusline,
            ..Entry::new(program)
        };
        let edited = text::install(before.as_deref(), &entry).map_err(|e| self.refused(e))?;
        let mut plan = Plan { notes: edited.notes, ..Plan::default() };
        // What has entries of ours is not what was there before us: that backup stays.
        let is_ours = self.entries().is_ok_and(|entries| !entries.is_empty());
        let keep = if is_ours { Keep::Nowhere } else { Keep::Beside };
        plan.change_settings(self, before, edited.text, edited.changes, keep);
        plan.put_skill(self)?;
        if self.scope == Scope::Project {
            plan.notes.extend(unknown_here(settings));
        } else {
            plan.notes.extend(self.rivals(settings, folder, program));
        }
        Ok(plan)
    }

    /// What it takes to be gone from here.
    pub fn uninstall(&self, settings: Settings, folder: &Path) -> Result<Plan, Failure> {
        let mut plan = Plan::default();
        if let Some(before) = self.read()? {
            let edited = text::uninstall(&before).map_err(|error| self.refused(error))?;
            plan.notes = edited.notes;
            let is_blank = edited.text.trim_start_matches('\u{feff}').trim() == "{}";
            if is_blank && !edited.changes.is_empty() && !file::backup_of(&self.settings).exists() {
                // There was no file before: none is left.
                plan.changes.extend(edited.changes);
                plan.change(&self.settings, Some(before), None, Keep::Nowhere);
            } else {
                let after = edited.text;
                plan.change_settings(self, Some(before), after, edited.changes, Keep::Nowhere);
            }
        }
        if self.has_company(settings, folder) {
            plan.notes.push(format!(
                "The skill at {} stays: other settings of this project still have the hook.",
                self.skill.display()
            ));
        } else {
            plan.take_skill(self)?;
        }
        Ok(plan)
    }

    /// Other settings whose hook the client would run beside one that starts `program`.
    fn rivals(&self, settings: Settings, folder: &Path, program: &str) -> Vec<String> {
        let ours = Command::Exec([program, "hook", "claude"].map(String::from).into());
        // An entry that a team shares stands down where a person has one of their own.
        let differs =
            |found: &Found| is_stop(found) && found.command != ours && !is_shared(&found.command);
        let is_rival = |other: &Self| other.entries().is_ok_and(|all| all.iter().any(differs));
        let sentence = |other: Self| {
            format!(
                "{} has the hook with another program: each stop would count twice. \
                 Remove it there: stopgate uninstall claude --scope {}",
                other.settings.display(),
                other.scope.word()
            )
        };
        self.others(settings, folder).filter(is_rival).map(sentence).collect()
    }

    /// Whether other settings with our entries share the skill.
    fn has_company(&self, settings: Settings, folder: &Path) -> bool {
        self.others(settings, folder).any(|other| {
            other.skill == self.skill && other.entries().is_ok_and(|entries| !entries.is_empty())
        })
    }

    fn others(&self, settings: Settings, folder: &Path) -> impl Iterator<Item = Self> {
        let all = Self::all(settings, folder);
        all.into_iter().filter(|other| !same_file(&other.settings, &self.settings))
    }

    fn refused(&self, error: SettingsError) -> Failure {
        let failure = Failure::usage(format!("{}: could not {error}", self.settings.display()));
        match error {
            SettingsError::NotJson { source, .. } => failure.because(source),
            SettingsError::WrongKind { .. } | SettingsError::Twice { .. } => failure,
        }
    }
}

impl Plan {
    /// Changes the files. Says where the earlier ones are kept.
    pub fn carry_out(&self) -> Result<Vec<PathBuf>, Failure> {
        let kept: Result<Vec<_>, _> = self.files.iter().map(FileChange::carry_out).collect();
        Ok(kept?.into_iter().flatten().collect())
    }

    fn change_settings(
        &mut self,
        place: &Place,
        before: Option<String>,
        after: String,
        changes: Vec<String>,
        keep: Keep,
    ) {
        if changes.is_empty() {
            return;
        }
        self.changes.extend(changes);
        self.change(&place.settings, before, Some(after), keep);
    }

    fn put_skill(&mut self, place: &Place) -> Result<(), Failure> {
        let path = &place.skill;
        let found = file::read(path)?;
        let sentence = match skill::author(found.as_deref()) {
            Author::Nobody => {
                let skills = path.ancestors().nth(2);
                if !skills.is_some_and(Path::exists) {
                    self.notes.push(
                        "Sessions that are open now don't know /stopgate yet; new ones do.".into(),
                    );
                }
                format!("The skill {} tells agents about stopgate.", path.display())
            }
            Author::Earlier => format!("The skill {} is up to date.", path.display()),
            Author::Us => return Ok(()),
            Author::Somebody => {
                let note = format!("The skill {} was changed by hand and is kept.", path.display());
                self.notes.push(note);
                return Ok(());
            }
        };
        self.changes.push(sentence);
        self.change(path, found, Some(skill::stamped()), Keep::Nowhere);
        Ok(())
    }

    fn take_skill(&mut self, place: &Place) -> Result<(), Failure> {
        let path = &place.skill;
        let found = file::read(path)?;
        match skill::author(found.as_deref()) {
            Author::Nobody => {}
            Author::Us | Author::Earlier => {
                self.changes.push(format!("The skill {} is gone.", path.display()));
                self.change(path, found, None, Keep::Nowhere);
            }
            Author::Somebody => self.notes.push(format!(
                "The skill {} was changed by hand and is kept; remove it if nobody needs it.",
                path.display()
            )),
        }
        Ok(())
    }

    fn change(&mut self, path: &Path, before: Option<String>, after: Option<String>, keep: Keep) {
        self.files.push(FileChange { path: path.into(), before, after, keep });
    }
}

impl Settings {
    /// The first `stopgate` that a shell would find.
    #[expect(clippy::disallowed_methods, reason = "the settings' door")]
    pub fn on_path(self) -> Option<PathBuf> {
        let folders = std::env::var_os("PATH")?;
        let programs = std::env::split_paths(&folders).map(|folder| folder.join("stopgate"));
        programs.into_iter().find(|program| file::is_executable(program))
    }
}

/// What a person wants beside the hook.
#[derive(Clone, Copy, Debug)]
pub struct Wishes {
    /// Whether agents may run their exits without asking.
    pub exits: ExitRules,
    /// Whether the status line shows the loop.
    pub statusline: StatusLine,
}

impl Default for Wishes {
    fn default() -> Self {
        Self { exits: ExitRules::Allow, statusline: StatusLine::Leave }
    }
}

/// What everybody who shares a project should know about its entry.
fn unknown_here(settings: Settings) -> Vec<String> {
    let mut notes = vec![
        "Everybody who works on this project gets the hook. It looks for stopgate on their PATH; \
         where it is missing, their agents may stop."
            .to_string(),
    ];
    if settings.on_path().is_none() {
        notes.push("stopgate is not on your PATH: put it there, or use --scope local.".into());
    }
    notes
}

/// Whether the person has an entry of their own, so that the one that their team shares need
/// not answer.
pub fn has_own_entry(settings: Settings, folder: &Path) -> bool {
    [Scope::User, Scope::Local].into_iter().any(|scope| {
        Place::of(settings, scope, folder).and_then(|place| place.entries()).is_ok_and(|entries| {
            entries.iter().any(|found| is_stop(found) && !is_shared(&found.command))
        })
    })
}

/// Whether a hook is shared by a team.
pub(crate) fn is_shared(command: &Command) -> bool {
    match command {
        Command::Exec(argv) => argv.iter().any(|word| word == "--shared"),
        Command::Shell(line) => line.contains("--shared"),
    }
}

/// Whether a stop of a session in `folder` reaches a hook of ours, as far as settings tell.
pub fn is_installed(settings: Settings, folder: &Path) -> bool {
    let stops = |place: &Place| place.entries().is_ok_and(|entries| entries.iter().any(is_stop));
    Place::all(settings, folder).iter().any(stops)
}

/// Whether this entry judges stops of our own loops.
fn is_stop(found: &Found) -> bool {
    found.event == "Stop" && !is_for_dialect(&found.command)
}

/// Whether this entry serves somebody else's loop files.
fn is_for_dialect(command: &Command) -> bool {
    match command {
        Command::Exec(argv) => argv.iter().any(|word| word.starts_with("--dialect")),
        Command::Shell(line) => line.contains("--dialect"),
    }
}

fn same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.into());
    one == other || real(one) == real(other)
}
