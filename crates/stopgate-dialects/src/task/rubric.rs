//! How clear a request is, and how much of a tool an agent may be with it.

use serde::Serialize;

/// Points for the five questions, 0 to 2 each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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

stopgate_core::words! {
    /// How an agent works with a request.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Shape {
        /// Alone, to the end.
        Tool = "tool",
        /// With questions along the way.
        Colleague = "colleague",
        /// Not yet: the request must be made clearer first.
        Clarify = "clarify",
    }
}

impl Rubric {
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
