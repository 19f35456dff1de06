//! What the settings files say.

use std::path::Path;

use stopgate_agents::settings::{self as text, HookEntry, InstalledEntry};
use stopgate_agents::{Agent, Client, HookEvent};
use stopgate_core::{CapScope, clean, clip};
use stopgate_system::CanonicalPath;

use super::{Configured, DoctorFinding, Look};
use crate::settings::Settings;
use crate::setup::{ScopeFiles, SettingsScope, file};

const ABOUT: &str = "hook";
const LINE_BYTES_MAX: usize = 120;

/// Who has our entries, and whether they are complete.
pub(super) fn installed(agent: Agent, looks: &[Look], plugin: &[Configured]) -> Vec<DoctorFinding> {
    let mut findings: Vec<DoctorFinding> =
        looks.iter().filter_map(installed_in).flatten().collect();
    let dialects: Vec<DoctorFinding> = looks.iter().flat_map(dialect_entries).collect();
    let serves_files = !dialects.is_empty();
    findings.extend(dialects);
    if !plugin.is_empty() {
        let text = format!("the plugin holds agents of {}", agent.title());
        findings.push(DoctorFinding::ok(ABOUT, text));
    } else if configured(looks).is_empty() && serves_files {
        findings.push(DoctorFinding::warning(
            ABOUT,
            "only loops in other tools' files are held: loops of stopgate start are not",
            format!("stopgate install {}, if you want those, too", agent.word()),
        ));
    } else if configured(looks).is_empty() {
        findings.push(DoctorFinding::problem(
            ABOUT,
            "no settings file of yours or of this project has the hook: nothing holds an agent",
            format!("stopgate install {}", agent.word()),
        ));
    }
    findings
}

/// Hooks for loops in other tools' files, which people write themselves.
fn dialect_entries(look: &Look) -> Vec<DoctorFinding> {
    let stops = look.all_entries().filter(|found| found.kind == HookEvent::Stop);
    let sentence = |name: String| {
        let path = look.path.display();
        DoctorFinding::ok(ABOUT, format!("{path} holds loops of --dialect {name}"))
    };
    stops.filter_map(InstalledEntry::dialect).map(sentence).collect()
}

fn installed_in(look: &Look) -> Option<Vec<DoctorFinding>> {
    let path = look.path.display();
    let scope = look.scope.word();
    if let Err(failure) = &look.read {
        let text = format!("{}; hooks in it may not run", failure.story());
        return Some(vec![DoctorFinding::problem(ABOUT, text, format!("correct {path}"))]);
    }
    let entries: Vec<&InstalledEntry> = look.entries().collect();
    if entries.is_empty() {
        return None;
    }
    let repair = format!("stopgate install {} --scope {scope}", look.agent.word());
    let mut findings = Vec::new();
    findings.extend(missing(look.agent, &entries).map(|names| {
        let text = format!("{path} lacks the hook for {names}: that part of a session goes unseen");
        DoctorFinding::warning(ABOUT, text, repair.clone())
    }));
    findings.extend(hurried(look.agent, &entries).map(|how| {
        let text = format!("the {} hook in {path} {how}", stop_name(&entries));
        DoctorFinding::warning(ABOUT, text, repair)
    }));
    if findings.is_empty() {
        findings.push(DoctorFinding::ok(
            ABOUT,
            format!("installed in {path} ({scope}, {})", look.agent.title()),
        ));
    }
    Some(findings)
}

/// The events that a fresh installation has and this one lacks.
fn missing(agent: Agent, entries: &[&InstalledEntry]) -> Option<String> {
    let lacks = |wanted: &InstalledEntry| !entries.iter().any(|entry| entry.event == wanted.event);
    let names: Vec<String> =
        wanted(agent).into_iter().filter(lacks).map(|found| found.event).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// How the client would cut a stop short.
fn hurried(agent: Agent, entries: &[&InstalledEntry]) -> Option<String> {
    let stop = entries.iter().find(|found| found.judges_stops())?;
    let needs = wanted(agent)
        .into_iter()
        .find(InstalledEntry::judges_stops)
        .and_then(|found| found.timeout_s)?;
    match stop.timeout_s {
        None => {
            Some("sets no time-out: the client ends it when it sees fit, without a word".into())
        }
        Some(limit) if limit < needs => Some(format!(
            "may take {limit} s, and checks may take longer: the agent then stops, without a word"
        )),
        Some(_) => None,
    }
}

/// What a fresh installation has.
fn wanted(agent: Agent) -> Vec<InstalledEntry> {
    let entry = HookEntry::new(agent, "/stopgate");
    let fresh = text::install(None, &entry).and_then(|edited| text::find(agent, &edited.text));
    fresh.unwrap_or_default()
}

/// Entries that the client would run side by side, so that a stop counts twice.
pub(super) fn doubled(looks: &[Look]) -> Vec<DoctorFinding> {
    let mut seen: Vec<(&Look, &InstalledEntry)> = Vec::new();
    let mut doubles: Vec<(&Look, &Look, &str)> = Vec::new();
    for (look, found) in looks.iter().flat_map(|look| look.entries().map(move |f| (look, f))) {
        // An entry that a team shares stands down where a person has one of their own.
        let rival = seen.iter().find(|(_, e)| {
            e.event == found.event
                && e.command != found.command
                && e.is_shared() == found.is_shared()
        });
        if let Some((earlier, _)) = rival {
            doubles.push((earlier, look, &found.event));
        }
        seen.push((look, found));
    }
    let Some((one, other, _)) = doubles.first() else { return Vec::new() };
    let mut events: Vec<&str> = doubles.iter().map(|(_, _, event)| *event).collect();
    events.dedup();
    let text = format!(
        "{} and {} have different commands for {}: the client runs both, and each stop counts twice",
        one.path.display(),
        other.path.display(),
        events.join(", ")
    );
    let verb = if one.path == other.path { "install" } else { "uninstall" };
    let hint =
        format!("keep one: stopgate {verb} {} --scope {}", other.agent.word(), other.scope.word());
    vec![DoctorFinding::problem("doubles", text, hint)]
}

/// Settings that keep every hook from running.
pub(super) fn disabled(looks: &[Look]) -> Vec<DoctorFinding> {
    let is_disabled =
        |look: &&Look| look.read.as_ref().is_ok_and(|read| read.switches.disable_all_hooks);
    let finding = |look: &Look| {
        DoctorFinding::problem(
            "switches",
            format!("disableAllHooks is true in {}: no hook runs", look.path.display()),
            "remove that line",
        )
    };
    looks.iter().filter(is_disabled).map(finding).collect()
}

/// Whether the client lets a loop go on for long.
pub(super) fn cap(agent: Agent, looks: &[Look], variable: Option<&str>) -> Vec<DoctorFinding> {
    // The client lets the narrower scope win.
    let set = looks.iter().rev().find_map(|look| {
        let cap = look.read.as_ref().ok()?.switches.cap.as_deref()?;
        Some((cap, look.path.display().to_string()))
    });
    let set = set.or_else(|| variable.map(|cap| (cap, "this shell's environment".into())));
    let limit = agent.cap(set.as_ref().map(|(cap, _)| *cap), Client::default());
    let title = agent.title();
    let entries = looks.iter().flat_map(Look::entries);
    let is_lifted = entries
        .filter(|found| found.judges_stops())
        .any(|found| found.command.line().contains("--cap none"));
    let finding = match (limit.filter(|_| !is_lifted), set) {
        (None, _) if is_lifted => DoctorFinding::ok("cap", format!("{title}: lifted by its entry")),
        (None, Some((_, place))) => DoctorFinding::ok("cap", format!("lifted by {place}")),
        (None, None) => {
            DoctorFinding::ok("cap", format!("{title} sets none; stopgate's own limits count"))
        }
        (Some(limit), set) => {
            let within = match limit.scope {
                CapScope::SinceTool => " without a tool call",
                CapScope::Turn => "",
            };
            let plural = if limit.refusals == 1 { "" } else { "s" };
            let says = set.map(|(_, place)| format!(", as {place} says")).unwrap_or_default();
            let count = limit.refusals;
            DoctorFinding::warning(
                "cap",
                format!("{title} ends a turn after {count} continuation{plural}{within}{says}"),
                limit.lift,
            )
        }
    };
    vec![finding]
}

/// Stop hooks of others, which run beside ours: any of them may hold the agent, too.
pub(super) fn others(places: &[ScopeFiles]) -> Vec<DoctorFinding> {
    let look = |place: &ScopeFiles| {
        let hooks = text::all_hooks(place.agent, &place.read().ok()??).ok()?;
        let others = hooks.into_iter().filter(|hook| hook.is_at_stop() && !hook.is_ours);
        let lines: Vec<String> =
            others.map(|hook| clip(&clean(&hook.command), LINE_BYTES_MAX)).collect();
        let path = place.settings.display();
        (!lines.is_empty()).then(|| {
            let count = lines.len();
            let plural = if count == 1 { "hook runs" } else { "hooks run" };
            let list = lines.join("; ");
            DoctorFinding::ok(
                "others",
                format!("{count} other stop {plural} beside ours in {path}: {list}"),
            )
        })
    };
    places.iter().filter_map(look).collect()
}

/// When a session of the agent last reached us.
pub(super) fn fired(settings: Settings, agent: Agent) -> Option<DoctorFinding> {
    let note = settings.home().ok()?.fired(agent.word());
    let title = agent.title();
    let Ok(at) = std::fs::metadata(note).and_then(|found| found.modified()) else {
        return Some(DoctorFinding::ok(
            "fired",
            format!("no session of {title} has reached the hook yet"),
        ));
    };
    let minutes = at.elapsed().unwrap_or_default().as_secs() / 60;
    let ago = match minutes {
        0 => "less than a minute".into(),
        1..120 => format!("{minutes} min"),
        _ => format!("{} h", minutes / 60),
    };
    Some(DoctorFinding::ok("fired", format!("a session of {title} reached the hook {ago} ago")))
}

/// Hooks that the client skips because nobody reviewed them.
pub(super) fn untrusted(settings: Settings, places: &[ScopeFiles]) -> Vec<DoctorFinding> {
    let look = |place: &ScopeFiles| {
        let list = settings.agent_home(place.agent)?.join(place.agent.trust_list()?);
        let hooks = place.read().ok()??;
        let path = place.settings.display().to_string();
        let entries = place.agent.trust_entries(&path, &hooks);
        let known = file::read(&list).ok()?.unwrap_or_default();
        let is_open = |entry: &text::TrustEntry| {
            entry.add_to(&known).is_ok_and(|edited| !edited.changes.is_empty())
        };
        let open = entries.iter().filter(|entry| is_open(entry)).count();
        Some(match (entries.len(), open) {
            (0, _) => return None,
            (_, 0) => DoctorFinding::ok(
                "trust",
                format!("{} trusts the hooks in {path}", place.agent.title()),
            ),
            (all, open) => DoctorFinding::problem(
                "trust",
                format!(
                    "{} skips {open} of {all} hooks in {path}: nobody reviewed them",
                    place.agent.title()
                ),
                format!(
                    "type /hooks in {} and trust them, or: stopgate install {} --scope {} --accept-trust",
                    place.agent.title(),
                    place.agent.word(),
                    place.scope.word()
                ),
            ),
        })
    };
    places.iter().filter_map(look).collect()
}

/// A project's hooks are read only where the client is started in its root.
pub(super) fn subdirectory(
    agent: Agent,
    looks: &[Look],
    directory: &Path,
    project: &Path,
) -> Vec<DoctorFinding> {
    let here = directory.canonical().unwrap_or_else(|_| directory.into());
    let is_at = |scopes: &[SettingsScope]| {
        looks.iter().any(|look| {
            scopes.contains(&look.scope) && look.entries().any(InstalledEntry::judges_stops)
        })
    };
    let only_project =
        is_at(&[SettingsScope::Project, SettingsScope::Local]) && !is_at(&[SettingsScope::User]);
    if here == project || !only_project || !agent.has_switches() {
        return Vec::new();
    }
    let text = format!(
        "this directory is below {}, and {} reads no hooks of a project when it is started here",
        project.display(),
        agent.title()
    );
    let hint = format!("start it in {}, or stopgate install {}", project.display(), agent.word());
    vec![DoctorFinding::warning("directory", text, hint)]
}

/// The distinct hooks that judge stops of loops in another tool's files.
pub(super) fn for_dialects(looks: &[Look]) -> Vec<Configured> {
    let mut hooks: Vec<Configured> = Vec::new();
    for (look, found) in looks.iter().flat_map(|look| look.all_entries().map(move |f| (look, f))) {
        let dialect = found.dialect().filter(|_| found.kind == HookEvent::Stop);
        if dialect.is_some() && !hooks.iter().any(|hook| hook.command == found.command) {
            let (agent, scope, command) = (look.agent, look.scope, found.command.clone());
            hooks.push(Configured { agent, scope, command, dialect });
        }
    }
    hooks
}

/// The distinct hooks that judge stops.
pub(super) fn configured(looks: &[Look]) -> Vec<Configured> {
    let mut hooks: Vec<Configured> = Vec::new();
    for look in looks {
        for found in look.entries().filter(|found| found.judges_stops()) {
            if !hooks.iter().any(|hook| hook.command == found.command) {
                let (agent, scope) = (look.agent, look.scope);
                let command = found.command.clone();
                hooks.push(Configured { agent, scope, command, dialect: None });
            }
        }
    }
    hooks
}

/// The name of the event at which stops are judged.
fn stop_name<'a>(entries: &[&'a InstalledEntry]) -> &'a str {
    entries.iter().find(|found| found.judges_stops()).map_or("Stop", |found| &found.event)
}
