//! Work products: what was made for a task and is kept with it.

use stopgate_core::Timestamp;
use stopgate_gates::{Task, TaskStep, WorkProduct};

use super::{DRAFT_BYTES_MAX, TITLE_BYTES_MAX, WorkProductAsk, WorkProductView, bounded};
use crate::failure::Failure;
use crate::view::time_text;

const KIND_BYTES_MAX: usize = 64;

impl WorkProductAsk {
    /// Refuses what is too large to be kept.
    pub(super) fn measure(&self) -> Result<(), Failure> {
        bounded("workProduct.type", Some(&self.kind), KIND_BYTES_MAX)?;
        bounded("workProduct.title", self.title.as_deref(), TITLE_BYTES_MAX)?;
        bounded("workProduct.content", Some(&self.content), DRAFT_BYTES_MAX)
    }

    /// The step that keeps it with `task`, the loop called `id`.
    pub(super) fn step(&self, task: &Task, id: &str, now: Timestamp) -> TaskStep {
        TaskStep::Produced(Box::new(WorkProduct {
            id: task.name("WP", id, now),
            kind: self.kind.clone(),
            title: self.title.clone().unwrap_or_else(|| task.title.clone()),
            content: self.content.clone(),
            iteration: task.running().map(|running| running.number),
            at: now,
        }))
    }
}

impl WorkProductView {
    /// The product without its content: a list of them should stay short.
    pub(super) fn of(product: &WorkProduct) -> Self {
        Self {
            id: product.id.clone(),
            r#type: product.kind.clone(),
            title: product.title.clone(),
            content: None,
            iteration: product.iteration,
            created_at: time_text(product.at),
        }
    }

    /// The product with its content.
    pub(super) fn whole(product: &WorkProduct) -> Self {
        Self { content: Some(product.content.clone()), ..Self::of(product) }
    }
}
