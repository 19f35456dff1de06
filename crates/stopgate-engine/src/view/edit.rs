//! What was changed of a loop, in words.

use stopgate_core::{Criterion, LoopEdit, clean, clip, tokens_text, usd_text};

const TEXT_BYTES_MAX: usize = 200;

/// What a person changed, in words.
pub(crate) fn describe_edit(edit: &LoopEdit) -> String {
    let mut parts = Vec::new();
    parts.extend(edit.goal.as_ref().map(|goal| format!("goal: {}", short(goal))));
    parts.extend(edit.max_iterations.map(|max| format!("at most {max} continuations")));
    parts.extend(edit.max_minutes.map(|max| match max {
        0 => "no time limit".into(),
        max => format!("at most {max} min"),
    }));
    parts.extend(edit.max_tokens.map(|max| match max {
        0 => "no token limit".into(),
        max => format!("at most {} tokens", tokens_text(max)),
    }));
    parts.extend(edit.max_cost_micros.map(|max| match max {
        0 => "no cost limit".into(),
        max => format!("at most {}", usd_text(max.saturating_mul(1000))),
    }));
    parts.extend(edit.max_quota.map(|max| match max {
        0 => "no quota limit".into(),
        max => format!("at most {max} % of the quota"),
    }));
    let named = |criterion: &Criterion| {
        let replaces = edit.dropped.contains(&criterion.name);
        let verb = if replaces { "replaced" } else { "added" };
        let command = criterion.command().map(|command| format!(": {}", short(&command)));
        format!("{verb} {}{}", short(&criterion.name), command.unwrap_or_default())
    };
    parts.extend(edit.added.iter().map(named));
    let gone = |name: &&String| !edit.added.iter().any(|criterion| criterion.name == **name);
    parts.extend(edit.dropped.iter().filter(gone).map(|name| format!("dropped {}", short(name))));
    parts.join("; ")
}

/// The beginning of a text, on one line.
pub(crate) fn short(text: &str) -> String {
    clip(clean(text).replace('\n', " ").trim(), TEXT_BYTES_MAX)
}
