//! How soon a person sees that a criterion turned green, on either engine.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use stopgate_lab::{Cluster, Setup};

use super::viewer::Viewer;
use crate::figures::{Sample, millis};
use crate::scene::Scene;
use crate::table::{Gates, Table};

const ROUNDS: usize = 15;
const LATE: Duration = Duration::from_secs(1);
const QUIET: Duration = Duration::from_mins(1);
const BYTES_A_SECOND_MAX: u64 = 100;
/// Enough to fill a terminal.
const LOOPS: usize = 20;

/// A check passes; the time from the hook's end to the mark on the screen.
pub(super) fn measure(program: &Path, gates: &mut Gates) -> Result<()> {
    let cluster = Cluster::start(Setup::default())?;
    cluster.sql("postgres", "CREATE DATABASE seen")?;
    let columns = ["a criterion turns green", "median ms", "max ms", "goal ms", ""];
    let mut table = Table::new("How soon it is seen", &columns);
    for (engine, store) in [("SQLite", None), ("PostgreSQL", Some(cluster.socket_url("seen")))] {
        let mut scene = Scene::of(program.to_path_buf())?;
        scene.variables.extend(store.map(|store| ("STOPGATE_STORE", store)));
        let taken = (0..ROUNDS).map(|round| once(&scene, round)).collect::<Result<Vec<_>>>()?;
        let sample = Sample::new(taken);
        let late = sample.percentile(100) > LATE;
        let word = gates.ask(late.then(|| format!("{engine}: seen after more than a second")));
        table.row([
            engine.into(),
            millis(sample.median()),
            millis(sample.percentile(100)),
            LATE.as_millis().to_string(),
            word,
        ]);
    }
    table.print();
    Ok(())
}

/// A minute in which nothing happens but time; the bytes that a terminal is sent for the ages.
pub(super) fn measure_quiet(program: &Path, gates: &mut Gates) -> Result<()> {
    let scene = Scene::of(program.to_path_buf())?;
    for loop_number in 0..LOOPS {
        let session = format!("quiet-{loop_number}");
        scene.start(&session, &["--check", "tests=test -f ok", "--no-preflight"])?;
        scene.hook(&session, "Stop")?.run()?;
    }
    // From here on every age changes with every minute.
    thread::sleep(QUIET);
    let columns = ["view", "bytes in a minute", "bytes a second", "goal", ""];
    let mut table = Table::new("A quiet minute", &columns);
    for (view, keys) in [("all loops", &b""[..]), ("one loop", b"\r")] {
        let mut viewer = Viewer::start(&scene)?;
        viewer.first_frame()?;
        viewer.press(keys)?;
        thread::sleep(Duration::from_secs(2));
        viewer.forget();
        thread::sleep(QUIET);
        let sent = viewer.bytes() as u64;
        let rate = sent / QUIET.as_secs();
        let loud = rate > BYTES_A_SECOND_MAX;
        let word = gates.ask(loud.then(|| format!("{view}: {rate} bytes a second for ages alone")));
        let figures = [sent, rate, BYTES_A_SECOND_MAX].map(|figure| figure.to_string());
        let [sent, rate, goal] = figures;
        table.row([view.into(), sent, rate, goal, word]);
    }
    table.print();
    Ok(())
}

fn once(scene: &Scene, round: usize) -> Result<Duration> {
    let (session, ok) = (format!("seen-{round}"), scene.project().join("ok"));
    let _ = fs::remove_file(&ok);
    scene.start(&session, &["--check", "tests=test -f ok", "--no-preflight"])?;
    let stop = scene.hook(&session, "Stop")?;
    stop.run()?;
    let mut viewer = Viewer::start(scene)?;
    viewer.first_frame()?;
    viewer.forget();
    viewer.press(b"\r")?;
    viewer.wait_for(b"after stop 1")?;
    viewer.forget();
    fs::write(&ok, "")?;
    stop.run()?;
    let appended = Instant::now();
    viewer.wait_for("\u{2713}".as_bytes())?;
    Ok(appended.elapsed())
}
