//! What is shown rather than said within raw HTML.
//!
//! `CommonMark` leaves an HTML block unread until it ends. Here its comments, its
//! tags, and whatever looks like a fence in it are hidden, and so is everything
//! between the tags of an element that quotes. One pass; only a comment reaches
//! beyond its block, as it does for a browser.

use std::ops::Range;

/// Elements whose content is shown, not said. The first four hide all up to the
/// end of their block when they are not closed, as `CommonMark` has it.
const QUOTING: [&str; 6] = ["pre", "script", "style", "textarea", "code", "blockquote"];
const RAW: usize = 4;

const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

/// What is open across the blocks of one message.
#[derive(Debug, Default)]
pub(super) struct Elements {
    /// Where each quoting element begins that is not closed yet.
    open: [Vec<usize>; QUOTING.len()],
    /// Where the last comment ends.
    comment_end: usize,
}

/// Hides what is quoted in the HTML block at `range`.
pub(super) fn read_block(
    plain: &str,
    range: Range<usize>,
    elements: &mut Elements,
    hidden: &mut Vec<Range<usize>>,
) {
    read(plain, range.clone(), elements, hidden);
    for starts in &elements.open[..RAW] {
        let first = starts.partition_point(|start| *start < range.start);
        hidden.extend(starts.get(first).map(|start| *start..range.end));
    }
}

/// Hides what is quoted in the raw HTML at `range`.
pub(super) fn read(
    plain: &str,
    range: Range<usize>,
    elements: &mut Elements,
    hidden: &mut Vec<Range<usize>>,
) {
    let text = &plain[..range.end];
    let mut at = range.start.max(elements.comment_end);
    while at < range.end {
        let end = match shown(text, at, range.start) {
            Shown::No { len } => at + len,
            Shown::Comment => {
                elements.comment_end = comment_end(plain, at);
                hidden.push(at..elements.comment_end);
                elements.comment_end
            }
            Shown::Piece { len } => {
                hidden.push(at..at + len);
                at + len
            }
            Shown::Tag { len } => {
                hidden.push(at..at + len);
                elements.see(&text[at + 1..at + len], at..at + len, hidden);
                at + len
            }
        };
        at = end.max(at + 1);
    }
}

impl Elements {
    fn see(&mut self, tag: &str, range: Range<usize>, hidden: &mut Vec<Range<usize>>) {
        let (name, closes) = match tag.strip_prefix('/') {
            Some(name) => (name, true),
            None => (tag, false),
        };
        let name = &name[..name_len(name)];
        let Some(which) = QUOTING.iter().position(|known| known.eq_ignore_ascii_case(name)) else {
            return;
        };
        if !closes {
            self.open[which].push(range.start);
        } else if let Some(start) = self.open[which].pop() {
            hidden.push(start..range.end);
        }
    }
}

/// What stands at one place of a piece of raw HTML.
enum Shown {
    /// Text, up to the next place that could be something else.
    No { len: usize },
    /// A comment begins here.
    Comment,
    /// An instruction, a declaration or a fence.
    Piece { len: usize },
    /// A whole tag, with its attributes.
    Tag { len: usize },
}

fn shown(text: &str, at: usize, start: usize) -> Shown {
    let rest = &text[at..];
    if rest.starts_with("<!--") {
        return Shown::Comment;
    }
    let is_line_start = at == start || text[..at].ends_with('\n');
    let fence = if is_line_start { fence_len(rest) } else { None };
    if let Some(len) = fence.or_else(|| declaration_len(rest)) {
        return Shown::Piece { len };
    }
    if let Some(len) = tag_len(rest) {
        return Shown::Tag { len };
    }
    Shown::No { len: text_len(rest) }
}

/// How much of `rest` is text: up to the next `<`, or past the next line end.
fn text_len(rest: &str) -> usize {
    let first = rest.chars().next().map_or(0, char::len_utf8);
    if rest.starts_with('\n') {
        return first;
    }
    let more = &rest[first..];
    match more.find(['<', '\n']) {
        Some(at) if more[at..].starts_with('\n') => first + at + 1,
        Some(at) => first + at,
        None => rest.len(),
    }
}

/// Where the comment at `at` ends. `<!-->` is a whole one: its end may share the
/// opening's dashes.
fn comment_end(plain: &str, at: usize) -> usize {
    plain[at + 2..].find("-->").map_or(plain.len(), |len| at + 2 + len + 3)
}

/// The length of a CDATA section, an instruction or a declaration.
fn declaration_len(rest: &str) -> Option<usize> {
    let forms = [("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")];
    let (open, close) = forms.into_iter().find(|(open, _)| rest.starts_with(open))?;
    let inner = &rest[open.len()..];
    Some(inner.find(close).map_or(rest.len(), |len| open.len() + len + close.len()))
}

/// The length of a tag, or of what begins like one.
///
/// A tag that is not closed ends where the next one begins. A disarmed marker
/// begins with a per cent sign after a line end or a blank; an attribute can't.
fn tag_len(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('<')?;
    let name = inner.strip_prefix('/').unwrap_or(inner);
    if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return None;
    }
    let mut at = rest.len() - name.len();
    while let Some(next) = rest[at..].find(['<', '>', '=', '%']) {
        at += next;
        match rest.as_bytes()[at] {
            b'<' => return Some(at),
            b'>' => return Some(at + 1),
            b'%' if rest[..at].ends_with(BLANKS) => return Some(at),
            b'%' => at += 1,
            _ => at = value_end(rest, at + 1),
        }
    }
    Some(rest.len())
}

/// Where the attribute's value that begins after an equals sign ends.
fn value_end(rest: &str, at: usize) -> usize {
    let value = rest[at..].trim_start_matches(BLANKS);
    let start = rest.len() - value.len();
    match value.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            value[1..].find(quote).map_or(rest.len(), |len| start + 1 + len + 1)
        }
        _ => at,
    }
}

fn name_len(tag: &str) -> usize {
    tag.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-').count()
}

/// The length of what looks like a fence, to its end or to the end of the block.
fn fence_len(rest: &str) -> Option<usize> {
    let mut lines = rest.split_inclusive('\n');
    let first = lines.next()?;
    let (mark, run, info) = fence_run(first)?;
    if mark == '`' && info.contains('`') {
        return None;
    }
    let mut len = first.len();
    for line in lines {
        len += line.len();
        if fence_run(line).is_some_and(|(closing, long, after)| {
            closing == mark && long >= run && after.trim_matches(BLANKS).is_empty()
        }) {
            break;
        }
    }
    Some(len)
}

/// A line's fence: its mark, how long it is, and what follows it.
fn fence_run(line: &str) -> Option<(char, usize, &str)> {
    let fence = line.trim_start_matches(' ');
    let mark = fence.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let info = fence.trim_start_matches(mark);
    let run = fence.len() - info.len();
    (line.len() - fence.len() <= 3 && run >= 3).then_some((mark, run, info))
}
