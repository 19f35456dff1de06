//! How clear a request is, and how much of a tool an agent may be with it.

/// Points for the five questions, 0 to 2 each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rubric {
    /// Is the expected result clear?
    pub outcome: u8,
    /// Is the scope clear?
    pub scope: u8,
    /// Are the constraints clear?
    pub constraints: u8,
    /// Is it clear how success is measured?
    pub success: u8,
    /// Is it clear when it is done?
    pub done: u8,
}

/// How an agent works with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Alone, to the end.
    Tool,
    /// With questions along the way.
    Colleague,
    /// Not yet: the request must be made clearer first.
    Clarify,
}

impl Rubric {
    /// The most that one question can earn.
    pub const POINTS_MAX: u8 = 2;

    /// All points together.
    pub fn score(self) -> u8 {
        let points = [self.outcome, self.scope, self.constraints, self.success, self.done];
        points.into_iter().fold(0, u8::saturating_add)
    }

    /// The shape that the points earn.
    pub fn shape(self) -> Shape {
        match self.score() {
            0..=4 => Shape::Clarify,
            5..=7 => Shape::Colleague,
            _clear => Shape::Tool,
        }
    }
}

impl Shape {
    /// The shape of that name.
    pub fn named(word: &str) -> Option<Self> {
        [Self::Tool, Self::Colleague, Self::Clarify].into_iter().find(|s| s.word() == word)
    }

    /// The word that records use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Colleague => "colleague",
            Self::Clarify => "clarify",
        }
    }
}
