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

use std::process::ExitCode;

const HELP: &str = "\
Chores of the repository

Usage: cargo xtask CHORE

  test [--quick]                  every test there is; installs what is missing, and says so;
                                  --quick: the rooms and the program, in a few minutes
  dist                            build the static program: target/dist/stopgate
  bench [--quick] [--peer FILE]   time and count one stop, as one table; exit 1 where a gate is broken
                                  FILE is the stop hook of the ralph-loop plugin, measured beside ours
  bench --growth [--quick]        one stop over 1,000 to 1,000,000 stored events: flat within 15 %
  bench --mcp [--quick]           the MCP server beside one on the Node SDK
  bench --tree [--quick]          the fingerprint of a work tree of 50,000 files, beside git status
  mcp [--program FILE]            the official MCP Inspector and conformance suite against the server
  conformance [--program FILE] [--peer FILE] [--write]
                                  the black-box suite for stop hooks against ours, and beside it ten lines
                                  of bash and FILE, the stop hook of the ralph-loop plugin; --write puts
                                  the table into docs/conformance.md
  settings [--cases N]            settings files of every agent, generated, edited and edited back:
                                  10,000 of each format
  engines [--long] [--only WORD]  one stop on SQLite and on PostgreSQL: cold, pooled, growing
                                  WORD is one of cold, pool, growth
  hardness [--long] [--seed N] [--only WORD] [--seconds N]
                                  storms, kills, cancels and faults; exit 1 on any violation
                                  WORD is one of storm, points, kills, remains, cancel, faults, hangs,
                                  power, fuzz
                                  fuzz (by its name, or with --long) gives each target 10 minutes,
                                  or --seconds
  hardness --engines [--long] [--seed N] [--only WORD]
                                  the same for every engine, and what becomes of a stop when its
                                  server dies, changes or can't be used
                                  WORD is one of storm, kills, restart, promote, copy, errors
  truth [--only REGEX] [--part 1/4] [--bin PATH] [--place overlay|bound|copy] [--quick] [--jobs N] [--json]
        [--keep] [--corpus] [--list]
                                  plays the stories of truth/ against the program: does done mean done,
                                  and is honest work left alone? Rates by family; exit 1 where a gate is
                                  broken. --keep keeps the directories, --corpus checks the stories
                                  against their oracles without the program, --list names them
  truth --commits DIR[=COMMAND]… [--limit N]
                                  replays commits that change code and tests as work: how often is an
                                  honest person asked?
  truth --cost [--place overlay|bound|copy]
                                  runs of the check and processor time of a stop, with judges
                                  untouched and with a test added
  requirements [--program FILE] [--only REGEX] [--write]
                                  every requirement of the five workflows, run one by one; --write
                                  makes docs/requirements.md
  record [--program FILE]         docs/try.svg: `stopgate try` on a terminal, as an animation
  record --screens                docs/screens/*.ansi as pictures
  sim [--histories N] [--seed N]  seeded histories of hooks and commands on one journal, 200,000 by default
  sim --replay SEED               one history again
  strings                         every text of the program that a person or a model may read, with its place
  hostile [--quick] [--only TEXT] [--program FILE]
                                  hostile trees against hook, start, status, verify, trust and cancel
  package [--program [PLATFORM=]FILE]… [--out DIR] [--key FILE] [--repository URL]
          [--foreign] [--test | --fresh-root]
                                  packages and plugins from one source (packages/): tarball, npm, wheel,
                                  .deb, formula, installers, checksums, signatures, SBOM, in
                                  target/package; --foreign also builds and packs the programs for
                                  Linux arm64 and Windows, where the tools are there; --test installs each from there and uses it,
                                  --fresh-root also in a fresh Debian (debootstrap); foreign programs
                                  run under qemu-aarch64 and wine
  package --plugins               write plugins/ and the marketplace files anew
  foreign [--only WORD]           build the programs for Linux arm64 and Windows: target/TARGET/dist;
                                  WORD is a part of the target's name
  platforms [--only WORD]         whether the program compiles for macOS and for Windows;
                                  installs both targets, and zig as their C compiler
  upgrade --previous COMMIT|FILE [--program FILE]
                                  an earlier program and this one on the same journal, settings and
                                  running loops, in both directions
  waiting [--quick] [--program FILE]
                                  100 parked loops: one process, its memory, its wake-ups in a quiet
                                  minute, each resumed once; killed 50 times, none lost, none twice
  mutants [--only core|verify]    which planted faults the tests notice; installs cargo-mutants
  night [CLIENT…] [--only TEXT]   stopgate run with the real clients and a model that fails: limits,
                                  errors, hangs, kills; exit 1 where one ends otherwise than it must
  see [--only WORD] [--program FILE] [--write]
                                  four viewers beside a storm of stops; how soon news is seen; two quiet minutes; the first
                                  frame and the memory of watch with 10,000 loops, stops replayed a second; the HTML report under html-validate and axe, in
                                  light, dark and print, with pictures (kept in docs/screens by --write)
                                  WORD is one of viewers, fresh, quiet, many, report
  deny                            licences, bans and sources of what others wrote, and advisories where
                                  their database can be reached; installs cargo-deny
  sbom                            what the program is built from: target/stopgate.cdx.json (CycloneDX)

bench, hardness, hostile, package, see and waiting use target/dist/stopgate; build it first.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        // What is timed within the chore itself, or fills a million rows, is built to be fast.
        ["engines", ..] | ["bench", "--growth" | "--mcp", ..] if cfg!(debug_assertions) => {
            optimised(&words)
        }
        ["test", options @ ..] => suite::run(options),
        ["dist"] => dist::run().map(|()| Verdict::Fine),
        ["bench", options @ ..] => bench::run(options),
        ["engines", options @ ..] => engines::run(options),
        ["conformance", options @ ..] => conformance::run(options),
        ["settings", options @ ..] => settings::run(options),
        ["mcp", options @ ..] => mcp::run(options),
        ["hardness", options @ ..] => hardness::run(options),
        ["truth", options @ ..] => truth::run(options),
        ["record", options @ ..] => record::run(options),
        ["requirements", options @ ..] => requirements::run(options),
        ["sim", options @ ..] => sim::run(options),
        ["strings", options @ ..] => strings::run(options),
        ["hostile", options @ ..] => hostile::run(options),
        ["waiting", options @ ..] => waiting::run(options),
        ["mutants", options @ ..] => mutants::run(options),
        ["package", options @ ..] => package::run(options),
        ["foreign", options @ ..] => foreign::run(options),
        ["platforms", options @ ..] => platforms::run(options),
        ["upgrade", options @ ..] => upgrade::run(options),
        ["night", options @ ..] => night::run(options),
        ["see", options @ ..] => see::run(options),
        ["deny"] => supply::deny(),
        ["sbom"] => supply::sbom(),
        [] | ["--help" | "-h" | "help", ..] => {
            print!("{HELP}");
            Ok(Verdict::Fine)
        }
        _ => Err(anyhow::anyhow!("understand «{}»\n\n{HELP}", words.join(" "))),
    };
    match done {
        Ok(Verdict::Fine) => ExitCode::SUCCESS,
        Ok(Verdict::Broken) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("could not {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The same chore, by an optimised build of this program.
fn optimised(words: &[&str]) -> anyhow::Result<Verdict> {
    let mut cargo = std::process::Command::new("cargo");
    cargo.current_dir(tools::root()?);
    cargo.args(["run", "--quiet", "--release", "--package", "xtask", "--"]).args(words);
    let status = cargo.status()?;
    Ok(if status.success() { Verdict::Fine } else { Verdict::Broken })
}

/// How a chore came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Every gate holds.
    Fine,
    /// A gate is broken.
    Broken,
}
