//! A disk that fails at every call, one run a failure: the turn is let go, the
//! journal stays sound, and what was answered is in it.

use std::time::Duration;

use anyhow::{Result, bail};

use super::points::{Path, plain};
use super::{Findings, HardnessOptions};
use crate::journal;
use crate::scene::{Call, Said, Scene};
use crate::trace::{self, Asked, Point};

const SESSION: &str = "held";
const ERRORS: [&str; 2] = ["ENOSPC", "EIO"];
const LONG_ERRORS: [&str; 6] = ["ENOSPC", "EIO", "EACCES", "EROFS", "EINTR", "ENOMEM"];
/// Calls that a failing disk fails.
const CALLS: [&str; 9] =
    ["open", "openat", "read", "pread64", "write", "pwrite64", "ftruncate", "fsync", "fdatasync"];
/// Calls that hardly ever fail; where a lock can't even be given back, a stop waits for seconds.
const LONG_CALLS: [&str; 4] = ["flock", "fcntl", "mmap", "fstat"];

/// Lets every call fail, on a stop as it usually is and on one with a checkpoint.
pub(super) fn measure(plan: &HardnessOptions, findings: &mut Findings) -> Result<()> {
    let (errors, calls) = if plan.long {
        (LONG_ERRORS.to_vec(), [&CALLS[..], &LONG_CALLS].concat())
    } else {
        (ERRORS.to_vec(), CALLS.to_vec())
    };
    let disk = Disk { errors, calls };
    let Path { scene, call, .. } = plain()?;
    sweep("faults injected: sent back", &scene, &call, &disk, findings)?;
    journal::truncate_wal(&scene.home())?;
    sweep("faults injected: a new log", &scene, &call, &disk, findings)
}

/// What fails, and how.
struct Disk {
    errors: Vec<&'static str>,
    calls: Vec<&'static str>,
}

impl Disk {
    /// Only calls on the home's files, on the payload and on the answer.
    fn fails(&self, asked: &[Asked], point: &Point) -> bool {
        let line = line(asked, point);
        let touches = line.contains("/home/") || line.contains("(0<") || line.contains("(1<");
        touches && self.calls.contains(&point.name.as_str())
    }
}

#[derive(Default)]
struct Tally {
    blows: usize,
    continued: usize,
    released: usize,
    unanswered: usize,
    slowest: (Duration, String),
    violations: Vec<String>,
}

fn sweep(
    what: &str,
    scene: &Scene,
    call: &Call,
    disk: &Disk,
    findings: &mut Findings,
) -> Result<()> {
    scene.keep("kept")?;
    let (asked, _) = trace::trace(call, &scene.path("notes"))?;
    scene.restore("kept")?;
    let before = journal::iteration(&journal::inspect(&scene.home())?, SESSION).unwrap_or(0);
    let mut tally = Tally::default();
    for point in trace::points(&asked).iter().filter(|point| disk.fails(&asked, point)) {
        for error in &disk.errors {
            scene.restore("kept")?;
            tally.blows += 1;
            if let Err(trouble) = fail(scene, call, point, error, before, &mut tally) {
                let place = place(&asked, point);
                tally.violations.push(format!("{error} at {place}: could not {trouble:#}"));
            }
        }
    }
    let figures = format!(
        "continued {}, let go {}, stored but not answered {}; slowest {} ms ({})",
        tally.continued,
        tally.released,
        tally.unanswered,
        tally.slowest.0.as_millis(),
        tally.slowest.1
    );
    findings.add(what, tally.blows, &tally.violations, &figures);
    Ok(())
}

fn fail(
    scene: &Scene,
    call: &Call,
    point: &Point,
    error: &str,
    before: u32,
    tally: &mut Tally,
) -> Result<()> {
    let ran = trace::strike(call, point, &format!("error={error}"))?;
    if ran.took > tally.slowest.0 {
        tally.slowest = (ran.took, format!("{error} at {}", point.name));
    }
    if !ran.status.success() {
        bail!("end well: {}", ran.status);
    }
    let found = journal::inspect(&scene.home())?;
    let after = journal::iteration(&found, SESSION).unwrap_or(0);
    let counted = after == before + 1;
    if !counted && after != before {
        bail!("accept iteration {after} after {before}");
    }
    match ran.said() {
        Said::Continue if counted => tally.continued += 1,
        Said::Continue => bail!("find the stop that was answered"),
        // Let go, with or without a word to the person.
        Said::Nothing | Said::Warning if counted => tally.unanswered += 1,
        Said::Nothing | Said::Warning if scene.faults() == 0 => {
            bail!("find a line in the log of faults")
        }
        Said::Nothing | Said::Warning => tally.released += 1,
        said @ (Said::Farewell | Said::Nonsense(_)) => bail!("understand {said:?}"),
    }
    let next = call.run()?;
    if next.said() != Said::Continue || !next.status.success() {
        bail!("stop again: it said {:?}", next.said());
    }
    let again = journal::iteration(&journal::inspect(&scene.home())?, SESSION).unwrap_or(0);
    if again != after + 1 {
        bail!("count the next stop");
    }
    Ok(())
}

fn line<'a>(asked: &'a [Asked], point: &Point) -> &'a str {
    let mut named = asked.iter().filter(|asked| asked.name == point.name);
    named.nth(point.when - 1).map_or("", |asked| asked.line.as_str())
}

/// The call as it was traced, cut short.
fn place(asked: &[Asked], point: &Point) -> String {
    let shown: String = line(asked, point).chars().take(90).collect();
    format!("{} {}: {shown}", point.name, point.when)
}
