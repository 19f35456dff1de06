//! The terminal: taken over, read, and given back whatever happens.

use std::io::{self, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, enable_raw_mode};
use stopgate_engine::Failure;
use stopgate_tui::{Board, PressedKey};

use crate::terminal::{is_hung_up, stop_here};

/// The terminal, as long as the view has it.
pub(super) struct WatchScreen {
    terminal: DefaultTerminal,
    ended: Arc<AtomicBool>,
}

/// What came from the terminal.
pub(super) enum TerminalEvent {
    /// Nothing.
    Nothing,
    /// A key.
    Key(PressedKey),
    /// The window has another size, or the view is back from the background.
    Resized,
    /// Somebody asked the process to end.
    Ended,
}

impl WatchScreen {
    /// Takes the terminal over. A panic gives it back before it is told.
    pub(super) fn enter() -> Result<Self, Failure> {
        let ended = Arc::new(AtomicBool::new(false));
        for signal in stopgate_system::END_SIGNALS {
            let _ = signal_hook::flag::register(signal, Arc::clone(&ended));
        }
        let terminal = ratatui::try_init().map_err(lost)?;
        Ok(Self { terminal, ended })
    }

    /// Gives the terminal back.
    pub(super) fn leave(&mut self) {
        let _ = self.terminal.show_cursor();
        ratatui::restore();
    }

    /// Draws the cells that changed.
    pub(super) fn draw(&mut self, board: &mut Board) -> Result<(), Failure> {
        let drawn = self.terminal.draw(|frame| board.draw(frame.area(), frame.buffer_mut()));
        drawn.map(|_| ()).map_err(lost)
    }

    /// Waits for a key, at most so long.
    pub(super) fn hear(&mut self, wait: Duration) -> Result<TerminalEvent, Failure> {
        // Keys that were read together with an earlier one are there without a wait.
        let wait = if has_event()? { Duration::ZERO } else { wait };
        let gone = is_hung_up(wait);
        if gone || self.ended.load(Ordering::Relaxed) {
            return Ok(TerminalEvent::Ended);
        }
        if !has_event()? {
            return Ok(TerminalEvent::Nothing);
        }
        match event::read().map_err(lost)? {
            Event::Resize(..) => Ok(TerminalEvent::Resized),
            Event::Key(key) if key.kind != KeyEventKind::Release => self.pressed(key),
            _other => Ok(TerminalEvent::Nothing),
        }
    }

    fn pressed(&mut self, key: KeyEvent) -> Result<TerminalEvent, Failure> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        Ok(match (key.code, control) {
            (KeyCode::Char('c'), true) => TerminalEvent::Ended,
            (KeyCode::Char('z'), true) => {
                self.suspend().map_err(lost)?;
                TerminalEvent::Resized
            }
            (KeyCode::Char(_), true) => TerminalEvent::Nothing,
            (code, _) => key_of(code).map_or(TerminalEvent::Nothing, TerminalEvent::Key),
        })
    }

    /// Goes to the background with a usable terminal, and takes it over again afterwards.
    fn suspend(&mut self) -> io::Result<()> {
        self.leave();
        stop_here()?;
        enable_raw_mode()?;
        execute!(stdout(), EnterAlternateScreen)?;
        self.terminal.clear()
    }
}

fn key_of(code: KeyCode) -> Option<PressedKey> {
    Some(match code {
        KeyCode::Up => PressedKey::Up,
        KeyCode::Down => PressedKey::Down,
        KeyCode::Left => PressedKey::Left,
        KeyCode::Right => PressedKey::Right,
        KeyCode::PageUp => PressedKey::PageUp,
        KeyCode::PageDown => PressedKey::PageDown,
        KeyCode::Home => PressedKey::Home,
        KeyCode::End => PressedKey::End,
        KeyCode::Enter => PressedKey::Enter,
        KeyCode::Esc => PressedKey::Escape,
        KeyCode::Backspace => PressedKey::Backspace,
        KeyCode::Char(letter) => PressedKey::Letter(letter),
        _other => return None,
    })
}

fn has_event() -> Result<bool, Failure> {
    match event::poll(Duration::ZERO) {
        Ok(is_there) => Ok(is_there),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        Err(error) => Err(lost(error)),
    }
}

fn lost(error: io::Error) -> Failure {
    Failure::fault("could not use the terminal")
        .hint("stopgate watch --once prints one frame")
        .because(error)
}
