//! The program: a hook for agents, commands for people.
//!
//! `hook` is looked for before anything else exists: an agent waits for it.

mod commands;
mod hook;
mod output;
mod stores;
mod terminal;

use std::process::ExitCode;

/// The C library's allocator is slow to wake in a cold static process.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    stopgate_engine::provide_leash();
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(first) if first == "hook" => hook::main(arguments),
        Some(first) if first == stopgate_engine::LEASH => {
            stopgate_engine::hold_leash(arguments);
            ExitCode::SUCCESS
        }
        Some(first) if first == stopgate_engine::NOTIFY => {
            stopgate_engine::deliver_notice(stopgate_engine::Settings, arguments);
            ExitCode::SUCCESS
        }
        Some(first) if first == stopgate_engine::BACKGROUND_CHECKS => {
            let settings = stopgate_engine::Settings;
            stopgate_engine::run_in_background(settings, stores::STORES, arguments, output::line);
            ExitCode::SUCCESS
        }
        #[cfg(unix)]
        Some(first) if first == stopgate_drive::SESSION_GUARD => {
            stopgate_drive::guard_session(arguments);
            ExitCode::SUCCESS
        }
        #[cfg(unix)]
        Some(first) if first == stopgate_drive::SESSION_TERMINAL => {
            // Only a program that could not be started comes back.
            output::failure_to_start(&stopgate_drive::become_client(arguments))
        }
        #[cfg(unix)]
        Some(first) if first == stopgate_drive::TMUX_SESSION => {
            match stopgate_drive::run_tmux_session(arguments) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => output::failure_to_start(&error),
            }
        }
        Some(first) if first == stopgate_daemon::DAEMON => commands::background(),
        Some(first) if first == stopgate_daemon::WAKE => {
            let settings = stopgate_engine::Settings;
            ExitCode::from(stopgate_daemon::wake_loop(settings, stores::STORES, arguments))
        }
        Some(_) | None => commands::main(),
    }
}
