//! One look at everything: what is reused, what is run, and whether the tree lay still.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_core::{
    Criterion, Evidence, Kept, Proof, Receipt, Reuse, Site, Standing, Status, Timestamp, ToolUse,
    clip_end,
};

use super::tampering::{Found, Tampering};
use super::{Files, Freshness, Request, SETTLE, passes, reading};
use crate::check::{Check, Command, Limits, Ran, Run, Whole, run};
use crate::kinds::{self, Finding};
use crate::pristine::{self, Pristine, Recipe};
use crate::program::command_fingerprint;
use crate::tree::{Scope, Tree, fingerprint};

const JOBS: usize = 2;
const TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;
const TAIL_BYTES_MAX: usize = 4096;

/// One look at everything.
pub(super) struct Round<'a> {
    request: &'a Request<'a>,
    freshness: Freshness,
    budget: Duration,
    /// The tree as it was before, by what is looked at.
    trees: BTreeMap<&'a [String], Option<Tree>>,
}

/// What a look came to.
pub(super) struct Looked {
    pub(super) receipts: Vec<Receipt>,
    /// Whether the tree was another one afterwards.
    pub(super) moved: bool,
}

/// What becomes of one criterion.
enum Plan<'a> {
    Told(Box<Receipt>),
    Run { command: String, site: Option<Pristine>, criterion: &'a Criterion },
}

impl Plan<'_> {
    fn told(receipt: Receipt) -> Self {
        Self::Told(Box::new(receipt))
    }
}

impl<'a> Round<'a> {
    pub(super) fn new(request: &'a Request<'a>, freshness: Freshness, budget: Duration) -> Self {
        Self { request, freshness, budget, trees: BTreeMap::new() }
    }

    /// Nothing where somebody ended the program meanwhile.
    pub(super) fn look(mut self, now: &dyn Fn() -> Timestamp) -> Option<Looked> {
        let tampering = Tampering::look(self.request);
        let checked = self.request.criteria.iter().filter(|criterion| criterion.is_checked());
        let plans: Vec<Plan<'a>> =
            checked.map(|criterion| self.plan(criterion, &tampering, now)).collect();
        let ran = plans.iter().any(|plan| matches!(plan, Plan::Run { .. }));
        let mut receipts = self.carry_out(plans, now)?;
        let all_pass = passes(self.request, &receipts);
        if all_pass {
            std::thread::sleep(SETTLE);
        }
        let moved = (ran || all_pass) && self.tree_moved();
        if moved {
            for receipt in &mut receipts {
                receipt.evidence.tree = None;
            }
        }
        Some(Looked { receipts, moved })
    }

    fn plan(
        &mut self,
        criterion: &'a Criterion,
        tampering: &Tampering,
        now: &dyn Fn() -> Timestamp,
    ) -> Plan<'a> {
        match tampering.of(criterion) {
            Found::Changed(what) => {
                return Plan::told(told(criterion, Status::Tampered, what, now()));
            }
            Found::Unknown(why) => {
                let why = format!("could not tell whether what it judges by was changed: {why}");
                return Plan::told(told(criterion, Status::Error, why, now()));
            }
            Found::Sound => {}
        }
        let tree = self.tree_hash(criterion);
        if criterion.command().is_none() {
            return Plan::told(self.find(criterion, tree, now));
        }
        let command = command_fingerprint(self.request.root, criterion);
        if let Some(receipt) = self.reused(criterion, tree.as_deref(), &command) {
            return Plan::told(receipt);
        }
        match self.site(criterion, tampering) {
            Ok(site) => Plan::Run { command, site, criterion },
            Err(why) => Plan::told(told(criterion, Status::Error, why, now())),
        }
    }

    /// The tree that a criterion depends on, looked at once.
    fn tree_hash(&mut self, criterion: &'a Criterion) -> Option<String> {
        let inputs = criterion.terms.inputs.as_slice();
        let tree = self.trees.entry(inputs).or_insert_with(|| tree_of(self.request, inputs));
        tree.as_ref().map(|tree| tree.hash().to_string())
    }

    fn tree_moved(&self) -> bool {
        self.trees.iter().any(|(inputs, before)| {
            let after = tree_of(self.request, inputs);
            before.as_ref().map(Tree::hash) != after.as_ref().map(Tree::hash)
        })
    }

    /// An earlier receipt for this very tree and this very check.
    fn reused(&self, criterion: &Criterion, tree: Option<&str>, command: &str) -> Option<Receipt> {
        let Freshness::Reuse(tools) = self.freshness else { return None };
        let standing = criterion.last.as_ref()?;
        let kept = standing.kept.as_ref()?;
        let same = kept.evidence.tree.as_deref() == Some(tree?)
            && kept.evidence.command.as_deref() == Some(command);
        // What failed may depend on more than files, and the agent may have put that right.
        let stands = match standing.status {
            Status::Pass => true,
            Status::Fail => tools != ToolUse::Used || !criterion.terms.inputs.is_empty(),
            Status::Error | Status::Timeout | Status::Tampered => false,
        };
        let reusable = criterion.terms.reuse == Reuse::WhileUnchanged;
        (same && stands && reusable).then(|| again(criterion, standing, kept))
    }

    /// Where the check runs: a copy where it asks for one.
    fn site(
        &mut self,
        criterion: &'a Criterion,
        tampering: &Tampering,
    ) -> Result<Option<Pristine>, String> {
        if criterion.terms.site == Site::Tree {
            return Ok(None);
        }
        let seal = tampering.seal().ok_or("nothing was noted at the start to restore from")?;
        let request = self.request;
        let whole: &'a [String] = &[];
        let tree = self.trees.entry(whole).or_insert_with(|| tree_of(request, whole));
        let tree = tree.as_ref().ok_or("the work tree is too large to be copied")?;
        let place = request.place;
        let made = pristine::make(&Recipe {
            root: request.root,
            tree,
            seal,
            store: &place.objects(),
            criterion,
            into: &place.copies(),
        });
        made.map(Some).map_err(|error| error.to_string())
    }

    /// Runs what must be run, the cheapest first, and puts the receipts in their order.
    fn carry_out(&self, plans: Vec<Plan<'a>>, now: &dyn Fn() -> Timestamp) -> Option<Vec<Receipt>> {
        let mut receipts: Vec<Option<Receipt>> = Vec::new();
        let mut due: Vec<(usize, String, Option<Pristine>, &Criterion)> = Vec::new();
        for (at, plan) in plans.into_iter().enumerate() {
            match plan {
                Plan::Told(receipt) => receipts.push(Some(*receipt)),
                Plan::Run { command, site, criterion } => {
                    receipts.push(None);
                    due.push((at, command, site, criterion));
                }
            }
        }
        due.sort_by_key(|(at, _, _, criterion)| (usual_ms(criterion), *at));
        let checks: Vec<Check<'_>> = due
            .iter()
            .map(|(_, _, site, criterion)| self.check(criterion, site.as_ref()))
            .collect();
        let runs = self.run(&checks, now)?;
        for ((at, command, site, criterion), run) in due.iter().zip(runs) {
            let root = site.as_ref().map_or(self.request.root, Pristine::path);
            let mut receipt = reading::read(criterion, run, root);
            receipt.evidence.command = Some(command.clone());
            receipt.evidence.tree = self.hash_of(criterion);
            if let Some(place) = receipts.get_mut(*at) {
                *place = Some(receipt);
            }
        }
        Some(receipts.into_iter().flatten().collect())
    }

    /// Runs every command, whatever is known of it already.
    pub(super) fn run_all(&self, now: &dyn Fn() -> Timestamp) -> Option<Vec<Run>> {
        let checks: Vec<Check<'_>> =
            self.request.criteria.iter().map(|criterion| self.check(criterion, None)).collect();
        self.run(&checks, now)
    }

    fn run(&self, checks: &[Check<'_>], now: &dyn Fn() -> Timestamp) -> Option<Vec<Run>> {
        if checks.is_empty() {
            return Some(Vec::new());
        }
        let jobs = usize::try_from(self.request.ground.jobs).unwrap_or(JOBS);
        let limits = Limits {
            budget: self.budget,
            jobs: if jobs == 0 { JOBS } else { jobs },
            pass: self.request.pass,
            strangers: self.request.strangers,
        };
        match run(checks, limits, now) {
            Ran::Runs(runs) => Some(runs),
            Ran::Interrupted => None,
        }
    }

    fn check<'c>(&self, criterion: &'c Criterion, site: Option<&Pristine>) -> Check<'c> {
        let (command, timeout_ms) = match &criterion.proof {
            Proof::Check { command, timeout_ms } => (Command::Shell(command), *timeout_ms),
            Proof::Run { argv, timeout_ms } => (Command::Argv(argv), *timeout_ms),
            Proof::Files { .. }
            | Proof::Pattern { .. }
            | Proof::Coverage { .. }
            | Proof::Features { .. }
            | Proof::Git { .. }
            | Proof::Attest
            | Proof::Approve => (Command::Argv(&[]), 0),
        };
        let terms = &criterion.terms;
        let root = site.map_or(self.request.root, Pristine::path);
        let folder = terms.cwd.as_ref().map_or_else(|| root.into(), |cwd| root.join(cwd));
        let log = self.log(&criterion.name);
        Check {
            timeout: Duration::from_millis(timeout_ms),
            retries: terms.retries,
            set: &terms.set,
            pass: &terms.pass,
            memory_bytes: terms.memory_bytes,
            cpu_seconds: terms.cpu_seconds,
            version: &terms.version,
            whole: Whole::Text { bytes_max: TEXT_BYTES_MAX },
            ..Check::new(&criterion.name, command, folder, log)
        }
    }

    fn log(&self, criterion: &str) -> PathBuf {
        self.request.place.logs.join(format!("{}.log", crate::file_name(criterion)))
    }

    fn hash_of(&self, criterion: &Criterion) -> Option<String> {
        let tree = self.trees.get(criterion.terms.inputs.as_slice())?;
        tree.as_ref().map(|tree| tree.hash().to_string())
    }

    /// Kinds that need no command.
    fn find(
        &self,
        criterion: &Criterion,
        tree: Option<String>,
        now: &dyn Fn() -> Timestamp,
    ) -> Receipt {
        let root = self.folder(criterion);
        let begun = now();
        if self.strays(criterion, &root) {
            let why = "its `cwd` leads out of the project through a link".into();
            return told(criterion, Status::Error, why, begun);
        }
        let finding = match &criterion.proof {
            Proof::Files { exist, absent } => kinds::files(&root, exist, absent),
            Proof::Pattern { subject, must, must_not } => {
                kinds::pattern(&root, subject, self.request.message, must, must_not)
            }
            Proof::Coverage { report, format, floor } => {
                kinds::coverage(&root, report, *format, floor, self.request.since)
            }
            Proof::Features { list } => kinds::features(&root, list),
            Proof::Git { demands } => kinds::git(&root, demands),
            Proof::Check { .. } | Proof::Run { .. } | Proof::Attest | Proof::Approve => Finding {
                status: Status::Error,
                text: String::new(),
                trouble: Some("it is not of a kind that can be looked at".into()),
                spots: Vec::new(),
            },
        };
        let mut receipt = told(criterion, finding.status, String::new(), now());
        receipt.trouble = finding.trouble;
        receipt.duration_ms = receipt.at.since(begun).unsigned_abs();
        receipt.output_bytes = finding.text.len() as u64;
        receipt.tail = clip_end(&crate::redact(&finding.text), TAIL_BYTES_MAX).to_string();
        receipt.evidence.spots = finding.spots;
        receipt.evidence.command = Some(command_fingerprint(self.request.root, criterion));
        receipt.evidence.tree = tree;
        receipt
    }

    /// Whether the plain path of its directory leads out of the project all the same.
    fn strays(&self, criterion: &Criterion, directory: &Path) -> bool {
        let Some(cwd) = &criterion.terms.cwd else { return false };
        let plain = Path::new(cwd).components().all(|part| {
            matches!(part, std::path::Component::Normal(_) | std::path::Component::CurDir)
        });
        let (real, root) = (directory.canonicalize(), self.request.root.canonicalize());
        plain && matches!((real, root), (Ok(real), Ok(root)) if !real.starts_with(&root))
    }

    fn folder(&self, criterion: &Criterion) -> PathBuf {
        let root = self.request.root;
        criterion.terms.cwd.as_ref().map_or_else(|| root.into(), |cwd| root.join(cwd))
    }
}

/// The tree as it is now; nothing where it can't be told apart from others.
fn tree_of(request: &Request<'_>, inputs: &[String]) -> Option<Tree> {
    if request.files == Files::TooMany && inputs.is_empty() {
        return None;
    }
    let scope = if inputs.is_empty() { Scope::Whole } else { Scope::Globs(inputs) };
    let mut roots: Vec<PathBuf> = vec![request.root.into()];
    roots.extend(request.ground.roots.iter().map(|root| request.root.join(root)));
    let roots: Vec<&Path> = roots.iter().map(PathBuf::as_path).collect();
    fingerprint(&roots, scope, &request.place.trees()).ok()
}

/// How long a check took when it was last run; one that never ran comes last.
fn usual_ms(criterion: &Criterion) -> u64 {
    criterion.last.as_ref().map_or(u64::MAX, |last| last.duration_ms)
}

fn told(criterion: &Criterion, status: Status, trouble: String, at: Timestamp) -> Receipt {
    Receipt {
        criterion: criterion.name.clone(),
        status,
        exit_code: None,
        duration_ms: 0,
        tail: String::new(),
        output_bytes: 0,
        log: None,
        trouble: Some(trouble),
        at,
        evidence: Evidence::default(),
    }
}

fn again(criterion: &Criterion, standing: &Standing, kept: &Kept) -> Receipt {
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
