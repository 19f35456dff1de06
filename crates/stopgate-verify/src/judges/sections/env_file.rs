//! `.env` and its like: variables that steer runners, regardless of what loads the file, and those
//! that the check's own commands expand.

use std::collections::BTreeSet;

use super::Judging;
use crate::judges::steering::steers;

pub(super) fn judging(text: &str, expanded: &BTreeSet<String>) -> Judging {
    let mut sections: Vec<String> =
        steering_lines(text, expanded).map(|line| line.trim().into()).collect();
    sections.sort_unstable();
    Judging { sections, ..Judging::default() }
}

pub(super) fn restore(original: &str, today: &str, expanded: &BTreeSet<String>) -> String {
    let mut lines: Vec<&str> = today.lines().filter(|line| !is_steering(line, expanded)).collect();
    lines.extend(steering_lines(original, expanded));
    lines.push("");
    lines.join("\n")
}

fn steering_lines<'t>(text: &'t str, expanded: &BTreeSet<String>) -> impl Iterator<Item = &'t str> {
    text.lines().filter(|line| is_steering(line, expanded))
}

/// `NAME=…` or `export NAME=…`, where the variable changes what a runner or the command does.
fn is_steering(line: &str, expanded: &BTreeSet<String>) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let Some((name, _)) = line.split_once('=') else { return false };
    let name = name.trim();
    name == "PATH" || steers(name) || expanded.contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_that_steer_judge() {
        let expanded = BTreeSet::from(["TESTS".to_string()]);
        let judging = |text: &str| judging(text, &expanded);
        assert!(judging("PORT=1\n# NODE_OPTIONS=x\n").is_empty());
        assert!(!judging("TESTS=tests/a.py\n").is_empty());
        let original = "PORT=1\nexport NODE_OPTIONS=--trace-warnings\n";
        let today = "PORT=2\nNODE_OPTIONS=--require=./x.cjs\nPATH=fake:$PATH\nTESTS=one\n";
        let restored = restore(original, today, &expanded);
        assert_eq!(restored, "PORT=2\nexport NODE_OPTIONS=--trace-warnings\n");
        assert_eq!(judging(&restored), judging(original));
    }
}
