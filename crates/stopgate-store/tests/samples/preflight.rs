//! First runs of checks that `start` did not wait for.

use stopgate_core::{
    BackgroundChecks, Criterion, Event, FirstRun, FirstRunResult, Parking, Proof, Started, Status,
    Tests, WaitCondition,
};

use super::{at, begin, receipt};

/// One that goes on, one that came to its end, what it said, and a stop that waits for it.
pub(crate) fn preflighted() -> Vec<Event> {
    let check = || Proof::Check { command: "cargo test".into(), timeout_ms: 600_000 };
    let result = FirstRunResult {
        status: Status::Fail,
        exit_code: Some(101),
        duration_ms: 240_000,
        tests: Some(Tests { collected: 3, failed: 2, skipped: 1 }),
    };
    let firsts = [
        FirstRun::default(),
        FirstRun { tree: Some("77ee".into()), result: None },
        FirstRun { tree: Some("77ee".into()), result: Some(result) },
    ];
    let criterion = |first| Criterion { first: Some(first), ..Criterion::new("tests", check()) };
    let criteria = firsts.into_iter().map(criterion).collect();
    let parking = Parking {
        condition: WaitCondition::Process { pid: 4711, began: None },
        deadline: at(86_400_000),
        agent: None,
        host: None,
        driver: None,
        held_at: None,
        checks: Some(BackgroundChecks {
            names: vec!["tests".into()],
            usual_ms: None,
            hook_ms: 540_000,
            logs: None,
            claimed: false,
            first: true,
        }),
    };
    vec![
        Event::Started(Box::new(Started { criteria, ..begin() })),
        Event::Preflighted { receipts: vec![receipt()] },
        Event::Parked(Box::new(parking)),
    ]
}
