//! What can go wrong in a night: every case of the lab's table with the real clients.

use anyhow::{Context, Result};
use stopgate_lab::night::{cases_of, play};
use stopgate_lab::{LabAgent, Program};

use crate::Verdict;
use crate::table::Table;

pub(crate) const CLIENTS: [LabAgent; 6] = [
    LabAgent::Claude,
    LabAgent::Codex,
    LabAgent::Gemini,
    LabAgent::Qwen,
    LabAgent::Copilot,
    LabAgent::OpenCode,
];

/// Plays every case of the clients that are named, and of all where none is.
pub(crate) fn run(named: &[String], only: Option<&str>) -> Result<Verdict> {
    let is_named = |agent: &LabAgent| named.is_empty() || named.iter().any(|n| n == agent.name());
    let program = Program::find().context("find the program")?;
    let columns = "client, case|outcome|exit|sessions|requests|prompts|left|tokens|sent|s|";
    let mut table = Table::headed("Through the night", columns);
    let mut verdict = Verdict::Fine;
    for agent in CLIENTS.into_iter().filter(is_named) {
        for case in cases_of(agent) {
            let name = format!("{} {}", agent.name(), case.name());
            if only.is_some_and(|only| !name.contains(only)) {
                continue;
            }
            let result = play(agent, case, &program).with_context(|| format!("play {name}"))?;
            let trouble = result.trouble();
            println!("{name}: {}", trouble.as_deref().unwrap_or("as expected"));
            if trouble.is_some() {
                verdict = Verdict::Broken;
            }
            table.row([
                name,
                result.outcome.clone(),
                result.code.to_string(),
                result.sessions.to_string(),
                result.requests.to_string(),
                result.prompts.to_string(),
                result.orphans.len().to_string(),
                result.tokens.map_or_else(|| "-".into(), |tokens| tokens.to_string()),
                result.sent.to_string(),
                format!("{:.0}", result.took.as_secs_f64()),
                if trouble.is_some() { "not as expected" } else { "as expected" }.into(),
            ]);
        }
    }
    table.note("prompts: the most that one conversation held; left: processes that stayed behind.");
    table.print();
    Ok(verdict)
}
