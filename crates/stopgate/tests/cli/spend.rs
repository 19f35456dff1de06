//! What agents use, counted from their own records, and the limits on it.

use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use insta::assert_snapshot;
use serde_json::json;

use crate::call::Answer;
use crate::stage::Stage;

const CONFIG: &str = "user/.config/stopgate/config.toml";
const TRANSCRIPT: &str = "user/.claude/projects/-project/s1.jsonl";
const SUB_AGENT: &str = "user/.claude/projects/-project/s1/subagents/agent-a.jsonl";

/// A record of a session that grows by answers of so many tokens.
struct Record<'a> {
    stage: &'a Stage,
    name: &'static str,
    text: String,
    answers: u32,
    minute: u32,
}

impl<'a> Record<'a> {
    fn new(stage: &'a Stage, name: &'static str) -> Self {
        Self { stage, name, text: String::new(), answers: 0, minute: 0 }
    }

    /// One more answer, written in two parts under one id, as the client does.
    fn answer(&mut self, model: &str, input: u64, output: u64) {
        self.answers += 1;
        for part in 0..2 {
            let line = json!({
                "type": "assistant",
                "timestamp": format!("2026-11-15T06:{:02}:0{part}.000Z", self.minute),
                "message": {
                    "id": format!("{}-{}", self.name, self.answers),
                    "model": model,
                    "content": [{"type": "text", "text": "Still at it."}],
                    "usage": {"input_tokens": input, "output_tokens": output},
                },
            });
            let _ = writeln!(self.text, "{line}");
        }
        self.stage.write(self.name, &self.text);
        let written = UNIX_EPOCH + Duration::from_secs(1_794_722_401 + 60 * u64::from(self.minute));
        let file = fs::File::options().write(true).open(self.stage.path(self.name));
        file.and_then(|file| file.set_modified(written)).expect("set the time of a file");
    }
}

fn stop(stage: &Stage, session: &str) -> Answer {
    stage.tools(session);
    stage.stop(session, "Still at it.")
}

#[test]
fn a_loop_ends_at_its_token_limit_and_is_told_before() {
    let stage = Stage::with_loop("Finish --max-tokens 1000");
    let mut record = Record::new(&stage, TRANSCRIPT);
    record.answer("opus", 400, 100);
    let first = stop(&stage, "s1").said();
    assert!(!first.contains("token limit"), "{first}");
    record.answer("opus", 300, 100);
    let second = stop(&stage, "s1").said();
    assert!(
        second
            .contains("Nearly all of the token limit is used (900 tokens of 1.0 k tokens): finish"),
        "{second}"
    );
    record.answer("opus", 100, 0);
    assert!(!stop(&stage, "s1").is_sent_back());
    assert_eq!(stage.standing("1stage0000"), "budget 2/20 s1");
    let budget = &stage.json("status 1stage0000")["loop"]["budget"];
    assert_eq!((&budget["tokens"], &budget["max_tokens"]), (&json!(1000), &json!(1000)));
    assert_eq!((&budget["measured"], &budget["cost_usd"]), (&json!(true), &json!(null)));
    assert_eq!(budget["unpriced_models"], json!(["opus"]));
    assert_eq!(stage.run("status 1stage0000 --exit-code").code, 3);
    assert_snapshot!(stage.history("1stage0000"), @r"
    started: Finish
    metered: 500 tokens, cost unknown (no price for opus) (measured)
    stopped: sent back: Loop 1/20: not finished yet
    metered: 900 tokens, cost unknown (no price for opus) (measured)
    stopped: sent back: Loop 2/20: not finished yet
    metered: 1.0 k tokens, cost unknown (no price for opus) (measured)
    stopped: ended as budget: the token limit is reached: 1.0 k tokens of 1.0 k tokens were used
    ");
}

#[test]
fn money_is_counted_at_the_person_s_own_price_and_sub_agents_too() {
    let stage = Stage::new();
    stage.write(CONFIG, "[prices.opus]\ninput = 1000\noutput = 5000\n");
    stage.start("Finish --session s1 --max-cost 10");
    Record::new(&stage, TRANSCRIPT).answer("opus", 1000, 200);
    let mut helper = Record::new(&stage, SUB_AGENT);
    helper.answer("claude-haiku-4-5-20251001", 1_000_000, 0);
    assert!(stop(&stage, "s1").is_sent_back());
    let ran = stage.run("status");
    assert!(ran.out.contains("1.0 M tokens, $3.00 of $10.00 (measured)"), "{ran}");
    helper.answer("claude-haiku-4-5-20251001", 7_000_000, 0);
    assert!(!stop(&stage, "s1").is_sent_back());
    let found = &stage.json("status 1stage0000")["loop"];
    assert_eq!(found["why"], "the cost limit is reached: $10.00 of $10.00 were used");
    assert_eq!(found["budget"]["cost_usd"], json!(10.0));
    assert_eq!(found["budget"]["models"][0]["model"], "opus");
    let report = stage.run("report 1stage0000");
    assert!(
        report.out.contains("- spend: `8.0 M tokens, $10.00 of $10.00 (measured)`"),
        "{report}"
    );
    let stats = stage.json("stats");
    assert_eq!(stats["by_model"]["opus"]["cost_micros"], json!(2_000_000));
    let list = stage.run("list");
    assert!(list.out.contains("$10.00"), "{list}");
}

#[test]
fn a_price_that_nobody_knows_is_said_and_never_nothing() {
    let stage = Stage::new();
    let ran = stage.run("start Finish --session s1 --max-cost 0.01");
    assert!(!ran.err.contains("price"), "nothing is known of its model yet: {ran}");
    Record::new(&stage, TRANSCRIPT).answer("homemade", 9_000_000, 1);
    let told = stop(&stage, "s1").said();
    assert!(
        told.contains("The cost limit can't be kept: no price is known for homemade."),
        "{told}"
    );
    let ran = stage.run("status");
    assert!(ran.out.contains("cost unknown (no price for homemade) (measured)"), "{ran}");
}

#[test]
fn what_was_there_before_the_loop_is_not_its_own() {
    let stage = Stage::new();
    let mut record = Record::new(&stage, TRANSCRIPT);
    record.answer("opus", 5000, 0);
    stage.advance_minutes(10);
    stage.start("Finish --session s1 --max-tokens 1000");
    record.minute = 10;
    record.answer("opus", 70, 0);
    assert!(stop(&stage, "s1").is_sent_back());
    assert_eq!(stage.json("status")["loop"]["budget"]["tokens"], json!(70));
}

#[test]
fn an_agent_without_a_record_is_said_to_be_unknown() {
    let stage = Stage::with_loop("Finish --max-tokens 1000");
    let call = stage.stop_call("s1", "Still at it.").with("transcript_path", json!(null));
    let told = call.send().said();
    assert!(
        told.contains("Limits on tokens and cost can't be kept: usage is unknown here."),
        "{told}"
    );
    let ran = stage.run("status");
    let said =
        "unknown: the agent keeps no record of it, so the limit of 1.0 k tokens can't be kept";
    assert!(ran.out.contains(said), "{ran}");
    let budget = &stage.json("status")["loop"]["budget"];
    assert_eq!((&budget["tokens"], &budget["cost_usd"]), (&json!(null), &json!(null)), "{budget}");
}

#[test]
fn a_loop_without_limits_is_counted_once_it_ends() {
    let stage = Stage::with_loop("Finish --max-iterations 1");
    let mut record = Record::new(&stage, TRANSCRIPT);
    record.answer("opus", 400, 100);
    assert!(stop(&stage, "s1").is_sent_back());
    assert!(!stage.history("1stage0000").contains("metered"));
    assert!(!stop(&stage, "s1").is_sent_back());
    assert_eq!(stage.json("status 1stage0000")["loop"]["budget"]["tokens"], json!(500));
    // What the client writes a moment later is the loop's, too; what comes then is not.
    record.answer("opus", 1, 1);
    assert_eq!(stage.json("status 1stage0000")["loop"]["budget"]["tokens"], json!(502));
    record.minute = 30;
    record.answer("opus", 900, 900);
    assert_eq!(stage.json("status 1stage0000")["loop"]["budget"]["tokens"], json!(502));
}

#[test]
fn all_loops_of_a_day_share_what_the_person_allows() {
    let stage = Stage::new();
    stage.write(CONFIG, "[limits]\nmax_tokens_per_day = 1000\nmax_tokens_per_project = 5000\n");
    stage.start("One --session s1");
    stage.start("Two --session s2");
    Record::new(&stage, TRANSCRIPT).answer("opus", 600, 0);
    assert!(stop(&stage, "s1").is_sent_back());
    let mut second = Record::new(&stage, "user/.claude/projects/-project/s2.jsonl");
    second.answer("opus", 300, 0);
    let told = stop(&stage, "s2").said();
    assert!(told.contains("Nearly all of the day's token limit is used (900 tokens of"), "{told}");
    second.answer("opus", 100, 0);
    assert!(!stop(&stage, "s2").is_sent_back());
    let why = stage.json("status 2stage0000")["loop"]["why"].clone();
    assert_eq!(why, "the day's token limit is reached: 1.0 k tokens of 1.0 k tokens were used");
    // The next day brings as much again.
    stage.advance_minutes(24 * 60 - 300);
    stage.start("Three --session s3");
    assert!(stop(&stage, "s3").is_sent_back());
}

#[test]
fn a_record_that_is_read_again_after_a_kill_counts_once() {
    let stage = Stage::with_loop("Finish --max-tokens 100000");
    let mut record = Record::new(&stage, TRANSCRIPT);
    record.answer("opus", 100, 0);
    stop(&stage, "s1");
    // A client that died in the middle of a line, and one that goes on after it.
    let whole = record.text.clone();
    stage.write(TRANSCRIPT, format!("{whole}{{\"type\":\"assistant\",\"mess"));
    stop(&stage, "s1");
    stop(&stage, "s1");
    assert_eq!(stage.json("status")["loop"]["budget"]["tokens"], json!(100));
    record.answer("opus", 50, 0);
    stop(&stage, "s1");
    assert_eq!(stage.json("status")["loop"]["budget"]["tokens"], json!(150));
}

#[test]
fn the_status_line_knows_how_full_the_context_is() {
    let stage = Stage::with_loop("Finish --max-tokens 1000000 --max-quota 60");
    let bar = |percent: u32| {
        let input = json!({
            "session_id": "s1",
            "context_window": {
                "context_window_size": 1000,
                "current_usage": {"input_tokens": 1, "output_tokens": 1},
            },
            "rate_limits": {"five_hour": {"used_percentage": percent, "resets_at": 1_794_730_000}},
        });
        let mut command = stage.command("statusline");
        command.env("NO_COLOR", "1");
        stage.finish(command, input.to_string().as_bytes())
    };
    bar(40);
    let mut record = Record::new(&stage, TRANSCRIPT);
    record.answer("opus", 800, 50);
    let told = stop(&stage, "s1").said();
    assert!(told.contains("Your context is 85 % full (850 tokens): write down"), "{told}");
    let budget = stage.json("status")["loop"]["budget"].clone();
    assert_eq!((&budget["quota_percent"], &budget["context_percent"]), (&json!(40), &json!(85)));
    assert_snapshot!(bar(60), @"⟳ 1/20 · 850/1.0 M tokens · Finish");
    assert!(!stop(&stage, "s1").is_sent_back());
    let found = &stage.json("status 1stage0000")["loop"];
    assert_eq!(
        found["why"],
        "the limit on the subscription's quota is reached: 60 % of 60 % were used"
    );
    // A session without a loop leaves nothing behind.
    let kept = fs::read_dir(stage.path("home/usage")).expect("hints").count();
    let mut command = stage.command("statusline");
    command.env("NO_COLOR", "1");
    stage.finish(command, br#"{"session_id":"s9","context_window":{"current_usage":{}}}"#);
    assert_eq!(fs::read_dir(stage.path("home/usage")).expect("hints").count(), kept);
}

#[test]
fn a_person_changes_a_limit_and_resumes() {
    let stage = Stage::with_loop("Finish --max-tokens 100");
    let mut record = Record::new(&stage, TRANSCRIPT);
    record.answer("opus", 90, 0);
    stop(&stage, "s1");
    assert_eq!(stage.run("edit --max-tokens 2000 --max-cost 5").code, 0);
    record.answer("opus", 200, 0);
    assert!(stop(&stage, "s1").is_sent_back());
    let budget = stage.json("status")["loop"]["budget"].clone();
    assert_eq!((&budget["max_tokens"], &budget["max_cost_usd"]), (&json!(2000), &json!(5.0)));
    record.answer("opus", 3000, 0);
    assert!(!stop(&stage, "s1").is_sent_back());
    assert_eq!(stage.run("resume 1stage0000").code, 0);
    assert!(stop(&stage, "s1").is_sent_back(), "as much again");
}

#[test]
fn a_repository_tightens_a_budget_and_never_loosens_it() {
    let stage = Stage::new();
    stage.write("project/stopgate.toml", "[loop]\nmax_tokens = 500\nmax_cost_usd = 90.5\n");
    stage.write(CONFIG, "[loop]\nmax_cost_usd = 20\n");
    stage.start("Finish --session s1 --max-tokens 9000");
    let budget = stage.json("status")["loop"]["budget"].clone();
    assert_eq!((&budget["max_tokens"], &budget["max_cost_usd"]), (&json!(500), &json!(20.0)));
    for wrong in ["--max-cost -1", "--max-cost lots", "--max-quota 101", "--max-tokens -5"] {
        assert_eq!(stage.run(&format!("start Finish {wrong} --session s2")).code, 2, "{wrong}");
    }
}

impl Answer {
    /// What the agent was told.
    fn said(&self) -> String {
        self.text.clone()
    }
}
