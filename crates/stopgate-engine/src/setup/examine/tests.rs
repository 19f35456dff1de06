//! Settings as people leave them, and what is found.

use stopgate_core::Timestamp;

use super::home::kind_of;
use super::*;

const ONE: &str = "/opt/bin/stopgate";
const OTHER: &str = "/home/me/stopgate";

fn fresh(program: &str) -> String {
    let entry = text::HookEntry::new(Agent::Claude, program);
    text::install(None, &entry).unwrap().text
}

fn look(scope: SettingsScope, text: &str) -> Look {
    let read = Read {
        entries: text::find(Agent::Claude, text).unwrap(),
        switches: text::switches(text).unwrap(),
    };
    Look { agent: Agent::Claude, scope, path: PathBuf::from(scope.word()), read: Ok(read) }
}

#[track_caller]
fn check(findings: Vec<DoctorFinding>, expected: &[&str]) {
    let shown: Vec<String> = findings
        .into_iter()
        .map(|finding| format!("{:?} {}: {}", finding.level, finding.about, finding.text))
        .collect();
    assert_eq!(shown.len(), expected.len(), "{shown:#?}");
    for (shown, expected) in shown.iter().zip(expected) {
        assert!(shown.starts_with(expected), "{shown}");
    }
}

#[test]
fn a_clock_behind_the_journal_is_a_finding() {
    let now = Timestamp::from_unix_millis(1_800_000_000_000);
    let found = |newest: Option<i64>, now: Timestamp| {
        let newest = newest.map(|ahead| now.plus(ahead));
        home::clock(newest, now).into_iter().collect::<Vec<_>>()
    };
    check(found(None, now), &[]);
    check(found(Some(-5_000), now), &[]);
    check(found(Some(60_000), now), &[]);
    check(
        found(Some(3_600_000), now),
        &[
            "Warning clock: the journal's newest event is from 2027-01-15T09:00:00Z, this clock says 2027-01-15T08:00:00Z",
        ],
    );
    check(
        found(None, Timestamp::from_unix_millis(0)),
        &["Problem clock: this machine's clock says 1970-01-01T00:00:00Z: every stop"],
    );
}

#[test]
fn a_fresh_installation_is_fine() {
    let looks = [look(SettingsScope::User, &fresh(ONE)), look(SettingsScope::Project, "{}")];
    check(hooks::installed(Agent::Claude, &looks, &[]), &["Ok hook: installed in user"]);
    check(hooks::doubled(&looks), &[]);
    check(hooks::disabled(&looks), &[]);
    check(hooks::cap(Agent::Claude, &looks, None), &["Ok cap: lifted by user"]);
    assert_eq!(hooks::configured(&looks).len(), 1);
}

#[test]
fn no_installation_is_a_problem() {
    let looks = [look(SettingsScope::User, ""), look(SettingsScope::Project, "{}")];
    check(hooks::installed(Agent::Claude, &looks, &[]), &["Problem hook: no settings file"]);
    check(
        hooks::cap(Agent::Claude, &looks, None),
        &["Warning cap: Claude Code ends a turn after 8"],
    );
    check(hooks::cap(Agent::Claude, &looks, Some("0")), &["Ok cap: lifted by this shell"]);
}

#[test]
fn a_hand_made_entry_lacks_things() {
    let text =
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"stopgate hook claude"}]}]}}"#;
    let looks = [look(SettingsScope::User, text)];
    check(
        hooks::installed(Agent::Claude, &looks, &[]),
        &[
            "Warning hook: user lacks the hook for SubagentStop, SessionStart",
            "Warning hook: the Stop hook in user sets no time-out",
        ],
    );
    let hurried = text.replace("claude\"", "claude\",\"timeout\":30");
    let found = hooks::installed(Agent::Claude, &[look(SettingsScope::User, &hurried)], &[]);
    assert!(found[1].text.contains("may take 30 s"), "{}", found[1].text);
}

#[test]
fn the_same_command_twice_runs_once_and_two_commands_run_twice() {
    let same = [look(SettingsScope::User, &fresh(ONE)), look(SettingsScope::Local, &fresh(ONE))];
    check(hooks::doubled(&same), &[]);
    assert_eq!(hooks::configured(&same).len(), 1);
    let two = [look(SettingsScope::User, &fresh(ONE)), look(SettingsScope::Local, &fresh(OTHER))];
    check(hooks::doubled(&two), &["Problem doubles: user and local have different commands"]);
    assert_eq!(hooks::configured(&two).len(), 2);
}

#[test]
fn an_entry_for_another_dialect_is_no_double() {
    let foreign = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"stopgate","args":["hook","claude","--dialect","idle"]}]}]}}"#;
    let looks = [look(SettingsScope::User, &fresh(ONE)), look(SettingsScope::Project, foreign)];
    check(hooks::doubled(&looks), &[]);
    assert_eq!(hooks::configured(&looks).len(), 1);
}

#[test]
fn switched_off_hooks_and_a_narrower_cap_are_seen() {
    let off = r#"{"disableAllHooks":true,"env":{"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP":"3"}}"#;
    let looks = [look(SettingsScope::User, &fresh(ONE)), look(SettingsScope::Project, off)];
    check(hooks::disabled(&looks), &["Problem switches: disableAllHooks is true in project"]);
    check(
        hooks::cap(Agent::Claude, &looks, None),
        &["Warning cap: Claude Code ends a turn after 3"],
    );
}

#[test]
fn a_subdirectory_matters_only_to_hooks_of_the_project() {
    let (root, below) = (Path::new("/p"), Path::new("/p/below"));
    let project = [look(SettingsScope::User, ""), look(SettingsScope::Project, &fresh(ONE))];
    check(
        hooks::subdirectory(Agent::Claude, &project, below, root),
        &["Warning directory: this directory is below /p"],
    );
    check(hooks::subdirectory(Agent::Claude, &project, root, root), &[]);
    let user = [look(SettingsScope::User, &fresh(ONE)), look(SettingsScope::Project, &fresh(ONE))];
    check(hooks::subdirectory(Agent::Claude, &user, below, root), &[]);
}

#[test]
fn the_innermost_mount_counts() {
    let mounts = "/dev/a / ext4 rw 0 0\nhost /home 9p rw 0 0\nx /home/my\\040disk nfs4 rw 0 0\n";
    assert_eq!(kind_of(mounts, Path::new("/var/x")), Some("ext4"));
    assert_eq!(kind_of(mounts, Path::new("/home/me")), Some("9p"));
    assert_eq!(kind_of(mounts, Path::new("/home/my disk/x")), Some("nfs4"));
    assert_eq!(kind_of(mounts, Path::new("/homes")), Some("ext4"));
}

#[test]
fn the_program_on_the_path_is_this_one_or_not() {
    let program = Path::new(ONE);
    check(on_path(Some(program), program), &["Ok path"]);
    check(on_path(Some(Path::new(OTHER)), program), &["Warning path: `stopgate` is /home/me"]);
    check(on_path(None, program), &["Warning path: `stopgate` is not on PATH"]);
}
