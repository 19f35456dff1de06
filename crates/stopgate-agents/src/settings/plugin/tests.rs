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
fn a_missing_program_lets_the_agent_stop_without_a_word() {
    for agent in WITH_PLUGINS {
        let line = plugin_stop(agent).unwrap().line();
        let word = agent.word();
        assert_eq!(line, format!("stopgate hook {word} --plugin 2>/dev/null || true"));
    }
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
