//! Examples in Rust documentation, which `cargo test` compiles and runs.
//!
//! Such an example uses the crate from outside, so it judges the same wherever it stands: one of
//! the start that today's text lacks is put behind the text, on an item of its own.

use std::collections::BTreeSet;

use super::rust_tokens::{TokenKind, tokens};

/// The examples of a text that are run, each in one form.
pub(super) fn examples(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut lines: Vec<String> = Vec::new();
    for token in tokens(source) {
        match (token.kind == TokenKind::Comment).then(|| doc_lines(token.text(source))).flatten() {
            Some(own) => lines.extend(own),
            None => collect(&std::mem::take(&mut lines), &mut found),
        }
    }
    collect(&lines, &mut found);
    found
}

/// The text with these examples behind it.
pub(super) fn with_examples<'e>(text: &str, examples: impl Iterator<Item = &'e String>) -> String {
    let mut text = text.to_string();
    for (number, example) in examples.enumerate() {
        text.push('\n');
        for line in example.lines() {
            text.push_str(format!("/// {line}").trim_end());
            text.push('\n');
        }
        let item = format!("#[cfg(doctest)]\npub struct ExampleOfTheStart{number};\n");
        text.push_str(&item);
    }
    text
}

/// The lines of a comment, where it is documentation.
fn doc_lines(comment: &str) -> Option<Vec<String>> {
    let is_line =
        (comment.starts_with("///") && !comment.starts_with("////")) || comment.starts_with("//!");
    if is_line {
        return Some(vec![plain(&comment[3..])]);
    }
    let is_block =
        (comment.starts_with("/**") && !comment.starts_with("/***")) || comment.starts_with("/*!");
    let inner = comment.get(3..).filter(|_| is_block)?.strip_suffix("*/")?;
    let bare = |line: &str| {
        let line = line.trim_start();
        plain(line.strip_prefix('*').unwrap_or(line))
    };
    Some(inner.lines().map(bare).collect())
}

fn plain(line: &str) -> String {
    line.strip_prefix(' ').unwrap_or(line).trim_end().into()
}

/// Adds the fenced examples of one piece of documentation.
pub(super) fn collect(lines: &[String], found: &mut BTreeSet<String>) {
    let mut open: Option<(&str, String)> = None;
    for line in lines {
        let bare = line.trim_start();
        match &mut open {
            None => {
                let fence = ["```", "~~~"].into_iter().find(|fence| bare.starts_with(fence));
                open = fence.map(|fence| {
                    let info = bare.trim_start_matches(['`', '~']).trim();
                    (fence, format!("```{info}\n"))
                });
            }
            Some((fence, text)) if bare.starts_with(*fence) => {
                text.push_str("```");
                let text = std::mem::take(text);
                open = None;
                found.extend(is_run(&text).then_some(text));
            }
            Some((_, text)) => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
}

/// Whether rustdoc runs the example, or expects that it does not compile.
fn is_run(example: &str) -> bool {
    const WORDS: [&str; 6] =
        ["rust", "should_panic", "compile_fail", "test_harness", "standalone", "standalone_crate"];
    let info = example.lines().next().unwrap_or_default().trim_start_matches('`');
    let mut words = info.split([',', ' ', '\t', '{', '}']).filter(|word| !word.is_empty());
    words.all(|word| WORDS.contains(&word) || word.starts_with("edition") || is_code(word))
}

/// `E0308`
fn is_code(word: &str) -> bool {
    word.strip_prefix('E')
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "//! Leases.\n//!\n//! ```\n//! assert!(true);\n//! ```\n\
        /// One.\n///\n/// ```rust,should_panic\n/// panic!();\n/// ```\n\
        /// ```text\n/// not code\n/// ```\n/// ```no_run\n/// run();\n/// ```\nfn one() {}\n\
        const A: &str = \"\n/// ```\n/// no\n/// ```\n\";\n\
        /**\n * ```\n * two();\n * ```\n */\nfn two() {}\n";

    #[test]
    fn examples_that_run_are_found_in_documentation_only() {
        let found: Vec<String> = examples(TEXT).into_iter().collect();
        let wanted = [
            "```\nassert!(true);\n```",
            "```\ntwo();\n```",
            "```rust,should_panic\npanic!();\n```",
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn an_example_that_was_put_back_is_found_again() {
        let all = examples(TEXT);
        let restored = with_examples("pub fn other() {}\n", all.iter());
        assert_eq!(examples(&restored), all);
    }
}
