use std::collections::BTreeSet;

use super::{SectionReach, judging, restore};
use crate::judges::role::MixedKind;

fn reach(tools: &str, names: &str) -> SectionReach {
    let set =
        |text: &str| -> BTreeSet<String> { text.split_whitespace().map(Into::into).collect() };
    SectionReach { tools: set(tools), names: set(names), ..SectionReach::default() }
}

/// Whether `today` judges as `original` did.
#[track_caller]
fn is_same(kind: MixedKind, reach: &SectionReach, original: &str, today: &str) -> bool {
    let was = judging(kind, original, reach).expect("the original");
    was.is_kept_by(&judging(kind, today, reach).expect("today's"))
}

/// Changes of `original`, each marked `=` where it is work and `!` where it judges. What judges is
/// put back, and what is work survives.
#[track_caller]
pub(super) fn check(
    kind: MixedKind,
    reach: &SectionReach,
    original: &str,
    changes: &[(&str, &str, &str)],
) {
    for (mark, from, to) in changes {
        assert!(from.is_empty() || original.contains(from), "{from:?} is in the text");
        let today = if from.is_empty() {
            format!("{original}{to}")
        } else {
            original.replacen(from, to, 1)
        };
        let same = is_same(kind, reach, original, &today);
        assert_eq!(if same { "=" } else { "!" }, *mark, "{kind:?}: {from:?} to {to:?}");
        let restored = restore(kind, original, &today, reach).expect("restored");
        assert!(is_same(kind, reach, original, &restored), "{from:?} to {to:?}: {restored}");
        if same {
            assert_eq!(restored, today, "work is left alone");
        }
    }
}

const PYPROJECT: &str = "\
[project]
name = 'x'
version = '1'
dependencies = ['a']

[tool.pytest.ini_options]
addopts = '-q'  # quiet
testpaths = ['tests']

[tool.ruff]
line-length = 100

[project.entry-points.pytest11]
mine = 'mine.plugin'
";

#[test]
fn pyproject() {
    let own = reach("pytest python", "");
    check(
        MixedKind::Pyproject,
        &own,
        PYPROJECT,
        &[
            ("=", "version = '1'", "version = '2'"),
            ("=", "['a']", "['a', 'b']"),
            ("=", "'-q'  # quiet", "\"-q\""),
            ("=", "line-length = 100", "line-length = 9"),
            ("=", "", "\n[tool.flake8]\nignore = ['E']\n"),
            ("=", "", "\n[tool.poetry]\nname = 'x'\n"),
            (
                "=",
                "addopts = '-q'  # quiet\ntestpaths = ['tests']",
                "testpaths = ['tests']\naddopts = '-q'",
            ),
            ("!", "addopts = '-q'", "addopts = '-q -p no:cacheprovider -k nothing'"),
            ("!", "testpaths = ['tests']", "testpaths = ['empty']"),
            ("!", "testpaths = ['tests']\n", ""),
            ("!", "", "\n[tool.coverage.report]\nfail_under = 0\n"),
            ("!", "mine = 'mine.plugin'", "mine = 'evil'"),
            ("!", "[project.entry-points.pytest11]\nmine = 'mine.plugin'\n", ""),
            (
                "!",
                "[tool.pytest.ini_options]\naddopts = '-q'  # quiet\ntestpaths = ['tests']\n",
                "",
            ),
        ],
    );
    let today = PYPROJECT.replace("version = '1'", "version = '2'").replace("'-q'", "'-k x'");
    let restored = restore(MixedKind::Pyproject, PYPROJECT, &today, &own).expect("restored");
    assert!(restored.contains("version = '2'"), "{restored}");
    assert!(restored.contains("addopts = '-q'"), "{restored}");
    let new = restore(MixedKind::Pyproject, "", PYPROJECT, &own).expect("restored");
    assert!(new.contains("dependencies") && !new.contains("addopts"), "{new}");
    let inline = "tool = { pytest = { ini_options = { addopts = '-q' } }, x = { y = 1 } }\n";
    let back = restore(MixedKind::Pyproject, inline, &inline.replace("-q", "-k x"), &own);
    assert!(back.expect("restored").contains("pytest = { ini_options = { addopts = '-q' } }"));
}

#[test]
fn a_linter_is_judged_by_its_own_settings_only() {
    let own = reach("ruff", "");
    check(
        MixedKind::Pyproject,
        &own,
        PYPROJECT,
        &[
            ("!", "line-length = 100", "line-length = 9"),
            ("=", "addopts = '-q'", "addopts = '-k x'"),
        ],
    );
}

#[test]
fn tables_that_only_tests_look_up_judge() {
    let settings = ["test", ".test"].map(String::from).into();
    let own = SectionReach { settings, ..reach("pytest", "") };
    check(
        MixedKind::Pyproject,
        &own,
        "[tool.span]\nname = 'a'\n[tool.span.test]\nslack = 0\n[tool.poetry.group.test]\nx = '1'\n",
        &[
            ("!", "slack = 0", "slack = 1000"),
            ("=", "name = 'a'", "name = 'b'"),
            ("=", "x = '1'", "x = '2'"),
        ],
    );
}

#[test]
fn ini_files() {
    let original = "\
[metadata]
name = x
version = 1

[tool:pytest]
# quiet
addopts = -q
testpaths =
    tests
    more

[options.entry_points]
console_scripts =
    x = x:main
pytest11 =
    mine = mine
";
    let own = reach("pytest python", "");
    check(
        MixedKind::SetupCfg,
        &own,
        original,
        &[
            ("=", "version = 1", "version = 2"),
            ("=", "# quiet\n", ""),
            ("=", "addopts = -q", "addopts=-q"),
            ("=", "x = x:main", "x = x:run"),
            ("=", "", "\n[flake8]\nmax-line-length = 100\n"),
            ("=", "", "\n[tox]\nenvlist = py3\n"),
            ("!", "addopts = -q", "addopts = -q -k x"),
            ("!", "    more\n", ""),
            ("!", "    mine = mine\n", "    mine = evil\n"),
            ("!", "pytest11 =\n    mine = mine\n", ""),
            ("!", "[tool:pytest]\n", "[tool:other]\n"),
        ],
    );
    let today = original.replace("pytest11 =\n    mine = mine\n", "").replace('1', "2");
    let restored = restore(MixedKind::SetupCfg, original, &today, &own).expect("restored");
    assert_eq!(restored.matches("[options.entry_points]").count(), 1, "{restored}");
    assert!(restored.contains("x = x:main") && restored.contains("version = 2"), "{restored}");
    let tox = "[tox]\nenvlist = py3\n\n[testenv]\ncommands = pytest\n\n[pytest]\naddopts = -q\n";
    check(
        MixedKind::ToxIni,
        &reach("tox pytest", ""),
        tox,
        &[
            ("!", "commands = pytest", "commands = true"),
            ("!", "envlist = py3", "envlist ="),
            ("!", "addopts = -q", "addopts = -k x"),
            ("=", "", "\n[flake8]\nignore = E\n"),
        ],
    );
    check(
        MixedKind::ToxIni,
        &own,
        tox,
        &[("=", "commands = pytest", "commands = true"), ("!", "addopts = -q", "addopts = -k x")],
    );
}

#[test]
fn package_json() {
    let original = r#"{
  "name": "x",
  "version": "1.0.0",
  "scripts": {
    "test": "jest",
    "build": "tsc"
  },
  "jest": { "testMatch": ["**/*.test.js"] },
  "workspaces": ["a", "b"],
  "exports": { "import": "./x.mjs", "default": "./x.js" },
  "dependencies": { "a": "1" }
}
"#;
    let own = reach("npm jest node", "test pretest posttest");
    check(
        MixedKind::PackageJson,
        &own,
        original,
        &[
            ("=", "1.0.0", "2.0.0"),
            ("=", "\"build\": \"tsc\"", "\"build\": \"vite build\""),
            ("=", "\"build\": \"tsc\"", "\"build\": \"tsc\", \"lint\": \"eslint .\""),
            ("=", "{ \"a\": \"1\" }", "{ \"a\": \"2\", \"b\": \"1\" }"),
            ("=", "\"name\": \"x\"", "\"type\": \"module\", \"name\": \"x\""),
            ("=", "\"name\": \"x\"", "\"eslintConfig\": {}, \"name\": \"x\""),
            ("=", "[\"a\", \"b\"]", "[\"b\", \"c\", \"a\"]"),
            ("=", "{ \"testMatch\": [\"**/*.test.js\"] }", "{\"testMatch\":[\"**/*.test.js\"]}"),
            ("!", "\"test\": \"jest\"", "\"test\": \"true\""),
            ("!", "\"test\": \"jest\",", ""),
            ("!", "\"build\": \"tsc\"", "\"pretest\": \"rm -r tests\", \"build\": \"tsc\""),
            ("!", "**/*.test.js", "**/*.none.js"),
            (
                "!",
                "\"name\": \"x\"",
                "\"overrides\": { \"jest\": \"file:./fake\" }, \"name\": \"x\"",
            ),
            (
                "!",
                "\"name\": \"x\"",
                "\"pnpm\": { \"overrides\": { \"jest\": \"1\" } }, \"name\": \"x\"",
            ),
            ("!", "\"name\": \"x\"", "\"babel\": { \"plugins\": [] }, \"name\": \"x\""),
            ("!", "[\"a\", \"b\"]", "[\"a\"]"),
        ],
    );
    let today = original.replace("\"jest\",", "\"true\",").replace("1.0.0", "2.0.0");
    let restored = restore(MixedKind::PackageJson, original, &today, &own).expect("restored");
    assert_eq!(restored, {
        let text = original.replace("1.0.0", "2.0.0");
        text.replace(
            "\"jest\": { \"testMatch\": [\"**/*.test.js\"] }",
            "\"jest\": {\n    \"testMatch\": [\"**/*.test.js\"]\n  }",
        )
        .replace(
            "{ \"import\": \"./x.mjs\", \"default\": \"./x.js\" }",
            "{\n    \"import\": \"./x.mjs\",\n    \"default\": \"./x.js\"\n  }",
        )
        .replace("{ \"a\": \"1\" }", "{\n    \"a\": \"1\"\n  }")
    });
    let error = restore(MixedKind::PackageJson, original, "{", &own).expect_err("not JSON");
    assert!(error.to_string().starts_with("read today's file: EOF"), "{error}");
}

#[test]
fn cargo_toml() {
    let original = "\
[package]
name = 'x'
version = '0.1.0'

[lib]
path = 'src/lib.rs'

[[bin]]
name = 'x'
test = true

[[test]]
name = 'it'
harness = true

[dependencies]
a = '1'

[lints.rust]
unsafe_code = 'forbid'

[workspace]
members = ['crates/a', 'crates/b']
";
    check(
        MixedKind::CargoToml,
        &reach("cargo", ""),
        original,
        &[
            ("=", "0.1.0", "0.2.0"),
            ("=", "a = '1'", "a = '2'\nb = '1'"),
            ("=", "'crates/b']", "'crates/b', 'crates/c']"),
            ("=", "", "\n[features]\nx = []\n"),
            ("=", "", "\n[dev-dependencies]\nx = '1'\n"),
            ("!", "harness = true", "harness = false"),
            ("!", "[lib]\n", "[lib]\ntest = false\n"),
            ("!", "[lib]\n", "[lib]\nharness = false\n"),
            ("!", "[lib]\n", "[lib]\ndoctest = false\n"),
            ("!", "test = true", "test = false"),
            ("!", "name = 'x'\nversion", "autotests = false\nname = 'x'\nversion"),
            ("!", "'forbid'", "'allow'"),
            ("!", "", "\n[profile.test]\nopt-level = 3\n"),
            ("!", "", "\n[patch.crates-io]\na = { path = 'fake' }\n"),
            ("!", ", 'crates/b'", ""),
            ("!", "[[test]]\nname = 'it'\nharness = true\n", ""),
            ("!", "[[bin]]\nname = 'x'\ntest = true\n", ""),
            ("!", "", "\n[[test]]\nname = 'it2'\nharness = false\n"),
        ],
    );
}

#[test]
fn go_mod() {
    check(
        MixedKind::GoMod,
        &reach("go", ""),
        "module x\n\ngo 1.22\n\nrequire a v1\n\nreplace (\n\tb => ../b // near\n)\n",
        &[
            ("=", "require a v1", "require (\n\ta v2\n\tc v1\n)"),
            ("=", "replace (\n\tb => ../b // near\n)", "replace b => ../b"),
            ("=", "go 1.22", "go 1.23"),
            ("!", "../b", "../c"),
            ("!", "", "replace a => ./fake\n"),
            ("!", "replace (\n\tb => ../b // near\n)\n", ""),
        ],
    );
}

const MAKEFILE: &str = "\
SRC = a.c b.c
PY ?= python3
FLAGS := -q

.PHONY: test build

app: $(SRC)
\tcc -o $@ $(SRC)

test: app lint
\t$(PY) -m pytest $(FLAGS)

# Rules of style.
lint:
\truff check .

build: app
";

#[test]
fn makefile() {
    check(
        MixedKind::Makefile,
        &reach("make pytest", "test lint $PY $FLAGS $NEW"),
        MAKEFILE,
        &[
            ("=", "SRC = a.c b.c", "SRC = a.c b.c c.c"),
            ("=", "cc -o $@ $(SRC)", "cc -O2 -o $@ $(SRC)"),
            ("=", "", "\nclean:\n\trm -f app\n"),
            ("=", "# Rules of style.\n", "# Style.\n"),
            ("=", "test build", "test build clean"),
            ("=", "build: app\n", "build: app\n\techo built\n"),
            ("=", "", "include more.mk\n"),
            ("!", "$(PY) -m pytest $(FLAGS)", "true"),
            ("!", "\t$(PY) -m pytest", "\t-$(PY) -m pytest"),
            ("!", "FLAGS := -q", "FLAGS := -q -k nothing"),
            ("!", "", "FLAGS += -k nothing\n"),
            ("!", "", "NEW = 1\n"),
            ("!", "ruff check .", "ruff check . || true"),
            ("!", "test: app lint", "test: app"),
            ("!", "", "test:\n\ttrue\n"),
            ("!", "", "SHELL = /bin/true\n"),
            ("!", "", ".IGNORE:\n"),
            ("!", "", "define x\ntest:\n\ttrue\nendef\n$(eval $(call x))\n"),
            ("!", "", "$(eval test: ; true)\n"),
            ("!", "", "T = test\n$(T):\n\ttrue\n"),
            ("=", "", "define x\nother:\n\ttrue\nendef\n$(eval $(call x))\n"),
            ("=", "", "T = other\n$(T):\n\ttrue\n"),
            ("!", "", "MAKEFLAGS += -i\n"),
            ("!", "", ".SHELLFLAGS = -c true\n"),
            ("!", "", "export PYTEST_ADDOPTS = -k nothing\n"),
            ("!", "", "export SHELLCHECK_OPTS := -e SC2086\n"),
            ("!", "", "test: PY = true\n"),
            ("!", "test build", "build"),
            ("!", "lint:\n\truff check .\n", ""),
        ],
    );
}

#[test]
fn a_makefile_keeps_its_order_and_todays_work() {
    let own = reach("make pytest", "test lint $PY $FLAGS");
    let today = MAKEFILE.replace("SRC = a.c b.c", "SRC = z.c").replace("-q", "-k x");
    let restored = restore(MixedKind::Makefile, MAKEFILE, &today, &own).expect("restored");
    assert_eq!(restored, MAKEFILE.replace("SRC = a.c b.c", "SRC = z.c"));
    let bare = restore(MixedKind::Makefile, "", "test:\n\ttrue\nx:\n\ty\n", &own);
    assert_eq!(bare.expect("restored"), "x:\n\ty\n");
    let more = "include a.mk b.mk c.mk\n";
    let kept = restore(MixedKind::Makefile, "include a.mk b.mk\n", more, &own);
    assert_eq!(kept.expect("restored"), more);
    let including = "include ../part.mk\nx:\n\ty\n";
    let lost = restore(MixedKind::Makefile, including, "x:\n\tz\n", &own);
    assert_eq!(lost.expect("restored"), "x:\n\tz\n-include ../part.mk\n");
}

#[test]
fn justfile() {
    check(
        MixedKind::Justfile,
        &reach("just", "test build $flags"),
        "flags := '-q'\nother := 'x'\n\n# Tests.\n[private]\ntest: build\n  pytest {{flags}}\n\nbuild:\n  cc app.c\n\nclean:\n  rm app\n",
        &[
            ("=", "rm app", "rm -f app"),
            ("=", "other := 'x'", "other := 'y'"),
            ("=", "", "\nnew:\n  true\n"),
            ("=", "# Tests.", "# All tests."),
            ("!", "pytest {{flags}}", "true"),
            ("!", "'-q'", "'-k x'"),
            ("!", "test: build", "test:"),
            ("!", "", "set shell := ['true']\n"),
            ("!", "", "export PYTHONOPTIMIZE := '1'\n"),
            ("!", "", "PATH := 'bin:' + env('PATH')\n"),
            ("=", "", "export GREETING := 'hi'\n"),
            ("!", "cc app.c", "true"),
            ("!", "# Tests.\n[private]\ntest: build\n  pytest {{flags}}\n", ""),
        ],
    );
}

#[test]
fn a_table_of_a_script_that_checks_judges_and_that_of_a_manager_does_not() {
    let text = "[tool.tidy]\nmax = 88\n\n[tool.poetry.dependencies]\nrich = \"1\"\n";
    let of = |tools, names| judging(MixedKind::Pyproject, text, &reach(tools, names)).unwrap();
    assert!(of("poetry python", "").is_empty());
    assert!(!of("python3", "tidy").is_empty());
}
