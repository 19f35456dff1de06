//! Chores of the repository: the released program, its speed and its hardness.
//!
//! Nothing here ships. A chore starts programs, reads clocks and talks.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a chore talks and measures"
)]

mod bench;
mod dist;
mod elf;
mod figures;
mod hardness;
mod journal;
mod scene;
mod suite;
mod table;
mod tools;
mod trace;
mod transcript;

use std::process::ExitCode;

const HELP: &str = "\
Chores of the repository

Usage: cargo xtask CHORE

  test                            every test there is; installs what is missing, and says so
  dist                            build the static program: target/dist/stopgate
  bench [--quick] [--peer FILE]   time and count one stop, as one table; exit 1 where a gate is broken
                                  FILE is the stop hook of the ralph-loop plugin, measured beside ours
  hardness [--long] [--seed N] [--only WORD]
                                  storms, kills, cancels and faults; exit 1 on any violation
                                  WORD is one of storm, points, kills, cancel, faults

bench and hardness use target/dist/stopgate; build it first.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["test"] => suite::run(),
        ["dist"] => dist::run().map(|()| Verdict::Fine),
        ["bench", options @ ..] => bench::run(options),
        ["hardness", options @ ..] => hardness::run(options),
        [] | ["--help" | "-h" | "help", ..] => {
            print!("{HELP}");
            Ok(Verdict::Fine)
        }
        _ => Err(anyhow::anyhow!("understand «{}»\n\n{HELP}", words.join(" "))),
    };
    match done {
        Ok(Verdict::Fine) => ExitCode::SUCCESS,
        Ok(Verdict::Broken) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("could not {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// How a chore came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Every gate holds.
    Fine,
    /// A gate is broken.
    Broken,
}
