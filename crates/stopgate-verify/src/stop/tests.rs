use std::path::Path;
use std::time::Duration;

use stopgate_core::Timestamp;

use super::RunStop;
use crate::bytecode::CompiledPython;
use crate::check::{Check, CheckCommand, ChecksRun, RunLimits, run};
use crate::orphans::Strangers;

fn ran(line: &str, directory: &Path) -> ChecksRun {
    let check =
        Check::new("c", CheckCommand::Shell(line), directory.into(), directory.join("c.log"));
    let budget = Duration::from_mins(1);
    let limits = RunLimits {
        budget,
        jobs: 1,
        pass: &[],
        strangers: Strangers::Spare,
        compiled: CompiledPython::Anew,
    };
    run(&[check], limits, &|| Timestamp::from_unix_millis(0))
}

#[test]
fn a_child_is_raised_with_its_parent_and_not_the_other_way() {
    let parent = RunStop::default();
    let (one, other) = (parent.child(), parent.child());
    one.raise();
    assert_eq!([&parent, &one, &other].map(RunStop::is_raised), [false, true, false]);
    parent.raise();
    assert!(other.is_raised());
}

#[test]
fn a_run_ends_when_its_stop_is_raised_and_others_go_on() {
    let directory = tempfile::tempdir().expect("make a directory");
    let begun = directory.path().join("begun");
    let stop = RunStop::default();
    let raised = stop.clone();
    let watcher = std::thread::spawn(move || {
        while !begun.exists() {
            std::thread::yield_now();
        }
        raised.raise();
    });
    let ended = stop.while_heeded(|| ran("touch begun; sleep 60", directory.path()));
    assert!(matches!(ended, ChecksRun::Interrupted), "{ended:?}");
    watcher.join().expect("the watcher ends");
    let other = ran("true", directory.path());
    assert!(matches!(other, ChecksRun::Runs(_)), "{other:?}");
}

#[test]
fn what_was_heeded_before_is_heeded_again() {
    let (outer, inner) = (RunStop::default(), RunStop::default());
    outer.raise();
    outer.while_heeded(|| {
        inner.while_heeded(|| assert!(!RunStop::current().expect("one").is_raised()));
        assert!(RunStop::current().expect("one").is_raised());
    });
    assert!(RunStop::current().is_none());
}
