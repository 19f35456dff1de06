//! Each package is installed from its file and used, as a person would, without a network.
//!
//! Homes are empty, and the PATH holds the one tool that a way needs, beside `sh` and `grep`.

mod debian;
mod emulated;
mod room;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::Verdict;
use crate::tools;
use emulated::GuestSystem;
use room::{TrialRoom, find};

/// The wheel of this platform among those of all.
const OWN_WHEEL: &str = "-manylinux_2_17_x86_64";
/// How long a newcomer may wait for the first value: ten seconds on a quiet machine, and this on
/// a busy one.
const FIRST_VALUE_GATE: Duration = Duration::from_secs(40);

/// How far the packages are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trial {
    /// With what this machine has.
    Local,
    /// Also in a fresh Debian, which is fetched.
    FreshRoot,
}

/// What one way of installing came to.
struct TrialRow {
    way: &'static str,
    /// Bytes to fetch.
    fetched: u64,
    /// Until `try` had shown everything.
    first_value: Duration,
    /// Of `stopgate --version`, the median.
    start_up: Duration,
}

/// Installs and uses every package in `out` that this machine can run.
pub(crate) fn run(out: &Path, trial: Trial) -> Result<Verdict> {
    check_sums(out)?;
    check_signature(out)?;
    check_damage(out)?;
    let mut rows = vec![by_script(out)?];
    rows.extend(by_tool("npm", || by_npm(out))?);
    rows.extend(by_tool("python3", || by_pip(out))?);
    rows.extend(uv_programs().map(|programs| by_uv(out, &programs)).transpose()?);
    rows.extend(by_tool("dpkg", || debian::by_dpkg(out))?);
    for system in GuestSystem::ALL {
        if let Some(archive) = system.archive(out)? {
            rows.extend(by_tool(system.emulator(), || emulated::by_emulator(system, &archive))?);
        }
    }
    if trial == Trial::FreshRoot {
        rows.extend(by_tool("debootstrap", || debian::by_fresh_root(out))?);
    }
    print(&rows);
    let is_slow = rows.iter().any(|row| row.first_value > FIRST_VALUE_GATE);
    Ok(if is_slow { Verdict::Broken } else { Verdict::Fine })
}

/// A way that needs a tool; without it, it is not tried, and that is said.
fn by_tool(tool: &str, way: impl FnOnce() -> Result<TrialRow>) -> Result<Option<TrialRow>> {
    if !tools::has(tool) {
        println!("not tried: {tool} is missing");
        return Ok(None);
    }
    way().with_context(|| format!("install by {tool}")).map(Some)
}

fn print(rows: &[TrialRow]) {
    println!("\n| installed by | fetched MB | `try` s | start-up ms |\n|---|---:|---:|---:|");
    for row in rows {
        let megabytes = row.fetched / 10_000;
        println!(
            "| {} | {}.{:02} | {:.1} | {:.1} |",
            row.way,
            megabytes / 100,
            megabytes % 100,
            row.first_value.as_secs_f64(),
            row.start_up.as_secs_f64() * 1000.0
        );
    }
}

fn check_sums(out: &Path) -> Result<()> {
    let mut check = Command::new("sha256sum");
    check.current_dir(out).args(["--check", "--quiet", "--strict", "SHA256SUMS"]);
    tools::run(&mut check).context("check the sums")
}

/// With the real minisign, where it is here.
fn check_signature(out: &Path) -> Result<()> {
    if !tools::has("minisign") {
        println!("not tried: minisign is missing");
        return Ok(());
    }
    let mut check = Command::new("minisign");
    check.current_dir(out).args(["-V", "-q", "-p", "minisign.pub", "-m", "SHA256SUMS"]);
    tools::run(&mut check).context("check the signature")
}

/// A download that was changed on its way is not installed.
fn check_damage(out: &Path) -> Result<()> {
    let room = TrialRoom::new(&["sh"])?;
    let copy = room.path("release");
    fs::create_dir(&copy)?;
    for name in ["SHA256SUMS", "SHA256SUMS.minisig"] {
        fs::copy(out.join(name), copy.join(name))?;
    }
    let archive = find(out, "-linux-musl.tar.gz")?;
    let mut bytes = fs::read(&archive)?;
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(copy.join(archive.file_name().unwrap_or_default()), bytes)?;
    let said = script(&room, &out.join("install.sh"), &copy).output()?;
    let text = String::from_utf8_lossy(&said.stderr);
    ensure!(!said.status.success() && text.contains("differs"), "refuse a damaged file: {text}");
    ensure!(!room.path("home/.local/bin/stopgate").exists(), "install nothing");
    Ok(())
}

/// The installer, with the machine's usual programs: it needs tar, uname and others.
fn script(room: &TrialRoom, installer: &Path, base: &Path) -> Command {
    let mut command = room.command("sh");
    command.env("PATH", "/usr/bin:/bin").arg(installer).env("STOPGATE_BASE", base);
    command
}

fn by_script(out: &Path) -> Result<TrialRow> {
    let room = TrialRoom::new(&[])?;
    let begun = std::time::Instant::now();
    tools::run(&mut script(&room, &out.join("install.sh"), out))?;
    let program = room.path("home/.local/bin/stopgate");
    room.shows(&program, &[])?;
    let fetched = fs::metadata(find(out, "-linux-musl.tar.gz")?)?.len();
    room.row("install.sh", fetched, begun, &program, &[])
}

/// As `npx stopgate try`, in a home that has nothing but both packages.
fn by_npm(out: &Path) -> Result<TrialRow> {
    let room = TrialRoom::new(&["node", "npm", "npx"])?;
    let packages = [find(out, "stopgate-npm-")?, find(out, "stopgate-linux-x64-npm-")?];
    let begun = std::time::Instant::now();
    let mut install = room.command("npm");
    install.args([
        "install",
        "--offline",
        "--no-update-notifier",
        "--no-audit",
        "--no-fund",
        "--loglevel",
        "error",
    ]);
    tools::run(install.args(&packages))?;
    let npx = room.path("bin/npx");
    let arguments = ["--offline", "--no", "--", "stopgate"];
    room.shows(&npx, &arguments)?;
    let sizes: Result<Vec<u64>, _> =
        packages.iter().map(|path| fs::metadata(path).map(|file| file.len())).collect();
    let starter = room.path("home/node_modules/.bin/stopgate");
    room.row("npm", sizes?.iter().sum(), begun, &starter, &[])
}

fn by_pip(out: &Path) -> Result<TrialRow> {
    let room = TrialRoom::new(&["python3"])?;
    let place = room.path("venv");
    tools::run(room.command("python3").args(["-m", "venv"]).arg(&place))?;
    let begun = std::time::Instant::now();
    let mut pip = room.command(place.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check"]);
    tools::run(pip.arg("--find-links").arg(out).arg("stopgate"))?;
    let program = place.join("bin/stopgate");
    room.shows(&program, &[])?;
    room.row("pip", fs::metadata(find(out, OWN_WHEEL)?)?.len(), begun, &program, &[])
}

/// Where uv's programs are: on the PATH, or from `PyPI`. Without them they are not tried.
fn uv_programs() -> Option<PathBuf> {
    if let Ok(uvx) = room::real("uvx") {
        return uvx.parent().map(Path::to_path_buf);
    }
    let installed = tools::python_package("uv", "uv");
    installed.map(|place| place.join("bin")).map_or_else(
        |error| {
            println!("not tried: uvx is missing: {error:#}");
            None
        },
        Some,
    )
}

fn by_uv(out: &Path, programs: &Path) -> Result<TrialRow> {
    let room = TrialRoom::new(&["python3"])?;
    for name in ["uv", "uvx"] {
        room.add(name, &programs.join(name))?;
    }
    let begun = std::time::Instant::now();
    let wheel = find(out, OWN_WHEEL)?;
    let wheel = wheel.to_str().context("read the wheel's path")?;
    let uvx = room.path("bin/uvx");
    let arguments = ["--offline", "--quiet", "--no-python-downloads", "--from", wheel, "stopgate"];
    room.shows(&uvx, &arguments)?;
    room.row("uvx", fs::metadata(wheel)?.len(), begun, &uvx, &arguments)
}
