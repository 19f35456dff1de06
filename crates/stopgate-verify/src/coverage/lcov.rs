//! lcov: `SF:`, then `DA:` a line, then sums.

use super::{Coverage, Reached, Share};

/// Adds up the files; a file without sums is counted by its lines.
pub(super) fn read(text: &str) -> Result<Coverage, String> {
    let mut total = Coverage::default();
    let mut file: Option<File> = None;
    for line in text.lines().map(str::trim_end) {
        if line.starts_with("SF:") {
            if file.is_some() {
                return Err("a file's part of it has no end: it is cut".into());
            }
            file = Some(File::default());
        } else if line == "end_of_record" {
            let ended = file.take().ok_or("a file's part of it has no beginning")?;
            ended.add_to(&mut total);
        } else if let Some(file) = &mut file {
            file.take(line)?;
        }
    }
    if file.is_some() {
        return Err("a file's part of it has no end: it is cut".into());
    }
    if total.lines.is_none() {
        return Err("it names no file with lines".into());
    }
    Ok(total)
}

#[derive(Default)]
struct File {
    lines: Measure,
    branches: Measure,
    functions: Measure,
}

/// What is counted, and what the report says that it comes to.
#[derive(Default)]
struct Measure {
    counted: Share,
    found: Option<u64>,
    hit: Option<u64>,
}

impl File {
    fn take(&mut self, line: &str) -> Result<(), String> {
        let Some((key, value)) = line.split_once(':') else { return Ok(()) };
        let number = || value.trim().parse().map_err(|_| format!("{line:?} has no number"));
        match key {
            "LF" => self.lines.found = Some(number()?),
            "LH" => self.lines.hit = Some(number()?),
            "BRF" => self.branches.found = Some(number()?),
            "BRH" => self.branches.hit = Some(number()?),
            "FNF" => self.functions.found = Some(number()?),
            "FNH" => self.functions.hit = Some(number()?),
            "DA" => self.lines.counted.count(hits(value.split(',').nth(1))),
            "BRDA" => self.branches.counted.count(hits(value.rsplit(',').next())),
            "FNDA" => self.functions.counted.count(hits(value.split(',').next())),
            _ => {}
        }
        Ok(())
    }

    fn add_to(self, total: &mut Coverage) {
        self.lines.add_to(&mut total.lines);
        self.branches.add_to(&mut total.branches);
        self.functions.add_to(&mut total.functions);
    }
}

impl Measure {
    fn add_to(self, total: &mut Option<Share>) {
        let share = match (self.found, self.hit) {
            (Some(total), Some(covered)) => Share { covered, total },
            _ if self.counted.total > 0 => self.counted,
            _ => return,
        };
        let total = total.get_or_insert_default();
        total.covered = total.covered.saturating_add(share.covered);
        total.total = total.total.saturating_add(share.total);
    }
}

/// `-` is a branch that nobody came near.
fn hits(text: Option<&str>) -> Reached {
    let text = text.unwrap_or_default().trim();
    Reached::by(text.parse::<f64>().map_or(0, |hits| u64::from(hits > 0.0)))
}
