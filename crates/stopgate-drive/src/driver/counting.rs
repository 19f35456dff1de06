//! What the sessions of a loop use: counted by the driver, whether or not the client has a hook.
//!
//! The client's own record is read after each turn, also one that failed or was killed, and after a
//! driver that was killed. Where the client keeps none, what its output tells is written down.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use serde_json::json;
use stopgate_agents::{Headless, UsageHint};
use stopgate_engine::{RealWorld, Settings, World};

/// What was heard of use, in a file of the driver's own.
pub(super) const HEARD: &str = "use.jsonl";

/// Whether what a client uses stands only in its output.
pub(super) fn keeps_no_record(headless: Headless) -> bool {
    headless.record().is_none()
}

/// Writes down what a client's output told of one call.
pub(super) fn hear_use(directory: &Path, model: Option<&str>, usage: &UsageHint) {
    let line = json!({
        "type": "stopgate.use",
        "time": RealWorld::new(Settings).now().unix_millis(),
        "model": model.unwrap_or_default(),
        "input": usage.input.saturating_sub(usage.cached + usage.cache_written),
        "cache_read": usage.cached,
        "cache_write": usage.cache_written,
        "output": usage.output,
        "cost_usd": usage.cost_usd,
    });
    let file = File::options().create(true).append(true).open(directory.join(HEARD));
    // What can't be written is missing from the count; it must not end the session.
    let _ = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
}
