//! Which recipes and variables of justfiles a `just` command reaches.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::files::{directory_of, inner};
use super::super::sections::just::{JustItem, parse};
use super::super::shell::{ShellScript, assignment};
use super::{Stand, Tracer};

/// The names under which just looks for its file.
pub(in crate::judges) const JUSTFILES: [&str; 3] = ["justfile", "Justfile", ".justfile"];

const FILES_MAX: usize = 32;

impl Tracer<'_> {
    pub(super) fn just(&mut self, rest: &[&str], stand: &Stand) {
        self.tool("just");
        let (file, directory, goals) = self.just_words(rest, stand);
        let Some(main) = file else { return };
        let mut files = Vec::new();
        let mut items = Vec::new();
        self.read_justfile(&main, &mut files, &mut items);
        let names = reached(&items, goals);
        if !self.seen.insert(format!("just {} {names:?}", main.display())) {
            return;
        }
        for file in files {
            self.trace.justfiles.entry(file).or_default().extend(names.iter().cloned());
        }
        let own = Stand { directory, ..stand.clone() };
        for item in &items {
            let JustItem::Recipe { name, body, .. } = item else { continue };
            if names.contains(name) {
                let lines = body.iter().map(|line| line.trim().trim_start_matches(['@', '-']));
                let text = lines.collect::<Vec<_>>().join("\n");
                let text = interpolated(&text, &items);
                let again: Vec<String> = text.lines().map(without_just).collect();
                let own = own.named(name, &own.directory, again.len());
                self.recipe_text(&again.join("\n"), &own);
            }
        }
    }

    fn just_words(&self, rest: &[&str], stand: &Stand) -> (Option<PathBuf>, PathBuf, Vec<String>) {
        let (mut file, mut directory) = (None, None);
        let mut goals = Vec::new();
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            match *word {
                "-f" | "--justfile" => {
                    file = words.next().and_then(|own| inner(self.root, &stand.directory, own));
                }
                "-d" | "--working-directory" => {
                    directory =
                        words.next().and_then(|own| inner(self.root, &stand.directory, own));
                }
                option if option.starts_with('-') || assignment(option).is_some() => {}
                goal => goals.push(goal.to_string()),
            }
        }
        let found = file.or_else(|| {
            let places = stand
                .directory
                .ancestors()
                .flat_map(|place| JUSTFILES.map(|name| place.join(name)));
            places.into_iter().find(|path| self.files.exists(path))
        });
        let directory = directory.or_else(|| found.as_deref().map(directory_of));
        (found, directory.unwrap_or_default(), goals)
    }

    fn read_justfile(&self, path: &Path, files: &mut Vec<PathBuf>, items: &mut Vec<JustItem>) {
        if files.len() >= FILES_MAX || files.iter().any(|own| own == path) {
            return;
        }
        let Some(text) = self.files.text(path) else { return };
        files.push(path.into());
        for lines in parse(&text) {
            let own = directory_of(path);
            if let JustItem::Import(name) = &lines.item {
                let places = [name.clone(), format!("{name}.just"), format!("{name}/mod.just")];
                let found = places.iter().filter_map(|name| inner(self.root, &own, name));
                let found = found.into_iter().find(|file| self.files.exists(file));
                found.map(|file| self.read_justfile(&file, files, items)).unwrap_or_default();
            }
            items.push(lines.item);
        }
    }
}

fn reached(items: &[JustItem], goals: Vec<String>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut open = goals;
    if open.is_empty() {
        let is_default =
            |item: &JustItem| matches!(item, JustItem::Recipe { name, .. } if name == "default");
        let first = items.iter().find(|item| is_default(item));
        let first =
            first.or_else(|| items.iter().find(|item| matches!(item, JustItem::Recipe { .. })));
        if let Some(JustItem::Recipe { name, .. }) = first {
            open.push(name.clone());
        }
    }
    while let Some(goal) = open.pop() {
        for item in items {
            match item {
                JustItem::Alias { name, of } if *name == goal => {
                    names.insert(name.clone());
                    open.push(of.clone());
                }
                JustItem::Recipe { name, head, body }
                    if *name == goal && names.insert(name.clone()) =>
                {
                    let needs = head.split_once(':').map_or("", |(_, needs)| needs);
                    let is_sign =
                        |letter: char| !letter.is_alphanumeric() && !"_-".contains(letter);
                    open.extend(needs.split(is_sign).filter(|own| !own.is_empty()).map(Into::into));
                    open.extend(body.iter().flat_map(|line| called(line)));
                    names.extend(variables(items, &format!("{head}\n{}", body.join("\n"))));
                }
                JustItem::Recipe { .. }
                | JustItem::Alias { .. }
                | JustItem::Variable { .. }
                | JustItem::Setting(_)
                | JustItem::Import(_)
                | JustItem::Other => {}
            }
        }
    }
    names
}

/// Variables that a text interpolates, and those that their values use, as `$NAME`.
fn variables(items: &[JustItem], text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open: Vec<String> = text
        .split("{{")
        .skip(1)
        .filter_map(|rest| rest.split("}}").next())
        .map(Into::into)
        .collect();
    while let Some(expression) = open.pop() {
        let is_sign = |letter: char| !letter.is_alphanumeric() && !"_-".contains(letter);
        for word in expression.split(is_sign) {
            let is_it =
                |item: &&JustItem| matches!(item, JustItem::Variable { name, .. } if name == word);
            if let Some(JustItem::Variable { name, value, .. }) = items.iter().find(is_it)
                && found.insert(format!("${name}"))
            {
                open.push(value.clone());
            }
        }
    }
    found
}

/// Recipes that a line calls through just itself.
fn called(line: &str) -> Vec<String> {
    let line = line.trim().trim_start_matches(['@', '-']).replace("{{just_executable()}}", "just");
    let mut found = Vec::new();
    for step in ShellScript::parse(&line).steps() {
        if let [program, rest @ ..] = step.words.as_slice()
            && program == "just"
        {
            found.extend(rest.iter().filter(|word| !word.starts_with('-')).cloned());
        }
    }
    found
}

/// A line that calls just has been followed already.
fn without_just(line: &str) -> String {
    if line.trim_start().starts_with("just ") { String::new() } else { line.into() }
}

/// The text with the values of simple variables.
fn interpolated(text: &str, items: &[JustItem]) -> String {
    let mut text = text.to_string();
    for item in items {
        if let JustItem::Variable { name, value, .. } = item {
            let value = value.trim_matches(['"', '\'']);
            for form in [format!("{{{{{name}}}}}"), format!("{{{{ {name} }}}}")] {
                text = text.replace(&form, value);
            }
        }
    }
    text
}
