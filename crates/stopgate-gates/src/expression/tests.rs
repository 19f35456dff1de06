use super::{ExpressionContext, check_condition, check_text};
use crate::words::{AgentContext, CompletionPromise, PromiseType, ValidationResult};

fn context() -> AgentContext {
    AgentContext {
        task_id: "TASK-1".into(),
        iteration: 11,
        execution_phase: Some("testing".into()),
        files_modified: vec!["src/a.rs".into()],
        validation_results: vec![ValidationResult {
            rule_name: "tests_pass".into(),
            passed: true,
            ..ValidationResult::default()
        }],
        completion_promises: vec![CompletionPromise {
            kind: PromiseType::Complete,
            detected: true,
            content: PromiseType::Complete.text().into(),
            detected_at: None,
        }],
        agent_output: Some("all <b>good</b>".into()),
        draft_content: None,
        draft_type: Some("implementation".into()),
    }
}

#[test]
fn a_condition_reads_all_nine_fields() {
    check("iteration > 10 and filesModified|length == 0", "false");
    check("iteration > 10 and filesModified|length == 1", "true");
    check("taskId == 'TASK-1' and executionPhase == 'testing'", "true");
    check("validationResults[0].passed and passed('tests_pass') and not passed('other')", "true");
    check("completionPromises[0].type == 'COMPLETE' and promised('complete')", "true");
    check("'good' in agentOutput and 'TODO' not in draftContent", "true");
    check("draftType == 'implementation'", "true");
    check("filesModified|select('endingwith', '.rs')|list|length == 1", "true");
}

#[test]
fn another_languages_operators_get_a_hint() {
    for (source, hint) in [
        ("iteration > 1 && true", "write `and` instead of `&&`"),
        ("iteration > 1 || true", "write `or` instead of `||`"),
        ("!promised('COMPLETE')", "write `not` instead of `!`"),
        ("nonsense > 1", "unknown name `nonsense`"),
        ("", "it is empty"),
        ("iteration >", "unexpected"),
    ] {
        let error = check_condition(source).expect_err(source);
        assert!(error.contains(hint), "{source}: {error}");
    }
    assert!(check_text("{{ iteratio }}").expect_err("unknown").contains("unknown name `iteratio`"));
    assert!(check_text("{{ iteration").is_err());
}

#[test]
fn length_as_a_property_gets_a_hint_when_it_is_asked() {
    let error = ExpressionContext::new(&context())
        .holds("filesModified.length == 0")
        .expect_err("undefined");
    assert!(error.contains("filesModified|length"), "{error}");
}

#[test]
fn an_expression_can_not_think_for_long() {
    let context = context();
    let endless = "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}";
    check_text(endless).expect_err("no loops");
    ExpressionContext::new(&context).render(endless).expect_err("no loops");
    check("range(99999)|select('even')|list|length > 1", "true");
}

/// What one step could make of little is refused before anything is made.
#[test]
fn an_expression_can_not_make_much_of_little() {
    let context = context();
    let scene = ExpressionContext::new(&context);
    for source in [
        "('a'*1000000)|replace('a','b'*10000) == ''",
        "'a' * 99999999 == ''",
        "99999999 * agentOutput == ''",
        "[1] * 99999999 == []",
        "{'length': 'a'}.length * 99999999 == ''",
        "(agentOutput) * 99999999 == ''",
        "agentOutput|indent(2000000000) == ''",
        "'%2000000000d'|format(1) == ''",
        "range(99999)|join(range(99999)|join) == ''",
        "(range(99999)|join)|replace('1', range(99999)|join) == ''",
        "namespace(a=1) == 1",
    ] {
        check_condition(source).err().or_else(|| scene.holds(source).err()).expect(source);
    }
    for source in [
        "{% set a = 'a' %}{{ a }}",
        "{% for a in ['aa'] %}{{ a ~ a }}{% endfor %}",
        "{%- with a = 'a' %}{% endwith %}",
        "{% filter upper %}a{% endfilter %}",
        "{{ 'a' * 99999999 }}",
        "{% if 'a' * 99999999 %}{% endif %}",
    ] {
        check_text(source).expect_err(source);
        scene.render(source).expect_err(source);
    }
    check("iteration * 2 > 20 and filesModified|length * 2 == 2", "true");
    check("'a' ~ 'b' == 'ab' and 'aXa'|replace('X', '-') == 'a-a'", "true");
    check("filesModified|join(', ') == 'src/a.rs' and '*' == '*'", "true");
    let raw = scene.render("{% raw %}{% set %} 'a' * 9{% endraw %} {{ iteration }}");
    assert_eq!(raw.expect("a text"), "{% set %} 'a' * 9 11");
}

#[test]
fn a_text_is_filled_in_as_it_is() {
    let context = context();
    let scene = ExpressionContext::new(&context);
    let text = scene.render("{{ iteration }} of {{ agentOutput }}").expect("a text");
    assert_eq!(text, "11 of all <b>good</b>");
    assert_eq!(scene.render("plain").expect("a text"), "plain");
}

#[track_caller]
fn check(source: &str, expected: &str) {
    check_condition(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    let context = context();
    let held = ExpressionContext::new(&context).holds(source);
    let got = held.map_or_else(|error| error, |held| held.to_string());
    assert_eq!(got, expected, "{source}");
}
