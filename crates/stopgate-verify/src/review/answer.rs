//! A reviewer's answer: one JSON object of a known form, and nothing beside it.

use serde::Deserialize;
use stopgate_core::{Status, clean, clip};

const REASONS_MAX: usize = 20;
const REASON_BYTES_MAX: usize = 1000;

/// What a reviewer thinks, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opinion {
    /// What it thinks.
    pub verdict: OpinionVerdict,
    /// Why, a sentence each.
    pub reasons: Vec<String>,
}

stopgate_core::words! {
    /// What a reviewer thinks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum OpinionVerdict {
        /// The work does what was asked.
        Pass = "pass",
        /// It does not.
        Fail = "fail",
        /// It can't tell, which is not a pass.
        Unsure = "unsure",
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpinionWire {
    verdict: OpinionVerdict,
    reasons: Vec<String>,
}

impl OpinionVerdict {
    /// How its receipt comes out.
    pub const fn status(self) -> Status {
        match self {
            Self::Pass => Status::Pass,
            Self::Fail | Self::Unsure => Status::Fail,
        }
    }
}

impl Opinion {
    /// The opinion as the agent and the person read it.
    pub fn text(&self) -> String {
        let mut text = format!("the reviewer says: {}\n", self.verdict.word());
        for reason in &self.reasons {
            text.push_str("- ");
            text.push_str(reason);
            text.push('\n');
        }
        text
    }
}

/// Reads an answer; the reason where it is not one.
pub fn read_opinion(said: &str) -> Result<Opinion, String> {
    let said = unfenced(said.trim());
    if said.is_empty() {
        return Err("the reviewer said nothing".into());
    }
    let wire: OpinionWire = serde_json::from_str(said).map_err(|error| {
        format!(
            "the reviewer's answer is not {{\"verdict\":\"pass|fail|unsure\",\"reasons\":[…]}}: {error}"
        )
    })?;
    let reasons = wire.reasons.iter().take(REASONS_MAX);
    // One line each, also where a reason has tabs in it.
    let line = |reason: &String| clean(reason).split_whitespace().collect::<Vec<_>>().join(" ");
    let reasons: Vec<String> = reasons
        .map(|reason| clip(&line(reason), REASON_BYTES_MAX))
        .filter(|reason| !reason.is_empty())
        .collect();
    if reasons.is_empty() {
        return Err("the reviewer gave no reasons".into());
    }
    Ok(Opinion { verdict: wire.verdict, reasons })
}

/// The inside of a code block, where the whole text is one.
fn unfenced(text: &str) -> &str {
    let inside = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let Some(inside) = inside else { return text };
    inside.strip_prefix("json").unwrap_or(inside).trim()
}
