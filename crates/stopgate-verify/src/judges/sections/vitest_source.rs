//! Source with tests for vitest in it: `if (import.meta.vitest) { … }`.

use super::Judging;

const HEAD: &str = "if (import.meta.vitest";

/// Whether the text has such tests.
pub(in crate::judges) fn has_tests(text: &str) -> bool {
    text.lines().any(begins)
}

pub(super) fn judging(text: &str) -> Judging {
    let says = |block: Vec<&str>| {
        let lines = block.into_iter().map(str::trim).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join("\n")
    };
    Judging { sections: split(text).1.into_iter().map(says).collect(), ..Judging::default() }
}

/// Today's text with the tests of the original, at its end.
pub(super) fn restore(original: &str, today: &str) -> String {
    let (mut lines, _) = split(today);
    for block in split(original).1 {
        lines.extend(block);
    }
    lines.join("\n") + "\n"
}

fn begins(line: &str) -> bool {
    line.trim_start().starts_with(HEAD)
}

/// The lines that are work, and those of each block of tests: up to a bracket below its beginning.
fn split(text: &str) -> (Vec<&str>, Vec<Vec<&str>>) {
    let (mut work, mut blocks) = (Vec::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if !begins(line) {
            work.push(line);
            continue;
        }
        let depth = line.len() - line.trim_start().len();
        let mut block = vec![line];
        let is_end = |own: &str| own.trim_start().starts_with('}') && own.find('}') == Some(depth);
        let is_whole = line.trim_end().ends_with('}');
        while !is_whole && let Some(own) = lines.next() {
            block.push(own);
            if is_end(own) {
                break;
            }
        }
        blocks.push(block);
    }
    (work, blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORK: &str = "export const one = 1;\n";
    const TESTS: &str =
        "if (import.meta.vitest) {\n  test('one', () => {\n    expect(one).toBe(1);\n  });\n}\n";

    #[test]
    fn tests_in_source_come_back_and_work_stays() {
        let original = format!("{WORK}\n{TESTS}");
        let today = format!("{TESTS}export const two = 2;\n").replace("toBe(1)", "toBe(one)");
        assert!(!judging(&original).is_kept_by(&judging(&today)));
        let restored = restore(&original, &today);
        assert!(judging(&original).is_kept_by(&judging(&restored)), "{restored}");
        assert!(restored.starts_with("export const two = 2;"), "{restored}");
        let indented = original.replace("\n  ", "\n      ");
        assert!(judging(&original).is_kept_by(&judging(&indented)));
    }

    #[test]
    fn tests_in_source_may_be_on_one_line() {
        let text = "if (import.meta.vitest) { test('one', () => {}); }\nexport const two = 2;\n";
        assert!(has_tests(text) && !has_tests(WORK));
        assert!(restore(text, WORK).ends_with("test('one', () => {}); }\n"));
    }
}
