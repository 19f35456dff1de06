//! The driver: session after session until the loop is over, a person is needed, or one says stop.

mod after;
mod counting;
mod waiting;

use std::path::PathBuf;

use stopgate_agents::{QuestionHabit, SessionIdSource, StreamFact, TurnSession};
use stopgate_core::{LoopState, Outcome};
use stopgate_engine::{
    DRIVEN, DialectRequest, Engine, Failure, Home, LoopTarget, LoopView, Settings, Stores, WaitsFor,
};

use crate::command::CommandTurn;
use crate::guard::end_group;
use crate::interrupt::{Interrupt, Interrupts};
use crate::loops::{
    DrivenLoop, FileLoop, LoopWork, NativeLoop, SessionNotes, is_model_name, odd_model,
};
use crate::mark::began;
use crate::plan::{DriveNews, DrivePlan, FeatureBuilder, SessionScreen, WorkPlace};
use crate::process::ClientPlace;
use crate::prompt::{HAND_ON, HAND_OVER_BYTES_MAX, NUDGE, answer_prompt, builder};
use crate::question::plan_word;
use crate::record::{DriverFiles, DriverRecord, DriverStep, PlanWord};
use crate::session::{SessionWatch, TurnResult, TurnStage, run_turn};
use crate::terminal::run_in_terminal;
use crate::tmux::{TmuxWindow, needs_tmux};
use crate::worktree;

/// How a run ended.
#[derive(Debug)]
pub struct DriveEnded {
    /// Why it ended.
    pub end: DriveEnd,
    /// The loop.
    pub view: LoopView,
    /// How many sessions there were, those of earlier runs included.
    pub sessions: u64,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveEnd {
    /// The loop says so: it is over, or waits for a person.
    Loop,
    /// The person interrupted it; the loop goes on with `run --continue`.
    Interrupted,
}

/// Hears what happens.
pub(crate) type NewsListener<'a> = &'a mut dyn FnMut(&DriveNews<'_>);

/// Drives a loop of our own.
pub fn drive_native(
    mut engine: Engine,
    target: &LoopTarget,
    plan: &DrivePlan,
    interrupts: &Interrupts,
    news: NewsListener<'_>,
) -> Result<DriveEnded, Failure> {
    let mut stored = engine.loops().resolve(target)?;
    if plan.place == WorkPlace::Worktree {
        for warning in worktree::place(&mut engine, &mut stored)? {
            news(&DriveNews::Warning { text: &warning });
        }
    }
    let home = engine.home().clone();
    let looped = NativeLoop::new(engine, &stored);
    drive(Box::new(looped), &home, plan, interrupts, news)
}

/// Drives a loop in another tool's files.
pub fn drive_file(
    (settings, stores): (Settings, Stores),
    request: DialectRequest,
    directory: PathBuf,
    plan: &DrivePlan,
    interrupts: &Interrupts,
    news: NewsListener<'_>,
) -> Result<DriveEnded, Failure> {
    let looped = FileLoop::new(settings, stores, request, directory)?;
    let home = settings.home()?;
    drive(Box::new(looped), &home, plan, interrupts, news)
}

pub(crate) fn drive(
    looped: Box<dyn DrivenLoop>,
    home: &Home,
    plan: &DrivePlan,
    interrupts: &Interrupts,
    news: NewsListener<'_>,
) -> Result<DriveEnded, Failure> {
    if plan.screen == SessionScreen::Tmux {
        needs_tmux()?;
    }
    let place = looped.directory().display().to_string();
    let name = stopgate_verify::file_name(&format!("{}-{place}", looped.key())).into_owned();
    let files = DriverFiles::take(home.directory().join("runs").join(name), &looped.title())?;
    let record = files.read();
    let counts = after::FailureCounts::default();
    let mut driver = Driver { looped, plan, interrupts, news, files, record, counts, ended: None };
    driver.drive()
}

/// One driver at work.
pub(crate) struct Driver<'a> {
    pub(crate) looped: Box<dyn DrivenLoop>,
    pub(crate) plan: &'a DrivePlan,
    pub(crate) interrupts: &'a Interrupts,
    pub(crate) news: NewsListener<'a>,
    pub(crate) files: DriverFiles,
    pub(crate) record: DriverRecord,
    pub(crate) counts: after::FailureCounts,
    /// How the loop ended where its own files have no word for it.
    pub(crate) ended: Option<(Outcome, String)>,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NextTurn {
    /// A fresh session.
    Fresh,
    /// The session in hand goes on with this text.
    Resume(String),
}

/// Whether the driver goes on.
pub(crate) enum Course {
    GoOn(NextTurn),
    End(DriveEnd),
}

impl Driver<'_> {
    fn drive(&mut self) -> Result<DriveEnded, Failure> {
        let mut next = match self.prepare()? {
            Course::GoOn(next) => next,
            Course::End(end) => return self.finish(end),
        };
        loop {
            if let Some(end) = self.stands()? {
                return self.finish(end);
            }
            if self.interrupts.wish() != Interrupt::GoOn {
                return self.finish(DriveEnd::Interrupted);
            }
            let result = self.turn(&next)?;
            match self.after(result)? {
                Course::GoOn(after) => next = after,
                Course::End(end) => return self.finish(end),
            }
        }
    }

    /// Ends what an earlier driver left running, and says what comes first.
    fn prepare(&mut self) -> Result<Course, Failure> {
        // A record that says nothing of a process says nothing of a session either.
        self.record.end_left_over();
        // What a session used whose driver was killed.
        self.count()?;
        let was = self.record.step;
        let view = self.looped.view()?;
        let is_ended = view.outcome.is_some() && view.waiting.is_none();
        if !self.plan.continues {
            if is_ended {
                return Err(over(&self.looped.title(), &view));
            }
            return Ok(Course::GoOn(NextTurn::Fresh));
        }
        if is_ended && view.outcome.is_some_and(Outcome::can_resume) {
            self.looped.revive()?;
        }
        if let Some(end) = self.wait_on()? {
            return Ok(Course::End(end));
        }
        let is_unjudged = self.looped.judged()? == self.record.judged;
        let is_open = matches!(was, DriverStep::Running | DriverStep::Waiting) && is_unjudged;
        let is_known = self.plan.command.headless().is_some() && self.record.session.is_some();
        let is_same = self.looped.work()?.part == self.record.work;
        Ok(Course::GoOn(if is_open && is_known && is_same {
            self.record.can_resume = true;
            NextTurn::Resume(NUDGE.to_owned())
        } else {
            NextTurn::Fresh
        }))
    }

    /// Why the loop does not go on by itself, if so.
    fn stands(&mut self) -> Result<Option<DriveEnd>, Failure> {
        if self.interrupts.wish() == Interrupt::GoOn
            && let Some(delivery) = self.looped.deliver()?
        {
            (self.news)(&DriveNews::Delivered { delivery: &delivery });
        }
        let view = self.looped.view()?;
        if view.waiting == Some(WaitsFor::Answer) {
            return self.await_answer(&view);
        }
        if view.waiting == Some(WaitsFor::Condition) {
            return self.await_condition(&view);
        }
        let rests = view.state == LoopState::Paused || view.waiting == Some(WaitsFor::Approval);
        if view.outcome.is_some() || rests {
            return Ok(Some(DriveEnd::Loop));
        }
        self.ends_over_budget()
    }

    /// Runs one turn.
    fn turn(&mut self, next: &NextTurn) -> Result<TurnResult, Failure> {
        self.looped.make_ready(self.record.sessions)?;
        let answer = self.looped.take_answer()?;
        let work = self.looped.work()?;
        let next = match (&answer, next) {
            (Some(answer), _) if self.record.can_resume && self.record.session.is_some() => {
                NextTurn::Resume(answer_prompt(answer))
            }
            (_, next) => next.clone(),
        };
        self.record.plan = plan_word(answer.as_deref());
        let prompt = self.begin(&next, work.part.clone(), answer.as_deref())?;
        let model = self.model_for(&work)?;
        let view = self.looped.view()?;
        (self.news)(&DriveNews::Session {
            number: self.record.sessions,
            is_resumed: matches!(next, NextTurn::Resume(_)),
            agent: self.plan.command.name(),
            model: model.as_deref(),
            part: work.part.as_deref(),
            view: &view,
        });
        self.run(&next, &prompt, model.as_deref())
    }

    /// Notes what is about to begin, and binds the loop to it; gives the prompt.
    fn begin(
        &mut self,
        next: &NextTurn,
        part: Option<String>,
        answer: Option<&str>,
    ) -> Result<String, Failure> {
        let prompt = match next {
            NextTurn::Resume(text) => {
                self.record.turns += 1;
                text.clone()
            }
            NextTurn::Fresh => {
                self.record.sessions += 1;
                self.record.turns = 1;
                self.record.session = Some(new_uuid()?);
                self.record.agent = self.plan.command.agent().map(|agent| agent.word().to_owned());
                let session = self.record.sessions;
                let notes = SessionNotes { session, said: &self.record.said, answer };
                let mut prompt = self.looped.hand_over(notes)?;
                if part.is_some() && self.plan.builder == FeatureBuilder::SubAgent {
                    prompt =
                        stopgate_core::clip(&format!("{HAND_ON}{prompt}"), HAND_OVER_BYTES_MAX);
                }
                prompt
            }
        };
        self.record.step = DriverStep::Starting;
        self.record.pid = 0;
        self.record.mark = new_uuid()?;
        self.record.work = part;
        self.record.judged = self.looped.judged()?;
        self.record.can_resume = false;
        self.files.write(&self.record)?;
        self.bind(next)?;
        self.open_heard()?;
        Ok(prompt)
    }

    fn bind(&mut self, next: &NextTurn) -> Result<(), Failure> {
        let session = self.record.session.clone().unwrap_or_default();
        let source = self.plan.command.headless().map(stopgate_agents::Headless::id_source);
        let is_known = matches!(next, NextTurn::Resume(_));
        match source {
            None | Some(SessionIdSource::Chosen) => self.looped.bind(&session),
            Some(_) if is_known => self.looped.bind(&session),
            Some(_) if self.screen() != SessionScreen::Headless => self.looped.open_to_next(),
            Some(_) => Ok(()),
        }
    }

    /// A worktree is another project than the loop's, in which no session claims it: there, a client
    /// that chooses its session's id is read instead of shown.
    fn screen(&self) -> SessionScreen {
        let source = self.plan.command.headless().map(stopgate_agents::Headless::id_source);
        let is_told = matches!(source, None | Some(SessionIdSource::Chosen));
        match self.plan.place {
            WorkPlace::Worktree if !is_told => SessionScreen::Headless,
            WorkPlace::Worktree | WorkPlace::Project => self.plan.screen,
        }
    }

    /// The part's own model, else its category's, else the one for everything.
    fn model_for(&self, work: &LoopWork) -> Result<Option<String>, Failure> {
        let listed = |category: &String| {
            self.plan.models.iter().find(|(name, _)| name == category).map(|(_, model)| model)
        };
        if let Some(named) = work.model.as_deref().filter(|model| !is_model_name(model)) {
            return Err(odd_model(named));
        }
        let chosen = work.category.as_ref().and_then(listed).or(self.plan.model.as_ref());
        let model = work.model.as_ref().or(chosen).cloned();
        if model.is_none() && self.plan.command.needs_model() && self.plan.command.agent().is_none()
        {
            return Err(Failure::usage("the command has {model}, but no model is named")
                .hint("name one: --model MODEL"));
        }
        Ok(model)
    }

    fn run(
        &mut self,
        next: &NextTurn,
        prompt: &str,
        model: Option<&str>,
    ) -> Result<TurnResult, Failure> {
        let session = self.record.session.clone().unwrap_or_default();
        let prompt_file = self.files.write_prompt(prompt)?;
        let usage_file = self.files.file("usage.json").display().to_string();
        let directory = self.looped.directory().to_path_buf();
        let helper = builder(model);
        let hands_on = self.record.work.is_some() && self.plan.builder == FeatureBuilder::SubAgent;
        let turn = CommandTurn {
            session: match next {
                NextTurn::Fresh => TurnSession::New(&session),
                NextTurn::Resume(_) => TurnSession::Resumed(&session),
            },
            model,
            directory: &directory,
            prompt,
            prompt_file: &prompt_file,
            usage_file: Some(&usage_file),
            helper: hands_on.then_some(&helper),
        };
        let env = [(DRIVEN.to_owned(), self.looped.key())];
        let mark = self.record.mark.clone();
        let place = ClientPlace { directory: &directory, mark: &mark, env: &env };
        // A command that takes its prompt from standard input has no use for a terminal.
        let in_terminal = match self.screen() {
            SessionScreen::Headless => None,
            SessionScreen::Terminal | SessionScreen::Tmux => {
                self.plan.command.start_in_terminal(&turn)
            }
        };
        if let Some(started) = &in_terminal
            && self.screen() == SessionScreen::Tmux
        {
            let window = TmuxWindow {
                name: format!("{}-{}", self.looped.key(), self.record.sessions),
                status: self.files.file("tmux-status"),
            };
            return self.staged(&session, model, &mut |stage| window.run(started, &place, stage));
        }
        if let Some(started) = in_terminal {
            return self
                .staged(&session, model, &mut |stage| run_in_terminal(&started, &place, stage));
        }
        let started = self.plan.command.start(&turn);
        self.staged(&session, model, &mut |stage| run_turn(&started, &place, stage))
    }

    /// Runs `act` with what a turn needs to hear and to tell.
    fn staged(
        &mut self,
        session: &str,
        model: Option<&str>,
        act: &mut dyn FnMut(&mut TurnStage<'_>) -> Result<TurnResult, Failure>,
    ) -> Result<TurnResult, Failure> {
        let Self { looped, plan, interrupts, news, files, record, .. } = self;
        let log = log_file(plan, record.sessions)?;
        let looped = std::cell::RefCell::new(looped);
        let record = std::cell::RefCell::new(record);
        let judged = record.borrow().judged.clone();
        let questions = match (looped.borrow().can_park(), record.borrow().plan) {
            (false, _) => QuestionHabit::Decide,
            (true, PlanWord::Open) => QuestionHabit::Park,
            (true, PlanWord::Approved) => QuestionHabit::ParkApproved,
        };
        let hears_use = plan.command.headless().is_some_and(counting::keeps_no_record);
        let model = model.or(plan.command.named_model());
        let mut stage = TurnStage {
            agent: plan.command.agent(),
            headless: plan.command.headless(),
            session,
            questions,
            hang_after: plan.hang_after,
            interrupts,
            log,
            started: &mut |pid| {
                let mut record = record.borrow_mut();
                record.pid = pid;
                record.began = began(pid).unwrap_or(0);
                record.step = DriverStep::Running;
                files.write(&record).inspect_err(|_| end_group(pid))
            },
            named: &mut |id| {
                let mut record = record.borrow_mut();
                record.session = Some(id.to_owned());
                files.write(&record)?;
                looped.borrow_mut().bind(id)
            },
            watch: &mut || watch(&mut ***looped.borrow_mut(), &judged),
            heard: &mut |fact| match fact {
                StreamFact::Retry { class, delay } => {
                    news(&DriveNews::Retry { class: class.word(), delay: *delay });
                }
                StreamFact::Usage(usage) if hears_use => {
                    counting::hear_use(files.directory(), model, usage);
                }
                StreamFact::Quota { used, resets_at } => {
                    let session = record.borrow().session.clone().unwrap_or_default();
                    looped.borrow_mut().heard_quota(&session, *used, *resets_at);
                }
                _other => {}
            },
        };
        act(&mut stage)
    }

    /// Notes that nothing is in hand any more, and how the loop stands.
    fn finish(&mut self, end: DriveEnd) -> Result<DriveEnded, Failure> {
        let mut view = self.looped.view()?;
        if let Some((outcome, why)) = self.ended.take().filter(|_| view.outcome.is_none()) {
            view.outcome = Some(outcome);
            view.why = Some(why);
        }
        if view.outcome.is_none() && view.waiting == Some(WaitsFor::Answer) {
            view.outcome = Some(Outcome::NeedsInput);
        }
        self.files.write(&self.record)?;
        Ok(DriveEnded { end, view, sessions: self.record.sessions })
    }
}

/// What the loop says of the session that runs.
fn watch(looped: &mut dyn DrivenLoop, judged: &str) -> SessionWatch {
    // A journal that can't be asked now is asked again later.
    let Ok(view) = looped.view() else { return SessionWatch::GoOn };
    match view.outcome {
        Some(Outcome::Cancelled | Outcome::Aborted) => SessionWatch::Unwanted,
        _other if looped.judged().is_ok_and(|now| now != judged) => SessionWatch::Judged,
        _other => SessionWatch::GoOn,
    }
}

fn log_file(plan: &DrivePlan, session: u64) -> Result<Option<PathBuf>, Failure> {
    let Some(directory) = &plan.log else { return Ok(None) };
    std::fs::create_dir_all(directory).map_err(|error| {
        Failure::usage(format!("could not make {}", directory.display()))
            .hint("name a directory that you may write to: --log DIR")
            .because(error)
    })?;
    Ok(Some(directory.join(format!("session-{session:03}.log"))))
}

fn over(title: &str, view: &LoopView) -> Failure {
    let outcome = view.outcome.map_or("over", Outcome::word);
    let failure = Failure::usage(format!("{title} is over: {outcome}"));
    if view.outcome.is_some_and(Outcome::can_resume) {
        failure.hint("go on with it: stopgate run --continue")
    } else {
        failure.hint("begin a new one with: stopgate start")
    }
}

/// A random UUID, as clients want them.
pub(crate) fn new_uuid() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::fault("could not make an id for the session").because(error))?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = format!("{:032x}", u128::from_be_bytes(bytes));
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    Ok(parts.join("-"))
}
