//! Names of what a check goes by: what should come out, rules, settings.

use std::path::Path;

use super::super::files::{extension_of, name_of};
use super::{directories, is_code, is_data, words};

/// Whether a name says that an output is compared with the file.
pub(in crate::judges) fn says_reference(path: &Path) -> bool {
    const WORDS: [&str; 12] = [
        "expected",
        "expect",
        "golden",
        "want",
        "wanted",
        "reference",
        "ref",
        "baseline",
        "snapshot",
        "approved",
        "oracle",
        "correct",
    ];
    let says = |name: &str| words(name).iter().any(|word| WORDS.contains(&word.as_str()));
    // `docs/reference/api.md` is a page.
    let is_plain =
        !is_code(extension_of(path)) && !["md", "rst", "html"].contains(&extension_of(path));
    says(name_of(path)) || is_plain && directories(path).any(says)
}

/// Whether a file that is not code holds what a check goes by, as its directory, its ending or a
/// plain name in small letters says: `rules/paths`, `etc/bases`, `tools/compare.rc`.
pub(in crate::judges) fn says_rules(path: &Path) -> bool {
    const PLACES: [&str; 8] =
        ["rule", "rules", "policy", "policies", "limits", "thresholds", "etc", "waivers"];
    let is_place = |own: &str| words(own).iter().any(|word| PLACES.contains(&word.as_str()));
    let name = name_of(path);
    let is_name = !name.contains('.') && name == name.to_lowercase();
    let end = extension_of(path);
    !is_code(end) && (is_name || directories(path).any(is_place) || ["rc", "rules"].contains(&end))
}

/// Settings of several tools, whose sections have rules of their own.
const MANIFESTS: [&str; 4] = ["setup.cfg", "tox.ini", "pytest.ini", "mypy.ini"];

/// Whether a name says that a file holds settings of a tool: `i18n.config.json`, `.lintrc`.
pub(in crate::judges) fn says_settings(path: &Path) -> bool {
    let name = name_of(path);
    let is_plain = |own: &str| !own.contains('.') && !own.starts_with("git") && own != "env";
    let is_hidden = name.strip_prefix('.').is_some_and(is_plain);
    let is_form = ["ini", "cfg", "conf", "rc"].contains(&extension_of(path));
    is_hidden || is_form && !MANIFESTS.contains(&name) || is_data(path) && name.contains(".config.")
}
