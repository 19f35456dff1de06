//! The agents' files: where they are, what of ours is in them, and how that changes.
//!
//! A change is planned first, as sentences and whole texts, and carried out later or
//! never. Nobody else's entry is touched, and a file that was there is kept beside it.

mod examine;

mod file;

mod here;

mod inventory;

mod plugin;

mod skill;

mod trusted;

use std::path::{Path, PathBuf};

use serde::Serialize;
use stopgate_agents::settings::{
    self as text, EntryForm, ExitRules, HookEntry, InstalledEntry, SettingsError, StatusLine,
};
use stopgate_agents::{Agent, SKILL_PATH};
use stopgate_system::{CanonicalPath, PROGRAM_ENDS};

pub(crate) use self::examine::examine;
pub use self::examine::{Configured, DoctorFinding, Examination, Level};
use self::file::BackupPlace;
pub use self::file::FileChange;
pub use self::here::{AgentHere, agents_here};
pub use self::inventory::{HookChange, HookView, hook_inventory};
pub use self::plugin::is_answered_by_settings;
use self::skill::SkillAuthor;
use crate::failure::Failure;
use crate::project::project_of;
use crate::settings::Settings;

#[cfg(test)]
mod tests;

stopgate_core::words! {
    /// Whose settings are meant, in the order in which the client reads them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum SettingsScope {
        /// A person's, for all projects.
        User = "user",
        /// A project's, for everybody who works on it.
        Project = "project",
        /// A person's, for one project.
        Local = "local",
    }
}

/// The files of one scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeFiles {
    /// The agent that reads them.
    pub agent: Agent,
    /// Whose they are.
    pub scope: SettingsScope,
    /// The settings.
    pub settings: PathBuf,
    /// What the agent is told about stopgate, if it reads such a file.
    pub skill: Option<PathBuf>,
    /// The directory that is there whatever we do.
    pub floor: PathBuf,
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

impl ScopeFiles {
    /// The files of `scope` that `agent` reads for somebody who works in `directory`.
    pub fn of(
        settings: Settings,
        agent: Agent,
        scope: SettingsScope,
        directory: &Path,
    ) -> Result<Self, Failure> {
        let files = agent.files();
        let name = match scope {
            SettingsScope::User => files.user,
            SettingsScope::Project => files.project,
            SettingsScope::Local => files.local,
        };
        let name = name.ok_or_else(|| no_scope(agent, scope))?;
        let own = settings.agent_home(agent);
        let (floor, path) = match scope {
            SettingsScope::User => {
                let own = own.ok_or_else(|| {
                    Failure::usage(format!(
                        "could not tell where {} keeps your settings",
                        agent.title()
                    ))
                    .hint("set HOME, or name another scope: --scope project")
                })?;
                (settings.user_home().unwrap_or_else(|| own.clone()), own.join(name))
            }
            SettingsScope::Project | SettingsScope::Local => {
                let project = project_of(directory);
                (project.clone(), project.join(name))
            }
        };
        let skill = agent.has_skill().then(|| path.with_file_name(SKILL_PATH));
        Ok(Self { agent, scope, settings: path, skill, floor })
    }

    /// The files of every scope; a file that serves two of them is named once.
    pub fn all(settings: Settings, agent: Agent, directory: &Path) -> Vec<Self> {
        let mut places: Vec<Self> = Vec::new();
        let scopes = SettingsScope::ALL.into_iter();
        for place in scopes.filter_map(|scope| Self::of(settings, agent, scope, directory).ok()) {
            if !places.iter().any(|earlier| same_file(&earlier.settings, &place.settings)) {
                places.push(place);
            }
        }
        places
    }

    /// The settings as they are; nothing where there is not a file.
    pub fn read(&self) -> Result<Option<String>, Failure> {
        file::read(&self.settings)
    }

    /// Our entries in the settings.
    pub fn entries(&self) -> Result<Vec<InstalledEntry>, Failure> {
        let text = self.read()?.unwrap_or_default();
        text::find(self.agent, &text).map_err(|error| self.refused(error))
    }

    /// What it takes to have `program` called from here, in the usual way.
    pub fn install(
        &self,
        settings: Settings,
        directory: &Path,
        program: &Path,
    ) -> Result<Plan, Failure> {
        self.install_with(settings, directory, program, &Wishes::default())
    }

    /// What it takes to have `program` called from here, as the person wishes.
    pub fn install_with(
        &self,
        settings: Settings,
        directory: &Path,
        program: &Path,
        wishes: &Wishes,
    ) -> Result<Plan, Failure> {
        let program = program.to_str().ok_or_else(|| {
            Failure::usage(format!("the path {} can't be written as JSON", program.display()))
                .hint("move stopgate to a directory whose name is plain text")
        })?;
        let before = self.read()?;
        let form =
            if self.scope == SettingsScope::Project { EntryForm::Shared } else { EntryForm::Own };
        let entry = HookEntry {
            form,
            exits: wishes.exits,
            statusline: wishes.statusline,
            dialect: wishes.dialect.clone(),
            ..HookEntry::new(self.agent, program)
        };
        let edited = text::install(before.as_deref(), &entry).map_err(|e| self.refused(e))?;
        let mut plan = Plan { notes: edited.notes, ..Plan::default() };
        // What has entries of ours is not what was there before us: that backup stays.
        let is_ours = self.entries().is_ok_and(|entries| !entries.is_empty());
        let keep = if is_ours { BackupPlace::Nowhere } else { BackupPlace::Beside };
        let after = edited.text.clone();
        plan.change_settings(self, before, edited.text, edited.changes, keep);
        plan.put_skill(self)?;
        plan.change_trust(settings, self, &after, wishes.trust)?;
        if self.scope == SettingsScope::Project {
            plan.notes.extend(unknown_here(settings));
        } else {
            plan.notes.extend(self.rivals(settings, directory, &entry)?);
        }
        if wishes.trust == HookTrust::Ask {
            plan.notes.extend(self.agent.trust_explanation().map(String::from));
        }
        plan.notes.extend(self.agent.after_install().iter().map(ToString::to_string));
        Ok(plan)
    }

    /// What it takes to be gone from here; with a dialect, only its entries go.
    pub fn uninstall(
        &self,
        settings: Settings,
        directory: &Path,
        dialect: Option<&str>,
    ) -> Result<Plan, Failure> {
        let mut plan = Plan::default();
        if let Some(before) = self.read()? {
            let edited = text::uninstall(self.agent, &before, dialect);
            let edited = edited.map_err(|error| self.refused(error))?;
            plan.notes = edited.notes;
            plan.drop_trust(settings, self, &before)?;
            let backup = file::read(&file::backup_of(&self.settings))?;
            let is_blank = text::is_blank(self.agent, &edited.text);
            if is_blank && !edited.changes.is_empty() && backup.is_none() {
                // There was no file before: none is left.
                plan.changes.extend(edited.changes);
                plan.change(self, &self.settings, Some(before), None, BackupPlace::Nowhere);
            } else {
                let after = self.restored(&before, edited.text, backup, dialect);
                plan.change_settings(
                    self,
                    Some(before),
                    after,
                    edited.changes,
                    BackupPlace::Nowhere,
                );
            }
        }
        if dialect.is_some() || self.skill.is_none() {
            return Ok(plan);
        }
        if self.has_company(settings, directory) {
            plan.notes.push(format!(
                "The skill at {} stays: other settings of this project still have the hook.",
                self.skill.as_deref().unwrap_or(&self.settings).display()
            ));
        } else {
            plan.take_skill(self)?;
        }
        Ok(plan)
    }

    /// The text from before we came, where only we changed the file since.
    fn restored(
        &self,
        now: &str,
        edited: String,
        backup: Option<String>,
        dialect: Option<&str>,
    ) -> String {
        let backup = backup.filter(|_| dialect.is_none());
        let backup = backup.filter(|backup| text::is_installation(self.agent, backup, now));
        backup.unwrap_or(edited)
    }

    /// Other settings whose hook the client would run beside the one of `entry`.
    fn rivals(
        &self,
        settings: Settings,
        directory: &Path,
        entry: &HookEntry,
    ) -> Result<Vec<String>, Failure> {
        let fresh =
            text::install(None, entry).and_then(|fresh| text::find(self.agent, &fresh.text));
        let fresh = fresh.map_err(|error| self.refused(error))?;
        let ours = fresh.into_iter().find(InstalledEntry::judges_stops).map(|found| found.command);
        // An entry that a team shares stands down where a person has one of their own.
        let differs = |found: &InstalledEntry| {
            found.judges_stops() && Some(&found.command) != ours.as_ref() && !found.is_shared()
        };
        let is_rival = |other: &Self| other.entries().is_ok_and(|all| all.iter().any(differs));
        let sentence = |other: Self| {
            format!(
                "{} has the hook with another program: each stop would count twice. \
                 Remove it there: stopgate uninstall {} --scope {}",
                other.settings.display(),
                self.agent.word(),
                other.scope.word()
            )
        };
        Ok(self.others(settings, directory).filter(is_rival).map(sentence).collect())
    }

    /// Whether other settings with our entries share the skill.
    fn has_company(&self, settings: Settings, directory: &Path) -> bool {
        self.others(settings, directory).any(|other| {
            other.skill == self.skill && other.entries().is_ok_and(|entries| !entries.is_empty())
        })
    }

    fn others(&self, settings: Settings, directory: &Path) -> impl Iterator<Item = Self> {
        let all = Self::all(settings, self.agent, directory);
        all.into_iter().filter(|other| !same_file(&other.settings, &self.settings))
    }

    fn refused(&self, error: SettingsError) -> Failure {
        let failure = Failure::usage(format!("{}: could not {error}", self.settings.display()));
        match error {
            SettingsError::NotJson { source, .. } => failure.because(source),
            SettingsError::NotToml { source, .. } => failure.because(source),
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
        place: &ScopeFiles,
        before: Option<String>,
        after: String,
        changes: Vec<String>,
        keep: BackupPlace,
    ) {
        if changes.is_empty() {
            return;
        }
        self.changes.extend(changes);
        self.change(place, &place.settings, before, Some(after), keep);
    }

    fn put_skill(&mut self, place: &ScopeFiles) -> Result<(), Failure> {
        let Some(path) = &place.skill else { return Ok(()) };
        let found = file::read(path)?;
        let sentence = match skill::author(found.as_deref()) {
            SkillAuthor::Nobody => {
                let skills = path.ancestors().nth(2);
                if !skills.is_some_and(Path::exists) {
                    self.notes.push(
                        "Sessions that are open now don't know /stopgate yet; new ones do.".into(),
                    );
                }
                format!("The skill {} tells agents about stopgate.", path.display())
            }
            SkillAuthor::Earlier => format!("The skill {} is up to date.", path.display()),
            SkillAuthor::Us => return Ok(()),
            SkillAuthor::Somebody => {
                let note = format!("The skill {} was changed by hand and is kept.", path.display());
                self.notes.push(note);
                return Ok(());
            }
        };
        self.changes.push(sentence);
        self.change(place, path, found, Some(skill::stamped()), BackupPlace::Nowhere);
        Ok(())
    }

    fn take_skill(&mut self, place: &ScopeFiles) -> Result<(), Failure> {
        let Some(path) = &place.skill else { return Ok(()) };
        let found = file::read(path)?;
        match skill::author(found.as_deref()) {
            SkillAuthor::Nobody => {}
            SkillAuthor::Us | SkillAuthor::Earlier => {
                self.changes.push(format!("The skill {} is removed.", path.display()));
                self.change(place, path, found, None, BackupPlace::Nowhere);
            }
            SkillAuthor::Somebody => self.notes.push(format!(
                "The skill {} was changed by hand and is kept; remove it if nobody needs it.",
                path.display()
            )),
        }
        Ok(())
    }

    fn change(
        &mut self,
        place: &ScopeFiles,
        path: &Path,
        before: Option<String>,
        after: Option<String>,
        keep: BackupPlace,
    ) {
        let floor = place.floor.clone();
        self.files.push(FileChange { path: path.into(), before, after, keep, floor });
    }
}

impl Settings {
    /// The first `stopgate` that a shell would find.
    pub fn on_path(self) -> Option<PathBuf> {
        self.program("stopgate")
    }

    /// The first program of this name that a shell would find.
    #[expect(clippy::disallowed_methods, reason = "the settings' door")]
    pub fn program(self, name: &str) -> Option<PathBuf> {
        let directories = std::env::var_os("PATH")?;
        let mut programs = std::env::split_paths(&directories).flat_map(|directory| {
            PROGRAM_ENDS.iter().map(move |end| directory.join(format!("{name}{end}")))
        });
        programs.find(|program| file::is_executable(program))
    }
}

/// What a person wants beside the hook.
#[derive(Clone, Debug)]
pub struct Wishes {
    /// Whether agents may run their exits without asking.
    pub exits: ExitRules,
    /// Whether the status line shows the loop.
    pub statusline: StatusLine,
    /// Whose loop files the entry serves, where it is not for loops of our own.
    pub dialect: Option<String>,
    /// Whether the agent may run the hooks without a person's review.
    pub trust: HookTrust,
}

/// Whether an agent that runs only reviewed hooks is told that these were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookTrust {
    /// The person does that in the agent.
    Ask,
    /// The person says so here.
    Accept,
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            exits: ExitRules::Allow,
            statusline: StatusLine::Leave,
            dialect: None,
            trust: HookTrust::Ask,
        }
    }
}

fn no_scope(agent: Agent, scope: SettingsScope) -> Failure {
    let files = agent.files();
    let known = [(files.user, "user"), (files.project, "project"), (files.local, "local")];
    let known: Vec<&str> =
        known.iter().filter(|(file, _)| file.is_some()).map(|(_, word)| *word).collect();
    Failure::usage(format!("{} reads no hooks of the scope {}", agent.title(), scope.word()))
        .hint(format!("name another one: --scope {}", known.join(", or --scope ")))
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

/// Whether the person has an entry of their own for `agent`, so that the one that their team
/// shares need not answer.
pub fn has_own_entry(settings: Settings, agent: Agent, directory: &Path) -> bool {
    [SettingsScope::User, SettingsScope::Local].into_iter().any(|scope| {
        ScopeFiles::of(settings, agent, scope, directory)
            .and_then(|place| place.entries())
            .is_ok_and(|entries| {
                entries.iter().any(|found| found.judges_stops() && !found.is_shared())
            })
    })
}

/// Whether a stop of a session of `agent` in `directory` reaches a hook of ours, as far as settings
/// tell.
pub fn has_stop_entry(settings: Settings, agent: Agent, directory: &Path) -> bool {
    let stops = |place: &ScopeFiles| {
        place.entries().is_ok_and(|entries| entries.iter().any(InstalledEntry::judges_stops))
    };
    ScopeFiles::all(settings, agent, directory).iter().any(stops)
        || plugin::has_plugin(settings, agent, directory)
}

/// Whether a stop of a session of any agent in `directory` reaches a hook of ours.
pub fn is_installed(settings: Settings, directory: &Path) -> bool {
    Agent::ALL.into_iter().any(|agent| has_stop_entry(settings, agent, directory))
}

fn same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonical().unwrap_or_else(|_| path.into());
    one == other || real(one) == real(other)
}
