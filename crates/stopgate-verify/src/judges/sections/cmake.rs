//! `CMakeLists.txt`: the commands that say which tests there are, what they are built from, and
//! whether their assertions are compiled. Everything else says how the work is built.

use std::collections::BTreeSet;
use std::path::Path;

use super::Judging;
use super::blocks::{TextBlock, replaced, sections};
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

pub(super) fn judging(text: &str) -> Judging {
    Judging { sections: sections(&blocks(text)), members: BTreeSet::new() }
}

pub(super) fn restore(original: &str, today: &str) -> String {
    replaced(&blocks(original), &blocks(today))
}

fn blocks(text: &str) -> Vec<TextBlock> {
    let (commands, rest) = parse(text);
    let targets = test_targets(&commands);
    let mut conditions: Vec<String> = Vec::new();
    let mut found = Vec::new();
    for command in commands {
        match command.name.as_str() {
            "if" | "foreach" | "function" | "macro" | "while" => {
                conditions.push(format!("{} {}", command.name, command.words.join(" ")));
            }
            "else" | "elseif" => {
                let more = format!(" {} {}", command.name, command.words.join(" "));
                conditions.iter_mut().next_back().into_iter().for_each(|own| own.push_str(&more));
            }
            "endif" | "endforeach" | "endfunction" | "endmacro" | "endwhile" => {
                conditions.pop();
            }
            _ => {}
        }
        let key = key_of(&command, &targets);
        let says = format!("{} {}", conditions.join(" / "), kept(&command).join(" "));
        found.push(TextBlock { key, says, text: command.text });
    }
    found.push(TextBlock { key: None, says: String::new(), text: rest });
    found
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
        || (name == "set_property" && first == "TEST")
        || (name == "include" && ["CTest", "GoogleTest", "Catch"].contains(&first))
        || (name == "set" && (first.starts_with("CTEST_") || first == "CMAKE_BUILD_TYPE"))
        || (name != "include" && words.iter().any(|word| word.contains("CTest")));
    let silences = words.iter().any(|word| {
        word.contains("NDEBUG") || word.contains("--wrap") || word.starts_with("-include")
    });
    let is_of_test =
        ["add_executable", "add_library"].contains(&name) || name.starts_with("target_");
    let judges = is_about_tests || silences || (is_of_test && targets.contains(first));
    judges.then(|| format!("{name} {subject}"))
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
mod tests {
    use super::*;

    const ORIGINAL: &str = "project(a C)\nadd_library(a src/a.c)\nenable_testing()\n\
        # a test\nadd_executable(t tests/test_a.c)\ntarget_link_libraries(t a)\n\
        add_test(NAME t COMMAND t)\n";

    fn is_kept(today: &str) -> bool {
        judging(ORIGINAL).is_kept_by(&judging(today))
    }

    #[test]
    fn how_the_work_is_built_is_work() {
        for (from, to) in [
            ("src/a.c)", "src/a.c src/b.c)"),
            ("project(a C)\n", "project(a C)\nadd_compile_options(-Wall)\nadd_executable(x x.c)\n"),
            ("tests/test_a.c)", "tests/test_a.c src/b.c)"),
            ("target_link_libraries(t a)", "target_link_libraries(t a m)"),
        ] {
            let today = ORIGINAL.replace(from, to);
            assert!(is_kept(&today), "{today}");
        }
    }

    #[test]
    fn which_tests_there_are_and_what_they_are_built_from_judges() {
        for (from, to) in [
            ("add_test(NAME t COMMAND t)\n", ""),
            ("tests/test_a.c", "src/none.c"),
            ("project(a C)\n", "project(a C)\nadd_compile_definitions(NDEBUG)\n"),
            ("project(a C)\n", "project(a C)\nset(CMAKE_BUILD_TYPE Release)\n"),
            ("COMMAND t)\n", "COMMAND t)\nset_tests_properties(t PROPERTIES WILL_FAIL TRUE)\n"),
            ("COMMAND t)\n", "COMMAND t)\nconfigure_file(x CTestCustom.cmake COPYONLY)\n"),
            ("enable_testing()\n", "if(OFF)\nenable_testing()\nendif()\n"),
        ] {
            let today = ORIGINAL.replace(from, to);
            assert!(!is_kept(&today), "{today}");
            let restored = restore(ORIGINAL, &today);
            let is_kept = judging(ORIGINAL).is_kept_by(&judging(&restored));
            assert!(is_kept || to.contains("if(OFF)"), "{restored}");
        }
    }

    #[test]
    fn a_test_that_was_added_is_left_out_and_the_work_stays() {
        let more = "add_library(b src/b.c)\nadd_executable(u tests/test_b.c)\n\
            target_link_libraries(u b)\nadd_test(NAME u COMMAND u)\n";
        let restored = restore(ORIGINAL, &format!("{ORIGINAL}{more}"));
        assert_eq!(restored, format!("{ORIGINAL}add_library(b src/b.c)\n"));
    }
}
