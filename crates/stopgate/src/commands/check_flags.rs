//! Flags about checks that are given by command, and the criteria that they make.

use std::path::{Path, PathBuf};

use stopgate_core::{Criterion, Proof, Weight};
use stopgate_engine::{AtStart, CriterionDraft, Failure, project_of};
use stopgate_system::CanonicalPath;

use super::common;

/// What was said about checks.
#[derive(Debug)]
pub(crate) struct CheckFlags {
    pub(crate) check: Vec<(String, String)>,
    pub(crate) protect: Vec<String>,
    pub(crate) may_change: Vec<String>,
    pub(crate) pass_env: Vec<String>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) check_timeout: i64,
    pub(crate) start: AtStart,
}

impl Default for CheckFlags {
    fn default() -> Self {
        Self {
            check: Vec::new(),
            protect: Vec::new(),
            may_change: Vec::new(),
            pass_env: Vec::new(),
            cwd: None,
            check_timeout: 0,
            start: AtStart::Rest,
        }
    }
}

/// The criteria that the flags ask for: checks, then what is attested.
pub(crate) fn drafts(
    flags: CheckFlags,
    attested: Vec<String>,
) -> Result<Vec<CriterionDraft>, Failure> {
    refuse_idle_flags(&flags)?;
    let cwd = check_directory(flags.cwd.as_deref(), &flags.check)?;
    let timeout_ms = flags.check_timeout.unsigned_abs();
    let check = |(name, command): (String, String)| {
        let mut criterion = Criterion::new(&name, Proof::Check { command, timeout_ms });
        criterion.terms.protect.clone_from(&flags.protect);
        criterion.terms.may_change.clone_from(&flags.may_change);
        criterion.terms.pass.clone_from(&flags.pass_env);
        criterion.terms.cwd.clone_from(&cwd);
        CriterionDraft { criterion, start: flags.start }
    };
    let checks: Vec<CriterionDraft> = flags.check.into_iter().map(check).collect();
    let attest = |name: String| CriterionDraft::at_rest(Criterion::new(&name, Proof::Attest));
    Ok(checks.into_iter().chain(attested.into_iter().map(attest)).collect())
}

/// A flag that would have no effect is refused.
fn refuse_idle_flags(flags: &CheckFlags) -> Result<(), Failure> {
    if !flags.check.is_empty() {
        return Ok(());
    }
    let given = [
        ("--protect", !flags.protect.is_empty()),
        ("--may-change", !flags.may_change.is_empty()),
        ("--baseline", flags.start == AtStart::Baseline),
        ("--cwd", flags.cwd.is_some()),
        ("--pass-env", !flags.pass_env.is_empty()),
    ];
    let idle = given.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag));
    idle.map_or(Ok(()), |flag| {
        Err(Failure::usage(format!("{flag} needs a check: add --check NAME=COMMAND")))
    })
}

/// Where checks run, relative to the project's root; `None` is the root itself.
fn check_directory(
    cwd: Option<&Path>,
    checks: &[(String, String)],
) -> Result<Option<String>, Failure> {
    if checks.is_empty() {
        return Ok(None);
    }
    let here = common::directory()?;
    let root = project_of(&here);
    // A command means what it means where it is typed.
    let cwd = cwd.unwrap_or(Path::new("."));
    let wrong = |why: &str| Failure::usage(format!("--cwd {}: {why}", cwd.display()));
    let real = here.join(cwd).canonical().map_err(|error| wrong("can't be used").because(error))?;
    if !real.is_dir() {
        return Err(wrong("is not a directory"));
    }
    let below = real.strip_prefix(&root).map_err(|_| wrong("is outside the project"))?;
    Ok((!below.as_os_str().is_empty()).then(|| below.display().to_string()))
}

/// How long a reviewer may take that was named on the command line.
const REVIEW_MS: u64 = 5 * 60_000;

/// A reviewer as people write it: `AGENT`, or `AGENT=ASK`.
pub(crate) fn reviewer(text: &str) -> Result<(String, String), String> {
    let (agent, ask) = text.split_once('=').unwrap_or((text, ""));
    stopgate_engine::refuse_reviewer(agent.trim())?;
    Ok((agent.trim().into(), ask.trim().into()))
}

/// The criterion that asks another agent.
pub(crate) fn opinion((agent, ask): (String, String), weight: Weight) -> CriterionDraft {
    let name = format!("review by {agent}");
    let proof = Proof::Review { agent, ask, model: None, timeout_ms: REVIEW_MS };
    let mut criterion = Criterion::new(&name, proof);
    criterion.weight = weight;
    CriterionDraft::at_rest(criterion)
}

/// A check as people write it: `NAME=COMMAND`.
pub(crate) fn named_command(text: &str) -> Result<(String, String), String> {
    let (name, command) =
        text.split_once('=').ok_or("write it as NAME=COMMAND, for example tests='cargo test'")?;
    let (name, command) = (name.trim(), command.trim());
    if name.is_empty() || command.is_empty() {
        return Err("neither the name nor the command may be empty".into());
    }
    Ok((name.into(), command.into()))
}
