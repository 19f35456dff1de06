//! `CMakeLists.txt`: the commands that say which tests there are, what they are built from, and
//! whether their assertions are compiled. Everything else says how the work is built.

use std::collections::BTreeSet;
use std::path::Path;

use super::Judging;
use super::blocks::{TextBlock, push, replaced, sections};
use super::c_header::{defines_assertions, silences};
use crate::judges::files::extension_of;
use crate::judges::names::{is_code, said, words as words_of};

/// Commands that are about tests whatever they say.
const TESTS: [&str; 9] = [
    "add_test",
    "set_tests_properties",
    "enable_testing",
    "gtest_discover_tests",
    "gtest_add_tests",
    "catch_discover_tests",
    "doctest_discover_tests",
    "cxxtest_add_test",
    "create_test_sourcelist",
];

/// One command with what stands before it since the last one.
struct CMakeCommand {
    name: String,
    words: Vec<String>,
    text: String,
}

/// Commands that open, divide and close what others stand in.
const OPENS: [&str; 5] = ["if", "foreach", "while", "function", "macro"];
const DIVIDES: [&str; 2] = ["else", "elseif"];
const CLOSES: [&str; 5] = ["endif", "endforeach", "endwhile", "endfunction", "endmacro"];

/// Commands that give a variable its value, with the word that is its name.
const VALUES: [(&str, usize); 6] = [
    ("set", 0),
    ("option", 0),
    ("list", 1),
    ("file", 1),
    ("get_filename_component", 0),
    ("cmake_dependent_option", 0),
];

/// What judges in a text, where these functions of the project register tests.
pub(super) fn judging(text: &str, registrars: &BTreeSet<String>) -> Judging {
    let blocks = blocks(text, registrars, &BTreeSet::new());
    Judging { sections: sections(&blocks), members: BTreeSet::new() }
}

pub(super) fn restore(original: &str, today: &str, registrars: &BTreeSet<String>) -> String {
    let values = CMakeText::parse(original, registrars).values();
    let was = blocks(original, registrars, &values);
    let today = blocks(today, registrars, &values);
    let in_place = replaced(&was, &today);
    if judging(original, registrars).is_kept_by(&judging(&in_place, registrars)) {
        return in_place;
    }
    // What they stood in has become another: they follow today's work, with what they stood in.
    at_end(original, &was, &today).unwrap_or(in_place)
}

/// The blocks of a text; `values` are variables that say which tests there are in another one.
fn blocks(text: &str, registrars: &BTreeSet<String>, values: &BTreeSet<String>) -> Vec<TextBlock> {
    let text = CMakeText::parse(text, registrars);
    let (own, conditions) = (text.values(), conditions(&text.commands));
    let mut found = Vec::new();
    for (command, conditions) in text.commands.iter().zip(conditions) {
        let key = text.key_of(command).or_else(|| {
            let is_value = |name: &&str| own.contains(*name) || values.contains(*name);
            let name = variable_of(command).filter(is_value);
            name.map(|name| format!("{} {name}", command.name))
        });
        let says = format!("{} {}", conditions.join(" / "), kept(command).join(" "));
        found.push(TextBlock { key, says, text: command.text.clone() });
    }
    found.push(TextBlock { key: None, says: String::new(), text: text.rest });
    found
}

/// A text with what is known about its tests.
struct CMakeText<'r> {
    commands: Vec<CMakeCommand>,
    rest: String,
    targets: BTreeSet<String>,
    registrars: &'r BTreeSet<String>,
}

impl<'r> CMakeText<'r> {
    fn parse(text: &str, registrars: &'r BTreeSet<String>) -> Self {
        let (commands, rest) = parse(text);
        let targets = test_targets(&commands);
        Self { commands, rest, targets, registrars }
    }

    /// What a command decides, where it decides something.
    fn key_of(&self, command: &CMakeCommand) -> Option<String> {
        let registers = || self.registrars.contains(&command.name);
        let subject = || command.words.first().map_or("", String::as_str);
        key_of(command, &self.targets)
            .or_else(|| registers().then(|| format!("{} {}", command.name, subject())))
    }

    /// Variables that say which tests there are: `set(TESTS a b)` over `foreach(… ${TESTS})`.
    fn values(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for (command, conditions) in self.commands.iter().zip(conditions(&self.commands)) {
            if self.key_of(command).is_none() {
                continue;
            }
            found.extend(kept(command).into_iter().flat_map(references).map(str::to_string));
            for condition in &conditions {
                let words = condition.split(' ').filter(|word| !word.contains('$'));
                found.extend(words.chain(references(condition)).map(str::to_string));
            }
        }
        found
    }
}

/// What each command stands in.
fn conditions(commands: &[CMakeCommand]) -> Vec<Vec<String>> {
    let mut open: Vec<String> = Vec::new();
    let mut found = Vec::new();
    for command in commands {
        let name = command.name.as_str();
        if OPENS.contains(&name) {
            open.push(format!("{name} {}", command.words.join(" ")));
        } else if DIVIDES.contains(&name) {
            let more = format!(" {name} {}", command.words.join(" "));
            open.iter_mut().next_back().into_iter().for_each(|own| own.push_str(&more));
        } else if CLOSES.contains(&name) {
            open.pop();
        }
        found.push(open.clone());
    }
    found
}

/// The names in `${A}/${B}.c`.
fn references(word: &str) -> impl Iterator<Item = &str> {
    word.split("${").skip(1).filter_map(|rest| rest.split('}').next())
}

/// The variable that a command gives a value.
fn variable_of(command: &CMakeCommand) -> Option<&str> {
    let (_, at) = VALUES.iter().find(|(name, _)| *name == command.name)?;
    command.words.get(*at).map(String::as_str)
}

/// Today's work, then the original's judging commands with the loops and conditions around them.
///
/// Nothing where they are in a function: it would be another one for those who called it before.
fn at_end(original: &str, was: &[TextBlock], today: &[TextBlock]) -> Option<String> {
    let mut text = String::new();
    let work = today.iter().filter(|block| block.key.is_none());
    work.for_each(|block| push(&mut text, &block.text));
    let (commands, _) = parse(original);
    // The first one is of the file itself.
    let mut open = vec![(String::new(), false)];
    for (command, block) in commands.iter().zip(was) {
        let name = command.name.as_str();
        if OPENS.contains(&name) {
            open.push((command.text.clone(), false));
        } else if CLOSES.contains(&name) {
            let (mut inner, judges) = open.pop()?;
            push(&mut inner, &command.text);
            if judges && ["endfunction", "endmacro"].contains(&name) {
                return None;
            }
            let (outer, is_judge) = open.last_mut()?;
            push(outer, if judges { &inner } else { "" });
            *is_judge |= judges;
        } else if block.key.is_some() || DIVIDES.contains(&name) || open.len() > 1 {
            let (inner, judges) = open.last_mut()?;
            let is_kept = block.key.is_some() || DIVIDES.contains(&name) || is_value(command);
            push(inner, if is_kept { &command.text } else { "" });
            *judges |= block.key.is_some();
        }
    }
    open.first().map(|(tests, _)| push(&mut text, tests))?;
    Some(text)
}

/// Whether a command may be there twice.
fn is_value(command: &CMakeCommand) -> bool {
    variable_of(command).is_some() || ["string", "find_package"].contains(&command.name.as_str())
}

/// What a command decides, where it decides something.
fn key_of(command: &CMakeCommand, targets: &BTreeSet<String>) -> Option<String> {
    let (name, words) = (command.name.as_str(), &command.words);
    let first = words.first().map_or("", String::as_str);
    let subject = match name {
        "add_test" if first == "NAME" => words.get(1).map_or("", String::as_str),
        _ => first,
    };
    // `add_unit_test(span)`: a function of the project.
    let is_own = || words_of(name).iter().any(|word| word == "test" || word == "tests");
    let is_about_tests = TESTS.contains(&name)
        || is_own()
        || leads_to_tests(name, first)
        || (name == "set_property" && first == "TEST")
        || (name == "include" && ["CTest", "GoogleTest", "Catch"].contains(&first))
        || (name == "set" && (first.starts_with("CTEST_") || first == "CMAKE_BUILD_TYPE"))
        || (name != "include" && words.iter().any(|word| word.contains("CTest")));
    let defines = name.ends_with("compile_definitions");
    let silences = words.iter().any(|word| silences(word) || (defines && defines_assertions(word)));
    let makes = ["add_executable", "add_library", "set_target_properties", "add_dependencies"];
    let is_of_test = makes.contains(&name) || name.starts_with("target_");
    let is_property = name == "set_property" && words.iter().any(|word| targets.contains(word));
    let judges = is_about_tests || silences || (is_of_test && targets.contains(first));
    (judges || is_property).then(|| format!("{name} {subject}"))
}

/// Functions and macros of a text that do nothing but build and register tests.
pub(in crate::judges) fn registrars(text: &str) -> BTreeSet<String> {
    let (commands, _) = parse(text);
    let mut found = BTreeSet::new();
    for (at, command) in commands.iter().enumerate() {
        let Some(end) = ["function", "macro"].iter().find(|own| command.name == **own) else {
            continue;
        };
        let end = format!("end{end}");
        let body = commands[at + 1..].split(|own| own.name == end).next().unwrap_or_default();
        let targets = test_targets(body);
        let is_product = |own: &CMakeCommand| match own.name.as_str() {
            "install" | "add_custom_target" | "add_custom_command" => true,
            "add_executable" | "add_library" => {
                own.words.first().is_some_and(|name| !targets.contains(name))
            }
            _ => false,
        };
        if body.iter().any(|own| own.name == "add_test") && !body.iter().any(is_product) {
            found.extend(command.words.first().map(|name| name.to_ascii_lowercase()));
        }
    }
    found
}

/// `add_subdirectory(tests)`, `include(tests/list.cmake)`: what is there has tests in it.
fn leads_to_tests(name: &str, first: &str) -> bool {
    let path = Path::new(first.trim_start_matches("${CMAKE_CURRENT_SOURCE_DIR}/"));
    match name {
        "add_subdirectory" => said(&path.join("CMakeLists.txt")).is_some(),
        "include" => extension_of(path) == "cmake" && said(path).is_some(),
        _ => false,
    }
}

/// What it says, without sources of the work and where to find them: those come and go.
fn kept(command: &CMakeCommand) -> Vec<&str> {
    let is_work = |word: &&String| {
        let path = Path::new(word.as_str());
        is_code(extension_of(path)) && said(path).is_none()
    };
    let places = ["target_include_directories", "target_link_libraries", "target_sources"];
    if places.contains(&command.name.as_str()) {
        return vec![command.name.as_str()];
    }
    let words = command.words.iter().filter(|word| !is_work(word)).map(String::as_str);
    [command.name.as_str()].into_iter().chain(words).collect()
}

/// Targets that are tests: they have a test's source, or a test starts them.
fn test_targets(commands: &[CMakeCommand]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for command in commands {
        let is_test = |word: &&String| {
            let path = Path::new(word.as_str());
            is_code(extension_of(path)) && said(path).is_some()
        };
        match command.name.as_str() {
            "add_executable" | "add_library" | "target_sources"
                if command.words.iter().any(|word| is_test(&word)) =>
            {
                found.extend(command.words.first().cloned());
            }
            "add_test" => {
                let at = command.words.iter().position(|word| word == "COMMAND");
                let at = at.unwrap_or(usize::from(command.words.len() > 1));
                let target = command.words.get(at + 1).or_else(|| command.words.get(1));
                found.extend(target.cloned());
            }
            _ => {}
        }
    }
    found
}

/// The commands in order, and what stands behind the last one.
fn parse(text: &str) -> (Vec<CMakeCommand>, String) {
    let mut found = Vec::new();
    let (mut name, mut words, mut word) = (String::new(), Vec::new(), String::new());
    let (mut depth, mut begin) = (0_usize, 0);
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '#' => while letters.next_if(|(_, letter)| *letter != '\n').is_some() {},
            '"' if depth > 0 => words.push(quoted(&mut letters)),
            '(' => {
                depth += 1;
                if depth == 1 {
                    name = std::mem::take(&mut word).to_ascii_lowercase();
                }
            }
            ')' if depth > 0 => {
                words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
                depth -= 1;
                if depth > 0 {
                    continue;
                }
                let line_end = letters.next_if(|(_, letter)| *letter == '\n');
                let end = line_end.map_or(at + 1, |(at, _)| at + 1);
                let (name, words) = (std::mem::take(&mut name), std::mem::take(&mut words));
                found.push(CMakeCommand { name, words, text: text[begin..end].into() });
                begin = end;
            }
            letter if letter.is_whitespace() || letter == ';' => {
                if depth > 0 && !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            letter => word.push(letter),
        }
    }
    (found, text[begin..].into())
}

/// The rest of a quoted word.
fn quoted(letters: &mut std::iter::Peekable<std::str::CharIndices<'_>>) -> String {
    let mut word = String::new();
    while let Some((_, letter)) = letters.next() {
        match letter {
            '"' => break,
            '\\' => word.extend(letters.next().map(|(_, letter)| letter)),
            letter => word.push(letter),
        }
    }
    word
}

#[cfg(test)]
mod tests;
