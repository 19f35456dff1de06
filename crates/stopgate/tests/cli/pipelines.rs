//! The files for pipelines that come with stopgate: their scripts, run as those services run them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::doors;
use crate::stage::{Ran, Stage, program_path};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ci").join(name)
}

/// A project whose check passes, or does not, and the hash of its file.
fn project(check: &str) -> (Stage, String) {
    let stage = Stage::new();
    let text = format!("[[criterion]]\nname = \"it holds\"\nshell = \"{check}\"\n");
    stage.write("project/stopgate.toml", text);
    let hash = stage.run("trust --print-hash").out.trim().to_string();
    (stage, hash)
}

fn action(stage: &Stage, hash: &str) -> Ran {
    let mut command = doors::program("sh");
    stage.furnish(&mut command);
    command.arg(file("github/verify.sh")).env("CI", "true");
    command.env("STOPGATE_PROGRAM", program_path()).env("STOPGATE_HASH", hash);
    command.env("STOPGATE_JUNIT", "report.xml");
    command.env("GITHUB_OUTPUT", stage.path("output"));
    command.env("GITHUB_STEP_SUMMARY", stage.path("summary.md"));
    stage.finish(command, b"")
}

fn read(stage: &Stage, name: &str) -> String {
    fs::read_to_string(stage.path(name)).unwrap_or_default()
}

#[test]
fn the_action_passes_fails_and_refuses() {
    let (stage, hash) = project("true");
    let ran = action(&stage, &hash);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(read(&stage, "output"), "result=pass\n");
    assert!(read(&stage, "summary.md").starts_with("### stopgate: pass\n\n    "));
    assert!(read(&stage, "project/report.xml").contains("failures=\"0\""));

    let (stage, hash) = project("echo the reason; false");
    let ran = action(&stage, &hash);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.out.contains("the reason"), "{ran}");
    assert_eq!(read(&stage, "output"), "result=fail\n");
    assert!(read(&stage, "summary.md").contains("    "), "{}", read(&stage, "summary.md"));
    assert!(read(&stage, "project/report.xml").contains("the reason"));

    // What a pull request changed is not run.
    stage.write("project/stopgate.toml", "[[criterion]]\nname = \"x\"\nshell = \"touch ran\"\n");
    let ran = action(&stage, &hash);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(!stage.path("project/ran").exists());
}

#[test]
fn the_action_says_that_the_program_is_missing() {
    let stage = Stage::new();
    let mut command = doors::program("sh");
    stage.furnish(&mut command);
    command.arg(file("github/verify.sh")).env("STOPGATE_PROGRAM", "no-such-stopgate");
    let ran = stage.finish(command, b"");
    assert!(ran.code == 127 && ran.err.contains("install it in an earlier step"), "{ran}");
}

#[test]
fn the_action_hands_its_inputs_to_the_script() {
    let text = fs::read_to_string(file("github/action.yml")).expect("the action");
    for line in [
        "STOPGATE_PROGRAM: ${{ inputs.stopgate }}",
        "STOPGATE_HASH: ${{ inputs.trust-hash }}",
        "STOPGATE_JUNIT: ${{ inputs.junit }}",
        "run: sh \"$GITHUB_ACTION_PATH/verify.sh\"",
    ] {
        assert!(text.contains(line), "{line}");
    }
}

#[test]
fn the_template_runs_as_it_is_written() {
    let text = fs::read_to_string(file("gitlab/stopgate.yml")).expect("the template");
    let (_, after) = text.split_once("  script:\n").expect("a script");
    let lines = after.lines().map_while(|line| line.strip_prefix("    - "));
    let script: String = lines.flat_map(|line| [line, "\n"]).collect();
    let run = |stage: &Stage, hash: &str| {
        let mut command = doors::program("sh");
        stage.furnish(&mut command);
        let directory = program_path().parent().expect("a directory").display();
        let path = doors::search_path();
        command.env("PATH", format!("{directory}:{}", path.to_string_lossy()));
        command.env("CI", "true").env("STOPGATE_JUNIT", "report.xml").env("STOPGATE_HASH", hash);
        command.args(["-ec", &script]);
        stage.finish(command, b"")
    };
    let (stage, hash) = project("true");
    let ran = run(&stage, &hash);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(stage.path("project/report.xml").exists());
    let (stage, hash) = project("false");
    assert_eq!(run(&stage, "").code, 2, "nobody trusts it");
    assert_eq!(run(&stage, &hash).code, 1);
}
