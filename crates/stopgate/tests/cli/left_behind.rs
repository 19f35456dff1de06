//! Whatever happens to the program, nothing of it is left behind.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::doors;
use crate::stage::{Stage, begin};

/// Waits until `what` holds; a test that waits for ever fails.
#[track_caller]
fn wait_for(about: &str, mut what: impl FnMut() -> bool) {
    let begun = doors::now();
    while !what() {
        assert!(begun.elapsed() < Duration::from_mins(1), "{about}: it never came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// The numbers that a check left in a file, a line each.
fn pids(path: &PathBuf) -> Vec<String> {
    fs::read_to_string(path).unwrap_or_default().lines().map(String::from).collect()
}

/// A check that runs on in three ways: itself, in the background, and fled from its group.
fn fleeing(stage: &Stage) -> String {
    let file = stage.path("user/pids").display().to_string();
    stage.write(
        "user/flee.sh",
        format!(
            "echo $$ >> {file}\nsleep 600 & echo $! >> {file}\n\
             setsid sh -c 'echo $$ >> {file}; exec sleep 600' &\n\
             touch $TMPDIR/litter; wait\n"
        ),
    );
    format!("a=sh {}", stage.path("user/flee.sh").display())
}

/// A hook that is killed takes its checks and their temporary files with it.
#[test]
#[cfg(target_os = "linux")]
fn a_killed_hook_takes_its_checks_along() {
    let stage = Stage::new();
    stage.make_directory("tmp");
    let check = fleeing(&stage);
    stage.start(&format!("Finish --no-preflight --session s1 --check '{check}'"));
    let mut command = stage.stop_call("s1", "Done.").command();
    command.env("TMPDIR", stage.path("tmp"));
    let mut child = begin(&mut command);
    let mut pipe = child.stdin.take().expect("its input");
    let payload = stage.stop_call("s1", "Done.").bytes();
    std::io::Write::write_all(&mut pipe, &payload).expect("hand it its input");
    drop(pipe);
    let file = stage.path("user/pids");
    wait_for("three processes", || pids(&file).len() == 3);
    let theirs = pids(&file);
    assert!(theirs.iter().all(|pid| is_alive(pid)), "{theirs:?}");
    assert_eq!(fs::read_dir(stage.path("tmp")).expect("the scratch").count(), 1);
    child.kill().expect("kill the hook");
    child.wait().expect("bury it");
    wait_for("their end", || !theirs.iter().any(|pid| is_alive(pid)));
    wait_for("no litter", || fs::read_dir(stage.path("tmp")).expect("a directory").count() == 0);
}

/// What a leash could not end, because it was killed too, goes when the next checks run.
#[test]
#[cfg(target_os = "linux")]
fn the_next_run_ends_what_a_dead_one_left() {
    let stage = Stage::new();
    stage.make_directory("tmp");
    let check = fleeing(&stage);
    stage.start(&format!("Finish --no-preflight --session s1 --check '{check}'"));
    let call = stage.stop_call("s1", "Done.");
    let mut command = call.command();
    command.env("TMPDIR", stage.path("tmp"));
    let mut child = begin(&mut command);
    let mut pipe = child.stdin.take().expect("its input");
    std::io::Write::write_all(&mut pipe, &call.bytes()).expect("hand it its input");
    drop(pipe);
    let file = stage.path("user/pids");
    wait_for("three processes", || pids(&file).len() == 3);
    let theirs = pids(&file);
    for leash in children(child.id()).iter().filter(|pid| is_leash(pid.as_str())) {
        let ran = doors::program("kill").args(["-9", leash]).status().expect("kill the leash");
        assert!(ran.success());
    }
    child.kill().expect("kill the hook");
    child.wait().expect("bury it");
    assert!(theirs.iter().any(|pid| is_alive(pid)), "nobody was left to be ended");
    stage.write("user/flee.sh", "exit 1\n");
    let mut command = stage.command("verify 1stage0000");
    command.env("TMPDIR", stage.path("tmp"));
    stage.finish(command, b"");
    wait_for("their end", || !theirs.iter().any(|pid| is_alive(pid)));
    assert_eq!(fs::read_dir(stage.path("tmp")).expect("a directory").count(), 0);
}

fn children(pid: u32) -> Vec<String> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace().map(String::from).collect()
}

fn is_leash(pid: &str) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).nth(1) == Some(b"leash")
}

/// Loops over the same files have one seal; sessions that fell silent are forgotten.
#[test]
fn seals_and_sessions_do_not_pile_up() {
    let stage = Stage::new();
    stage.write(
        "project/stopgate.toml",
        "[[criterion]]\nname = \"a\"\nfiles = { exist = [\"b\"] }\n",
    );
    for at in 0..5 {
        stage.start(
            &format!("Finish --session s{at} --check 'a{at}=true'").replace(&format!("a{at}"), "x"),
        );
    }
    assert_eq!(fs::read_dir(stage.path("home/seals")).expect("seals").count(), 1);
    for at in 0..5 {
        stage.session_start(&format!("silent{at}"), "startup").no_var("CLAUDE_PID").send();
    }
    let sessions = || {
        let projects = fs::read_dir(stage.path("home/sessions")).into_iter().flatten().flatten();
        projects.flat_map(|project| fs::read_dir(project.path()).expect("a project")).count()
    };
    assert_eq!(sessions(), 5);
    stage.advance_minutes(8 * 24 * 60);
    stage.session_start("fresh", "startup").no_var("CLAUDE_PID").send();
    stage.start("More --session s9");
    assert_eq!(sessions(), 1);
}

/// A switch that is thrown while checks run counts for that very stop.
#[test]
fn a_switch_thrown_during_a_check_lets_the_agent_stop() {
    let stage = Stage::new();
    let stop = stage.path("home/STOP").display().to_string();
    stage.start(&format!("Finish --no-preflight --session s1 --check 'a=touch {stop}; false'"));
    assert_eq!(stage.stop("s1", "Done.").brief(), "allowed");
}

/// Where `cancel` fails, it names the ways out that still work.
#[test]
fn a_cancel_that_fails_names_the_other_exits() {
    let stage = Stage::with_loop("Finish");
    let lock = fs::File::open(stage.path("home/journal.lock")).expect("the journal's lock");
    lock.lock().expect("hold the lock");
    let ran = stage.run_with("cancel 1stage0000", &[("STOPGATE_STORE_DEADLINE", "10ms")]);
    assert_eq!(ran.code, 74, "{ran}");
    assert!(ran.err.contains("home/STOP") && ran.err.contains("STOPGATE_DISABLE=1"), "{ran}");
}

/// What the hook does without, `cancel` does without: a broken file of settings, a lost directory.
#[test]
fn a_cancel_works_with_broken_settings_and_from_nowhere() {
    for line in ["cancel 1stage0000", "cancel --all"] {
        let stage = Stage::with_loop("Finish");
        stage.write("user/.config/stopgate/config.toml", "[store\nnonsense");
        let ran = stage.run(line);
        assert_eq!(ran.code, 0, "{line}: {ran}");
        assert!(ran.err.contains("config.toml"), "told all the same: {ran}");
        fs::remove_file(stage.path("user/.config/stopgate/config.toml")).expect("fix it");
        assert_eq!(stage.standing("1stage0000"), "cancelled 0/20 s1", "{line}");
    }
    let stage = Stage::with_loop("Finish");
    stage.make_directory("gone");
    let mut command = crate::doors::program("sh");
    stage.furnish(&mut command);
    let script =
        format!("cd ../gone && rmdir ../gone && exec {} cancel --all", crate::stage::PROGRAM);
    command.args(["-c", &script]);
    let ran = stage.finish(command, b"");
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(stage.standing("1stage0000"), "cancelled 0/20 s1");
}
