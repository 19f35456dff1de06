//! A person changes what a running loop is about.

use std::path::PathBuf;

use stopgate_core::{Criterion, Event, LoopEdit, State};
use stopgate_store::Stored;

use crate::context::LoopTarget;
use crate::failure::Failure;
use crate::judging::ground::{JudgesOf, Preflighted, keep_basis, kept_basis, prepare_checks};
use crate::judging::look::judges_changed;
use crate::loops::Loops;
use crate::project_file::CriterionDraft;
use crate::view::describe_edit;

const CRITERIA_MAX: usize = 64;

/// What a person wants to be different; what is left out stays as it is.
#[derive(Clone, Debug, Default)]
pub struct EditRequest {
    /// Another goal.
    pub goal: Option<String>,
    /// How often the agent may be sent back in total.
    pub max_iterations: Option<u32>,
    /// Minutes of work; 0 means no limit.
    pub max_minutes: Option<u32>,
    /// Tokens that the agent may use; 0 means no limit.
    pub max_tokens: Option<u64>,
    /// Money that it may spend, in millionths of a dollar; 0 means no limit.
    pub max_cost_micros: Option<u64>,
    /// Percent of the subscription's window that may be used; 0 means no limit.
    pub max_quota: Option<u8>,
    /// Checks that must pass from now on; one with the same name is replaced.
    pub checks: Vec<CriterionDraft>,
    /// The names of criteria that no longer count.
    pub dropped: Vec<String>,
}

/// A loop that was changed.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The loop.
    pub stored: Stored,
    /// How the new checks came out.
    pub preflighted: Vec<Preflighted>,
    /// The files that judge them.
    pub judges: Vec<JudgesOf>,
    /// What a person should know about them.
    pub warnings: Vec<String>,
    /// What is different now, in words.
    pub said: String,
}

impl Loops<'_> {
    /// Changes the checks, the goal or the limits of a loop; recorded, and told to the agent with
    /// the next text that it is sent.
    pub fn edit(&mut self, target: &LoopTarget, request: EditRequest) -> Result<Changed, Failure> {
        self.context.as_person("change a loop")?;
        if request.goal.as_ref().is_some_and(|goal| goal.trim().is_empty()) {
            return Err(Failure::usage("the goal is empty"));
        }
        let state = self.context.resolve(target)?.state;
        let mut edit = LoopEdit {
            goal: request.goal,
            max_iterations: request.max_iterations,
            max_minutes: request.max_minutes,
            max_tokens: request.max_tokens,
            max_cost_micros: request.max_cost_micros,
            max_quota: request.max_quota,
            dropped: request.dropped,
            ..LoopEdit::default()
        };
        refuse_unknown(&state, &edit.dropped)?;
        let laid = self.lay(&state, request.checks, &mut edit)?;
        if edit == LoopEdit::default() {
            return Err(Failure::usage("nothing is to be changed").hint(
                "say what: --check, --drop, --goal, --max-iterations, --max-minutes, --max-tokens, \
                       --max-cost",
            ));
        }
        let (said, edit) = (describe_edit(&edit), Box::new(edit));
        let stored = self.context.on_running(target, &mut |state| {
            let used = state.frames.first().map_or(0, |frame| frame.iteration);
            if edit.max_iterations.is_some_and(|max| max <= used) {
                return Err(Failure::usage(format!("{used} continuations are used already"))
                    .hint(format!("allow more than that: --max-iterations {}", used + 10)));
            }
            Ok(vec![Event::Edited(edit.clone())])
        })?;
        let Laid { preflighted, judges, warnings } = laid;
        Ok(Changed { stored, preflighted, judges, warnings, said })
    }

    /// Runs the new checks once, and notes what judges them beside what judged the others.
    fn lay(
        &mut self,
        state: &State,
        checks: Vec<CriterionDraft>,
        edit: &mut LoopEdit,
    ) -> Result<Laid, Failure> {
        if checks.is_empty() {
            return Ok(Laid::default());
        }
        self.refuse_changed_judges(state)?;
        let replaced = checks.iter().map(|draft| &draft.criterion.name);
        let replaced = replaced.filter(|name| state.criteria.iter().any(|c| c.name == **name));
        let replaced: Vec<String> = replaced.cloned().collect();
        edit.dropped.extend(replaced);
        edit.dropped.sort();
        edit.dropped.dedup();
        let project = PathBuf::from(state.root());
        let (added, prepared) = prepare_checks(self.context, &project, &state.ground, checks)?;
        let left = state.criteria.iter().filter(|c| !edit.dropped.contains(&c.name)).count();
        if left + added.len() > CRITERIA_MAX {
            return Err(Failure::usage(format!("more than {CRITERIA_MAX} criteria")));
        }
        let earlier = state.ground.seal.as_deref().and_then(|seal| kept_basis(self.context, seal));
        let basis = match (earlier, prepared.basis) {
            (Some(earlier), Some(basis)) => Some(earlier.with(basis, &edit.dropped)),
            (earlier, basis) => earlier.or(basis),
        };
        edit.seal = basis.map(|basis| keep_basis(self.context, &basis)).transpose()?;
        let warnings = added.iter().flat_map(stopgate_verify::check_warnings).collect();
        edit.added = added;
        Ok(Laid { preflighted: prepared.measured, judges: prepared.judges, warnings })
    }

    /// What judges the other checks is still to be settled: a new basis would accept it unseen.
    fn refuse_changed_judges(&self, state: &State) -> Result<(), Failure> {
        if state.ground.seal.is_none() || !state.criteria.iter().any(Criterion::is_checked) {
            return Ok(());
        }
        let changes = judges_changed(self.context, state)?;
        if changes.is_empty() {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "judges of the loop changed since its start: {}",
            changes.join(", ")
        ))
        .hint("restore them, or accept them first: stopgate approve --change"))
    }
}

/// What is known about new checks.
#[derive(Default)]
struct Laid {
    preflighted: Vec<Preflighted>,
    judges: Vec<JudgesOf>,
    warnings: Vec<String>,
}

fn refuse_unknown(state: &State, dropped: &[String]) -> Result<(), Failure> {
    let known = |name: &&String| state.criteria.iter().any(|criterion| criterion.name == **name);
    let Some(unknown) = dropped.iter().find(|name| !known(name)) else { return Ok(()) };
    let names: Vec<&str> = state.criteria.iter().map(|criterion| criterion.name.as_str()).collect();
    let hint = if names.is_empty() { "none".into() } else { names.join(", ") };
    Err(Failure::usage(format!("no criterion is called \"{unknown}\""))
        .hint(format!("the loop has: {hint}")))
}
