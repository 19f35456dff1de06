//! What a text must or must not say.

use std::path::{Path, PathBuf};

use regex::bytes::{Regex, RegexBuilder};
use stopgate_core::PatternSubject;

use super::places::{self, Content, Want};
use super::text::texts;
use super::{KindFinding, PathRule};

const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;
const FILES_MAX: usize = 1000;
/// How much is read in all.
const BYTES_MAX: usize = 256 * 1024 * 1024;
const HITS_MAX: usize = 20;
const LINE_CHARS_MAX: usize = 160;
/// An expression that needs more memory than this is refused.
const COMPILED_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Every file that the subject names (or the message) must match all of `must` and none of
/// `must_not`. What a message says is the word of its author.
pub fn pattern(
    root: &Path,
    subject: &PatternSubject,
    message: Option<&str>,
    must: &[String],
    must_not: &[String],
    rule: PathRule,
) -> KindFinding {
    let finding = look(root, subject, message, [must, must_not], rule);
    if *subject == PatternSubject::Message { finding.into_word() } else { finding }
}

fn look(
    root: &Path,
    subject: &PatternSubject,
    message: Option<&str>,
    [must, must_not]: [&[String]; 2],
    rule: PathRule,
) -> KindFinding {
    if must.is_empty() && must_not.is_empty() {
        return KindFinding::error("nothing is asked for: set must or must_not");
    }
    let demands = match compile(must).and_then(|must| Ok((must, compile(must_not)?))) {
        Ok((must, must_not)) => Demands { must, must_not },
        Err(trouble) => return KindFinding::error(trouble),
    };
    let mut seen = Seen::default();
    match (subject, message) {
        (PatternSubject::Message, None) => {
            return KindFinding::error("there is no message to look at: the agent gave none");
        }
        (PatternSubject::Message, Some(message)) => {
            demands.look("the message", message.as_bytes(), &mut seen);
        }
        (PatternSubject::File(pattern), _) => {
            let named = match named(root, pattern, rule) {
                Ok(named) => named,
                Err(trouble) => return KindFinding::error(trouble),
            };
            demands.look_at_files(root, &named, &mut seen);
        }
    }
    if let Some(trouble) = seen.trouble {
        return KindFinding::error(trouble);
    }
    if seen.faults.is_empty() {
        return KindFinding::pass(format!("{} looked at, as it must be", seen.count()));
    }
    let spots = if *subject == PatternSubject::Message { Vec::new() } else { seen.spots };
    KindFinding::fail(seen.faults.join("\n")).at(spots)
}

fn compile(expressions: &[String]) -> Result<Vec<Regex>, String> {
    let one = |expression: &String| {
        let mut builder = RegexBuilder::new(expression);
        builder.multi_line(true).crlf(true);
        builder.size_limit(COMPILED_BYTES_MAX).dfa_size_limit(COMPILED_BYTES_MAX);
        builder.build().map_err(|error| format!("{expression:?} is not an expression: {error}"))
    };
    expressions.iter().map(one).collect()
}

fn named(root: &Path, pattern: &str, rule: PathRule) -> Result<Vec<PathBuf>, String> {
    let named = places::find(root, pattern, rule, Want::Contents, FILES_MAX + 1)?;
    if let Some(unread) = named.unread {
        return Err(format!("could not look for {pattern:?}: {unread}"));
    }
    match named.paths.len() {
        0 => Err(format!("no file is named by {pattern:?}")),
        count if count > FILES_MAX => {
            Err(format!("{pattern:?} names more than {FILES_MAX} files: make it narrower"))
        }
        _ => Ok(named.paths),
    }
}

struct Demands {
    must: Vec<Regex>,
    must_not: Vec<Regex>,
}

/// What was seen so far.
#[derive(Default)]
struct Seen {
    looked_at: usize,
    bytes: usize,
    faults: Vec<String>,
    spots: Vec<String>,
    /// What could not be looked at; it proves nothing.
    trouble: Option<String>,
}

impl Demands {
    fn look_at_files(&self, root: &Path, paths: &[PathBuf], seen: &mut Seen) {
        for path in paths {
            if seen.bytes > BYTES_MAX {
                let limit = BYTES_MAX / 1024 / 1024;
                seen.trouble = Some(format!("the files are larger than {limit} MiB in all"));
                return;
            }
            let name = places::shown(root, path);
            match places::read(path, FILE_BYTES_MAX) {
                Content::Whole(text) => {
                    seen.bytes += text.len();
                    self.look(&name, &text, seen);
                }
                Content::TooLarge => {
                    let limit = FILE_BYTES_MAX / 1024 / 1024;
                    seen.trouble = Some(format!("{name} is larger than {limit} MiB"));
                }
                Content::Missing => {
                    seen.trouble = Some(format!("{name} could not be read: it is gone"));
                }
                Content::Unreadable(why) => {
                    seen.trouble = Some(format!("{name} could not be read: {why}"));
                }
            }
        }
    }

    /// A text may be kept in more than one way; none of them may hide anything.
    fn look(&self, name: &str, bytes: &[u8], seen: &mut Seen) {
        seen.looked_at += 1;
        let texts = texts(bytes);
        for expression in &self.must {
            if !texts.iter().any(|text| expression.is_match(text)) {
                seen.fault(format!("{name}: nothing matches {:?}", expression.as_str()));
            }
        }
        for text in &texts {
            self.look_for_hits(name, text, seen);
        }
    }

    fn look_for_hits(&self, name: &str, text: &[u8], seen: &mut Seen) {
        for expression in &self.must_not {
            let mut line = 1;
            let mut counted_to = 0;
            for hit in expression.find_iter(text).take(HITS_MAX) {
                line += newlines(&text[counted_to..hit.start()]);
                counted_to = hit.start();
                seen.hit(name, line, line_at(text, hit.start()));
            }
        }
    }
}

impl Seen {
    fn fault(&mut self, fault: String) {
        if self.faults.len() < HITS_MAX {
            self.faults.push(fault);
        }
    }

    fn hit(&mut self, name: &str, line: usize, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        let text: String = text.trim().chars().take(LINE_CHARS_MAX).collect();
        let spot = format!("{name}:{line}");
        if self.spots.len() < HITS_MAX && !self.spots.contains(&spot) {
            self.spots.push(spot);
        }
        self.fault(format!("{name}:{line}: must not be there: {text}"));
    }

    fn count(&self) -> String {
        if self.looked_at == 1 { "1 text".into() } else { format!("{} texts", self.looked_at) }
    }
}

fn newlines(text: &[u8]) -> usize {
    text.split(|byte| *byte == b'\n').count() - 1
}

/// The line around a place.
fn line_at(text: &[u8], at: usize) -> &[u8] {
    let start = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    let length = text[start..].iter().position(|byte| *byte == b'\n');
    &text[start..length.map_or(text.len(), |length| start + length)]
}
