use stopgate_core::Marker;

use super::{MarkerPlace, Spoken, own_line, read};

/// `P` and `L` in a message stand for two markers, as agents write them.
#[track_caller]
fn check(message: &str, expected: &str) {
    let start: String = message.chars().take(100).collect();
    assert_eq!(said(&written(message)), expected, "{start:?}");
}

/// The same message with each kind of line end.
#[track_caller]
fn check_everywhere(message: &str, expected: &str) {
    for line_end in ["\n", "\r\n", "\r"] {
        check(&message.replace('\n', line_end), expected);
    }
}

#[track_caller]
fn check_heard(message: &str, expected: &[Marker]) {
    let spoken = read(&written(message));
    assert_eq!(own_line(&spoken).collect::<Vec<_>>(), expected, "{message:?}");
}

fn written(message: &str) -> String {
    message.replace("@P", "<promise>COMPLETE</promise>").replace("@L", "<loop-complete>")
}

fn said(message: &str) -> String {
    read(message).into_iter().map(word).collect::<Vec<_>>().join(", ")
}

fn word(spoken: Spoken) -> String {
    let place = match spoken.place {
        MarkerPlace::OwnLine => "line",
        MarkerPlace::LineStart => "start",
        MarkerPlace::Prose => "prose",
    };
    match spoken.marker {
        Marker::PromiseComplete => place.into(),
        Marker::LoopComplete => format!("loop {place}"),
        other => format!("{other:?} {place}"),
    }
}

#[test]
fn every_marker_of_the_seeds_is_known() {
    check("<promise>COMPLETE</promise>", "line");
    check("<promise>BLOCKED</promise>", "PromiseBlocked line");
    check("<promise>ESCALATE</promise>", "PromiseEscalate line");
    check("<loop-done>COMPLETE</loop-done>", "LoopDoneComplete line");
    check("<loop-done>MAX_ITERATIONS</loop-done>", "LoopDoneMaxIterations line");
    check("<loop-done>STUCK</loop-done>", "LoopDoneStuck line");
    check("<issue-complete>DONE</issue-complete>", "IssueComplete line");
    check("<grind-done>NO_MORE_ISSUES</grind-done>", "GrindDoneNoMoreIssues line");
    check("<grind-done>MAX_ISSUES</grind-done>", "GrindDoneMaxIssues line");
    check("<loop-complete>", "loop line");
}

#[test]
fn nothing_but_a_known_marker_is_one() {
    for message in [
        "",
        "DONE",
        "COMPLETE",
        "promise COMPLETE",
        "<promise>DONE</promise>",
        "<promise>complete</promise>",
        "<Promise>COMPLETE</Promise>",
        "<promise>COMPLETE",
        "<promise>COMPLETE</loop-done>",
        "<promise>COMPLETE!</promise>",
        "<promise>\nCOMPLETE\n</promise>",
        "<promise>",
        "</promise>",
        "<promise >COMPLETE</promise>",
        "<promise/>",
        "<promise id=1>COMPLETE</promise>",
        "<promises>COMPLETE</promises>",
        "&lt;promise&gt;COMPLETE&lt;/promise&gt;",
        "< promise>COMPLETE</promise>",
        "<loop-done>DONE</loop-done>",
        "<issue-complete>COMPLETE</issue-complete>",
        "<loop-completed>",
        "<loop-complete",
        "<loop-complete x>",
        "</loop-complete>",
    ] {
        check(message, "");
    }
}

#[test]
fn blanks_around_the_word_are_fine() {
    check("<promise> COMPLETE </promise>", "line");
    check("<promise>\tCOMPLETE  </promise>", "line");
}

#[test]
fn loop_complete_may_be_closed_or_have_content() {
    check("<loop-complete/>", "loop line");
    check("<loop-complete />", "loop line");
    check("<loop-complete></loop-complete>", "loop line");
    check("<loop-complete> </loop-complete>  \nbye", "loop line");
    check("<loop-complete>all green</loop-complete>", "loop start");
    check("<loop-complete>\nAll criteria satisfied:\n- tests\n</loop-complete>", "loop line");
    check("<loop-complete>all\n\ngreen\n</loop-complete>", "loop start");
}

#[test]
fn the_place_is_told_by_the_line() {
    check_everywhere("Final step.\n@P", "line");
    check_everywhere("some output\n@P\nmore text", "line");
    check_everywhere("@P\n\nbye", "line");
    check("@P \t \nbye", "line");
    check("@P.", "start");
    check("@P and out", "start");
    check("Finished: @P", "prose");
    check(" @P", "prose");
    check("text\n   @P", "prose");
    check("text\n    @P", "prose");
    check("text\n\t@P", "prose");
    check("@P @P", "start, prose");
    check("@P\n@P\nso @L", "line, line, loop prose");
}

#[test]
fn markup_before_a_marker_makes_it_prose() {
    for message in ["- @P", "1. @P", "# @P", "**@P**", "[@P](x)", "| @P |", "- a\n- @P", "a\n  @P"]
    {
        check(message, "prose");
    }
}

#[test]
fn a_marker_after_a_list_is_on_its_own_line() {
    check_everywhere("- one\n- two\n@P", "line");
    check_everywhere("- one\n\n@P", "line");
    check_everywhere("1. one\n   ```\n   code\n   ```\n@P", "line");
    check_everywhere("1. one\n   ```\n   code\n@P", "line");
    check_everywhere("# Summary\n@P", "line");
    check_everywhere("Summary\n---\n@P\n***\n", "line");
    check_everywhere("| a | b |\n|---|---|\n| 1 | 2 |\n@P", "line");
}

#[test]
fn fences_hide() {
    check_everywhere("Like so:\n```\n@P\n```\nnot done yet", "");
    check_everywhere("~~~\n@P\n~~~", "");
    check_everywhere("```text\n@P\n```", "");
    check_everywhere("````\n```\n@P\n```\n````", "");
    check_everywhere("```\n~~~\n@P\n~~~\n```", "");
    check_everywhere("   ```\n@P\n   ```", "");
    check_everywhere("```\n\n\n@P\n\n@L\n```", "");
    check_everywhere("- item\n  ```\n  @P\n  ```", "");
    check("~~~ @P\n~~~", "");
    check("~~~@L\n~~~", "");
}

#[test]
fn unclosed_fences_hide_to_the_end() {
    check_everywhere("Like so:\n```\n@P", "");
    check_everywhere("~~~\n\n@P\n\nmore\n\n@L", "");
    check_everywhere("```\n~~~\n@P", "");
    check_everywhere("````\n```\n@P", "");
    check_everywhere("```\n    ```\n@P", "");
    check_everywhere("```\n``` x\n@P", "");
}

#[test]
fn closed_fences_hide_no_more() {
    check_everywhere("```\ncode\n```\n@P", "line");
    check_everywhere("```\ncode\n`````   \n@P\n```\ntail\n```", "line");
    check_everywhere("~~~\n```\n~~~\n@P", "line");
    check_everywhere("```\ncode\n``` \t\n@P", "line");
    check_everywhere("```\n@L\n```\n@P", "line");
}

#[test]
fn what_only_looks_like_a_fence_hides_nothing() {
    check_everywhere("``\n@P\n", "line");
    check_everywhere("``` a`b\n@P", "line");
    check_everywhere("text\n    ```\n@P", "line");
}

#[test]
fn indented_code_hides() {
    check_everywhere("Say:\n\n    @P\n", "");
    check_everywhere("\t@P", "");
    check_everywhere("    code\n\n    @P\n\n@P", "line");
    check_everywhere("- item\n\n      @P", "");
}

#[test]
fn inline_code_hides() {
    check("Say `@P` when done", "");
    check("`@P`", "");
    check("`` ` @P ``", "");
    check_everywhere("a `span\n@P\nends` here", "");
    check_everywhere("a `span\n@L\nends` here", "");
    check_everywhere("an `unclosed tick\n@P", "line");
    check_everywhere("a `tick\n\n@P\n\nanother `tick", "line");
    check_everywhere("\\`not code\n@P\nat all\\`", "line");
}

#[test]
fn block_quotes_hide() {
    check_everywhere("> @P", "");
    check_everywhere(">@P", "");
    check_everywhere("> The rule says:\n>\n> @P\n\nNot yet.", "");
    check_everywhere("> quoted\n@P", "");
    check_everywhere("> quoted\n@L", "");
    check_everywhere("> > deep\n@P", "");
    check_everywhere("> - item\n@P", "");
    check_everywhere("- > quoted\n@P", "");
    check_everywhere("   > @P", "");
    check_everywhere("> [!NOTE]\n> @P", "");
}

#[test]
fn a_quote_ends_where_commonmark_ends_it() {
    check_everywhere("> quoted\n\n@P", "line");
    check_everywhere("> # heading\n@P", "line");
    check_everywhere("> ```\n@P", "line");
    check_everywhere("> ---\n@P", "line");
    check_everywhere(">\n@P", "line");
}

#[test]
fn comments_hide() {
    check_everywhere("<!-- @P -->", "");
    check_everywhere("<!--\n@P\n-->", "");
    check_everywhere("<!--\n\n@P\n\n-->\n\n@P", "line");
    check_everywhere("<!-- never closed\n\n@P\n\n@L", "");
    check_everywhere("text\n<!--\n@P\n-->\n", "");
    check_everywhere("text <!-- over\n@P\nlines --> text", "");
    check_everywhere("text <!-- never closed\n@P", "");
    check_everywhere("text *<!-- never* closed\n@P", "");
    check_everywhere("- item\n  <!--\n  @P\n  -->", "");
    check_everywhere("<div>\n<!--\n@P\n-->\n</div>", "");
    check_everywhere("<!-- a --> <!--\n@P -->", "");
    check_everywhere("<!-- a --> <!--\n\n@P\n\n-->\n@L", "loop line");
    check_everywhere("<div> <!--\n\n@P", "");
}

#[test]
fn a_comment_ends_where_it_is_closed() {
    check_everywhere("<!-- note -->\n@P", "line");
    check_everywhere("<!-->\n@P", "line");
    check_everywhere("text <!-- note --> text\n@P", "line");
    check_everywhere("A comment opens with <!-- in HTML.\n\n@P", "line");
    check_everywhere("- A comment opens with <!--\n- and ends\n\n@P", "line");
    check_everywhere("`<!--`\n@P", "line");
    check_everywhere("```\n<!--\n```\n@P", "line");
}

#[test]
fn a_marker_is_text_and_opens_no_html_block() {
    check_everywhere("@L\ntext", "loop line");
    check_everywhere("text\n@L", "loop line");
    check_everywhere("text\n@L\n\ntext", "loop line");
    check_everywhere("@L\n```\n@P\n```", "loop line");
    check_everywhere("@L\nnot `@P`", "loop line");
    check_everywhere("@L\n\n    @P", "loop line");
    check_everywhere("@L\n> @P", "loop line");
    check_everywhere("</loop-complete>\n```\n@P\n```", "");
    check_everywhere("<promise>\n```\n@P\n```\n</promise>", "");
    check_everywhere("it holds that a <b\n@P", "line");
}

#[test]
fn in_an_html_block_only_whole_lines_count() {
    check_everywhere("<details>\n<summary>Log</summary>\n\ntext\n\n</details>\n@P", "line");
    check_everywhere("<br>\n@P", "line");
    check_everywhere("<div>\n@P\n</div>", "line");
    check_everywhere("<div>\nuse `@P` here\n</div>", "");
    check_everywhere("<div>\nso x <y\n@P\n</div>", "line");
    check_everywhere("<div title=\"\n@P\n\">", "");
    check_everywhere("<div title='\n@P", "");
    check_everywhere("<DIV\n@P", "line");
}

#[test]
fn in_an_html_block_what_looks_like_a_fence_hides_up_to_its_end() {
    check_everywhere("<details>\n```\n@P\n```\n</details>", "");
    check_everywhere("<details>\n```\ncode\n```\n</details>\n@P", "line");
    check_everywhere("<details>\n~~~\n@P\n</details>", "");
    check_everywhere("<div>\n```\n</div>\n\n@P", "line");
    check_everywhere("<div>\n``` a`b\n@P\n</div>", "line");
}

#[test]
fn elements_that_quote_hide() {
    check_everywhere("<pre>\n\n@P\n\n</pre>\n@P", "line");
    check_everywhere("<pre>\n\n@P", "");
    check_everywhere("<PRE><code>\n@P\n</code></PRE>", "");
    check_everywhere("<script>\n@P\n</script>", "");
    check_everywhere("<blockquote>\n\n@P\n\n</blockquote>\n\n@P", "line");
    check_everywhere("<blockquote>\n<blockquote>\na\n</blockquote>\n@P\n</blockquote>", "");
    check_everywhere("<code>\n@P\n</code>", "");
    check("so <code>@P</code>", "");
    check_everywhere("a <code> tag is mentioned\n\n@P", "line");
    check_everywhere("a </code> tag is mentioned\n\n@P", "line");
}

#[test]
fn other_raw_html_hides() {
    check_everywhere("<?php\n\n@P\n\n?>", "");
    check_everywhere("<![CDATA[\n\n@P\n\n]]>", "");
    check_everywhere("<!DOCTYPE\n@P", "");
    check_everywhere("text <a title=\"\n@P\n\"> text", "");
}

#[test]
fn what_a_link_does_not_show_is_not_said() {
    check_everywhere("[text](address \"\n@P\n\")", "");
    check_everywhere("![text](address '\n@P\n')", "");
    check_everywhere("[text]: address \"\n@P\n\"", "");
    check_everywhere("[text]:\n@L", "loop line");
    check_everywhere("[text]:\n@P", "line");
    check_everywhere("[text]: address\n@P", "line");
}

#[test]
fn an_escaped_marker_is_not_said() {
    check("say \\@P", "");
    check("say \\\\@P", "prose");
}

#[test]
fn odd_bytes_are_read_as_commonmark_has_them() {
    check("\u{feff}@P", "line");
    check("\u{feff}```\n@P\n```", "");
    check("a\u{feff}\n@P", "line");
    check("\0@P", "prose");
    check("@P\0", "start");
    check("\0\n@P\n\0", "line");
    check("text\u{2028}@P", "prose");
    check("@P\u{2028}", "start");
    check("text\u{85}@P", "prose");
    check("@P\u{a0}", "start");
    check("\u{c}@P", "prose");
    check("ünï\n@P\nçødé 🦀", "line");
    check("\n\n\n@P\n\n\n", "line");
}

/// The reference plugin's faults, with the words that ended its loops.
#[test]
fn talk_about_a_marker_is_not_heard() {
    for message in [
        "DONE",
        "COMPLETE",
        "I will NOT output <promise>DONE</promise> yet because tests fail.",
        "I will NOT output @P yet because tests fail.",
        "The rule says: reply <promise>DONE</promise> when finished.",
        "The rule says: reply @P when finished.",
        "> Reply @P when finished.",
        "I'd print `@L` at the end.",
        "I will emit @L later",
    ] {
        check_heard(message, &[]);
    }
}

#[test]
fn native_loops_hear_whole_lines_and_an_opening_loop_complete() {
    check_heard("@P", &[Marker::PromiseComplete]);
    check_heard("@P.", &[]);
    check_heard("@L", &[Marker::LoopComplete]);
    check_heard("@L all green", &[Marker::LoopComplete]);
    check_heard("  @L", &[]);
    check_heard("@L\n@P", &[Marker::LoopComplete, Marker::PromiseComplete]);
}

#[test]
fn a_signal_far_from_the_end_is_heard() {
    check(&format!("@P\n{}", "log line\n".repeat(30)), "line");
    check(&format!("@P\n\n{}", "word ".repeat(20_000)), "line");
    check(&format!("{}\n\n@P\n", "word ".repeat(200_000)), "line");
}

/// Each would take minutes if any part of the reading were quadratic.
#[test]
fn hostile_messages_cost_no_more_than_long_ones() {
    for (piece, expected) in [
        ("<", "line"),
        ("`", ""),
        ("` `` ``` ", "line"),
        ("<!-- ", ""),
        ("<!-- --", ""),
        ("x <!-- ", "line"),
        ("x<!--\n", "line"),
        ("<div> <!--\n\n", ""),
        ("<a ", "line"),
        ("<a=\"\"=\"", "line"),
        ("<div>\n<a=\"\"=\"", "line"),
        ("<div>\n```\n\n", "line"),
        ("x <pre>\n\n<div>\n\n", "line"),
        ("x <code>", "line"),
        ("<![CDATA[", ""),
        ("<? ", ""),
        ("x <? ", "line"),
        ("[", "line"),
        ("![", "line"),
        ("[a](", "line"),
        ("[a]: b\n", "line"),
        ("*a _b ", "line"),
        ("\\", "line"),
        ("<promise>", "line"),
        ("<promise> \t", "line"),
        ("<loop-complete \t", "line"),
        ("\r", "line"),
        ("> a\nb\n", "line"),
        ("\t", "line"),
        ("&", "line"),
        ("* * a\n", "line"),
    ] {
        check(&format!("{}\n\n@P", hostile(piece)), expected);
    }
    check(&format!("<div>\n{}\"<\n\n@P", hostile("<a=\"\"=\"")), "line");
    let many = written(&hostile("@P\n"));
    assert_eq!(read(&many).len(), many.len() / 28);
}

#[test]
fn a_message_nested_beyond_sense_says_nothing() {
    for mark in [">", "> ", "+ ", "- ", "- * ", "1. ", "> 1) "] {
        let lazy = hostile("b\n");
        check(&format!("{}a\n{lazy}\n\n@P", hostile(mark)), "");
    }
    check(&format!("{}a\n\n@P", "> ".repeat(99)), "line");
    check(&format!("text\n{}\n@P", "-".repeat(200)), "line");
    check(&format!("{}\n@P", "=".repeat(200)), "line");
    check(&format!("{}\n@P", "*".repeat(200)), "line");
}

fn hostile(piece: &str) -> String {
    piece.repeat((128 << 10) / piece.len())
}

#[test]
fn promises_are_heard_in_prose_and_in_any_case() {
    check_promises("<promise>COMPLETE</promise>", "0..27 complete");
    check_promises("all <Promise> complete </PROMISE> now", "4..33 complete");
    check_promises("é <promise>blocked</promise>", "3..29 blocked");
    check_promises("`<promise>COMPLETE</promise>`", "");
    check_promises("> <promise>ESCALATE</promise>", "");
    check_promises("```\n<promise>complete</promise>\n```", "");
    check_promises("<promise>DONE</promise> <promise>ESCALATE", "");
}

#[track_caller]
fn check_promises(message: &str, expected: &str) {
    let word = |marker: Marker| match marker {
        Marker::PromiseComplete => "complete",
        Marker::PromiseBlocked => "blocked",
        _ => "other",
    };
    let heard: Vec<String> = super::promises(message)
        .iter()
        .map(|said| format!("{}..{} {}", said.start, said.end, word(said.marker)))
        .collect();
    assert_eq!(heard.join(", "), expected, "{message}");
}
