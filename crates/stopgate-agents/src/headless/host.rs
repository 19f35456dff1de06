//! Claude Code as its host hears it: it asks on its standard output and is answered on its input.
//!
//! In its one-shot mode it has no questions; with a host it has, and its plans and what it is not
//! permitted to do are asked there, too.

use serde_json::{Value, json};

use super::stream::StreamMemory;
use super::{HeadlessTurn, QuestionHabit};

/// What makes us its host. The prompt comes on its standard input then; the one among its
/// arguments is not read.
pub(super) const ARGS: &[&str] =
    &["--input-format", "stream-json", "--permission-prompt-tool", "stdio"];
/// Flags of the person's own that mean that another program hosts the session.
const OWN_HOST: [&str; 3] = ["--input-format", "--permission-prompt-tool", "--output-format"];
const NOBODY: &str = "Nobody is at the keyboard. Decide it yourself and go on.";
const NOT_PERMITTED: &str = "This is not permitted here, and nobody is at the keyboard to permit \
                             it. Do it another way, or say what you need and end your turn.";
const PASSED_ON: &str = "The question was passed on to a person; the answer comes later.";

/// Whether we are the host of this turn.
fn is_host(turn: &HeadlessTurn<'_>) -> bool {
    let names = |own: &String, flag: &str| {
        own == flag || own.strip_prefix(flag).is_some_and(|rest| rest.starts_with('='))
    };
    !turn.own_args.iter().any(|own| OWN_HOST.iter().any(|flag| names(own, flag)))
}

/// The prompt as the client takes it on its standard input.
pub(super) fn opening(turn: &HeadlessTurn<'_>) -> Option<String> {
    let content = json!([{ "type": "text", "text": turn.prompt }]);
    let message = json!({ "type": "user", "message": { "role": "user", "content": content } });
    is_host(turn).then(|| message.to_string())
}

/// Answers a request of the client.
pub(super) fn requested(memory: &mut StreamMemory, event: &Value) {
    let id = &event["request_id"];
    let request = &event["request"];
    if request["subtype"] != "can_use_tool" {
        let error = json!({ "subtype": "error", "request_id": id, "error": "not supported" });
        return memory
            .replies(json!({ "type": "control_response", "response": error }).to_string());
    }
    let said = match request["tool_name"].as_str() {
        Some("AskUserQuestion") => asked(memory, questions(&request["input"])),
        Some("ExitPlanMode") if memory.habit == QuestionHabit::ParkApproved => {
            json!({ "behavior": "allow", "updatedInput": request["input"] })
        }
        Some("ExitPlanMode") => {
            let plan =
                request["input"]["plan"].as_str().or(memory.plan.as_deref()).unwrap_or_default();
            let question = format!("May the agent carry out its plan?\n{plan}");
            asked(memory, question)
        }
        Some(_) | None => json!({ "behavior": "deny", "message": NOT_PERMITTED }),
    };
    let response = json!({ "subtype": "success", "request_id": id, "response": said });
    memory.replies(json!({ "type": "control_response", "response": response }).to_string());
}

/// What a question of the agent is answered.
fn asked(memory: &mut StreamMemory, question: String) -> Value {
    if memory.habit == QuestionHabit::Decide {
        return json!({ "behavior": "deny", "message": NOBODY });
    }
    memory.question = Some(question);
    json!({ "behavior": "deny", "message": PASSED_ON, "interrupt": true })
}

/// The questions with what can be chosen, one below the other.
fn questions(input: &Value) -> String {
    let questions = input["questions"].as_array().into_iter().flatten();
    let texts = questions.map(|question| {
        let options = question["options"].as_array().into_iter().flatten();
        let labels: Vec<&str> = options.filter_map(|option| option["label"].as_str()).collect();
        let text = question["question"].as_str().unwrap_or_default();
        if labels.is_empty() { text.to_owned() } else { format!("{text} ({})", labels.join(", ")) }
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Remembers a plan that the agent is about to show.
pub(super) fn heard(memory: &mut StreamMemory, message: &Value) {
    let mut parts = message["content"].as_array().into_iter().flatten();
    let shown = parts.rfind(|part| part["name"] == "ExitPlanMode");
    if let Some(plan) = shown.and_then(|part| part["input"]["plan"].as_str()) {
        memory.plan = Some(plan.to_owned());
    }
}
