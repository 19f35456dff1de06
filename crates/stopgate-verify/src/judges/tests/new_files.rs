//! Files that did not exist at the start.

use std::path::Path;

use super::{JudgeRole, Scene, criterion};

/// Rows of `new files => role of the first one`, for a command in a scene.
#[track_caller]
fn check(scene: &str, command: &str, rows: &str) {
    let mut wrong = Vec::new();
    for row in rows.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let (new, expected) = row.split_once("=>").expect("a row has an arrow");
        let scene = Scene::new(scene);
        let set = scene.set(&criterion("tests", command));
        scene.add(&new.replace(" + ", "\n"));
        let first = new.split([' ', '+']).next().expect("a path");
        let role = set.rules().role_of_new(Path::new(first), &scene.files()).to_string();
        if role != expected.trim() {
            wrong
                .push(format!("{command}: {first}\n   found {role}\n  wanted {}", expected.trim()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn new_python_files() {
    check(
        "calc.py\ntests/test_calc.py\nqueue.py",
        "python -m pytest",
        "
        pytest.py => hides the module pytest
        pluggy.py => hides the module pluggy
        _pytest/__init__.py => hides the module _pytest
        _pytest/x.py + _pytest/__init__.py => hides the module _pytest
        unittest.py => hides the module unittest
        json.py => hides the module json
        random.pyc => hides the module random
        sitecustomize.py => configuration of pytest
        usercustomize.py => configuration of pytest
        hack.pth => configuration of pytest
        x.dist-info/entry_points.txt = [pytest11]\\nx = evil => hides pytest's plugins
        x.dist-info/METADATA + x.dist-info/entry_points.txt = [pytest11]\\nx = evil => hides pytest's plugins
        pytest-9.9.dist-info/METADATA => hides the package pytest
        calc.egg-info/PKG-INFO => work
        conftest.py => configuration of pytest
        vendor/lib/conftest.py => configuration of pytest
        pytest.ini => configuration of pytest
        tests/calc.py => test by name
        tests/test_new.py => test by name
        test_other.py => test by name
        calculator.py => work
        pkg/json.py => work
        pkg/__init__.py => work
        html/x.py => work
        queue.py => work
        setup.cfg => settings of test tools
        tox.ini => settings of test tools
        pyproject.toml => settings of test tools
        .flake8 => work
        mypy.ini => work
        .npmrc => work
        Makefile => work
        package.json => work
        README.md => work
        .python-version => configuration of python
        ",
    );
}

#[test]
fn new_makefiles_and_targets() {
    let scene = "Makefile = test:\\n\\tsh app.sh\\n.PHONY: lint\\nlint:\\n\\ttrue\\n\napp.sh";
    check(
        scene,
        "make test",
        "
        GNUmakefile => hides Makefile
        makefile => hides Makefile
        test => hides the make target test
        more.mk => targets that the check reaches
        sub/Makefile => work
        app.c => work
        ",
    );
    check(scene, "make lint", "lint => work");
    check("app.sh", "make test", "Makefile => work");
    check(
        "Makefile = include conf\\ntest:\\n\\ttrue",
        "make test",
        "conf => targets that the check reaches",
    );
}

#[test]
fn new_node_files() {
    check(
        "package.json = {\"scripts\":{\"test\":\"jest\"}}\nsrc/a.js\nnode_modules/jest/index.js",
        "npm test",
        "
        jest.config.js => configuration of jest
        babel.config.js => configuration of jest
        .npmrc => configuration of npm
        src/a.test.js => test by name
        __mocks__/fs.js => test by name
        src/b.js => work
        vitest.config.ts => work
        eslint.config.js => work
        .nvmrc => configuration of npm
        src/features/x.js => work
        ",
    );
}

#[test]
fn new_rust_and_go_files() {
    check(
        "Cargo.toml\nsrc/lib.rs",
        "cargo test",
        "
        .cargo/config.toml => configuration of cargo
        rust-toolchain.toml => configuration of cargo
        build.rs => #[cfg(test)] items, examples in documentation
        src/new.rs => #[cfg(test)] items, examples in documentation
        tests/new.rs => test by name
        src/foo/tests.rs => test by name
        clippy.toml => work
        crates/a/Cargo.toml => test targets, lints, profiles, patches
        ",
    );
    check(
        "go.mod",
        "go test ./...",
        "
        go.work => modules in use, replacements
        vendor/modules.txt => hides modules that were found elsewhere
        vendor/example.org/a/a.go => work
        add_test.go => test by name
        add.go => work
        testdata/x.json => data that tests compare with
        ",
    );
}

#[test]
fn a_program_hides_one_that_was_found_elsewhere() {
    let scene = Scene::new("calc.py\ntests/test_a.py");
    let mut own = criterion("tests", "sh run_tests.sh && nosuchprogram");
    let bin = scene.root().join("tools");
    own.terms.set = vec![("PATH".into(), format!("{}:/usr/bin:/bin", bin.display()))];
    let set = scene.set(&own);
    scene.add("tools/sh\ntools/nosuchprogram\ntools/other");
    let role = |path: &str| set.rules().role_of_new(Path::new(path), &scene.files()).to_string();
    assert_eq!(role("tools/sh"), "hides the program sh");
    assert_eq!(role("tools/nosuchprogram"), "work");
    assert_eq!(role("tools/other"), "work");
}

#[test]
fn a_nearer_package_or_justfile_hides_the_one_in_use() {
    let scene = Scene::new(
        "package.json = {\"scripts\":{\"test\":\"jest\"}}\njustfile = test:\\n  true\nsub/x/a.js",
    );
    let mut own = criterion("tests", "npm test && just test");
    own.terms.cwd = Some("sub/x".into());
    let set = scene.set(&own);
    let role = |path: &str| set.rules().role_of_new(Path::new(path), &scene.files()).to_string();
    assert_eq!(role("sub/package.json"), "hides package.json");
    assert_eq!(role("sub/x/justfile"), "hides justfile");
    assert_eq!(role("other/justfile"), "work");
}

#[test]
fn a_script_that_a_judge_reads_if_it_is_there_judges_when_it_is_made() {
    check(
        "check.sh = [ -f local.sh ] && . ./local.sh\\ntrue",
        "./check.sh",
        "
        local.sh => used by a script that the check runs
        other.sh => work
        ",
    );
}

#[test]
fn modules_of_a_program_under_test_may_have_any_name() {
    check(
        "main.py",
        "python main.py | grep -q hello",
        "
        queue.py => work
        pytest.py => hides the module pytest
        tests/test_main.py => work
        ",
    );
}

#[test]
fn a_program_in_a_directory_that_a_script_puts_on_the_path_hides_the_usual_one() {
    let scene = Scene::new(
        "
        scripts/test.sh = export PATH=\"$PWD/tools:$PATH\"\\nsh -c true\\npython3 -m pytest -q
        tools/build
        ",
    );
    let set = scene.set(&criterion("tests", "sh scripts/test.sh"));
    scene.add("tools/sh\ntools/other");
    let role = |path: &str| set.rules().role_of_new(Path::new(path), &scene.files());
    assert!(matches!(role("tools/sh"), JudgeRole::Whole(_)), "{:?}", role("tools/sh"));
    assert_eq!(role("tools/other"), JudgeRole::Work);
}

#[test]
fn new_java_files() {
    check(
        "src/pace/Pace.java\ntest/pace/PaceTest.java",
        "javac -d out src/pace/Pace.java test/pace/PaceTest.java && java -cp out pace.PaceTest",
        "
        src/pace/System.java => hides the class java.lang.System
        src/pace/Systems.java => work
        ",
    );
}

#[test]
fn a_package_that_moves_hides_nothing_but_its_double_does() {
    let scene = Scene::new("tomli/__init__.py\ntests/test_it.py");
    let set = scene.set(&criterion("tests", "PYTHONPATH=src python -m pytest"));
    scene.add("src/tomli/__init__.py");
    let moved = Path::new("src/tomli/__init__.py");
    let role = || set.rules().role_of_new(moved, &scene.files()).to_string();
    assert_eq!(role(), "hides the module tomli");
    std::fs::remove_dir_all(scene.root().join("tomli")).expect("move it");
    assert_eq!(role(), "work");
}

#[test]
fn new_files_around_judging_scripts() {
    check(
        "scripts/check.py = import rules\nscripts/rules.py = x = 1\nsrc/rules.py = y = 1",
        "python3 scripts/check.py",
        "
        scripts/rules/__init__.py => hides scripts/rules.py
        src/rules/__init__.py => work
        --exclude=tool.sh => hides files from commands that take its name for an option
        ",
    );
    check(
        "run = for part in checks/*.sh; do . ./$part; done\nchecks/a.sh = grep -q x README",
        "sh run",
        "
        checks/00-notes.sh => test by name
        notes.sh => work
        ",
    );
    check(
        "packages/a/test/x.test.js\npackages/a/index.js",
        "for p in packages/*; do (cd $p && npm test); done",
        "
        packages/a/more.js => work
        ",
    );
    check(
        "Makefile = check: build smoke\\nbuild:\\n\\tcc x.c\\nsmoke:\\n\\t./x\\n.PHONY: check build\\n",
        "make check",
        "
        smoke/README.md => hides the make target smoke
        docs/README.md => work
        ",
    );
}

#[test]
fn a_header_with_the_name_of_one_that_only_tests_include() {
    check(
        "
        Makefile = CFLAGS = -Isrc -Iinclude\\ncheck: tests/test_a.c include/expect.h\\n\\t$(CC) $(CFLAGS) tests/test_a.c && ./a.out
        include/expect.h = #define EXPECT(is) do { if (!(is)) abort(); } while (0)
        src/a.h = int a(void);
        src/a.c = #include \"a.h\"
        tests/test_a.c = #include \"expect.h\"\\n#include \"a.h\"
        ",
        "make check",
        "
        src/expect.h = #define EXPECT(is) => hides the header expect.h
        src/limits.h = #define MAX 1 => assertion macros
        ",
    );
}
