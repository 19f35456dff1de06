//! All loops, in groups: who needs a person first.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use stopgate_view::{LoopRow, RowGroup, shown, shown_short};

use crate::board::{Board, Confirmation};
use crate::detail::broken;
use crate::theme::Theme;

const KEYS: &str = "enter open  p pause  r resume  c cancel  a approve  w answer  v verify  q quit";
const KEYS_SHORT: &str = "enter open p/r pause c cancel a approve w answer v verify q";
/// What is said where the journal is away.
pub(crate) const UNREADABLE: &str = "the journal can't be read now; trying again";
const WORD_COLUMNS: usize = 14;
const PROJECT_COLUMNS: usize = 12;
/// Columns before the figures of a row: the mark, the name and the word.
const ROW_LEAD: usize = 2 + 11 + WORD_COLUMNS + 1;
/// From this width on all keys are named.
const WIDE: usize = 76;
/// From this width on the project is shown, too, where there are several.
const WIDE_ENOUGH_FOR_PROJECT: usize = 76;

/// How many lines stand below the list.
pub(crate) const fn foot_lines(height: usize) -> usize {
    if height >= 20 { 4 } else { 2 }
}

/// The whole frame.
pub(crate) fn lines(board: &Board, (width, height): (usize, usize)) -> Vec<Line<'static>> {
    let foot = foot_lines(height);
    let mut lines = vec![head(board)];
    lines.extend(trouble(board, width));
    lines.extend(listed(board, width));
    lines.resize(height.saturating_sub(foot).max(1), Line::default());
    lines.extend(about(board, foot - 1, width));
    let keys = match (board.rows.is_empty(), width < WIDE) {
        (true, _) => "q quit",
        (false, true) => KEYS_SHORT,
        (false, false) => KEYS,
    };
    lines.push(board.bottom(keys));
    lines
}

fn head(board: &Board) -> Line<'static> {
    if board.trouble.is_some() {
        let text = format!("stopgate: {UNREADABLE}");
        return Line::from(board.theme.span(text, Theme::bold()));
    }
    let count = |group| board.rows.iter().filter(|row| row.group == group).count();
    let parts: Vec<String> = RowGroup::ALL
        .iter()
        .map(|group| match (group, count(*group)) {
            (RowGroup::NeedsYou, 1) => "1 needs you".into(),
            (RowGroup::NeedsYou, many) => format!("{many} need you"),
            (group, many) => format!("{many} {}", group.heading()),
        })
        .collect();
    let text = format!("stopgate: {}", parts.join(" · "));
    Line::from(board.theme.span(text, Theme::bold()))
}

/// Why the journal can't be read; what is below it may be old.
fn trouble(board: &Board, width: usize) -> Vec<Line<'static>> {
    let text = board.trouble.as_deref().map(|text| broken(text, width)).unwrap_or_default();
    text.into_iter().map(|line| Line::from(board.theme.span(line, Theme::plain()))).collect()
}

/// The part of the list that is in the window.
fn listed(board: &Board, width: usize) -> Vec<Line<'static>> {
    if board.rows.is_empty() && board.trouble.is_some() {
        return Vec::new();
    }
    if board.rows.is_empty() {
        let text = "No loops. Begin one with: stopgate start \"GOAL\"";
        return vec![Line::from(board.theme.span(text, Theme::plain()))];
    }
    let groups = board.rows.chunk_by(|a, b| a.group == b.group);
    let entries = groups.flat_map(|rows| {
        let heading = rows.first().map(|row| Entry::Heading(row.group));
        heading.into_iter().chain(rows.iter().map(Entry::Row))
    });
    let seen = entries.skip(board.top).take(board.page).enumerate();
    let projects = ProjectColumn::of(board, width);
    seen.map(|(at, entry)| match entry {
        Entry::Heading(group) if at == 0 => titles(board, group, projects),
        Entry::Heading(group) => heading(board, group),
        Entry::Row(row) => line(board, row, width, projects),
    })
    .collect()
}

/// Whether rows name their projects.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProjectColumn {
    Shown,
    /// A column that says the same in every row is room that goals need.
    Hidden,
}

impl ProjectColumn {
    fn of(board: &Board, width: usize) -> Self {
        let mut projects = board.rows.iter().map(|row| &row.project);
        let first = projects.next();
        let differ = projects.any(|project| Some(project) != first);
        if width >= WIDE_ENOUGH_FOR_PROJECT && differ { Self::Shown } else { Self::Hidden }
    }
}

/// The first heading, with what the columns are.
fn titles(board: &Board, group: RowGroup, projects: ProjectColumn) -> Line<'static> {
    let mut line = heading(board, group);
    let left = ROW_LEAD.saturating_sub(line.width());
    let project = match projects {
        ProjectColumn::Shown => format!("{:<PROJECT_COLUMNS$} ", "project"),
        ProjectColumn::Hidden => String::new(),
    };
    let text = format!("{:left$}{:>7} {:>5} {:>4} {project}goal", "", "used", "met", "age");
    line.push_span(board.theme.span(text, Theme::dim()));
    line
}

/// One line of the list.
enum Entry<'a> {
    Heading(RowGroup),
    Row(&'a LoopRow),
}

fn heading(board: &Board, group: RowGroup) -> Line<'static> {
    let style = board.theme.group(group).patch(Theme::bold());
    Line::from(board.theme.span(group.heading(), style))
}

fn line(board: &Board, row: &LoopRow, width: usize, projects: ProjectColumn) -> Line<'static> {
    let theme = board.theme;
    let is_chosen = board.chosen.as_ref() == Some(&row.id);
    let style = |style: Style| if is_chosen { Theme::chosen() } else { style };
    let used = match row.max {
        0 => row.iteration.to_string(),
        max => format!("{}/{max}", row.iteration),
    };
    let met = format!("{}/{}", row.met, row.required);
    let mut spans = vec![
        theme.span(if is_chosen { "> " } else { "  " }, style(Theme::bold())),
        theme.span(format!("{:<10} ", shown_short(&row.id, 10)), style(Theme::bold())),
        theme.span(format!("{:<WORD_COLUMNS$} ", row.word), style(theme.word(row.word))),
        theme.span(format!("{used:>7} "), style(Theme::plain())),
        theme.span(format!("{met:>5} "), style(Theme::plain())),
        theme.span(format!("{:>4} ", age(board, row)), style(Theme::dim())),
    ];
    if projects == ProjectColumn::Shown {
        let project = row.project.rsplit('/').next().unwrap_or_default();
        let project = padded(&shown(project), PROJECT_COLUMNS);
        spans.push(theme.span(format!("{project} "), style(Theme::plain())));
    }
    let told = row.checking.as_ref().map_or_else(
        || shown(&row.goal),
        |checks| format!("checking {} · {}", shown_short(checks, 30), shown(&row.goal)),
    );
    let used: usize = spans.iter().map(Span::width).sum();
    spans.push(theme.span(fitted(&told, width.saturating_sub(used)), style(Theme::plain())));
    Line::from(spans)
}

/// How long ago the agent did something; whole minutes, so that a quiet screen stays quiet.
fn age(board: &Board, row: &LoopRow) -> String {
    let minutes = board.now.since(row.progress_at) / 60_000;
    match minutes {
        0 => "<1m".into(),
        1..100 => format!("{minutes}m"),
        100..6000 => format!("{}h", minutes / 60),
        _long => format!("{}d", minutes / 1440),
    }
}

/// `text` in exactly so many columns.
fn padded(text: &str, columns: usize) -> String {
    let mut kept = String::new();
    let mut used = 0;
    for c in text.chars() {
        let width = Span::raw(c.to_string()).width();
        if used + width > columns {
            break;
        }
        kept.push(c);
        used += width;
    }
    kept.push_str(&" ".repeat(columns - used));
    kept
}

/// `text` in at most so many columns; a sign says where it was cut.
pub(crate) fn fitted(text: &str, columns: usize) -> String {
    if Span::raw(text).width() <= columns {
        return text.into();
    }
    format!("{}…", padded(text, columns.saturating_sub(1)).trim_end())
}

/// What is asked, or more about the chosen loop.
fn about(board: &Board, count: usize, width: usize) -> Vec<Line<'static>> {
    let theme = board.theme;
    let mut lines = Vec::new();
    if let Some(Confirmation::Approve { lines: asked, .. }) = &board.asking {
        lines.extend(asked.iter().map(|line| theme.span(line.clone(), Theme::plain())));
    } else if let Some(row) = board.rows.iter().find(|row| Some(&row.id) == board.chosen.as_ref()) {
        let why = row.why.as_ref().map(|why| format!("{}: {}", row.word, shown(why)));
        let why = fitted(&why.unwrap_or_else(|| row.word.into()), width);
        lines.push(theme.span(why, theme.word(row.word)));
        lines.push(theme.span(fitted(&shown(&row.goal), width), Theme::plain()));
        lines.push(theme.span(fitted(&shown(&row.project), width), Theme::dim()));
    }
    let mut lines: Vec<Line<'static>> = lines.into_iter().map(Line::from).collect();
    lines.resize(count, Line::default());
    lines
}
