//! Chores of the repository: the released program, its speed and its hardness.
//!
//! Nothing here ships. A chore starts programs, reads clocks and talks.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a chore talks and measures"
)]

mod bench;
mod conformance;
mod dist;
mod elf;
mod engines;
mod figures;
mod foreign;
mod hardness;
mod hostile;
mod journal;
mod mcp;
mod mutants;
mod night;
mod package;
mod platforms;
mod record;
mod requirements;
mod scene;
mod see;
mod settings;
mod sim;
mod strings;
mod suite;
mod supply;
mod table;
mod tools;
mod trace;
mod transcript;
mod truth;
mod upgrade;
mod waiting;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;
use stopgate_lab::LabAgent;

use bench::{BenchOptions, BenchScope};
use tools::ProgramOption;

/// Chores of the repository
///
/// bench, conformance, hardness, hostile, mcp, package, requirements, see and waiting use
/// target/dist/stopgate, unless another program is named; build it first.
#[derive(Parser)]
#[command(bin_name = "cargo xtask", disable_help_subcommand = true)]
enum Chore {
    /// Every test there is; installs what is missing, and says so
    Test {
        /// The rooms and the program, in a few minutes
        #[arg(long)]
        quick: bool,
    },
    /// Build the static program: target/dist/stopgate
    Dist,
    /// Time and count one stop, as one table; exit 1 where a gate is broken
    Bench(BenchOptions),
    /// The official MCP Inspector and conformance suite against the server
    Mcp(ProgramOption),
    /// The black-box suite for stop hooks against ours, and beside it ten lines of bash
    Conformance(conformance::ConformanceOptions),
    /// Settings files of every agent, generated, edited and edited back
    Settings {
        /// Files of each format
        #[arg(long, value_name = "N", default_value_t = 10_000)]
        cases: u32,
    },
    /// One stop on SQLite and on PostgreSQL: cold, pooled, growing
    Engines(engines::EnginesOptions),
    /// Storms, kills, cancels and faults; exit 1 on any violation
    Hardness(hardness::HardnessOptions),
    /// Plays the stories of truth/ against the program: does done mean done, and is honest work left alone?
    ///
    /// [--only REGEX] [--part 1/4] [--bin PATH] [--place overlay|bound|copy|each] [--quick] [--jobs N] [--json]
    /// [--keep] [--corpus] [--list]: rates by family; exit 1 where a gate is broken. --keep keeps the
    /// directories, --corpus checks the stories against their oracles without the program, --list names them.
    /// --place each: by overlay, and where a check ran apart from the tree, also in the other places.
    /// --stories DIR: stories of another directory instead of the corpus.
    ///
    /// --commits DIR[=COMMAND]… [--limit N]: replays commits that change code and tests as work: how often is
    /// an honest person asked?
    ///
    /// --cost [--place overlay|bound|copy]: runs of the check and processor time of a stop, with judges untouched
    /// and with a test added.
    Truth {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Every requirement of the five workflows, run one by one
    Requirements(requirements::RequirementsOptions),
    /// docs/try.svg: `stopgate try` on a terminal, as an animation
    Record {
        /// Another program than target/release/stopgate
        #[arg(long, value_name = "FILE")]
        program: Option<PathBuf>,
        /// docs/screens/*.ansi as pictures instead
        #[arg(long)]
        screens: bool,
    },
    /// Seeded histories of hooks and commands on one journal
    ///
    /// [--histories N] [--seed N]: 200,000 histories by default. --replay SEED: one of them again.
    Sim {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Every text of the program that a person or a model may read, with its place
    Strings,
    /// Hostile trees against hook, start, status, verify, trust and cancel
    Hostile(hostile::HostileOptions),
    /// Packages and plugins from one source (packages/), in target/package
    ///
    /// Tarball, npm, wheel, .deb, formula, installers, checksums, signatures and SBOM.
    Package(package::PackageOptions),
    /// Build the programs for Linux arm64 and Windows: target/TARGET/dist
    Foreign {
        /// A part of the target's name
        #[arg(long, value_name = "WORD")]
        only: Option<String>,
    },
    /// Whether the program compiles for macOS and for Windows; installs both targets, and zig as their C compiler
    Platforms {
        /// A part of the target's name
        #[arg(long, value_name = "WORD")]
        only: Option<String>,
    },
    /// An earlier program and this one on the same journal, settings and running loops, in both directions
    Upgrade {
        /// The earlier program, or a commit to build it from
        #[arg(long, value_name = "COMMIT|FILE")]
        previous: String,
        #[command(flatten)]
        program: ProgramOption,
    },
    /// 100 parked loops: one process, its memory, its wake-ups while it is quiet, each resumed once
    ///
    /// The process is killed 50 times; none may be lost, none resumed twice.
    Waiting {
        #[arg(long)]
        quick: bool,
        #[command(flatten)]
        program: ProgramOption,
    },
    /// Which planted faults the tests notice; installs cargo-mutants
    Mutants {
        #[arg(long, value_name = "PART", value_parser = ["core", "verify"])]
        only: Option<String>,
        #[arg(long, requires = "only")]
        file: Option<String>,
    },
    /// stopgate run with the real clients and a model that fails: limits, errors, hangs, kills
    Night {
        #[arg(value_parser = night::CLIENTS.map(LabAgent::name))]
        client: Vec<String>,
        /// Only cases whose name has this in it
        #[arg(long, value_name = "TEXT")]
        only: Option<String>,
    },
    /// Four viewers beside a storm of stops; how soon news is seen; two quiet minutes; the report in a browser
    ///
    /// Also the first frame and the memory of watch with 10,000 loops, and stops replayed a second. The HTML report is
    /// looked at with html-validate and axe, in light, dark and print.
    See(see::SeeOptions),
    /// Licences, bans and sources of what others wrote, and advisories where their database can be reached
    Deny,
    /// What the program is built from: target/stopgate.cdx.json (`CycloneDX`)
    Sbom,
}

impl Chore {
    fn run(self) -> Result<Verdict> {
        match self {
            Self::Test { quick: false } => suite::run(suite::all),
            Self::Test { quick: true } => suite::run(suite::quick),
            Self::Dist => dist::run().map(|()| Verdict::Fine),
            Self::Bench(options) => bench::run(&options),
            Self::Mcp(program) => mcp::run(program.find()?),
            Self::Conformance(options) => conformance::run(&options),
            Self::Settings { cases } => settings::run(cases),
            Self::Engines(options) => engines::run(&options),
            Self::Hardness(options) => hardness::run(&options),
            Self::Truth { options } => {
                truth::run(&options.iter().map(String::as_str).collect::<Vec<_>>())
            }
            Self::Requirements(options) => requirements::run(&options),
            Self::Record { screens: true, .. } => record::screens(),
            Self::Record { program, .. } => record::animate(program),
            Self::Sim { options } => sim::run(&options),
            Self::Strings => strings::run(),
            Self::Hostile(options) => hostile::run(&options),
            Self::Package(options) => package::run(options),
            Self::Foreign { only } => foreign::run(only.as_deref()),
            Self::Platforms { only } => platforms::run(only.as_deref()),
            Self::Upgrade { previous, program } => upgrade::run(&previous, &program.find()?),
            Self::Waiting { quick, program } => {
                let quiet = Duration::from_secs(if quick { 10 } else { 60 });
                waiting::run(quiet, &program.find()?)
            }
            Self::Mutants { only, file } => mutants::run(only.as_deref(), file.as_deref()),
            Self::Night { client, only } => night::run(&client, only.as_deref()),
            Self::See(options) => see::run(&options),
            Self::Deny => supply::deny(),
            Self::Sbom => supply::sbom(),
        }
    }

    /// Whether it is timed within the chore itself, or fills a million rows.
    const fn wants_speed(&self) -> bool {
        match self {
            Self::Engines(_) => true,
            Self::Bench(BenchOptions { scope: BenchScope { growth, mcp, .. }, .. }) => {
                *growth || *mcp
            }
            _ => false,
        }
    }
}

fn main() -> ExitCode {
    let chore = Chore::parse();
    let done =
        if cfg!(debug_assertions) && chore.wants_speed() { optimised() } else { chore.run() };
    match done {
        Ok(Verdict::Fine) => ExitCode::SUCCESS,
        Ok(Verdict::Broken) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("could not {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// A chore within another one, as it is typed.
fn chore(words: &[&str]) -> Result<Verdict> {
    Chore::try_parse_from([&["xtask"], words].concat())?.run()
}

/// The same chore, by an optimised build of this program.
fn optimised() -> Result<Verdict> {
    let mut cargo = std::process::Command::new("cargo");
    cargo.current_dir(tools::root()?);
    cargo.args(["run", "--quiet", "--release", "--package", "xtask", "--"]);
    Ok(Verdict::from(cargo.args(std::env::args_os().skip(1)).status()?.success()))
}

/// How a chore came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Every gate holds.
    Fine,
    /// A gate is broken.
    Broken,
}

impl From<bool> for Verdict {
    fn from(is_fine: bool) -> Self {
        if is_fine { Self::Fine } else { Self::Broken }
    }
}
