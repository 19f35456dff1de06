//! `run` through the night: questions in the middle of a turn, windows, sub-agents, and the word at the end.

use std::process::Command;

use serde_json::{Value, json};

use crate::doors;
use crate::run::{agent, begun, count, ended_well, features, is_alive, outcome, text, until};
use crate::run_clients::claude;
use crate::stage::{PROGRAM, Ran, Stage};

/// A turn that asks a person, as Claude Code asks its host; the resumed one does the work.
const ASKS: &str = r#"
if [ "$how" = resumed ]; then printf '%s' "$prompt" >$STAGE/answer; touch done.txt; well 'All done.'; exit; fi
read opening
printf '%s' "$opening" >$STAGE/opening
say "\"type\":\"control_request\",\"request_id\":\"r1\",\"request\":{\"subtype\":\"can_use_tool\",$request}"
read reply
printf '%s' "$reply" >$STAGE/reply
"#;
const COLOUR: &str = r#"request='"tool_name":"AskUserQuestion","input":{"questions":[{"question":"Which colour?","options":[{"label":"Red"},{"label":"Blue"}]}]}'"#;
const PLAN: &str = r#"request='"tool_name":"ExitPlanMode","input":{"plan":"1. Paint it."}'"#;
const ABORTED: &str = r#"
say '"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools"'
exit 1
"#;

fn run_noted(stage: &Stage, line: &str) -> Ran {
    let note = format!("printf '%s\\n' >>{}", stage.path("notes").display());
    stage.run_with(line, &[("STOPGATE_NOTIFY", &note)])
}

fn reply(stage: &Stage) -> Value {
    let reply: Value = serde_json::from_str(&text(stage, "reply")).expect("a reply");
    assert_eq!(reply["response"]["request_id"], json!("r1"));
    reply["response"]["response"].clone()
}

#[test]
fn a_question_in_the_middle_of_a_turn_waits_for_its_answer() {
    let stage = Stage::new();
    let id = begun(&stage, "");
    let claude = claude(&stage, &format!("{COLOUR}\n{ASKS}{ABORTED}"));
    let ran = run_noted(&stage, &format!("run --headless -- {claude}"));
    ended_well(&ran, 4);
    assert!(text(&stage, "opening").contains("Nobody is at the keyboard"), "told on its input");
    let told = reply(&stage);
    assert_eq!((&told["behavior"], &told["interrupt"]), (&json!("deny"), &json!(true)));
    let found = stage.json(&format!("status {id}"))["loop"].clone();
    assert_eq!(found["state"], json!("waiting"), "{ran}");
    assert!(found["why"].as_str().is_some_and(|why| why.contains("Which colour? (Red, Blue)")));
    assert_eq!(found["iteration"], json!(0), "a question is not a stop");
    until("the person is told", || text(&stage, "notes").contains("Which colour?"));
    assert_eq!(stage.run(&format!("answer {id} Blue")).code, 0);
    ended_well(&stage.run(&format!("run {id} --continue --headless -- {claude}")), 0);
    assert!(text(&stage, "answer").contains("Blue"));
    let turns = text(&stage, "turns");
    let session = |at: usize| turns.lines().nth(at).and_then(|line| line.split(' ').nth(1));
    assert_eq!(session(0), session(1), "the session goes on: {turns}");
}

#[test]
fn a_plan_waits_for_approval_and_is_carried_out_after_a_yes() {
    let stage = Stage::new();
    let id = begun(&stage, "");
    // After the answer it shows its plan again, and may go on.
    let again = "if [ $n = 2 ]; then how=again; fi\n";
    let after = "if [ $n = 2 ]; then touch done.txt; well 'All done.'; exit; fi\n";
    let claude = claude(&stage, &format!("{PLAN}\n{again}{ASKS}{after}{ABORTED}"));
    let ran = stage.run(&format!("run -- {claude}"));
    ended_well(&ran, 4);
    assert!(ran.out.contains("May the agent carry out its plan?"), "{ran}");
    assert!(ran.out.contains("1. Paint it."), "{ran}");
    assert_eq!(stage.run(&format!("answer {id} 'Yes, go on.'")).code, 0);
    ended_well(&stage.run(&format!("run {id} --continue -- {claude}")), 0);
    let told = reply(&stage);
    assert_eq!(told, json!({"behavior": "allow", "updatedInput": {"plan": "1. Paint it."}}));
}

#[test]
fn what_is_not_permitted_is_refused_and_the_turn_goes_on() {
    let stage = Stage::new();
    begun(&stage, "");
    let asks = r#"request='"tool_name":"Bash","input":{"command":"rm -rf x"}'"#;
    let claude = claude(&stage, &format!("{asks}\n{ASKS}touch done.txt\nwell 'All done.'\n"));
    ended_well(&stage.run(&format!("run -- {claude}")), 0);
    let told = reply(&stage);
    assert_eq!((&told["behavior"], &told["interrupt"]), (&json!("deny"), &Value::Null));
}

#[test]
fn a_list_that_is_given_up_has_a_report_and_its_person_is_told() {
    let stage = Stage::new();
    features(&stage, &["large", "small"]);
    let broken = agent(&stage, "broken", "echo 'out of cheese' >&2; exit 1\n");
    let ran = run_noted(&stage, &format!("run --dialect features --max-failures 1 -- {broken}"));
    ended_well(&ran, 4);
    assert!(ran.out.contains("# stopgate report"), "{ran}");
    assert!(ran.out.contains("infra_error"), "{ran}");
    until("the person is told", || text(&stage, "notes").contains("infra_error"));
    assert!(text(&stage, "notes").contains("out of cheese"));
}

#[test]
fn a_feature_is_handed_to_a_sub_agent_with_its_model() {
    let stage = Stage::new();
    features(&stage, &["large"]);
    let list = "project/.claude/data/ralph-loops/current/feature_list.json";
    let body =
        format!("sed -i 's/\"passes\": *false/\"passes\":true/' $STAGE/{list}\nwell 'Built.'\n");
    let note = "for word in \"$@\"; do echo \"$word\" >>$STAGE/words; done\n";
    let claude = agent(&stage, "claude", &format!("{note}{}{body}", crate::run_clients::CLAUDE));
    let ran = stage.run(&format!("run --dialect features --sub-agents -- {claude}"));
    ended_well(&ran, 0);
    let words = text(&stage, "words");
    let agents = words.lines().skip_while(|word| *word != "--agents").nth(1).expect("agents");
    let agents: Value = serde_json::from_str(agents).expect("JSON");
    assert_eq!(agents["feature-builder"]["model"], json!("large"), "{agents}");
    assert!(words.contains("Hand the feature below to the sub-agent `feature-builder`"), "{words}");
    let refused = stage.run("run --dialect features --sub-agents -- codex");
    ended_well(&refused, 2);
}

/// A tmux server of the stage's own; ended with it.
struct TmuxServer<'a> {
    stage: &'a Stage,
}

impl TmuxServer<'_> {
    fn tmux(&self, words: &[&str]) -> Command {
        let mut tmux = doors::program("tmux");
        self.stage.furnish(&mut tmux);
        tmux.arg("-S").arg(self.stage.path("tmux")).args(["-f", "/dev/null"]).args(words);
        tmux
    }

    fn said(&self, words: &[&str]) -> String {
        let output = self.tmux(words).output().expect("run tmux");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for TmuxServer<'_> {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]).output();
    }
}

#[test]
fn in_tmux_each_session_has_a_window_of_its_own() {
    let stage = Stage::new();
    let id = begun(&stage, "");
    let body = "[ -t 0 ] && [ -t 1 ] || exit 9\n\
                echo $$ >>$STAGE/pids; echo \"$1\" >>$STAGE/prompts\n\
                n=$(wc -l <$STAGE/pids)\n\
                while [ ! -e $STAGE/go$n ]; do sleep 0.02; done\n\
                [ $n = 2 ] && touch done.txt; exit 0\n";
    let worker = agent(&stage, "worker", body);
    let server = TmuxServer { stage: &stage };
    let line = format!(
        "cd {} && {PROGRAM} run --tmux --log logs -- {worker} '{{prompt}}' >{} 2>&1; echo $? >{}",
        stage.path("project").display(),
        stage.path("said").display(),
        stage.path("code").display()
    );
    server.said(&["new-session", "-d", "-s", "night", "-x", "120", "-y", "40", &line]);
    let windows = || server.said(&["list-windows", "-a", "-F", "#{window_name}"]);
    until("the first window", || windows().contains(&format!("{id}-1")));
    stage.write("go1", "");
    until("the second window", || windows().contains(&format!("{id}-2")));
    assert!(!windows().contains(&format!("{id}-1")), "one window a session: {}", windows());
    stage.write("go2", "");
    until("the run is over", || !text(&stage, "code").trim().is_empty());
    assert_eq!(text(&stage, "code").trim(), "0", "{}", text(&stage, "said"));
    assert_eq!(outcome(&stage, &id), json!("done"));
    assert_eq!(count(&stage, "prompts", "Nobody is at the keyboard"), 2);
    assert!(text(&stage, "pids").lines().all(|pid| !is_alive(pid)));
    let outside = stage.run(&format!("run --tmux -- {worker}"));
    assert!([2, 66].contains(&outside.code), "{outside}");
}

#[test]
fn outside_of_tmux_there_are_no_windows() {
    let stage = Stage::new();
    begun(&stage, "");
    let ran = stage.run("run --tmux -- true");
    ended_well(&ran, 2);
    assert!(ran.err.contains("--tmux needs a tmux around it"), "{ran}");
}
