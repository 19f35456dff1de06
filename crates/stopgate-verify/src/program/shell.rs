//! Just enough of the shell's language to see which programs and files a command names.
//!
//! What the shell would work out (variables, substitutions) is left out: a word that can't be
//! known is not a word.

/// The simple commands in a shell command, each with its words.
pub(crate) fn commands(text: &str) -> Vec<Vec<String>> {
    let mut found = vec![Vec::new()];
    let mut letters = text.chars().peekable();
    let mut word = Word::default();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => word.quote(letters.by_ref().take_while(|letter| *letter != '\'')),
            '"' => word.double_quoted(&mut letters),
            '\\' => word.quote(letters.next().into_iter().filter(|letter| *letter != '\n')),
            '$' | '`' => word.state = State::Open,
            '#' if word.is_nothing() => {
                while letters.next_if(|letter| *letter != '\n').is_some() {}
            }
            ' ' | '\t' => word.end(&mut found),
            '>' | '<' => {
                // A number before it is a channel, what follows is where it leads.
                word = Word::default();
                while letters
                    .next_if(|letter| matches!(letter, '>' | '<' | '&' | ' ' | '|'))
                    .is_some()
                {}
                while letters.next_if(|letter| !" \t\n;|&()".contains(*letter)).is_some() {}
            }
            ';' | '|' | '&' | '\n' | '(' | ')' => {
                word.end(&mut found);
                found.push(Vec::new());
            }
            plain => word.quote(std::iter::once(plain)),
        }
    }
    word.end(&mut found);
    found.iter_mut().for_each(strip_keywords);
    found.retain(|words| !words.is_empty());
    found
}

#[derive(Default)]
struct Word {
    text: String,
    state: State,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// No letter of it was seen.
    #[default]
    Nothing,
    Known,
    /// Part of it is for the shell to work out.
    Open,
}

impl Word {
    fn is_nothing(&self) -> bool {
        self.state == State::Nothing
    }

    fn begin(&mut self) {
        if self.state == State::Nothing {
            self.state = State::Known;
        }
    }

    fn quote(&mut self, letters: impl Iterator<Item = char>) {
        self.begin();
        self.text.extend(letters);
    }

    fn double_quoted(&mut self, letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
        self.begin();
        while let Some(letter) = letters.next() {
            match letter {
                '"' => return,
                '\\' => self.text.extend(letters.next()),
                '$' | '`' => self.state = State::Open,
                plain => self.text.push(plain),
            }
        }
    }

    fn end(&mut self, found: &mut [Vec<String>]) {
        let word = std::mem::take(self);
        if word.state == State::Known
            && let Some(words) = found.last_mut()
        {
            words.push(word.text);
        }
    }
}

/// Takes off what stands before the program: keywords and variables.
fn strip_keywords(words: &mut Vec<String>) {
    const KEYWORDS: [&str; 12] =
        ["if", "then", "else", "elif", "fi", "while", "until", "do", "done", "!", "{", "}"];
    let skipped = words
        .iter()
        .take_while(|word| KEYWORDS.contains(&word.as_str()) || is_assignment(word))
        .count();
    words.drain(..skipped);
}

/// Whether the word sets a variable.
pub(crate) fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty()
            && !name.starts_with(|letter: char| letter.is_ascii_digit())
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}
