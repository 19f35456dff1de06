//! The words that events are stored under.

use stopgate_core::Event;

/// The word that a variant is stored under. A new variant breaks the build here: it needs a
/// sample in this directory, and the stored form a new version.
pub(crate) fn word(event: &Event) -> &'static str {
    match event {
        Event::Started(_) => "started",
        Event::Bound { .. } => "bound",
        Event::Detached { .. } => "detached",
        Event::Answered { .. } => "answered",
        Event::Edited(_) => "edited",
        Event::Pushed { .. } => "pushed",
        Event::Popped => "popped",
        Event::Synced { .. } => "synced",
        Event::Stopped(_) => "stopped",
        Event::Metered(_) => "metered",
        Event::Claimed => "claimed",
        Event::Parked(_) => "parked",
        Event::ConditionHeld => "condition_held",
        Event::Unparked { .. } => "unparked",
        Event::WakeFailed { .. } => "wake_failed",
        Event::Asked { .. } => "asked",
        Event::Prompted { .. } => "prompted",
        Event::Paused { .. } => "paused",
        Event::Resumed { .. } => "resumed",
        Event::Cleared { .. } => "cleared",
        Event::Compacted { .. } => "compacted",
        Event::TurnFailed { .. } => "turn_failed",
        Event::SessionEnded { .. } => "session_ended",
        Event::Ended { .. } => "ended",
        Event::Approved { .. } => "approved",
        Event::Resealed { .. } => "resealed",
        Event::JudgesApproved { .. } => "judges_approved",
        Event::Certified { .. } => "certified",
        Event::Preflighted { .. } => "preflighted",
        Event::Vouched { .. } => "vouched",
        Event::Placed(_) => "placed",
        Event::Merged { .. } => "merged",
        Event::Task(_) => "task",
    }
}
