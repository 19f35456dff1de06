use super::promised;

#[track_caller]
fn hears(message: &str, promise: &str) {
    assert!(promised(message, promise), "{promise:?} in {message:?}");
}

#[track_caller]
fn misses(message: &str, promise: &str) {
    assert!(!promised(message, promise), "{promise:?} in {message:?}");
}

#[test]
fn a_promise_alone_on_its_line_is_said() {
    for message in [
        "<promise>ALL DONE</promise>",
        "Finished.\n<promise>ALL DONE</promise>  \n",
        "Finished.\r\n<promise> ALL  DONE </promise>\r\nBye.",
        "<promise>\nALL DONE\n</promise>",
        "<promise>NOT YET</promise>\n<promise>ALL DONE</promise>",
        "\u{feff}<promise>ALL DONE</promise>",
    ] {
        hears(message, "ALL DONE");
    }
    hears("<promise>Größe: 3 < 4</promise>", "Größe: 3 < 4");
}

#[test]
fn what_is_negated_shown_or_different_is_not() {
    for message in [
        "ALL DONE",
        "I will NOT output <promise>ALL DONE</promise> yet.",
        "<promise>ALL DONE</promise> is what I will say.",
        "Say <promise>ALL DONE</promise>",
        "> <promise>ALL DONE</promise>",
        "    <promise>ALL DONE</promise>",
        "```\n<promise>ALL DONE</promise>\n```",
        "~~~\n<promise>ALL DONE</promise>",
        "`<promise>ALL DONE</promise>`",
        "<!--\n<promise>ALL DONE</promise>\n-->",
        "\\<promise>ALL DONE</promise>",
        "<promise>all done</promise>",
        "<promise>ALL DONE",
        "<promise></promise>",
        "",
    ] {
        misses(message, "ALL DONE");
    }
    misses("<promise></promise>", "");
    misses("<promise> </promise>", " ");
}
