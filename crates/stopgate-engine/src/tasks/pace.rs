//! Whether a call may take its time, told beforehand.

use serde_json::Value;

use super::Tasks;
use crate::failure::Failure;

impl Tasks {
    /// Whether asking the gates of an iteration's task may run programs.
    pub fn runs_programs(&mut self, iteration: &str) -> Result<bool, Failure> {
        let loaded = self.task_of_iteration(iteration)?;
        let gates = self.gates.among(&loaded.stored.state.id, &loaded.task.gates);
        Ok(gates.iter().any(|gate| gate.enabled && has_command(&gate.definition)))
    }
}

/// Whether a gate, or one that it is made of, is a command.
fn has_command(definition: &Value) -> bool {
    match definition {
        Value::Object(members) => {
            members.contains_key("command") || members.values().any(has_command)
        }
        Value::Array(items) => items.iter().any(has_command),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
