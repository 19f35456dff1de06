use super::*;

fn result(client: &str, case: &'static str, mark: Mark) -> CaseResult {
    let detail = if mark == Mark::Fail { "no answer within 20 s".into() } else { String::new() };
    CaseResult { client: client.into(), case, why: "It matters.", mark, detail }
}

#[test]
fn a_table_has_a_line_a_case_and_says_what_failed() {
    let report = ConformanceReport {
        hook: "mine".into(),
        results: vec![
            result("claude 2", "holds", Mark::Pass),
            result("claude 2", "has a limit", Mark::NotApplicable),
            result("codex 0", "holds", Mark::Fail),
            result("codex 0", "has a limit", Mark::NotApplicable),
        ],
    };
    let expected = "  1  claude 2\n  2  codex 0\n\n\
mine                        1  2\n\
holds                       ✓  ✗\n\
has a limit                 –  –\n\n\
✗ holds, codex 0\n  no answer within 20 s\n  It matters.\n\n\
1 passed, 1 failed, 2 not applicable\n";
    assert_eq!(report.table(), expected);
    assert_eq!(report.mark_of("holds"), Mark::Fail);
    assert_eq!(report.mark_of("has a limit"), Mark::NotApplicable);
}
