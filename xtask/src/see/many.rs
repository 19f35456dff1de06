//! Ten thousand loops with a million events: how soon the first frame comes, and what it takes.

use std::path::Path;

use anyhow::{Result, bail};

use super::viewer::Viewer;
use crate::figures::{Sample, millis, ratio};
use crate::journal;
use crate::scene::Scene;
use crate::table::{Gates, Table};

const LOOPS: u32 = 10_000;
const EVENTS_EACH: u32 = 100;
const ROUNDS: usize = 7;
const STOPS: u32 = 100_000;
const STOPS_A_SECOND_MIN: f64 = 100_000.0;
const RATIO_MAX: f64 = 1.5;
const MEMORY_KIB_MAX: u64 = 64 * 1024;

/// `list` and `watch` in turn on one large journal.
pub(super) fn measure(program: &Path, gates: &mut Gates) -> Result<()> {
    let scene = Scene::of(program.to_path_buf())?;
    journal::fill(&scene.home(), &scene.project(), LOOPS, EVENTS_EACH)?;
    let (events, loops) = journal::counts(&scene.home())?;
    println!("\n{loops} loops, {events} events");
    let (mut listed, mut framed, mut once, mut peak) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for _ in 0..ROUNDS {
        listed.push(scene.command(&["list"])?.took);
        let mut viewer = Viewer::start(&scene)?;
        framed.push(viewer.first_frame()?);
        peak = peak.max(viewer.peak_kib()?);
        drop(viewer);
        once.push(scene.command(&["watch", "--once"])?.took);
    }
    let [listed, framed, once] = [listed, framed, once].map(|taken| Sample::new(taken).median());
    let growth = ratio(framed, listed);
    let mut table =
        Table::new("Many loops", &["what", "median ms", "to list", "goal", "peak MiB", ""]);
    let cell = |of| format!("{:.2}", ratio(of, listed));
    let none = String::new;
    table.row(["list".into(), millis(listed), "1.00".into(), none(), none(), none()]);
    table.row(["watch --once".into(), millis(once), cell(once), none(), none(), none()]);
    let slow = (growth > RATIO_MAX).then(|| format!("a first frame takes {growth:.2} times list"));
    let large = (peak > MEMORY_KIB_MAX).then(|| format!("watch takes {peak} KiB"));
    let word = [gates.ask(slow), gates.ask(large)].join(", ");
    let goal = format!("{RATIO_MAX}, {} MiB", MEMORY_KIB_MAX / 1024);
    table.row([
        "watch, first frame on a terminal".into(),
        millis(framed),
        cell(framed),
        goal,
        format!("{:.1}", crate::figures::count_ratio(peak, 1024)),
        word,
    ]);
    table.print();
    replay(program, gates)
}

/// One loop of many stops, decided again by one process: the time to read it is in it.
fn replay(program: &Path, gates: &mut Gates) -> Result<()> {
    let scene = Scene::of(program.to_path_buf())?;
    journal::fill(&scene.home(), &scene.project(), 1, STOPS + 1)?;
    let mut took = Vec::new();
    for _ in 0..ROUNDS {
        let ran = scene.command(&["replay", "filler000000"])?;
        if !ran.status.success() {
            bail!("replay a loop: {}", String::from_utf8_lossy(&ran.stdout));
        }
        took.push(ran.took);
    }
    let median = Sample::new(took).median();
    let a_second = f64::from(STOPS) / median.as_secs_f64();
    let slow = (a_second < STOPS_A_SECOND_MIN).then(|| format!("{a_second:.0} stops/s replayed"));
    let word = gates.ask(slow);
    println!(
        "\n{STOPS} stops replayed in {} ms: {a_second:.0} stops/s, goal 100,000: {word}.",
        millis(median)
    );
    Ok(())
}
