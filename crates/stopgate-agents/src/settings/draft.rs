//! A JSON settings file on its way to being edited. Each step reads it anew.

use stopgate_json::{JsonBracket, JsonItem, quote};

use super::error::SettingsError;
use super::form::JsonForm;
use super::own::{self, EntryCommand, Extras, PLUGIN, SHARED, shell_word, value};
use super::print::Json;
use super::tree::{EntrySpot, SettingsTree};
use super::windows::{self, HookSystem, WindowsGuard, WindowsShell};
use super::{
    CAP_VARIABLE, Edited, EntryForm, ExitRules, HookEntry, InstalledEntry, StatusLine, switches,
    switches_of, without_bom,
};
use crate::HookEvent;

const CAP_LIFTED: &str = "0";

/// What the client shows while checks run.
pub(super) const MESSAGE: &str = "stopgate is running your checks (stopgate status)";

/// The events that formats of other tools' files answer.
const DIALECT_EVENTS: [HookEvent; 3] =
    [HookEvent::Stop, HookEvent::SessionStart, HookEvent::PreCompact];

pub(super) fn install(
    text: &str,
    form: JsonForm,
    entry: &HookEntry,
) -> Result<Edited, SettingsError> {
    let mut draft = SettingsDraft::new(text, form)?;
    draft.begin_file()?;
    let (mut added, mut replaced) = (Vec::new(), Vec::new());
    for event in form.events {
        if entry.dialect.is_some() && !DIALECT_EVENTS.contains(&event.event()) {
            continue;
        }
        draft.drop_doubles(event.name, entry.dialect.as_deref())?;
        match draft.put_hook(event.name, entry, event.timeout_s)? {
            Put::Added => added.push(event.name),
            Put::Replaced => replaced.push(event.name),
            Put::Nothing => {}
        }
    }
    let runs = match entry.form {
        EntryForm::Own => entry.program.clone(),
        EntryForm::Shared | EntryForm::Plugin => "the stopgate on each person's PATH".into(),
    };
    draft.changes.extend(told("run", &added, &runs));
    draft.changes.extend(told("now run", &replaced, &runs));
    if form.is_claude && entry.dialect.is_none() {
        if entry.exits == ExitRules::Allow {
            draft.allow_exits()?;
        }
        if entry.statusline == StatusLine::Show {
            draft.put_statusline(&entry.program)?;
        }
    }
    if form.is_claude {
        draft.lift_cap()?;
        draft.warn_if_disabled()?;
    }
    draft.finish()
}

pub(super) fn uninstall(
    text: &str,
    form: JsonForm,
    dialect: Option<&str>,
) -> Result<Edited, SettingsError> {
    let mut draft = SettingsDraft::new(text, form)?;
    let mut removed = Vec::new();
    while let Some(event) = draft.drop_first(dialect)? {
        removed.push(event);
    }
    if !removed.is_empty() {
        let plural = if removed.len() == 1 { "hook is" } else { "hooks are" };
        let what = format!("{} {plural} removed: {}.", removed.len(), removed.join(", "));
        draft.changes.push(what);
    }
    let is_last = find(&draft.text, form)?.is_empty();
    if form.is_claude && is_last {
        if !removed.is_empty() {
            draft.restore_cap()?;
        }
        draft.forbid_exits()?;
        draft.restore_statusline()?;
    }
    if draft.changes.is_empty() {
        return Ok(Edited { text: text.into(), changes: draft.changes, notes: draft.notes });
    }
    draft.finish()
}

pub(super) fn find(text: &str, form: JsonForm) -> Result<Vec<InstalledEntry>, SettingsError> {
    let Some(tree) = SettingsTree::read(without_bom(text), form)? else {
        return Ok(Vec::new());
    };
    for event in form.events {
        tree.groups(event.name)?;
    }
    let found = tree.spots()?.into_iter().map(|spot| InstalledEntry {
        event: spot.event.into(),
        kind: HookEvent::named(spot.event),
        command: spot.own.command,
        timeout_s: spot.own.timeout_s,
    });
    Ok(found.collect())
}

/// Whether the file holds nothing but what it must begin with.
pub(super) fn is_blank(text: &str, form: JsonForm) -> bool {
    match SettingsTree::read(without_bom(text), form) {
        Ok(Some(tree)) => {
            let begins = |name: &str| form.begins_with.is_some_and(|(key, _)| key == name);
            tree.is_bare() && tree.root.properties.iter().all(|one| begins(one.name.as_str()))
        }
        Ok(None) => text.trim().is_empty(),
        Err(_) => false,
    }
}

/// A settings file on its way to being edited.
pub(super) struct SettingsDraft {
    form: JsonForm,
    bom: &'static str,
    pub(super) text: String,
    pub(super) changes: Vec<String>,
    pub(super) notes: Vec<String>,
}

impl SettingsDraft {
    fn new(text: &str, form: JsonForm) -> Result<Self, SettingsError> {
        let bare = without_bom(text);
        let text_now = match SettingsTree::read(bare, form)? {
            Some(_) => bare.into(),
            None if bare.trim().is_empty() => "{}\n".into(),
            None => format!("{}\n{{}}\n", bare.trim_end()),
        };
        let bom = if bare.len() < text.len() { "\u{feff}" } else { "" };
        Ok(Self { form, bom, text: text_now, changes: Vec::new(), notes: Vec::new() })
    }

    /// The file as it is now.
    pub(super) fn tree(&self) -> Result<Option<SettingsTree<'_>>, SettingsError> {
        SettingsTree::read(&self.text, self.form)
    }

    /// Hands out the text, if it can be read again.
    fn finish(self) -> Result<Edited, SettingsError> {
        self.tree()?;
        let text = format!("{}{}", self.bom, self.text);
        Ok(Edited { text, changes: self.changes, notes: self.notes })
    }

    pub(super) fn change(&mut self, text: String, sentence: String) {
        self.text = text;
        self.changes.push(sentence);
    }

    /// Writes what a new file of this kind must have; a file with a content has it, or needs it not.
    fn begin_file(&mut self) -> Result<(), SettingsError> {
        let Some((key, number)) = self.form.begins_with else { return Ok(()) };
        let Some(tree) = self.tree()? else { return Ok(()) };
        if tree.root.properties.is_empty() {
            self.text = append_to_root(&self.text, &tree, key, &Json::Number(number));
        }
        Ok(())
    }

    /// Leaves at most one entry for an event.
    fn drop_doubles(&mut self, event: &str, dialect: Option<&str>) -> Result<(), SettingsError> {
        while let Some(tree) = self.tree()? {
            let spots = tree.spots()?;
            let Some(double) = spots.iter().filter(|spot| serves(spot, event, dialect)).nth(1)
            else {
                break;
            };
            let text = tree.without(double);
            self.change(text, format!("A second {event} hook is removed."));
        }
        Ok(())
    }

    /// Brings an event's entry up to date, or adds it.
    fn put_hook(
        &mut self,
        event: &'static str,
        entry: &HookEntry,
        timeout_s: u32,
    ) -> Result<Put, SettingsError> {
        let form = self.form;
        let Some(tree) = SettingsTree::read(&self.text, form)? else {
            return Ok(Put::Nothing);
        };
        tree.groups(event)?;
        let spots = tree.spots()?;
        let Some(spot) = spots.iter().find(|spot| serves(spot, event, entry.dialect.as_deref()))
        else {
            let added = hook(form, entry, &dialect_words(entry), event, timeout_s);
            self.text = add_hook(form, &self.text, &tree, event, &added)?;
            return Ok(Put::Added);
        };
        let limited = limited(spot);
        let Extras::Words(extras) = spot.own.extras() else {
            self.notes.push(format!("The {event} hook needs a shell and was left as it is."));
            return Ok(Put::Nothing);
        };
        self.notes.extend(limited);
        if is_current(form, spot, entry, &extras, timeout_s) {
            return Ok(Put::Nothing);
        }
        let now = hook(form, entry, &extras, event, timeout_s);
        self.text = stopgate_json::replace(&self.text, spot.hook, &now);
        Ok(Put::Replaced)
    }

    fn lift_cap(&mut self) -> Result<(), SettingsError> {
        let Some(tree) = self.tree()? else {
            return Ok(());
        };
        if let Some(cap) = switches_of(&tree)?.cap {
            self.notes.extend(kept_cap(&cap));
            return Ok(());
        }
        let lifted = Json::Text(CAP_LIFTED.into());
        let text = if let Some(env) = tree.object("env")? {
            let variable = JsonItem::Member(CAP_VARIABLE, &lifted);
            stopgate_json::append(&self.text, &JsonBracket::from(env), &variable)
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
            self.notes
                .push("disableAllHooks is true here: no hook runs until it is removed.".into());
        }
        Ok(())
    }

    /// Removes the first entry of ours, and says of which event it was.
    fn drop_first(&mut self, dialect: Option<&str>) -> Result<Option<String>, SettingsError> {
        let Some(tree) = self.tree()? else {
            return Ok(None);
        };
        let spots = tree.spots()?;
        let leaves =
            |spot: &&EntrySpot<'_>| dialect.is_none() || spot.own.dialect().as_deref() == dialect;
        let Some(spot) = spots.iter().find(leaves) else {
            return Ok(None);
        };
        let event = spot.event.to_string();
        self.text = tree.without(spot);
        Ok(Some(event))
    }

    fn restore_cap(&mut self) -> Result<(), SettingsError> {
        let Some(tree) = self.tree()? else {
            return Ok(());
        };
        let env = tree.object("env")?;
        let cap = env.and_then(|env| value(env, CAP_VARIABLE)).and_then(own::text);
        if cap == Some(CAP_LIFTED) {
            let text = tree.without_member("env", CAP_VARIABLE)?;
            self.change(text, format!("{CAP_VARIABLE} is removed."));
        }
        Ok(())
    }
}

/// Whether this is the event's entry for these loops.
fn serves(spot: &EntrySpot<'_>, event: &str, dialect: Option<&str>) -> bool {
    spot.event == event && spot.own.dialect().as_deref() == dialect
}

fn dialect_words(entry: &HookEntry) -> Vec<String> {
    let dialect = entry.dialect.iter().cloned();
    dialect.flat_map(|name| ["--dialect".to_string(), name]).collect()
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

fn is_current(
    form: JsonForm,
    spot: &EntrySpot<'_>,
    entry: &HookEntry,
    extras: &[String],
    timeout_s: u32,
) -> bool {
    let Json::Object(members) = hook(form, entry, extras, spot.event, timeout_s) else {
        return false;
    };
    spot.own.command == command_of(form, entry, extras)
        && spot.own.timeout_s == Some(timeout_s.into())
        && spot.own.message.as_deref() == message_of(form, spot.event)
        && spot.own.keys == members.len()
}

/// What the hook starts.
pub(super) fn command_of(form: JsonForm, entry: &HookEntry, extras: &[String]) -> EntryCommand {
    let agent = entry.agent.word();
    let words = ["hook", agent].map(String::from).into_iter();
    let words = words.chain(form.arguments.iter().map(ToString::to_string));
    let words =
        words.chain(extras.iter().filter(|e| !form.arguments.contains(&e.as_str())).cloned());
    if entry.form == EntryForm::Own && form.is_claude {
        return EntryCommand::Exec(std::iter::once(entry.program.clone()).chain(words).collect());
    }
    if entry.system == HookSystem::Windows {
        return EntryCommand::Shell(windows_line(form, entry, words.collect()));
    }
    match entry.form {
        EntryForm::Own => {
            let words = std::iter::once(entry.program.clone()).chain(words);
            let line = words.map(|word| shell_word(&word)).collect::<Vec<_>>().join(" ");
            EntryCommand::Shell(format!("{line}{}", form.guard()))
        }
        EntryForm::Shared => on_path(words, SHARED, path_guard(form)),
        EntryForm::Plugin => on_path(words, PLUGIN, plugin_guard(form)),
    }
}

/// The program on the PATH. Where it is missing, the agent may stop.
fn on_path(words: impl Iterator<Item = String>, owner: &str, guard: &str) -> EntryCommand {
    let words = words.map(|word| shell_word(&word)).collect::<Vec<_>>().join(" ");
    EntryCommand::Shell(format!("stopgate {words} {owner}{guard}"))
}

/// Nobody sees an error.
const fn path_guard(form: JsonForm) -> &'static str {
    if form.needs_exit_code { "" } else { " 2>/dev/null || true" }
}

/// A client that has one line for every system runs it in PowerShell, too: its guard is one that
/// both shells understand, at the price of a message where the program is missing.
fn plugin_guard(form: JsonForm) -> &'static str {
    let is_one_line = form.plugin_windows_key.is_none();
    if is_one_line && form.windows_shell == WindowsShell::PowerShell {
        return "; exit 0";
    }
    path_guard(form)
}

fn windows_line(form: JsonForm, entry: &HookEntry, mut words: Vec<String>) -> String {
    let silent = |is: bool| if is { WindowsGuard::Silent } else { WindowsGuard::Open };
    match entry.form {
        EntryForm::Own => {
            let guard = silent(form.needs_silence);
            windows::own_line(form.windows_shell, &entry.program, &words, guard)
        }
        EntryForm::Shared | EntryForm::Plugin => {
            let owner = if entry.form == EntryForm::Plugin { PLUGIN } else { SHARED };
            words.push(owner.into());
            let guard = silent(!form.needs_exit_code);
            windows::shared_line(form.windows_shell, &words, guard)
        }
    }
}

/// The second line of a plugin's entry, where the client has a key for it.
fn plugin_windows_line(
    form: JsonForm,
    entry: &HookEntry,
    extras: &[String],
) -> Option<(&'static str, Json)> {
    let key = form.plugin_windows_key.filter(|_| entry.form == EntryForm::Plugin)?;
    let entry = HookEntry { system: HookSystem::Windows, ..entry.clone() };
    Some((key, Json::Text(command_of(form, &entry, extras).line())))
}

/// What the client shows while this event's hook runs; only checks take long.
fn message_of(form: JsonForm, event: &str) -> Option<&'static str> {
    (form.has_message && HookEvent::named(event) == HookEvent::Stop).then_some(MESSAGE)
}

fn limited(spot: &EntrySpot<'_>) -> Option<String> {
    let matcher = spot.matcher.filter(|matcher| !matches!(*matcher, "" | "*"))?;
    let event = spot.event;
    Some(format!("The {event} hook runs only where its matcher {} fits.", quote(matcher)))
}

fn hook(form: JsonForm, entry: &HookEntry, extras: &[String], event: &str, timeout_s: u32) -> Json {
    let mut members = Vec::new();
    if form.has_type {
        members.push(("type", Json::Text("command".into())));
    }
    let key = form.key_on(entry.system);
    match command_of(form, entry, extras) {
        EntryCommand::Exec(argv) => {
            let mut words = argv.into_iter();
            members.push((key, Json::Text(words.next().unwrap_or_default())));
            members.push(("args", Json::Words(words.collect())));
        }
        EntryCommand::Shell(line) => members.push((key, Json::Text(line))),
    }
    members.extend(plugin_windows_line(form, entry, extras));
    members.push((form.timeout_key, Json::Number(form.timeout(timeout_s))));
    let message = message_of(form, event);
    members.extend(message.map(|text| ("statusMessage", Json::Text(text.into()))));
    if HookEvent::named(event) == HookEvent::Stop {
        members.extend(form.unlimited_key.map(|key| (key, Json::Null)));
    }
    Json::Object(members)
}

fn add_hook(
    form: JsonForm,
    text: &str,
    tree: &SettingsTree<'_>,
    event: &'static str,
    hook: &Json,
) -> Result<String, SettingsError> {
    let item = if form.has_groups {
        Json::Object(vec![("hooks", Json::List(vec![hook.clone()]))])
    } else {
        hook.clone()
    };
    if let Some(list) = tree.groups(event)? {
        return Ok(stopgate_json::append(
            text,
            &JsonBracket::from(list),
            &JsonItem::Element(&item),
        ));
    }
    let list = Json::List(vec![item]);
    if let Some(hooks) = tree.hooks()? {
        return Ok(stopgate_json::append(
            text,
            &JsonBracket::from(hooks),
            &JsonItem::Member(event, &list),
        ));
    }
    let hooks = Json::Object(vec![(event, list)]);
    Ok(append_to_root(text, tree, form.wrapper.unwrap_or_default(), &hooks))
}

pub(super) fn append_to_root(
    text: &str,
    tree: &SettingsTree<'_>,
    key: &str,
    value: &Json,
) -> String {
    stopgate_json::append(text, &JsonBracket::from(&tree.root), &JsonItem::Member(key, value))
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
