//! How much of the code the tests reach, read from a report.
//!
//! Whole numbers only: 79.999 % is below 80 %. A report that does not have what is asked
//! for proves nothing, which is not the same as too little.

mod cobertura;

mod json;

mod lcov;

use std::fmt;

use stopgate_core::{CoverageFormat, Floor};

/// A part of a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// How many were reached.
    pub covered: u64,
    /// How many there are.
    pub total: u64,
}

/// What a report says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Of lines.
    pub lines: Option<Share>,
    /// Of branches.
    pub branches: Option<Share>,
    /// Of functions.
    pub functions: Option<Share>,
}

/// What comes of holding a report against what is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoverageVerdict {
    /// It has all of it.
    Met,
    /// It has too little of this.
    Short(String),
    /// It can't be told by this report.
    Unproven(String),
}

/// Reads a report; the format is looked at where it is not said.
pub fn read(text: &str, format: Option<CoverageFormat>) -> Result<Coverage, String> {
    let text = text.trim_start_matches('\u{feff}');
    let coverage = match format.or_else(|| format_of(text)) {
        Some(CoverageFormat::Lcov) => lcov::read(text)?,
        Some(CoverageFormat::Cobertura) => cobertura::read(text)?,
        Some(CoverageFormat::Json) => json::read(text)?,
        None => return Err("neither lcov nor Cobertura's XML nor JSON".into()),
    };
    for (measure, share) in coverage.measures() {
        if share.is_some_and(|share| share.covered > share.total) {
            return Err(format!("it says that more {measure} were reached than there are"));
        }
    }
    Ok(coverage)
}

/// Holds a report against what is asked for.
pub fn judge(coverage: &Coverage, floor: &Floor) -> CoverageVerdict {
    let asked = [floor.lines, floor.branches, floor.functions];
    if asked.iter().all(Option::is_none) {
        return CoverageVerdict::Unproven(
            "nothing is asked for: set lines, branches or functions".into(),
        );
    }
    let (mut short, mut unproven) = (Vec::new(), Vec::new());
    for ((measure, share), floor) in coverage.measures().into_iter().zip(asked) {
        match (share, floor) {
            (None, Some(_)) => unproven.push(format!("the report does not measure {measure}")),
            (Some(Share { total: 0, .. }), Some(_)) => {
                unproven.push(format!("the report has no {measure} at all"));
            }
            (Some(share), Some(floor)) if !share.reaches(floor) => {
                short.push(format!("{measure} {share} < {}", Percent(floor.into())));
            }
            (Some(_), Some(_)) | (_, None) => {}
        }
    }
    match (unproven.is_empty(), short.is_empty()) {
        (false, _) => CoverageVerdict::Unproven(unproven.join("; ")),
        (true, false) => CoverageVerdict::Short(short.join("; ")),
        (true, true) => CoverageVerdict::Met,
    }
}

impl Coverage {
    fn measures(&self) -> [(&'static str, Option<Share>); 3] {
        [("lines", self.lines), ("branches", self.branches), ("functions", self.functions)]
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut between = "";
        for (measure, share) in self.measures() {
            if let Some(share) = share {
                write!(f, "{between}{measure} {share}")?;
                between = ", ";
            }
        }
        Ok(())
    }
}

impl Share {
    /// Whether it is at least so many hundredths of a percent.
    fn reaches(self, floor: u32) -> bool {
        u128::from(self.covered) * 10_000 >= u128::from(floor) * u128::from(self.total)
    }

    /// A share that was written as a number: 81.5 of 100, or 0.815 of 1.
    ///
    /// What is finer than the type can hold is cut off, never rounded up.
    fn of_decimal(text: &str, whole: u64) -> Option<Self> {
        const DIGITS_MAX: usize = 15;
        let text = text.trim();
        let (units, fraction) = text.split_once('.').unwrap_or((text, ""));
        let fraction = fraction.get(..fraction.len().min(DIGITS_MAX))?;
        let scale = 10_u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if units.is_empty() || !is_number(units) || !is_number(fraction) {
            return None;
        }
        let parts: u64 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
        let covered = units.parse::<u64>().ok()?.checked_mul(scale)?.checked_add(parts)?;
        Some(Self { covered, total: whole.checked_mul(scale)? })
    }

    /// Adds one that is reached or not.
    fn count(&mut self, reached: Reached) {
        self.total = self.total.saturating_add(1);
        if reached == Reached::Some {
            self.covered = self.covered.saturating_add(1);
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hundredths = u128::from(self.covered) * 10_000 / u128::from(self.total.max(1));
        write!(f, "{}", Percent(hundredths))
    }
}

/// Whether something was run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reached {
    None,
    Some,
}

impl Reached {
    const fn by(hits: u64) -> Self {
        if hits > 0 { Self::Some } else { Self::None }
    }
}

/// Hundredths of a percent, as people write them.
struct Percent(u128);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (units, rest) = (self.0 / 100, self.0 % 100);
        match rest {
            0 => write!(f, "{units} %"),
            _ if rest % 10 == 0 => write!(f, "{units}.{} %", rest / 10),
            _ => write!(f, "{units}.{rest:02} %"),
        }
    }
}

fn format_of(text: &str) -> Option<CoverageFormat> {
    let start = text.trim_start();
    if start.starts_with('<') {
        return Some(CoverageFormat::Cobertura);
    }
    if start.starts_with(['{', '[']) {
        return Some(CoverageFormat::Json);
    }
    let is_lcov = start.lines().take(64).any(|line| line.starts_with("SF:"));
    is_lcov.then_some(CoverageFormat::Lcov)
}

#[cfg(test)]
mod tests;
