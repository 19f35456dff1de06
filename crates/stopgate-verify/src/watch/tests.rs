use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use super::*;
use crate::bytecode::CompiledPython;
use crate::check::{Check, CheckCommand, OutputWanted, RunLimits, run};
use crate::orphans::Strangers;

fn check<'a>(name: &'a str, line: &'a str, dir: &Path) -> Check<'a> {
    Check {
        criterion: name,
        command: CheckCommand::Shell(line),
        directory: dir.into(),
        timeout: Duration::from_secs(30),
        retries: 0,
        log: dir.join(format!("{name}.log")),
        set: &[],
        pass: &[],
        memory_bytes: None,
        cpu_seconds: None,
        version: &[],
        whole: OutputWanted::Tail,
        noted: None,
    }
}

#[test]
fn a_listener_hears_which_check_runs_and_only_while_it_listens() {
    let dir = tempfile::tempdir().unwrap();
    let checks = [check("lint", "true", dir.path()), check("tests", "true", dir.path())];
    let heard: Rc<RefCell<Vec<String>>> = Rc::default();
    let noted = Rc::clone(&heard);
    let listener = move |running: &[RunningCheck<'_>]| {
        let names: Vec<&str> = running.iter().map(|one| one.criterion).collect();
        noted.borrow_mut().push(names.join("+"));
    };
    let begin = || {
        let budget = Duration::from_mins(1);
        let limits = RunLimits {
            budget,
            jobs: 1,
            pass: &[],
            strangers: Strangers::Spare,
            compiled: CompiledPython::Anew,
        };
        run(&checks, limits, &|| Timestamp::from_unix_millis(0))
    };
    while_watched(listener, begin);
    assert_eq!(*heard.borrow(), ["lint", "tests", ""]);
    begin();
    assert_eq!(heard.borrow().len(), 3);
}
