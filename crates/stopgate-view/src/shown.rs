//! Text that others wrote, made fit to be shown.
//!
//! Goals, names, commands and output come from people, agents and programs. Terminal sequences,
//! control characters and characters that reorder or hide text are made visible here, so that
//! nobody obeys them: every view shows foreign text through these functions and no other way.

/// Combining marks that a letter may carry; more would run into other lines.
const MARKS_MAX: u32 = 4;

/// `text` on one line: a line break is shown as `↵`.
pub fn shown(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let lines = shown_lines(text.trim_end());
    for (at, part) in lines.split('\n').enumerate() {
        if at > 0 {
            line.push('↵');
        }
        line.push_str(part);
    }
    line
}

/// `text` with its line breaks; tabs become blanks.
pub fn shown_lines(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut marks = 0;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        marks = if is_combining(c) { marks + 1 } else { 0 };
        match c {
            '\n' => kept.push('\n'),
            '\r' if rest.peek() == Some(&'\n') => {}
            '\t' => kept.push_str("    "),
            c if c.is_ascii_control() => kept.push(picture(c)),
            c if c.is_control() || is_deceptive(c) => kept.push_str(&named(c)),
            _mark if marks > MARKS_MAX => {}
            c => kept.push(c),
        }
    }
    kept
}

/// At most `letters` letters of `text` on one line, with a mark where it was cut.
pub fn shown_short(text: &str, letters: usize) -> String {
    let line = shown(text);
    if line.chars().count() <= letters {
        return line;
    }
    let mut cut: String = line.chars().take(letters.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// What a terminal without UTF-8 can show of text that was made fit before.
pub fn ascii(text: &str) -> String {
    let plain = |c: char| match c {
        '↵' | '␊' => ' ',
        '…' => '~',
        '✓' => '+',
        '✗' => 'x',
        '·' => '.',
        '│' => '|',
        '─' => '-',
        '→' => '>',
        '←' => '<',
        c if c.is_ascii() => c,
        _other => '?',
    };
    text.chars().map(plain).collect()
}

/// The sign that stands for an ASCII control character.
fn picture(c: char) -> char {
    match u32::from(c) {
        0x7f => '\u{2421}',
        code => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
    }
}

fn named(c: char) -> String {
    format!("⟨U+{:04X}⟩", u32::from(c))
}

/// Characters that reorder, join or hide what stands beside them.
fn is_deceptive(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

fn is_combining(c: char) -> bool {
    matches!(
        c,
        '\u{300}'..='\u{36f}'
            | '\u{483}'..='\u{489}'
            | '\u{591}'..='\u{5bd}'
            | '\u{610}'..='\u{61a}'
            | '\u{64b}'..='\u{65f}'
            | '\u{e31}'
            | '\u{e34}'..='\u{e3a}'
            | '\u{e47}'..='\u{e4e}'
            | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}'
            | '\u{20d0}'..='\u{20ff}'
            | '\u{fe20}'..='\u{fe2f}'
    )
}

#[cfg(test)]
mod tests;
