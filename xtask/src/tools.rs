//! The programs a chore calls, and where the repository lies.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;

/// The repository's root.
pub(crate) fn root() -> Result<PathBuf> {
    // Cargo says where it found the manifest: another tree's, if the runner was built elsewhere.
    let own = std::env::var_os("CARGO_MANIFEST_DIR");
    let own = own.map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    own.parent().map(Path::to_path_buf).context("find the repository's root")
}

/// The released program.
pub(crate) fn program() -> Result<PathBuf> {
    built("stopgate")
}

/// The program that a chore looks at.
#[derive(Args)]
pub(crate) struct ProgramOption {
    /// Another program than target/dist/stopgate
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

impl ProgramOption {
    /// Where it is.
    pub(crate) fn find(&self) -> Result<PathBuf> {
        match &self.program {
            Some(file) => file.canonicalize().with_context(|| format!("find {}", file.display())),
            None => program(),
        }
    }
}

/// The program that does nothing, built the same way.
pub(crate) fn noop() -> Result<PathBuf> {
    built("noop")
}

/// A program of the released build.
pub(crate) fn built(name: &str) -> Result<PathBuf> {
    let path = root()?.join("target/dist").join(name);
    if !path.is_file() {
        bail!("find target/dist/{name}: run `cargo xtask dist` first");
    }
    Ok(path)
}

/// Runs `command` to its end, its output shown; fails where it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("start {name}"))?;
    if !status.success() {
        bail!("run {name}: {status}");
    }
    Ok(())
}

/// Runs `work` in so many threads, each with its number, and waits for all.
pub(crate) fn abreast<T: Send>(
    threads: usize,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    std::thread::scope(|scope| {
        let work = &work;
        let running: Vec<_> = (0..threads).map(|own| scope.spawn(move || work(own))).collect();
        let joined = running.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined.map(|ended| ended.unwrap_or_else(|_| bail!("run a thread to its end"))).collect()
    })
}

/// Processes of this machine that have such a word in `file`, which is `cmdline` or `environ`.
pub(crate) fn processes(file: &str, is_word: impl Fn(&[u8]) -> bool) -> Vec<String> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = all.filter_map(|entry| entry.file_name().into_string().ok());
    let has_word = |number: &String| {
        let place = Path::new("/proc").join(number);
        // What is dead and not yet buried does not count.
        let stat = std::fs::read_to_string(place.join("stat")).unwrap_or_default();
        let words = std::fs::read(place.join(file)).unwrap_or_default();
        let is_alive = !stat.is_empty() && !stat.contains(") Z ");
        is_alive && words.split(|byte| *byte == 0).any(&is_word)
    };
    let is_number = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
    numbers.filter(is_number).filter(has_word).collect()
}

/// Whether `name` can be found on the path.
pub(crate) fn has(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(name).is_file())
}

/// Whether a tool is to be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Here,
    Missing,
}

/// Brings the list of packages up to date, where this machine has one.
pub(crate) fn refresh() {
    if has("apt-get") && is_root() {
        let mut update = Command::new("apt-get");
        let _ = update.args(["update", "-q"]).stdout(Stdio::null()).status();
    }
}

/// Finds `name`, or installs it as the package `package` where that is possible.
pub(crate) fn get(name: &str, package: &str) -> Tool {
    if has(name) {
        return Tool::Here;
    }
    if !has("apt-get") || !is_root() {
        eprintln!("{name} is missing: apt-get install {package}");
        return Tool::Missing;
    }
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-q", package]).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = install.status();
    if has(name) { Tool::Here } else { Tool::Missing }
}

/// Makes sure that cargo has the subcommand `name`; installs it where it does not.
pub(crate) fn cargo_tool(name: &str) -> Result<()> {
    if has(name) {
        return Ok(());
    }
    eprintln!("{name} is missing: cargo install --locked {name}");
    let mut cargo = Command::new("cargo");
    cargo.args(["install", "--locked", name]);
    run(&mut cargo).with_context(|| format!("install {name}"))
}

/// A Python of its own that has one package, installed once below `target`: says where it is.
pub(crate) fn python_package(name: &str, package: &str) -> Result<PathBuf> {
    let place = root()?.join("target").join(name);
    if !place.join("ready").is_file() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&place))?;
        let mut pip = Command::new(place.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]);
        run(&mut pip).with_context(|| format!("install {package}"))?;
        std::fs::write(place.join("ready"), package)?;
    }
    Ok(place)
}

/// Whether a missing tool breaks a gate: only where machines check.
pub(crate) fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

fn is_root() -> bool {
    let said = Command::new("id").arg("-u").output();
    said.is_ok_and(|said| said.stdout.trim_ascii() == b"0")
}
