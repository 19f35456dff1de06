//! How fast one stop is, how much it asks for, and whether that grows.
//!
//! Times are ratios to a program that does nothing, built and started the same way,
//! all called in turn; counts are exact. Goals are for a quiet machine; gates leave
//! room for noise.

mod counts;
pub(crate) mod growth;
mod mcp;
mod peer;
mod sequence;
mod times;
mod tree;

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::scene::{ENDLESS, Scene};
use crate::table::Gates;
use crate::{Verdict, elf, journal, tools, transcript};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// What the command line asks for.
#[derive(Debug)]
struct Plan {
    rounds: usize,
    sizes: Vec<Size>,
    peer: Option<PathBuf>,
    scope: Scope,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// One stop, in every way.
    Stop,
    /// Whether a stop grows with the journal.
    Growth,
    /// The MCP server.
    Mcp,
    /// The fingerprint of a large work tree.
    Tree,
}

/// A transcript's length.
#[derive(Clone, Copy, Debug)]
struct Size {
    name: &'static str,
    bytes: u64,
}

const SIZES: [Size; 4] = [
    Size { name: "100 KB", bytes: 100 * KIB },
    Size { name: "10 MB", bytes: 10 * MIB },
    Size { name: "200 MB", bytes: 200 * MIB },
    Size { name: "1 GB", bytes: 1024 * MIB },
];

/// Measures everything and prints it.
pub(crate) fn run(options: &[&str]) -> Result<Verdict> {
    let plan = plan(options)?;
    let mut gates = Gates::default();
    match plan.scope {
        Scope::Stop => stop(&plan, &mut gates)?,
        Scope::Growth => growth::measure(plan.rounds, &mut gates)?,
        Scope::Tree => tree::measure(plan.rounds, &mut gates)?,
        Scope::Mcp => mcp::measure(plan.rounds, &mut gates)?,
    }
    Ok(gates.verdict())
}

fn stop(plan: &Plan, gates: &mut Gates) -> Result<()> {
    let (small, large) = machines(plan)?;
    times::measure(plan, &small, &large, gates)?;
    counts::measure(plan, &small, &large, gates)?;
    sequence::measure(gates)?;
    size(gates)
}

fn plan(options: &[&str]) -> Result<Plan> {
    let mut plan = Plan { rounds: 200, sizes: SIZES.into(), peer: None, scope: Scope::Stop };
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match *option {
            "--quick" => {
                plan.rounds = 20;
                plan.sizes = vec![SIZES[0], SIZES[2]];
            }
            "--growth" => plan.scope = Scope::Growth,
            "--mcp" => plan.scope = Scope::Mcp,
            "--tree" => plan.scope = Scope::Tree,
            "--peer" => plan.peer = options.next().map(PathBuf::from),
            other => bail!("understand {other}: see cargo xtask --help"),
        }
    }
    Ok(plan)
}

/// One machine with a few loops and one with ten thousand, and all transcripts.
fn machines(plan: &Plan) -> Result<(Scene, Scene)> {
    let small = Scene::new()?.installed()?;
    let large = Scene::of(small.program.clone())?;
    for session in ["held", "by-shell", "batch"] {
        small.start(session, &ENDLESS)?;
    }
    for size in &plan.sizes {
        transcript::write(&transcript_of(&small, *size), size.bytes)?;
        small.start(&beside(*size), &ENDLESS)?;
        small.start(&behind(*size), &ENDLESS)?;
    }
    std::fs::create_dir_all(large.home())?;
    journal::fill(&large.home(), &large.project(), 10_000, 10)?;
    large.start("held", &ENDLESS)?;
    let (events, loops) = journal::counts(&large.home())?;
    println!("the large journal: {events} events of {loops} loops");
    Ok((small, large))
}

fn transcript_of(scene: &Scene, size: Size) -> PathBuf {
    scene.path(&format!("{}.jsonl", size.name.replace(' ', "-")))
}

/// The session whose payloads name a transcript and have the message.
fn beside(size: Size) -> String {
    format!("beside-{}", size.bytes)
}

/// The session whose message must be read from its transcript.
fn behind(size: Size) -> String {
    format!("behind-{}", size.bytes)
}

fn size(gates: &mut Gates) -> Result<()> {
    // With everything in it: the PostgreSQL client and its TLS are.
    const BYTES_MAX: u64 = 16_700_000;
    let program = tools::program()?;
    let bytes = std::fs::metadata(&program)?.len();
    let kind = elf::kind(&program)?;
    let fits = gates.ask((bytes > BYTES_MAX).then(|| format!("the program has {bytes} bytes")));
    let fixed =
        gates.ask((kind != elf::Kind::StaticFixed).then(|| format!("it is {}", kind.word())));
    println!("\nThe program: {bytes} bytes (gate {BYTES_MAX}: {fits}), {} ({fixed}).", kind.word());
    Ok(())
}
