//! The rows as they are written down: one file a workflow.

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::tools;

/// The files in the order in which the page shows them, and what it calls them.
pub(super) const WORKFLOWS: [(&str, &str); 5] = [
    ("idle", "Idle loop"),
    ("mcp", "MCP iterations"),
    ("features", "Feature list"),
    ("criteria", "Criteria loop"),
    ("task", "Task loop"),
];

/// One requirement.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequirementRow {
    /// Its workflow and number: `idle-01`.
    pub(super) id: String,
    /// What is asked, in a sentence.
    pub(super) asks: String,
    /// The command that shows it, for people.
    pub(super) command: String,
    /// The script that fails where it does not hold.
    pub(super) run: String,
    /// Why it is known not to work yet.
    pub(super) gap: Option<String>,
    /// Its place among all rows.
    #[serde(skip)]
    pub(super) place: usize,
}

#[derive(Deserialize)]
struct RowFile {
    row: Vec<RequirementRow>,
}

/// All rows, in order.
pub(super) fn load() -> Result<Vec<RequirementRow>> {
    let directory = tools::root()?.join("requirements");
    let mut rows: Vec<RequirementRow> = Vec::new();
    for (name, _) in WORKFLOWS {
        let path = directory.join(format!("{name}.toml"));
        let text = std::fs::read_to_string(&path).with_context(|| format!("read {name}.toml"))?;
        let file: RowFile = toml::from_str(&text).with_context(|| format!("read {name}.toml"))?;
        for mut row in file.row {
            row.place = rows.len();
            if !row.id.starts_with(name) || rows.iter().any(|known| known.id == row.id) {
                bail!("use {}: it is not a name of its own in {name}.toml", row.id);
            }
            rows.push(row);
        }
    }
    Ok(rows)
}
