use serde_json::{Value, json};

use super::{PluginMark, plugin_hooks, plugin_stop};
use crate::settings::{HookEntry, find, install};
use crate::{Agent, HookEvent};

const WITH_PLUGINS: [Agent; 3] = [Agent::Claude, Agent::Codex, Agent::Gemini];

/// The events and time-outs of a text with hooks.
fn events(agent: Agent, text: &str) -> Vec<(String, Option<u64>)> {
    let found = find(agent, text).unwrap();
    found.into_iter().map(|found| (found.event, found.timeout_s)).collect()
}

#[test]
fn a_plugin_answers_the_events_of_an_installation() {
    for agent in WITH_PLUGINS {
        let installed = install(None, &HookEntry::new(agent, "/opt/stopgate")).unwrap().text;
        let plugin = plugin_hooks(agent).unwrap();
        assert_eq!(events(agent, &plugin), events(agent, &installed), "{agent:?}");
    }
}

#[test]
fn a_plugin_has_hooks_and_nothing_else() {
    for agent in WITH_PLUGINS {
        let plugin: Value = serde_json::from_str(&plugin_hooks(agent).unwrap()).unwrap();
        let keys: Vec<&String> = plugin.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["hooks"], "{agent:?}");
    }
}

#[test]
fn a_missing_program_lets_the_agent_stop() {
    let line = |agent| plugin_stop(agent).unwrap().line();
    for agent in [Agent::Claude, Agent::Codex] {
        let word = agent.word();
        assert_eq!(line(agent), format!("stopgate hook {word} --plugin 2>/dev/null || true"));
    }
    // This client takes any failure of the shell for an answer.
    assert!(line(Agent::Gemini).ends_with("; exit 0"));
}

/// Gemini CLI runs the same line in bash and in `PowerShell`, of which the older one knows neither
/// `/dev/null` nor `||`.
#[test]
fn one_line_for_every_system_is_understood_by_both_shells() {
    let line = plugin_stop(Agent::Gemini).unwrap().line();
    assert_eq!(line, "stopgate hook gemini --plugin; exit 0");
}

#[test]
fn codex_has_a_second_line_for_windows() {
    let plugin: Value = serde_json::from_str(&plugin_hooks(Agent::Codex).unwrap()).unwrap();
    let hook = &plugin["hooks"]["Stop"][0]["hooks"][0];
    assert_eq!(
        hook["commandWindows"],
        "cmd /d /c \"where /q stopgate && stopgate hook codex --plugin 2>nul || exit 0\""
    );
    assert_eq!(hook["command"], "stopgate hook codex --plugin 2>/dev/null || true");
}

#[test]
fn an_installation_has_the_line_of_its_own_system_only() {
    let installed = install(None, &HookEntry::new(Agent::Codex, "/opt/stopgate")).unwrap().text;
    assert!(!installed.contains("commandWindows"), "{installed}");
}

#[test]
fn a_plugin_is_never_taken_for_a_team_s_entry() {
    let found = find(Agent::Claude, &plugin_hooks(Agent::Claude).unwrap()).unwrap();
    let stop = found.iter().find(|found| found.kind == HookEvent::Stop).unwrap();
    assert!(stop.judges_stops() && !stop.is_shared());
}

#[test]
fn claude_s_settings_say_which_plugins_are_on() {
    let shows = |plugins: Value| {
        (PluginMark::CLAUDE.shows)(&json!({ "enabledPlugins": plugins }).to_string())
    };
    assert!(shows(json!({"stopgate@stopgate": true})));
    assert!(shows(json!({"other@x": true, "stopgate@team": true})));
    assert!(!shows(json!({"stopgate@stopgate": false})));
    assert!(!shows(json!({"stopgate-tools@x": true})));
    assert!(!(PluginMark::CLAUDE.shows)("{}"));
    assert!(!(PluginMark::CLAUDE.shows)("not JSON"));
}

#[test]
fn codex_s_configuration_says_which_plugins_are_on() {
    let shows = PluginMark::CODEX.shows;
    assert!(shows("[plugins.\"stopgate@stopgate\"]\nenabled = true\n"));
    assert!(shows("[plugins.\"stopgate@stopgate\"]\n"));
    assert!(!shows("[plugins.\"stopgate@stopgate\"]\nenabled = false\n"));
    assert!(!shows("[plugins.\"other@stopgate\"]\nenabled = true\n"));
    assert!(!shows(""));
}
