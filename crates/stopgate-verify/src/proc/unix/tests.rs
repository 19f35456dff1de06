use super::{
    Life, Process, SearchDepth, carries, descendants, has_token, kill, own_pid, parse, process,
};

#[test]
fn a_name_cannot_pretend_to_be_the_rest_of_the_line() {
    let stat = "7 (evil) Z 1 1) S 3 4 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 99 0";
    let expected =
        Process { pid: 7, parent: 3, group: 4, session: 5, began: 99, life: Life::Alive };
    assert_eq!(parse(7, stat), Some(expected));
    assert_eq!(parse(7, "7 (cut"), None);
    assert_eq!(parse(7, "7 (cut) S 1 2"), None);
}

#[test]
fn a_mark_is_known_in_its_own_variable_only() {
    assert!(has_token(b"STOPGATE_CHECK=outer.1.:abc.1.", "abc.1."));
    assert!(has_token(b"STOPGATE_CHECK=abc.12.", "abc."));
    assert!(!has_token(b"STOPGATE_CHECK=abc.12.", "abc.1."));
    assert!(!has_token(b"OTHER=abc.1.", "abc.1."));
    assert!(!has_token(b"STOPGATE_CHECKS=abc.1.", "abc.1."));
}

#[test]
fn both_looks_find_a_grandchild_and_its_mark() {
    let mut child = sleeper("sleep 60 & wait");
    let pid = i32::try_from(child.id()).unwrap();
    for look in [SearchDepth::Quick, SearchDepth::Thorough] {
        let mut grandchild = None;
        // While it becomes another program, nobody can read its variables.
        while grandchild.is_none() {
            let mut below = descendants(look).into_iter().filter(|one| one.parent == pid);
            grandchild = below.find(|one| carries(one.pid, "proc-test.1."));
        }
        assert!(descendants(look).iter().any(|one| one.pid == pid && one.parent == own_pid()));
        assert!(!carries(grandchild.unwrap().pid, "proc-test.2."));
    }
    let all: Vec<Process> = descendants(SearchDepth::Quick)
        .into_iter()
        .filter(|p| p.pid == pid || p.parent == pid)
        .collect();
    all.iter().for_each(kill);
    child.wait().unwrap();
}

#[test]
fn a_process_that_took_over_a_pid_is_spared() {
    let mut child = sleeper("exec sleep 60");
    let pid = i32::try_from(child.id()).unwrap();
    let seen = process(pid).unwrap();
    kill(&Process { began: seen.began - 1, ..seen });
    assert!(child.try_wait().unwrap().is_none(), "another process was killed");
    kill(&seen);
    assert!(!child.wait().unwrap().success());
}

#[expect(clippy::disallowed_methods, reason = "the test's door")]
fn sleeper(script: &str) -> std::process::Child {
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args(["-c", script]).env("STOPGATE_CHECK", "proc-test.1.").spawn().unwrap()
}
