//! A stop over a growing journal on PostgreSQL.

use anyhow::Result;
use stopgate_lab::Cluster;

use super::place;
use crate::bench::growth::{self, EVENTS_A_LOOP, Grown, SESSION, SIZES};
use crate::journal;
use crate::scene::{ENDLESS, Scene};
use crate::table::Gates;

/// Fills databases, times a stop on each and prints it.
pub(super) fn measure(
    rounds: usize,
    sizes: usize,
    cluster: &Cluster,
    gates: &mut Gates,
) -> Result<()> {
    let mut grown = Vec::new();
    for (events, shown) in SIZES.into_iter().take(sizes) {
        let database = place::database(cluster)?;
        // Nobody minds if the filling is lost, and the stops set it back.
        set(cluster, &database, "off")?;
        let address = cluster.socket_url(&database);
        let scene = Scene::on(&address)?;
        let mut filled = place::open(&address)?;
        journal::tell(&mut filled, &scene.project(), events / EVENTS_A_LOOP, EVENTS_A_LOOP)?;
        drop(filled);
        cluster.sql(&database, "VACUUM ANALYZE")?;
        set(cluster, &database, "on")?;
        scene.start(SESSION, &ENDLESS)?;
        let call = scene.hook(SESSION, "Stop")?;
        grown.push(Grown { name: format!("{shown} events"), scene, call });
    }
    cluster.sql("postgres", "CHECKPOINT")?;
    let title = "A stop over a growing journal, PostgreSQL by Unix socket";
    growth::print(title, &grown, rounds, gates)
}

fn set(cluster: &Cluster, database: &str, value: &str) -> Result<()> {
    let sql = format!("ALTER DATABASE {database} SET synchronous_commit = {value}");
    cluster.sql("postgres", &sql)?;
    Ok(())
}
