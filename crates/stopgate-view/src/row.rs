//! One loop as a line of a list, told by its state alone.

use stopgate_core::{LoopState, Outcome, Phase, Proof, State, Status, Surface, Timestamp, Waiting};

use crate::parked::waits_for;

/// How long an end that falls short of its goal asks for a person.
const FRESH_MS: i64 = 24 * 60 * 60 * 1000;

/// Who a loop waits for, in the order in which people want to see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowGroup {
    /// A person must answer, approve or look.
    NeedsYou,
    /// The agent works.
    Running,
    /// It waits for something that is not its reader.
    Waiting,
    /// It is over.
    Ended,
}

/// One loop as a line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopRow {
    /// Its name.
    pub id: String,
    /// What it is for.
    pub goal: String,
    /// The directory it belongs to.
    pub project: String,
    /// Who it waits for.
    pub group: RowGroup,
    /// Its state or outcome in a word.
    pub word: &'static str,
    /// Why it ended, or what it waits for.
    pub why: Option<String>,
    /// Continuations used.
    pub iteration: u32,
    /// Continuations allowed; 0 means no limit.
    pub max: u32,
    /// Required criteria that are met.
    pub met: usize,
    /// Required criteria.
    pub required: usize,
    /// How deep its frames are nested.
    pub depth: usize,
    /// When it began.
    pub started_at: Timestamp,
    /// When the agent last did something.
    pub progress_at: Timestamp,
    /// The checks that run now, where some do.
    pub checking: Option<String>,
}

impl LoopRow {
    /// The line for a loop in this state.
    pub fn of(state: &State, now: Timestamp) -> Self {
        let frame = state.frames.first();
        let required = || state.criteria.iter().filter(|criterion| criterion.is_required());
        let is_met = |criterion: &&stopgate_core::Criterion| match &criterion.proof {
            Proof::Approve => criterion.approved_at.is_some(),
            _checked => criterion.last.as_ref().is_some_and(|last| last.status == Status::Pass),
        };
        Self {
            id: state.id.as_str().into(),
            goal: state.goal.clone(),
            project: state.project.clone(),
            group: group(state, now),
            word: word(state),
            why: why(&state.phase),
            iteration: frame.map_or(0, |frame| frame.iteration),
            max: frame.map_or(0, |frame| if frame.max == u32::MAX { 0 } else { frame.max }),
            met: required().filter(is_met).count(),
            required: required().count(),
            depth: state.frames.len(),
            started_at: state.started_at,
            progress_at: state.progress_at,
            checking: None,
        }
    }
}

impl RowGroup {
    /// Every group, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::NeedsYou, Self::Running, Self::Waiting, Self::Ended];

    /// Its heading.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::NeedsYou => "needs you",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Ended => "ended",
        }
    }
}

fn group(state: &State, now: Timestamp) -> RowGroup {
    let is_loose =
        state.session.is_none() && (state.claim_until.is_some() || state.surface == Surface::Tools);
    match &state.phase {
        Phase::Ended { outcome, at, .. } if outcome.can_resume() && now.since(*at) < FRESH_MS => {
            RowGroup::NeedsYou
        }
        Phase::Ended { .. } => RowGroup::Ended,
        Phase::Waiting { on: Waiting::Answer(_) | Waiting::Approval, .. } => RowGroup::NeedsYou,
        Phase::Waiting { on: Waiting::Background | Waiting::Condition(_), .. }
        | Phase::Paused { .. } => RowGroup::Waiting,
        Phase::Active | Phase::Completing if is_loose => RowGroup::Waiting,
        Phase::Active | Phase::Completing => RowGroup::Running,
    }
}

fn word(state: &State) -> &'static str {
    match (&state.phase, state.outcome()) {
        (_, Some(outcome)) => outcome.word(),
        (Phase::Waiting { on: Waiting::Approval, .. }, _) => Outcome::NeedsApproval.word(),
        (Phase::Waiting { on: Waiting::Answer(_), .. }, _) => Outcome::NeedsInput.word(),
        (Phase::Active, _) if state.session.is_none() && state.claim_until.is_some() => {
            "not attached"
        }
        (Phase::Active, _) if state.session.is_none() && state.surface == Surface::Tools => {
            LoopState::Idle.word()
        }
        _steady => state.shown().word(),
    }
}

fn why(phase: &Phase) -> Option<String> {
    match phase {
        Phase::Ended { why, .. } => Some(why.clone()),
        Phase::Waiting { on: Waiting::Answer(question), .. } => Some(question.clone()),
        Phase::Waiting { on: Waiting::Background, .. } => Some("background work".into()),
        Phase::Waiting { on: Waiting::Approval, .. } => Some("waits for a person's word".into()),
        Phase::Waiting { on: Waiting::Condition(parking), .. } => Some(waits_for(parking)),
        Phase::Active | Phase::Completing | Phase::Paused { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use stopgate_core::{SessionId, fold};

    use super::{LoopRow, RowGroup};
    use crate::scene::{NOON, play};

    #[track_caller]
    fn row(scene: &str, hours: i64) -> LoopRow {
        let events = play(scene);
        let mut state = fold(events.iter().map(|(event, at)| (event, *at))).expect("a loop");
        state.session = SessionId::new("s1");
        LoopRow::of(&state, NOON.plus(hours * 3_600_000))
    }

    #[test]
    fn loops_are_grouped_by_whom_they_wait_for() {
        for (scene, group, word) in [
            ("loop 9\n stop", RowGroup::Running, "active"),
            ("loop 9\n asked which?", RowGroup::NeedsYou, "needs_input"),
            ("loop 9, check t, approve look\n stop t pass", RowGroup::NeedsYou, "needs_approval"),
            ("loop 9\n pause", RowGroup::Waiting, "paused"),
            ("loop 9\n stop task", RowGroup::Waiting, "waiting"),
            ("loop 1\n stop\n stop", RowGroup::NeedsYou, "max_iterations"),
            ("loop 9\n cancel", RowGroup::Ended, "cancelled"),
            ("loop 9, check t\n stop t pass", RowGroup::Ended, "done"),
        ] {
            let row = row(scene, 1);
            assert_eq!((row.group, row.word), (group, word), "{scene}");
        }
    }

    #[test]
    fn an_old_end_needs_nobody() {
        assert_eq!(row("loop 1\n stop\n stop", 48).group, RowGroup::Ended);
    }

    #[test]
    fn what_is_met_is_counted() {
        let row = row("loop 9, check a, check b\n stop a pass, b fail", 1);
        assert_eq!((row.met, row.required, row.iteration, row.max), (1, 2, 1, 9));
    }
}
