//! Pages in Markdown that are documentation of Rust: their examples that are run. The text around
//! them is work.

use std::collections::BTreeSet;

use super::Judging;
use super::rust_docs::collect;

pub(super) fn judging(text: &str) -> Judging {
    Judging { sections: Vec::new(), members: examples(text) }
}

/// Today's page, with the examples of the start that it lacks behind it.
pub(super) fn restore(original: &str, today: &str) -> String {
    let kept = examples(today);
    let mut text = today.to_string();
    for example in examples(original).difference(&kept) {
        text.push_str("\n\n");
        text.push_str(example);
        text.push('\n');
    }
    text
}

fn examples(text: &str) -> BTreeSet<String> {
    let lines: Vec<String> = text.lines().map(|line| line.trim_end().to_string()).collect();
    let mut found = BTreeSet::new();
    collect(&lines, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::{judging, restore};

    const PAGE: &str = "# a\n\n```rust\nassert!(a());\n```\n\n```sh\ncargo add a\n```\n";

    #[test]
    fn an_example_that_is_not_run_any_more_is_put_back() {
        for today in [
            PAGE.replace("```rust", "```rust,no_run"),
            PAGE.replace("assert!", "# return;\nassert!"),
            "# a\n\nGone.".to_string(),
        ] {
            assert!(!judging(PAGE).is_kept_by(&judging(&today)), "{today}");
            let restored = restore(PAGE, &today);
            assert!(restored.starts_with(&today), "{restored}");
            assert!(judging(PAGE).is_kept_by(&judging(&restored)), "{restored}");
        }
    }

    #[test]
    fn the_text_around_examples_and_more_of_them_are_work() {
        let today =
            PAGE.replace("# a", "# A title\n\n```\nassert!(b());\n```").replace("add a", "add b");
        assert!(judging(PAGE).is_kept_by(&judging(&today)), "{today}");
        assert_eq!(restore(PAGE, &today), today);
    }
}
