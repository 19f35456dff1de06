//! What is asked of a hook, and why.

mod events;

mod input;

mod keeping;

mod surroundings;

use stopgate_agents::Understood;

use crate::stage::{CaseMachine, Miss, failed, short};

/// One question to a hook.
#[derive(Clone, Copy)]
pub struct HookCase {
    /// Its name in a report.
    pub name: &'static str,
    /// Why it matters.
    pub why: &'static str,
    pub(crate) run: fn(&CaseMachine<'_>) -> Result<(), Miss>,
}

impl std::fmt::Debug for HookCase {
    fn fmt(&self, form: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        form.debug_struct("Case").field("name", &self.name).finish_non_exhaustive()
    }
}

impl HookCase {
    /// Every one, in the order of a report.
    pub fn all() -> Vec<Self> {
        [input::CASES, events::CASES, surroundings::CASES, keeping::CASES].concat()
    }
}

/// The agent must be held.
const fn case(
    name: &'static str,
    why: &'static str,
    run: fn(&CaseMachine<'_>) -> Result<(), Miss>,
) -> HookCase {
    HookCase { name, why, run }
}

fn held(understood: &Understood, when: &str) -> Result<(), Miss> {
    match understood {
        Understood::Held(_) => Ok(()),
        other => failed(format!("{when}: the agent is not held ({})", words(other))),
    }
}

/// The agent must not be held.
fn let_go(understood: &Understood, when: &str) -> Result<(), Miss> {
    match understood {
        Understood::Held(text) => failed(format!("{when}: the agent is held: {}", short(text))),
        Understood::Allowed | Understood::Told(_) | Understood::Refused(_) => Ok(()),
    }
}

fn words(understood: &Understood) -> String {
    match understood {
        Understood::Allowed => "it may stop".into(),
        Understood::Told(text) => format!("it may stop, and the person is told: {}", short(text)),
        Understood::Held(text) => format!("it is held: {}", short(text)),
        Understood::Refused(why) => format!("the answer is dropped: {why}"),
    }
}

/// A case that does not concern this client.
fn not_for(stage: &CaseMachine<'_>, what: &str) -> Miss {
    Miss::NotApplicable(format!("{} {what}", stage.client.agent.title()))
}
