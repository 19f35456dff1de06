use alloc::string::ToString;
use alloc::vec;

use super::{FileTrust, Origin, Party, Replaced, Vouch, is_agents_choice, proven};
use crate::criterion::Author;
use crate::event::Event;
use crate::policy::Policy;
use crate::scene::{NOON, command, criterion, frame, started};
use crate::seen::Seen;
use crate::soundness::Soundness;
use crate::state::{LoopId, Mode, State};
use crate::{Outcome, apply};

fn state(origin: Origin, author: Author) -> State {
    let mut tests = criterion("tests", command("true"));
    tests.terms.author = author;
    let frame = frame(Mode::Loop, 0, 20, "go");
    let mut state = apply(None, &started(Policy::default(), frame, vec![tests]), NOON).unwrap();
    state.origin = origin;
    state
}

fn by(party: Party) -> Origin {
    Origin { by: party, ..Origin::default() }
}

fn outcome(state: &State, seen: &Seen) -> Outcome {
    proven(state, seen, "its check passes".to_string()).0
}

#[test]
fn what_an_agent_chose_is_attested_unless_it_is_the_trusted_files_or_a_person_vouches() {
    let trusted = Seen { file: FileTrust::Trusted, ..Seen::default() };
    let plain = Seen::default();
    let vouched = |how| Origin { vouched: Some(how), ..by(Party::Agent) };
    let cases = [
        (by(Party::Person), Author::Command, &plain, Outcome::Done),
        (by(Party::Unknown), Author::Command, &plain, Outcome::Done),
        (by(Party::Agent), Author::Command, &plain, Outcome::Attested),
        (by(Party::Agent), Author::Command, &trusted, Outcome::Attested),
        (by(Party::Agent), Author::Project, &plain, Outcome::Attested),
        (by(Party::Agent), Author::Project, &trusted, Outcome::Done),
        (vouched(Vouch::Approved), Author::Command, &plain, Outcome::Done),
        (vouched(Vouch::Typed), Author::Command, &plain, Outcome::Done),
    ];
    for (origin, author, seen, expected) in cases {
        let state = state(origin, author);
        assert_eq!(outcome(&state, seen), expected, "{:?} {author:?}", state.origin);
    }
}

#[test]
fn an_agent_that_put_a_loop_aside_needs_a_persons_word() {
    let replaced = vec![Replaced { id: LoopId::new("earlier"), by: Party::Agent }];
    let trusted = Seen { file: FileTrust::Trusted, ..Seen::default() };
    let mut state = state(Origin { replaced, ..by(Party::Agent) }, Author::Project);
    let (outcome, why) = proven(&state, &trusted, "its check passes".to_string());
    assert_eq!(outcome, Outcome::Attested);
    assert!(why.contains("put loop earlier aside"), "{why}");
    state = apply(Some(state), &Event::Vouched { how: Vouch::Approved }, NOON).unwrap();
    assert!(!is_agents_choice(&state, FileTrust::Untrusted));
}

#[test]
fn a_record_that_is_not_sound_is_never_done() {
    let state = state(by(Party::Person), Author::Command);
    for soundness in [Soundness::Unchained, Soundness::UnknownWriter, Soundness::Forged] {
        let seen = Seen { soundness, ..Seen::default() };
        assert_eq!(outcome(&state, &seen), Outcome::Attested, "{soundness:?}");
    }
}

#[test]
fn a_persons_word_follows_only_an_end_that_lacked_it() {
    let vouch = Event::Vouched { how: Vouch::Approved };
    for end in Outcome::ALL {
        let over = Event::Ended { outcome: end, why: "over".into() };
        let ended = apply(Some(state(by(Party::Agent), Author::Command)), &over, NOON).unwrap();
        let after = apply(Some(ended), &vouch, NOON).unwrap();
        let revived = after.outcome().is_none();
        assert_eq!(revived, end == Outcome::Attested, "{end}");
        assert_eq!(after.origin.vouched.is_some(), revived, "{end}");
    }
}

#[test]
fn what_a_person_typed_they_began() {
    let agents = Origin { shown_by: Some("a variable".to_string()), ..by(Party::Agent) };
    let mut typed = agents.clone();
    typed.vouch(Vouch::Typed);
    assert_eq!(typed, Origin { vouched: Some(Vouch::Typed), ..by(Party::Person) });
    let mut approved = agents.clone();
    approved.vouch(Vouch::Approved);
    assert_eq!(approved, Origin { vouched: Some(Vouch::Approved), ..agents });
}
