//! Settings that a project's own judging scripts read from a manifest: `[cover]` in `setup.cfg` for
//! `tools/cover.py`, `"budget"` in `package.json` for `scripts/size.mjs`.

use std::collections::BTreeSet;
use std::path::Path;

use super::files::ProjectFiles;
use super::imports::quoted;

/// Manifests in which a project keeps settings of its own scripts.
const MANIFESTS: [&str; 4] = ["package.json", "pyproject.toml", "setup.cfg", "tox.ini"];
/// More words than this are not the names of settings.
const WORDS_MAX: usize = 500;

/// The words in the scripts that read a manifest: what they look up is among them.
pub(super) fn words_of<'p>(
    scripts: impl Iterator<Item = &'p Path>,
    files: &dyn ProjectFiles,
) -> BTreeSet<String> {
    let reads = |text: &String| MANIFESTS.iter().any(|name| text.contains(name));
    let texts = scripts.filter_map(|path| files.text(path)).filter(reads);
    let mut found = BTreeSet::new();
    for text in texts {
        found.extend(quoted(&text).filter(|word| is_name(word)).map(str::to_string));
        found.extend(members(&text).map(str::to_string));
        // `const { limits } = require('./package.json')`
        let beside = text.lines().filter(|line| MANIFESTS.iter().any(|name| line.contains(name)));
        let is_sign = |letter: char| !(letter.is_alphanumeric() || "_-".contains(letter));
        let named = beside.flat_map(|line| line.split(is_sign)).filter(|word| is_name(word));
        found.extend(named.map(str::to_string));
        if found.len() > WORDS_MAX {
            return BTreeSet::new();
        }
    }
    found
}

/// `a.budget`, `a?.budget`: names behind a dot that are not called.
fn members(text: &str) -> impl Iterator<Item = &str> {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices('.').filter_map(move |(at, _)| {
        let rest = &text[at + 1..];
        let end = rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        (is_name(name) && !after.starts_with('(')).then_some(name)
    })
}

fn is_name(word: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || "_-:.".contains(letter);
    (2..40).contains(&word.len())
        && word.starts_with(char::is_alphabetic)
        && word.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judges::tests::Scene;

    #[test]
    fn what_a_script_looks_up_in_a_manifest_is_noted() {
        let scene = Scene::new(
            "a.py = config.read(\"setup.cfg\")\\nomit = config.get(\"cover\", \"omit\")
             b.mjs = JSON.parse(read('package.json')).limits.map(f)
             d.js = const { sizeLimit } = require('../package.json');
             c.py = print('nothing')",
        );
        let of = |path: &str| words_of([Path::new(path)].into_iter(), &scene.files());
        assert!(["cover", "omit"].iter().all(|own| of("a.py").contains(*own)), "{:?}", of("a.py"));
        assert!(of("b.mjs").contains("limits"));
        assert!(of("d.js").contains("sizeLimit"));
        assert_eq!(of("c.py"), BTreeSet::new());
    }
}
