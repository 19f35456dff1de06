//! What a file says counts however it is kept, and what can't be read proves nothing.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use stopgate_core::{Author, Floor, PatternSubject, Status};
use tempfile::TempDir;

use super::text::texts;
use super::{FindingBasis, KindFinding, PathRule, ReportTimes, coverage, features, files, pattern};

const ANY: PathRule = PathRule::Anywhere;
const PROJECT: PathRule = PathRule::ProjectOnly;

fn directory(files: &[(&str, &[u8])]) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, bytes) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("make it");
        fs::write(path, bytes).expect("write it");
    }
    directory
}

fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

fn must_not(root: &Path, file: &str, rule: PathRule) -> KindFinding {
    pattern(root, &PatternSubject::File(file.into()), None, &[], &["^TODO".into()], rule)
}

fn said(finding: &KindFinding) -> String {
    let text = finding.trouble.as_deref().unwrap_or(&finding.text);
    format!("{}: {}", finding.status, text.replace('\n', " / "))
}

#[test]
fn a_text_is_read_however_it_is_kept() {
    let text = "one\nTODO two\n";
    let marked = format!("\u{feff}{text}");
    let wide: Vec<u8> = marked.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    let rows: [(&str, Vec<u8>, &str); 8] = [
        ("plain", text.into(), "fail: a.txt:2: must not be there: TODO two"),
        ("BOM", "\u{feff}TODO".into(), "fail: a.txt:1: must not be there: TODO"),
        (
            "UTF-16 LE, BOM",
            utf16(&marked, u16::to_le_bytes),
            "fail: a.txt:2: must not be there: TODO two",
        ),
        (
            "UTF-16 BE, BOM",
            utf16(&marked, u16::to_be_bytes),
            "fail: a.txt:2: must not be there: TODO two",
        ),
        ("UTF-16 LE", utf16(text, u16::to_le_bytes), "fail: a.txt:2: must not be there: TODO two"),
        ("UTF-16 BE", utf16(text, u16::to_be_bytes), "fail: a.txt:2: must not be there: TODO two"),
        ("UTF-32 LE, BOM", wide, "fail: a.txt:2: must not be there: TODO two"),
        ("old line ends", "one\rTODO\r".into(), "fail: a.txt:1: must not be there: one\rTODO"),
    ];
    for (name, bytes, expected) in rows {
        let directory = directory(&[("a.txt", &bytes)]);
        assert_eq!(said(&must_not(directory.path(), "a.txt", ANY)), expected, "{name}");
        let must = ["two$|TODO$".into()];
        let subject = PatternSubject::File("a.txt".into());
        let finding = pattern(directory.path(), &subject, None, &must, &[], ANY);
        assert_eq!(finding.status, Status::Pass, "{name}: {finding:?}");
    }
    assert_eq!(texts(b"plain text").len(), 1);
    assert_eq!(texts(b"").len(), 1);
    assert_eq!(texts(b"\xff").len(), 1);
}

#[test]
fn a_link_is_what_it_leads_to() {
    let outside = directory(&[("far/x.py", b"TODO far\n")]);
    let project = directory(&[("src/a.py", b"fine\n"), ("kept/b.py", b"TODO kept\n")]);
    let root = project.path();
    symlink("../kept", root.join("src/linked")).expect("link");
    symlink("..", root.join("src/circle")).expect("link");
    let found = said(&must_not(root, "src/**/*.py", PROJECT));
    assert!(found.contains("b.py:1: must not be there: TODO kept"), "{found}");
    fs::remove_file(root.join("src/linked")).expect("remove");
    fs::remove_file(root.join("src/circle")).expect("remove");
    assert_eq!(must_not(root, "src/**/*.py", PROJECT).status, Status::Pass);

    symlink(outside.path().join("far"), root.join("src/far")).expect("link");
    symlink(outside.path().join("far/x.py"), root.join("src/x.py")).expect("link");
    let found = said(&must_not(root, "src/**/*.py", ANY));
    assert!(found.contains("src/far/x.py:1") && found.contains("src/x.py:1"), "{found}");
    for name in ["src/**/*.py", "src/x.py", "src/far", "src/far/*.py", "src"] {
        let found = must_not(root, name, PROJECT);
        assert_eq!(found.status, Status::Error, "{name} {found:?}");
    }
    symlink("nowhere", root.join("kept/c.py")).expect("link");
    assert_eq!(must_not(root, "kept/c.py", ANY).status, Status::Error);
}

#[test]
fn what_can_not_be_read_proves_nothing() {
    let project = directory(&[("a.py", b"fine\n"), ("b.py", b"fine\n"), ("d/c.py", b"TODO\n")]);
    let root = project.path();
    let close = |name: &str, mode| {
        fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).expect("a mode");
    };
    // Where nothing is closed to us, as for root, there is nothing to see.
    close("a.py", 0o000);
    let is_root = fs::read(root.join("a.py")).is_ok();
    let expected = if is_root { Status::Pass } else { Status::Error };
    assert_eq!(must_not(root, "*.py", ANY).status, expected);
    let must =
        pattern(root, &PatternSubject::File("a.py".into()), None, &["fine".into()], &[], ANY);
    assert_eq!(must.status, expected);
    close("a.py", 0o644);
    close("d", 0o000);
    let expected = if is_root { Status::Fail } else { Status::Error };
    assert_eq!(must_not(root, "**/*.py", ANY).status, expected);
    close("d", 0o755);
}

#[test]
fn nothing_waits_for_a_pipe() {
    let project = directory(&[("a.py", b"fine\n")]);
    let root = project.path();
    mknodat(CWD, root.join("pipe.py"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    symlink("pipe.py", root.join("link.py")).expect("link");
    assert_eq!(must_not(root, "*.py", ANY).status, Status::Pass);
    assert_eq!(must_not(root, "pipe.py", ANY).status, Status::Error);
    assert_eq!(features(root, "pipe.py", ANY).status, Status::Error);
    assert_eq!(features(root, "link.py", ANY).status, Status::Error);
    let floor = Floor { lines: Some(1), ..Floor::default() };
    let found = coverage(root, "pipe.py", None, &floor, ReportTimes::default(), ANY);
    assert_eq!(found.status, Status::Error);
    assert_eq!(files(root, &["pipe.py".into()], &[], ANY).status, Status::Fail);
}

#[test]
fn a_projects_own_file_names_only_what_is_in_the_project() {
    let outside = directory(&[("secret.json", b"[{\"passes\":true}]")]);
    let project = directory(&[("a.json", b"[{\"passes\":true}]")]);
    let root = project.path();
    let secret = outside.path().join("secret.json").display().to_string();
    let glob = outside.path().join("*.json").display().to_string();
    for path in [secret.as_str(), &glob, "/proc/self/environ", "/etc/pass*", "../x", "a/../../x"] {
        let list = [path.to_owned()];
        let floor = Floor { lines: Some(1), ..Floor::default() };
        let times = ReportTimes::default();
        let found = [
            files(root, &list, &[], PROJECT),
            files(root, &[], &list, PROJECT),
            must_not(root, path, PROJECT),
            features(root, path, PROJECT),
            coverage(root, path, None, &floor, times, PROJECT),
        ];
        for finding in found {
            assert_eq!(finding.status, Status::Error, "{path} {finding:?}");
            assert_eq!(finding.text, "", "nothing of it is shown");
        }
    }
    assert_eq!(must_not(root, &secret, ANY).status, Status::Pass);
    assert_eq!(features(root, &secret, ANY).status, Status::Pass);
    assert_eq!(features(root, "a.json", PROJECT).status, Status::Pass);
    assert_eq!(PathRule::of(Author::Project), PROJECT);
    assert_eq!(PathRule::of(Author::Command), ANY);
}

#[test]
fn somebodys_word_is_not_what_was_seen() {
    let project = directory(&[("f.json", b"[{\"passes\":true}]"), ("a.txt", b"DONE\n")]);
    let root = project.path();
    assert_eq!(features(root, "f.json", ANY).basis, FindingBasis::Word);
    let done = ["DONE".into()];
    let message = pattern(root, &PatternSubject::Message, Some("DONE"), &done, &[], ANY);
    assert_eq!((message.status, message.basis), (Status::Pass, FindingBasis::Word));
    let file = pattern(root, &PatternSubject::File("a.txt".into()), None, &done, &[], ANY);
    assert_eq!((file.status, file.basis), (Status::Pass, FindingBasis::Seen));
    assert_eq!(files(root, &["a.txt".into()], &[], ANY).basis, FindingBasis::Seen);
}

#[test]
fn a_report_counts_if_the_checks_of_this_stop_wrote_it() {
    let project = directory(&[("c.json", b"{\"lines\": 90}")]);
    let root = project.path();
    let path = root.join("c.json");
    let written = fs::metadata(&path).and_then(|m| m.modified()).expect("a time");
    let floor = Floor { lines: Some(8000), ..Floor::default() };
    let look = |since| {
        let times = ReportTimes { newer_than: None, written_since: since };
        let found = coverage(root, "c.json", None, &floor, times, ANY);
        (found.status, found.basis)
    };
    let hour = Duration::from_hours(1);
    let seen = (Status::Pass, FindingBasis::Seen);
    let word = (Status::Pass, FindingBasis::Word);
    assert_eq!(look(Some(written - hour)), seen);
    assert_eq!(look(Some(written)), seen);
    assert_eq!(look(Some(written + hour)), word);
    assert_eq!(look(None), word);
    // A date in the future does not make it younger, nor one in the past.
    let set = |time: SystemTime| {
        let file = fs::File::options().write(true).open(&path).expect("open");
        file.set_modified(time).expect("a time");
    };
    set(written + 2 * hour);
    assert_eq!(look(Some(written + hour)), word);
    set(written - 2 * hour);
    assert_eq!(look(Some(written - hour)), word);
}
