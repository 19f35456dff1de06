//! The formats by name.

use stopgate_core::Order;

stopgate_core::words! {
    /// A loop format defined by another tool.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Dialect {
        /// A topic of a message store, or a front-matter file.
        Idle = "idle",
        /// A list of features and a progress file.
        Features = "features",
        /// Criteria in `.loop/state.json`.
        Criteria = "criteria",
        /// A task record.
        Task = "task",
        /// The state file of the widely used plugin.
        RalphLoop = "ralph-loop",
    }
}

impl Dialect {
    /// The dialect that is judged in this order; none where the order is our own.
    pub fn of(order: Order) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.order() == order)
    }

    /// The order in which its stops are judged.
    pub const fn order(self) -> Order {
        match self {
            Self::Idle => Order::Idle,
            Self::Features => Order::Features,
            Self::Criteria => Order::Criteria,
            Self::Task => Order::Task,
            Self::RalphLoop => Order::RalphLoop,
        }
    }
}
