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
    let name = name_at(rest);
    is_of_tests(name).then_some(name)
}

fn name_at(text: &str) -> &str {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    &text[..text.find(|letter| !is_letter(letter)).unwrap_or(text.len())]
}

fn is_of_tests(name: &str) -> bool {
    NAMES.contains(&name) || BEGINNINGS.iter().any(|own| name.starts_with(own))
}

/// Whether a definition among flags, `NAME=value`, changes what assertions mean: by their name, or
/// as a macro with parameters, which hardly anything else is given in this way.
pub(super) fn defines_assertions(definition: &str) -> bool {
    let name = name_at(definition);
    let has_parameters = !name.is_empty() && definition[name.len()..].starts_with('(');
    is_of_tests(name) || has_parameters
}

/// Whether a flag of a compiler or linker leaves assertions out, or makes them mean something else.
pub(super) fn silences(flag: &str) -> bool {
    let flag = flag.trim_matches(['"', '\'']);
    let defined = ["-D", "-U"].iter().find_map(|option| flag.strip_prefix(option));
    flag.contains("NDEBUG")
        || flag.contains("--wrap")
        || flag.starts_with("-include")
        || defined.is_some_and(defines_assertions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_may_define_assertions_away() {
        for flag in ["-DNDEBUG", "-UNDEBUG", "-DEXPECT_H", "'-DEXPECT(is,want)='", "-Dassert=x"] {
            assert!(silences(flag), "{flag}");
        }
        for flag in ["-DSTACK_MAX=4", "-O2", "-D_POSIX_C_SOURCE=2", "'-DNAME=\"a(b)\"'", "-D"] {
            assert!(!silences(flag), "{flag}");
        }
    }

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
