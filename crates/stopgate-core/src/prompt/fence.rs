//! Output of a check as data that can't be taken for instructions.

use alloc::format;
use alloc::string::String;

use crate::clean::clean;
use crate::excerpt::excerpt;

/// Less than this of an output is not worth a fence.
const TAIL_BYTES_MIN: usize = 80;

/// Output as data, cleaned: in a fence longer than any run of backticks within.
pub fn fenced(output: &str, bytes_max: usize) -> String {
    let output = clean(output);
    let fence = "`".repeat(longest_run(&output).max(2) + 1);
    let room = bytes_max.saturating_sub(2 * fence.len() + "output\n\n\n".len());
    let told = excerpt(&output, room);
    let told = told.trim_end();
    if room < TAIL_BYTES_MIN || told.trim().is_empty() {
        return String::new();
    }
    format!("{fence}output\n{told}\n{fence}\n")
}

fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
