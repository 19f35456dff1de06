use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;

use super::find;

const FILES: [&str; 9] = [
    "src/a.rs",
    "src/b.rs",
    "tests/t.py",
    "a.c",
    "web/a.ts",
    "web/a.js",
    "Makefile",
    "target/x.rs",
    "node_modules/m/i.js",
];

fn project() -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    for name in FILES {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("make it");
        fs::write(path, "").expect("write it");
    }
    directory
}

#[track_caller]
fn check(output: &str, expected: &[&str]) {
    let directory = project();
    let root = directory.path().display().to_string();
    let output = output.replace("$ROOT", &root);
    assert_eq!(find(&output, directory.path(), 10), expected, "{output}");
}

#[test]
fn compilers_say_where() {
    check(
        "warning: unused\n --> src/b.rs:1:2\n  |\n\nerror[E0425]: no\n --> src/a.rs:12:5\n  |\n\
         note: here\n --> src/b.rs:9:9\n",
        &["src/a.rs:12", "src/b.rs:9", "src/b.rs:1"],
    );
    check("a.c:3:5: error: no\na.c:9: warning: odd\n", &["a.c:3", "a.c:9"]);
    check(
        "web/a.ts(3,5): error TS2322: no\nweb/a.ts:7:1 - error TS1: no\n",
        &["web/a.ts:3", "web/a.ts:7"],
    );
    check("# x\n./a.c:5:2: undefined: x\n", &["a.c:5"]);
    check("Makefile:4: *** missing separator\n", &["Makefile:4"]);
}

#[test]
fn tests_say_where() {
    check("thread 'a' (12) panicked at src/a.rs:5:9:\n", &["src/a.rs:5"]);
    check("tests/t.py:12: AssertionError\n", &["tests/t.py:12"]);
    check("  File \"$ROOT/tests/t.py\", line 3, in f\n    x()\n", &["tests/t.py:3"]);
    check(
        "    at Object.toBe (web/a.js:3:5)\n    at f (file://$ROOT/web/a.js:8:5)\n",
        &["web/a.js:3", "web/a.js:8"],
    );
    check(" \u{1b}[36m❯\u{1b}[39m web/a.js:\u{1b}[2m2:82\u{1b}[22m\n", &["web/a.js:2"]);
    check("   at Demo.Adds() in $ROOT/a.c:line 12\n", &["a.c:12"]);
    check("    tests/t.py:9: got 1\n", &["tests/t.py:9"]);
}

#[test]
fn linters_name_a_file_and_then_its_lines() {
    check(
        "\n$ROOT/web/a.js\n  3:5  warning  odd  r\n  7:1  error  'x' is not defined  no-undef\n\n\
         $ROOT/web/a.ts\n  1:1  error  no  r\n",
        &["web/a.js:7", "web/a.ts:1", "web/a.js:3"],
    );
}

#[test]
fn only_own_files_that_are_there_count() {
    check(
        "target/x.rs:1:1: error\nnode_modules/m/i.js:1:1\nsrc/gone.rs:3:1\n/etc/passwd:1: x\n../a.c:1:1\n",
        &[],
    );
    check("at 12:30:59 src/a.rs:2 and src/a.rs:2 again\n", &["src/a.rs:2"]);
    check("src/a.rs:0: x, http://a.b:80/c", &[]);
    let directory = project();
    let many: Vec<String> = (1..50).map(|n| format!("src/a.rs:{n}: error")).collect();
    let many = many.join("\n");
    assert_eq!(find(&many, directory.path(), 3), ["src/a.rs:1", "src/a.rs:2", "src/a.rs:3"]);
}

proptest! {
    #[test]
    fn no_text_is_too_odd(text in any::<String>(), other in "[a./:(),0-9é\" \\n-]{0,80}") {
        let _ = find(&text, Path::new("/nowhere"), 5);
        let _ = find(&other, Path::new("/nowhere"), 5);
    }
}
