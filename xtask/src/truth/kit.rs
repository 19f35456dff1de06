//! The tools that stories use: found on this machine, or installed below `target/truth`.
//!
//! What can't be had is said, and the stories that need it are counted as skipped.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::corpus::TruthStory;
use super::options::TruthPlan;
use crate::tools;

const PYTEST: &str = "pytest==8.3.4";
/// The runners that stories call beside it.
const RUNNERS: [(&str, &str); 6] = [
    ("just", "rust-just==1.59.0"),
    ("nox", "nox==2026.10.20"),
    ("tox", "tox==4.67.13"),
    ("uv", "uv==0.13.7"),
    ("ctest", "cmake==4.4.4"),
    ("task", "go-task-bin==3.54.0"),
];
const JEST: &str = "jest@29.7.0";
const VITEST: &str = "vitest@3.2.4";
const MOCHA: &str = "mocha@11.8.0";

/// The tools, and the search path that has them.
#[derive(Debug)]
pub(crate) struct TruthKit {
    /// Where tools are installed, for snippets that link to them.
    pub(crate) directory: PathBuf,
    /// The program under test.
    pub(crate) program: PathBuf,
    /// The search path of everybody in a story.
    pub(crate) path: String,
    missing: BTreeSet<String>,
}

impl TruthKit {
    /// Finds or installs what is needed.
    pub(crate) fn gather<'a>(
        plan: &TruthPlan,
        needs: impl Iterator<Item = &'a String>,
    ) -> Result<Self> {
        let directory = tools::root()?.join("target/truth");
        std::fs::create_dir_all(&directory)?;
        let mut missing = BTreeSet::new();
        for need in needs.collect::<BTreeSet<_>>() {
            if !is_here(need, &directory) {
                eprintln!("{need} is missing: its stories are skipped");
                missing.insert(need.clone());
            }
        }
        let path = search_path(&directory)?;
        Ok(Self { directory, program: plan.program.clone(), path, missing })
    }

    /// The tool that `story` needs and this machine lacks.
    pub(crate) fn missing(&self, story: &TruthStory) -> Option<&str> {
        story.needs.iter().find_map(|need| self.missing.get(need)).map(String::as_str)
    }

    /// How the kit is described in a report.
    pub(crate) fn program_shown(&self) -> String {
        self.program.display().to_string()
    }
}

fn is_here(need: &str, directory: &Path) -> bool {
    match need {
        "pytest" => has_pytest(directory),
        "jest" => has_package(directory, need, JEST),
        "vitest" => has_package(directory, need, VITEST),
        "mocha" => has_package(directory, need, MOCHA),
        name => match RUNNERS.iter().find(|(own, _)| *own == name) {
            Some((_, wanted)) => has_pytest(directory) && has_runner(directory, name, wanted),
            None => tools::has(name),
        },
    }
}

fn has_pytest(directory: &Path) -> bool {
    let venv = directory.join("venv");
    if venv.join("bin/pytest").is_file() {
        return true;
    }
    eprintln!("installing {PYTEST} into target/truth/venv");
    let mut make = Command::new("python3");
    make.args(["-m", "venv"]).arg(&venv);
    let mut install = Command::new(venv.join("bin/pip"));
    install.args(["install", "--quiet", "--disable-pip-version-check", PYTEST]);
    succeeds(&mut make) && succeeds(&mut install)
}

/// A program that pip installs beside pytest.
fn has_runner(directory: &Path, name: &str, wanted: &str) -> bool {
    let venv = directory.join("venv");
    if venv.join("bin").join(name).is_file() {
        return true;
    }
    eprintln!("installing {wanted} into target/truth/venv");
    let mut install = Command::new(venv.join("bin/pip"));
    install.args(["install", "--quiet", "--disable-pip-version-check", wanted]);
    succeeds(&mut install)
}

/// A program that npm installs into a directory of its own.
fn has_package(directory: &Path, name: &str, wanted: &str) -> bool {
    let place = directory.join(name);
    if place.join("node_modules/.bin").join(name).is_file() {
        return true;
    }
    if !tools::has("npm") || std::fs::create_dir_all(&place).is_err() {
        return false;
    }
    eprintln!("installing {wanted} into target/truth/{name}");
    let _ = std::fs::write(place.join("package.json"), "{\"private\": true}\n");
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error", wanted]);
    succeeds(npm.current_dir(&place))
}

fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Shims of version managers look at the home directory, and a story has its own: the
/// toolchain's programs come first.
fn search_path(directory: &Path) -> Result<String> {
    let said = Command::new("rustc").args(["--print", "sysroot"]).output();
    let sysroot = said.context("ask rustc where it is")?.stdout;
    let sysroot = String::from_utf8_lossy(&sysroot).trim().to_string();
    let mut places = vec![directory.join("venv/bin"), Path::new(&sysroot).join("bin")];
    places.extend(["node", "go"].iter().filter_map(|name| home_of(name)));
    places.extend(["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from));
    let mut seen = BTreeSet::new();
    places.retain(|place| seen.insert(place.clone()));
    let joined = std::env::join_paths(places).context("join the search path")?;
    Ok(joined.to_string_lossy().into_owned())
}

fn home_of(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find(|place| place.join(name).is_file())
}
