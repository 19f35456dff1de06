//! A person changes what a running loop is about.

use stopgate_core::{Edit, Event};
use stopgate_store::Stored;

use crate::engine::Engine;
use crate::failure::Failure;
use crate::target::Target;

impl Engine {
    /// Changes the goal or the limits of a loop; recorded, and told to the agent with the next
    /// text that it is sent.
    pub fn edit(&mut self, target: &Target, edit: &Edit) -> Result<Stored, Failure> {
        self.as_person("change a loop")?;
        if *edit == Edit::default() {
            return Err(Failure::usage("nothing is to be changed")
                .hint("say what: --goal, --max-iterations, --max-minutes"));
        }
        if edit.goal.as_ref().is_some_and(|goal| goal.trim().is_empty()) {
            return Err(Failure::usage("the goal is empty"));
        }
        let edit = Box::new(edit.clone());
        self.on_running(target, &mut |state| {
            let used = state.frames.first().map_or(0, |frame| frame.iteration);
            if edit.max_iterations.is_some_and(|max| max <= used) {
                return Err(Failure::usage(format!("{used} continuations are used already"))
                    .hint(format!("allow more than that: --max-iterations {}", used + 10)));
            }
            Ok(vec![Event::Edited(edit.clone())])
        })
    }
}
