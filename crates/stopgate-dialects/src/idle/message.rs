//! One message of the topic: the whole state as a JSON object.

use serde_json::{Value, json};
use stopgate_core::{Frame, Outcome, Timestamp};

use super::{
    IdleLoop, IdleStanding, LastTouched, MAX_DEFAULT, TextChange, Worktree, count, mode, reviewed,
    standing, touched,
};
use crate::instant_text;
use crate::json_text::{Document, Node, PathStep, push, remove, set};

/// The loop that a message describes; nothing where it describes none (`schema` is missing).
pub fn read(text: &str) -> Option<IdleLoop> {
    let document = Document::read(text).ok()?;
    let root = document.root();
    let said = |node: Node<'_>| node.value() != Value::Null;
    root.key("schema").filter(|schema| said(*schema))?;
    let stack: Vec<Node<'_>> = root.key("stack").into_iter().flat_map(Node::elements).collect();
    let plain = |name| root.key(name).and_then(Node::plain);
    let mut standing = standing(plain("event"), plain("reason"));
    if stack.is_empty() && standing == IdleStanding::Active {
        standing = IdleStanding::Over(Outcome::Attested, "no frame is left".into());
    }
    let frames: Option<Vec<Frame>> = stack.iter().map(|node| frame(*node)).collect();
    let frames = frames.unwrap_or_default();
    let first = stack.first().and_then(|node| node.key("id")?.plain());
    let run = plain("run_id").or(first).unwrap_or_default().to_string();
    let goal = frames.first().map(|frame| frame.prompt.clone()).filter(|goal| !goal.is_empty());
    Some(IdleLoop {
        goal: goal.unwrap_or_else(|| format!("idle loop {run}").trim_end().into()),
        run,
        standing,
        frames,
        touched: root
            .key("updated_at")
            .filter(|at| said(*at))
            .map_or(LastTouched::Unsaid, |at| touched(Some(at.text().unwrap_or_default()))),
        worktree: stack.last().and_then(|top| worktree(*top)),
        reviewed: reviewed(stack.last().and_then(|top| top.key("review")?.plain())),
    })
}

/// The message that follows `text` after a change.
pub fn changed(text: &str, change: &TextChange, now: Timestamp) -> Option<String> {
    let document = Document::read(text).ok()?;
    let depth = document.root().key("stack").map_or(0, |stack| stack.elements().count());
    let top = depth.checked_sub(1);
    let edited = match change {
        TextChange::Count(iteration) => {
            let iter = [PathStep::Key("stack"), PathStep::At(top?), PathStep::Key("iter")];
            with_event(&set(text, &iter, &json!(iteration)).ok()?, "STATE")?
        }
        TextChange::Pop => {
            let text = remove(text, &[PathStep::Key("stack"), PathStep::At(top?)]).ok()?;
            with_event(&text, "STATE")?
        }
        TextChange::Done(reason) => emptied(text, "DONE", reason)?,
        TextChange::Abort(reason) => emptied(text, "ABORT", reason)?,
        TextChange::Stale => set_key(&with_event(text, "DONE")?, "reason", &json!("STALE"))?,
        TextChange::Revive => {
            let text = with_event(text, "STATE")?;
            remove(&text, &[PathStep::Key("reason")]).ok()?
        }
        TextChange::Sweep => return None,
    };
    set_key(&edited, "updated_at", &json!(instant_text(now)))
}

/// The message that puts `frame` on top.
pub fn pushed(text: &str, id: &str, frame: &Frame, now: Timestamp) -> Option<String> {
    let text = push(text, &[PathStep::Key("stack")], &frame_value(id, frame)).ok()?;
    set_key(&with_event(&text, "STATE")?, "updated_at", &json!(instant_text(now)))
}

/// The first message of a loop.
pub fn begun(id: &str, frame: &Frame, now: Timestamp) -> String {
    let text = |value: &str| Value::from(value).to_string();
    let Frame { mode, iteration, max, prompt } = frame;
    format!(
        "{{\"schema\":1,\"event\":\"STATE\",\"run_id\":{id},\"updated_at\":{at},\
         \"stack\":[{{\"id\":{id},\"mode\":\"{mode}\",\"iter\":{iteration},\"max\":{max},\
         \"prompt\":{prompt}}}]}}",
        id = text(id),
        at = text(&instant_text(now)),
        prompt = text(prompt),
    )
}

fn frame_value(id: &str, frame: &Frame) -> Value {
    json!({
        "id": id,
        "mode": frame.mode.word(),
        "iter": frame.iteration,
        "max": frame.max,
        "prompt": frame.prompt,
    })
}

fn frame(node: Node<'_>) -> Option<Frame> {
    if !node.is_object() {
        return None;
    }
    let field = |name| node.key(name).filter(|node| node.value() != Value::Null);
    // What is there and is not a number is not a count either.
    let counted = |name, default| {
        field(name).map_or(Some(default), |node| count(Some(node.plain().unwrap_or("?")), default))
    };
    let text = |name| field(name).and_then(Node::plain);
    let prompt = text("prompt").or_else(|| text("issue_id")).or_else(|| text("prompt_file"));
    Some(Frame {
        mode: mode(text("mode")),
        iteration: counted("iter", 0)?,
        max: counted("max", MAX_DEFAULT)?,
        prompt: prompt.unwrap_or_default().into(),
    })
}

fn worktree(top: Node<'_>) -> Option<Worktree> {
    let text = |name: &str| {
        let found = top.key(name).and_then(Node::plain).filter(|text| !text.is_empty());
        found.map(String::from)
    };
    let path = text("worktree_path").or_else(|| text("worktree"))?;
    Some(Worktree { path, branch: text("branch"), issue: text("issue_id") })
}

fn emptied(text: &str, event: &str, reason: &str) -> Option<String> {
    let text = set_key(&with_event(text, event)?, "reason", &json!(reason))?;
    set_key(&text, "stack", &json!([]))
}

fn with_event(text: &str, event: &str) -> Option<String> {
    set_key(text, "event", &json!(event))
}

fn set_key(text: &str, key: &str, value: &Value) -> Option<String> {
    set(text, &[PathStep::Key(key)], value).ok()
}
