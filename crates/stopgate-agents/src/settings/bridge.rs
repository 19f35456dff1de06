//! A plugin of ours: a whole file, with the program's path in one of its lines.

use stopgate_json::quote;

use super::form::BridgeForm;
use super::{Edited, EntryCommand, EntryForm, HookEntry, InstalledEntry};
use crate::{Agent, HookEvent};

/// How the first line of every bridge begins.
pub(super) const MARK: &str = "// stopgate bridge for ";
const PROGRAM: &str = "const PROGRAM = ";
const DEFAULT: &str = "\"stopgate\"";

pub(super) fn install(text: Option<&str>, form: BridgeForm, entry: &HookEntry) -> Edited {
    let program = match entry.form {
        EntryForm::Own => quote(&entry.program),
        EntryForm::Shared | EntryForm::Plugin => DEFAULT.into(),
    };
    let wanted =
        form.text.replacen(&format!("{PROGRAM}{DEFAULT}"), &format!("{PROGRAM}{program}"), 1);
    let before = text.unwrap_or_default();
    if before == wanted {
        return Edited { text: wanted, changes: Vec::new(), notes: Vec::new() };
    }
    if !before.trim().is_empty() && !is_ours(before) {
        let note = "The file is not stopgate's and was left as it is.".into();
        return Edited { text: before.into(), changes: Vec::new(), notes: vec![note] };
    }
    let change = format!("The bridge runs {}.", program.trim_matches('"'));
    Edited { text: wanted, changes: vec![change], notes: Vec::new() }
}

pub(super) fn uninstall(text: &str, _: BridgeForm) -> Edited {
    if !is_ours(text) {
        return Edited { text: text.into(), changes: Vec::new(), notes: Vec::new() };
    }
    let change = "The bridge is removed.".into();
    Edited { text: String::new(), changes: vec![change], notes: Vec::new() }
}

pub(super) fn find(text: &str, _: BridgeForm, agent: Agent) -> Vec<InstalledEntry> {
    if !is_ours(text) {
        return Vec::new();
    }
    let program = text.lines().find_map(|line| line.strip_prefix(PROGRAM));
    let program = program.map(|quoted| quoted.trim_end_matches(';'));
    let program = program.and_then(|quoted| serde_json::from_str::<String>(quoted).ok());
    let argv = [program.unwrap_or_default(), "hook".into(), agent.word().into()];
    vec![InstalledEntry {
        event: "Stop".into(),
        kind: HookEvent::Stop,
        command: EntryCommand::Exec(argv.into()),
        timeout_s: Some(600),
    }]
}

fn is_ours(text: &str) -> bool {
    text.starts_with(MARK)
}
