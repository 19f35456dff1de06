//! The tools by name: one word each, read once from the catalogue.

use serde::{Deserialize, Serialize};

/// A tool that is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "tools.json says what each is for")]
pub enum ToolName {
    HookRegister,
    HookEvaluate,
    HookList,
    HookClear,
    HookUpdate,
    IterationStart,
    IterationValidate,
    IterationNext,
    IterationComplete,
    TaskCreate,
    TaskGet,
    TaskUpdate,
    CheckpointCreate,
    CheckpointResume,
    LoopStart,
    LoopStatus,
    LoopDone,
}

impl ToolName {
    /// Whether it is one of the loop's own three.
    pub(crate) const fn is_of_loop(self) -> bool {
        matches!(self, Self::LoopStart | Self::LoopStatus | Self::LoopDone)
    }
}
