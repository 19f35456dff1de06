//! The programs that make namespaces, and whether they may.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::PlaceError;
use crate::tool::tool;

/// Where systems keep their own programs. `PATH` is not asked: the work may have put a program
/// of its own there.
const SYSTEM_DIRS: [&str; 5] =
    ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/run/current-system/sw/bin"];
/// How long a trial may take.
const TRIAL_TIME: Duration = Duration::from_secs(3);

/// By what right mounts are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// As the superuser.
    Superuser,
    /// In a user namespace, in which the user keeps its number.
    UserNamespace,
}

/// A way into a namespace of our own.
#[derive(Clone, Debug)]
pub(super) struct Namespace {
    pub(super) unshare: PathBuf,
    pub(super) mount: PathBuf,
    pub(super) setpriv: PathBuf,
    pub(super) shell: PathBuf,
    /// Brings the loopback interface up: a program and its arguments.
    pub(super) loopback: Option<(PathBuf, &'static str)>,
    pub(super) access: Access,
}

impl Namespace {
    /// Looks for the system's programs, and tries them.
    pub(super) fn find() -> Result<Self, PlaceError> {
        Self::find_in(&SYSTEM_DIRS.map(Path::new))
    }

    pub(super) fn find_in(dirs: &[&Path]) -> Result<Self, PlaceError> {
        if !cfg!(target_os = "linux") {
            return Err(PlaceError::Unsupported("only Linux has mount namespaces".into()));
        }
        let find = |name: &str| dirs.iter().map(|dir| dir.join(name)).find(|path| path.is_file());
        let need = |name: &str| find(name).ok_or_else(|| missing(name));
        let ip = find("ip").map(|ip| (ip, "link set lo up"));
        let loopback = ip.or_else(|| find("ifconfig").map(|ifconfig| (ifconfig, "lo up")));
        let mut namespace = Self {
            unshare: need("unshare")?,
            mount: need("mount")?,
            setpriv: need("setpriv")?,
            shell: need("sh")?,
            loopback,
            access: Access::Superuser,
        };
        if stopgate_system::is_superuser() && namespace.attempt().is_ok() {
            return Ok(namespace);
        }
        namespace.access = Access::UserNamespace;
        namespace.attempt().map_err(PlaceError::Unsupported)?;
        Ok(namespace)
    }

    /// The options of `unshare` for a mount namespace.
    pub(super) fn options(&self) -> &'static [&'static str] {
        match self.access {
            Access::Superuser => &["--mount"],
            Access::UserNamespace => &["--user", "--map-current-user", "--keep-caps", "--mount"],
        }
    }

    /// The options of `setpriv` that take away the right to undo our mounts. A superuser keeps
    /// its other rights: checks that it runs elsewhere have them, too.
    pub(super) fn fewer_rights() -> &'static [&'static str] {
        if stopgate_system::is_superuser() {
            &["--bounding-set=-sys_admin", "--inh-caps=-sys_admin"]
        } else {
            &["--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all"]
        }
    }

    fn attempt(&self) -> Result<(), String> {
        let mut argv: Vec<OsString> = vec![self.unshare.clone().into()];
        argv.extend(self.options().iter().map(OsString::from));
        argv.extend([OsString::from("--"), self.shell.clone().into(), "-c".into(), ":".into()]);
        match tool(&argv, Path::new("/"), TRIAL_TIME) {
            Ok(ran) if ran.is_fine() => Ok(()),
            Ok(ran) => Err(format!("namespaces are not permitted here: {}", line(&ran.stderr))),
            Err(error) => Err(format!("{} can't be run: {error}", self.unshare.display())),
        }
    }
}

/// What a program complained about, in one line.
pub(super) fn line(complaint: &[u8]) -> String {
    let text = String::from_utf8_lossy(complaint);
    let says = |line: &&str| !line.is_empty() && !line.starts_with("dmesg(1)");
    let lines = text.lines().map(|line| line.trim().trim_end_matches('.')).filter(says);
    let lines: Vec<&str> = lines.collect();
    if lines.is_empty() { "it did not say why".into() } else { lines.join("; ") }
}

fn missing(name: &str) -> PlaceError {
    let text = format!("the program `{name}` was not found; install util-linux");
    PlaceError::Unsupported(text)
}
