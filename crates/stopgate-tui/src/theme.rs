//! Colours and signs, and what replaces them where a terminal has neither.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use stopgate_view::{CriterionMark, RowGroup, ascii};

/// How frames are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Theme {
    /// Which colours are used; signs and weight tell everything either way.
    pub colours: Colours,
    /// Which letters a terminal can show.
    pub letters: Letters,
}

/// Which colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colours {
    /// The terminal's own.
    #[default]
    Some,
    /// None.
    None,
}

/// Which letters a terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Letters {
    /// All of them.
    #[default]
    Unicode,
    /// ASCII only.
    Ascii,
}

impl Theme {
    /// Text that was made fit to be shown, in a style.
    pub(crate) fn span(self, text: impl Into<String>, style: Style) -> Span<'static> {
        let text = text.into();
        match self.letters {
            Letters::Unicode => Span::styled(text, style),
            Letters::Ascii => Span::styled(ascii(&text), style),
        }
    }

    pub(crate) const fn plain() -> Style {
        Style::new()
    }

    pub(crate) const fn bold() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(crate) const fn dim() -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(crate) const fn chosen() -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    pub(crate) const fn mark(self, mark: CriterionMark) -> Style {
        match mark {
            CriterionMark::Unseen => Self::dim(),
            CriterionMark::Pass => self.colour(Color::Green),
            CriterionMark::Fail | CriterionMark::Broken => self.colour(Color::Red),
            CriterionMark::Waits => self.colour(Color::Yellow),
        }
    }

    pub(crate) const fn group(self, group: RowGroup) -> Style {
        match group {
            RowGroup::NeedsYou => self.colour(Color::Yellow),
            RowGroup::Running => self.colour(Color::Cyan),
            RowGroup::Waiting => Self::plain(),
            RowGroup::Ended => Self::dim(),
        }
    }

    pub(crate) fn word(self, word: &str) -> Style {
        match word {
            "done" => self.colour(Color::Green),
            "active" | "completing" => self.colour(Color::Cyan),
            "attested" | "waiting" | "paused" | "needs_input" | "needs_approval" | "idle"
            | "not attached" => self.colour(Color::Yellow),
            _ended => self.colour(Color::Red),
        }
    }

    const fn colour(self, colour: Color) -> Style {
        match self.colours {
            Colours::Some => Style::new().fg(colour),
            Colours::None => Style::new(),
        }
    }
}
