//! Validation rules: read from JSON with their defaults and ranges applied.

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};
use stopgate_core::{CoverageFormat, Floor};

const NAME_BYTES_MAX: usize = 100;
const TIMEOUT_MS: u64 = 60_000;
const TIMEOUT_MS_MIN: u64 = 1000;
const TIMEOUT_MS_MAX: u64 = 600_000;
const TYPES: &str = "command, content_pattern, coverage, file_existence, custom";
/// A pattern that needs more than this to be compiled is a mistake.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// One rule that an iteration is validated by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationRule {
    /// Its name.
    pub name: String,
    /// The word for its kind.
    pub word: &'static str,
    /// Whether it is asked.
    pub enabled: bool,
    /// What it asks.
    pub kind: RuleKind,
}

/// What a rule asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleKind {
    /// Does a command end with one of these codes?
    Command {
        /// The command, for the platform's shell.
        command: String,
        /// The codes that will do.
        exit_codes: Vec<i32>,
        /// How long it may take.
        timeout_ms: u64,
        /// Where it runs, where that is not the project.
        directory: Option<String>,
        /// Variables for it.
        set: Vec<(String, String)>,
    },
    /// Does a text match?
    Pattern {
        /// The regular expression.
        pattern: String,
        /// Any of `i`, `m`, `s`, `x`.
        flags: String,
        /// Which text.
        target: PatternTarget,
        /// Whether it must match, or must not.
        wanted: PatternWanted,
    },
    /// Is enough of the code covered?
    Coverage {
        /// The least that will do.
        floor: Floor,
        /// What is measured.
        measure: Measure,
        /// How the report is written.
        format: CoverageFormat,
        /// Where the report is.
        report: String,
    },
    /// Are files there?
    Files {
        /// Their paths.
        paths: Vec<String>,
        /// How many of them.
        enough: Enough,
    },
    /// What does a person's own validator say?
    Custom {
        /// Its name.
        validator: String,
        /// What it is told.
        config: Value,
    },
}

stopgate_core::words! {
    /// The text that a pattern is looked for in.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PatternTarget {
        /// What the agent wrote.
        AgentOutput = "agent_output",
        /// The task's notes.
        TaskNotes = "task_notes",
        /// The work product that is being written.
        DraftContent = "draft_content",
    }
}

/// What is wanted of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternWanted {
    /// That it is found.
    Match,
    /// That it is not.
    NoMatch,
}

/// How many of several files must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enough {
    /// Every one.
    All,
    /// One at least.
    One,
}

/// What coverage is measured of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Lines, or statements.
    Lines,
    /// Branches.
    Branches,
    /// Functions.
    Functions,
}

impl ValidationRule {
    /// Reads a rule; `at` is where it stands, for its author.
    pub fn read(value: &Value, at: &str) -> Result<Self, String> {
        let rule = Fields { object: object(value, at)?, at: at.into() };
        rule.only(&["type", "name", "enabled", "config"])?;
        let name = rule.text("name")?.unwrap_or_default();
        if name.trim().is_empty() || name.len() > NAME_BYTES_MAX {
            return Err(format!("{at}.name: Must be 1 to {NAME_BYTES_MAX} bytes long"));
        }
        let config =
            rule.object.get("config").ok_or_else(|| format!("{at}.config: is required"))?;
        let config =
            Fields { object: object(config, &format!("{at}.config"))?, at: format!("{at}.config") };
        let (word, kind) = match rule.text("type")?.as_deref() {
            Some("command") => ("command", command(&config)?),
            Some("content_pattern") => ("content_pattern", pattern(&config)?),
            Some("coverage") => ("coverage", coverage(&config)?),
            Some("file_existence") => ("file_existence", files(&config)?),
            Some("custom") => ("custom", custom(&config)?),
            Some(_) | None => return Err(format!("{at}.type: Must be one of: {TYPES}")),
        };
        Ok(Self { name, word, enabled: rule.flag("enabled")?.unwrap_or(true), kind })
    }
}

impl RuleKind {
    /// What keeps this rule from ever being asked; nothing where it can be.
    pub fn problem(&self) -> Option<String> {
        match self {
            Self::Pattern { pattern, flags, .. } => compiled(pattern, flags).err().map(|error| {
                let told = error.to_string();
                let last = told.lines().last().unwrap_or_default();
                let last = last.strip_prefix("error: ").unwrap_or(last);
                format!("config.pattern is not a regular expression: {last}")
            }),
            Self::Command { .. }
            | Self::Coverage { .. }
            | Self::Files { .. }
            | Self::Custom { .. } => None,
        }
    }
}

fn compiled(pattern: &str, flags: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern)
        .case_insensitive(flags.contains('i'))
        .multi_line(flags.contains('m'))
        .dot_matches_new_line(flags.contains('s'))
        .ignore_whitespace(flags.contains('x'))
        .size_limit(PATTERN_BYTES_MAX)
        .build()
}

/// Whether `text` is as a pattern wants it, and what to say about that.
pub fn pattern_result(
    pattern: &str,
    flags: &str,
    wanted: PatternWanted,
    text: &str,
    target: PatternTarget,
) -> (bool, String) {
    let regex = match compiled(pattern, flags) {
        Ok(regex) => regex,
        Err(error) => return (false, format!("Pattern validation error: {error}")),
    };
    let target = target.word();
    match (regex.is_match(text), wanted) {
        (true, PatternWanted::Match) => (true, format!("Pattern found in {target}")),
        (true, PatternWanted::NoMatch) => {
            (false, format!("Pattern found in {target} (unexpected)"))
        }
        (false, PatternWanted::Match) => (false, format!("Pattern not found in {target}")),
        (false, PatternWanted::NoMatch) => {
            (true, format!("Pattern not found in {target} (as expected)"))
        }
    }
}

fn command(config: &Fields<'_>) -> Result<RuleKind, String> {
    let known =
        ["command", "expectedExitCode", "successExitCodes", "timeout", "workingDirectory", "env"];
    config.only(&known)?;
    let expected = config.whole("expectedExitCode", 0, 255)?.unwrap_or(0);
    let mut exit_codes = match config.object.get("successExitCodes") {
        None | Some(Value::Null) => vec![code(expected)],
        Some(value) => codes(value, &config.at)?,
    };
    exit_codes.dedup();
    let set = match config.object.get("env") {
        None | Some(Value::Null) => Vec::new(),
        Some(value) => object(value, &format!("{}.env", config.at))?
            .iter()
            .map(|(name, value)| match value.as_str() {
                Some(value) => Ok((name.clone(), value.to_string())),
                None => Err(format!("{}.env.{name}: Must be of type: string", config.at)),
            })
            .collect::<Result<_, _>>()?,
    };
    Ok(RuleKind::Command {
        command: config.required("command")?,
        exit_codes,
        timeout_ms: config.whole("timeout", TIMEOUT_MS_MIN, TIMEOUT_MS_MAX)?.unwrap_or(TIMEOUT_MS),
        directory: config.text("workingDirectory")?,
        set,
    })
}

fn code(code: u64) -> i32 {
    i32::try_from(code).unwrap_or(i32::MAX)
}

fn codes(value: &Value, at: &str) -> Result<Vec<i32>, String> {
    let wrong = || format!("{at}.successExitCodes: Must be a list of integers from 0 to 255");
    let list = value.as_array().filter(|list| !list.is_empty()).ok_or_else(wrong)?;
    let read = |value: &Value| value.as_u64().filter(|code| *code <= 255).map(code);
    list.iter().map(|value| read(value).ok_or_else(wrong)).collect()
}

fn pattern(config: &Fields<'_>) -> Result<RuleKind, String> {
    config.only(&["pattern", "flags", "target", "mustMatch"])?;
    let target = match config.text("target")?.as_deref() {
        None | Some("agent_output") => PatternTarget::AgentOutput,
        Some("task_notes") => PatternTarget::TaskNotes,
        Some("draft_content" | "work_product_latest") => PatternTarget::DraftContent,
        Some(_) => {
            return Err(format!(
                "{}.target: Must be one of: agent_output, task_notes, draft_content",
                config.at
            ));
        }
    };
    let flags = config.text("flags")?.unwrap_or_default();
    if flags.chars().any(|flag| !"gimsux".contains(flag)) {
        return Err(format!("{}.flags: Must be made of: g, i, m, s, u, x", config.at));
    }
    let wanted = match config.flag("mustMatch")? {
        None | Some(true) => PatternWanted::Match,
        Some(false) => PatternWanted::NoMatch,
    };
    Ok(RuleKind::Pattern { pattern: config.required("pattern")?, flags, target, wanted })
}

fn coverage(config: &Fields<'_>) -> Result<RuleKind, String> {
    config.only(&["minCoverage", "format", "reportPath", "scope"])?;
    let least = config.object.get("minCoverage").and_then(Value::as_f64);
    let least = least
        .filter(|least| (0.0..=100.0).contains(least))
        .ok_or_else(|| format!("{}.minCoverage: Must be a number from 0 to 100", config.at))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 10,000")]
    let hundredths = Some((least * 100.0).round() as u32);
    let format = match config.text("format")?.as_deref() {
        None | Some("lcov") => CoverageFormat::Lcov,
        Some("json") => CoverageFormat::Json,
        Some("cobertura") => CoverageFormat::Cobertura,
        Some(_) => {
            return Err(format!("{}.format: Must be one of: lcov, json, cobertura", config.at));
        }
    };
    let none = Floor::default();
    let (measure, floor) = match config.text("scope")?.as_deref() {
        None | Some("lines" | "statements") => {
            (Measure::Lines, Floor { lines: hundredths, ..none })
        }
        Some("branches") => (Measure::Branches, Floor { branches: hundredths, ..none }),
        Some("functions") => (Measure::Functions, Floor { functions: hundredths, ..none }),
        Some(_) => {
            return Err(format!(
                "{}.scope: Must be one of: lines, branches, functions, statements",
                config.at
            ));
        }
    };
    Ok(RuleKind::Coverage { floor, measure, format, report: config.required("reportPath")? })
}

fn files(config: &Fields<'_>) -> Result<RuleKind, String> {
    config.only(&["paths", "allMustExist"])?;
    let at = format!("{}.paths", config.at);
    let list = config.object.get("paths").and_then(Value::as_array);
    let list = list.ok_or_else(|| format!("{at}: Must be of type: array"))?;
    if list.is_empty() {
        return Err(format!("{at}: Must have at least 1 item"));
    }
    let read = |value: &Value| value.as_str().filter(|path| !path.is_empty()).map(String::from);
    let paths: Option<Vec<String>> = list.iter().map(read).collect();
    let paths = paths.ok_or_else(|| format!("{at}: Must be a list of paths"))?;
    let enough = match config.flag("allMustExist")? {
        None | Some(true) => Enough::All,
        Some(false) => Enough::One,
    };
    Ok(RuleKind::Files { paths, enough })
}

fn custom(config: &Fields<'_>) -> Result<RuleKind, String> {
    config.only(&["validatorId", "validatorConfig"])?;
    let told = config.object.get("validatorConfig").cloned().unwrap_or(Value::Null);
    Ok(RuleKind::Custom { validator: config.required("validatorId")?, config: told })
}

fn object<'a>(value: &'a Value, at: &str) -> Result<&'a Map<String, Value>, String> {
    value.as_object().ok_or_else(|| format!("{at}: Must be of type: object"))
}

/// An object, and where it stands.
struct Fields<'a> {
    object: &'a Map<String, Value>,
    at: String,
}

impl Fields<'_> {
    fn only(&self, known: &[&str]) -> Result<(), String> {
        match self.object.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => {
                Err(format!("{}.{key}: unknown; known here are {}", self.at, known.join(", ")))
            }
        }
    }

    fn given(&self, name: &str) -> Option<&Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> Result<Option<String>, String> {
        let wrong = || format!("{}.{name}: Must be of type: string", self.at);
        self.given(name).map(|v| v.as_str().map(String::from).ok_or_else(wrong)).transpose()
    }

    fn required(&self, name: &str) -> Result<String, String> {
        let text = self.text(name)?.filter(|text| !text.trim().is_empty());
        text.ok_or_else(|| format!("{}.{name}: is required", self.at))
    }

    fn flag(&self, name: &str) -> Result<Option<bool>, String> {
        let wrong = || format!("{}.{name}: Must be of type: boolean", self.at);
        self.given(name).map(|v| v.as_bool().ok_or_else(wrong)).transpose()
    }

    fn whole(&self, name: &str, least: u64, most: u64) -> Result<Option<u64>, String> {
        let Some(value) = self.given(name) else { return Ok(None) };
        let at = format!("{}.{name}", self.at);
        if !value.is_number()
            || (value.is_f64() && value.as_f64().is_some_and(|n| n.fract() != 0.0))
        {
            return Err(format!("{at}: Must be of type: integer"));
        }
        match value.as_u64() {
            Some(number) if number > most => Err(format!("{at}: Must be at most {most}")),
            Some(number) if number >= least => Ok(Some(number)),
            Some(_) | None => Err(format!("{at}: Must be at least {least}")),
        }
    }
}

#[cfg(test)]
mod tests;
