//! One history: who does what, in which order, and what comes in between.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use stopgate_agents::{Agent, Background, Call, HookEvent};
use stopgate_core::{
    CapScope, ClientCap, Criterion, LoopId, Mode, Proof, Rest, SessionId, Timestamp,
};
use stopgate_engine::{
    AgentExit, Engine, Failure, FailureKind, Incumbent, LoopTarget, Preflight, RequestedLimits,
    StartRequest,
};
use stopgate_store::Stored;

use crate::chance::Chance;
use crate::model::Model;
use crate::rules::{RuleWatch, Violation};
use crate::run::RunTally;
use crate::store::{ProcessJournal, Shared};
use crate::world::MadeUp;

/// How many acts a history has.
pub const STEPS: u32 = 50;
/// How many processes may be in the middle of something at once.
const DEPTH_MAX: u32 = 4;
/// 2026-01-01, when every history begins.
const BEGIN_MS: i64 = 1_767_225_600_000;
const SESSIONS: [&str; 3] = ["session-a", "session-b", "session-c"];
const MESSAGES: [&str; 8] = [
    "I looked around.",
    "Work goes on.",
    "All of it is finished.\n\n<promise>COMPLETE</promise>",
    "<promise>COMPLETE</promise>",
    "The key is missing.\n\n<promise>BLOCKED</promise>",
    "<issue-complete>DONE</issue-complete>",
    "<grind-done>NO_MORE_ISSUES</grind-done>",
    "<promise>ESCALATE</promise>",
];

/// How a history is set up.
pub struct HistorySetting {
    /// The journal that its processes share.
    pub shared: Shared,
    /// Whether it is compared with the reference model.
    pub oracle: Oracle,
    /// What checks say.
    pub checks: SimulatedChecks,
    /// Where keys are kept, and what the project is.
    pub home: PathBuf,
}

/// Whether a journal is compared with the reference model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oracle {
    /// Every append is made to both.
    Compared,
    /// The rules alone must find what is wrong.
    Absent,
}

/// What checks say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulatedChecks {
    /// What the files are like.
    Honest,
    /// That they pass, whatever the files are like.
    Lying,
}

/// Everything that the processes of a history have in common.
pub(crate) struct SharedWorld {
    pub(crate) seed: u64,
    pub(crate) setting: HistorySetting,
    pub(crate) chance: Chance,
    pub(crate) rules: RefCell<RuleWatch>,
    /// Which state the project's files are in.
    pub(crate) version: Cell<u64>,
    clock: Cell<i64>,
    depth: Cell<u32>,
    steps: Cell<u32>,
    /// What is done again, or comes late.
    later: RefCell<Vec<Act>>,
}

/// What one process does.
#[derive(Clone, Debug)]
enum Act {
    Stop { session: usize, message: usize, continued: bool, task: Option<u64>, cap: Option<u32> },
    Prompt { session: usize, prompt: u64 },
    Break { session: usize },
    Start { session: Option<usize>, checks: u64, max: u32, replace: bool },
    Command { target: LoopId, word: Word },
    CancelAll,
    Edit,
    Clock { by_ms: i64 },
}

/// What a person or an agent says to one loop.
#[derive(Clone, Copy, Debug)]
enum Word {
    Cancel,
    Pause(Rest),
    Resume(Option<u32>),
    Push(Mode, u32),
    Pop,
    Claim,
    Leave,
    Ask,
}

/// Plays the history of `seed`; what happened in it, or the first rule that it broke.
pub fn history(seed: u64, setting: HistorySetting) -> Result<RunTally, Violation> {
    let oracle = (setting.oracle == Oracle::Compared).then(Model::default);
    let scene = Rc::new(SharedWorld {
        seed,
        chance: Chance::new(seed),
        rules: RefCell::new(RuleWatch::new(seed, oracle)),
        version: Cell::new(0),
        clock: Cell::new(BEGIN_MS),
        depth: Cell::new(0),
        steps: Cell::new(STEPS),
        later: RefCell::default(),
        setting,
    });
    while scene.steps.get() > 0 && scene.rules.borrow().broken().is_none() {
        scene.act();
    }
    let mut journal = (scene.setting.shared)();
    let mut rules = scene.rules.borrow_mut();
    rules.end(&mut *journal);
    match rules.broken() {
        Some(violation) => Err(violation.clone()),
        None => Ok(rules.tally),
    }
}

impl SharedWorld {
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_unix_millis(self.clock.get())
    }

    /// Time goes by.
    pub(crate) fn pass(&self, ms: u64) {
        self.clock.set(self.clock.get().saturating_add(i64::try_from(ms).unwrap_or(0)));
    }

    /// Others do something before the one who called goes on.
    pub(crate) fn let_others_run(self: &Rc<Self>) {
        if self.depth.get() < DEPTH_MAX && self.steps.get() > 0 && self.chance.once_in(10) {
            self.act();
        }
    }

    /// One process does one thing, from its beginning to its end or its death.
    fn act(self: &Rc<Self>) {
        let act = self.next();
        self.steps.set(self.steps.get().saturating_sub(1));
        self.depth.set(self.depth.get() + 1);
        let done = self.perform(&act);
        self.depth.set(self.depth.get() - 1);
        let lost = matches!(&done, Err(failure) if failure.kind == FailureKind::Store);
        let mut rules = self.rules.borrow_mut();
        rules.tally.steps += 1;
        rules.tally.lost += u64::from(lost);
        // Who hears nothing tries again; some do anyway.
        if (lost && self.chance.once_in(2)) || self.chance.once_in(12) {
            self.later.borrow_mut().push(act);
        }
    }

    fn next(&self) -> Act {
        let mut later = self.later.borrow_mut();
        if !later.is_empty() && self.chance.once_in(4) {
            let at = usize::try_from(self.chance.below(8)).unwrap_or(0) % later.len();
            return later.swap_remove(at);
        }
        drop(later);
        let chance = &self.chance;
        let session = usize::try_from(chance.below(3)).unwrap_or(0);
        match chance.below(40) {
            0..=17 => Act::Stop {
                session,
                // Mostly work; what ends a loop is said now and then.
                message: usize::try_from(chance.below(if chance.once_in(3) { 8 } else { 2 }))
                    .unwrap_or(0),
                continued: chance.once_in(2),
                task: chance.once_in(10).then(|| chance.below(4)),
                cap: chance.once_in(4).then_some(3),
            },
            18 | 19 => Act::Prompt { session, prompt: chance.below(6) },
            20 => Act::Break { session },
            21..=25 => Act::Start {
                session: (!chance.once_in(3)).then_some(session),
                checks: chance.below(4),
                max: 1 + u32::try_from(chance.below(6)).unwrap_or(0),
                replace: chance.once_in(3),
            },
            26..=31 => self.command(),
            32..=35 => Act::Stop { session, message: 1, continued: true, task: None, cap: None },
            36 if chance.once_in(4) => Act::CancelAll,
            36..=38 => Act::Edit,
            _ => Act::Clock { by_ms: self.jump() },
        }
    }

    /// Mostly minutes; sometimes a day, sometimes back.
    fn jump(&self) -> i64 {
        let minutes = i64::try_from(self.chance.below(90)).unwrap_or(0);
        match self.chance.below(12) {
            0 => -minutes * 60_000,
            1 => minutes * 20 * 60_000,
            _ => minutes * 1_000,
        }
    }

    fn command(&self) -> Act {
        let Some(target) = self.chance.of(&self.rules.borrow().loops).cloned() else {
            return Act::Edit;
        };
        let word = match self.chance.below(12) {
            0 | 1 => Word::Cancel,
            2 => Word::Pause(Rest::Resume),
            3 => Word::Pause(Rest::NextPrompt),
            4 | 5 => Word::Resume(self.chance.once_in(2).then(|| self.limit(12))),
            6 | 7 => {
                let modes = [Mode::Loop, Mode::Issue, Mode::Grind];
                Word::Push(*self.chance.of(&modes).unwrap_or(&Mode::Loop), self.limit(3))
            }
            8 => Word::Pop,
            9 => Word::Claim,
            10 => Word::Leave,
            _ => Word::Ask,
        };
        Act::Command { target, word }
    }

    fn limit(&self, end: u64) -> u32 {
        1 + u32::try_from(self.chance.below(end)).unwrap_or(0)
    }

    fn engine(self: &Rc<Self>) -> Engine {
        let journal = ProcessJournal::new((self.setting.shared)(), Rc::clone(self));
        let world = MadeUp::new(Rc::clone(self));
        Engine::simulated(Box::new(journal), Box::new(world), self.setting.home.clone())
    }

    fn perform(self: &Rc<Self>, act: &Act) -> Result<(), Failure> {
        match act {
            Act::Stop { .. } => self.stop(act),
            Act::Prompt { session, prompt } => {
                let prompt = prompt.to_string();
                let mut call = call(HookEvent::UserPromptSubmit, *session);
                call.prompt_id = Some(Cow::Borrowed(&prompt));
                self.engine().simulated_prompt(&call, &name(*session), self.project())
            }
            Act::Break { session } => {
                let call = call(HookEvent::StopFailure, *session);
                self.engine().simulated_failure(&call, &name(*session))
            }
            Act::Start { .. } => self.start(act),
            Act::Command { target, word } => self.say(target, *word),
            Act::CancelAll => {
                let ended = self.engine().loops().cancel_all()?;
                for stored in &ended {
                    self.told(stored);
                }
                Ok(())
            }
            Act::Edit => {
                self.version.set(self.version.get() + 1);
                Ok(())
            }
            Act::Clock { by_ms } => {
                self.clock.set((self.clock.get() + by_ms).max(BEGIN_MS));
                Ok(())
            }
        }
    }

    fn project(&self) -> &Path {
        &self.setting.home
    }

    fn stop(self: &Rc<Self>, act: &Act) -> Result<(), Failure> {
        let Act::Stop { session, message, continued, task, cap } = act else { return Ok(()) };
        let mut call = call(HookEvent::Stop, *session);
        call.last_message = MESSAGES.get(*message).map(|text| Cow::Borrowed(*text));
        call.continued = Some(*continued);
        let task = task.map(|task| task.to_string());
        call.background.extend(task.as_deref().map(|id| Background {
            id: Cow::Borrowed(id),
            kind: Cow::Borrowed("shell"),
            description: Cow::Borrowed(""),
        }));
        let session = name(*session);
        let begun = self.rules.borrow_mut().moment();
        let answered =
            self.engine().simulated_stop(&call, &session, self.project(), cap.map(client_cap))?;
        if let Some((state, verdict)) = answered {
            self.rules.borrow_mut().answered(&session, &state, &verdict, begun);
        }
        Ok(())
    }

    fn start(self: &Rc<Self>, act: &Act) -> Result<(), Failure> {
        let Act::Start { session, checks, max, replace } = act else { return Ok(()) };
        let request = StartRequest {
            goal: "the goal".into(),
            prompt: None,
            mode: Mode::Loop,
            limits: RequestedLimits { max_iterations: Some(*max), ..RequestedLimits::default() },
            criteria: Vec::new(),
            gates: Vec::new(),
            session: session.map(|session| SESSIONS[session].into()),
            directory: self.project().into(),
            claim_within_ms: 600_000,
            incumbent: if *replace { Incumbent::Replace } else { Incumbent::Keep },
            preflight: Preflight::Skip,
            tool: None,
            shape: None,
        };
        let begun = self.engine().simulated_start(&request, criteria(*checks))?;
        self.told(&begun);
        Ok(())
    }

    fn say(self: &Rc<Self>, target: &LoopId, word: Word) -> Result<(), Failure> {
        let target = &LoopTarget::Named(target.as_str().into());
        let mut engine = self.engine();
        let stored = match word {
            Word::Cancel => engine.loops().cancel(target),
            Word::Pause(rest) => engine.loops().pause(target, rest),
            Word::Resume(max) => engine.loops().resume(target, max),
            Word::Push(mode, max) => engine.loops().push(target, mode, max, "a part of it"),
            Word::Pop => engine.loops().pop(target),
            Word::Claim => engine.loops().claim(target),
            Word::Leave => engine.loops().leave(target, AgentExit::Blocked, "the key is missing"),
            Word::Ask => engine.loops().ask(target, "Which one?"),
        }?;
        self.told(&stored);
        Ok(())
    }

    fn told(&self, stored: &Stored) {
        self.rules.borrow_mut().acknowledged(stored);
    }
}

/// So many checks, or the agent's word.
fn criteria(checks: u64) -> Vec<Criterion> {
    let check = |number: u64| {
        let proof = Proof::Check { command: "cargo test".into(), timeout_ms: 1000 };
        Criterion::new(["tests", "lint", "docs"][usize::try_from(number).unwrap_or(0) % 3], proof)
    };
    (0..checks).map(check).collect()
}

fn name(session: usize) -> SessionId {
    let name = SESSIONS[session % SESSIONS.len()];
    SessionId::new(name).unwrap_or_else(|| unreachable!("a name is not blank"))
}

/// A client whose count starts again with a tool call.
fn client_cap(refusals: u32) -> ClientCap {
    ClientCap { refusals, scope: CapScope::SinceTool, lift: "" }
}

fn call(event: HookEvent, session: usize) -> Call<'static> {
    Call::new(Agent::Claude, event, Cow::Borrowed(SESSIONS[session % SESSIONS.len()]))
}
