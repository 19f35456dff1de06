//! How git saw a project, and what is undone or asked where it sees it otherwise.

use super::*;
use crate::basis::GitUndo;

fn run(root: &Path, words: &[&str]) {
    let said = git(words, root, GitFilters::Run, WITHIN).expect("git runs");
    assert!(said.is_fine(), "{words:?}: {}", String::from_utf8_lossy(&said.stderr));
}

fn commit(root: &Path, text: &str) {
    std::fs::write(root.join("a.txt"), text).expect("write it");
    run(root, &["add", "a.txt"]);
    run(root, &["-c", "user.name=P", "-c", "user.email=p@x", "commit", "-qm", text]);
}

/// A repository with one commit.
fn repository() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    run(directory.path(), &["init", "-q", "-b", "main"]);
    commit(directory.path(), "one");
    directory
}

fn at(root: &Path, name: &str) -> String {
    answer(root, &["rev-parse", name]).expect("a name").trim_end().into()
}

fn changes(noted: &GitState, root: &Path, words: &[&str]) -> GitChanges {
    let words = words.iter().map(|word| (*word).to_string()).collect();
    noted.changes(root, &words, Some(0))
}

fn told(changes: &GitChanges) -> Vec<&str> {
    assert_eq!(changes.lasting, []);
    changes.undone.iter().map(|change| change.text.as_str()).collect()
}

#[test]
fn new_filters_attributes_and_marks_are_undone_and_names_are_not_told() {
    let directory = repository();
    let root = directory.path();
    let noted = GitState::take(root).expect("a state");
    run(root, &["config", "user.name", "Pat"]);
    assert_eq!(changes(&noted, root, &[]), GitChanges::default());
    run(root, &["config", "filter.none.clean", "true"]);
    run(root, &["update-index", "--assume-unchanged", "a.txt"]);
    std::fs::create_dir_all(root.join(".git/info")).expect("make it");
    std::fs::write(root.join(".git/info/attributes"), "* filter=none\n").expect("write it");
    let found = changes(&noted, root, &[]);
    let wanted = [
        "git's setting filter.none.clean changed",
        "git's attributes of this repository changed",
        "git no longer looks at a.txt",
    ];
    assert_eq!(told(&found), wanted);
    let undo = GitUndo {
        settings: vec![("filter.none.clean".into(), None)],
        files: vec![("info/attributes".into(), None)],
        unseen: vec!["a.txt".into()],
        ..GitUndo::default()
    };
    assert_eq!(found.undo, undo);
    let asked = found.all_lasting();
    assert_eq!((asked.lasting.len(), asked.undo), (3, GitUndo::default()));
}

#[test]
fn attributes_of_the_start_come_back() {
    let directory = repository();
    let root = directory.path();
    let file = root.join(".git/info/attributes");
    std::fs::create_dir_all(root.join(".git/info")).expect("make it");
    std::fs::write(&file, "* text\n").expect("write it");
    let noted = GitState::take(root).expect("a state");
    std::fs::write(&file, "* -text\n").expect("write it");
    let files = changes(&noted, root, &[]).undo.files;
    assert_eq!(files, [("info/attributes".into(), Some("* text\n".into()))]);
}

#[test]
fn what_the_repository_s_own_list_newly_hides_is_left_out_with_the_list() {
    let directory = repository();
    let root = directory.path();
    std::fs::create_dir_all(root.join(".git/info")).expect("make it");
    let exclude = root.join(".git/info/exclude");
    std::fs::write(&exclude, "*.swp\n").expect("write it");
    let noted = GitState::take(root).expect("a state");
    std::fs::write(root.join("a.swp"), "").expect("write it");
    std::fs::write(&exclude, "*.swp\n# mine\n\npages/\n").expect("write it");
    assert_eq!(changes(&noted, root, &[]), GitChanges::default());
    std::fs::create_dir_all(root.join("pages")).expect("make it");
    std::fs::write(root.join("pages/new.md"), "new").expect("write it");
    let found = changes(&noted, root, &[]);
    assert_eq!(told(&found), ["git's own list (.git/info/exclude) newly hides pages/new.md"]);
    assert_eq!(found.absent, [PathBuf::from("pages/new.md")]);
    assert_eq!(found.undo.files, [("info/exclude".into(), Some("*.swp\n".into()))]);
    let before = GitState { exclude: None, ..noted };
    assert_eq!(changes(&before, root, &[]), GitChanges::default());
}

#[test]
fn a_branch_that_judges_name_and_replaced_objects_are_brought_back() {
    let directory = repository();
    let root = directory.path();
    run(root, &["branch", "stable"]);
    run(root, &["branch", "other"]);
    let one = at(root, "main");
    let noted = GitState::take(root).expect("a state");
    commit(root, "two");
    run(root, &["branch", "-f", "other", "HEAD"]);
    let words = ["main", "stable"];
    assert_eq!(changes(&noted, root, &words), GitChanges::default());
    run(root, &["branch", "-f", "stable", "HEAD"]);
    run(root, &["replace", "HEAD:a.txt", "HEAD~1:a.txt"]);
    let replaced = format!("refs/replace/{}", at(root, "HEAD:a.txt"));
    for words in [words, ["main", "heads/stable"], ["main", "refs/heads/stable"]] {
        let found = changes(&noted, root, &words);
        assert_eq!(told(&found)[0], "the branch stable was moved or deleted");
        assert!(told(&found)[1].starts_with("git shows another object in place of "));
        let refs = [("refs/heads/stable".into(), Some(one.clone())), (replaced.clone(), None)];
        assert_eq!(found.undo.refs, refs);
    }
}

#[test]
fn names_that_git_finds_before_others_are_taken_away() {
    let directory = repository();
    let root = directory.path();
    run(root, &["tag", "golden"]);
    run(root, &["branch", "stable"]);
    let noted = GitState::take(root).expect("a state");
    commit(root, "two");
    run(root, &["update-ref", "refs/golden", "HEAD"]);
    run(root, &["tag", "stable"]);
    run(root, &["branch", "golden"]);
    std::fs::write(root.join(".git/stable"), at(root, "HEAD")).expect("write it");
    std::fs::write(root.join(".git/unnamed"), at(root, "HEAD")).expect("write it");
    let found = changes(&noted, root, &["golden", "stable", "HEAD", "config", "../x"]);
    let wanted = [
        "git's own file stable hides what is called so",
        "refs/golden hides the tag golden",
        "the tag stable hides the branch stable",
    ];
    assert_eq!(told(&found), wanted);
    assert_eq!(found.undo.files, [("stable".to_string(), None)]);
    let refs = ["refs/golden", "refs/tags/stable"].map(|name| (name.to_string(), None));
    assert_eq!(found.undo.refs, refs);
    assert_eq!(changes(&noted, root, &["other"]), GitChanges::default());
}

#[test]
fn long_files_and_links_are_seen_and_git_s_own_are_left() {
    let directory = repository();
    let root = directory.path();
    let noted = GitState::take(root).expect("a state");
    let long = format!("{}\n{}", at(root, "HEAD"), " ".repeat(2 * 1024 * 1024));
    std::fs::write(root.join(".git/long"), long).expect("write it");
    stopgate_system::fs::symlink("refs/heads/none", root.join(".git/linked")).expect("link it");
    let attributes = format!("#{}\n* -text\n", "x".repeat(2 * 1024 * 1024));
    std::fs::create_dir_all(root.join(".git/info")).expect("make it");
    std::fs::write(root.join(".git/info/attributes"), attributes).expect("write it");
    let found = changes(&noted, root, &["long", "linked", "HEAD", "index", "logs/HEAD"]);
    let wanted = ["info/attributes", "linked", "long"].map(|name| (name.to_string(), None));
    assert_eq!(found.undo.files, wanted);
}

#[test]
fn a_branch_of_others_that_moved_without_a_note_is_brought_back() {
    let directory = repository();
    let root = directory.path();
    let one = at(root, "HEAD");
    run(root, &["update-ref", "-m", "fetch", "refs/remotes/origin/main", "HEAD"]);
    let noted = GitState::take(root).expect("a state");
    commit(root, "two");
    run(root, &["update-ref", "-m", "fetch", "refs/remotes/origin/main", "HEAD"]);
    assert_eq!(changes(&noted, root, &[]), GitChanges::default());
    std::fs::remove_file(root.join(".git/logs/refs/remotes/origin/main")).expect("remove it");
    let refs = [("refs/remotes/origin/main".to_string(), Some(one))];
    assert_eq!(changes(&noted, root, &[]).undo.refs, refs);
}

#[test]
fn new_names_are_known_where_the_check_may_look_at_them() {
    let directory = repository();
    let root = directory.path();
    let noted = GitState::take(root).expect("a state");
    run(root, &["tag", "v1"]);
    run(root, &["branch", "other"]);
    run(root, &["checkout", "-q", "-b", "work"]);
    let names = |words: &[&str]| changes(&noted, root, words).undo.names;
    assert_eq!(names(&["x"]), [""; 0]);
    assert_eq!(names(&["v1", "work"]), ["refs/tags/v1"]);
    assert_eq!(names(&["describe"]), ["refs/tags/v1"]);
    assert_eq!(names(&["other", "main"]), ["refs/heads/main", "refs/heads/other"]);
}

#[test]
fn hooks_elsewhere_count_where_they_matter() {
    let directory = repository();
    let root = &directory.path().canonicalize().expect("a path");
    run(root, &["config", "core.hooksPath", ".githooks"]);
    let noted = GitState::take(root).expect("a state");
    let inner = root.join(".githooks");
    run(root, &["config", "core.hooksPath", &inner.to_string_lossy()]);
    assert_eq!(changes(&noted, root, &["hook"]), GitChanges::default());
    run(root, &["config", "core.hooksPath", "hooks"]);
    assert_eq!(changes(&noted, root, &["archive"]), GitChanges::default());
    let wanted = [("core.hookspath".to_string(), Some(".githooks".to_string()))];
    assert_eq!(changes(&noted, root, &["hook"]).undo.settings, wanted);
    std::fs::create_dir(root.join("hooks")).expect("make it");
    std::fs::write(root.join("hooks/post-checkout"), "").expect("write it");
    assert_eq!(changes(&noted, root, &["archive"]).undo.settings, wanted);
}

#[test]
fn an_upstream_that_was_exchanged_comes_back_where_a_judge_says_it() {
    let directory = repository();
    let root = directory.path();
    run(root, &["config", "branch.main.merge", "refs/heads/main"]);
    let noted = GitState::take(root).expect("a state");
    run(root, &["config", "branch.main.merge", "refs/heads/other"]);
    assert_eq!(changes(&noted, root, &["main"]), GitChanges::default());
    let wanted = [("branch.main.merge".to_string(), Some("refs/heads/main".to_string()))];
    assert_eq!(changes(&noted, root, &["u"]).undo.settings, wanted);
}

#[test]
fn a_directory_that_becomes_a_repository_and_hooks_are_told() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path();
    run(root, &["init", "-q"]);
    std::fs::create_dir(root.join("docs")).expect("make it");
    std::fs::write(root.join("docs/a.md"), "a").expect("write it");
    run(root, &["add", "docs/a.md"]);
    let noted = GitState::take(root).expect("a state");
    let files = || std::iter::once(Path::new("docs/a.md"));
    assert_eq!(repositories_since(root, files(), Some(0)), []);
    run(&root.join("docs"), &["init", "-q"]);
    let young = repositories_since(root, files(), Some(0));
    assert_eq!(young[0].text, "docs is a repository of its own now");
    let hook = root.join(".git/hooks/post-checkout");
    std::fs::create_dir_all(root.join(".git/hooks")).expect("make it");
    std::fs::write(hook, "#!/bin/sh\n").expect("write it");
    let found = changes(&noted, root, &[]);
    assert_eq!(told(&found), ["git's own file hooks/post-checkout was added or changed"]);
    assert_eq!(found.undo.files, [("hooks/post-checkout".to_string(), None)]);
}

#[test]
fn what_was_told_once_is_another_change_where_it_changes_again() {
    let directory = repository();
    let root = directory.path();
    commit(root, "two");
    commit(root, "three");
    run(root, &["tag", "base", "HEAD~2"]);
    let noted = GitState::take(root).expect("a state");
    let start = at(root, "HEAD");
    run(root, &["tag", "-f", "base", "HEAD~1"]);
    run(root, &["config", "filter.none.clean", "true"]);
    run(root, &["rm", "--cached", "-q", "a.txt"]);
    assert_eq!(GitState::untracked_since(root, &start), [PathBuf::from("a.txt")]);
    let found = || changes(&noted, root, &[]).undone;
    let first = found();
    assert_eq!(first.len(), 2, "{first:?}");
    run(root, &["tag", "-f", "base", "HEAD"]);
    run(root, &["config", "filter.none.clean", "false"]);
    for (one, other) in first.iter().zip(found()) {
        assert_eq!(one.text, other.text);
        assert_ne!(one.now, other.now, "{}", one.text);
    }
}
