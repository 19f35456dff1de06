//! Prints the fingerprint of a directory, for benchmarks.
//!
//! Usage: `fingerprint DIRECTORY CACHE [PATTERN…]`

#![expect(clippy::print_stdout, reason = "a program of its own")]

use std::path::Path;
use std::process::ExitCode;

use stopgate_verify::{TreeScope, fingerprint};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, cache, patterns @ ..] = arguments.as_slice() else { return ExitCode::FAILURE };
    let scope = if patterns.is_empty() { TreeScope::Whole } else { TreeScope::Globs(patterns) };
    match fingerprint(&[Path::new(directory)], scope, Path::new(cache)) {
        Ok(tree) => {
            println!("{} {}", tree.hash(), tree.count());
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("could not {error}");
            ExitCode::FAILURE
        }
    }
}
