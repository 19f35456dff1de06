//! What is worth telling: a loop ended, asks something, or waits for approval.

use serde::{Deserialize, Serialize};
use stopgate_core::{Outcome, Parking, Phase, State, Timestamp, Waiting, clean, clip};
use stopgate_view::parking_text;

use super::project_name;
use crate::view::{LoopView, time_text};

const TEXT_BYTES_MAX: usize = 400;
const WHY_BYTES_MAX: usize = 1000;

/// One thing to tell, as it is handed to the process that sends it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NoticeWire {
    /// Another for each change of a loop.
    pub(crate) id: String,
    /// What happened: `ended`, `asks`, `needs_approval` or `happened`.
    pub(crate) kind: String,
    /// When, in RFC 3339.
    pub(crate) at: String,
    /// The loop, where it is one of ours.
    pub(crate) name: Option<String>,
    pub(crate) goal: String,
    pub(crate) project: String,
    /// How it ended, as a word.
    pub(crate) outcome: Option<String>,
    /// Why it ended, or what is asked.
    pub(crate) why: Option<String>,
    /// All of it in one line.
    pub(crate) text: String,
}

impl NoticeWire {
    /// Whether a person has to do something.
    pub(super) fn needs_person(&self) -> bool {
        !matches!(self.outcome.as_deref(), Some("done" | "attested"))
    }

    /// The notice of a loop in another tool's files.
    pub(crate) fn of_file(state: &State, message: &str, now: Timestamp) -> Self {
        let (outcome, why) = match &state.phase {
            Phase::Ended { outcome, why, .. } => (Some(outcome.to_string()), Some(why.clone())),
            Phase::Active | Phase::Completing | Phase::Waiting { .. } | Phase::Paused { .. } => {
                (None, None)
            }
        };
        let at = now.unix_millis();
        Self {
            id: format!("{}-{at}", state.id),
            kind: "ended".into(),
            at: time_text(now),
            name: None,
            goal: clip(&clean(&state.goal), WHY_BYTES_MAX),
            project: project_name(&state.project),
            outcome,
            why,
            text: message.into(),
        }
    }
}

/// The notice of a loop in another tool's files whose driver can't go on.
pub(crate) fn given_up(view: &LoopView, outcome: Outcome, why: &str, now: Timestamp) -> NoticeWire {
    let goal = clean(view.goal.lines().next().unwrap_or_default());
    let why = clip(&clean(why), WHY_BYTES_MAX);
    let name = view.dialect.unwrap_or_default();
    let told = format!("({}) ended as {outcome}: {why}", clip(&goal, 80)).replace('\n', " ");
    NoticeWire {
        id: format!("{name}-{}", now.unix_millis()),
        kind: "ended".into(),
        at: time_text(now),
        name: None,
        goal: clip(&clean(&view.goal), WHY_BYTES_MAX),
        project: project_name(&view.project),
        outcome: Some(outcome.to_string()),
        text: clip(&format!("stopgate: the loop of --dialect {name} {told}"), TEXT_BYTES_MAX),
        why: Some(why),
    }
}

/// Whether it was just found that a condition holds, and nobody else goes on.
fn is_news(before: Option<&Phase>, parking: &Parking) -> bool {
    let known = matches!(before, Some(Phase::Waiting { on: Waiting::Condition(earlier), .. })
        if earlier.held_at.is_some());
    parking.held_at.is_some() && parking.driver.is_none() && !known
}

/// What a change of a loop is worth telling, if it is.
pub(crate) fn news(
    before: Option<&Phase>,
    after: &State,
    revision: u64,
    now: Timestamp,
) -> Option<NoticeWire> {
    let (kind, outcome, why, said) = match &after.phase {
        Phase::Ended { outcome: Outcome::Cancelled, .. } => return None,
        Phase::Ended { .. } if matches!(before, Some(Phase::Ended { .. })) => return None,
        Phase::Ended { outcome, why, .. } => {
            ("ended", Some(outcome.to_string()), why.clone(), format!("ended as {outcome}: {why}"))
        }
        Phase::Waiting { on: Waiting::Answer(question), .. }
            if !matches!(before, Some(Phase::Waiting { on: Waiting::Answer(_), .. })) =>
        {
            ("asks", None, question.clone(), format!("asks you: {question}"))
        }
        Phase::Waiting { on: Waiting::Approval, .. }
            if !matches!(before, Some(Phase::Waiting { on: Waiting::Approval, .. })) =>
        {
            let said = "waits for your approval: stopgate approve";
            ("needs_approval", None, said.into(), said.into())
        }
        Phase::Waiting { on: Waiting::Condition(parking), .. } if is_news(before, parking) => {
            let what = parking_text(parking);
            let said = format!("has what it waited for ({what}): go on in its session");
            ("happened", None, said.clone(), said)
        }
        Phase::Active | Phase::Completing | Phase::Waiting { .. } | Phase::Paused { .. } => {
            return None;
        }
    };
    let id = &after.id;
    let goal = clean(after.goal.lines().next().unwrap_or_default());
    let told = clean(&format!("({}) {said}", clip(&goal, 80))).replace('\n', " ");
    Some(NoticeWire {
        id: format!("{id}-{revision}"),
        kind: kind.into(),
        at: time_text(now),
        name: Some(id.to_string()),
        goal: clip(&clean(&after.goal), WHY_BYTES_MAX),
        project: project_name(&after.project),
        outcome,
        why: Some(clip(&clean(&why), WHY_BYTES_MAX)),
        text: clip(&format!("stopgate: loop {id} {told}"), TEXT_BYTES_MAX),
    })
}
