use serde_json::{Value, json};
use stopgate_core::{CoverageFormat, Floor};

use super::{
    Enough, Measure, PatternTarget, PatternWanted, RuleKind, ValidationRule, pattern_result,
};

#[test]
fn what_is_left_out_has_its_documented_default() {
    check(
        &json!({"type": "command", "name": "n", "config": {"command": "true"}}),
        &RuleKind::Command {
            command: "true".into(),
            exit_codes: vec![0],
            timeout_ms: 60_000,
            directory: None,
            set: Vec::new(),
        },
    );
    check(
        &json!({"type": "content_pattern", "name": "n", "config": {"pattern": "x"}}),
        &RuleKind::Pattern {
            pattern: "x".into(),
            flags: String::new(),
            target: PatternTarget::AgentOutput,
            wanted: PatternWanted::Match,
        },
    );
    check(
        &json!({"type": "coverage", "name": "n", "config": {"minCoverage": 79.5, "reportPath": "l"}}),
        &RuleKind::Coverage {
            floor: Floor { lines: Some(7950), ..Floor::default() },
            measure: Measure::Lines,
            format: CoverageFormat::Lcov,
            report: "l".into(),
        },
    );
    check(
        &json!({"type": "file_existence", "name": "n", "config": {"paths": ["a"]}}),
        &RuleKind::Files { paths: vec!["a".into()], enough: Enough::All },
    );
    check(
        &json!({"type": "custom", "name": "n", "config": {"validatorId": "v"}}),
        &RuleKind::Custom { validator: "v".into(), config: Value::Null },
    );
}

#[test]
fn what_is_out_of_range_is_refused_with_its_place() {
    for (kind, config, expected) in [
        ("nonsense", json!({}), "r.type: Must be one of"),
        ("command", json!({}), "r.config.command: is required"),
        (
            "command",
            json!({"command": "x", "timeout": 999}),
            "r.config.timeout: Must be at least 1000",
        ),
        (
            "command",
            json!({"command": "x", "timeout": 600_001}),
            "r.config.timeout: Must be at most 600000",
        ),
        (
            "command",
            json!({"command": "x", "timeout": 1.5}),
            "r.config.timeout: Must be of type: integer",
        ),
        ("command", json!({"command": "x", "expectedExitCode": 256}), "Must be at most 255"),
        ("command", json!({"command": "x", "expectedExitCode": -1}), "Must be at least 0"),
        ("command", json!({"command": "x", "successExitCodes": []}), "Must be a list of integers"),
        (
            "command",
            json!({"command": "x", "env": {"A": 1}}),
            "r.config.env.A: Must be of type: string",
        ),
        ("command", json!({"command": "x", "comand": 1}), "r.config.comand: unknown"),
        (
            "content_pattern",
            json!({"pattern": "x", "target": "disk"}),
            "r.config.target: Must be one of",
        ),
        (
            "content_pattern",
            json!({"pattern": "x", "flags": "q"}),
            "r.config.flags: Must be made of",
        ),
        (
            "coverage",
            json!({"minCoverage": 101, "reportPath": "l"}),
            "Must be a number from 0 to 100",
        ),
        (
            "coverage",
            json!({"minCoverage": 1, "reportPath": "l", "format": "x"}),
            "r.config.format",
        ),
        ("file_existence", json!({"paths": []}), "r.config.paths: Must have at least 1 item"),
        ("custom", json!({}), "r.config.validatorId: is required"),
    ] {
        let rule = json!({"type": kind, "name": "n", "config": config});
        let error = ValidationRule::read(&rule, "r").expect_err(&rule.to_string());
        assert!(error.contains(expected), "{rule}: {error}");
    }
    assert!(ValidationRule::read(&json!({"type": "custom", "config": {}}), "r").is_err());
    assert!(ValidationRule::read(&json!({"type": "custom", "name": "n"}), "r").is_err());
    assert!(ValidationRule::read(&json!(1), "r").is_err());
}

#[test]
fn a_pattern_is_judged_in_words() {
    let judge = |pattern, flags, wanted, text| {
        pattern_result(pattern, flags, wanted, text, PatternTarget::AgentOutput)
    };
    for (pattern, flags, wanted, expected) in [
        ("TODO", "", PatternWanted::NoMatch, (false, "Pattern found in agent_output (unexpected)")),
        ("todo", "i", PatternWanted::Match, (true, "Pattern found in agent_output")),
        ("todo", "", PatternWanted::Match, (false, "Pattern not found in agent_output")),
        (
            "todo",
            "",
            PatternWanted::NoMatch,
            (true, "Pattern not found in agent_output (as expected)"),
        ),
    ] {
        let (passed, message) = judge(pattern, flags, wanted, "TODO left");
        assert_eq!((passed, message.as_str()), expected);
    }
    let (passed, message) = judge("[", "", PatternWanted::Match, "x");
    assert!(!passed && message.starts_with("Pattern validation error: "), "{message}");
}

#[track_caller]
fn check(rule: &Value, expected: &RuleKind) {
    let read = ValidationRule::read(rule, "r").unwrap_or_else(|error| panic!("{rule}: {error}"));
    assert_eq!((&read.kind, read.enabled), (expected, true));
}
