//! The order of tasks over every mixture of what it asks about.

use std::prelude::v1::*;

use crate::{
    Digest, ErrorClass, Frame, Leave, Ledger, LoopId, Marker, Mode, Order, Outcome, Phase, Policy,
    Rest, Rule, Seen, State, Tally, Timestamp, ToolUse, Verdict, WrittenError, apply, decide,
};

const NOW: Timestamp = Timestamp::from_unix_millis(1_794_722_400_000);
const MAX: u32 = 4;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stand {
    Active,
    Paused,
    Ended,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    stand: Stand,
    iteration: u32,
    errors: &'static [ErrorClass],
    spent: u64,
    said: Option<Marker>,
    idle: u32,
    tools: ToolUse,
    background: &'static [&'static str],
}

const ERRORS: [&[ErrorClass]; 7] = [
    &[],
    &[ErrorClass::Logic],
    &[ErrorClass::Logic; 3],
    &[ErrorClass::Transient],
    &[ErrorClass::Transient; 2],
    &[ErrorClass::Blocking],
    &[ErrorClass::Unknown],
];

impl Case {
    fn state(self) -> State {
        let phase = match self.stand {
            Stand::Active => Phase::Active,
            Stand::Paused => Phase::Paused { rest: Rest::Resume, since: NOW },
            Stand::Ended => {
                Phase::Ended { outcome: Outcome::Attested, why: String::new(), at: NOW }
            }
        };
        let recent = vec![Digest::new().value()];
        let tally =
            Tally { idle: self.idle, recent, tasks: vec!["known".into()], ..Tally::default() };
        State {
            id: LoopId::new("task"),
            goal: "it".into(),
            project: String::new(),
            session: None,
            worktree: None,
            claim_until: None,
            policy: Policy { order: Order::Task, ..Policy::default() },
            phase,
            frames: vec![Frame {
                mode: Mode::Loop,
                iteration: self.iteration,
                max: MAX,
                prompt: String::new(),
            }],
            criteria: Vec::new(),
            ground: crate::Ground::default(),
            surface: crate::Surface::Hook,
            gates: vec![],
            answer: None,
            woken: None,
            origin: crate::Origin::default(),
            spend: None,
            tally,
            started_at: NOW,
            updated_at: NOW,
            progress_at: NOW,
            rest_ms: 0,
        }
    }

    fn seen(self) -> Seen {
        let error = |class: &ErrorClass| WrittenError { class: *class, message: "E".into() };
        Seen {
            markers: self.said.into_iter().collect(),
            tools: self.tools,
            background: self.background.iter().map(|id| (*id).to_string()).collect(),
            ledger: Ledger {
                spent_micros: self.spent,
                budget_micros: Some(2),
                errors: self.errors.iter().map(error).collect(),
            },
            ..Seen::default()
        }
    }

    fn is_idle(self) -> bool {
        self.tools == ToolUse::None && self.idle + 1 >= 3
    }

    fn needs_person(self) -> bool {
        let harmless = [&ERRORS[0], &ERRORS[1], &ERRORS[3]];
        !harmless.contains(&&self.errors)
    }

    /// The rule that must answer, as the order is documented.
    fn expected(self) -> Rule {
        let asked = [
            (Rule::Ended, self.stand == Stand::Ended),
            (Rule::Background, self.background.contains(&"new")),
            (Rule::Signals, self.said.is_some()),
            (Rule::Paused, self.stand == Stand::Paused),
            (Rule::Errors, self.needs_person()),
            (Rule::Spend, self.spent >= 2),
            (Rule::Iterations, self.iteration >= MAX),
            (Rule::Idle, self.is_idle()),
        ];
        asked.iter().find(|(_, holds)| *holds).map_or(Rule::Continue, |(rule, _)| *rule)
    }
}

fn every_case() -> Vec<Case> {
    let blank = Case {
        stand: Stand::Active,
        iteration: 0,
        errors: &[],
        spent: 1,
        said: None,
        idle: 0,
        tools: ToolUse::Used,
        background: &[],
    };
    let mut cases = vec![blank];
    let stands = [Stand::Active, Stand::Paused, Stand::Ended];
    cases = spread(&cases, &stands, |case, stand| Case { stand, ..case });
    cases = spread(&cases, &[0, MAX - 1, MAX], |case, iteration| Case { iteration, ..case });
    cases = spread(&cases, &ERRORS, |case, errors| Case { errors, ..case });
    cases = spread(&cases, &[1, 2], |case, spent| Case { spent, ..case });
    cases = spread(&cases, &SAID, |case, said| Case { said, ..case });
    cases = spread(&cases, &[0, 1, 2], |case, idle| Case { idle, ..case });
    cases = spread(&cases, &TOOLS, |case, tools| Case { tools, ..case });
    let background: [&[&str]; 3] = [&[], &["known"], &["known", "new"]];
    spread(&cases, &background, |case, background| Case { background, ..case })
}

fn spread<T: Copy>(cases: &[Case], values: &[T], with: impl Fn(Case, T) -> Case) -> Vec<Case> {
    cases.iter().flat_map(|case| values.iter().map(|value| with(*case, *value))).collect()
}

const SAID: [Option<Marker>; 2] = [None, Some(Marker::LoopComplete)];
const TOOLS: [ToolUse; 2] = [ToolUse::None, ToolUse::Used];

#[test]
fn every_mixture_is_answered_by_the_documented_rule() {
    let cases = every_case();
    assert_eq!(cases.len(), 3 * 3 * 7 * 2 * 2 * 6 * 3);
    for case in cases {
        let state = case.state();
        let decision = decide(&state, &case.seen(), NOW);
        assert_eq!(decision.rule, case.expected(), "{case:?}");
        let after = decision.events.iter().fold(state, |state, event| {
            apply(Some(state), event, NOW).expect("a loop stays a loop")
        });
        let counted = after.frames[0].iteration - case.iteration;
        match decision.verdict {
            Verdict::Continue { .. } => assert_eq!(counted, 1, "{case:?}"),
            Verdict::Complete { outcome, .. } => {
                assert_eq!((outcome, counted), (Outcome::Attested, 0), "{case:?}");
            }
            Verdict::Escalate { outcome, .. } => {
                assert!(outcome.can_resume() && counted == 0, "{case:?}: {outcome}");
            }
            Verdict::Allow(leave) => {
                assert_eq!(counted, 0, "{case:?}");
                assert_eq!(leave == Leave::Ended, decision.events.is_empty(), "{case:?}");
            }
        }
    }
}
