//! What every room works with: the journal and its signs, the world, and the person's settings.

mod change;
mod find;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use stopgate_core::{Criterion, Event, Phase, SessionId, State, Surface, Timestamp, apply};
use stopgate_store::{Appended, Journal, Recorded, Revision, Soundness, Stored};
use stopgate_verify::{ProofStorage, RunningCheck, Strangers, while_watched};

use crate::checking::{CheckingView, KnownCheck, now_running};
use crate::config::{CHECKS_TIME_MAX, Config};
use crate::failure::Failure;
use crate::home::Home;
use crate::notify::{NoticeWire, news, send as send_notices};
use crate::presence::Presence;
use crate::settings::Settings;
use crate::signs::Signs;
use crate::stores::{Opened, StoreChoice, Stores};
use crate::world::{RealWorld, World};

pub use self::change::Incumbent;
pub(crate) use self::change::{gone, refuse_trail};
pub use self::find::LoopTarget;

/// How often a use case decides again because another process was faster.
const TRIES_MAX: usize = 64;

/// Loads the loop that a use case is about.
type Find<'a> = &'a mut dyn FnMut(&mut Context) -> Result<Option<Stored>, Failure>;
/// Says what happens to a loop.
pub(crate) type Change<'a> = &'a mut dyn FnMut(&State, Timestamp) -> Result<Vec<Event>, Failure>;

/// What every room works with, over one journal.
pub(crate) struct Context {
    pub(crate) home: Home,
    pub(crate) journal: Box<dyn Journal>,
    pub(crate) signs: Signs,
    pub(crate) presence: Presence,
    pub(crate) world: Box<dyn World>,
    pub(crate) settings: Settings,
    pub(crate) stores: Stores,
    pub(crate) choice: StoreChoice,
    /// What the person should be told once the answer is printed.
    pub(crate) news: Vec<NoticeWire>,
    /// Hears which check runs, where a person waits for it.
    pub(crate) listener: Option<ChecksListener>,
    /// Whether a loop was seen that waits for something outside its session.
    pub(crate) saw_parked: bool,
    /// What happens to children that belong to none of the checks when those of a stop are over.
    pub(crate) strangers: Strangers,
}

/// Hears which checks run, and how long they took last time.
pub(crate) type ChecksListener = Rc<RefCell<dyn FnMut(&CheckingView)>>;

/// What a context is made of, before its journal is open.
pub(crate) struct ContextParts {
    pub(crate) home: Home,
    pub(crate) world: Box<dyn World>,
    pub(crate) settings: Settings,
    pub(crate) stores: Stores,
    pub(crate) choice: StoreChoice,
}

impl ContextParts {
    /// A context over the journal that was chosen.
    pub(crate) fn open(self) -> Result<Context, Failure> {
        Ok(Context::over(self.stores.open(&self.choice, &self.home)?, self))
    }

    /// A context that finds a journal or fails: a hook never begins one.
    pub(crate) fn open_existing(self) -> Result<Context, Failure> {
        Ok(Context::over(self.stores.open_existing(&self.choice, &self.home)?, self))
    }
}

/// What signs and notices have to know of a loop as it was before an append.
pub(crate) struct EarlierLoop {
    session: Option<SessionId>,
    phase: Phase,
}

impl EarlierLoop {
    fn of(state: &State) -> Self {
        Self { session: state.session.clone(), phase: state.phase.clone() }
    }

    const fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Ended { .. })
    }
}

impl Context {
    /// The context that the environment and the person's settings ask for.
    pub(crate) fn open(settings: Settings, stores: Stores) -> Result<Self, Failure> {
        let home = settings.home()?;
        home.check()?;
        home.create().map_err(|error| unusable(&home, error))?;
        let world = Box::new(RealWorld::new(settings));
        let choice = StoreChoice::read(settings)?;
        ContextParts { home, world, settings, stores, choice }.open()
    }

    /// The same, for who must get out: settings that make no sense count for nothing, as they do
    /// for the hook, and are told beside it.
    pub(crate) fn open_leniently(
        settings: Settings,
        stores: Stores,
    ) -> Result<(Self, Option<Failure>), Failure> {
        let home = settings.home()?;
        home.check()?;
        home.create().map_err(|error| unusable(&home, error))?;
        let (config, trouble) = match Config::read(settings) {
            Ok(config) => (config, None),
            Err(failure) => (Config::default(), Some(failure)),
        };
        let address = StoreChoice::address(settings, || Ok(config.address.clone()))?;
        let (choice, other) = StoreChoice::of(settings, config, address);
        let world = Box::new(RealWorld::new(settings));
        let context = ContextParts { home, world, settings, stores, choice }.open()?;
        Ok((context, trouble.or(other)))
    }

    pub(crate) fn over(opened: Opened, around: ContextParts) -> Self {
        let ContextParts { home, world, settings, stores, choice } = around;
        let Opened { journal, signs } = opened;
        let presence = Presence::of(&home);
        let news = Vec::new();
        let listener = None;
        let saw_parked = false;
        Self {
            home,
            journal,
            signs,
            presence,
            world,
            settings,
            stores,
            choice,
            news,
            listener,
            saw_parked,
            // A hook has no children but its checks.
            strangers: Strangers::End,
        }
    }

    /// Does `work`, and tells waiting readers meanwhile which of these checks runs.
    pub(crate) fn while_told<T>(
        &mut self,
        criteria: &[Criterion],
        work: impl FnOnce(&mut dyn World) -> T,
    ) -> T {
        let Some(listener) = self.listener.clone() else { return work(&mut *self.world) };
        let known = KnownCheck::all(criteria);
        let tell = move |running: &[RunningCheck<'_>]| {
            if let Some((_, view)) = now_running(&known, running) {
                (listener.borrow_mut())(&view);
            }
        };
        while_watched(tell, || work(&mut *self.world))
    }

    /// The current time.
    pub(crate) fn now(&self) -> Timestamp {
        self.world.now()
    }

    /// Chores that may wait until the answer is printed.
    pub(crate) fn settle(&mut self) {
        self.journal.settle();
        self.send_news();
    }

    /// Makes the home directory, for commands that write.
    pub(crate) fn prepare(&self) -> Result<(), Failure> {
        self.home.create().map_err(|error| unusable(&self.home, error))
    }

    /// Loads, changes and stores one loop, as often as others get in between.
    ///
    /// `change` says what happens to the state it is given; nothing means nothing.
    pub(crate) fn update(
        &mut self,
        find: Find<'_>,
        change: Change<'_>,
    ) -> Result<Option<Stored>, Failure> {
        for _ in 0..TRIES_MAX {
            self.journal.begin()?;
            let tried = self.try_update(find, change);
            self.journal.end();
            match tried? {
                Tried::Settled(stored) => return Ok(stored.map(|stored| *stored)),
                Tried::Again => {}
            }
        }
        Err(Failure::fault("could not change the loop: other processes kept changing it"))
    }

    fn try_update(&mut self, find: Find<'_>, change: Change<'_>) -> Result<Tried, Failure> {
        let Some(stored) = find(self)? else {
            return Ok(Tried::Settled(None));
        };
        let now = self.now();
        let events = change(&stored.state, now)?;
        if events.is_empty() {
            return Ok(Tried::Settled(Some(Box::new(stored))));
        }
        match self.store(stored, events, now)? {
            Stocked::Stored(stored) => Ok(Tried::Settled(Some(stored))),
            Stocked::Conflict | Stocked::SessionTaken => Ok(Tried::Again),
        }
    }

    /// Appends `events` to a loop as it was read, and keeps the signs true.
    pub(crate) fn store(
        &mut self,
        stored: Stored,
        events: Vec<Event>,
        now: Timestamp,
    ) -> Result<Stocked, Failure> {
        let before = EarlierLoop::of(&stored.state);
        let soundness = stored.soundness;
        let recorded: Vec<Recorded> =
            events.into_iter().map(|event| Recorded { event, at: now }).collect();
        let state =
            recorded.iter().try_fold(stored.state, |state, r| apply(Some(state), &r.event, r.at));
        let Some(state) = state else {
            return Err(Failure::fault("could not apply the event to the loop"));
        };
        let mut stocked = self.append(stored.revision, &recorded, Some(&before), state)?;
        // What was found forged stays so, whatever is appended to it.
        if let (Stocked::Stored(stored), Soundness::Forged) = (&mut stocked, soundness) {
            stored.soundness = soundness;
        }
        Ok(stocked)
    }

    /// Appends and keeps the signs true: up before the journal knows, down after.
    pub(crate) fn append(
        &mut self,
        expected: Revision,
        recorded: &[Recorded],
        before: Option<&EarlierLoop>,
        state: State,
    ) -> Result<Stocked, Failure> {
        self.put_signs(before, &state)?;
        match self.journal.append(expected, recorded, &state)? {
            Appended::Conflict => Ok(Stocked::Conflict),
            Appended::SessionTaken => Ok(Stocked::SessionTaken),
            Appended::Stored(revision) => {
                self.news.extend(news(before.map(|b| &b.phase), &state, revision.0, self.now()));
                self.take_signs(before, &state);
                let soundness = Soundness::Sound;
                Ok(Stocked::Stored(Box::new(Stored { state, revision, soundness })))
            }
        }
    }

    fn put_signs(&self, before: Option<&EarlierLoop>, state: &State) -> Result<(), Failure> {
        if state.outcome().is_some() {
            return Ok(());
        }
        let known = before.is_some_and(|b| !b.is_over() && b.session == state.session);
        if known { Ok(()) } else { put_sign(&self.signs, state) }
    }

    fn take_signs(&mut self, before: Option<&EarlierLoop>, state: &State) {
        let Some(before) = before else { return };
        let over = state.outcome().is_some();
        match &before.session {
            Some(session) if over || state.session != before.session => {
                if over {
                    self.signs.put_freed(session.as_str(), state.id.as_str(), state.updated_at);
                }
                self.take_held_sign(session);
            }
            None if over || state.session.is_some() => self.take_pending_sign(&state.project),
            Some(_) | None => {}
        }
    }

    /// Takes the sign down unless another loop has come to hold the session meanwhile.
    pub(crate) fn take_held_sign(&mut self, session: &SessionId) {
        // Where signs mean nothing, a server need not be asked about them.
        if !self.signs.are_kept() || matches!(self.journal.load_held(session), Ok(None)) {
            self.signs.take_held(session.as_str());
        }
    }

    pub(crate) fn take_pending_sign(&mut self, project: &str) {
        // Tasks hold nobody and wait for nobody.
        let waits = |left: Vec<Stored>| left.iter().any(|s| s.state.claim_until.is_some());
        if self.signs.are_kept() && self.journal.pending(project).is_ok_and(|left| !waits(left)) {
            self.signs.take_pending(Path::new(project));
        }
    }

    /// Where checks keep their things.
    pub(crate) fn place(&self, logs: PathBuf) -> ProofStorage {
        ProofStorage { home: self.home.directory().into(), logs }
    }

    /// Variables that the person passes on to checks.
    pub(crate) fn passed_variables(&self) -> Vec<String> {
        self.choice.pass.clone()
    }

    /// How long a stop waits for checks.
    pub(crate) fn hook_time(&self) -> Duration {
        self.choice.hook_time.unwrap_or(CHECKS_TIME_MAX)
    }

    /// Sends what is worth telling, once.
    pub(crate) fn send_news(&mut self) {
        let news = std::mem::take(&mut self.news);
        if !self.world.hears_news() {
            return;
        }
        send_notices(self.settings, &self.home, self.now(), &news);
    }

    /// Refuses what only a person may do where an agent asks for it.
    pub(crate) fn as_person(&self, what: &str) -> Result<(), Failure> {
        if self.world.is_agents_shell() {
            return Err(Failure::usage(format!(
                "only a person can {what}, and this is an agent's shell"
            ))
            .hint("a person can run it in another terminal; to ask them: stopgate ask QUESTION"));
        }
        Ok(())
    }
}

impl Drop for Context {
    /// A command has no later moment; the hook settles when its answer is printed.
    fn drop(&mut self) {
        self.settle();
    }
}

/// Why stopgate has no place to keep its things, and what helps.
pub(crate) fn unusable(home: &Home, error: std::io::Error) -> Failure {
    Failure::store(format!("could not make {}", home.directory().display()))
        .hint("set STOPGATE_HOME to a directory that you may write to")
        .because(error)
}

/// Writes the sign of a running loop.
pub(crate) fn put_sign(signs: &Signs, state: &State) -> Result<(), Failure> {
    let put = match &state.session {
        Some(session) => signs.put_held(session.as_str()),
        // Nobody claims a task, so no hook need look for one.
        None if state.surface == Surface::Tools => Ok(()),
        None => signs.put_pending(Path::new(&state.project)),
    };
    put.map_err(|error| Failure::fault("could not write a sign beside the journal").because(error))
}

/// What came of one try.
enum Tried {
    Settled(Option<Box<Stored>>),
    Again,
}

/// What came of an append.
pub(crate) enum Stocked {
    Stored(Box<Stored>),
    Conflict,
    SessionTaken,
}
