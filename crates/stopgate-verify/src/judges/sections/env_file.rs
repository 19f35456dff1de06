//! `.env` and its like: variables that steer runners, regardless of what loads the file.

use super::Judging;
use crate::judges::steering::steers;

pub(super) fn judging(text: &str) -> Judging {
    let mut sections: Vec<String> = steering_lines(text).map(|line| line.trim().into()).collect();
    sections.sort_unstable();
    Judging { sections, ..Judging::default() }
}

pub(super) fn restore(original: &str, today: &str) -> String {
    let mut lines: Vec<&str> = today.lines().filter(|line| !is_steering(line)).collect();
    lines.extend(steering_lines(original));
    lines.push("");
    lines.join("\n")
}

fn steering_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| is_steering(line))
}

/// `NAME=…` or `export NAME=…`, where the variable changes what a runner does.
fn is_steering(line: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let Some((name, _)) = line.split_once('=') else { return false };
    let name = name.trim();
    name == "PATH" || steers(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_that_steer_judge() {
        assert!(judging("PORT=1\n# NODE_OPTIONS=x\n").is_empty());
        let original = "PORT=1\nexport NODE_OPTIONS=--trace-warnings\n";
        let today = "PORT=2\nNODE_OPTIONS=--require=./x.cjs\nPATH=fake:$PATH\n";
        let restored = restore(original, today);
        assert_eq!(restored, "PORT=2\nexport NODE_OPTIONS=--trace-warnings\n");
        assert_eq!(judging(&restored), judging(original));
    }
}
