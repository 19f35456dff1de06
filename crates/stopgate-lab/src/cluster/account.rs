//! Who runs the server: PostgreSQL refuses to be run by root.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::door;
use crate::error::LabError;

/// The user that the server belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Account {
    /// The account that runs the tests.
    Own,
    /// Another one, since root runs the tests.
    Other { user: u32, group: u32 },
}

impl Account {
    /// Root takes the package's user, else nobody; everybody else is good enough.
    pub(super) fn choose() -> Result<Self, LabError> {
        if !rustix::process::getuid().is_root() {
            return Ok(Self::Own);
        }
        let path = Path::new("/etc/passwd");
        let users = fs::read_to_string(path).map_err(LabError::file("read", path))?;
        let find = |name: &str| users.lines().find_map(|line| ids(line, name));
        let found = find("postgres").or_else(|| find("nobody"));
        let said = || "there is no user but root".into();
        let missing = || LabError::Server { wanted: "run as another user", said: said() };
        found.map(|(user, group)| Self::Other { user, group }).ok_or_else(missing)
    }

    /// A program about to be run by this user, in a place that it may enter.
    pub(super) fn command(self, program: &Path) -> Command {
        let mut command = door::command(program);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C").current_dir("/");
        if let Self::Other { user, group } = self {
            command.uid(user).gid(group);
        }
        command
    }

    /// Makes `path` this user's.
    pub(super) fn give(self, path: &Path) -> Result<(), LabError> {
        match self {
            Self::Own => Ok(()),
            Self::Other { user, group } => {
                chown(path, Some(user), Some(group)).map_err(LabError::file("give away", path))
            }
        }
    }
}

/// The user and group of a line of the password file, if it is about `name`.
fn ids(line: &str, name: &str) -> Option<(u32, u32)> {
    let mut fields = line.split(':');
    if fields.next() != Some(name) {
        return None;
    }
    let user = fields.nth(1)?.parse().ok()?;
    Some((user, fields.next()?.parse().ok()?))
}
