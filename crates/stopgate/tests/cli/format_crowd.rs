//! Many processes at One file of another tool, and deaths in the middle of it.

use std::fs;
use std::io::Write;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use crate::doors;
use crate::formats::{Format, is_sent_back};
use crate::stage::{Stage, begin};

const CROWD: usize = 32;
const KILLS: u32 = 30;

#[test]
fn no_increment_is_lost_among_thirty_two_stops_of_any_format() {
    for format in Format::ALL {
        let stage = format.stage();
        let ready = Barrier::new(CROWD);
        let stop = || {
            let call = format.stop(&stage);
            ready.wait();
            is_sent_back(&call.send_bytes(&call.bytes()))
        };
        let sent_back: u64 = thread::scope(|scope| {
            let threads: Vec<_> = (0..CROWD).map(|_| scope.spawn(stop)).collect();
            threads.into_iter().map(|stop| u64::from(stop.join().expect("an answer"))).sum()
        });
        assert_eq!(format.count(&stage), 3 + sent_back, "{format:?}");
        let expected = match format {
            // The breaker opens when the same criterion was unmet five times.
            Format::Criteria => 5,
            Format::IdleFile
            | Format::IdleTopic
            | Format::Features
            | Format::Task
            | Format::RalphLoop => 32,
        };
        assert_eq!(sent_back, expected, "{format:?}: {:?}", stage.complaints());
        assert_eq!(stage.complaints(), Vec::<String>::new(), "{format:?}");
        assert_eq!(drafts(&stage, format), Vec::<String>::new(), "{format:?}");
    }
}

#[test]
fn a_death_at_any_time_leaves_the_file_old_or_new() {
    for format in Format::ALL.into_iter().filter(|format| *format != Format::IdleTopic) {
        let stage = format.stage();
        let mut before = 3;
        let usual = usual(&stage, format, &mut before);
        for kill in 0..KILLS {
            die(&stage, format, usual * kill / KILLS * 3 / 2);
            let count = format.count(&stage);
            assert!(count == before || count == before + 1, "{format:?}: {before} then {count}");
            before = count;
        }
        let call = format.stop(&stage);
        let ran = call.send_bytes(&call.bytes());
        let counted = before + u64::from(is_sent_back(&ran));
        assert_eq!(format.count(&stage), counted, "{format:?} works on: {ran}");
        // The next writer clears away what a dead one left.
        let left = if is_sent_back(&ran) { drafts(&stage, format) } else { Vec::new() };
        assert_eq!(left, Vec::<String>::new(), "{format:?}");
    }
}

/// How long a stop takes here and now.
fn usual(stage: &Stage, format: Format, count: &mut u64) -> Duration {
    let began = doors::now();
    let call = format.stop(stage);
    *count += u64::from(is_sent_back(&call.send_bytes(&call.bytes())));
    began.elapsed()
}

fn die(stage: &Stage, format: Format, after: Duration) {
    let call = format.stop(stage);
    let mut child = begin(&mut call.command());
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(&call.bytes()).expect("it listens");
    drop(pipe);
    thread::sleep(after);
    child.kill().expect("kill it");
    child.wait().expect("wait for its end");
}

/// What was left beside the file.
fn drafts(stage: &Stage, format: Format) -> Vec<String> {
    let file = stage.path(&format.file());
    let directory = file.parent().expect("a directory");
    let names =
        fs::read_dir(directory).expect("the directory").map(|entry| entry.expect("an entry"));
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains("stopgate-")).collect()
}
