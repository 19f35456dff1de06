//! What a hook leaves in the temporary directory when it is killed at a call of its own, one run
//! a call: nothing, two seconds later.
//!
//! Only the hook's main thread is struck. What watches over its checks lives, and cleans up.

use std::fs;
use std::path::Path as FilePath;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::points::ending;
use super::remains::entries;
use super::{Findings, HardnessOptions};
use crate::trace::{self, Asked, Point};

/// How long what is left may take to go, and what a loaded machine may add.
const GRACE: Duration = Duration::from_secs(4);
/// Every so many calls are struck in the bounded form.
const STRIDE: usize = 9;

/// Kills a stop with a check at its calls.
pub(super) fn measure(plan: &HardnessOptions, findings: &mut Findings) -> Result<()> {
    let stride = if plan.long { 1 } else { STRIDE };
    let mut path = ending()?;
    let temporary = path.scene.path("tmp");
    fs::create_dir_all(&temporary)?;
    path.call.variables.push(("TMPDIR", temporary.display().to_string()));
    path.scene.keep("kept")?;
    let (asked, _) = trace::trace(&path.call, &path.scene.path("notes"))?;
    let main = asked.first().map_or(0, |first| first.by);
    let own: Vec<Asked> = asked.into_iter().filter(|asked| asked.by == main).collect();
    let points: Vec<Point> = trace::points(&own).into_iter().step_by(stride).collect();
    let mut violations = Vec::new();
    for point in &points {
        path.scene.restore("kept")?;
        trace::strike_alone(&path.call, point, "signal=KILL")?;
        let left = left_in(&temporary);
        if !left.is_empty() {
            violations.push(format!("{} {}: left {left:?}", point.name, point.when));
            fs::remove_dir_all(&temporary)?;
            fs::create_dir_all(&temporary)?;
        }
    }
    let figures = "nothing left in the temporary directory";
    findings.add("kill points: what is left", points.len(), &violations, figures);
    Ok(())
}

/// What is still there when there was time to clean up.
fn left_in(directory: &FilePath) -> Vec<String> {
    let until = Instant::now() + GRACE;
    loop {
        let left = entries(directory);
        if left.is_empty() || Instant::now() > until {
            return left;
        }
        thread::sleep(Duration::from_millis(10));
    }
}
