//! Code that the settings of JavaScript's tools load: transforms, setup files, plugins, presets.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::configuration::ToolConfiguration;
use super::files::{ProjectFiles, directory_of, extension_of, inner, name_of, normal};
use super::imports::{imports_of, javascript_file, settings_paths};
use super::names::{directories, is_foreign};

/// How many lists of one name are read, and how much of each.
const LISTS_MAX: usize = 100;
const LIST_MAX: usize = 64 * 1024;

/// Settings in a manifest that name code.
const MEMBERS: [&str; 7] = ["jest", "vitest", "mocha", "ava", "nyc", "c8", "babel"];

/// The files of the project that the settings of the tools in use load.
pub(super) fn loaded(
    root: &Path,
    files: &dyn ProjectFiles,
    configuration: &ToolConfiguration,
) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for path in files.paths().iter().filter(|path| !is_foreign(path)) {
        let is_manifest = name_of(path) == "package.json";
        if !is_manifest && (configuration.tool_of(path).is_none() || !is_readable(path)) {
            continue;
        }
        let text = files.text(path).unwrap_or_default();
        let text = if is_manifest { members(&text, path, configuration) } else { text };
        let own = directory_of(path);
        let named = settings_paths(&text).into_iter();
        let words = named.map(|word| word.trim_start_matches("<rootDir>/"));
        let place = |word: &str| inner(root, &own, word);
        found.extend(words.filter_map(place).filter_map(|path| file_of(path, files)));
        if is_manifest || is_of_babel(path) {
            let items = ["plugins", "presets"].into_iter().flat_map(|key| items(&text, key));
            let items = items.filter(|word| word.starts_with('.') || is_script(word));
            let items = items.filter_map(|word| normal(&own.join(word)));
            found.extend(items.filter_map(|path| javascript_file(&path, files)));
        }
        if !is_manifest {
            found.extend(imports_of(path, &text, files));
        }
    }
    found
}

/// Whether what loaded code imports is a part of it: it lies beside it, where no product does.
pub(super) fn is_part(path: &Path, user: &Path) -> bool {
    const PRODUCTS: [&str; 12] = [
        "src", "app", "apps", "cmd", "packages", "examples", "lib", "server", "client", "public",
        "dist", "out",
    ];
    let own = directory_of(user);
    let is_product = directories(path).any(|place| PRODUCTS.contains(&place));
    !own.as_os_str().is_empty() && path.starts_with(&own) && !is_product && !is_foreign(path)
}

/// Whether settings are text that is looked through.
fn is_readable(path: &Path) -> bool {
    let is_code = ["js", "mjs", "cjs", "ts", "mts", "json"].contains(&extension_of(path));
    is_code || name_of(path).starts_with(".mocharc") || is_of_babel(path)
}

fn is_of_babel(path: &Path) -> bool {
    ["babel.config.", ".babelrc"].iter().any(|begin| name_of(path).starts_with(begin))
}

fn is_script(word: &str) -> bool {
    word.contains('/') && ["js", "cjs", "mjs", "ts"].contains(&extension_of(Path::new(word)))
}

/// The settings of the tools in use that a manifest has.
fn members(text: &str, path: &Path, configuration: &ToolConfiguration) -> String {
    let manifest: serde_json::Value =
        serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
    let own = directory_of(path);
    let is_used = |tool: &&&str| {
        let settings = match **tool {
            "mocha" => ".mocharc.json".to_string(),
            "nyc" | "c8" => format!(".{tool}rc"),
            tool => format!("{tool}.config.js"),
        };
        configuration.tool_of(&own.join(settings)).is_some()
    };
    let used = MEMBERS.iter().filter(is_used).map(|tool| &manifest[*tool]);
    let texts: Vec<String> = used.filter(|own| !own.is_null()).map(ToString::to_string).collect();
    texts.join("\n")
}

/// What a setting names: a file, or one whose ending is left out.
fn file_of(path: PathBuf, files: &dyn ProjectFiles) -> Option<PathBuf> {
    if files.paths().contains(&path) {
        return Some(path);
    }
    extension_of(&path).is_empty().then(|| javascript_file(&path, files))?
}

/// The names in a list: `["./a", ["./b", { … }]]` has `./a` and `./b`.
fn items<'t>(text: &'t str, key: &str) -> Vec<&'t str> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(key).take(LISTS_MAX) {
        let rest = text[at + key.len()..].trim_start_matches(['"', '\'']).trim_start();
        let list = rest.strip_prefix(':').map(str::trim_start);
        found.extend(list.filter(|list| list.starts_with('[')).map(names_in).unwrap_or_default());
    }
    found
}

fn names_in(list: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut depth, mut objects, mut is_first, mut at) = (0_usize, 0_usize, true, 0);
    let bytes = list.as_bytes();
    while at < bytes.len().min(LIST_MAX) {
        match bytes[at] {
            b'[' => (depth, is_first) = (depth + 1, true),
            b']' => depth = depth.saturating_sub(1),
            b'{' => objects += 1,
            b'}' => objects = objects.saturating_sub(1),
            b',' => is_first = false,
            mark @ (b'"' | b'\'' | b'`') => {
                let Some(length) = list[at + 1..].find(char::from(mark)) else { break };
                let end = at + 1 + length;
                if objects == 0 && (depth == 1 || depth == 2 && is_first) {
                    found.push(&list[at + 1..end]);
                }
                at = end;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_each_item_is_what_is_loaded() {
        let text = r#"{ "presets": [["@babel/preset-env", { "targets": { "node": "current" } }],
            './build/preset'], "plugins": ["./a.js", ["module-resolver", { "root": ["./src"] }]] }"#;
        assert_eq!(items(text, "presets"), ["@babel/preset-env", "./build/preset"]);
        assert_eq!(items(text, "plugins"), ["./a.js", "module-resolver"]);
        assert_eq!(items("plugins: [", "plugins"), Vec::<&str>::new());
    }

    #[test]
    fn parts_of_loaded_code_lie_beside_it() {
        for (path, user) in [
            ("build/rules/env.js", "build/transform.js"),
            ("build/preset/dev.js", "build/preset/index.js"),
            ("tooling/vitest/matchers.ts", "tooling/vitest/setup.ts"),
        ] {
            assert!(is_part(Path::new(path), Path::new(user)), "{path}");
        }
        for (path, user) in [
            ("src/polyfill.js", "src/setup.js"),
            ("lib/a.js", "tooling/setup.js"),
            ("a.js", "setup.js"),
        ] {
            assert!(!is_part(Path::new(path), Path::new(user)), "{path}");
        }
    }
}
