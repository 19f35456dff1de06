//! Whose criteria a loop has decides how it may end.

use serde_json::{Value, json};

#[cfg(target_os = "linux")]
use crate::doors;
use crate::stage::Stage;
#[cfg(target_os = "linux")]
use crate::stage::program_path;

const TRUSTED: &str = "[[criterion]]\nname = \"tests\"\nrun = [\"true\"]\n";

fn found(stage: &Stage, id: &str) -> Value {
    stage.json(&format!("status {id}"))["loop"].clone()
}

fn outcome(stage: &Stage, id: &str) -> String {
    found(stage, id)["outcome"].as_str().unwrap_or("none").into()
}

/// Begins a loop in the agent's own shell.
fn agent_starts(stage: &Stage, arguments: &str) -> String {
    let ran = stage.run_as("s1", &format!("start {arguments} --json"));
    assert_eq!(ran.code, 0, "{ran}");
    let view: Value = serde_json::from_str(&ran.out).expect("JSON");
    view["loop"]["id"].as_str().expect("an id").into()
}

#[test]
fn what_an_agent_chose_is_attested_until_a_person_approves() {
    let stage = Stage::new();
    let id = agent_starts(&stage, "Work --check tests=true");
    assert_eq!(found(&stage, &id)["origin"], json!({"by": "agent", "shown_by": "CLAUDECODE"}));
    assert!(!stage.stop("s1", "one").is_sent_back());
    assert_eq!(outcome(&stage, &id), "attested");
    assert_eq!(stage.run(&format!("receipt export {id}")).code, 2);
    assert_eq!(stage.run_as("s1", &format!("approve {id}")).code, 2);
    let ran = stage.run(&format!("approve {id}"));
    assert!(ran.code == 0 && ran.out.contains("ended as done"), "{ran}");
    let view = found(&stage, &id);
    assert_eq!((&view["outcome"], &view["signature"]), (&json!("done"), &json!("genuine")));
    assert!(view["why"].as_str().is_some_and(|why| why.contains("approved by a person")), "{view}");
    let receipt = stage.json(&format!("receipt export {id}"));
    let proven = &receipt["proven"];
    assert_eq!((&proven["begun_by"], &proven["approved_by"]), (&json!("agent"), &json!("person")));
}

#[test]
#[cfg(target_os = "linux")]
fn an_agents_shell_is_known_where_its_variables_were_taken_away() {
    let stage = Stage::new();
    let id = agent_starts(&stage, "Work --check tests=true");
    let program = program_path().display();
    let approved_in = |session: &str| {
        let mut command = doors::program("sh");
        stage.furnish(&mut command);
        command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", session);
        // The shell has something left to do, so it does not become the program.
        let without = "env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID";
        let line = format!("{without} {program} approve {id}; code=$?; exit $code");
        command.args(["-c", &line]);
        stage.finish(command, b"")
    };
    let ran = approved_in("s1");
    assert!(ran.code == 2 && ran.err.contains("agent's shell"), "{ran}");
    // A session that no loop ever held may try things out.
    let ran = approved_in("another");
    assert!(!ran.err.contains("agent's shell"), "{ran}");
}

#[test]
#[cfg(target_os = "linux")]
fn what_a_check_starts_is_never_a_persons() {
    let stage = Stage::new();
    let program = program_path().display().to_string();
    let home = stage.path("home").display().to_string();
    let edit = format!(
        "env -i HOME=/ STOPGATE_HOME={home} setsid -w {program} edit --check tests=true \
         > said.txt 2>&1; exit 1\n"
    );
    stage.write("project/check.sh", &edit);
    assert_eq!(
        stage.run("start Work --session s1 --no-preflight --check 'tests=sh check.sh'").code,
        0
    );
    assert!(stage.stop("s1", "one").is_sent_back());
    let said = std::fs::read_to_string(stage.path("project/said.txt")).expect("read it");
    assert!(said.contains("agent's shell"), "{said}");
    assert!(stage.stop("s1", "two").is_sent_back());
}

#[test]
fn an_agent_imports_no_loops() {
    let stage = Stage::new();
    stage.write("project/loops.jsonl", "");
    let ran = stage.run_as("s1", "store import loops.jsonl");
    assert!(ran.code == 2 && ran.err.contains("only a person can import loops"), "{ran}");
}

#[test]
fn a_claim_takes_the_agents_own_question_back() {
    let stage = Stage::new();
    stage.write("project/flag", "no");
    let view = stage.json("start Work --session s1 --check 'tests=grep -q yes flag'");
    let id = view["loop"]["id"].as_str().expect("an id");
    assert_eq!(stage.run_as("s1", "ask 'Which flag?'").code, 0);
    stage.write("project/flag", "yes");
    assert_eq!(stage.run_as("s1", "done").code, 0);
    stage.stop("s1", "one");
    assert_eq!(outcome(&stage, id), "done");
}

#[test]
fn an_approval_while_the_agent_works_counts_at_the_end() {
    let stage = Stage::new();
    stage.write("project/flag", "no");
    let id = agent_starts(&stage, "Work --check 'tests=grep -q yes flag'");
    assert!(stage.stop("s1", "one").is_sent_back());
    assert_eq!(stage.run(&format!("approve {id}")).code, 0);
    stage.write("project/flag", "yes");
    stage.stop("s1", "two");
    assert_eq!(outcome(&stage, &id), "done");
}

#[test]
fn an_approval_of_what_passes_no_more_changes_nothing() {
    let stage = Stage::new();
    stage.write("project/flag", "yes");
    let id = agent_starts(&stage, "Work --check 'tests=grep -q yes flag'");
    stage.stop("s1", "one");
    stage.write("project/flag", "no");
    let ran = stage.run(&format!("approve {id}"));
    assert!(ran.out.contains("does not pass any more"), "{ran}");
    assert_eq!(outcome(&stage, &id), "attested");
}

#[test]
fn the_criteria_of_a_trusted_file_are_a_persons() {
    for trusted in [true, false] {
        let stage = Stage::new();
        stage.write("project/stopgate.toml", TRUSTED);
        if trusted {
            assert_eq!(stage.run("trust --yes").code, 0);
        }
        let id = agent_starts(&stage, "Work");
        stage.stop("s1", "one");
        assert_eq!(outcome(&stage, &id), if trusted { "done" } else { "none" });
    }
}

#[test]
fn a_file_that_needs_no_trust_is_still_the_agents_choice() {
    let stage = Stage::new();
    let file = "[[criterion]]\nname = \"there\"\nfiles = { exist = [\"stopgate.toml\"] }\n";
    stage.write("project/stopgate.toml", file);
    let id = agent_starts(&stage, "Work");
    stage.stop("s1", "one");
    assert_eq!(outcome(&stage, &id), "attested");
}

#[test]
fn a_project_file_that_was_moved_away_for_the_start_is_missed() {
    let stage = Stage::new();
    stage.write("project/stopgate.toml", TRUSTED.replace("true", "false"));
    assert_eq!(stage.run("trust --yes").code, 0);
    let (from, to) = (stage.path("project/stopgate.toml"), stage.path("kept.toml"));
    std::fs::rename(&from, &to).expect("move it away");
    let id = agent_starts(&stage, "'all tests pass' --check tests=true");
    std::fs::rename(&to, &from).expect("put it back");
    stage.stop("s1", "one");
    assert_eq!(outcome(&stage, &id), "attested");
}

#[test]
fn an_agent_can_t_put_a_loop_aside_in_silence() {
    for how in ["replace", "cancel"] {
        let stage = Stage::new();
        stage.write("project/stopgate.toml", TRUSTED);
        assert_eq!(stage.run("trust --yes").code, 0);
        let first = stage.start("Work --check more=false --session s1");
        let second = if how == "replace" {
            agent_starts(&stage, "Less --replace")
        } else {
            assert_eq!(stage.run_as("s1", "cancel").code, 0);
            agent_starts(&stage, "Less")
        };
        let replaced = json!([{"loop": first, "by": "agent"}]);
        assert_eq!(found(&stage, &second)["origin"]["replaced"], replaced, "{how}");
        let shown = stage.run(&format!("status {second}")).out;
        assert!(shown.contains(&format!("replaced {first} by agent")), "{how}: {shown}");
        stage.stop("s1", "one");
        assert_eq!(outcome(&stage, &second), "attested", "{how}");
        assert!(stage.run(&format!("approve {second}")).out.contains("ended as done"), "{how}");
        let receipt = stage.json(&format!("receipt export {second}"));
        assert_eq!(receipt["proven"]["replaced"], replaced, "{how}");
    }
}

#[test]
fn what_a_person_begins_is_done_also_after_an_agents_cancel() {
    let stage = Stage::with_loop("Work --check tests=false");
    assert_eq!(stage.run_as("s1", "cancel").code, 0);
    let id = stage.start("Work --check tests=true --session s1");
    stage.stop("s1", "one");
    assert_eq!(outcome(&stage, &id), "done");
}

/// A line of the client's transcript, six in the morning and so many seconds.
fn line(uuid: &str, parent: &str, second: u32, content: &Value) -> String {
    let record = json!({
        "type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s1",
        "isSidechain": false, "timestamp": format!("2026-11-15T06:00:{second:02}.000Z"),
        "message": {"role": "user", "content": content},
    });
    record.to_string() + "\n"
}

#[test]
fn a_start_that_a_person_types_inside_the_client_is_the_persons() {
    let stage = Stage::new();
    let id = agent_starts(&stage, "Work --check tests=true");
    let command = json!("<bash-input>stopgate start Work --check tests=true</bash-input>");
    let output = json!(format!("<bash-stdout>Loop {id} has begun</bash-stdout>"));
    let text = line("a", "z", 0, &command) + &line("b", "a", 1, &output);
    stage.write("transcript.jsonl", text);
    let path = stage.path("transcript.jsonl").display().to_string();
    stage.stop_call("s1", "one").with("transcript_path", json!(path)).send();
    assert_eq!(outcome(&stage, &id), "done");
    assert_eq!(found(&stage, &id)["origin"]["by"], json!("person"));
    let receipt = stage.json(&format!("receipt export {id}"));
    assert_eq!(receipt["proven"]["begun_by"], json!("person"));
}

#[test]
fn what_an_agent_prints_or_a_person_types_later_makes_nothing_the_persons() {
    let input = |second| line("a", "z", second, &json!("<bash-input>stopgate start</bash-input>"));
    let stage = Stage::new();
    let id = agent_starts(&stage, "Work --check tests=true");
    let said = format!("<bash-stdout>Loop {id} has begun</bash-stdout>");
    let tool = json!([{"type": "tool_result", "tool_use_id": "t", "content": said}]);
    let transcripts = [
        // The output stands in a tool's result.
        input(0) + &line("b", "a", 1, &tool),
        // The person only looked at it later.
        input(5) + &line("b", "a", 6, &json!(said)),
        // They typed something else at that time.
        input(0) + &line("b", "a", 1, &json!("<bash-stdout>hello</bash-stdout>")),
    ];
    for text in transcripts {
        let stage = Stage::new();
        let id = agent_starts(&stage, "Work --check tests=true");
        stage.write("transcript.jsonl", &text);
        let path = stage.path("transcript.jsonl").display().to_string();
        stage.stop_call("s1", "one").with("transcript_path", json!(path)).send();
        assert_eq!(outcome(&stage, &id), "attested", "{text}");
    }
}
