//! `run --worktree` and `run --jobs`: work on branches of its own, merged when it holds there.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::run::{agent, begun, count, ended_well, in_background, outcome, text, until};
use crate::stage::{Ran, Stage};

const LIST: &str = "project/.claude/data/ralph-loops/current/feature_list.json";

/// Runs git in a directory of the stage.
fn git(stage: &Stage, directory: &str, words: &[&str]) -> String {
    let (code, out) = try_git(stage, directory, words);
    assert_eq!(code, Some(0), "git {words:?} in {directory}: {out}");
    out
}

fn try_git(stage: &Stage, directory: &str, words: &[&str]) -> (Option<i32>, String) {
    let mut command = crate::doors::program("git");
    command.args(["-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]);
    let said = command.args(words).current_dir(stage.path(directory)).output().expect("run git");
    let text = [said.stdout, said.stderr].concat();
    (said.status.code(), String::from_utf8_lossy(&text).trim().to_owned())
}

/// A stage whose project is a repository with one commit.
fn repository() -> Stage {
    let stage = Stage::new();
    let _ = fs::remove_dir_all(stage.path("project/.git"));
    git(&stage, "project", &["init", "-q", "-b", "main", "."]);
    stage.write("project/README", "one\n");
    git(&stage, "project", &["add", "-A"]);
    git(&stage, "project", &["commit", "-q", "-m", "begin"]);
    stage
}

fn worktree_of(stage: &Stage, id: &str) -> String {
    assert!(stage.path("project").is_dir());
    format!("project-{id}")
}

fn head(stage: &Stage) -> String {
    git(stage, "project", &["rev-parse", "main"])
}

fn why(stage: &Stage, id: &str) -> String {
    let view = stage.json(&format!("status {id}"));
    view["loop"]["why"].as_str().unwrap_or_default().to_owned()
}

/// What every held merge must tell.
fn tells_how_to_finish(stage: &Stage, id: &str, ran: &Ran) {
    ended_well(ran, 4);
    assert_eq!(outcome(stage, id), json!("needs_approval"), "{ran}");
    let why = why(stage, id);
    let directory = format!("$STAGE/{}", worktree_of(stage, id));
    for part in [&format!("stopgate/{id}"), &directory, "Look: git", "Finish: ", "--continue"] {
        assert!(why.contains(part), "{part} in {why}");
    }
    assert!(stage.path(&worktree_of(stage, id)).is_dir());
}

#[test]
fn the_work_is_done_on_a_branch_of_its_own_and_merged_when_it_holds() {
    let stage = repository();
    stage.write("project/.gitignore", "*.log\n");
    git(&stage, "project", &["add", "-A"]);
    git(&stage, "project", &["commit", "-q", "-m", "ignore"]);
    let id = begun(&stage, "");
    let body = "pwd >>$STAGE/where; git branch --show-current >>$STAGE/where\n\
                touch done.txt noise.log; test ! -f $STAGE/project/done.txt && echo Done.\n";
    let worker = agent(&stage, "worker", body);
    let ran = stage.run(&format!("run --worktree -- {worker}"));
    ended_well(&ran, 0);
    assert_eq!(outcome(&stage, &id), json!("done"), "{ran}");
    let place = stage.path(&worktree_of(&stage, &id));
    assert_eq!(text(&stage, "where"), format!("{}\nstopgate/{id}\n", place.display()));
    assert!(stage.path("project/done.txt").is_file(), "{ran}");
    assert!(!stage.path("project/noise.log").exists(), "ignored files are left out: {ran}");
    assert_eq!(git(&stage, "project", &["status", "--porcelain"]), "");
    assert!(!place.exists(), "{ran}");
    assert_eq!(git(&stage, "project", &["branch", "--list", "stopgate/*"]), "");
    let authors = git(&stage, "project", &["log", "-2", "--format=%an %s"]);
    assert!(authors.starts_with("stopgate Merge stopgate/"), "{authors}");
}

#[test]
fn what_the_agent_committed_on_a_branch_of_its_own_is_merged_too() {
    let stage = repository();
    let id = begun(&stage, "");
    let body = "git checkout -q -b mine; touch done.txt; git add -A\n\
                git -c user.name=B -c user.email=b@c commit -q -m work; touch more.txt; echo Done.\n";
    let worker = agent(&stage, "worker", body);
    ended_well(&stage.run(&format!("run {id} --worktree -- {worker}")), 0);
    assert!(stage.path("project/done.txt").is_file());
    assert!(stage.path("project/more.txt").is_file());
}

#[test]
fn a_conflict_waits_for_a_person_who_finishes_it() {
    let stage = repository();
    let id = begun(&stage, "");
    let body = "echo theirs >README; touch done.txt; cd $STAGE/project && echo mine >README\n\
                git -c user.name=A -c user.email=a@b commit -q -am mine; echo Done.\n";
    let worker = agent(&stage, "worker", body);
    let ran = stage.run(&format!("run {id} --worktree -- {worker}"));
    tells_how_to_finish(&stage, &id, &ran);
    assert!(why(&stage, &id).contains("conflicts with main in README"), "{ran}");
    assert_eq!(text(&stage, "project/README"), "mine\n");
    let place = worktree_of(&stage, &id);
    assert_eq!(text(&stage, &format!("{place}/README")), "theirs\n");
    // A merge that is not resolved is not committed with its marks.
    let (code, _) = try_git(&stage, &place, &["merge", "main"]);
    assert_eq!(code, Some(1));
    let ran = stage.run(&format!("run {id} --continue -- {worker}"));
    tells_how_to_finish(&stage, &id, &ran);
    stage.write(&format!("{place}/README"), "both\n");
    git(&stage, &place, &["commit", "-q", "-am", "both"]);
    let never = agent(&stage, "never", "touch $STAGE/called\n");
    ended_well(&stage.run(&format!("run {id} --continue -- {never}")), 0);
    assert_eq!(text(&stage, "project/README"), "both\n");
    assert!(!stage.path("called").exists(), "no session is needed for a merge");
    assert!(!stage.path(&place).exists());
}

#[test]
fn a_merged_tree_that_fails_the_proof_is_not_merged() {
    let stage = repository();
    let check = "--check 'fits=test -f done.txt && ! test -f stop.txt' 'make the file'";
    let id = stage.start(check);
    let body = "touch done.txt; cd $STAGE/project && touch stop.txt && git add -A\n\
                git -c user.name=A -c user.email=a@b commit -q -m stop; echo Done.\n";
    let worker = agent(&stage, "worker", body);
    let ran = stage.run(&format!("run {id} --worktree -- {worker}"));
    tells_how_to_finish(&stage, &id, &ran);
    assert!(
        why(&stage, &id).contains("not merged with main: these criteria fail there: fits"),
        "{ran}"
    );
    assert!(!stage.path("project/done.txt").exists());
    let branch = git(&stage, &worktree_of(&stage, &id), &["branch", "--show-current"]);
    assert_eq!(branch, format!("stopgate/{id}"));
}

#[test]
fn changes_of_the_person_are_not_touched() {
    let stage = repository();
    let id = begun(&stage, "");
    stage.write("project/README", "half\n");
    let worker = agent(&stage, "worker", "touch done.txt; echo Done.\n");
    let before = head(&stage);
    let ran = stage.run(&format!("run {id} --worktree -- {worker}"));
    tells_how_to_finish(&stage, &id, &ran);
    assert!(ran.err.contains("uncommitted changes"), "{ran}");
    assert_eq!((head(&stage), text(&stage, "project/README")), (before, "half\n".into()));
    let command = format!("merge --ff-only stopgate/{id}");
    assert!(why(&stage, &id).contains(&command), "{ran}");
    git(&stage, "project", &["merge", "-q", "--ff-only", &format!("stopgate/{id}")]);
    ended_well(&stage.run(&format!("run {id} --continue -- {worker}")), 0);
    assert!(stage.path("project/done.txt").is_file());
    assert_eq!(text(&stage, "project/README"), "half\n");
}

#[test]
fn a_branch_that_moves_while_the_merge_is_proven_is_not_overwritten() {
    let stage = repository();
    stage.write(
        "project/check.sh",
        format!(
            "test -f done.txt || exit 1\n\
             if git rev-parse -q --verify HEAD^2 >/dev/null && [ ! -f {0}/moved ]; then\n\
             touch {0}/moved; cd {0}/project && git -c user.name=A -c user.email=a@b \
             commit -q --allow-empty -m moved; fi\n",
            stage.path("").display()
        ),
    );
    git(&stage, "project", &["add", "-A"]);
    git(&stage, "project", &["commit", "-q", "-m", "check"]);
    let id = stage.start("--check 'made=sh check.sh' 'make the file'");
    let worker = agent(&stage, "worker", "touch done.txt; echo Done.\n");
    let ran = stage.run(&format!("run {id} --worktree -- {worker}"));
    tells_how_to_finish(&stage, &id, &ran);
    assert!(why(&stage, &id).contains("moved while the merge was proven"), "{ran}");
    assert_eq!(git(&stage, "project", &["log", "-1", "--format=%s"]), "moved");
    ended_well(&stage.run(&format!("run {id} --continue -- {worker}")), 0);
    assert!(stage.path("project/done.txt").is_file());
}

#[test]
fn where_there_is_nothing_to_merge_into_nothing_begins() {
    let none = Stage::new();
    let _ = fs::remove_dir_all(none.path("project/.git"));
    let bare = Stage::new();
    let _ = fs::remove_dir_all(bare.path("project/.git"));
    git(&bare, "project", &["init", "-q", "-b", "main", "."]);
    let detached = repository();
    git(&detached, "project", &["checkout", "-q", "--detach"]);
    let stages = [
        (none, "is not a git repository"),
        (bare, "has no commit yet"),
        (detached, "has no branch checked out"),
    ];
    for (stage, words) in stages {
        let id = begun(&stage, "");
        let worker = agent(&stage, "worker", "touch $STAGE/called done.txt\n");
        for line in ["run --worktree", "run --jobs 2"] {
            stage.write(LIST, r#"{"features":[{"id":1,"description":"a","passes":false}]}"#);
            let progress = "Iteration: 0\nMax Iterations: 9\nStatus: IN_PROGRESS\n";
            stage.write(&LIST.replace("feature_list.json", "progress.txt"), progress);
            let ran = stage.run(&format!("{line} -- {worker}"));
            ended_well(&ran, 2);
            assert!(ran.err.contains(words), "{ran}");
        }
        assert!(!stage.path("called").exists());
        assert_eq!(outcome(&stage, &id), Value::Null);
    }
}

#[test]
fn a_branch_name_that_is_taken_is_left_alone() {
    let stage = repository();
    let id = begun(&stage, "");
    git(&stage, "project", &["branch", &format!("stopgate/{id}")]);
    let worker = agent(&stage, "worker", "touch done.txt\n");
    let ran = stage.run(&format!("run {id} --worktree -- {worker}"));
    ended_well(&ran, 2);
    assert!(ran.err.contains("exists already") && ran.err.contains("branch -m"), "{ran}");
    git(&stage, "project", &["branch", "-m", &format!("stopgate/{id}"), "mine"]);
    // A branch that is called as the directory of ours is in the way as well.
    git(&stage, "project", &["branch", "stopgate"]);
    let ran = stage.run(&format!("run {id} --worktree -- {worker}"));
    ended_well(&ran, 2);
    assert!(ran.err.contains("could not make the worktree"), "{ran}");
    git(&stage, "project", &["branch", "-D", "stopgate"]);
    ended_well(&stage.run(&format!("run {id} --continue -- {worker}")), 0);
}

#[test]
fn a_worktree_that_a_person_removed_is_made_again_from_its_branch() {
    let stage = repository();
    let id = begun(&stage, "");
    let body = "n=$(cat $STAGE/n 2>/dev/null || echo 0); echo $((n+1)) >$STAGE/n\n\
                if [ $n = 0 ]; then touch half.txt; git add -A\n\
                git -c user.name=B -c user.email=b@c commit -q -m half\n\
                cd /; rm -rf $(ls -d $STAGE/project-*); echo '<promise>ASK: go on?</promise>'; exit; fi\n\
                test -f half.txt && touch done.txt; echo Done.\n";
    let worker = agent(&stage, "worker", body);
    ended_well(&stage.run(&format!("run {id} --worktree -- {worker}")), 4);
    stage.run(&format!("answer {id} yes"));
    ended_well(&stage.run(&format!("run {id} --continue -- {worker}")), 0);
    assert!(stage.path("project/half.txt").is_file() && stage.path("project/done.txt").is_file());
}

#[test]
fn a_worktree_that_is_gone_with_its_branch_is_told() {
    let stage = repository();
    let id = begun(&stage, "");
    let worker = agent(&stage, "worker", "echo '<promise>ASK: go on?</promise>'\n");
    ended_well(&stage.run(&format!("run {id} --worktree -- {worker}")), 4);
    git(&stage, "project", &["worktree", "remove", "--force", &format!("../project-{id}")]);
    git(&stage, "project", &["branch", "-D", &format!("stopgate/{id}")]);
    stage.run(&format!("answer {id} yes"));
    let ran = stage.run(&format!("run {id} --continue -- {worker}"));
    ended_well(&ran, 2);
    assert!(ran.err.contains("are gone") && ran.err.contains("stopgate restore"), "{ran}");
}

#[test]
fn submodules_and_large_files_are_mentioned() {
    let stage = repository();
    stage.write("project/.gitmodules", "");
    stage.write("project/.gitattributes", "*.bin filter=lfs\n");
    git(&stage, "project", &["add", "-A"]);
    git(&stage, "project", &["commit", "-q", "-m", "more"]);
    begun(&stage, "");
    let worker = agent(&stage, "worker", "touch done.txt; echo Done.\n");
    let ran = stage.run(&format!("run --worktree -- {worker}"));
    ended_well(&ran, 0);
    assert!(ran.err.contains("submodules") && ran.err.contains("Git LFS"), "{ran}");
}

/// A list of five features; the first two want the same file.
fn five_features(stage: &Stage) {
    let feature =
        |id: u32| format!(r#"{{"id": {id}, "description": "part {id}", "passes": false}}"#);
    let all: Vec<String> = (1..=5).map(feature).collect();
    stage.write(LIST, format!("{{\"features\": [\n{}\n]}}\n", all.join(",\n")));
    let progress = "Iteration: 0\nMax Iterations: 50\nStatus: IN_PROGRESS\n";
    stage.write(&LIST.replace("feature_list.json", "progress.txt"), progress);
}

/// An agent that builds the feature of its prompt. The first two begin before either ends, and it
/// hangs once in the fourth.
fn builder(stage: &Stage) -> String {
    let body = r#"
prompt=$(cat)
n=$(echo "$prompt" | sed -n 's/^Your feature: \([0-9]*\) .*/\1/p')
echo "begin $n" >>$STAGE/log
if [ $n = 4 ] && mkdir $STAGE/hung 2>/dev/null; then echo half >part-4; echo $$ >$STAGE/pid; exec sleep 600; fi
echo "part $n" >part-$n
case $n in 1|2) echo "line of $n" >shared
  while ! grep -q "begin $((3 - n))" $STAGE/log; do sleep 0.05; done ;; esac
sed -i "/\"id\": $n,/s/false/true/" .claude/data/ralph-loops/current/feature_list.json
git add -A && git -c user.name=B -c user.email=b@c commit -q -m "part $n"
echo "end $n" >>$STAGE/log
echo "Feature $n is built."
"#;
    agent(stage, "builder", body)
}

/// Which features pass; nothing while git writes the list anew, to move the tree forward.
fn passing(stage: &Stage) -> Option<Vec<bool>> {
    let list: Value = serde_json::from_str(&text(stage, LIST)).ok()?;
    let all = list["features"].as_array().expect("features").iter();
    Some(all.map(|feature| feature["passes"] == json!(true)).collect())
}

fn passes(stage: &Stage) -> Vec<bool> {
    passing(stage).expect("a list")
}

/// Five features, two at a time, killed in the middle and continued.
fn killed_and_continued(stage: &Stage) {
    let worker = builder(stage);
    let mut child = in_background(stage, &format!("run --jobs 2 -- {worker}"));
    until("the fourth hangs", || !text(stage, "pid").is_empty());
    let is_merged = || passing(stage).is_some_and(|now| now[2] && now[4] && now[0] != now[1]);
    until("the others are merged", is_merged);
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a number")).expect("a process");
    kill_process(pid, Signal::KILL).expect("kill it");
    child.wait().expect("its end");
    let refused = stage.run(&format!("run --jobs 2 -- {worker}"));
    ended_well(&refused, 2);
    assert!(refused.err.contains("--continue"), "{refused}");
    let ran = stage.run(&format!("run --jobs 2 --continue -- {worker}"));
    ended_well(&ran, 4);
    for n in [1, 2, 3, 5] {
        assert_eq!(count(stage, "log", &format!("begin {n}\n")), 1, "{}", text(stage, "log"));
    }
    assert_eq!(count(stage, "log", "end 4\n"), 1, "{}", text(stage, "log"));
    assert_eq!(passes(stage).iter().filter(|passes| **passes).count(), 4, "{ran}");
    for n in [3, 4, 5] {
        assert_eq!(text(stage, &format!("project/part-{n}")), format!("part {n}\n"));
    }
    assert!(ran.out.contains("conflicts with main in shared"), "{ran}");
    assert!(ran.out.contains("feature 4  attested"), "{ran}");
    finish_the_conflict(stage, &ran, &worker);
    snapshots_come_back(stage);
}

/// A person settles the conflict, and the list is complete.
fn finish_the_conflict(stage: &Stage, ran: &Ran, worker: &str) {
    let line = ran.out.lines().find(|line| line.contains("needs_approval")).expect("a conflict");
    let id = line.split("(loop ").nth(1).and_then(|rest| rest.split(')').next()).expect("a loop");
    let place = worktree_of(stage, id);
    assert!(stage.path(&place).is_dir(), "{place} is there: {ran}");
    let (code, _) = try_git(stage, &place, &["merge", "-q", "main"]);
    assert_eq!(code, Some(1), "it is a conflict: {ran}");
    stage.write(&format!("{place}/shared"), "both\n");
    let (_, open) = try_git(stage, &place, &["diff", "--name-only", "--diff-filter=U"]);
    for file in open.lines().filter(|file| file.ends_with("feature_list.json")) {
        git(stage, &place, &["checkout", "-q", "--ours", "--", file]);
    }
    git(stage, &place, &["add", "-A"]);
    git(stage, &place, &["commit", "-q", "-m", "both"]);
    let ran = stage.run(&format!("run --jobs 2 --continue -- {worker}"));
    ended_well(&ran, 0);
    assert_eq!(passes(stage), [true; 5], "{ran}");
    assert_eq!(text(stage, "project/shared"), "both\n");
    assert_eq!(count(stage, "log", "begin"), 6, "{}", text(stage, "log"));
    let again = stage.run(&format!("run --jobs 2 -- {worker}"));
    ended_well(&again, 0);
    assert!(again.out.contains("nothing to build"), "{again}");
}

/// Each snapshot that is kept is put back as it was.
fn snapshots_come_back(stage: &Stage) {
    let refs = git(stage, "project", &["for-each-ref", "--format=%(refname)", "refs/stopgate/"]);
    assert!(refs.lines().count() >= 5, "{refs}");
    for name in refs.lines() {
        let mut parts = name.trim_start_matches("refs/stopgate/").split('/');
        let (id, number) = (parts.next().expect("a loop"), parts.next().expect("a number"));
        let to = format!("back-{id}-{number}");
        let at = stage.path(&to).display().to_string();
        ended_well(&stage.run(&format!("restore {id} {number} --to {at}")), 0);
        git(stage, &to, &["add", "-A", "-f"]);
        let tree = git(stage, &to, &["write-tree"]);
        assert_eq!(tree, git(stage, "project", &["rev-parse", &format!("{name}^{{tree}}")]));
    }
}

#[test]
fn features_side_by_side_survive_a_kill_with_their_list_in_git() {
    let stage = repository();
    five_features(&stage);
    git(&stage, "project", &["add", "-A"]);
    git(&stage, "project", &["commit", "-q", "-m", "list"]);
    killed_and_continued(&stage);
    assert_eq!(git(&stage, "project", &["status", "--porcelain"]), "");
}

#[test]
fn features_side_by_side_survive_a_kill_with_their_list_ignored() {
    let stage = repository();
    stage.write("project/.gitignore", ".claude/\n");
    git(&stage, "project", &["add", "-A"]);
    git(&stage, "project", &["commit", "-q", "-m", "ignore"]);
    five_features(&stage);
    killed_and_continued(&stage);
}

#[test]
fn features_side_by_side_leave_a_list_alone_that_git_does_not_know() {
    let stage = repository();
    five_features(&stage);
    killed_and_continued(&stage);
    let tracked = git(&stage, "project", &["ls-files", "--", ".claude"]);
    assert_eq!(tracked, "");
}

/// Sessions that write the whole list anew, each from the commit that it began with.
#[test]
fn a_list_that_every_session_rewrites_is_not_a_conflict() {
    let stage = repository();
    five_features(&stage);
    git(&stage, "project", &["add", "-A"]);
    git(&stage, "project", &["commit", "-q", "-m", "list"]);
    let list = LIST.trim_start_matches("project/");
    let body = format!(
        "part=$(cat | sed -n 's/.*Your feature: \\([0-9]\\).*/\\1/p' | head -n 1)\n\
         echo $part >part-$part\n\
         tr '\\n' ' ' <{list} | sed \"s/\\(part $part\\\", \\\"passes\\\": \\)false/\\1true/\" >new\n\
         mv new {list}; echo Done.\n"
    );
    let worker = agent(&stage, "worker", &body);
    let ran = stage.run(&format!("run --jobs 2 -- {worker}"));
    ended_well(&ran, 0);
    assert_eq!(passes(&stage), [true; 5], "{ran}");
    assert_eq!(git(&stage, "project", &["status", "--porcelain"]), "");
}
