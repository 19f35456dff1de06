//! Tests beside the code that went to another file together with what they test.
//!
//! A type that gets a module of its own takes its tests along. They are the same tests there as
//! long as they say the same, and as long as all that they name went with them and is nowhere
//! else: a copy of the code with the tests beside it is not what others use.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::rust::{TestItem, find};
use super::rust_tokens::{TokenKind, tokens};

/// What comes before the name of something that is defined.
const DEFINING: [&str; 9] =
    ["fn", "struct", "enum", "union", "trait", "type", "const", "static", "macro_rules"];

/// A source file, as it was at the start and as it is.
pub(crate) struct SourcePair {
    pub(crate) path: PathBuf,
    pub(crate) then: Option<String>,
    pub(crate) now: Option<String>,
}

impl SourcePair {
    fn then(&self) -> Option<&str> {
        self.then.as_deref()
    }

    fn now(&self) -> Option<&str> {
        self.now.as_deref()
    }
}

/// Which tests of which files are elsewhere now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MovedTests {
    /// What they say, by the file that they were in.
    away: BTreeMap<PathBuf, BTreeSet<String>>,
    /// Their texts, by the file that they are in.
    here: BTreeMap<PathBuf, Vec<String>>,
}

impl MovedTests {
    /// Finds them among the sources of a project.
    pub(crate) fn of(sources: &[SourcePair]) -> Self {
        let mut found = Self::default();
        for was in sources {
            let (Some(then), Some(now)) = (was.then(), was.now()) else { continue };
            let kept: BTreeSet<String> = says(now).into_iter().collect();
            for lost in says(then).into_iter().filter(|own| !kept.contains(own)) {
                found.note(was, lost, sources);
            }
        }
        found
    }

    /// Notes a test that is not where it was, if it is elsewhere.
    fn note(&mut self, was: &SourcePair, lost: String, sources: &[SourcePair]) {
        let Some(to) = new_home(sources, was, &lost) else { return };
        let text = to.now().and_then(|now| text_of(now, &lost));
        self.here.entry(to.path.clone()).or_default().extend(text);
        self.away.entry(was.path.clone()).or_default().insert(lost);
    }

    /// What a file would have said at the start if its tests had been where they are now.
    pub(crate) fn original(&self, path: &Path, original: &str) -> String {
        let mut text = match self.away.get(path) {
            Some(away) => without(original, away),
            None => original.to_string(),
        };
        for own in self.here.get(path).into_iter().flatten() {
            text.push('\n');
            text.push_str(own);
            text.push('\n');
        }
        text
    }
}

/// The one file that has this test now and had not, with all of the code that it names.
fn new_home<'s>(sources: &'s [SourcePair], was: &SourcePair, said: &str) -> Option<&'s SourcePair> {
    let has = |own: Option<&str>| own.is_some_and(|own| says(own).iter().any(|own| own == said));
    let mut homes = sources.iter().filter(|own| has(own.now()) && !has(own.then()));
    let (Some(home), None) = (homes.next(), homes.next()) else { return None };
    let words: BTreeSet<&str> = said.split(' ').collect();
    let mut needed = defined(was.then()?);
    needed.retain(|name| words.contains(name.as_str()));
    let others = sources.iter().filter(|own| own.path != home.path);
    let elsewhere = others.flat_map(|own| {
        let mut names = defined(own.now().unwrap_or_default());
        // What a third file had before is its own.
        if own.path != was.path {
            let before = defined(own.then().unwrap_or_default());
            names.retain(|name| !before.contains(name));
        }
        names
    });
    let elsewhere: BTreeSet<String> = elsewhere.collect();
    let there = defined(home.now()?);
    let went = needed.iter().all(|name| there.contains(name) && !elsewhere.contains(name));
    (went && !needed.is_empty()).then_some(home)
}

fn items(text: &str) -> Vec<TestItem> {
    find(text).map(|found| found.items).unwrap_or_default()
}

fn says(text: &str) -> Vec<String> {
    items(text).into_iter().map(|item| item.says).collect()
}

fn text_of(text: &str, said: &str) -> Option<String> {
    let item = items(text).into_iter().find(|item| item.says == said)?;
    text.get(item.from..item.to).map(str::to_string)
}

fn without(text: &str, tests: &BTreeSet<String>) -> String {
    let mut left = text.to_string();
    for item in items(text).iter().rev().filter(|item| tests.contains(&item.says)) {
        left.replace_range(item.from..item.to, "");
    }
    left
}

/// The names of what a text defines, tests aside.
fn defined(text: &str) -> BTreeSet<String> {
    let tests = items(text);
    let is_test = |at: usize| tests.iter().any(|item| (item.from..item.to).contains(&at));
    let words = tokens(text).into_iter().filter(|token| token.kind == TokenKind::Word);
    let words: Vec<&str> =
        words.filter(|token| !is_test(token.from)).map(|token| token.text(text)).collect();
    let pairs = words.windows(2).filter(|pair| DEFINING.contains(&pair[0]));
    pairs.map(|pair| pair[1].to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "fn end(from: u64) -> u64 {\n    from + 1\n}\n";
    const TESTS: &str = "#[cfg(test)]\nmod tests {\n    use super::end;\n\n    #[test]\n    \
        fn ends() {\n        assert_eq!(end(1), 2);\n    }\n}\n";

    fn pair(path: &str, then: Option<&str>, now: Option<&str>) -> SourcePair {
        let owned = |text: Option<&str>| text.map(str::to_string);
        SourcePair { path: path.into(), then: owned(then), now: owned(now) }
    }

    fn moved(now: &str, home: &str, third: Option<&str>) -> bool {
        let whole = format!("{CODE}{TESTS}");
        let sources = [
            pair("src/lib.rs", Some(&whole), Some(now)),
            pair("src/end.rs", None, Some(home)),
            pair("src/other.rs", None, third),
        ];
        let found = MovedTests::of(&sources);
        let left = found.original(Path::new("src/lib.rs"), &whole);
        let is_away = !left.contains("fn ends");
        assert_eq!(is_away, found.original(Path::new("src/end.rs"), "").contains("fn ends"));
        is_away
    }

    #[test]
    fn tests_go_with_the_code_that_they_name() {
        let whole = format!("{CODE}{TESTS}");
        assert!(moved("mod end;\n", &whole, None));
        assert!(moved("mod end;\n", &whole.replace("from + 1", "1 + from"), Some("fn other() {}")));
    }

    #[test]
    fn a_copy_of_the_code_is_not_what_was_tested() {
        let whole = format!("{CODE}{TESTS}");
        let wrong = CODE.replace("from + 1", "from");
        assert!(!moved(&wrong, &whole, None), "the code is still there");
        assert!(!moved("mod other;\n", &whole, Some(&wrong)), "it is also elsewhere");
        assert!(!moved("mod end;\n", TESTS, None), "the code is gone");
        let weaker = whole.replace("end(1), 2", "end(1), end(1)");
        assert!(!moved("mod end;\n", &weaker, None), "the tests say something else");
    }
}
