//! What those who move and keep a journal may rely on.

use stopgate_core::{FORMAT, LoopId, SessionId};

use super::scene::{add, add_at, begin, bound, ended, get, named, names, prompted, started};
use super::{Bench, ContractCase};
use crate::audit::audit;
use crate::journal::{Appended, Cursor, Delivered, Filter, Journal, Migrated, Revision};

pub(super) fn all() -> Vec<ContractCase> {
    vec![
        ("names come in the order of their bytes, in pages", names_in_order),
        ("gathered appends are kept together", kept_together),
        ("gathered appends are dropped together", dropped_together),
        ("nobody sees what is gathered before the delivery", unseen),
        ("a gathered session may change hands", changes_hands),
        ("a delivery that would take a session is refused whole", delivery_refused),
        ("a loop that ended can be removed", removed),
        ("a loop that runs or has moved on is never removed", never_removed),
        ("no cursor is used twice after a removal", cursors_stay),
        ("a sound journal is found sound", found_sound),
        ("a journal says which format it has", says_format),
    ]
}

fn names_in_order(bench: &dyn Bench) {
    let mut journal = bench.open();
    for name in ["b", "a", "B", "é", "a1", "z", "-"] {
        begin(&mut *journal, name, "/p", None);
    }
    let all = journal.names(&named(""), 100).expect("names");
    assert_eq!(strings(&all), ["-", "B", "a", "a1", "b", "z", "é"]);
    assert_eq!(strings(&journal.names(&named("a"), 2).expect("names")), ["a1", "b"]);
    assert_eq!(journal.names(&named("é"), 2).expect("names"), []);
}

fn kept_together(bench: &dyn Bench) {
    let mut journal = bench.open();
    begin(&mut *journal, "old", "/p", None);
    journal.gather().expect("gather");
    for name in ["b", "a"] {
        begin(&mut *journal, name, "/p", None);
        assert_eq!(add(&mut *journal, name, &[prompted("1")]), Appended::Stored(Revision(2)));
    }
    assert_eq!(add(&mut *journal, "a", &[bound("s")]), Appended::Stored(Revision(3)));
    assert_eq!(journal.deliver().expect("deliver"), Delivered::Stored);
    let mut other = bench.open();
    assert_eq!(names(&other.list(&Filter::default()).expect("list")), ["a", "b", "old"]);
    assert_eq!(names(&other.pending("/p").expect("pending")), ["old", "b"]);
    let held = other.load_held(&session("s")).expect("held").expect("one");
    assert_eq!((held.state.id.as_str(), held.revision), ("a", Revision(3)));
    let tail = other.tail(Cursor(0), 10).expect("tail");
    let order: Vec<(&str, u64)> = tail.iter().map(|e| (e.id.as_str(), e.revision.0)).collect();
    assert_eq!(order, [("old", 1), ("b", 1), ("b", 2), ("a", 1), ("a", 2), ("a", 3)]);
    assert_eq!(add(&mut *other, "b", &[ended()]), Appended::Stored(Revision(3)));
}

fn dropped_together(bench: &dyn Bench) {
    let mut journal = bench.open();
    begin(&mut *journal, "old", "/p", Some("s"));
    journal.gather().expect("gather");
    begin(&mut *journal, "a", "/p", None);
    assert_eq!(add(&mut *journal, "old", &[ended()]), Appended::Stored(Revision(2)));
    journal.end();
    assert_eq!(journal.load(&named("a")).expect("load"), None);
    assert_eq!(get(&mut *journal, "old").revision, Revision(1));
    assert!(journal.load_held(&session("s")).expect("held").is_some());
    assert_eq!(journal.tail(Cursor(0), 10).expect("tail").len(), 1);
    begin(&mut *journal, "a", "/p", None);
}

fn unseen(bench: &dyn Bench) {
    let (mut one, mut other) = (bench.open(), bench.open());
    begin(&mut *one, "old", "/p", None);
    assert!(other.load(&named("old")).expect("load").is_some());
    one.gather().expect("gather");
    begin(&mut *one, "a", "/p", None);
    assert_eq!(get(&mut *one, "a").revision, Revision(1));
    assert_eq!(other.load(&named("a")).expect("load"), None);
    assert_eq!(other.tail(Cursor(0), 10).expect("tail").len(), 1);
    assert_eq!(one.deliver().expect("deliver"), Delivered::Stored);
    assert_eq!(get(&mut *other, "a").revision, Revision(1));
}

fn changes_hands(bench: &dyn Bench) {
    let mut journal = bench.open();
    begin(&mut *journal, "live", "/p", Some("s"));
    journal.gather().expect("gather");
    for name in ["a", "b"] {
        assert_eq!(
            add(&mut *journal, name, &[started(name, "/p", Some("s"))]),
            Appended::Stored(Revision(1))
        );
    }
    for name in ["b", "a"] {
        assert_eq!(add(&mut *journal, name, &[ended()]), Appended::Stored(Revision(2)));
    }
    assert_eq!(journal.deliver().expect("deliver"), Delivered::Stored);
    let held = journal.load_held(&session("s")).expect("held").expect("one");
    assert_eq!(held.state.id, named("live"));
}

fn delivery_refused(bench: &dyn Bench) {
    let mut journal = bench.open();
    begin(&mut *journal, "live", "/p", Some("s"));
    journal.gather().expect("gather");
    begin(&mut *journal, "a", "/p", None);
    begin(&mut *journal, "b", "/p", Some("s"));
    assert_eq!(journal.deliver().expect("deliver"), Delivered::SessionTaken(named("b")));
    assert_eq!(names(&journal.list(&Filter::default()).expect("list")), ["live"]);
    assert_eq!(journal.tail(Cursor(0), 10).expect("tail").len(), 1);
    begin(&mut *journal, "a", "/p", None);
}

fn removed(bench: &dyn Bench) {
    let mut journal = bench.open();
    for name in ["a", "b", "c"] {
        begin(&mut *journal, name, "/p", Some(name));
    }
    assert_eq!(add(&mut *journal, "b", &[prompted("1"), ended()]), Appended::Stored(Revision(3)));
    let kept: Vec<_> = tail(&mut *journal).into_iter().filter(|e| e.id != named("b")).collect();
    let removed = journal.remove(&[(named("b"), Revision(3)), (named("none"), Revision(1))]);
    assert_eq!(removed.expect("remove"), 1);
    journal.reclaim().expect("reclaim");
    assert_eq!(journal.load(&named("b")).expect("load"), None);
    assert_eq!(journal.history(&named("b")).expect("history"), []);
    assert_eq!(names(&journal.list(&Filter::default()).expect("list")), ["c", "a"]);
    assert_eq!(tail(&mut *journal), kept);
    begin(&mut *journal, "b", "/p", Some("b"));
    assert_eq!(journal.history(&named("b")).expect("history").len(), 1);
}

fn never_removed(bench: &dyn Bench) {
    let mut journal = bench.open();
    begin(&mut *journal, "runs", "/p", Some("s"));
    begin(&mut *journal, "waits", "/p", None);
    begin(&mut *journal, "moved", "/p", None);
    assert_eq!(add(&mut *journal, "moved", &[ended()]), Appended::Stored(Revision(2)));
    let before = tail(&mut *journal);
    let wanted = [
        (named("runs"), Revision(1)),
        (named("waits"), Revision(1)),
        (named("moved"), Revision(1)),
    ];
    assert_eq!(journal.remove(&wanted).expect("remove"), 0);
    assert_eq!(tail(&mut *journal), before);
    assert_eq!(journal.load_held(&session("s")).expect("held"), Some(get(&mut *journal, "runs")));
}

fn cursors_stay(bench: &dyn Bench) {
    let mut journal = bench.open();
    begin(&mut *journal, "a", "/p", None);
    begin(&mut *journal, "b", "/p", None);
    assert_eq!(add(&mut *journal, "b", &[ended()]), Appended::Stored(Revision(2)));
    let newest = tail(&mut *journal).last().expect("the newest").cursor;
    assert_eq!(journal.remove(&[(named("b"), Revision(2))]).expect("remove"), 1);
    journal.reclaim().expect("reclaim");
    begin(&mut *journal, "c", "/p", None);
    let after = journal.tail(newest, 10).expect("tail");
    assert_eq!(after.len(), 1, "a follower of the tail sees the new event");
    assert!(after[0].cursor > newest);
    assert_eq!(audit(&mut *journal).expect("audit").findings, Vec::<String>::new());
}

fn found_sound(bench: &dyn Bench) {
    let mut journal = bench.open();
    for name in ["a", "b"] {
        begin(&mut *journal, name, "/p", Some(name));
    }
    let old = Some(get(&mut *journal, "a"));
    assert_eq!(add(&mut *journal, "a", &[prompted("1")]), Appended::Stored(Revision(2)));
    assert_eq!(add_at(&mut *journal, old, Revision(1), &[ended()]), Appended::Conflict);
    assert_eq!(add(&mut *journal, "b", &[ended()]), Appended::Stored(Revision(2)));
    let found = audit(&mut *journal).expect("audit");
    assert_eq!((found.loops, found.running, found.events), (2, 1, 4));
    assert_eq!(found.findings, Vec::<String>::new());
}

fn says_format(bench: &dyn Bench) {
    let mut journal = bench.open();
    begin(&mut *journal, "a", "/p", None);
    let Migrated { from, to } = bench.open().migrate().expect("migrate");
    assert!(from == to && from >= FORMAT, "from {from} to {to}");
}

fn tail(journal: &mut dyn Journal) -> Vec<crate::journal::JournalEntry> {
    journal.tail(Cursor(0), 100).expect("tail")
}

fn strings(names: &[LoopId]) -> Vec<&str> {
    names.iter().map(LoopId::as_str).collect()
}

fn session(name: &str) -> SessionId {
    SessionId::new(name).expect("a name")
}
