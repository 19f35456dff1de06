//! One loop: its criteria over all stops, what was decided at a stop and why, the text sent.

use ratatui::text::{Line, Span};
use stopgate_view::{
    LoopStory, MustAct, PersonsTurn, StopStory, short_span, shown, shown_lines, shown_short,
    utc_clock,
};

use crate::board::{Board, Confirmation, OpenedLoop};
use crate::list::{UNREADABLE, fitted};
use crate::theme::Theme;

/// Lines that a goal may have.
const GOAL_LINES: usize = 2;
const NAME_COLUMNS: usize = 18;
const WIDE: usize = 76;
/// Lines shown of what a check prints.
const OUTPUT_LINES: usize = 6;

/// The whole frame.
pub(crate) fn lines(
    theme: Theme,
    board: &Board,
    opened: &OpenedLoop,
    (width, height): (usize, usize),
) -> Vec<Line<'static>> {
    let story = &opened.story;
    let mut lines = vec![head(theme, board, opened)];
    lines.extend(goal(theme, story, width));
    lines.push(spend(theme, story));
    lines.extend(advice(theme, story));
    let room = height.saturating_sub(lines.len() + 2);
    // What was decided must be seen, however many criteria there are.
    let told_max = (room / 2).max(1);
    lines.extend(criteria(theme, story, width, told_max));
    if let Some(Confirmation::Approve { lines: asked, .. }) = &board.asking {
        lines.extend(asked.iter().map(|line| Line::from(theme.span(line.clone(), Theme::bold()))));
    } else {
        let mut told = running(theme, board, opened);
        told.extend(moment(theme, story, width));
        told.extend(sent(theme, story, width));
        told.extend(earlier(theme, story));
        let left = height.saturating_sub(lines.len() + 1).max(1);
        let top = opened.scroll.min(told.len().saturating_sub(left));
        lines.extend(told.into_iter().skip(top).take(left));
    }
    lines.resize(height.saturating_sub(1), Line::default());
    lines.push(board.bottom(&keys(opened, width)));
    lines
}

/// The keys that do something here.
fn keys(opened: &OpenedLoop, width: usize) -> String {
    let acts = match opened.story.act {
        MustAct::Agent => "p pause  c cancel  v verify",
        MustAct::Person(PersonsTurn::Answer) => "w answer  c cancel",
        MustAct::Person(PersonsTurn::Approve) => "a approve  c cancel",
        MustAct::Person(PersonsTurn::Resume) => "r resume  c cancel",
        MustAct::Person(PersonsTurn::Look) => "r resume  v verify",
        MustAct::Nobody => "v verify",
    };
    let step = if opened.stops > 1 { "left/right step  " } else { "" };
    let scroll = if width < WIDE { "" } else { "up/down scroll  " };
    format!("{step}{scroll}{acts}  esc back")
}

fn head(theme: Theme, board: &Board, opened: &OpenedLoop) -> Line<'static> {
    let story = &opened.story;
    let when = match (opened.stop, opened.stops) {
        (_, 0) => " · no stop yet".into(),
        (Some(stop), all) => format!(" · as of stop {stop} of {all}"),
        (None, all) => format!(" · now, after stop {all}"),
    };
    let trouble = board.trouble.as_ref().map(|_| format!(" · {UNREADABLE}"));
    Line::from(vec![
        theme.span(shown(&story.id), Theme::bold()),
        theme.span(format!(" {}", story.word()), theme.word(story.word()).patch(Theme::bold())),
        theme.span(when, Theme::plain()),
        theme.span(trouble.unwrap_or_default(), Theme::bold()),
    ])
}

/// What a person has to do, and by which key.
fn advice(theme: Theme, story: &LoopStory) -> Option<Line<'static>> {
    let MustAct::Person(turn) = story.act else { return None };
    let text = match turn {
        PersonsTurn::Answer => "needs you: w answers the question",
        PersonsTurn::Approve => "needs you: a shows what waits for your word",
        PersonsTurn::Resume => "paused: r lets it go on",
        PersonsTurn::Look => "needs you: look why it ended; r lets it go on",
    };
    Some(Line::from(theme.span(text, Theme::bold())))
}

fn goal(theme: Theme, story: &LoopStory, width: usize) -> Vec<Line<'static>> {
    let mut pieces = broken(&shown(&story.goal), width);
    if pieces.len() > GOAL_LINES {
        let rest = pieces.split_off(GOAL_LINES - 1).concat();
        pieces.push(fitted(&rest, width));
    }
    pieces.into_iter().map(|piece| Line::from(theme.span(piece, Theme::plain()))).collect()
}

fn spend(theme: Theme, story: &LoopStory) -> Line<'static> {
    let frames: Vec<String> = story
        .frames
        .iter()
        .map(|frame| {
            let max = if frame.max == u32::MAX { "no limit".into() } else { frame.max.to_string() };
            format!("{} {}/{max}", frame.mode, frame.iteration)
        })
        .collect();
    let limit = match story.max_minutes {
        0 => String::new(),
        max => format!(" of {max}m"),
    };
    let used = story.spend.as_ref().map(|used| format!(" · {}", shown(used)));
    let text = format!(
        "{} · work {}{limit}{}",
        frames.join(" > "),
        short_span(story.used_ms),
        used.unwrap_or_default()
    );
    Line::from(theme.span(text, Theme::dim()))
}

/// Each criterion with its marks, the newest stops on the right.
fn criteria(theme: Theme, story: &LoopStory, width: usize, lines_max: usize) -> Vec<Line<'static>> {
    let fits = lines_max.min(story.criteria.len());
    let left_out = story.criteria.len() - fits;
    let fits = if left_out > 0 { fits.saturating_sub(1) } else { fits };
    let columns = width.saturating_sub(NAME_COLUMNS + 4);
    let mut lines = Vec::new();
    for criterion in story.criteria.iter().take(fits) {
        let mut spans: Vec<Span<'static>> = vec![
            theme.span(format!("{} ", criterion.now.sign()), theme.mark(criterion.now)),
            theme.span(name(&criterion.name), Theme::plain()),
            theme.span("  ", Theme::plain()),
        ];
        let first = criterion.marks.len().saturating_sub(columns);
        for mark in criterion.marks.iter().skip(first) {
            spans.push(theme.span(mark.sign().to_string(), theme.mark(*mark)));
        }
        lines.push(Line::from(spans));
    }
    if fits < story.criteria.len() {
        let more = story.criteria.len() - fits;
        lines.push(Line::from(theme.span(format!("and {more} more criteria"), Theme::dim())));
    }
    lines
}

fn name(name: &str) -> String {
    let short = shown_short(name, NAME_COLUMNS);
    let used = Span::raw(short.clone()).width();
    format!("{short}{}", " ".repeat(NAME_COLUMNS.saturating_sub(used)))
}

/// The end of what a check prints right now.
fn running(theme: Theme, board: &Board, opened: &OpenedLoop) -> Vec<Line<'static>> {
    let Some(output) = board.output.as_ref().filter(|_| opened.stop.is_none()) else {
        return Vec::new();
    };
    let shown = shown_lines(output.trim_end());
    let lines: Vec<&str> = shown.lines().collect();
    let end = lines.iter().skip(lines.len().saturating_sub(OUTPUT_LINES));
    let head = Line::from(theme.span("a check runs now:", Theme::bold()));
    let lines = end.map(|line| Line::from(theme.span(format!("│ {line}"), Theme::plain())));
    std::iter::once(head).chain(lines).collect()
}

/// What was decided at the last stop of the story, and what happened since.
fn moment(theme: Theme, story: &LoopStory, width: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let plain = |text: String| Line::from(theme.span(text, Theme::plain()));
    if let Some(stop) = story.stops.last() {
        let said = broken(&decided(stop), width);
        lines.extend(said.into_iter().map(|text| Line::from(theme.span(text, Theme::bold()))));
        if !stop.why.is_empty() {
            let why = broken(&format!("because {}", shown(&stop.why)), width);
            lines.extend(why.into_iter().map(plain));
        }
        for receipt in &stop.receipts {
            lines.push(plain(format!(
                "  {}: {}, {}",
                shown_short(&receipt.criterion, 40),
                receipt.status,
                match i64::try_from(receipt.duration_ms).unwrap_or(i64::MAX) {
                    short @ ..1000 => format!("{short} ms"),
                    long => short_span(long),
                }
            )));
        }
    }
    let since = || story.moments.iter().filter(|moment| moment.after_stop == story.stops.len());
    let why = story.why.as_ref().filter(|_| story.stops.is_empty());
    // A question is told where it was asked.
    if let Some(why) = why.filter(|why| since().all(|moment| moment.what != **why)) {
        lines.push(plain(shown(why)));
    }
    for moment in since() {
        let at = utc_clock(moment.at);
        lines.push(plain(format!("{at} {}: {}", moment.kind, shown(&moment.what))));
    }
    lines
}

fn decided(stop: &StopStory) -> String {
    let what = match stop.outcome {
        Some(outcome) => format!("ended as {outcome}"),
        None if stop.verdict == stopgate_core::RulingWord::Continue => "sent back".into(),
        None => "let go".into(),
    };
    let claim = if stop.is_claim { ", claimed to be done" } else { "" };
    let passed = stop.receipts.iter().filter(|r| r.status == stopgate_core::Status::Pass).count();
    let checks = match stop.receipts.len() {
        0 => String::new(),
        all => format!(", {passed} of {all} checks pass"),
    };
    let files = match stop.changed_files {
        None => String::new(),
        Some(1) => ", 1 file changed".into(),
        Some(files) => format!(", {files} files changed"),
    };
    format!(
        "stop {} at {} UTC: {what} by rule {}{checks}{files}{claim}",
        stop.number,
        utc_clock(stop.at),
        stop.rule
    )
}

/// The text that was sent, its lines broken at words.
fn sent(theme: Theme, story: &LoopStory, width: usize) -> Vec<Line<'static>> {
    let text = story.stops.last().map(|stop| stop.text.as_str()).unwrap_or_default();
    let room = width.saturating_sub(2).max(1);
    let text = shown_lines(text);
    let lines = text.lines().flat_map(|line| broken(line, room));
    lines.map(|line| Line::from(theme.span(format!("│ {line}"), Theme::dim()))).collect()
}

/// The stops before the one that is told, the newest first.
fn earlier(theme: Theme, story: &LoopStory) -> Vec<Line<'static>> {
    let before = story.stops.iter().rev().skip(1);
    before.map(|stop| Line::from(theme.span(decided(stop), Theme::plain()))).collect()
}

/// A line in pieces of at most so many columns, broken at blanks where there are any.
pub(crate) fn broken(line: &str, columns: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for word in line.split_inclusive(' ') {
        let used = pieces.last().map_or(0, |piece| Span::raw(piece.as_str()).width());
        if used > 0 && used + Span::raw(word.trim_end()).width() > columns {
            pieces.push(String::new());
        }
        for letter in word.chars() {
            let used = pieces.last().map_or(0, |piece| Span::raw(piece.as_str()).width());
            if used + Span::raw(letter.to_string()).width() > columns && letter != ' ' {
                pieces.push(String::new());
            }
            if let Some(piece) = pieces.last_mut() {
                piece.push(letter);
            }
        }
    }
    pieces
}
