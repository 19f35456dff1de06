//! Four people watch while sixty-four agents stop: no stop is lost, and hardly one waits for them.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::viewer::Viewer;
use crate::figures::{millis, ratio};
use crate::hardness::storm::{Storm, blow};
use crate::scene::Scene;
use crate::table::{Gates, Table};

const VIEWERS: usize = 4;
/// Storms of each kind, in turn; the middle one counts.
const ROUNDS: usize = 3;
const LOOPS: usize = 1;
const RATIO_GOAL: f64 = 1.25;
const WAL_MAX: u64 = 8 * 1024 * 1024;

/// Storms with and without viewers.
pub(super) fn measure(program: &Path, gates: &mut Gates) -> Result<()> {
    let columns = ["storm: 64 x 50", "stops/s", "p50 ms", "p99 ms", "log KiB", "frames KiB", ""];
    let mut table = Table::new("Viewers beside a storm", &columns);
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        without.push(round(program, 0, gates, &mut table)?);
        with.push(round(program, VIEWERS, gates, &mut table)?);
    }
    let [alone, watched] = [without, with].map(middle);
    let growth = ratio(watched, alone);
    let complaint = (growth > RATIO_GOAL).then(|| format!("viewers make a stop {growth:.2} times"));
    let word = gates.ask(complaint);
    table.note(format!(
        "p99 (middle of {ROUNDS}) with {VIEWERS} viewers: {growth:.2} times that without, goal {RATIO_GOAL}: {word}."
    ));
    table.print();
    Ok(())
}

fn middle(mut of: Vec<Duration>) -> Duration {
    of.sort_unstable();
    of.get(of.len() / 2).copied().unwrap_or_default()
}

/// One storm on a fresh machine; its p99.
fn round(program: &Path, count: usize, gates: &mut Gates, table: &mut Table) -> Result<Duration> {
    let scene = Scene::of(program.to_path_buf())?;
    scene.start("viewed", &[])?;
    let mut viewers = Vec::new();
    for _ in 0..count {
        let mut viewer = Viewer::start(&scene)?;
        viewer.first_frame()?;
        viewers.push(viewer);
    }
    let Storm { sample, violations, wal_max, stops_a_second, .. } = blow(LOOPS, &scene)?;
    let frames: usize = viewers.iter_mut().map(Viewer::bytes).sum();
    drop(viewers);
    let complaint = (wal_max > WAL_MAX).then(|| format!("the log has {wal_max} bytes"));
    let word = gates.ask(violations.into_iter().next().or(complaint));
    println!("{count} viewers: p99 {} ms, {word}", millis(sample.percentile(99)));
    table.row([
        format!("{count} viewers"),
        stops_a_second.to_string(),
        millis(sample.percentile(50)),
        millis(sample.percentile(99)),
        (wal_max / 1024).to_string(),
        (frames / 1024).to_string(),
        word,
    ]);
    Ok(sample.percentile(99))
}
