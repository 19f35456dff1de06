//! Whether tests ask git which files there are.

use super::super::git_state::is_asked_by;
use super::super::text::{FileText, text_path};
use super::Compare;
use crate::judges::JudgeRole;

/// Languages that tests are written in.
const LANGUAGES: [&str; 9] = ["py", "js", "mjs", "cjs", "ts", "rs", "go", "sh", "bats"];

impl Compare<'_> {
    /// Whether a test of the start asks git about the files, and finds others than there were.
    pub(super) fn tests_ask_git(&self) -> bool {
        let rules = self.noted.judges.rules();
        let differs = !self.found.restore.is_empty() || !self.found.absent.is_empty();
        let asks = |file: &FileText| {
            let path = text_path(&file.path);
            let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
            LANGUAGES.contains(&end)
                && matches!(rules.role(&path), JudgeRole::Whole(_))
                && self.original(file).is_some_and(|text| is_asked_by(&text))
        };
        differs && self.basis.text.files.iter().any(asks)
    }
}
