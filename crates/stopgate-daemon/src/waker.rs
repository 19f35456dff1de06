//! The process that asks whether a loop is to be woken, and then becomes its client.

use std::ffi::OsString;
use std::process::Child;

use stopgate_core::LoopId;
use stopgate_engine::{
    Engine, Failure, LaunchPlan, ProcessMark, Settings, Stores, WakeStep, become_program,
    launch_self, leave_session, log_failure, started_anew,
};

use crate::WAKE;

/// What the loop waits for has not happened.
pub(crate) const OPEN: u8 = 20;
/// There is nothing to wake.
pub(crate) const NOT_PARKED: u8 = 21;
/// It happened, and another process goes on with the loop.
pub(crate) const HELD: u8 = 22;
/// It could not be found out.
pub(crate) const FAILED: u8 = 23;

/// Asks about one loop; becomes its client where that is to be woken, else says why not by an exit code.
pub fn wake_loop(
    settings: Settings,
    stores: Stores,
    mut arguments: impl Iterator<Item = OsString>,
) -> u8 {
    leave_session();
    let Some(id) = arguments.next().and_then(|id| id.into_string().ok()) else { return FAILED };
    asked(settings, stores, &LoopId::new(&id)).unwrap_or_else(|failure| {
        log_failure(settings, &failure);
        FAILED
    })
}

fn asked(settings: Settings, stores: Stores, id: &LoopId) -> Result<u8, Failure> {
    let mut engine = Engine::open(settings, stores)?;
    let start = match engine.waits().wake(id)? {
        WakeStep::NotParked | WakeStep::Overdue => return Ok(NOT_PARKED),
        WakeStep::Open => return Ok(OPEN),
        WakeStep::Held => return Ok(HELD),
        WakeStep::Start(start) => start,
    };
    // What is still to be written is written before this process is another program.
    drop(engine);
    let error = become_program(&LaunchPlan {
        argv: &start.argv,
        directory: &start.directory,
        variables: &start.variables,
        log: start.log,
    });
    let program = start.argv.first().map(|word| word.display().to_string()).unwrap_or_default();
    let why = format!("what it waited for has happened, but {program} can't be started: {error}");
    Engine::open(settings, stores)?.waits().wake_failed(
        id,
        &ProcessMark::own().to_string(),
        &why,
    )?;
    Ok(FAILED)
}

/// Starts the process that asks about one loop.
pub(crate) fn start(settings: Settings, id: &LoopId) -> std::io::Result<Child> {
    start_self(settings, &[WAKE, id.as_str()])
}

/// Starts this very program with other arguments, away from who asks.
pub(crate) fn start_self(settings: Settings, arguments: &[&str]) -> std::io::Result<Child> {
    let home = settings.home().map_err(|failure| std::io::Error::other(failure.story()))?;
    launch_self(arguments, home.directory(), &started_anew())
}
