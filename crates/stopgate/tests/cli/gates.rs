//! Gates of loops that the hook steers.

use insta::assert_snapshot;

use crate::stage::Stage;

#[test]
fn a_gate_calls_for_a_person_at_the_stop_where_it_holds() {
    let stage = Stage::with_loop("Finish --gate 'escalate if iteration > 1' --max-idle 0");
    let first = stage.stop("s1", "One.");
    assert!(first.brief().starts_with("Loop 1/20"), "{first}");
    assert_snapshot!(stage.stop("s1", "Two."), @"allowed, and told: stopgate: loop 1stage0000 ended as needs_input after 1 continuation: gate escalate if iteration > 1: `iteration > 1` holds. More: stopgate explain 1stage0000");
    assert_eq!(stage.standing("1stage0000"), "needs_input 1/20 s1");
}

#[test]
fn a_gate_ends_a_loop_without_checks_as_attested_only() {
    let said = "complete if \"shipped\" in agentOutput";
    let stage = Stage::with_loop(&format!("Finish --gate '{said}'"));
    stage.stop("s1", "Working.");
    stage.stop("s1", "It is shipped.");
    assert_eq!(stage.standing("1stage0000"), "attested 1/20 s1");
}

#[test]
fn a_gate_never_ends_a_loop_that_has_checks() {
    let stage = Stage::with_loop("Finish --check tests=false --gate 'complete if true'");
    let answer = stage.stop("s1", "Done.");
    assert!(answer.brief().starts_with("Loop 1/20"), "{answer}");
    assert_eq!(stage.standing("1stage0000"), "active 1/20 s1");
}

#[test]
fn a_gate_tells_the_agent_what_to_do_next() {
    let stage = Stage::with_loop("Finish --check tests_pass=false --gate tdd");
    let answer = stage.stop("s1", "Working.").to_string();
    assert!(
        answer.contains("A gate of this loop says: Fix failing tests and run again"),
        "{answer}"
    );
}

#[test]
fn a_command_is_asked_and_one_that_breaks_calls_for_a_person() {
    let gate = r#"{"command": "grep -q ship && echo {\\\"action\\\":\\\"complete\\\",\\\"reason\\\":\\\"shipped\\\"}"}"#;
    let stage = Stage::new();
    let mut command = stage.command("start Finish --session s1 --json");
    command.arg("--gate").arg(gate);
    assert_eq!(stage.finish(command, b"").code, 0);
    stage.stop("s1", "Let us ship.");
    assert_eq!(stage.standing("1stage0000"), "attested 0/20 s1");
    let mut command = stage.command("start Finish --session s2 --json");
    command.arg("--gate").arg(gate);
    assert_eq!(stage.finish(command, b"").code, 0);
    let answer = stage.stop("s2", "Let us wait.").to_string();
    assert!(answer.contains("needs_input"), "{answer}");
    assert!(answer.contains("Hook evaluation failed: the command ended with code 1"), "{answer}");
}

#[test]
fn a_gate_of_the_projects_file_is_asked_and_may_run_nothing() {
    let stage = Stage::new();
    stage.write("project/stopgate.toml", "gates = [\"iteration > 0\"]\n");
    assert_eq!(stage.run("trust --yes").code, 0);
    stage.start("Finish --session s1");
    stage.stop("s1", "One.");
    assert_eq!(stage.standing("1stage0000"), "needs_input 0/20 s1");
    stage.write("project/stopgate.toml", "gates = ['{\"command\": \"true\"}']\n");
    let refused = stage.run("start Finish --session s2");
    assert_eq!(refused.code, 2, "{refused}");
    assert!(refused.err.contains("runs a command; give that with start --gate"), "{refused}");
}

#[test]
fn explain_shows_what_each_gate_saw_and_said() {
    let stage = Stage::with_loop("Finish --gate promise --gate 'escalate if iteration == 1'");
    stage.stop("s1", "One.");
    let explained = stage.run("explain 1stage0000").out;
    assert!(explained.contains("gates        what do the loop's gates say?"), "{explained}");
    assert!(explained.contains("promise: continue, "), "{explained}");
    assert!(explained.contains("escalate if iteration == 1: escalate, heard, "), "{explained}");
    assert!(explained.contains("\"agentOutput\":\"One.\""), "{explained}");
}

#[test]
fn stats_count_each_gate() {
    let stage =
        Stage::with_loop("Finish --gate promise --gate 'escalate if iteration == 2' --max-idle 0");
    stage.stop("s1", "One.");
    stage.stop("s1", "Two.");
    let stats = stage.json("stats gates");
    let gates = stats["gates"].as_array().expect("gates");
    let counts: Vec<String> = gates
        .iter()
        .map(|gate| {
            let metrics = &gate["metrics"];
            format!(
                "{} {}: {} {} {}",
                gate["gate"].as_str().unwrap_or("?"),
                metrics["evaluations"],
                metrics["complete"],
                metrics["continue"],
                metrics["escalate"]
            )
        })
        .collect();
    assert_eq!(counts, ["escalate if iteration == 2 2: 0 1 1", "promise 2: 0 2 0"]);
    let shown = stage.run("stats gates").out;
    assert!(shown.contains("asked 2: complete 0, continue 2, escalate 0 (failed 0)"), "{shown}");
}

#[test]
fn a_gate_that_makes_no_sense_begins_no_loop() {
    let stage = Stage::new();
    let refused = stage.run("start Finish --session s1 --gate 'iteration > 1 && true'");
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("write `and` instead of `&&`"), "{refused}");
    assert_eq!(stage.json("list")["loops"].as_array().map(Vec::len), Some(0));
}
