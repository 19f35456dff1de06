//! Checks that judge less than they seem to: they rewrite what they compare with, or can't fail.

use stopgate_core::{Criterion, ProofCommand};

use super::shell::{Joint, OutputFate, ScriptPart, ShellScript, ShellStep};
use super::tools::plain_name;

/// Something about a check that the person who wrote it should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CheckWarning {
    /// It rewrites what it compares with.
    Rewrites(String),
    /// It passes whatever happens.
    CannotFail(String),
}

impl std::fmt::Display for CheckWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rewrites(part) => {
                write!(
                    f,
                    "it rewrites what it compares with ({part}), so it passes whatever the result is"
                )
            }
            Self::CannotFail(part) => write!(f, "it can't fail because of `{part}`"),
        }
    }
}

const REWRITING: [&str; 11] = [
    "--snapshot-update",
    "--update-snapshots",
    "--updateSnapshot",
    "--update-snapshot",
    "--force-regen",
    "--regenerate-baseline",
    "--inline-snapshot=fix",
    "--inline-snapshot=create",
    "--accept",
    "--update-goldens",
    "--update-golden",
];

const SNAPSHOT_RUNNERS: [&str; 6] = ["jest", "vitest", "ava", "playwright", "tap", "react-scripts"];

const PACKAGE_RUNNERS: [&str; 5] = ["npm", "yarn", "pnpm", "npx", "bun"];

/// Variables that make a runner rewrite its snapshots; the values that do not.
const VARIABLES: [(&str, &[&str]); 7] = [
    ("INSTA_UPDATE", &["no", "new", "auto"]),
    ("INSTA_FORCE_UPDATE", &["0", ""]),
    ("UPDATE_SNAPSHOTS", &["0", "", "false"]),
    ("UPDATE_EXPECT", &["0", "", "false"]),
    ("UPDATE_GOLDEN", &["0", "", "false"]),
    ("UPDATE_GOLDENS", &["0", "", "false"]),
    ("TRYBUILD", &["wip", ""]),
];

/// What a person should know about the check before relying on it.
pub(crate) fn warnings(criterion: &Criterion) -> Vec<CheckWarning> {
    let mut found = Vec::new();
    for (name, value) in &criterion.terms.set {
        found.extend(rewriting_variable(name, value));
    }
    match criterion.proof.command() {
        Some(ProofCommand::Shell(line)) => of_script(&ShellScript::parse(line), &mut found),
        Some(ProofCommand::Argv(argv)) => {
            let step = ShellStep {
                words: argv.to_vec(),
                assigned: Vec::new(),
                fate: OutputFate::Shown,
                joint: Joint::Next,
                input: None,
            };
            of_step(&step, &mut found);
        }
        None => {}
    }
    found.dedup();
    found
}

fn of_script(script: &ShellScript, found: &mut Vec<CheckWarning>) {
    script.steps().for_each(|step| of_step(step, found));
    let steps: Vec<&ShellStep> = top_level(script);
    let Some((last, before)) = steps.split_last() else { return };
    let words: Vec<&str> = last.words.iter().map(String::as_str).collect();
    let always =
        matches!(words.as_slice(), ["true" | ":"] | ["exit", "0"] | ["echo" | "printf", ..]);
    let previous = before.last().map(|step| step.joint);
    let stops_early = script.steps().any(|step| {
        step.words.first().is_some_and(|word| word == "set")
            && step.words.iter().any(|word| word.starts_with('-') && word.contains('e'))
    });
    match previous {
        Some(Joint::Or) if always => {
            found.push(CheckWarning::CannotFail(format!("|| {}", words.join(" "))));
        }
        Some(Joint::Next) if always && !stops_early => {
            found.push(CheckWarning::CannotFail(format!("; {}", words.join(" "))));
        }
        None if matches!(words.as_slice(), ["true" | ":"] | ["exit", "0"]) => {
            found.push(CheckWarning::CannotFail(words.join(" ")));
        }
        Some(Joint::Pipe) if hides_failure(&words) && !sets_pipefail(script) => {
            found.push(CheckWarning::CannotFail(format!("| {}", words[0])));
        }
        Some(_) | None => {}
    }
}

/// Commands that are not inside of a substitution.
fn top_level(script: &ShellScript) -> Vec<&ShellStep> {
    let mut found = Vec::new();
    for part in &script.parts {
        if let ScriptPart::Step(step) = part
            && !step.words.is_empty()
            && (step.fate == OutputFate::Shown || step.joint == Joint::Pipe)
        {
            found.push(step);
        }
    }
    found
}

/// Programs that end a pipe well whatever came before.
fn hides_failure(words: &[&str]) -> bool {
    let program = words.first().copied().unwrap_or_default();
    ["tee", "cat", "head", "tail", "less", "sort", "sed", "awk", "tr", "cut", "column", "wc", "ts"]
        .contains(&program)
}

fn sets_pipefail(script: &ShellScript) -> bool {
    script.steps().any(|step| step.words.iter().any(|word| word == "pipefail"))
}

fn rewriting_variable(name: &str, value: &str) -> Option<CheckWarning> {
    let (_, harmless) = VARIABLES.iter().find(|(own, _)| *own == name)?;
    (!harmless.contains(&value)).then(|| CheckWarning::Rewrites(format!("{name}={value}")))
}

fn of_step(step: &ShellStep, found: &mut Vec<CheckWarning>) {
    let words: Vec<&str> = step.words.iter().map(String::as_str).collect();
    let mut assigned = step.assigned.clone();
    let more = words.iter().filter_map(|word| super::shell::assignment(word));
    assigned.extend(more.map(|(name, value)| (name.to_string(), value.to_string())));
    found.extend(assigned.iter().filter_map(|(name, value)| rewriting_variable(name, value)));
    if let [program, rest @ ..] = words.as_slice()
        && ["sh", "bash"].contains(&plain_name(program))
        && let Some(at) = rest.iter().position(|word| word.starts_with('-') && word.ends_with('c'))
        && let Some(text) = rest.get(at + 1)
    {
        let mut script = ShellScript::parse(text);
        if rest.contains(&"pipefail") {
            script.parts.insert(
                0,
                ScriptPart::Step(ShellStep {
                    words: vec!["set".into(), "pipefail".into()],
                    ..step.clone()
                }),
            );
        }
        return of_script(&script, found);
    }
    let program = words.iter().map(|word| plain_name(word));
    let is_snapshot = program
        .clone()
        .any(|name| SNAPSHOT_RUNNERS.contains(&name) || PACKAGE_RUNNERS.contains(&name));
    for word in &words {
        if REWRITING.contains(word) || (is_snapshot && ["-u", "--update"].contains(word)) {
            found.push(CheckWarning::Rewrites((*word).into()));
        }
        if *word == "--passWithNoTests" || *word == "--pass-with-no-tests" {
            found.push(CheckWarning::CannotFail((*word).into()));
        }
    }
    let has = |word: &str| words.contains(&word);
    let compiles_only = has("cargo") && (has("test") || has("nextest")) && has("--no-run");
    for option in
        ["--no-run", "--collect-only", "--co", "--list-tests", "--exit-zero", "--if-present"]
    {
        let counts = match option {
            "--no-run" => compiles_only,
            "--exit-zero" => true,
            "--if-present" => program.clone().any(|name| PACKAGE_RUNNERS.contains(&name)),
            _ => words.iter().any(|word| ["pytest", "jest"].contains(&plain_name(word))),
        };
        if counts && has(option) {
            found.push(CheckWarning::CannotFail(option.into()));
        }
    }
}
