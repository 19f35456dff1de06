//! The file's form. What it does not know it refuses: a limit that is misspelt limits nothing.

use std::collections::BTreeMap;

use serde::Deserialize;
use stopgate_core::{
    Author, CoverageFormat, Criterion, Floor, GitDemand, JudgesAre, PatternSubject, ProjectSource,
    Proof, Reuse, Site, Strength, Terms, Visibility, Weight,
};
use toml::Spanned;

use super::{AtStart, CriterionDraft, ProjectFile};
use crate::limits::{LoopWire, RequestedLimits};
use crate::span::{bytes, span_ms};
use crate::toml_place::{located, position};

const CRITERIA_MAX: usize = 64;
const TIMEOUT_MS: u64 = 5 * 60_000;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileWire {
    #[serde(rename = "loop")]
    limits: Option<Spanned<LoopWire>>,
    proof: ProofWire,
    criterion: Vec<Spanned<CriterionWire>>,
    gates: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ProofWire {
    jobs: Option<u32>,
    roots: Vec<String>,
    strength: Option<Strength>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own")]
struct CriterionWire {
    name: String,
    run: Option<Vec<String>>,
    shell: Option<String>,
    files: Option<FilesWire>,
    pattern: Option<PatternWire>,
    coverage: Option<CoverageWire>,
    features: Option<String>,
    git: Option<Vec<GitWire>>,
    review: Option<ReviewWire>,
    attest: Option<AttestWire>,
    timeout: Option<String>,
    advisory: bool,
    visibility: Visibility,
    retries: u32,
    cwd: Option<String>,
    inputs: Vec<String>,
    protect: Vec<String>,
    reuse: Option<bool>,
    baseline: bool,
    count_tests: bool,
    pristine: bool,
    env: BTreeMap<String, String>,
    pass_env: Vec<String>,
    version: Vec<String>,
    memory: Option<String>,
    cpu: Option<String>,
    strength: Option<Strength>,
    red_first: bool,
    judges: JudgesAre,
    may_change: Vec<String>,
    network: bool,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FilesWire {
    exist: Vec<String>,
    absent: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PatternWire {
    file: Option<String>,
    message: bool,
    must: Patterns,
    must_not: Patterns,
}

/// One expression or several.
#[derive(Default, Deserialize)]
#[serde(untagged)]
enum Patterns {
    #[default]
    None,
    One(String),
    Several(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CoverageWire {
    report: String,
    format: Option<CoverageFormat>,
    lines: Option<f64>,
    branches: Option<f64>,
    functions: Option<f64>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum GitWire {
    Clean,
    Pushed,
    NoConflicts,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReviewWire {
    agent: String,
    #[serde(default)]
    ask: String,
    model: Option<String>,
    #[serde(default)]
    required: bool,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AttestWire {
    Agent,
    Person,
}

/// Reads the whole file; its source is filled in by the caller, which knows where it is.
pub(super) fn parse(text: &str) -> Result<ProjectFile, String> {
    let wire: FileWire = toml::from_str(text).map_err(|error| located(text, &error))?;
    if wire.criterion.len() > CRITERIA_MAX {
        return Err(format!("more than {CRITERIA_MAX} criteria"));
    }
    let mut criteria: Vec<CriterionDraft> = Vec::new();
    for criterion in wire.criterion {
        let begins = criterion.span().start;
        let criterion = criterion.into_inner();
        let name = criterion.name.trim().to_string();
        let place = if name.is_empty() { String::new() } else { format!(" \"{name}\"") };
        let mut draft = draft(&name, criterion)
            .map_err(|why| format!("{}: criterion{place}: {why}", position(text, begins)))?;
        if draft.criterion.command().is_some() {
            let terms = &mut draft.criterion.terms;
            terms.strength = terms.strength.or(wire.proof.strength);
        }
        if criteria.iter().any(|earlier| earlier.criterion.name == draft.criterion.name) {
            let name = &draft.criterion.name;
            let place = position(text, begins);
            return Err(format!("{place}: two criteria are called \"{name}\""));
        }
        criteria.push(draft);
    }
    // A gate is asked at every stop, so no command of a project's file may be one.
    if let Some(gate) =
        wire.gates.iter().flatten().find(|gate| crate::judging::gates::has_command(gate))
    {
        return Err(format!("gates: `{gate}` runs a command; give that with start --gate"));
    }
    let limits = RequestedLimits::at(text, wire.limits.as_ref())?;
    let source = ProjectSource { path: String::new(), content: String::new(), accepted: None };
    Ok(ProjectFile {
        source,
        limits,
        criteria,
        roots: wire.proof.roots,
        jobs: wire.proof.jobs.unwrap_or(0),
        gates: wire.gates,
    })
}

fn draft(name: &str, mut wire: CriterionWire) -> Result<CriterionDraft, String> {
    if name.is_empty() {
        return Err("it needs a name".into());
    }
    let timeout_ms = wire.timeout.as_deref().map_or(Ok(TIMEOUT_MS), span_ms)?;
    // An opinion is only told, unless the file says that the loop can't do without it.
    let is_opinion = wire.review.as_ref().is_some_and(|review| !review.required);
    wire.advisory |= is_opinion;
    let proof = proof(&mut wire, timeout_ms)?;
    let mut criterion = Criterion::new(name, proof);
    only_for_commands(&wire, &criterion)?;
    criterion.weight = if wire.advisory { Weight::Advisory } else { Weight::Required };
    criterion.visibility = wire.visibility;
    let start = match (wire.baseline, wire.count_tests) {
        (true, _) => AtStart::Baseline,
        (false, true) => AtStart::Count,
        (false, false) => AtStart::Rest,
    };
    criterion.terms = terms(wire)?;
    Ok(CriterionDraft { criterion, start })
}

/// Exactly one kind, so that nobody wonders which of two counts.
fn proof(wire: &mut CriterionWire, timeout_ms: u64) -> Result<Proof, String> {
    let mut kinds: Vec<Proof> = Vec::new();
    if let Some(argv) = wire.run.take() {
        if argv.first().is_none_or(|program| program.trim().is_empty()) {
            return Err("`run` names no program".into());
        }
        kinds.push(Proof::Run { argv, timeout_ms });
    }
    if let Some(command) = wire.shell.take() {
        if command.trim().is_empty() {
            return Err("`shell` is empty".into());
        }
        kinds.push(Proof::Check { command, timeout_ms });
    }
    if let Some(FilesWire { exist, absent }) = wire.files.take() {
        if exist.is_empty() && absent.is_empty() {
            return Err("`files` asks for nothing: give it `exist` or `absent`".into());
        }
        kinds.push(Proof::Files { exist, absent });
    }
    kinds.extend(wire.pattern.take().map(pattern).transpose()?);
    kinds.extend(wire.coverage.take().map(coverage).transpose()?);
    kinds.extend(wire.features.take().map(|list| Proof::Features { list }));
    kinds.extend(wire.git.take().map(git).transpose()?);
    kinds.extend(wire.review.take().map(|wire| review(wire, timeout_ms)).transpose()?);
    kinds.extend(wire.attest.take().map(|by| match by {
        AttestWire::Agent => Proof::Attest,
        AttestWire::Person => Proof::Approve,
    }));
    let wanted =
        "give it one of run, shell, files, pattern, coverage, features, git, review, attest";
    match (kinds.pop(), kinds.is_empty()) {
        (Some(proof), true) => Ok(proof),
        (Some(_), false) => Err(format!("it has several kinds: {wanted}")),
        (None, _) => Err(format!("it proves nothing: {wanted}")),
    }
}

fn review(wire: ReviewWire, timeout_ms: u64) -> Result<Proof, String> {
    let ReviewWire { agent, ask, model, required: _ } = wire;
    crate::judging::reviewing::refuse_reviewer(&agent)?;
    Ok(Proof::Review { agent, ask, model, timeout_ms })
}

fn pattern(wire: PatternWire) -> Result<Proof, String> {
    let subject = match (wire.file, wire.message) {
        (Some(file), false) => PatternSubject::File(file),
        (None, true) => PatternSubject::Message,
        (Some(_), true) | (None, false) => {
            return Err("`pattern` looks at one text: `file = \"…\"` or `message = true`".into());
        }
    };
    let (must, must_not) = (wire.must.list(), wire.must_not.list());
    if must.is_empty() && must_not.is_empty() {
        return Err("`pattern` asks for nothing: give it `must` or `must_not`".into());
    }
    Ok(Proof::Pattern { subject, must, must_not })
}

fn coverage(wire: CoverageWire) -> Result<Proof, String> {
    let floor = Floor {
        lines: wire.lines.map(hundredths).transpose()?,
        branches: wire.branches.map(hundredths).transpose()?,
        functions: wire.functions.map(hundredths).transpose()?,
    };
    if floor == Floor::default() {
        return Err(
            "`coverage` asks for nothing: give it `lines`, `branches` or `functions`".into()
        );
    }
    Ok(Proof::Coverage { report: wire.report, format: wire.format, floor })
}

fn git(wire: Vec<GitWire>) -> Result<Proof, String> {
    if wire.is_empty() {
        return Err("`git` asks for nothing: give it clean, pushed or no-conflicts".into());
    }
    let demand = |wire| match wire {
        GitWire::Clean => GitDemand::Clean,
        GitWire::Pushed => GitDemand::Pushed,
        GitWire::NoConflicts => GitDemand::NoConflicts,
    };
    Ok(Proof::Git { demands: wire.into_iter().map(demand).collect() })
}

/// Percent, as people write them, in hundredths.
fn hundredths(percent: f64) -> Result<u32, String> {
    if !(0.0..=100.0).contains(&percent) {
        return Err(format!("{percent} is not a percentage"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is 0 to 10000")]
    Ok((percent * 100.0).round() as u32)
}

/// A key that would have no effect is refused.
fn only_for_commands(wire: &CriterionWire, criterion: &Criterion) -> Result<(), String> {
    if criterion.command().is_some() {
        return Ok(());
    }
    let keys = [
        ("timeout", wire.timeout.is_some() && !criterion.is_review()),
        ("retries", wire.retries > 0),
        ("baseline", wire.baseline),
        ("count_tests", wire.count_tests),
        ("pristine", wire.pristine),
        ("env", !wire.env.is_empty()),
        ("pass_env", !wire.pass_env.is_empty()),
        ("version", !wire.version.is_empty()),
        ("memory", wire.memory.is_some()),
        ("cpu", wire.cpu.is_some()),
        ("reuse", wire.reuse.is_some()),
        ("inputs", !wire.inputs.is_empty()),
        ("strength", wire.strength.is_some()),
        ("red_first", wire.red_first),
        ("network", wire.network),
    ];
    let misplaced = keys.into_iter().find_map(|(key, is_set)| is_set.then_some(key));
    misplaced.map_or(Ok(()), |key| {
        Err(format!(
            "`{key}` is for checks that run something, and this one is `{}`",
            criterion.proof.word()
        ))
    })
}

fn terms(wire: CriterionWire) -> Result<Terms, String> {
    if wire.pristine && wire.protect.is_empty() {
        return Err("`pristine` restores protected files: say which with `protect`".into());
    }
    if wire.network && wire.strength != Some(Strength::Hermetic) {
        return Err("`network` is for `strength = \"hermetic\"`".into());
    }
    for name in &wire.pass_env {
        if !stopgate_verify::may_pass(name) {
            return Err(format!(
                "`pass_env` can't name {name}: a client's keys and whatever looks like a secret \
                 are passed on by your own config.toml only ([proof] pass_env)"
            ));
        }
    }
    Ok(Terms {
        retries: wire.retries,
        cwd: wire.cwd,
        inputs: wire.inputs,
        protect: wire.protect,
        reuse: if wire.reuse == Some(false) { Reuse::Never } else { Reuse::WhileUnchanged },
        site: if wire.pristine { Site::Pristine } else { Site::Tree },
        link: Vec::new(),
        set: wire.env.into_iter().collect(),
        pass: wire.pass_env,
        version: wire.version,
        memory_bytes: wire.memory.as_deref().map(bytes).transpose()?,
        cpu_seconds: wire.cpu.as_deref().map(span_ms).transpose()?.map(|ms| ms.div_ceil(1000)),
        baseline: None,
        author: Author::Project,
        judges: wire.judges,
        may_change: wire.may_change,
        strength: wire.strength,
        red_first: wire.red_first,
        network: wire.network,
    })
}

impl Patterns {
    fn list(self) -> Vec<String> {
        match self {
            Self::None => Vec::new(),
            Self::One(one) => vec![one],
            Self::Several(several) => several,
        }
    }
}
