//! Which exploits fit a project.

use std::path::Path;

use super::apply::{Grounds, is_installed};
use super::exploit::{Ecosystem, Pick, is_makefile};

/// Programs whose tests are run by themselves, and what they belong to.
const RUNNERS: [(&str, Ecosystem); 17] = [
    ("cargo", Ecosystem::Cargo),
    ("pytest", Ecosystem::Python),
    ("pytest-3", Ecosystem::Python),
    ("py.test", Ecosystem::Python),
    ("python", Ecosystem::Python),
    ("python3", Ecosystem::Python),
    ("unittest", Ecosystem::Python),
    ("node", Ecosystem::Node),
    ("npm", Ecosystem::Node),
    ("npx", Ecosystem::Node),
    ("yarn", Ecosystem::Node),
    ("pnpm", Ecosystem::Node),
    ("bun", Ecosystem::Node),
    ("jest", Ecosystem::Node),
    ("vitest", Ecosystem::Node),
    ("mocha", Ecosystem::Node),
    ("go", Ecosystem::Go),
];

/// The tools that the project has and the check may reach.
pub(super) fn ecosystems(grounds: &Grounds) -> Vec<Ecosystem> {
    use Ecosystem::{Any, Cargo, Go, Make, Node, Python, Shell};
    let mut found: Vec<Ecosystem> = [Cargo, Python, Node, Go, Make, Shell]
        .into_iter()
        .filter(|own| has(grounds, *own))
        .collect();
    let words: Vec<&str> = grounds
        .command
        .split_whitespace()
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .collect();
    let of = |word: &&str| RUNNERS.iter().find(|(name, _)| name == word).map(|(_, own)| *own);
    let direct: Vec<Ecosystem> = words.iter().filter_map(of).collect();
    let runs_script = grounds.files.iter().any(|path| grounds.is_named(path));
    let reaches_all =
        words.iter().any(|word| ["make", "gmake", "sh", "bash", "just"].contains(word));
    if !direct.is_empty() && !runs_script && !reaches_all {
        found.retain(|own| direct.contains(own));
    }
    found.push(Any);
    found
}

fn has(grounds: &Grounds, ecosystem: Ecosystem) -> bool {
    let any = |wanted: &dyn Fn(&str, &Path) -> bool| {
        let own = grounds.files.iter().filter(|path| !is_installed(path));
        own.into_iter().any(|path| {
            wanted(path.file_name().and_then(|name| name.to_str()).unwrap_or_default(), path)
        })
    };
    let ends = |path: &Path, ends: &[&str]| {
        path.extension().and_then(|end| end.to_str()).is_some_and(|end| ends.contains(&end))
    };
    match ecosystem {
        Ecosystem::Cargo => any(&|name, _| name == "Cargo.toml"),
        Ecosystem::Python => any(&|_, path| ends(path, &["py"])),
        Ecosystem::Node => {
            any(&|name, path| name == "package.json" || ends(path, &["js", "mjs", "cjs", "ts"]))
        }
        Ecosystem::Go => any(&|name, _| name == "go.mod"),
        Ecosystem::Make => any(&|name, _| is_makefile(name)),
        Ecosystem::Shell => !grounds.pick(Pick::Scripts, Ecosystem::Shell).is_empty(),
        Ecosystem::Any => true,
    }
}
