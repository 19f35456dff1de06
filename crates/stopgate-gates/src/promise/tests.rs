use super::{detect, normalise};
use crate::words::PromiseType;

#[test]
fn an_honest_exit_keeps_its_reason_up_to_a_blank_line() {
    check("done\n\n<promise>COMPLETE</promise> and more", "<promise>COMPLETE</promise>");
    check(
        "<promise>BLOCKED</promise>\nReason: dba\n\nmore",
        "<promise>BLOCKED</promise>\nReason: dba",
    );
    check("<promise>blocked</promise>: no key\r\n\r\nx", "<promise>BLOCKED</promise>: no key");
    check("<promise>ESCALATE</promise>", "<promise>ESCALATE</promise>");
    check("nothing `<promise>COMPLETE</promise>`", "");
    check(
        "<promise>COMPLETE</promise> <promise>BLOCKED</promise> <promise>COMPLETE</promise>",
        "<promise>COMPLETE</promise>|<promise>BLOCKED</promise> <promise>COMPLETE</promise>",
    );
}

#[test]
fn bare_and_tagged_names_mean_the_same() {
    for text in
        ["COMPLETE", "complete", "<promise>COMPLETE</promise>", " <Promise> complete</promise> "]
    {
        assert_eq!(normalise(text), Some(PromiseType::Complete), "{text}");
    }
    for text in ["", "<promise></promise>", "DONE", "<promise>COMPLETE", "é"] {
        let expected = (text == "<promise>COMPLETE").then_some(PromiseType::Complete);
        assert_eq!(normalise(text), expected, "{text}");
    }
}

#[track_caller]
fn check(output: &str, expected: &str) {
    let found: Vec<String> = detect(output, "now").into_iter().map(|p| p.content).collect();
    assert_eq!(found.join("|"), expected, "{output}");
}
