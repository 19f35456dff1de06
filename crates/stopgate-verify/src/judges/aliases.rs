//! Names by which JavaScript imports files of the project without saying where they are: `paths` of
//! a tsconfig, `resolve.alias` of vite, `moduleNameMapper` of jest, `imports` of a package, and the
//! names of the project's own packages.

use std::path::{Path, PathBuf};

use super::files::{ProjectFiles, directory_of, extension_of, name_of, normal};
use super::imports::javascript_file;
use super::names::is_foreign;

/// How many files with settings are read.
const FILES_MAX: usize = 200;
/// How many names are kept.
const NAMES_MAX: usize = 1_000;
/// How many objects of one name are read in a file, and how much of each.
const BLOCKS_MAX: usize = 50;
const BLOCK_MAX: usize = 64 * 1024;

/// The aliases of a project.
#[derive(Clone, Debug, Default)]
pub(super) struct Aliases {
    found: Vec<Alias>,
}

#[derive(Clone, Debug)]
struct Alias {
    /// The name, or what it begins with.
    name: String,
    /// Where it leads, from the project's root.
    place: PathBuf,
    /// The file that a package is by its name alone.
    main: Option<PathBuf>,
}

impl Aliases {
    /// What the settings of the project say.
    pub(super) fn of(files: &dyn ProjectFiles) -> Self {
        let mut found = Vec::new();
        let settings = files.paths().iter().filter(|path| !is_foreign(path));
        for path in settings.filter(|path| !keys_of(path).is_empty()).take(FILES_MAX) {
            let text = files.text(path).unwrap_or_default();
            if name_of(path) == "package.json" {
                found.extend(package(path, &text));
            }
            for key in keys_of(path) {
                found.extend(entries(&text, key).into_iter().filter_map(|own| alias(path, own)));
            }
        }
        found.truncate(NAMES_MAX);
        Self { found }
    }

    /// The file of the project that a name leads to.
    pub(super) fn file(&self, word: &str, files: &dyn ProjectFiles) -> Option<PathBuf> {
        self.found.iter().find_map(|alias| {
            let rest = word.strip_prefix(alias.name.as_str())?;
            let is_whole = rest.is_empty() || alias.name.is_empty() || alias.name.ends_with('/');
            let rest = if is_whole { rest } else { rest.strip_prefix('/')? };
            let place = match &alias.main {
                Some(main) if rest.is_empty() => main.clone(),
                _ if rest.is_empty() => alias.place.clone(),
                _ => alias.place.join(rest),
            };
            javascript_file(&normal(&place)?, files)
        })
    }
}

/// Under which keys a file of settings has aliases.
fn keys_of(path: &Path) -> &'static [&'static str] {
    let name = name_of(path);
    match extension_of(path) {
        "json" if name.starts_with("tsconfig") || name == "jsconfig.json" => &["paths"],
        "json" if name == "package.json" => &["imports", "moduleNameMapper"],
        _ if name.starts_with("jest.config.") => &["moduleNameMapper"],
        _ if name.starts_with("vite") && name.contains(".config.") => &["alias"],
        _ => &[],
    }
}

/// A package of the project, as others import it.
fn package(manifest: &Path, text: &str) -> Option<Alias> {
    let read: serde_json::Value = serde_json::from_str(text).ok()?;
    let place = directory_of(manifest);
    let name = read.get("name")?.as_str().filter(|name| !name.is_empty())?;
    let mut entry = read.get("exports").unwrap_or(&serde_json::Value::Null);
    for key in [".", "import", "default"] {
        entry = entry.get(key).unwrap_or(entry);
    }
    let main = entry.as_str().or_else(|| read.get("main")?.as_str()).unwrap_or("index");
    Some(Alias { name: name.into(), main: Some(place.join(main)), place })
}

fn alias(settings: &Path, (name, value): (String, String)) -> Option<Alias> {
    let cut = |text: &str| {
        let end = text.find(['*', '(', '$']).unwrap_or(text.len());
        text[..end].to_string()
    };
    let name = cut(name.trim_start_matches('^'));
    let value = cut(value.trim_start_matches("<rootDir>/").trim_start_matches('/'));
    let place = normal(&directory_of(settings).join(value))?;
    Some(Alias { name, place, main: None })
}

/// The names and values of the objects under a key, also `{ find: …, replacement: … }` in a list.
fn entries(text: &str, key: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(key).take(BLOCKS_MAX) {
        let rest = text[at + key.len()..].trim_start_matches(['"', '\'']).trim_start();
        let Some(block) = rest.strip_prefix(':').map(str::trim_start) else { continue };
        if block.starts_with(['{', '[']) {
            let own = if key == "imports" { "#" } else { "" };
            found.extend(pairs(block, own));
        }
    }
    found
}

/// The pairs of a block whose names begin with `sign`: those in a package's `imports` that do not
/// are conditions.
fn pairs(block: &str, sign: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let (mut name, mut is_find) = (None, false);
    for (word, is_key) in words_of(block) {
        match word {
            "find" if is_key => is_find = true,
            "replacement" if is_key => is_find = false,
            word if is_key && word.starts_with(sign) => name = Some(word.to_string()),
            _ if is_key => {}
            word if is_find => name = Some(word.to_string()),
            word => found.extend(name.clone().map(|name| (name, word.to_string()))),
        }
    }
    found
}

/// Texts in quotes and bare keys of the block at the beginning of a text, and whether each is a key.
fn words_of(block: &str) -> Vec<(&str, bool)> {
    let mut found = Vec::new();
    let (mut depth, mut at) = (0_usize, 0);
    let bytes = block.as_bytes();
    while at < bytes.len().min(BLOCK_MAX) {
        let is_key =
            |end: usize| block.get(end..).is_some_and(|rest| rest.trim_start().starts_with(':'));
        match bytes[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            mark @ (b'"' | b'\'' | b'`') => {
                let Some(length) = block[at + 1..].find(char::from(mark)) else { break };
                let end = at + 1 + length;
                found.push((&block[at + 1..end], is_key(end + 1)));
                at = end;
            }
            letter if letter.is_ascii_alphabetic() => {
                let is_end = |letter: char| !(letter.is_ascii_alphanumeric() || letter == '_');
                let end = block[at..].find(is_end).map_or(block.len(), |length| at + length);
                found.extend(is_key(end).then(|| (&block[at..end], true)));
                at = end - 1;
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
    use crate::judges::tests::Scene;

    #[test]
    fn names_lead_to_the_files_that_settings_say() {
        let scene = Scene::new(
            r##"
            tsconfig.json = { // paths\n "compilerOptions": { "paths": { "@app/*": ["./src/*"] } } }
            vitest.config.ts = export default { resolve: { alias: { '@tooling': resolve('tooling/vitest') } } }
            vite.config.js = export default { alias: [{ find: 'kit', replacement: './tooling/kit.ts' }] }
            jest.config.js = module.exports = { moduleNameMapper: { '^~/(.*)$': '<rootDir>/lib/$1' } }
            package.json = { "imports": { "#rules/*": { "node": "./rules/*" } } }
            packages/kit/package.json = { "name": "@fleet/kit", "main": "src/main.js" }
            packages/kit/src/main.js
            packages/kit/units.js
            packages/core/package.json = { "name": "core", "exports": { ".": { "import": "./a.mjs" } } }
            packages/core/a.mjs
            src/a.ts
            tooling/vitest/matchers.ts
            tooling/kit.ts
            lib/deep/b.js
            rules/c.mjs
            "##,
        );
        let files = scene.files();
        let aliases = Aliases::of(&files);
        for (word, path) in [
            ("@app/a", "src/a.ts"),
            ("@tooling/matchers", "tooling/vitest/matchers.ts"),
            ("kit", "tooling/kit.ts"),
            ("~/deep/b", "lib/deep/b.js"),
            ("#rules/c.mjs", "rules/c.mjs"),
            ("@fleet/kit", "packages/kit/src/main.js"),
            ("@fleet/kit/units", "packages/kit/units.js"),
            ("core", "packages/core/a.mjs"),
        ] {
            assert_eq!(aliases.file(word, &files), Some(path.into()), "{word}");
        }
        for word in ["@apple/a", "kitchen", "vitest", "@app", "@tooling/none"] {
            assert_eq!(aliases.file(word, &files), None, "{word}");
        }
    }
}
