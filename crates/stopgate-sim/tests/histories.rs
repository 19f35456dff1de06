//! Histories in which nothing may go wrong, and faults that must be found.

#![expect(clippy::expect_used, reason = "a scene that can't be set is a failed test")]

use std::time::Duration;

use stopgate_sim::planted::{Fault, Faulty};
use stopgate_sim::{
    HistorySetting, Oracle, SimHome, SimulatedChecks, history, replay, seed_of, sweep,
};
use stopgate_store::{Journal, MemoryJournal, SqliteJournal};

/// Seeds of histories that once broke a rule.
const FOUND: [u64; 0] = [];

fn home() -> SimHome {
    SimHome::new().expect("make a home")
}

/// The first history, of so many, that breaks a rule in this setting.
fn found(histories: u64, setting: impl Fn() -> HistorySetting) -> Option<String> {
    (0..histories).find_map(|number| {
        let broken = history(seed_of(5, number), setting()).err()?;
        Some(broken.rule.into())
    })
}

fn faulty(home: &SimHome, fault: Fault) -> HistorySetting {
    let shelf = MemoryJournal::default();
    let shared = move || -> Box<dyn Journal> { Box::new(Faulty::new(shelf.clone(), fault)) };
    // Without the model beside it: the rules alone must find it.
    HistorySetting {
        shared: Box::new(shared),
        oracle: Oracle::Absent,
        checks: SimulatedChecks::Honest,
        home: home.path().into(),
    }
}

#[test]
fn nothing_goes_wrong_in_any_history() {
    let home = home();
    let told = sweep(1000, 20, home.path()).unwrap_or_else(|failed| panic!("{failed}"));
    assert_eq!(told.histories, 1000);
    // Histories in which nothing happens would prove nothing.
    for (what, count) in [
        ("conflicts", told.conflicts),
        ("lost", told.lost),
        ("sent back", told.continued),
        ("proven", told.done),
        ("cancelled", told.cancelled),
    ] {
        assert!(count > 100, "{what}: {told:?}");
    }
}

#[test]
fn what_was_found_once_stays_found() {
    let home = home();
    for seed in FOUND {
        replay(seed, home.path()).unwrap_or_else(|failed| panic!("{failed}"));
    }
}

#[test]
fn the_same_seed_gives_the_same_history() {
    let home = home();
    let once = sweep(40, 7, home.path());
    assert_eq!(once, sweep(40, 7, home.path()));
}

#[test]
fn the_embedded_journal_does_as_the_model_does() {
    let home = home();
    for number in 0..40 {
        let directory = self::home();
        let file = directory.path().join("journal.db");
        // All processes are one thread: who waits for another's turn waits in vain.
        let shared = move || -> Box<dyn Journal> {
            Box::new(SqliteJournal::new(&file, Duration::from_millis(1)))
        };
        let setting = HistorySetting {
            shared: Box::new(shared),
            oracle: Oracle::Compared,
            checks: SimulatedChecks::Honest,
            home: home.path().into(),
        };
        let seed = seed_of(11, number);
        let told = history(seed, setting);
        assert!(told.is_ok(), "seed {seed}: {told:?}");
    }
}

#[test]
fn a_lost_update_is_found() {
    let home = home();
    let rule = found(500, || faulty(&home, Fault::LastWriterWins));
    assert!(rule.is_some(), "the last writer won and nobody noticed");
}

#[test]
fn an_append_that_was_acknowledged_and_not_made_is_found() {
    let home = home();
    let rule = found(500, || faulty(&home, Fault::Forgets));
    assert!(rule.is_some(), "a journal forgot and nobody noticed");
}

#[test]
fn checks_that_lie_are_found() {
    let home = home();
    let rule = found(500, || {
        let shelf = MemoryJournal::default();
        let shared = move || -> Box<dyn Journal> { Box::new(shelf.clone()) };
        HistorySetting {
            shared: Box::new(shared),
            oracle: Oracle::Compared,
            checks: SimulatedChecks::Lying,
            home: home.path().into(),
        }
    });
    assert_eq!(
        rule.as_deref(),
        Some("done only by receipts that pass, all for one state of the files")
    );
}
