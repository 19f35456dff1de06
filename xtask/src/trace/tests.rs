//! Lines as strace writes them.

use super::{asked, points};

#[test]
fn points_are_counted_within_a_process() {
    let lines = "\
7 execve(\"/bin/x\", [\"x\"], 0x7 /* 3 vars */) = 0
7 read(0</tmp/a>, \"{\", 10) = 1
7 read(0</tmp/a>, \"\", 10) = 0
8 read(3</tmp/b>,  <unfinished ...>
8 <... read resumed>\"\", 10) = 0
7 close(3) = 0
7 --- SIGCHLD {si_signo=SIGCHLD} ---
7 exit_group(0) = ?
7 +++ exited with 0 +++";
    let asked: Vec<_> = lines.lines().filter_map(asked).collect();
    let shown: Vec<_> = points(&asked).iter().map(|p| format!("{} {}", p.name, p.when)).collect();
    assert_eq!(shown, ["read 1", "read 2", "close 1"]);
}
