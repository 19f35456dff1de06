//! `package.json`: scripts that the check reaches, settings of its tools, overrides.

use super::json::JsonText;
use super::{Judging, SectionReach};

const NODE: &str = "node npm npx yarn pnpm bun bunx jest vitest mocha ava tap tape jasmine karma \
    playwright cypress node-test eslint tsc";

/// Members that belong to a tool.
const MEMBERS: [(&str, &str); 24] = [
    ("jest", "jest react-scripts-test ng-test"),
    ("vitest", "vitest"),
    ("mocha", "mocha nyc c8"),
    ("ava", "ava"),
    ("tap", "tap"),
    ("jasmine", "jasmine"),
    ("nyc", "nyc mocha ava tap"),
    ("c8", "c8 mocha node-test"),
    ("cypress", "cypress"),
    ("babel", "jest vitest mocha ava tap tape jasmine karma react-scripts-test"),
    ("swc", "jest vitest mocha ava tap tape jasmine"),
    ("tsd", "tsd"),
    ("eslintConfig", "eslint react-scripts-test"),
    ("eslintIgnore", "eslint"),
    ("prettier", "prettier"),
    ("stylelint", "stylelint"),
    ("xo", "xo"),
    ("standard", "standard"),
    ("wireit", "npm yarn pnpm"),
    ("volta", NODE),
    ("packageManager", NODE),
    ("overrides", NODE),
    ("resolutions", NODE),
    ("lint-staged", "lint-staged"),
];

pub(super) fn judging(text: &str, reach: &SectionReach) -> Result<Judging, String> {
    let package = JsonText::parse(text)?;
    let mut judging = Judging::default();
    for path in paths(reach) {
        if let Some(value) = at(&package, &path) {
            judging.sections.push(format!("{}: {}", path.join("."), value.canonical()));
        }
    }
    judging.members = workspaces(&package).into_iter().collect();
    Ok(judging)
}

pub(super) fn restore(original: &str, today: &str, reach: &SectionReach) -> Option<String> {
    let original = JsonText::parse(original).ok()?;
    let mut today = JsonText::parse(today).ok()?;
    for path in paths(reach) {
        match (at(&original, &path), path.as_slice()) {
            (Some(value), [name]) => today.set(name, value.clone()),
            (Some(value), [above, name]) => today.object_mut(above)?.set(name, value.clone()),
            (None, [name]) => today.remove(name),
            (None, [above, name]) if today.get(above).is_some() => {
                today.object_mut(above)?.remove(name);
            }
            _ => {}
        }
    }
    let mut members = workspaces(&today);
    let gone = workspaces(&original).into_iter().filter(|own| !members.contains(own));
    let gone: Vec<String> = gone.collect();
    if !gone.is_empty() {
        members.extend(gone);
        let text = serde_json::to_string(&members).ok()?;
        match today.get("workspaces") {
            Some(JsonText::Object(_)) => {
                today.object_mut("workspaces")?.set("packages", JsonText::Raw(text));
            }
            Some(JsonText::Raw(_)) | None => today.set("workspaces", JsonText::Raw(text)),
        }
    }
    Some(today.render())
}

/// Every path that judges, also where neither text has it.
fn paths(reach: &SectionReach) -> Vec<Vec<&str>> {
    let used = MEMBERS.iter().filter(|(_, tools)| reach.uses(tools));
    let mut found: Vec<Vec<&str>> = used.map(|(name, _)| vec![*name]).collect();
    if reach.uses(NODE) {
        found.push(vec!["pnpm", "overrides"]);
        found.push(vec!["pnpm", "patchedDependencies"]);
    }
    found.extend(reach.names.iter().map(|name| vec!["scripts", name]));
    found
}

fn at<'j>(json: &'j JsonText, path: &[&str]) -> Option<&'j JsonText> {
    path.iter().try_fold(json, |json, name| json.get(name))
}

/// The packages of a workspace, which may become more.
fn workspaces(package: &JsonText) -> Vec<String> {
    let value = package.get("workspaces");
    let list = match value {
        Some(JsonText::Object(_)) => value.and_then(|value| value.get("packages")),
        Some(JsonText::Raw(_)) | None => value,
    };
    match list {
        Some(JsonText::Raw(text)) => serde_json::from_str(text).unwrap_or_default(),
        Some(JsonText::Object(_)) | None => Vec::new(),
    }
}
