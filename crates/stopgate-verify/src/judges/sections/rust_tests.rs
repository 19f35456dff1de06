//! Rust sources: tests beside the code, and examples in documentation.

use super::tests::check;
use super::{SectionReach, restore};
use crate::judges::role::MixedKind;

const RUST: &str = r##"//! Docs with '{' and "#[cfg(test)]".
use std::fmt;

/// Adds.
pub fn add<'a>(a: &'a u32, b: u32) -> u32 {
    let _ = ('{', "}", r#"#[cfg(test)] mod x {"#, b'{', '\'');
    /* { /* nested */ */
    *a + b
}

mod inner {
    pub fn id() {}

    #[cfg(test)]
    mod tests {
        #[test]
        fn inner_holds() {}
    }
}

pub struct Counter {
    pub count: u32,
    #[cfg(test)]
    seen: std::collections::HashMap<String, u32>,
}

#[cfg(any(test, feature = "x"))]
pub fn shared() {}

#[cfg(test)]
use fmt::Debug;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(&1, 2), 3);
    }
}
"##;

#[test]
fn rust_source() {
    check(
        MixedKind::RustSource,
        &SectionReach::default(),
        RUST,
        &[
            ("=", "*a + b", "a + b"),
            ("=", "pub fn id() {}", "pub fn id() {}\n    pub fn new() {}"),
            ("=", "pub fn shared() {}", "pub fn shared() { todo() }"),
            ("=", "assert_eq!(add(&1, 2), 3);", "// three\n        assert_eq!( add(&1, 2), 3 );"),
            ("=", "use std::fmt;\n", ""),
            ("=", "", "\n#[cfg(not(test))]\nfn x() {}\n"),
            ("!", "assert_eq!(add(&1, 2), 3);", ""),
            ("!", "fn inner_holds() {}", "#[ignore] fn inner_holds() {}"),
            (
                "!",
                "    #[cfg(test)]\n    mod tests {\n        #[test]\n        fn inner_holds() {}\n    }\n",
                "",
            ),
            ("!", "use fmt::Debug;", "use fmt::Display;"),
            ("!", "#[cfg(test)]\nuse fmt::Debug;\n", ""),
            ("!", "    #[cfg(test)]\n    seen: std::collections::HashMap<String, u32>,\n", ""),
            ("!", "#[cfg(test)]\nmod tests {", "#[cfg(any())]\nmod tests {"),
            ("!", "", "\n#[cfg(test)]\nmacro_rules! assert_eq { ($($t:tt)*) => {} }\n"),
            ("!", "", "\n#[test]\nfn more() {}\n"),
            ("!", "", "\n#[macro_export]\nmacro_rules! assert { ($($t:tt)*) => {} }\n"),
            ("=", "", "\nmacro_rules! assert_lease { ($($t:tt)*) => {} }\n"),
            ("=", "", "\n/// ```\n/// assert!(true);\n/// ```\nfn documented() {}\n"),
        ],
    );
}

#[test]
fn rust_examples() {
    check(
        MixedKind::RustSource,
        &SectionReach::default(),
        "/// Adds.\n///\n/// ```\n/// assert_eq!(x::add(1, 2), 3);\n/// ```\nfn add() {}\n",
        &[
            ("=", "Adds.", "Adds two numbers."),
            ("=", "fn add() {}", "fn sum() {}"),
            ("=", "/// Adds.", "/// ```\n/// more();\n/// ```"),
            ("!", "2), 3", "2), 4"),
            ("!", "/// ```\n/// assert", "/// ```no_run\n/// assert"),
            ("!", "/// ```\n/// assert", "/// ```ignore\n/// assert"),
            ("!", "/// assert_eq!(x::add(1, 2), 3);\n", ""),
        ],
    );
}

#[test]
fn rust_tests_come_back_where_they_were() {
    let none = SectionReach::default();
    let start = RUST.rfind("#[cfg(test)]").expect("tests");
    let today = RUST[..start].replace("*a + b", "0").replace("fn inner_holds() {}", "");
    let restored = restore(MixedKind::RustSource, RUST, &today, &none).expect("restored");
    assert!(restored.contains("    0\n"), "{restored}");
    assert_eq!(restored.matches("fn inner_holds() {}").count(), 1, "{restored}");
    assert_eq!(restored.matches("fn adds()").count(), 1, "{restored}");
    let gone = restore(MixedKind::RustSource, RUST, "fn x() {}\n", &none).expect_err("no place");
    assert!(gone.to_string().starts_with("find a place"), "{gone}");
    restore(MixedKind::RustSource, RUST, "fn x( {}\n", &none).expect_err("brackets");
}
