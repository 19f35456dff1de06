//! The engine: one door to each room, over one context.

use std::cell::RefCell;
use std::rc::Rc;

use stopgate_core::Timestamp;

use crate::address::Address;
use crate::attack::Attacks;
use crate::checking::CheckingView;
use crate::context::Context;
use crate::driven::Driven;
use crate::failure::Failure;
use crate::home::Home;
use crate::judging::certificate::Certificates;
use crate::loops::Loops;
use crate::loops::handover::Handover;
use crate::loops::snapshots::Snapshots;
use crate::metering::Metering;
use crate::see::Records;
use crate::session::SessionHooks;
use crate::settings::Settings;
use crate::stop::Stops;
use crate::stores::Stores;
use crate::tasks::TaskRecords;
use crate::trust::ProjectTrust;
use crate::upkeep::Upkeep;
use crate::verify::{Approvals, Verifier};
use crate::view::Views;
use crate::waiting::ParkedLoops;
use crate::worktrees::Worktrees;

/// Every use case, over one journal.
pub struct Engine {
    pub(crate) context: Context,
}

impl From<Context> for Engine {
    fn from(context: Context) -> Self {
        Self { context }
    }
}

impl Engine {
    /// The engine that the environment and the person's settings ask for.
    pub fn open(settings: Settings, stores: Stores) -> Result<Self, Failure> {
        Context::open(settings, stores).map(Self::from)
    }

    /// The same, for who must get out: settings that make no sense count for nothing, as they do
    /// for the hook, and are told beside it.
    pub fn open_leniently(
        settings: Settings,
        stores: Stores,
    ) -> Result<(Self, Option<Failure>), Failure> {
        let (context, trouble) = Context::open_leniently(settings, stores)?;
        Ok((Self::from(context), trouble))
    }

    /// Spares children of this process that checks know nothing of: sessions that run beside them.
    pub const fn spare_children(&mut self) {
        self.context.strangers = stopgate_verify::Strangers::Spare;
    }

    /// Has `listener` told from now on which check runs.
    pub fn tell_checks(&mut self, listener: impl FnMut(&CheckingView) + 'static) {
        self.context.listener = Some(Rc::new(RefCell::new(listener)));
    }

    /// The current time.
    pub fn now(&self) -> Timestamp {
        self.context.now()
    }

    /// Whether a stop of a loop was allowed that waits for something outside its session: somebody
    /// must watch for it.
    pub const fn saw_parked(&self) -> bool {
        self.context.saw_parked
    }

    /// Where stopgate keeps its things.
    pub const fn home(&self) -> &Home {
        &self.context.home
    }

    /// Whether the journal is on a server, so that to ask it is to wait.
    pub const fn is_on_server(&self) -> bool {
        match self.context.choice.address {
            Address::Postgres(_) => true,
            Address::Own | Address::Sqlite(_) => false,
        }
    }

    /// Chores that may wait until the answer is printed.
    pub fn settle(&mut self) {
        self.context.settle();
    }

    /// Loops: how they begin, and what people and agents do to them.
    pub const fn loops(&mut self) -> Loops<'_> {
        Loops { context: &mut self.context }
    }

    /// Loops that wait for a person, or were left behind by their session.
    pub const fn handover(&mut self) -> Handover<'_> {
        Handover { context: &mut self.context }
    }

    /// States of the work that are kept, and restored.
    pub const fn snapshots(&mut self) -> Snapshots<'_> {
        Snapshots { context: &mut self.context }
    }

    /// Runs criteria on demand; nothing is recorded.
    pub const fn verifier(&mut self) -> Verifier<'_> {
        Verifier { context: &mut self.context }
    }

    /// A person's word on a loop, and what it leads to.
    pub const fn approvals(&mut self) -> Approvals<'_> {
        Approvals { context: &mut self.context }
    }

    /// Signed receipts, and the keys whose signatures count.
    pub const fn certificates(&mut self) -> Certificates<'_> {
        Certificates { context: &mut self.context }
    }

    /// A person's trust in the files of projects.
    pub const fn trust(&mut self) -> ProjectTrust<'_> {
        ProjectTrust { context: &mut self.context }
    }

    /// What happened to loops, as people and programs read it.
    pub const fn records(&mut self) -> Records<'_> {
        Records { context: &mut self.context }
    }

    /// Loops as they stand.
    pub const fn views(&mut self) -> Views<'_> {
        Views { context: &mut self.context }
    }

    /// What agents have used.
    pub const fn metering(&mut self) -> Metering<'_> {
        Metering { context: &mut self.context }
    }

    /// What the driver of sessions tells and asks.
    pub const fn driven(&mut self) -> Driven<'_> {
        Driven { context: &mut self.context }
    }

    /// Loops that work in a git worktree of their own.
    pub const fn worktrees(&mut self) -> Worktrees<'_> {
        Worktrees { context: &mut self.context }
    }

    /// Loops that are parked until something outside their session happens.
    pub const fn waits(&mut self) -> ParkedLoops<'_> {
        ParkedLoops { context: &mut self.context }
    }

    /// The store as a whole.
    pub const fn upkeep(&mut self) -> Upkeep<'_> {
        Upkeep { context: &mut self.context }
    }

    /// Attempts to pass checks without doing the work.
    pub const fn attacks(&mut self) -> Attacks<'_> {
        Attacks { context: &mut self.context }
    }

    /// What happened to tasks and their gates.
    pub const fn task_records(&mut self) -> TaskRecords<'_> {
        TaskRecords { context: &mut self.context }
    }

    /// Stops, and how they are judged.
    pub(crate) const fn stops(&mut self) -> Stops<'_> {
        Stops { context: &mut self.context }
    }

    /// What happens in a session between its stops.
    pub(crate) const fn sessions(&mut self) -> SessionHooks<'_> {
        SessionHooks { context: &mut self.context }
    }
}
