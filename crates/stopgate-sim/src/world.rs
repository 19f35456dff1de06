//! A world that is made up: its clock, its names, its files and its checks.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use stopgate_core::{Criterion, Evidence, LoopId, Receipt, Status, Timestamp};
use stopgate_engine::World;
use stopgate_verify::{
    Check, ChecksRun, Key, Measured, ProofRequest, Proved, RunLimits, StartCopy,
};

use crate::chance::mix;
use crate::history::{SharedWorld, SimulatedChecks};

thread_local! {
    /// The key that was read last, and where.
    static KEY: RefCell<Option<(PathBuf, Rc<Key>)>> = const { RefCell::new(None) };
}

/// The world of one process.
pub(crate) struct MadeUp {
    scene: Rc<SharedWorld>,
}

impl MadeUp {
    pub(crate) const fn new(scene: Rc<SharedWorld>) -> Self {
        Self { scene }
    }
}

/// Whether a check passes while the files are at this version.
pub(crate) fn passes(seed: u64, version: u64, criterion: &str) -> bool {
    let name = criterion.bytes().fold(7, |sum: u64, byte| mix(sum ^ u64::from(byte)));
    mix(seed ^ mix(version) ^ name).is_multiple_of(3)
}

/// The version that a receipt was made for.
pub(crate) fn version_of(receipt: &Receipt) -> Option<u64> {
    receipt.evidence.tree.as_deref()?.parse().ok()
}

impl World for MadeUp {
    fn now(&self) -> Timestamp {
        self.scene.now()
    }

    fn new_id(&mut self) -> LoopId {
        // Few names, so that some are taken.
        LoopId::new(&format!("loop{:02}", self.scene.chance.below(40)))
    }

    fn prove(&mut self, request: &ProofRequest<'_>) -> Proved {
        let scene = &self.scene;
        scene.pass(scene.chance.below(20_000));
        scene.let_others_run();
        if scene.chance.once_in(64) {
            return Proved::Interrupted;
        }
        let version = scene.version.get();
        let checked = request.criteria.iter().filter(|criterion| criterion.is_checked());
        let receipts = checked.map(|criterion| receipt(scene, criterion, version)).collect();
        scene.pass(scene.chance.below(60_000));
        scene.let_others_run();
        Proved::Receipts(receipts)
    }

    fn measure(&mut self, _: &ProofRequest<'_>) -> Option<Vec<Measured>> {
        None
    }

    fn measure_copy(&mut self, _: &StartCopy, _: &ProofRequest<'_>) -> Option<Vec<Receipt>> {
        None
    }

    fn run(&mut self, _: &[Check<'_>], _: RunLimits<'_>) -> ChecksRun {
        ChecksRun::Interrupted
    }

    fn micros(&mut self) -> u64 {
        0
    }

    /// Every directory is a project: a history looks at no disk.
    fn project_of(&self, directory: &Path) -> PathBuf {
        directory.into()
    }

    /// Persons act, wherever the history is played.
    fn is_agents_shell(&self) -> bool {
        false
    }

    /// Read once: all histories of a thread have the same home, and nobody replaces its key.
    fn key(&self, home: &Path) -> io::Result<Rc<Key>> {
        KEY.with_borrow_mut(|known| {
            if let Some((of, key)) = known
                && of == home
            {
                return Ok(Rc::clone(key));
            }
            let key = Rc::new(Key::of(home)?);
            *known = Some((home.into(), Rc::clone(&key)));
            Ok(key)
        })
    }

    /// Who plays histories does not want a bell or a command for each loop that ends in them.
    fn hears_news(&self) -> bool {
        false
    }
}

fn receipt(scene: &SharedWorld, criterion: &Criterion, version: u64) -> Receipt {
    let status = match scene.chance.below(40) {
        0 => Status::Error,
        1 => Status::Timeout,
        2 => Status::Tampered,
        _ if scene.setting.checks == SimulatedChecks::Lying => Status::Pass,
        _ if passes(scene.seed, version, &criterion.name) => Status::Pass,
        _ => Status::Fail,
    };
    let evidence = Evidence { tree: Some(version.to_string()), ..Evidence::default() };
    Receipt {
        exit_code: (status == Status::Pass).then_some(0),
        duration_ms: 1,
        evidence,
        ..Receipt::new(criterion.name.clone(), status, scene.now())
    }
}
