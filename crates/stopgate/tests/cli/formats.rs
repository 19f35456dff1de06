//! Every format of loops with a long loop in its files, for tests that treat them alike.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::call::Call;
use crate::doors;
use crate::stage::{Ran, Stage};

/// One format and where its loop lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    IdleFile,
    IdleTopic,
    Features,
    Criteria,
    Task,
    RalphLoop,
}

/// A word at the end of every file, by which half a file is known.
const END: &str = "the very end";
const FEATURES: &str = "project/.claude/data/ralph-loops/current";

impl Format {
    pub(crate) const ALL: [Self; 6] = [
        Self::IdleFile,
        Self::IdleTopic,
        Self::Features,
        Self::Criteria,
        Self::Task,
        Self::RalphLoop,
    ];

    pub(crate) const fn dialect(self) -> &'static str {
        match self {
            Self::IdleFile | Self::IdleTopic => "idle",
            Self::Features => "features",
            Self::Criteria => "criteria",
            Self::Task => "task",
            Self::RalphLoop => "ralph-loop",
        }
    }

    /// The file that keeps the count.
    pub(crate) fn file(self) -> String {
        match self {
            Self::IdleFile => "project/.claude/idle-loop.local.md".into(),
            Self::IdleTopic => "project/.jwz/loop:current.log".into(),
            Self::Features => format!("{FEATURES}/progress.txt"),
            Self::Criteria => "project/.loop/state.json".into(),
            Self::Task => "project/task.json".into(),
            Self::RalphLoop => "project/.claude/ralph-loop.local.md".into(),
        }
    }

    /// A stage with a loop of this format that was sent back three times.
    pub(crate) fn stage(self) -> Stage {
        let stage = Stage::new();
        stage.write(&self.file(), self.text());
        if self == Self::Features {
            let list = json!({"features": [{"id": 1, "description": "one", "passes": false}]});
            stage.write(&format!("{FEATURES}/feature_list.json"), list.to_string());
        }
        stage
    }

    fn text(self) -> String {
        match self {
            Self::IdleFile => format!(
                "---\nactive: true\nmode: loop\niteration: 3\nmax_iterations: 900\n---\nGo\n{END}\n"
            ),
            Self::IdleTopic => {
                let frame =
                    json!({"id": "a", "mode": "loop", "iter": 3, "max": 900, "prompt": END});
                let message =
                    json!({"schema": 1, "event": "STATE", "run_id": "r", "stack": [frame]});
                format!("{message}\n")
            }
            Self::Features => format!(
                "# Progress\n- Max Iterations: 900\n- Iteration: 3\n- Status: IN_PROGRESS\n{END}\n"
            ),
            Self::Criteria => {
                let state = json!({
                    "spec": "Go", "criteria": ["a"], "criteriaStatus": {"a": false},
                    "exit_signal": false, "iteration": 3, "status": "in_progress",
                    "circuitBreaker": {"stuckCount": 0, "lastUnmet": "a"}, "zz": END
                });
                format!("{state:#}\n")
            }
            Self::Task => {
                let metadata =
                    json!({"iteration": 3, "maxIterations": 900, "remainingSteps": ["a"]});
                let task = json!({
                    "id": "t", "subject": "Go", "status": "in_progress", "metadata": metadata,
                    "zz": END
                });
                format!("{task:#}\n")
            }
            Self::RalphLoop => format!(
                "---\nactive: true\niteration: 3\nsession_id: s1\nmax_iterations: 900\n\
                 completion_promise: null\nstarted_at: \"2026-11-15T05:00:00Z\"\n---\n\nGo\n{END}\n"
            ),
        }
    }

    /// A stop of session `s1`, which is new to its prompt.
    pub(crate) fn stop(self, stage: &Stage) -> Call<'_> {
        let call = stage.stop_call("s1", "Still at it.").without("prompt_id");
        let call = call.with("stop_hook_active", json!(false)).arg("--dialect").arg(self.dialect());
        match self {
            Self::Task => call.arg("--task-file").arg("task.json"),
            Self::IdleTopic => {
                let stand_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/bin");
                let path = format!("{}:{}", stand_in.display(), doors::search_path().display());
                call.var("PATH", &path)
            }
            Self::IdleFile | Self::Features | Self::Criteria | Self::RalphLoop => call,
        }
    }

    /// How often the agent was sent back, by the file; it must be whole.
    pub(crate) fn count(self, stage: &Stage) -> u64 {
        let path = stage.path(&self.file());
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{self:?}: {error}"));
        assert!(text.contains(END) && text.ends_with('\n'), "{self:?} is torn: {text}");
        let count = match self {
            Self::IdleFile | Self::RalphLoop => number_after(&text, "\niteration:"),
            Self::Features => number_after(&text, "\n- Iteration:"),
            Self::IdleTopic => {
                let last = text.lines().last().unwrap_or_default();
                json_of(last)["stack"][0]["iter"].as_u64()
            }
            Self::Criteria => json_of(&text)["iteration"].as_u64(),
            Self::Task => json_of(&text)["metadata"]["iteration"].as_u64(),
        };
        count.unwrap_or_else(|| panic!("{self:?} has no count: {text}"))
    }
}

/// Whether an answer sends the agent back, in any format.
pub(crate) fn is_sent_back(ran: &Ran) -> bool {
    let answer: Value = serde_json::from_str(&ran.out).unwrap_or_default();
    ran.code == 2 || answer["decision"] == "block"
}

fn number_after(text: &str, label: &str) -> Option<u64> {
    let rest = &text[text.find(label)? + label.len()..];
    rest.lines().next()?.trim().parse().ok()
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
