//! What the view shows, and what a key does to it.

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use stopgate_core::{Event, Timestamp};
use stopgate_view::{Happened, LoopRow, LoopStory, RowGroup, shown_short};

use crate::keys::PressedKey;
use crate::theme::Theme;
use crate::{detail, list};

const NOTICE_LETTERS: usize = 300;
const ANSWER_LETTERS_MAX: usize = 600;
const ROW_LETTERS_MAX: usize = 400;

/// What a person wishes for; the program carries it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoardCommand {
    /// Leave the view.
    Quit,
    /// Show this loop's story.
    Open(String),
    /// Pause this loop.
    Pause(String),
    /// Resume this loop.
    Resume(String),
    /// Cancel this loop; it was asked twice.
    Cancel(String),
    /// Say what an approval of this loop would accept.
    AskApproval(String),
    /// Approve what was shown of this loop.
    Approve(String),
    /// Answer this loop's question.
    Answer(String, String),
    /// Run this loop's criteria now.
    Verify(String),
}

/// A question that the view asks before it wishes for something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Confirmation {
    /// Whether to cancel a loop, and how often that was confirmed.
    Cancel { id: String, confirmed: bool },
    /// Whether to approve what is listed.
    Approve { id: String, lines: Vec<String> },
    /// What to answer.
    Answer { id: String, text: String },
}

/// The loop that is looked at in detail.
#[derive(Clone, Debug)]
pub(crate) struct OpenedLoop {
    pub(crate) id: String,
    pub(crate) events: Vec<Happened>,
    /// The story as of the chosen stop, or the whole one.
    pub(crate) story: LoopStory,
    /// How many stops the whole story has.
    pub(crate) stops: usize,
    /// The chosen stop; `None` for now.
    pub(crate) stop: Option<usize>,
    pub(crate) scroll: usize,
}

/// Everything the view shows.
#[derive(Clone, Debug)]
pub struct Board {
    pub(crate) theme: Theme,
    pub(crate) now: Timestamp,
    /// The rows, in the order in which they are shown.
    pub(crate) rows: Vec<LoopRow>,
    pub(crate) chosen: Option<String>,
    /// How many lines of the list are above the window.
    pub(crate) top: usize,
    /// How many lines of the list fit.
    pub(crate) page: usize,
    pub(crate) opened: Option<OpenedLoop>,
    pub(crate) asking: Option<Confirmation>,
    pub(crate) notice: Option<String>,
    pub(crate) trouble: Option<String>,
    /// The end of what a check of the opened loop prints now.
    pub(crate) output: Option<String>,
}

impl Board {
    /// A view of no loops yet.
    pub const fn new(theme: Theme, now: Timestamp) -> Self {
        Self {
            theme,
            now,
            rows: Vec::new(),
            chosen: None,
            top: 0,
            page: 1,
            opened: None,
            asking: None,
            notice: None,
            trouble: None,
            output: None,
        }
    }

    /// Shows these loops from now on. The chosen one stays where it is on the screen.
    pub fn set_rows(&mut self, rows: Vec<LoopRow>) {
        let before = self.chosen_line();
        self.rows = rows;
        self.rows.iter_mut().for_each(shorten);
        self.settle(before);
    }

    /// Replaces or adds loops; `None` removes one.
    pub fn change_rows(&mut self, mut news: BTreeMap<String, Option<LoopRow>>) {
        let before = self.chosen_line();
        self.rows.retain_mut(|known| match news.remove(&known.id) {
            None => true,
            Some(None) => false,
            Some(Some(row)) => {
                *known = row;
                shorten(known);
                true
            }
        });
        self.rows.extend(news.into_values().flatten());
        self.settle(before);
    }

    /// Puts rows in order; the chosen one was on this line before.
    fn settle(&mut self, before: Option<usize>) {
        self.rows
            .sort_by(|a, b| (a.group, b.started_at, &a.id).cmp(&(b.group, a.started_at, &b.id)));
        match (before, self.chosen_line()) {
            (Some(before), Some(after)) => self.top = (self.top + after).saturating_sub(before),
            (None, Some(_)) => {}
            (_, None) => {
                self.chosen = self.rows.first().map(|row| row.id.clone());
                self.top = 0;
            }
        }
    }

    /// Shows which checks of which loops run now; whether that is news.
    pub fn set_checking(&mut self, running: &BTreeMap<String, String>) -> bool {
        let mut is_news = false;
        for row in self.rows.iter_mut().filter(|row| row.group == RowGroup::Running) {
            let checking = running.get(&row.id);
            if row.checking.as_ref() != checking {
                row.checking = checking.cloned();
                is_news = true;
            }
        }
        is_news
    }

    /// Shows the end of what a check of the opened loop prints now; whether that is news.
    pub fn set_output(&mut self, output: Option<String>) -> bool {
        let is_news = self.output != output;
        self.output = output;
        is_news
    }

    /// The time that ages are told by.
    pub const fn set_now(&mut self, now: Timestamp) {
        self.now = now;
    }

    /// Shows what came of a wish.
    pub fn tell(&mut self, notice: &str) {
        self.notice = Some(shown_short(notice, NOTICE_LETTERS));
    }

    /// Shows that the journal can't be read, or that it can again.
    pub fn set_trouble(&mut self, trouble: Option<&str>) {
        self.trouble = trouble.map(|text| shown_short(text, NOTICE_LETTERS));
    }

    /// The loop whose story is shown.
    pub fn opened(&self) -> Option<&str> {
        self.opened.as_ref().map(|opened| opened.id.as_str())
    }

    /// Shows a loop's story; the stop that was chosen before stays chosen.
    pub fn open(&mut self, id: &str, events: Vec<Happened>) {
        let before = self.opened.take().filter(|opened| opened.id == id);
        let stop = before.as_ref().and_then(|opened| opened.stop);
        let scroll = before.map_or(0, |opened| opened.scroll);
        let Some(whole) = LoopStory::tell(&events) else { return };
        let stops = whole.stops.len();
        let then = stop.and_then(|stop| LoopStory::as_of(&events, stop));
        let story = then.unwrap_or(whole);
        self.opened = Some(OpenedLoop { id: id.into(), events, story, stops, stop, scroll });
    }

    /// Asks whether to approve what these lines say.
    pub fn ask_approval(&mut self, id: &str, lines: &[String]) {
        let lines = lines.iter().map(|line| shown_short(line, NOTICE_LETTERS)).collect();
        self.asking = Some(Confirmation::Approve { id: id.into(), lines });
    }

    /// What a key asks for.
    pub fn press(&mut self, key: PressedKey) -> Option<BoardCommand> {
        self.notice = None;
        if let Some(asking) = self.asking.take() {
            return self.reply(asking, key);
        }
        match (key, self.opened.is_some()) {
            (PressedKey::Letter('q'), false) => Some(BoardCommand::Quit),
            (PressedKey::Escape | PressedKey::Letter('q'), true) => {
                self.opened = None;
                None
            }
            (PressedKey::Letter(letter), _) => self.letter(letter),
            (PressedKey::Enter, false) => self.subject().map(BoardCommand::Open),
            (moved, false) => {
                self.move_by(moved);
                None
            }
            (moved, true) => {
                self.step(moved);
                None
            }
        }
    }

    /// Draws the view on all of `area`.
    pub fn draw(&mut self, area: Rect, cells: &mut Buffer) {
        let (width, height) = (usize::from(area.width), usize::from(area.height));
        let lines = if let Some(opened) = &self.opened {
            detail::lines(self.theme, self, opened, (width, height))
        } else {
            self.page = height.saturating_sub(list::foot_lines(height) + 1).max(1);
            self.keep_chosen_in_sight();
            list::lines(self, (width, height))
        };
        for (y, line) in (area.top()..area.bottom()).zip(&lines) {
            cells.set_line(area.left(), y, line, area.width);
        }
    }

    /// The line at the bottom: a question, what came of a wish, or the keys.
    pub(crate) fn bottom(&self, keys: &str) -> Line<'static> {
        let bold = Theme::bold();
        let said = match (&self.asking, &self.notice) {
            (Some(Confirmation::Cancel { id, confirmed: false }), _) => {
                (format!("Cancel loop {id}? y to cancel, any other key to leave it"), bold)
            }
            (Some(Confirmation::Cancel { id, confirmed: true }), _) => (
                format!("A cancelled loop can't be resumed. Cancel {id}? y, or any other key"),
                bold,
            ),
            (Some(Confirmation::Approve { id, .. }), _) => {
                (format!("Approve this of loop {id}? y, or any other key to leave it"), bold)
            }
            (Some(Confirmation::Answer { text, .. }), _) => {
                (format!("Answer (Enter sends, Esc leaves): {text}_"), bold)
            }
            (None, Some(notice)) => (notice.clone(), bold),
            (None, None) => (keys.into(), Theme::dim()),
        };
        Line::from(self.theme.span(said.0, said.1))
    }

    fn reply(&mut self, asking: Confirmation, key: PressedKey) -> Option<BoardCommand> {
        match (asking, key) {
            (Confirmation::Cancel { id, confirmed: false }, PressedKey::Letter('y')) => {
                self.asking = Some(Confirmation::Cancel { id, confirmed: true });
                None
            }
            (Confirmation::Cancel { id, confirmed: true }, PressedKey::Letter('y')) => {
                Some(BoardCommand::Cancel(id))
            }
            (Confirmation::Approve { id, .. }, PressedKey::Letter('y')) => {
                Some(BoardCommand::Approve(id))
            }
            (Confirmation::Cancel { .. } | Confirmation::Approve { .. }, _other) => {
                self.tell("Nothing was changed.");
                None
            }
            (Confirmation::Answer { id, text }, key) => self.type_answer(id, text, key),
        }
    }

    fn type_answer(
        &mut self,
        id: String,
        mut text: String,
        key: PressedKey,
    ) -> Option<BoardCommand> {
        match key {
            PressedKey::Enter if !text.trim().is_empty() => {
                return Some(BoardCommand::Answer(id, text));
            }
            PressedKey::Escape => {
                self.tell("Nothing was answered.");
                return None;
            }
            PressedKey::Backspace => {
                text.pop();
            }
            PressedKey::Letter(letter)
                if !letter.is_control() && text.chars().count() < ANSWER_LETTERS_MAX =>
            {
                text.push(letter);
            }
            _other => {}
        }
        self.asking = Some(Confirmation::Answer { id, text });
        None
    }

    fn letter(&mut self, letter: char) -> Option<BoardCommand> {
        match letter {
            'k' => return self.press(PressedKey::Up),
            'j' => return self.press(PressedKey::Down),
            'h' => return self.press(PressedKey::Left),
            'l' => return self.press(PressedKey::Right),
            _other => {}
        }
        let id = self.subject()?;
        match letter {
            'p' => Some(BoardCommand::Pause(id)),
            'r' => Some(BoardCommand::Resume(id)),
            'a' => Some(BoardCommand::AskApproval(id)),
            'v' => Some(BoardCommand::Verify(id)),
            'c' => {
                self.asking = Some(Confirmation::Cancel { id, confirmed: false });
                None
            }
            'w' => {
                self.asking = Some(Confirmation::Answer { id, text: String::new() });
                None
            }
            _other => None,
        }
    }

    /// The loop that a key is about.
    fn subject(&self) -> Option<String> {
        self.opened.as_ref().map(|opened| opened.id.clone()).or_else(|| self.chosen.clone())
    }

    fn move_by(&mut self, key: PressedKey) {
        let at = self.rows.iter().position(|row| Some(&row.id) == self.chosen.as_ref());
        let at = at.unwrap_or(0);
        let last = self.rows.len().saturating_sub(1);
        let to = match key {
            PressedKey::Up => at.saturating_sub(1),
            PressedKey::Down => (at + 1).min(last),
            PressedKey::PageUp => at.saturating_sub(self.page),
            PressedKey::PageDown => (at + self.page).min(last),
            PressedKey::Home => 0,
            PressedKey::End => last,
            PressedKey::Left
            | PressedKey::Right
            | PressedKey::Enter
            | PressedKey::Escape
            | PressedKey::Backspace
            | PressedKey::Letter(_) => {
                return;
            }
        };
        self.chosen = self.rows.get(to).map(|row| row.id.clone());
    }

    /// Steps through time, or scrolls the text that was sent.
    fn step(&mut self, key: PressedKey) {
        let Some(opened) = &mut self.opened else { return };
        let last = opened.stops;
        // Where nothing happened since the last stop, now is what it was then.
        let is_same =
            opened.events.last().is_some_and(|(event, _)| matches!(event, Event::Stopped(_)));
        let stop = match (key, opened.stop) {
            (PressedKey::Up, _) => return opened.scroll = opened.scroll.saturating_sub(1),
            (PressedKey::Down, _) => return opened.scroll += 1,
            (PressedKey::PageUp, _) => return opened.scroll = opened.scroll.saturating_sub(10),
            (PressedKey::PageDown, _) => return opened.scroll += 10,
            _ if last == 0 => return,
            (PressedKey::Left, None) if is_same => Some(last.saturating_sub(1).max(1)),
            (PressedKey::Left, None) => Some(last),
            (PressedKey::Left, Some(stop)) => Some(stop.saturating_sub(1).max(1)),
            (PressedKey::Right, Some(stop)) if stop + 1 == last && is_same => None,
            (PressedKey::Right, Some(stop)) if stop < last => Some(stop + 1),
            (PressedKey::Right | PressedKey::End, _) => None,
            (PressedKey::Home, _) => Some(1),
            (
                PressedKey::Enter
                | PressedKey::Escape
                | PressedKey::Backspace
                | PressedKey::Letter(_),
                _,
            ) => return,
        };
        let then = LoopStory::as_of(&opened.events, stop.unwrap_or(usize::MAX));
        if let Some(story) = then {
            (opened.story, opened.stop, opened.scroll) = (story, stop, 0);
        }
    }

    /// The line of the list that the chosen row is on, headings counted.
    fn chosen_line(&self) -> Option<usize> {
        let chosen = self.chosen.as_ref()?;
        let at = self.rows.iter().position(|row| row.id == *chosen)?;
        Some(at + self.headings(..=at))
    }

    /// How many groups these rows are in; rows are in the order of their groups.
    fn headings(&self, rows: impl std::slice::SliceIndex<[LoopRow], Output = [LoopRow]>) -> usize {
        let rows = self.rows.get(rows).unwrap_or_default();
        rows.chunk_by(|a, b| a.group == b.group).count()
    }

    fn keep_chosen_in_sight(&mut self) {
        let Some(line) = self.chosen_line() else { return };
        // The heading above the first row of a group is shown with it.
        let first = line.saturating_sub(1);
        if first < self.top {
            self.top = first;
        }
        if line >= self.top + self.page {
            self.top = line + 1 - self.page;
        }
        let all = self.rows.len() + self.headings(..);
        self.top = self.top.min(all.saturating_sub(self.page));
    }
}

/// Keeps of a row what fits on a screen: goals may be pages long, and there may be many loops.
fn shorten(row: &mut LoopRow) {
    for text in [&mut row.goal].into_iter().chain(&mut row.why) {
        if let Some((end, _)) = text.char_indices().nth(ROW_LETTERS_MAX) {
            text.truncate(end);
            text.push('…');
        }
        text.shrink_to_fit();
    }
}

#[cfg(test)]
mod pictures;
#[cfg(test)]
mod tests;
