//! Which loop a command means.

use std::path::{Path, PathBuf};

use stopgate_core::{Binding, Event, LoopId, SessionId, State, Surface, Timestamp, clip};
use stopgate_store::{EndedFilter, Filter, Stored};

use crate::context::Context;
use crate::failure::Failure;
use crate::presence::Present;

/// Among how many of a project's newest loops one of our own is looked for.
const NEWEST: usize = 16;
/// How much of a goal is shown where loops are told apart.
const GOAL_BYTES_MAX: usize = 60;

/// How a person or an agent names a loop.
#[derive(Clone, Debug)]
pub enum LoopTarget {
    /// By its name, or the beginning of it.
    Named(String),
    /// The one that holds, or last held, a session.
    Session(String),
    /// This session's, else the only one that runs in the project of this directory.
    Here(PathBuf),
}

impl Context {
    /// Loads the loop that `target` means. Where several run, none is guessed.
    pub(crate) fn resolve(&mut self, target: &LoopTarget) -> Result<Stored, Failure> {
        let mut found = self.resolve_all(target)?;
        match found.len() {
            1 => Ok(found.swap_remove(0)),
            _several => Err(ambiguous(&found)),
        }
    }

    /// Loads every loop that `target` may mean: at least one, several only where several run.
    pub(crate) fn resolve_all(&mut self, target: &LoopTarget) -> Result<Vec<Stored>, Failure> {
        match target {
            LoopTarget::Named(name) => self.named(name).map(|stored| vec![stored]),
            LoopTarget::Session(session) => self.of_session(session).map(|stored| vec![stored]),
            LoopTarget::Here(directory) => self.here(directory),
        }
    }

    fn named(&mut self, name: &str) -> Result<Stored, Failure> {
        // A task is the loop of the same name.
        let name = name.strip_prefix("TASK-").unwrap_or(name);
        let exact = LoopId::new(name);
        if let Some(stored) = self.journal.load(&exact)? {
            return Ok(stored);
        }
        let found = if name.is_empty() { Vec::new() } else { self.journal.find(name)? };
        match found.as_slice() {
            [id] => self.journal.load(id)?.ok_or_else(|| missing(name)),
            [] => Err(missing(name)),
            several => {
                let names: Vec<&str> = several.iter().map(LoopId::as_str).collect();
                Err(Failure::usage(format!("more than one loop begins with {name}"))
                    .hint(format!("write more of the name: {}", names.join(", "))))
            }
        }
    }

    fn of_session(&mut self, name: &str) -> Result<Stored, Failure> {
        let session = SessionId::new(name)
            .ok_or_else(|| Failure::usage("a session's name can't be empty"))?;
        if let Some(stored) = self.journal.load_held(&session)? {
            return Ok(stored);
        }
        let all = self.journal.list(&Filter::default())?;
        all.into_iter().find(|s| s.state.session.as_ref() == Some(&session)).ok_or_else(|| {
            Failure::no_loop(format!("no loop holds or held session {name}")).hint("stopgate list")
        })
    }

    fn here(&mut self, directory: &Path) -> Result<Vec<Stored>, Failure> {
        let own = self.settings.session().and_then(|session| SessionId::new(&session));
        if let Some(session) = own
            && let Some(stored) = self.journal.load_held(&session)?
        {
            return Ok(vec![stored]);
        }
        // A driven session may work in a worktree, which is a project of its own.
        if let Some(driven) = self.settings.driven_loop()
            && let Some(stored) = self.journal.load(&LoopId::new(&driven))?
        {
            return Ok(vec![stored]);
        }
        let project = crate::project::project_of(directory).display().to_string();
        let running = Filter { project: Some(&project), standing: EndedFilter::Running, limit: 0 };
        let running = self.journal.list(&running)?;
        let candidates = candidates(running, self.now());
        if !candidates.is_empty() {
            return Ok(candidates);
        }
        self.last(&project)?.map(|stored| vec![stored]).ok_or_else(|| {
            Failure::no_loop(format!("no loop in {project}"))
                .hint("begin one with: stopgate start \"GOAL\", or name one: stopgate list")
        })
    }

    /// The newest loop of a project in which none runs.
    fn last(&mut self, project: &str) -> Result<Option<Stored>, Failure> {
        let filter = Filter { project: Some(project), standing: EndedFilter::Any, limit: NEWEST };
        let mut found = self.journal.list(&filter)?;
        if found.iter().all(is_loose_task) {
            found = self.journal.list(&Filter { limit: 0, ..filter })?;
        }
        // A task that holds nobody is not what is meant here: it has to be named.
        Ok(found.into_iter().find(|stored| !is_loose_task(stored)))
    }
}

/// Those of a project's running loops that a command may mean: the ones that hold or may still
/// hold a session, else the ones that nobody claimed in time; our own before audit trails.
fn candidates(mut running: Vec<Stored>, now: Timestamp) -> Vec<Stored> {
    running.retain(|stored| !is_loose_task(stored));
    let keep_best = |loops: &mut Vec<Stored>, is_better: &dyn Fn(&Stored) -> bool| {
        if loops.iter().any(is_better) {
            loops.retain(is_better);
        }
    };
    keep_best(&mut running, &|stored| stored.state.policy.order.is_native());
    keep_best(&mut running, &|stored| {
        stored.state.session.is_some() || stored.state.claim_until.is_none_or(|until| now <= until)
    });
    running
}

/// Says which loops there are, for a command that acts on one.
fn ambiguous(found: &[Stored]) -> Failure {
    let lines: Vec<String> = found
        .iter()
        .map(|stored| {
            let State { id, goal, session, .. } = &stored.state;
            let whom = session.as_ref().map_or_else(
                || "waits for a session".to_string(),
                |session| format!("holds session {session}"),
            );
            let goal = clip(goal.lines().next().unwrap_or_default(), GOAL_BYTES_MAX);
            format!("  {id}  {whom}: {goal}")
        })
        .collect();
    Failure::usage(format!("{} loops run in this project", found.len()))
        .hint(format!("name the one you mean:\n{}", lines.join("\n")))
}

fn is_loose_task(stored: &Stored) -> bool {
    stored.state.surface == Surface::Tools && stored.state.session.is_none()
}

fn missing(name: &str) -> Failure {
    Failure::no_loop(format!("no loop is called {name}")).hint("stopgate list shows them all")
}

impl Context {
    /// Whether the session of a loop that runs is known to be gone: it said goodbye after it was
    /// last heard, or its client died.
    pub(crate) fn is_session_gone(&mut self, state: &State) -> bool {
        let Some(session) = state.session.as_ref().filter(|_| state.outcome().is_none()) else {
            return false;
        };
        let project = Path::new(state.root());
        match self.presence.of_session(project, session.as_str(), self.now()) {
            Present::Alive => return false,
            Present::Dead => return true,
            Present::Unknown => {}
        }
        // A history that can't be read is a matter of the record, not of the session.
        let Ok(history) = self.journal.history(&state.id) else { return false };
        let last = history.iter().rev().find(|entry| is_of_session(&entry.recorded.event));
        last.is_some_and(|entry| matches!(entry.recorded.event, Event::SessionEnded { .. }))
    }

    /// The loop that holds `session`, or the one it may claim now.
    pub(crate) fn holder(
        &mut self,
        session: &SessionId,
        project: Option<&Path>,
    ) -> Result<Option<(Stored, Vec<Event>)>, Failure> {
        if let Some(stored) = self.journal.load_held(session)? {
            return Ok(Some((stored, Vec::new())));
        }
        let Some(project) = project else { return Ok(None) };
        let now = self.now();
        let pending = self.journal.pending(&project.display().to_string())?;
        let freed = self.signs.freed(session.as_str());
        let open = |stored: &Stored| {
            stored.state.claim_until.is_some_and(|until| now <= until)
                && freed.is_none_or(|freed| stored.state.started_at > freed)
        };
        let claim = Event::Bound { session: session.clone(), how: Binding::Claimed };
        Ok(pending.into_iter().find(open).map(|stored| (stored, vec![claim])))
    }
}

/// Whether an event shows the session at work, or its end.
const fn is_of_session(event: &Event) -> bool {
    match event {
        Event::Started(_)
        | Event::Bound { .. }
        | Event::Stopped(_)
        | Event::Prompted { .. }
        | Event::Compacted { .. }
        | Event::TurnFailed { .. }
        | Event::Cleared { .. }
        | Event::Claimed
        | Event::Asked { .. }
        | Event::Unparked { .. }
        | Event::SessionEnded { .. } => true,
        Event::Detached { .. }
        | Event::Answered { .. }
        | Event::Parked(_)
        | Event::ConditionHeld
        | Event::WakeFailed { .. }
        | Event::Edited(_)
        | Event::Pushed { .. }
        | Event::Popped
        | Event::Paused { .. }
        | Event::Resumed { .. }
        | Event::Synced { .. }
        | Event::Approved { .. }
        | Event::JudgesApproved { .. }
        | Event::Preflighted { .. }
        | Event::Vouched { .. }
        | Event::Resealed { .. }
        | Event::Certified { .. }
        | Event::Task(_)
        | Event::Metered(_)
        | Event::Placed(_)
        | Event::Merged { .. }
        | Event::Ended { .. } => false,
    }
}
