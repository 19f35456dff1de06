//! Installed commands as Windows runs them: text only, the same on every system.
//!
//! A command stays silent and lets the agent stop where the program is missing: a shell's complaint
//! would be an answer to some clients. From the clients' documentation; not seen on Windows yet.

#[cfg(test)]
mod tests;

/// The system whose shells run an installed command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookSystem {
    /// A POSIX shell.
    Unix,
    /// One of the shells of Windows.
    Windows,
}

/// What runs a client's commands on Windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowsShell {
    /// `PowerShell`, whatever its version.
    PowerShell,
    /// `cmd.exe` or `PowerShell`: it depends on the client's version, or is not documented.
    Any,
}

/// What becomes of a command's exit code and complaints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowsGuard {
    /// They reach the client.
    Open,
    /// Nothing but the answer reaches the client.
    Silent,
}

const TEST: &str = "if (Test-Path -LiteralPath ";
const EXIST: &str = "cmd /d /c if exist ";
const WHERE: &str = "cmd /d /c \"where /q stopgate && ";
const COMMAND: &str = "if (Get-Command stopgate -ErrorAction SilentlyContinue) { ";

impl HookSystem {
    /// The one that this program is built for.
    pub const CURRENT: Self = if cfg!(windows) { Self::Windows } else { Self::Unix };
}

/// A command that starts the program at this path.
pub(super) fn own_line(
    shell: WindowsShell,
    program: &str,
    words: &[String],
    guard: WindowsGuard,
) -> String {
    let words = words.join(" ");
    match shell {
        WindowsShell::PowerShell => {
            let program = literal(program);
            format!("{TEST}{program}) {{ & {program} {words}{} }}", end(guard))
        }
        // A path can't hold a double quote.
        WindowsShell::Any => {
            let hush = if guard == WindowsGuard::Silent { " 2>nul" } else { "" };
            format!("{EXIST}\"{program}\" \"{program}\" {words}{hush}")
        }
    }
}

/// A command that starts the program on each person's PATH.
pub(super) fn shared_line(shell: WindowsShell, words: &[String], guard: WindowsGuard) -> String {
    let words = words.join(" ");
    match (shell, guard) {
        (WindowsShell::PowerShell, _) => format!("{COMMAND}stopgate {words}{} }}", end(guard)),
        (WindowsShell::Any, WindowsGuard::Silent) => {
            format!("{WHERE}stopgate {words} 2>nul || exit 0\"")
        }
        (WindowsShell::Any, WindowsGuard::Open) => format!("{WHERE}stopgate {words}\""),
    }
}

/// The words of a line in one of the forms above.
pub(super) fn words_of(line: &str) -> Option<Vec<String>> {
    if let Some(rest) = line.strip_prefix(EXIST) {
        let (program, words) = rest.strip_prefix('"')?.split_once('"')?;
        let words = words.strip_prefix(&format!(" \"{program}\""))?;
        return Some(joined(program, words));
    }
    if let Some(rest) = line.strip_prefix(TEST) {
        let (_, rest) = rest.split_once(") { & ")?;
        let (program, words) = unquoted(rest)?;
        return Some(joined(&program, words));
    }
    let rest = line.strip_prefix(WHERE).or_else(|| line.strip_prefix(COMMAND))?;
    let words = rest.strip_prefix("stopgate ")?;
    Some(joined("stopgate", words))
}

fn joined(program: &str, words: &str) -> Vec<String> {
    let end = words.find([';', '}', '"', '|']).unwrap_or(words.len());
    let words = words[..end].split_whitespace().filter(|word| !word.starts_with("2>"));
    std::iter::once(program).chain(words).map(String::from).collect()
}

const fn end(guard: WindowsGuard) -> &'static str {
    match guard {
        WindowsGuard::Open => "; exit $LASTEXITCODE",
        WindowsGuard::Silent => " 2>$null; exit 0",
    }
}

/// A text that `PowerShell` takes as it is. Typographic quotes end a text there, too.
fn literal(text: &str) -> String {
    let mut quoted = String::from("'");
    for letter in text.chars() {
        if is_quote(letter) {
            quoted.push(letter);
        }
        quoted.push(letter);
    }
    quoted.push('\'');
    quoted
}

const fn is_quote(letter: char) -> bool {
    matches!(letter, '\'' | '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}')
}

/// The text that a literal stands for, and what follows it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut letters = text.strip_prefix('\'')?.char_indices().peekable();
    let mut plain = String::new();
    while let Some((at, letter)) = letters.next() {
        if is_quote(letter) && letters.next_if(|(_, next)| *next == letter).is_none() {
            return Some((plain, &text[1 + at + letter.len_utf8()..]));
        }
        plain.push(letter);
    }
    None
}
