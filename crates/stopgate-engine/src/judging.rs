//! What several rooms use to look at the work: how a loop's checks are prepared, run, reviewed and
//! signed, what gates and tasks say, and whether something that is waited for has happened.
//!
//! A lower layer: it knows the context and the formats, and no room.

pub(crate) mod background;
pub(crate) mod certificate;
pub(crate) mod condition;
pub(crate) mod gates;
pub(crate) mod ground;
pub(crate) mod hands;
pub(crate) mod instant;
pub(crate) mod known_keys;
pub(crate) mod look;
pub(crate) mod origin;
pub(crate) mod reviewing;
pub(crate) mod rules;
pub(crate) mod task_claim;
pub(crate) mod wait_note;
