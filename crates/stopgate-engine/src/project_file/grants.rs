//! Everything that a project's file asks for and that only a person can allow.
//!
//! A repository is a stranger's. What it merely describes needs nobody's word; what it has run,
//! read or set beyond its own files does. What is listed here is all that trust allows.

use serde::Serialize;
use stopgate_core::{Criterion, PatternSubject, Proof};

use super::ProjectFile;

/// One thing that needs a person's word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Grant {
    /// `command`, `version`, `env`, `pass_env`, `cwd`, `link`, `path`, `git`, `review`, `root` or
    /// `gate`.
    pub kind: &'static str,
    /// The criterion that asks for it; none where the whole file does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub criterion: Option<String>,
    /// What it asks for.
    pub what: String,
}

impl ProjectFile {
    /// All that it asks for and that needs a person's word.
    pub fn grants(&self) -> Vec<Grant> {
        let criteria = self.criteria.iter().flat_map(|draft| of_criterion(&draft.criterion));
        let whole = |kind, what: &String| Grant { kind, criterion: None, what: what.clone() };
        let roots = self.roots.iter().map(|root| whole("root", root));
        let gates = self.gates.iter().flatten().map(|gate| whole("gate", gate));
        criteria.chain(roots).chain(gates).collect()
    }

    /// Whether anything of it needs a person's word.
    pub fn needs_trust(&self) -> bool {
        !self.grants().is_empty()
    }
}

/// All that a criterion of a project's file needs a person's word for.
pub(crate) fn of_criterion(criterion: &Criterion) -> Vec<Grant> {
    let terms = &criterion.terms;
    let mut grants = Vec::new();
    let mut add = |kind, what: String| {
        grants.push(Grant { kind, criterion: Some(criterion.name.clone()), what });
    };
    if let Some(command) = criterion.command() {
        add("command", command);
        terms.cwd.iter().for_each(|cwd| add("cwd", cwd.clone()));
    }
    if !terms.version.is_empty() {
        add("version", terms.version.join(" "));
    }
    terms.set.iter().for_each(|(name, value)| add("env", format!("{name}={value}")));
    terms.pass.iter().for_each(|name| add("pass_env", name.clone()));
    terms.link.iter().for_each(|link| add("link", link.clone()));
    if let Proof::Git { .. } = criterion.proof {
        add("git", "asks git, which may run filters of the repository's settings".into());
    }
    if let Proof::Review { agent, model, .. } = &criterion.proof {
        let model = model.as_ref().map(|model| format!(", model {model}")).unwrap_or_default();
        add("review", format!("starts {agent}{model} with its own keys, and shows it the changes"));
    }
    let paths = paths_of(&criterion.proof).into_iter();
    let paths = paths.chain(terms.cwd.as_ref().filter(|_| criterion.command().is_none()));
    paths.filter(|path| leads_out(path)).for_each(|path| add("path", path.clone()));
    grants
}

/// The paths that a criterion looks at.
fn paths_of(proof: &Proof) -> Vec<&String> {
    match proof {
        Proof::Files { exist, absent } => exist.iter().chain(absent).collect(),
        Proof::Pattern { subject: PatternSubject::File(file), .. } => vec![file],
        Proof::Coverage { report, .. } => vec![report],
        Proof::Features { list } => vec![list],
        Proof::Pattern { subject: PatternSubject::Message, .. }
        | Proof::Check { .. }
        | Proof::Run { .. }
        | Proof::Git { .. }
        | Proof::Review { .. }
        | Proof::Attest
        | Proof::Approve => Vec::new(),
    }
}

/// Whether a path, or a pattern of paths, may name something outside the project.
fn leads_out(path: &str) -> bool {
    let path = path.trim();
    // Alternatives in braces may begin with a slash, too.
    let is_absolute = path.starts_with('/') || path.contains("{/") || path.contains(",/");
    is_absolute || path.split(['/', '{', '}', ',']).any(|part| part == "..")
}
