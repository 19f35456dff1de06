//! Shell code that tests read into themselves: functions with the names of commands that judges
//! run. One that is new would answer in the place of the command.

use std::collections::BTreeSet;

use super::Judging;
use super::blocks::{TextBlock, push};

pub(super) fn judging(text: &str, commands: &BTreeSet<String>) -> Judging {
    let names = names(&blocks(text, commands));
    Judging { sections: names.into_iter().collect(), ..Judging::default() }
}

/// Today's text without the functions that are new, and with those that are gone. One that was
/// there is the work's, whatever it does now.
pub(super) fn restore(original: &str, today: &str, commands: &BTreeSet<String>) -> String {
    let (original, today) = (blocks(original, commands), blocks(today, commands));
    let (was, is) = (names(&original), names(&today));
    let stays = |block: &&TextBlock| block.key.as_ref().is_none_or(|name| was.contains(name));
    let is_gone = |block: &&TextBlock| block.key.as_ref().is_some_and(|name| !is.contains(name));
    let mut text = String::new();
    let blocks = today.iter().filter(stays).chain(original.iter().filter(is_gone));
    blocks.for_each(|block| push(&mut text, &block.text));
    text
}

fn names(blocks: &[TextBlock]) -> BTreeSet<String> {
    blocks.iter().filter_map(|block| block.key.clone()).collect()
}

fn blocks(text: &str, commands: &BTreeSet<String>) -> Vec<TextBlock> {
    let mut found: Vec<TextBlock> = Vec::new();
    let mut groups = Groups::default();
    for line in text.split_inclusive('\n') {
        let inside = found.last().is_some_and(|last| last.key.is_some() && groups.are_open());
        if let Some(last) = found.last_mut().filter(|_| inside) {
            last.text.push_str(line);
            groups.read(line);
            continue;
        }
        let key = defined(line).filter(|name| commands.contains(*name)).map(str::to_string);
        groups = Groups { has_body: line.trim_start().starts_with("alias "), ..Groups::default() };
        groups.read(line);
        found.push(TextBlock { key, says: String::new(), text: line.into() });
    }
    found
}

/// The function or the alias that a line defines: `diff() {`, `function diff {`, `alias diff=x`.
fn defined(line: &str) -> Option<&str> {
    let code = line.trim_start();
    if code.starts_with('#') {
        return None;
    }
    let is_end = |letter: char| letter.is_whitespace() || ";&|(){}=\"'".contains(letter);
    for word in ["function ", "alias "] {
        let Some(at) = code.find(word).filter(|at| is_free(code, *at)) else { continue };
        let rest = code[at + word.len()..].trim_start();
        return Some(&rest[..rest.find(is_end).unwrap_or(rest.len())]);
    }
    let (before, _) =
        code.split_once('(').filter(|(_, rest)| rest.trim_start().starts_with(')'))?;
    let before = before.trim_end();
    let begin = before.rfind(is_end).map_or(0, |at| at + 1);
    Some(&before[begin..]).filter(|name| !name.is_empty())
}

/// Whether a word may begin there.
fn is_free(code: &str, at: usize) -> bool {
    let before = code[..at].chars().next_back();
    before.is_none_or(|letter| letter.is_whitespace() || ";&|{(\"'".contains(letter))
}

/// What a definition has opened and closed so far.
#[derive(Default)]
struct Groups {
    has_body: bool,
    braces: (usize, usize),
    rounds: (usize, usize),
}

impl Groups {
    fn read(&mut self, line: &str) {
        let count = |sign: char| line.matches(sign).count();
        self.braces.0 += count('{');
        self.braces.1 += count('}');
        self.rounds.0 += count('(');
        self.rounds.1 += count(')');
        self.has_body |= line.contains(['[', '{']);
    }

    /// Whether the definition goes on in the next line.
    fn are_open(&self) -> bool {
        let (opened, closed) = if self.braces.0 > 0 { self.braces } else { self.rounds };
        let has_body = self.has_body || self.rounds.0 > 1;
        !has_body || opened > closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands() -> BTreeSet<String> {
        ["diff", "[", "echo"].map(String::from).into()
    }

    #[test]
    fn functions_and_aliases_with_the_names_of_commands_are_found() {
        for line in [
            "diff() { :; }",
            "  diff ( ) {",
            "function diff {",
            "function diff() {",
            "alias diff=true",
            "true; diff() { :; }",
            "eval 'diff() { :; }'",
            "diff() (",
            "diff()\n",
        ] {
            assert_eq!(defined(line), Some("diff"), "{line}");
        }
        assert_eq!(defined("[() { return 0; }"), Some("["));
        for line in ["# diff() {", "diff a b", "x=$(diff a b)", "greet Ann", ""] {
            assert!(judging(line, &commands()).is_empty(), "{line}");
        }
    }

    #[test]
    fn new_ones_are_left_out_and_known_ones_are_the_work_s() {
        let original = "greet() {\n  echo \"hi $1\"\n}\necho() {\n  printf '%s\\n' \"$*\"\n}\n";
        let greet = "greet() {\n  echo \"hello $1\"\n}\n";
        let echo = "echo() {\n  command printf '%s\\n' \"$*\"\n}\n";
        let today = format!("{greet}diff()\n{{\n  [ -s \"$1\" ] && {{ :; }}\n}}\n{echo}last=1\n");
        assert_eq!(restore(original, &today, &commands()), format!("{greet}{echo}last=1\n"));
        let edited = format!("{greet}{echo}");
        assert_eq!(judging(original, &commands()), judging(&edited, &commands()));
        let gone = restore(original, greet, &commands());
        assert_eq!(judging(&gone, &commands()), judging(original, &commands()));
    }
}
