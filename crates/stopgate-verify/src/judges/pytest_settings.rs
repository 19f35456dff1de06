//! What pytest's own settings say about names of tests and places of modules.

use std::path::{Path, PathBuf};

use super::files::{ProjectFiles, inner};
use super::role::Why;
use super::trace::CommandTrace;

const PLACES: [&str; 6] =
    ["pytest.ini", ".pytest.ini", "pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg"];

/// Adds what the settings in these directories say.
pub(super) fn read(root: &Path, files: &dyn ProjectFiles, trace: &mut CommandTrace) {
    let mut directories: Vec<PathBuf> = trace.import_roots.iter().cloned().collect();
    directories.push(PathBuf::new());
    for directory in directories {
        for name in PLACES {
            let Some(text) = files.text(&directory.join(name)) else { continue };
            if !text.contains("pytest") {
                continue;
            }
            trace.test_patterns.extend(values(&text, "python_files"));
            for place in values(&text, "pythonpath") {
                trace.import_roots.extend(inner(root, &directory, &place));
            }
            if values(&text, "addopts").iter().any(|word| word.starts_with("--doctest-")) {
                trace.tools.insert("doctest".into());
            }
            for plugin in plugins(&text) {
                let file = directory.join(format!("{}.py", plugin.replace('.', "/")));
                let why = Why::Configuration("pytest".into());
                trace.judges.extend(files.paths().contains(&file).then_some((file, why)));
            }
        }
    }
}

/// The words of a setting, also over several lines.
fn values(text: &str, key: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_inside = false;
    for line in text.lines() {
        let own = line.trim_start().strip_prefix(key).map(str::trim_start);
        let rest = match own.and_then(|rest| rest.strip_prefix(['=', ':'])) {
            Some(rest) => rest,
            None if is_inside && (line.starts_with([' ', '\t', ']'])) => line,
            None => {
                is_inside = false;
                continue;
            }
        };
        is_inside = true;
        let is_sign = |letter: char| letter.is_whitespace() || "\"'[],".contains(letter);
        found.extend(rest.split(is_sign).filter(|word| !word.is_empty()).map(str::to_string));
    }
    found
}

/// Plugins that the options name: `-p plugin`.
fn plugins(text: &str) -> Vec<String> {
    let words = values(text, "addopts");
    let after = words.windows(2).filter(|two| two[0] == "-p").map(|two| two[1].clone());
    let joined = words.iter().filter_map(|word| word.strip_prefix("-p")).map(str::to_string);
    after.chain(joined).filter(|name| !name.is_empty() && !name.starts_with("no:")).collect()
}
