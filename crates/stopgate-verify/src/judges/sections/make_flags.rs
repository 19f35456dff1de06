//! Flags of compilers in makefiles: those that judge, among others that are work.

use std::collections::BTreeSet;
use std::path::Path;

use super::c_header::silences;
use super::make::{MakeItem, MakeLines};
use crate::judges::files::extension_of;
use crate::judges::names::{is_code, said};

/// Beginnings of flags by which a compiler rejects more.
const STRICT: [&str; 7] = [
    "-Werror",
    "-Wall",
    "-Wextra",
    "-pedantic",
    "-fsanitize",
    "-fno-sanitize-recover",
    "-fanalyzer",
];
/// Flags by which it rejects less, and beginnings of such flags.
const LENIENT: [&str; 2] = ["-w", "-Wno-error"];

/// What a makefile's compilers reject, wherever it says so: strict flags that it has, and lenient
/// ones that it does without. It may become more.
pub(super) fn strictness(lines: &[MakeLines]) -> BTreeSet<String> {
    let flags = CompilerFlags::of(lines);
    if flags.strict.is_empty() {
        return BTreeSet::new();
    }
    let without =
        LENIENT.iter().filter(|own| !flags.lenient.iter().any(|has| is_lenient(has, own)));
    let strict = flags.strict.iter().map(|flag| format!("flag {flag}"));
    strict.chain(without.map(|flag| format!("no flag {flag}"))).collect()
}

/// Lines that give variables back the strictness that they had: work that compiles without warnings
/// does not need less of it.
pub(super) fn lost_flags(original: &[MakeLines], today: &[MakeLines]) -> Vec<String> {
    let (then, now) = (CompilerFlags::of(original), CompilerFlags::of(today));
    let lost: Vec<&str> = then.strict.difference(&now.strict).copied().collect();
    let gained: Vec<&str> = now.lenient.difference(&then.lenient).copied().collect();
    if then.strict.is_empty() || (lost.is_empty() && gained.is_empty()) {
        return Vec::new();
    }
    let named: BTreeSet<&str> = then.names.union(&now.names).copied().collect();
    let named = named.iter();
    let (lost, gained) = (lost.join(" "), gained.join(" "));
    named
        .map(|name| format!("override {name} := $(filter-out {gained},$({name})) {lost}\n"))
        .collect()
}

/// The flags of all variables of a makefile.
#[derive(Default)]
struct CompilerFlags<'m> {
    /// The variables that have some.
    names: BTreeSet<&'m str>,
    strict: BTreeSet<&'m str>,
    lenient: BTreeSet<&'m str>,
}

impl<'m> CompilerFlags<'m> {
    fn of(lines: &'m [MakeLines]) -> Self {
        let mut found = Self::default();
        for own in lines {
            let MakeItem::Variable { name, value, target: None, .. } = &own.item else { continue };
            let (taken, value) = match value.strip_prefix("$(filter-out ") {
                Some(rest) => rest.split_once(',').unwrap_or_default(),
                None => ("", value.as_str()),
            };
            for word in taken.split_whitespace() {
                found.lenient.remove(word);
            }
            value.split_whitespace().for_each(|word| found.note(name, word));
        }
        found
    }

    fn note(&mut self, name: &'m str, word: &'m str) {
        let known = if STRICT.iter().any(|begin| word.starts_with(begin)) {
            &mut self.strict
        } else if LENIENT.iter().any(|own| is_lenient(word, own)) {
            &mut self.lenient
        } else {
            return;
        };
        known.insert(word);
        self.names.insert(name);
    }
}

fn is_lenient(word: &str, flag: &str) -> bool {
    word == flag || (flag.len() > 2 && word.starts_with(flag))
}

/// The words of a variable by which a compiler leaves assertions out.
pub(super) fn steering_words(item: &MakeItem) -> String {
    let MakeItem::Variable { value, .. } = item else { return String::new() };
    value.split_whitespace().filter(|word| silences(word)).collect::<Vec<_>>().join(" ")
}

/// A rule without the work's own sources and where to find them: those come and go.
pub(super) fn without_sources(text: &str) -> String {
    let words = text.split_whitespace().map(|word| word.trim_matches(['"', ',', '[', ']']));
    let is_work = |word: &&str| {
        let path = Path::new(word);
        let is_file = is_code(extension_of(path)) || ["o", "a", "so"].contains(&extension_of(path));
        let is_place = ["-I", "-L", "-l"].iter().any(|option| word.starts_with(option));
        is_place || (is_file && said(path).is_none())
    };
    words.filter(|word| !is_work(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::make::parse;
    use super::*;

    fn lost(original: &str, today: &str) -> Vec<String> {
        lost_flags(&parse(original), &parse(today))
    }

    #[test]
    fn strictness_is_given_back_and_other_flags_are_work() {
        let original = "CFLAGS = -O0 -Wall -Werror\n";
        let stricter = "FLAGS = -O2 -g -Wextra -Werror\nCFLAGS = -Wall\n";
        assert_eq!(lost(original, stricter), Vec::<String>::new());
        let weaker = "CFLAGS = -O0 -Wall -Wno-error -w\n";
        let line = "override CFLAGS := $(filter-out -Wno-error -w,$(CFLAGS)) -Werror\n";
        assert_eq!(lost(original, weaker), [line]);
        let restored = format!("{weaker}{line}");
        assert_eq!(lost(original, &restored), Vec::<String>::new());
        let (then, now) = (parse(original), parse(&restored));
        assert!(strictness(&then).is_subset(&strictness(&now)));
        assert!(!strictness(&then).is_subset(&strictness(&parse(weaker))));
        assert_eq!(strictness(&parse("CFLAGS = -O2\n")), BTreeSet::new());
    }
}
