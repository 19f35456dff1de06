//! What the agent, the person and `hook.log` are told.

use core::fmt::Write as _;

use stopgate_core::{Timestamp, clean};

use super::{Feature, FeatureList, ProgressFile};

/// Why another session should go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOverReason {
    /// The context is nearly full.
    Context {
        /// The tokens in it.
        used: u64,
        /// The tokens that fit.
        window: u64,
    },
    /// This session did its share of the features.
    Batch {
        /// How many it completed.
        done: usize,
    },
}

/// What sends the agent on.
pub fn continue_with(feature: &Feature, iteration: u32, progress: &ProgressFile) -> String {
    let mut reason = format!(
        "Ralph Loop iteration {iteration}: Continue with Feature {} - {}. Review \
         feature_list.json for steps, implement the feature, verify it works, update passes: \
         true, commit, and update progress.txt.",
        feature.id, feature.description
    );
    if let Some(model) = &feature.model {
        let _ = write!(reason, " This feature is meant for the model {model}.");
    }
    if progress.compact_every > 0 && iteration.is_multiple_of(progress.compact_every) {
        reason.push_str(
            " The context has grown: first write what the next iterations need into \
             progress.txt, so that /compact loses nothing, and read files again rather than \
             rely on memory.",
        );
    }
    reason
}

/// What the person is told when all features are complete.
pub fn complete(list: &FeatureList) -> String {
    format!("Ralph Loop COMPLETE! All {} features verified.", list.features.len())
}

/// What the person is told when the iterations are used up.
pub fn reached_limit(list: &FeatureList, progress: &ProgressFile) -> String {
    let (max, remaining) = (progress.max, list.remaining());
    format!("Ralph Loop reached max iterations ({max}). {remaining} features remain incomplete.")
}

/// What the person is told where the list has no entry.
pub fn nothing_listed() -> String {
    "Ralph Loop: feature_list.json lists no features, so nothing is proven and nothing is left \
     to do. Add features, or check the files with: stopgate features check"
        .into()
}

/// What the person is told when another session should go on.
pub fn handed_over(why: HandOverReason, list: &FeatureList) -> String {
    let remaining = list.remaining();
    let why = match why {
        HandOverReason::Context { used, window } => {
            format!("the context is nearly full ({used} of {window} tokens)")
        }
        HandOverReason::Batch { done } => format!("this session completed its batch of {done}"),
    };
    format!(
        "Ralph Loop hand-over: {why}. {remaining} features remain; start a new session with the \
         loop's prompt (RALPH_PROMPT.md), and it goes on where this one stopped."
    )
}

/// A prompt to begin every session of a loop with; it names files rather than repeat them.
pub fn prompt_template(directory: &str) -> String {
    format!(
        "Work through the features in {directory}/feature_list.json, one at a time.\n\n\
         1. Read {directory}/progress.txt: it says what earlier sessions left for you.\n\
         2. Take the first feature that does not have \"passes\": true.\n\
         3. Build it, verify that it works, and only then set its \"passes\" to true.\n\
         4. Commit. Note in progress.txt what the next session needs to know; its first \
         Iteration: and Status: lines are kept by the stop hook, so leave them alone.\n\
         5. Stop. The stop hook says what is next, or that all is done.\n"
    )
}

/// One line for `hook.log`.
pub fn log_line(now: Timestamp, session: &str, continued: Option<bool>, story: &str) -> String {
    let time = crate::instant_text(now).replace('T', " ");
    let active = continued.map_or("unknown", |active| if active { "true" } else { "false" });
    let line = format!("[{time}] Session: {session}, stop_hook_active: {active}, {story}");
    let line: String = clean(&line).split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{line}\n")
}
