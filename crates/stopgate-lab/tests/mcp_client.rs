//! The real Claude Code client works by stopgate's tools, and its own Stop hook agrees.
//!
//! Needs the program and the client, as `real_client.rs` does.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use stopgate_lab::{Exit, Lab, LabClient, Program, Scope, ScriptedTurn, Session, SessionResult};

struct Scene {
    stage: Lab,
}

impl Scene {
    /// With the hook on Stop, and the server in the client's settings.
    fn new() -> Result<Self> {
        let program = Program::find().context("could not")?;
        let stage = Lab::new(LabClient::install().context("could not")?)?;
        stage.hook(Scope::Project, &["Stop"], &program.shell_hook())?;
        let server = json!({
            "command": program.path(),
            "args": ["mcp"],
            "env": {"STOPGATE_HOME": stage.state()},
        });
        let settings = json!({"mcpServers": {"stopgate": server}});
        fs::write(stage.home().join("mcp.json"), settings.to_string())?;
        Ok(Self { stage })
    }

    fn session(&self) -> Session {
        let settings = self.stage.home().join("mcp.json").display().to_string();
        let args = ["--mcp-config", &settings, "--strict-mcp-config"];
        let tools = ["--allowedTools", "mcp__stopgate", "Bash"];
        self.stage.session("begin").uncapped().args(args).args(tools)
    }

    fn run(&self, session: &Session) -> Result<SessionResult> {
        let outcome = self.stage.run(session)?;
        ensure!(outcome.exit == Exit::Code(0), "{outcome}");
        Ok(outcome)
    }
}

fn tool(name: &str, input: Value) -> ScriptedTurn {
    ScriptedTurn::tool(&format!("mcp__stopgate__{name}"), input)
}

/// What the tool that was called before call `call` answered.
fn answer(outcome: &SessionResult, call: usize) -> Result<Value> {
    let told = outcome.told.iter().find(|told| told.call == call);
    let text = &told.with_context(|| format!("no call {call}\n{outcome}"))?.text;
    let begin = text.find('{').with_context(|| format!("no answer: {text}"))?;
    let mut values = serde_json::Deserializer::from_str(&text[begin..]).into_iter::<Value>();
    values.next().context("an empty answer")?.with_context(|| format!("not JSON: {text}"))
}

#[test]
fn three_iterations_by_tools_alone() -> Result<()> {
    let scene = Scene::new()?;
    let session = scene.session();
    let validate = |output: &str| {
        tool("iteration_validate", json!({"iterationId": "{last:IT-}", "agentOutput": output}))
    };
    let next = || tool("iteration_next", json!({"iterationId": "{last:IT-}"}));
    let rule = json!({"type": "command", "name": "there", "config": {"command": "test -f there"}});
    let turns = [
        tool("task_create", json!({"title": "make the file"})),
        tool("hook_register", json!({"taskId": "{last:TASK-}", "hookType": "default"})),
        tool(
            "iteration_start",
            json!({
                "taskId": "{last:TASK-}", "maxIterations": 5,
                "completionPromises": ["COMPLETE", "BLOCKED"], "validationRules": [rule],
            }),
        ),
        validate("first try"),
        next(),
        validate("second try"),
        next(),
        ScriptedTurn::bash("touch there"),
        validate("It is there.\n\n<promise>COMPLETE</promise>"),
        tool(
            "iteration_complete",
            json!({"iterationId": "{last:IT-}", "completionPromise": "COMPLETE"}),
        ),
        tool("task_get", json!({"id": "{last:TASK-}"})),
        ScriptedTurn::text("All done."),
    ];
    scene.stage.model().script(&session.id, turns);
    let outcome = scene.run(&session)?;

    assert_eq!(answer(&outcome, 5)?["completionSignal"], "CONTINUE", "{outcome}");
    assert_eq!(answer(&outcome, 6)?["iterationNumber"], 2, "{outcome}");
    assert_eq!(answer(&outcome, 8)?["iterationNumber"], 3, "{outcome}");
    assert_eq!(answer(&outcome, 10)?["completionSignal"], "COMPLETE", "{outcome}");
    assert_eq!(answer(&outcome, 11)?["taskStatus"], "completed", "{outcome}");
    assert_eq!(answer(&outcome, 12)?["status"], "completed", "{outcome}");
    assert_eq!(outcome.final_result(), "All done.", "{outcome}");
    Ok(())
}

#[test]
fn a_session_in_mid_iteration_is_held_until_it_completes() -> Result<()> {
    let scene = Scene::new()?;
    let session = scene.session();
    let start = json!({
        "taskId": "{last:TASK-}", "maxIterations": 5, "completionPromises": ["COMPLETE"],
    });
    let complete = json!({"iterationId": "{last:IT-}", "completionPromise": "COMPLETE"});
    let turns = [
        tool("task_create", json!({"title": "a task"})),
        tool("iteration_start", start),
        ScriptedTurn::text("I would rather stop here."),
        tool("iteration_complete", complete),
        ScriptedTurn::text("Now I may."),
    ];
    scene.stage.model().script(&session.id, turns);
    let outcome = scene.run(&session)?;
    // The third call ends the turn; the hook makes it a fourth.
    assert_eq!(outcome.model_calls, 5, "{outcome}");
    assert_eq!(outcome.told_at("iteration_complete"), Some(4), "{outcome}");
    assert_eq!(outcome.final_result(), "Now I may.", "{outcome}");
    Ok(())
}
