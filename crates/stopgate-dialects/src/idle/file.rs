//! The fallback file: one frame in front matter, and the prompt below.

use stopgate_core::{Digest, Frame, Timestamp};

use super::{
    IdleLoop, IdleStanding, MAX_DEFAULT, TextChange, count, mode, reviewed, standing, touched,
};
use crate::front_matter::{FrontMatter, edited, quoted};
use crate::instant_text;

/// What becomes of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum After {
    /// It says this.
    Text(String),
    /// It goes.
    Gone,
}

/// The loop that a file describes; nothing where the file is another one.
pub fn read(text: &str) -> Option<IdleLoop> {
    let file = FrontMatter::read(text)?;
    let value = |name: &str| file.value(name).filter(|value| value != "null");
    let active = value("active");
    if active.is_none() && value("iteration").is_none() {
        return None;
    }
    let standing = match active.as_deref() {
        Some("true" | "yes") | None => {
            standing(value("event").as_deref(), value("reason").as_deref())
        }
        Some("false" | "no") => IdleStanding::Off,
        Some(_) => return None,
    };
    let prompt = file.body().trim().to_string();
    let counted = |name, default| count(value(name).as_deref(), default);
    let frame = counted("iteration", 0).zip(counted("max_iterations", MAX_DEFAULT)).map(
        |(iteration, max)| Frame {
            mode: mode(value("mode").as_deref()),
            iteration,
            max,
            prompt: prompt.clone(),
        },
    );
    let digest = || format!("{:016x}", Digest::new().part(prompt.as_bytes()).value());
    let line = prompt.lines().next().unwrap_or_default();
    Some(IdleLoop {
        run: value("run_id").unwrap_or_else(digest),
        goal: if line.is_empty() { "idle loop".into() } else { line.into() },
        standing,
        frames: frame.into_iter().collect(),
        touched: touched(value("updated_at").as_deref()),
        worktree: None,
        reviewed: reviewed(value("review").as_deref()),
    })
}

/// The file after a change; nothing where it can't be made in this form.
pub fn changed(text: &str, change: &TextChange, now: Timestamp) -> Option<After> {
    let file = FrontMatter::read(text)?;
    let mut changes = match change {
        TextChange::Count(iteration) => vec![("iteration", iteration.to_string())],
        TextChange::Stale => vec![("event", "DONE".into()), ("reason", "STALE".into())],
        TextChange::Revive => vec![("event", "STATE".into()), ("reason", "null".into())],
        TextChange::Pop | TextChange::Done(_) | TextChange::Abort(_) | TextChange::Sweep => {
            return Some(After::Gone);
        }
    };
    // A file that never said when it was touched need not begin to.
    if file.value("updated_at").is_some() {
        changes.push(("updated_at", instant_text(now)));
    }
    edited(text, &changes).map(After::Text)
}

/// The first text of a loop.
pub fn begun(id: &str, frame: &Frame, now: Timestamp) -> String {
    let Frame { mode, iteration, max, prompt } = frame;
    let (id, at) = (quoted(id), instant_text(now));
    format!(
        "---\nactive: true\nmode: {mode}\niteration: {iteration}\nmax_iterations: {max}\n\
         run_id: {id}\nupdated_at: {at}\n---\n{prompt}\n"
    )
}
