//! Lines of a terminal, as runs of text in one style.

/// How strong the letters are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Weight {
    #[default]
    Normal,
    Bold,
    Faint,
}

/// How a run of text looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) weight: Weight,
    /// One of the terminal's eight colours.
    pub(crate) colour: Option<u8>,
}

/// One line on the screen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    pub(crate) runs: Vec<(Style, String)>,
}

impl Line {
    pub(crate) fn width(&self) -> usize {
        self.runs.iter().map(|(_, text)| text.chars().count()).sum()
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.runs.iter().all(|(_, text)| text.trim().is_empty())
    }
}

/// Reads what a program printed; only styles are understood, all other sequences are dropped.
pub(crate) fn lines(printed: &str) -> Vec<Line> {
    let mut style = Style::default();
    printed.lines().map(|line| read(line.trim_end_matches('\r'), &mut style)).collect()
}

fn read(text: &str, style: &mut Style) -> Line {
    let mut line = Line::default();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        push(&mut line, *style, before);
        let end = after.find(|char: char| char.is_ascii_alphabetic()).unwrap_or(after.len());
        let (codes, tail) = after.split_at(end);
        if tail.starts_with('m') {
            apply(style, codes);
        }
        rest = tail.get(1..).unwrap_or_default();
    }
    push(&mut line, *style, rest);
    line
}

fn push(line: &mut Line, style: Style, text: &str) {
    if !text.is_empty() {
        line.runs.push((style, text.to_string()));
    }
}

fn apply(style: &mut Style, codes: &str) {
    for code in codes.split(';').map(|code| code.parse::<u8>().unwrap_or(0)) {
        match code {
            0 => *style = Style::default(),
            1 => style.weight = Weight::Bold,
            2 => style.weight = Weight::Faint,
            22 => style.weight = Weight::Normal,
            30..=37 => style.colour = Some(code - 30),
            90..=97 => style.colour = Some(code - 90),
            39 => style.colour = None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_reach_over_line_ends_and_other_sequences_are_dropped() {
        let read = lines("\u{1b}[1ma\u{1b}[2Kb\nc\u{1b}[0;32md\r");
        let bold = Style { weight: Weight::Bold, ..Style::default() };
        let green = Style { colour: Some(2), ..Style::default() };
        assert_eq!(read[0].runs, [(bold, "a".to_string()), (bold, "b".to_string())]);
        assert_eq!(read[1].runs, [(bold, "c".to_string()), (green, "d".to_string())]);
        assert_eq!((read[0].width(), read[1].is_blank()), (2, false));
    }
}
