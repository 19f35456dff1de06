//! Conditions and texts over what a gate sees, in minijinja's language.
//!
//! An expression can read the nine fields of the context and nothing else: there is no
//! file, no clock and no way out, fuel bounds how long it may think, and what it makes of
//! texts stays small.

mod bounds;

mod names;

mod watched;

use std::cell::OnceCell;

use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value};
use serde::Serialize;

use self::watched::WatchedValues;
use crate::missing::MissingFacts;
use crate::words::{AgentContext, CompletionPromise, PromiseType, ValidationResult};

const FUEL: u64 = 50_000;
const SOURCE_BYTES_MAX: usize = 4096;
const TEXT_BYTES_MAX: usize = 8192;
/// Of a longer text an expression sees the end.
const SEEN_BYTES_MAX: usize = 256 * 1024;

/// The names that an expression may use.
const NAMES: [&str; 11] = [
    "taskId",
    "iteration",
    "executionPhase",
    "filesModified",
    "validationResults",
    "completionPromises",
    "agentOutput",
    "draftContent",
    "draftType",
    "passed",
    "promised",
];

/// A context, ready for expressions; nothing is built before one is asked.
pub struct ExpressionContext<'a> {
    context: &'a AgentContext,
    missing: MissingFacts,
    stage: OnceCell<Stage>,
}

struct Stage {
    environment: Environment<'static>,
    values: Value,
}

impl<'a> ExpressionContext<'a> {
    /// A scene over `context`.
    pub fn new(context: &'a AgentContext) -> Self {
        Self::with_missing(context, MissingFacts::default())
    }

    /// A scene over a `context` of which some facts are missing; who asks for one is noted.
    pub(crate) const fn with_missing(context: &'a AgentContext, missing: MissingFacts) -> Self {
        Self { context, missing, stage: OnceCell::new() }
    }

    /// Whether the agent promised `kind`; one that is not known of is noted as asked for.
    pub(crate) fn promised(&self, kind: PromiseType) -> bool {
        let said = self.context.completion_promises.iter();
        let said = said.into_iter().any(|promise| promise.detected && promise.kind == kind);
        said || self.missing.lacks_promise()
    }

    /// The context itself.
    pub const fn context(&self) -> &'a AgentContext {
        self.context
    }

    /// Whether `source` holds.
    pub fn holds(&self, source: &str) -> Result<bool, String> {
        bounds::check_expression(source)?;
        let stage = self.stage();
        let compiled = stage.environment.compile_expression_owned(source);
        let compiled = compiled.map_err(|error| trouble(source, &error))?;
        let value = compiled.eval(stage.values.clone()).map_err(|error| trouble(source, &error))?;
        Ok(value.is_true())
    }

    /// `source` with its `{{ … }}` filled in.
    pub fn render(&self, source: &str) -> Result<String, String> {
        if !source.contains('{') {
            return Ok(source.into());
        }
        bounds::check_text(source)?;
        let stage = self.stage();
        let text = stage.environment.render_str(source, stage.values.clone());
        let text = text.map_err(|error| trouble(source, &error))?;
        Ok(stopgate_core::clip(&text, TEXT_BYTES_MAX))
    }

    fn stage(&self) -> &Stage {
        self.stage.get_or_init(|| {
            let values = Value::from(Serde(ValuesWire::of(self.context)));
            Stage {
                environment: environment(self.context, &self.missing),
                values: WatchedValues::over(values, &self.missing),
            }
        })
    }
}

/// Says what is wrong with a condition, before anybody relies on it.
pub(crate) fn check_condition(source: &str) -> Result<(), String> {
    measure(source)?;
    bounds::check_expression(source)?;
    let context = AgentContext::default();
    let environment = environment(&context, &MissingFacts::default());
    let compiled = environment.compile_expression(source);
    let compiled = compiled.map_err(|error| trouble(source, &error))?;
    known(source, compiled.undeclared_variables(false))?;
    names::unknown(&environment, source).map_or(Ok(()), |what| Err(format!("{what} in `{source}`")))
}

/// Says what is wrong with a text that has `{{ … }}` in it.
pub(crate) fn check_text(source: &str) -> Result<(), String> {
    measure(source)?;
    bounds::check_text(source)?;
    let context = AgentContext::default();
    let environment = environment(&context, &MissingFacts::default());
    let compiled = environment.template_from_str(source);
    let compiled = compiled.map_err(|error| trouble(source, &error))?;
    known(source, compiled.undeclared_variables(false))?;
    names::unknown(&environment, &names::code_of(source))
        .map_or(Ok(()), |what| Err(format!("{what} in `{source}`")))
}

fn measure(source: &str) -> Result<(), String> {
    if source.trim().is_empty() {
        return Err("it is empty".into());
    }
    if source.len() > SOURCE_BYTES_MAX {
        return Err(format!("it is longer than {SOURCE_BYTES_MAX} bytes"));
    }
    Ok(())
}

fn known(source: &str, used: impl IntoIterator<Item = String>) -> Result<(), String> {
    let mut unknown: Vec<String> = used
        .into_iter()
        .filter(|name| !NAMES.contains(&name.as_str()) && !is_built_in(name))
        .collect();
    unknown.sort();
    match unknown.first() {
        None => Ok(()),
        Some(name) => Err(format!(
            "unknown name `{name}` in `{source}`; known are {}, passed('RULE') and promised('COMPLETE')",
            NAMES[..9].join(", ")
        )),
    }
}

fn is_built_in(name: &str) -> bool {
    ["range", "dict"].contains(&name)
}

fn environment(context: &AgentContext, missing: &MissingFacts) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    bounds::restrict(&mut environment);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    let passed: Vec<(String, bool)> =
        context.validation_results.iter().map(|r| (r.rule_name.clone(), r.passed)).collect();
    environment.add_function("passed", move |name: String| {
        let mut named = passed.iter().filter(|(rule, _)| *rule == name).peekable();
        named.peek().is_some() && named.all(|(_, passed)| *passed)
    });
    let promised: Vec<&'static str> =
        context.completion_promises.iter().map(|p| p.kind.word()).collect();
    let missing = missing.clone();
    environment.add_function("promised", move |word: String| {
        promised.iter().any(|said| said.eq_ignore_ascii_case(&word)) || missing.lacks_promise()
    });
    environment
}

/// What went wrong, and what people who write another language should write instead.
fn trouble(source: &str, error: &Error) -> String {
    let detail = error.detail().map_or_else(|| error.kind().to_string(), String::from);
    let hint = if source.contains("&&") {
        "; write `and` instead of `&&`"
    } else if source.contains("||") {
        "; write `or` instead of `||`"
    } else if error.kind() == ErrorKind::SyntaxError && source.contains('!') {
        "; write `not` instead of `!`"
    } else if source.contains(".length") {
        "; write `filesModified|length` instead of `.length`"
    } else {
        ""
    };
    format!("{detail} in `{source}`{hint}")
}

/// The nine fields as expressions see them: texts that are missing are empty, so that
/// `'TODO' in draftContent` always has an answer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ValuesWire<'a> {
    task_id: &'a str,
    iteration: u32,
    execution_phase: Option<&'a str>,
    files_modified: &'a [String],
    validation_results: &'a [ValidationResult],
    completion_promises: &'a [CompletionPromise],
    agent_output: &'a str,
    draft_content: &'a str,
    draft_type: Option<&'a str>,
}

impl<'a> ValuesWire<'a> {
    fn of(context: &'a AgentContext) -> Self {
        Self {
            task_id: &context.task_id,
            iteration: context.iteration,
            execution_phase: context.execution_phase.as_deref(),
            files_modified: &context.files_modified,
            validation_results: &context.validation_results,
            completion_promises: &context.completion_promises,
            agent_output: end_of(context.agent_output.as_deref()),
            draft_content: end_of(context.draft_content.as_deref()),
            draft_type: context.draft_type.as_deref(),
        }
    }
}

fn end_of(text: Option<&str>) -> &str {
    stopgate_core::clip_end(text.unwrap_or_default(), SEEN_BYTES_MAX)
}

#[cfg(test)]
mod tests;
