//! A cold hook process on each engine, as a ratio to a program that does nothing.

use anyhow::{Result, bail};
use stopgate_lab::Cluster;

use super::place;
use crate::figures::{Sample, micros, ratio};
use crate::scene::{Call, ENDLESS, Said, Scene};
use crate::table::Table;
use crate::tools;

const SESSION: &str = "held";
const WARM_UP: usize = 5;

/// One engine, reached in one way.
struct Way {
    name: &'static str,
    /// Kept, for the call's files are in it.
    _scene: Option<Scene>,
    call: Call,
    said: Said,
}

/// Times them in turn and prints them.
pub(super) fn measure(rounds: usize, cluster: &Cluster) -> Result<()> {
    let ways = ways(cluster)?;
    let mut took = vec![Vec::new(); ways.len()];
    for round in 0..WARM_UP + rounds {
        for (way, took) in ways.iter().zip(&mut took) {
            let ran = way.call.run()?;
            if ran.said() != way.said {
                bail!("measure «{}»: it said {:?}", way.name, ran.said());
            }
            took.extend((round >= WARM_UP).then_some(ran.took));
        }
    }
    let samples: Vec<Sample> = took.into_iter().map(Sample::new).collect();
    let idle = samples.first().map(Sample::median).unwrap_or_default();
    let columns = ["one call", "q1 us", "median us", "q3 us", "p95 us", "ratio"];
    let mut table = Table::new("A cold hook process on each engine", &columns);
    for (way, sample) in ways.iter().zip(&samples) {
        let [q1, q2, q3, p95] = [25, 50, 75, 95].map(|percent| micros(sample.percentile(percent)));
        let own = format!("{:.2}", ratio(sample.median(), idle));
        table.row([way.name.into(), q1, q2, q3, p95, own]);
    }
    table.note(format!(
        "{rounds} rounds, one call of each in turn. On PostgreSQL the server's new process for \
         each connection is in the figure, and the password's exchange by TCP; a stop without a \
         loop asks the server too, for others write there."
    ));
    table.print();
    Ok(())
}

fn ways(cluster: &Cluster) -> Result<Vec<Way>> {
    let sqlite = Scene::new()?;
    sqlite.start(SESSION, &ENDLESS)?;
    let mut noop = sqlite.hook(SESSION, "Stop")?;
    noop.line = vec![tools::noop()?];
    let free = sqlite.hook("nobody", "Stop")?;
    let own = sqlite.hook(SESSION, "Stop")?;
    let idle = |name, call| Way { name, _scene: None, call, said: Said::Nothing };
    let held = |name, scene, call| Way { name, _scene: scene, call, said: Said::Continue };
    let mut ways = vec![
        idle("no-op", noop),
        idle("SQLite, no loop", free),
        held("SQLite, sent back", Some(sqlite), own),
    ];
    let database = place::database(cluster)?;
    let plain = |url: String| format!("{url}?sslmode=disable");
    let by = [
        ("PostgreSQL by Unix socket, sent back", cluster.socket_url(&database)),
        ("PostgreSQL by TCP, sent back", plain(cluster.url(&database))),
        ("PostgreSQL by TCP with TLS, sent back", cluster.url(&database) + "?sslmode=require"),
    ];
    for (number, (name, address)) in (0..).zip(by) {
        let scene = Scene::on(&address)?;
        let session = format!("{SESSION}-{number}");
        scene.start(&session, &ENDLESS)?;
        if number == 0 {
            let free = scene.hook("nobody", "Stop")?;
            ways.push(idle("PostgreSQL by Unix socket, no loop", free));
        }
        let call = scene.hook(&session, "Stop")?;
        ways.push(held(name, Some(scene), call));
    }
    Ok(ways)
}
