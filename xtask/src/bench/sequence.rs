//! A thousand stops, one after the other: nothing may pile up.

use std::time::Duration;

use anyhow::{Result, bail};

use crate::figures::{Sample, millis, ratio};
use crate::scene::{ENDLESS, Said, Scene};
use crate::table::{Gates, Table};

const STOPS: usize = 1000;
const CHECKPOINT_GOAL: Duration = Duration::from_millis(20);
const WAL_BYTES_MAX: u64 = 1024 * 1024;

/// Runs them and prints what they left.
pub(super) fn measure(gates: &mut Gates) -> Result<()> {
    let scene = Scene::new()?;
    scene.start("held", &ENDLESS)?;
    let call = scene.hook("held", "Stop")?;
    let (mut plain, mut paying, mut wal_max) = (Vec::new(), Vec::new(), 0);
    for _ in 0..STOPS {
        let before = scene.wal_bytes();
        let ran = call.run()?;
        if ran.said() != Said::Continue {
            bail!("go on: a stop said {:?}", ran.said());
        }
        let after = scene.wal_bytes();
        wal_max = wal_max.max(after);
        if after < before { paying.push(ran.took) } else { plain.push(ran.took) }
    }
    print(&scene, &plain, paying, wal_max, gates);
    Ok(())
}

fn print(
    scene: &Scene,
    plain: &[Duration],
    paying: Vec<Duration>,
    wal_max: u64,
    gates: &mut Gates,
) {
    let all = Sample::new(plain.iter().chain(&paying).copied().collect());
    let spread = ratio(all.percentile(95), all.median());
    let share = STOPS.checked_div(paying.len()).unwrap_or(STOPS);
    let paying = Sample::new(paying);
    let mut table =
        Table::new("A thousand stops in a row", &["what", "measured", "goal", "gate", ""]);
    let ok =
        gates.ask((wal_max > WAL_BYTES_MAX).then(|| format!("the log grew to {wal_max} bytes")));
    let none = String::new;
    let goal = |reached: bool, text: &str| if reached { text.into() } else { format!("({text})") };
    table.row([
        "log, most bytes".into(),
        wal_max.to_string(),
        none(),
        WAL_BYTES_MAX.to_string(),
        ok,
    ]);
    table.row(["log, bytes after".into(), scene.wal_bytes().to_string(), none(), none(), none()]);
    table.row([
        "stops for one checkpoint".into(),
        share.to_string(),
        goal(share >= 40, ">= 40"),
        none(),
        none(),
    ]);
    let median = millis(paying.median());
    table.row([
        "checkpoint stop, median ms".into(),
        median,
        goal(paying.median() <= CHECKPOINT_GOAL, "<= 20"),
        none(),
        none(),
    ]);
    let times = format!("{} / {}", millis(all.median()), millis(all.percentile(95)));
    table.row(["p50 / p95 ms".into(), times, none(), none(), none()]);
    table.row([
        "p95 / p50".into(),
        format!("{spread:.2}"),
        goal(spread <= 1.5, "<= 1.50"),
        none(),
        none(),
    ]);
    table.print();
}
