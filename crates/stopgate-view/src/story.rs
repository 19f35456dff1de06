//! The story of one loop: what happened at each stop and why, who must act, what it took.
//!
//! One fold over the events; every view shows this and nothing else. Text is kept as it was
//! written; a view that shows it passes it through [`crate::shown`].

use stopgate_core::{
    Criterion, Enforcement, Event, Frame, LoopState, ModelSpend, Order, Outcome, Party, Phase,
    Receipt, Rest, RulingWord, Signal, State, Status, Stopped, Strength, Timestamp, ToolUse,
    Waiting, apply, signal, spend_words, tokens_text, usd_text,
};

use crate::moment::{LoopMoment, moment};
use crate::parked::waits_for;
use crate::replay::Happened;

/// What happened to one loop, from its beginning to its last event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopStory {
    /// The loop's name.
    pub id: String,
    /// What it is for.
    pub goal: String,
    /// The directory it belongs to.
    pub project: String,
    /// The commit that was checked out when it began, where that was noted.
    pub commit: Option<String>,
    /// The session it holds or held.
    pub session: Option<String>,
    /// Who began it.
    pub begun_by: Party,
    /// What showed that an agent began it.
    pub shown_by: Option<String>,
    /// In which order it is judged; one that is not native is kept in another tool's file.
    pub order: Order,
    /// Whether verdicts bind.
    pub enforcement: Enforcement,
    /// One of the seven words.
    pub state: LoopState,
    /// How it ended, if it has.
    pub outcome: Option<Outcome>,
    /// Why it ended, or what it waits for.
    pub why: Option<String>,
    /// Who must act next.
    pub act: MustAct,
    /// Its frames, the outermost first.
    pub frames: Vec<Frame>,
    /// Minutes of work allowed; 0 means no limit.
    pub max_minutes: u32,
    /// Milliseconds of work up to the last event.
    pub used_ms: i64,
    /// What its agent used, by model.
    pub models: Vec<ModelSpend>,
    /// The same in a line; `None` where nothing was counted and nothing is limited.
    pub spend: Option<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it was last touched.
    pub updated_at: Timestamp,
    /// When the agent last did something.
    pub progress_at: Timestamp,
    /// Its criteria, and how each stood at every stop.
    pub criteria: Vec<CriterionStory>,
    /// Its stops, in order.
    pub stops: Vec<StopStory>,
    /// What else happened.
    pub moments: Vec<LoopMoment>,
    /// What was changed of that which judges the work, as far as it was noticed.
    pub changed_judges: Vec<String>,
    /// Whether its end was signed.
    pub is_signed: bool,
}

/// Who must act next, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MustAct {
    /// The agent works on.
    Agent,
    /// A person must do this.
    Person(PersonsTurn),
    /// It is over.
    Nobody,
}

/// What a person is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersonsTurn {
    /// An answer to the agent's question.
    Answer,
    /// A word on changed judges or on a criterion.
    Approve,
    /// It was paused by a person, and waits for them.
    Resume,
    /// It ended short of its goal: look, and resume it or leave it.
    Look,
}

/// One criterion over all stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriterionStory {
    /// Its name.
    pub name: String,
    /// What kind of proof it asks for.
    pub kind: &'static str,
    /// Whether the loop can't be done without it.
    pub is_required: bool,
    /// How it stands now.
    pub now: CriterionMark,
    /// What its last pass is worth.
    pub strength: Option<Strength>,
    /// How it stood at each stop.
    pub marks: Vec<CriterionMark>,
    /// Milliseconds that its checks took in all.
    pub took_ms: u64,
}

stopgate_core::words! {
    /// How a criterion stood at a stop.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CriterionMark {
        /// It was not looked at.
        Unseen = "not checked",
        /// It passed.
        Pass = "pass",
        /// It failed, or ran out of time.
        Fail = "fail",
        /// It could not be run.
        Broken = "could not run",
        /// It waits for a person's word.
        Waits = "waits for a person",
    }
}

/// One stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopStory {
    /// Its number within the loop, from 1.
    pub number: usize,
    /// When it happened.
    pub at: Timestamp,
    /// What was answered.
    pub verdict: RulingWord,
    /// How the loop ended by it.
    pub outcome: Option<Outcome>,
    /// The rule that answered.
    pub rule: stopgate_core::Rule,
    /// Why, in a sentence.
    pub why: String,
    /// What the agent was sent.
    pub text: String,
    /// Whether the agent claimed to be done.
    pub is_claim: bool,
    /// Whether a tool was used since the stop before.
    pub tools: ToolUse,
    /// How many files differ from the last look at them, where they were looked at.
    pub changed_files: Option<u32>,
    /// Continuations of the outermost frame after it.
    pub iteration: u32,
    /// What the checks produced.
    pub receipts: Vec<Receipt>,
}

impl LoopStory {
    /// Tells what was used as `state` has it, which may be newer than the journal.
    pub fn update_spend(&mut self, state: &State) {
        self.models = models_of(state);
        self.spend = spend_words(state);
    }

    /// Tells the story of a loop; `None` unless the first event is its start.
    pub fn tell(events: &[Happened]) -> Option<Self> {
        let mut state: Option<State> = None;
        let mut teller = Teller::default();
        for (event, at) in events {
            match (&state, event) {
                (None, Event::Started(started)) => teller.commit.clone_from(&started.commit),
                (None, _headless) => {}
                (Some(before), event) => teller.hear(before, event, *at),
            }
            state = apply(state, event, *at);
            if let (Some(after), Event::Stopped(_)) = (&state, event) {
                teller.count(after);
            }
        }
        state.map(|state| teller.told(state))
    }

    /// The story as it stood right after stop `number`; the whole one for a later number.
    pub fn as_of(events: &[Happened], number: usize) -> Option<Self> {
        let mut stops = 0;
        let end = events.iter().position(|(event, _)| {
            stops += usize::from(matches!(event, Event::Stopped(_)));
            stops == number
        });
        Self::tell(&events[..end.map_or(events.len(), |end| end + 1)])
    }

    /// Continuations used of the outermost frame, and how many are allowed; 0 means no limit.
    pub fn iterations(&self) -> (u32, u32) {
        let limit = |max: u32| if max == u32::MAX { 0 } else { max };
        self.frames.first().map_or((0, 0), |frame| (frame.iteration, limit(frame.max)))
    }

    /// Whether the number of changed files is known of any stop.
    pub fn knows_churn(&self) -> bool {
        self.stops.iter().any(|stop| stop.changed_files.is_some())
    }

    /// How many required criteria are met, and how many there are.
    pub fn met(&self) -> (usize, usize) {
        let required = || self.criteria.iter().filter(|criterion| criterion.is_required);
        (
            required().filter(|criterion| criterion.now == CriterionMark::Pass).count(),
            required().count(),
        )
    }

    /// The loop's state or outcome in one word.
    pub const fn word(&self) -> &'static str {
        match self.outcome {
            Some(outcome) => outcome.word(),
            None => self.state.word(),
        }
    }
}

impl PersonsTurn {
    /// What to do, as a command where there is one; the loop's name belongs behind it.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Answer => "answer it: stopgate answer",
            Self::Approve => "look and decide: stopgate approve",
            Self::Resume => "let it go on: stopgate resume",
            Self::Look => "look why; to let it go on: stopgate resume",
        }
    }
}

impl CriterionMark {
    /// A sign that tells it without colour.
    pub const fn sign(self) -> char {
        match self {
            Self::Unseen => '·',
            Self::Pass => '✓',
            Self::Fail => '✗',
            Self::Broken => '!',
            Self::Waits => '?',
        }
    }

    const fn of(status: Status) -> Self {
        match status {
            Status::Pass => Self::Pass,
            Status::Fail | Status::Timeout => Self::Fail,
            Status::Error => Self::Broken,
            Status::Tampered | Status::NeedsApproval => Self::Waits,
        }
    }
}

/// What is collected while the events go by.
#[derive(Default)]
struct Teller {
    stops: Vec<StopStory>,
    moments: Vec<LoopMoment>,
    changed_judges: Vec<String>,
    is_signed: bool,
    commit: Option<String>,
}

impl Teller {
    fn hear(&mut self, before: &State, event: &Event, at: Timestamp) {
        match event {
            Event::Stopped(stopped) => self.stop(before, stopped, at),
            other => {
                self.is_signed |= matches!(other, Event::Certified { .. });
                self.moments.extend(moment(other, at, self.stops.len()));
            }
        }
    }

    fn stop(&mut self, before: &State, stopped: &Stopped, at: Timestamp) {
        let originals = stopped.receipts.iter().filter_map(|r| r.evidence.original.as_ref());
        for change in originals.flat_map(|run| &run.changes) {
            if !self.changed_judges.contains(change) {
                self.changed_judges.push(change.clone());
            }
        }
        self.stops.push(StopStory {
            number: self.stops.len() + 1,
            at,
            verdict: stopped.ruling.word(),
            outcome: stopped.ruling.outcome(),
            rule: stopped.rule,
            why: stopped.why.clone(),
            text: stopped.text.clone(),
            is_claim: is_claim(before, stopped),
            tools: stopped.facts.tools,
            changed_files: stopped.facts.changed_files,
            iteration: 0,
            receipts: stopped.receipts.clone(),
        });
    }

    fn count(&mut self, after: &State) {
        if let Some(stop) = self.stops.last_mut() {
            stop.iteration = after.frames.first().map_or(0, |frame| frame.iteration);
        }
    }

    fn told(self, state: State) -> LoopStory {
        let criteria = state.criteria.iter().map(|c| criterion(c, &self.stops)).collect();
        LoopStory {
            id: state.id.as_str().into(),
            act: must_act(&state),
            state: state.shown(),
            outcome: state.outcome(),
            why: why(&state.phase),
            used_ms: state.used_ms(state.updated_at),
            begun_by: state.origin.by,
            shown_by: state.origin.shown_by.clone(),
            order: state.policy.order,
            enforcement: state.policy.enforcement,
            max_minutes: state.policy.max_minutes,
            models: models_of(&state),
            spend: spend_words(&state),
            session: state.session.map(|session| session.as_str().into()),
            started_at: state.started_at,
            updated_at: state.updated_at,
            progress_at: state.progress_at,
            goal: state.goal,
            project: state.project,
            commit: self.commit,
            frames: state.frames,
            criteria,
            stops: self.stops,
            moments: self.moments,
            changed_judges: self.changed_judges,
            is_signed: self.is_signed,
        }
    }
}

/// What each model used, a line each.
pub(crate) fn model_lines(story: &LoopStory) -> Vec<String> {
    let line = |model: &ModelSpend| {
        let tokens = &model.tokens;
        let (read, out) = (tokens_text(tokens.cache_read), tokens_text(tokens.output));
        let given = tokens_text(tokens.given().saturating_sub(tokens.cache_read));
        let cost = match model.unpriced {
            0 => usd_text(model.nanos),
            _some => "price unknown".into(),
        };
        let name = if model.model.is_empty() { "an unnamed model" } else { &model.model };
        format!(
            "{name}: {} calls, {given} tokens in, {read} from cache, {out} out, {cost}",
            model.calls
        )
    };
    story.models.iter().filter(|model| model.calls > 0).map(line).collect()
}

/// What was used, by model.
fn models_of(state: &State) -> Vec<ModelSpend> {
    state.spend.as_ref().map(|spend| spend.models.clone()).unwrap_or_default()
}

fn is_claim(before: &State, stopped: &Stopped) -> bool {
    let silent = stopped.facts.exit.is_none();
    let said = before.top().and_then(|top| signal(top.mode, &stopped.facts.markers));
    silent && (said == Some(Signal::Complete) || (said.is_none() && is_completing(before)))
}

fn is_completing(state: &State) -> bool {
    state.phase == Phase::Completing
}

fn criterion(criterion: &Criterion, stops: &[StopStory]) -> CriterionStory {
    let of_stop = |stop: &StopStory| {
        let own = stop.receipts.iter().rfind(|receipt| receipt.criterion == criterion.name);
        own.map_or(CriterionMark::Unseen, |receipt| CriterionMark::of(receipt.status))
    };
    let own = || {
        let all = stops.iter().flat_map(|stop| &stop.receipts);
        all.filter(|receipt| receipt.criterion == criterion.name)
    };
    let last = criterion
        .last
        .as_ref()
        .map_or(CriterionMark::Unseen, |last| CriterionMark::of(last.status));
    CriterionStory {
        name: criterion.name.clone(),
        kind: criterion.proof.word(),
        is_required: criterion.is_required(),
        now: if criterion.approved_at.is_some() { CriterionMark::Pass } else { last },
        strength: own().next_back().and_then(|receipt| receipt.evidence.strength),
        marks: stops.iter().map(of_stop).collect(),
        took_ms: own().filter(|r| !r.evidence.reused).map(|r| r.duration_ms).sum(),
    }
}

fn why(phase: &Phase) -> Option<String> {
    match phase {
        Phase::Ended { why, .. } => Some(why.clone()),
        Phase::Waiting { on: Waiting::Answer(question), .. } => Some(question.clone()),
        Phase::Waiting { on: Waiting::Background, .. } => Some("background work".into()),
        Phase::Waiting { on: Waiting::Approval, .. } => Some("a person's word".into()),
        Phase::Waiting { on: Waiting::Condition(parking), .. } => Some(waits_for(parking)),
        Phase::Paused { rest: Rest::NextPrompt, .. } => {
            Some("paused until a person prompts the agent".into())
        }
        Phase::Paused { .. } => Some("paused by a person".into()),
        Phase::Active | Phase::Completing => None,
    }
}

fn must_act(state: &State) -> MustAct {
    match &state.phase {
        Phase::Active
        | Phase::Completing
        | Phase::Waiting { on: Waiting::Background | Waiting::Condition(_), .. } => MustAct::Agent,
        Phase::Waiting { on: Waiting::Answer(_), .. } => MustAct::Person(PersonsTurn::Answer),
        Phase::Waiting { on: Waiting::Approval, .. } => MustAct::Person(PersonsTurn::Approve),
        Phase::Paused { .. } => MustAct::Person(PersonsTurn::Resume),
        Phase::Ended { outcome, .. } if outcome.can_resume() => MustAct::Person(PersonsTurn::Look),
        Phase::Ended { .. } => MustAct::Nobody,
    }
}

#[cfg(test)]
mod tests;
