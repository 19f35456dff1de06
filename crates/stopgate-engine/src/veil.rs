//! What an agent is not shown: which criteria are hidden, and what their checks said.

use stopgate_core::{Criterion, Event, Proof, Receipt, State, Terms};

use crate::context::Context;

const HIDDEN: &str = "hidden";

/// Whose criteria are hidden from the caller.
pub(crate) enum Veil {
    /// Nobody's: a person asks.
    Lifted,
    /// These criteria's.
    Over(Vec<String>),
    /// It is not known whose, so no receipt is shown.
    OverAll,
}

/// What of one loop is hidden from the caller.
pub(crate) fn veil(context: &Context, state: &State) -> Veil {
    if !context.settings.is_agents_shell() {
        return Veil::Lifted;
    }
    let hidden = state.criteria.iter().filter(|criterion| criterion.is_hidden());
    Veil::Over(hidden.map(|criterion| criterion.name.clone()).collect())
}

/// What of any loop is hidden from the caller.
pub(crate) fn veil_over_all(context: &Context) -> Veil {
    if context.settings.is_agents_shell() { Veil::OverAll } else { Veil::Lifted }
}

impl Veil {
    /// Takes out of an event what is hidden.
    pub(crate) fn draw(&self, event: &mut Event) {
        match (self, event) {
            (Self::Lifted, _) => {}
            (Self::Over(_) | Self::OverAll, Event::Started(started)) => {
                started.criteria.iter_mut().filter(|c| c.is_hidden()).for_each(hide);
            }
            (Self::Over(_) | Self::OverAll, Event::Stopped(stopped)) => {
                self.draw_receipts(&mut stopped.receipts);
            }
            (Self::Over(_) | Self::OverAll, Event::Preflighted { receipts }) => {
                self.draw_receipts(receipts);
            }
            (Self::Over(_) | Self::OverAll, _other) => {}
        }
    }

    /// Takes out receipts that are hidden.
    pub(crate) fn draw_receipts(&self, receipts: &mut Vec<Receipt>) {
        match self {
            Self::Lifted => {}
            Self::Over(names) => receipts.retain(|receipt| !names.contains(&receipt.criterion)),
            Self::OverAll => receipts.clear(),
        }
    }
}

fn hide(criterion: &mut Criterion) {
    criterion.name = HIDDEN.into();
    criterion.proof = Proof::Attest;
    criterion.terms = Terms::default();
    criterion.last = None;
}
