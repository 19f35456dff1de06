//! Windows: the console.

/// How wide the console's window is, where standard output is one.
#[cfg(feature = "tui")]
pub(crate) fn columns() -> Option<usize> {
    use std::io::IsTerminal;
    let size = std::io::stdout().is_terminal().then(ratatui::crossterm::terminal::size);
    size.and_then(Result::ok).map(|(columns, _)| usize::from(columns))
}

/// Not known without the terminal's library.
#[cfg(not(feature = "tui"))]
pub(crate) const fn columns() -> Option<usize> {
    None
}

/// Never: a pipe can't be asked; a write to a closed one fails.
pub(crate) const fn is_unread() -> bool {
    false
}

/// Whether a pipe or a file brings an answer: a pipe can't be asked, so it is not waited for.
pub(crate) const fn has_piped_answer() -> bool {
    false
}

/// Waits for a key or the time; a console is never gone while this process has it.
#[cfg(feature = "tui")]
pub(crate) fn is_hung_up(wait: std::time::Duration) -> bool {
    let _ = ratatui::crossterm::event::poll(wait);
    false
}

/// Does nothing: no shell here puts a program in the background.
#[cfg(feature = "tui")]
pub(crate) const fn stop_here() -> std::io::Result<()> {
    Ok(())
}
