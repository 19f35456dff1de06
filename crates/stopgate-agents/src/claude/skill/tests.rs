//! The skill file.

use super::SKILL;

#[test]
fn the_skill_has_front_matter_that_the_client_reads() {
    let (front, body) = SKILL.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    let keys: Vec<_> = front.lines().filter_map(|line| line.split_once(": ")).collect();
    assert_eq!(keys[0], ("name", "stopgate"));
    assert_eq!(keys[1].0, "description");
    assert!(keys[1].1.len() < 1024);
    assert!(!keys[1].1.contains(": "), "a plain YAML value holds no colon and blank");
    assert!(body.contains("$ARGUMENTS"));
}

#[test]
fn the_skill_names_every_honest_exit_and_stays_short() {
    for word in [
        "stopgate status",
        "stopgate done",
        "stopgate blocked",
        "stopgate impossible",
        "stopgate ask",
        "stopgate start \"GOAL\" --check NAME=COMMAND --max-iterations N",
        "stopgate push",
        "stopgate pop",
        "<promise>COMPLETE</promise>",
        "checked, never believed",
    ] {
        assert!(SKILL.contains(word), "{word}");
    }
    assert!(SKILL.lines().count() < 65);
}
