//! What a hermetic run has besides its tree: process numbers, a home and temporary directories
//! of its own, and no network unless it is allowed.
//!
//! Here two processes of ours stay: one outside, which passes on how the command ended, and the
//! first process of the namespace, which buries what nobody waits for. When the outer one is
//! killed, everything inside goes with it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use stopgate_system::set_mode;

use super::entrance::{mount_line, quoted};
use super::namespace::Namespace;
use super::{NetworkAccess, PlaceError, failed};

/// Directories in which programs leave things for each other.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
/// The home, in the first of them.
const HOME: &str = "home";

/// Toolchains that are found by the home, and the variables that name them.
const TOOLCHAINS: [(&str, &str); 10] = [
    ("RUSTUP_HOME", ".rustup"),
    ("CARGO_HOME", ".cargo"),
    ("PYENV_ROOT", ".pyenv"),
    ("GOPATH", "go"),
    ("GRADLE_USER_HOME", ".gradle"),
    ("RBENV_ROOT", ".rbenv"),
    ("ASDF_DATA_DIR", ".asdf"),
    ("NVM_DIR", ".nvm"),
    ("VOLTA_HOME", ".volta"),
    ("DOTNET_ROOT", ".dotnet"),
];

/// Passes on how the command ended. Signals are for the command; it says when it is over.
const AROUND: &str = "trap : HUP INT QUIT TERM
exec 3>&2 2>/dev/null
(exec \"$@\" 2>&3 3>&-)
status=$?
trap - HUP INT QUIT TERM
[ \"$status\" -gt 128 ] && kill -\"$((status - 128))\" $$
exit \"$status\"
";

/// What is prepared for hermetic runs in one place.
#[derive(Debug)]
pub(super) struct Hermetic {
    network: NetworkAccess,
    steps: Vec<u8>,
}

impl Hermetic {
    /// Makes the directories, and the lines of the shell that show them.
    pub(super) fn prepare(
        namespace: &Namespace,
        private: &Path,
        kept: &[PathBuf],
        network: NetworkAccess,
    ) -> Result<Self, PlaceError> {
        // First, while the person's home can be seen.
        let mut steps = environment().into_bytes();
        let words = ["-t", "proc", "proc"].map(OsStr::new);
        steps.extend(mount_line(namespace, &words, Path::new("/proc")));
        if network == NetworkAccess::Denied {
            steps.extend_from_slice(&loopback(namespace)?);
        }
        let mut directories: Vec<(usize, &Path)> =
            TEMPORARY.iter().map(Path::new).enumerate().collect();
        // The one that hides our own directory comes last.
        directories.sort_by_key(|(_, at)| private.starts_with(at));
        for (number, at) in directories {
            if !fs::symlink_metadata(at).is_ok_and(|found| found.is_dir()) {
                continue;
            }
            let own = private.join(format!("temporary-{number}"));
            make_temporary(&own).map_err(failed(&own))?;
            steps.extend_from_slice(&keep(namespace, kept, at, &own)?);
            let words = [OsStr::new("--rbind"), own.as_os_str()];
            steps.extend_from_slice(&mount_line(namespace, &words, at));
        }
        let home = private.join("temporary-0").join(HOME);
        fs::create_dir(&home).map_err(failed(&home))?;
        Ok(Self { network, steps })
    }

    /// Lines of the shell.
    pub(super) fn steps(&self) -> &[u8] {
        &self.steps
    }

    /// The options of `unshare` beyond the usual ones.
    pub(super) fn options(&self) -> Vec<OsString> {
        let mut options = vec!["--pid", "--fork", "--kill-child", "--ipc"];
        if self.network == NetworkAccess::Denied {
            options.push("--net");
        }
        options.into_iter().map(OsString::from).collect()
    }

    /// The words before all others.
    pub(super) fn around(namespace: &Namespace) -> Vec<OsString> {
        vec![namespace.shell.clone().into(), "-c".into(), AROUND.into(), "stopgate".into()]
    }

    /// Runs the command as the second process, quietly: a shell would tell of signals.
    pub(super) fn last_step(run: &[u8]) -> Vec<u8> {
        [b"exec 3>&2 2>/dev/null\n(exec ", run, b" 2>&3 3>&-)\nexit $?\n"].concat()
    }
}

/// A new network has a loopback interface, but it is down.
fn loopback(namespace: &Namespace) -> Result<Vec<u8>, PlaceError> {
    let Some((program, arguments)) = &namespace.loopback else {
        let text = "a run without network needs `ip` or `ifconfig` to bring up the loopback \
                    interface, and neither was found";
        return Err(PlaceError::Unsupported(text.into()));
    };
    let mut line = quoted(program.as_os_str());
    line.extend_from_slice(format!(" {arguments} || exit 125\n").as_bytes());
    Ok(line)
}

/// Shows directories of the place that would be hidden with a temporary directory.
fn keep(
    namespace: &Namespace,
    kept: &[PathBuf],
    at: &Path,
    own: &Path,
) -> Result<Vec<u8>, PlaceError> {
    let mut lines = Vec::new();
    for path in kept {
        if at.starts_with(path) {
            let text = format!("a hermetic run hides {}, and the tree is there", at.display());
            return Err(PlaceError::Unsupported(text));
        }
        let is_first = !kept.iter().any(|other| other != path && path.starts_with(other));
        let Some(inner) = path.strip_prefix(at).ok().filter(|_| is_first) else { continue };
        let to = own.join(inner);
        fs::create_dir_all(&to).map_err(failed(&to))?;
        let words = [OsStr::new("--rbind"), path.as_os_str()];
        lines.extend_from_slice(&mount_line(namespace, &words, &to));
    }
    Ok(lines)
}

fn make_temporary(path: &Path) -> io::Result<()> {
    fs::create_dir(path)?;
    set_mode(path, 0o1777)
}

/// Toolchains stay where they are; everything else is looked for in the new home.
fn environment() -> String {
    let keep = |(name, directory): &(&str, &str)| {
        format!(
            "[ -n \"${{{name}:-}}\" ] || [ ! -d \"${{HOME:-}}/{directory}\" ] || \
             export {name}=\"$HOME/{directory}\"\n"
        )
    };
    let mut lines: Vec<String> = TOOLCHAINS.iter().map(keep).collect();
    lines.push("unset XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME\n".into());
    lines.push("unset XDG_RUNTIME_DIR TMP TEMP\n".into());
    lines.push(format!("export HOME={0}/{HOME} TMPDIR={0}\n", TEMPORARY[0]));
    lines.concat()
}
