use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use stopgate_core::{GitDemand, Status};
use tempfile::TempDir;

use super::super::{FindingBasis, KindFinding};
use super::basis::without_password;
use super::{GitBasis, git};

mod conflicts;

const CLEAN: &str = "pass: everything is committed";
const PUSHED: &str = "pass: every commit is pushed";
const HIDDEN: &str = "fail: 1 file changed, although git status does not show it: a.txt";
const CHANGED: &str = "fail: 1 file not committed: a.txt";
const UNTRACKED: &str = "fail: 1 file untracked (commit or ignore): new.txt";

fn write(root: &Path, name: &str, text: impl AsRef<[u8]>) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().expect("a parent")).expect("make it");
    fs::write(path, text).expect("write it");
}

/// A repository with one commit.
fn repository() -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path();
    write(root, "a.txt", "one\n");
    write(root, "run.sh", "#!/bin/sh\n");
    fs::set_permissions(root.join("run.sh"), fs::Permissions::from_mode(0o755)).expect("a mode");
    write(root, ".gitignore", "*.log\n");
    run(root, &["init", "-q", "-b", "main"]);
    run(root, &["add", "."]);
    run(root, &["commit", "-q", "-m", "one"]);
    directory
}

/// A repository with a remote that has its commit.
fn pushed() -> (TempDir, TempDir) {
    let remote = tempfile::tempdir().expect("a directory");
    run(remote.path(), &["init", "-q", "--bare", "-b", "main"]);
    let project = repository();
    let url = remote.path().display().to_string();
    run(project.path(), &["remote", "add", "origin", &url]);
    run(project.path(), &["push", "-q", "-u", "origin", "main"]);
    (project, remote)
}

#[expect(clippy::disallowed_methods, reason = "a test sets its scene")]
fn run(root: &Path, words: &[&str]) -> String {
    let mut git = Command::new("git");
    let settings =
        ["user.name=A", "user.email=a@b", "commit.gpgsign=false", "protocol.file.allow=always"];
    git.args(settings.iter().flat_map(|setting| ["-c", setting])).args(words).current_dir(root);
    git.env_remove("GIT_DIR").env_remove("GIT_INDEX_FILE").env_remove("GIT_WORK_TREE");
    let output = git.output().expect("run git");
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn said(finding: &KindFinding) -> String {
    let text = finding.trouble.as_deref().unwrap_or(&finding.text);
    format!("{}: {}", finding.status, text.replace('\n', " / "))
}

fn ask(root: &Path, demand: GitDemand, basis: Option<&GitBasis>) -> String {
    said(&git(root, &[demand], basis))
}

/// A story of a work tree after the start, and what is said of it with and without the start.
type Story = (&'static str, fn(&Path), &'static str, &'static str);

const STORIES: [Story; 13] = [
    ("untouched", |_| {}, CLEAN, CLEAN),
    (
        "assume-unchanged",
        |root| {
            run(root, &["update-index", "--assume-unchanged", "a.txt"]);
            write(root, "a.txt", "two\n");
        },
        HIDDEN,
        HIDDEN,
    ),
    (
        "skip-worktree",
        |root| {
            run(root, &["update-index", "--skip-worktree", "a.txt"]);
            write(root, "a.txt", "two\n");
        },
        HIDDEN,
        HIDDEN,
    ),
    (
        "deleted behind skip-worktree",
        |root| {
            run(root, &["update-index", "--skip-worktree", "a.txt"]);
            fs::remove_file(root.join("a.txt")).expect("remove");
        },
        HIDDEN,
        HIDDEN,
    ),
    (
        "sparse since then",
        |root| {
            run(root, &["config", "core.sparseCheckout", "true"]);
            run(root, &["update-index", "--skip-worktree", "a.txt"]);
            fs::remove_file(root.join("a.txt")).expect("remove");
        },
        HIDDEN,
        CLEAN,
    ),
    (
        "a filter",
        |root| {
            run(root, &["config", "filter.e.clean", "git show HEAD:%f"]);
            write(root, ".git/info/attributes", "a.txt filter=e\n");
            write(root, "a.txt", "two, longer\n");
            run(root, &["status", "--short"]);
        },
        HIDDEN,
        HIDDEN,
    ),
    (
        "a filter that left no trace",
        |root| {
            write(root, ".git/info/attributes", "a.txt filter=e\n");
            write(root, "a.txt", "two, longer\n");
            run(root, &["-c", "filter.e.clean=git show HEAD:%f", "status", "--short"]);
        },
        HIDDEN,
        HIDDEN,
    ),
    (
        "modes",
        |root| {
            run(root, &["config", "core.fileMode", "false"]);
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(root.join("a.txt"), mode).expect("a mode");
        },
        CHANGED,
        CHANGED,
    ),
    (
        "stat",
        |root| {
            run(root, &["config", "core.checkStat", "minimal"]);
            run(root, &["config", "core.trustctime", "false"]);
            run(root, &["config", "core.ignoreStat", "true"]);
            write(root, "a.txt", "two\n");
        },
        CHANGED,
        CHANGED,
    ),
    (
        "an exclude list",
        |root| {
            write(root, ".git/info/exclude", "new.txt\n");
            write(root, "new.txt", "x");
        },
        UNTRACKED,
        CLEAN,
    ),
    (
        "an exclude file",
        |root| {
            write(root, ".git/my-ignore", "new.txt\n");
            run(root, &["config", "core.excludesFile", ".git/my-ignore"]);
            write(root, "new.txt", "x");
        },
        UNTRACKED,
        UNTRACKED,
    ),
    (
        "untracked files are not shown",
        |root| {
            run(root, &["config", "status.showUntrackedFiles", "no"]);
            write(root, "new.txt", "x");
        },
        UNTRACKED,
        UNTRACKED,
    ),
    (
        "ends of lines",
        |root| {
            run(root, &["config", "core.autocrlf", "input"]);
            write(root, "a.txt", "one\r\n");
        },
        CHANGED,
        CHANGED,
    ),
];
#[test]
fn no_setting_hides_a_change() {
    for (name, story, with, without) in STORIES {
        let project = repository();
        let root = project.path();
        let basis = GitBasis::take(root).expect("a basis");
        story(root);
        // Whether git has already looked at a file depends on the clock.
        let ask = |basis| match ask(root, GitDemand::Clean, basis) {
            said if said == CHANGED && with == HIDDEN => HIDDEN.to_owned(),
            said => said,
        };
        assert_eq!(ask(Some(&basis)), with, "{name}");
        assert_eq!(ask(None), without, "{name}, start unknown");
    }
}

/// A set-up that was there at the start.
type SetUp = (&'static str, fn(&Path));

const SET_UPS: [SetUp; 10] = [
    ("ends of lines", |root| {
        run(root, &["config", "core.autocrlf", "true"]);
        write(root, "a.txt", "one\r\n");
        run(root, &["add", "a.txt"]);
    }),
    ("a filter of the repository", |root| {
        run(root, &["config", "filter.up.clean", "tr a-z A-Z"]);
        write(root, ".gitattributes", "*.up filter=up\n");
        write(root, "x.up", "text\n");
        run(root, &["add", "."]);
        run(root, &["commit", "-q", "-m", "two"]);
    }),
    ("a sparse tree", |root| {
        write(root, "in/b.txt", "b\n");
        write(root, "out/c.txt", "c\n");
        run(root, &["add", "."]);
        run(root, &["commit", "-q", "-m", "two"]);
        run(root, &["sparse-checkout", "set", "--no-cone", "/in/", "/*.txt", "/run.sh"]);
        assert!(!root.join("out").exists());
    }),
    ("a personal list", |root| {
        write(root, ".git/info/exclude", "notes.md\n");
        write(root, "notes.md", "mine\n");
    }),
    ("no modes", |root| {
        run(root, &["config", "core.fileMode", "true"]);
    }),
    ("an odd name", |root| {
        write(root, "ä b\"c.txt", "x\n");
        run(root, &["add", "."]);
        run(root, &["commit", "-q", "-m", "two"]);
    }),
    ("a link", |root| {
        symlink("a.txt", root.join("l")).expect("link");
        run(root, &["add", "."]);
        run(root, &["commit", "-q", "-m", "two"]);
    }),
    ("ignored", |root| write(root, "x.log", "x")),
    ("local settings that git was told not to look at", |root| {
        run(root, &["update-index", "--skip-worktree", "a.txt"]);
        write(root, "a.txt", "mine\n");
    }),
    ("flags without a change", |root| {
        run(root, &["update-index", "--assume-unchanged", "a.txt"]);
    }),
];
#[test]
fn honest_set_ups_are_clean() {
    for (name, story) in SET_UPS {
        let project = repository();
        let root = project.path();
        story(root);
        let basis = GitBasis::take(root).expect("a basis");
        assert_eq!(ask(root, GitDemand::Clean, Some(&basis)), CLEAN, "{name}");
        let round = serde_json::to_string(&basis).expect("text");
        let again: GitBasis = serde_json::from_str(&round).expect("a basis");
        assert_eq!(again, basis, "{name}");
    }
}

#[test]
fn modes_that_were_ignored_at_the_start_are_ignored() {
    let project = repository();
    let root = project.path();
    run(root, &["config", "core.fileMode", "false"]);
    let basis = GitBasis::take(root).expect("a basis");
    fs::set_permissions(root.join("run.sh"), fs::Permissions::from_mode(0o644)).expect("a mode");
    assert_eq!(ask(root, GitDemand::Clean, Some(&basis)), CLEAN);
}

#[test]
fn submodules_and_other_work_trees_are_clean() {
    let inner = repository();
    let project = repository();
    let root = project.path();
    let url = inner.path().display().to_string();
    run(root, &["submodule", "--quiet", "add", &url, "sub"]);
    run(root, &["commit", "-q", "-m", "sub"]);
    let basis = GitBasis::take(root).expect("a basis");
    assert_eq!(ask(root, GitDemand::Clean, Some(&basis)), CLEAN);
    assert_eq!(ask(root, GitDemand::NoConflicts, Some(&basis)), "pass: no conflicts");
    write(root, "sub/a.txt", "two\n");
    assert_eq!(ask(root, GitDemand::Clean, Some(&basis)), "fail: 1 file not committed: sub");
    run(&root.join("sub"), &["checkout", "-q", "."]);

    let other = tempfile::tempdir().expect("a directory");
    let path = other.path().join("tree");
    run(root, &["worktree", "add", "-q", &path.display().to_string()]);
    let basis = GitBasis::take(&path).expect("a basis");
    assert_eq!(ask(&path, GitDemand::Clean, Some(&basis)), CLEAN);
    write(&path, "a.txt", "two\n");
    assert_eq!(ask(&path, GitDemand::Clean, Some(&basis)), CHANGED);
}

/// A story of a pushed repository after the start.
type PushStory = (&'static str, fn(&Path, &Path), &'static str);

const BEHIND: &str = "fail: 1 commit is not on origin/main: git push";

const PUSH_STORIES: [PushStory; 10] = [
    ("pushed", |_, _| {}, PUSHED),
    (
        "a commit",
        |root, _| {
            run(root, &["commit", "-q", "--allow-empty", "-m", "two"]);
        },
        BEHIND,
    ),
    (
        "a forged tracking branch",
        |root, _| {
            run(root, &["commit", "-q", "--allow-empty", "-m", "two"]);
            run(root, &["update-ref", "refs/remotes/origin/main", "HEAD"]);
        },
        BEHIND,
    ),
    (
        "another address",
        |root, _| {
            run(root, &["commit", "-q", "--allow-empty", "-m", "two"]);
            run(root, &["init", "-q", "--bare", ".git/fake"]);
            let fake = root.join(".git/fake").display().to_string();
            run(root, &["remote", "set-url", "origin", &fake]);
            run(root, &["push", "-q", "origin", "main"]);
        },
        BEHIND,
    ),
    (
        "an address that is replaced",
        |root, remote| {
            run(root, &["commit", "-q", "--allow-empty", "-m", "two"]);
            run(root, &["init", "-q", "--bare", ".git/fake"]);
            let fake = root.join(".git/fake").display().to_string();
            let key = format!("url.{fake}.insteadOf");
            run(root, &["config", &key, &remote.display().to_string()]);
            run(root, &["push", "-q", "origin", "main"]);
        },
        BEHIND,
    ),
    (
        "others pushed more",
        |root, remote| {
            let other = root.join(".git/other").display().to_string();
            run(root, &["clone", "-q", &remote.display().to_string(), &other]);
            run(Path::new(&other), &["commit", "-q", "--allow-empty", "-m", "theirs"]);
            run(Path::new(&other), &["push", "-q"]);
            run(root, &["fetch", "-q"]);
        },
        PUSHED,
    ),
    (
        "another branch without -u",
        |root, _| {
            run(root, &["checkout", "-q", "-b", "topic"]);
            run(root, &["commit", "-q", "--allow-empty", "-m", "two"]);
            run(root, &["push", "-q", "origin", "topic"]);
        },
        PUSHED,
    ),
    (
        "a branch that is not there",
        |root, _| {
            run(root, &["checkout", "-q", "-b", "topic"]);
        },
        "fail: origin/topic is not on the remote: git push origin topic",
    ),
    (
        "a file address",
        |root, remote| {
            let url = format!("file://{}", remote.display());
            run(root, &["remote", "set-url", "origin", &url]);
        },
        PUSHED,
    ),
    (
        "a pack on the way",
        |root, _| {
            run(root, &["gc", "-q"]);
        },
        PUSHED,
    ),
];
#[test]
fn the_remote_says_what_is_pushed() {
    for (name, story, expected) in PUSH_STORIES {
        let (project, remote) = pushed();
        let basis = GitBasis::take(project.path()).expect("a basis");
        story(project.path(), remote.path());
        assert_eq!(ask(project.path(), GitDemand::Pushed, Some(&basis)), expected, "{name}");
    }
}

#[test]
fn a_fork_is_pushed_to_where_git_pushes() {
    let settings = ["remote.pushDefault", "branch.main.pushRemote"];
    for setting in settings {
        let (project, _remote) = pushed();
        let root = project.path();
        let fork = tempfile::tempdir().expect("a directory");
        run(fork.path(), &["init", "-q", "--bare", "-b", "main"]);
        run(root, &["remote", "add", "fork", &fork.path().display().to_string()]);
        run(root, &["config", setting, "fork"]);
        let basis = GitBasis::take(root).expect("a basis");
        run(root, &["commit", "-q", "--allow-empty", "-m", "two"]);
        let missing = "fail: fork/main is not on the remote: git push fork main";
        assert_eq!(ask(root, GitDemand::Pushed, Some(&basis)), missing, "{setting}");
        run(root, &["push", "-q", "fork", "main"]);
        assert_eq!(ask(root, GitDemand::Pushed, Some(&basis)), PUSHED, "{setting}");
    }
}

#[test]
fn a_remote_that_is_new_is_somebodys_word() {
    let project = repository();
    let root = project.path();
    let basis = GitBasis::take(root).expect("a basis");
    run(root, &["init", "-q", "--bare", ".git/fake"]);
    let fake = root.join(".git/fake").display().to_string();
    run(root, &["remote", "add", "origin", &fake]);
    run(root, &["push", "-q", "-u", "origin", "main"]);
    let finding = git(root, &[GitDemand::Pushed], Some(&basis));
    assert_eq!((finding.status, finding.basis), (Status::Pass, FindingBasis::Word));
    assert!(finding.text.contains("was not a remote at the start"), "{finding:?}");
}

#[test]
fn a_remote_that_does_not_answer_proves_nothing() {
    let (project, remote) = pushed();
    let basis = GitBasis::take(project.path()).expect("a basis");
    let gone = remote.path().join("gone");
    fs::create_dir(&gone).expect("make it");
    for name in ["HEAD", "objects", "refs", "config"] {
        fs::rename(remote.path().join(name), gone.join(name)).expect("move it");
    }
    let finding = git(project.path(), &[GitDemand::Pushed], Some(&basis));
    assert_eq!(finding.status, Status::Error);
    assert!(said(&finding).starts_with("error: could not ask origin ("), "{finding:?}");
}

#[test]
fn addresses_are_kept_without_passwords() {
    let rows = [
        ("https://me:secret@host/a.git", "https://host/a.git"),
        ("https://token@host/a@b.git", "https://host/a@b.git"),
        ("https://host/a.git", "https://host/a.git"),
        ("git@host:a.git", "git@host:a.git"),
        ("/srv/a.git", "/srv/a.git"),
        ("ssh://git:x@host:22/a", "ssh://git@host:22/a"),
    ];
    for (url, expected) in rows {
        assert_eq!(without_password(url), expected);
    }
    let directory = tempfile::tempdir().expect("a directory");
    assert_eq!(GitBasis::take(directory.path()), None);
}
