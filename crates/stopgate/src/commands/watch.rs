//! `watch`: all loops in the terminal, as they change.

mod screen;
mod wishes;

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde::Serialize;
use stopgate_engine::{Engine, Failure, FailureKind, Settings};
use stopgate_tui::{Board, BoardCommand, Colours, Letters, Theme};

use self::screen::{TerminalEvent, WatchScreen};
use self::wishes::WishRunner;
use super::common;
use crate::output::{self, CommandResult};

const LOOK_EVERY: Duration = Duration::from_millis(300);
/// Looks between two tries to open a journal that can't be read.
const LOOKS_PER_TRY: u32 = 10;
const COLUMNS: u16 = 80;
const LINES: u16 = 24;
const MINUTE_MS: i64 = 60_000;

/// Watch all loops in the terminal: who needs you, what runs, and why
///
/// Arrow keys choose a loop, Enter opens it, left and right step through its stops. p pauses, r
/// resumes, c cancels (asked twice), a approves, w answers, v verifies, q leaves.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// Open this loop at once: its name or its beginning
    #[arg(value_name = "LOOP")]
    name: Option<String>,
    /// Print one frame and leave
    #[arg(long)]
    once: bool,
    /// Print the loops with their groups in JSON and leave
    #[arg(long, conflicts_with_all = ["name", "once"])]
    json: bool,
}

#[derive(Serialize)]
struct WatchedLoop {
    id: String,
    group: &'static str,
    state: &'static str,
    why: Option<String>,
    goal: String,
    project: String,
    iteration: u32,
    max_iterations: u32,
    criteria_met: usize,
    criteria_required: usize,
    checking: Option<String>,
}

/// Shows all loops.
pub(crate) fn run(args: &Args) -> CommandResult {
    if args.json {
        return for_programs();
    }
    if args.once {
        return once(args);
    }
    if !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        return Err(Failure::usage("watch needs a terminal")
            .hint("stopgate watch --once prints one frame, stopgate list all loops"));
    }
    let mut watch = Watch::begin(args)?;
    let mut screen = WatchScreen::enter()?;
    let left = watch.follow(&mut screen);
    screen.leave();
    left
}

fn theme() -> Theme {
    let colours = if Settings.is_colourless() { Colours::None } else { Colours::Some };
    let letters = if Settings.is_utf8() { Letters::Unicode } else { Letters::Ascii };
    Theme { colours, letters }
}

fn once(args: &Args) -> CommandResult {
    let mut engine = common::engine()?;
    let mut board = Board::new(theme(), engine.now());
    board.set_rows(engine.records().loop_rows()?);
    if let Some(name) = &args.name {
        open(&mut engine, &mut board, name)?;
    }
    let columns = output::window().and_then(|columns| u16::try_from(columns).ok());
    let area = Rect::new(0, 0, columns.unwrap_or(COLUMNS), LINES);
    let mut cells = Buffer::empty(area);
    board.draw(area, &mut cells);
    output::document(&text(&cells));
    Ok(ExitCode::SUCCESS)
}

fn for_programs() -> CommandResult {
    let mut rows = common::engine()?.records().loop_rows()?;
    rows.sort_by_key(|row| (row.group, std::cmp::Reverse(row.started_at)));
    let loops = rows.into_iter().map(|row| WatchedLoop {
        id: row.id,
        group: row.group.heading(),
        state: row.word,
        why: row.why,
        goal: row.goal,
        project: row.project,
        iteration: row.iteration,
        max_iterations: row.max,
        criteria_met: row.met,
        criteria_required: row.required,
        checking: row.checking,
    });
    output::json_member("loops", &loops.collect::<Vec<_>>());
    Ok(ExitCode::SUCCESS)
}

/// A frame as text.
fn text(cells: &Buffer) -> String {
    let mut text = String::new();
    for y in cells.area.top()..cells.area.bottom() {
        let mut line = String::new();
        let mut covered = 0;
        for x in cells.area.left()..cells.area.right() {
            let symbol = cells[(x, y)].symbol();
            if covered == 0 {
                line.push_str(symbol);
                covered = output::width(symbol).saturating_sub(1);
            } else {
                covered -= 1;
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Opens a loop's story.
fn open(engine: &mut Engine, board: &mut Board, name: &str) -> Result<(), Failure> {
    let events = engine.records().chronicle(name)?;
    let id = events.iter().find_map(|(event, _)| match event {
        stopgate_core::Event::Started(started) => Some(started.id.as_str().to_string()),
        _other => None,
    });
    board.open(id.as_deref().unwrap_or(name), events);
    Ok(())
}

/// Whether anything came from the terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heard {
    Nothing,
    Something,
}

/// A view that follows the journal.
struct Watch {
    engine: Option<Engine>,
    board: Board,
    cursor: u64,
    minute: i64,
    looks: u32,
    wishes: WishRunner,
}

impl Watch {
    /// Opens the journal. One that can't be reached now is tried again later; everything else that
    /// is wrong is said at once.
    fn begin(args: &Args) -> Result<Self, Failure> {
        let now = stopgate_core::Timestamp::from_unix_millis(0);
        let mut watch = Self {
            engine: None,
            board: Board::new(theme(), now),
            cursor: 0,
            minute: 0,
            looks: 0,
            wishes: WishRunner::default(),
        };
        match watch.connect() {
            Err(failure) if failure.kind != FailureKind::Store => return Err(failure),
            Err(failure) => watch.trouble(&failure),
            Ok(()) => {}
        }
        if let (Some(name), Some(engine)) = (&args.name, &mut watch.engine) {
            open(engine, &mut watch.board, name)?;
        }
        Ok(watch)
    }

    fn connect(&mut self) -> Result<(), Failure> {
        let mut engine = common::engine()?;
        self.cursor = engine.records().newest_cursor()?;
        self.board.set_now(engine.now());
        self.board.set_rows(engine.records().loop_rows()?);
        self.board.set_trouble(None);
        self.engine = Some(engine);
        Ok(())
    }

    fn trouble(&mut self, failure: &Failure) {
        self.engine = None;
        self.board.set_trouble(Some(&failure.story()));
    }

    fn follow(&mut self, screen: &mut WatchScreen) -> CommandResult {
        screen.draw(&mut self.board)?;
        while let Some(heard) = self.take_in(screen)? {
            let is_news = self.look() || heard == Heard::Something;
            if is_news {
                screen.draw(&mut self.board)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Takes in what came from the terminal; `None` where the person leaves. What is typed fast
    /// or pasted comes at once, and is drawn at once.
    fn take_in(&mut self, screen: &mut WatchScreen) -> Result<Option<Heard>, Failure> {
        let (mut wait, mut heard) = (LOOK_EVERY, Heard::Nothing);
        loop {
            match screen.hear(wait)? {
                TerminalEvent::Nothing => return Ok(Some(heard)),
                TerminalEvent::Resized => {}
                TerminalEvent::Ended => return Err(Failure::interrupted("interrupted")),
                TerminalEvent::Key(key) => match self.board.press(key) {
                    Some(BoardCommand::Quit) => return Ok(None),
                    wish => self.grant(wish),
                },
            }
            (wait, heard) = (Duration::ZERO, Heard::Something);
        }
    }

    fn grant(&mut self, wish: Option<BoardCommand>) {
        let Some(wish) = wish else { return };
        let Some(engine) = &mut self.engine else {
            return self.board.tell("The journal can't be read now; nothing was done.");
        };
        if let Err(failure) = self.wishes.grant(engine, &mut self.board, wish) {
            let hint = failure.hint.as_ref().map(|hint| format!("; {hint}"));
            self.board.tell(&format!("{}{}", failure.story(), hint.unwrap_or_default()));
        }
    }

    /// Looks for news; whether there is any.
    fn look(&mut self) -> bool {
        self.looks = self.looks.wrapping_add(1);
        let told = self.wishes.news(&mut self.board);
        if self.engine.is_none() {
            let connected = self.looks.is_multiple_of(LOOKS_PER_TRY) && self.connect().is_ok();
            return connected || told;
        }
        match self.fetch() {
            Ok(is_news) => is_news || told,
            Err(failure) => {
                self.trouble(&failure);
                true
            }
        }
    }

    fn fetch(&mut self) -> Result<bool, Failure> {
        let Some(engine) = &mut self.engine else { return Ok(false) };
        let board = &mut self.board;
        let (cursor, changed) = engine.records().changed_since(self.cursor)?;
        self.cursor = cursor;
        let mut is_news = !changed.is_empty();
        if is_news {
            let mut news = BTreeMap::new();
            for id in &changed {
                news.insert(id.clone(), engine.records().loop_row(id)?);
            }
            board.change_rows(news);
        }
        if let Some(id) = board.opened().map(String::from).filter(|id| changed.contains(id)) {
            board.open(&id, engine.records().chronicle(&id)?);
        }
        is_news |= board.set_checking(&engine.records().all_checks_running());
        let output = board.opened().and_then(|id| engine.records().running_output(id));
        is_news |= board.set_output(output);
        let now = engine.now();
        let minute = now.unix_millis() / MINUTE_MS;
        board.set_now(now);
        is_news |= std::mem::replace(&mut self.minute, minute) != minute;
        Ok(is_news)
    }
}
