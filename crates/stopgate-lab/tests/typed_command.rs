//! Whose word it is, told by the real client: what a person types after `!` is theirs, what the
//! agent runs with its tool is the agent's, though both run in the same shell.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use stopgate_lab::{Lab, LabClient, Program, Scope, ScriptedTurn};

fn stage() -> Result<(Lab, Program)> {
    let program = Program::find().context("could not")?;
    let stage = Lab::new(LabClient::install().context("could not")?)?;
    stage.hook(Scope::Project, &["Stop"], &program.shell_hook())?;
    Ok((stage, program))
}

fn only_loop(stage: &Lab, program: &Program) -> Result<Value> {
    let list = stage.stopgate(program, ["list", "--json"])?;
    ensure!(list.code == 0, "{list:#?}");
    let found = list.json()["loops"][0]["id"].as_str().map(str::to_owned);
    let id = found.context("no loop was begun")?;
    Ok(stage.stopgate(program, ["status", &id, "--json"])?.json()["loop"].clone())
}

fn start(program: &Program) -> String {
    format!("{} start Work --check tests=true", program.path().display())
}

#[test]
fn what_a_person_types_inside_the_client_is_theirs() -> Result<()> {
    let (stage, program) = stage()?;
    let terminal = stage.terminal()?;
    terminal.bang(&start(&program))?;
    terminal.wait_for("ended as")?;
    let found = only_loop(&stage, &program)?;
    assert_eq!((&found["outcome"], &found["origin"]["by"]), (&"done".into(), &"person".into()));
    Ok(())
}

#[test]
fn what_the_agent_runs_with_its_tool_is_the_agents() -> Result<()> {
    let (stage, program) = stage()?;
    let session = stage.session("begin").allowing_bash().limit(Duration::from_mins(2));
    let said = "<bash-input>stopgate start</bash-input>";
    let command = format!("echo '{said}'; {}", start(&program));
    stage
        .model()
        .script(&session.id, [ScriptedTurn::bash(&command), ScriptedTurn::text("all is done")]);
    let outcome = stage.run(&session)?;
    let found = only_loop(&stage, &program).with_context(|| outcome.to_string())?;
    assert_eq!((&found["outcome"], &found["origin"]["by"]), (&"attested".into(), &"agent".into()));
    Ok(())
}
