//! Coverage as JSON: llvm-cov, coverage.py, istanbul and c8, `SimpleCov`, or three plain numbers.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Coverage, Reached, Share};

/// A document that lists every statement has to be held as a whole: larger ones are refused.
const LISTED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The places where writers put their sums; the rest of the document is passed over.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SumsWire {
    /// llvm-cov.
    data: Vec<DataWire>,
    /// coverage.py.
    totals: Value,
    /// istanbul's summary.
    total: Value,
    /// `SimpleCov`'s last run.
    result: Value,
    /// `SimpleCov`'s JSON.
    metrics: Value,
    lines: Value,
    branches: Value,
    functions: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DataWire {
    totals: Value,
}

/// Reads the document, regardless of its author.
pub(super) fn read(text: &str) -> Result<Coverage, String> {
    let sums: SumsWire =
        serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    let found = llvm(&sums.data)
        .or_else(|| python(&sums.totals))
        .or_else(|| named(&sums.total))
        .or_else(|| ruby(&sums.result))
        .or_else(|| ruby(&sums.metrics))
        .or_else(|| {
            let coverage = Coverage {
                lines: share(&sums.lines),
                branches: share(&sums.branches),
                functions: share(&sums.functions),
            };
            some(coverage)
        });
    match found {
        Some(coverage) => Ok(coverage),
        None => listed(text),
    }
}

fn some(coverage: Coverage) -> Option<Coverage> {
    (coverage != Coverage::default()).then_some(coverage)
}

fn llvm(data: &[DataWire]) -> Option<Coverage> {
    let mut total: Option<Coverage> = None;
    for part in data {
        let part = named(&part.totals)?;
        let total = total.get_or_insert_default();
        add(&mut total.lines, part.lines);
        add(&mut total.branches, part.branches);
        add(&mut total.functions, part.functions);
    }
    total
}

fn add(total: &mut Option<Share>, part: Option<Share>) {
    if let Some(part) = part {
        let total = total.get_or_insert_default();
        total.covered = total.covered.saturating_add(part.covered);
        total.total = total.total.saturating_add(part.total);
    }
}

/// `{"lines": {"total": 4, "covered": 3}, …}`
fn named(value: &Value) -> Option<Coverage> {
    let of = |measure: &str| value.get(measure).and_then(share);
    let (lines, branches, functions) = (of("lines"), of("branches"), of("functions"));
    some(Coverage { lines, branches, functions })
}

/// `{"covered_lines": 4, "num_statements": 8, …}`
fn python(value: &Value) -> Option<Coverage> {
    let pair = |covered: &str, total: &str| {
        Some(Share { covered: value.get(covered)?.as_u64()?, total: value.get(total)?.as_u64()? })
    };
    let lines = pair("covered_lines", "num_statements");
    let branches = pair("covered_branches", "num_branches");
    some(Coverage { lines, branches, functions: None })
}

/// `{"line": 81.5, "branch": 70}`, `{"covered_lines": 3, "total_lines": 4}`, `{"covered_percent": 81.5}`
fn ruby(value: &Value) -> Option<Coverage> {
    let of = |name: &str| value.get(name).and_then(share);
    let number = |name: &str| value.get(name).and_then(Value::as_u64);
    let counted = number("covered_lines").zip(number("total_lines"));
    let lines = counted.map(|(covered, total)| Share { covered, total });
    let lines = lines.or_else(|| of("line")).or_else(|| of("covered_percent"));
    some(Coverage { lines, branches: of("branch"), functions: None })
}

/// A number is a percentage; an object has parts and a whole, or a percentage, too.
fn share(value: &Value) -> Option<Share> {
    if let Value::Number(number) = value {
        return Share::of_decimal(&decimal(number), 100);
    }
    let number = |name: &str| value.get(name).and_then(Value::as_u64);
    let total = number("total").or_else(|| number("count"));
    if let (Some(covered), Some(total)) = (number("covered"), total) {
        return Some(Share { covered, total });
    }
    let percent = value.get("pct").or_else(|| value.get("percent"))?;
    percent.is_number().then(|| share(percent))?
}

/// A number without an exponent.
fn decimal(number: &serde_json::Number) -> String {
    match (number.as_u64(), number.as_f64()) {
        (Some(whole), _) => whole.to_string(),
        (None, Some(float)) => format!("{float}"),
        (None, None) => number.to_string(),
    }
}

/// A document with every line or statement of every file.
fn listed(text: &str) -> Result<Coverage, String> {
    if text.len() > LISTED_BYTES_MAX {
        let hint = "write a summary (coverage-summary.json) or lcov instead";
        return Err(format!("the JSON has no sums, and is too large to count: {hint}"));
    }
    let value: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    let files = value.as_object().filter(|files| !files.is_empty());
    let found = files.and_then(|files| statements(files).or_else(|| resultset(files)));
    found.ok_or_else(|| "the JSON has no coverage that is known".into())
}

/// istanbul's `coverage-final.json`: a line is reached when a statement that begins in it is.
fn statements(files: &Map<String, Value>) -> Option<Coverage> {
    let mut lines = Share::default();
    let (mut branches, mut functions) = (Share::default(), Share::default());
    for file in files.values() {
        let (map, hits) = (file.get("statementMap")?.as_object()?, file.get("s")?.as_object()?);
        let mut best: BTreeMap<u64, u64> = BTreeMap::new();
        for (id, place) in map {
            let line = place["start"]["line"].as_u64()?;
            let hits = hits.get(id).and_then(Value::as_u64).unwrap_or(0);
            let most = best.entry(line).or_default();
            *most = hits.max(*most);
        }
        for hits in best.values() {
            lines.count(Reached::by(*hits));
        }
        let counts = file.get("f")?.as_object()?.values();
        counts.for_each(|hits| functions.count(reached(hits)));
        let arms = file.get("b")?.as_object()?.values().filter_map(Value::as_array);
        arms.flatten().for_each(|hits| branches.count(reached(hits)));
    }
    Some(Coverage { lines: Some(lines), branches: Some(branches), functions: Some(functions) })
}

fn reached(hits: &Value) -> Reached {
    Reached::by(hits.as_u64().unwrap_or(0))
}

/// `SimpleCov`'s `.resultset.json`: several runs, each with the hits of each line.
fn resultset(runs: &Map<String, Value>) -> Option<Coverage> {
    let mut hits: BTreeMap<(&str, usize), u64> = BTreeMap::new();
    let mut arms: BTreeMap<(&str, &str, &str), u64> = BTreeMap::new();
    for run in runs.values() {
        for (name, file) in run.get("coverage")?.as_object()? {
            let lines = file.get("lines").unwrap_or(file).as_array()?;
            let counts = lines.iter().map(Value::as_u64).enumerate();
            for (at, count) in counts.filter_map(|(at, count)| Some((at, count?))) {
                let sum = hits.entry((name, at)).or_default();
                *sum = sum.saturating_add(count);
            }
            take_arms(name, file, &mut arms);
        }
    }
    let (mut lines, mut branches) = (Share::default(), Share::default());
    for hits in hits.values() {
        lines.count(Reached::by(*hits));
    }
    for hits in arms.values() {
        branches.count(Reached::by(*hits));
    }
    let branches = (branches.total > 0).then_some(branches);
    Some(Coverage { lines: Some(lines), branches, functions: None })
}

fn take_arms<'a>(
    name: &'a str,
    file: &'a Value,
    arms: &mut BTreeMap<(&'a str, &'a str, &'a str), u64>,
) {
    let forks = file.get("branches").and_then(Value::as_object);
    for (fork, ways) in forks.into_iter().flatten() {
        for (way, count) in ways.as_object().into_iter().flatten() {
            let sum = arms.entry((name, fork, way)).or_default();
            *sum = sum.saturating_add(count.as_u64().unwrap_or(0));
        }
    }
}
