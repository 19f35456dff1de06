//! What lies outside the process and is not a store: time, chance, checks, and who and where it is.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use stopgate_core::{LoopId, Receipt, Timestamp};
use stopgate_verify::{
    Check, ChecksRun, Key, Measured, ProofRequest, Proved, RunLimits, StartCopy,
};

use crate::project::project_of;
use crate::settings::Settings;

/// No journal was written before this; a clock that says so is wrong. (2024-01-01)
pub(crate) const CLOCK_EARLIEST: Timestamp = Timestamp::from_unix_millis(1_704_067_200_000);

/// Letters that nobody confuses when a name is read aloud.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const NAME_LETTERS: u32 = 10;

/// The world as a use case sees it.
pub trait World {
    /// The current time.
    fn now(&self) -> Timestamp;
    /// A name for a new loop.
    fn new_id(&mut self) -> LoopId;
    /// Proves what can be proven.
    fn prove(&mut self, request: &ProofRequest<'_>) -> Proved;
    /// Runs checks for the first time; nothing where somebody ended the program meanwhile.
    fn measure(&mut self, request: &ProofRequest<'_>) -> Option<Vec<Measured>>;
    /// Runs checks for the first time on a copy of the tree as it was at the start; nothing where
    /// somebody ended the program meanwhile.
    fn measure_copy(
        &mut self,
        copy: &StartCopy,
        request: &ProofRequest<'_>,
    ) -> Option<Vec<Receipt>>;
    /// Runs commands that prove nothing by themselves: rules and gates of tasks.
    fn run(&mut self, checks: &[Check<'_>], limits: RunLimits<'_>) -> ChecksRun;
    /// A stopwatch in microseconds; only differences mean anything.
    fn micros(&mut self) -> u64;
    /// Which project a directory belongs to.
    fn project_of(&self, directory: &Path) -> PathBuf {
        project_of(directory)
    }
    /// Whether an agent runs this command, not a person.
    fn is_agents_shell(&self) -> bool {
        Settings.is_agents_shell()
    }
    /// The key of this home, which signs what was proven.
    fn key(&self, home: &Path) -> io::Result<Rc<Key>> {
        Key::of(home).map(Rc::new)
    }
    /// Whether there is a person who may want to hear what becomes of loops.
    fn hears_news(&self) -> bool {
        true
    }
}

/// The real one.
#[derive(Debug)]
pub struct RealWorld {
    clock: Option<i64>,
    seed: Option<u64>,
    watch: Option<Instant>,
}

impl RealWorld {
    /// The real world, or the one that a test asks for.
    pub fn new(settings: Settings) -> Self {
        Self { clock: settings.test_clock(), seed: settings.test_seed(), watch: None }
    }

    fn chance(&mut self) -> u64 {
        if let Some(seed) = &mut self.seed {
            *seed = seed.wrapping_add(1);
            return *seed;
        }
        let mut bytes = [0; 8];
        match getrandom::fill(&mut bytes) {
            Ok(()) => u64::from_le_bytes(bytes),
            // A system without chance still has time; a taken name is refused by the journal.
            Err(_) => self.now().unix_millis().unsigned_abs().wrapping_mul(0x9e37_79b9_7f4a_7c15),
        }
    }
}

impl World for RealWorld {
    fn now(&self) -> Timestamp {
        self.clock.map_or_else(system_time, Timestamp::from_unix_millis)
    }

    fn new_id(&mut self) -> LoopId {
        let mut number = self.chance();
        let mut name = String::new();
        for _ in 0..NAME_LETTERS {
            let letter = usize::try_from(number % 32).unwrap_or(0);
            name.push(char::from(ALPHABET[letter]));
            number /= 32;
        }
        LoopId::new(&name)
    }

    fn prove(&mut self, request: &ProofRequest<'_>) -> Proved {
        stopgate_verify::prove(request, &system_time)
    }

    fn measure(&mut self, request: &ProofRequest<'_>) -> Option<Vec<Measured>> {
        stopgate_verify::measure(request, &system_time)
    }

    fn measure_copy(
        &mut self,
        copy: &StartCopy,
        request: &ProofRequest<'_>,
    ) -> Option<Vec<Receipt>> {
        copy.run(request, &system_time)
    }

    fn run(&mut self, checks: &[Check<'_>], limits: RunLimits<'_>) -> ChecksRun {
        stopgate_verify::run(checks, limits, &system_time)
    }

    fn micros(&mut self) -> u64 {
        let begun = *self.watch.get_or_insert_with(instant);
        u64::try_from(instant().duration_since(begun).as_micros()).unwrap_or(u64::MAX)
    }
}

#[expect(clippy::disallowed_methods, reason = "the door")]
fn system_time() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let millis = since.map_or(0, |span| i64::try_from(span.as_millis()).unwrap_or(i64::MAX));
    Timestamp::from_unix_millis(millis)
}

#[expect(clippy::disallowed_methods, reason = "the door: how long a gate took")]
fn instant() -> Instant {
    Instant::now()
}
