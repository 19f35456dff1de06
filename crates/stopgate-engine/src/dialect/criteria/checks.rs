//! Commands behind criteria: run by `iterate`, by `complete` and at the stop.
//!
//! A repository may carry the file, so nothing of it runs before a person trusts exactly these
//! commands. No lock is held while they run: what they showed is written afterwards.

use std::time::Duration;

use serde_json::json;
use stopgate_core::{LoopId, ProjectSource, Status, clean};
use stopgate_dialects::criteria::CriteriaRecord;
use stopgate_verify::{
    Check, CheckCommand, ChecksRun, CompiledPython, RunLimits, Strangers, content_fingerprint,
};

use super::super::{DialectCall, audit, files};
use super::{file, sheet};
use crate::failure::Failure;
use crate::home::file_name;
use crate::project_file::Grant;
use crate::trust::{CommandView, Trust, TrustView};
use crate::watchdog;

const TIMEOUT: Duration = Duration::from_mins(5);
const BUDGET: Duration = Duration::from_mins(20);

/// What came of the commands of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Checked {
    /// There are none.
    Nothing,
    /// Nobody trusts them, so none ran.
    Untrusted,
    /// Which criteria hold.
    Ran(Vec<(String, bool)>),
}

impl DialectCall {
    /// Runs the commands of a record, side by side, if a person trusts them.
    pub(super) fn criteria_run(&self, record: &CriteriaRecord) -> Result<Checked, Failure> {
        if record.checks.is_empty() {
            return Ok(Checked::Nothing);
        }
        if !Trust::of(&self.home).has(&self.criteria_source(record)) {
            return Ok(Checked::Untrusted);
        }
        watchdog::allow(BUDGET);
        let run = LoopId::new(&sheet(self, record).run);
        let ran = audit::with_context(self, |context| {
            let logs = context.home.check_logs(&run);
            let check = |(name, command): &'_ (String, String)| {
                let log = logs.join(format!("{}.log", file_name(name)));
                (name.clone(), command.clone(), log)
            };
            let asked: Vec<_> = record.checks.iter().map(check).collect();
            let checks: Vec<Check<'_>> = asked
                .iter()
                .map(|(name, command, log)| Check {
                    timeout: TIMEOUT,
                    ..Check::new(
                        name,
                        CheckCommand::Shell(command),
                        self.directory.clone(),
                        log.clone(),
                    )
                })
                .collect();
            let pass = context.passed_variables();
            let limits = RunLimits {
                budget: BUDGET,
                jobs: 2,
                pass: &pass,
                strangers: Strangers::End,
                compiled: CompiledPython::Anew,
            };
            Ok(context.world.run(&checks, limits))
        });
        watchdog::allow(Duration::ZERO);
        match ran? {
            ChecksRun::Runs(runs) => Ok(Checked::Ran(
                runs.into_iter()
                    .map(|run| (run.receipt.criterion.clone(), run.receipt.status == Status::Pass))
                    .collect(),
            )),
            ChecksRun::Interrupted => Err(Failure::interrupted("the checks were ended")),
        }
    }

    /// The commands of the loop here, and whether a person trusts them.
    pub fn criteria_trust_view(&self) -> Result<TrustView, Failure> {
        let text = files::read(&file(self))?.ok_or_else(|| self.criteria_missing())?;
        let record = CriteriaRecord::read(&text).map_err(|error| {
            Failure::fault(format!("could not use {}", file(self).display())).because(error)
        })?;
        let source = self.criteria_source(&record);
        let command = |(criterion, command): &(String, String)| CommandView {
            criterion: criterion.clone(),
            command: command.clone(),
        };
        let grant = |(criterion, command): &(String, String)| Grant {
            kind: "command",
            criterion: Some(criterion.clone()),
            what: clean(command),
        };
        Ok(TrustView {
            commands: record.checks.iter().map(command).collect(),
            allows: record.checks.iter().map(grant).collect(),
            trusted: Trust::of(&self.home).has(&source),
            path: source.path,
            content: source.content,
        })
    }

    /// A person who begins a loop with commands trusts them; an agent's word is not enough.
    pub(super) fn criteria_trust_own(&self, record: &CriteriaRecord) -> Result<(), Failure> {
        if record.checks.is_empty() || self.settings.is_agents_shell() {
            return Ok(());
        }
        Trust::of(&self.home).add(&self.criteria_source(record))
    }

    /// The commands alone: counters and marks change at every stop.
    fn criteria_source(&self, record: &CriteriaRecord) -> ProjectSource {
        let commands = json!(record.checks).to_string();
        ProjectSource {
            path: files::canonical(&file(self)).display().to_string(),
            content: content_fingerprint(commands.as_bytes()),
            accepted: None,
        }
    }
}
