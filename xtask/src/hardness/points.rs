//! Killed at the entry of every system call, one run a point.

use anyhow::{Context, Result, bail};
use stopgate_store::Stored;

use super::{Findings, HardnessOptions};
use crate::journal;
use crate::scene::{Call, ENDLESS, Ran, Said, Scene};
use crate::trace::{self, Point};

const SESSION: &str = "held";
/// No log may take so many stops to fill.
const STOPS_MAX: usize = 1000;

/// A way through the program that is killed everywhere.
pub(super) struct Path {
    name: &'static str,
    pub(super) scene: Scene,
    pub(super) call: Call,
    kind: Kind,
}

/// What a path does to the loop, which says what may be found after a kill.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Sends the agent back.
    Continue,
    /// Takes a pending loop for the session and sends the agent back.
    Claim,
    /// Ends the loop, because its check passes.
    End,
    /// Begins a loop.
    Start,
    /// Ends the loop, because a person says so.
    Cancel,
}

/// What was found over all points.
#[derive(Default)]
struct Tally {
    killed: usize,
    done: usize,
    answered: usize,
    violations: Vec<String>,
}

/// Kills every path at every point.
pub(super) fn measure(plan: &HardnessOptions, findings: &mut Findings) -> Result<()> {
    let mut paths = vec![plain()?, ending()?];
    if plan.long {
        paths.extend([checkpoint()?, claim()?, start()?, first_start()?, cancel()?]);
    }
    for path in paths {
        sweep(&path, findings)?;
    }
    Ok(())
}

/// A stop as it usually is.
pub(super) fn plain() -> Result<Path> {
    let scene = Scene::new()?;
    scene.start(SESSION, &ENDLESS)?;
    let call = scene.hook(SESSION, "Stop")?;
    for _ in 0..3 {
        call.run()?;
    }
    Ok(Path { name: "sent back", scene, call, kind: Kind::Continue })
}

/// A stop that runs a check, which passes.
pub(super) fn ending() -> Result<Path> {
    let scene = Scene::new()?;
    scene.start(SESSION, &["--max-idle", "0", "--check", "works=true"])?;
    let call = scene.hook(SESSION, "Stop")?;
    Ok(Path { name: "ends, its check passes", scene, call, kind: Kind::End })
}

fn claim() -> Result<Path> {
    let scene = Scene::new()?;
    let mut arguments = vec!["start", "migrate the tests"];
    arguments.extend(ENDLESS);
    scene.command(&arguments)?;
    let call = scene.hook(SESSION, "Stop")?;
    Ok(Path { name: "claims a pending loop", scene, call, kind: Kind::Claim })
}

/// The log is filled until the next stop puts it back; that stop is undone.
pub(super) fn checkpoint() -> Result<Path> {
    let path = plain()?;
    for _ in 0..STOPS_MAX {
        let before = path.scene.wal_bytes();
        path.scene.keep("kept")?;
        path.call.run()?;
        if path.scene.wal_bytes() < before {
            path.scene.restore("kept")?;
            return Ok(Path { name: "sent back, with a checkpoint", ..path });
        }
    }
    bail!("fill the log: {STOPS_MAX} stops made no checkpoint")
}

fn start() -> Result<Path> {
    let scene = Scene::new()?;
    scene.start("other", &ENDLESS)?;
    let call = start_call(&scene);
    Ok(Path { name: "start", scene, call, kind: Kind::Start })
}

fn first_start() -> Result<Path> {
    let scene = Scene::new()?;
    let call = start_call(&scene);
    Ok(Path { name: "start, the first of a machine", scene, call, kind: Kind::Start })
}

fn start_call(scene: &Scene) -> Call {
    let mut arguments = vec!["start", "migrate the tests", "--session", SESSION];
    arguments.extend(ENDLESS);
    scene.call(&arguments)
}

fn cancel() -> Result<Path> {
    let path = plain()?;
    let call = path.scene.call(&["cancel", "--session", SESSION]);
    Ok(Path { name: "cancel", call, kind: Kind::Cancel, ..path })
}

fn sweep(path: &Path, findings: &mut Findings) -> Result<()> {
    path.scene.keep("kept")?;
    let (asked, ran) = trace::trace(&path.call, &path.scene.path("notes"))?;
    if !ran.status.success() {
        bail!("sweep «{}»: unharmed it ends with {}", path.name, ran.status);
    }
    path.scene.restore("kept")?;
    let before = iteration(&journal::inspect(&path.scene.home())?);
    let points = trace::points(&asked);
    let mut tally = Tally::default();
    for point in &points {
        if let Err(error) = kill(path, point, before, &mut tally) {
            tally.violations.push(format!("{} {}: could not {error:#}", point.name, point.when));
        }
    }
    let figures = format!(
        "{} killed; state unchanged {}, changed {}, of these answered {}",
        tally.killed,
        points.len() - tally.done,
        tally.done,
        tally.answered
    );
    let what = format!("kill points: {}", path.name);
    findings.add(&what, points.len(), &tally.violations, &figures);
    Ok(())
}

fn iteration(found: &[Stored]) -> u32 {
    held(found).and_then(|stored| stored.state.frames.first()).map_or(0, |frame| frame.iteration)
}

fn kill(path: &Path, point: &Point, before: u32, tally: &mut Tally) -> Result<()> {
    path.scene.restore("kept")?;
    let ran = trace::strike(&path.call, point, "signal=KILL")?;
    tally.killed += usize::from(!ran.status.success());
    let found = journal::inspect(&path.scene.home())?;
    let after = iteration(&found);
    let counts = matches!(path.kind, Kind::Continue | Kind::Claim | Kind::End);
    if after != before && !(counts && after == before + 1) {
        bail!("accept iteration {after} after {before}");
    }
    let done = is_done(path.kind, &found, before);
    let answered = has_answered(path.kind, &ran);
    tally.done += usize::from(done);
    tally.answered += usize::from(answered);
    if answered && !done {
        bail!("keep what was answered");
    }
    next_stop(path, &found)
}

/// Whether the path's change is in the journal.
fn is_done(kind: Kind, found: &[Stored], before: u32) -> bool {
    let own = held(found);
    let ended = own.is_some_and(|stored| stored.state.outcome().is_some());
    match kind {
        Kind::Continue | Kind::Claim => iteration(found) == before + 1,
        // A check whose shell was killed has failed, and the agent is sent back.
        Kind::End => ended || iteration(found) == before + 1,
        Kind::Start => own.is_some(),
        Kind::Cancel => ended,
    }
}

/// The loop that holds the session or waits for it.
fn held(found: &[Stored]) -> Option<&Stored> {
    let is_own = |stored: &&Stored| {
        stored.state.session.as_ref().is_none_or(|session| session.as_str() == SESSION)
    };
    found.iter().find(is_own)
}

fn has_answered(kind: Kind, ran: &Ran) -> bool {
    match kind {
        Kind::Continue | Kind::Claim | Kind::End => {
            matches!(ran.said(), Said::Continue | Said::Farewell)
        }
        Kind::Start | Kind::Cancel => !ran.stdout.is_empty(),
    }
}

/// The session's next stop is held exactly where the journal says that it is.
fn next_stop(path: &Path, found: &[Stored]) -> Result<()> {
    let runs = held(found).is_some_and(|stored| stored.state.outcome().is_none());
    let ran = path.scene.hook(SESSION, "Stop")?.run().context("stop again")?;
    let said = ran.said();
    let right = match said {
        Said::Continue => runs,
        Said::Farewell => runs && path.kind == Kind::End,
        Said::Nothing => !runs,
        Said::Warning | Said::Nonsense(_) => false,
    };
    if !right || !ran.status.success() {
        bail!("stop again: running is {runs}, the stop said {said:?}");
    }
    let again = iteration(&journal::inspect(&path.scene.home())?);
    if said == Said::Continue && again != iteration(found) + 1 {
        bail!("count the next stop");
    }
    Ok(())
}
