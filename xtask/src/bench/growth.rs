//! The same stop over journals of a thousand to a million events: it must not notice.

use std::fs;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::figures::{Sample, count_ratio, micros, ratio};
use crate::scene::{Call, ENDLESS, Said, Scene};
use crate::table::{Gates, Table};
use crate::tools::{self, Tool};
use crate::{journal, trace};

/// Events that journals are filled with, and how that is said.
pub(crate) const SIZES: [(u32, &str); 4] =
    [(1_000, "1,000"), (10_000, "10,000"), (100_000, "100,000"), (1_000_000, "1,000,000")];
/// Events of one of the loops that a journal is filled with.
pub(crate) const EVENTS_A_LOOP: u32 = 10;
pub(crate) const SESSION: &str = "held";
/// Flat.
const GROWTH_MAX: f64 = 1.15;
const WARM_UP: usize = 5;

/// One journal, and the stop that is timed on it.
pub(crate) struct Grown {
    pub(crate) name: String,
    pub(crate) scene: Scene,
    pub(crate) call: Call,
}

/// Fills SQLite journals, times a stop on each and prints it.
pub(super) fn measure(rounds: usize, gates: &mut Gates) -> Result<()> {
    let mut grown = Vec::new();
    for (events, shown) in SIZES {
        let scene = Scene::new()?;
        fs::create_dir_all(scene.home())?;
        journal::fill(&scene.home(), &scene.project(), events / EVENTS_A_LOOP, EVENTS_A_LOOP)?;
        scene.start(SESSION, &ENDLESS)?;
        journal::truncate_wal(&scene.home())?;
        let call = scene.hook(SESSION, "Stop")?;
        grown.push(Grown { name: format!("{shown} events"), scene, call });
    }
    print("A stop over a growing journal, SQLite", &grown, rounds, gates)
}

/// Times the stops in turn; each is compared with the no-op and with the first.
pub(crate) fn print(title: &str, grown: &[Grown], rounds: usize, gates: &mut Gates) -> Result<()> {
    let (idle, took) = time(grown, rounds)?;
    let columns =
        ["cold active stop", "median us", "ratio", "growth", "instructions", "growth", ""];
    let mut table = Table::new(title, &columns);
    let valgrind = tools::get("valgrind", "valgrind");
    let mut first = None;
    for (one, sample) in grown.iter().zip(&took) {
        let counted = (valgrind == Tool::Here).then(|| instructions(one)).transpose()?;
        let (slow, many) = *first.get_or_insert((sample.median(), counted));
        let slower = ratio(sample.median(), slow);
        let more = counted.zip(many).map(|(own, first)| count_ratio(own, first));
        let mut word = ask(gates, &one.name, slower, "the time");
        match more {
            Some(more) if word == "ok" => word = ask(gates, &one.name, more, "the instructions"),
            Some(_) => {}
            None => word = gates.unmeasured("not measured: no valgrind"),
        }
        let text = |figure: Option<String>| figure.unwrap_or_else(|| "-".into());
        table.row([
            one.name.clone(),
            micros(sample.median()),
            format!("{:.2}", ratio(sample.median(), idle)),
            format!("x{slower:.2}"),
            text(counted.map(|count| count.to_string())),
            text(more.map(|more| format!("x{more:.3}"))),
            word,
        ]);
    }
    table.note(format!(
        "{rounds} rounds, one stop on each in turn, no-op {} us; {EVENTS_A_LOOP} events a loop; \
         growth over the smallest, gate x{GROWTH_MAX}.",
        micros(idle)
    ));
    table.print();
    Ok(())
}

fn ask(gates: &mut Gates, name: &str, grown: f64, what: &str) -> String {
    let broken = || format!("{name}: {grown:.2} times {what} of the smallest journal");
    gates.ask((grown > GROWTH_MAX).then(broken))
}

/// The no-op's median, and each stop's sample.
fn time(grown: &[Grown], rounds: usize) -> Result<(Duration, Vec<Sample>)> {
    let Some(first) = grown.first() else { bail!("measure nothing") };
    let mut noop = first.call.clone();
    noop.line = vec![tools::noop()?];
    let mut idle = Vec::new();
    let mut took = vec![Vec::new(); grown.len()];
    for round in 0..WARM_UP + rounds {
        let warm = round >= WARM_UP;
        idle.extend(warm.then_some(noop.run()?.took));
        for (one, took) in grown.iter().zip(&mut took) {
            let ran = one.call.run()?;
            if ran.said() != Said::Continue {
                bail!("measure «{}»: it said {:?}", one.name, ran.said());
            }
            took.extend(warm.then_some(ran.took));
        }
    }
    Ok((Sample::new(idle).median(), took.into_iter().map(Sample::new).collect()))
}

/// One stop's instructions, on a log that is as short as it gets.
fn instructions(one: &Grown) -> Result<u64> {
    if one.call.variables.is_empty() {
        journal::truncate_wal(&one.scene.home())?;
    }
    one.call.run()?;
    trace::instructions(&one.call, &one.scene.path("notes"))
}
