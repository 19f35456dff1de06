//! A small language for loops: the stage on the first line, one step on each other line.
//!
//! `loop 20, check tests, idle 3, minutes 60` sets the stage. `stop tests fail, no tools` asks to
//! stop and records the answer, `later 10m` lets time pass; the other words are commands.

use stopgate_core::{
    Author, Criterion, Event, Frame, GateWord, LoopEdit, LoopId, Marker, Mode, Origin, OriginalRun,
    OriginalVerdict, Outcome, Party, Policy, Proof, Receipt, Rest, Seen, Soundness, Speaker,
    SpokenExit, Started, State, Status, Timestamp, ToolUse, Vouch, Weight, apply, asks_gates,
    conclude, decide, digest_of,
};
use stopgate_gates::{
    AgentContext, CommandGate, Hands, LoopGates, evaluate, gate_word, loop_context, loop_gate,
};

use crate::replay::Happened;

/// 2026-11-15 12:00 UTC.
pub(crate) const NOON: Timestamp = Timestamp::from_unix_millis(1_794_744_000_000);

/// The events of a scene.
pub(crate) fn play(scene: &str) -> Vec<Happened> {
    let mut lines = scene.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut stage = Stage::set(lines.next().expect("a scene has a stage"));
    for line in lines {
        stage.play(line);
    }
    stage.journal
}

struct Stage {
    state: State,
    journal: Vec<Happened>,
    now: Timestamp,
    novelty: u32,
}

pub(crate) fn started(stage: &str) -> Started {
    let mut policy = Policy::default();
    let mut frame =
        Frame { mode: Mode::Loop, iteration: 0, max: 20, prompt: "migrate the tests".into() };
    let mut criteria = Vec::new();
    let mut gates = Vec::new();
    let mut origin = Origin::default();
    for part in stage.split(',') {
        let (word, rest) = part.trim().split_once(' ').unwrap_or((part.trim(), ""));
        let number = || rest.parse().expect("a number");
        let check = Proof::Check { command: format!("run {rest}"), timeout_ms: 600_000 };
        match word {
            "loop" => frame.max = number(),
            "check" => criteria.push(Criterion::new(rest, check)),
            "attest" => criteria.push(Criterion::new(rest, Proof::Attest)),
            "approve" => criteria.push(Criterion::new(rest, Proof::Approve)),
            "advisory" => {
                criteria.push(Criterion::new(rest, check));
                criteria.last_mut().expect("just pushed").weight = Weight::Advisory;
            }
            "file-check" => {
                criteria.push(Criterion::new(rest, check));
                criteria.last_mut().expect("just pushed").terms.author = Author::Project;
            }
            "gate" => gates.push(loop_gate(rest, Author::Command).expect("a gate")),
            "file-gate" => gates.push(loop_gate(rest, Author::Project).expect("a gate")),
            "idle" => policy.max_idle = number(),
            "repeat" => policy.max_repeat = number(),
            "minutes" => policy.max_minutes = number(),
            "tokens" => policy.max_tokens = u64::from(number()),
            "stale" => policy.stale_after_ms = span(rest),
            "agents" => origin.by = Party::Agent,
            "shadow" => policy.enforcement = stopgate_core::Enforcement::Shadow,
            "file" => policy.order = stopgate_core::Order::Features,
            other => panic!("{other} is not a word of a stage"),
        }
    }
    Started {
        policy,
        criteria,
        gates,
        origin,
        ..Started::new(LoopId::new("k3vq8m2x7d"), "migrate the tests", "/work/shop", frame)
    }
}

/// So many tokens of one model, a millionth of a dollar each.
fn used(tokens: &str) -> stopgate_core::Spend {
    let input = tokens.parse().expect("a number");
    let tokens = stopgate_core::TokenUse { input, ..stopgate_core::TokenUse::default() };
    let model = stopgate_core::ModelSpend {
        model: "opus".into(),
        calls: 1,
        tokens,
        nanos: input * 1000,
        unpriced: 0,
    };
    stopgate_core::Spend { models: vec![model], ..stopgate_core::Spend::default() }
}

impl Stage {
    fn set(line: &str) -> Self {
        let event = Event::Started(Box::new(started(line)));
        let state = apply(None, &event, NOON).expect("a start begins a loop");
        Self { state, journal: vec![(event, NOON)], now: NOON, novelty: 0 }
    }

    fn play(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if let Some((_, times)) = word.split_once('*') {
            for _ in 0..times.parse().expect("a number") {
                self.stop(rest);
            }
            return;
        }
        let event = match word {
            "stop" => return self.stop(rest),
            "conclude" => return self.conclude(rest),
            "later" => return self.now = self.now.plus(span(rest)),
            "pause" => Event::Paused { rest: Rest::Resume },
            "resume" => Event::Resumed { max_iterations: rest.parse().ok() },
            "cancel" => {
                Event::Ended { outcome: Outcome::Cancelled, why: "cancelled by a person".into() }
            }
            "used" => Event::Metered(Box::new(used(rest))),
            "done" => Event::Claimed,
            "asked" => Event::Asked { question: rest.into() },
            "answered" => Event::Answered { text: rest.into() },
            "vouch" => Event::Vouched { how: Vouch::Approved },
            "approved" => Event::Approved { criterion: rest.into() },
            "judges" => Event::JudgesApproved { digest: "d1".into(), by: "mo".into() },
            "push" => Event::Pushed {
                frame: Frame {
                    mode: Mode::Issue,
                    iteration: 0,
                    max: rest.parse().expect("a number"),
                    prompt: "one issue".into(),
                },
            },
            "prompt" => Event::Prompted { prompt_id: Some(rest.into()), speaker: Speaker::Person },
            "interject" => Event::Prompted { prompt_id: None, speaker: Speaker::Interjection },
            "limit" => Event::Edited(Box::new(LoopEdit {
                max_iterations: rest.parse().ok(),
                ..LoopEdit::default()
            })),
            other => panic!("{other} is not a word of a scene"),
        };
        self.record(event);
    }

    fn record(&mut self, event: Event) {
        self.state = apply(Some(self.state.clone()), &event, self.now).expect("it goes on");
        self.journal.push((event, self.now));
    }

    fn stop(&mut self, what: &str) {
        let mut seen = self.seen(what);
        if asks_gates(&self.state, &seen, self.now) {
            seen.gates = Some(self.ask_gates(what, &seen));
        }
        for event in decide(&self.state, &seen, self.now).events {
            self.record(event);
        }
        self.now = self.now.plus(60_000);
    }

    /// What the gates say where the agent changed the files that a part `files a.rs b.rs` names.
    fn ask_gates(&self, what: &str, seen: &Seen) -> GateWord {
        let files = what.split(',').find_map(|part| part.trim().strip_prefix("files "));
        let context = AgentContext {
            files_modified: files
                .into_iter()
                .flat_map(str::split_whitespace)
                .map(Into::into)
                .collect(),
            agent_output: seen.message.map(|_| "It is done.".into()),
            ..loop_context(&self.state, &seen.receipts)
        };
        let gates = LoopGates::read(&self.state.gates);
        gate_word(evaluate(&gates.sources(&seen.receipts), &context, &mut Patient), &context)
    }

    /// A person's word by command, with the checks run once more.
    fn conclude(&mut self, what: &str) {
        let seen = Seen { receipts: self.seen(what).receipts, ..Seen::default() };
        for event in conclude(&self.state, &seen).expect("nothing stands in the way").events {
            self.record(event);
        }
    }

    fn seen(&mut self, what: &str) -> Seen {
        self.novelty += 1;
        let mut seen = Seen { tools: ToolUse::Used, ..Seen::default() };
        seen.message = Some(digest_of(&format!("message {}", self.novelty)));
        for part in what.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            self.see(part, &mut seen);
        }
        seen
    }

    fn see(&self, part: &str, seen: &mut Seen) {
        match part {
            "no tools" => seen.tools = ToolUse::None,
            "unknown tools" => seen.tools = ToolUse::Unknown,
            "same words" => {
                (seen.tools, seen.message) = (ToolUse::Unknown, self.state.tally.message);
            }
            "claim" => seen.markers.push(Marker::PromiseComplete),
            "issue done" => seen.markers.push(Marker::IssueComplete),
            "blocked" => seen.exit = Some(SpokenExit::Blocked("no key".into())),
            "ask" => seen.exit = Some(SpokenExit::Ask("which one?".into())),
            "cap 2" => {
                let scope = stopgate_core::CapScope::SinceTool;
                seen.cap = Some(stopgate_core::ClientCap { refusals: 2, scope, lift: "" });
            }
            "fresh" => seen.continued = Some(false),
            "sent back" => seen.continued = Some(true),
            "untrusted" => seen.untrusted = true,
            "silent" => seen.message = None,
            files if files.starts_with("files ") => {}
            "unchained" => seen.soundness = Soundness::Unchained,
            "forged" => seen.soundness = Soundness::Forged,
            "task" => seen.background.push(format!("task {}", self.novelty)),
            prompt if prompt.starts_with("prompt ") => seen.prompt_id = Some(prompt.into()),
            checked => seen.receipts.push(self.receipt(checked)),
        }
    }

    fn receipt(&self, text: &str) -> Receipt {
        let (name, word) = text.rsplit_once(' ').expect("a name and how it came out");
        let (word, tail) = word.split_once(':').unwrap_or((word, "assertion failed"));
        let status = match word {
            "pass" => Status::Pass,
            "fail" => Status::Fail,
            "error" => Status::Error,
            "disputed" => Status::NeedsApproval,
            other => panic!("{other} is not how a check comes out"),
        };
        let mut receipt = receipt(name, status, tail);
        receipt.at = self.now;
        receipt
    }
}

pub(crate) fn receipt(name: &str, status: Status, tail: &str) -> Receipt {
    let mut receipt = Receipt {
        exit_code: Some(i32::from(status != Status::Pass)),
        duration_ms: 2_000,
        tail: tail.into(),
        output_bytes: tail.len() as u64,
        ..Receipt::new(name, status, NOON)
    };
    if status == Status::NeedsApproval {
        receipt.evidence.original = Some(OriginalRun {
            verdict: OriginalVerdict::Rejected,
            digest: "d1".into(),
            changes: vec!["tests/cart.rs changed".into()],
            failing: vec!["cart::adds".into()],
        });
    }
    receipt
}

/// Hands of which every command lets the agent work on.
struct Patient;

impl Hands for Patient {
    fn ask(&mut self, _gate: &CommandGate, _context: &str) -> Result<String, String> {
        Ok(r#"{"action": "continue", "reason": "not yet"}"#.into())
    }

    fn micros(&mut self) -> u64 {
        0
    }
}

fn span(text: &str) -> i64 {
    let (number, unit) = text.split_at(text.len() - 1);
    let unit = match unit {
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        other => panic!("{other} is not a unit"),
    };
    number.parse::<i64>().expect("a number") * unit
}
