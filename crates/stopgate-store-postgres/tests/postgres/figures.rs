//! What it costs: run with `--ignored --nocapture`, built with `--release`.

use std::thread;
use std::time::{Duration, Instant};

use stopgate_core::apply;
use stopgate_lab::{Cluster, Setup};
use stopgate_store::contract::{named, prompted};
use stopgate_store::{Journal, Recorded};

use crate::scene::{NOON, begin, journal};

#[test]
#[ignore = "measures; says nothing about right and wrong"]
fn what_a_stop_costs() {
    let own = Cluster::start(Setup::default()).unwrap();
    for (kind, url) in [
        ("unix socket", own.socket_url("postgres")),
        ("loopback, in the clear", format!("{}?sslmode=disable", own.url("postgres"))),
        ("loopback, encrypted", format!("{}?sslmode=require", own.url("postgres"))),
    ] {
        let name = format!("loop over {kind}");
        let _ = begin(&mut journal(&url), &name).unwrap();
        let mut times: Vec<Duration> = (0..100).map(|_| timed(|| stop(&url, &name))).collect();
        times.sort();
        println!("cold load + append, {kind}: p50 {:?} p99 {:?}", times[50], times[98]);
    }
    let url = own.socket_url("postgres");
    for writers in [1, 8, 32] {
        let since = Instant::now();
        thread::scope(|scope| {
            for number in 0..writers {
                let url = &url;
                scope.spawn(move || stops(url, &format!("{writers}-{number}"), 1600 / writers));
            }
        });
        println!("{writers} writers: {:.0} stops/s", 1600.0 / since.elapsed().as_secs_f64());
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let since = Instant::now();
    work();
    since.elapsed()
}

fn stop(url: &str, name: &str) {
    append(&mut journal(url), name);
}

fn stops(url: &str, name: &str, count: u32) {
    let mut journal = journal(url);
    let _ = begin(&mut journal, name).unwrap();
    for _ in 0..count {
        append(&mut journal, name);
    }
}

fn append(journal: &mut dyn Journal, name: &str) {
    let found = journal.load(&named(name)).unwrap().unwrap();
    let event = prompted("on");
    let state = apply(Some(found.state), &event, NOON).unwrap();
    let _ = journal.append(found.revision, &[Recorded { event, at: NOON }], &state).unwrap();
}
