//! Frames as pictures, and as the bytes that a terminal is sent.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::num::NonZeroU16;
use std::rc::Rc;

use ratatui::backend::CrosstermBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use ratatui::{Terminal, TerminalOptions, Viewport};

use super::Board;
use super::tests::{NOON, SIZES, board, loops, row, told};
use crate::keys::PressedKey;
use crate::theme::Theme;

const CELL: f64 = 8.4;
const ROW: usize = 18;
const EDGE: usize = 10;
const STYLE: &str = "text{font:14px/18px ui-monospace,'DejaVu Sans Mono',monospace;white-space:pre;fill:#1b1f24}\
 .paper{fill:#fff}.b{font-weight:bold}.d{opacity:.65}.rev{fill:#fff}.back{fill:#1b1f24}\
 .green{fill:#116329}.red{fill:#a40e26}.yellow{fill:#7d4e00}.cyan{fill:#0550ae}\
 @media(prefers-color-scheme:dark){text{fill:#e6edf3}.paper{fill:#0d1117}.rev{fill:#0d1117}.back{fill:#e6edf3}\
 .green{fill:#56d364}.red{fill:#ff9492}.yellow{fill:#e3b341}.cyan{fill:#79c0ff}}";

/// A frame as a picture: runs of cells that look alike, each where its first cell is.
fn svg(cells: &Buffer) -> String {
    let (width, height) = (cells.area.width, cells.area.height);
    let (wide, high) = (f64::from(width) * CELL + 20.0, usize::from(height) * ROW + 2 * EDGE);
    let mut drawn = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide:.0} {high}\" width=\"{wide:.0}\" \
         height=\"{high}\" role=\"img\"><style>{STYLE}</style>\n\
         <rect class=\"paper\" width=\"{wide:.0}\" height=\"{high}\" rx=\"8\"/>\n"
    );
    for y in 0..height {
        let line: Vec<(u16, &Cell)> = (0..width).map(|x| (x, &cells[(x, y)])).collect();
        for run in line.chunk_by(|(_, a), (_, b)| look(a) == look(b)) {
            draw_run(&mut drawn, run, usize::from(y));
        }
    }
    drawn + "</svg>\n"
}

fn draw_run(drawn: &mut String, run: &[(u16, &Cell)], y: usize) {
    let Some((first, cell)) = run.first() else { return };
    let class = look(cell);
    let x = f64::from(*first) * CELL + 10.0;
    let mut text = String::new();
    let mut skip = 0;
    for (_, cell) in run {
        if skip == 0 {
            text.push_str(cell.symbol());
            skip = ratatui::text::Span::raw(cell.symbol().to_string()).width().max(1);
        }
        skip -= 1;
    }
    if class.contains("rev") {
        let (top, wide) = (EDGE + y * ROW, f64::from(u16::try_from(run.len()).unwrap_or(0)) * CELL);
        let _ = writeln!(
            drawn,
            "<rect class=\"back\" x=\"{x:.1}\" y=\"{top}\" width=\"{wide:.1}\" height=\"{ROW}\"/>"
        );
    } else if text.trim().is_empty() {
        return;
    }
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let base = EDGE + y * ROW + 13;
    let _ = writeln!(drawn, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{base}\">{text}</text>");
}

fn look(cell: &Cell) -> String {
    let mut classes = Vec::new();
    let colour = match cell.fg {
        Color::Green => "green",
        Color::Red => "red",
        Color::Yellow => "yellow",
        Color::Cyan => "cyan",
        _own => "",
    };
    classes.extend(Some(colour).filter(|colour| !colour.is_empty()));
    for (modifier, class) in
        [(Modifier::BOLD, "b"), (Modifier::DIM, "d"), (Modifier::REVERSED, "rev")]
    {
        classes.extend(cell.modifier.contains(modifier).then_some(class));
    }
    classes.join(" ")
}

fn picture(board: &mut Board, (width, height): (u16, u16)) -> Vec<u8> {
    let area = Rect::new(0, 0, width, height);
    let mut cells = Buffer::empty(area);
    board.draw(area, &mut cells);
    svg(&cells).into_bytes()
}

#[test]
fn frames_look_as_they_were_looked_at() {
    for (width, height) in SIZES {
        let size = (width, height);
        let mut board = board(Theme::default());
        insta::assert_binary_snapshot!(
            &format!("list-{width}x{height}.svg"),
            picture(&mut board, size)
        );
        board.open("k3vq8m2x7d", loops().remove(0));
        insta::assert_binary_snapshot!(
            &format!("detail-{width}x{height}.svg"),
            picture(&mut board, size)
        );
    }
}

/// What a terminal is sent.
#[derive(Clone, Default)]
struct Wire(Rc<RefCell<Vec<u8>>>);

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A view of many loops, and what a terminal is sent for it.
struct Sent {
    terminal: Terminal<CrosstermBackend<Wire>>,
    wire: Wire,
    /// The terminal at the other end.
    screen: vt100::Parser,
}

impl Sent {
    fn new((width, height): (u16, u16)) -> Self {
        let wire = Wire::default();
        let viewport = Viewport::Fixed(Rect::new(0, 0, width, height));
        let backend = CrosstermBackend::new(wire.clone());
        let terminal = Terminal::with_options(backend, TerminalOptions { viewport });
        let lines = NonZeroU16::new(height).expect("a height");
        let columns = NonZeroU16::new(width).expect("a width");
        Self {
            terminal: terminal.expect("a terminal"),
            wire,
            screen: vt100::Parser::new(lines, columns, 0),
        }
    }

    /// Draws, and hands every byte on; how many there were.
    fn draw(&mut self, board: &mut Board) -> usize {
        let is_first = self.screen.screen().contents().trim().is_empty();
        self.terminal.draw(|frame| board.draw(frame.area(), frame.buffer_mut())).expect("a frame");
        let bytes = self.wire.0.take();
        for byte in &bytes {
            // What was said before a sequence is on the screen by then.
            if *byte == 0x1b {
                let is_blank = self.screen.screen().contents().trim().is_empty();
                assert!(is_first || !is_blank, "a frame is blank for a moment");
            }
            self.screen.process(&[*byte]);
        }
        bytes.len()
    }

    fn shown(&self) -> String {
        self.screen.screen().contents()
    }
}

fn crowd() -> Board {
    let mut board = Board::new(Theme::default(), NOON);
    let rows =
        (0..40).map(|number| row(&told(&format!("loop{number:06}"), "wait", &[], &[]), NOON));
    board.set_rows(rows.collect());
    board
}

#[test]
fn a_terminal_shows_what_was_drawn() {
    for size in SIZES {
        let (mut sent, mut board) = (Sent::new(size), board(Theme::default()));
        sent.draw(&mut board);
        assert!(sent.shown().starts_with("stopgate: "), "{}", sent.shown());
        board.open("k3vq8m2x7d", loops().remove(0));
        sent.draw(&mut board);
        assert!(sent.shown().starts_with("k3vq8m2x7d active"), "{}", sent.shown());
        board.press(PressedKey::Escape);
        sent.draw(&mut board);
        assert!(sent.shown().starts_with("stopgate: "), "{}", sent.shown());
    }
}

/// Ages are told in minutes: a screen full of loops costs a line of slow SSH next to nothing.
#[test]
fn a_minute_in_which_only_ages_change_takes_few_bytes() {
    const BYTES_A_SECOND: usize = 100;
    for size in SIZES {
        let (mut sent, mut board) = (Sent::new(size), crowd());
        sent.draw(&mut board);
        for minute in 95..=105 {
            board.set_now(NOON.plus(minute * 60_000));
            let bytes = sent.draw(&mut board);
            assert!(bytes <= 60 * BYTES_A_SECOND, "{bytes} bytes in minute {minute} at {size:?}");
        }
        assert_eq!(sent.draw(&mut board), sent.draw(&mut board), "nothing is news");
    }
}
