//! Checks that take longer than a stop waits: they go on in the background, and what they say
//! counts for the very files that they ran on.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::doors;
use crate::hostile::pipe;
use crate::run::{agent, in_background};
use crate::stage::Stage;

pub(crate) const ID: &str = "1stage0000";
/// How long something that must happen may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
/// Notes that it runs, waits until the test says how it comes out, and says what it was told.
const SLOW: &str = "echo run >> ../begun; read word < ../gate; echo told $word; test $word = pass";

/// A stage whose stops wait for checks only for a moment.
fn stage(flags: &str) -> Stage {
    let stage = Stage::new();
    stage.write("user/.config/stopgate/config.toml", "[proof]\nhook_time = \"300ms\"\n");
    pipe(&stage.path("gate"));
    stage.write("project/work", "1");
    stage.start(&format!("Finish --session s1 --no-preflight --check-timeout 10m {flags}"));
    stage
}

fn slow() -> Stage {
    stage(&format!("--check 'tests={SLOW}'"))
}

/// Lets the check that waits come out like this.
pub(crate) fn say(stage: &Stage, word: &str) {
    let mut gate = OpenOptions::new().write(true).open(stage.path("gate")).expect("a reader");
    writeln!(gate, "{word}").expect("it reads");
}

#[track_caller]
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = doors::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The process that runs the checks in the background.
fn runner(stage: &Stage) -> i64 {
    let text = fs::read_to_string(stage.path(&format!("home/background/{ID}/notes.json")));
    let notes: Value = serde_json::from_str(&text.expect("notes")).expect("JSON");
    let process = notes["process"].as_str().expect("a process");
    process.split(':').next().and_then(|pid| pid.parse().ok()).expect("a number")
}

pub(crate) fn is_gone(pid: i64) -> bool {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    text.is_empty() || text.rsplit(')').next().is_some_and(|rest| rest.trim().starts_with('Z'))
}

/// How often the check was begun.
pub(crate) fn runs(stage: &Stage) -> usize {
    fs::read_to_string(stage.path("begun")).unwrap_or_default().lines().count()
}

/// Stops, and sees the loop parked.
#[track_caller]
fn park(stage: &Stage) -> i64 {
    let answer = stage.stop("s1", "Finished.");
    assert!(!answer.is_sent_back(), "{answer}");
    assert_eq!(stage.standing(ID), "waiting 0/20 s1", "{answer}");
    runner(stage)
}

/// The check comes out like this, and its process ends.
fn finish(stage: &Stage, pid: i64, word: &str) {
    say(stage, word);
    until("the end of the run", || is_gone(pid));
}

#[test]
fn a_check_that_fits_runs_at_the_stop() {
    let stage = stage("--check 'tests=test -e work'");
    let told = stage.stop("s1", "Finished.").to_string();
    assert!(told.contains("ended as done"), "{told}");
    assert!(!stage.path("home/background").exists());
}

#[test]
fn a_check_that_takes_longer_parks_the_stop_and_counts_at_the_next() {
    let stage = slow();
    let answer = stage.stop("s1", "Finished.");
    let told = answer.to_string();
    assert!(!answer.is_sent_back(), "{told}");
    assert!(told.contains("check tests takes longer than the 0 ms that a stop waits"), "{told}");
    assert!(told.contains("it goes on in the background"), "{told}");
    assert_eq!(stage.standing(ID), "waiting 0/20 s1");
    until("the second run", || runs(&stage) == 2);
    for line in ["status", "list", "explain", "watch --once"] {
        let shown = stage.run(line).to_string();
        assert!(shown.contains("tests") && shown.contains("background"), "{line}: {shown}");
    }
    let pid = runner(&stage);
    finish(&stage, pid, "pass");
    assert_eq!(stage.standing(ID), "waiting 0/20 s1", "a stop finds out");
    let told = stage.stop("s1", "Finished.").to_string();
    assert!(told.contains("ended as done"), "{told}");
    assert_eq!(stage.standing(ID), "done 0/20 s1");
    assert_eq!(runs(&stage), 2, "what was run in the background is not run again");
}

#[test]
fn what_fails_in_the_background_is_told_at_the_next_stop() {
    let stage = slow();
    let pid = park(&stage);
    finish(&stage, pid, "red");
    let answer = stage.stop("s1", "Finished.");
    assert!(answer.is_sent_back() && answer.to_string().contains("told red"), "{answer}");
    assert_eq!(stage.standing(ID), "active 1/20 s1");
    // It is known now that it takes so long: the next one is not tried at the stop.
    stage.write("project/work", "2");
    let pid = park_again(&stage, "waiting 1/20 s1");
    finish(&stage, pid, "pass");
    assert_eq!(runs(&stage), 3);
    assert!(stage.stop("s1", "Finished.").to_string().contains("ended as done"));
}

#[track_caller]
fn park_again(stage: &Stage, standing: &str) -> i64 {
    assert!(!stage.stop("s1", "Finished.").is_sent_back());
    assert_eq!(stage.standing(ID), standing);
    runner(stage)
}

#[test]
fn what_still_runs_is_not_started_twice() {
    let stage = slow();
    let pid = park(&stage);
    until("the second run", || runs(&stage) == 2);
    for _ in 0..2 {
        assert_eq!(park(&stage), pid);
    }
    // Nor is it after a person's word.
    assert_eq!(stage.run("resume").code, 0);
    assert_eq!(park(&stage), pid);
    assert_eq!(runs(&stage), 2);
    finish(&stage, pid, "pass");
    assert!(stage.stop("s1", "Finished.").to_string().contains("ended as done"));
}

#[test]
fn a_pass_of_other_files_is_not_believed() {
    let stage = slow();
    let pid = park(&stage);
    finish(&stage, pid, "pass");
    stage.write("project/work", "2");
    let other = park(&stage);
    assert_ne!(other, pid, "it is run anew");
    finish(&stage, other, "red");
    assert!(stage.stop("s1", "Finished.").is_sent_back());
}

#[test]
fn a_run_for_files_that_changed_is_ended_and_begun_anew() {
    let stage = slow();
    let pid = park(&stage);
    until("the second run", || runs(&stage) == 2);
    stage.write("project/work", "2");
    let other = park(&stage);
    assert!(other != pid && is_gone(pid), "{pid} {other}");
    until("the third run", || runs(&stage) == 3);
    finish(&stage, other, "pass");
    assert!(stage.stop("s1", "Finished.").to_string().contains("ended as done"));
}

/// The check passes for what was there when it began; what is there now would not pass.
#[test]
fn files_that_change_while_it_runs_are_what_is_judged() {
    let check = "echo run >> ../begun; read word < ../gate; test \"$(cat work)\" = 1";
    let stage = stage(&format!("--check 'tests={check}'"));
    let pid = park(&stage);
    until("the second run", || runs(&stage) == 2);
    say(&stage, "go");
    // The pass is not believed, and it is run once more for the files as they are now.
    stage.write("project/work", "2");
    until("an end, or another run", || is_gone(pid) || runs(&stage) == 3);
    if runs(&stage) == 3 {
        finish(&stage, pid, "go");
    }
    let answer = stage.stop("s1", "Finished.");
    if !answer.is_sent_back() {
        // The write came after the end of the run: it begins anew.
        assert_eq!(stage.standing(ID), "waiting 0/20 s1");
        let pid = runner(&stage);
        finish(&stage, pid, "go");
        assert!(stage.stop("s1", "Finished.").is_sent_back());
    }
    assert_eq!(stage.standing(ID), "active 1/20 s1");
}

#[test]
fn cancel_and_pause_end_it() {
    for (line, standing) in [("cancel", "cancelled 0/20 s1"), ("pause", "paused 0/20 s1")] {
        let stage =
            stage("--check 'tests=echo $$ > ../check; echo run >> ../begun; read x < ../gate'");
        let pid = park(&stage);
        until("the second run", || runs(&stage) == 2);
        let check = fs::read_to_string(stage.path("check")).expect("its number");
        let check: i64 = check.trim().parse().expect("a number");
        assert_eq!(stage.run(line).code, 0, "{line}");
        until(line, || is_gone(pid) && is_gone(check));
        assert_eq!(stage.standing(ID), standing);
        assert!(!stage.path(&format!("home/background/{ID}/result.json")).exists());
    }
}

#[test]
fn a_run_that_is_killed_proves_nothing_and_leaves_nothing() {
    let stage = stage("--check 'tests=echo $$ > ../check; echo run >> ../begun; read x < ../gate'");
    let pid = park(&stage);
    until("the second run", || runs(&stage) == 2);
    let check = fs::read_to_string(stage.path("check")).expect("its number");
    let check: i64 = check.trim().parse().expect("a number");
    let killed = doors::program("kill").args(["-9", &pid.to_string()]).status().expect("kill runs");
    assert!(killed.success());
    until("the leash", || is_gone(check));
    let other = park(&stage);
    assert_ne!(other, pid, "it is begun anew");
    until("the third run", || runs(&stage) == 3);
    finish(&stage, other, "go");
    assert!(stage.stop("s1", "Finished.").to_string().contains("ended as done"));
}

#[test]
fn a_run_that_always_dies_is_not_begun_for_ever() {
    let stage = slow();
    for _ in 0..3 {
        let pid = park(&stage);
        let kill = doors::program("kill").args(["-9", &pid.to_string()]).status().expect("kill");
        assert!(kill.success());
        until("its end", || is_gone(pid));
    }
    let answer = stage.stop("s1", "Finished.");
    assert!(answer.is_sent_back(), "{answer}");
    assert!(answer.to_string().contains("the time for checks was used up"), "{answer}");
}

/// What is quick is said first: nobody waits for the long check of work that is known to be wrong.
#[test]
fn what_fails_at_once_is_told_before_anything_runs_in_the_background() {
    let stage = stage(&format!("--check 'quick=test -e made' --check 'tests={SLOW}'"));
    let answer = stage.stop("s1", "Finished.");
    assert!(answer.is_sent_back() && answer.to_string().contains("quick"), "{answer}");
    assert!(!stage.path("home/background").exists());
    stage.write("project/made", "");
    let answer = stage.stop("s1", "Finished.");
    assert!(!answer.is_sent_back(), "{answer}");
    let pid = runner(&stage);
    finish(&stage, pid, "pass");
    assert!(stage.stop("s1", "Finished.").to_string().contains("ended as done"));
}

/// In whatever order they are listed: once it is known which one is long, the others come first.
#[test]
fn a_check_that_had_no_time_is_not_taken_for_long() {
    let stage = stage(&format!("--check 'tests={SLOW}' --check 'quick=test -e made'"));
    let pid = park(&stage);
    finish(&stage, pid, "pass");
    let answer = stage.stop("s1", "Finished.");
    assert!(answer.is_sent_back() && answer.to_string().contains("quick"), "{answer}");
    stage.write("project/work", "2");
    let answer = stage.stop("s1", "Finished.");
    assert!(answer.is_sent_back() && answer.to_string().contains("quick"), "{answer}");
    assert_eq!(runs(&stage), 2, "nobody runs the long one for work that fails anyway");
}

#[test]
fn a_result_that_nobody_signed_is_not_believed() {
    let stage = slow();
    let pid = park(&stage);
    finish(&stage, pid, "red");
    let path = stage.path(&format!("home/background/{ID}/result.json"));
    let text = fs::read_to_string(&path).expect("a result");
    assert!(text.contains("fail"), "{text}");
    let forged = text.replace("\\\"fail\\\"", "\\\"pass\\\"");
    assert_ne!(text, forged);
    fs::write(&path, forged).expect("write it");
    let other = park(&stage);
    assert_ne!(other, pid, "it is run anew");
    finish(&stage, other, "red");
    assert!(stage.stop("s1", "Finished.").is_sent_back());
}

/// Spoils a file.
type Spoil = fn(&Path);

/// What may become of a file in the state directory.
const SPOILT: [(&str, Spoil); 4] = [
    ("empty", |path| fs::write(path, "").expect("write it")),
    ("cut off", |path| {
        let text = fs::read(path).expect("a file");
        fs::write(path, &text[..text.len() / 2]).expect("write it");
    }),
    ("a pipe", pipe),
    ("endless", |path| {
        fs::remove_file(path).expect("make room");
        std::os::unix::fs::symlink("/dev/zero", path).expect("a link");
    }),
];

/// The check passed in the background, and what says so is spoilt: it must be run again.
#[track_caller]
fn is_run_again(file: &str, how: &str, spoil: Spoil) {
    let stage = slow();
    let pid = park(&stage);
    finish(&stage, pid, "pass");
    let begun = runs(&stage);
    let path = stage.path(&format!("home/background/{ID}/{file}"));
    spoil(&path);
    let answer = stage.stop("s1", "Finished.");
    assert_ne!(stage.standing(ID), "done 0/20 s1", "{file} is {how}: {answer}");
    if answer.is_sent_back() {
        // Where nothing can be written, the stop says what its own time was enough for.
        assert!(answer.to_string().contains("the time for checks was used up"), "{answer}");
        return;
    }
    assert_eq!(stage.standing(ID), "waiting 0/20 s1", "{file} is {how}: {answer}");
    let other = runner(&stage);
    assert_ne!(other, pid, "{file} is {how}");
    until("another run", || runs(&stage) > begun);
    finish(&stage, other, "red");
    let answer = stage.stop("s1", "Finished.");
    assert!(answer.is_sent_back(), "{file} is {how}: {answer}");
}

#[test]
fn a_result_that_can_t_be_read_is_not_believed() {
    for (how, spoil) in SPOILT {
        is_run_again("result.json", how, spoil);
    }
}

#[test]
fn notes_that_can_t_be_read_are_not_believed() {
    for (how, spoil) in SPOILT {
        is_run_again("notes.json", how, spoil);
    }
    is_run_again("notes.json", "a directory", |path| {
        fs::remove_file(path).expect("make room");
        fs::create_dir(path).expect("a directory");
    });
}

/// A signed result counts for what it was signed for, and for nothing that is written beside it.
#[test]
fn an_edited_result_is_not_believed() {
    for (from, to) in [("\\\"still\\\":true", "\\\"still\\\":false"), (ID, "2stage0000")] {
        let stage = slow();
        let pid = park(&stage);
        finish(&stage, pid, "pass");
        let path = stage.path(&format!("home/background/{ID}/result.json"));
        let text = fs::read_to_string(&path).expect("a result");
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replace(from, to)).expect("write it");
        assert_ne!(park(&stage), pid, "{from}: it is run anew");
        assert_eq!(stage.run("cancel").code, 0);
    }
}

/// Notes prove nothing: the process that they name is waited for, or the run begins anew.
#[test]
fn edited_notes_prove_nothing() {
    let own = std::process::id();
    let edits = [
        ("process", serde_json::json!(own.to_string())),
        ("process", serde_json::json!("1")),
        ("tries", serde_json::json!(u32::MAX)),
        ("key", serde_json::json!("0")),
        ("logs", serde_json::json!("/proc/self/mem")),
    ];
    for (key, value) in edits {
        let stage = slow();
        let pid = park(&stage);
        finish(&stage, pid, "red");
        let path = stage.path(&format!("home/background/{ID}/notes.json"));
        let text = fs::read_to_string(&path).expect("notes");
        let mut notes: Value = serde_json::from_str(&text).expect("JSON");
        notes[key] = value.clone();
        fs::write(&path, notes.to_string()).expect("write it");
        let _answer = stage.stop("s1", "Finished.");
        let standing = stage.standing(ID);
        assert!(!standing.starts_with("done"), "{key} {value}: {standing}");
        assert_eq!(stage.run("cancel").code, 0, "{key} {value}");
    }
}

/// An agent that said `done` before the loop was parked need not say it again.
#[test]
fn a_claim_outlives_the_wait() {
    let stage = stage(&format!("--check 'tests={SLOW}' --criterion reviewed"));
    assert_eq!(stage.run_as("s1", "done").code, 0);
    let pid = park(&stage);
    finish(&stage, pid, "pass");
    let told = stage.stop("s1", "Finished.").to_string();
    assert!(told.contains("ended as attested"), "{told}");
}

#[test]
fn a_check_that_hangs_is_ended_by_its_own_time() {
    let stage = Stage::new();
    stage.write("user/.config/stopgate/config.toml", "[proof]\nhook_time = \"300ms\"\n");
    pipe(&stage.path("gate"));
    stage.write("project/work", "1");
    let check = "tests=read word < ../gate";
    stage
        .start(&format!("Finish --session s1 --no-preflight --check-timeout 1s --check '{check}'"));
    let pid = park(&stage);
    until("its end", || is_gone(pid));
    let answer = stage.stop("s1", "Finished.");
    assert!(answer.is_sent_back() && answer.to_string().contains("killed after"), "{answer}");
}

#[test]
fn a_person_s_verify_waits_for_it() {
    let stage = slow();
    let _pid = park(&stage);
    assert_eq!(stage.run("cancel").code, 0);
    let again = Stage::new();
    again.write("user/.config/stopgate/config.toml", "[proof]\nhook_time = \"1ms\"\n");
    again.write("project/work", "1");
    again.start("Finish --session s1 --no-preflight --check 'tests=sleep 0.1'");
    let ran = again.run("verify");
    assert_eq!(ran.code, 0, "{ran}");
    assert!(!Path::new(&again.path("home/background")).exists());
}

/// A driver waits with the loop, also where its client has no hook, and nobody else wakes it.
#[test]
fn a_driver_waits_for_it() {
    let stage = slow();
    let worker = agent(&stage, "worker", "cat > /dev/null; echo session >> $STAGE/sessions\n");
    let child = in_background(&stage, &format!("run -- {worker}"));
    until("the second run", || runs(&stage) == 2);
    say(&stage, "pass");
    let ran = stage.end(child, b"");
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.to_string().contains("check tests to end in the background"), "{ran}");
    assert_eq!(stage.standing(ID).split(' ').next(), Some("done"), "{ran}");
    let sessions = fs::read_to_string(stage.path("sessions")).unwrap_or_default();
    assert_eq!(sessions.lines().count(), 2, "one before the wait and one after it: {ran}");
}
