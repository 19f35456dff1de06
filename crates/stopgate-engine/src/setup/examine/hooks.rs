//! What the settings files say.

use std::path::Path;

use stopgate_agents::claude::block_cap;
use stopgate_agents::claude::settings::{self as text, CAP_VARIABLE, Entry, Found};

use super::{Configured, Finding, Look};
use crate::setup::{Scope, is_shared, is_stop};

const ABOUT: &str = "hook";

/// Who has our entries, and whether they are complete.
pub(super) fn installed(looks: &[Look]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = looks.iter().filter_map(installed_in).flatten().collect();
    let dialects: Vec<Finding> = looks.iter().flat_map(dialect_entries).collect();
    let serves_files = !dialects.is_empty();
    findings.extend(dialects);
    if configured(looks).is_empty() && serves_files {
        findings.push(Finding::warning(
            ABOUT,
            "only loops in other tools' files are held: loops of stopgate start are not",
            "stopgate install claude, if you want those, too",
        ));
    } else if configured(looks).is_empty() {
        findings.push(Finding::problem(
            ABOUT,
            "no settings file of yours or of this project has the hook: nothing holds an agent",
            "stopgate install claude",
        ));
    }
    findings
}

/// Hooks for loops in other tools' files, which people write themselves.
fn dialect_entries(look: &Look) -> Vec<Finding> {
    let stops = look.all_entries().filter(|found| found.event == "Stop" && !is_stop(found));
    let dialect = |found: &Found| {
        let words: Vec<String> = match &found.command {
            text::Command::Exec(argv) => argv.clone(),
            text::Command::Shell(line) => line.split_whitespace().map(String::from).collect(),
        };
        let at = words.iter().position(|word| word == "--dialect")?;
        words.get(at + 1).cloned()
    };
    let sentence = |name: String| {
        let path = look.path.display();
        Finding::ok(ABOUT, format!("{path} holds loops of --dialect {name}"))
    };
    stops.filter_map(dialect).map(sentence).collect()
}

fn installed_in(look: &Look) -> Option<Vec<Finding>> {
    let path = look.path.display();
    let scope = look.scope.word();
    if let Err(failure) = &look.read {
        let text = format!("{}; hooks in it may not run", failure.story());
        return Some(vec![Finding::problem(ABOUT, text, format!("correct {path}"))]);
    }
    let entries: Vec<&Found> = look.entries().collect();
    if entries.is_empty() {
        return None;
    }
    let repair = format!("stopgate install claude --scope {scope}");
    let mut findings = Vec::new();
    findings.extend(missing(&entries).map(|names| {
        let text = format!("{path} lacks the hook for {names}: that part of a session goes unseen");
        Finding::warning(ABOUT, text, repair.clone())
    }));
    findings.extend(hurried(&entries).map(|how| {
        let text = format!("the Stop hook in {path} {how}");
        Finding::warning(ABOUT, text, repair)
    }));
    if findings.is_empty() {
        findings.push(Finding::ok(ABOUT, format!("installed in {path} ({scope})")));
    }
    Some(findings)
}

/// The events that a fresh installation has and this one lacks.
fn missing(entries: &[&Found]) -> Option<String> {
    let lacks = |wanted: &Found| !entries.iter().any(|entry| entry.event == wanted.event);
    let names: Vec<String> = wanted().into_iter().filter(lacks).map(|found| found.event).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// How the client would cut a stop short.
fn hurried(entries: &[&Found]) -> Option<String> {
    let stop = entries.iter().find(|found| is_stop(found))?;
    let needs = wanted().into_iter().find(is_stop).and_then(|found| found.timeout_s)?;
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
fn wanted() -> Vec<Found> {
    let entry = Entry::new("/stopgate");
    let fresh = text::install(None, &entry).and_then(|edited| text::find(&edited.text));
    fresh.unwrap_or_default()
}

/// Entries that the client would run side by side, so that a stop counts twice.
pub(super) fn doubled(looks: &[Look]) -> Vec<Finding> {
    let mut seen: Vec<(&Look, &Found)> = Vec::new();
    let mut doubles: Vec<(&Look, &Look, &str)> = Vec::new();
    for (look, found) in looks.iter().flat_map(|look| look.entries().map(move |f| (look, f))) {
        // An entry that a team shares stands down where a person has one of their own.
        let rival = seen.iter().find(|(_, e)| {
            e.event == found.event
                && e.command != found.command
                && is_shared(&e.command) == is_shared(&found.command)
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
    let hint = format!("keep one: stopgate {verb} claude --scope {}", other.scope.word());
    vec![Finding::problem("doubles", text, hint)]
}

/// Settings that keep every hook from running.
pub(super) fn disabled(looks: &[Look]) -> Vec<Finding> {
    let is_disabled =
        |look: &&Look| look.read.as_ref().is_ok_and(|read| read.switches.disable_all_hooks);
    let finding = |look: &Look| {
        Finding::problem(
            "switches",
            format!("disableAllHooks is true in {}: no hook runs", look.path.display()),
            "remove that line",
        )
    };
    looks.iter().filter(is_disabled).map(finding).collect()
}

/// Whether the client lets a loop go on for long.
pub(super) fn cap(looks: &[Look], variable: Option<&str>) -> Vec<Finding> {
    // The client lets the narrower scope win.
    let set = looks.iter().rev().find_map(|look| {
        let cap = look.read.as_ref().ok()?.switches.cap.as_deref()?;
        Some((cap, look.path.display().to_string()))
    });
    let set = set.or_else(|| variable.map(|cap| (cap, "this shell's environment".into())));
    let limit = block_cap(set.as_ref().map(|(cap, _)| *cap), None);
    let ends =
        |limit| format!("Claude Code ends a turn after {limit} continuations without a tool call");
    let finding = match (limit, set) {
        (None, Some((_, place))) => Finding::ok("cap", format!("lifted by {place}")),
        (None, None) => Finding::ok("cap", "there is none"),
        (Some(limit), Some((_, place))) => Finding::warning(
            "cap",
            format!("{}, as {place} says", ends(limit)),
            format!("set {CAP_VARIABLE} to \"0\" there"),
        ),
        (Some(limit), None) => {
            let hint = format!("stopgate install claude sets {CAP_VARIABLE} to 0");
            Finding::warning("cap", ends(limit), hint)
        }
    };
    vec![finding]
}

/// A project's hooks are read only where the client is started in its root.
pub(super) fn subfolder(looks: &[Look], folder: &Path, project: &Path) -> Vec<Finding> {
    let here = folder.canonicalize().unwrap_or_else(|_| folder.into());
    let is_at = |scopes: &[Scope]| {
        looks.iter().any(|look| scopes.contains(&look.scope) && look.entries().any(is_stop))
    };
    let only_project = is_at(&[Scope::Project, Scope::Local]) && !is_at(&[Scope::User]);
    if here == project || !only_project {
        return Vec::new();
    }
    let text = format!(
        "this folder lies below {}, and Claude Code reads no hooks of a project when it is started here",
        project.display()
    );
    let hint = format!("start it in {}, or stopgate install claude", project.display());
    vec![Finding::warning("folder", text, hint)]
}

/// The distinct hooks that judge stops.
pub(super) fn configured(looks: &[Look]) -> Vec<Configured> {
    let mut hooks: Vec<Configured> = Vec::new();
    for look in looks {
        for found in look.entries().filter(|found| is_stop(found)) {
            if !hooks.iter().any(|hook| hook.command == found.command) {
                hooks.push(Configured { scope: look.scope, command: found.command.clone() });
            }
        }
    }
    hooks
}
