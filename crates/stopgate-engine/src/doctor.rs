//! Everything that `doctor` looks at: what is set up, and loops in other tools' files.

use std::path::Path;

use crate::dialect;
use crate::settings::Settings;
use crate::setup::{self, Examination};
use crate::stores::Stores;

/// Looks at everything that concerns somebody who works in `directory` with `program`.
pub fn examine(
    settings: Settings,
    stores: Stores,
    directory: &Path,
    program: &Path,
) -> Examination {
    let mut found = setup::examine(settings, stores, directory, program);
    found.findings.extend(dialect::findings(settings, stores, directory));
    found
}
