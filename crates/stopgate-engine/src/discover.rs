//! Which checks a project has already, by the files that its tools leave in it.
//!
//! Only looked at, never run: a person decides what of it becomes a criterion.

use std::fs;
use std::path::Path;

use serde::Serialize;
use stopgate_verify::files::read_text;

/// A file that is longer than this is not looked into.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// A check that a project seems to have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundCheck {
    /// A name for it.
    pub name: String,
    /// The command.
    pub argv: Vec<String>,
    /// The file that shows it.
    pub from: String,
}

impl FoundCheck {
    fn new(name: &str, command: &str, from: &str) -> Self {
        let argv = command.split_whitespace().map(String::from).collect();
        Self { name: name.into(), argv, from: from.into() }
    }

    /// The command as one types it.
    pub fn command(&self) -> String {
        self.argv.join(" ")
    }
}

/// The checks that the files of `project` show, tests first; each name once.
pub fn discover(project: &Path) -> Vec<FoundCheck> {
    let mut found: Vec<FoundCheck> = Vec::new();
    for one in [cargo, node, python, go, make, just].iter().flat_map(|look| look(project)) {
        if !found.iter().any(|earlier| earlier.name == one.name) {
            found.push(one);
        }
    }
    found.sort_by_key(|one| !one.name.starts_with("tests"));
    found
}

/// The commands that the project's pipelines run, as hints; at most `max` of them.
pub fn pipeline_commands(project: &Path, max: usize) -> Vec<FoundCheck> {
    let mut files: Vec<(String, String)> = Vec::new();
    let workflows = fs::read_dir(project.join(".github/workflows"));
    for entry in workflows.into_iter().flatten().flatten() {
        let name = format!(".github/workflows/{}", entry.file_name().display());
        files.extend(read(project, &name).map(|text| (name, text)));
    }
    files.extend(read(project, ".gitlab-ci.yml").map(|text| (".gitlab-ci.yml".into(), text)));
    files.sort();
    let words = ["test", "lint", "check", "clippy", "mypy", "tsc", "vet"];
    let mut found = Vec::new();
    for (name, text) in &files {
        let lines = text.lines().map(str::trim);
        let commands = lines.filter_map(|line| {
            let command = line.strip_prefix("- run:").or_else(|| line.strip_prefix("run:"));
            let script = || line.strip_prefix("- ").filter(|_| name == ".gitlab-ci.yml");
            command.or_else(script).map(str::trim)
        });
        let telling = |line: &&str| {
            let plain = !line.contains(['|', '>', '$', '{', '"', '\'', '&', ';']);
            plain && words.iter().any(|word| line.contains(word))
        };
        found.extend(commands.filter(telling).map(|line| FoundCheck::new("pipeline", line, name)));
    }
    found.truncate(max);
    found
}

fn read(project: &Path, name: &str) -> Option<String> {
    let path = project.join(name);
    read_text(&path, FILE_BYTES_MAX).ok()
}

fn cargo(project: &Path) -> Vec<FoundCheck> {
    let Some(text) = read(project, "Cargo.toml") else { return Vec::new() };
    let all = if text.contains("[workspace]") { " --workspace" } else { "" };
    vec![
        FoundCheck::new("tests pass", &format!("cargo test{all}"), "Cargo.toml"),
        FoundCheck::new(
            "clippy is clean",
            &format!("cargo clippy{all} --all-targets -- -D warnings"),
            "Cargo.toml",
        ),
    ]
}

fn node(project: &Path) -> Vec<FoundCheck> {
    let Some(text) = read(project, "package.json") else { return Vec::new() };
    let package: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let tool = [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun")];
    let tool = tool.iter().find(|(lock, _)| project.join(lock).exists());
    let tool = tool.map_or("npm", |(_, tool)| *tool);
    let script = |name: &str| package["scripts"][name].as_str();
    let wanted = [
        ("tests pass", "test"),
        ("lint is clean", "lint"),
        ("types are right", "typecheck"),
        ("it builds", "build"),
    ];
    let has = |name: &str| {
        script(name).is_some_and(|line| !line.contains("no test specified") && !line.is_empty())
    };
    let found = wanted.iter().filter(|(_, script)| has(script)).map(|(name, script)| {
        FoundCheck::new(name, &format!("{tool} run {script}"), "package.json")
    });
    found.collect()
}

fn python(project: &Path) -> Vec<FoundCheck> {
    let pyproject = read(project, "pyproject.toml");
    let others = ["pytest.ini", "setup.py", "setup.cfg", "tox.ini", "conftest.py"];
    let other = others.into_iter().find(|name| project.join(name).exists());
    let Some(from) = pyproject.as_ref().map(|_| "pyproject.toml").or(other) else {
        return Vec::new();
    };
    let run = match () {
        () if project.join("uv.lock").exists() => "uv run ",
        () if project.join("poetry.lock").exists() => "poetry run ",
        () => "",
    };
    let text = pyproject.unwrap_or_default();
    let mut found = vec![FoundCheck::new("tests pass", &format!("{run}pytest"), from)];
    if text.contains("[tool.ruff") {
        found.push(FoundCheck::new("ruff is clean", &format!("{run}ruff check ."), from));
    }
    if text.contains("[tool.mypy") {
        found.push(FoundCheck::new("types are right", &format!("{run}mypy ."), from));
    }
    found
}

fn go(project: &Path) -> Vec<FoundCheck> {
    if !project.join("go.mod").exists() {
        return Vec::new();
    }
    vec![
        FoundCheck::new("tests pass", "go test ./...", "go.mod"),
        FoundCheck::new("vet is clean", "go vet ./...", "go.mod"),
    ]
}

fn make(project: &Path) -> Vec<FoundCheck> {
    let names = ["Makefile", "makefile", "GNUmakefile"];
    let found = names.iter().find_map(|name| Some((*name, read(project, name)?)));
    found.map_or_else(Vec::new, |(name, text)| targets("make", name, &text))
}

fn just(project: &Path) -> Vec<FoundCheck> {
    let names = ["justfile", "Justfile", ".justfile"];
    let found = names.iter().find_map(|name| Some((*name, read(project, name)?)));
    found.map_or_else(Vec::new, |(name, text)| targets("just", name, &text))
}

fn targets(tool: &str, file: &str, text: &str) -> Vec<FoundCheck> {
    let wanted = [("tests pass", "test"), ("checks pass", "check"), ("lint is clean", "lint")];
    let has = |target: &str| {
        text.lines().any(|line| {
            line.strip_prefix(target).is_some_and(|rest| {
                rest.trim_start().starts_with(':') && !rest.trim_start().starts_with(":=")
            })
        })
    };
    let found = wanted.iter().filter(|(_, target)| has(target));
    found.map(|(name, target)| FoundCheck::new(name, &format!("{tool} {target}"), file)).collect()
}

#[cfg(test)]
mod tests;
