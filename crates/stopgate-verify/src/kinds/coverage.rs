//! How much of the code the tests reach, from the report that they wrote.

use std::path::Path;
use std::time::SystemTime;

use stopgate_core::{CoverageFormat, Floor};

use super::Finding;
use super::places::{self, Content};
use crate::coverage::{self as reports, Verdict};

const REPORT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Holds the report against what is asked for; one that is older than `newer_than` is of
/// other code.
pub fn coverage(
    root: &Path,
    report: &str,
    format: Option<CoverageFormat>,
    floor: &Floor,
    newer_than: Option<SystemTime>,
) -> Finding {
    let path = match places::one(root, report) {
        Ok(path) => path,
        Err(trouble) => return Finding::error(trouble),
    };
    let content = match places::read(&path, REPORT_BYTES_MAX) {
        Content::Whole(content) => content,
        Content::Missing => {
            return Finding::fail(format!(
                "no such report: {report}: run the tests with coverage first"
            ));
        }
        Content::TooLarge => {
            let limit = REPORT_BYTES_MAX / 1024 / 1024;
            return Finding::error(format!("{report} is larger than {limit} MiB"));
        }
        Content::Unreadable(why) => return Finding::error(format!("{report}: {why}")),
    };
    let written = path.metadata().and_then(|metadata| metadata.modified()).ok();
    if newer_than.zip(written).is_some_and(|(newest, written)| written < newest) {
        return Finding::fail(format!(
            "{report} is older than the code: run the tests with coverage again"
        ));
    }
    let Ok(text) = str::from_utf8(&content) else {
        return Finding::error(format!("{report} is not text"));
    };
    match reports::read(text, format) {
        Err(trouble) => Finding::error(format!("{report}: {trouble}")),
        Ok(coverage) => match reports::judge(&coverage, floor) {
            Verdict::Met => Finding::pass(coverage.to_string()),
            Verdict::Short(short) => Finding::fail(short),
            Verdict::Unproven(why) => Finding::error(format!("{report}: {why}")),
        },
    }
}
