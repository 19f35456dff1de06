use std::path::Path;

use stopgate_core::Soundness;

use super::{
    ChainBase, ChainLink, ChainWalk, EventRecord, EventSeal, KeySource, StateRecord, WriterKey,
    look_at_state,
};

fn writer() -> KeySource {
    KeySource::new(Path::new("a"), |_| WriterKey::from_bytes(&[1; 48]))
}

fn stranger() -> KeySource {
    KeySource::new(Path::new("b"), |_| WriterKey::from_bytes(&[2; 48]))
}

const STATE: StateRecord<'static> = StateRecord { id: "loop", revision: 3, body: "{}" };

/// A loop of three events and their seals, as `writer` writes it.
fn life(writer: &KeySource) -> (Vec<Option<EventSeal>>, Vec<u8>) {
    let mut link = ChainLink::new(writer, ChainBase::FIRST);
    let seals = (1..=3).map(|revision| link.event(&event(revision))).collect();
    (seals, link.state(None, &STATE).map(Vec::from).unwrap_or_default())
}

fn event(revision: u64) -> EventRecord<'static> {
    EventRecord { id: "loop", revision, format: 1, at: 7, body: "\"claimed\"" }
}

fn walk(
    writer: &KeySource,
    events: &[(Option<EventSeal>, EventRecord<'_>)],
    state: &[u8],
) -> Soundness {
    let base = look_at_state(writer, Some(state), &STATE);
    let mut walk = ChainWalk::new(writer);
    for (seal, record) in events {
        walk.event(seal.as_ref().map(EventSeal::as_bytes), record);
    }
    walk.finish(&base, 3)
}

fn whole(seals: &[Option<EventSeal>]) -> Vec<(Option<EventSeal>, EventRecord<'static>)> {
    seals.iter().copied().zip((1..).map(event)).collect()
}

#[test]
fn what_a_writer_wrote_is_sound_to_it_and_of_an_unknown_writer_to_others() {
    let (seals, state) = life(&writer());
    assert_eq!(walk(&writer(), &whole(&seals), &state), Soundness::Sound);
    assert_eq!(walk(&stranger(), &whole(&seals), &state), Soundness::UnknownWriter);
    assert_eq!(walk(&KeySource::default(), &whole(&seals), &state), Soundness::UnknownWriter);
}

#[test]
fn each_part_of_an_event_is_sealed() {
    let (seals, state) = life(&writer());
    let edits: [EventRecord<'_>; 5] = [
        EventRecord { id: "other", ..event(2) },
        EventRecord { revision: 4, ..event(2) },
        EventRecord { format: 2, ..event(2) },
        EventRecord { at: 8, ..event(2) },
        EventRecord { body: "\"popped\"", ..event(2) },
    ];
    for edit in edits {
        let mut events = whole(&seals);
        events[1].1 = edit;
        assert_eq!(walk(&writer(), &events, &state), Soundness::Forged, "{edit:?}");
        assert_eq!(walk(&stranger(), &events, &state), Soundness::UnknownWriter, "{edit:?}");
    }
}

#[test]
fn removed_reordered_and_stripped_events_are_found() {
    let (seals, state) = life(&writer());
    let events = whole(&seals);
    let cut = [events[0], events[1]];
    let swapped = [events[1], events[0], events[2]];
    let hole = [events[0], (seals[2], event(2))];
    let stripped = [(None, event(1)), events[1], events[2]];
    for found in [&cut[..], &swapped, &hole, &stripped] {
        assert_eq!(walk(&writer(), found, &state), Soundness::Forged, "{found:?}");
    }
}

#[test]
fn a_state_that_was_found_forged_is_never_sealed_again() {
    let (_, state) = life(&writer());
    let edited = StateRecord { body: "{\"done\":1}", ..STATE };
    let base = look_at_state(&writer(), Some(&state), &edited);
    assert_eq!(base.soundness, Soundness::Forged);
    let own = writer();
    let mut link = ChainLink::new(&own, base);
    link.event(&event(4));
    let next = StateRecord { revision: 4, ..edited };
    let seal = link.state(Some(&state), &next).expect("the old seal stays");
    assert_eq!(look_at_state(&own, Some(&seal), &next).soundness, Soundness::Forged);
}

#[test]
fn an_append_to_a_state_of_an_unknown_writer_says_so_for_ever() {
    let (mut seals, state) = life(&writer());
    let mut swapped = state.clone();
    swapped[..8].copy_from_slice(&[9; 8]);
    let base = look_at_state(&writer(), Some(&swapped), &STATE);
    assert_eq!(base.soundness, Soundness::UnknownWriter);
    let own = writer();
    let mut link = ChainLink::new(&own, base);
    seals.push(link.event(&event(4)));
    let next = StateRecord { revision: 4, ..STATE };
    let seal = link.state(Some(&swapped), &next).expect("a seal");
    let base = look_at_state(&own, Some(&seal), &next);
    let mut walk = ChainWalk::new(&own);
    for (seal, record) in whole(&seals) {
        walk.event(seal.as_ref().map(EventSeal::as_bytes), &record);
    }
    assert_eq!(walk.finish(&base, 4), Soundness::UnknownWriter);
}

#[test]
fn a_seal_is_the_same_after_a_move() {
    let (seals, _) = life(&writer());
    for seal in seals.into_iter().flatten() {
        assert_eq!(EventSeal::from_hex(&seal.to_hex()), Some(seal));
    }
    for broken in ["", "00", "é", &"g".repeat(50)] {
        assert_eq!(EventSeal::from_hex(broken), None, "{broken}");
    }
}
