//! What follows a session: a judgement, a question, another try, or the end.

use std::fs::File;
use std::time::Duration;

use stopgate_agents::{Agent, FailureClass, Headless, ResetTime, SessionFailure, SessionReach};
use stopgate_core::Outcome;
use stopgate_engine::{DrivenStop, Failure};

use super::counting::{HEARD, keeps_no_record};
use super::waiting::now_seconds;
use super::{Course, DriveEnd, Driver, NextTurn};
use crate::plan::DriveNews;
use crate::policy::{ErrorKind, FailedSession, FailedSessionState, NextStep, kind, next_step};
use crate::prompt::NUDGE;
use crate::question::{shown_question, trailing_question};
use crate::record::DriverStep;
use crate::records::record_of;
use crate::session::{TurnCut, TurnResult};

/// How much of a last message is kept for the next session.
const SAID_BYTES_MAX: usize = 2000;

/// Whether the stop of a session was judged by its hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judgement {
    /// It was, or nobody wants it.
    Given,
    /// It was not: we ask for it.
    Missing,
}

/// Failures in a row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FailureCounts {
    class: Option<FailureClass>,
    in_row: u32,
    failures: u32,
}

impl FailureCounts {
    fn count(&mut self, class: FailureClass) {
        self.in_row = if self.class == Some(class) { self.in_row + 1 } else { 1 };
        self.class = Some(class);
        // Nobody is at fault for a limit.
        if class != FailureClass::RateLimit {
            self.failures += 1;
        }
    }
}

impl Driver<'_> {
    /// What follows a turn.
    pub(super) fn after(&mut self, result: TurnResult) -> Result<Course, Failure> {
        let TurnResult { report, cut } = result;
        let was_resumed = self.record.turns > 1;
        if let Some(id) = report.session.clone() {
            self.record.session = Some(id);
        }
        self.record.pid = 0;
        self.record.can_resume = report.can_resume;
        self.count()?;
        if cut == Some(TurnCut::Interrupted) {
            // It stays in hand: `run --continue` goes on with it.
            return Ok(Course::End(DriveEnd::Interrupted));
        }
        if let Some(question) = report.question.as_deref().filter(|_| cut.is_none()) {
            return self.asked(question, &report.said);
        }
        let is_judged = self.looped.judged()? != self.record.judged;
        let said = report.said.clone();
        let context = report.context;
        // A client that can't find its session fails so, too; a service that failed leaves it alone.
        let is_missing = was_resumed
            && report.reach < SessionReach::Model
            && matches!(&report.end, Err(failure) if kind(failure.class) == ErrorKind::Unknown);
        let is_lost = !report.can_resume || is_missing;
        let compacts = self.plan.command.headless().is_some_and(Headless::compacts_on_resume);
        let state = match (is_lost, compacts) {
            (true, _) => FailedSessionState::Lost,
            (false, true) => FailedSessionState::Compacting,
            (false, false) => FailedSessionState::Stored,
        };
        let verdict =
            if is_judged || cut.is_some() { Judgement::Given } else { Judgement::Missing };
        match report.end {
            Err(failure) if verdict == Judgement::Missing => self.failed(&failure, state),
            Ok(()) | Err(_) => self.succeeded(&said, context, verdict),
        }
    }

    fn succeeded(
        &mut self,
        said: &str,
        context: Option<(u64, Option<u64>)>,
        judgement: Judgement,
    ) -> Result<Course, Failure> {
        self.counts = FailureCounts::default();
        if judgement == Judgement::Missing || self.looped.claims()? {
            let session = self.record.session.clone().unwrap_or_default();
            let directory = self.looped.directory().to_path_buf();
            let agent = self.plan.command.agent();
            let record = self.session_record();
            let record = record.as_deref();
            let stop = DrivenStop { agent, session: &session, directory: &directory, said, record };
            self.looped.judge(&stop)?;
        }
        said_of(said).clone_into(&mut self.record.said);
        self.record.step = DriverStep::Between;
        self.files.write(&self.record)?;
        let view = self.looped.view()?;
        (self.news)(&DriveNews::Judged { view: &view });
        if view.outcome.is_none()
            && let Some(question) = trailing_question(said)
        {
            self.looped.ask(&question)?;
        }
        self.next_after(context)
    }

    /// The agent asked in the middle of its turn, which is not a stop: the loop waits for an answer.
    fn asked(&mut self, question: &str, said: &str) -> Result<Course, Failure> {
        self.counts = FailureCounts::default();
        said_of(said).clone_into(&mut self.record.said);
        self.record.step = DriverStep::Between;
        self.files.write(&self.record)?;
        self.looped.ask(&shown_question(question))?;
        let text = "You asked a question that nobody answered: decide it yourself, and go on.";
        Ok(Course::GoOn(NextTurn::Resume(text.to_owned())))
    }

    /// Whether the session in hand goes on.
    fn next_after(&mut self, context: Option<(u64, Option<u64>)>) -> Result<Course, Failure> {
        let keeps = self.record.can_resume
            && self.plan.fresh.keeps(self.record.turns, context)
            && self.looped.work()?.part == self.record.work;
        let text = if keeps { self.looped.continuation()? } else { None };
        Ok(Course::GoOn(text.map_or(NextTurn::Fresh, NextTurn::Resume)))
    }

    fn failed(
        &mut self,
        failure: &SessionFailure,
        session: FailedSessionState,
    ) -> Result<Course, Failure> {
        let SessionFailure { class, message, .. } = failure;
        self.looped.failed(class.word(), message)?;
        (self.news)(&DriveNews::Failed { class: class.word(), message });
        if let Some(why) = self.looped.over_budget()? {
            return self.give_up(Outcome::Budget, &why, "");
        }
        self.counts.count(*class);
        let failed = FailedSession {
            class: *class,
            in_row: self.counts.in_row,
            failures: self.counts.failures,
            reset_in: failure.reset.map(until),
            session,
            chance: chance(),
        };
        match next_step(failed, self.plan.limits) {
            NextStep::Resume(wait) => self.try_again(wait, NextTurn::Resume(NUDGE.to_owned())),
            NextStep::Fresh(wait) => self.try_again(wait, NextTurn::Fresh),
            NextStep::Person => self.give_up(
                Outcome::NeedsInput,
                "the client's login or permission was not accepted",
                message,
            ),
            NextStep::GiveUp => self.give_up(Outcome::InfraError, "sessions kept failing", message),
            NextStep::Leave => {
                self.give_up(Outcome::RateLimited, "the service asked to slow down", message)
            }
        }
    }

    fn try_again(&mut self, wait: Duration, next: NextTurn) -> Result<Course, Failure> {
        self.record.step =
            if next == NextTurn::Fresh { DriverStep::Between } else { DriverStep::Waiting };
        if let Some(end) = self.wait(wait)? {
            return Ok(Course::End(end));
        }
        Ok(Course::GoOn(next))
    }

    fn give_up(&mut self, outcome: Outcome, why: &str, message: &str) -> Result<Course, Failure> {
        // A limit that passes leaves the session as it is, to go on with.
        let goes_on = outcome == Outcome::RateLimited && self.record.can_resume;
        self.record.step = if goes_on { DriverStep::Running } else { DriverStep::Between };
        self.files.write(&self.record)?;
        let message = stopgate_core::clip(&stopgate_core::clean(message.trim()), 200);
        let why = if message.is_empty() { why.to_owned() } else { format!("{why}: {message}") };
        self.looped.end(outcome, &why)?;
        self.ended = Some((outcome, why));
        Ok(Course::End(DriveEnd::Loop))
    }
}

impl Driver<'_> {
    /// Counts what the session in hand has used so far.
    pub(super) fn count(&mut self) -> Result<(), Failure> {
        let Some(agent) = self.session_agent() else { return Ok(()) };
        let Some(record) = self.session_record() else { return Ok(()) };
        self.looped.count(agent.word(), &record)
    }

    /// Makes sure that what is heard of a session is counted from its beginning.
    pub(super) fn open_heard(&mut self) -> Result<(), Failure> {
        if self.session_agent().and_then(Agent::headless).is_some_and(keeps_no_record) {
            // Without the file nothing is heard, and the loop says that its use is unknown.
            let _ = File::options().create(true).append(true).open(self.files.file(HEARD));
            return self.count();
        }
        Ok(())
    }

    /// The record of the session in hand, as far as its client has written one.
    pub(super) fn session_record(&self) -> Option<String> {
        let agent = self.session_agent()?;
        let headless = agent.headless()?;
        let file = if keeps_no_record(headless) {
            Some(self.files.file(HEARD)).filter(|file| file.exists())
        } else {
            record_of(agent, headless, self.record.session.as_deref()?)
        };
        file?.to_str().map(String::from)
    }

    /// Ends the loop where it may use no more.
    pub(super) fn ends_over_budget(&mut self) -> Result<Option<DriveEnd>, Failure> {
        let Some(why) = self.looped.over_budget()? else { return Ok(None) };
        self.looped.end(Outcome::Budget, &why)?;
        Ok(Some(DriveEnd::Loop))
    }

    /// The client of the session in hand, which an earlier run may have chosen.
    fn session_agent(&self) -> Option<Agent> {
        self.record.agent.as_deref().and_then(Agent::named)
    }
}

fn until(reset: ResetTime) -> Duration {
    match reset {
        ResetTime::After(wait) => wait,
        ResetTime::At(at) => Duration::from_secs(at.saturating_sub(now_seconds())),
    }
}

fn said_of(said: &str) -> &str {
    let from = said.len().saturating_sub(SAID_BYTES_MAX);
    let from = (from..said.len()).find(|at| said.is_char_boundary(*at)).unwrap_or(0);
    &said[from..]
}

/// Spreads pauses; without chance they are all alike, which does no harm.
fn chance() -> u8 {
    let mut byte = [0];
    let _ = getrandom::fill(&mut byte);
    byte[0]
}
