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
