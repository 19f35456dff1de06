//! What a client tells its status line about quota and context, kept as a hint.

use std::path::Path;

use serde::{Deserialize, Serialize};
use stopgate_core::{ContextUse, QuotaUse, Spend, Timestamp};
use stopgate_usage::read_statusline;
use stopgate_verify::files::{Durable, read_regular, replace_private};

use crate::home::Home;
use crate::metering::Metering;
use crate::signs::Signs;

/// No hint is longer.
const HINT_BYTES_MAX: u64 = 4096;
/// Older hints about a quota say nothing any more.
const HINT_MS_MAX: i64 = 60 * 60 * 1000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct HintWire {
    at_ms: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<ContextUse>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quota: Option<QuotaUse>,
}

impl Metering<'_> {
    /// Fills in what only the status line was told.
    pub(super) fn heed_hint(&self, spend: &mut Spend, session: &str) {
        let Some(hint) = read(&self.context.home.usage_hint(session)) else { return };
        let age_ms = self.context.now().since(Timestamp::from_unix_millis(hint.at_ms));
        if (0..=HINT_MS_MAX).contains(&age_ms) {
            spend.quota = spend.quota.or(hint.quota).map(|known| newer(known, hint.quota));
        }
        let told = hint.context.and_then(|context| context.window);
        spend.context = match (spend.context, hint.context) {
            (Some(known), _) => Some(ContextUse { window: told.or(known.window), ..known }),
            (None, hinted) => hinted,
        };
    }

    /// Keeps what a session without a status line told its driver: the share of the plan's window
    /// that is used, from 0 to 1, and when the window begins anew, in seconds since 1970.
    pub fn heard_quota(&self, session: &str, used: f64, resets_at: u64) {
        let percent = (used.clamp(0.0, 1.0) * 100.0).round();
        // A whole number from 0 to 100.
        let Ok(percent) = format!("{percent:.0}").parse() else { return };
        let resets_at = i64::try_from(resets_at.saturating_mul(1000)).ok();
        let resets_at = resets_at.map(Timestamp::from_unix_millis);
        let path = self.context.home.usage_hint(session);
        let known = read(&path).unwrap_or_default();
        let quota = Some(QuotaUse { percent, resets_at });
        store(&path, &HintWire { at_ms: self.context.now().unix_millis(), quota, ..known });
    }

    /// Keeps what the status line of a session that a loop holds was told.
    pub fn keep_hint(&self, session: &str, input: &[u8]) {
        keep(&self.context.home, &self.context.signs, session, input, self.context.now());
    }
}

/// The status line is told at each answer; a file knows only what was written before it.
fn newer(known: QuotaUse, hinted: Option<QuotaUse>) -> QuotaUse {
    hinted.filter(|hinted| hinted.percent >= known.percent).unwrap_or(known)
}

fn read(path: &Path) -> Option<HintWire> {
    serde_json::from_slice(&read_regular(path, HINT_BYTES_MAX).ok()?).ok()
}

fn keep(home: &Home, signs: &Signs, session: &str, input: &[u8], now: Timestamp) {
    if !signs.may_hold(session) {
        return;
    }
    let told = read_statusline(input);
    if told.context.is_none() && told.quota.is_none() {
        return;
    }
    let path = home.usage_hint(session);
    let hint = HintWire { at_ms: now.unix_millis(), context: told.context, quota: told.quota };
    let is_known = read(&path).is_some_and(|known| HintWire { at_ms: hint.at_ms, ..known } == hint);
    if !is_known {
        store(&path, &hint);
    }
}

fn store(path: &Path, hint: &HintWire) {
    if let Ok(text) = serde_json::to_vec(hint) {
        // A hint that can't be kept is not missed.
        let _ = replace_private(path, &text, Durable::Buffered);
    }
}
