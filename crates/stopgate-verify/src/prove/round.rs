//! One look at everything in the work tree as it is: what is reused, what is run, and what was
//! touched meanwhile.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use stopgate_core::{
    Criterion, Evidence, Kept, ProofCommand, Receipt, Reuse, Standing, Status, Timestamp, ToolUse,
};

use super::found::look_at;
use super::settling::SettlingReports;
use super::{Files, Freshness, ProofRequest, SETTLE, is_later, passes, reading};
use crate::basis::Basis;
use crate::builds::BuildOutputs;
use crate::bytecode::CompiledPython;
use crate::check::{Check, CheckCommand, ChecksRun, OutputWanted, Run, RunLimits, run};
use crate::env::{Variable, every_go_test, kept_variables};
use crate::place::Launch;
use crate::program::command_fingerprint;
use crate::tree::{TouchedFiles, Tree, TreeScope, fingerprint};

/// Checks that build in the same tree get in each other's way, so one runs at a time unless asked.
const JOBS: usize = 1;
const TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// One look at everything.
pub(super) struct Round<'a> {
    request: &'a ProofRequest<'a>,
    basis: Option<&'a Basis>,
    freshness: Freshness,
    budget: Duration,
    /// The tree as it was before, by what is looked at.
    trees: BTreeMap<&'a [String], Option<Tree>>,
}

/// What a look came to.
pub(super) struct Looked {
    pub(super) receipts: Vec<Receipt>,
    /// Whether an earlier pass is among them.
    pub(super) reused: bool,
    /// What was touched while the checks ran, beyond what they write themselves.
    pub(super) touched: TouchedFiles,
    /// The tree afterwards; nothing where files can't be told apart.
    pub(super) tree: Option<Tree>,
    /// How many files differ from the look before this one.
    pub(super) changed: Option<u32>,
    /// When the checks began to run.
    pub(super) begun: SystemTime,
}

/// A criterion's command, and where it is run.
#[derive(Clone, Copy)]
pub(super) struct CommandRun<'a> {
    pub(super) criterion: &'a Criterion,
    /// What is spawned instead of the command itself, apart from the work tree.
    pub(super) launch: Option<&'a Launch>,
    /// The variables it sees, where they differ from those of the start.
    pub(super) noted: Option<&'a [Variable]>,
}

impl<'a> CommandRun<'a> {
    const fn in_tree(criterion: &'a Criterion) -> Self {
        Self { criterion, launch: None, noted: None }
    }
}

/// What becomes of one criterion.
enum Plan {
    Told(Box<Receipt>),
    Run {
        command: String,
    },
    Look,
    /// There is no time for it now.
    Later,
}

impl<'a> Round<'a> {
    pub(super) fn new(
        request: &'a ProofRequest<'a>,
        basis: Option<&'a Basis>,
        freshness: Freshness,
        budget: Duration,
    ) -> Self {
        Self { request, basis, freshness, budget, trees: BTreeMap::new() }
    }

    /// Nothing where the program was asked to end meanwhile.
    pub(super) fn look(mut self, now: &dyn Fn() -> Timestamp) -> Option<Looked> {
        let checked: Vec<&'a Criterion> =
            self.request.criteria.iter().filter(|criterion| criterion.is_checked()).collect();
        let whole: &'a [String] = &[];
        self.tree_hash(whole);
        let plans: Vec<Plan> = checked.iter().map(|criterion| self.plan(criterion)).collect();
        let ran = plans.iter().any(|plan| matches!(plan, Plan::Run { .. }));
        let begun = begun_at(now());
        let mut receipts = self.carry_out(&checked, plans, begun, now)?;
        let all_pass = passes(self.request, &receipts);
        if all_pass {
            let reports = SettlingReports::of(&checked, self.request.root);
            std::thread::sleep(SETTLE);
            reports.doubt(&mut receipts);
        }
        let is_pass = |receipt: &Receipt| receipt.status == Status::Pass;
        let reused = receipts.iter().any(|receipt| is_pass(receipt) && receipt.evidence.reused);
        let before = self.trees.get(whole).and_then(Option::as_ref).and_then(Tree::changed);
        let changed = before.map(|files| u32::try_from(files).unwrap_or(u32::MAX));
        let touched = TouchedFiles::default();
        let mut looked = Looked { receipts, reused, touched, tree: None, changed, begun };
        if ran || all_pass {
            looked.tree = tree_of(self.request, &[]);
            looked.touched = self.touched(looked.tree.as_ref());
            self.forget_moved(&mut looked);
        }
        Some(looked)
    }

    fn plan(&mut self, criterion: &'a Criterion) -> Plan {
        if criterion.command().is_none() {
            return Plan::Look;
        }
        let tree = self.tree_hash(criterion.terms.inputs.as_slice());
        let command = command_fingerprint(self.request.root, criterion);
        match self.reused(criterion, tree.as_deref(), &command) {
            Some(receipt) => Plan::Told(Box::new(receipt)),
            None if is_later(self.request, criterion) => Plan::Later,
            None => Plan::Run { command },
        }
    }

    /// The tree that these patterns name, looked at once.
    fn tree_hash(&mut self, inputs: &'a [String]) -> Option<String> {
        let request = self.request;
        let tree = self.trees.entry(inputs).or_insert_with(|| tree_of(request, inputs));
        tree.as_ref().map(|tree| tree.hash().to_string())
    }

    /// What was touched since the look began, beyond what the checks write themselves.
    fn touched(&self, after: Option<&Tree>) -> TouchedFiles {
        let before = self.trees.get(&[][..]).and_then(Option::as_ref);
        let (Some(before), Some(after)) = (before, after) else { return TouchedFiles::default() };
        let mut touched = after.touched_since(before);
        let outputs = self.outputs();
        touched.files.retain(|path| !outputs.contains(path));
        touched
    }

    fn outputs(&self) -> Vec<PathBuf> {
        let Some(basis) = self.basis else { return Vec::new() };
        let names = self.request.criteria.iter().map(|criterion| criterion.name.as_str());
        names.flat_map(|name| basis.outputs(name)).collect()
    }

    /// A receipt for files that changed meanwhile is never used again.
    fn forget_moved(&self, looked: &mut Looked) {
        let moved = self.trees.iter().any(|(inputs, before)| {
            let after =
                if inputs.is_empty() { looked.tree.clone() } else { tree_of(self.request, inputs) };
            before.as_ref().map(Tree::hash) != after.as_ref().map(Tree::hash)
        });
        if moved {
            for receipt in &mut looked.receipts {
                receipt.evidence.tree = None;
            }
        }
    }

    /// An earlier receipt for this very tree and this very check.
    fn reused(&self, criterion: &Criterion, tree: Option<&str>, command: &str) -> Option<Receipt> {
        let Freshness::Reuse(tools) = self.freshness else { return None };
        let standing = criterion.last.as_ref()?;
        let kept = standing.kept.as_ref()?;
        let same = kept.evidence.tree.as_deref() == Some(tree?)
            && kept.evidence.command.as_deref() == Some(command);
        // What failed may depend on more than files, and the agent may have changed that.
        let stands = match standing.status {
            Status::Pass => true,
            Status::Fail => tools != ToolUse::Used || !criterion.terms.inputs.is_empty(),
            Status::NeedsApproval => tools == ToolUse::None,
            Status::Error | Status::Timeout | Status::Tampered => false,
        };
        let reusable = criterion.terms.reuse == Reuse::WhileUnchanged;
        (same && stands && reusable).then(|| again(criterion, standing, kept))
    }

    /// Runs what must be run, the cheapest first, then looks at the rest.
    fn carry_out(
        &self,
        criteria: &[&Criterion],
        plans: Vec<Plan>,
        begun: SystemTime,
        now: &dyn Fn() -> Timestamp,
    ) -> Option<Vec<Receipt>> {
        let mut due: Vec<(usize, &Criterion)> = Vec::new();
        for (at, (plan, criterion)) in plans.iter().zip(criteria).enumerate() {
            if matches!(plan, Plan::Run { .. }) {
                due.push((at, criterion));
            }
        }
        due.sort_by_key(|(at, criterion)| (usual_ms(criterion), *at));
        let commands: Vec<CommandRun<'_>> =
            due.iter().map(|(_, criterion)| CommandRun::in_tree(criterion)).collect();
        let mut runs: BTreeMap<usize, Run> = BTreeMap::new();
        for ((at, _), run) in due.iter().zip(self.run(&commands, "", now)?) {
            runs.insert(*at, run);
        }
        let wrote = (!runs.is_empty()).then_some(begun);
        let receipt = |(at, (plan, criterion)): (usize, (Plan, &&Criterion))| match plan {
            Plan::Told(receipt) => Some(*receipt),
            Plan::Look => Some(self.found(criterion, wrote, now)),
            Plan::Later => None,
            Plan::Run { command } => {
                let mut receipt = reading::read(criterion, runs.remove(&at)?, self.request.root);
                receipt.evidence.command = Some(command);
                if self.builds(criterion, &[]) == BuildOutputs::Tree {
                    receipt.evidence.notes.push("build outputs: the tree's".into());
                }
                receipt.evidence.tree = self.hash_of(criterion);
                Some(receipt)
            }
        };
        Some(plans.into_iter().zip(criteria).enumerate().filter_map(receipt).collect())
    }

    /// Runs every command, whatever is known of it already.
    pub(super) fn run_all(
        &self,
        compiled: CompiledPython<'_>,
        now: &dyn Fn() -> Timestamp,
    ) -> Option<Vec<Run>> {
        let commands: Vec<CommandRun<'_>> =
            self.request.criteria.iter().map(CommandRun::in_tree).collect();
        self.run_with(&commands, "", compiled, now)
    }

    /// Runs commands, each in the work tree or in a place of its own; logs have `suffix` in
    /// their names.
    pub(super) fn run(
        &self,
        commands: &[CommandRun<'_>],
        suffix: &str,
        now: &dyn Fn() -> Timestamp,
    ) -> Option<Vec<Run>> {
        let objects = self.request.place.objects();
        let compiled = match self.basis.and_then(Basis::bytecode) {
            Some(name) => CompiledPython::Kept { name, objects: &objects },
            None => CompiledPython::Anew,
        };
        self.run_with(commands, suffix, compiled, now)
    }

    fn run_with(
        &self,
        commands: &[CommandRun<'_>],
        suffix: &str,
        compiled: CompiledPython<'_>,
        now: &dyn Fn() -> Timestamp,
    ) -> Option<Vec<Run>> {
        if commands.is_empty() {
            return Some(Vec::new());
        }
        let noted: Vec<Vec<Variable>> = commands.iter().map(|run| self.variables(run)).collect();
        let pairs = commands.iter().zip(&noted);
        let checks: Vec<Check<'_>> =
            pairs.map(|(command, noted)| self.check(command, noted, suffix)).collect();
        let jobs = usize::try_from(self.request.ground.jobs).unwrap_or(JOBS);
        let limits = RunLimits {
            budget: self.budget,
            jobs: if jobs == 0 { JOBS } else { jobs },
            pass: self.request.pass,
            strangers: self.request.strangers,
            compiled,
        };
        match run(&checks, limits, now) {
            ChecksRun::Runs(runs) => Some(runs),
            ChecksRun::Interrupted => None,
        }
    }

    /// The variables that a command sees: those of the start, and where it builds.
    fn variables(&self, run: &CommandRun<'_>) -> Vec<Variable> {
        let noted = run.noted.map(<[Variable]>::to_vec);
        let noted = noted.or_else(|| self.basis.map(Basis::variables));
        let mut noted = noted.unwrap_or_else(kept_variables);
        // Apart from the tree, what was built there is as good as a start.
        if run.launch.is_none() {
            noted.extend(self.builds(run.criterion, &noted).variable());
        }
        noted.extend(every_go_test(&run.criterion.command().unwrap_or_default(), &noted));
        noted
    }

    /// Where the outputs of a command are.
    fn builds(&self, criterion: &Criterion, variables: &[Variable]) -> BuildOutputs {
        let ProofRequest { root, place, .. } = self.request;
        BuildOutputs::of(criterion, root, &place.home, variables)
    }

    fn check<'c>(&self, run: &CommandRun<'c>, noted: &'c [Variable], suffix: &str) -> Check<'c> {
        let CommandRun { criterion, launch, .. } = *run;
        let (command, timeout_ms) = command_of(criterion);
        let terms = &criterion.terms;
        let directory = terms.cwd.as_ref().map(|cwd| self.request.root.join(cwd));
        let directory = directory.unwrap_or_else(|| self.request.root.into());
        let log = format!("{}{suffix}.log", crate::file_name(&criterion.name));
        Check {
            timeout: Duration::from_millis(timeout_ms),
            retries: terms.retries,
            set: &terms.set,
            pass: &terms.pass,
            memory_bytes: terms.memory_bytes,
            cpu_seconds: terms.cpu_seconds,
            version: &terms.version,
            whole: OutputWanted::Text { bytes_max: TEXT_BYTES_MAX },
            noted: Some(noted),
            ..Check::new(
                &criterion.name,
                launch.map_or(command, |launch| CheckCommand::Exact(&launch.argv)),
                launch.map_or(directory, |launch| launch.cwd.clone()),
                self.request.place.logs.join(log),
            )
        }
    }

    fn hash_of(&self, criterion: &Criterion) -> Option<String> {
        let tree = self.trees.get(criterion.terms.inputs.as_slice())?;
        tree.as_ref().map(|tree| tree.hash().to_string())
    }

    /// Kinds that need no command, looked at after the commands have run.
    fn found(
        &self,
        criterion: &Criterion,
        wrote: Option<SystemTime>,
        now: &dyn Fn() -> Timestamp,
    ) -> Receipt {
        let begun = now();
        let mut receipt = look_at(criterion, self.request, self.basis, wrote, begun);
        receipt.at = now();
        receipt.duration_ms = receipt.at.since(begun).unsigned_abs();
        receipt.evidence.command = Some(command_fingerprint(self.request.root, criterion));
        receipt.evidence.tree =
            self.trees.get(&[][..]).and_then(Option::as_ref).map(|tree| tree.hash().into());
        receipt
    }
}

/// What a criterion runs, and how long it may take.
pub(super) fn command_of(criterion: &Criterion) -> (CheckCommand<'_>, u64) {
    let command = match criterion.proof.command() {
        Some(ProofCommand::Shell(line)) => CheckCommand::Shell(line),
        Some(ProofCommand::Argv(argv)) => CheckCommand::Argv(argv),
        None => CheckCommand::Argv(&[]),
    };
    (command, criterion.timeout_ms())
}

/// The tree as it is now; nothing where it can't be told apart from others.
pub(super) fn tree_of(request: &ProofRequest<'_>, inputs: &[String]) -> Option<Tree> {
    if request.files == Files::TooMany && inputs.is_empty() {
        return None;
    }
    let scope = if inputs.is_empty() { TreeScope::Whole } else { TreeScope::Globs(inputs) };
    let mut roots: Vec<PathBuf> = vec![request.root.into()];
    roots.extend(request.ground.roots.iter().map(|root| request.root.join(root)));
    let roots: Vec<&Path> = roots.iter().map(PathBuf::as_path).collect();
    fingerprint(&roots, scope, &request.place.trees()).ok()
}

/// How long a check took when it was last run; one that never ran comes last.
fn usual_ms(criterion: &Criterion) -> u64 {
    criterion.last.as_ref().map_or(u64::MAX, |last| last.duration_ms)
}

/// A moment as files tell time.
fn begun_at(at: Timestamp) -> SystemTime {
    let millis = u64::try_from(at.unix_millis()).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::from_millis(millis)
}

pub(crate) fn told(
    criterion: &Criterion,
    status: Status,
    trouble: String,
    at: Timestamp,
) -> Receipt {
    Receipt { trouble: Some(trouble), ..Receipt::new(criterion.name.clone(), status, at) }
}

/// An earlier receipt, as it counts now.
pub(crate) fn again(criterion: &Criterion, standing: &Standing, kept: &Kept) -> Receipt {
    Receipt {
        criterion: criterion.name.clone(),
        status: standing.status,
        exit_code: standing.exit_code,
        duration_ms: standing.duration_ms,
        tail: kept.tail.clone(),
        output_bytes: kept.output_bytes,
        log: standing.log.clone(),
        trouble: kept.trouble.clone(),
        at: standing.at,
        evidence: Evidence { reused: true, ..kept.evidence.clone() },
    }
}

#[cfg(test)]
mod tests {
    use super::super::scene::Scene;
    use super::*;

    #[test]
    fn a_check_sees_the_variables_of_the_start() {
        let scene = Scene::new("sh tests/run.sh", &[("tests/run.sh", "exit 0\n")]);
        let (request, noted) = (scene.request(), [("PATH".into(), "/opt/noted".into())]);
        let round = Round::new(&request, None, Freshness::Fresh, request.budget);
        let seen = |noted| {
            let run = CommandRun { noted, ..CommandRun::in_tree(scene.criterion()) };
            round.variables(&run)
        };
        assert!(seen(None).iter().any(|(name, _)| name == "PATH"));
        assert!(seen(Some(&noted[..])).contains(&noted[0]));
    }
}
