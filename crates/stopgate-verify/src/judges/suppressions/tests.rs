use std::path::Path;

use super::super::tests::{Scene, criterion};
use super::{KnownDirectives, known_directives, may_be_silenced, says_made, unsilenced};

/// What is left of a text for a check with this command; `None` where nothing new silences it.
fn left(command: &str, path: &str, text: &str) -> Option<String> {
    let scene = Scene::new("a.txt");
    let set = scene.set(&criterion("lint", command));
    let path = Path::new(path);
    // No source of ours has the attribute itself, not even in a text.
    let text = text.replace("ALLOW(", "allow(");
    let found = may_be_silenced(&set, path)
        .then(|| unsilenced(&set, path, &text, &KnownDirectives::default()));
    found.flatten().map(|found| found.text.replace("allow(", "ALLOW("))
}

#[test]
fn comments_that_switch_a_tool_off_for_a_file_are_left_out() {
    for (command, path, text, rest) in [
        (
            "shellcheck *.sh",
            "a.sh",
            "#!/bin/sh\n# shellcheck disable=all\n\na=$1\n",
            "#!/bin/sh\n\na=$1\n",
        ),
        (
            "shellcheck a",
            "a",
            "#!/bin/sh\n\n# shellcheck shell=sh disable=SC1000-SC9999 # x\n\na\n",
            "#!/bin/sh\n\na\n",
        ),
        ("eslint .", "a.js", "/* eslint-disable */\nlet a;\n", "let a;\n"),
        (
            "eslint .",
            "a.ts",
            "import b;\n/* eslint-disable -- later */\nlet a;\n/* eslint-enable */\n",
            "import b;\nlet a;\n/* eslint-enable */\n",
        ),
        ("eslint .", "a.js", "/* eslint-disable */ let a;\n", "let a;\n"),
        (
            "npx tsc --noEmit",
            "a.ts",
            "/*\n * Text.\n */\n// @ts-nocheck for now\nlet a;\n",
            "/*\n * Text.\n */\nlet a;\n",
        ),
        ("npx stylelint .", "a.css", "/* stylelint-disable */\na {}\n", "a {}\n"),
        (
            "flake8",
            "a.py",
            "\"\"\"Text.\"\"\"\n# flake8: NOQA\nimport a\n",
            "\"\"\"Text.\"\"\"\nimport a\n",
        ),
        ("ruff check .", "a.py", "# ruff: noqa\n\nimport a\n", "import a\n"),
        ("pylint a", "a.py", "import a\n# pylint: skip-file\n", "import a\n"),
        ("pylint a", "a.py", "# pylint: disable=all\nimport a\n", "import a\n"),
        ("mypy .", "a.py", "# mypy: ignore-errors\nimport a\n", "import a\n"),
        ("mypy .", "a.py", "# type: ignore\nimport a\n", "import a\n"),
        ("golangci-lint run", "a.go", "//nolint:all // old\npackage a\n", "package a\n"),
        ("rubocop", "a.rb", "# rubocop:disable all\na\n", "a\n"),
        (
            "markdownlint .",
            "a.md",
            "# A\n\n<!-- markdownlint-disable -->\n\nText\n",
            "# A\n\nText\n",
        ),
        ("yamllint .", "a.yml", "# yamllint disable\na: 1\n", "a: 1\n"),
        (
            "cargo clippy -- -D warnings",
            "src/lib.rs",
            "#![ALLOW(clippy::all, dead_code)]\nfn a() {}\n",
            "#![ALLOW(dead_code)]\nfn a() {}\n",
        ),
        (
            "cargo clippy",
            "src/lib.rs",
            "//! A.\n#![ALLOW(\n    warnings,\n)]\n\nfn a() {}\n",
            "//! A.\n\nfn a() {}\n",
        ),
    ] {
        assert_eq!(left(command, path, text).as_deref(), Some(rest), "{command}: {text}");
    }
}

#[test]
fn one_rule_one_line_and_other_tools_are_left_alone() {
    for (command, path, text) in [
        ("shellcheck *.sh", "a.sh", "#!/bin/sh\n# shellcheck disable=SC2086,SC2034\na=$1\n"),
        ("shellcheck *.sh", "a.sh", "#!/bin/sh\nb\n# shellcheck disable=all\na=$1\n"),
        ("shfmt -d .", "a.sh", "#!/bin/sh\n# shellcheck disable=all\na=$1\n"),
        ("eslint .", "a.js", "/* eslint-disable no-console */\nlet a;\n"),
        ("eslint .", "a.js", "/* eslint-disable */\nlet a;\n/* eslint-enable */\nlet b;\n"),
        ("eslint .", "a.js", "const head = `\n/* eslint-disable */\n`;\n"),
        ("eslint .", "a.js", "a(); // eslint-disable-line\n// eslint-disable-next-line\nb();\n"),
        ("npx tsc", "a.ts", "// @ts-expect-error they lack types\nlet a;\n"),
        ("flake8", "a.py", "import a  # noqa\n# flake8: noqa: E501\n"),
        ("flake8", "a.py", "TEXT = \"\"\"\n# flake8: noqa\n\"\"\"\n"),
        (
            "pylint a",
            "a.py",
            "# pylint: disable=too-many-lines\ndef a():\n    # pylint: disable=all\n    b\n",
        ),
        ("mypy .", "a.py", "# mypy: disallow-untyped-defs\nimport a  # type: ignore\n"),
        ("golangci-lint run", "a.go", "package a\n\n//nolint:all\nfunc a() {}\n"),
        ("markdownlint .", "a.md", "<!-- markdownlint-disable MD013 -->\nText\n"),
        ("cargo clippy", "src/lib.rs", "#![ALLOW(dead_code)]\n#[ALLOW(clippy::all)]\nfn a() {}\n"),
        ("cargo clippy", "tools/a.py", "#![ALLOW(warnings)]\n"),
    ] {
        assert_eq!(left(command, path, text), None, "{command}: {text}");
    }
}

#[test]
fn pragmas_count_up_to_the_end_of_a_file() {
    let ignored = |name: &str| format!("#pragma GCC diagnostic ignored \"{name}\"\n");
    let code = "int a;\n";
    let all = format!("{}{code}", ignored("-Wall"));
    assert_eq!(left("make", "a.c", &all).as_deref(), Some(code));
    let three: String = ["-Wa", "-Wb", "-Wc"].into_iter().map(ignored).collect();
    assert_eq!(left("make", "a.c", &format!("{three}{code}")).as_deref(), Some(code));
    let around =
        format!("#pragma GCC diagnostic push\n{three}#include <a.h>\n#pragma GCC diagnostic pop\n");
    assert_eq!(left("make", "a.c", &format!("{around}{code}")), None);
    let whole = around.replace("#include <a.h>\n", code);
    assert!(left("make", "a.c", &whole).is_some());
    assert_eq!(left("make", "a.c", &format!("{}{}{code}", ignored("-Wa"), ignored("-Wb"))), None);
}

#[test]
fn what_was_there_at_the_start_is_known() {
    let scene = Scene::new(
        "
        old/a.py = # flake8: noqa\\nimport a
        old/b.py = import b
        new/c.py = import c
        ",
    );
    let set = scene.set(&criterion("lint", "flake8"));
    let text = "# flake8: noqa\nimport b\n";
    let is_told = |path: &str, gone: &str| {
        let path = Path::new(path);
        let known = known_directives(&set, path, &|own| own == Path::new(gone)).expect("noted");
        unsilenced(&set, path, text, &known).is_some()
    };
    assert!(!is_told("old/a.py", "") && !is_told("old/b.py", ""));
    assert!(is_told("new/c.py", ""));
    assert!(!is_told("new/c.py", "old/a.py"), "it was moved there");
    assert!(says_made("// Code generated by x. DO NOT EDIT.\n") && !says_made("import a\n"));
}
