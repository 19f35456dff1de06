//! The program as people and agents meet it: one binary, one hermetic stage.
//!
//! What is shown is snapshotted; what is sent to an agent passes a strict checker,
//! in every test.

#![expect(clippy::expect_used, reason = "a stage that can't be set is a failed test")]

mod call;
mod doors;
mod stage;

mod agents;
mod attack;
mod background;
mod bad_input;
mod bars;
mod binding;
mod brakes;
mod commands;
mod config;
mod controls;
mod criteria_file;
mod crowd;
mod damage;
mod events;
mod feature_list;
mod first_minutes;
mod first_run;
mod format_crowd;
mod formats;
mod frames;
mod gates;
mod hostile;
mod idle;
mod import;
mod json;
mod leaving;
mod left_behind;
mod never_lost;
mod notify;
mod other_tools;
mod own_files;
mod parked;
mod pending;
mod people;
mod pipelines;
mod private;
mod project_file;
mod proof;
mod ralph_loop;
mod receipts;
mod record;
mod red_first;
mod run;
mod run_budget;
mod run_clients;
mod run_night;
mod second_opinion;
mod see;
#[cfg(feature = "postgres")]
mod server;
mod signals;
mod spend;
mod store;
mod story;
mod suites;
mod switches;
mod task;
#[cfg(feature = "mcp")]
mod tasks;
#[cfg(feature = "tui")]
mod terminal;
mod texts;
mod tidy;
mod upgrade;
mod waiting;
mod whose_word;
mod woken;
mod words;
mod worktrees;
