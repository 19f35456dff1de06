//! What the project's own file asks for, and whether it may have it.

use std::path::Path;

use super::DoctorFinding;
use crate::project_file::ProjectFile;
use crate::settings::Settings;
use crate::trust::Trust;

/// Whether `stopgate.toml` makes sense and is trusted; nothing where there is none.
pub(super) fn file(settings: Settings, project: &Path) -> Option<DoctorFinding> {
    let file = match ProjectFile::read(project) {
        Ok(file) => file?,
        Err(failure) => {
            let hint = failure.hint.clone().unwrap_or_else(|| "repair the file".into());
            return Some(DoctorFinding::problem("project", failure.story(), hint));
        }
    };
    let count = file.criteria.len();
    let plural = if count == 1 { "criterion" } else { "criteria" };
    let trusted = settings.home().is_ok_and(|home| Trust::of(&home).has(&file.source));
    Some(if trusted || !file.needs_trust() {
        DoctorFinding::ok("project", format!("stopgate.toml: {count} {plural}"))
    } else {
        DoctorFinding::warning(
            "project",
            "stopgate.toml is not trusted: none of its checks runs, and loops here hold nobody",
            "look at it, then: stopgate trust",
        )
    })
}
