//! PostgreSQL's programs: found, or installed where the machine lets us.

use std::fs;
use std::path::{Path, PathBuf};

use crate::door;
use crate::error::LabError;

/// Names the directory with PostgreSQL's programs instead of the one that is found.
pub const PG_VARIABLE: &str = "STOPGATE_LAB_PG_BIN";

const DEBIAN: &str = "/usr/lib/postgresql";

/// The directory with the programs.
#[derive(Clone, Debug)]
pub(super) struct Binaries(PathBuf);

impl Binaries {
    /// The directory that [`PG_VARIABLE`] names, else one that is there, else an installed one.
    pub(super) fn find() -> Result<Self, LabError> {
        if let Some(named) = door::variable(PG_VARIABLE).map(PathBuf::from) {
            return complete(named).ok_or(LabError::PostgresMissing);
        }
        if let Some(found) = search() {
            return Ok(found);
        }
        if rustix::process::getuid().is_root() {
            install()?;
        }
        search().ok_or(LabError::PostgresMissing)
    }

    /// Where one program is.
    pub(super) fn path(&self, program: &str) -> PathBuf {
        self.0.join(program)
    }
}

/// Debian's directories, the newest first, then whatever the path has.
fn search() -> Option<Binaries> {
    let versions = fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let mut directories: Vec<(u32, PathBuf)> = versions
        .map(|version| version.path())
        .filter_map(|path| Some((path.file_name()?.to_str()?.parse().ok()?, path.join("bin"))))
        .collect();
    directories.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    let path = door::variable("PATH").unwrap_or_default();
    let others: Vec<PathBuf> = std::env::split_paths(&path).collect();
    directories.into_iter().map(|(_, directory)| directory).chain(others).find_map(complete)
}

/// The directory, if it has all that a cluster needs.
fn complete(directory: PathBuf) -> Option<Binaries> {
    let needed = ["initdb", "postgres", "pg_basebackup", "pg_isready", "psql"];
    needed.iter().all(|name| directory.join(name).is_file()).then_some(Binaries(directory))
}

/// Installs Debian's package, without the server that it would set up and start.
#[expect(
    clippy::print_stderr,
    reason = "the person who runs the tests should know what takes so long"
)]
fn install() -> Result<(), LabError> {
    eprintln!("stopgate-lab: PostgreSQL is missing; installing the package postgresql");
    apt(&["update", "-q"])?;
    apt(&["install", "-qy", "--no-install-recommends", "postgresql-common"])?;
    let conf = Path::new("/etc/postgresql-common/createcluster.conf");
    let old = fs::read_to_string(conf).unwrap_or_default();
    fs::write(conf, format!("{old}\ncreate_main_cluster = false\n"))
        .map_err(LabError::file("write", conf))?;
    apt(&["install", "-qy", "--no-install-recommends", "postgresql", "postgresql-client"])
}

fn apt(arguments: &[&str]) -> Result<(), LabError> {
    let mut apt = door::command("apt-get");
    apt.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    super::server::said(&mut apt).map(drop)
}
