//! The words of a text as a shell or make would work them out, as far as variables are known.
//!
//! Nothing is run. What can't be worked out stays unknown; a variable that is set in several
//! places has several values.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

/// Stands for what only the shell knows.
pub(super) const UNKNOWN: char = '\u{1}';

/// A variable with more values than this is not followed further.
const VALUES_MAX: usize = 4;
/// No path is longer.
const LETTERS_MAX: usize = 1024;
/// More words of one text are not looked at.
const WORDS_MAX: usize = 5_000;
/// More variables of one text are not known.
const VARIABLES_MAX: usize = 1_000;
/// Defaults within defaults are read this deep.
const DEPTH_MAX: usize = 4;

/// What a word is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// The text has the file read into itself: `. x`, `include x`.
    Sourced,
    /// What is there is written.
    Written,
    Other,
}

/// A word, worked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) is_for: Use,
}

/// The words of a text, and what it sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) found: Vec<Word>,
    pub(super) assigned: BTreeMap<String, Vec<String>>,
}

impl Words {
    /// The words of a text; `ask` knows variables that the text does not set.
    pub(super) fn of(text: &str, ask: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut words = Self::default();
        for line in text.replace("\\\n", " ").lines() {
            Reader::new(line, ask, &mut words, 0).line();
        }
        words
    }
}

struct Reader<'t> {
    letters: Peekable<Chars<'t>>,
    ask: &'t dyn Fn(&str) -> Option<String>,
    out: &'t mut Words,
    depth: usize,
    /// What the word that is being read may be.
    word: Vec<String>,
    /// The word before it, and the first one of its command.
    before: String,
    first: String,
    is_written: bool,
    /// How many words were found before the last one.
    last: usize,
    /// The variable that the next word is the value of.
    sets: Option<String>,
}

impl<'t> Reader<'t> {
    fn new(
        text: &'t str,
        ask: &'t dyn Fn(&str) -> Option<String>,
        out: &'t mut Words,
        depth: usize,
    ) -> Self {
        let letters = text.chars().peekable();
        let (before, first) = (String::new(), String::new());
        let word = Vec::new();
        let last = out.found.len();
        Self { letters, ask, out, depth, word, before, first, is_written: false, last, sets: None }
    }

    fn line(&mut self) {
        while let Some(letter) = self.letters.next() {
            match letter {
                '#' if self.word.is_empty() => break,
                '$' => self.dollar(),
                '\\' => drop(self.letters.next()),
                '=' => self.equals(),
                // `"$HOME"/bin` is one word.
                '"' | '\'' if self.goes_on() => {}
                ';' | '|' | '&' | '(' | '`' | '@' if self.word.is_empty() || letter != '@' => {
                    self.end_command();
                }
                '>' => {
                    self.end();
                    self.is_written = true;
                }
                ' ' | '\t' | '\r' | ')' | '<' | ',' | '"' | '\'' | '{' | '}' | '[' | ']' => {
                    self.end();
                }
                own => self.push(own.encode_utf8(&mut [0; 4])),
            }
        }
        self.end_command();
    }

    /// `cp a ../b` writes what it names last.
    fn end_command(&mut self) {
        self.end();
        if ["cp", "mv", "install", "rsync", "tee", "mkdir"].contains(&self.first.as_str()) {
            for word in self.out.found.iter_mut().skip(self.last) {
                word.is_for = Use::Written;
            }
        }
        self.first.clear();
        self.before.clear();
    }

    /// Whether the word goes on behind a quote.
    fn goes_on(&mut self) -> bool {
        !self.word.is_empty() && matches!(self.letters.peek(), Some('/' | '$'))
    }

    fn push(&mut self, text: &str) {
        self.push_any(&[text.to_string()]);
    }

    fn push_any(&mut self, values: &[String]) {
        if self.word.is_empty() {
            self.word.push(String::new());
        }
        let one =
            |word: &String| values.iter().map(|value| format!("{word}{value}")).collect::<Vec<_>>();
        if let ([word], [value]) = (self.word.as_mut_slice(), values) {
            word.push_str(value);
        } else {
            self.word = self.word.iter().flat_map(one).take(VALUES_MAX).collect();
        }
        self.word.retain(|word| word.len() < LETTERS_MAX);
    }

    /// `NAME=`, `NAME :=`, `NAME ?=`: what follows is a value.
    fn equals(&mut self) {
        let own = self.word.first().map_or("", String::as_str);
        let own = own.trim_end_matches([':', '?', '+']);
        let name = if own.is_empty() { self.before.clone() } else { own.to_string() };
        let is_compared = self.letters.next_if_eq(&'=').is_some();
        self.end();
        self.sets = (is_name(&name) && !is_compared).then_some(name);
    }

    fn end(&mut self) {
        let values = std::mem::take(&mut self.word);
        let Some(first) = values.first().cloned() else { return };
        if let Some(name) = self.sets.take() {
            self.assign(name, &values);
        }
        let is_for = self.use_of_word();
        self.is_written = false;
        self.last = self.out.found.len();
        if self.last < WORDS_MAX {
            self.out.found.extend(values.into_iter().map(|text| Word { text, is_for }));
        }
        if self.first.is_empty() {
            self.first.clone_from(&first);
        }
        self.before = first;
    }

    fn assign(&mut self, name: String, values: &[String]) {
        if self.out.assigned.len() < VARIABLES_MAX || self.out.assigned.contains_key(&name) {
            let known = self.out.assigned.entry(name).or_default();
            known.extend(values.iter().cloned());
            known.dedup();
            known.truncate(VALUES_MAX);
        }
    }

    fn use_of_word(&self) -> Use {
        let fetches = ["curl", "wget"].contains(&self.first.as_str());
        match (self.first.as_str(), self.before.as_str()) {
            _ if self.is_written => Use::Written,
            // What is fetched once is used from then on.
            (_, "-o" | "--output") if !fetches => Use::Written,
            ("include" | "-include" | "sinclude", _) | (_, "." | "source") => Use::Sourced,
            _ => Use::Other,
        }
    }

    fn dollar(&mut self) {
        // Make writes `$$HOME` for the shell's variable.
        self.letters.next_if_eq(&'$');
        match self.letters.peek() {
            Some('{') => {
                self.letters.next();
                let text = self.balanced('{', '}');
                self.braced(&text);
            }
            Some('(') => {
                self.letters.next();
                let text = self.balanced('(', ')');
                self.substituted(&text);
            }
            Some(letter) if letter.is_ascii_alphanumeric() || *letter == '_' => {
                let mut name = String::new();
                while let Some(own) =
                    self.letters.next_if(|own| own.is_ascii_alphanumeric() || *own == '_')
                {
                    name.push(own);
                }
                self.variable(&name, None);
            }
            _ => self.push(UNKNOWN.encode_utf8(&mut [0; 4])),
        }
    }

    fn balanced(&mut self, open: char, close: char) -> String {
        let (mut depth, mut text) = (1, String::new());
        for letter in self.letters.by_ref() {
            match letter {
                own if own == open => depth += 1,
                own if own == close => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            text.push(letter);
        }
        text
    }

    /// `${NAME}`, `${NAME:-default}`
    fn braced(&mut self, text: &str) {
        let is_end = |own: char| !(own.is_ascii_alphanumeric() || own == '_');
        let (name, rest) = text.split_at(text.find(is_end).unwrap_or(text.len()));
        let defaults = [":-", ":=", "-", "="];
        match defaults.iter().find_map(|own| rest.strip_prefix(own)) {
            Some(default) => self.variable(name, Some(default)),
            None if rest.is_empty() => self.variable(name, None),
            None => self.push(UNKNOWN.encode_utf8(&mut [0; 4])),
        }
    }

    /// `$(NAME)` of make, or what a command prints.
    fn substituted(&mut self, text: &str) {
        match text.trim() {
            name if is_name(name) && name != "pwd" => self.variable(name, None),
            "pwd" => self.variable("PWD", None),
            "go env GOPATH" => self.variable("GOPATH", Some("$HOME/go")),
            inner => {
                if self.depth < DEPTH_MAX {
                    Reader::new(inner, self.ask, self.out, self.depth + 1).line();
                }
                self.push(UNKNOWN.encode_utf8(&mut [0; 4]));
            }
        }
    }

    fn variable(&mut self, name: &str, default: Option<&str>) {
        let set = self.out.assigned.get(name).filter(|_| name != "PATH").cloned();
        let asked = || (self.ask)(name).map(|value| vec![value]);
        let known = set.or_else(asked).or_else(|| {
            let default = default.filter(|_| self.depth < DEPTH_MAX)?;
            let assigned = std::mem::take(&mut self.out.assigned);
            let mut apart = Words { assigned, ..Words::default() };
            Reader::new(default, self.ask, &mut apart, self.depth + 1).line();
            self.out.assigned = apart.assigned;
            let values: Vec<String> = apart.found.into_iter().map(|word| word.text).collect();
            Some(values).filter(|values| !values.is_empty())
        });
        self.push_any(&known.unwrap_or_else(|| vec![UNKNOWN.to_string()]));
    }
}

fn is_name(text: &str) -> bool {
    let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    plain && text.starts_with(|own: char| own.is_ascii_alphabetic() || own == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Words {
        let ask = |name: &str| match name {
            "HOME" => Some("/home/ann".to_string()),
            "PWD" => Some(".".to_string()),
            _ => None,
        };
        Words::of(text, &ask)
    }

    fn texts(text: &str) -> Vec<String> {
        words(text).found.into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn variables_are_worked_out_with_their_defaults() {
        let text = "tool=\"${XDG_CACHE_HOME:-$HOME/.cache}/x/tool\"\n\"$tool\" lib/*.sh\n";
        let found = texts(text);
        assert!(found.ends_with(&["/home/ann/.cache/x/tool".into(), "lib/*.sh".into()]));
        let text = "golden=${GOLDEN:-../golden}\ndiff \"$golden/two.txt\" -\n";
        assert!(texts(text).contains(&"../golden/two.txt".to_string()));
        assert!(texts("\"$HOME\"/bin/x").contains(&"/home/ann/bin/x".to_string()));
        assert!(texts("GO := $(HOME)/go/bin\n\t$(GO)/x").contains(&"/home/ann/go/bin/x".into()));
        assert_eq!(texts("$(dirname \"$0\")/../x").last().unwrap(), "\u{1}/../x");
    }

    #[test]
    fn a_variable_may_have_several_values_but_not_many() {
        let text = "if a; then t=../a; else t=../b; fi\nrun \"$t/x\"\n";
        let found = texts(text);
        assert!(found.ends_with(&["../a/x".into(), "../b/x".into()]), "{found:?}");
        let text = "x=a\n".to_string() + &"x=$x$x$x\n".repeat(50);
        assert!(words(&text).assigned["x"].len() <= VALUES_MAX);
    }

    #[test]
    fn what_is_read_into_the_text_is_told_from_what_it_writes() {
        let uses = |text: &str| {
            let found = words(text).found.into_iter();
            let led = found.filter(|word| word.text.starts_with("..")).map(|word| word.is_for);
            led.collect::<Vec<_>>()
        };
        assert_eq!(uses("-include ../config.mk ../b.mk"), [Use::Sourced; 2]);
        assert_eq!(uses("[ -f ../x ] && . ../x"), [Use::Other, Use::Sourced]);
        assert_eq!(uses("sort a > ../b; cat ../c"), [Use::Written, Use::Other]);
        assert_eq!(uses("mv ../a \"../b\"; cat ../c"), [Use::Other, Use::Written, Use::Other]);
        assert_eq!(uses("# see ../x"), []);
    }
}
