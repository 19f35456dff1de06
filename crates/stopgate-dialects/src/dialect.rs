//! The formats by name.

use core::fmt;

use stopgate_core::Order;

/// A loop format defined by another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// A topic of a message store, or a front-matter file.
    Idle,
    /// A list of features and a progress file.
    Features,
    /// Criteria in `.loop/state.json`.
    Criteria,
    /// A task record.
    Task,
    /// The state file of the widely used plugin.
    RalphLoop,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Idle, Self::Features, Self::Criteria, Self::Task, Self::RalphLoop];

    /// The dialect of that name.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.word() == word)
    }

    /// The dialect that is judged in this order; none where the order is our own.
    pub fn of(order: Order) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.order() == order)
    }

    /// The word that people and command lines use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Features => "features",
            Self::Criteria => "criteria",
            Self::Task => "task",
            Self::RalphLoop => "ralph-loop",
        }
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

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
