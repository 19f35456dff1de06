//! The two files that people write: every key is explained, offered and accepted alike.

use std::fs;

use serde_json::Value;

use crate::stage::Stage;

const CONFIG: &str = "user/.config/stopgate/config.toml";

fn schema(stage: &Stage, file: &str) -> Value {
    let ran = stage.run(&format!("schema {file}"));
    assert_eq!(ran.code, 0, "{ran}");
    serde_json::from_str(&ran.out).expect("a schema is JSON")
}

fn keys(schema: &Value) -> Vec<String> {
    let keys = schema["properties"].as_object().expect("it has keys").keys();
    let mut keys: Vec<String> = keys.cloned().collect();
    keys.sort();
    keys
}

/// The keys that an error offers for one that nobody knows.
fn offered(error: &str) -> Vec<String> {
    let (_, list) = error.split_once("expected ").unwrap_or_else(|| panic!("{error}"));
    let list = list.lines().next().expect("a line");
    let mut keys: Vec<String> = list.split('`').skip(1).step_by(2).map(String::from).collect();
    keys.sort();
    keys
}

#[test]
fn the_schema_has_exactly_the_keys_that_the_file_may_have() {
    let stage = Stage::new();
    let project = schema(&stage, "project");
    let criterion = &project["properties"]["criterion"]["items"];
    let sections = [
        ("", &project),
        ("[loop]\n", &project["properties"]["loop"]),
        ("[proof]\n", &project["properties"]["proof"]),
        ("[[criterion]]\nname = \"a\"\n", criterion),
        ("[[criterion]]\nname = \"a\"\n[criterion.files]\n", &criterion["properties"]["files"]),
        ("[[criterion]]\nname = \"a\"\n[criterion.pattern]\n", &criterion["properties"]["pattern"]),
        (
            "[[criterion]]\nname = \"a\"\n[criterion.coverage]\n",
            &criterion["properties"]["coverage"],
        ),
    ];
    for (head, section) in sections {
        stage.write("project/stopgate.toml", format!("{head}zzz = 1\n"));
        let ran = stage.run("start Goal");
        assert_eq!(ran.code, 2, "{head}: {ran}");
        assert_eq!(offered(&ran.err), keys(section), "{head}: {ran}");
        let line = head.lines().count() + 1;
        assert!(ran.err.contains(&format!("line {line}, column 1: ")), "{head}: {ran}");
        assert!(ran.err.contains("stopgate help toml"), "{ran}");
    }
    fs::remove_file(stage.path("project/stopgate.toml")).expect("take it away");
    let config = schema(&stage, "config");
    for name in ["", "loop", "limits", "store", "proof", "notify"] {
        let head = if name.is_empty() { String::new() } else { format!("[{name}]\n") };
        let section = if name.is_empty() { &config } else { &config["properties"][name] };
        stage.write(CONFIG, format!("{head}zzz = 1\n"));
        let ran = stage.run("list");
        assert_eq!((ran.code, offered(&ran.err)), (2, keys(section)), "{head}: {ran}");
        assert!(ran.err.contains("stopgate help config.toml"), "{ran}");
    }
}

#[test]
fn help_explains_every_key() {
    let stage = Stage::new();
    for (topic, file) in [("toml", "project"), ("config.toml", "config")] {
        let help = stage.run(&format!("help {topic}"));
        assert_eq!(help.code, 0, "{help}");
        let schema = schema(&stage, file);
        for (name, section) in schema["properties"].as_object().expect("sections") {
            assert!(help.out.contains(name.as_str()), "{name}: {help}");
            let section = section.get("items").filter(|i| i["properties"].is_object());
            let section = section.unwrap_or(&schema["properties"][name.as_str()]);
            for key in section["properties"].as_object().into_iter().flatten() {
                assert!(help.out.contains(&format!("\n  {} ", key.0)), "{}: {help}", key.0);
            }
        }
    }
    assert!(stage.run("help start").out.contains("Start a loop"));
}

#[test]
fn what_is_wrong_in_a_section_is_named_with_its_place() {
    let stage = Stage::new();
    let wrong = |text: &str| {
        stage.write("project/stopgate.toml", text);
        let ran = stage.run("start Goal");
        assert_eq!(ran.code, 2, "{text}: {ran}");
        ran.err.lines().next().expect("a line").to_string()
    };
    let said = wrong("\n[[criterion]]\nname = \"a\"\n");
    assert!(said.contains("line 2, column 1: criterion \"a\": it proves nothing"), "{said}");
    let said = wrong("[proof]\n\n[loop]\nstale_after = \"soon\"\n");
    assert!(said.contains("line 3, column 1: `soon`"), "{said}");
    let said = wrong("[loop]\nmax_tokens = \"many\"\n");
    assert!(said.contains("line 2, column 14: invalid type"), "{said}");
    let said = wrong("[loop]\nmax_cost_usd = -1\n");
    assert!(said.contains("line 2, column 16: `-1` is not an amount of dollars"), "{said}");
}

#[test]
fn a_setting_is_set_and_the_rest_of_the_file_stays() {
    let stage = Stage::new();
    let ran = stage.run("config set loop.max_iterations 7");
    assert_eq!(ran.out, "loop.max_iterations = 7  $STAGE/user/.config/stopgate/config.toml\n");
    stage.write(CONFIG, "# mine\n[loop]\nmax_iterations = 7 # seven\n");
    assert_eq!(stage.run("config set loop.max_iterations 9").code, 0);
    assert_eq!(stage.run("config set notify.command 'say it'").code, 0);
    let text = fs::read_to_string(stage.path(CONFIG)).expect("the file");
    assert_eq!(
        text,
        "# mine\n[loop]\nmax_iterations = 9 # seven\n\n[notify]\ncommand = \"say it\"\n"
    );
    assert!(stage.run("config show --origin").out.contains("max_iterations  9        user"));
    for line in ["loop.nonsense 1", "loop 1", "loop.max_iterations many", "notify.quiet late"] {
        let ran = stage.run(&format!("config set {line}"));
        assert_eq!(ran.code, 2, "{line}: {ran}");
    }
    assert_eq!(fs::read_to_string(stage.path(CONFIG)).expect("the file"), text);
    let ran = stage.run_as("s1", "config set loop.max_iterations 99");
    assert!(ran.code == 2 && ran.err.contains("agent's shell"), "{ran}");
}

#[test]
fn an_editor_opens_the_file_and_what_is_wrong_is_said() {
    let stage = Stage::new();
    assert_eq!(stage.run("config edit").code, 2, "nobody knows the editor");
    stage.write("edit.sh", "echo '[loop]\nmax_iterations = 0' > \"$1\"\n");
    let editor = format!("sh {}", stage.path("edit.sh").display());
    let ran = stage.run_with("config edit", &[("EDITOR", "true")]);
    assert!(ran.code == 0 && ran.out.ends_with("is fine.\n"), "{ran}");
    let text = fs::read_to_string(stage.path(CONFIG)).expect("a template");
    assert!(text.contains("# max_iterations = 20"), "{text}");
    let ran = stage.run_with("config edit", &[("EDITOR", &editor)]);
    assert!(ran.code == 2 && ran.err.contains("line 1, column 1: `max_iterations`"), "{ran}");
}

#[test]
fn completions_know_loops_sessions_and_checks() {
    let stage = Stage::with_loop("'Make it green' --check 'unit tests=false'");
    let script = stage.run("completions bash");
    assert!(script.code == 0 && script.out.contains("STOPGATE_COMPLETE"), "{script}");
    let complete = |words: &[&str]| {
        let mut command = stage.command("--");
        command.env("STOPGATE_COMPLETE", "fish").arg("stopgate").args(words);
        stage.finish(command, b"").out
    };
    assert!(complete(&["sta"]).contains("status"));
    assert!(complete(&["cancel", ""]).contains("1stage0000\tactive: Make it green"));
    assert!(complete(&["status", "--session", ""]).contains("s1\tMake it green"));
    assert!(complete(&["edit", "--drop", ""]).contains("unit tests"));
}
