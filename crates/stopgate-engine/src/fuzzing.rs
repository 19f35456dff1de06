//! Doors for the fuzzer to what only this crate sees. Nothing else uses them.

use stopgate_core::Timestamp;

use crate::project_file::ProjectFile;

/// The names of the criteria in a project's file with this text.
pub fn project_file(text: &str) -> Result<Vec<String>, String> {
    let file = ProjectFile::parse(text)?;
    Ok(file.criteria.into_iter().map(|draft| draft.criterion.name).collect())
}

/// The time that a person's or an agent's words for a wait mean.
pub fn wait_time(text: &str, now: Timestamp) -> Option<Timestamp> {
    crate::judging::instant::moment(text, now)
}
