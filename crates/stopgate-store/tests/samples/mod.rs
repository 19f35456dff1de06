//! Every event there is, with every field filled: what a stored form must hold.

mod counters;
pub(crate) mod parked;
pub(crate) mod preflight;
mod spends;
mod word;

use stopgate_core::{
    ApprovedJudges, Author, Baseline, Binding, CoverageFormat, Criterion, Enforcement, Event,
    Evidence, Facts, Floor, Frame, GateAction, GateTrace, GateWord, GitDemand, Ground, JudgesAre,
    Leave, LoopEdit, LoopGate, LoopId, Marker, Mode, Order, Origin, OriginalRun, OriginalVerdict,
    Outcome, Party, PatternSubject, Phase, Policy, ProjectSource, Proof, Receipt, Replaced,
    Repository, Rest, Reuse, Rule, Ruling, SessionId, Site, Speaker, SpokenExit, Standing, Started,
    Status, Stopped, Strength, Surface, Tally, TaskHold, TaskNote, Terms, Tests, Timestamp,
    ToolUse, Visibility, Vouch, Waiting, Weight,
};

pub(crate) use self::counters::counters;
pub(crate) use self::spends::spends;

pub(crate) use word::word;

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
            gates: None,
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

/// What came with seals: who began a loop, who vouched for it, and where it was proven.
pub(crate) fn later() -> Vec<Event> {
    let origin = Origin {
        by: Party::Agent,
        shown_by: Some("CLAUDECODE".into()),
        replaced: vec![Replaced { id: LoopId::new("earlier"), by: Party::Agent }],
        vouched: None,
    };
    let repository = Repository {
        roots: vec!["r007".into()],
        remotes: vec!["example.org/team/project".into()],
        head: Some("4ead".into()),
    };
    let (key, signature) = ("ab".into(), "cd".into());
    vec![
        Event::Started(Box::new(Started { origin, ..begin() })),
        Event::Vouched { how: Vouch::Typed },
        Event::Vouched { how: Vouch::Approved },
        Event::Certified { key, signature, repository: Some(repository) },
    ]
}

/// What later programs write, in the same form: fields that are left out where they say
/// nothing, and events that the first program did not have.
pub(crate) fn more() -> Vec<Event> {
    let mut begun = begin();
    begun.ground = Ground {
        seal: Some("5ea1".into()),
        source: Some(ProjectSource {
            path: "/golden/stopgate.toml".into(),
            content: "c0".into(),
            accepted: Some("c1".into()),
        }),
        roots: vec!["../lib".into()],
        jobs: 3,
        approved: None,
    };
    begun.criteria = proofs().into_iter().map(|proof| Criterion::new("it", proof)).collect();
    begun.criteria.push(Criterion {
        weight: Weight::Advisory,
        visibility: Visibility::Hidden,
        terms: terms(),
        approved_at: Some(at(1)),
        tests: Some(Tests { collected: 3, failed: 2, skipped: 1 }),
        last: Some(Standing::of(&receipt())),
        ..Criterion::new("everything", Proof::Approve)
    });
    vec![
        Event::Started(Box::new(begun)),
        Event::Stopped(Box::new(Stopped {
            rule: Rule::Tampered,
            ruling: Ruling::Escalate(Outcome::Tampered),
            receipts: vec![receipt()],
            tally: Tally { tampered: 2, ..tally() },
            ..sent_back()
        })),
        Event::Approved { criterion: "everything".into() },
        Event::Resealed {
            seal: "5ea2".into(),
            changes: vec!["tests/a.rs was changed".into()],
            source: Some("c1".into()),
        },
        Event::Certified { key: "ab".into(), signature: "cd".into(), repository: None },
        Event::Synced {
            frames: vec![Frame { mode: Mode::Issue, iteration: 3, max: 5, prompt: "file".into() }],
        },
        Event::Stopped(Box::new(Stopped {
            rule: Rule::Gates,
            ruling: Ruling::Escalate(Outcome::NeedsInput),
            gates: Some(gates()),
            ..sent_back()
        })),
        Event::Started(Box::new(Started {
            surface: Surface::Tools,
            gates: vec![LoopGate {
                name: "tired".into(),
                definition: "{}".into(),
                author: stopgate_core::Author::Command,
            }],
            origin: Origin::default(),
            ..begin()
        })),
        task(TaskHold::Keep),
        task(TaskHold::Begin {
            session: Some(session("s1")),
            frame: Frame { mode: Mode::Loop, iteration: 0, max: 5, prompt: "iterate".into() },
        }),
        task(TaskHold::Open),
        task(TaskHold::End { outcome: Outcome::Attested, why: "promised".into() }),
    ]
}

/// What people do to a running loop, in the same form.
pub(crate) fn controls() -> Vec<Event> {
    vec![
        Event::Detached { claim_until: at(3_600_000) },
        Event::Bound { session: session("s3"), how: Binding::Attached },
        Event::Answered { text: "PostgreSQL \u{1f980}".into() },
        Event::Edited(Box::default()),
        Event::Edited(Box::new(LoopEdit {
            goal: Some("another goal".into()),
            max_iterations: Some(30),
            max_minutes: Some(0),
            added: vec![Criterion::new("reads better", Proof::Attest)],
            dropped: vec!["tests".into()],
            seal: Some("5ea2".into()),
            ..LoopEdit::default()
        })),
        Event::Stopped(Box::new(Stopped {
            facts: Facts {
                exit: Some(SpokenExit::Blocked("no network".into())),
                ..Facts::default()
            },
            ..sent_back()
        })),
    ]
}

/// What came with replays: all that a stop saw, and where the work began.
pub(crate) fn seen() -> Vec<Event> {
    let facts = Facts {
        continued: Some(false),
        untrusted: true,
        message: Some(0x5ea1),
        ..Facts::default()
    };
    vec![
        Event::Started(Box::new(Started { commit: Some("c0ffee".into()), ..begin() })),
        Event::Stopped(Box::new(Stopped { facts, ..sent_back() })),
    ]
}

fn task(hold: TaskHold) -> Event {
    Event::Task(Box::new(TaskNote { steps: vec!["\"cleared\"".into()], hold }))
}

fn gates() -> GateWord {
    GateWord {
        gate: "tired".into(),
        action: GateAction::Escalate,
        reason: "too many".into(),
        next_prompt: Some("rest".into()),
        asked: vec![GateTrace {
            gate: "tired".into(),
            action: Some(GateAction::Escalate),
            reason: "too many".into(),
            failed: true,
            micros: 7,
            inputs: "{}".into(),
        }],
    }
}

fn proofs() -> Vec<Proof> {
    vec![
        Proof::Run { argv: vec!["cargo".into(), "test".into()], timeout_ms: 1 },
        Proof::Files { exist: vec!["a".into()], absent: vec!["b".into()] },
        Proof::Pattern {
            subject: PatternSubject::File("a".into()),
            must: vec!["x".into()],
            must_not: vec!["y".into()],
        },
        Proof::Pattern {
            subject: PatternSubject::Message,
            must: Vec::new(),
            must_not: vec!["y".into()],
        },
        Proof::Coverage {
            report: "lcov.info".into(),
            format: Some(CoverageFormat::Lcov),
            floor: Floor { lines: Some(8000), branches: Some(1), functions: Some(2) },
        },
        Proof::Features { list: "features.json".into() },
        Proof::Git { demands: vec![GitDemand::Clean, GitDemand::Pushed, GitDemand::NoConflicts] },
        Proof::Approve,
    ]
}

/// What programs write that judge work by the judges of the start.
pub(crate) fn judged() -> Vec<Event> {
    let mut begun = begin();
    let approved = ApprovedJudges { digest: "d1".into(), by: "ann".into() };
    begun.ground = Ground { approved: Some(approved), ..Ground::default() };
    let terms = Terms {
        judges: JudgesAre::Work,
        may_change: vec!["tests/**".into()],
        strength: Some(Strength::Clean),
        red_first: true,
        network: true,
        ..Terms::default()
    };
    begun.criteria = vec![Criterion { terms, ..Criterion::new("tests", Proof::Attest) }];
    let verdicts = [
        OriginalVerdict::Accepted,
        OriginalVerdict::Rejected,
        OriginalVerdict::Undecided,
        OriginalVerdict::Approved,
    ];
    let receipts = verdicts.map(|verdict| Receipt {
        status: Status::NeedsApproval,
        evidence: Evidence {
            strength: Some(Strength::Original),
            original: Some(OriginalRun {
                verdict,
                digest: "d1".into(),
                changes: vec!["tests/a.py was changed".into()],
                failing: vec!["tests/a.py::test_b".into()],
            }),
            notes: vec!["build outputs: the tree's".into()],
            word: true,
            ..Evidence::default()
        },
        ..receipt()
    });
    vec![
        Event::Started(Box::new(begun)),
        Event::Stopped(Box::new(Stopped { receipts: receipts.into(), ..sent_back() })),
        Event::JudgesApproved { digest: "d1".into(), by: "ann".into() },
        Event::Ended { outcome: Outcome::NeedsApproval, why: "nobody approved it".into() },
    ]
}

fn terms() -> Terms {
    Terms {
        retries: 2,
        cwd: Some("sub".into()),
        inputs: vec!["src/**".into()],
        protect: vec!["tests/**".into()],
        reuse: Reuse::Never,
        site: Site::Pristine,
        link: vec!["target".into()],
        set: vec![("A".into(), "b".into())],
        pass: vec!["C".into()],
        version: vec!["cargo".into(), "--version".into()],
        memory_bytes: Some(1),
        cpu_seconds: Some(2),
        baseline: Some(Baseline { failures: vec![1, 2], names: vec!["one".into()] }),
        author: Author::Project,
        ..Terms::default()
    }
}

fn receipt() -> Receipt {
    let [receipt] = sent_back().receipts.try_into().unwrap();
    Receipt {
        evidence: Evidence {
            tree: Some("77ee".into()),
            command: Some("c0de".into()),
            output: Some("0f".into()),
            version: Some("cargo 1.95".into()),
            retries: 1,
            reused: true,
            tests: Some(Tests { collected: 3, failed: 2, skipped: 1 }),
            spots: vec!["src/a.rs:1".into()],
            known: vec!["old".into()],
            ..Evidence::default()
        },
        ..receipt
    }
}

/// The orders of loops that are kept in another tool's files.
const FOREIGN: [Order; 5] =
    [Order::Idle, Order::Features, Order::Criteria, Order::Task, Order::RalphLoop];

/// The native rules but for those that came later.
fn first_rules() -> Vec<Rule> {
    let rules = Order::Native.rules().iter().copied();
    rules.filter(|rule| *rule != Rule::Budget).collect()
}

/// The outcomes but for those that came later.
fn first_outcomes() -> Vec<Outcome> {
    Outcome::ALL.into_iter().filter(|outcome| *outcome != Outcome::NeedsApproval).collect()
}

/// Every word that a field may hold, a list for each kind.
pub(crate) fn words() -> Vec<String> {
    vec![
        // Later words have samples of their own.
        json(&first_outcomes()),
        json(&first_rules()),
        json(&FOREIGN),
        json(&FOREIGN.map(Order::rules)),
        json(&[Rest::NextPrompt, Rest::Resume, Rest::NextSession]),
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
        json(&[
            Leave::Ended,
            Leave::Paused,
            Leave::Waiting,
            Leave::Background,
            Leave::Person,
            Leave::Untrusted,
            Leave::Approval,
            Leave::Popped,
            Leave::Empty,
        ]),
        json(&[Status::Pass, Status::Fail, Status::Error, Status::Timeout, Status::Tampered]),
        json(&[Mode::Loop, Mode::Issue, Mode::Grind]),
        json(&[ToolUse::Used, ToolUse::None, ToolUse::Unknown]),
        json(&[Enforcement::Enforce, Enforcement::Shadow]),
        json(&[
            Phase::Active,
            Phase::Completing,
            Phase::Waiting { on: Waiting::Background, since: at(0) },
            Phase::Waiting { on: Waiting::Answer("Which?".into()), since: at(0) },
            Phase::Waiting { on: Waiting::Approval, since: at(0) },
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
                last: Some(Standing {
                    status: Status::Timeout,
                    exit_code: Some(-1),
                    duration_ms: 7,
                    at: at(0),
                    log: Some("/golden/log".into()),
                    kept: None,
                }),
                ..Criterion::new("tests", check)
            },
            Criterion::new("reads well", Proof::Attest),
        ],
        ground: Ground::default(),
        surface: Surface::Hook,
        gates: Vec::new(),
        origin: Origin::default(),
        commit: None,
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
            evidence: Evidence::default(),
        }],
        gates: None,
        facts: Facts {
            exit: None,
            markers: vec![Marker::PromiseComplete, Marker::LoopDoneStuck],
            tools: ToolUse::Used,
            background: vec!["task-1".into()],
            cap: Some(8),
            ..Facts::default()
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
        tampered: 0,
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
