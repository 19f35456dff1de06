//! `stopgate run` drives the real clients through what goes wrong most often.
//!
//! The whole table is `cargo xtask night`. Needs the program (`STOPGATE_BIN`, else
//! `target/release/stopgate`) and the clients, which npm installs.

use anyhow::{Context, Result};
use stopgate_lab::night::{NightCase, play};
use stopgate_lab::{LabAgent, Program};

fn check(agent: LabAgent, case: NightCase) -> Result<()> {
    let program = Program::find().context("could not")?;
    let result = play(agent, case, &program).context("could not")?;
    assert_eq!(result.trouble(), None, "{} {}", agent.name(), case.name());
    Ok(())
}

#[test]
fn claude_is_resumed_after_errors_of_the_service() -> Result<()> {
    check(LabAgent::Claude, NightCase::ServerTwice)
}

#[test]
fn claude_is_resumed_when_its_limit_is_over() -> Result<()> {
    check(LabAgent::Claude, NightCase::LimitWaited)
}

#[test]
fn claude_goes_on_after_its_driver_was_killed() -> Result<()> {
    check(LabAgent::Claude, NightCase::DriverKilled)
}

#[test]
fn claude_calls_a_person_for_its_login() -> Result<()> {
    check(LabAgent::Claude, NightCase::Auth)
}

#[test]
fn the_hook_of_claude_hands_over() -> Result<()> {
    check(LabAgent::Claude, NightCase::Hooked)
}

#[test]
fn the_hook_of_codex_hands_over() -> Result<()> {
    check(LabAgent::Codex, NightCase::Hooked)
}

#[test]
fn codex_is_resumed_after_errors_of_the_service() -> Result<()> {
    check(LabAgent::Codex, NightCase::ServerTwice)
}

#[test]
fn codex_is_resumed_when_its_limit_is_over() -> Result<()> {
    check(LabAgent::Codex, NightCase::LimitWaited)
}

#[test]
fn codex_goes_on_after_it_was_killed() -> Result<()> {
    check(LabAgent::Codex, NightCase::ClientKilled)
}

#[test]
fn codex_leaves_a_limit_alone_where_nobody_wants_to_wait() -> Result<()> {
    check(LabAgent::Codex, NightCase::LimitLeft)
}

#[test]
fn claude_asks_a_person_and_goes_on_with_the_answer() -> Result<()> {
    check(LabAgent::Claude, NightCase::Asked)
}

#[test]
fn claude_carries_out_a_plan_that_a_person_approved() -> Result<()> {
    check(LabAgent::Claude, NightCase::Planned)
}

#[test]
fn claude_is_held_by_a_limit_without_its_hook() -> Result<()> {
    check(LabAgent::Claude, NightCase::Budget)
}

#[test]
fn codex_is_held_by_a_limit_without_its_hook() -> Result<()> {
    check(LabAgent::Codex, NightCase::Budget)
}
