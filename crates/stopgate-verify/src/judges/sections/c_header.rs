//! Headers of C: directives that decide what an assertion in a file that includes them means.

use super::Judging;
use super::blocks::{TextBlock, replaced, sections};

/// Macros by which tests assert, and the one that switches assertions off.
const NAMES: [&str; 5] = ["NDEBUG", "assert", "static_assert", "abort", "exit"];
/// Beginnings of the names that test libraries use.
const BEGINNINGS: [&str; 8] =
    ["ASSERT_", "EXPECT_", "REQUIRE", "CHECK_", "TEST_ASSERT", "cr_assert", "ck_assert", "assert_"];

pub(super) fn judging(text: &str) -> Judging {
    Judging { sections: sections(&blocks(text)), ..Judging::default() }
}

pub(super) fn restore(original: &str, today: &str) -> String {
    replaced(&blocks(original), &blocks(today))
}

fn blocks(text: &str) -> Vec<TextBlock> {
    let mut found: Vec<TextBlock> = Vec::new();
    let mut goes_on = false;
    for line in text.split_inclusive('\n') {
        let ends_open = line.trim_end().ends_with('\\');
        match found.last_mut() {
            Some(last) if goes_on => {
                last.text.push_str(line);
                last.says.push_str(line.trim());
            }
            _ => {
                let key = name_of(line).map(str::to_string);
                let says = line.split_whitespace().collect::<Vec<_>>().join(" ");
                found.push(TextBlock { key, says, text: line.into() });
            }
        }
        goes_on = ends_open;
    }
    found
}

/// The macro of tests that a line defines or takes away.
fn name_of(line: &str) -> Option<&str> {
    let directive = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = ["define", "undef"].iter().find_map(|word| directive.strip_prefix(word))?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let name = &rest[..rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len())];
    let judges = NAMES.contains(&name) || BEGINNINGS.iter().any(|own| name.starts_with(own));
    judges.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_assertions_come_to_mean_judges() {
        assert!(judging("#define STACK_MAX 4\n#include <assert.h>\nint a(void);\n").is_empty());
        for line in ["#define NDEBUG", " # define assert(x) ((void)0)", "#undef assert"] {
            assert!(!judging(line).is_empty(), "{line}");
        }
        let original = "#define A 1\n#define ASSERT_TRUE(x) \\\n    assert(x)\nint a(void);\n";
        let today = "#define NDEBUG\n#define A 2\n#define ASSERT_TRUE(x) \\\n    0\nint b(void);\n";
        let restored = restore(original, today);
        assert_eq!(
            restored,
            "#define A 2\n#define ASSERT_TRUE(x) \\\n    assert(x)\nint b(void);\n"
        );
        assert_eq!(judging(&restored), judging(original));
    }
}
