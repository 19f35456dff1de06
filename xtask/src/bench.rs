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

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use crate::scene::{ENDLESS, Scene};
use crate::table::Gates;
use crate::{Verdict, elf, journal, tools, transcript};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// What is measured, and how long.
#[derive(Args)]
pub(crate) struct BenchOptions {
    #[arg(long)]
    quick: bool,
    /// The stop hook of the ralph-loop plugin, measured beside ours
    #[arg(long, value_name = "FILE")]
    peer: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) scope: BenchScope,
}

/// One stop, unless something else is asked for.
#[derive(Args)]
#[group(multiple = false)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct BenchScope {
    /// One stop over 1,000 to 1,000,000 stored events: flat within 15 %
    #[arg(long)]
    pub(crate) growth: bool,
    /// The MCP server beside one on the Node SDK
    #[arg(long)]
    pub(crate) mcp: bool,
    /// The fingerprint of a work tree of 50,000 files, beside git status
    #[arg(long)]
    tree: bool,
}

/// How long, how large, and beside what.
struct Plan<'a> {
    rounds: usize,
    sizes: Vec<Size>,
    peer: Option<&'a Path>,
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
pub(crate) fn run(BenchOptions { quick, peer, scope }: &BenchOptions) -> Result<Verdict> {
    let rounds = if *quick { 20 } else { 200 };
    let mut gates = Gates::default();
    if scope.growth {
        growth::measure(rounds, &mut gates)?;
    } else if scope.tree {
        tree::measure(rounds, &mut gates)?;
    } else if scope.mcp {
        mcp::measure(rounds, &mut gates)?;
    } else {
        let sizes = if *quick { vec![SIZES[0], SIZES[2]] } else { SIZES.into() };
        stop(&Plan { rounds, sizes, peer: peer.as_deref() }, &mut gates)?;
    }
    Ok(gates.verdict())
}

fn stop(plan: &Plan<'_>, gates: &mut Gates) -> Result<()> {
    let (small, large) = machines(plan)?;
    times::measure(plan, &small, &large, gates)?;
    counts::measure(plan, &small, &large, gates)?;
    sequence::measure(gates)?;
    size(gates)
}

/// One machine with a few loops and one with ten thousand, and all transcripts.
fn machines(plan: &Plan<'_>) -> Result<(Scene, Scene)> {
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
