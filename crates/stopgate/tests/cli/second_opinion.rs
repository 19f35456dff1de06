//! A criterion that is another agent's opinion: whatever a reviewer does, it never makes `done`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::doors;
use crate::stage::Stage;

const ID: &str = "1stage0000";
const REQUIRED: &str = "[[criterion]]\nname = \"eyes\"\nreview = { agent = \"codex\", \
                        ask = \"Is it honest?\", required = true }\ntimeout = \"2s\"\n";
const ADVISORY: &str =
    "[[criterion]]\nname = \"eyes\"\nreview = { agent = \"codex\" }\ntimeout = \"20s\"\n";

/// A repository with a trusted file, a loop of session `s1`, and a reviewer that is this script.
fn stage(file: &str, start: &str, reviewer: &str) -> Stage {
    let stage = Stage::new();
    let git = |words: &[&str]| {
        let who = ["-c", "user.name=t", "-c", "user.email=t@t"];
        let mut command = doors::program("git");
        command.args(who).args(words).current_dir(stage.path("project"));
        let ran = command.env("HOME", stage.path("user")).output().expect("git runs");
        assert!(ran.status.success(), "{words:?}");
    };
    git(&["init", "-q"]);
    stage.write("project/code.txt", "old\n");
    stage.write("project/stopgate.toml", file);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "base"]);
    stage.write("project/code.txt", "new work\n");
    script(&stage, reviewer);
    if !file.is_empty() {
        assert_eq!(stage.run("trust --yes").code, 0);
    }
    stage.start(&format!("'Make it new' --session s1 {start}"));
    stage
}

fn script(stage: &Stage, text: &str) {
    stage.write("bin/codex", format!("#!/bin/sh\n{text}"));
    let path = stage.path("bin/codex");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("make it a program");
}

/// A reviewer whose last message is this.
fn says(message: &str) -> String {
    let text = json!({"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": message}});
    format!(
        "echo x >> {{ASKED}}\ncat <<'END'\n{{\"type\":\"thread.started\",\"thread_id\":\"t\"}}\n{text}\n\
         {{\"type\":\"turn.completed\",\"usage\":{{\"input_tokens\":1,\"output_tokens\":1}}}}\nEND\n"
    )
}

/// One stop with the reviewer on the path.
fn stop(stage: &Stage, message: &str) -> String {
    let path = format!("{}:{}", stage.path("bin").display(), doors::search_path().display());
    let call = stage.stop_call("s1", message).var("PATH", &path);
    call.var("OPENAI_API_KEY", "sk-of-the-reviewer").send().to_string()
}

fn with_place(text: &str, stage: &Stage) -> String {
    text.replace("{ASKED}", &stage.path("asked").display().to_string())
}

fn play(file: &str, start: &str, reviewer: &str) -> (Stage, String) {
    let stage = stage(file, start, "exit 1\n");
    script(&stage, &with_place(reviewer, &stage));
    let told = stop(&stage, "Done.");
    (stage, told)
}

#[test]
fn a_reviewer_never_makes_done() {
    let pass = r#"{"verdict":"pass","reasons":["it does what was asked"]}"#;
    let edits = format!("echo changed > code.txt\n{}", says(pass));
    let adds = format!("touch notes.md\n{}", says(pass));
    for (about, reviewer, held, trouble) in [
        ("says nothing", "exit 0\n".to_string(), "error", "the reviewer"),
        ("is not there", "exit 127\n".to_string(), "error", "the reviewer"),
        ("says pass in prose", says("Pass. No problems found."), "error", "answer is not"),
        ("talks around it", says(&format!("Here: {pass}")), "error", "answer is not"),
        ("sends broken JSON", says(r#"{"verdict":"pass","reasons":["#), "error", "answer is not"),
        ("gives no reasons", says(r#"{"verdict":"pass","reasons":[]}"#), "error", "no reasons"),
        ("hangs", "sleep 60\n".to_string(), "error", "gave no opinion"),
        ("edits the copy", edits, "error", "changed files of its copy: code.txt"),
        ("adds to the copy", adds, "error", "changed files of its copy: notes.md"),
        ("is unsure", says(r#"{"verdict":"unsure","reasons":["no tests"]}"#), "fail", "no tests"),
        ("says fail", says(r#"{"verdict":"fail","reasons":["it is old"]}"#), "fail", "it is old"),
    ] {
        let (stage, told) = play(REQUIRED, "", &reviewer);
        assert_eq!(stage.standing(ID), "active 1/20 s1", "{about}: {told}");
        let shown = stage.json("status");
        assert_eq!(shown["loop"]["criteria"][0]["status"], held, "{about}: {shown}");
        assert!(told.contains(trouble), "{about}: {told}");
        let kept = fs::read_to_string(stage.path("project/code.txt")).expect("the work");
        assert_eq!(kept, "new work\n", "{about}: the tree is untouched");
        assert!(!stage.path("project/notes.md").exists(), "{about}");
    }
}

#[test]
fn a_required_pass_is_a_word() {
    let (stage, _) = play(REQUIRED, "", &says(r#"{"verdict":"pass","reasons":["fine"]}"#));
    assert_eq!(stage.standing(ID), "attested 0/20 s1");
    let shown = stage.run("status").to_string();
    assert!(shown.contains("rests on a reviewing agent's word"), "{shown}");
}

/// Advice changes nothing about the end, and is asked for only when the rest passes.
#[test]
fn advice_is_told_and_asked_for_last() {
    let fail = says(r#"{"verdict":"fail","reasons":["it smells"]}"#);
    let (stage, _) = play(ADVISORY, "--check 'it=test -e ready'", &fail);
    assert_eq!(stage.standing(ID), "active 1/20 s1");
    assert!(!stage.path("asked").exists(), "nobody is asked while a check fails");
    stage.write("project/ready", "");
    stop(&stage, "Done.");
    assert_eq!(stage.standing(ID), "done 1/20 s1");
    assert!(stage.path("asked").exists());
    let shown = stage.run("status").to_string();
    assert!(shown.contains("eyes (advisory)") && shown.contains("fail"), "{shown}");
}

#[test]
fn one_opinion_holds_for_one_tree() {
    let (stage, _) = play(REQUIRED, "", &says(r#"{"verdict":"fail","reasons":["no"]}"#));
    let asked = |stage: &Stage| fs::read_to_string(stage.path("asked")).unwrap_or_default().len();
    assert_eq!(asked(&stage), 2);
    let told = stop(&stage, "Again.");
    assert_eq!(asked(&stage), 2, "the tree is the same: {told}");
    stage.write("project/code.txt", "newer work\n");
    stop(&stage, "Once more.");
    assert_eq!(asked(&stage), 4, "the tree is another");
}

/// The reviewer reads the goal, the changes and the receipts; its keys are its own.
#[test]
fn what_a_reviewer_sees() {
    let reviewer = "cp .stopgate-review.md {ASKED}.brief; env > {ASKED}.env; \
                    printf '%s\\n' \"$@\" > {ASKED}.args; cp code.txt {ASKED}.code\nexit 1\n";
    let check = "--check 'it=env > ../check.env; echo checked'";
    let (stage, _) = play(REQUIRED, check, reviewer);
    let read = |name: &str| fs::read_to_string(stage.path(name)).expect(name);
    let brief = read("asked.brief");
    for part in ["Make it new", "-old", "+new work", "it: pass", "checked"] {
        assert!(brief.contains(part), "{part}: {brief}");
    }
    assert_eq!(read("asked.code"), "new work\n");
    let args = read("asked.args");
    assert!(args.contains("read-only") && args.contains("Is it honest?"), "{args}");
    assert!(args.contains("\"verdict\""), "{args}");
    assert!(read("asked.env").contains("OPENAI_API_KEY=sk-of-the-reviewer"));
    assert!(read("asked.env").contains("STOPGATE_DISABLE=1"));
    assert!(!read("check.env").contains("sk-of-the-reviewer"), "a check has no keys");
}

/// A key that a reviewer prints is masked in what the agent reads and in the log.
#[test]
fn what_a_reviewer_prints_is_masked() {
    let secret = format!("sk-{}", "a1B2c3".repeat(5));
    let message = format!(r#"{{"verdict":"fail","reasons":["the key is {secret}"]}}"#);
    let (stage, told) = play(REQUIRED, "", &says(&message));
    assert!(told.contains("the key is") && !told.contains(&secret), "{told}");
    let shown = stage.json("status");
    let log = shown["loop"]["criteria"][0]["receipt"]["log"].as_str().expect("a log");
    let log = log.replace("$STAGE", &stage.path("").display().to_string());
    let kept = fs::read_to_string(&log).expect("the log");
    assert!(!kept.contains(&secret), "{kept}");
}

#[test]
fn a_project_s_reviewer_needs_trust() {
    let stage = Stage::new();
    stage.write("project/stopgate.toml", REQUIRED);
    let shown =
        stage.run("trust --print-hash --json").to_string() + &stage.run("trust").to_string();
    assert!(shown.contains("review") && shown.contains("codex"), "{shown}");
    stage.start("Finish --session s1");
    script(&stage, &with_place(&says("x"), &stage));
    assert!(!stop(&stage, "Done.").contains("unmet"));
    assert!(!stage.path("asked").exists(), "nothing of an untrusted file is started");
}

#[test]
fn a_command_asks_for_an_opinion_too() {
    let pass = says(r#"{"verdict":"pass","reasons":["fine"]}"#);
    let (stage, _) = play("", "--review 'codex=Is it new?' --require-review", &pass);
    assert_eq!(stage.standing(ID), "attested 0/20 s1");
    let stage = Stage::new();
    let ran = stage.run("start Goal --review nobody");
    assert!(ran.code == 2 && ran.err.contains("can't be asked for an opinion"), "{ran}");
    let ran = stage.run("start Goal --require-review");
    assert_eq!(ran.code, 2, "{ran}");
}

/// What a recorded stream of a reviewer's client says it used counts in the loop, once.
#[test]
fn an_opinion_is_paid_for_once() {
    let fail = says(r#"{"verdict":"fail","reasons":["no"]}"#);
    let usage = "{\"input_tokens\":3004,\"cached_input_tokens\":610,\"output_tokens\":96}";
    let reviewer = fail.replace("{\"input_tokens\":1,\"output_tokens\":1}", usage);
    assert_ne!(fail, reviewer);
    let priced = REQUIRED.replace("codex\", ", "codex\", model = \"m-1\", ");
    let stage = stage(&priced, "--max-tokens 6000 --max-cost 1", "exit 1\n");
    stage.write(
        "user/.config/stopgate/config.toml",
        "[prices.\"m-1\"]\ninput = 10.0\noutput = 100.0\ncache_read = 1.0\n",
    );
    script(&stage, &with_place(&reviewer, &stage));
    stop(&stage, "Done.");
    let spent = |stage: &Stage| stage.json("status")["loop"]["budget"].clone();
    let first = spent(&stage);
    assert_eq!(first["tokens"], 3100, "{first}");
    // 2,394 fresh, 610 cached, 96 out.
    let dollars = first["cost_usd"].as_f64().expect("a price is known");
    assert!((dollars - (2394.0 * 10.0 + 610.0 + 9600.0) / 1e6).abs() < 1e-6, "{first}");
    stop(&stage, "Again.");
    assert_eq!(spent(&stage)["tokens"], 3100, "the same tree is not reviewed again");
    stage.write("project/code.txt", "newer work\n");
    stop(&stage, "Once more.");
    assert_eq!(spent(&stage)["tokens"], 6200);
    // The limit is reached by reviews alone.
    let told = stop(&stage, "And again.");
    assert!(told.contains("ended as budget"), "{told}");
}
