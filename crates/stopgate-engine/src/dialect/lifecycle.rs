//! `status`, `cancel`, `pause` and `resume` for every format, and whether a loop runs here.
//!
//! A format that has no word for a pause is paused in stopgate's own memory of the file.

use std::path::{Path, PathBuf};

use stopgate_core::{LoopState, Outcome, Phase, Rest, Timestamp};
use stopgate_dialects::features::{ProgressStanding, ended};
use stopgate_dialects::{Dialect, idle, ralph_loop as ralph};

use super::desk::{Held, Sheet};
use super::jwz::Store;
use super::task::TaskChange;
use super::{DialectCall, DialectRequest, OkForm, criteria, features};
use crate::failure::{Failure, FailureKind};
use crate::project::project_of;
use crate::settings::Settings;
use crate::stores::Stores;
use crate::view::{LoopView, WhoActs};

/// The note that a person paused the loop, and when.
const PAUSED: &str = "paused";
const BY_PERSON: &str = "a person cancelled it";

impl DialectCall {
    /// How the loop stands.
    pub fn view_loop(&self) -> Result<LoopView, Failure> {
        match self.request.dialect {
            Dialect::Idle => self.idle_view(),
            Dialect::RalphLoop => self.ralph_loop_view(),
            Dialect::Features => self.features_view(),
            Dialect::Criteria => Ok(self.criteria_status()?.found),
            Dialect::Task => self.task_view(),
        }
    }

    /// A person ends the loop.
    pub fn cancel(&self) -> Result<LoopView, Failure> {
        match self.request.dialect {
            Dialect::Idle => self.idle_cancel(),
            Dialect::RalphLoop => self.ralph_loop_cancel(),
            Dialect::Features => self.features_cancel(),
            Dialect::Criteria => Ok(self.criteria_cancel()?.found),
            Dialect::Task => {
                // The agent's own list has no word for it: afterwards there is nothing to see.
                let view = self.task_view()?;
                self.task_change(&TaskChange::Cancel)?;
                Ok(LoopView {
                    state: LoopState::Aborted,
                    outcome: Some(Outcome::Cancelled),
                    why: Some(BY_PERSON.into()),
                    next: WhoActs::Nobody,
                    paused_until: None,
                    ..view
                })
            }
        }
    }

    /// A person lets the agent stop until the loop is resumed.
    pub fn pause(&self) -> Result<LoopView, Failure> {
        match self.request.dialect {
            Dialect::Idle | Dialect::Features | Dialect::RalphLoop => {
                self.refuse_over("paused")?;
                let mut held = self.hold_loop()?;
                held.memory.notes.insert(PAUSED.into(), self.now.unix_millis().into());
                held.save();
                drop(held);
                self.view_loop()
            }
            Dialect::Criteria => Ok(self.criteria_pause()?.found),
            Dialect::Task => {
                self.task_change(&TaskChange::Pause { why: "a person paused it".into() })?;
                self.task_view()
            }
        }
    }

    /// A person lets the loop go on.
    pub fn resume(&self) -> Result<LoopView, Failure> {
        match self.request.dialect {
            Dialect::Idle => {
                if self.unpause()? {
                    self.idle_view()
                } else {
                    self.idle_resume()
                }
            }
            Dialect::Features | Dialect::RalphLoop => {
                self.refuse_over("resumed")?;
                self.unpause()?;
                self.view_loop()
            }
            Dialect::Criteria => Ok(self.criteria_resume()?.found),
            Dialect::Task => {
                self.task_change(&TaskChange::Resume { max_iterations: None, budget: None })?;
                self.task_view()
            }
        }
    }

    /// Ends every loop that some file keeps in `directory` or that `trails` know of.
    pub fn cancel_everywhere(
        settings: Settings,
        stores: Stores,
        places: &[(Dialect, PathBuf)],
    ) -> Result<Vec<LoopView>, Failure> {
        let mut ended = Vec::new();
        for (dialect, directory) in places {
            let desk = Self::bare(settings, stores, *dialect, directory)?;
            if desk.is_running()? {
                ended.push(desk.cancel()?);
            }
        }
        Ok(ended)
    }

    /// The dialects whose loops run in `directory`.
    pub fn running_in(
        settings: Settings,
        stores: Stores,
        directory: &Path,
    ) -> Result<Vec<Dialect>, Failure> {
        let mut running = Vec::new();
        for dialect in Dialect::ALL {
            if Self::bare(settings, stores, dialect, directory)?.is_running()? {
                running.push(dialect);
            }
        }
        Ok(running)
    }

    /// Whether a loop of this format runs here; a file that can't be read holds nobody.
    fn is_running(&self) -> Result<bool, Failure> {
        match self.view_loop() {
            Ok(view) => Ok(view.outcome.is_none()),
            Err(failure)
                if matches!(
                    failure.kind,
                    FailureKind::NoLoop | FailureKind::Usage | FailureKind::Fault
                ) =>
            {
                Ok(false)
            }
            Err(failure) => Err(failure),
        }
    }

    fn bare(
        settings: Settings,
        stores: Stores,
        dialect: Dialect,
        directory: &Path,
    ) -> Result<Self, Failure> {
        let request = DialectRequest { dialect, task_file: None, form: OkForm::Full };
        Self::new(settings, stores, request, directory.into())
    }

    fn refuse_over(&self, wish: &str) -> Result<(), Failure> {
        match self.view_loop()?.outcome {
            None => Ok(()),
            Some(outcome) => {
                Err(Failure::usage(format!("the loop is over ({outcome}) and can't be {wish}")))
            }
        }
    }

    /// Whether the loop was paused, and no longer is.
    fn unpause(&self) -> Result<bool, Failure> {
        let mut held = self.hold_loop()?;
        let was_paused = held.memory.notes.remove(PAUSED).is_some();
        held.save();
        Ok(was_paused)
    }

    /// Takes the file of a loop in hand whose format has no word for a pause.
    fn hold_loop(&self) -> Result<Held<'_>, Failure> {
        // What the trail is called in a view is the name of the run; asked before the file is
        // locked, for looking at it takes the lock, too.
        let run = self.view_loop()?.id;
        let mut held = match self.request.dialect {
            Dialect::Idle => self.idle_hold()?,
            Dialect::RalphLoop => self.hold(Path::new(ralph::FILE))?,
            Dialect::Features | Dialect::Criteria | Dialect::Task => {
                self.hold(&features::progress_file(self))?
            }
        };
        held.meet(&run);
        Ok(held)
    }

    /// The file that a loop in this format is remembered by; nothing where there is no loop.
    pub(crate) fn state_file(&self) -> Result<Option<PathBuf>, Failure> {
        Ok(match self.request.dialect {
            Dialect::Features => Some(features::progress_file(self)),
            Dialect::Task => super::task::record_file(self)?,
            Dialect::Idle | Dialect::Criteria | Dialect::RalphLoop => None,
        })
    }

    /// A person ends the loop over features.
    fn features_cancel(&self) -> Result<LoopView, Failure> {
        let path = features::progress_file(self);
        let mut held = self.hold(&path)?;
        let text = held.read()?.ok_or_else(|| {
            Failure::no_loop(format!("there is no {}", path.display()))
                .hint("begin a loop: stopgate features init")
        })?;
        held.write(&path, &ended(&text, ProgressStanding::Cancelled))?;
        held.over(Outcome::Cancelled, BY_PERSON);
        drop(held);
        self.features_view()
    }
}

impl Held<'_> {
    /// Notes that somebody paused the loop in hand.
    pub(super) fn note_pause(&mut self) {
        let since = self.desk.now.unix_millis();
        self.memory.notes.insert(PAUSED.into(), since.into());
        self.save();
    }

    /// Notes that somebody let the loop in hand go on.
    pub(super) fn note_resume(&mut self) {
        self.memory.notes.remove(PAUSED);
        self.save();
    }

    /// Whether a person paused the loop that is called `run`.
    pub(super) fn is_paused(&self, run: &str) -> bool {
        self.paused_since(run).is_some()
    }

    /// The phase of the loop that a sheet describes, for those who only look.
    pub(super) fn phase_of(&self, sheet: &Sheet) -> Phase {
        match (&sheet.phase, self.paused_since(&sheet.run)) {
            (Phase::Ended { .. }, _) | (_, None) => sheet.phase.clone(),
            (_, Some(since)) => Phase::Paused { rest: Rest::Resume, since },
        }
    }

    fn paused_since(&self, run: &str) -> Option<Timestamp> {
        let since = self.memory.notes.get(PAUSED).filter(|_| self.memory.run == run)?;
        since.as_i64().map(Timestamp::from_unix_millis)
    }
}

/// The directory in which a format's loop is kept: where the call is, above it up to the
/// project's root, or in `fallback`; where it is nowhere, the call's.
pub(super) fn directory_of(
    request: &DialectRequest,
    settings: Settings,
    directory: PathBuf,
    fallback: Option<PathBuf>,
) -> PathBuf {
    let file = match request.dialect {
        Dialect::Idle => PathBuf::from(idle::FILE),
        Dialect::RalphLoop => PathBuf::from(ralph::FILE),
        Dialect::Criteria => PathBuf::from(criteria::FILE),
        Dialect::Features => {
            let own = settings.features_directory();
            own.unwrap_or_else(|| features::DIRECTORY.into()).join("feature_list.json")
        }
        // Its record is named, or in the client's home.
        Dialect::Task => match &request.task_file {
            Some(file) if file.is_relative() => file.clone(),
            Some(_) | None => return directory,
        },
    };
    let has = |directory: &Path| {
        let stored = request.dialect == Dialect::Idle && Store::is_in(directory);
        stored || directory.join(&file).exists()
    };
    let root = project_of(&directory);
    let above = directory.ancestors().take_while(|directory| directory.starts_with(&root));
    let found = above.map(Path::to_path_buf).find(|directory| has(directory));
    let fallback = || fallback.filter(|client| has(client));
    found.or_else(fallback).unwrap_or(directory)
}
