//! Telling our hook entries from everybody else's.

use jsonc_parser::ast::{Object, Value};

use super::form::JsonForm;
use super::windows::words_of;

#[cfg(test)]
mod tests;

/// Says that an entry is shared by a team.
pub(super) const SHARED: &str = "--shared";
/// Says that an entry is a plugin's.
pub(super) const PLUGIN: &str = "--plugin";

/// How a hook entry names its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryCommand {
    /// The program and its arguments, started directly.
    Exec(Vec<String>),
    /// A line for a shell.
    Shell(String),
}

/// A hook entry of ours.
#[derive(Clone, Debug)]
pub(super) struct Own {
    pub(super) command: EntryCommand,
    pub(super) timeout_s: Option<u64>,
    /// What the client shows while it runs.
    pub(super) message: Option<String>,
    /// How many keys the entry has.
    pub(super) keys: usize,
}

/// What an entry of ours passes on besides `hook claude`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Extras {
    /// These arguments.
    Words(Vec<String>),
    /// Something that only a shell can work out.
    Shell,
}

impl Own {
    /// Reads a hook entry, if it is one of ours.
    pub(super) fn read(hook: &Object<'_>, form: JsonForm) -> Option<Self> {
        if form.has_type && text(value(hook, "type")?)? != "command" {
            return None;
        }
        let command = command(hook, form)?;
        let words = command.words();
        let is_own = words.first().is_some_and(|program| is_stopgate(program))
            && words.get(1).is_some_and(|word| word == "hook");
        is_own.then(|| Self {
            command,
            timeout_s: value(hook, form.timeout_key)
                .and_then(number)
                .map(|units| units / u64::from(form.timeout_units)),
            message: value(hook, "statusMessage").and_then(text).map(String::from),
            keys: hook.properties.len(),
        })
    }

    /// Whose loop files the entry serves, if it does. Such an entry is a person's choice and stands
    /// beside the one for loops of our own.
    pub(super) fn dialect(&self) -> Option<String> {
        let words = self.command.words();
        let at = words.iter().position(|word| word.starts_with("--dialect"))?;
        match words[at].split_once('=') {
            Some((_, name)) => Some(name.into()),
            None => Some(words.get(at + 1).cloned().unwrap_or_default()),
        }
    }

    /// The arguments behind the agent's name.
    pub(super) fn extras(&self) -> Extras {
        let words = self.command.words();
        let mut extras = words.get(3..).unwrap_or_default().to_vec();
        extras.retain(|word| word != SHARED && word != PLUGIN);
        let needs_shell = matches!(self.command, EntryCommand::Shell(_))
            && extras.iter().any(|word| word.contains(['$', '`', '*', '?', '~']));
        if needs_shell { Extras::Shell } else { Extras::Words(extras) }
    }
}

impl EntryCommand {
    /// The command as one line.
    pub fn line(&self) -> String {
        match self {
            Self::Exec(argv) => {
                argv.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
            }
            Self::Shell(line) => line.clone(),
        }
    }

    /// The words of the command, up to a shell's first operator.
    pub fn words(&self) -> Vec<String> {
        match self {
            Self::Exec(argv) => argv.clone(),
            Self::Shell(line) => words_of(line).unwrap_or_else(|| shell_words(line)),
        }
    }
}

/// The value of a key.
pub(super) fn value<'t, 'a>(object: &'t Object<'a>, key: &str) -> Option<&'t Value<'a>> {
    object.properties.iter().find(|member| member.name.as_str() == key).map(|member| &member.value)
}

/// The text of a string.
pub(super) fn text<'t>(value: &'t Value<'_>) -> Option<&'t str> {
    value.as_string_lit().map(|text| text.value.as_ref())
}

fn command(hook: &Object<'_>, form: JsonForm) -> Option<EntryCommand> {
    let key = |key| value(hook, key).and_then(text);
    let program = key(form.command_key).or_else(|| key(form.windows_key?))?;
    let Some(args) = value(hook, "args").and_then(Value::as_array) else {
        return Some(EntryCommand::Shell(program.into()));
    };
    let args = args.elements.iter().map(|arg| text(arg).unwrap_or_default());
    Some(EntryCommand::Exec(std::iter::once(program).chain(args).map(String::from).collect()))
}

fn number(value: &Value<'_>) -> Option<u64> {
    value.as_number_lit()?.value.parse().ok()
}

pub(super) fn is_stopgate(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name == "stopgate" || name.eq_ignore_ascii_case("stopgate.exe")
}

/// The words of a shell line up to its first operator, without their quotes.
pub(super) fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match char {
            ' ' | '\t' => words.extend(word.take()),
            ';' | '&' | '|' | '(' | ')' | '\n' => break,
            // The number in `2>file` belongs to the operator.
            '<' | '>' => {
                word = word.filter(|word| word.parse::<u8>().is_err());
                break;
            }
            '\'' | '"' => quoted(&mut chars, char, word.get_or_insert_default()),
            '\\' => word.get_or_insert_default().extend(chars.next()),
            _ => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    words
}

fn quoted(chars: &mut std::str::Chars<'_>, quote: char, word: &mut String) {
    while let Some(char) = chars.next() {
        match char {
            _ if char == quote => return,
            '\\' if quote == '"' => word.extend(chars.next()),
            _ => word.push(char),
        }
    }
}

/// One word of a shell line.
pub(super) fn shell_word(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
