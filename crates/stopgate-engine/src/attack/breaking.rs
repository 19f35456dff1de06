//! Breaks a project's work mechanically, so that its check has something to find.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::apply::{Grounds, is_installed, prepended};

const WHY: &str = "broken for an attack";
/// Words that begin a block which is not a function.
const NOT_FUNCTIONS: [&str; 10] =
    ["if", "for", "while", "switch", "catch", "else", "class", "return", "do", "try"];
const SOURCES: [&str; 18] = [
    "py", "js", "mjs", "cjs", "ts", "tsx", "jsx", "rs", "go", "c", "cc", "cpp", "rb", "sh", "bash",
    "h", "hpp", "lua",
];

/// Files whose breaking may make a check fail, the likeliest first, with their broken text.
pub(super) fn candidates(grounds: &Grounds, judges: &[PathBuf]) -> Vec<(PathBuf, String)> {
    let mut paths: Vec<&PathBuf> = grounds
        .files
        .iter()
        .filter(|path| !judges.contains(path) && !is_installed(path) && is_source(path))
        .filter(|path| path.file_name().is_some_and(|name| name != "build.rs"))
        .collect();
    // What the command names may be what exploits edit.
    paths.sort_by_key(|path| {
        (grounds.is_named(path), path.components().count(), path.as_os_str().len())
    });
    let broken = |path: &PathBuf| {
        let text = grounds.text(path)?;
        Some((path.clone(), broken(path, &text)?))
    };
    let sources = paths.into_iter().filter_map(broken);
    let plain = grounds.files.iter().filter(|path| {
        let is_plain = matches!(extension(path), "txt" | "csv" | "html" | "css" | "");
        let is_hidden = path.to_str().is_some_and(|path| path.starts_with('.'));
        is_plain && !is_hidden && !judges.contains(path) && !is_installed(path)
    });
    let plain = plain.filter(|path| grounds.text(path).is_some());
    sources.chain(plain.map(|path| (path.clone(), format!("{WHY}\n")))).collect()
}

fn is_source(path: &Path) -> bool {
    SOURCES.contains(&extension(path))
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|end| end.to_str()).unwrap_or_default()
}

/// A text whose functions do nothing but fail.
fn broken(path: &Path, text: &str) -> Option<String> {
    let changed = match extension(path) {
        "py" => python(text),
        "js" | "mjs" | "cjs" | "ts" | "tsx" | "jsx" => {
            braces(text, is_javascript, || format!("throw new Error('{WHY}');"))
        }
        "rs" => rust(text),
        "go" => braces(
            text,
            |line| line.starts_with("func "),
            || format!("if true {{ panic(\"{WHY}\") }}"),
        ),
        "c" | "cc" | "cpp" | "h" | "hpp" => braces(
            text,
            |line| !line.starts_with([' ', '\t', '#', '/']) && line.contains('('),
            || "__builtin_trap();".into(),
        ),
        "sh" | "bash" => prepended(text, "exit 3\n"),
        _other => return None,
    };
    Some(changed).filter(|changed| changed != text)
}

fn python(text: &str) -> String {
    let mut out = String::new();
    let mut head: Option<usize> = None;
    for line in text.lines() {
        out.push_str(line);
        out.push('\n');
        let bare = line.trim_start();
        if bare.starts_with("def ") || bare.starts_with("async def ") {
            head = Some(line.len() - bare.len());
        }
        if let Some(indent) = head
            && line.trim_end().ends_with(':')
        {
            let _ = writeln!(out, "{}raise RuntimeError(\"{WHY}\")", " ".repeat(indent + 4));
            head = None;
        }
    }
    if out.contains(WHY) { out } else { format!("raise SystemExit(3)\n{text}") }
}

fn rust(text: &str) -> String {
    let (work, tests) = match text.find("#[cfg(test)]") {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let is_function = |line: &str| {
        let bare = line.trim_start();
        let is_comment = bare.starts_with("//");
        !is_comment
            && (bare.starts_with("fn ") || bare.contains(" fn "))
            && !bare.contains("const fn")
    };
    let broken = braces(work, is_function, || {
        format!("if std::hint::black_box(true) {{ panic!(\"{WHY}\") }}")
    });
    format!("{broken}{tests}")
}

/// Puts a statement behind the opening brace of every function.
fn braces(text: &str, is_head: impl Fn(&str) -> bool, statement: impl Fn() -> String) -> String {
    let mut out = String::new();
    let mut pending = false;
    for line in text.lines() {
        let end = line.trim_end();
        pending |= is_head(line);
        out.push_str(line);
        out.push('\n');
        if pending && end.ends_with('{') {
            out.push_str(&statement());
            out.push('\n');
            pending = false;
        } else if end.ends_with(';') || end.ends_with('}') {
            pending = false;
        }
    }
    out
}

fn is_javascript(line: &str) -> bool {
    let bare = line.trim_start();
    let first = bare.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let is_method =
        bare.ends_with(") {") && !NOT_FUNCTIONS.contains(&first) && !bare.starts_with('}');
    bare.contains("function ") || bare.contains("function(") || bare.ends_with("=> {") || is_method
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::broken;

    #[test]
    fn functions_of_every_language_fail() {
        for (path, text, has) in [
            ("a.py", "def f(\n    a,\n):\n    return a\n", "):\n    raise RuntimeError"),
            ("a.py", "print(1)\n", "raise SystemExit(3)\n"),
            ("a.js", "export function f(a) {\n  if (a) {\n  }\n}\n", "f(a) {\nthrow new"),
            ("a.rs", "pub fn f() -> u8 {\n    1\n}\n", "u8 {\nif std::hint"),
            ("a.go", "func F() int {\n\treturn 1\n}\n", "int {\nif true"),
            ("a.c", "int f(void) {\n  return 1;\n}\n", "(void) {\n__builtin_trap"),
            ("a.sh", "#!/bin/sh\necho hi\n", "#!/bin/sh\nexit 3\n"),
        ] {
            let found = broken(Path::new(path), text).expect("it can be broken");
            assert!(found.contains(has), "{path}: {found}");
        }
    }

    #[test]
    fn tests_inside_rust_sources_are_left_alone() {
        let text = "fn f() {\n}\n#[cfg(test)]\nmod tests {\n    fn g() {\n    }\n}\n";
        let found = broken(Path::new("a.rs"), text).expect("it can be broken");
        assert_eq!(found.matches("panic!").count(), 1, "{found}");
    }
}
