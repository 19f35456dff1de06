use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use stopgate_core::{
    ContextUse, Event, Frame, LoopId, MeterDoubt, Mode, Policy, SessionId, Spend, Started, State,
    Timestamp, apply,
};
use stopgate_store::{Journal, MemoryJournal, Recorded, Revision};
use stopgate_usage::PriceBook;
use tempfile::TempDir;

use super::round::{MeterRound, RoundSource};
use crate::engine::Engine;
use crate::settings::Settings;
use crate::world::RealWorld;

const BOUND: u64 = 4 << 20;
/// 2026-11-15, six in the morning.
const BEGIN: Timestamp = Timestamp::from_unix_millis(1_794_722_400_000);

fn started() -> Event {
    let frame = Frame { mode: Mode::Loop, iteration: 0, max: 9, prompt: "it".into() };
    Event::Started(Box::new(Started {
        session: SessionId::new("s1"),
        policy: Policy { max_tokens: 1_000_000, ..Policy::default() },
        ..Started::new(LoopId::new("l1"), "it", "/work", frame)
    }))
}

/// A place with records, and a loop that is looked at again and again.
struct Place {
    kept: TempDir,
    state: State,
    minute: i64,
}

impl Place {
    fn new() -> Self {
        let state = apply(None, &started(), BEGIN).unwrap();
        Self { kept: TempDir::new().unwrap(), state, minute: 0 }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.kept.path().join(name)
    }

    /// Adds an answer of so many tokens to a record.
    fn answer(&self, name: &str, id: &str, tokens: u64) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut text = fs::read_to_string(&path).unwrap_or_default();
        let _ = writeln!(
            text,
            r#"{{"type":"assistant","timestamp":"2026-11-15T06:{:02}:30.000Z","message":{{"id":"{id}","model":"opus","usage":{{"input_tokens":{tokens}}}}}}}"#,
            self.minute
        );
        fs::write(&path, text).unwrap();
        let written = BEGIN.plus(self.minute * 60_000 + 30_000).unix_millis();
        let written = UNIX_EPOCH + Duration::from_millis(u64::try_from(written).unwrap());
        fs::File::options().write(true).open(path).unwrap().set_modified(written).unwrap();
    }

    /// One stop; the sum after it.
    fn look(&mut self, name: &str) -> u64 {
        self.look_within(name, BOUND);
        self.spend().tokens().total()
    }

    fn look_within(&mut self, name: &str, bound: u64) {
        self.minute += 1;
        let now = BEGIN.plus(self.minute * 60_000);
        let transcript = self.path(name).display().to_string();
        let source = RoundSource { agent: "claude", transcript: Some(&transcript) };
        let prices = PriceBook::default();
        let spend = MeterRound::begin(&self.state, &prices, bound, now).run(&source);
        let event = Event::Metered(Box::new(spend));
        self.state = apply(Some(self.state.clone()), &event, now).unwrap();
    }

    fn spend(&self) -> &Spend {
        self.state.spend.as_deref().unwrap()
    }
}

#[test]
fn a_session_that_follows_another_adds_to_it() {
    let mut place = Place::new();
    place.answer("one.jsonl", "a", 10);
    assert_eq!(place.look("one.jsonl"), 10);
    // The first session died after this; what it wrote is counted with the next one.
    place.answer("one.jsonl", "b", 5);
    place.answer("two.jsonl", "c", 7);
    assert_eq!(place.look("two.jsonl"), 22);
    assert_eq!(place.look("two.jsonl"), 22);
}

#[test]
fn what_a_fork_copied_is_not_counted_again() {
    let mut place = Place::new();
    place.answer("one.jsonl", "a", 10);
    place.look("one.jsonl");
    fs::copy(place.path("one.jsonl"), place.path("fork.jsonl")).unwrap();
    place.answer("fork.jsonl", "b", 1);
    assert_eq!(place.look("fork.jsonl"), 11);
}

#[test]
fn a_file_that_was_replaced_is_read_from_its_beginning_for_what_is_new() {
    let mut place = Place::new();
    place.answer("one.jsonl", "a", 10);
    place.answer("one.jsonl", "b", 10);
    assert_eq!(place.look("one.jsonl"), 20);
    fs::write(place.path("one.jsonl"), "").unwrap();
    place.answer("one.jsonl", "c", 3);
    assert_eq!(place.look("one.jsonl"), 23);
}

#[test]
fn hundreds_of_sub_agents_are_counted_once_each_and_forgotten() {
    let mut place = Place::new();
    place.answer("one.jsonl", "a", 1);
    for helper in 0..100 {
        place.answer(&format!("one/subagents/agent-{helper}.jsonl"), &format!("h{helper}"), 1);
    }
    assert_eq!(place.look("one.jsonl"), 101);
    assert!(place.spend().files.len() <= 32, "{}", place.spend().files.len());
    assert_eq!(place.look("one.jsonl"), 101);
    // One that was forgotten goes on.
    place.answer("one/subagents/agent-7.jsonl", "h7b", 2);
    assert_eq!(place.look("one.jsonl"), 103);
    assert_eq!(place.look("one.jsonl"), 103);
}

#[test]
fn what_is_too_much_for_one_look_follows_and_is_said() {
    let mut place = Place::new();
    for call in 0..50 {
        place.answer("one.jsonl", &format!("c{call}"), 1);
    }
    place.look_within("one.jsonl", 1000);
    assert_eq!(place.spend().doubt, Some(MeterDoubt::Behind));
    let mut looks = 1;
    while place.spend().doubt.is_some() {
        place.look_within("one.jsonl", 1000);
        looks += 1;
    }
    assert_eq!(place.spend().tokens().total(), 50);
    assert!(looks > 5, "{looks}");
}

#[test]
fn a_record_that_is_not_there_yet_or_of_nobody_is_said() {
    let mut place = Place::new();
    place.look("late.jsonl");
    assert_eq!(place.spend().doubt, Some(MeterDoubt::Behind));
    place.answer("late.jsonl", "a", 4);
    assert_eq!(place.look("late.jsonl"), 4);
    assert_eq!(place.spend().doubt, None);
    fs::create_dir(place.path("odd.jsonl")).unwrap();
    place.look("odd.jsonl");
    assert_eq!(place.spend().doubt, Some(MeterDoubt::Unreadable));
    let prices = PriceBook::default();
    let source = RoundSource { agent: "opencode", transcript: None };
    let spend = MeterRound::begin(&place.state, &prices, BOUND, BEGIN).run(&source);
    assert_eq!(spend.doubt, Some(MeterDoubt::NoRecord));
}

#[test]
fn a_driver_counts_without_a_stop() {
    let place = Place::new();
    let home = place.path("home");
    let rollout = place.path("rollout.jsonl");
    let line = |kind: &str, payload: &str| {
        format!(r#"{{"timestamp":"2126-11-15T06:00:00.000Z","type":"{kind}","payload":{payload}}}"#)
    };
    let record = r#"{"response_id":"r1","usage":{"input_tokens":90,"output_tokens":10}}"#;
    let count = r#"{"type":"token_count","info":{"last_token_usage":{"total_tokens":100},"model_context_window":400}}"#;
    let text = [line("token_usage_record", record), line("event_msg", count)].join("\n") + "\n";
    fs::write(&rollout, text).unwrap();
    let mut journal = MemoryJournal::default();
    let recorded = Recorded { event: started(), at: BEGIN };
    assert!(journal.append(Revision::NONE, &[recorded], &place.state).is_ok());
    let world = Box::new(RealWorld::new(Settings));
    let mut engine = Engine::simulated(Box::new(journal), world, home);
    let transcript = rollout.display().to_string();
    let id = LoopId::new("l1");
    for _ in 0..2 {
        let stored = engine.metering().count_use(&id, "codex", Some(&transcript)).unwrap().unwrap();
        let spend = stored.state.spend.unwrap();
        assert_eq!((spend.tokens().total(), stored.revision), (100, Revision(2)));
        assert_eq!(spend.context, Some(ContextUse { used: 100, window: Some(400) }));
    }
    assert!(engine.metering().count_use(&LoopId::new("none"), "codex", None).unwrap().is_none());
}
