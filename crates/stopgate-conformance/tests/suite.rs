//! The suite tells good hooks from bad ones.

use std::time::Duration;

use stopgate_agents::Agent;
use stopgate_conformance::{HookEvents, HookUnderTest, Mark, Selection, run};

fn hook(line: &str) -> HookUnderTest {
    HookUnderTest { line: Some(line.into()), ..HookUnderTest::named("test") }
}

/// A hook that holds while there is a file `armed` and none called `finished`.
fn good() -> HookUnderTest {
    let block = r#"{"decision":"block","reason":"go on"}"#;
    let line = format!(
        "cat >/dev/null; cd \"$CLAUDE_PROJECT_DIR\" || exit 0; \
         if [ -f armed ] && [ ! -f finished ]; then echo '{block}'; fi"
    );
    HookUnderTest {
        arm: Some("touch armed".into()),
        finish: Some("touch finished".into()),
        ..hook(&line)
    }
}

fn only(name: &str, deadline_s: u64) -> Selection {
    Selection {
        only: name.into(),
        deadline: Duration::from_secs(deadline_s),
        ..Selection::default()
    }
}

#[track_caller]
fn check(hook: &HookUnderTest, selection: &Selection, mark: Mark, detail: &str) {
    let report = run(hook, selection);
    assert!(!report.results.is_empty(), "nothing was run");
    let named = report.results.iter().filter(|result| result.case == selection.only);
    for result in named {
        assert_eq!(result.mark, mark, "{result:?}");
        assert!(result.detail.contains(detail), "{result:?}");
    }
    assert!(report.results.iter().any(|result| result.case == selection.only));
}

#[test]
fn a_hook_that_holds_and_lets_go_passes() {
    for case in ["no loop", "holds", "lets go when done", "nothing but the answer", "broken JSON"] {
        check(&good(), &only(case, 20), Mark::Pass, "");
    }
}

#[test]
fn what_a_hook_does_not_say_is_not_applicable() {
    check(&hook("cat"), &only("holds", 20), Mark::NotApplicable, "no --arm command");
    let case = only("compaction", 20);
    check(&good(), &case, Mark::NotApplicable, "registered for stops only");
    let all = HookUnderTest { events: HookEvents::All, ..good() };
    check(&all, &case, Mark::Fail, "a compaction: it holds: go on");
}

#[test]
fn a_hook_that_never_ends_is_told_by_the_deadline_and_left_nowhere() {
    check(&hook("sleep 600"), &only("empty input", 1), Mark::Fail, "no answer within 1 s");
    let holds_output = hook("(sleep 600 &) ; true");
    let said = "keeps its output open";
    check(&holds_output, &only("empty input", 1), Mark::Fail, said);
    // Until it has a session of its own, it ends with the hook.
    let detached = hook(
        "ready=\"$PWD/ready\"; (setsid sh -c \"touch '$ready'; exec sleep 600\" >/dev/null 2>&1 </dev/null &); \
         while [ ! -f \"$ready\" ]; do :; done",
    );
    check(&detached, &only("empty input", 1), Mark::Fail, "left running: sleep");
}

#[test]
fn an_answer_that_the_client_drops_is_a_failure() {
    let holds = |answer: &str| HookUnderTest {
        arm: Some("true".into()),
        ..hook(&format!("cat >/dev/null; printf '%s' '{answer}'"))
    };
    let case = only("holds", 20);
    let text = r#"a log line {"decision":"block","reason":"go on"}"#;
    check(&holds(text), &case, Mark::Fail, "the agent is not held");
    let null = r#"{"decision":"block","reason":null}"#;
    check(&holds(null), &case, Mark::Fail, "reason is null");
    let codex = Selection { agents: vec![Agent::Codex], ..case };
    let key = r#"{"decision":"block","reason":"go on","more":1}"#;
    check(&holds(key), &codex, Mark::Fail, "it does not know the key more");
    let long = format!(r#"{{"decision":"block","reason":"{}"}}"#, "x".repeat(10_001));
    check(&holds(&long), &codex, Mark::Fail, "a text of 10001 bytes: 10000 arrive whole");
}

#[test]
fn a_session_that_becomes_a_command_is_noticed() {
    let eager = "read -r line; eval \"$(printf '%s' \"$line\" | \
                 sed 's/.*\"session_id\":\"\\([^\"]*\\)\".*/echo \\1/')\" >/dev/null 2>&1; true";
    check(&hook(eager), &only("odd session", 20), Mark::Fail, "made ");
}

#[test]
fn a_missing_program_holds_gemini_without_end() {
    let gemini = Selection { agents: vec![Agent::Gemini], ..only("program missing", 20) };
    check(&hook("/opt/hook"), &gemini, Mark::Fail, "without its program: the agent is held");
    check(&hook("/opt/hook 2>/dev/null || true"), &gemini, Mark::Pass, "");
}
