//! What the makefiles of one command say: rules, variables, and which rule makes a target.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::super::files::{extension_of, name_of};
use super::super::names::{is_code, says_judge};

/// Targets, what they need, and the lines of the recipe.
type MakeRule = (Vec<String>, String, Vec<String>);

/// So many targets are looked at for files that are made.
const MADE_MAX: usize = 2_000;

/// What the makefiles of one command say.
#[derive(Default)]
pub(super) struct Makefiles {
    pub(super) files: Vec<PathBuf>,
    pub(super) rules: Vec<MakeRule>,
    pub(super) variables: BTreeMap<String, Vec<String>>,
    pub(super) phony: BTreeSet<String>,
    index: OnceCell<RuleIndex>,
}

/// Rules by the names of their targets.
#[derive(Default)]
struct RuleIndex {
    plain: BTreeMap<String, Vec<usize>>,
    /// Also by names that are written with variables.
    expanded: BTreeMap<String, Vec<usize>>,
    /// Targets with a `%` in them, in the order of their rules.
    patterns: Vec<String>,
}

impl RuleIndex {
    fn add(&mut self, at: usize, target: &str, expanded: &str) {
        self.patterns.extend(target.contains('%').then(|| target.to_string()));
        self.plain.entry(target.into()).or_default().push(at);
        for name in BTreeSet::from([target, expanded]) {
            self.expanded.entry(name.into()).or_default().push(at);
        }
    }
}

impl Makefiles {
    /// The rule with a pattern that makes a target, and what the pattern stands for.
    pub(super) fn pattern_for<'m>(&'m self, target: &'m str) -> Option<(&'m str, &'m str)> {
        let patterns = self.index().patterns.iter();
        let fits = |own: &'m String| {
            let (begin, end) = own.split_once('%')?;
            let stem = target.strip_prefix(begin)?.strip_suffix(end)?;
            (is_act(own) && !stem.is_empty()).then_some((own.as_str(), stem))
        };
        patterns.filter(|own| *own != target).find_map(fits)
    }

    /// The recipes of a target, also by a rule with a pattern.
    pub(super) fn recipes_of(&self, target: &str) -> Vec<String> {
        // What a pattern stands for may be anything: `diff cases/$*.out -` is about all of them.
        let any = |name: &str, text: String| {
            if name.contains('%') { text.replace("$*", "*") } else { text }
        };
        let joined = |name: &str| {
            let recipes = self.rules_of(name).map(|(_, _, recipe)| recipe.join("\n"));
            recipes.collect::<Vec<_>>()
        };
        match self.pattern_for(target).filter(|_| !self.has(target)) {
            Some((pattern, stem)) => {
                joined(pattern).iter().map(|recipe| recipe.replace("$*", stem)).collect()
            }
            None => joined(target).into_iter().map(|text| any(target, text)).collect(),
        }
    }

    /// Targets with recipes among these and all that they need.
    pub(super) fn made_for(&self, names: &BTreeSet<String>) -> BTreeSet<String> {
        let mut open: Vec<String> = names.iter().cloned().collect();
        let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
        while let Some(name) = open.pop() {
            if seen.len() >= MADE_MAX || !seen.insert(name.clone()) {
                continue;
            }
            for (_, needs, recipe) in self.expanded_rules_of(&name) {
                open.extend(self.expand(needs).split_whitespace().map(str::to_string));
                found.extend((!recipe.is_empty()).then(|| name.clone()));
            }
        }
        found
    }

    /// Targets such as `check-%` whose rules do what a text names by make's functions:
    /// `$(CASES:%=check-%)`.
    pub(super) fn patterns_in(&self, text: &str) -> impl Iterator<Item = &str> {
        let is_end = |letter: char| letter.is_whitespace() || "=,()".contains(letter);
        let words: BTreeSet<String> =
            text.split(is_end).filter(|word| word.contains('%')).map(str::to_string).collect();
        let patterns = if words.is_empty() { &[] } else { &self.index().patterns[..] };
        let patterns = patterns.iter().map(String::as_str);
        patterns.filter(move |pattern| is_act(pattern) && words.contains(*pattern))
    }

    pub(super) fn has(&self, target: &str) -> bool {
        self.rules_of(target).next().is_some()
    }

    pub(super) fn rules_of(&self, target: &str) -> impl Iterator<Item = &MakeRule> {
        self.numbered(&self.index().plain, target)
    }

    /// The rules of a target, also where it is written with variables.
    pub(super) fn expanded_rules_of(&self, target: &str) -> impl Iterator<Item = &MakeRule> {
        self.numbered(&self.index().expanded, target)
    }

    fn numbered<'m>(
        &'m self,
        index: &'m BTreeMap<String, Vec<usize>>,
        target: &str,
    ) -> impl Iterator<Item = &'m MakeRule> {
        index.get(target).into_iter().flatten().filter_map(|at| self.rules.get(*at))
    }

    /// Which rules a target has, once everything was read.
    fn index(&self) -> &RuleIndex {
        self.index.get_or_init(|| {
            let mut index = RuleIndex::default();
            let rules = self.rules.iter().enumerate();
            let named = rules
                .flat_map(|(at, (targets, _, _))| targets.iter().map(move |target| (at, target)));
            named.for_each(|(at, target)| index.add(at, target, &self.expand(target)));
            index
        })
    }

    /// Variables that a text expands, and those that their values expand.
    pub(super) fn variables_in(&self, text: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open = references(text);
        while let Some(name) = open.pop() {
            if found.insert(name.clone()) {
                let values = self.variables.get(&name).into_iter().flatten();
                open.extend(values.flat_map(|value| references(value)));
            }
        }
        found
    }

    /// Whether a variable decides, rather than lists what is built.
    pub(super) fn decides(&self, name: &str) -> bool {
        let Some(values) = self.variables.get(name) else { return true };
        let text = values.join(" ");
        let words: Vec<&str> = text.split_whitespace().collect();
        let is_source = |word: &&str| {
            let path = Path::new(word.trim_end_matches(')'));
            let is_file =
                is_code(extension_of(path)) || ["o", "a", "so", "d"].contains(&extension_of(path));
            is_file && !says_judge(path) && !name_of(path).is_empty()
        };
        words.is_empty() || says_judge(Path::new(name)) || !words.iter().all(is_source)
    }

    /// The text with simple variables replaced, a few levels deep.
    pub(super) fn expand(&self, text: &str) -> String {
        let mut text = text.to_string();
        for _ in 0..5 {
            let known = |name: String| Some((self.variables.get(&name)?.join(" "), name));
            let replace = |text: String, (value, name): (String, String)| {
                let text = text.replace(&format!("$({name})"), &value);
                text.replace(&format!("${{{name}}}"), &value)
            };
            let names = references(&text).into_iter();
            let next = names.filter_map(known).fold(text.clone(), replace);
            if next == text || next.len() > 1 << 16 {
                break;
            }
            text = next;
        }
        text
    }
}

/// Whether a target with a `%` is something to do, not a file to make.
fn is_act(pattern: &str) -> bool {
    !pattern.starts_with('%') && !pattern.contains(['.', '/'])
}

/// Names in `$(NAME)`, `${NAME}`, `$(NAME:a=b)` and `$(call NAME,…)`.
fn references(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        rest = &rest[at + 1..];
        let Some(inner) = rest.strip_prefix(['(', '{']) else {
            rest = rest.strip_prefix('$').unwrap_or(rest);
            continue;
        };
        let end = inner.find([')', '}', ':', ' ', ',', '$']).unwrap_or(inner.len());
        let name = &inner[..end];
        if name == "call" {
            let called = inner[end..].trim_start().split([',', ')', '}']).next();
            found.extend(called.map(|name| name.trim().to_string()));
        } else if !name.is_empty() && !inner[end..].starts_with(' ') && name.len() < 100 {
            found.push(name.to_string());
        }
        rest = inner;
    }
    found
}
