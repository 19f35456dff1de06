//! One hook call as Claude Code 2.1.325 makes it, and a strict reading of the answer.

use std::fmt;
use std::process::Command;

use serde_json::{Map, Value, json};

use crate::stage::{Ran, Stage};

/// A hook call that is about to be made.
#[derive(Clone)]
pub(crate) struct Call<'a> {
    stage: &'a Stage,
    payload: Map<String, Value>,
    variables: Vec<(String, Option<String>)>,
    arguments: Vec<String>,
}

impl Stage {
    /// The agent of `session` said `message` and is about to stop.
    pub(crate) fn stop(&self, session: &str, message: &str) -> Answer {
        self.stop_call(session, message).send()
    }

    /// The same, not yet sent.
    pub(crate) fn stop_call(&self, session: &str, message: &str) -> Call<'_> {
        let active = self.told.lock().expect("nobody panicked").contains_key(session);
        self.call("Stop", session)
            .with("prompt_id", json!("prompt-1"))
            .with("permission_mode", json!("default"))
            .with("effort", json!({"level": "medium"}))
            .with("stop_hook_active", json!(active))
            .with("last_assistant_message", json!(message))
            .with("background_tasks", json!([]))
            .with("session_crons", json!([]))
    }

    /// A session begins: `startup`, `resume`, `clear`, `compact` or `fork`.
    pub(crate) fn session_start(&self, session: &str, source: &str) -> Call<'_> {
        self.call("SessionStart", session).with("source", json!(source))
    }

    /// A session ends: `other`, `clear` or `prompt_input_exit`.
    pub(crate) fn session_end(&self, session: &str, reason: &str) -> Call<'_> {
        self.call("SessionEnd", session).with("reason", json!(reason))
    }

    /// Somebody, or finished background work, prompts the agent.
    pub(crate) fn prompt(&self, session: &str, prompt_id: &str, text: &str) -> Call<'_> {
        self.call("UserPromptSubmit", session)
            .with("prompt_id", json!(prompt_id))
            .with("permission_mode", json!("default"))
            .with("prompt", json!(text))
    }

    /// A batch of tool calls came back.
    pub(crate) fn tools(&self, session: &str) -> Answer {
        let call = json!({
            "tool_name": "Bash",
            "tool_input": {"command": "echo hi", "description": "say hi"},
            "tool_use_id": "toolu_cddc617caa804b398a36ada8",
            "tool_response": "hi"
        });
        self.call("PostToolBatch", session)
            .with("prompt_id", json!("prompt-1"))
            .with("permission_mode", json!("default"))
            .with("effort", json!({"level": "medium"}))
            .with("tool_calls", json!([call]))
            .send()
    }

    /// A subagent stops; a compaction's has an empty type.
    pub(crate) fn subagent_stop(&self, session: &str, agent_type: &str, said: &str) -> Call<'_> {
        self.stop_call(session, said)
            .with("hook_event_name", json!("SubagentStop"))
            .with("agent_id", json!("a4b26da0d0705d2ee"))
            .with("agent_type", json!(agent_type))
            .with("agent_transcript_path", json!("/nowhere/agent-a4b26da0d0705d2ee.jsonl"))
    }

    /// Any event, with the fields that all of them have.
    pub(crate) fn call(&self, event: &str, session: &str) -> Call<'_> {
        let project = self.path("project").display().to_string();
        let transcript = self.path(&format!("user/.claude/projects/-project/{session}.jsonl"));
        let mut payload = Map::new();
        payload.insert("session_id".into(), json!(session));
        payload.insert("transcript_path".into(), json!(transcript));
        payload.insert("cwd".into(), json!(project));
        payload.insert("hook_event_name".into(), json!(event));
        let variables = [
            ("AI_AGENT", "claude-code_2-1-325_harness"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_SESSION_ID", session),
            ("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0"),
            ("CLAUDE_PID", &std::process::id().to_string()),
            ("CLAUDE_PROJECT_DIR", &project),
        ];
        let variables = variables.map(|(name, value)| (name.into(), Some(value.into()))).into();
        Call { stage: self, payload, variables, arguments: Vec::new() }
    }
}

impl Call<'_> {
    /// The same call with this field.
    pub(crate) fn with(mut self, field: &str, value: Value) -> Self {
        self.payload.insert(field.into(), value);
        self
    }

    /// The same call without this field.
    pub(crate) fn without(mut self, field: &str) -> Self {
        self.payload.remove(field);
        self
    }

    /// The same call with this variable.
    pub(crate) fn var(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.into(), Some(value.into())));
        self
    }

    /// The same call without this variable.
    pub(crate) fn no_var(mut self, name: &str) -> Self {
        self.variables.push((name.into(), None));
        self
    }

    /// The same call with one more argument.
    pub(crate) fn arg(mut self, argument: &str) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// The same call from a directory of the stage.
    pub(crate) fn from(self, directory: &str) -> Self {
        let path = self.stage.path(directory).display().to_string();
        self.var("CLAUDE_PROJECT_DIR", &path).with("cwd", json!(path))
    }

    /// The payload's bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(&self.payload).expect("a payload is JSON");
        bytes.push(b'\n');
        bytes
    }

    /// Puts the call's environment and arguments on a command.
    pub(crate) fn dress(&self, command: &mut Command) {
        self.stage.furnish(command);
        for (name, value) in &self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.args(["hook", "claude"]).args(&self.arguments);
    }

    /// The command of this call.
    pub(crate) fn command(&self) -> Command {
        let mut command = crate::doors::program(crate::stage::PROGRAM);
        self.dress(&mut command);
        command
    }

    /// Makes the call with these bytes instead of the payload's own.
    pub(crate) fn send_bytes(&self, bytes: &[u8]) -> Ran {
        self.stage.finish(self.command(), bytes)
    }

    /// Makes the call; no fault may be among what comes of it.
    pub(crate) fn send(self) -> Answer {
        let event = self.payload["hook_event_name"].as_str().unwrap_or("?").to_string();
        let session = self.payload["session_id"].as_str().unwrap_or("?").to_string();
        let ran = self.send_bytes(&self.bytes());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{event}: {ran}");
        assert_eq!(self.stage.complaints(), Vec::<String>::new(), "{event}");
        let answer = Answer::read(&event, &ran.out);
        self.remember(&event, session, &answer);
        answer
    }

    /// No text is ever sent twice in a row; an agent that was sent back says so next time.
    fn remember(&self, event: &str, session: String, answer: &Answer) {
        let mut told = self.stage.told.lock().expect("nobody panicked");
        match (event, answer.form) {
            ("Stop", Form::Block | Form::Context) => {
                let before = told.insert(session, answer.text.clone());
                assert_ne!(before.as_ref(), Some(&answer.text), "the same text twice in a row");
            }
            ("UserPromptSubmit", _) => {
                told.remove(&session);
            }
            _other => {}
        }
    }
}

/// How the agent was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Nothing was printed.
    Silence,
    /// `systemMessage`.
    Tell,
    /// `decision: block`.
    Block,
    /// `additionalContext`.
    Context,
}

/// What the agent was answered.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) form: Form,
    pub(crate) text: String,
}

impl Answer {
    /// Reads an answer as the client does, but strictly: one object with known fields only.
    pub(crate) fn read(event: &str, stdout: &str) -> Self {
        if stdout.is_empty() {
            return Self { form: Form::Silence, text: String::new() };
        }
        assert_eq!(stdout.matches('\n').count(), 1, "one line: {stdout}");
        assert!(stdout.ends_with('\n'), "one line: {stdout}");
        let value: Value = serde_json::from_str(stdout).expect("the answer is JSON");
        let object = value.as_object().expect("the answer is an object");
        let keys: Vec<&str> = object.keys().map(String::as_str).collect();
        let (form, text) = match keys.as_slice() {
            ["systemMessage"] => (Form::Tell, &value["systemMessage"]),
            ["decision", "reason"] => {
                assert_eq!((event, &value["decision"]), ("Stop", &json!("block")));
                (Form::Block, &value["reason"])
            }
            ["hookSpecificOutput"] => (Form::Context, context(event, &value)),
            other => panic!("unknown fields {other:?} in {stdout}"),
        };
        let text = text.as_str().unwrap_or_else(|| panic!("no text in {stdout}"));
        check_text(text);
        Self { form, text: text.into() }
    }

    /// Whether the agent must work on.
    pub(crate) fn is_sent_back(&self) -> bool {
        matches!(self.form, Form::Block | Form::Context)
    }

    /// The answer in one line.
    pub(crate) fn brief(&self) -> &str {
        match self.form {
            Form::Silence => "allowed",
            Form::Tell | Form::Block | Form::Context => self.text.lines().next().unwrap_or(""),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.form {
            Form::Silence => f.write_str("allowed"),
            Form::Tell => write!(f, "allowed, and told: {}", self.text),
            Form::Block => write!(f, "block: {}", self.text),
            Form::Context => write!(f, "context: {}", self.text),
        }
    }
}

fn context<'a>(event: &str, value: &'a Value) -> &'a Value {
    let output = value["hookSpecificOutput"].as_object().expect("an object");
    let keys: Vec<&str> = output.keys().map(String::as_str).collect();
    assert_eq!(keys, ["additionalContext", "hookEventName"], "known fields only");
    assert_eq!(output["hookEventName"], json!(event));
    &output["additionalContext"]
}

/// A text is short, and nothing in it can trick a terminal or a reader.
fn check_text(text: &str) {
    assert!(!text.trim().is_empty(), "an empty text");
    assert!(text.len() <= 2048, "{} bytes: {text}", text.len());
    let tricks = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || ('\u{202a}'..='\u{202e}').contains(&c)
            || ('\u{2066}'..='\u{2069}').contains(&c)
    };
    assert!(!text.contains(tricks), "control letters in {text:?}");
}
