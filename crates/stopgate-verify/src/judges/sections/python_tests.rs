//! Python source: tests beside the code that they are about, in one file.

use std::collections::BTreeMap;

/// Lines from one outermost statement to the next.
struct PythonBlock<'t> {
    /// What the block is called, and which of several, where it is a test.
    key: Option<(String, usize)>,
    text: &'t str,
}

/// Each test of a text in one form.
pub(super) fn tests(text: &str) -> Vec<String> {
    let says = |block: PythonBlock<'_>| {
        let (name, number) = block.key?;
        let lines = block.text.lines().map(str::trim_end).filter(|line| !line.is_empty());
        Some(format!("{name} #{number}: {}", lines.collect::<Vec<_>>().join("\n")))
    };
    let mut found: Vec<String> = blocks(text).into_iter().filter_map(says).collect();
    found.sort_unstable();
    found
}

/// Whether the text has tests and something that they may be about.
pub(in crate::judges) fn is_mixed(text: &str) -> bool {
    let is_definition = |text: &str| {
        let mut lines = text.lines().filter(|line| !line.starts_with('@'));
        let first = lines.next().unwrap_or_default();
        ["class ", "def ", "async def "].iter().any(|word| first.starts_with(word))
    };
    let all = blocks(text);
    let has_tests = all.iter().any(|block| block.key.is_some());
    has_tests && all.iter().any(|block| block.key.is_none() && is_definition(block.text))
}

/// Today's text with the tests of the original.
pub(super) fn restore(original: &str, today: &str) -> String {
    let was: BTreeMap<(String, usize), &str> =
        blocks(original).into_iter().filter_map(|block| Some((block.key?, block.text))).collect();
    let now = blocks(today);
    let is_here = |key: &(String, usize)| now.iter().any(|block| block.key.as_ref() == Some(key));
    let mut lost: Vec<&str> =
        was.iter().filter(|(key, _)| !is_here(key)).map(|(_, text)| *text).collect();
    let mut text = String::new();
    for block in &now {
        if block.text.starts_with("if __name__") {
            lost.drain(..).for_each(|own| push(&mut text, own));
        }
        match &block.key {
            None => push(&mut text, block.text),
            Some(key) => was.get(key).into_iter().for_each(|own| push(&mut text, own)),
        }
    }
    for own in lost {
        push(&mut text, own);
    }
    text
}

fn push(text: &mut String, own: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(own);
}

fn blocks(text: &str) -> Vec<PythonBlock<'_>> {
    let mut starts: Vec<usize> = Vec::new();
    let (mut at, mut open) = (0, None::<&str>);
    let mut is_decorated = false;
    for line in text.split_inclusive('\n') {
        let is_inside = open.is_some();
        open = string_left_open(line, open);
        let is_outermost = !line.starts_with([' ', '\t', '#', ')', ']', '}', '\n', '\r']);
        if is_outermost && !is_inside {
            if !is_decorated {
                starts.push(at);
            }
            is_decorated = line.starts_with('@');
        }
        at += line.len();
    }
    if starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let pieces = starts.iter().zip(ends).filter_map(|(from, to)| text.get(*from..to));
    let block = |text| {
        let key = test_name(text).map(|name| {
            let number = seen.entry(name.clone()).or_default();
            *number += 1;
            (name, *number)
        });
        PythonBlock { key, text }
    };
    pieces.map(block).collect()
}

/// The mark of a string in three quotes that the line leaves open.
fn string_left_open<'m>(line: &str, open: Option<&'m str>) -> Option<&'m str> {
    let (mut rest, mut open) = (line, open);
    loop {
        let marks: [&'static str; 2] = ["\"\"\"", "'''"];
        if let Some(mark) = open {
            let Some(at) = rest.find(mark) else { return open };
            (rest, open) = (&rest[at + 3..], None);
        } else {
            let found = marks.iter().filter_map(|mark| Some((rest.find(mark)?, *mark)));
            let (at, mark) = found.min()?;
            (rest, open) = (&rest[at + 3..], Some(mark));
        }
    }
}

/// What a test is called: a class of test cases, or a function whose name says so.
fn test_name(text: &str) -> Option<String> {
    let line = text.lines().find(|line| !line.starts_with(['@', ' ', '\t', ')', '#']))?;
    let line = line.strip_prefix("async ").unwrap_or(line);
    if let Some(rest) = line.strip_prefix("class ") {
        let name = rest.split(['(', ':']).next().unwrap_or(rest).trim();
        return (rest.contains("TestCase") || name.starts_with("Test"))
            .then(|| format!("class {name}"));
    }
    let name = line.strip_prefix("def ")?.split('(').next()?;
    name.starts_with("test_").then(|| format!("def {name}"))
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    const TEXT: &str = "import unittest\n\n\ndef add(a, b):\n    return a - b\n\n\n\
        class AddTest(unittest.TestCase):\n    def test_add(self):\n        \
        self.assertEqual(add(1, 2), 3)\n\n\n@skip\ndef test_more():\n    assert add(1, 1) == 2\n\n\n\
        if __name__ == \"__main__\":\n    unittest.main()\n";

    #[test]
    fn tests_are_told_from_the_code_beside_them() {
        assert!(is_mixed(TEXT));
        assert_eq!(tests(TEXT).len(), 2, "{:?}", tests(TEXT));
        assert!(!is_mixed("def add():\n    pass\n"));
        assert!(!is_mixed("import unittest\n\n\nclass A(unittest.TestCase):\n    pass\n"));
    }

    #[test]
    fn weakened_and_deleted_tests_come_back_and_the_code_stays() {
        let fixed = TEXT.replace("a - b", "a + b");
        assert_eq!(tests(&fixed), tests(TEXT));
        let weaker = fixed.replace("2), 3)", "2), -1)").replace("@skip\ndef test_more", "def more");
        let restored = restore(TEXT, &weaker);
        assert_eq!(tests(&restored), tests(TEXT), "{restored}");
        assert!(restored.contains("a + b") && restored.contains("def more"), "{restored}");
        let at = |word: &str| restored.find(word).expect("it is there");
        assert!(at("def test_more") < at("if __name__"), "{restored}");
    }
}
