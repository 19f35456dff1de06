//! The limits of a loop, who asked for them, and which of them counts.
//!
//! A person's word (a flag, their own settings) beats the defaults. A repository may
//! tighten what came of that, and never loosen it: its author is not whom the loop
//! protects.

use serde::{Deserialize, Serialize};
use stopgate_core::{CONTEXT_WARN_PERCENT, Enforcement, Policy};
use toml::Spanned;

use crate::dollars::Dollars;
use crate::span::span_ms;
use crate::toml_place::position;

const ITERATIONS: u32 = 20;

/// `[loop]` as files have it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LoopWire {
    max_iterations: Option<u32>,
    max_minutes: Option<u32>,
    max_idle: Option<u32>,
    max_repeat: Option<u32>,
    max_tokens: Option<u64>,
    max_cost_usd: Option<Dollars>,
    max_quota: Option<u8>,
    context_warn: Option<u8>,
    stale_after: Option<String>,
    mode: Option<Enforcement>,
}

/// Limits that somebody asks for; what they leave out is decided elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestedLimits {
    /// How often the agent may be sent back.
    pub max_iterations: Option<u32>,
    /// Minutes of work allowed; 0 means no limit.
    pub max_minutes: Option<u32>,
    /// Idle continuations in a row allowed; 0 means no limit.
    pub max_idle: Option<u32>,
    /// Continuations with the same failures in a row allowed; 0 means no limit.
    pub max_repeat: Option<u32>,
    /// Tokens allowed; 0 means no limit.
    pub max_tokens: Option<u64>,
    /// Money allowed, in millionths of a dollar; 0 means no limit.
    pub max_cost_micros: Option<u64>,
    /// Percent of the subscription's window allowed; 0 means no limit.
    pub max_quota: Option<u8>,
    /// Percent of the context at which the agent is asked to hand over; 0 is never.
    pub context_warn: Option<u8>,
    /// How long a loop may go without any activity.
    pub stale_after_ms: Option<i64>,
    /// Whether verdicts bind.
    pub enforcement: Option<Enforcement>,
}

/// The limits that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoopLimits {
    /// How often the agent may be sent back.
    pub(crate) max_iterations: u32,
    /// Everything else.
    pub(crate) policy: Policy,
}

stopgate_core::words! {
    /// Who said what a value is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum LimitOrigin {
        /// Nobody: it is built in.
        Default = "default",
        /// The person's own settings.
        User = "user",
        /// The one who gave the command.
        Flag = "flag",
        /// The project's file, which made it tighter.
        Project = "project",
    }
}

/// One limit, who set it, and what else was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LimitSetting {
    /// Its name.
    pub key: &'static str,
    /// Its value, as files write it.
    pub value: String,
    /// Who set it.
    pub origin: LimitOrigin,
    /// What was asked for and not taken, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl RequestedLimits {
    /// What `[loop]` of a file with this text says; an error names its place.
    pub(crate) fn at(text: &str, wire: Option<&Spanned<LoopWire>>) -> Result<Self, String> {
        let Some(wire) = wire else { return Ok(Self::default()) };
        Self::of(wire.as_ref())
            .map_err(|why| format!("{}: {why}", position(text, wire.span().start)))
    }

    fn of(wire: &LoopWire) -> Result<Self, String> {
        if wire.max_iterations == Some(0) {
            return Err("`max_iterations` must be at least 1".into());
        }
        if [wire.max_quota, wire.context_warn].into_iter().flatten().any(|percent| percent > 100) {
            return Err("`max_quota` and `context_warn` are percentages: 0 to 100".into());
        }
        let stale = wire.stale_after.as_deref().map(span_ms).transpose()?;
        Ok(Self {
            max_iterations: wire.max_iterations,
            max_minutes: wire.max_minutes,
            max_idle: wire.max_idle,
            max_repeat: wire.max_repeat,
            max_tokens: wire.max_tokens,
            max_cost_micros: wire.max_cost_usd.map(|dollars| dollars.micros),
            max_quota: wire.max_quota,
            context_warn: wire.context_warn,
            stale_after_ms: stale.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX)),
            enforcement: wire.mode,
        })
    }
}

/// The limits that come of a flag, the person's settings, the defaults and the project's file.
pub(crate) fn settle(
    flag: &RequestedLimits,
    user: &RequestedLimits,
    project: &RequestedLimits,
) -> (LoopLimits, Vec<LimitSetting>) {
    let defaults = Policy::default();
    let mut settings = Vec::new();
    let (budget, of_budget) = budget(flag, user, project);
    let mut number = |key, of: fn(&RequestedLimits) -> Option<u32>, default| {
        let base = base(of(flag), of(user), default);
        let (value, setting) = tighten(key, base, of(project), u64::from, &|n: u32| n.to_string());
        settings.push(setting);
        value
    };
    let max_iterations = number("max_iterations", |asked| asked.max_iterations, ITERATIONS);
    let max_minutes = number("max_minutes", |asked| asked.max_minutes, defaults.max_minutes);
    let max_idle = number("max_idle", |asked| asked.max_idle, defaults.max_idle);
    let max_repeat = number("max_repeat", |asked| asked.max_repeat, defaults.max_repeat);
    settings.extend(of_budget);
    let stale = base(flag.stale_after_ms, user.stale_after_ms, defaults.stale_after_ms);
    let (stale_after_ms, setting) =
        tighten("stale_after", stale, project.stale_after_ms, i64::unsigned_abs, &span_text);
    settings.push(setting);
    let enforcement = base(flag.enforcement, user.enforcement, defaults.enforcement);
    // An agent that is never held is the loosest there is.
    let (enforcement, setting) =
        tighten("mode", enforcement, project.enforcement, looseness, &|mode| mode.word().into());
    settings.push(setting);
    let policy =
        Policy { max_minutes, max_idle, max_repeat, stale_after_ms, enforcement, ..budget };
    (LoopLimits { max_iterations, policy }, settings)
}

/// The limits on what is used, and what the context's share is.
fn budget(
    flag: &RequestedLimits,
    user: &RequestedLimits,
    project: &RequestedLimits,
) -> (Policy, Vec<LimitSetting>) {
    let mut settings = Vec::new();
    let mut limit =
        |key, of: fn(&RequestedLimits) -> Option<u64>, default, text: fn(u64) -> String| {
            let base = base(of(flag), of(user), default);
            let (value, setting) = tighten(key, base, of(project), |value| value, &text);
            settings.push(setting);
            value
        };
    let plain = |value: u64| value.to_string();
    let max_tokens = limit("max_tokens", |asked| asked.max_tokens, 0, plain);
    let max_cost_micros = limit("max_cost_usd", |asked| asked.max_cost_micros, 0, micros_text);
    let max_quota = limit("max_quota", |asked| asked.max_quota.map(u64::from), 0, plain);
    let warn = u64::from(CONTEXT_WARN_PERCENT);
    let context = limit("context_warn", |asked| asked.context_warn.map(u64::from), warn, plain);
    let percent = |value: u64| u8::try_from(value).unwrap_or(100);
    let policy = Policy {
        max_tokens,
        max_cost_micros,
        max_quota: percent(max_quota),
        context_warn: (context != warn).then(|| percent(context)),
        ..Policy::default()
    };
    (policy, settings)
}

/// Millionths of a dollar, as files write them.
fn micros_text(micros: u64) -> String {
    let (dollars, rest) = (micros / 1_000_000, micros % 1_000_000);
    let rest = format!("{rest:06}");
    match rest.trim_end_matches('0') {
        "" => dollars.to_string(),
        rest => format!("{dollars}.{rest}"),
    }
}

fn base<T>(flag: Option<T>, user: Option<T>, default: T) -> (T, LimitOrigin) {
    match (flag, user) {
        (Some(value), _) => (value, LimitOrigin::Flag),
        (None, Some(value)) => (value, LimitOrigin::User),
        (None, None) => (default, LimitOrigin::Default),
    }
}

/// Takes the project's wish where it is tighter; 0 means no limit, so it is the loosest.
fn tighten<T: Copy + PartialEq>(
    key: &'static str,
    (base, origin): (T, LimitOrigin),
    project: Option<T>,
    size: fn(T) -> u64,
    text: &dyn Fn(T) -> String,
) -> (T, LimitSetting) {
    let loose = |value: T| match size(value) {
        0 => u64::MAX,
        size => size,
    };
    match project {
        Some(asked) if loose(asked) < loose(base) => {
            let setting = LimitSetting {
                key,
                value: text(asked),
                origin: LimitOrigin::Project,
                refused: None,
            };
            (asked, setting)
        }
        Some(asked) if asked != base => {
            let refused = format!("the project's file asks for {}, which is looser", text(asked));
            (base, LimitSetting { key, value: text(base), origin, refused: Some(refused) })
        }
        Some(_) | None => (base, LimitSetting { key, value: text(base), origin, refused: None }),
    }
}

fn looseness(mode: Enforcement) -> u64 {
    match mode {
        Enforcement::Enforce => 1,
        Enforcement::Shadow => 2,
    }
}

fn span_text(ms: i64) -> String {
    let seconds = ms / 1000;
    match seconds {
        s if s % 3600 == 0 => format!("{}h", s / 3600),
        s if s % 60 == 0 => format!("{}m", s / 60),
        s => format!("{s}s"),
    }
}

#[cfg(test)]
mod tests;
