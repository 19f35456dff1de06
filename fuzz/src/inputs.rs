//! What an agent or a repository hands us: payloads, transcripts, messages, reports,
//! settings, patterns and messages of tools.

use std::io::Cursor;

use serde_json::Value;
use stopgate_agents::{Agent, settings};
use stopgate_core::CoverageFormat;
use stopgate_signals::markers;
use stopgate_signals::transcript::{self, Bound};
use stopgate_verify::{coverage, report};

use super::Target;

/// Every target of this kind.
pub const TARGETS: [Target; 10] = [
    ("hook_payload", hook_payload),
    ("transcript", transcripts),
    ("markers", marked),
    ("report", reports),
    ("coverage", covered),
    ("project_file", project_file),
    ("glob", globs),
    ("tree_index", tree_index),
    ("rpc_line", rpc_line),
    ("settings", settings_file),
];

/// A hook's payload, from any sender: read the same twice, and whole without its bytes.
pub fn hook_payload(bytes: &[u8]) {
    for agent in Agent::ALL {
        let Ok(call) = agent.parse(bytes, None) else { continue };
        assert!(!call.session.is_empty(), "a call has a session");
        assert_eq!(agent.parse(bytes, None).as_ref().ok(), Some(&call));
        assert_eq!(call.clone().into_owned(), call);
    }
}

/// The end of a transcript of any agent, however little of it may be read.
pub fn transcripts(bytes: &[u8]) {
    for agent in Agent::ALL {
        let last = |bytes_max| {
            let bound = Bound { bytes_max };
            transcript::last_message(Cursor::new(bytes), bound, |line| agent.record(line))
                .expect("memory can be read")
        };
        let whole = last(u64::MAX);
        let same = last(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        assert_eq!(whole, same, "a bound that is not reached changes nothing");
        let _ = last(64);
        for offset in [0, 1, 1000] {
            let is_tool_use = |line: &[u8]| agent.is_tool_use(line);
            let used = transcript::tool_used_since(Cursor::new(bytes), offset, 4096, is_tool_use);
            let _ = used.expect("memory can be read");
        }
    }
}

/// A message: what stands in a fence was not said.
pub fn marked(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let spoken = markers::read(text);
    assert!(markers::own_line(&spoken).count() <= spoken.len());
    if !text.contains(['`', '~']) {
        let fenced = format!("```\n{text}\n```\n");
        let spoken = markers::read(&fenced);
        assert_eq!(markers::own_line(&spoken).count(), 0, "{fenced:?}");
    }
}

/// The output of a test runner, `JUnit` XML included.
pub fn reports(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let read = report::read(text);
    assert_eq!(read, report::read(text), "an output has one meaning");
    let _ = report::read_junit(text);
}

/// A report of coverage in any of its forms: never more than all.
pub fn covered(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let forms = [CoverageFormat::Lcov, CoverageFormat::Cobertura, CoverageFormat::Json];
    for form in forms.map(Some).into_iter().chain([None]) {
        let Ok(found) = coverage::read(text, form) else { continue };
        for share in [found.lines, found.branches, found.functions].into_iter().flatten() {
            assert!(share.covered <= share.total, "{form:?}: {share:?}");
        }
    }
}

/// A project's file: criteria have names, each its own.
pub fn project_file(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Ok(names) = stopgate_engine::fuzzing::project_file(text) else { return };
    assert!(names.iter().all(|name| !name.trim().is_empty()), "{names:?}");
}

/// Patterns, a NUL byte, and a path: a pattern that takes a file enters its directories.
pub fn globs(bytes: &[u8]) {
    let mut halves = bytes.splitn(2, |byte| *byte == 0);
    let (Some(patterns), Some(path)) = (halves.next(), halves.next()) else { return };
    let Ok(patterns) = str::from_utf8(patterns) else { return };
    let patterns: Vec<&str> = patterns.lines().take(8).collect();
    assert_eq!(stopgate_verify::fuzzing::not_entered(&patterns, path), None, "{patterns:?}");
    stopgate_verify::fuzzing::ignore_rules(patterns.join("\n").as_bytes(), path);
}

/// What is kept about a tree between processes: what can be read is sound.
pub fn tree_index(bytes: &[u8]) {
    stopgate_verify::fuzzing::tree_index(bytes);
}

/// One message of a client of the tools: an answer where anybody may wait for one.
pub fn rpc_line(bytes: &[u8]) {
    let Some(answer) = stopgate_mcp::fuzzing::answer(bytes) else { return };
    assert_eq!(answer["jsonrpc"], "2.0");
    assert!(answer["error"]["code"].as_i64().is_some_and(|code| code < 0), "{answer}");
    let asked: Value = serde_json::from_slice(bytes).unwrap_or_default();
    if asked["id"].is_string() || asked["id"].is_i64() {
        assert_eq!(answer["id"], asked["id"], "{answer}");
    }
}

/// Any agent's settings: what is installed is found, and can be removed again.
pub fn settings_file(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let _ = settings::switches(text);
    for agent in Agent::ALL {
        let entry = settings::HookEntry {
            statusline: settings::StatusLine::Show,
            ..settings::HookEntry::new(agent, "/opt/stopgate")
        };
        let Ok(edited) = settings::install(Some(text), &entry) else { continue };
        let found = settings::find(agent, &edited.text).expect("an edited file can be read");
        // A plugin that is not ours is left alone.
        let is_left = edited.changes.is_empty() && edited.text == text;
        let judges = found.iter().any(settings::InstalledEntry::judges_stops);
        assert!(is_left || judges, "{agent:?}: {}", edited.text);
        let again = settings::install(Some(&edited.text), &entry).expect("a second time");
        assert_eq!(again.text, edited.text, "a second time changes nothing");
        let removed = settings::uninstall(agent, &edited.text, None).expect("it can be removed");
        let left = settings::find(agent, &removed.text).expect("what is left can be read");
        assert_eq!(left, [], "{agent:?}: {}", removed.text);
    }
}
