//! Hooks in TOML: Kimi's tables `[[hooks]]`, and the list of hooks that a person trusts in Codex.
//!
//! What we add is a block at the end, with one line break before it. Taking exactly that out
//! again gives the file from before, byte for byte; a block that another program wrote anew is
//! taken out table by table.

use std::fmt::Write;

use toml_edit::{Document, DocumentMut, Item, Table, TomlError, Value};

use super::error::{SettingsError, TextPosition};
use super::own::{is_stopgate, shell_word};
use super::windows::{HookSystem, WindowsGuard, WindowsShell, own_line};
use super::{AnyHook, Edited, EntryCommand, HookEntry, InstalledEntry};
use crate::HookEvent;

const HOOKS: &str = "hooks";

/// The events that we answer, and how many seconds each may take.
const EVENTS: [(&str, u32); 3] = [("Stop", 600), ("SessionStart", 10), ("SessionEnd", 10)];

pub(super) fn install(text: &str, entry: &HookEntry) -> Result<Edited, SettingsError> {
    let dialect = entry.dialect.as_deref();
    let wanted = wanted(entry);
    if find_hooks(text)?.iter().filter(|hook| hook.dialect().as_deref() == dialect).eq(&wanted) {
        return Ok(Edited { text: text.into(), changes: Vec::new(), notes: Vec::new() });
    }
    let (bare, removed) = without(text, dialect, Which::Same)?;
    let block = block(&wanted, newline(text));
    let after = append(&bare, &block, newline(text));
    parse(&after)?;
    let verb = if removed == 0 { "run" } else { "now run" };
    let events: Vec<&str> = wanted.iter().map(|hook| hook.event.as_str()).collect();
    let change = format!("{} hooks {verb} {}: {}.", wanted.len(), entry.program, events.join(", "));
    Ok(Edited { text: after, changes: vec![change], notes: Vec::new() })
}

pub(super) fn uninstall(text: &str, dialect: Option<&str>) -> Result<Edited, SettingsError> {
    let which = if dialect.is_some() { Which::Same } else { Which::All };
    let (after, removed) = without(text, dialect, which)?;
    let changes = match removed {
        0 => Vec::new(),
        1 => vec!["1 hook is removed.".into()],
        count => vec![format!("{count} hooks are removed.")],
    };
    Ok(Edited { text: after, changes, notes: Vec::new() })
}

pub(super) fn find(text: &str) -> Result<Vec<InstalledEntry>, SettingsError> {
    let found = find_hooks(text)?.into_iter().map(|hook| InstalledEntry {
        kind: HookEvent::named(&hook.event),
        event: hook.event,
        command: EntryCommand::Shell(hook.command),
        timeout_s: hook.timeout_s,
    });
    Ok(found.collect())
}

pub(super) fn all_hooks(text: &str) -> Result<Vec<AnyHook>, SettingsError> {
    let doc = parse(text)?;
    let tables = doc.get(HOOKS).and_then(Item::as_array_of_tables);
    let any = |table: &Table| {
        let text = |key: &str| table.get(key).and_then(Item::as_str).unwrap_or_default().into();
        AnyHook {
            event: text("event"),
            command: text("command"),
            content: table.to_string(),
            is_ours: Hook::read(table).is_some(),
        }
    };
    Ok(tables.into_iter().flatten().map(any).collect())
}

/// A hook of ours in a list of hooks that a person reviewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustEntry {
    /// Which hook it is.
    pub key: String,
    /// What the hook does: what the list keeps a hash of.
    pub identity: String,
}

impl TrustEntry {
    /// Adds the hook to the list.
    pub fn add_to(&self, list: &str) -> Result<Edited, SettingsError> {
        codex_trust(list, &self.key, &format!("sha256:{}", sha256_hex(self.identity.as_bytes())))
    }

    /// Takes the hook out of the list.
    pub fn take_from(&self, list: &str) -> Result<Edited, SettingsError> {
        codex_untrust(list, &self.key)
    }
}

/// Lets Codex trust a hook: adds its hash to the person's `config.toml`.
fn codex_trust(text: &str, key: &str, hash: &str) -> Result<Edited, SettingsError> {
    let doc = parse(text)?;
    let known = doc.get(HOOKS).and_then(|hooks| hooks.get("state")).and_then(|s| s.get(key));
    let known = known.and_then(|state| state.get("trusted_hash")).and_then(Item::as_str);
    if known == Some(hash) {
        return Ok(Edited { text: text.into(), changes: Vec::new(), notes: Vec::new() });
    }
    let bare = codex_untrust(text, key)?.text;
    let newline = newline(text);
    let after = append(&bare, &trust_block(key, hash, newline), newline);
    parse(&after)?;
    let changes = vec![format!("Codex trusts the hook {key}.")];
    Ok(Edited { text: after, changes, notes: Vec::new() })
}

/// Takes a hook out of those that Codex trusts.
fn codex_untrust(text: &str, key: &str) -> Result<Edited, SettingsError> {
    let mut doc = parse(text)?;
    let state = doc.get_mut(HOOKS).and_then(|hooks| hooks.get_mut("state"));
    let Some(states) = state.and_then(Item::as_table_like_mut) else {
        return Ok(Edited { text: text.into(), changes: Vec::new(), notes: Vec::new() });
    };
    let Some(removed) = states.remove(key) else {
        return Ok(Edited { text: text.into(), changes: Vec::new(), notes: Vec::new() });
    };
    let hash = removed.get("trusted_hash").and_then(Item::as_str).unwrap_or_default();
    let exact = trust_block(key, hash, newline(text));
    let after = cut(text, &exact, newline(text)).unwrap_or_else(|| doc.to_string());
    let changes = vec![format!("Codex no longer trusts the hook {key}.")];
    Ok(Edited { text: after, changes, notes: Vec::new() })
}

fn trust_block(key: &str, hash: &str, newline: &str) -> String {
    let (key, hash) = (Value::from(key), Value::from(hash));
    format!("[hooks.state.{key}]{newline}trusted_hash = {hash}{newline}")
}

/// One of our tables.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hook {
    event: String,
    command: String,
    timeout_s: Option<u64>,
}

/// Which of our tables go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    /// Those for the same loops.
    Same,
}

impl Hook {
    fn read(table: &Table) -> Option<Self> {
        let text = |key: &str| table.get(key).and_then(Item::as_str).map(String::from);
        let command = text("command")?;
        let words = EntryCommand::Shell(command.clone()).words();
        let is_own = words.first().is_some_and(|program| is_stopgate(program))
            && words.get(1).is_some_and(|word| word == "hook");
        let timeout_s = table.get("timeout").and_then(Item::as_integer);
        is_own.then(|| Self {
            event: text("event").unwrap_or_default(),
            command,
            timeout_s: timeout_s.and_then(|seconds| u64::try_from(seconds).ok()),
        })
    }

    fn dialect(&self) -> Option<String> {
        let words = EntryCommand::Shell(self.command.clone()).words();
        let at = words.iter().position(|word| word == "--dialect")?;
        Some(words.get(at + 1).cloned().unwrap_or_default())
    }

    fn print(&self, newline: &str) -> String {
        let (event, command) = (Value::from(self.event.as_str()), Value::from(&self.command));
        let timeout = self.timeout_s.unwrap_or_default();
        let lines = [
            "[[hooks]]".to_string(),
            format!("event = {event}"),
            format!("command = {command}"),
            format!("timeout = {timeout}"),
            String::new(),
        ];
        lines.join(newline)
    }
}

fn wanted(entry: &HookEntry) -> Vec<Hook> {
    let mut words = ["hook", entry.agent.word()].map(String::from).to_vec();
    let dialect = entry.dialect.as_deref();
    words.extend(dialect.into_iter().flat_map(|name| ["--dialect".into(), shell_word(name)]));
    let command = match entry.system {
        HookSystem::Unix => format!("{} {}", shell_word(&entry.program), words.join(" ")),
        HookSystem::Windows => {
            own_line(WindowsShell::Any, &entry.program, &words, WindowsGuard::Open)
        }
    };
    let hook = |(event, seconds): (&str, u32)| Hook {
        event: event.into(),
        command: command.clone(),
        timeout_s: Some(seconds.into()),
    };
    EVENTS.into_iter().map(hook).collect()
}

fn block(hooks: &[Hook], newline: &str) -> String {
    hooks.iter().map(|hook| hook.print(newline)).collect::<Vec<_>>().join(newline)
}

fn find_hooks(text: &str) -> Result<Vec<Hook>, SettingsError> {
    let doc = parse(text)?;
    let Some(hooks) = doc.get(HOOKS) else { return Ok(Vec::new()) };
    let Some(tables) = hooks.as_array_of_tables() else {
        let is_empty = hooks.as_array().is_some_and(toml_edit::Array::is_empty);
        if is_empty {
            return Ok(Vec::new());
        }
        // Only a document that is not to be changed knows where its parts stand.
        let fixed = Document::parse(text).ok();
        let span = fixed.as_ref().and_then(|doc| doc.get(HOOKS)).and_then(Item::span);
        let at = span.map_or(0, |span| span.start);
        return Err(SettingsError::WrongKind {
            key: HOOKS.into(),
            at: TextPosition::of(text, at),
            found: "a value",
            wanted: "tables [[hooks]]",
        });
    };
    Ok(tables.iter().filter_map(Hook::read).collect())
}

/// The text without our tables, and how many they were.
fn without(
    text: &str,
    dialect: Option<&str>,
    which: Which,
) -> Result<(String, usize), SettingsError> {
    let goes = |hook: &Hook| which == Which::All || hook.dialect().as_deref() == dialect;
    let going: Vec<Hook> = find_hooks(text)?.into_iter().filter(goes).collect();
    let newline = newline(text);
    if going.is_empty() {
        return Ok((text.into(), 0));
    }
    if let Some(after) = cut(text, &block(&going, newline), newline) {
        return Ok((after, going.len()));
    }
    let mut doc = parse(text)?;
    if let Some(tables) = doc.get_mut(HOOKS).and_then(Item::as_array_of_tables_mut) {
        tables.retain(|table| !Hook::read(table).is_some_and(|hook| goes(&hook)));
        if tables.is_empty() {
            doc.remove(HOOKS);
        }
    }
    Ok((doc.to_string(), going.len()))
}

/// Adds a block behind one line break.
fn append(text: &str, block: &str, newline: &str) -> String {
    let lead = if text.is_empty() { "" } else { newline };
    format!("{text}{lead}{block}")
}

/// Takes out a block that stands there as it was added, with its line break.
fn cut(text: &str, block: &str, newline: &str) -> Option<String> {
    let at = text.rfind(block)?;
    let (head, tail) = (&text[..at], &text[at + block.len()..]);
    let head = if head.is_empty() { head } else { head.strip_suffix(newline)? };
    let after = format!("{head}{tail}");
    // What another program put behind the block must not run into the line before it.
    parse(&after).is_ok().then_some(after)
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn parse(text: &str) -> Result<DocumentMut, SettingsError> {
    text.parse().map_err(|source: TomlError| {
        let at = TextPosition::of(text, source.span().map_or(0, |span| span.start));
        SettingsError::NotToml { at, source: Box::new(source) }
    })
}

pub(super) fn sha256_hex(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest.as_ref().iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
