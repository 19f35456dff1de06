use super::*;

#[test]
fn a_line_without_its_program_names_no_file() {
    let absent = |line: &str| without_program(line);
    assert_eq!(absent("stop-hook"), ABSENT);
    assert_eq!(absent("bash /a/b.sh x"), format!("bash {ABSENT} x"));
    assert_eq!(absent("'/a b/stopgate' hook codex"), format!("{ABSENT} hook codex"));
    assert_eq!(
        absent("/a/stopgate hook gemini 2>/dev/null || true"),
        format!("{ABSENT} hook gemini 2>/dev/null || true")
    );
}

#[test]
fn each_agent_gets_its_own_line() {
    let ours = HookUnderTest::stopgate("/opt/my tools/stopgate");
    assert_eq!(ours.line(Agent::Codex).unwrap(), "'/opt/my tools/stopgate' hook codex");
    assert!(ours.line(Agent::Gemini).unwrap().ends_with("|| true"));
    let any = HookUnderTest { line: Some("x {agent}".into()), lines: Vec::new(), ..ours };
    assert!(any.serves(Agent::Pi));
    assert_eq!(any.line(Agent::Pi).unwrap(), "x pi");
}
