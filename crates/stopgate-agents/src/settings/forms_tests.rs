//! What an installation writes for each agent.

use super::*;

const PROGRAM: &str = "/opt/stopgate";

fn fresh(agent: Agent, form: EntryForm) -> String {
    install(None, &HookEntry { form, ..HookEntry::new(agent, PROGRAM) }).unwrap().text
}

fn json(agent: Agent) -> serde_json::Value {
    serde_json::from_str(&fresh(agent, EntryForm::Own)).unwrap()
}

#[test]
fn each_agent_gets_its_own_form() {
    assert_eq!(
        json(Agent::Codex)["hooks"]["Stop"],
        serde_json::json!([{"hooks": [{
            "type": "command", "command": "/opt/stopgate hook codex", "timeout": 600,
            "statusMessage": "stopgate is running your checks (stopgate status)",
        }]}])
    );
    assert_eq!(
        json(Agent::Gemini)["hooks"]["AfterAgent"],
        serde_json::json!([{"hooks": [{
            "type": "command", "command": "/opt/stopgate hook gemini 2>/dev/null || true",
            "timeout": 600_000,
        }]}])
    );
    assert_eq!(
        json(Agent::Qwen)["hooks"]["Stop"],
        serde_json::json!([{"hooks": [{
            "type": "command", "command": "/opt/stopgate hook qwen", "timeout": 600_000,
        }]}])
    );
    let copilot = json(Agent::Copilot);
    assert_eq!(copilot["version"], 1);
    assert_eq!(
        copilot["hooks"]["Stop"],
        serde_json::json!([{
            "type": "command", "bash": "/opt/stopgate hook copilot", "timeoutSec": 600,
        }])
    );
    assert_eq!(
        json(Agent::Cursor),
        serde_json::json!({"version": 1, "hooks": {
            "stop": [{"command": "/opt/stopgate hook cursor --cap none", "timeout": 600, "loop_limit": null}],
            "sessionStart": [{"command": "/opt/stopgate hook cursor --cap none", "timeout": 10}],
        }})
    );
    assert_eq!(
        json(Agent::Droid)["Stop"],
        serde_json::json!([{"hooks": [{
            "type": "command", "command": "/opt/stopgate hook droid", "timeout": 600,
        }]}])
    );
    assert_eq!(
        json(Agent::Antigravity),
        serde_json::json!({"stopgate": {"Stop": [{
            "type": "command", "command": "/opt/stopgate hook antigravity --event Stop",
            "timeout": 600,
        }]}})
    );
    assert!(fresh(Agent::Kimi, EntryForm::Own).starts_with(
        "[[hooks]]\nevent = \"Stop\"\ncommand = \"/opt/stopgate hook kimi\"\ntimeout = 600\n\n[[hooks]]\n"
    ));
}

#[test]
fn a_bridge_is_written_whole_found_and_removed() {
    for agent in [Agent::OpenCode, Agent::Pi] {
        let odd = "/my \"tools\"/stopgate";
        let entry = HookEntry::new(agent, odd);
        let edited = install(None, &entry).unwrap();
        assert!(edited.text.contains("const PROGRAM = \"/my \\\"tools\\\"/stopgate\""));
        assert!(edited.text.lines().count() < 200);
        assert_eq!(install(Some(&edited.text), &entry).unwrap().changes, [""; 0]);
        let found = find(agent, &edited.text).unwrap();
        assert_eq!(found[0].command.words(), [odd, "hook", agent.word()]);
        assert_eq!(uninstall(agent, &edited.text, None).unwrap().text, "");
        let theirs = "export const Mine = async () => ({})\n";
        assert_eq!(install(Some(theirs), &entry).unwrap().text, theirs);
        assert_eq!(uninstall(agent, theirs, None).unwrap().text, theirs);
        let shared = install(None, &HookEntry { form: EntryForm::Shared, ..entry }).unwrap().text;
        assert!(shared.contains("const PROGRAM = \"stopgate\""));
    }
}

#[test]
fn odd_paths_reach_the_program_through_a_shell() {
    for program in ["/my tools/stopgate", "/it's/stopgate", "/ä €/stopgate", "/a$b`c`/stopgate"]
    {
        for agent in Agent::ALL {
            let text = install(None, &HookEntry::new(agent, program)).unwrap().text;
            let found = find(agent, &text).unwrap();
            assert!(!found.is_empty(), "{agent:?}: {text}");
            assert_eq!(found[0].command.words()[0], program, "{agent:?}: {text}");
        }
    }
}

#[test]
fn a_shared_entry_names_no_path() {
    for agent in Agent::ALL.into_iter().filter(|agent| agent.files().project.is_some()) {
        let text = fresh(agent, EntryForm::Shared);
        assert!(!text.contains(PROGRAM), "{agent:?}: {text}");
        assert!(find(agent, &text).unwrap().iter().any(InstalledEntry::judges_stops), "{agent:?}");
    }
}

#[test]
fn an_entry_for_a_dialect_stands_beside_ours_and_goes_alone() {
    for agent in [Agent::Claude, Agent::Codex, Agent::Copilot, Agent::Kimi] {
        let own = fresh(agent, EntryForm::Own);
        let entry =
            HookEntry { dialect: Some("ralph-loop".into()), ..HookEntry::new(agent, PROGRAM) };
        let both = install(Some(&own), &entry).unwrap().text;
        let dialects: Vec<InstalledEntry> =
            find(agent, &both).unwrap().into_iter().filter(|f| f.dialect().is_some()).collect();
        assert!(dialects.iter().all(|found| found.dialect().as_deref() == Some("ralph-loop")));
        assert!(dialects.iter().any(|found| found.kind == HookEvent::Stop), "{agent:?}: {both}");
        assert_eq!(install(Some(&both), &entry).unwrap().changes, [""; 0], "{agent:?}");
        let again = install(Some(&both), &HookEntry::new(agent, PROGRAM)).unwrap();
        assert_eq!(again.changes, [""; 0], "{agent:?}");
        assert_eq!(uninstall(agent, &both, Some("ralph-loop")).unwrap().text, own, "{agent:?}");
        assert_eq!(uninstall(agent, &both, Some("idle")).unwrap().changes, [""; 0], "{agent:?}");
    }
}

#[test]
fn toml_that_is_not_what_it_should_be_is_refused() {
    let error = |text: &str| {
        install(Some(text), &HookEntry::new(Agent::Kimi, PROGRAM)).unwrap_err().to_string()
    };
    assert_eq!(
        error("a = 1\nb = = 2\n"),
        "read the settings: they stop being TOML at 2:5; correct that and try again"
    );
    assert_eq!(
        error("hooks = \"x\"\n"),
        "use the settings: hooks at 1:9 is a value, not tables [[hooks]]; correct that and try again"
    );
}
