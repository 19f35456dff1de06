//! `feature_list.json`.

use serde_json::json;
use stopgate_core::{Criterion, Proof, Standing, Status, Timestamp};

use crate::json_text::{Document, JsonTextError, Node, PathStep, set};

/// What is to be built, in the file's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureList {
    /// The features.
    pub features: Vec<Feature>,
    /// Which model builds which category; `default` is for all others.
    pub models: Vec<(String, String)>,
    /// What is odd about the file, a sentence each; none of it keeps the list from being used.
    pub oddities: Vec<String>,
}

/// One feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Its name or number; its place in the list where it has none.
    pub id: String,
    /// What it is.
    pub description: String,
    /// Whether the file says, plainly, that it passes.
    pub passes: bool,
    /// The model that should build it.
    pub model: Option<String>,
    /// What kind of work it is.
    pub category: Option<String>,
}

/// Why a list could not be used.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// It is not JSON.
    #[error("read the list of features")]
    NotJson(#[from] JsonTextError),
    /// There is not a list in it.
    #[error("find the list \"features\" in it")]
    NoList,
}

impl FeatureList {
    /// Reads a list: `{"features": […]}`, or the bare list.
    pub fn read(text: &str) -> Result<Self, ListError> {
        let document = Document::read(text)?;
        let root = document.root();
        let list = if root.is_list() { Some(root) } else { root.key("features") };
        let list = list.filter(|list| list.is_list()).ok_or(ListError::NoList)?;
        let mut oddities = Vec::new();
        let features: Vec<Feature> = list
            .elements()
            .enumerate()
            .map(|(at, node)| feature(at, node, &mut oddities))
            .collect();
        for (at, feature) in features.iter().enumerate() {
            if features[..at].iter().any(|earlier| earlier.id == feature.id) {
                oddities.push(format!("two features have the id {}", feature.id));
            }
        }
        let models = root.key("models").map(models).unwrap_or_default();
        Ok(Self { features, models, oddities })
    }

    /// The model that should build `feature`: its own, else its category's, else the default.
    pub fn model_of<'a>(&'a self, feature: &'a Feature) -> Option<&'a str> {
        let of = |name: &str| self.models.iter().find(|(own, _)| own == name);
        let listed = || feature.category.as_deref().and_then(of).or_else(|| of("default"));
        feature.model.as_deref().or_else(|| listed().map(|(_, model)| model.as_str()))
    }

    /// How many features the file says are complete.
    pub fn complete(&self) -> usize {
        self.features.iter().filter(|feature| feature.passes).count()
    }

    /// How many are left.
    pub fn remaining(&self) -> usize {
        self.features.len() - self.complete()
    }

    /// The first one that is left.
    pub fn next(&self) -> Option<&Feature> {
        self.features.iter().find(|feature| !feature.passes)
    }

    /// The features as criteria that stand as the file says.
    pub fn criteria(&self, now: Timestamp) -> Vec<Criterion> {
        let criterion = |feature: &Feature| {
            let status = if feature.passes { Status::Pass } else { Status::Fail };
            let last = Standing {
                status,
                exit_code: None,
                duration_ms: 0,
                at: now,
                log: None,
                kept: None,
            };
            let name = format!("{}: {}", feature.id, feature.description);
            Criterion { last: Some(last), ..Criterion::new(&name, Proof::Attest) }
        };
        self.features.iter().map(criterion).collect()
    }
}

/// The text of a list in which the feature `id` passes; everything else stays byte for byte.
pub fn passing(text: &str, id: &str) -> Result<String, ListError> {
    let list = FeatureList::read(text)?;
    let Some(at) = list.features.iter().position(|feature| feature.id == id) else {
        return Ok(text.into());
    };
    let is_bare = Document::read(text)?.root().is_list();
    let steps = [PathStep::Key("features"), PathStep::At(at), PathStep::Key("passes")];
    let steps = if is_bare { &steps[1..] } else { &steps[..] };
    Ok(set(text, steps, &json!(true))?)
}

/// The models that a list names for its categories.
fn models(node: Node<'_>) -> Vec<(String, String)> {
    let named = |(name, model): (&str, Node<'_>)| Some((name.into(), model.text()?.into()));
    node.members().filter_map(named).collect()
}

/// Only a plain `true` passes: a claim that can't be read is none.
fn feature(at: usize, node: Node<'_>, oddities: &mut Vec<String>) -> Feature {
    let place = at + 1;
    let text =
        |key: &str| node.key(key).and_then(Node::text).filter(|text| !text.trim().is_empty());
    let id = node.key("id").and_then(Node::plain);
    let described = text("description").or_else(|| text("name")).or_else(|| text("title"));
    let passes = node.key("passes").and_then(Node::flag);
    if id.is_none() {
        oddities.push(format!(
            "the {place}. feature has no id; its position in the list is used instead"
        ));
    }
    if described.is_none() {
        oddities.push(format!("the {place}. feature has no description"));
    }
    if passes.is_none() {
        oddities.push(format!(
            "the {place}. feature has no \"passes\": true or false; it counts as unfinished"
        ));
    }
    Feature {
        id: id.map_or_else(|| place.to_string(), String::from),
        description: described.or_else(|| node.text()).unwrap_or("(no description)").into(),
        passes: passes == Some(true),
        model: text("model").map(String::from),
        category: text("category").map(String::from),
    }
}

/// A new list of these features, none of them complete.
pub fn template(descriptions: &[String]) -> String {
    let feature = |(at, description): (usize, &String)| {
        let id = at + 1;
        format!(
            "    {{ \"id\": {id}, \"description\": {}, \"passes\": false }}",
            json!(description)
        )
    };
    let features: Vec<String> = descriptions.iter().enumerate().map(feature).collect();
    format!("{{\n  \"features\": [\n{}\n  ]\n}}\n", features.join(",\n"))
}
