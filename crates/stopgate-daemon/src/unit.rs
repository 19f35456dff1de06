//! A unit for systemd's user manager, for people who want the process watched over.

use std::path::Path;

/// The text of the unit: it starts `program` for the state directory `home`.
pub fn unit_text(program: &Path, home: &Path) -> String {
    let (program, home) = (quoted(program), quoted(home));
    format!(
        "# Put this into ~/.config/systemd/user/stopgate.service, then:\n\
         #   systemctl --user enable --now stopgate.service\n\
         [Unit]\n\
         Description=stopgate: watches what parked loops wait for\n\
         \n\
         [Service]\n\
         ExecStart={program} daemon --stay\n\
         Environment=STOPGATE_HOME={home}\n\
         Restart=on-failure\n\
         RestartSec=2\n\
         # Clients that were woken go on when the process is restarted.\n\
         KillMode=process\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n"
    )
}

/// A path as systemd reads it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string().replace('%', "%%").replace('$', "$$");
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./%$".contains(&byte);
    if text.bytes().all(plain) {
        return text;
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
