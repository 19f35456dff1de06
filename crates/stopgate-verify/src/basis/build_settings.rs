//! Settings that `CMake` keeps in its build directory from one run to the next.
//!
//! Git ignores that directory, and `cmake -B build` takes over whatever an earlier call left
//! there: a release build compiles assertions out, `CTestCustom.cmake` leaves tests out. An
//! original run goes without settings that came since the start, and so configures anew.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::text::path_text;
use crate::files::read_regular;
use crate::tree::{hash_of, hex};

/// The file that `CMake` keeps its variables in.
const CACHE: &str = "CMakeCache.txt";
/// Files beside it in which `ctest` looks for tests to leave out.
const CUSTOM: [&str; 2] = ["CTestCustom.cmake", "CTestCustom.ctest"];
/// Build directories are looked for this far below the root.
const DEPTH_MAX: usize = 3;
/// More directories than this are not looked at.
const DIRECTORIES_MAX: usize = 2_000;
/// No such file is longer.
const BYTES_MAX: u64 = 4 << 20;

/// The settings of every build directory, by path of the file that has them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct BuildSettings(BTreeMap<String, BTreeSet<String>>);

impl BuildSettings {
    /// The settings of today, for a check that uses these tools.
    pub(super) fn note<'t>(root: &Path, mut tools: impl Iterator<Item = &'t String>) -> Self {
        if !tools.any(|tool| ["cmake", "ctest"].contains(&tool.as_str())) {
            return Self::default();
        }
        let mut found = BTreeMap::new();
        for directory in build_directories(root) {
            let text = |name: &str| read_regular(&root.join(&directory).join(name), BYTES_MAX).ok();
            if let Some(bytes) = text(CACHE) {
                let settings = settings(&String::from_utf8_lossy(&bytes));
                found.insert(path_text(&directory.join(CACHE)), settings);
            }
            let custom = CUSTOM.iter().filter_map(|name| Some((name, text(name)?)));
            found.extend(custom.map(|(name, bytes)| {
                let content = BTreeSet::from([hex(&hash_of(&bytes))]);
                (path_text(&directory.join(name)), content)
            }));
        }
        Self(found)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Files with settings that these did not have, and what they say.
    pub(super) fn added(&self, now: &Self) -> Vec<(PathBuf, String)> {
        let none = BTreeSet::new();
        let added = now.0.iter().filter_map(|(path, today)| {
            let was = self.0.get(path);
            let fresh: Vec<&str> = today
                .difference(was.unwrap_or(&none))
                .map(String::as_str)
                .filter(|line| was.is_some() || !is_option(line))
                .collect();
            (!fresh.is_empty()).then(|| (super::text::text_path(path), fresh.join(" ")))
        });
        added.collect()
    }
}

/// Directories of the project in which `CMake` builds.
fn build_directories(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = VecDeque::from([(PathBuf::new(), 0)]);
    let mut looked = 0;
    while let Some((directory, depth)) = open.pop_front() {
        looked += 1;
        if looked > DIRECTORIES_MAX {
            break;
        }
        if root.join(&directory).join(CACHE).is_file() {
            found.push(directory);
            continue;
        }
        // A build directory that is yet to be configured may have been prepared.
        if CUSTOM.iter().any(|name| root.join(&directory).join(name).is_file()) {
            found.push(directory.clone());
        }
        if depth == DEPTH_MAX {
            continue;
        }
        for entry in fs::read_dir(root.join(&directory)).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_installed = crate::judges::is_installed(name.as_encoded_bytes());
            if !is_installed && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push_back((directory.join(name), depth + 1));
            }
        }
    }
    found
}

/// The variables that decide which tests there are, and whether their assertions are compiled.
fn settings(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter(|line| !line.starts_with(['#', '/']));
    let entry = |line: &str| {
        let (name, value) = line.split_once('=')?;
        let (name, kind) = name.split_once(':')?;
        let is_own = !["INTERNAL", "STATIC"].contains(&kind);
        let is_option = kind == "BOOL" && !name.starts_with("CMAKE_");
        (is_own && (is_option || steers(name, value))).then(|| {
            let mark = if is_option { OPTION } else { "" };
            format!("{mark}{name}={value}")
        })
    };
    lines.filter_map(entry).collect()
}

/// Before an option of the project: only where its default is known does a value say something.
const OPTION: &str = "option ";

fn is_option(line: &str) -> bool {
    line.starts_with(OPTION)
}

fn steers(name: &str, value: &str) -> bool {
    const NAMES: [&str; 4] = [
        "CMAKE_TOOLCHAIN_FILE",
        "CMAKE_CROSSCOMPILING_EMULATOR",
        "CMAKE_TEST_LAUNCHER",
        "CMAKE_CTEST_ARGUMENTS",
    ];
    let silences = ["NDEBUG", "--wrap", "-include"].iter().any(|word| value.contains(word));
    // Every project has flags for each kind of build; which kind it is decides.
    let is_of_kind =
        ["_RELEASE", "_MINSIZEREL", "_RELWITHDEBINFO"].iter().any(|end| name.ends_with(end));
    let is_included = name.starts_with("CMAKE_PROJECT_") && name.contains("INCLUDE");
    match name {
        "CMAKE_BUILD_TYPE" => !["", "Debug"].contains(&value),
        _ if value.is_empty() => false,
        _ => NAMES.contains(&name) || is_included || (silences && !is_of_kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "# cache\nCMAKE_BUILD_TYPE:STRING=\nCMAKE_C_FLAGS:STRING=\n\
        CMAKE_C_FLAGS_RELEASE:STRING=-O3 -DNDEBUG\nWITH_SLOW:BOOL=ON\nX_SOURCE_DIR:STATIC=/x\n";

    fn noted(text: &str) -> BuildSettings {
        BuildSettings(BTreeMap::from([("build/CMakeCache.txt".into(), settings(text))]))
    }

    #[test]
    fn what_silences_tests_is_told() {
        for (was, now) in [
            ("BUILD_TYPE:STRING=\n", "BUILD_TYPE:STRING=Release\n"),
            ("C_FLAGS:STRING=\n", "C_FLAGS:STRING=-DNDEBUG\n"),
            ("SLOW:BOOL=ON", "SLOW:BOOL=OFF"),
            ("# cache", "CMAKE_PROJECT_INCLUDE:FILEPATH=/tmp/x.cmake"),
        ] {
            let today = noted(&FIRST.replace(was, now));
            assert_eq!(noted(FIRST).added(&today).len(), 1, "{now}");
        }
    }

    #[test]
    fn ordinary_settings_are_not_told() {
        for (was, now) in [
            ("BUILD_TYPE:STRING=\n", "BUILD_TYPE:STRING=Debug\n"),
            ("C_FLAGS:STRING=\n", "C_FLAGS:STRING=-Wall\n"),
            ("# cache", "CMAKE_EXPORT_COMPILE_COMMANDS:BOOL=ON"),
            ("/x", "/y"),
        ] {
            let today = noted(&FIRST.replace(was, now));
            assert!(noted(FIRST).added(&today).is_empty(), "{now}");
        }
        // What a directory that is new has by default is not known.
        assert!(BuildSettings::default().added(&noted(FIRST)).is_empty());
    }

    #[test]
    fn tests_that_are_left_out_are_found_before_the_first_build() {
        let root = tempfile::tempdir().expect("make a directory");
        let build = root.path().join("out/build");
        fs::create_dir_all(&build).expect("make a directory");
        let tools = ["ctest".to_string()];
        let before = BuildSettings::note(root.path(), tools.iter());
        fs::write(build.join(CUSTOM[0]), "set(CTEST_CUSTOM_TESTS_IGNORE a)\n").expect("write");
        let after = BuildSettings::note(root.path(), tools.iter());
        let told = before.added(&after);
        assert_eq!(told[0].0, Path::new("out/build/CTestCustom.cmake"));
        assert!(BuildSettings::note(root.path(), ["make".to_string()].iter()).is_empty());
    }
}
