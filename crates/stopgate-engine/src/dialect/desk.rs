//! What every format needs: the directory, the clock, the last message, and a state file that
//! nobody else touches meanwhile.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_agents::Call;
use stopgate_core::{
    Criterion, Decision, Digest, Event, Frame, LoopId, Outcome, Phase, Policy, Seen, State,
    Timestamp, ToolUse, apply, decide, digest_of,
};
use stopgate_signals::markers;

use super::lock;
use super::memory::Memory;
use super::{DialectRequest, audit, files, lifecycle};
use crate::context::{Context, unusable};
use crate::failure::Failure;
use crate::home::{Home, file_name};
use crate::log::log_fault;
use crate::observe::{ReadDepth, last_message};
use crate::project::project_of;
use crate::settings::Settings;
use crate::stores::Stores;
use crate::view::{LoopView, loop_view};
use crate::world::{RealWorld, World};
use stopgate_verify::files::FileLock;

/// How long one process waits for the others: less than the watchdog does, to say why.
const PATIENCE: Duration = Duration::from_secs(4);

/// One call or command in one directory.
pub struct DialectCall {
    pub(crate) request: DialectRequest,
    pub(crate) settings: Settings,
    pub(crate) stores: Stores,
    pub(crate) home: Home,
    /// Where the agent works.
    pub(crate) directory: PathBuf,
    /// The time, read once.
    pub(crate) now: Timestamp,
    /// The journal, once it was opened for the audit trail.
    pub(super) context: RefCell<Option<Context>>,
}

impl DialectCall {
    /// The desk of a command or a call in `directory`; the loop may be kept above it, or in the
    /// client's own directory.
    pub fn new(
        settings: Settings,
        stores: Stores,
        request: DialectRequest,
        directory: PathBuf,
    ) -> Result<Self, Failure> {
        Self::with(settings, stores, request, directory, settings.client_directory())
    }

    /// The desk of a call that names its directory beside the payload: no other is looked at
    /// but those above it.
    pub(crate) fn named(
        settings: Settings,
        stores: Stores,
        request: DialectRequest,
        directory: PathBuf,
    ) -> Result<Self, Failure> {
        Self::with(settings, stores, request, directory, None)
    }

    fn with(
        settings: Settings,
        stores: Stores,
        request: DialectRequest,
        directory: PathBuf,
        fallback: Option<PathBuf>,
    ) -> Result<Self, Failure> {
        let home = settings.home()?;
        home.check()?;
        let now = RealWorld::new(settings).now();
        let context = RefCell::new(None);
        let directory = lifecycle::directory_of(&request, settings, directory, fallback);
        Ok(Self { request, settings, stores, home, directory, now, context })
    }

    /// The journal that was opened, to be settled once the answer is printed.
    pub(crate) fn into_context(self) -> Option<Context> {
        self.context.into_inner()
    }

    /// Takes the state file in hand: until it is closed, no other hook or command touches it.
    pub(crate) fn hold(&self, file: &Path) -> Result<Held<'_>, Failure> {
        let file = self.directory.join(file);
        let real = files::canonical(&file);
        self.home.create().map_err(|error| unusable(&self.home, error))?;
        let lock = lock::take(&self.aside(&key(real.parent().unwrap_or(&real)), "lock"), PATIENCE)?;
        let key = format!("{}-{}", self.request.dialect, key(&real));
        let memory = Memory::read(&self.aside(&key, "json"));
        Ok(Held { desk: self, file, key, memory, _lock: lock })
    }

    /// What the agent said last, as far as it can be known: from the payload, else from the
    /// transcript. A transcript that can't be read says nothing.
    pub(crate) fn last_message(call: &Call<'_>) -> Option<String> {
        said_last(call, ReadDepth::Turn)
    }

    /// The same, where a format hears the last message regardless of who wrote after it.
    pub(crate) fn last_message_ever(call: &Call<'_>) -> Option<String> {
        said_last(call, ReadDepth::Whole)
    }

    /// What is seen at a stop: the markers that stand in `message`, and what the payload says.
    pub(crate) fn seen(call: &Call<'_>, message: Option<&str>) -> Seen {
        let spoken = message.map(markers::read).unwrap_or_default();
        Seen {
            markers: markers::own_line(&spoken).collect(),
            message: message.map(digest_of),
            tools: ToolUse::Unknown,
            continued: call.continued,
            background: call.background.iter().map(|task| task.id.to_string()).collect(),
            prompt_id: call.prompt_id.as_deref().map(String::from),
            ..Seen::default()
        }
    }

    /// Writes a line into the log of faults; nothing depends on it.
    pub(crate) fn note(&self, story: &str) {
        let _ = log_fault(self.settings, Some(&self.home), None, story);
    }

    /// A name for a new loop.
    pub(crate) fn new_name(&self) -> String {
        RealWorld::new(self.settings).new_id().as_str().into()
    }

    /// The loop that a sheet describes, as people and programs see it.
    pub(crate) fn view(&self, sheet: &Sheet) -> LoopView {
        let memory = Memory { trail: Some(sheet.run.clone()), ..Memory::default() };
        loop_view(&self.state(sheet, &memory, sheet.updated_at), self.now)
    }

    fn state(&self, sheet: &Sheet, memory: &Memory, started_at: Timestamp) -> State {
        let mut policy = sheet.policy;
        policy.order = self.request.dialect.order();
        State {
            id: LoopId::new(memory.trail.as_deref().unwrap_or("new")),
            goal: sheet.goal.clone(),
            project: project_of(&self.directory).display().to_string(),
            session: None,
            claim_until: None,
            policy,
            phase: sheet.phase.clone(),
            frames: sheet.frames.clone(),
            criteria: sheet.criteria.clone(),
            ground: stopgate_core::Ground::default(),
            surface: stopgate_core::Surface::Hook,
            gates: Vec::new(),
            answer: None,
            woken: None,
            worktree: None,
            origin: stopgate_core::Origin::default(),
            spend: None,
            tally: memory.tally.clone(),
            started_at,
            updated_at: sheet.updated_at,
            progress_at: sheet.updated_at,
            rest_ms: 0,
        }
    }

    fn aside(&self, key: &str, extension: &str) -> PathBuf {
        self.home.directory().join("dialects").join(format!("{key}.{extension}"))
    }
}

/// A state file in hand.
pub(crate) struct Held<'d> {
    pub(crate) desk: &'d DialectCall,
    /// Where the state file is.
    pub(crate) file: PathBuf,
    /// What was remembered of it; written back when it is closed.
    pub(crate) memory: Memory,
    key: String,
    _lock: FileLock,
}

/// One loop as a format's text describes it.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    /// Tells this loop from the one that lay in the file before it.
    pub(crate) run: String,
    /// What it is for, for people.
    pub(crate) goal: String,
    /// How it is judged; the order is the dialect's.
    pub(crate) policy: Policy,
    /// Whether it is steering.
    pub(crate) phase: Phase,
    /// Its frames, the outermost first.
    pub(crate) frames: Vec<Frame>,
    /// What must hold before it is done.
    pub(crate) criteria: Vec<Criterion>,
    /// When it was last touched.
    pub(crate) updated_at: Timestamp,
}

/// A stop that was judged.
#[derive(Clone, Debug)]
pub(crate) struct JudgedFile {
    /// The loop as the file had it.
    pub(crate) before: State,
    /// The verdict and its rule.
    pub(crate) decision: Decision,
    /// The loop as it is now: what the file should say.
    pub(crate) after: State,
}

impl Held<'_> {
    /// The state file's text; nothing where there is none.
    pub(crate) fn read(&self) -> Result<Option<String>, Failure> {
        files::read(&self.file)
    }

    /// Judges a stop of the loop that the sheet describes. Nothing is written yet.
    pub(crate) fn judge(&mut self, sheet: &Sheet, seen: &Seen) -> JudgedFile {
        let now = self.desk.now;
        self.meet(&sheet.run);
        let since = *self.memory.since.get_or_insert(now.unix_millis());
        let since = Timestamp::from_unix_millis(since);
        let state = self.desk.state(sheet, &self.memory, since);
        let decision = decide(&state, seen, now);
        let step = |state: State, event| apply(Some(state), event, now);
        let after = decision.events.iter().try_fold(state.clone(), step);
        let after = after.unwrap_or_else(|| state.clone());
        JudgedFile { before: state, decision, after }
    }

    /// Begins with a blank memory where another loop is in the file than before.
    pub(crate) fn meet(&mut self, run: &str) {
        if self.memory.run != run {
            audit::replaced(self.desk, &self.memory);
            self.memory = Memory { run: run.into(), ..Memory::default() };
        }
    }

    /// Changes the file, keeping it as it was before the first change of this loop.
    pub(crate) fn write(&mut self, path: &Path, text: &str) -> Result<(), Failure> {
        self.keep(path)?;
        files::write(path, text)
    }

    /// Removes the file, keeping it as it was.
    pub(crate) fn remove(&mut self, path: &Path) -> Result<(), Failure> {
        // What is about to be gone is kept as it is now, whatever was kept before.
        self.memory.backups.retain(|kept| *kept != path.display().to_string());
        self.keep(path)?;
        files::remove(path)
    }

    /// Remembers and records what came of a stop, in the words that were sent; never fails.
    pub(crate) fn close(mut self, judged: JudgedFile, words: &str) {
        self.memory.tally = judged.after.tally.clone();
        let decision = judged.decision.saying(words);
        let over = judged.after.outcome().is_some();
        audit::record(self.desk, &mut self.memory, &judged.before, &decision.events);
        if over {
            self.desk.notify(&judged.after, &ended(&judged.after, words));
            self.memory = Memory::over(std::mem::take(&mut self.memory.run));
        }
        self.save();
    }

    /// Tells the person that the loop of the sheet ended for a reason that no stop decided.
    pub(crate) fn tell_end(&self, sheet: &Sheet, outcome: Outcome, why: &str, words: &str) {
        let now = self.desk.now;
        let state = self.desk.state(sheet, &self.memory, now);
        let end = Event::Ended { outcome, why: why.into() };
        if let Some(ended) = apply(Some(state), &end, now) {
            self.desk.notify(&ended, words);
        }
    }

    /// Ends the audit trail of a loop that the file says is over; nothing where there is none.
    pub(crate) fn over(&mut self, outcome: Outcome, why: &str) {
        if self.memory.trail.is_some() {
            audit::ended(self.desk, &self.memory, outcome, why);
            self.memory = Memory::default();
            self.save();
        }
    }

    /// Writes what is remembered; for commands that judge nothing.
    pub(crate) fn save(&self) {
        let path = self.desk.aside(&self.key, "json");
        let text = serde_json::to_string(&self.memory).unwrap_or_default();
        if let Err(failure) = files::write(&path, &text) {
            self.desk.note(&failure.story());
        }
    }

    fn keep(&mut self, path: &Path) -> Result<(), Failure> {
        let name = path.display().to_string();
        if self.memory.backups.contains(&name) || !path.exists() {
            return Ok(());
        }
        let file = path.file_name().unwrap_or_default().display();
        let stamp = self.desk.now.unix_millis();
        let directory = self.desk.home.directory().join("backups").join(&*file_name(&self.key));
        let numbered = (2..).map(|number| directory.join(format!("{stamp}-{number}-{file}")));
        let names = std::iter::once(directory.join(format!("{stamp}-{file}"))).chain(numbered);
        if let Some(kept) = names.into_iter().find(|kept| !kept.exists()) {
            files::keep(path, &kept)?;
        }
        self.memory.backups.push(name);
        Ok(())
    }
}

fn said_last(call: &Call<'_>, depth: ReadDepth) -> Option<String> {
    let told = call.last_message.as_ref().map(ToString::to_string);
    told.or_else(|| last_message(call, depth).ok().flatten())
}

/// What the person is told of an end.
fn ended(state: &State, words: &str) -> String {
    match (&state.phase, words) {
        (Phase::Ended { outcome, why, .. }, "") => {
            format!("the loop \"{}\" ended as {outcome}: {why}", state.goal)
        }
        (_, words) => words.into(),
    }
}

/// A path as a short file name.
fn key(path: &Path) -> String {
    let digest = Digest::new().part(path.as_os_str().as_encoded_bytes());
    format!("{:016x}", digest.value())
}
