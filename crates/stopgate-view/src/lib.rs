//! What every loop does, why, what it takes, and what another policy would have done.
//!
//! Pure: events in, a story out. Terminal, report and statistics show that one story. Nothing here
//! reads a clock, a file or a terminal, and all text that others wrote is shown through
//! [`shown`] and [`shown_lines`].

mod shown;

mod when;

mod parked;

mod first_run;

mod moment;

mod recall;

mod replay;

mod backtest;

mod story;

mod stats;

mod row;

mod report;

mod markdown;

mod timeline;

mod html;

#[doc(hidden)]
pub mod hostile;

#[cfg(test)]
mod scene;

pub use crate::backtest::{Counterfactual, PolicyChange, back_test};
pub use crate::first_run::{first_run_text, first_runs_text};
pub use crate::html::html;
pub use crate::markdown::markdown;
pub use crate::moment::LoopMoment;
pub use crate::parked::{background_text, condition_text, parking_text, unparked, waits_for};
pub use crate::replay::{Happened, ReplayResult, ReplayedStop, replay};
pub use crate::report::{DiffStat, LoopReport, ReportedLoop};
pub use crate::row::{LoopRow, RowGroup};
pub use crate::shown::{ascii, shown, shown_lines, shown_short};
pub use crate::stats::{CheckStats, GroupStats, LoopStats, ModelStats, ShadowStats, loop_stats};
pub use crate::story::{CriterionMark, CriterionStory, LoopStory, MustAct, PersonsTurn, StopStory};
pub use crate::timeline::svg;
pub use crate::when::{iso_week, short_span, span, utc_clock, utc_minute};
