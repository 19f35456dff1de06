//! What `install` and `uninstall` share: whose files, which program, how a change is shown.

mod diff;

use std::path::{Path, PathBuf};

use serde::Serialize;
use stopgate_agents::Agent;
use stopgate_dialects::Dialect;
use stopgate_engine::{Failure, FileChange, Plan, ScopeFiles, Settings, SettingsScope};
use stopgate_system::CanonicalPath;

use super::common;
use crate::output::{self, BAD, BOLD, DIM, GOOD, WAITS, styled};

#[cfg(test)]
mod tests;

/// Whose settings, and how to go about it.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct OnAgents {
    /// The agents: claude, codex, gemini … (stopgate agents lists them)
    #[arg(value_name = "AGENT", value_parser = agent_of)]
    pub(crate) agents: Vec<Agent>,
    /// Whose settings: yours, the project's, or yours for this project
    #[arg(long, value_enum, default_value = "user")]
    scope: ScopeWord,
    /// Only the entries for loops in another tool's files: idle, features, criteria, task, ralph-loop
    #[arg(long, value_name = "D", value_parser = dialect_of)]
    pub(crate) dialect: Option<String>,
    #[command(flatten)]
    rehearsal: Rehearsal,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, clap::Args)]
struct Rehearsal {
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

fn agent_of(word: &str) -> Result<Agent, String> {
    let known = || Agent::ALL.map(Agent::word).join(", ");
    Agent::named(word).ok_or_else(|| format!("unknown agent; this program knows: {}", known()))
}

fn dialect_of(word: &str) -> Result<String, String> {
    let known = || Dialect::ALL.iter().map(|one| one.word()).collect::<Vec<_>>().join(", ");
    let named = Dialect::named(word).map(|dialect| dialect.word().to_string());
    named.ok_or_else(|| format!("unknown dialect; this program knows: {}", known()))
}

/// Whose settings.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ScopeWord {
    /// Yours, for all projects
    User,
    /// The project's, for everybody who works on it
    Project,
    /// Yours, for this project
    Local,
}

impl From<ScopeWord> for SettingsScope {
    fn from(word: ScopeWord) -> Self {
        match word {
            ScopeWord::User => Self::User,
            ScopeWord::Project => Self::Project,
            ScopeWord::Local => Self::Local,
        }
    }
}

/// What came of it, for programs.
#[derive(Serialize)]
struct ChangeView<'a> {
    agent: &'static str,
    scope: SettingsScope,
    settings: &'a Path,
    #[serde(skip_serializing_if = "Option::is_none")]
    skill: Option<&'a Path>,
    dry_run: bool,
    changes: &'a [String],
    notes: &'a [String],
    backups: Vec<PathBuf>,
}

impl OnAgents {
    /// The files of one agent that are meant.
    pub(crate) fn place(&self, agent: Agent) -> Result<ScopeFiles, Failure> {
        ScopeFiles::of(Settings, agent, self.scope.into(), &common::directory()?)
    }

    /// Asks the person about each of these agents.
    pub(crate) fn choose(&self, found: Vec<Agent>, doing: &str) -> Result<Vec<Agent>, Failure> {
        let names = found.iter().map(|agent| agent.word()).collect::<Vec<_>>().join(" ");
        if found.is_empty() {
            return Err(Failure::usage("no agent was found on this machine")
                .hint("name one: stopgate agents lists them"));
        }
        if self.is_json() || !common::has_person() {
            return Err(Failure::usage("no agent is named")
                .hint(format!("name those that you mean; found here: {names}")));
        }
        let wanted = |agent: &Agent| {
            common::agrees(&format!("{doing} {}? [Y/n] ", agent.title()), common::Default::Yes)
        };
        Ok(found.into_iter().filter(wanted).collect())
    }

    /// Whether nothing may be changed.
    pub(crate) const fn is_rehearsal(&self) -> bool {
        self.rehearsal.dry_run
    }

    /// Whether a program listens, and not a person.
    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }

    /// Carries the plans out, or only shows them; `nothing` is said where nothing changes.
    pub(crate) fn perform(
        &self,
        plans: &[(ScopeFiles, Plan)],
        nothing: &str,
    ) -> Result<(), Failure> {
        let mut views = Vec::new();
        for (place, plan) in plans {
            let backups = if self.is_rehearsal() { Vec::new() } else { plan.carry_out()? };
            if !self.is_json() {
                self.show(place, plan, nothing, &backups);
            }
            views.push(ChangeView {
                agent: place.agent.word(),
                scope: place.scope,
                settings: &place.settings,
                skill: place.skill.as_deref(),
                dry_run: self.is_rehearsal(),
                changes: &plan.changes,
                notes: &plan.notes,
                backups,
            });
        }
        match views.as_slice() {
            _ if !self.is_json() => {}
            [view] => output::json(view),
            views => output::json_member("agents", &views),
        }
        Ok(())
    }

    fn show(&self, place: &ScopeFiles, plan: &Plan, nothing: &str, backups: &[PathBuf]) {
        let path = styled(BOLD, &place.settings.display().to_string());
        let scope = place.scope.word();
        if plan.changes.is_empty() {
            output::line(&format!("{nothing}: {path} ({scope})"));
        } else if self.is_rehearsal() {
            output::line(&format!("Would change {path} ({scope}):"));
        } else {
            output::line(&format!("Changed {path} ({scope}):"));
        }
        for change in &plan.changes {
            output::line(&format!("  {} {change}", styled(GOOD, "•")));
        }
        for note in &plan.notes {
            output::line(&format!("  {} {note}", styled(WAITS, "!")));
        }
        for backup in backups {
            output::line(&styled(DIM, &format!("  Backup: {}", backup.display())));
        }
        if self.is_rehearsal() {
            plan.files.iter().filter(|f| Some(&f.path) != place.skill.as_ref()).for_each(show_diff);
            output::line("Nothing was changed (--dry-run).");
        }
    }
}

/// The program that runs now.
pub(crate) fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe().and_then(|path| path.canonical()).map_err(|error| {
        Failure::fault("could not tell where this program is")
            .hint("it may have been replaced while it ran: try again")
            .because(error)
    })
}

/// The program that runs now, under a name that settings can hold.
pub(crate) fn installable() -> Result<PathBuf, Failure> {
    let program = program()?;
    let own = format!("stopgate{}", std::env::consts::EXE_SUFFIX);
    if program.file_name().is_some_and(|name| name == own.as_str()) {
        return Ok(program);
    }
    // Entries are told by the program's name: one by another name could never be removed again.
    let link = Settings.on_path().filter(|link| link.canonical().is_ok_and(|p| p == program));
    link.ok_or_else(|| {
        Failure::usage(format!("this program is called {}", program.display()))
            .hint("its own entries are recognised by the name stopgate: rename it, or link it so")
    })
}

/// Why a program at this path may soon be gone.
pub(crate) fn may_vanish(program: &Path) -> Option<String> {
    let temporary = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into(), "/dev/shm".into()];
    let kind = if temporary.iter().any(|directory| program.starts_with(directory)) {
        "a temporary directory"
    } else if is_build(program) {
        "a build directory"
    } else {
        return None;
    };
    Some(format!(
        "{} is in {kind}. If it is deleted, the hook stops working: copy it somewhere permanent and \
         run install again.",
        program.display()
    ))
}

fn is_build(program: &Path) -> bool {
    let below_target = program.components().any(|part| part.as_os_str() == "target");
    below_target || program.with_file_name(".cargo-lock").exists()
}

/// How one text becomes another, as patches show it; control characters are shown, not obeyed.
pub(super) fn unified_diff(name: &str, before: &str, after: &str) -> String {
    let mut lines = vec![format!("--- {name} (at the start)"), format!("+++ {name} (now)")];
    lines.extend(diff::lines(before, after).iter().map(|line| stopgate_core::clean(line)));
    lines.join("\n")
}

fn show_diff(change: &FileChange) {
    let before = change.before.as_deref().unwrap_or_default();
    let after = change.after.as_deref().unwrap_or_default();
    let name = |text: &Option<String>| match text {
        Some(_) => change.path.display().to_string(),
        None => "/dev/null".into(),
    };
    output::line(&styled(BOLD, &format!("\n--- {}", name(&change.before))));
    output::line(&styled(BOLD, &format!("+++ {}", name(&change.after))));
    for line in diff::lines(before, after) {
        let style = match line.as_bytes().first() {
            Some(b'+') => GOOD,
            Some(b'-') => BAD,
            Some(b'@') => WAITS,
            Some(_) | None => DIM,
        };
        output::line(&styled(style, &line));
    }
    output::line("");
}
