//! What happens to a loop that waits for something, and a criterion that is another agent's opinion.

use stopgate_core::{
    Criterion, Event, LoopWorktree, Parking, Proof, Started, UnparkedBy, WaitCondition,
};

use super::{at, begin};

/// Each kind of wait, and how it ends.
pub(crate) fn parked() -> Vec<Event> {
    let review = Proof::Review {
        agent: "codex".into(),
        ask: "Is it honest?".into(),
        model: Some("m1".into()),
        timeout_ms: 300_000,
    };
    let mut events = vec![Event::Started(Box::new(Started {
        criteria: vec![Criterion::new("eyes", review)],
        ..begin()
    }))];
    let waits = conditions().into_iter().map(|condition| Parking {
        condition,
        deadline: at(86_400_000),
        agent: Some("claude".into()),
        host: Some("desk".into()),
        driver: Some("run".into()),
        held_at: None,
        checks: None,
    });
    events.extend(waits.map(|parking| Event::Parked(Box::new(parking))));
    events.push(Event::ConditionHeld);
    events.extend(
        [UnparkedBy::Stop, UnparkedBy::Client { process: "4711:99".into() }, UnparkedBy::Driver]
            .map(|by| Event::Unparked { by }),
    );
    events.push(Event::WakeFailed { why: "the client is gone".into() });
    events
}

fn conditions() -> Vec<WaitCondition> {
    vec![
        WaitCondition::Time { at: at(3_600_000) },
        WaitCondition::Process { pid: 4711, began: Some(99) },
        WaitCondition::Path { path: "/golden/built".into(), seen: "absent".into() },
        WaitCondition::Command { command: "true".into(), directory: "/golden".into() },
        WaitCondition::Url { url: "http://localhost/health".into() },
        WaitCondition::Reference {
            directory: "/golden".into(),
            name: "main".into(),
            seen: Some("c0ffee".into()),
        },
    ]
}

/// A loop in a worktree, until it is merged.
pub(crate) fn placed() -> Vec<Event> {
    let worktree = |is_proven| LoopWorktree {
        directory: "/golden-l1".into(),
        branch: "stopgate/l1".into(),
        target: "main".into(),
        is_proven,
    };
    vec![
        Event::Placed(Box::new(worktree(false))),
        Event::Placed(Box::new(worktree(true))),
        Event::Merged { commit: "c0ffee".into() },
    ]
}
