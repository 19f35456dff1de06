//! Text that fits its window: widths, wrapping at words, cutting with an ellipsis, tables.

/// How wide the window is; `None` where nobody looks at one, so that nothing is cut.
pub(crate) fn window() -> Option<usize> {
    let seen = crate::terminal::columns();
    seen.filter(|columns| *columns > 0).or_else(|| stopgate_engine::Settings.columns())
}

/// How many columns `text` takes, escape sequences aside.
pub(crate) fn width(text: &str) -> usize {
    let mut columns = 0;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' {
            // A style ends with its `m`.
            letters.by_ref().take_while(|letter| *letter != 'm').for_each(drop);
        } else {
            columns += columns_of(letter);
        }
    }
    columns
}

const fn columns_of(letter: char) -> usize {
    match letter {
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' => {
            0
        }
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _other => 1,
    }
}

/// `text` in at most `columns`, with an ellipsis where something was cut; no styles in it.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.into();
    }
    let mut kept = String::new();
    let mut used = 0;
    for letter in text.chars() {
        used += columns_of(letter);
        if used + 1 > columns {
            break;
        }
        kept.push(letter);
    }
    kept.truncate(kept.trim_end().len());
    kept + "…"
}

/// The end of `text` in at most `columns`, for paths: what matters is last.
pub(crate) fn cut_start(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.into();
    }
    let mut kept = Vec::new();
    let mut used = 0;
    for letter in text.chars().rev() {
        used += columns_of(letter);
        if used + 1 > columns {
            break;
        }
        kept.push(letter);
    }
    kept.push('…');
    kept.into_iter().rev().collect()
}

/// `text` in lines of at most `columns`, cut at blanks; lines after the first begin with
/// `hang` blanks. A word that is wider than that stays whole.
pub(crate) fn wrap(text: &str, columns: usize, hang: usize) -> String {
    if width(text) <= columns || columns < hang + 20 {
        return text.into();
    }
    let lead: String = text.chars().take_while(|letter| *letter == ' ').collect();
    let mut lines = String::new();
    let mut line = lead.clone();
    let mut used = lead.len();
    let mut is_fresh = true;
    for piece in text[lead.len()..].split(' ') {
        let wide = width(piece);
        if !is_fresh && used + 1 + wide > columns {
            lines.push_str(line.trim_end());
            lines.push('\n');
            line = " ".repeat(hang);
            used = hang;
        } else if !is_fresh {
            line.push(' ');
            used += 1;
        }
        line.push_str(piece);
        used += wide;
        is_fresh = false;
    }
    lines + &line
}

#[cfg(test)]
mod tests {
    use super::{cut, cut_start, width, wrap};

    #[test]
    fn styles_and_marks_take_no_column_and_wide_letters_take_two() {
        assert_eq!(width("a\u{1b}[1mbc\u{1b}[0m"), 3);
        assert_eq!(width("e\u{301}日"), 3);
    }

    #[test]
    fn what_does_not_fit_is_cut_with_an_ellipsis() {
        assert_eq!(cut("fits", 4), "fits");
        assert_eq!(cut("does not fit", 8), "does no…");
        assert_eq!(cut("does not fit", 6), "does…");
        assert_eq!(cut_start("/home/me/project", 9), "…/project");
    }

    #[test]
    fn lines_break_at_blanks_and_hang() {
        assert_eq!(
            wrap("  one two three four five six", 24, 4),
            "  one two three four\n    five six"
        );
        assert_eq!(wrap("short", 24, 4), "short");
        let word = "x".repeat(30);
        assert_eq!(wrap(&word, 24, 4), word);
    }
}
