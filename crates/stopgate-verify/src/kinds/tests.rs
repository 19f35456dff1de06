use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use stopgate_core::{Floor, GitDemand, PatternSubject, Status};
use tempfile::TempDir;

use super::{KindFinding, PathRule, ReportTimes, coverage, features, files, git, pattern};

const ANY: PathRule = PathRule::Anywhere;

/// A directory with files; a name that ends in `/` is a directory.
fn directory(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, text) in files {
        write(directory.path(), name, text);
    }
    directory
}

fn write(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().expect("a directory")).expect("make it");
    fs::write(path, text).expect("write it");
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_string()).collect()
}

/// What a finding says, with its status.
fn said(finding: &KindFinding) -> String {
    let text = finding.trouble.as_deref().unwrap_or(&finding.text);
    format!("{}: {}", finding.status, text.replace('\n', " / "))
}

#[track_caller]
fn check_files(root: &Path, exist: &[&str], absent: &[&str], expected: &str) {
    let finding = files(root, &words(exist), &words(absent), ANY);
    assert_eq!(said(&finding), expected);
}

#[test]
fn files_are_there_or_not() {
    let directory =
        directory(&[("a.txt", ""), ("src/b.rs", ""), ("src/deep/c.rs", ""), ("odd[1].txt", "")]);
    let root = directory.path();
    check_files(
        root,
        &["a.txt", "src/**/*.rs"],
        &["*.log"],
        "pass: there: a.txt, src/**/*.rs / not there: *.log",
    );
    check_files(root, &["b.txt", "*.md"], &[], "fail: missing: b.txt, *.md");
    check_files(root, &["odd[1].txt", "src/deep"], &[], "pass: there: odd[1].txt, src/deep");
    check_files(root, &[], &["src/*.rs"], "fail: must not be there: src/b.rs");
    check_files(root, &[], &["src"], "fail: must not be there: src");
    check_files(root, &["*.rs"], &[], "fail: missing: *.rs");
    let absolute = format!("{}/src/*.rs", root.display());
    check_files(root, &[&absolute], &[], &format!("pass: there: {absolute}"));
}

#[test]
fn a_pattern_that_is_none_is_an_error() {
    let directory = directory(&[("a.txt", "")]);
    for wrong in ["[a", "{a,b", "*}", "../x", "a/../../b", "", "a\\"] {
        let exist = files(directory.path(), &words(&[wrong]), &[], ANY);
        let absent = files(directory.path(), &[], &words(&[wrong]), ANY);
        assert_eq!((exist.status, absent.status), (Status::Error, Status::Error), "{wrong}");
    }
    check_files(directory.path(), &[], &[], "error: nothing is asked for: set exist or absent");
    let gone = directory.path().join("gone");
    assert_eq!(files(&gone, &words(&["a"]), &[], ANY).status, Status::Error);
}

#[test]
fn links_do_not_lead_out_of_the_project() {
    let outside = directory(&[("x.txt", "secret"), ("d/y.txt", "")]);
    let directory = directory(&[("in.txt", ""), ("sub/z.txt", "")]);
    let root = directory.path();
    symlink(outside.path().join("x.txt"), root.join("out.txt")).expect("link");
    symlink(outside.path().join("d"), root.join("outdir")).expect("link");
    symlink("in.txt", root.join("in-link.txt")).expect("link");
    symlink("nowhere", root.join("dangling.txt")).expect("link");
    check_files(root, &["in-link.txt", "in-*.txt"], &[], "pass: there: in-link.txt, in-*.txt");
    check_files(root, &["out*.txt"], &[], "fail: missing: out*.txt");
    check_files(root, &["dangling.txt"], &[], "fail: missing: dangling.txt");
    check_files(root, &[], &["dangling.txt"], "fail: must not be there: dangling.txt");
    check_files(root, &["**/y.txt"], &[], "fail: missing: **/y.txt");
    let out = "error: \"out.txt\" leads out of the project through a link";
    check_files(root, &["out.txt"], &[], out);
    assert_eq!(files(root, &words(&["outdir/y.txt"]), &[], ANY).status, Status::Error);
    assert_eq!(files(root, &words(&["outdir/*.txt"]), &[], ANY).status, Status::Error);
    let subject = PatternSubject::File("out.txt".into());
    assert_eq!(
        pattern(root, &subject, None, &words(&["secret"]), &[], PathRule::ProjectOnly).status,
        Status::Error
    );
    assert_eq!(features(root, "out.txt", ANY).status, Status::Error);
}

#[track_caller]
fn check_pattern(
    root: &Path,
    file: &str,
    must: &[&str],
    must_not: &[&str],
    expected: &str,
) -> KindFinding {
    let finding = pattern(
        root,
        &PatternSubject::File(file.into()),
        None,
        &words(must),
        &words(must_not),
        ANY,
    );
    let said = said(&finding);
    assert!(said.starts_with(expected), "{said}");
    finding
}

#[test]
fn patterns_hold_in_every_file() {
    let directory = directory(&[
        ("a.rs", "fn a() {}\n// TODO one\nx\n// TODO two\r\n"),
        ("b.rs", "fn b() {}\n"),
    ]);
    let root = directory.path();
    check_pattern(root, "*.rs", &["^fn [ab]"], &["FIXME"], "pass: 2 texts looked at");
    check_pattern(root, "a.rs", &["two$"], &[], "pass: 1 text looked at");
    check_pattern(root, "*.rs", &["TODO"], &[], "fail: b.rs: nothing matches \"TODO\"");
    let found =
        check_pattern(root, "*.rs", &[], &["TODO"], "fail: a.rs:2: must not be there: // TODO one");
    assert_eq!(found.spots, ["a.rs:2", "a.rs:4"]);
    check_pattern(root, "*.md", &["x"], &[], "error: no file is named by \"*.md\"");
    check_pattern(root, "a.rs", &["("], &[], "error: \"(\" is not an expression");
    check_pattern(root, "a.rs", &["(?:a{1000}){1000}"], &[], "error: \"(?:a{1000}){1000}\" is not");
    check_pattern(root, "a.rs", &[], &[], "error: nothing is asked for");
}

#[test]
fn bytes_that_are_no_text_are_looked_at_all_the_same() {
    let directory = directory(&[]);
    fs::write(directory.path().join("a.bin"), b"\xff\xfe\nSECRET\n").expect("write");
    let found = check_pattern(directory.path(), "a.bin", &[], &["^SECRET"], "fail: a.bin:2");
    assert_eq!(found.spots, ["a.bin:2"]);
}

#[test]
fn large_files_prove_nothing() {
    let directory = directory(&[]);
    let file = fs::File::create(directory.path().join("a")).expect("create");
    file.set_len(8 * 1024 * 1024 + 1).expect("grow");
    check_pattern(directory.path(), "a", &[], &["x"], "error: a is larger than 8 MiB");
}

#[test]
fn a_message_is_a_text_too() {
    let root = Path::new("/");
    let look = |message, must: &[&str], must_not: &[&str]| {
        said(&pattern(root, &PatternSubject::Message, message, &words(must), &words(must_not), ANY))
    };
    assert_eq!(look(Some("all\nDONE"), &["^DONE$"], &[]), "pass: 1 text looked at, as it must be");
    assert_eq!(look(Some("x"), &["y"], &[]), "fail: the message: nothing matches \"y\"");
    assert_eq!(look(Some("a\nx"), &[], &["x"]), "fail: the message:2: must not be there: x");
    assert!(look(None, &["y"], &[]).starts_with("error: there is no message"));
}

#[test]
fn coverage_is_held_against_the_floor() {
    let directory =
        directory(&[("c.json", "{\"lines\": 79.31}"), ("bad.json", "{"), ("bin", "\u{0}")]);
    let root = directory.path();
    let look = |report: &str, lines: u32, newer_than| {
        let floor = Floor { lines: Some(lines), ..Floor::default() };
        let times = ReportTimes { newer_than, ..ReportTimes::default() };
        said(&coverage(root, report, None, &floor, times, ANY))
    };
    assert_eq!(look("c.json", 7931, None), "pass: lines 79.31 %");
    assert_eq!(look("c.json", 8000, None), "fail: lines 79.31 % < 80 %");
    let missing = "fail: no such report: d.json: run the tests with coverage first";
    assert_eq!(look("d.json", 8000, None), missing);
    assert!(look("bad.json", 8000, None).starts_with("error: bad.json: not JSON"));
    assert!(look("bin", 8000, None).starts_with("error: bin: neither"));
    assert!(look("../c.json", 8000, None).starts_with("error: "));
    let written = fs::metadata(root.join("c.json")).and_then(|m| m.modified()).expect("a time");
    assert_eq!(look("c.json", 7931, Some(SystemTime::UNIX_EPOCH)), "pass: lines 79.31 %");
    let old = look("c.json", 7931, Some(written + Duration::from_secs(1)));
    assert!(old.starts_with("fail: c.json is older"), "{old}");
}

#[track_caller]
fn check_features(list: &str, expected: &str) {
    let directory = directory(&[("f.json", list)]);
    let said = said(&features(directory.path(), "f.json", ANY));
    assert!(said.starts_with(expected), "{said}");
}

#[test]
fn every_feature_must_pass() {
    check_features(
        r#"[{"passes":true},{"passed":true},{"status":"Done"}]"#,
        "pass: all 3 features pass",
    );
    check_features(
        r#"{"features":[{"id":1,"passes":true},{"id":2,"passes":false},{"name":"login","status":"todo"},{}]}"#,
        "fail: 3 of 4 features do not pass yet: 2, login, number 4",
    );
    check_features(r#"[{"passes":true,"status":"failing","id":"x"}]"#, "fail: 1 of 1");
    check_features(r#"[{"passes":"true","id":"x"}]"#, "fail: 1 of 1");
    check_features("[]", "error: f.json: the list is empty");
    check_features("{}", "error: f.json: neither a list");
    check_features("[1]", "error: f.json: entry 1 is not an object");
    check_features("[", "error: f.json: not JSON");
    let directory = directory(&[]);
    assert_eq!(said(&features(directory.path(), "f.json", ANY)), "error: no such list: f.json");
}

/// A repository with one commit.
fn repository() -> TempDir {
    let directory = directory(&[("a.txt", "one\n"), (".gitignore", "*.log\n")]);
    run(directory.path(), &["init", "-q", "-b", "main"]);
    run(directory.path(), &["add", "."]);
    run(directory.path(), &["commit", "-q", "-m", "one"]);
    directory
}

#[expect(clippy::disallowed_methods, reason = "a test sets its scene")]
fn run(root: &Path, words: &[&str]) {
    let mut git = Command::new("git");
    let settings =
        ["user.name=A", "user.email=a@b", "commit.gpgsign=false", "protocol.file.allow=always"];
    git.args(settings.iter().flat_map(|setting| ["-c", setting])).args(words).current_dir(root);
    git.env_remove("GIT_DIR").env_remove("GIT_INDEX_FILE").env_remove("GIT_WORK_TREE");
    let output = git.output().expect("run git");
    // A merge that conflicts ends with 1.
    let code = output.status.code().unwrap_or(-1);
    assert!(code <= 1, "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[track_caller]
fn check_git(root: &Path, demand: GitDemand, expected: &str) {
    assert_eq!(said(&git(root, &[demand], None)), expected);
}

#[test]
fn a_clean_tree_has_nothing_to_commit() {
    let directory = repository();
    let root = directory.path();
    check_git(root, GitDemand::Clean, "pass: everything is committed");
    write(root, "x.log", "ignored");
    check_git(root, GitDemand::Clean, "pass: everything is committed");
    write(root, "new/b c.txt", "");
    run(root, &["config", "status.showUntrackedFiles", "no"]);
    check_git(root, GitDemand::Clean, "fail: 1 file untracked (commit or ignore): new/b c.txt");
    write(root, "a.txt", "two\n");
    run(root, &["add", "a.txt"]);
    let both =
        "fail: 1 file not committed: a.txt / 1 file untracked (commit or ignore): new/b c.txt";
    check_git(root, GitDemand::Clean, both);
    check_git(&root.join("new"), GitDemand::Clean, both);
}

#[test]
fn changes_that_are_hidden_from_git_are_found() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let directory = repository();
        let root = directory.path();
        run(root, &["update-index", flag, "a.txt"]);
        check_git(root, GitDemand::Clean, "pass: everything is committed");
        write(root, "a.txt", "two\n");
        let finding = git(root, &[GitDemand::Clean], None);
        assert!(
            said(&finding) == "fail: 1 file changed, although git status does not show it: a.txt",
            "{flag} {finding:?}"
        );
    }
}

#[test]
fn another_work_tree_proves_nothing() {
    let directory = repository();
    let clean = repository();
    run(directory.path(), &["config", "core.worktree", &clean.path().display().to_string()]);
    assert_eq!(git(directory.path(), &[GitDemand::Clean], None).status, Status::Error);
}

#[test]
fn what_is_pushed_is_on_the_upstream() {
    let remote = directory(&[]);
    run(remote.path(), &["init", "-q", "--bare", "-b", "main"]);
    let directory = repository();
    let root = directory.path();
    check_git(root, GitDemand::Pushed, "fail: main has no upstream: git push -u origin main");
    run(root, &["remote", "add", "origin", &remote.path().display().to_string()]);
    run(root, &["push", "-q", "-u", "origin", "main"]);
    check_git(root, GitDemand::Pushed, "pass: every commit is pushed");
    run(root, &["commit", "-q", "--allow-empty", "-m", "two"]);
    check_git(root, GitDemand::Pushed, "fail: 1 commit is not on origin/main: git push");
    run(root, &["branch", "other"]);
    run(root, &["branch", "-q", "-u", "other"]);
    check_git(root, GitDemand::Pushed, "fail: other, the upstream of main, is not on a remote");
    run(root, &["checkout", "-q", "--detach"]);
    check_git(root, GitDemand::Pushed, "fail: HEAD is detached: check out a branch and push it");
}

#[test]
fn conflicts_are_found_wherever_they_are() {
    let directory = repository();
    let root = directory.path();
    check_git(root, GitDemand::NoConflicts, "pass: no conflicts");
    write(root, "title.md", "Title\n=======\n\n>>>>>>> quoted\n<<<<<<< odd\n");
    check_git(root, GitDemand::NoConflicts, "pass: no conflicts");
    write(root, "x.log", "<<<<<<< a\n=======\n>>>>>>> b\n");
    check_git(root, GitDemand::NoConflicts, "pass: no conflicts");
    write(root, ".gitattributes", "*.c binary\n");
    write(root, "sub/b.c", "x\n<<<<<<< a\r\n1\r\n=======\r\n2\r\n>>>>>>> b\r\n");
    let finding = git(root, &[GitDemand::NoConflicts], None);
    assert_eq!(said(&finding), "fail: conflict markers: sub/b.c:2");
    assert_eq!(finding.spots, ["sub/b.c:2"]);
}

#[test]
fn a_merge_under_way_is_a_conflict() {
    let directory = repository();
    let root = directory.path();
    run(root, &["checkout", "-q", "-b", "side"]);
    write(root, "a.txt", "side\n");
    run(root, &["commit", "-q", "-am", "side"]);
    run(root, &["checkout", "-q", "main"]);
    write(root, "a.txt", "main\n");
    run(root, &["commit", "-q", "-am", "main"]);
    run(root, &["merge", "-q", "side"]);
    let told = "fail: a merge is under way: finish or abort it / not merged: a.txt / conflict markers: a.txt:1";
    check_git(root, GitDemand::NoConflicts, told);
    write(root, "a.txt", "both\n");
    run(root, &["add", "a.txt"]);
    check_git(root, GitDemand::NoConflicts, "fail: a merge is under way: finish or abort it");
    run(root, &["commit", "-q", "-m", "merged"]);
    check_git(root, GitDemand::NoConflicts, "pass: no conflicts");
}

#[test]
fn a_directory_without_a_repository_proves_nothing() {
    let directory = directory(&[("a", "")]);
    for demand in [GitDemand::Clean, GitDemand::Pushed, GitDemand::NoConflicts] {
        assert_eq!(git(directory.path(), &[demand], None).status, Status::Error);
    }
    assert_eq!(
        git(&directory.path().join("gone"), &[GitDemand::Clean], None).status,
        Status::Error
    );
    assert_eq!(git(directory.path(), &[], None).status, Status::Error);
}
