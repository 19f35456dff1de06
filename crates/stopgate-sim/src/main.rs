//! `stopgate-sim [--histories N] [--seed S]` or `stopgate-sim --replay SEED`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a chore talks and measures"
)]

use std::process::ExitCode;
use std::time::Instant;

use stopgate_sim::{STEPS, SimHome, replay, sweep};

/// A third of a history's time is the getting and giving back of small pieces of memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const HISTORIES: u64 = 200_000;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("stopgate-sim: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (mut histories, mut seed) = (HISTORIES, 1);
    let home = SimHome::new().map_err(|error| format!("could not make a home: {error}"))?;
    for pair in arguments.chunks(2) {
        let [name, value] = pair else { return Err(format!("{pair:?} lacks its number")) };
        let value: u64 = value.parse().map_err(|_| format!("{value} is not a number"))?;
        match name.as_str() {
            "--histories" => histories = value,
            "--seed" => seed = value,
            "--replay" => return replay(value, home.path()).map_err(|failed| failed.to_string()),
            other => return Err(format!("{other} is unknown: --histories, --seed or --replay")),
        }
    }
    let begun = Instant::now();
    let told = sweep(histories, seed, home.path()).map_err(|failed| {
        format!("{failed}\nreplay it: cargo xtask sim --replay {}", failed.seed)
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    println!("{histories} histories of {STEPS} steps from seed {seed} in {seconds:.1} s: {told}");
    Ok(())
}
