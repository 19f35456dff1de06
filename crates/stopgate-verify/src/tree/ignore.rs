//! `.gitignore` files, as git reads them.

use crate::glob::{Part, name_matches, parts_of, path_matches};

/// What one such file says.
#[derive(Clone, Debug, Default)]
pub(crate) struct IgnoreRules {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    meaning: Meaning,
    about: About,
    parts: Vec<Part>,
    place: Place,
}

/// What a rule does with what it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Ignore,
    Keep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    Anything,
    Directories,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A name, wherever it stands.
    Anywhere,
    /// A path from the file's own directory.
    FromHere,
}

/// What the named thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thing {
    File,
    Directory,
}

impl IgnoreRules {
    pub(crate) fn read(text: &[u8]) -> Self {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        Self { rules: text.split(|byte| *byte == b'\n').filter_map(rule).collect() }
    }

    /// What the last rule about this path says; the path is from the file's own directory.
    pub(crate) fn about(&self, path: &[u8], thing: Thing) -> Option<Meaning> {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        let fits = |rule: &&Rule| {
            (rule.about == About::Anything || thing == Thing::Directory)
                && match (rule.place, rule.parts.as_slice()) {
                    (Place::Anywhere, [Part::Name(pattern)]) => name_matches(pattern, name),
                    (Place::Anywhere, [Part::AnyDepth]) => true,
                    (Place::Anywhere | Place::FromHere, parts) => path_matches(parts, path),
                }
        };
        self.rules.iter().rev().find(fits).map(|rule| rule.meaning)
    }
}

fn rule(line: &[u8]) -> Option<Rule> {
    let line = without_blank_end(line.strip_suffix(b"\r").unwrap_or(line));
    if line.is_empty() || line.starts_with(b"#") {
        return None;
    }
    let (meaning, line) = match line.strip_prefix(b"!") {
        Some(rest) => (Meaning::Keep, rest),
        None => (Meaning::Ignore, line),
    };
    let (about, line) = match line.strip_suffix(b"/") {
        Some(rest) => (About::Directories, rest),
        None => (About::Anything, line),
    };
    let place = if line.contains(&b'/') { Place::FromHere } else { Place::Anywhere };
    let parts = parts_of(line);
    (!parts.is_empty()).then_some(Rule { meaning, about, parts, place })
}

/// Blanks at the end do not count, unless a backslash stands before them.
fn without_blank_end(line: &[u8]) -> &[u8] {
    let mut end = line.len();
    while end > 0 && line[end - 1] == b' ' {
        let escaped = line[..end - 1].iter().rev().take_while(|byte| **byte == b'\\').count() % 2;
        if escaped == 1 {
            break;
        }
        end -= 1;
    }
    &line[..end]
}
