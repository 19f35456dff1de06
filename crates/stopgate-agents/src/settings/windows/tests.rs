use super::*;
use crate::Agent;
use crate::settings::{EntryForm, HookEntry, InstalledEntry, find, install, uninstall};

const PROGRAM: &str = r"C:\Program Files\stopgate\stopgate.exe";

fn entry(agent: Agent, program: &str) -> HookEntry {
    HookEntry { system: HookSystem::Windows, ..HookEntry::new(agent, program) }
}

fn line(agent: Agent, form: EntryForm) -> String {
    let text = install(None, &HookEntry { form, ..entry(agent, PROGRAM) }).unwrap().text;
    let found = find(agent, &text).unwrap();
    found.iter().find(|found| found.judges_stops()).unwrap().command.line()
}

#[test]
fn each_agent_gets_a_line_for_the_shell_that_it_uses() {
    let own = |agent| line(agent, EntryForm::Own);
    assert_eq!(
        own(Agent::Codex),
        r#"cmd /d /c if exist "C:\Program Files\stopgate\stopgate.exe" "C:\Program Files\stopgate\stopgate.exe" hook codex"#
    );
    assert_eq!(
        own(Agent::Gemini),
        r"if (Test-Path -LiteralPath 'C:\Program Files\stopgate\stopgate.exe') { & 'C:\Program Files\stopgate\stopgate.exe' hook gemini 2>$null; exit 0 }"
    );
    assert_eq!(
        own(Agent::Copilot),
        r"if (Test-Path -LiteralPath 'C:\Program Files\stopgate\stopgate.exe') { & 'C:\Program Files\stopgate\stopgate.exe' hook copilot; exit $LASTEXITCODE }"
    );
    assert_eq!(
        own(Agent::Kimi),
        r#"cmd /d /c if exist "C:\Program Files\stopgate\stopgate.exe" "C:\Program Files\stopgate\stopgate.exe" hook kimi"#
    );
    // No shell at all.
    assert_eq!(own(Agent::Claude), r"'C:\Program Files\stopgate\stopgate.exe' hook claude");
}

#[test]
fn copilot_reads_its_command_for_windows_under_a_key_of_its_own() {
    let text = install(None, &entry(Agent::Copilot, PROGRAM)).unwrap().text;
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let hook = &value["hooks"]["Stop"][0];
    assert!(hook["powershell"].is_string() && hook["bash"].is_null(), "{text}");
}

#[test]
fn a_shared_line_is_silent_where_the_program_is_missing() {
    assert_eq!(
        line(Agent::Codex, EntryForm::Shared),
        "cmd /d /c \"where /q stopgate && stopgate hook codex --shared 2>nul || exit 0\""
    );
    assert_eq!(
        line(Agent::Gemini, EntryForm::Shared),
        "if (Get-Command stopgate -ErrorAction SilentlyContinue) { stopgate hook gemini --shared 2>$null; exit 0 }"
    );
    // The exit code is the answer.
    assert_eq!(
        line(Agent::Qoder, EntryForm::Shared),
        "cmd /d /c \"where /q stopgate && stopgate hook qoder --shared\""
    );
}

#[test]
fn odd_paths_are_installed_found_and_removed() {
    let programs = [
        r"C:\stopgate.exe",
        r"C:\Users\Zoë Müller\bin\stopgate.exe",
        r"C:\it's\stopgate.exe",
        "C:\\it\u{2019}s\\stopgate.exe",
        r"C:\R&D (x86)\50%\stopgate.exe",
        r"\\server\share\工具\stopgate.exe",
    ];
    for agent in Agent::ALL {
        for program in programs {
            comes_and_goes(&entry(agent, program));
            comes_and_goes(&HookEntry { form: EntryForm::Shared, ..entry(agent, program) });
        }
    }
}

#[track_caller]
fn comes_and_goes(wanted: &HookEntry) {
    let agent = wanted.agent;
    let text = install(None, wanted).unwrap().text;
    let found = find(agent, &text).unwrap();
    assert!(found.iter().any(InstalledEntry::judges_stops), "{agent:?}: {text}");
    let words = found[0].command.words();
    let program = match wanted.form {
        EntryForm::Own => wanted.program.as_str(),
        // A bridge and a person's own file have only one form.
        EntryForm::Shared | EntryForm::Plugin => words[0].as_str(),
    };
    assert_eq!(words[..2], [program, "hook"], "{agent:?}: {text}");
    assert_eq!(install(Some(&text), wanted).unwrap().text, text, "{agent:?}");
    let left = uninstall(agent, &text, None).unwrap().text;
    assert!(!left.contains("stopgate.exe"), "{agent:?}: {left}");
}

#[test]
fn a_literal_reads_back() {
    for text in ["plain", "it's", "\u{2018}x\u{2019}", "''", "a b"] {
        let quoted = format!("{} rest", literal(text));
        assert_eq!(unquoted(&quoted), Some((text.to_string(), " rest")));
    }
}
