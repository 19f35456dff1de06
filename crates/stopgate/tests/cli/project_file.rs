//! A project's own file: what it may ask for, and who must trust it first.

use insta::assert_snapshot;

use crate::call::Form;
use crate::proof::{begin, outcome, project, untrusted};
use crate::stage::{Ran, Stage};

#[test]
fn a_file_that_nobody_trusted_runs_nothing_and_holds_nobody() {
    let stage = untrusted("[[criterion]]\nname = \"t\"\nshell = \"touch ran; false\"\n");
    let ran = stage.run("start 'Do it' --session s1");
    assert!(ran.code == 0 && ran.err.contains("stopgate.toml is not trusted"), "{ran}");
    let answer = stage.stop("s1", "Done.");
    assert_eq!(answer.form, Form::Tell, "{answer}");
    assert!(answer.text.contains("is not trusted") && answer.text.lines().count() == 1, "{answer}");
    assert!(!stage.path("project/ran").exists());
    let ran = stage.run("verify");
    assert!(ran.code == 2 && ran.err.contains("not trusted"), "{ran}");
    assert!(!stage.path("project/ran").exists());
    assert_eq!(stage.run("trust --yes").code, 0);
    assert!(stage.stop("s1", "Done?").is_sent_back());
    assert!(stage.path("project/ran").exists());
}

#[test]
fn trust_is_for_one_content_and_for_a_person() {
    let stage = untrusted("[[criterion]]\nname = \"t\"\nshell = \"true\"\n");
    let ran = stage.run_as("s1", "trust --yes");
    assert!(ran.code == 2 && ran.err.contains("only a person"), "{ran}");
    let ran = stage.run("trust");
    assert!(ran.code == 2 && ran.err.contains("there is no terminal to ask on"), "{ran}");
    assert!(ran.out.contains("command: true"), "{ran}");
    assert_eq!(stage.json("trust --yes")["trusted"], true);
    assert_eq!(stage.run("verify").code, 0);
    stage.write("project/stopgate.toml", "[[criterion]]\nname = \"t\"\nshell = \"echo x\"\n");
    assert_eq!(stage.run("verify").code, 2);
    assert_eq!(stage.json("trust --yes")["trusted"], true);
    assert_eq!(stage.json("untrust")["removed"], true);
    assert_eq!(stage.json("untrust")["removed"], false);
    assert_eq!(stage.run("verify").code, 2);
}

#[test]
fn a_file_that_runs_nothing_needs_no_trust() {
    let stage =
        untrusted("[[criterion]]\nname = \"readme\"\nfiles = { exist = [\"README.md\"] }\n");
    let id = begin(&stage);
    assert!(stage.stop("s1", "Done.").is_sent_back());
    stage.write("project/README.md", "");
    assert_eq!(stage.stop("s1", "Done.").form, Form::Tell);
    assert_eq!(outcome(&stage, &id), "done");
}

#[test]
fn a_repository_tightens_and_never_loosens() {
    let stage = project(
        "[loop]\nmax_iterations = 7\nmax_minutes = 9000\nmax_idle = 0\nmode = \"shadow\"\n",
    );
    stage.write("user/.config/stopgate/config.toml", "[loop]\nmax_repeat = 9\n");
    assert_snapshot!(stage.run("config show --origin"), @"
    max_iterations  7        project: $STAGE/project/stopgate.toml
    max_minutes     240      default; the project's file asks for 9000, which is looser, so it is ignored
    max_idle        3        default; the project's file asks for 0, which is looser, so it is ignored
    max_repeat      9        user: $STAGE/user/.config/stopgate/config.toml
    max_tokens      0        default
    max_cost_usd    0        default
    max_quota       0        default
    context_warn    80       default
    stale_after     12h      default
    mode            enforce  default; the project's file asks for shadow, which is looser, so it is ignored
    ");
    let ran = stage.run("start 'Do it' --session s1 --max-iterations 50");
    assert!(ran.err.contains("stopgate.toml limits max_iterations to 7"), "{ran}");
    let found = stage.json("status");
    assert_eq!(found["loop"]["max_iterations"], 7);
    assert_eq!(found["loop"]["budget"]["max_minutes"], 240);
    assert!(stage.stop("s1", "Done.").is_sent_back(), "a repository can't switch the gate off");
}

#[test]
fn a_broken_project_file_is_told_with_its_line() {
    let stage =
        untrusted("[loop]\nmax_iterations = 3\n\n[[criterion]]\nname = \"t\"\nrn = [\"true\"]\n");
    for command in ["start 'Do it' --session s1", "verify", "trust --yes", "config show"] {
        let Ran { code, err, .. } = stage.run(command);
        assert_eq!(code, 2, "{command}: {err}");
        assert!(
            err.contains("stopgate.toml") && err.contains("line ") && err.contains("rn"),
            "{err}"
        );
    }
}

#[test]
fn doctor_says_whether_the_project_s_file_counts() {
    let stage = untrusted("[[criterion]]\nname = \"t\"\nshell = \"true\"\n");
    let project = |stage: &Stage| {
        let ran = stage.run("doctor --json");
        let found: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
        let findings = found["findings"].as_array().expect("findings").clone();
        let about = findings.into_iter().find(|finding| finding["about"] == "project");
        let about = about.expect("a finding about the project");
        format!(
            "{}: {}",
            about["level"].as_str().unwrap_or("?"),
            about["text"].as_str().unwrap_or("?")
        )
    };
    assert!(project(&stage).starts_with("warning: stopgate.toml is not trusted"));
    assert_eq!(stage.run("trust --yes").code, 0);
    assert_eq!(project(&stage), "ok: stopgate.toml: 1 criterion");
    stage.write("project/stopgate.toml", "nonsense");
    assert!(project(&stage).starts_with("problem: could not understand"));
}
