use std::fs;

use super::{discover, pipeline_commands};

fn shows(files: &[(&str, &str)]) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let found = discover(directory.path());
    let lines = found.iter().map(|one| format!("{}: {}", one.name, one.command()));
    lines
        .chain(pipeline_commands(directory.path(), 5).iter().map(super::FoundCheck::command))
        .collect()
}

#[test]
fn each_tool_is_known_by_its_files() {
    assert_eq!(shows(&[]), [""; 0]);
    assert_eq!(shows(&[("Cargo.toml", "[workspace]\n")])[0], "tests pass: cargo test --workspace");
    let scripts = r#"{"scripts": {"test": "vitest run", "lint": "eslint ."}}"#;
    assert_eq!(
        shows(&[("package.json", scripts), ("pnpm-lock.yaml", "")]),
        ["tests pass: pnpm run test", "lint is clean: pnpm run lint"]
    );
    let empty = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
    assert_eq!(shows(&[("package.json", empty)]), [""; 0]);
    assert_eq!(
        shows(&[("pyproject.toml", "[tool.ruff]\n"), ("uv.lock", "")]),
        ["tests pass: uv run pytest", "ruff is clean: uv run ruff check ."]
    );
    assert_eq!(shows(&[("go.mod", "module x\n")])[0], "tests pass: go test ./...");
    assert_eq!(
        shows(&[("Makefile", "X := 1\nlint:\n\tl\ntest: all\n\tt\ncheck := 2\n")]),
        ["tests pass: make test", "lint is clean: make lint"]
    );
    assert_eq!(shows(&[("justfile", "test:\n  t\n")]), ["tests pass: just test"]);
}

#[test]
fn what_pipelines_run_is_a_hint() {
    let workflow =
        "jobs:\n  a:\n    steps:\n      - run: tox run test\n      - run: echo $SECRET test\n";
    assert_eq!(shows(&[(".github/workflows/ci.yml", workflow)]), ["tox run test"]);
}
