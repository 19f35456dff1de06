//! Makefiles: the rules that the check reaches, what they expand, and what changes how they run.
//!
//! Rules that make files are work, and so are the variables that only those use.

use std::collections::{BTreeMap, BTreeSet};

use super::blocks::{TextBlock, push, replaced, sections};
use super::make_flags::{lost_flags, steering_words, strictness, without_sources};
use super::{Judging, SectionReach};
use crate::judges::steering::steering;

/// Variables that change how every recipe is run.
const STEERING: [&str; 7] =
    ["SHELL", ".SHELLFLAGS", "MAKEFLAGS", "GNUMAKEFLAGS", "MAKE", "PATH", ".RECIPEPREFIX"];

/// Targets that change how rules are run.
const SPECIAL: [&str; 6] =
    [".IGNORE", ".ONESHELL", ".POSIX", ".DEFAULT", ".SECONDEXPANSION", ".EXPORT_ALL_VARIABLES"];

/// Variables that rules expand by themselves; others of such names are for programs, which get
/// them where everything is exported, or where the environment has them already.
const EXPANDED: [&str; 7] =
    ["CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "CARGO_TARGET_DIR", "GOPATH"];

/// Among the names that are reached where make is called without a target.
pub(in crate::judges) const DEFAULT_GOAL: &str = "$.DEFAULT_GOAL";

/// Before the name of a target that is made from tests.
pub(in crate::judges) const BUILT: char = '@';
/// Before the name of a variable that only such targets expand.
pub(in crate::judges) const FLAGS: char = '~';

/// What a run of lines is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::judges) enum MakeItem {
    /// Targets, what they need, and how they are made.
    Rule { targets: Vec<String>, needs: String, recipe: Vec<String> },
    /// A variable; for one target only where one is named.
    Variable {
        name: String,
        value: String,
        sign: String,
        target: Option<String>,
        is_exported: bool,
    },
    /// Other makefiles.
    Include(String),
    /// `export` without a value.
    Export(String),
    /// Comments, blank lines, conditions.
    Other,
}

/// Lines of a makefile, and the conditions around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::judges) struct MakeLines {
    pub(in crate::judges) item: MakeItem,
    conditions: Vec<String>,
    text: String,
}

pub(super) fn judging(text: &str, reach: &SectionReach) -> Judging {
    let phony = phony(text).filter(|name| reach.names.contains(name));
    let members = phony.chain(strictness(&parse(text))).chain(includes(text)).collect();
    let mut sections = sections(&blocks(text, reach));
    // Only where make is called without a target does it matter which one is first.
    let goal = default_goal(text).filter(|name| reach.names.contains(name));
    let goal = goal.filter(|_| reach.names.contains(DEFAULT_GOAL));
    sections.extend(goal.map(|name| format!("default goal: {name}")));
    Judging { sections, members }
}

pub(super) fn restore(original: &str, today: &str, reach: &SectionReach) -> String {
    let mut text = replaced(&blocks(original, reach), &blocks(today, reach));
    let now: BTreeSet<String> = phony(&text).collect();
    let is_lost = |name: &String| reach.names.contains(name) && !now.contains(name);
    let lost: Vec<String> = phony(original).filter(is_lost).collect();
    if !lost.is_empty() {
        push(&mut text, &format!(".PHONY: {}\n", lost.join(" ")));
    }
    if let Some(goal) = default_goal(original).filter(|_| reach.names.contains(DEFAULT_GOAL))
        && default_goal(&text).as_ref() != Some(&goal)
    {
        push(&mut text, &format!(".DEFAULT_GOAL := {goal}\n"));
    }
    for line in lost_flags(&parse(original), &parse(&text)) {
        push(&mut text, &line);
    }
    let now: BTreeSet<String> = includes(&text).collect();
    for line in includes(original).filter(|line| !now.contains(line)) {
        // What only builds may be gone with its line.
        push(&mut text, &format!("-{line}\n"));
    }
    text
}

/// Lines that read other makefiles, whose rules may be the check's; one for each of several names.
fn includes(text: &str) -> impl Iterator<Item = String> {
    parse(text).into_iter().flat_map(|lines| match lines.item {
        // `$(wildcard *.mk)` is one name.
        MakeItem::Include(names) if names.contains('$') => {
            vec![format!("include {}", names.trim())]
        }
        MakeItem::Include(names) => {
            names.split_whitespace().map(|name| format!("include {name}")).collect()
        }
        MakeItem::Rule { .. }
        | MakeItem::Variable { .. }
        | MakeItem::Export(_)
        | MakeItem::Other => Vec::new(),
    })
}

/// The target that is made where none is named.
fn default_goal(text: &str) -> Option<String> {
    let (mut first, mut named) = (None, None);
    for lines in parse(text) {
        match lines.item {
            MakeItem::Rule { targets, .. } if first.is_none() => {
                let is_plain = |name: &String| !name.starts_with('.') && !name.contains('%');
                first = targets.into_iter().find(is_plain);
            }
            MakeItem::Variable { name, value, .. } if name == DEFAULT_GOAL[1..] => {
                named = Some(value);
            }
            MakeItem::Rule { .. }
            | MakeItem::Variable { .. }
            | MakeItem::Include(_)
            | MakeItem::Export(_)
            | MakeItem::Other => {}
        }
    }
    named.or(first)
}

/// Targets that are not files.
pub(in crate::judges) fn phony(text: &str) -> impl Iterator<Item = String> {
    parse(text).into_iter().flat_map(|lines| match lines.item {
        MakeItem::Rule { targets, needs, .. } if targets == [".PHONY"] => {
            needs.split_whitespace().map(str::to_string).collect()
        }
        MakeItem::Rule { .. }
        | MakeItem::Variable { .. }
        | MakeItem::Include(_)
        | MakeItem::Export(_)
        | MakeItem::Other => Vec::new(),
    })
}

fn blocks(text: &str, reach: &SectionReach) -> Vec<TextBlock> {
    let all = parse(text);
    let values = values(&all);
    let block = |lines: MakeLines| {
        let key = key_of(&lines.item, reach);
        let key = key.or_else(|| computed(&lines, &values, reach));
        let says = match &key {
            Some(key) if is_built(key, reach) => without_sources(&says(&lines)),
            Some(_) if is_flags(&lines.item, reach) => steering_words(&lines.item),
            Some(_) => says(&lines),
            None => String::new(),
        };
        TextBlock { key, says, text: lines.text }
    };
    all.into_iter().map(block).collect()
}

/// The variables of a makefile that are for all targets.
fn values(all: &[MakeLines]) -> BTreeMap<String, String> {
    let value = |lines: &MakeLines| match &lines.item {
        MakeItem::Variable { name, value, target: None, .. } => Some((name.clone(), value.clone())),
        MakeItem::Variable { .. }
        | MakeItem::Rule { .. }
        | MakeItem::Include(_)
        | MakeItem::Export(_)
        | MakeItem::Other => None,
    };
    all.iter().filter_map(value).collect()
}

/// Rules for a target that the check reaches, under a name or by lines that make works out first.
fn computed(
    lines: &MakeLines,
    values: &BTreeMap<String, String>,
    reach: &SectionReach,
) -> Option<String> {
    let is_target = |name: &&String| !name.starts_with(['$', BUILT, FLAGS]);
    let targets = || reach.names.iter().filter(is_target);
    match &lines.item {
        MakeItem::Rule { targets: own, .. } => {
            let is_open = |name: &&String| name.contains('$');
            let expanded = own.iter().filter(is_open).map(|name| expanded(name, values));
            let names: Vec<String> = expanded.collect();
            let is_own = |own: &&String| {
                names.iter().any(|name| name.split_whitespace().any(|word| word == own.as_str()))
            };
            targets().find(is_own).map(|own| format!("target {own}"))
        }
        MakeItem::Variable { .. } | MakeItem::Other => {
            let has_rule = |own: &&String| {
                lines.text.lines().any(|line| {
                    let line = line.trim_start();
                    let at = line.find("eval").map_or(line, |at| line[at + 4..].trim_start());
                    at.strip_prefix(own.as_str())
                        .is_some_and(|rest| rest.trim_start().starts_with(':'))
                })
            };
            targets().find(has_rule).map(|own| format!("lines for {own}"))
        }
        MakeItem::Include(_) | MakeItem::Export(_) => None,
    }
}

/// A name with the variables in it that are known.
fn expanded(name: &str, values: &BTreeMap<String, String>) -> String {
    let mut text = name.to_string();
    for (own, value) in values {
        text = text.replace(&format!("$({own})"), value).replace(&format!("${{{own}}}"), value);
    }
    text
}

/// What the lines decide for the check, where they decide something.
fn key_of(item: &MakeItem, reach: &SectionReach) -> Option<String> {
    let is_reached = |name: &str| reach.names.contains(name);
    match item {
        MakeItem::Rule { targets, .. } => {
            let mut own = targets.iter();
            let found = own.find(|name| is_reached(name) || SPECIAL.contains(&name.as_str()));
            found.map(|name| format!("target {name}"))
        }
        MakeItem::Variable { name, target: Some(target), .. } => {
            let is_own = target.split_whitespace().any(|own| is_reached(own) || own == "%");
            is_own.then(|| format!("target {target} variable {name}"))
        }
        MakeItem::Variable { name, is_exported, .. } => {
            let steers = STEERING.contains(&name.as_str())
                || ((*is_exported || !EXPANDED.contains(&name.as_str()))
                    && !steering([name.as_str()].into_iter()).is_empty());
            let is_reached = is_reached(&format!("${name}")) && *name != DEFAULT_GOAL[1..];
            let silences = is_flags(item, reach) && !steering_words(item).is_empty();
            (steers || is_reached || silences).then(|| format!("variable {name}"))
        }
        MakeItem::Export(names) => {
            let own = |name: &str| {
                is_reached(&format!("${name}"))
                    || STEERING.contains(&name)
                    || !steering([name].into_iter()).is_empty()
            };
            let judges = names.is_empty() || names.split_whitespace().any(own);
            judges.then(|| "export".to_string())
        }
        MakeItem::Include(_) | MakeItem::Other => None,
    }
}

/// Whether the block is the rule of a target that is made from tests.
fn is_built(key: &str, reach: &SectionReach) -> bool {
    let target = key.strip_prefix("target ").unwrap_or_default();
    reach.names.contains(&format!("{BUILT}{target}"))
}

/// Whether the lines are a variable that only targets made from tests expand.
fn is_flags(item: &MakeItem, reach: &SectionReach) -> bool {
    match item {
        MakeItem::Variable { name, target: None, .. } => {
            reach.names.contains(&format!("{FLAGS}{name}"))
                && !reach.names.contains(&format!("${name}"))
                && !STEERING.contains(&name.as_str())
        }
        MakeItem::Variable { .. }
        | MakeItem::Rule { .. }
        | MakeItem::Include(_)
        | MakeItem::Export(_)
        | MakeItem::Other => false,
    }
}

fn says(lines: &MakeLines) -> String {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let own = match &lines.item {
        MakeItem::Rule { targets, needs, recipe } => {
            let recipe: Vec<&str> = recipe.iter().map(|line| line.trim()).collect();
            format!("{}: {} {recipe:?}", targets.join(" "), words(needs))
        }
        MakeItem::Variable { name, value, sign, target, is_exported } => {
            let target = target.as_deref().unwrap_or_default();
            format!("{target} {name} {sign} {} {is_exported}", words(value))
        }
        MakeItem::Include(names) | MakeItem::Export(names) => words(names),
        MakeItem::Other => words(&lines.text),
    };
    if lines.conditions.is_empty() {
        own
    } else {
        format!("{} {own}", lines.conditions.join(" / "))
    }
}

/// A makefile as items, in order.
pub(in crate::judges) fn parse(text: &str) -> Vec<MakeLines> {
    let mut found: Vec<MakeLines> = Vec::new();
    let mut conditions: Vec<String> = Vec::new();
    let mut lines = logical(text).into_iter();
    while let Some(line) = lines.next() {
        let plain = uncommented(&line);
        let word = plain.split_whitespace().next().unwrap_or_default();
        if line.starts_with('\t') && add_to_recipe(&mut found, &line) {
            continue;
        }
        let mut raw = line.clone();
        let item = match word {
            "ifeq" | "ifneq" | "ifdef" | "ifndef" => {
                conditions.push(plain.trim().into());
                MakeItem::Other
            }
            "else" => {
                if let Some(last) = conditions.last_mut() {
                    *last = format!("{last} {}", plain.trim());
                }
                MakeItem::Other
            }
            "endif" => {
                conditions.pop();
                MakeItem::Other
            }
            "define" => {
                let body = defined(&mut lines);
                raw.push_str(&body);
                let name = plain.split_whitespace().nth(1).unwrap_or_default();
                variable(name, &body, "define", None)
            }
            _ => statement(&plain),
        };
        found.push(MakeLines { item, conditions: conditions.clone(), text: raw });
    }
    found
}

/// The lines of a definition, up to its end.
fn defined(lines: &mut impl Iterator<Item = String>) -> String {
    let mut body = String::new();
    for line in lines {
        body.push_str(&line);
        if line.trim() == "endef" {
            break;
        }
    }
    body
}

/// Adds a recipe's line to the rule before it; comments and conditions may stand between.
fn add_to_recipe(found: &mut Vec<MakeLines>, line: &str) -> bool {
    let is_between = |lines: &MakeLines| {
        lines.item == MakeItem::Other
            && lines.text.lines().all(|own| {
                let own = own.trim_start();
                own.is_empty() || own.starts_with('#')
            })
    };
    let Some(at) = found.iter().rposition(|lines| !is_between(lines)) else { return false };
    if !matches!(found[at].item, MakeItem::Rule { .. }) {
        return false;
    }
    let between: String = found.drain(at + 1..).map(|lines| lines.text).collect();
    let own = &mut found[at];
    own.text.push_str(&between);
    push(&mut own.text, line);
    if let MakeItem::Rule { recipe, .. } = &mut own.item
        && !line.trim().is_empty()
    {
        recipe.push(line.trim_end().into());
    }
    true
}

fn variable(name: &str, value: &str, sign: &str, target: Option<String>) -> MakeItem {
    let (name, value, sign) = (name.into(), value.trim().into(), sign.into());
    MakeItem::Variable { name, value, sign, target, is_exported: false }
}

/// An assignment, an include or a rule.
fn statement(plain: &str) -> MakeItem {
    let mut text = plain.trim();
    if text.is_empty() {
        return MakeItem::Other;
    }
    let mut is_exported = false;
    while let Some((word, rest)) = text.split_once(char::is_whitespace) {
        if !["export", "override", "private", "unexport"].contains(&word) {
            break;
        }
        is_exported |= word == "export";
        text = rest.trim_start();
        if assigned(text).is_none() && is_exported {
            return MakeItem::Export(text.into());
        }
    }
    if text == "export" || text == "unexport" {
        return MakeItem::Export(String::new());
    }
    if let Some((word, rest)) = text.split_once(char::is_whitespace)
        && ["include", "-include", "sinclude"].contains(&word)
    {
        return MakeItem::Include(rest.trim().into());
    }
    if let Some((name, sign, value)) = assigned(text) {
        let item = variable(name, value, sign, None);
        return match item {
            MakeItem::Variable { name, value, sign, target, .. } => {
                MakeItem::Variable { name, value, sign, target, is_exported }
            }
            other => other,
        };
    }
    rule(text)
}

fn rule(text: &str) -> MakeItem {
    let Some(colon) = colon(text) else { return MakeItem::Other };
    let (targets, rest) = (text[..colon].trim_end_matches('&'), &text[colon + 1..]);
    let rest = rest.trim_start_matches(':');
    if let Some((name, sign, value)) = assigned(rest.trim_start()) {
        let name = name.rsplit(char::is_whitespace).next().unwrap_or(name);
        return variable(name, value, sign, Some(targets.trim().into()));
    }
    let (needs, inline) = rest.split_once(';').unwrap_or((rest, ""));
    let recipe = Some(inline.trim()).filter(|own| !own.is_empty()).map(str::to_string);
    MakeItem::Rule {
        targets: targets.split_whitespace().map(str::to_string).collect(),
        needs: needs.trim().into(),
        recipe: recipe.into_iter().collect(),
    }
}

/// The colon that is not inside of a reference to a variable.
fn colon(text: &str) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '{' => depth += 1,
            ')' | '}' => depth -= 1,
            ':' if depth <= 0 => return Some(at),
            _ => {}
        }
    }
    None
}

/// The name, the sign and the value of an assignment.
fn assigned(text: &str) -> Option<(&str, &str, &str)> {
    let mut depth = 0_i32;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '{' => depth += 1,
            ')' | '}' => depth -= 1,
            '=' if depth <= 0 => {
                let before = text[..at].trim_end_matches([':', '?', '+', '!']);
                let name = before.trim();
                let is_name = !name.is_empty() && !name.contains([' ', '\t', ':', ';', '"', '\'']);
                return is_name.then(|| (name, text[before.len()..=at].trim(), &text[at + 1..]));
            }
            ':' if depth <= 0 && !text[at + 1..].trim_start_matches(':').starts_with('=') => {
                return None;
            }
            _ => {}
        }
    }
    None
}

/// Lines, with those that a backslash continues joined; each keeps its end.
fn logical(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut continues = false;
    for line in text.split_inclusive('\n') {
        match found.last_mut().filter(|_| continues) {
            Some(last) => last.push_str(line),
            None => found.push(line.into()),
        }
        continues = line.trim_end_matches(['\n', '\r']).ends_with('\\');
    }
    found
}

/// The line without its comment and its continuations.
fn uncommented(line: &str) -> String {
    let joined = line.replace("\\\r\n", " ").replace("\\\n", " ");
    let mut previous = ' ';
    let mut end = joined.len();
    for (at, letter) in joined.char_indices() {
        if letter == '#' && previous != '\\' {
            end = at;
            break;
        }
        previous = letter;
    }
    joined[..end].to_string()
}
