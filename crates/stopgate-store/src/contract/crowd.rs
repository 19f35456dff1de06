//! What many users at once may rely on: nothing lost, nothing twice.

use stopgate_core::fold;

use super::scene::{add, add_at, begin, bound, get, named, prompted};
use super::{Bench, ContractCase};
use crate::journal::{Appended, Cursor, Journal, Revision};

const USERS: usize = 8;
const TURNS: usize = 25;

pub(super) fn all() -> Vec<ContractCase> {
    vec![
        ("no append of a crowd is lost, with turns", with_turns),
        ("no append of a crowd is lost, without turns", without_turns),
        ("one of many claims wins", one_claim_wins),
        ("a crowd on many loops keeps them apart", many_loops),
    ]
}

fn with_turns(bench: &dyn Bench) {
    begin(&mut *bench.open(), "a", "/p", None);
    crowd(bench, |journal, _| {
        journal.begin().expect("begin");
        let stored = try_once(journal, "a");
        journal.end();
        journal.settle();
        stored
    });
    assert_whole(bench, "a", USERS * TURNS + 1);
}

fn without_turns(bench: &dyn Bench) {
    begin(&mut *bench.open(), "a", "/p", None);
    crowd(bench, |journal, _| try_once(journal, "a"));
    assert_whole(bench, "a", USERS * TURNS + 1);
}

fn many_loops(bench: &dyn Bench) {
    let name = |user: usize| format!("loop-{user}");
    for user in 0..USERS {
        begin(&mut *bench.open(), &name(user), "/p", None);
    }
    crowd(bench, |journal, user| try_once(journal, &name(user)));
    for user in 0..USERS {
        assert_whole(bench, &name(user), TURNS + 1);
    }
    let all = bench.open().tail(Cursor(0), usize::MAX >> 1).expect("tail");
    assert_eq!(all.len(), USERS * (TURNS + 1));
}

fn one_claim_wins(bench: &dyn Bench) {
    begin(&mut *bench.open(), "a", "/p", None);
    let won = std::thread::scope(|scope| {
        let claim = |user: usize| {
            let mut journal = bench.open();
            let found = journal.load(&named("a")).expect("load");
            let free = found.as_ref().is_some_and(|stored| stored.state.session.is_none());
            let session = format!("s{user}");
            free && add_at(&mut *journal, found, Revision(1), &[bound(&session)])
                == Appended::Stored(Revision(2))
        };
        let users: Vec<_> = (0..USERS).map(|user| scope.spawn(move || claim(user))).collect();
        users.into_iter().map(|user| user.join().expect("a user")).filter(|won| *won).count()
    });
    assert_eq!(won, 1);
}

/// Every user stores `TURNS` events, trying again on conflict.
fn crowd(bench: &dyn Bench, turn: impl Fn(&mut dyn Journal, usize) -> bool + Sync) {
    let user = &|user: usize| {
        let mut journal = bench.open();
        let mut stored = 0;
        while stored < TURNS {
            stored += usize::from(turn(&mut *journal, user));
        }
    };
    std::thread::scope(|scope| {
        for number in 0..USERS {
            scope.spawn(move || user(number));
        }
    });
}

fn try_once(journal: &mut dyn Journal, name: &str) -> bool {
    matches!(add(journal, name, &[prompted("again")]), Appended::Stored(_))
}

/// As many events as were stored, numbered without gaps, and the snapshot is their fold.
fn assert_whole(bench: &dyn Bench, name: &str, events: usize) {
    let mut journal = bench.open();
    let history = journal.history(&named(name)).expect("history");
    let stored = get(&mut *journal, name);
    assert_eq!(history.len(), events);
    assert_eq!(stored.revision, Revision(events as u64));
    for (at, entry) in history.iter().enumerate() {
        assert_eq!(entry.revision, Revision(at as u64 + 1));
    }
    let folded = fold(history.iter().map(|e| (&e.recorded.event, e.recorded.at)));
    assert_eq!(folded, Some(stored.state));
}
