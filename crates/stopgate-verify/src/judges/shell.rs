//! Enough of the shell's language to see which commands a text has and where their output goes.
//!
//! Nothing is expanded: a part of a word that only a shell could work out is [`UNKNOWN`].

use std::collections::{BTreeMap, BTreeSet};

/// Stands for a part of a word that only the shell knows.
pub(super) const UNKNOWN: char = '\u{0}';

/// Substitutions within substitutions are read this deep.
const DEPTH_MAX: usize = 12;

/// What becomes of the output of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputFate {
    /// It is shown.
    Shown,
    /// Another command, a variable or a file takes it.
    Taken,
}

/// What separates a command from the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    /// `;`, `&` or the end of the line.
    Next,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
}

/// One simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShellStep {
    /// The program and its arguments.
    pub(super) words: Vec<String>,
    /// Variables that are set for it, or by it where there is no program.
    pub(super) assigned: Vec<(String, String)>,
    pub(super) fate: OutputFate,
    /// What follows it.
    pub(super) joint: Joint,
    /// The file that it reads; of a loop, behind its end.
    pub(super) input: Option<String>,
}

/// A part of a script, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ScriptPart {
    /// A command.
    Step(ShellStep),
    /// A subshell begins.
    Enter,
    /// A subshell ends.
    Leave,
}

/// A text as commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShellScript {
    pub(super) parts: Vec<ScriptPart>,
    /// Functions that the text defines.
    pub(super) functions: BTreeSet<String>,
}

impl ShellScript {
    /// The commands of a text.
    pub(super) fn parse(text: &str) -> Self {
        let mut script = Self::default();
        let mut reader = Reader::new(text, 0);
        reader.script(&mut script, OutputFate::Shown);
        script
    }

    /// `) || true`: what is said of the group is said of its last command.
    fn join_last(&mut self, joint: Joint) {
        let last = self.parts.iter_mut().rev().find_map(|part| match part {
            ScriptPart::Step(step) => Some(step),
            ScriptPart::Enter | ScriptPart::Leave => None,
        });
        if let (Some(last), Joint::Or | Joint::And | Joint::Pipe) = (last, joint) {
            last.joint = joint;
        }
    }

    /// Its commands, without the places where subshells begin and end.
    pub(super) fn steps(&self) -> impl Iterator<Item = &ShellStep> {
        self.parts.iter().filter_map(|part| match part {
            ScriptPart::Step(step) => Some(step),
            ScriptPart::Enter | ScriptPart::Leave => None,
        })
    }
}

/// Whether the shell would have to work the word out.
pub(super) fn is_open(word: &str) -> bool {
    word.contains(UNKNOWN)
}

struct Reader<'t> {
    letters: std::iter::Peekable<std::str::Chars<'t>>,
    depth: usize,
    /// Ends of here-documents that begin after this line.
    documents: Vec<String>,
    word: Option<String>,
    step: ShellStep,
    redirect: Redirect,
    /// Simple variables of the text, so that `DIR=ci; . $DIR/lib.sh` can be followed.
    known: BTreeMap<String, String>,
}

/// What the word that is being read is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Redirect {
    /// An argument.
    None,
    /// Where output goes.
    Output,
    /// Where input comes from.
    Input,
    /// Something else that does not matter.
    Other,
    /// The end of a here-document.
    Document,
}

const EMPTY: ShellStep = ShellStep {
    words: Vec::new(),
    assigned: Vec::new(),
    fate: OutputFate::Shown,
    joint: Joint::Next,
    input: None,
};

impl<'t> Reader<'t> {
    fn new(text: &'t str, depth: usize) -> Self {
        Self {
            letters: text.chars().peekable(),
            depth,
            documents: Vec::new(),
            word: None,
            step: EMPTY,
            redirect: Redirect::None,
            known: BTreeMap::new(),
        }
    }

    /// Reads to the end, or to the parenthesis that closes it.
    fn script(&mut self, out: &mut ShellScript, fate: OutputFate) {
        let mut open = 0_usize;
        while let Some(letter) = self.letters.next() {
            match letter {
                '#' if self.word.is_none() => self.skip_line(),
                ' ' | '\t' | '\r' => self.end_word(),
                '\n' => {
                    self.end_step(out, fate, Joint::Next);
                    self.skip_documents();
                }
                ';' => self.end_step(out, fate, Joint::Next),
                '&' => self.ampersand(out, fate),
                '|' => self.bar(out, fate),
                '(' if self.defines_function(out) => {}
                '(' => {
                    self.end_step(out, fate, Joint::Next);
                    open += 1;
                    out.parts.push(ScriptPart::Enter);
                }
                ')' if open == 0 && self.depth > 0 => break,
                ')' => {
                    self.end_step(out, fate, Joint::Next);
                    open = open.saturating_sub(1);
                    out.parts.push(ScriptPart::Leave);
                }
                '<' | '>' => self.redirection(letter, out),
                other => self.letter(other, out),
            }
        }
        self.end_step(out, fate, Joint::Next);
    }

    /// A letter of a word.
    fn letter(&mut self, letter: char, out: &mut ShellScript) {
        match letter {
            '\'' => {
                let text: String = self.letters.by_ref().take_while(|own| *own != '\'').collect();
                self.push(&text);
            }
            '"' => self.quoted(out),
            '\\' => match self.letters.next() {
                Some('\n') | None => {}
                Some(own) => self.push(own.encode_utf8(&mut [0; 4])),
            },
            '$' => self.dollar(out),
            '`' => self.backticks(out),
            plain => self.push(plain.encode_utf8(&mut [0; 4])),
        }
    }

    fn push(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }

    fn quoted(&mut self, out: &mut ShellScript) {
        self.push("");
        while let Some(letter) = self.letters.next() {
            match letter {
                '"' => return,
                '\\' => match self.letters.next() {
                    Some('\n') | None => {}
                    Some(own) if "\"\\$`".contains(own) => {
                        self.push(own.encode_utf8(&mut [0; 4]));
                    }
                    Some(own) => self.push(&format!("\\{own}")),
                },
                '$' => self.dollar(out),
                '`' => self.backticks(out),
                plain => self.push(plain.encode_utf8(&mut [0; 4])),
            }
        }
    }

    fn dollar(&mut self, out: &mut ShellScript) {
        match self.letters.peek() {
            Some('(') => {
                self.letters.next();
                if self.letters.peek() == Some(&'(') {
                    self.balanced('(', ')', 1);
                } else {
                    self.substitution(out);
                }
                self.push(UNKNOWN.encode_utf8(&mut [0; 4]));
            }
            Some('{') => {
                self.letters.next();
                let text = self.balanced('{', '}', 1);
                self.variable(&text);
            }
            Some('\'') => {}
            Some(letter) if letter.is_ascii_alphanumeric() || *letter == '_' => {
                let mut name = String::new();
                let in_name = |own: &char| own.is_ascii_alphanumeric() || *own == '_';
                while let Some(own) = self.letters.next_if(in_name) {
                    name.push(own);
                }
                self.variable(&name);
            }
            Some(letter) if "@*#?-$!".contains(*letter) => {
                self.letters.next();
                self.push(UNKNOWN.encode_utf8(&mut [0; 4]));
            }
            _ => self.push("$"),
        }
    }

    fn variable(&mut self, name: &str) {
        let text = self.known.get(name).cloned();
        self.push(&text.unwrap_or_else(|| UNKNOWN.to_string()));
    }

    /// The rest of a group whose opening letters were read.
    fn balanced(&mut self, open: char, close: char, depth: usize) -> String {
        let (mut depth, mut text) = (depth, String::new());
        for letter in self.letters.by_ref() {
            if letter == open {
                depth += 1;
            } else if letter == close {
                depth -= 1;
            }
            if depth == 0 {
                break;
            }
            text.push(letter);
        }
        text
    }

    /// A substitution: its commands come before the one that has it.
    fn substitution(&mut self, out: &mut ShellScript) {
        if self.depth >= DEPTH_MAX {
            self.balanced('(', ')', 1);
            return;
        }
        // The same letters go on in a reader of their own, up to the parenthesis.
        let mut inner = Reader {
            letters: self.letters.clone(),
            depth: self.depth + 1,
            documents: Vec::new(),
            word: None,
            step: EMPTY,
            redirect: Redirect::None,
            known: self.known.clone(),
        };
        out.parts.push(ScriptPart::Enter);
        inner.script(out, OutputFate::Taken);
        out.parts.push(ScriptPart::Leave);
        self.letters = inner.letters;
    }

    fn backticks(&mut self, out: &mut ShellScript) {
        let text: String = self.letters.by_ref().take_while(|own| *own != '`').collect();
        if self.depth < DEPTH_MAX {
            let mut inner = Reader::new(&text, 0);
            inner.depth = self.depth + 1;
            inner.known.clone_from(&self.known);
            out.parts.push(ScriptPart::Enter);
            inner.script(out, OutputFate::Taken);
            out.parts.push(ScriptPart::Leave);
        }
        self.push(UNKNOWN.encode_utf8(&mut [0; 4]));
    }

    fn ampersand(&mut self, out: &mut ShellScript, fate: OutputFate) {
        if self.letters.next_if_eq(&'&').is_some() {
            self.end_step(out, fate, Joint::And);
        } else if self.letters.next_if_eq(&'>').is_some() {
            self.letters.next_if_eq(&'>');
            self.end_word();
            self.redirect = Redirect::Output;
        } else {
            self.end_step(out, fate, Joint::Next);
        }
    }

    fn bar(&mut self, out: &mut ShellScript, fate: OutputFate) {
        if self.letters.next_if_eq(&'|').is_some() {
            self.end_step(out, fate, Joint::Or);
        } else {
            self.letters.next_if_eq(&'&');
            self.step.fate = OutputFate::Taken;
            self.end_step(out, fate, Joint::Pipe);
        }
    }

    fn redirection(&mut self, letter: char, out: &mut ShellScript) {
        let channel = self.word.as_deref().filter(|word| word.bytes().all(|b| b.is_ascii_digit()));
        let is_errors = channel.is_some_and(|channel| channel != "1" && !channel.is_empty());
        if channel.is_some_and(|channel| !channel.is_empty()) {
            self.word = None;
        }
        self.end_word();
        let mut sign = String::from(letter);
        while let Some(own) = self.letters.next_if(|own| "<>&|-".contains(*own)) {
            sign.push(own);
        }
        if matches!(sign.as_str(), "<" | ">") && self.letters.next_if_eq(&'(').is_some() {
            self.substitution(out);
            self.push(UNKNOWN.encode_utf8(&mut [0; 4]));
            return;
        }
        self.redirect = match sign.as_str() {
            "<<" | "<<-" => Redirect::Document,
            "<" => Redirect::Input,
            ">" | ">>" | ">|" if !is_errors => Redirect::Output,
            sign if sign.ends_with('-') && sign.len() > 1 => Redirect::None,
            _ => Redirect::Other,
        };
    }

    /// `name()`: what follows is its body.
    fn defines_function(&mut self, out: &mut ShellScript) -> bool {
        let mut ahead = self.letters.clone();
        while ahead.next_if(|own| *own == ' ').is_some() {}
        let name = self.word.clone().or_else(|| self.step.words.last().cloned());
        let Some(name) = name.filter(|_| ahead.next() == Some(')')) else { return false };
        self.letters = ahead;
        out.functions.insert(name);
        (self.word, self.step) = (None, EMPTY);
        true
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match std::mem::replace(&mut self.redirect, Redirect::None) {
            Redirect::Output if word != "/dev/null" && !word.starts_with("/dev/std") => {
                self.step.fate = OutputFate::Taken;
            }
            Redirect::Input => self.step.input = Some(word),
            Redirect::Output | Redirect::Other => {}
            Redirect::Document => self.documents.push(word),
            Redirect::None => self.argument(word),
        }
    }

    fn argument(&mut self, word: String) {
        if self.step.words.is_empty() {
            if is_keyword(&word) {
                return;
            }
            if let Some((name, value)) = assignment(&word) {
                self.step.assigned.push((name.into(), value.into()));
                return;
            }
        }
        self.step.words.push(word);
    }

    fn end_step(&mut self, out: &mut ShellScript, fate: OutputFate, joint: Joint) {
        self.end_word();
        self.redirect = Redirect::None;
        let mut step = std::mem::replace(&mut self.step, EMPTY);
        step.joint = joint;
        if step.words.is_empty() {
            self.known.extend(step.assigned.iter().filter(|(_, value)| !is_open(value)).cloned());
            if step.input.is_some() {
                step.words.push("done".into());
            } else if step.assigned.is_empty() {
                return out.join_last(joint);
            }
        }
        if fate == OutputFate::Taken {
            step.fate = OutputFate::Taken;
        }
        out.parts.push(ScriptPart::Step(step));
    }

    fn skip_line(&mut self) {
        while self.letters.next_if(|letter| *letter != '\n').is_some() {}
    }

    fn skip_documents(&mut self) {
        for end in std::mem::take(&mut self.documents) {
            let mut line = String::new();
            while self.letters.peek().is_some() && line.trim() != end {
                line = self.letters.by_ref().take_while(|own| *own != '\n').collect();
            }
        }
    }
}

/// Words that stand before a command without being one.
fn is_keyword(word: &str) -> bool {
    const KEYWORDS: [&str; 13] =
        ["if", "then", "else", "elif", "fi", "while", "until", "do", "done", "!", "{", "}", "esac"];
    KEYWORDS.contains(&word)
}

/// The name and the value that a word sets.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (plain && !name.is_empty() && !name.as_bytes()[0].is_ascii_digit()).then_some((name, value))
}
