use super::*;

const SCRIPT: &str = r#"use std::env;
fn main() {
    let here = var("CARGO_MANIFEST_DIR").unwrap();
    let date = "today";
    println!("cargo:rustc-env=GOLDEN_DIR={here}/golden");
    if var("TARGET").unwrap().starts_with("wasm") {
        println!("cargo::rustc-cfg=emulated");
    }
    println!("cargo:rustc-env=DATE={date}");
    let mut cases = String::new();
    for line in lines() {
        cases += line;
    }
    std::fs::write(format!("{}/cases.rs", var("OUT_DIR").unwrap()), cases).unwrap();
}

fn lines() -> Vec<&'static str> {
    vec!["a", "b"]
}
"#;

fn told() -> BTreeSet<String> {
    ["GOLDEN_DIR", "emulated", "cases.rs", "CARGO_MANIFEST_DIR", "test"].map(String::from).into()
}

fn judged(text: &str) -> Judging {
    judging(text, &told()).expect("a script")
}

fn is_kept(today: &str) -> bool {
    judged(SCRIPT).is_kept_by(&judged(today))
}

#[test]
fn what_the_work_is_told_is_work() {
    for (from, to) in [
        (r#""today""#, r#""tomorrow""#),
        (r#"println!("cargo:rustc-env=DATE"#, r#"cc::build(); println!("cargo:rustc-env=DAY"#),
        ("use std::env;", "use std::env;\n// A note.\nfn other() {}"),
    ] {
        let today = SCRIPT.replace(from, to);
        assert!(today != SCRIPT && is_kept(&today), "{today}");
    }
}

#[test]
fn what_tests_are_told_is_put_back_into_todays_script() {
    for (from, to) in [
        ("{here}/golden", "{here}/other"),
        (r#"let here = var("CARGO_MANIFEST_DIR").unwrap();"#, r#"let here = "/tmp";"#),
        (r#"starts_with("wasm")"#, "contains('-')"),
        ("cases += line;", "drop(line);"),
        (r#"vec!["a", "b"]"#, r#"vec!["a"]"#),
        ("    let here", "    if true { return; }\n    let here"),
        ("let date", "println!(\"cargo:rustc-env=CARGO_MANIFEST_DIR=/tmp\");\n    let date"),
    ] {
        let today = SCRIPT.replace(from, to).replace("\"today\"", "\"tomorrow\"");
        assert!(!is_kept(&today), "{today}");
        let restored = restore(SCRIPT, &today, &told()).expect("a script");
        assert!(is_kept(&restored) && restored.contains("tomorrow"), "{restored}");
    }
}

#[test]
fn a_script_that_is_new_tells_tests_nothing_at_the_start() {
    let restored = restore("", SCRIPT, &told()).expect("a script");
    assert!(judged(&restored).is_empty(), "{restored}");
    assert!(restored.contains("rustc-env=DATE"), "{restored}");
    assert!(judged("fn main() {}").is_empty());
}

#[test]
fn functions_that_tell_judge() {
    let more = "fn more() {\n    println!(\"cargo:rustc-cfg=emulated\");\n}\n\nfn lines()";
    let script = SCRIPT.replace("fn lines()", more);
    assert!(is_kept(&script), "nobody calls it");
    let called = script.replace("fn main() {", "fn main() {\n    more();");
    assert!(!is_kept(&called));
    let restored = restore(SCRIPT, &called, &told()).expect("a script");
    assert!(is_kept(&restored), "{restored}");
}
