//! Which bytes of a message are shown rather than said.
//!
//! Reads disarmed text (see `tags::disarm`), so every HTML tag met here is a
//! foreign one and may be hidden whole, attributes included.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::html::{self, Elements};

/// Deeper than anybody writes. The parser walks all open quotes and lists at each
/// line, so one line of a million `>` would make every line after it slow.
const DEPTH_MAX: usize = 100;

/// The parts of a message that are not the agent's own words.
#[derive(Debug)]
pub(super) struct Quoted {
    hidden: Vec<Range<usize>>,
    html: Vec<Range<usize>>,
}

impl Quoted {
    /// Reads `plain` as `CommonMark`, without extensions. A message that is nested
    /// beyond sense says nothing.
    pub(super) fn find(plain: &str) -> Self {
        if plain.lines().any(is_too_deep) {
            let all = 0..plain.len();
            return Self { hidden: Vec::from([all]), html: Vec::new() };
        }
        let parser = Parser::new_ext(plain, Options::empty());
        let mut reader = Reader::new(plain);
        reader.hidden.extend(titles(&parser));
        for (event, range) in parser.into_offset_iter() {
            reader.see(&event, range);
        }
        Self { hidden: merged(reader.hidden), html: merged(reader.html) }
    }

    /// Whether the byte at `at` is in code, a quote, a comment or a foreign tag.
    pub(super) fn hides(&self, at: usize) -> bool {
        holds(&self.hidden, at)
    }

    /// Whether the byte at `at` is in an HTML block, where inline code can't be
    /// told from text.
    pub(super) fn is_html(&self, at: usize) -> bool {
        holds(&self.html, at)
    }
}

struct Reader<'a> {
    plain: &'a str,
    hidden: Vec<Range<usize>>,
    html: Vec<Range<usize>>,
    elements: Elements,
    /// Where the innermost block ends, for each open tag.
    ends: Vec<usize>,
    /// How far the events have come.
    reached: usize,
}

impl<'a> Reader<'a> {
    fn new(plain: &'a str) -> Self {
        let (hidden, html, ends) = (Vec::new(), Vec::new(), Vec::new());
        Self { plain, hidden, html, elements: Elements::default(), ends, reached: 0 }
    }

    fn see(&mut self, event: &Event<'_>, range: Range<usize>) {
        let reached = std::mem::replace(&mut self.reached, range.end);
        match event {
            Event::Start(tag) => {
                self.reached = range.start;
                self.open(tag, range);
            }
            Event::End(tag) => {
                self.ends.pop();
                if matches!(tag, TagEnd::Link | TagEnd::Image) {
                    // What follows a link's text is its address and its title.
                    self.hidden.push(reached..range.end);
                }
            }
            Event::Code(_) => self.hidden.push(range),
            Event::InlineHtml(_) => {
                html::read(self.plain, range.clone(), &mut self.elements, &mut self.hidden);
                self.hidden.push(range);
            }
            Event::Text(_) => self.see_text(range),
            _ => {}
        }
    }

    fn open(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        self.ends.push(self.block_end(tag, &range));
        match tag {
            Tag::CodeBlock(_) | Tag::BlockQuote(_) => self.hidden.push(range),
            Tag::HtmlBlock => {
                html::read_block(self.plain, range.clone(), &mut self.elements, &mut self.hidden);
                self.html.push(range);
            }
            _ => {}
        }
    }

    /// Inline tags end no block: the one around them goes on.
    fn block_end(&self, tag: &Tag<'_>, range: &Range<usize>) -> usize {
        match tag {
            Tag::Emphasis | Tag::Strong | Tag::Link { .. } | Tag::Image { .. } => {
                self.ends.last().copied().unwrap_or(range.end)
            }
            _ => range.end,
        }
    }

    /// A comment that is opened in a paragraph and never closed is not a comment to
    /// `CommonMark`, yet its author meant one: it hides the rest of its block.
    fn see_text(&mut self, range: Range<usize>) {
        let end = self.ends.last().copied().unwrap_or(range.end);
        let text = &self.plain[range.clone()];
        let opens = |at: &usize| self.plain[range.start + at..].starts_with("<!--");
        if let Some(at) = text.match_indices('<').map(|(at, _)| at).find(opens) {
            self.hidden.push(range.start + at..end);
        }
    }
}

/// The definitions of links that have a title: what it says is shown to nobody. An
/// address is not a reason to hide: a disarmed marker can look like one.
fn titles(parser: &Parser<'_>) -> Vec<Range<usize>> {
    let definitions = parser.reference_definitions().iter();
    definitions
        .filter(|(_, link)| link.title.is_some())
        .map(|(_, link)| link.span.clone())
        .collect()
}

fn is_too_deep(line: &str) -> bool {
    std::iter::successors(Some(line), |rest| in_container(rest)).nth(DEPTH_MAX).is_some()
}

/// What follows a quote's or a list item's mark.
fn in_container(line: &str) -> Option<&str> {
    let line = line.trim_start_matches([' ', '\t']);
    if let Some(quoted) = line.strip_prefix('>') {
        return Some(quoted);
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).take(10).count();
    let marks = if digits == 0 { ['-', '+', '*'].as_slice() } else { ['.', ')'].as_slice() };
    line[digits..].strip_prefix(marks)?.strip_prefix([' ', '\t'])
}

/// Sorts `ranges` and joins those that touch.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

fn holds(merged: &[Range<usize>], at: usize) -> bool {
    let next = merged.partition_point(|range| range.start <= at);
    next > 0 && merged[next - 1].contains(&at)
}
