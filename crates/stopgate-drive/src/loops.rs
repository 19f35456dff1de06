//! The loops that can be driven: our own, and those in other tools' files.

use std::path::{Path, PathBuf};

use stopgate_core::{Event, LoopId, Outcome, Phase, Receipt};
use stopgate_dialects::Dialect;
use stopgate_engine::{
    DialectCall, DialectRequest, DrivenStop, Engine, Failure, LoopTarget, LoopView, Settings,
    Stores, Successor,
};
use stopgate_store::Stored;
use stopgate_verify::files::read_text;
use stopgate_view::DiffStat;

use crate::feature::FeaturePart;
use crate::prompt::{EarlierSessions, hand_over, hand_over_work};
use crate::worktree::{self, Delivery};

/// How long a loop waits for a session whose client chooses its id.
const CLAIM_WITHIN_MS: i64 = 10 * 60 * 1000;
const PROMPT_FILE_BYTES_MAX: u64 = 64 * 1024;
/// No model's name is longer.
const MODEL_BYTES_MAX: usize = 128;

/// What a session works on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LoopWork {
    /// Which part, where the loop has several that are done one by one.
    pub(crate) part: Option<String>,
    /// The model that the loop names for it.
    pub(crate) model: Option<String>,
    /// What kind of work it is.
    pub(crate) category: Option<String>,
}

/// What the driver tells a fresh session beside the loop itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionNotes<'a> {
    pub(crate) session: u64,
    pub(crate) said: &'a str,
    pub(crate) answer: Option<&'a str>,
}

/// A loop that a driver carries on.
pub(crate) trait DrivenLoop {
    /// What names it in files and in the environment of its sessions.
    fn key(&self) -> String;
    /// What people call it.
    fn title(&self) -> String;
    /// Where its sessions run.
    fn directory(&self) -> &Path;
    /// How it stands.
    fn view(&mut self) -> Result<LoopView, Failure>;
    /// Changes with every stop that is judged.
    fn judged(&mut self) -> Result<String, Failure>;
    /// It holds this session from now on.
    fn bind(&mut self, session: &str) -> Result<(), Failure>;
    /// It holds the next session that comes by.
    fn open_to_next(&mut self) -> Result<(), Failure>;
    /// Judges the end of a session.
    fn judge(&mut self, stop: &DrivenStop<'_>) -> Result<(), Failure>;
    /// Counts what a session has used, by its record.
    fn count(&mut self, agent: &str, record: &str) -> Result<(), Failure>;
    /// How much of the plan's window is used, as a session's client told.
    fn heard_quota(&mut self, session: &str, used: f64, resets_at: u64);
    /// Why it may use no more, where a limit is reached.
    fn over_budget(&mut self) -> Result<Option<String>, Failure>;
    /// Notes a failure, which is not a stop.
    fn failed(&mut self, class: &str, said: &str) -> Result<(), Failure>;
    /// It rests while the driver waits.
    fn rests(&mut self) -> Result<(), Failure>;
    /// It goes on after that.
    fn wakes(&mut self) -> Result<(), Failure>;
    /// Whether what a parked loop waits for has happened; it goes on then.
    fn unparks(&mut self) -> Result<bool, Failure>;
    /// It can't go on.
    fn end(&mut self, outcome: Outcome, why: &str) -> Result<(), Failure>;
    /// A person lets it go on that ended for a reason that has passed.
    fn revive(&mut self) -> Result<(), Failure>;
    /// Whether it can be parked with a question.
    fn can_park(&self) -> bool;
    /// Parks it with a question; `false` where it can't be parked.
    fn ask(&mut self, question: &str) -> Result<bool, Failure>;
    /// Answers in the person's name, as they said beforehand.
    fn answer(&mut self, text: &str) -> Result<(), Failure>;
    /// The person's answer that no session was told yet.
    fn take_answer(&mut self) -> Result<Option<String>, Failure>;
    /// What is worked on next.
    fn work(&mut self) -> Result<LoopWork, Failure>;
    /// The prompt of a fresh session.
    fn hand_over(&mut self, notes: SessionNotes<'_>) -> Result<String, Failure>;
    /// What sends a session that goes on back to work.
    fn continuation(&mut self) -> Result<Option<String>, Failure>;
    /// Makes sure that there is a place to work in, before the session after `sessions` others.
    fn make_ready(&mut self, _sessions: u64) -> Result<(), Failure> {
        Ok(())
    }
    /// Brings back what is proven in a place of its own; says what came of it, where it tried.
    fn deliver(&mut self) -> Result<Option<Delivery>, Failure> {
        Ok(None)
    }
    /// Whether its files claim to be done where the judged stop did not.
    fn claims(&mut self) -> Result<bool, Failure> {
        Ok(false)
    }
}

/// A loop of our own.
pub(crate) struct NativeLoop {
    engine: Engine,
    id: LoopId,
    directory: PathBuf,
    part: Option<FeaturePart>,
}

impl NativeLoop {
    pub(crate) fn new(engine: Engine, stored: &Stored) -> Self {
        let directory = PathBuf::from(stored.state.root());
        Self { engine, id: stored.state.id.clone(), directory, part: None }
    }

    /// The same, for one feature of a list.
    pub(crate) fn for_feature(engine: Engine, stored: &Stored, part: FeaturePart) -> Self {
        Self { part: Some(part), ..Self::new(engine, stored) }
    }

    fn target(&self) -> LoopTarget {
        LoopTarget::Named(self.id.as_str().into())
    }

    /// The receipts of the last stop, and what the agent was told then.
    fn last_stop(&mut self) -> Result<(Vec<Receipt>, String), Failure> {
        let happened = self.engine.records().chronicle(self.id.as_str())?;
        let stops = happened.into_iter().rev().filter_map(|(event, _)| match event {
            Event::Stopped(stopped) => Some(*stopped),
            _other => None,
        });
        let last = stops
            .into_iter()
            .find(|stopped| !stopped.receipts.is_empty() || !stopped.text.is_empty());
        Ok(last.map(|stopped| (stopped.receipts, stopped.text)).unwrap_or_default())
    }

    fn diff(&mut self) -> Option<DiffStat> {
        let target = self.target();
        let report = self.engine.records().report_on(&target).ok()?;
        report.loops.into_iter().next()?.diff
    }
}

impl DrivenLoop for NativeLoop {
    fn key(&self) -> String {
        self.id.as_str().into()
    }

    fn title(&self) -> String {
        format!("loop {}", self.id)
    }

    fn directory(&self) -> &Path {
        &self.directory
    }

    fn view(&mut self) -> Result<LoopView, Failure> {
        let stored = self.engine.driven().driven(&self.id)?;
        self.engine.views().view_checked(&stored)
    }

    fn judged(&mut self) -> Result<String, Failure> {
        Ok(self.engine.driven().driven(&self.id)?.state.tally.stops.to_string())
    }

    fn bind(&mut self, session: &str) -> Result<(), Failure> {
        self.engine.driven().hand_to(&self.id, session).map(drop)
    }

    fn open_to_next(&mut self) -> Result<(), Failure> {
        let next = Successor::Next { within_ms: CLAIM_WITHIN_MS };
        let target = self.target();
        self.engine.handover().attach(&target, &next).map(drop)
    }

    fn judge(&mut self, stop: &DrivenStop<'_>) -> Result<(), Failure> {
        if self.claims()? {
            let target = self.target();
            self.engine.loops().claim(&target)?;
        }
        let held_by = self.engine.driven().driven(&self.id)?.state.session;
        if held_by.is_none() {
            self.bind(stop.session)?;
        }
        // A session whose client never told its id is judged as the one that the loop holds.
        let session = held_by.as_ref().map_or(stop.session, stopgate_core::SessionId::as_str);
        self.engine.driven().judge_driven(&DrivenStop { session, ..*stop })
    }

    fn count(&mut self, agent: &str, record: &str) -> Result<(), Failure> {
        self.engine.metering().count_use(&self.id, agent, Some(record)).map(drop)
    }

    fn heard_quota(&mut self, session: &str, used: f64, resets_at: u64) {
        self.engine.metering().heard_quota(session, used, resets_at);
    }

    fn over_budget(&mut self) -> Result<Option<String>, Failure> {
        self.engine.driven().driven_budget(&self.id)
    }

    fn failed(&mut self, class: &str, said: &str) -> Result<(), Failure> {
        self.engine.driven().driven_failed(&self.id, class, said)
    }

    fn rests(&mut self) -> Result<(), Failure> {
        self.engine.driven().driven_rests(&self.id)
    }

    fn wakes(&mut self) -> Result<(), Failure> {
        self.engine.driven().driven_wakes(&self.id)
    }

    fn unparks(&mut self) -> Result<bool, Failure> {
        self.engine.waits().unpark_driven(&self.id)
    }

    fn end(&mut self, outcome: Outcome, why: &str) -> Result<(), Failure> {
        self.engine.driven().driven_ends(&self.id, outcome, why).map(drop)
    }

    fn revive(&mut self) -> Result<(), Failure> {
        let target = self.target();
        self.engine.loops().resume(&target, None).map(drop)
    }

    fn can_park(&self) -> bool {
        true
    }

    fn ask(&mut self, question: &str) -> Result<bool, Failure> {
        let target = self.target();
        self.engine.loops().ask(&target, question).map(|_| true)
    }

    fn answer(&mut self, text: &str) -> Result<(), Failure> {
        let target = self.target();
        self.engine.handover().answer(&target, text).map(drop)
    }

    fn take_answer(&mut self) -> Result<Option<String>, Failure> {
        let state = self.engine.driven().driven(&self.id)?.state;
        let is_waiting = matches!(state.phase, Phase::Waiting { .. } | Phase::Ended { .. });
        let Some(answer) = state.answer.filter(|_| !is_waiting) else { return Ok(None) };
        self.engine.driven().answer_told(&self.id)?;
        Ok(Some(answer))
    }

    fn work(&mut self) -> Result<LoopWork, Failure> {
        Ok(self.part.as_ref().map_or_else(LoopWork::default, FeaturePart::work))
    }

    fn hand_over(&mut self, notes: SessionNotes<'_>) -> Result<String, Failure> {
        let state = self.engine.driven().driven(&self.id)?.state;
        if self.directory.join(".git").exists() {
            // The work goes on also where its tree can't be kept.
            let _ = self.engine.snapshots().snapshot(&self.id, &self.directory);
        }
        let (receipts, _) = self.last_stop()?;
        let diff = self.diff();
        let SessionNotes { session, said, answer } = notes;
        let left =
            EarlierSessions { session, receipts: &receipts, diff: diff.as_ref(), said, answer };
        let text = hand_over(&state, &left);
        Ok(match &self.part {
            Some(part) => format!("{}\n{text}", part.prompt()),
            None => text,
        })
    }

    fn continuation(&mut self) -> Result<Option<String>, Failure> {
        Ok(Some(self.last_stop()?.1).filter(|text| !text.is_empty()))
    }

    fn make_ready(&mut self, sessions: u64) -> Result<(), Failure> {
        let state = self.engine.driven().driven(&self.id)?.state;
        if let Some(worktree) = &state.worktree {
            worktree::make_ready(&state, worktree, sessions)?;
        }
        self.part.as_ref().map_or(Ok(()), |part| part.make_ready(&self.directory))
    }

    fn deliver(&mut self) -> Result<Option<Delivery>, Failure> {
        worktree::deliver(&mut self.engine, &self.id, self.part.as_ref())
    }

    fn claims(&mut self) -> Result<bool, Failure> {
        let Some(part) = &self.part else { return Ok(false) };
        if !part.is_claimed(&self.directory) {
            return Ok(false);
        }
        let state = self.engine.driven().driven(&self.id)?.state;
        let is_proven = state.worktree.as_ref().is_some_and(|worktree| worktree.is_proven);
        Ok(state.outcome().is_none() && !is_proven)
    }
}

/// A loop in another tool's files.
pub(crate) struct FileLoop {
    settings: Settings,
    stores: Stores,
    request: DialectRequest,
    directory: PathBuf,
}

impl FileLoop {
    pub(crate) fn new(
        settings: Settings,
        stores: Stores,
        request: DialectRequest,
        directory: PathBuf,
    ) -> Result<Self, Failure> {
        let mut own = Self { settings, stores, request, directory };
        if !matches!(own.request.dialect, Dialect::Features | Dialect::Task) {
            let dialect = own.request.dialect;
            return Err(Failure::usage(format!("run does not drive loops of --dialect {dialect}"))
                .hint("it drives loops of stopgate's own, and --dialect features and task"));
        }
        own.directory = own.desk()?.directory().to_path_buf();
        own.desk()?.view_loop()?;
        Ok(own)
    }

    /// A desk reads the time once, so each look has its own.
    fn desk(&self) -> Result<DialectCall, Failure> {
        DialectCall::new(self.settings, self.stores, self.request.clone(), self.directory.clone())
    }

    fn features_prompt(&self) -> Result<String, Failure> {
        let desk = self.desk()?;
        let place = desk.features_directory();
        let own = read_text(&place.join("RALPH_PROMPT.md"), PROMPT_FILE_BYTES_MAX).ok();
        let shown = place.strip_prefix(&self.directory).unwrap_or(&place).display().to_string();
        let own = own.unwrap_or_else(|| stopgate_dialects::features::prompt_template(&shown));
        let Some(next) = desk.next_feature()? else { return Ok(own) };
        let only = format!(
            "Your feature in this session: {} - {}. Build only this one, verify it, set its \
             \"passes\" to true in {shown}/feature_list.json, and end your turn.\n",
            next.id, next.description
        );
        Ok(format!("{only}\n{}", stopgate_core::clip(&own, 1400)))
    }

    fn task_prompt(&self) -> Result<String, Failure> {
        let view = self.desk()?.view_loop()?;
        let next = view.frames.last().map_or("", |frame| frame.prompt.as_str());
        let record = self.request.task_file.as_ref().map(|file| {
            format!("Its record is {}; note there which steps are complete. ", file.display())
        });
        Ok(format!(
            "Task: {}\n{}Work on the next step: {next}\nWhen every step is complete and verified, \
             say so with a line of its own: <loop-complete>\n",
            view.goal,
            record.unwrap_or_default()
        ))
    }
}

impl DrivenLoop for FileLoop {
    fn key(&self) -> String {
        self.request.dialect.word().into()
    }

    fn title(&self) -> String {
        format!("the loop of --dialect {}", self.request.dialect)
    }

    fn directory(&self) -> &Path {
        &self.directory
    }

    fn view(&mut self) -> Result<LoopView, Failure> {
        self.desk()?.driven_view()
    }

    fn judged(&mut self) -> Result<String, Failure> {
        self.desk()?.stops_judged()
    }

    fn bind(&mut self, _: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn open_to_next(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn judge(&mut self, stop: &DrivenStop<'_>) -> Result<(), Failure> {
        self.desk()?.judge_driven(stop)
    }

    fn count(&mut self, _: &str, _: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn heard_quota(&mut self, _: &str, _: f64, _: u64) {}

    fn over_budget(&mut self) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    fn failed(&mut self, _: &str, _: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn rests(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn wakes(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn unparks(&mut self) -> Result<bool, Failure> {
        Ok(true)
    }

    fn end(&mut self, outcome: Outcome, why: &str) -> Result<(), Failure> {
        self.desk()?.driven_gives_up(outcome, why)
    }

    fn revive(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn can_park(&self) -> bool {
        false
    }

    fn ask(&mut self, _: &str) -> Result<bool, Failure> {
        Ok(false)
    }

    fn answer(&mut self, _: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn take_answer(&mut self) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    fn work(&mut self) -> Result<LoopWork, Failure> {
        let next = self.desk()?.next_feature()?;
        Ok(next.map_or_else(LoopWork::default, |next| LoopWork {
            part: Some(format!("feature {}", next.id)),
            model: next.model,
            category: next.category,
        }))
    }

    fn hand_over(&mut self, notes: SessionNotes<'_>) -> Result<String, Failure> {
        let what = match self.request.dialect {
            Dialect::Features => self.features_prompt()?,
            _other => self.task_prompt()?,
        };
        let SessionNotes { session, said, answer } = notes;
        let left = EarlierSessions { session, said, answer, ..EarlierSessions::default() };
        Ok(hand_over_work(&what, &left))
    }

    fn continuation(&mut self) -> Result<Option<String>, Failure> {
        Ok(None)
    }
}

/// Whether a model's name from a repository's file is nothing but a name.
///
/// It becomes an argument of the client, or part of a line that the person wrote for a shell: one
/// that begins with a dash would be an option of the client, perhaps the one that asks nobody.
pub(crate) fn is_model_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/@+[]".contains(&byte);
    text.len() <= MODEL_BYTES_MAX
        && text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
        && text.bytes().all(is_plain)
}

/// Refuses such a name.
pub(crate) fn odd_model(named: &str) -> Failure {
    let named = stopgate_core::clip(&stopgate_core::clean(named), 80).replace('\n', " ");
    Failure::usage(format!("the list names an invalid model: `{named}`")).hint(
        "a model's name begins with a letter or digit and has only those and - _ . : / @ + [ ]",
    )
}

#[cfg(test)]
mod tests;
