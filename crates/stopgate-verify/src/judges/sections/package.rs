//! `package.json`: scripts that the check reaches, settings of its tools, overrides.

use super::json::JsonText;
use super::{Judging, SectionReach};

const NODE: &str = "node npm npx yarn pnpm bun bunx jest vitest mocha ava tap tape jasmine karma \
    playwright cypress node-test eslint tsc";

/// Members that belong to a tool.
const MEMBERS: [(&str, &str); 30] = [
    ("jest", "jest react-scripts-test ng-test"),
    ("vitest", "vitest"),
    ("postcss", "vitest"),
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
    // Tests read it, and scripts have it in their variables.
    ("config", NODE),
    ("lint-staged", "lint-staged"),
    ("main", NODE),
    ("module", NODE),
    ("exports", NODE),
    ("imports", NODE),
];

/// Members that say which file a name leads to.
const ENTRIES: [&str; 4] = ["main", "module", "exports", "imports"];

/// The original text in which names whose files have moved lead where today's text says.
///
/// Which file a test gets under a name judges, as long as the file of the start is there: `stays`
/// says of which. Names that are new belong to the work.
pub(crate) fn with_moved_entries(
    original: &str,
    today: &str,
    stays: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let (mut original, today) = (JsonText::parse(original).ok()?, JsonText::parse(today).ok()?);
    for name in ENTRIES {
        let was = original.get(name).map(targets).unwrap_or_default();
        // Without `main`, node looks for `index.js`; without `exports`, for `main`.
        let is_judged = match name {
            "imports" | "module" => !was.is_empty(),
            "exports" if was.is_empty() => original.get("main").is_some(),
            "main" if was.is_empty() => stays("index.js"),
            _ => true,
        };
        let now = today.get(name).filter(|_| name == "exports" && was.is_empty());
        let main = original.get("main").map(targets).unwrap_or_default();
        let is_more = now.is_some_and(|now| only_adds_names(&value_of(now), &main, stays));
        if !is_judged || is_more || !was.iter().all(|target| stays(target)) {
            match today.get(name) {
                Some(now) => original.set(name, now.clone()),
                None => original.remove(name),
            }
        }
    }
    let more: Vec<&str> = today.get("imports").map(JsonText::names).unwrap_or_default();
    for name in more {
        let now = today.get("imports").and_then(|imports| imports.get(name));
        let imports = original.object_mut("imports")?;
        if let Some(now) = now.filter(|_| imports.get(name).is_none()) {
            imports.set(name, now.clone());
        }
    }
    Some(original.render())
}

/// Whether the first `exports` of a package leave what could be imported before where it was: the
/// package itself is still its `main`, and no path leads to another file.
fn only_adds_names(
    exports: &serde_json::Value,
    main: &[String],
    stays: &dyn Fn(&str) -> bool,
) -> bool {
    let is_main =
        |value: &serde_json::Value| targets_in(value).iter().all(|own| main.contains(own));
    let names = exports.as_object().filter(|all| all.keys().all(|name| name.starts_with('.')));
    let Some(names) = names else { return is_main(exports) };
    names.iter().all(|(name, value)| {
        let path = name.trim_start_matches("./");
        let is_kept = || !stays(path) || targets_in(value).iter().all(|own| own == path);
        if name == "." { is_main(value) } else { !name.contains('*') && is_kept() }
    })
}

fn value_of(text: &JsonText) -> serde_json::Value {
    serde_json::from_str(&text.canonical()).unwrap_or_default()
}

/// The files that a value leads to; of a pattern, its directory.
fn targets(value: &JsonText) -> Vec<String> {
    targets_in(&value_of(value))
}

fn targets_in(value: &serde_json::Value) -> Vec<String> {
    let mut open = vec![value.clone()];
    let mut found = Vec::new();
    while let Some(value) = open.pop() {
        match value {
            serde_json::Value::String(text) => {
                let text = text.split('*').next().unwrap_or_default().trim_end_matches('/');
                found.push(text.trim_start_matches("./").to_string());
            }
            serde_json::Value::Array(more) => open.extend(more),
            serde_json::Value::Object(more) => open.extend(more.into_iter().map(|(_, own)| own)),
            _ => {}
        }
    }
    found
}

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

/// What every package may say: a script that reads it reads about the work.
const MANIFEST: [&str; 34] = [
    "name",
    "version",
    "description",
    "keywords",
    "homepage",
    "repository",
    "bugs",
    "license",
    "author",
    "contributors",
    "funding",
    "files",
    "main",
    "module",
    "browser",
    "types",
    "typings",
    "bin",
    "man",
    "directories",
    "scripts",
    "dependencies",
    "devDependencies",
    "peerDependencies",
    "optionalDependencies",
    "bundledDependencies",
    "engines",
    "os",
    "cpu",
    "private",
    "publishConfig",
    "workspaces",
    "exports",
    "imports",
];

/// Every path that judges, also where neither text has it.
fn paths(reach: &SectionReach) -> Vec<Vec<&str>> {
    let used = MEMBERS.iter().filter(|(_, tools)| reach.uses(tools));
    let mut found: Vec<Vec<&str>> = used.map(|(name, _)| vec![*name]).collect();
    if reach.uses(NODE) {
        found.push(vec!["pnpm", "overrides"]);
        found.push(vec!["pnpm", "patchedDependencies"]);
    }
    found.extend(reach.names.iter().map(|name| vec!["scripts", name]));
    let own = reach.settings.iter().map(String::as_str).filter(|name| !MANIFEST.contains(name));
    found.extend(own.map(|name| vec![name]));
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

#[cfg(test)]
mod tests {
    use super::*;

    const PACKAGE: &str = r##"{"main": "lib/a.js", "imports": {"#a": "./lib/a.js"}}"##;

    fn restored(today: &str, stays: &dyn Fn(&str) -> bool) -> String {
        let reach = SectionReach { tools: ["node".into()].into(), ..SectionReach::default() };
        let original = with_moved_entries(PACKAGE, today, stays).expect("readable");
        restore(&original, today, &reach).expect("restored")
    }

    #[test]
    fn what_a_name_leads_to_judges_while_its_file_is_there() {
        let today = r##"{"main": "lib/b.js", "imports": {"#a": "./lib/b.js"}}"##;
        assert!(!restored(today, &|_| true).contains("b.js"));
        assert!(!restored(today, &|_| false).contains("a.js"));
    }

    #[test]
    fn first_exports_may_name_more_but_nothing_else() {
        let kept = |exports: &str, stays: &dyn Fn(&str) -> bool| {
            let today = format!(r#"{{"exports": {exports}}}"#);
            restored(&today, stays).contains("exports")
        };
        let is_there = |path: &str| path.starts_with("lib/");
        assert!(kept(r#"{".": "./lib/a.js", "./units": "./lib/units.js"}"#, &is_there));
        assert!(kept(r#""./lib/a.js""#, &is_there));
        assert!(!kept(r#"{".": "./lib/double.js"}"#, &is_there));
        assert!(!kept(r#"{".": "./lib/a.js", "./lib/b.js": "./lib/c.js"}"#, &is_there));
        assert!(!kept(r#"{".": "./lib/a.js", "./*": "./double/*"}"#, &is_there));
    }

    #[test]
    fn names_that_are_new_are_work() {
        let today = r##"{"main": "lib/a.js", "imports": {"#a": "./lib/a.js", "#b": "./b.js"}}"##;
        assert_eq!(restored(today, &|_| true), JsonText::parse(today).expect("JSON").render());
        let reach = SectionReach { tools: ["node".into()].into(), ..SectionReach::default() };
        let fresh = with_moved_entries("{}", today, &|_| false).expect("readable");
        assert_eq!(judging(&fresh, &reach), judging(today, &reach));
    }
}
