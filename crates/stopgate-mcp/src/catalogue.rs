//! The tools: names, texts and schemas, exactly as `tools.json` has them.
//!
//! One file says what a model reads and what is enforced. `also` lists arguments that
//! older clients send: they are checked like the others and not shown; what is `ignored`
//! among them goes no further. `unless` names what may stand in for a required argument.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};

use crate::arguments::make_whole;
use crate::tool_name::ToolName;

/// Which tools are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolSet {
    /// Every tool.
    All,
    /// The loop's own three.
    Loop,
}

/// How long a call of a tool may keep its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// It only asks the journal, unless the desk knows better.
    Quick,
    /// It may run programs.
    Slow,
}

/// One tool, as it is told and as it is enforced.
#[derive(Debug)]
pub(crate) struct ToolEntry {
    /// What clients are told.
    pub(crate) tool: Tool,
    /// Which one it is.
    pub(crate) name: ToolName,
    /// The schema that arguments must fit: what is shown, and what older clients send.
    pub(crate) schema: Value,
    pub(crate) pace: Pace,
}

/// All tools of one server.
#[derive(Debug)]
pub(crate) struct Catalogue {
    entries: Vec<ToolEntry>,
}

const TOOLS: &str = include_str!("tools.json");

impl Catalogue {
    /// The tools of `set`.
    pub(crate) fn new(set: ToolSet) -> Self {
        let listed: Vec<Value> = serde_json::from_str(TOOLS).unwrap_or_default();
        let entries = listed.into_iter().filter_map(entry).filter(|e| belongs(e.name, set));
        Self { entries: entries.collect() }
    }

    /// The tool called `name`.
    pub(crate) fn find(&self, name: &str) -> Option<&ToolEntry> {
        self.entries.iter().find(|entry| entry.tool.name == name)
    }

    /// What clients are told.
    pub(crate) fn tools(&self) -> Vec<Tool> {
        self.entries.iter().map(|entry| entry.tool.clone()).collect()
    }

    /// Every name, for a caller that asked for another.
    pub(crate) fn names(&self) -> String {
        let names: Vec<&str> = self.entries.iter().map(|entry| &*entry.tool.name).collect();
        names.join(", ")
    }
}

fn belongs(name: ToolName, set: ToolSet) -> bool {
    match set {
        ToolSet::All => true,
        ToolSet::Loop => name.is_of_loop(),
    }
}

fn entry(mut listed: Value) -> Option<ToolEntry> {
    let name: ToolName = serde_json::from_value(listed["name"].clone()).ok()?;
    let word = listed["name"].as_str()?.to_string();
    let text = listed["description"].as_str()?.to_string();
    let title = listed["title"].as_str()?.to_string();
    let hints: ToolAnnotations = serde_json::from_value(listed["annotations"].take()).ok()?;
    let slow = listed["slow"] == true;
    let shown = listed["inputSchema"].take();
    let schema = enforced(&shown, listed["also"].take(), listed["unless"].take());
    let Value::Object(shown) = shown else { return None };
    let tool = Tool::new(word, text, Arc::new(shown)).with_title(title).with_annotations(hints);
    Some(ToolEntry { tool, name, schema, pace: if slow { Pace::Slow } else { Pace::Quick } })
}

/// The schema that arguments must fit: as it is shown, with what older clients send.
fn enforced(shown: &Value, also: Value, unless: Value) -> Value {
    let mut schema = shown.clone();
    if let (Some(known), Value::Object(also)) = (schema["properties"].as_object_mut(), also) {
        known.extend(also);
    }
    if unless.is_object() {
        schema["unless"] = unless;
    }
    schema
}

/// The names that a schema knows.
pub(crate) fn known_names(schema: &Value) -> Option<&Map<String, Value>> {
    schema["properties"].as_object()
}

/// `arguments` without what is only tolerated, and without what is said to be nothing.
pub(crate) fn kept(schema: &Value, mut arguments: Map<String, Value>) -> Map<String, Value> {
    arguments.retain(|name, given| {
        !given.is_null() && schema["properties"][name.as_str()]["ignored"] != true
    });
    for (name, given) in &mut arguments {
        make_whole(&schema["properties"][name.as_str()], given);
    }
    arguments
}

#[cfg(test)]
mod tests;
