//! What the gates need and must not do themselves.

use crate::gate::CommandGate;

/// What evaluation needs from outside: a command's answer, and how long things take.
pub trait Hands {
    /// Asks a command: `context` is JSON; what it wrote, or why it could not be asked.
    fn ask(&mut self, gate: &CommandGate, context: &str) -> Result<String, String>;
    /// A stopwatch in microseconds; only differences mean anything.
    fn micros(&mut self) -> u64;
}
