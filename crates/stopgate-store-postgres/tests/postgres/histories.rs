//! Generated histories, with the reference model as the oracle.

use proptest::prelude::*;
use stopgate_core::{SessionId, Timestamp, apply};
use stopgate_store::contract::{bound, ended, named, prompted, started};
use stopgate_store::{Appended, Cursor, Filter, Journal, MemoryJournal, Recorded, Revision};
use stopgate_store_postgres::PostgresJournal;

use crate::scene::{cluster, database, fresh, options};

/// What one step of a generated history does.
#[derive(Clone, Debug)]
struct Step {
    name: &'static str,
    session: &'static str,
    event: u8,
    lag: u64,
    events: usize,
}

fn step() -> impl Strategy<Value = Step> {
    let name = prop::sample::select(vec!["a", "b", "c", "d"]);
    let session = prop::sample::select(vec!["s", "t", "u"]);
    let lag = prop_oneof![9 => Just(0), 1 => 1..3_u64];
    (name, session, 0..5_u8, lag, 1..4_usize).prop_map(|(name, session, event, lag, events)| Step {
        name,
        session,
        event,
        lag,
        events,
    })
}

#[test]
fn any_history_is_the_same_in_memory_and_in_postgres() {
    let url = cluster().url(&database());
    let config = ProptestConfig { cases: 40, failure_persistence: None, ..Default::default() };
    proptest!(config, |(steps in prop::collection::vec(step(), 1..40))| {
        let mut oracle = MemoryJournal::default();
        let mut engine = PostgresJournal::new(&url, options(&fresh("history"))).unwrap();
        for (number, step) in steps.iter().enumerate() {
            let expected = play(&mut oracle, step, number);
            prop_assert_eq!(expected, play(&mut engine, step, number), "step {}", number);
        }
        prop_assert_eq!(dump(&mut oracle), dump(&mut engine));
    });
}

fn play(journal: &mut dyn Journal, step: &Step, number: usize) -> Option<Appended> {
    let at = Timestamp::from_unix_millis(1_750_000_000_000 + i64::try_from(number).unwrap());
    let found = journal.load(&named(step.name)).unwrap();
    let event = match (step.event, &found) {
        (0, None) => started(step.name, "/p", None),
        (_, None) => started(step.name, "/p", Some(step.session)),
        (0, Some(_)) => bound(step.session),
        (1, Some(_)) => ended(),
        (_, Some(_)) => prompted(&format!("{number}")),
    };
    let mut events = vec![event];
    events.resize_with(step.events, || prompted(step.session));
    let revision = found.as_ref().map_or(0, |stored| stored.revision.0);
    let expected = Revision(revision.saturating_sub(step.lag));
    let state = found.map(|stored| stored.state);
    let state = events.iter().fold(state, |state, event| apply(state, event, at))?;
    let recorded: Vec<_> = events.into_iter().map(|event| Recorded { event, at }).collect();
    Some(journal.append(expected, &recorded, &state).unwrap())
}

/// Everything but the cursors' values, which may have gaps.
fn dump(journal: &mut dyn Journal) -> String {
    let loops = journal.list(&Filter::default()).unwrap();
    let tail = journal.tail(Cursor(0), 1000).unwrap();
    assert!(tail.windows(2).all(|pair| pair[0].cursor < pair[1].cursor));
    let tail: Vec<_> = tail.into_iter().map(|e| (e.id, e.revision, e.recorded)).collect();
    let sessions = ["s", "t", "u"].map(|name| SessionId::new(name).unwrap());
    let held = sessions.map(|session| journal.load_held(&session).unwrap());
    let pending = journal.pending("/p").unwrap();
    let names = journal.names(&named(""), 100).unwrap();
    format!("{loops:#?}\n{tail:#?}\n{held:#?}\n{pending:#?}\n{names:?}")
}
