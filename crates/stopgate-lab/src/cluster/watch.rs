//! Clears away after a test process, however it ends.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};

use crate::door;
use crate::error::LabError;

/// Waits for the end of its parent, then ends the server and removes the directory.
const SCRIPT: &str = r#"
read -r _
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null
tries=0
while [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null && [ $tries -lt 50 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
rm -rf "$1"
"#;

/// A shell that reads from a pipe which closes with this process.
#[derive(Debug)]
pub(super) struct Watch {
    shell: Child,
}

impl Watch {
    /// Watches over `directory`.
    pub(super) fn over(directory: &Path) -> Result<Self, LabError> {
        let mut shell = door::command("/bin/sh");
        shell.args(["-c", SCRIPT, "sh"]).arg(directory).current_dir("/").process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let shell = shell.spawn().map_err(LabError::run(Path::new("/bin/sh")))?;
        Ok(Self { shell })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        self.shell.wait().ok();
    }
}
