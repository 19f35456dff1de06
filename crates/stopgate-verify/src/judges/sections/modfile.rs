//! `go.mod`: replacements, exclusions and the toolchain; what is required is work.
//!
//! `go.work`: the same, and which modules are used. Where names lead that nobody knew at the
//! start is work, too: `with_new_leads` is told which ones.

use super::Judging;
use super::blocks::{TextBlock, appended, sorted_sections};
use crate::judges::role::MixedKind;

/// Directives that judge: `use` is one of `go.work` only.
const JUDGING: [&str; 5] = ["replace", "exclude", "toolchain", "use", "godebug"];

/// Where a directive leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ModuleLead<'t> {
    /// `use ./lib`
    Use(&'t str),
    /// `replace example.org/lib => ./lib`
    Replace { module: &'t str, by: &'t str },
}

/// What a `go.mod` says about modules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ModuleFile<'t> {
    pub(crate) module: Option<&'t str>,
    pub(crate) requires: Vec<&'t str>,
    pub(crate) leads: Vec<ModuleLead<'t>>,
    /// The second number of the language's version.
    pub(crate) minor: Option<u32>,
}

impl<'t> ModuleFile<'t> {
    /// Reads a `go.mod` or a `go.work`.
    pub(crate) fn parse(text: &'t str) -> Self {
        let mut found = Self::default();
        for (verb, rest) in directives(text) {
            let first = rest.split_whitespace().next().map(plain);
            match verb {
                "module" => found.module = first,
                "require" => found.requires.extend(first),
                "go" => found.minor = first.and_then(|own| own.split('.').nth(1)?.parse().ok()),
                _ => found.leads.extend(lead(verb, rest)),
            }
        }
        found
    }

    /// Whether it lists every module that its packages need: older ones list what they import.
    pub(crate) fn lists_all(&self) -> bool {
        self.requires.is_empty() || self.minor.is_some_and(|minor| minor >= 17)
    }
}

pub(super) fn judging(kind: MixedKind, text: &str) -> Judging {
    Judging { sections: sorted_sections(&blocks(kind, text)), ..Judging::default() }
}

pub(super) fn restore(kind: MixedKind, original: &str, today: &str) -> String {
    appended(&blocks(kind, original), &blocks(kind, today))
}

/// The original text with those of today's leads that are work.
pub(crate) fn with_new_leads(
    original: &str,
    today: &str,
    is_work: &dyn Fn(&ModuleLead<'_>) -> bool,
) -> String {
    let known = ModuleFile::parse(original).leads;
    let mut text = original.to_string();
    for (verb, rest) in directives(today) {
        if lead(verb, rest).is_some_and(|own| !known.contains(&own) && is_work(&own)) {
            super::blocks::push(&mut text, &directive(verb, rest).text);
        }
    }
    text
}

fn lead<'t>(verb: &str, rest: &'t str) -> Option<ModuleLead<'t>> {
    let mut words = rest.split_whitespace();
    let first = plain(words.next()?);
    match verb {
        "use" => Some(ModuleLead::Use(first)),
        "replace" => {
            let by = plain(words.skip_while(|word| *word != "=>").nth(1)?);
            Some(ModuleLead::Replace { module: first, by })
        }
        _ => None,
    }
}

fn plain(word: &str) -> &str {
    word.trim_matches(['"', '`'])
}

/// All directives; those in parentheses are directives of their own.
fn directives(text: &str) -> Vec<(&str, &str)> {
    let mut group: Option<&str> = None;
    let mut found = Vec::new();
    for line in text.lines() {
        let line = without_comment(line);
        let (verb, rest) = line.split_once([' ', '\t', '(']).unwrap_or((line, ""));
        match group {
            Some(_) if line == ")" => group = None,
            Some(verb) if !line.is_empty() => found.push((verb, line)),
            None if line.ends_with('(') => group = Some(verb.trim()),
            None if !rest.trim().is_empty() => found.push((verb, rest.trim())),
            _ => {}
        }
    }
    found
}

/// One block a directive; those in parentheses become directives of their own.
fn blocks(kind: MixedKind, text: &str) -> Vec<TextBlock> {
    let judging = if kind == MixedKind::GoWork { &JUDGING[..] } else { &JUDGING[..3] };
    let known = |verb: &str| judging.iter().copied().find(|own| *own == verb.trim());
    let mut found = Vec::new();
    let mut group: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let plain = without_comment(line);
        let (verb, rest) = plain.split_once([' ', '\t', '(']).unwrap_or((plain, ""));
        match group {
            Some(_) if plain == ")" => group = None,
            Some(verb) if !plain.is_empty() => found.push(directive(verb, plain)),
            Some(_) => {}
            None if plain.ends_with('(') && known(verb).is_some() => group = known(verb),
            None if known(verb).is_some() && !rest.trim().is_empty() => {
                found.push(directive(verb, rest.trim()));
            }
            None => found.push(TextBlock { key: None, says: String::new(), text: line.into() }),
        }
    }
    found
}

fn without_comment(line: &str) -> &str {
    line.split("//").next().unwrap_or(line).trim()
}

fn directive(verb: &str, rest: &str) -> TextBlock {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let says = words.join(" ");
    let text = format!("{verb} {says}\n");
    TextBlock { key: Some(verb.into()), says, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_file_is_read_with_and_without_parentheses() {
        let text = "module example.org/a // here\n\ngo 1.19\n\nrequire (\n\texample.org/b v1.0.0\n\
            \texample.org/c v0.0.0 // indirect\n)\nrequire example.org/d v1.0.0\n\
            replace example.org/b v1.0.0 => ../b\nuse (\n\t.\n\t\"./x\"\n)\n";
        let found = ModuleFile::parse(text);
        assert_eq!(found.module, Some("example.org/a"));
        assert_eq!(found.requires, ["example.org/b", "example.org/c", "example.org/d"]);
        let b = ModuleLead::Replace { module: "example.org/b", by: "../b" };
        assert_eq!(found.leads, [b, ModuleLead::Use("."), ModuleLead::Use("./x")]);
        assert!(found.lists_all());
        assert!(!ModuleFile::parse("go 1.16\nrequire x.org/a v1.0.0\n").lists_all());
        assert!(ModuleFile::parse("module x\n").lists_all());
    }

    #[test]
    fn which_modules_a_workspace_uses_judges() {
        let kind = MixedKind::GoWork;
        let original = "go 1.19\n\nuse (\n\t./app\n\t./lib\n)\n";
        let today = "go 1.20\n\nuse ./app\nuse ./next\n";
        assert_ne!(judging(kind, original), judging(kind, today));
        let restored = restore(kind, original, today);
        assert_eq!(judging(kind, original), judging(kind, &restored));
        assert!(restored.starts_with("go 1.20\n") && !restored.contains("next"), "{restored}");
        let one = "go 1.19\nuse ./lib\nuse ./app // both\n";
        assert_eq!(judging(kind, original), judging(kind, one));
    }

    #[test]
    fn leads_that_are_work_are_taken_over() {
        let original = "module a\n\nreplace example.org/b => ./b\n";
        let today = "module a\n\nreplace (\n\texample.org/b => ./fake\n\texample.org/c => ./c\n)\n";
        let is_work = |lead: &ModuleLead<'_>| {
            matches!(lead, ModuleLead::Replace { module: "example.org/c", .. })
        };
        let kind = MixedKind::GoMod;
        let now = with_new_leads(original, today, &is_work);
        let restored = restore(kind, &now, today);
        assert!(restored.contains("replace example.org/c => ./c\n"), "{restored}");
        assert!(!restored.contains("fake"), "{restored}");
        assert_eq!(with_new_leads(original, original, &|_| true), original);
    }
}
