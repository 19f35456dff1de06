//! Which sections a command reaches, through scripts, targets and recipes.

use std::fs;
use std::path::Path;

use super::{Scene, criterion};
use crate::judges::sections::{judging, restore};
use crate::judges::{JudgeRole, MixedKind};

/// Rows of `command | file: from -> to`, marked `=` where the change is work and `!` where the
/// changed part judges.
#[track_caller]
fn check(scene: &str, rows: &str) {
    let scene = Scene::new(scene);
    let mut wrong = Vec::new();
    for row in rows.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let (mark, row) = row.split_at(1);
        let (command, change) = row.split_once(" | ").expect("a command");
        let (file, change) = change.split_once(": ").expect("a file");
        let (from, to) = change.split_once(" -> ").expect("a change");
        let set = scene.set(&criterion("done", command.trim()));
        let was = fs::read_to_string(scene.root().join(file)).expect("a file");
        let to = to.trim().replace("\\n", "\n").replace("\\t", "\t");
        assert!(was.contains(from), "{from} is in {file}");
        let now = was.replacen(from, &to, 1);
        let path = Path::new(file);
        let found = match set.role(path) {
            JudgeRole::Work => "=",
            JudgeRole::Whole(_) => "!",
            JudgeRole::Sections(kind) => {
                let reach = set.reach_of(path);
                let of = |text: &str| judging(kind, text, &reach).expect("readable");
                let restored = restore(kind, &was, &now, &reach).expect("a place");
                assert!(of(&was).is_kept_by(&of(&restored)), "{row}: {restored}");
                assert_eq!(of(&was).lines().count(), of(&restored).lines().count(), "{restored}");
                if of(&was).is_kept_by(&of(&now)) { "=" } else { "!" }
            }
        };
        if found != mark {
            wrong.push(format!("{row}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn make_targets_are_reached_through_prerequisites_includes_and_recipes() {
    check(
        "
        Makefile = include ci/*.mk\\nPY = python\\nSRC = a.c b.c\\nCASES = one two\\nBIN = app\\nall: build test\\n.PHONY: all test deep\\ntest: deep $(BIN)\\n\\t@$(MAKE) extra\\n\\t$(RUN) $(CASES)\\n$(BIN): $(SRC)\\n\\tcc -o $@ $(SRC)\\nextra:\\n\\t$(MAKE) -C sub check\\nother:\\n\\tx\\ndeep:\\n\\ty\\n
        ci/run.mk = RUN = $(PY) -m pytest $(OPTS)\\nOPTS := -q\\nUNUSED = 1\\nrelease:\\n\\tz\\n
        sub/Makefile = check: ; ./check.sh\\nrest: ; true\\n
        sub/check.sh
        ",
        "
        ! make test | Makefile: $(RUN) $(CASES) -> true
        ! make test | Makefile: PY = python -> PY = true
        ! make test | Makefile: CASES = one two -> CASES = one
        = make test | Makefile: SRC = a.c b.c -> SRC = a.c b.c c.c
        = make test | Makefile: cc -o $@ $(SRC) -> cc -O3 -o $@ $(SRC)
        ! make test | Makefile: deep: -> deep: more
        ! make test | Makefile: $(MAKE) -C sub check -> true
        = make test | Makefile: other: -> another:
        = make test | Makefile: all: build test -> all: test
        ! make | ci/run.mk: release: -> release: more
        = make | Makefile: $(RUN) $(CASES) -> true
        ! make test | ci/run.mk: -m pytest -> -c pass
        ! make test | ci/run.mk: OPTS := -q -> OPTS := -k x
        = make test | ci/run.mk: UNUSED = 1 -> UNUSED = 2
        = make test | ci/run.mk: release: -> publish:
        ! make test | sub/Makefile: ./check.sh -> true
        = make test | sub/Makefile: rest: -> others:
        ! make test | sub/check.sh:  -> true
        = make other | Makefile: deep: -> deeper:
        ",
    );
}

#[test]
fn package_scripts_are_reached_through_each_other() {
    check(
        r#"
        package.json = {"scripts":{"test":"npm run unit && yarn lint","unit":"jest","preunit":"node prep.js","lint":"eslint .","build":"tsc","style":"prettier ."},"eslintConfig":{"a":1},"jest":{"b":1},"prettier":{"c":1}}
        "#,
        r#"
        ! npm test | package.json: "jest" -> "true"
        ! npm test | package.json: node prep.js -> true
        ! npm test | package.json: eslint . -> true
        ! npm test | package.json: {"scripts":{ -> {"scripts":{"posttest":"exit 0",
        ! npm test | package.json: {"scripts":{ -> {"scripts":{"prelint":"exit 0",
        = npm test | package.json: "tsc" -> "vite build"
        = npm test | package.json: {"scripts":{ -> {"scripts":{"prebuild":"x",
        ! npm test | package.json: {"a":1} -> {"a":0}
        = npm test | package.json: {"c":1} -> {"c":0}
        = npm run lint | package.json: {"b":1} -> {"b":0}
        = npm run lint | package.json: "jest" -> "true"
        ! npm run lint | package.json: {"a":1} -> {"a":0}
        "#,
    );
}

#[test]
fn recipes_are_reached_through_each_other() {
    check(
        "
        justfile = import 'more.just'\\nopts := '-q'\\nother := '1'\\ndefault: test\\ntest: build lint\\n  just unit\\n  pytest {{opts}}\\nunit:\\n  mocha\\nbuild:\\n  cc a.c\\nrest:\\n  x\\n
        more.just = lint:\\n  ruff check .\\nclean:\\n  rm x\\n
        ",
        "
        ! just test | justfile: pytest {{opts}} -> true
        ! just test | justfile: '-q' -> '-k x'
        ! just | justfile: mocha -> true
        = just | justfile: '1' -> '2'
        = just | justfile: rest: -> remainder:
        ! just test | more.just: ruff check . -> true
        = just test | more.just: rm x -> rm y
        = just rest | justfile: mocha -> true
        ",
    );
}

#[test]
fn a_target_or_script_that_was_missing_is_the_works_to_write() {
    let scene = Scene::new("Makefile = build:\\n\\tcc a.c\\n\npackage.json = {\"scripts\":{}}");
    let set = scene.set(&criterion("tests", "make test && npm test"));
    for (file, kind, today) in [
        ("Makefile", MixedKind::Makefile, "build:\n\tcc a.c\ntest: build\n\t./a.out\n"),
        ("package.json", MixedKind::PackageJson, "{\"scripts\":{\"test\":\"jest\"}}"),
    ] {
        let was = fs::read_to_string(scene.root().join(file)).expect("a file");
        let restored = restore(kind, &was, today, &set.reach_of(Path::new(file)));
        assert_eq!(restored.expect("restored"), today);
    }
}

#[test]
fn a_target_put_first_is_not_the_default_one_in_the_original() {
    let scene = Scene::new("Makefile = all: test\\ntest:\\n\\tpytest\\n");
    let was = "all: test\ntest:\n\tpytest\n";
    let today = "cheap:\n\ttrue\nall: test\ntest:\n\tpytest\n";
    let path = Path::new("Makefile");
    let of = |command: &str| {
        let reach = scene.set(&criterion("tests", command)).reach_of(path);
        restore(MixedKind::Makefile, was, today, &reach).expect("restored")
    };
    assert_eq!(of("make"), format!("{today}.DEFAULT_GOAL := all\n"));
    assert_eq!(of("make test"), today);
}

#[test]
fn rules_with_patterns_and_in_directories_that_a_loop_lists_are_reached() {
    check(
        "
        Makefile = DIRS = lib web\\nall: test-unit\\ntest-%:\\n\\tsh ci/$*.sh\\nparts:\\n\\tfor d in $(DIRS); do $(MAKE) -C $$d check || exit 1; done\\nsubs:\\n\\tfor d in lib web; do (cd $$d && $(MAKE) check); done\\nlint-%:\\n\\tx\\n
        ci/unit.sh = run\\n
        lib/Makefile = check:\\n\\t./run-all\\nother:\\n\\tx\\n
        web/Makefile = check:\\n\\t./run-all\\n
        tool/Makefile = check:\\n\\t./run-all\\n
        ",
        "
        ! make test-unit | Makefile: sh ci/$*.sh -> true
        ! make test-unit | Makefile: parts: -> test-unit:\\n\\ttrue\\nparts:
        = make test-unit | Makefile: parts: -> test-slow:\\n\\ttrue\\nparts:
        = make test-unit | Makefile: lint-%: -> lint-%: all
        ! make test-unit | ci/unit.sh: run -> true
        ! make all | Makefile: sh ci/$*.sh -> true
        ! make parts | lib/Makefile: ./run-all -> true
        ! make parts | web/Makefile: ./run-all -> true
        = make parts | lib/Makefile: other: -> others:
        ! make subs | web/Makefile: ./run-all -> true
        = make subs | tool/Makefile: ./run-all -> true
        ! for d in */; do make -C $d check; done | tool/Makefile: ./run-all -> true
        ",
    );
}
