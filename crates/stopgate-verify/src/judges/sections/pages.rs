//! Pages of documentation: the examples in fenced blocks that a script of the project tries out.
//!
//! Text, new examples and the order are work. An example of the start that is gone comes back where
//! its block is called something else now, or at the end of the page.

use std::collections::BTreeSet;

use super::Judging;
use super::blocks::push;

/// A fenced block.
struct Fence<'a> {
    /// The number of its first line.
    at: usize,
    /// Its first line.
    head: &'a str,
    /// Its language in small letters.
    language: String,
    /// What is between its fences.
    lines: Vec<&'a str>,
    mark: &'a str,
}

impl Fence<'_> {
    /// What it says, whatever is at the ends of its lines.
    fn says(&self) -> String {
        let lines = self.lines.iter().map(|line| line.trim_end());
        lines.collect::<Vec<_>>().join("\n")
    }

    /// What is before its first mark.
    fn indent(&self) -> &str {
        &self.head[..self.head.len() - self.head.trim_start().len()]
    }

    /// The first line of `other` where this one's is.
    fn head_of(&self, other: &Self) -> String {
        let info = other.head.trim()[other.mark.len()..].trim_start();
        format!("{}{}{info}", self.indent(), self.mark)
    }

    fn text(&self) -> String {
        let end = format!("{}{}", self.indent(), self.mark);
        let lines = [self.head].into_iter().chain(self.lines.iter().copied());
        joined(lines.chain([end.as_str()]))
    }
}

pub(super) fn judging(text: &str, languages: &BTreeSet<String>) -> Judging {
    let examples = examples(text, languages);
    Judging { members: examples.iter().map(Fence::says).collect(), ..Judging::default() }
}

/// Today's page with the examples of the original that it no longer has.
pub(super) fn restore(original: &str, today: &str, languages: &BTreeSet<String>) -> String {
    let kept: BTreeSet<String> = examples(today, languages).iter().map(Fence::says).collect();
    let is_lost = |example: &Fence<'_>| !kept.contains(&example.says());
    let lost: Vec<Fence<'_>> = examples(original, languages).into_iter().filter(is_lost).collect();
    let (renamed, open) = split(today);
    let mut lines: Vec<String> = today.lines().map(String::from).collect();
    let mut at_end = open.map(|fence| format!("{}\n", fence.mark)).unwrap_or_default();
    for example in &lost {
        let renamed = renamed.iter().find(|fence| fence.says() == example.says());
        if let Some(fence) = renamed {
            lines[fence.at] = fence.head_of(example);
        } else {
            at_end.push('\n');
            at_end.push_str(&example.text());
        }
    }
    if lost.is_empty() {
        return today.into();
    }
    let mut text = joined(lines.iter().map(String::as_str));
    push(&mut text, &at_end);
    text
}

/// Lines with their ends.
fn joined<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    lines.flat_map(|line| [line, "\n"]).collect()
}

fn examples<'a>(text: &'a str, languages: &BTreeSet<String>) -> Vec<Fence<'a>> {
    let (mut found, _) = split(text);
    found.retain(|fence| languages.contains(&fence.language));
    found
}

/// The fenced blocks of a page, each up to a fence that is at least as long as its own, and one that
/// is never closed.
fn split(text: &str) -> (Vec<Fence<'_>>, Option<Fence<'_>>) {
    let mut found = Vec::new();
    let mut open: Option<Fence<'_>> = None;
    for (at, line) in text.lines().enumerate() {
        let mark = mark_of(line);
        match &mut open {
            None if mark.is_empty() => {}
            None => {
                let info = line.trim()[mark.len()..].trim_start_matches([' ', '{', '.']);
                let end = info.find(|letter: char| !letter.is_ascii_alphanumeric());
                let language = info[..end.unwrap_or(info.len())].to_ascii_lowercase();
                open = Some(Fence { at, head: line, language, lines: Vec::new(), mark });
            }
            Some(fence) if mark.starts_with(fence.mark) && line.trim() == mark => {
                found.extend(open.take());
            }
            Some(fence) => fence.lines.push(line),
        }
    }
    (found, open)
}

/// The signs of a fence at the beginning of a line; nothing where it is none.
fn mark_of(line: &str) -> &str {
    let line = line.trim();
    let length = |sign: char| line.len() - line.trim_start_matches(sign).len();
    &line[..[length('`'), length('~')].into_iter().find(|length| *length >= 3).unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str =
        "# Slugs\n\n```python\nassert slug('a') == 'a'\n```\n\nText.\n\n```sh\nls\n```\n";

    fn python() -> BTreeSet<String> {
        BTreeSet::from(["python".to_string()])
    }

    #[track_caller]
    fn restored(today: &str) -> String {
        let found = restore(PAGE, today, &python());
        assert!(judging(PAGE, &python()).is_kept_by(&judging(&found, &python())), "{found}");
        found
    }

    #[test]
    fn examples_come_back_and_text_stays() {
        let as_text = PAGE.replace("```python", "```text");
        assert!(!judging(PAGE, &python()).is_kept_by(&judging(&as_text, &python())));
        assert_eq!(restored(&as_text), PAGE);
        assert_eq!(
            restored(&PAGE.replace("```python", "~~~~ text").replacen("```\n\nT", "~~~~\n\nT", 1))
                .lines()
                .nth(2),
            Some("~~~~python")
        );
        let changed = restored(&PAGE.replace("== 'a'", "== 'b'"));
        assert!(
            changed.contains("== 'b'")
                && changed.ends_with("```python\nassert slug('a') == 'a'\n```\n"),
            "{changed}"
        );
        let hidden = restored("~~~text\n```python\nassert slug('a') == 'a'\n```\n");
        assert!(hidden.contains("~~~\n\n```python"), "{hidden}");
        assert!(restored("").contains("```python"));
    }

    #[test]
    fn text_new_examples_and_other_languages_are_work() {
        for (from, to) in [
            ("Text", "More"),
            ("ls", "cat"),
            ("Text.", "```python\nassert slug('b')\n```"),
            ("'a'\n", "'a'  \n"),
        ] {
            let today = PAGE.replacen(from, to, 1);
            assert!(judging(PAGE, &python()).is_kept_by(&judging(&today, &python())), "{today}");
            assert_eq!(restored(&today), today);
        }
    }
}
