//! What an agent says, from its message to the loop: intent, never proof.

use insta::assert_snapshot;
use serde_json::json;

use crate::stage::Stage;

const TRANSCRIPT: &str = "user/.claude/projects/-project/s1.jsonl";

#[test]
fn the_faults_of_the_reference_plugin_are_impossible() {
    let stage = Stage::with_loop("Finish --max-idle 0");
    // 1: the bare word. 2: a refusal to say it. 3: the rule quoted.
    for said in [
        "DONE",
        "I will NOT output <promise>DONE</promise> yet because tests fail.",
        "I will NOT output <promise>COMPLETE</promise> yet because tests fail.",
        "The rule says: reply <promise>COMPLETE</promise> when finished.",
    ] {
        assert!(stage.stop("s1", said).is_sent_back(), "{said}");
    }
    // 4: the promise on turn one, with no work.
    let stage = Stage::with_loop("Finish --check tests=false");
    assert!(stage.stop("s1", "<promise>COMPLETE</promise>").is_sent_back());
    let stage = Stage::with_loop("Finish");
    assert_snapshot!(stage.stop("s1", "<promise>COMPLETE</promise>"), @"allowed, and told: stopgate: loop 1stage0000 ended as attested after 0 continuations: the agent said so; no check proved it. More: stopgate explain 1stage0000");
    assert_eq!(stage.standing("1stage0000"), "attested 0/20 s1");
    assert_eq!(stage.run("status --exit-code").code, 0);
}

#[test]
fn a_marker_that_is_not_meant_is_no_signal() {
    let stage = Stage::with_loop("Finish --max-idle 0 --max-iterations 99");
    let fences = [
        "```\n<promise>COMPLETE</promise>\n```",
        "~~~text\n<promise>COMPLETE</promise>\n~~~",
        "Say this:\n```\n<promise>COMPLETE</promise>",
        "Say this:\n\n    <promise>COMPLETE</promise>\n",
        "> <promise>COMPLETE</promise>",
        "Then `<promise>COMPLETE</promise>` ends it.",
        "`<promise>COMPLETE</promise>`",
        "<!-- \n<promise>COMPLETE</promise>\n-->",
        " <promise>COMPLETE</promise>",
        "- <promise>COMPLETE</promise>",
        "I am done: <promise>COMPLETE</promise>",
        "<promise>COMPLETE</promise> is what I would say.",
        "<promise>complete</promise>",
        "<promise>COMPLETE",
        "",
    ];
    for said in fences {
        assert!(stage.stop("s1", said).is_sent_back(), "{said:?}");
    }
}

#[test]
fn a_marker_on_its_own_line_is_a_signal() {
    for said in [
        "<promise>COMPLETE</promise>",
        "All done.\n<promise>COMPLETE</promise>",
        "All done.\r\n\r\n<promise>COMPLETE</promise>  \r\n",
        "```\ncode\n```\n<promise>COMPLETE</promise>\nBye.",
        "<loop-complete>\nThe summary.\n</loop-complete>",
    ] {
        let stage = Stage::with_loop("Finish");
        assert!(!stage.stop("s1", said).is_sent_back(), "{said:?}");
        assert_eq!(stage.standing("1stage0000"), "attested 0/20 s1", "{said:?}");
    }
}

#[test]
fn an_honest_exit_is_heard_before_a_claim() {
    let stage = Stage::with_loop("Finish");
    let said = "<promise>COMPLETE</promise>\n\n<promise>ESCALATE</promise>";
    assert_snapshot!(stage.stop("s1", said), @"allowed, and told: stopgate: loop 1stage0000 ended as needs_input after 0 continuations: the agent asked for a person. More: stopgate explain 1stage0000");
    assert_eq!(stage.standing("1stage0000"), "needs_input 0/20 s1");
}

fn assistant(id: &str, block: &serde_json::Value) -> String {
    let message = json!({"id": id, "role": "assistant", "content": [block]});
    let record = json!({"type": "assistant", "isSidechain": false, "message": message});
    format!("{record}\n")
}

fn text(id: &str, text: &str) -> String {
    assistant(id, &json!({"type": "text", "text": text}))
}

#[test]
fn without_a_message_in_the_payload_the_transcript_is_read() {
    let user = json!({"type": "user", "message": {"role": "user", "content": "go"}});
    let tail = "{\"type\":\"last-prompt\"}\n{\"type\":\"cost-state\",\"co";
    let tool = assistant("m2", &json!({"type": "tool_use", "id": "t", "name": "Bash"}));
    let cases = [
        (text("m1", "<promise>COMPLETE</promise>") + tail, "attested 0/20 s1"),
        // One message of several records.
        (
            text("m1", "The end:") + &text("m1", "<promise>COMPLETE</promise>") + tail,
            "attested 0/20 s1",
        ),
        (text("m1", "<promise>COMPLETE</promise>") + &text("m1", "Bye."), "attested 0/20 s1"),
        // An earlier message does not count.
        (text("m1", "<promise>COMPLETE</promise>") + &text("m2", "Wait."), "active 1/20 s1"),
        // What was said before the last turn does not count either.
        (text("m1", "<promise>COMPLETE</promise>") + &format!("{user}\n"), "active 1/20 s1"),
        (text("m1", "<promise>COMPLETE</promise>") + &tool, "active 1/20 s1"),
        // Nothing said yet: the loop goes on (fault 6 of the reference plugin).
        (format!("{user}\n"), "active 1/20 s1"),
        (String::new(), "active 1/20 s1"),
    ];
    for (transcript, expected) in cases {
        let stage = Stage::with_loop("Finish");
        stage.write(TRANSCRIPT, &transcript);
        stage.stop_call("s1", "").without("last_assistant_message").send();
        assert_eq!(stage.standing("1stage0000"), expected, "{transcript}");
    }
}

#[test]
fn the_payloads_message_beats_the_transcript() {
    let stage = Stage::with_loop("Finish");
    stage.write(TRANSCRIPT, text("m1", "<promise>COMPLETE</promise>"));
    assert!(stage.stop("s1", "Not yet.").is_sent_back());
}

#[test]
fn a_long_transcript_is_read_from_its_end() {
    let stage = Stage::with_loop("Finish");
    let filler = text("m0", &"x".repeat(1000)).repeat(9000);
    stage.write(TRANSCRIPT, filler + &text("m1", "<promise>COMPLETE</promise>"));
    stage.stop_call("s1", "").without("last_assistant_message").send();
    assert_eq!(stage.standing("1stage0000"), "attested 0/20 s1");
}
