//! Patterns of paths, as people and `.gitignore` files write them.
//!
//! A pattern is matched part by part: `*` and `?` stay within one name, `**` stands for any
//! number of directories, `{a,b}` for either. A match costs at most the product of the two
//! lengths: patterns come from repositories, and a stranger's may be made to be slow. Nothing
//! here looks at a disk.

/// How many alternatives the braces of one pattern may have in all.
const ALTERNATIVES_MAX: usize = 256;

/// One part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Any number of directories, also none.
    AnyDepth,
    /// One name.
    Name(Vec<u8>),
}

/// Patterns from one directory down; each also stands for all that lies below what it names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Globs {
    patterns: Vec<Vec<Part>>,
}

impl Globs {
    /// Reads patterns; gives back the first that can't be one.
    pub(crate) fn new<T: AsRef<str>>(patterns: &[T]) -> Result<Self, String> {
        let mut read = Vec::new();
        for pattern in patterns {
            let pattern = pattern.as_ref();
            let wrong = || pattern.to_string();
            for plain in alternatives(pattern.trim()).ok_or_else(wrong)? {
                read.push(from_root(&plain).ok_or_else(wrong)?);
            }
        }
        Ok(Self { patterns: read })
    }

    /// Whether a file at `path` is meant.
    pub(crate) fn takes(&self, path: &[u8]) -> bool {
        self.patterns.iter().any(|parts| reaches(parts, path) == Reach::Here)
    }

    /// Whether something that is meant may be in the directory `path`.
    pub(crate) fn enters(&self, path: &[u8]) -> bool {
        self.patterns.iter().any(|parts| reaches(parts, path) != Reach::Never)
    }

    /// Whether one of them has this very name as a part.
    pub(crate) fn names(&self, name: &[u8]) -> bool {
        let is_it = |part: &Part| matches!(part, Part::Name(own) if own == name);
        self.patterns.iter().any(|parts| parts.iter().any(is_it))
    }
}

/// How a path stands to a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// It is meant, or lies below what is.
    Here,
    /// Something below it may be.
    Below,
    /// Neither.
    Never,
}

/// Patterns also stand for what is below what they name, as if each ended in `**`.
fn reaches(parts: &[Part], path: &[u8]) -> Reach {
    let fixed = parts.iter().take_while(|part| **part != Part::AnyDepth).count();
    let Some(rest) = after_names(&parts[..fixed], path) else {
        let fits = parts.iter().zip(names_of(path)).all(|(part, name)| part.fits(name));
        return if fits { Reach::Below } else { Reach::Never };
    };
    // From the first `**` on anything may follow, so nothing below can be ruled out.
    match after_first_match(&parts[fixed..], rest) {
        Some(_) => Reach::Here,
        None => Reach::Below,
    }
}

/// Whether the parts name the whole path, not something above it.
pub(crate) fn path_matches(parts: &[Part], path: &[u8]) -> bool {
    // At the end it stands for all that is inside, not for the directory itself.
    if let [before @ .., Part::AnyDepth] = parts {
        return after_first_match(before, path).is_some_and(|rest| !rest.is_empty());
    }
    let tail = parts.iter().rev().take_while(|part| **part != Part::AnyDepth).count();
    let (before, last) = parts.split_at(parts.len() - tail);
    let Some(rest) = after_first_match(before, path) else { return false };
    if before.is_empty() {
        return after_names(last, rest).is_some_and(<[u8]>::is_empty);
    }
    // The names after the last `**` are the last names of the path.
    let spare = names_of(rest).count().checked_sub(tail);
    let end = spare.map(|spare| skip_names(rest, spare));
    end.and_then(|end| after_names(last, end)).is_some_and(<[u8]>::is_empty)
}

/// What is left of a path after the shortest beginning that the parts name.
///
/// Each run of names after a `**` is looked for at its first place: what comes later finds at
/// least as much there as anywhere further on, so nothing is ever tried again. That makes it
/// a product of two lengths at worst, whatever a stranger wrote.
fn after_first_match<'p>(parts: &[Part], path: &'p [u8]) -> Option<&'p [u8]> {
    let mut runs = parts.split(|part| *part == Part::AnyDepth);
    let mut rest = after_names(runs.next().unwrap_or_default(), path)?;
    for run in runs {
        rest = loop {
            if let Some(after) = after_names(run, rest) {
                break after;
            }
            rest = first_name(rest)?.1;
        };
    }
    Some(rest)
}

/// What is left of a path after these names, which it begins with.
fn after_names<'p>(names: &[Part], path: &'p [u8]) -> Option<&'p [u8]> {
    names.iter().try_fold(path, |path, part| {
        first_name(path).filter(|(name, _)| part.fits(name)).map(|(_, rest)| rest)
    })
}

fn names_of(mut path: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (name, rest) = first_name(path)?;
        path = rest;
        Some(name)
    })
}

fn skip_names(path: &[u8], count: usize) -> &[u8] {
    (0..count).fold(path, |path, _| first_name(path).map_or(path, |(_, rest)| rest))
}

impl Part {
    /// Whether it stands for this one name.
    fn fits(&self, name: &[u8]) -> bool {
        match self {
            Self::AnyDepth => true,
            Self::Name(pattern) => name_matches(pattern, name),
        }
    }
}

/// The parts of a pattern without braces.
pub(crate) fn parts_of(pattern: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    for part in pattern.split(|byte| *byte == b'/') {
        match part {
            b"" => {}
            b"**" if parts.last() == Some(&Part::AnyDepth) => {}
            b"**" => parts.push(Part::AnyDepth),
            name => parts.push(Part::Name(name.into())),
        }
    }
    parts
}

/// A pattern that stays below its root.
fn from_root(pattern: &str) -> Option<Vec<Part>> {
    let mut parts = parts_of(pattern.as_bytes());
    parts.retain(|part| *part != Part::Name(b".".into()));
    let climbs = parts.contains(&Part::Name(b"..".into()));
    (!climbs && !parts.is_empty() && !pattern.starts_with('/')).then_some(parts)
}

/// The pattern without its braces: one for each alternative.
fn alternatives(pattern: &str) -> Option<Vec<String>> {
    let mut open = vec![pattern.to_string()];
    let mut done = Vec::new();
    while let Some(pattern) = open.pop() {
        if open.len() + done.len() > ALTERNATIVES_MAX {
            return None;
        }
        match braces(&pattern) {
            Some((begin, middle, end)) => {
                open.extend(middle.iter().rev().map(|one| format!("{begin}{one}{end}")));
            }
            None => done.push(pattern),
        }
    }
    Some(done)
}

/// What stands before, in, and after the first pair of braces with a comma in it.
fn braces(pattern: &str) -> Option<(&str, Vec<&str>, &str)> {
    let begin = pattern.find('{')?;
    let (mut depth, mut from, mut found) = (0_u32, begin + 1, Vec::new());
    for (at, letter) in pattern.char_indices().skip_while(|(at, _)| *at < begin) {
        match letter {
            '{' => depth += 1,
            '}' if depth == 1 => {
                found.push(&pattern[from..at]);
                return Some((&pattern[..begin], found, &pattern[at + 1..]));
            }
            '}' => depth -= 1,
            ',' if depth == 1 => {
                found.push(&pattern[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    None
}

fn first_name(path: &[u8]) -> Option<(&[u8], &[u8])> {
    if path.is_empty() {
        return None;
    }
    match path.iter().position(|byte| *byte == b'/') {
        Some(at) => Some((&path[..at], &path[at + 1..])),
        None => Some((path, &[])),
    }
}

/// Whether one name fits `*`, `?`, `[…]` and `\x`.
pub(crate) fn name_matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut seen) = (0, 0);
    // Where the last star was, and how much of the name it stood for so far.
    let mut star: Option<(usize, usize)> = None;
    loop {
        let fits = match pattern.get(at) {
            None if seen == name.len() => return true,
            Some(b'*') => {
                star = Some((at + 1, seen));
                at += 1;
                continue;
            }
            Some(_) => name.get(seen).and_then(|byte| one_matches(&pattern[at..], *byte)),
            None => None,
        };
        match (fits, star) {
            (Some(length), _) => {
                at += length;
                seen += 1;
            }
            (None, Some((after, from))) if from < name.len() => {
                star = Some((after, from + 1));
                (at, seen) = (after, from + 1);
            }
            (None, _) => return false,
        }
    }
}

/// How much of the pattern stands for this byte, where it does.
fn one_matches(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [b'?', ..] => Some(1),
        [b'[', rest @ ..] => class_matches(rest, byte).map(|length| length + 1),
        [b'\\', own, ..] => (*own == byte).then_some(2),
        [own, ..] => (*own == byte).then_some(1),
        [] => None,
    }
}

/// How long the class is, where the byte is in it; `rest` begins after its bracket.
fn class_matches(rest: &[u8], byte: u8) -> Option<usize> {
    let negated = matches!(rest.first(), Some(b'!' | b'^'));
    let mut at = usize::from(negated);
    let begin = at;
    let mut inside = false;
    loop {
        let (low, length) = match &rest[at.min(rest.len())..] {
            [b']', ..] if at > begin => break,
            [b'[', b':', named @ ..] => {
                let end = named.windows(2).position(|two| two == b":]")?;
                inside |= is_of(&named[..end], byte);
                at += end + 4;
                continue;
            }
            [b'\\', own, ..] => (*own, 2),
            [own, ..] => (*own, 1),
            [] => return None,
        };
        at += length;
        let high = match &rest[at.min(rest.len())..] {
            [b'-', b']', ..] => None,
            [b'-', b'\\', high, ..] => Some((*high, 3)),
            [b'-', high, ..] => Some((*high, 2)),
            _ => None,
        };
        let (high, more) = high.unwrap_or((low, 0));
        inside |= (low..=high).contains(&byte);
        at += more;
    }
    (inside != negated).then_some(at + 1)
}

fn is_of(class: &[u8], byte: u8) -> bool {
    match class {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => byte.is_ascii_graphic() || byte == b' ',
        b"punct" => byte.is_ascii_punctuation(),
        b"space" => byte.is_ascii_whitespace() || byte == 0x0b,
        b"upper" => byte.is_ascii_uppercase(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
