//! A disk that hangs, at every call, one run a call: the agent may stop all the same.
//!
//! strace holds a call of the hook for longer than anybody waits. Only the hook's own watchdog
//! can answer then, and only it can end a process that has answered and hangs afterwards.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Result, bail};

use super::points::{Path, checkpoint, plain};
use super::{Findings, HardnessOptions};
use crate::journal;
use crate::scene::Said;
use crate::tools;
use crate::trace::{self, Asked, Point};

/// How long a call is held.
const HANG: &str = "delay_enter=16000000";
/// What is promised; a call that has answered has as much once more to end.
const PROMISED: Duration = Duration::from_secs(5);
/// What tracing and a loaded machine may add.
const SLACK: Duration = Duration::from_secs(3);
/// Runs that hang at the same time; they only wait.
const ABREAST: usize = 24;
/// Every so many calls are struck in the bounded form.
const STRIDE: usize = 8;

/// Holds every call of a usual stop, and of one that ends with a checkpoint.
pub(super) fn measure(plan: &HardnessOptions, findings: &mut Findings) -> Result<()> {
    let stride = if plan.long { 1 } else { STRIDE };
    sweep("hangs: sent back", plain, stride, findings)?;
    sweep("hangs: sent back, with a checkpoint", checkpoint, stride, findings)
}

/// What came of all runs.
#[derive(Default)]
struct Tally {
    blows: usize,
    let_go: usize,
    continued: usize,
    slowest: (Duration, String),
    violations: Vec<String>,
}

fn sweep(
    what: &str,
    make: fn() -> Result<Path>,
    stride: usize,
    findings: &mut Findings,
) -> Result<()> {
    let path = make()?;
    path.scene.keep("kept")?;
    let (asked, _) = trace::trace(&path.call, &path.scene.path("notes"))?;
    let points: Vec<Point> = watched(&asked).into_iter().step_by(stride).collect();
    let (next, tally) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    tools::abreast(ABREAST, |_| {
        // One machine each: who hangs holds the journal.
        let path = make()?;
        path.scene.keep("kept")?;
        while let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
            path.scene.restore("kept")?;
            hang(&path, point, &tally);
        }
        Ok(())
    })?;
    let tally = tally.into_inner().unwrap_or_default();
    let figures = format!(
        "let go {}, answered {}; slowest {} ms ({})",
        tally.let_go,
        tally.continued,
        tally.slowest.0.as_millis(),
        tally.slowest.1
    );
    findings.add(what, tally.blows, &tally.violations, &figures);
    Ok(())
}

/// The calls on files after the watchdog began: what comes before is not the disk's to hold.
fn watched(asked: &[Asked]) -> Vec<Point> {
    let main = asked.first().map_or(0, |first| first.by);
    let is_begun = |asked: &Asked| asked.by == main && asked.name.starts_with("clone");
    let Some(begun) = asked.iter().position(is_begun) else { return Vec::new() };
    let ours: Vec<Asked> = asked.iter().filter(|asked| asked.by == main).cloned().collect();
    let before = trace::points(&asked[..begun]).len();
    let named = |point: &Point| {
        let mut same = ours.iter().filter(|asked| asked.name == point.name);
        same.nth(point.when - 1).is_some_and(|asked| asked.line.contains('/'))
    };
    trace::points(&ours).into_iter().skip(before).filter(named).collect()
}

fn hang(path: &Path, point: &Point, tally: &Mutex<Tally>) {
    let came = struck(path, point);
    let Ok(mut tally) = tally.lock() else { return };
    tally.blows += 1;
    let place = format!("{} {}", point.name, point.when);
    match came {
        Ok((said, took)) => {
            match said {
                Said::Continue => tally.continued += 1,
                _nothing => tally.let_go += 1,
            }
            if took > tally.slowest.0 {
                tally.slowest = (took, place);
            }
        }
        Err(error) => tally.violations.push(format!("{place}: could not {error:#}")),
    }
}

fn struck(path: &Path, point: &Point) -> Result<(Said, Duration)> {
    let notes = path.scene.path("notes");
    let (ran, took) = trace::strike_timed(&path.call, point, HANG, &notes)?;
    if !ran.status.success() {
        bail!("end well: {}", ran.status);
    }
    let said = ran.said();
    let promised = if said == Said::Continue { PROMISED * 2 } else { PROMISED };
    if took > promised + SLACK {
        bail!("wait for {} ms", took.as_millis());
    }
    if !matches!(said, Said::Continue | Said::Nothing) {
        bail!("understand {said:?}");
    }
    journal::inspect(&path.scene.home())?;
    let next = path.call.run()?;
    if next.said() != Said::Continue || !next.status.success() {
        bail!("stop again: it said {:?}", next.said());
    }
    Ok((said, took))
}
