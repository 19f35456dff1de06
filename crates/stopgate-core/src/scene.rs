//! A tiny language for scenes: one step a line, what comes of it after `=>`.
//!
//! The first line sets the stage: `loop 3/20, check tests, attest docs, idle 3`.
//! `stop tests fail, no tools` asks to stop; `stop*3 …` asks three times and shows
//! the last answer. `later 30m` lets time pass; `due`, `state` and `rule` look
//! around; every other line is an event.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};

use crate::{
    Criterion, Decision, Event, Frame, LoopId, Marker, Mode, Order, OriginalRun, OriginalVerdict,
    Outcome, Policy, Proof, Receipt, Rest, Seen, Speaker, Started, State, Status, Timestamp,
    ToolUse, Verdict, apply, decide, digest_of, due, fold,
};

pub(crate) const NOON: Timestamp = Timestamp::from_unix_millis(1_800_000_000_000);

/// Plays a scene and compares every answer with the one that the scene expects.
#[track_caller]
pub(crate) fn check(scene: &str) {
    let mut lines = scene.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut stage = Stage::set(lines.next().expect("a scene has a stage"));
    let expected: Vec<&str> = lines.collect();
    let played: Vec<String> = expected.iter().map(|line| stage.play(line)).collect();
    assert_eq!(played.join("\n"), expected.join("\n"));
    let events = stage.journal.iter().map(|(event, at)| (event, *at));
    assert_eq!(fold(events).as_ref(), Some(&stage.state), "the snapshot is the fold: {scene}");
}

/// The whole decision of the last stop in a scene.
pub(crate) fn last_decision(scene: &str) -> Decision {
    let mut lines = scene.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut stage = Stage::set(lines.next().expect("a scene has a stage"));
    for line in lines {
        stage.play(line);
    }
    stage.last.expect("somebody stopped")
}

pub(crate) fn criterion(name: &str, proof: Proof) -> Criterion {
    Criterion::new(name, proof)
}

pub(crate) fn command(command: &str) -> Proof {
    Proof::Check { command: command.into(), timeout_ms: 600_000 }
}

pub(crate) fn frame(mode: Mode, iteration: u32, max: u32, prompt: &str) -> Frame {
    Frame { mode, iteration, max, prompt: prompt.into() }
}

pub(crate) fn started(policy: Policy, frame: Frame, criteria: Vec<Criterion>) -> Event {
    Event::Started(Box::new(Started {
        policy,
        criteria,
        ..Started::new(LoopId::new("l1"), "migrate the tests", "/work", frame)
    }))
}

/// So many tokens of one model, without a price.
pub(crate) fn spend(tokens: u64) -> crate::Spend {
    let tokens = crate::TokenUse { input: tokens, ..crate::TokenUse::default() };
    let model = crate::ModelSpend {
        model: "opus".into(),
        calls: 1,
        tokens,
        nanos: 0,
        unpriced: tokens.total(),
    };
    crate::Spend { at: Some(NOON), models: vec![model], ..crate::Spend::default() }
}

pub(crate) fn receipt(name: &str, status: Status, tail: &str) -> Receipt {
    let trouble = (status == Status::Error).then(|| "no such command".to_string());
    let exit_code = match status {
        Status::Pass | Status::NeedsApproval => Some(0),
        Status::Fail => Some(101),
        Status::Error | Status::Timeout | Status::Tampered => None,
    };
    Receipt {
        criterion: name.into(),
        status,
        exit_code,
        duration_ms: 12_340,
        tail: tail.into(),
        output_bytes: tail.len() as u64,
        log: Some(format!("/state/logs/{name}.log")),
        trouble,
        at: NOON,
        evidence: crate::Evidence::default(),
    }
}

struct Stage {
    state: State,
    journal: Vec<(Event, Timestamp)>,
    now: Timestamp,
    cap: Option<crate::ClientCap>,
    last: Option<Decision>,
    novelty: usize,
}

impl Stage {
    fn set(line: &str) -> Self {
        let mut policy = Policy::default();
        let mut outermost = frame(Mode::Loop, 0, 20, "migrate the tests");
        let mut criteria = vec![];
        let mut cap = None;
        for part in line.split(',') {
            let (word, rest) = split(part);
            match word {
                "loop" | "issue" | "grind" => outermost = read_frame(part),
                "check" => criteria.push(criterion(rest, command(&format!("run {rest}")))),
                "attest" => criteria.push(criterion(rest, Proof::Attest)),
                "approve" => criteria.push(criterion(rest, Proof::Approve)),
                "advisory" => {
                    let mut told = criterion(rest, command(&format!("run {rest}")));
                    told.weight = crate::Weight::Advisory;
                    criteria.push(told);
                }
                "hidden" => {
                    let mut kept = criterion(rest, command(&format!("run {rest}")));
                    kept.visibility = crate::Visibility::Hidden;
                    criteria.push(kept);
                }
                "idle" => policy.max_idle = number(rest),
                "repeat" => policy.max_repeat = number(rest),
                "rounds" => policy.max_rounds = number(rest),
                "minutes" => policy.max_minutes = number(rest),
                "tokens" => policy.max_tokens = u64::from(number(rest)),
                "cap" => cap = Some(capped(rest)),
                "order" => policy.order = read_order(rest),
                "stale" => policy.stale_after_ms = span(rest),
                other => panic!("the stage knows no {other}"),
            }
        }
        let start = started(policy, outermost, criteria);
        let state = apply(None, &start, NOON).expect("a start begins a state");
        Self { state, journal: vec![(start, NOON)], now: NOON, cap, last: None, novelty: 0 }
    }

    /// Plays one line; gives it back with the answer that really came.
    fn play(&mut self, line: &str) -> String {
        let step = line.split("=>").next().unwrap_or_default().trim_end();
        let (word, rest) = split(step);
        let answer = match word.split_once('*') {
            Some(("stop", times)) => self.stop_often(number(times), rest),
            _ if word == "stop" => self.stop_often(1, rest),
            _ => self.look(word, rest),
        };
        match (answer, line.find("=>")) {
            // What the writer aligned stays aligned.
            (Some(answer), Some(column)) => format!("{step:column$}=> {answer}"),
            (Some(_) | None, _) => step.into(),
        }
    }

    fn look(&mut self, word: &str, rest: &str) -> Option<String> {
        match word {
            "later" => self.now = self.now.plus(span(rest)),
            "due" => {
                let names = self.due(rest);
                return Some(if names.is_empty() { "none".into() } else { names.join(" ") });
            }
            "state" => return Some(word_of(&self.state)),
            "rule" => return self.last.as_ref().map(|last| last.rule.to_string()),
            "why" => return self.last.as_ref().map(why),
            "minutes" => return Some((self.state.used_ms(self.now) / 60_000).to_string()),
            _ => {
                let event = self.event(word, rest);
                self.note(event);
            }
        }
        None
    }

    fn event(&self, word: &str, rest: &str) -> Event {
        let prompted = |speaker| Event::Prompted {
            prompt_id: if rest.is_empty() {
                self.state.tally.prompt_id.clone()
            } else {
                Some(rest.into())
            },
            speaker,
        };
        match word {
            "used" => Event::Metered(Box::new(spend(u64::from(number(rest))))),
            "push" => Event::Pushed { frame: read_frame(rest) },
            "pop" => Event::Popped,
            "approve" => Event::Approved { criterion: rest.into() },
            "accept" => Event::JudgesApproved { digest: rest.into(), by: "ann".into() },
            "reseal" => Event::Resealed { seal: rest.into(), changes: vec![], source: None },
            "done" => Event::Claimed,
            "ask" => Event::Asked { question: rest.into() },
            "person" => prompted(Speaker::Person),
            "interjects" => prompted(Speaker::Interjection),
            "notified" => prompted(Speaker::Notification),
            "hold" => Event::Paused { rest: Rest::NextPrompt },
            "pause" => Event::Paused { rest: Rest::Resume },
            "resume" => Event::Resumed { max_iterations: rest.parse().ok() },
            "ends" => {
                let outcome = Outcome::named(rest).expect("an outcome of the closed list");
                Event::Ended { outcome, why: "somebody said so".into() }
            }
            other => panic!("the scene knows no {other}"),
        }
    }

    fn note(&mut self, event: Event) {
        self.state = apply(Some(self.state.clone()), &event, self.now).expect("a state stays one");
        self.journal.push((event, self.now));
    }

    fn stop_often(&mut self, times: u32, rest: &str) -> Option<String> {
        for _ in 0..times {
            let seen = self.seen(rest);
            let decision = decide(&self.state, &seen, self.now);
            for event in decision.events.clone() {
                self.note(event);
            }
            self.last = Some(decision);
        }
        self.last.as_ref().map(answer)
    }

    fn due(&self, rest: &str) -> Vec<String> {
        let mut seen = Seen { tools: ToolUse::Used, cap: self.cap, ..Seen::default() };
        for part in rest.split(',').map(str::trim) {
            read_sight(&mut seen, part);
        }
        due(&self.state, &seen, self.now).iter().map(|due| due.name.clone()).collect()
    }

    fn seen(&mut self, rest: &str) -> Seen {
        let mut seen = Seen { tools: ToolUse::Used, cap: self.cap, ..Seen::default() };
        let due = self.due(rest);
        for part in rest.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            if !read_sight(&mut seen, part) {
                seen.receipts.push(self.read_receipt(part));
            }
        }
        // As in the engine, only what is due is run.
        seen.receipts.retain(|receipt| due.contains(&receipt.criterion));
        seen
    }

    /// `tests fail`, `tests fail with a panic`, `tests fail anew`: the latter never the same way.
    fn read_receipt(&mut self, part: &str) -> Receipt {
        let mut words = part.splitn(3, ' ');
        let name = words.next().unwrap_or_default();
        let sort = words.next().unwrap_or_default();
        let status = match sort {
            "pass" | "accepted" | "approved" | "word" => Status::Pass,
            "fail" => Status::Fail,
            "error" => Status::Error,
            "timeout" => Status::Timeout,
            "tampered" => Status::Tampered,
            "rejected" | "undecided" => Status::NeedsApproval,
            other => panic!("a check doesn't {other}: {part}"),
        };
        let how = words.next().unwrap_or_default();
        if how == "anew" {
            self.novelty += 1;
            return receipt(name, status, &"x".repeat(self.novelty));
        }
        let mut receipt = receipt(name, status, how);
        receipt.evidence.word = sort == "word";
        receipt.evidence.original = original(sort);
        receipt
    }
}

/// What the judges of the start said, where a scene has them speak.
fn original(sort: &str) -> Option<OriginalRun> {
    let verdict = match sort {
        "accepted" => OriginalVerdict::Accepted,
        "rejected" => OriginalVerdict::Rejected,
        "undecided" => OriginalVerdict::Undecided,
        "approved" => OriginalVerdict::Approved,
        _ => return None,
    };
    let failing = vec!["tests/test_x.py::test_b".to_string()];
    let changes = vec!["tests/test_x.py was changed".to_string()];
    Some(OriginalRun { verdict, digest: "d1".into(), changes, failing })
}

/// Reads what can be seen without running a check.
fn read_sight(seen: &mut Seen, part: &str) -> bool {
    let (word, rest) = split(part);
    match word {
        "no" => seen.tools = ToolUse::None,
        "unknown" => seen.tools = ToolUse::Unknown,
        "says" => seen.message = Some(digest_of(rest)),
        "runs" => seen.background.push(rest.into()),
        "prompt" => seen.prompt_id = Some(rest.into()),
        "continued" => seen.continued = Some(true),
        "first" => seen.continued = Some(false),
        "untrusted" => seen.untrusted = true,
        _ => match read_marker(part) {
            Some(marker) => seen.markers.push(marker),
            None => return false,
        },
    }
    true
}

fn read_order(text: &str) -> Order {
    match text {
        "idle" => Order::Idle,
        "features" => Order::Features,
        "criteria" => Order::Criteria,
        "task" => Order::Task,
        "ralph-loop" => Order::RalphLoop,
        other => panic!("no order {other}"),
    }
}

fn read_marker(text: &str) -> Option<Marker> {
    Some(match text {
        "COMPLETE" => Marker::PromiseComplete,
        "BLOCKED" => Marker::PromiseBlocked,
        "ESCALATE" => Marker::PromiseEscalate,
        "LOOP-DONE COMPLETE" => Marker::LoopDoneComplete,
        "LOOP-DONE MAX_ITERATIONS" => Marker::LoopDoneMaxIterations,
        "LOOP-DONE STUCK" => Marker::LoopDoneStuck,
        "LOOP-COMPLETE" => Marker::LoopComplete,
        "ISSUE-COMPLETE" => Marker::IssueComplete,
        "NO_MORE_ISSUES" => Marker::GrindDoneNoMoreIssues,
        "MAX_ISSUES" => Marker::GrindDoneMaxIssues,
        _ => return None,
    })
}

/// `issue 1/5 fix the parser`
fn read_frame(text: &str) -> Frame {
    let (mode, rest) = split(text);
    let (count, prompt) = split(rest);
    let (iteration, max) = count.split_once('/').expect("a frame counts");
    let mode = match mode {
        "loop" => Mode::Loop,
        "issue" => Mode::Issue,
        "grind" => Mode::Grind,
        other => panic!("no mode {other}"),
    };
    frame(mode, number(iteration), number(max), prompt)
}

fn answer(decision: &Decision) -> String {
    match &decision.verdict {
        Verdict::Allow(leave) => format!("allow {leave:?}").to_lowercase(),
        Verdict::Continue { text } => {
            let headline = text.lines().next().unwrap_or_default();
            headline.split(": ").next().unwrap_or_default().replace("Loop", "continue")
        }
        Verdict::Complete { outcome, .. } => format!("complete {outcome}"),
        Verdict::Escalate { outcome, .. } => format!("escalate {outcome}"),
    }
}

fn why(decision: &Decision) -> String {
    match &decision.verdict {
        Verdict::Allow(leave) => format!("{leave:?}"),
        Verdict::Continue { text } => text.clone(),
        Verdict::Complete { why, .. } | Verdict::Escalate { why, .. } => why.clone(),
    }
}

fn word_of(state: &State) -> String {
    let frames = state.frames.iter().map(|frame| format!("{}/{}", frame.iteration, frame.max));
    format!("{} {}", state.shown(), frames.collect::<Vec<_>>().join(" > "))
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    text.split_once(' ').map_or((text, ""), |(word, rest)| (word, rest.trim()))
}

/// `8`, or `8 turn` where tool calls don't start the count again.
fn capped(text: &str) -> crate::ClientCap {
    let scope =
        if text.ends_with("turn") { crate::CapScope::Turn } else { crate::CapScope::SinceTool };
    crate::ClientCap { refusals: number(text.trim_end_matches("turn").trim()), scope, lift: "" }
}

fn number(text: &str) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("{text} is not a number"))
}

fn span(text: &str) -> i64 {
    let (count, unit) = text.split_at(text.len() - 1);
    let count = i64::from(number(count));
    match unit {
        "s" => count * 1000,
        "m" => count * 60_000,
        "h" => count * 3_600_000,
        other => panic!("no unit {other}"),
    }
}
