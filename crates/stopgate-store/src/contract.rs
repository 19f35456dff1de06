//! The cases that every engine must pass, and the tools to run them.
//!
//! An engine gives a [`Bench`]: a fresh journal that can be opened several times,
//! as several processes would. Nothing here knows which engine it is.

mod cases;
mod crowd;
mod scene;
mod upkeep;

use std::fmt::Write as _;

use crate::journal::Journal;

pub use scene::{bound, ended, named, prompted, started};

/// A fresh journal, and as many doors to it as a case wants.
pub trait Bench: Sync {
    /// One more door to the same journal.
    fn open(&self) -> Box<dyn Journal>;
}

/// One case: its sentence, and what it does.
pub type ContractCase = (&'static str, fn(&dyn Bench));

/// Every case there is.
pub fn cases() -> Vec<ContractCase> {
    let mut all = cases::all();
    all.extend(crowd::all());
    all.extend(upkeep::all());
    all
}

/// Runs every case on a fresh journal of `engine`; gives the table of what passed.
pub fn run(engine: &str, fresh: &dyn Fn() -> Box<dyn Bench>) -> String {
    let mut table = String::new();
    for (sentence, case) in cases() {
        let bench = fresh();
        case(&*bench);
        let _ = writeln!(table, "{engine:<10} {sentence:<60} ok");
    }
    table
}
