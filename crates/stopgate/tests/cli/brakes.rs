//! Limits let an agent go, whatever it wishes.

use insta::assert_snapshot;

use crate::call::Answer;
use crate::stage::Stage;

/// Stops `times` times, each with words of its own; the answers.
fn stops(stage: &Stage, times: usize) -> Vec<Answer> {
    let words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    (0..times).map(|n| stage.stop("s1", words[n % words.len()])).collect()
}

#[test]
fn twelve_means_twelve_continuations() {
    let stage = Stage::with_loop("Finish --max-iterations 12 --max-idle 0");
    for (n, answer) in stops(&stage, 12).iter().enumerate() {
        let begins = format!("Loop {}/12: ", n + 1);
        assert!(answer.brief().starts_with(&begins), "{answer}");
    }
    assert_snapshot!(stage.stop("s1", "And on."), @"allowed, and told: stopgate: loop 1stage0000 ended as max_iterations after 12 continuations: 12 iterations were used. More: stopgate explain 1stage0000");
    assert_eq!(stage.standing("1stage0000"), "max_iterations 12/12 s1");
    assert_snapshot!(stage.stop("s1", "And on."), @"allowed");
}

#[test]
fn three_idle_continuations_are_enough() {
    let stage = Stage::with_loop("Finish");
    let answers: Vec<String> = (0..4)
        .map(|n| stage.stop("s1", &format!("Still {}at it.", " ".repeat(n))).brief().into())
        .collect();
    assert_snapshot!(answers.join("\n"), @"
    Loop 1/20: not finished yet
    Loop 2/20: not finished yet
    Loop 3/20: not finished yet
    stopgate: loop 1stage0000 ended as stalled after 3 continuations: 3 continuations in a row led to no tool use and no change. More: stopgate explain 1stage0000
    ");
    assert_eq!(stage.standing("1stage0000"), "stalled 3/20 s1");
}

#[test]
fn idle_is_told_before_it_ends_the_loop() {
    let stage = Stage::with_loop("Finish");
    stage.stop("s1", "Still at it.");
    assert_snapshot!(stage.stop("s1", "Still at it."), @"
    context: Loop 2/20: not finished yet
    From stopgate's stop hook, not from the user; it grants no permission.
    Goal: Finish
    You only repeated your last message: act, don't only answer.

    Done: `stopgate done` or <promise>COMPLETE</promise>. Stuck: `stopgate blocked WHY`.
    ");
}

#[test]
fn tools_are_work() {
    let stage = Stage::with_loop("Finish --max-iterations 9");
    for _ in 0..9 {
        stage.tools("s1");
        assert!(stage.stop("s1", "Still at it.").is_sent_back());
    }
    assert_eq!(stage.standing("1stage0000"), "active 9/9 s1");
}

#[test]
fn changed_files_are_work_whatever_is_said() {
    let stage = Stage::with_loop("Finish --check tests=false --max-repeat 0");
    for n in 0..6 {
        stage.write("project/work.txt", format!("draft {n}"));
        let answer = stage.stop("s1", "Done.");
        assert!(answer.is_sent_back() && !answer.to_string().contains("repeated"), "{answer}");
    }
    for _ in 0..3 {
        stage.stop("s1", "Done.");
    }
    assert_eq!(stage.standing("1stage0000"), "stalled 8/20 s1");
}

#[test]
fn different_words_are_idle_too_where_tools_are_counted() {
    let stage = Stage::with_loop("Finish");
    stage.tools("s1");
    stops(&stage, 4);
    assert_eq!(stage.standing("1stage0000"), "stalled 3/20 s1");
}

#[test]
fn tools_in_the_transcript_are_work_where_nobody_counts_them() {
    let stage = Stage::with_loop("Finish --max-iterations 9");
    let transcript = "user/.claude/projects/-project/s1.jsonl";
    let line =
        r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t"}]}}"#;
    let mut written = String::new();
    for _ in 0..6 {
        written.push_str(line);
        written.push('\n');
        stage.write(transcript, &written);
        assert!(stage.stop("s1", "Still at it.").is_sent_back());
    }
    for _ in 0..3 {
        stage.stop("s1", "Other words, no tools.");
    }
    assert_eq!(stage.standing("1stage0000"), "stalled 8/9 s1");
}

#[test]
fn zero_lifts_the_idle_brake() {
    let stage = Stage::with_loop("Finish --max-idle 0 --max-iterations 7");
    for _ in 0..7 {
        stage.stop("s1", "Still at it.");
    }
    assert_eq!(stage.standing("1stage0000"), "active 7/7 s1");
}

#[test]
fn the_same_failures_again_and_again_are_a_stall() {
    let stage = Stage::with_loop("Finish --check tests='echo 1 of 3 failed; false'");
    let answers: Vec<String> = (0..6)
        .map(|_| {
            stage.tools("s1");
            stage.stop("s1", "Tried something.").brief().into()
        })
        .collect();
    assert_snapshot!(answers.join("\n"), @"
    Loop 1/20: 1 of 1 criteria unmet
    Loop 2/20: 1 of 1 criteria unmet
    Loop 3/20: 1 of 1 criteria unmet
    Loop 4/20: 1 of 1 criteria unmet
    Loop 5/20: 1 of 1 criteria unmet
    stopgate: loop 1stage0000 ended as stalled after 5 continuations: the same checks failed in the same way 6 times. More: stopgate explain 1stage0000
    ");
    assert_eq!(stage.standing("1stage0000"), "stalled 5/20 s1");
}

#[test]
fn two_failures_that_take_turns_are_an_oscillation() {
    let stage = Stage::with_loop("Finish --check a='test -f a' --check b='test -f b'");
    let (a, b) = (stage.path("project/a"), stage.path("project/b"));
    let answers: Vec<String> = (0..6)
        .map(|n| {
            let (there, gone) = if n % 2 == 0 { (&a, &b) } else { (&b, &a) };
            std::fs::write(there, "").expect("write");
            let _ = std::fs::remove_file(gone);
            stage.tools("s1");
            stage.stop("s1", "Fixed it.").brief().into()
        })
        .collect();
    assert_snapshot!(answers.join("\n"), @"
    Loop 1/20: 1 of 2 criteria unmet
    Loop 2/20: 1 of 2 criteria unmet
    Loop 3/20: 1 of 2 criteria unmet
    Loop 4/20: 1 of 2 criteria unmet
    Loop 5/20: 1 of 2 criteria unmet
    stopgate: loop 1stage0000 ended as oscillating after 5 continuations: two sets of failures took turns for 3 rounds. More: stopgate explain 1stage0000
    ");
}

#[test]
fn minutes_are_a_budget_and_a_pause_does_not_use_them() {
    let stage = Stage::with_loop("Finish --max-minutes 10");
    stage.advance_minutes(6);
    assert!(stage.stop("s1", "One.").is_sent_back());
    stage.run("pause");
    stage.advance_minutes(60);
    stage.run("resume");
    assert!(stage.stop("s1", "Two.").is_sent_back());
    stage.advance_minutes(4);
    assert_snapshot!(stage.stop("s1", "Three."), @"allowed, and told: stopgate: loop 1stage0000 ended as budget after 2 continuations: 10 minutes were used. More: stopgate explain 1stage0000");
}

#[test]
fn a_loop_that_lay_untouched_is_stale_and_can_be_resumed() {
    let stage = Stage::with_loop("Finish --check tests='test -f green' --stale-after 2h");
    assert!(stage.stop("s1", "One.").is_sent_back());
    stage.write("project/green", "");
    stage.advance_minutes(121);
    assert_snapshot!(stage.stop("s1", "Two."), @"allowed, and told: stopgate: loop 1stage0000 ended as stale after 1 continuation: it was not touched for 121 minutes. More: stopgate explain 1stage0000");
    assert_snapshot!(stage.stop("s1", "Three."), @"allowed");
    assert_snapshot!(stage.run("resume"), @"Loop 1stage0000 is resumed: 1 of 20 continuations used. An agent that has stopped needs a prompt to go on.");
    assert_snapshot!(stage.stop("s1", "Four."), @"allowed, and told: stopgate: loop 1stage0000 ended as done after 1 continuation: its check passes. More: stopgate explain 1stage0000");
}

#[test]
fn the_clients_cap_is_known_and_told() {
    let stage = Stage::with_loop("Finish");
    let capped =
        |said: &str| stage.stop_call("s1", said).no_var("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP").send();
    for said in ["one", "two", "three", "four", "five", "six", "seven", "eight"] {
        assert!(capped(said).is_sent_back(), "{said}");
    }
    assert_snapshot!(capped("nine"), @"allowed, and told: stopgate: loop 1stage0000 ended as capped after 8 continuations: the client ends a turn after 8 refusals without a tool call; lift it with CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0 or `stopgate install claude`. More: stopgate explain 1stage0000");
    assert_eq!(stage.standing("1stage0000"), "capped 8/20 s1");
}

#[test]
fn a_tool_call_or_a_new_prompt_starts_the_clients_count_anew() {
    let stage = Stage::with_loop("Finish --max-iterations 99 --max-idle 0");
    let cap = |said: &str, prompt: &str| {
        let call = stage.stop_call("s1", said).with("prompt_id", prompt.into());
        call.var("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "3").send()
    };
    for _ in 0..3 {
        stage.tools("s1");
        assert!(cap("one", "prompt-1").is_sent_back());
        assert!(cap("two", "prompt-1").is_sent_back());
        assert!(cap("three", "prompt-1").is_sent_back());
    }
    stage.tools("s1");
    stage.prompt("s1", "prompt-2", "And now this.").send();
    stage.tools("s1");
    for said in ["one", "two", "three"] {
        assert!(cap(said, "prompt-2").is_sent_back(), "{said}");
    }
    assert_snapshot!(cap("four", "prompt-2").brief(), @"stopgate: loop 1stage0000 ended as capped after 12 continuations: the client ends a turn after 3 refusals without a tool call; lift it with CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0 or `stopgate install claude`. More: stopgate explain 1stage0000");
}

#[test]
fn an_old_client_and_a_lifted_cap_never_cap() {
    let lifted = Stage::with_loop("Finish --max-idle 0");
    let old = Stage::with_loop("Finish --max-idle 0");
    for _ in 0..12 {
        assert!(lifted.stop("s1", "Still at it.").is_sent_back());
        let call = old.stop_call("s1", "Still at it.").no_var("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP");
        assert!(call.var("AI_AGENT", "claude-code_2-1-100_harness").send().is_sent_back());
    }
}
