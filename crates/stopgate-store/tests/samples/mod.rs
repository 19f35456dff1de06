//! Every event there is, with every field filled: what a stored form must hold.

use stopgate_core::{
    Binding, Criterion, Enforcement, Event, Facts, Frame, Leave, LoopId, Marker, Mode, Order,
    Outcome, Phase, Policy, Proof, Receipt, Rest, Rule, Ruling, SessionId, Speaker, Standing,
    Started, Status, Stopped, Tally, Timestamp, ToolUse, Waiting,
};

/// The moment at which the samples begin.
pub(crate) const BEGIN_MS: i64 = 1_794_722_400_000;

/// The life of loop `golden`: each variant at least once, each field at least once filled.
pub(crate) fn golden() -> Vec<Event> {
    vec![
        Event::Started(Box::new(begin())),
        Event::Bound { session: session("s1"), how: Binding::Claimed },
        Event::Bound { session: session("s2"), how: Binding::Carried },
        Event::Pushed {
            frame: Frame { mode: Mode::Issue, iteration: 0, max: 5, prompt: "one issue".into() },
        },
        Event::Popped,
        Event::Prompted { prompt_id: Some("p1".into()), speaker: Speaker::Interjection },
        Event::Prompted { prompt_id: None, speaker: Speaker::Person },
        Event::Prompted { prompt_id: Some("p2".into()), speaker: Speaker::Notification },
        Event::Stopped(Box::new(sent_back())),
        Event::Stopped(Box::new(Stopped {
            rule: Rule::Background,
            ruling: Ruling::Allow(Leave::Background),
            why: "background work runs".into(),
            popped: 0,
            text: String::new(),
            receipts: Vec::new(),
            facts: Facts::default(),
            tally: Tally::default(),
        })),
        Event::Claimed,
        Event::Asked { question: "Which one? \u{1f980} \"this\"".into() },
        Event::Paused { rest: Rest::NextPrompt },
        Event::Paused { rest: Rest::Resume },
        Event::Resumed { max_iterations: None },
        Event::Resumed { max_iterations: Some(30) },
        Event::Cleared { client: "4711".into() },
        Event::Compacted { trigger: "auto".into() },
        Event::TurnFailed { error: "overloaded".into(), text: "try later".into() },
        Event::SessionEnded { reason: "prompt_input_exit".into() },
        Event::Stopped(Box::new(Stopped {
            rule: Rule::Iterations,
            ruling: Ruling::Escalate(Outcome::MaxIterations),
            why: "all continuations are used".into(),
            ..sent_back()
        })),
        Event::Resumed { max_iterations: Some(40) },
        Event::Stopped(Box::new(Stopped {
            rule: Rule::Proof,
            ruling: Ruling::Complete(Outcome::Done),
            why: "every criterion passes".into(),
            ..sent_back()
        })),
        Event::Ended { outcome: Outcome::Cancelled, why: "too late".into() },
    ]
}

/// The word that a variant is stored under. A new variant breaks the build here: it needs a
/// sample above, and the stored form a new version.
pub(crate) fn word(event: &Event) -> &'static str {
    match event {
        Event::Started(_) => "started",
        Event::Bound { .. } => "bound",
        Event::Pushed { .. } => "pushed",
        Event::Popped => "popped",
        Event::Synced { .. } => "synced",
        Event::Stopped(_) => "stopped",
        Event::Claimed => "claimed",
        Event::Asked { .. } => "asked",
        Event::Prompted { .. } => "prompted",
        Event::Paused { .. } => "paused",
        Event::Resumed { .. } => "resumed",
        Event::Cleared { .. } => "cleared",
        Event::Compacted { .. } => "compacted",
        Event::TurnFailed { .. } => "turn_failed",
        Event::SessionEnded { .. } => "session_ended",
        Event::Ended { .. } => "ended",
    }
}

/// Every word that a field may hold, a list for each kind.
pub(crate) fn words() -> Vec<String> {
    vec![
        json(&Outcome::ALL),
        json(&Order::Native.rules()),
        json(&[
            Marker::LoopDoneComplete,
            Marker::LoopDoneMaxIterations,
            Marker::LoopDoneStuck,
            Marker::IssueComplete,
            Marker::GrindDoneNoMoreIssues,
            Marker::GrindDoneMaxIssues,
            Marker::PromiseComplete,
            Marker::PromiseBlocked,
            Marker::PromiseEscalate,
            Marker::LoopComplete,
        ]),
        json(&[Leave::Ended, Leave::Paused, Leave::Waiting, Leave::Background, Leave::Person]),
        json(&[Status::Pass, Status::Fail, Status::Error, Status::Timeout, Status::Tampered]),
        json(&[Mode::Loop, Mode::Issue, Mode::Grind]),
        json(&[ToolUse::Used, ToolUse::None, ToolUse::Unknown]),
        json(&[Enforcement::Enforce, Enforcement::Shadow]),
        json(&[
            Phase::Active,
            Phase::Completing,
            Phase::Waiting { on: Waiting::Background, since: at(0) },
            Phase::Waiting { on: Waiting::Answer("Which?".into()), since: at(0) },
            Phase::Paused { rest: Rest::Resume, since: at(0) },
            Phase::Ended { outcome: Outcome::Done, why: "proven".into(), at: at(0) },
        ]),
    ]
}

fn begin() -> Started {
    let check = Proof::Check { command: "cargo test".into(), timeout_ms: 300_000 };
    Started {
        id: LoopId::new("golden"),
        goal: "the golden goal".into(),
        project: "/golden".into(),
        session: None,
        claim_until: Some(at(3_600_000)),
        policy: Policy::default(),
        frame: Frame { mode: Mode::Grind, iteration: 0, max: 20, prompt: "go".into() },
        criteria: vec![
            Criterion {
                name: "tests".into(),
                proof: check,
                last: Some(Standing {
                    status: Status::Timeout,
                    exit_code: Some(-1),
                    duration_ms: 7,
                    at: at(0),
                    log: Some("/golden/log".into()),
                }),
            },
            Criterion { name: "reads well".into(), proof: Proof::Attest, last: None },
        ],
    }
}

fn sent_back() -> Stopped {
    Stopped {
        rule: Rule::Continue,
        ruling: Ruling::Continue,
        why: "1 of 2 criteria is unmet".into(),
        popped: 1,
        text: "Loop 1/20: 1 of 2 criteria unmet\ngo on".into(),
        receipts: vec![Receipt {
            criterion: "tests".into(),
            status: Status::Fail,
            exit_code: Some(101),
            duration_ms: 1234,
            tail: "FAILED\n".into(),
            output_bytes: 7,
            log: Some("/golden/log".into()),
            trouble: Some("its output was cut".into()),
            at: at(5000),
        }],
        facts: Facts {
            markers: vec![Marker::PromiseComplete, Marker::LoopDoneStuck],
            tools: ToolUse::Used,
            background: vec!["task-1".into()],
            cap: Some(8),
        },
        tally: tally(),
    }
}

fn tally() -> Tally {
    Tally {
        stops: 1,
        idle: 2,
        repeat: 3,
        refusals: 4,
        errors: 5,
        person_spoke: true,
        failure: Some(6),
        recent: vec![7, 8],
        message: Some(9),
        tool_mark: Some(10),
        transcript_mark: Some(11),
        prompt_id: Some("p3".into()),
        tasks: vec!["task-1".into()],
    }
}

/// A value as it is stored.
pub(crate) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

/// So long after the samples begin.
pub(crate) const fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(BEGIN_MS + millis)
}

fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}
