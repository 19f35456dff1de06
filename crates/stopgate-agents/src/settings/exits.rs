//! What else an installation puts into the settings: permission rules for the agent's exits,
//! and the status line.

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use stopgate_json::{JsonBracket, JsonItem};

use super::SettingsError;
use super::draft::{SettingsDraft, append_to_root};
use super::own::{is_stopgate, shell_word, shell_words, text, value};
use super::print::Json;

/// The commands that an agent may run without asking: those that let it leave, look or nest.
/// None of them runs or changes a check.
const VERBS: [&str; 7] = ["done", "blocked", "impossible", "ask", "status", "push", "pop"];

fn rules() -> impl Iterator<Item = String> {
    VERBS.iter().map(|verb| format!("Bash(stopgate {verb}:*)"))
}

impl SettingsDraft {
    /// Lets agents run their exits without a permission dialog.
    pub(super) fn allow_exits(&mut self) -> Result<(), SettingsError> {
        let before = self.text.clone();
        for rule in rules() {
            let Some(tree) = self.tree()? else { return Ok(()) };
            let json = Json::Text(rule.clone());
            let text = match (tree.object("permissions")?, tree.list("permissions", "allow")?) {
                (_, Some(allow)) if allow.elements.iter().any(|one| text(one) == Some(&rule)) => {
                    continue;
                }
                (_, Some(allow)) => stopgate_json::append(
                    &self.text,
                    &JsonBracket::from(allow),
                    &JsonItem::Element(&json),
                ),
                (Some(permissions), None) => {
                    let allow = Json::List(vec![json]);
                    let member = JsonItem::Member("allow", &allow);
                    stopgate_json::append(&self.text, &JsonBracket::from(permissions), &member)
                }
                (None, None) => {
                    let permissions = Json::Object(vec![("allow", Json::List(vec![json]))]);
                    append_to_root(&self.text, &tree, "permissions", &permissions)
                }
            };
            self.text = text;
        }
        if self.text != before {
            let verbs = VERBS.join(", ");
            self.changes
                .push(format!("Permission rules: agents may run stopgate {verbs} without asking."));
        }
        Ok(())
    }

    /// Takes the rules out again.
    pub(super) fn forbid_exits(&mut self) -> Result<(), SettingsError> {
        let before = self.text.clone();
        for rule in rules() {
            let Some(tree) = self.tree()? else { return Ok(()) };
            self.text = tree.without_word("permissions", "allow", &rule)?;
        }
        if self.text != before {
            self.changes.push("The permission rules for stopgate are removed.".into());
        }
        Ok(())
    }

    /// Shows the loop in the status line, behind what the person's own one says.
    pub(super) fn put_statusline(&mut self, program: &str) -> Result<(), SettingsError> {
        let Some(tree) = self.tree()? else { return Ok(()) };
        let own = format!("{} statusline", shell_word(program));
        let Some(line) = tree.object("statusLine")? else {
            let line = Json::Object(vec![
                ("type", Json::Text("command".into())),
                ("command", Json::Text(own)),
            ]);
            let text = append_to_root(&self.text, &tree, "statusLine", &line);
            self.change(text, "The status line shows the loop.".into());
            return Ok(());
        };
        let Some((command, at)) = value(line, "command").and_then(|v| Some((text(v)?, v.range())))
        else {
            self.notes.push("The status line is not a command and was left as it is.".into());
            return Ok(());
        };
        if is_own_line(command) {
            return Ok(());
        }
        let chained = Json::Text(format!("{own} --with {}", shell_word(command)));
        let text = stopgate_json::replace(&self.text, at, &chained);
        self.change(text, "The status line shows the loop behind your own line.".into());
        Ok(())
    }

    /// Brings back the status line that was there before.
    pub(super) fn restore_statusline(&mut self) -> Result<(), SettingsError> {
        let Some(tree) = self.tree()? else { return Ok(()) };
        let Some(line) = tree.object("statusLine")? else { return Ok(()) };
        let Some((command, at)) = value(line, "command").and_then(|v| Some((text(v)?, v.range())))
        else {
            return Ok(());
        };
        if !is_own_line(command) {
            return Ok(());
        }
        let words = shell_words(command);
        let text = match words.iter().position(|word| word == "--with") {
            Some(with) => {
                let before = words.get(with + 1).cloned().unwrap_or_default();
                stopgate_json::replace(&self.text, at, &Json::Text(before))
            }
            None => tree.without_root_member("statusLine")?,
        };
        self.change(text, "The previous status line is restored.".into());
        Ok(())
    }
}

fn is_own_line(command: &str) -> bool {
    let words = shell_words(command);
    words.first().is_some_and(|program| is_stopgate(program))
        && words.get(1).is_some_and(|word| word == "statusline")
}

/// The elements of a list that are texts.
pub(super) fn position(list: &jsonc_parser::ast::Array<'_>, word: &str) -> Option<usize> {
    list.elements.iter().position(|element: &Value<'_>| text(element) == Some(word))
}
