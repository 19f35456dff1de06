//! Frames as they are drawn, and what keys do.

use std::fmt::Write as _;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use stopgate_core::{
    Criterion, Event, Frame, LoopId, Mode, Outcome, Proof, Receipt, Seen, SessionId, Started,
    State, Status, Timestamp, ToolUse, apply, decide,
};
use stopgate_view::hostile::PAYLOADS;
use stopgate_view::{Happened, LoopRow, RowGroup};

use super::{Board, BoardCommand};
use crate::keys::PressedKey;
use crate::theme::{Colours, Letters, Theme};

/// 2026-11-15 12:00 UTC.
pub(super) const NOON: Timestamp = Timestamp::from_unix_millis(1_794_744_000_000);
pub(super) const SIZES: [(u16, u16); 3] = [(60, 16), (80, 24), (120, 40)];

fn started(id: &str, goal: &str, checks: &[&str]) -> Event {
    let check = |name: &&str| {
        Criterion::new(name, Proof::Check { command: format!("run {name}"), timeout_ms: 1000 })
    };
    let frame = Frame { mode: Mode::Loop, iteration: 0, max: 20, prompt: goal.into() };
    Event::Started(Box::new(Started {
        session: SessionId::new("s1"),
        criteria: checks.iter().map(check).collect(),
        ..Started::new(LoopId::new(id), goal, "/home/mo/shop", frame)
    }))
}

fn receipt(name: &str, status: Status) -> Receipt {
    Receipt {
        duration_ms: 4_200,
        tail: "assertion failed: left == right".into(),
        output_bytes: 31,
        ..Receipt::new(name, status, NOON)
    }
}

/// A loop whose stops had these results: `f` fails, `p` passes, one letter a check.
pub(super) fn told(id: &str, goal: &str, checks: &[&str], stops: &[&str]) -> Vec<Happened> {
    let mut events = vec![(started(id, goal, checks), NOON)];
    let mut state = apply(None, &events[0].0, NOON).expect("a loop");
    for (at, results) in stops.iter().enumerate() {
        let now = NOON.plus(600_000 * i64::try_from(at + 1).expect("small"));
        let status = |c: char| if c == 'p' { Status::Pass } else { Status::Fail };
        let receipts = checks.iter().zip(results.chars()).map(|(name, c)| receipt(name, status(c)));
        let seen = Seen { tools: ToolUse::Used, receipts: receipts.collect(), ..Seen::default() };
        for event in decide(&state, &seen, now).events {
            state = apply(Some(state), &event, now).expect("it goes on");
            events.push((event, now));
        }
    }
    events
}

fn then(mut events: Vec<Happened>, event: Event) -> Vec<Happened> {
    let at = events.last().map_or(NOON, |(_, at)| *at);
    events.push((event, at));
    events
}

pub(super) fn row(events: &[Happened], now: Timestamp) -> LoopRow {
    let folded = events.iter().fold(None, |state: Option<State>, (e, at)| apply(state, e, *at));
    LoopRow::of(&folded.expect("a loop"), now)
}

pub(super) fn loops() -> Vec<Vec<Happened>> {
    let asked = Event::Asked { question: "Which database should the tests use?".into() };
    let paused = Event::Paused { rest: stopgate_core::Rest::Resume };
    let blocked = Event::Ended { outcome: Outcome::Blocked, why: "no key for the registry".into() };
    vec![
        told(
            "k3vq8m2x7d",
            "migrate the tests to the new runner",
            &["tests", "lint"],
            &["ff", "pf"],
        ),
        then(told("b7c2d9f4h1", "make the build green", &["build"], &["f"]), asked),
        then(told("q1w2e3r4t5", "größere Bilder 日本語", &["tests"], &["f"]), paused),
        told("z9y8x7w6v5", "fix the parser", &["tests"], &["f", "p"]),
        then(told("m5n4b3v2c1", "publish the package", &[], &[]), blocked),
    ]
}

pub(super) fn board(theme: Theme) -> Board {
    let now = NOON.plus(45 * 60_000);
    let mut board = Board::new(theme, now);
    board.set_rows(loops().iter().map(|events| row(events, now)).collect());
    board
}

fn frame(board: &mut Board, (width, height): (u16, u16)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    terminal.draw(|frame| board.draw(frame.area(), frame.buffer_mut())).expect("a frame");
    let cells = terminal.backend().buffer().clone();
    let mut text = String::new();
    for y in 0..height {
        let mut skip = 0_usize;
        let mut line = String::new();
        for x in 0..width {
            let symbol = cells[(x, y)].symbol();
            if skip == 0 {
                line.push_str(symbol);
            }
            let wide = ratatui::text::Span::raw(symbol.to_string()).width();
            skip = wide.saturating_sub(1).max(skip.saturating_sub(1));
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

#[test]
fn the_list_at_every_size() {
    let mut frames = String::new();
    for size in SIZES {
        let _ = writeln!(frames, "== {size:?}\n{}", frame(&mut board(Theme::default()), size));
    }
    insta::assert_snapshot!("list", frames);
}

#[test]
fn one_loop_at_every_size() {
    let mut frames = String::new();
    for size in SIZES {
        let mut board = board(Theme::default());
        board.open("k3vq8m2x7d", loops().remove(0));
        let _ = writeln!(frames, "== {size:?}\n{}", frame(&mut board, size));
        board.press(PressedKey::Left);
        board.press(PressedKey::Left);
        let _ = writeln!(frames, "== {size:?}, a stop back\n{}", frame(&mut board, size));
    }
    insta::assert_snapshot!("detail", frames);
}

#[test]
fn without_utf8_everything_is_ascii() {
    let mut board = board(Theme { colours: Colours::None, letters: Letters::Ascii });
    for size in SIZES {
        assert!(frame(&mut board, size).is_ascii());
    }
    board.open("k3vq8m2x7d", loops().remove(0));
    assert!(frame(&mut board, (80, 24)).is_ascii());
}

#[test]
fn without_colour_nothing_is_lost() {
    let mut plain = board(Theme { colours: Colours::None, ..Theme::default() });
    assert_eq!(frame(&mut plain, (80, 24)), frame(&mut board(Theme::default()), (80, 24)));
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a terminal");
    terminal.draw(|frame| plain.draw(frame.area(), frame.buffer_mut())).expect("a frame");
    let cells = terminal.backend().buffer().content().iter();
    let colour = cells.clone().find(|cell| cell.fg != ratatui::style::Color::Reset);
    assert_eq!(colour, None);
}

#[test]
fn payloads_stay_dead_in_frames() {
    for payload in PAYLOADS {
        let events = then(
            told("k3vq8m2x7d", payload, &[payload], &["f"]),
            Event::Asked { question: payload.into() },
        );
        let mut board = board(Theme::default());
        board.change_rows([("k3vq8m2x7d".to_string(), Some(row(&events, NOON)))].into());
        board.tell(payload);
        board.set_trouble(Some(payload));
        let list = frame(&mut board, (120, 40));
        board.open("k3vq8m2x7d", events);
        let shown = list + &frame(&mut board, (120, 40));
        let alive = shown.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(alive, None, "{payload:?}");
        assert!(!shown.contains(['\u{202e}', '\u{200b}', '\u{2066}', '\u{feff}']), "{payload:?}");
    }
}

#[test]
fn the_chosen_row_stays_where_it_is() {
    let mut board = board(Theme::default());
    let add = |board: &mut Board, number: usize| {
        let name = format!("new{number:07}");
        let mut row = row(&told(&name, "another", &[], &[]), NOON);
        row.group = if number.is_multiple_of(2) { RowGroup::NeedsYou } else { RowGroup::Running };
        board.change_rows([(name.clone(), Some(row))].into());
    };
    (0..20).for_each(|number| add(&mut board, number));
    let place = |board: &mut Board| {
        let text = frame(board, (80, 16));
        text.lines().position(|line| line.starts_with('>')).expect("a chosen row")
    };
    (0..8).for_each(|_| assert_eq!(board.press(PressedKey::Down), None));
    let before = (place(&mut board), board.chosen.clone());
    for number in 20..60 {
        add(&mut board, number);
        assert_eq!((place(&mut board), board.chosen.clone()), before);
    }
}

#[test]
fn a_loop_that_is_gone_is_no_longer_chosen() {
    let mut board = board(Theme::default());
    let first = board.chosen.clone().expect("a chosen row");
    board.change_rows([(first.clone(), None)].into());
    assert_ne!(board.chosen, Some(first));
    board.set_rows(Vec::new());
    assert_eq!((board.chosen.clone(), board.press(PressedKey::Enter)), (None, None));
    assert!(frame(&mut board, (60, 16)).contains("No loops."));
}

#[test]
fn keys_become_wishes() {
    let id = || "b7c2d9f4h1".to_string();
    let wish = |keys: &[PressedKey]| {
        let mut board = board(Theme::default());
        board.chosen = Some(id());
        let wishes: Vec<BoardCommand> = keys.iter().filter_map(|key| board.press(*key)).collect();
        wishes.last().cloned()
    };
    let letters = |text: &str| text.chars().map(PressedKey::Letter).collect::<Vec<PressedKey>>();
    assert_eq!(wish(&letters("p")), Some(BoardCommand::Pause(id())));
    assert_eq!(wish(&letters("r")), Some(BoardCommand::Resume(id())));
    assert_eq!(wish(&letters("v")), Some(BoardCommand::Verify(id())));
    assert_eq!(wish(&letters("a")), Some(BoardCommand::AskApproval(id())));
    assert_eq!(wish(&[PressedKey::Enter]), Some(BoardCommand::Open(id())));
    assert_eq!(wish(&letters("q")), Some(BoardCommand::Quit));
    assert_eq!(wish(&letters("c")), None);
    assert_eq!(wish(&letters("cy")), None, "asked twice");
    assert_eq!(wish(&letters("cyy")), Some(BoardCommand::Cancel(id())));
    assert_eq!(wish(&letters("cny")), None);
    assert_eq!(wish(&letters("cyny")), None);
    let mut typed = letters("wSQLitf");
    typed.extend([PressedKey::Backspace, PressedKey::Letter('e'), PressedKey::Enter]);
    assert_eq!(wish(&typed), Some(BoardCommand::Answer(id(), "SQLite".into())));
    assert_eq!(
        wish(&[PressedKey::Letter('w'), PressedKey::Enter]),
        None,
        "an empty answer is not sent"
    );
    assert_eq!(wish(&[PressedKey::Letter('w'), PressedKey::Letter('q'), PressedKey::Escape]), None);
}

#[test]
fn an_approval_is_asked_with_what_it_accepts() {
    let mut board = board(Theme::default());
    board.ask_approval("b7c2d9f4h1", &["tests/cart.rs changed\u{1b}[2J".into()]);
    let shown = frame(&mut board, (80, 24));
    assert!(shown.contains("tests/cart.rs changed␛[2J"), "{shown}");
    assert_eq!(board.press(PressedKey::Letter('n')), None);
    board.ask_approval("b7c2d9f4h1", &[]);
    assert_eq!(
        board.press(PressedKey::Letter('y')),
        Some(BoardCommand::Approve("b7c2d9f4h1".into()))
    );
}

#[test]
fn a_running_checks_output_is_shown_and_not_obeyed() {
    let mut board = board(Theme::default());
    board.open("k3vq8m2x7d", loops().remove(0));
    assert!(board.set_output(Some("compiling\n\u{1b}[31mtest cart ... \n".into())));
    assert!(!board.set_output(Some("compiling\n\u{1b}[31mtest cart ... \n".into())));
    let shown = frame(&mut board, (80, 24));
    assert!(shown.contains("a check runs now:\n│ compiling\n│ ␛[31mtest cart ..."), "{shown}");
    board.press(PressedKey::Left);
    assert!(!frame(&mut board, (80, 24)).contains("a check runs now"), "the past is past");
}

#[test]
fn steps_through_time_have_two_ends() {
    let mut board = board(Theme::default());
    board.open("k3vq8m2x7d", loops().remove(0));
    let stop = |board: &Board| board.opened.as_ref().and_then(|opened| opened.stop);
    let mut seen = Vec::new();
    for key in [
        PressedKey::Left,
        PressedKey::Left,
        PressedKey::Left,
        PressedKey::Right,
        PressedKey::Right,
        PressedKey::Right,
        PressedKey::Home,
    ] {
        board.press(key);
        seen.push(stop(&board));
    }
    assert_eq!(seen, [Some(1), Some(1), Some(1), None, None, None, Some(1)]);
    // Something happened after the last stop, so that is a step of its own.
    board.open("b7c2d9f4h1", loops().remove(1));
    board.press(PressedKey::Left);
    assert_eq!(stop(&board), Some(1));
    board.press(PressedKey::Right);
    assert_eq!(stop(&board), None);
    board.open("k3vq8m2x7d", loops().remove(0));
    board.press(PressedKey::Left);
    board.open("k3vq8m2x7d", loops().remove(0));
    assert_eq!(stop(&board), Some(1), "news does not take the chosen stop away");
    board.press(PressedKey::Escape);
    assert_eq!(board.opened(), None);
}

#[test]
fn no_size_breaks_a_frame() {
    for width in [1, 5, 20, 60, 200] {
        for height in [1, 2, 3, 10, 60] {
            let mut board = board(Theme::default());
            frame(&mut board, (width, height));
            board.open("k3vq8m2x7d", loops().remove(0));
            board.press(PressedKey::PageDown);
            frame(&mut board, (width, height));
        }
    }
}
