//! The house keeps its own rules: sizes, walls, doors.

mod locks;
mod rooms;
mod strings;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::doors;

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;

/// Which of our crates a crate may build upon, as ARCHITECTURE.md's table has it: down only.
const MAY_USE: [(&str, &[&str]); 22] = [
    ("stopgate-core", &[]),
    ("stopgate-signals", &["stopgate-core"]),
    ("stopgate-gates", &["stopgate-core", "stopgate-signals"]),
    ("stopgate-json", &[]),
    ("stopgate-agents", &["stopgate-core", "stopgate-json", "stopgate-signals"]),
    ("stopgate-dialects", &["stopgate-core", "stopgate-json"]),
    ("stopgate-store", &["stopgate-core"]),
    ("stopgate-store-postgres", &["stopgate-core", "stopgate-store"]),
    ("stopgate-system", &[]),
    ("stopgate-usage", &["stopgate-core"]),
    ("stopgate-verify", &["stopgate-core", "stopgate-system"]),
    ("stopgate-view", &["stopgate-core", "stopgate-gates"]),
    (
        "stopgate-engine",
        &[
            "stopgate-agents",
            "stopgate-core",
            "stopgate-dialects",
            "stopgate-gates",
            "stopgate-signals",
            "stopgate-store",
            "stopgate-system",
            "stopgate-usage",
            "stopgate-verify",
            "stopgate-view",
        ],
    ),
    ("stopgate-daemon", &["stopgate-core", "stopgate-engine"]),
    ("stopgate-mcp", &["stopgate-core", "stopgate-engine", "stopgate-system", "stopgate-verify"]),
    ("stopgate-server", &["stopgate-core", "stopgate-engine"]),
    ("stopgate-tui", &["stopgate-core", "stopgate-view"]),
    (
        "stopgate-drive",
        &[
            "stopgate-agents",
            "stopgate-core",
            "stopgate-dialects",
            "stopgate-engine",
            "stopgate-store",
            "stopgate-verify",
            "stopgate-view",
        ],
    ),
    (
        "stopgate",
        &[
            "stopgate-agents",
            "stopgate-core",
            "stopgate-daemon",
            "stopgate-dialects",
            "stopgate-drive",
            "stopgate-engine",
            "stopgate-mcp",
            "stopgate-server",
            "stopgate-store",
            "stopgate-store-postgres",
            "stopgate-system",
            "stopgate-tui",
            "stopgate-view",
        ],
    ),
    ("stopgate-lab", &[]),
    ("stopgate-conformance", &["stopgate-agents"]),
    (
        "stopgate-sim",
        &[
            "stopgate-agents",
            "stopgate-core",
            "stopgate-engine",
            "stopgate-store",
            "stopgate-verify",
            "stopgate-view",
        ],
    ),
];

/// Crates that may start programs as they please.
const STARTERS: [&str; 4] =
    ["stopgate-verify", "stopgate-drive", "stopgate-lab", "stopgate-conformance"];

#[test]
fn files_and_functions_stay_short() {
    let mut long = Vec::new();
    for source in sources() {
        let lines = source.text.lines().count();
        if lines > FILE_LINES_MAX {
            long.push(format!("{}: {lines} lines", source.name));
        }
        long.extend(long_functions(&source));
    }
    for source in test_sources() {
        let lines = source.text.lines().count();
        if lines > FILE_LINES_MAX {
            long.push(format!("{}: {lines} lines", source.name));
        }
    }
    assert_eq!(long, Vec::<String>::new());
}

#[test]
fn nothing_is_allowed_silently_and_nothing_is_left_to_do() {
    let forbidden = ["#[allow(", "#![allow(", "todo!(", "unimplemented!(", "dbg!("];
    let mut found = Vec::new();
    for source in sources() {
        for word in forbidden {
            if source.text.contains(word) {
                found.push(format!("{}: {word}", source.name));
            }
        }
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn every_module_says_what_it_is() {
    let silent = |source: &Source| !source.is_test() && !source.text.starts_with("//!");
    let found: Vec<String> = sources().into_iter().filter(silent).map(|s| s.name).collect();
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn the_core_knows_no_machine() {
    let root = fs::read_to_string(crates().join("stopgate-core/src/lib.rs")).expect("the core");
    assert!(root.contains("#![no_std]"), "the core is no_std");
    assert_eq!(dependencies("stopgate-core"), ["serde"]);
    for source in sources().iter().filter(|source| source.krate == "stopgate-core") {
        assert!(source.is_test() || !source.text.contains("std::"), "{} uses std", source.name);
    }
}

#[test]
fn dependencies_point_down() {
    for krate in crate_names() {
        let allowed = MAY_USE.iter().find(|(name, _)| *name == krate).map(|(_, may)| *may);
        let allowed = allowed.unwrap_or_else(|| panic!("{krate} has no place in the table"));
        for used in dependencies(&krate).iter().filter(|name| name.starts_with("stopgate")) {
            assert!(allowed.contains(&used.as_str()), "{krate} may not use {used}");
        }
    }
}

#[test]
fn the_hook_is_built_without_an_async_runtime() {
    let mut cargo = doors::program(env!("CARGO"));
    cargo.args(["tree", "--offline", "--locked", "--edges", "normal", "--prefix", "none"]);
    cargo.args(["--package", "stopgate-engine"]).current_dir(crates());
    let ran = cargo.output().expect("run cargo tree");
    let tree = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(tree.contains("stopgate-core"), "{tree}");
    for runtime in ["tokio ", "async-std ", "smol ", "mio ", "futures"] {
        assert!(!tree.contains(runtime), "the hook's tree has {runtime}: {tree}");
    }
}

/// Licences that ask for nothing but their own text.
const PERMISSIVE: [&str; 13] = [
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "0BSD",
    "CC0-1.0",
    "Unlicense",
    "Unicode-3.0",
    "CDLA-Permissive-2.0",
];

#[test]
fn what_others_wrote_comes_from_the_registry_with_a_permissive_licence() {
    let mut cargo = doors::program(env!("CARGO"));
    cargo.args(["metadata", "--offline", "--locked", "--format-version", "1"]);
    // What is for other systems only need not be on this one.
    cargo.arg("--filter-platform").arg(format!("{}-unknown-linux-gnu", std::env::consts::ARCH));
    let ran = cargo.current_dir(crates()).output().expect("run cargo metadata");
    let metadata: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("read metadata");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 20, "it lists what we use");
    let foreign = packages.iter().filter(|package| !package["source"].is_null());
    let odd: Vec<String> = foreign.filter_map(oddity).collect();
    assert_eq!(odd, Vec::<String>::new());
}

fn oddity(package: &serde_json::Value) -> Option<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let licence = package["license"].as_str().unwrap_or_default();
    let registry = package["source"].as_str().is_some_and(|from| from.starts_with("registry+"));
    (!registry || !is_permissive(licence)).then(|| format!("{name}: {licence}"))
}

/// One of the alternatives must be permissive throughout.
fn is_permissive(licence: &str) -> bool {
    let plain = licence.replace(['(', ')'], "").replace('/', " OR ");
    let all = |joined: &str| joined.split(" AND ").all(|one| PERMISSIVE.contains(&one.trim()));
    plain.split(" OR ").any(all)
}

/// Where the engine may say which agent it means: a format that only one agent has.
const NAMES_ONE_AGENT: [&str; 1] = ["stopgate-engine/src/dialect/task.rs"];

#[test]
fn the_engine_asks_an_agent_and_never_which_one_it_is() {
    let modules = ["claude::", "codex::", "gemini::", "qwen::", "copilot::", "kimi::"];
    let own = |source: &&Source| source.krate == "stopgate-engine" && !source.is_test();
    for source in sources().iter().filter(own) {
        for module in modules {
            assert!(!source.text.contains(module), "{} says {module}", source.name);
        }
        let may = NAMES_ONE_AGENT.contains(&source.name.as_str());
        assert!(may || !is_variant_named(&source.text), "{} names a single agent", source.name);
    }
}

/// Whether a text names a variant of the agents' type: `Agent::` and a capital, other than `ALL`.
fn is_variant_named(text: &str) -> bool {
    text.match_indices("Agent::").any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let is_whole = before.is_none_or(|char| !char.is_alphanumeric() && char != ':');
        let name: String =
            text[at + found.len()..].chars().take_while(|char| char.is_alphanumeric()).collect();
        let is_variant =
            name.starts_with(|first: char| first.is_ascii_uppercase()) && name != "ALL";
        is_whole && is_variant
    })
}

/// A name that several types share says nothing in a search or an import. Arguments of commands are
/// never seen beyond their own file and its parent.
#[test]
fn a_type_name_visible_beyond_its_file_is_defined_once() {
    let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // A type of Windows stands for its sibling of Unix.
    let counts = |source: &&Source| !source.is_test() && !source.name.contains("windows");
    for source in sources().iter().filter(counts) {
        for name in source.text.lines().filter_map(visible_type) {
            known.entry(name.to_owned()).or_default().push(source.name.clone());
        }
    }
    assert!(known.len() > 500, "the search for types finds only {}", known.len());
    known.retain(|name, places| name != "Args" && places.len() > 1);
    assert!(known.is_empty(), "several types share a name: {known:#?}");
}

/// The name of the type that a line makes visible to other files.
fn visible_type(line: &str) -> Option<&str> {
    let line = line.trim_start().strip_prefix("pub")?;
    let line =
        line.strip_prefix("(crate)").or_else(|| line.strip_prefix("(super)")).unwrap_or(line);
    let line = line.strip_prefix(' ')?;
    let name =
        ["struct ", "enum ", "trait ", "type "].iter().find_map(|kind| line.strip_prefix(kind))?;
    name.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())
}

#[test]
fn programs_are_started_at_marked_doors_only() {
    for source in sources() {
        let imports = source.text.contains("std::process::");
        let starts = imports && source.text.contains(" Command::new(");
        let is_door = source.krate == "stopgate"
            && source.text.contains("#[expect(clippy::disallowed_methods, reason = ");
        let may = STARTERS.contains(&source.krate.as_str()) || is_door;
        assert!(may || !starts, "{} starts programs", source.name);
    }
}

#[test]
fn the_environment_is_read_at_marked_doors_only() {
    for source in sources() {
        let reads = source.text.contains("env::var(") || source.text.contains("env::var_os(");
        let is_door = ["stopgate-engine", "stopgate-lab", "stopgate-system", "stopgate-verify"]
            .contains(&source.krate.as_str())
            && source.text.contains("#[expect(clippy::disallowed_methods, reason = ");
        assert!(is_door || !reads, "{} reads the environment", source.name);
    }
}

/// One file under `crates/*/src`.
struct Source {
    krate: String,
    /// Its path below `crates`.
    name: String,
    text: String,
}

impl Source {
    fn is_test(&self) -> bool {
        ["tests.rs", "properties.rs", "enumeration.rs", "scene.rs"]
            .iter()
            .any(|name| self.name.ends_with(name))
    }
}

fn crates() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("crates lie side by side").into()
}

fn crate_names() -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(crates()).expect("the crates") {
        let entry = entry.expect("a crate");
        if entry.path().join("Cargo.toml").exists() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    names
}

fn sources() -> Vec<Source> {
    let found = sources_in("src");
    assert!(found.len() > 50, "the sources are found");
    found
}

/// The files under `crates/*/tests`.
fn test_sources() -> Vec<Source> {
    let found = sources_in("tests");
    assert!(found.len() > 50, "the tests are found");
    found
}

fn sources_in(directory: &str) -> Vec<Source> {
    let mut found = Vec::new();
    for krate in crate_names() {
        let directory = crates().join(&krate).join(directory);
        if directory.exists() {
            collect(&krate, &directory, &mut found);
        }
    }
    found
}

fn collect(krate: &str, directory: &Path, found: &mut Vec<Source>) {
    for entry in fs::read_dir(directory).expect("a directory of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(krate, &path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&path).expect("a source");
            let name = path.strip_prefix(crates()).expect("below the crates").display();
            found.push(Source { krate: krate.into(), name: name.to_string(), text });
        }
    }
}

/// The names under `[dependencies]`, and under those of single targets.
fn dependencies(krate: &str) -> Vec<String> {
    let manifest = fs::read_to_string(crates().join(krate).join("Cargo.toml")).expect("a manifest");
    let mut names = Vec::new();
    let mut inside = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]") && !line.contains("dev-dependencies");
        } else if inside && !line.trim().is_empty() && !line.starts_with('#') {
            names.push(line.split(['.', ' ', '=']).next().unwrap_or_default().into());
        }
    }
    names
}

/// Functions that are too long; a function ends where a brace stands below its beginning.
fn long_functions(source: &Source) -> Vec<String> {
    let lines: Vec<&str> = source.text.lines().collect();
    let mut long = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let is_function = ["fn ", "pub fn ", "pub(crate) fn ", "pub(super) fn ", "pub const fn "]
            .iter()
            .any(|begin| code.starts_with(begin));
        if !is_function || code.ends_with('}') {
            continue;
        }
        let end = format!("{}}}", &line[..line.len() - code.len()]);
        let length = lines[at..].iter().position(|below| **below == end).unwrap_or(0) + 1;
        if length > FUNCTION_LINES_MAX {
            long.push(format!("{}:{}: {length} lines", source.name, at + 1));
        }
    }
    long
}
