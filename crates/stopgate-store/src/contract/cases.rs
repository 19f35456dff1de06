//! What one user at a time may rely on.

use stopgate_core::{SessionId, fold};

use super::scene::{
    NOON, add, add_at, after, begin, bound, ended, get, named, names, prompted, started,
};
use super::{Bench, ContractCase};
use crate::journal::{Appended, Cursor, EndedFilter, Filter, Recorded, Revision};

pub(super) fn all() -> Vec<ContractCase> {
    vec![
        ("an empty journal has nothing", empty),
        ("a loop that begins is found every way", found_every_way),
        ("an append at an old revision conflicts", old_revision),
        ("a loop begins once", begins_once),
        ("events are numbered without gaps", numbered),
        ("a session holds one running loop", one_running_loop),
        ("a session is free once its loop ends", free_again),
        ("a bind to a taken session is refused whole", refused_whole),
        ("pending loops come oldest first", pending_order),
        ("a list comes newest first and filtered", listed),
        ("the tail pages through all events in order", tail_pages),
        ("the snapshot is the fold of the history", snapshot_is_fold),
        ("another door sees what was stored", other_door),
        ("a turn that is given up leaves nothing", given_up),
        ("a turn may be taken again after an end", turn_again),
        ("a prefix is taken literally", prefix_literally),
        ("odd and long text survives", odd_text),
    ]
}

fn empty(bench: &dyn Bench) {
    let mut journal = bench.open();
    assert_eq!(journal.load(&named("a")).expect("load"), None);
    assert_eq!(journal.load_held(&session("s")).expect("held"), None);
    assert_eq!(journal.pending("/p").expect("pending"), []);
    assert_eq!(journal.list(&Filter::default()).expect("list"), []);
    assert_eq!(journal.history(&named("a")).expect("history"), []);
    assert_eq!(journal.tail(Cursor(0), 10).expect("tail"), []);
    assert_eq!(journal.find("a").expect("find"), []);
}

fn found_every_way(bench: &dyn Bench) {
    let mut journal = bench.open();
    begin(&mut *journal, "abc", "/p", Some("s"));
    let expected = after(None, &[started("abc", "/p", Some("s"))]);
    let loaded = get(&mut *journal, "abc");
    assert_eq!((loaded.state.clone(), loaded.revision), (expected, Revision(1)));
    assert_eq!(journal.load_held(&session("s")).expect("held"), Some(loaded.clone()));
    assert_eq!(journal.list(&Filter::default()).expect("list"), [loaded]);
    assert_eq!(journal.find("ab").expect("find"), [named("abc")]);
    let history = journal.history(&named("abc")).expect("history");
    let recorded = Recorded { event: started("abc", "/p", Some("s")), at: NOON };
    assert_eq!(history.len(), 1);
    assert_eq!((&history[0].recorded, history[0].revision), (&recorded, Revision(1)));
    assert_eq!(journal.tail(Cursor(0), 10).expect("tail"), history);
}

fn old_revision(bench: &dyn Bench) {
    let mut journal = bench.open();
    begin(&mut *journal, "a", "/p", None);
    let old = Some(get(&mut *journal, "a"));
    assert_eq!(add(&mut *journal, "a", &[prompted("1")]), Appended::Stored(Revision(2)));
    let newest = get(&mut *journal, "a");
    assert_eq!(add_at(&mut *journal, old.clone(), Revision(1), &[ended()]), Appended::Conflict);
    assert_eq!(add_at(&mut *journal, old, Revision(7), &[ended()]), Appended::Conflict);
    assert_eq!(get(&mut *journal, "a"), newest, "a conflict changes nothing");
    assert_eq!(journal.history(&named("a")).expect("history").len(), 2);
}

fn begins_once(bench: &dyn Bench) {
    let mut journal = bench.open();
    begin(&mut *journal, "a", "/p", None);
    let again = [started("a", "/elsewhere", None)];
    assert_eq!(add_at(&mut *journal, None, Revision::NONE, &again), Appended::Conflict);
    assert_eq!(get(&mut *journal, "a").state.project, "/p");
}

fn numbered(bench: &dyn Bench) {
    let mut journal = bench.open();
    begin(&mut *journal, "a", "/p", None);
    begin(&mut *journal, "b", "/p", None);
    let three = [bound("s"), prompted("1"), prompted("2")];
    assert_eq!(add(&mut *journal, "a", &three), Appended::Stored(Revision(4)));
    assert_eq!(add(&mut *journal, "b", &[prompted("3")]), Appended::Stored(Revision(2)));
    let history = journal.history(&named("a")).expect("history");
    let numbers: Vec<u64> = history.iter().map(|entry| entry.revision.0).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    assert_eq!(get(&mut *journal, "a").revision, Revision(4));
}

fn one_running_loop(bench: &dyn Bench) {
    let mut journal = bench.open();
    begin(&mut *journal, "a", "/p", Some("s"));
    let second = add(&mut *journal, "b", &[started("b", "/p", Some("s"))]);
    assert_eq!(second, Appended::SessionTaken);
    assert_eq!(journal.load(&named("b")).expect("load"), None);
    begin(&mut *journal, "c", "/p", None);
    assert_eq!(add(&mut *journal, "c", &[bound("s")]), Appended::SessionTaken);
    assert_eq!(get(&mut *journal, "c").state.session, None);
}

fn free_again(bench: &dyn Bench) {
    let mut journal = bench.open();
    begin(&mut *journal, "a", "/p", Some("s"));
    assert_eq!(add(&mut *journal, "a", &[ended()]), Appended::Stored(Revision(2)));
    assert_eq!(journal.load_held(&session("s")).expect("held"), None);
    begin(&mut *journal, "b", "/p", Some("s"));
    let held = journal.load_held(&session("s")).expect("held").expect("one");
    assert_eq!(held.state.id, named("b"));
}

fn refused_whole(bench: &dyn Bench) {
    let mut journal = bench.open();
    begin(&mut *journal, "a", "/p", Some("s"));
    begin(&mut *journal, "b", "/p", None);
    let before = get(&mut *journal, "b");
    let events = [prompted("1"), bound("s"), prompted("2")];
    assert_eq!(add(&mut *journal, "b", &events), Appended::SessionTaken);
    assert_eq!(get(&mut *journal, "b"), before);
    assert_eq!(journal.history(&named("b")).expect("history").len(), 1);
    assert_eq!(journal.tail(Cursor(0), 100).expect("tail").len(), 2);
}

fn pending_order(bench: &dyn Bench) {
    let mut journal = bench.open();
    for name in ["z", "m", "a"] {
        begin(&mut *journal, name, "/p", None);
    }
    begin(&mut *journal, "other", "/q", None);
    begin(&mut *journal, "held", "/p", Some("s"));
    assert_eq!(names(&journal.pending("/p").expect("pending")), ["z", "m", "a"]);
    assert_eq!(add(&mut *journal, "z", &[bound("t")]), Appended::Stored(Revision(2)));
    assert_eq!(add(&mut *journal, "m", &[ended()]), Appended::Stored(Revision(2)));
    assert_eq!(names(&journal.pending("/p").expect("pending")), ["a"]);
}

fn listed(bench: &dyn Bench) {
    let mut journal = bench.open();
    for (name, project) in [("a", "/p"), ("b", "/q"), ("c", "/p")] {
        begin(&mut *journal, name, project, None);
    }
    assert_eq!(add(&mut *journal, "c", &[ended()]), Appended::Stored(Revision(2)));
    assert_eq!(add(&mut *journal, "a", &[prompted("1")]), Appended::Stored(Revision(2)));
    let mut list = |filter: Filter<'_>| journal.list(&filter).expect("list");
    assert_eq!(names(&list(Filter::default())), ["c", "b", "a"]);
    assert_eq!(names(&list(Filter { project: Some("/p"), ..Filter::default() })), ["c", "a"]);
    let running = Filter { standing: EndedFilter::Running, ..Filter::default() };
    assert_eq!(names(&list(running)), ["b", "a"]);
    assert_eq!(names(&list(Filter { limit: 2, ..Filter::default() })), ["c", "b"]);
}

fn tail_pages(bench: &dyn Bench) {
    let mut journal = bench.open();
    for name in ["a", "b", "c"] {
        begin(&mut *journal, name, "/p", None);
    }
    for number in 0..20 {
        let name = ["a", "b", "c"][number % 3];
        assert!(matches!(
            add(&mut *journal, name, &[prompted(&number.to_string())]),
            Appended::Stored(_)
        ));
    }
    let whole = journal.tail(Cursor(0), 1000).expect("tail");
    assert_eq!(whole.len(), 23);
    assert!(whole.windows(2).all(|pair| pair[0].cursor < pair[1].cursor));
    let mut paged = Vec::new();
    while let Some(page) =
        Some(journal.tail(last(&paged), 5).expect("page")).filter(|p| !p.is_empty())
    {
        assert!(page.len() <= 5);
        paged.extend(page);
    }
    assert_eq!(paged, whole);
}

fn last(entries: &[crate::journal::JournalEntry]) -> Cursor {
    entries.last().map_or(Cursor(0), |entry| entry.cursor)
}

fn snapshot_is_fold(bench: &dyn Bench) {
    let mut journal = bench.open();
    begin(&mut *journal, "a", "/p", None);
    for event in [bound("s"), prompted("1"), prompted("1"), ended()] {
        assert!(matches!(add(&mut *journal, "a", &[event]), Appended::Stored(_)));
    }
    let history = journal.history(&named("a")).expect("history");
    let folded = fold(history.iter().map(|e| (&e.recorded.event, e.recorded.at)));
    assert_eq!(folded, Some(get(&mut *journal, "a").state));
}

fn other_door(bench: &dyn Bench) {
    let (mut one, mut other) = (bench.open(), bench.open());
    begin(&mut *one, "a", "/p", Some("s"));
    let seen = get(&mut *other, "a");
    assert_eq!(add(&mut *other, "a", &[prompted("1")]), Appended::Stored(Revision(2)));
    assert_eq!(add_at(&mut *one, Some(seen), Revision(1), &[ended()]), Appended::Conflict);
    assert_eq!(get(&mut *one, "a").revision, Revision(2));
    assert_eq!(one.tail(Cursor(0), 9).expect("tail").len(), 2);
}

fn given_up(bench: &dyn Bench) {
    let (mut one, mut other) = (bench.open(), bench.open());
    begin(&mut *one, "a", "/p", Some("s"));
    one.begin().expect("begin");
    let seen = one.load_held(&session("s")).expect("held").expect("one");
    one.end();
    assert_eq!(add(&mut *other, "a", &[prompted("1")]), Appended::Stored(Revision(2)));
    assert_eq!(add_at(&mut *one, Some(seen), Revision(1), &[ended()]), Appended::Conflict);
    assert_eq!(get(&mut *other, "a").revision, Revision(2));
}

fn turn_again(bench: &dyn Bench) {
    let mut journal = bench.open();
    begin(&mut *journal, "a", "/p", None);
    for number in 2..5 {
        journal.begin().expect("begin");
        let found = journal.load(&named("a")).expect("load");
        let revision = found.as_ref().map_or(Revision::NONE, |stored| stored.revision);
        let appended = add_at(&mut *journal, found, revision, &[prompted("1")]);
        journal.end();
        journal.settle();
        assert_eq!(appended, Appended::Stored(Revision(number)));
    }
}

fn prefix_literally(bench: &dyn Bench) {
    let mut journal = bench.open();
    for name in ["ab%c", "abxc", "ab_d", "b"] {
        begin(&mut *journal, name, "/p", None);
    }
    assert_eq!(journal.find("ab%").expect("find"), [named("ab%c")]);
    assert_eq!(journal.find("ab_").expect("find"), [named("ab_d")]);
    assert_eq!(journal.find("b").expect("find"), [named("b")]);
    assert_eq!(journal.find("ab").expect("find").len(), 3);
    assert_eq!(journal.find("x").expect("find"), []);
}

fn odd_text(bench: &dyn Bench) {
    let mut journal = bench.open();
    let long = "🦀 ' \" \\ \u{0} \u{202e} %s\n".repeat(20_000);
    begin(&mut *journal, "a", "/p'\"; DROP", Some("s'\";--"));
    assert_eq!(add(&mut *journal, "a", &[prompted(&long)]), Appended::Stored(Revision(2)));
    let held = journal.load_held(&session("s'\";--")).expect("held").expect("one");
    assert_eq!(held.state.tally.prompt_id.as_deref(), Some(long.as_str()));
    assert_eq!(held.state.project, "/p'\"; DROP");
    let history = journal.history(&named("a")).expect("history");
    assert_eq!(history[1].recorded.event, prompted(&long));
}

fn session(name: &str) -> SessionId {
    SessionId::new(name).expect("a name")
}
