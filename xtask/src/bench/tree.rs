//! How long the fingerprint of a large work tree takes, beside `git status` on the same tree.
//!
//! Every figure is a whole process, started cold; git and the fingerprint take turns.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::figures::{Sample, millis, ratio};
use crate::table::{Gates, Table};
use crate::tools;

const PACKS: usize = 50;
const DIRECTORIES_A_PACK: usize = 50;
const FILES_A_DIRECTORY: usize = 20;
const FILES: usize = 50_000;
const IGNORED: usize = 1_000;
const UNCHANGED_MAX: f64 = 1.0;
const CHANGED_MAX: f64 = 1.2;
const UNCHANGED_TIME_GOAL: Duration = Duration::from_millis(60);
const WARM_UP: usize = 3;
/// After this nothing counts as changed just now.
const SETTLED: Duration = Duration::from_millis(2_200);

/// A repository, a cache, and the program that fingerprints.
struct Scene {
    directory: TempDir,
    program: PathBuf,
}

/// What was measured.
#[derive(Default)]
struct Taken {
    status: Vec<Duration>,
    /// While files are edited.
    edit_status: Vec<Duration>,
    cold: Vec<Duration>,
    unchanged: Vec<Duration>,
    changed: Vec<Duration>,
    added: Vec<Duration>,
    deleted: Vec<Duration>,
    staged: Vec<Duration>,
    /// Whole stops of the released program.
    stops: Vec<Duration>,
}

/// Makes the repository, times everything and prints it.
pub(super) fn measure(rounds: usize, gates: &mut Gates) -> Result<()> {
    let scene = Scene::new()?;
    let mut taken = Taken::default();
    std::thread::sleep(SETTLED);
    for _ in 0..3 {
        fs::remove_dir_all(scene.cache()).ok();
        taken.cold.push(scene.fingerprint()?.1);
    }
    scene.begin_loop()?;
    for round in 0..WARM_UP + rounds {
        let (status, unchanged) = (scene.status()?, scene.fingerprint()?.1);
        let stop = scene.stop()?;
        if round >= WARM_UP {
            taken.status.push(status);
            taken.unchanged.push(unchanged);
            taken.stops.push(stop);
        }
    }
    if scene.checks_run() != 1 {
        bail!("run no command on an unchanged tree: the check ran {} times", scene.checks_run());
    }
    for round in 0..rounds.min(60) {
        scene.edit(round, &mut taken)?;
    }
    print(taken, rounds, gates);
    Ok(())
}

impl Scene {
    fn new() -> Result<Self> {
        let directory = tempfile::Builder::new().prefix("stopgate-chore-").tempdir()?;
        let scene = Self { directory, program: program()? };
        let root = scene.root();
        let directories = PACKS * DIRECTORIES_A_PACK;
        for at in 0..directories {
            let (pack, inner) = (at / DIRECTORIES_A_PACK, at % DIRECTORIES_A_PACK);
            fill(&root.join(format!("pack-{pack:02}/src/module-{inner:02}")))?;
        }
        if directories * FILES_A_DIRECTORY != FILES {
            bail!("make a tree of {FILES} files");
        }
        fs::write(root.join(".gitignore"), "/target/\n*.log\n.env\n")?;
        fs::create_dir_all(root.join("target/debug"))?;
        for file in 0..IGNORED {
            fs::write(root.join(format!("target/debug/object-{file}.o")), "ignored")?;
        }
        scene.git(&["init", "-q", "."])?;
        scene.git(&["add", "-A"])?;
        let author = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"];
        scene.git(&[author.as_slice(), &["commit", "-q", "-m", "all"]].concat())?;
        Ok(scene)
    }

    fn root(&self) -> PathBuf {
        self.directory.path().join("root")
    }

    fn cache(&self) -> PathBuf {
        self.directory.path().join("cache")
    }

    fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    /// A loop whose check fails and counts its runs, and its first stop, which runs it.
    fn begin_loop(&self) -> Result<()> {
        let check =
            format!("t=echo run >> {}; false", self.directory.path().join("runs").display());
        let mut start = self.stopgate()?;
        start.args(["start", "Bench", "--session", "bench", "--check", &check]);
        // The run at the start is a person's wait, not a stop's.
        start.arg("--no-preflight");
        start.args(["--max-idle", "0", "--max-repeat", "0", "--max-iterations", "1000000"]);
        time(&mut start)?;
        let payload = serde_json::json!({
            "session_id": "bench", "hook_event_name": "Stop", "cwd": self.root(),
            "last_assistant_message": "Done.", "stop_hook_active": false,
        });
        fs::write(self.directory.path().join("payload"), payload.to_string())?;
        self.stop().map(|_| ())
    }

    /// One whole stop, which must be refused.
    fn stop(&self) -> Result<Duration> {
        let mut hook = self.stopgate()?;
        hook.args(["hook", "claude"]).stdin(fs::File::open(self.directory.path().join("payload"))?);
        let (said, took) = time_with_input(&mut hook)?;
        if !said.contains("1 of 1 criteria unmet") {
            bail!("have the stop refused: {said}");
        }
        Ok(took)
    }

    fn stopgate(&self) -> Result<Command> {
        let mut stopgate = Command::new(tools::program()?);
        stopgate.current_dir(self.root()).env("STOPGATE_HOME", self.home());
        stopgate.env_remove("STOPGATE_DISABLE");
        Ok(stopgate)
    }

    fn checks_run(&self) -> usize {
        let text = fs::read_to_string(self.directory.path().join("runs")).unwrap_or_default();
        text.lines().count()
    }

    fn git(&self, arguments: &[&str]) -> Result<Duration> {
        let mut git = Command::new("git");
        git.current_dir(self.root()).args(arguments);
        Ok(time(&mut git)?.1)
    }

    fn status(&self) -> Result<Duration> {
        self.git(&["status"])
    }

    /// What the fingerprint is, and how long that took.
    fn fingerprint(&self) -> Result<(String, Duration)> {
        let mut program = Command::new(&self.program);
        program.arg(self.root()).arg(self.cache());
        let (said, took) = time(&mut program)?;
        let hash = said.split_whitespace().next().context("read the fingerprint")?;
        Ok((hash.into(), took))
    }

    /// Changes, adds, stages and deletes one file, with a look after each.
    fn edit(&self, round: usize, taken: &mut Taken) -> Result<()> {
        let directory = self.root().join(format!("pack-{:02}/src/module-07", round % PACKS));
        taken.edit_status.push(self.status()?);
        let mut before = self.fingerprint()?.0;
        let mut look = |sample: &mut Vec<Duration>| -> Result<()> {
            let (now, took) = self.fingerprint()?;
            if now == before {
                bail!("see a change in {}", directory.display());
            }
            before = now;
            sample.push(took);
            Ok(())
        };
        fs::write(directory.join("file-03.rs"), format!("changed in round {round}"))?;
        look(&mut taken.changed)?;
        fs::write(directory.join("added.rs"), format!("added in round {round}"))?;
        look(&mut taken.added)?;
        self.git(&["add", "-A"])?;
        taken.staged.push(self.fingerprint()?.1);
        fs::remove_file(directory.join("added.rs"))?;
        look(&mut taken.deleted)
    }
}

/// Makes a directory with sources of different lengths.
fn fill(directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)?;
    for file in 0..FILES_A_DIRECTORY {
        let text = format!("// {} {file}\n", directory.display()).repeat(20 + file * 5);
        fs::write(directory.join(format!("file-{file:02}.rs")), text)?;
    }
    Ok(())
}

/// The program that fingerprints, built to be fast.
fn program() -> Result<PathBuf> {
    let root = tools::root()?;
    let mut cargo = Command::new("cargo");
    cargo.current_dir(&root).args(["build", "--quiet", "--release"]);
    cargo.args(["--package", "stopgate-verify", "--example", "fingerprint"]);
    tools::run(&mut cargo)?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(root.join(target).join("release/examples/fingerprint"))
}

/// What a program printed, and how long it was there.
fn time(command: &mut Command) -> Result<(String, Duration)> {
    time_with_input(command.stdin(Stdio::null()))
}

fn time_with_input(command: &mut Command) -> Result<(String, Duration)> {
    command.stderr(Stdio::inherit());
    let begun = Instant::now();
    let output =
        command.output().with_context(|| format!("start {}", command.get_program().display()))?;
    let took = begun.elapsed();
    if !output.status.success() {
        bail!("run {command:?}: {}", String::from_utf8_lossy(&output.stdout));
    }
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), took))
}

fn print(taken: Taken, rounds: usize, gates: &mut Gates) {
    let (status, edit_status) = (Sample::new(taken.status), Sample::new(taken.edit_status));
    let (quiet, busy) = (status.median(), edit_status.median());
    let columns = ["cold process", "median ms", "p95 ms", "to git status", "gate", ""];
    let mut table = Table::new("The fingerprint of 50,000 files in 2,600 directories", &columns);
    let mut row = |name: &str, sample: Sample, git: Duration, gate: Option<f64>| {
        let own = ratio(sample.median(), git);
        let broken = gate.filter(|gate| own > *gate);
        let word = gate.map_or_else(String::new, |_| {
            gates.ask(broken.map(|gate| format!("{name}: {own:.2} of git status, over {gate}")))
        });
        let shown = gate.map_or_else(|| "-".into(), |gate| format!("{gate:.1}"));
        let (half, most) = (millis(sample.median()), millis(sample.percentile(95)));
        table.row([name.into(), half, most, format!("{own:.2}"), shown, word]);
    };
    let unchanged = Sample::new(taken.unchanged);
    let stops = Sample::new(taken.stops);
    let quick = stops.median();
    row("git status", status, quiet, None);
    row("fingerprint, nothing known", Sample::new(taken.cold), quiet, None);
    row("fingerprint, unchanged", unchanged, quiet, Some(UNCHANGED_MAX));
    row("whole stop, unchanged: nothing runs", stops, quiet, Some(UNCHANGED_MAX));
    row("git status, between edits", edit_status, busy, None);
    row("fingerprint, one changed", Sample::new(taken.changed), busy, Some(CHANGED_MAX));
    row("fingerprint, one added", Sample::new(taken.added), busy, Some(CHANGED_MAX));
    row("fingerprint, one deleted", Sample::new(taken.deleted), busy, Some(CHANGED_MAX));
    row("fingerprint, one staged", Sample::new(taken.staged), busy, None);
    // A time on whatever machine this is: a goal, not a gate.
    let word = if quick > UNCHANGED_TIME_GOAL { "not reached" } else { "reached" };
    table.note(format!(
        "{rounds} rounds in turn with git status, fewer for edits; whole stop {} ms, goal {} ms: {word}.",
        millis(quick),
        UNCHANGED_TIME_GOAL.as_millis()
    ));
    table.print();
}
