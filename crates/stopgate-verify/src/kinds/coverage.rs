//! How much of the code the tests reach, from the report that they wrote.

use std::path::Path;
use std::time::{Duration, SystemTime};

use stopgate_core::{CoverageFormat, Floor};
use stopgate_system::fs::MetadataExt;

use super::places::{self, Content};
use super::{KindFinding, PathRule};
use crate::coverage::{self as reports, CoverageVerdict};

const REPORT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// File systems keep times in steps: the kernel's clock tick, or whole seconds.
const TICK: Duration = Duration::from_millis(10);
const COARSE_STEP: Duration = Duration::from_secs(2);

/// What a report is held against besides the floor.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReportTimes {
    /// One that is older than this is of other code.
    pub newer_than: Option<SystemTime>,
    /// When the commands of this stop began; none where none ran.
    pub written_since: Option<SystemTime>,
}

/// Holds the report against what is asked for.
///
/// A report that the commands of this stop did not write is somebody's word: it may be old,
/// or written by hand.
pub fn coverage(
    root: &Path,
    report: &str,
    format: Option<CoverageFormat>,
    floor: &Floor,
    times: ReportTimes,
    rule: PathRule,
) -> KindFinding {
    let path = match places::one(root, report, rule) {
        Ok(path) => path,
        Err(trouble) => return KindFinding::error(trouble),
    };
    let finding = judge(&path, report, format, floor, times);
    match times.written_since {
        Some(since) if is_written_since(&path, since) => finding,
        Some(_) | None => finding.into_word(),
    }
}

/// Both times count: the one of the contents can be set by anybody.
fn is_written_since(path: &Path, since: SystemTime) -> bool {
    let Ok(metadata) = path.metadata() else { return false };
    let changed = u64::try_from(metadata.ctime()).unwrap_or(0);
    let nanos = u64::try_from(metadata.ctime_nsec()).unwrap_or(0);
    let changed =
        SystemTime::UNIX_EPOCH + Duration::from_secs(changed) + Duration::from_nanos(nanos);
    let step = if nanos == 0 { COARSE_STEP } else { TICK };
    let begun = since.checked_sub(step).unwrap_or(since);
    metadata.modified().is_ok_and(|modified| modified >= begun) && changed >= begun
}

fn judge(
    path: &Path,
    report: &str,
    format: Option<CoverageFormat>,
    floor: &Floor,
    times: ReportTimes,
) -> KindFinding {
    let content = match places::read(path, REPORT_BYTES_MAX) {
        Content::Whole(content) => content,
        Content::Missing => {
            return KindFinding::fail(format!(
                "no such report: {report}: run the tests with coverage first"
            ));
        }
        Content::TooLarge => {
            let limit = REPORT_BYTES_MAX / 1024 / 1024;
            return KindFinding::error(format!("{report} is larger than {limit} MiB"));
        }
        Content::Unreadable(why) => return KindFinding::error(format!("{report}: {why}")),
    };
    let written = path.metadata().and_then(|metadata| metadata.modified()).ok();
    if times.newer_than.zip(written).is_some_and(|(newest, written)| written < newest) {
        return KindFinding::fail(format!(
            "{report} is older than the code: run the tests with coverage again"
        ));
    }
    let Ok(text) = str::from_utf8(&content) else {
        return KindFinding::error(format!("{report} is not text"));
    };
    match reports::read(text, format) {
        Err(trouble) => KindFinding::error(format!("{report}: {trouble}")),
        Ok(coverage) => match reports::judge(&coverage, floor) {
            CoverageVerdict::Met => KindFinding::pass(coverage.to_string()),
            CoverageVerdict::Short(short) => KindFinding::fail(short),
            CoverageVerdict::Unproven(why) => KindFinding::error(format!("{report}: {why}")),
        },
    }
}
