//! What holds for every text: nothing panics, the original judges, and the work survives.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{SectionReach, judging, restore};
use crate::judges::role::MixedKind;

const KINDS: [MixedKind; 18] = [
    MixedKind::Pyproject,
    MixedKind::SetupCfg,
    MixedKind::ToxIni,
    MixedKind::PackageJson,
    MixedKind::CargoToml,
    MixedKind::GoMod,
    MixedKind::GoWork,
    MixedKind::Makefile,
    MixedKind::Justfile,
    MixedKind::RustSource,
    MixedKind::BuildScript,
    MixedKind::RustPage,
    MixedKind::PythonSource,
    MixedKind::VitestSource,
    MixedKind::Environment,
    MixedKind::CHeader,
    MixedKind::ShellLibrary,
    MixedKind::Page,
];

fn reach() -> SectionReach {
    let set =
        |words: &[&str]| -> BTreeSet<String> { words.iter().map(ToString::to_string).collect() };
    SectionReach {
        tools: set(&["pytest", "jest", "npm", "cargo", "go", "make", "just"]),
        names: set(&["test", "lint", "$FLAGS", "$flags"]),
        commands: set(&["test", "lint"]),
        settings: set(&["own"]),
        is_open: false,
    }
}

const GO_WORK: [&str; 6] =
    ["go 1.work1", "use a", "use (\n\tb // x\n\tc\n)", "replace a => b", "toolchain go1", ")"];

const ENVIRONMENT: [&str; 5] =
    ["PATH=a", "work1=b", "export NODE_OPTIONS=c", "# work2", "PYTHONPATH = d"];

const PYTHON: [&str; 6] = [
    "def work1():\n    pass",
    "\"\"\"\n>>> 1\n1\n\"\"\"",
    "'''\n    >>> 2\n    2\n\n    text\n'''",
    "r\"\"\" >>> 3\"\"\"",
    "# work2 \"\"\" >>> 4",
    "work3 = 'a\\'b'",
];

const C_HEADER: [&str; 5] = [
    "#define NDEBUG",
    "#define work1 1",
    "#define assert(x) \\\n  y",
    "int work2;",
    "#undef assert",
];

const VITEST: [&str; 5] = [
    "export const work1 = 1;",
    "if (import.meta.vitest) {\n  a();\n}",
    "if (import.meta.vitest) { b(); }",
    "  if (import.meta.vitest) {\n    c();\n  }",
    "function work2() {\n}",
];

const SHELL: [&str; 5] =
    ["test() {\n  a\n}", "work1() {\n  b\n}", "function lint {\n  c\n}", "alias test=d", "work2=1"];

const BUILD: [&str; 6] = [
    "fn main() {\n    work1();\n}",
    "fn main() {\n    println!(\"cargo:rustc-cfg=test\");\n    work2();\n}",
    "fn main() {\n    let a = 1;\n    println!(\"cargo:rustc-env=lint={a}\");\n}",
    "fn work3() {}",
    "fn a() {\n    println!(\"cargo:rustc-cfg=lint\");\n}",
    "}",
];

const RUST_PAGE: [&str; 4] =
    ["# work1", "```\na();\n```", "```rust,no_run\nwork2();\n```", "~~~rust\nb();\n~~~"];

const PAGE: [&str; 6] =
    ["```test\na\n```", "~~~lint\nb\n~~~", "work1", "```work2\nc\n```", "```text\na\n```", "```"];

/// Lines that mean something in each kind of file; work has `work` in it.
fn lines(kind: MixedKind) -> &'static [&'static str] {
    match kind {
        MixedKind::Pyproject => &[
            "[tool.pytest.ini_options]\naddopts = 'a'",
            "[tool.pytest.ini_options]\naddopts = 'b'",
            "[tool.coverage.run]\nx = 1",
            "[project]\nname = 'work1'",
            "[tool.work2]\ny = 2",
            "[project.entry-points.pytest11]\na = 'b'",
            "[[tool.work3]]\nz = 1",
        ],
        MixedKind::CargoToml => &[
            "[package]\nname = 'work1'",
            "[[test]]\nname = 'a'",
            "[[test]]\nname = 'b'",
            "[profile.dev]\ndebug = 1",
            "[dependencies]\nwork2 = '1'",
            "[lib]\ntest = false",
            "[lib]\npath = 'c'",
            "[lib]\nname = 'work3'",
            "[[bin]]\nname = 'work4'",
            "[[bin]]\nname = 'b'\ntest = false",
            "[workspace]\nmembers = ['a']",
            "[workspace]\nmembers = ['b']",
            "[lints.rust]\nx = 'y'",
        ],
        MixedKind::SetupCfg | MixedKind::ToxIni => &[
            "[tool:pytest]\naddopts = a",
            "[pytest]\naddopts = b",
            "[work1]\nx = y",
            "[coverage:run]\na =\n  b\n  c",
            "[options.entry_points]\nwork2 =\n  x = y",
            "[options.entry_points]\npytest11 =\n  x = y",
            "# comment",
            "[work3]\na = 1",
        ],
        MixedKind::PackageJson => &[
            "\"name\": \"work1\"",
            "\"scripts\": {\"test\": \"a\"}",
            "\"scripts\": {\"test\": \"b\", \"work2\": \"c\"}",
            "\"jest\": {\"a\": [1, {\"b\": 2}]}",
            "\"scripts\": {\"work3\": \"x\\\"}\"}",
            "\"workspaces\": [\"a\"]",
            "\"overrides\": {}",
            "\"workspaces\": {\"packages\": [\"b\"]}",
            "\"scripts\": 1",
        ],
        MixedKind::PythonSource => &PYTHON,
        MixedKind::Environment
        | MixedKind::GoMod
        | MixedKind::GoWork
        | MixedKind::CHeader
        | MixedKind::ShellLibrary
        | MixedKind::Page
        | MixedKind::Makefile
        | MixedKind::Justfile
        | MixedKind::CMakeLists
        | MixedKind::Taskfile
        | MixedKind::RustSource
        | MixedKind::BuildScript
        | MixedKind::RustPage
        | MixedKind::VitestSource => more_lines(kind),
    }
}

fn more_lines(kind: MixedKind) -> &'static [&'static str] {
    match kind {
        MixedKind::Environment => &ENVIRONMENT,
        MixedKind::VitestSource => &VITEST,
        MixedKind::ShellLibrary => &SHELL,
        MixedKind::BuildScript => &BUILD,
        MixedKind::RustPage => &RUST_PAGE,
        MixedKind::Page => &PAGE,
        MixedKind::CHeader => &C_HEADER,
        MixedKind::GoMod => &[
            "module work1",
            "replace a => b",
            "replace (\n\ta => c // x\n)",
            "require work2 v1",
            "require (\n\twork3 v1\n)",
            "toolchain go1",
            "exclude a v1",
            ")",
        ],
        MixedKind::GoWork => &GO_WORK,
        MixedKind::Makefile => &[
            "test: a\n\tb",
            "test:\n\tc \\\n\td",
            "work1:\n\te",
            "FLAGS = 1",
            "FLAGS += 2",
            "work2 = 3",
            "ifdef X",
            "else",
            "endif",
            ".PHONY: test",
            "define FLAGS\na\nendef",
            "# note",
            "lint: ; x",
            "\tloose",
            "SHELL=y",
            "test: v = 1",
            "include work4",
        ],
        MixedKind::Justfile => &[
            "test: lint\n  a {{flags}}",
            "test:\n  b",
            "work1:\n  c",
            "flags := '1'",
            "work2 := '3'",
            "set shell := ['x']",
            "[private]",
            "# work3",
            "alias lint := test",
            "  loose",
        ],
        _ => &[
            "#[cfg(test)]\nmod tests { fn a() {} }",
            "#[cfg(test)]\nmod tests { fn b() {} }",
            "fn work1() { let x = '{'; }",
            "mod inner { #[cfg(test)] fn c() {} fn work2() {} }",
            "#[test]\nfn d() {}",
            "#[cfg(test)]\nuse a::{b, c};",
            "struct S { #[cfg(test)] x: A<B, C>, work3: u8 }",
            "// work4 {",
            "#[cfg(all(test, unix))]\nconst X: [u8; 2] = [1, 2];",
            "mod inner {}",
            "/// ```\n/// e();\n/// ```\nfn work5() {}",
            "macro_rules! assert { () => {} }",
        ],
    }
}

fn document(kind: MixedKind) -> impl Strategy<Value = String> {
    let line = proptest::sample::select(lines(kind));
    let (begin, joint, end) = match kind {
        MixedKind::PackageJson => ("{", ",", "}"),
        _ => ("", "\n", "\n"),
    };
    proptest::collection::vec(line, 0..7)
        .prop_map(move |lines| format!("{begin}{}{end}", lines.join(joint)))
}

fn works(text: &str) -> BTreeSet<String> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric();
    text.split(|letter| !is_letter(letter))
        .filter(|word| word.starts_with("work"))
        .map(Into::into)
        .collect()
}

fn two_documents() -> impl Strategy<Value = (MixedKind, String, String)> {
    proptest::sample::select(&KINDS[..])
        .prop_flat_map(|kind| (Just(kind), document(kind), document(kind)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_changes_where_nothing_changed((kind, original, _) in two_documents()) {
        if let Ok(restored) = restore(kind, &original, &original, &reach()) {
            prop_assert_eq!(restored, original);
        }
    }

    #[test]
    fn the_original_judges_and_the_work_survives((kind, original, today) in two_documents()) {
        let reach = reach();
        if let Ok(restored) = restore(kind, &original, &today, &reach) {
            let was = judging(kind, &original, &reach).expect("readable");
            let now = judging(kind, &restored, &reach).expect("readable");
            prop_assert!(was.is_kept_by(&now), "{restored}");
            let lost: Vec<String> = works(&today).difference(&works(&restored)).cloned().collect();
            prop_assert!(lost.is_empty(), "{lost:?} of\n{today}\nis not in\n{restored}");
        }
    }

    #[test]
    fn no_text_is_too_odd(original in "\\PC{0,60}", today in any::<String>(), at in 0_usize..12) {
        let kind = KINDS[at];
        let _ = restore(kind, &original, &today, &reach());
        let _ = restore(kind, &today, &original, &reach());
    }

    #[test]
    fn no_torn_text_is_too_odd((kind, original, today) in two_documents(), cut in 0_usize..200) {
        let cut = today.char_indices().map(|(at, _)| at).find(|at| *at >= cut).unwrap_or(today.len());
        let _ = restore(kind, &original, &today[..cut], &reach());
        let _ = restore(kind, &today[cut..], &original, &reach());
    }
}
