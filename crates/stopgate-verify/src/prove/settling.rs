//! Reports that somebody still writes to after the checks have ended.
//!
//! Git ignores most reports, so the look at the tree does not tell whose they are.

use std::path::{Path, PathBuf};

use stopgate_core::{Criterion, Proof, Receipt, Status};

use crate::tree::Stat;

/// The reports of coverage that were read, and how they were found.
pub(super) struct SettlingReports(Vec<ReadReport>);

struct ReadReport {
    criterion: String,
    path: PathBuf,
    stat: Option<Stat>,
}

impl SettlingReports {
    /// Those of these criteria, as they are now.
    pub(super) fn of(criteria: &[&Criterion], root: &Path) -> Self {
        let report = |criterion: &&Criterion| {
            let Proof::Coverage { report, .. } = &criterion.proof else { return None };
            let path = root.join(report);
            let stat = stat_of(&path);
            Some(ReadReport { criterion: criterion.name.clone(), path, stat })
        };
        Self(criteria.iter().filter_map(report).collect())
    }

    /// Takes back a pass whose report was written to since.
    pub(super) fn doubt(self, receipts: &mut [Receipt]) {
        for report in self.0.into_iter().filter(|own| own.stat != stat_of(&own.path)) {
            let own = receipts.iter_mut().find(|receipt| receipt.criterion == report.criterion);
            if let Some(receipt) = own.filter(|receipt| receipt.status == Status::Pass) {
                let name = report.path.file_name().unwrap_or_default().to_string_lossy();
                receipt.status = Status::Fail;
                receipt.trouble = Some(format!("{name} is written to after the checks have ended"));
            }
        }
    }
}

fn stat_of(path: &Path) -> Option<Stat> {
    path.metadata().ok().map(|found| Stat::of_metadata(&found))
}

#[cfg(test)]
mod tests {
    use stopgate_core::{CoverageFormat, Floor, Timestamp};

    use super::*;

    #[test]
    fn a_report_that_is_written_to_afterwards_is_taken_back() {
        let scene = tempfile::tempdir().expect("a directory");
        let write = |text: &str| std::fs::write(scene.path().join("lcov.info"), text);
        let (report, format) = ("lcov.info".into(), Some(CoverageFormat::Lcov));
        let proof = Proof::Coverage { report, format, floor: Floor::default() };
        let criterion = Criterion::new("covered", proof);
        let settled = |meanwhile: &dyn Fn()| {
            write("DA:1,1\n").expect("write it");
            let reports = SettlingReports::of(&[&criterion], scene.path());
            meanwhile();
            let at = Timestamp::from_unix_millis(0);
            let mut receipts = [Receipt::new("covered", Status::Pass, at)];
            reports.doubt(&mut receipts);
            receipts[0].status
        };
        assert_eq!(settled(&|| {}), Status::Pass);
        assert_eq!(settled(&|| write("DA:1,1\nDA:2,1\n").expect("write it")), Status::Fail);
    }
}
