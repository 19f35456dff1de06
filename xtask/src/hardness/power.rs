//! The power goes, at any moment: what was synced is there, and the journal is sound.
//!
//! Stops are traced with all that they write, through a checkpoint and beyond. From each
//! beginning of that trace disks are put together as a loss of power may leave them (see
//! [`super::disk`]), and each is opened and looked through.

use std::fs;

use anyhow::{Result, bail};

use super::disk::{Disk, Honesty, LOSSES, Loss, Step, steps};
use super::{Findings, HardnessOptions};
use crate::figures::Chance;
use crate::journal;
use crate::scene::{Call, ENDLESS, Said, Scene};
use crate::trace;

const SESSION: &str = "held";
const FILES: [&str; 2] = ["journal.db", "journal.db-wal"];
/// Stops after the checkpoint.
const STOPS_AFTER: usize = 5;
const STOPS_MAX: usize = 300;
/// Images of a disk that lies.
const CONTROLS: usize = 100;
/// Every so manyth image is stopped against.
const STOP_EVERY: usize = 10;

/// What an answered stop is promised to survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Promise {
    /// The end of its process: the power may take what no checkpoint saw.
    Process,
    /// The power too.
    PowerLoss,
}

/// Stops as they happened.
struct Recording {
    scene: Scene,
    call: Call,
    base: Disk,
    steps: Vec<Step>,
    promise: Promise,
}

#[derive(Default)]
struct Tally {
    kept_all: usize,
    lost_some: usize,
    violations: Vec<String>,
}

/// Loses power as often as the plan says, with both promises.
pub(super) fn measure(plan: &HardnessOptions, findings: &mut Findings) -> Result<()> {
    let images = if plan.long { 5000 } else { 300 };
    let usual = record(Promise::Process)?;
    replay("power loss", &usual, images, plan, findings);
    let durable = record(Promise::PowerLoss)?;
    replay("power loss, durability = \"power-loss\"", &durable, images, plan, findings);
    Ok(())
}

/// Traces stops until one has made a checkpoint, and some more.
fn record(promise: Promise) -> Result<Recording> {
    let scene = Scene::new()?;
    if promise == Promise::PowerLoss {
        let directory = scene.project().join(".config/stopgate");
        fs::create_dir_all(&directory)?;
        fs::write(directory.join("config.toml"), "[store]\ndurability = \"power-loss\"\n")?;
    }
    scene.start(SESSION, &ENDLESS)?;
    journal::truncate_wal(&scene.home())?;
    let call = scene.hook(SESSION, "Stop")?;
    let base = Disk::read(&scene.home(), &FILES)?;
    let mut recorded = Vec::new();
    let (mut most, mut left) = (0, STOPS_MAX);
    while left > 0 {
        let (asked, ran) = trace::trace_writes(&call, &scene.path("notes"))?;
        if ran.said() != Said::Continue {
            bail!("go on: a stop said {:?}", ran.said());
        }
        recorded.extend(steps(&asked, &FILES)?);
        let length = scene.wal_bytes();
        left = if length < most { left.min(STOPS_AFTER) } else { left } - 1;
        most = most.max(length);
    }
    Ok(Recording { scene, call, base, steps: recorded, promise })
}

fn replay(
    what: &str,
    recording: &Recording,
    images: usize,
    plan: &HardnessOptions,
    findings: &mut Findings,
) {
    let steps = &recording.steps;
    let number = |wanted: fn(&Step) -> bool| steps.iter().filter(|step| wanted(step)).count();
    let syncs = number(|step| matches!(step, Step::Sync { .. }));
    let answers = number(|step| *step == Step::Answer);
    let mut tally = Tally::default();
    let mut chance = Chance::new(plan.seed);
    for image in 0..images {
        let found = lose(recording, image, Honesty::Honest, &mut chance);
        match found {
            Ok(Kept::All) => tally.kept_all += 1,
            Ok(Kept::Promised) => tally.lost_some += 1,
            Err(error) => tally.violations.push(format!("image {image}: could not {error:#}")),
        }
    }
    let caught = (0..CONTROLS)
        .filter(|image| lose(recording, *image, Honesty::Lying, &mut chance).is_err())
        .count();
    if caught == 0 {
        tally.violations.push("a disk that lies is not found out".into());
    }
    let figures = format!(
        "{answers} stops, {} steps, {syncs} syncs; all answered there {}, the last ones lost {}; \
         control: {caught} of {CONTROLS} images of a disk that ignores syncs found out",
        steps.len(),
        tally.kept_all,
        tally.lost_some
    );
    findings.add(what, images, &tally.violations, &figures);
}

/// What was there afterwards.
enum Kept {
    /// Every stop that was answered.
    All,
    /// Those that were promised to be, and the last ones not.
    Promised,
}

/// Stops up to a moment.
#[derive(Clone, Copy, Debug, Default)]
struct Stops {
    begun: u32,
    answered: u32,
    /// Those that must be there.
    promised: u32,
}

/// Follows the recording to a moment of chance, takes the power away and looks.
fn lose(
    recording: &Recording,
    image: usize,
    honesty: Honesty,
    chance: &mut Chance,
) -> Result<Kept> {
    let Recording { scene, call, steps, .. } = recording;
    let cut = moment(steps, image, chance);
    let loss = LOSSES.get(image % LOSSES.len()).copied().unwrap_or(Loss::Nothing);
    let mut disk = recording.base.clone();
    steps.iter().take(cut).for_each(|step| disk.follow(step, honesty));
    let stops = count(&steps[..cut], recording.promise);
    let home = scene.home();
    for file in FILES.iter().chain(&["journal.db-shm"]) {
        let _ = fs::remove_file(home.join(file));
    }
    disk.lose(&home, loss, chance)?;
    if chance.below(2) == 0 {
        // The index of the log is nobody's promise: any old one may lie there.
        let junk: Vec<u8> = (0..32 * 1024).map(|_| chance.below(256).to_le_bytes()[0]).collect();
        fs::write(home.join("journal.db-shm"), junk)?;
    }
    let at = || format!("{loss:?} at step {cut}");
    let found = journal::inspect(&home).map_err(|error| error.context(at()))?;
    let Some(counted) = journal::iteration(&found, SESSION) else {
        bail!("find the loop after {}", at());
    };
    if counted < stops.promised || counted > stops.begun {
        bail!("accept {}: {counted} there, {stops:?}", at());
    }
    if honesty == Honesty::Honest && image.is_multiple_of(STOP_EVERY) {
        let said = call.run()?.said();
        let next = journal::iteration(&journal::inspect(&home)?, SESSION);
        if said != Said::Continue || next != Some(counted + 1) {
            bail!("go on after {}: {said:?}, {next:?} after {counted}", at());
        }
    }
    Ok(if counted >= stops.answered { Kept::All } else { Kept::Promised })
}

/// When the power goes: any time, and every other time not before the checkpoint begins.
fn moment(steps: &[Step], image: usize, chance: &mut Chance) -> usize {
    let synced = steps.iter().position(|step| matches!(step, Step::Sync { .. }));
    let earliest = if image.is_multiple_of(2) { 0 } else { synced.unwrap_or(0) };
    let span = steps.len() - earliest;
    earliest + usize::try_from(chance.below(span as u64 + 1)).unwrap_or(0)
}

/// How many stops there were, and how many of them must be there.
fn count(steps: &[Step], promise: Promise) -> Stops {
    let mut counted = Stops::default();
    for step in steps {
        match step {
            Step::Begin => counted.begun += 1,
            Step::Answer => {
                counted.answered += 1;
                if promise == Promise::PowerLoss {
                    counted.promised = counted.answered;
                }
            }
            Step::Sync { file } if file.ends_with("-wal") => counted.promised = counted.answered,
            Step::Sync { .. } | Step::Write { .. } | Step::Cut { .. } => {}
        }
    }
    counted
}
