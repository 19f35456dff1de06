//! The engine is cut by product, and types stay in few files.

use std::collections::{BTreeMap, BTreeSet};

use super::{Source, sources};

/// In how many files a type may have `impl` blocks.
const IMPL_FILES_MAX: usize = 3;

/// Types that are spread wider today. The list only shrinks: a type that is in fewer files by now
/// has its number lowered, and goes when it has three.
const SPREAD_WIDER: [(&str, &str, usize); 3] = [
    ("stopgate-agents", "Agent", 4),
    ("stopgate-engine", "DialectCall", 13),
    ("stopgate-verify", "Tracer", 10),
];

/// The engine's rooms, one for each product, and which others each may use. What is not named here
/// is a lower layer that every room may use: the context, what looks at the work, views and values.
const ROOMS: [(&str, &[&str]); 13] = [
    ("attack", &[]),
    // Formats look at the hooks that are set up.
    ("dialect", &["setup"]),
    ("driven", &["dialect", "stop"]),
    ("loops", &[]),
    ("see", &[]),
    ("session", &[]),
    ("setup", &[]),
    ("stop", &[]),
    // The tools' server keeps an engine, for loops that are not tasks.
    ("tasks", &["engine"]),
    ("upkeep", &[]),
    ("verify", &[]),
    ("waiting", &[]),
    ("worktrees", &[]),
];

/// Doors hand a call to rooms; no room uses them but as the table above says.
const DOORS: [(&str, &[&str]); 4] = [
    ("doctor", &["dialect", "setup"]),
    (
        "engine",
        &[
            "attack",
            "driven",
            "loops",
            "see",
            "session",
            "stop",
            "tasks",
            "upkeep",
            "verify",
            "waiting",
            "worktrees",
        ],
    ),
    ("hook", &["dialect", "engine", "session", "setup", "stop"]),
    ("simulation", &["engine", "loops"]),
];

#[test]
fn a_type_has_its_methods_in_few_files() {
    let all = sources();
    let own = || all.iter().filter(|source| !source.is_test());
    let mut private: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for source in own() {
        for name in source.text.lines().filter_map(private_type) {
            *private.entry((&source.krate, name)).or_default() += 1;
        }
    }
    let mut files: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for source in own() {
        let keys = source.text.lines().filter_map(implemented).map(|name| (&*source.krate, name));
        // Private types of one name are several types, each in its own file.
        for key in keys.filter(|key| private.get(key).is_none_or(|count| *count < 2)) {
            files.entry(key).or_default().insert(&source.name);
        }
    }
    assert!(files.len() > 300, "the search for types finds only {}", files.len());
    files.retain(|_, files| files.len() > IMPL_FILES_MAX);
    let wide: Vec<(&str, &str, usize)> =
        files.iter().map(|((krate, name), files)| (*krate, *name, files.len())).collect();
    assert_eq!(wide, SPREAD_WIDER, "{files:#?}");
}

#[test]
fn the_engines_rooms_do_not_import_each_other() {
    let graph = graph();
    assert!(graph.contains_key("loops") && graph.contains_key("judging"), "{graph:?}");
    let known = || ROOMS.iter().chain(&DOORS);
    let mut wrong = Vec::new();
    for (module, named) in &graph {
        let may = known().find(|(name, _)| name == module).map_or(&[] as &[&str], |(_, may)| *may);
        let upper = named.iter().filter(|name| known().any(|(known, _)| known == name));
        for name in upper.filter(|name| !may.contains(&name.as_str())) {
            wrong.push(format!("{module} uses {name}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn what_the_table_of_rooms_allows_is_needed() {
    let graph = graph();
    for (module, may) in ROOMS.iter().chain(&DOORS) {
        let named = graph.get(*module).unwrap_or_else(|| panic!("there is no room {module}"));
        for name in *may {
            assert!(named.contains(*name), "{module} does not use {name} any more");
        }
    }
}

/// Which of the engine's modules each of them names.
fn graph() -> BTreeMap<String, BTreeSet<String>> {
    let all = sources();
    let own = all.iter().filter(|source| source.krate == "stopgate-engine" && !source.is_test());
    let own: Vec<(String, &Source)> =
        own.filter_map(|source| Some((module(source)?, source))).collect();
    let exported = exported(&all);
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, source) in &own {
        assert!(!source.text.contains("crate::{"), "{}: name the module", source.name);
        let named = source.text.split("crate::").skip(1).map(first_word);
        let named = named.map(|name| exported.get(name).map_or(name, String::as_str));
        let others = named.filter(|name| *name != module).map(String::from);
        graph.entry(module.clone()).or_default().extend(others);
    }
    graph
}

/// The module at the crate's root that a file belongs to; none for the root itself.
fn module(source: &Source) -> Option<String> {
    let below = source.name.split_once("/src/")?.1;
    let name = below.split('/').next()?.trim_end_matches(".rs");
    (name != "lib").then(|| name.into())
}

/// What the crate's root exports, and from which module: it may be named without it.
fn exported(all: &[Source]) -> BTreeMap<String, String> {
    let root = all.iter().find(|source| source.name == "stopgate-engine/src/lib.rs");
    let text = &root.expect("the engine's root").text;
    let mut exported = BTreeMap::new();
    for export in text.split("pub use crate::").skip(1) {
        let (path, _) = export.split_once(';').expect("an export ends");
        let names = path.rsplit_once("::").map_or(path, |(_, names)| names);
        for name in names.split([',', '{', '}']).map(|name| first_word(name.trim())) {
            exported.insert(name.to_owned(), first_word(path).to_owned());
        }
    }
    exported
}

fn first_word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// The name of a type that only its own file, and what is below it, sees.
fn private_type(line: &str) -> Option<&str> {
    let name = ["struct ", "enum "].iter().find_map(|kind| line.strip_prefix(kind))?;
    Some(first_word(name))
}

/// The type whose methods begin at a line.
fn implemented(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl")?;
    let rest = if rest.starts_with('<') { after_generics(rest)? } else { rest };
    let rest = rest.strip_prefix(' ')?;
    let name = rest.rsplit_once(" for ").map_or(rest, |(_, name)| name);
    let name = name.trim_start_matches(['&', '(', '[']);
    let path = name.split(['<', ' ', ',', ')', '{']).next().filter(|path| !path.is_empty())?;
    path.rsplit("::").next()
}

/// What follows the parameters that a line begins with.
fn after_generics(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' if before != '-' => depth = depth.checked_sub(1)?,
            _other => {}
        }
        if depth == 0 {
            return text.get(at + 1..);
        }
        before = letter;
    }
    None
}
