//! Reports: what stands where, and what stays dead.

use stopgate_core::{Event, Timestamp};

use super::{DiffStat, LoopReport, ReportedLoop};
use crate::hostile::PAYLOADS;
use crate::html::html;
use crate::markdown::{code, markdown};
use crate::replay::Happened;
use crate::scene::{NOON, play};
use crate::story::LoopStory;

fn told(events: &[Happened]) -> ReportedLoop {
    let story = LoopStory::tell(events).expect("a loop");
    ReportedLoop { story, record: "sound", signature: None, diff: None }
}

pub(crate) fn report(loops: Vec<ReportedLoop>) -> LoopReport {
    LoopReport { made_at: NOON.plus(3_600_000), since: None, loops }
}

/// A loop in which everything that others may write is `payload`.
fn hostile(payload: &str) -> ReportedLoop {
    let mut events = play(
        "loop 9, check tests\n stop tests fail, blocked\n resume\n stop tests disputed\n \
         asked which?\n answered that one",
    );
    for (event, _) in &mut events {
        poison(event, payload);
    }
    let mut told = told(&events);
    let files = vec![(payload.to_string(), Some((1, 2))), (payload.to_string(), None)];
    told.diff = Some(DiffStat { commit: payload.into(), files, new_files: vec![payload.into()] });
    told
}

fn poison(event: &mut Event, payload: &str) {
    match event {
        Event::Started(started) => {
            started.goal = payload.into();
            started.project = payload.into();
            for criterion in &mut started.criteria {
                criterion.name = payload.into();
            }
        }
        Event::Stopped(stopped) => {
            stopped.why = payload.into();
            stopped.text = payload.into();
            for receipt in &mut stopped.receipts {
                receipt.criterion = payload.into();
                receipt.tail = payload.into();
                if let Some(original) = &mut receipt.evidence.original {
                    original.changes = vec![payload.into()];
                }
            }
        }
        Event::Asked { question } => *question = payload.into(),
        Event::Answered { text } => *text = payload.into(),
        _other => {}
    }
}

/// The names of all tags in a page, as a tokenizer reads them.
fn tags(page: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let name: String =
            rest.chars().take_while(|c| c.is_ascii_alphanumeric() || "/!-".contains(*c)).collect();
        let end = rest.find('>').expect("a tag ends");
        let tag = &rest[..end];
        assert!(!tag.contains('<'), "a tag within a tag: {tag}");
        for word in tag.split_ascii_whitespace().skip(1) {
            let word = word.to_ascii_lowercase();
            assert!(!word.starts_with("on"), "a handler: {tag}");
            assert!(!word.starts_with("src="), "a request: {tag}");
            assert!(!word.starts_with("href=") || word.starts_with("href=\"#"), "a link: {tag}");
        }
        names.push(name.to_ascii_lowercase());
        rest = &rest[end..];
    }
    names
}

#[test]
fn payloads_stay_dead_in_html() {
    let harmless = tags(&html(&report(vec![hostile("harmless")])));
    for payload in PAYLOADS {
        let page = html(&report(vec![hostile(payload)]));
        assert_eq!(tags(&page), harmless, "{payload:?} adds no tag and takes none away");
        let alive = page.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(alive, None, "{payload:?}");
    }
}

#[test]
fn payloads_stay_dead_in_markdown() {
    let shape = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split('`').next().unwrap_or_default().into()).collect()
    };
    let harmless = shape(&markdown(&report(vec![hostile("harmless")])));
    for payload in PAYLOADS {
        let text = markdown(&report(vec![hostile(payload)]));
        assert_eq!(shape(&text), harmless, "{payload:?} stays in its code span");
        for line in text.lines() {
            assert!(!without_code(line).contains("evil.example"), "{payload:?}: {line}");
            assert!(!without_code(line).contains("alert"), "{payload:?}: {line}");
        }
        assert!(text.chars().all(|c| !c.is_control() || c == '\n'), "{payload:?}");
    }
}

/// A line of Markdown without its code spans, as CommonMark reads them.
fn without_code(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        plain.push_str(&rest[..at]);
        let run = rest[at..].bytes().take_while(|b| *b == b'`').count();
        let inside = &rest[at + run..];
        let end = end_of_code(inside, run).expect("a code span ends on its line");
        rest = &inside[end..];
    }
    plain + rest
}

fn end_of_code(inside: &str, run: usize) -> Option<usize> {
    let bytes = inside.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|b| **b == b'`').count();
        if length == run {
            return Some(at + length);
        }
        at += length.max(1);
    }
    None
}

#[test]
fn a_code_span_is_longer_than_what_it_holds() {
    assert_eq!(code("plain"), "`plain`");
    assert_eq!(code("a `b` c"), "`` a `b` c ``");
    assert_eq!(code("```"), "```` ``` ````");
    assert_eq!(code(""), "`(empty)`");
}

#[test]
fn what_needs_a_person_comes_first() {
    let done = told(&play("loop 9, check tests\n stop tests fail\n stop tests pass"));
    let spent = told(&play("loop 1, check tests\n stop*2 tests fail"));
    let text = markdown(&report(vec![done, spent]));
    let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
    assert!(place("## Needs a person") < place("## Outcomes"));
    assert!(place(": max_iterations\n") < place(": done\n"));
    assert!(text.contains("to let it go on: stopgate resume"), "{text}");
    assert!(text.contains("| done | 1 |"), "{text}");
}

#[test]
fn a_report_of_one_loop() {
    let mut done = told(&play(
        "loop 9, check tests, check lint\n stop tests fail, lint pass\n later 5m\n \
         stop tests pass, lint pass",
    ));
    done.signature = Some("genuine");
    done.diff = Some(DiffStat::parse("0123456789abcdef", "3\t1\tsrc/cart.rs\0-\t-\tlogo.png\0"))
        .map(|diff| diff.with_new_files("notes.md\0"));
    insta::assert_snapshot!(markdown(&report(vec![done])), @r"
    # stopgate report

    1 loop. Made 2026-11-15 13:00 UTC.

    ## Needs a person

    Nothing.

    ## k3vq8m2x7d: done

    - goal: `migrate the tests`
    - project: `/work/shop`
    - why: `both checks pass`
    - continuations: 1 of 9
    - work: 6 min
    - from 2026-11-15 12:00 to 2026-11-15 12:06 UTC
    - record sound; signed, and the signature holds

    ### Criteria

    - C1: pass (run, 4 s in all) `tests`
    - C2: pass (run, 4 s in all) `lint`

    ### Stops

    | stop | UTC | answer | rule | C1 | C2 |
    |---:|---|---|---|:-:|:-:|
    | 1 | 12:00:00 | sent back (1) | continue | ✗ | ✓ |
    | 2 | 12:06:00 | ended: done | proof | ✓ | ✓ |

    - stop 2: `both checks pass`

    ### Files changed since the start

    2 files, +3 -1, and 1 that git does not know, from commit `0123456789ab`

    - +3 -1 `src/cart.rs`
    - binary `logo.png`
    - new `notes.md`
    ");
}

#[test]
fn a_forged_record_is_not_believed() {
    let mut forged = told(&play("loop 9, check tests\n stop tests pass"));
    forged.record = "forged";
    let text = markdown(&report(vec![forged]));
    assert!(text.contains("**tampered**"), "{text}");
    assert!(!text.contains(": done\n"), "{text}");
}

#[test]
fn an_empty_report_says_so() {
    let empty =
        LoopReport { made_at: NOON, since: Some(Timestamp::from_unix_millis(0)), loops: vec![] };
    assert!(markdown(&empty).contains("Nothing happened."));
    assert!(html(&empty).contains("<p>Nothing.</p>"));
}

#[test]
fn a_diff_is_read_with_its_renames() {
    let diff = DiffStat::parse("c", "1\t0\ta\tb\0" /* a tab in a name */);
    assert_eq!(diff.files, [("a\tb".to_string(), Some((1, 0)))]);
    let renamed = DiffStat::parse("c", "4\t2\t\0old.rs\0new.rs\x007\t0\tplain.rs\0");
    assert_eq!(
        renamed.files,
        [("new.rs".to_string(), Some((4, 2))), ("plain.rs".to_string(), Some((7, 0)))]
    );
    assert_eq!(renamed.lines(), (11, 2));
}

#[test]
fn a_page_asks_for_nothing() {
    let page = html(&report(vec![told(&play("loop 1, check tests\n stop*2 tests fail"))]));
    for word in ["<script", "http://", "https://", "url(", "@import", "src=", "<link", "<img"] {
        assert!(!page.contains(word), "{word}");
    }
    for word in
        ["lang=\"en\"", "<svg", "prefers-color-scheme: dark", "@media print", "scope=\"col\""]
    {
        assert!(page.contains(word), "{word}");
    }
}
