//! Claude Code's `settings.json`, edited as text.
//!
//! Only our own entries are written, replaced or removed. Everybody else's
//! hooks, keys, comments, order and indentation stay byte for byte, and a file
//! that isn't what it should be is refused, never mended by guess.

mod error;

mod exits;

mod own;

mod print;

mod splice;

mod tree;

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;

pub use error::{Place, SettingsError};
pub use own::Command;

use own::{Extras, SHARED, value};
use print::{Json, quote};
use splice::{Bracket, Item};
use tree::{Spot, Tree};

#[cfg(test)]
mod tests;

/// The variable that lifts the client's limit on continuations.
pub const CAP_VARIABLE: &str = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";

/// The events that we answer, and how many seconds each may take. Checks run at a stop.
const EVENTS: [(&str, u32); 8] = [
    ("Stop", 600),
    ("SubagentStop", 10),
    ("SessionStart", 10),
    ("SessionEnd", 10),
    ("UserPromptSubmit", 10),
    ("PostToolBatch", 10),
    ("PreCompact", 10),
    ("StopFailure", 10),
];

const CAP_LIFTED: &str = "0";

/// What the client shows while checks run.
const MESSAGE: &str = "stopgate is running your checks (stopgate status)";

/// What an installation writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The absolute path of the program.
    pub program: String,
    /// How the hook finds it.
    pub form: EntryForm,
    /// Whether agents may run their exits without asking.
    pub exits: ExitRules,
    /// Whether the status line shows the loop.
    pub statusline: StatusLine,
}

/// How an installed hook finds its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryForm {
    /// By its path on this machine.
    Own,
    /// On the PATH of each person who works on the project; where it is missing, the agent may stop.
    Shared,
}

/// Whether agents may run their exits without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitRules {
    /// They may.
    Allow,
    /// Nothing is said about it.
    Leave,
}

/// Whether the status line shows the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusLine {
    /// It does, behind what it shows already.
    Show,
    /// It stays as it is.
    Leave,
}

impl Entry {
    /// The usual installation of the program at this path.
    pub fn new(program: &str) -> Self {
        Self {
            program: program.into(),
            form: EntryForm::Own,
            exits: ExitRules::Allow,
            statusline: StatusLine::Leave,
        }
    }
}

/// A settings file after an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The whole new text.
    pub text: String,
    /// What was changed, a sentence each. Empty if nothing was.
    pub changes: Vec<String>,
    /// What the person should know, a sentence each.
    pub notes: Vec<String>,
}

/// A hook entry of ours in a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The event's name, as the file has it.
    pub event: String,
    /// What it starts.
    pub command: Command,
    /// How long it may take, if the entry says so.
    pub timeout_s: Option<u64>,
}

/// Settings that decide whether our hooks can do their work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// No hook runs at all.
    pub disable_all_hooks: bool,
    /// What the file sets the limit on continuations to, if it does.
    pub cap: Option<String>,
}

/// Adds our entries to a settings file, or brings older ones of ours up to date.
/// A second time changes nothing.
pub fn install(text: Option<&str>, entry: &Entry) -> Result<Edited, SettingsError> {
    let mut draft = Draft::new(text.unwrap_or_default())?;
    let (mut added, mut replaced) = (Vec::new(), Vec::new());
    for (event, timeout_s) in EVENTS {
        draft.drop_doubles(event)?;
        match draft.put_hook(event, entry, timeout_s)? {
            Put::Added => added.push(event),
            Put::Replaced => replaced.push(event),
            Put::Nothing => {}
        }
    }
    let runs = match entry.form {
        EntryForm::Own => entry.program.clone(),
        EntryForm::Shared => "the stopgate on each person's PATH".into(),
    };
    draft.changes.extend(told("run", &added, &runs));
    draft.changes.extend(told("now run", &replaced, &runs));
    if entry.exits == ExitRules::Allow {
        draft.allow_exits()?;
    }
    if entry.statusline == StatusLine::Show {
        draft.put_statusline(&entry.program)?;
    }
    draft.lift_cap()?;
    draft.warn_if_disabled()?;
    draft.finish()
}

/// Removes our entries from a settings file, what they leave empty, and the
/// lifted limit if it came with them.
pub fn uninstall(text: &str) -> Result<Edited, SettingsError> {
    let mut draft = Draft::new(text)?;
    let mut removed = Vec::new();
    while let Some(event) = draft.drop_first()? {
        removed.push(event);
    }
    if !removed.is_empty() {
        let plural = if removed.len() == 1 { "hook is" } else { "hooks are" };
        let what = format!("{} {plural} gone: {}.", removed.len(), removed.join(", "));
        draft.changes.push(what);
        draft.restore_cap()?;
    }
    draft.forbid_exits()?;
    draft.restore_statusline()?;
    if draft.changes.is_empty() {
        return Ok(Edited { text: text.into(), changes: draft.changes, notes: draft.notes });
    }
    draft.finish()
}

/// Lists our entries in a settings file.
pub fn find(text: &str) -> Result<Vec<Found>, SettingsError> {
    let Some(tree) = Tree::read(without_bom(text))? else {
        return Ok(Vec::new());
    };
    for (event, _) in EVENTS {
        tree.groups(event)?;
    }
    let found = tree.spots()?.into_iter().map(|spot| Found {
        event: spot.event.into(),
        command: spot.own.command,
        timeout_s: spot.own.timeout_s,
    });
    Ok(found.collect())
}

/// Reads the settings that could keep our entries from working.
pub fn switches(text: &str) -> Result<Switches, SettingsError> {
    match Tree::read(without_bom(text))? {
        Some(tree) => switches_of(&tree),
        None => Ok(Switches::default()),
    }
}

/// A settings file on its way to being edited. Each step reads it anew.
struct Draft {
    bom: &'static str,
    text: String,
    changes: Vec<String>,
    notes: Vec<String>,
}

impl Draft {
    fn new(text: &str) -> Result<Self, SettingsError> {
        let bare = without_bom(text);
        let text_now = match Tree::read(bare)? {
            Some(_) => bare.into(),
            None if bare.trim().is_empty() => "{}\n".into(),
            None => format!("{}\n{{}}\n", bare.trim_end()),
        };
        let bom = if bare.len() < text.len() { "\u{feff}" } else { "" };
        Ok(Self { bom, text: text_now, changes: Vec::new(), notes: Vec::new() })
    }

    /// Hands out the text, if it can be read again.
    fn finish(self) -> Result<Edited, SettingsError> {
        Tree::read(&self.text)?;
        let text = format!("{}{}", self.bom, self.text);
        Ok(Edited { text, changes: self.changes, notes: self.notes })
    }

    fn change(&mut self, text: String, sentence: String) {
        self.text = text;
        self.changes.push(sentence);
    }

    /// Leaves at most one entry for an event.
    fn drop_doubles(&mut self, event: &str) -> Result<(), SettingsError> {
        while let Some(tree) = Tree::read(&self.text)? {
            let spots = tree.spots()?;
            let Some(double) = spots.iter().filter(|spot| serves(spot, event)).nth(1) else {
                break;
            };
            let text = tree.without(double);
            self.change(text, format!("A second {event} hook is gone."));
        }
        Ok(())
    }

    /// Brings an event's entry up to date, or adds it.
    fn put_hook(
        &mut self,
        event: &'static str,
        entry: &Entry,
        timeout_s: u32,
    ) -> Result<Put, SettingsError> {
        let Some(tree) = Tree::read(&self.text)? else {
            return Ok(Put::Nothing);
        };
        tree.groups(event)?;
        let spots = tree.spots()?;
        let Some(spot) = spots.iter().find(|spot| serves(spot, event)) else {
            let added = hook(entry, &[], event, timeout_s);
            self.text = add_hook(&self.text, &tree, event, &added)?;
            return Ok(Put::Added);
        };
        let limited = limited(spot);
        let Extras::Words(extras) = spot.own.extras() else {
            self.notes.push(format!("The {event} hook needs a shell and was left as it is."));
            return Ok(Put::Nothing);
        };
        self.notes.extend(limited);
        if is_current(spot, entry, &extras, timeout_s) {
            return Ok(Put::Nothing);
        }
        self.text = splice::replace(&self.text, spot.hook, &hook(entry, &extras, event, timeout_s));
        Ok(Put::Replaced)
    }

    fn lift_cap(&mut self) -> Result<(), SettingsError> {
        let Some(tree) = Tree::read(&self.text)? else {
            return Ok(());
        };
        if let Some(cap) = switches_of(&tree)?.cap {
            self.notes.extend(kept_cap(&cap));
            return Ok(());
        }
        let lifted = Json::Text(CAP_LIFTED.into());
        let text = if let Some(env) = tree.object("env")? {
            let variable = Item::Member(CAP_VARIABLE, &lifted);
            splice::append(&self.text, &Bracket::from(env), &variable)
        } else {
            let env = Json::Object(vec![(CAP_VARIABLE, lifted)]);
            append_to_root(&self.text, &tree, "env", &env)
        };
        let sentence = format!(
            "{CAP_VARIABLE} is {}: Claude Code's limit of 8 continuations is off, for all Stop \
             hooks.",
            quote(CAP_LIFTED)
        );
        self.change(text, sentence);
        Ok(())
    }

    fn warn_if_disabled(&mut self) -> Result<(), SettingsError> {
        if switches(&self.text)?.disable_all_hooks {
            self.notes.push("disableAllHooks is true here: no hook runs until it is gone.".into());
        }
        Ok(())
    }

    /// Removes the first entry of ours, and says of which event it was.
    fn drop_first(&mut self) -> Result<Option<String>, SettingsError> {
        let Some(tree) = Tree::read(&self.text)? else {
            return Ok(None);
        };
        let spots = tree.spots()?;
        let Some(spot) = spots.first() else {
            return Ok(None);
        };
        let event = spot.event.to_string();
        self.text = tree.without(spot);
        Ok(Some(event))
    }

    fn restore_cap(&mut self) -> Result<(), SettingsError> {
        let Some(tree) = Tree::read(&self.text)? else {
            return Ok(());
        };
        let env = tree.object("env")?;
        let cap = env.and_then(|env| value(env, CAP_VARIABLE)).and_then(own::text);
        if cap == Some(CAP_LIFTED) {
            let text = tree.without_member("env", CAP_VARIABLE)?;
            self.change(text, format!("{CAP_VARIABLE} is gone."));
        }
        Ok(())
    }
}

fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Whether this is the event's entry for loops of our own.
fn serves(spot: &Spot<'_>, event: &str) -> bool {
    spot.event == event && !spot.own.is_for_dialect()
}

/// What became of an event's hook.
enum Put {
    Added,
    Replaced,
    Nothing,
}

/// A sentence about hooks, where there are any.
fn told(verb: &str, events: &[&str], program: &str) -> Option<String> {
    let hooks = if events.len() == 1 { "1 hook".into() } else { format!("{} hooks", events.len()) };
    let verb = if events.len() == 1 { verb.replace("run", "runs") } else { verb.into() };
    (!events.is_empty()).then(|| format!("{hooks} {verb} {program}: {}.", events.join(", ")))
}

fn is_current(spot: &Spot<'_>, entry: &Entry, extras: &[String], timeout_s: u32) -> bool {
    let message = message_of(spot.event);
    let keys = match entry.form {
        EntryForm::Own => 4,
        EntryForm::Shared => 3,
    };
    spot.own.command == command_of(entry, extras)
        && spot.own.timeout_s == Some(timeout_s.into())
        && spot.own.message.as_deref() == message
        && spot.own.keys == keys + usize::from(message.is_some())
}

/// What the hook starts.
fn command_of(entry: &Entry, extras: &[String]) -> Command {
    match entry.form {
        EntryForm::Own => {
            let wanted = [entry.program.clone(), "hook".into(), "claude".into()];
            Command::Exec(wanted.into_iter().chain(extras.iter().cloned()).collect())
        }
        EntryForm::Shared => {
            let words = ["stopgate", "hook", "claude"].map(String::from).into_iter();
            let words: Vec<String> = words.chain(extras.iter().cloned()).collect();
            // Where the program is missing, the agent may stop, and nobody sees an error.
            Command::Shell(format!("{} {SHARED} 2>/dev/null || true", words.join(" ")))
        }
    }
}

/// What the client shows while this event's hook runs; only checks take long.
fn message_of(event: &str) -> Option<&'static str> {
    (event == "Stop").then_some(MESSAGE)
}

fn limited(spot: &Spot<'_>) -> Option<String> {
    let matcher = spot.matcher.filter(|matcher| !matches!(*matcher, "" | "*"))?;
    let event = spot.event;
    Some(format!("The {event} hook runs only where its matcher {} fits.", quote(matcher)))
}

fn hook(entry: &Entry, extras: &[String], event: &str, timeout_s: u32) -> Json {
    let mut members = vec![("type", Json::Text("command".into()))];
    match command_of(entry, extras) {
        Command::Exec(argv) => {
            let mut words = argv.into_iter();
            members.push(("command", Json::Text(words.next().unwrap_or_default())));
            members.push(("args", Json::Words(words.collect())));
        }
        Command::Shell(line) => members.push(("command", Json::Text(line))),
    }
    members.push(("timeout", Json::Number(timeout_s)));
    members.extend(message_of(event).map(|text| ("statusMessage", Json::Text(text.into()))));
    Json::Object(members)
}

fn add_hook(
    text: &str,
    tree: &Tree<'_>,
    event: &'static str,
    hook: &Json,
) -> Result<String, SettingsError> {
    let group = Json::Object(vec![("hooks", Json::List(vec![hook.clone()]))]);
    if let Some(groups) = tree.groups(event)? {
        return Ok(splice::append(text, &Bracket::from(groups), &Item::Element(&group)));
    }
    let groups = Json::List(vec![group]);
    if let Some(hooks) = tree.object("hooks")? {
        return Ok(splice::append(text, &Bracket::from(hooks), &Item::Member(event, &groups)));
    }
    let hooks = Json::Object(vec![(event, groups)]);
    Ok(append_to_root(text, tree, "hooks", &hooks))
}

fn append_to_root(text: &str, tree: &Tree<'_>, key: &str, value: &Json) -> String {
    splice::append(text, &Bracket::from(&tree.root), &Item::Member(key, value))
}

fn switches_of(tree: &Tree<'_>) -> Result<Switches, SettingsError> {
    let disabled = value(&tree.root, "disableAllHooks").and_then(Value::as_boolean_lit);
    let cap = tree.object("env")?.and_then(|env| value(env, CAP_VARIABLE));
    Ok(Switches {
        disable_all_hooks: disabled.is_some_and(|disabled| disabled.value),
        cap: cap.map(|cap| literal(tree, cap)),
    })
}

/// A text's content, or whatever else stands there, as it stands there.
fn literal(tree: &Tree<'_>, value: &Value<'_>) -> String {
    own::text(value).map_or_else(|| value.text(tree.text).into(), String::from)
}

fn kept_cap(cap: &str) -> Option<String> {
    if cap.trim().parse::<i64>().is_ok_and(|cap| cap <= 0) {
        return None;
    }
    Some(format!(
        "{CAP_VARIABLE} was {} already and stays so; set it to {} to lift the limit on continuations.",
        quote(cap),
        quote(CAP_LIFTED)
    ))
}
