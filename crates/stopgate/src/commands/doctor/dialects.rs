//! The proof for entries that serve loops in another tool's files.
//!
//! A loop that is not finished is laid out in that tool's files, in a throwaway project, and the
//! entry is fired as the client would. Where no such loop can be laid out by files alone, the
//! entry must at least run and let an agent go that has none.

use serde::Deserialize;
use stopgate_dialects::Dialect;
use stopgate_engine::{Configured, DoctorFinding, Failure};

use crate::commands::client::{Continued, Household, PlayedSession, PlayedStop, ThrowawayProject};

const ABOUT: &str = "proof";
const SESSION: PlayedSession = PlayedSession { id: "d0c70000-0000-4000-8000-000000000001" };

const RALPH_LOOP: &str = "---\nactive: true\niteration: 1\nsession_id: d0c70000-0000-4000-8000-000000000001\nmax_iterations: 5\n\
                          completion_promise: \"NEVER\"\n---\n\nProve that the hook holds.\n";
const FEATURES: &str =
    r#"{"features":[{"id":1,"description":"prove that the hook holds","passes":false}]}"#;
const PROGRESS: &str = "# Progress\n\n- Max Iterations: 5\n\n## Current State\n- Iteration: 1\n- Status: in progress\n";
const CRITERIA: &str = r#"{"spec":"prove that the hook holds","criteria":["held"],
"criteriaStatus":{"held":false},"exit_signal":false,"iteration":1,"status":"in_progress"}"#;

/// The files of a loop of this format that is not finished; none where files alone don't make one.
fn unfinished(dialect: Option<Dialect>) -> &'static [(&'static str, &'static str)] {
    match dialect {
        Some(Dialect::RalphLoop) => &[(".claude/ralph-loop.local.md", RALPH_LOOP)],
        Some(Dialect::Features) => &[
            (".claude/data/ralph-loops/current/feature_list.json", FEATURES),
            (".claude/data/ralph-loops/current/progress.txt", PROGRESS),
        ],
        Some(Dialect::Criteria) => &[(".loop/state.json", CRITERIA)],
        Some(Dialect::Idle | Dialect::Task) | None => &[],
    }
}

/// An answer that holds the agent, as every format has it.
#[derive(Deserialize)]
struct BlockWire {
    #[serde(rename = "decision")]
    _decision: DecisionWord,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum DecisionWord {
    Block,
}

/// Fires at one entry.
pub(super) fn prove(hook: &Configured, dialect: &str) -> Result<DoctorFinding, Failure> {
    let stage = ThrowawayProject::new(Household::Real)?;
    let files = unfinished(Dialect::named(dialect));
    for (path, text) in files {
        stage.write(path, text)?;
    }
    let stop = PlayedStop { session: SESSION, words: "I stop here.", continued: Continued::Never };
    let (title, scope) = (hook.agent.title(), hook.scope.word());
    let name = format!("{title}'s entry for --dialect {dialect} in the {scope} settings");
    let repair =
        format!("stopgate install {} --scope {scope} --dialect {dialect}", hook.agent.word());
    let failed = |why: String| {
        DoctorFinding::problem(ABOUT, format!("{name} failed: {why}"), repair.clone())
    };
    Ok(match stage.stop_of(hook.agent, &hook.command, &stop) {
        Err(trouble) => failed(trouble.to_string()),
        Ok(ran) => {
            let blocks = serde_json::from_str::<BlockWire>(&ran.stdout).is_ok();
            let held = blocks || ran.exit_code == Some(2);
            match (files.is_empty(), held, ran.exit_code) {
                (false, true, _) => DoctorFinding::ok(ABOUT, format!("{name} held a test stop")),
                (false, false, _) => {
                    failed("it let an agent stop whose loop is not finished".into())
                }
                (true, false, Some(0)) => DoctorFinding::ok(
                    ABOUT,
                    format!("{name} ran, and let an agent go that has no loop"),
                ),
                (true, _, code) => failed(format!("the exit code is {code:?}")),
            }
        }
    })
}
