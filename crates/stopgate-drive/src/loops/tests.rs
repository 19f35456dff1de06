use super::is_model_name;

#[test]
fn a_models_name_is_no_option_and_no_command() {
    for name in ["opus", "gpt-5.1-codex", "anthropic/claude-4", "sonnet[1m]", "a:b@1+x_y"] {
        assert!(is_model_name(name), "{name}");
    }
    let long = "a".repeat(200);
    for name in ["", "-m", "--yolo", "$(id)", "a;b", "a b", "a`b`", "a\nb", "a\u{1b}[2J", &long] {
        assert!(!is_model_name(name), "{name:?}");
    }
}
