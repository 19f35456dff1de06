//! Programs of the project that judge, scripts that a shell reads, and what tests are built from.

use std::path::Path;

use super::{Scene, check, criterion};
use crate::judges::sections::judging;
use crate::judges::{JudgeRole, MixedKind};

#[test]
fn programs_of_the_project_judge_where_their_names_say_so() {
    check(
        "
        Cargo.toml = [package]\\nname = 'x'
        src/lib.rs
        src/bin/verify.rs = fn main() {}
        src/bin/serve.rs = fn main() {}
        xtask/src/main.rs = fn main() {}
        ",
        "
        cargo run -q --bin verify => ~Cargo.toml ~src/bin/serve.rs src/bin/verify.rs ~src/lib.rs ~xtask/src/main.rs
        cargo run -q --bin serve | grep -q up => ~Cargo.toml
        ",
    );
    check(
        "
        go.mod = module example.org/x
        x.go = package x
        tools/check/main.go = package main
        cmd/x/main.go = package main
        ",
        "
        go run ./tools/check => ~go.mod tools/check/main.go
        go test -json ./... | go run ./cmd/x => cmd/x/main.go ~go.mod
        go run ./cmd/x | grep -q up => ~go.mod
        ",
    );
}

#[test]
fn a_script_that_a_shell_reads_is_one_that_it_runs() {
    check(
        "
        script/verify.sh = exit 1
        tests/run.sh = exit 1
        app.sh = echo hello
        SHA256SUMS
        data.csv
        ",
        "
        cat script/verify.sh | sh => script/verify.sh tests/run.sh
        tests :: sh < script/verify.sh => script/verify.sh tests/run.sh
        git show HEAD:tests/run.sh | sh => tests/run.sh
        cat app.sh | grep -q hello =>
        sha256sum -c SHA256SUMS => SHA256SUMS
        sha256sum data.csv =>
        ",
    );
}

const MAKEFILE: &str = "CFLAGS = -O0\\nSRC = src/a.c\\n.PHONY: test\\ntest: build/.ok\\n\\
    build/unit: tests/unit.c $(SRC)\\n\\tcc $(CFLAGS) -Isrc -o $@ tests/unit.c $(SRC)\\n\\
    build/.ok: build/unit tests/run.sh\\n\\tsh tests/run.sh build/unit\\n\\ttouch $@\\n\\
    build/app: $(SRC)\\n\\tcc -o $@ $(SRC)\\n";

#[test]
fn rules_that_make_something_from_tests_judge_and_their_sources_are_work() {
    let text = MAKEFILE.replace("\\\n    ", "");
    let scene = Scene::new(&format!("Makefile = {text}\ntests/unit.c\ntests/run.sh\nsrc/a.c"));
    let set = scene.set(&criterion("tests", "make test"));
    assert_eq!(set.stamps().collect::<Vec<_>>(), [Path::new("build/.ok")]);
    let path = Path::new("Makefile");
    assert_eq!(set.role(path), JudgeRole::Sections(MixedKind::Makefile));
    let text = text.replace("\\n", "\n").replace("\\t", "\t");
    let of = |text: &str| judging(MixedKind::Makefile, text, &set.reach_of(path)).expect("a text");
    let rows = [
        (true, "tests/unit.c $(SRC)", "tests/unit.c $(SRC) src/b.c"),
        (true, "-Isrc", "-Isrc -Iinclude"),
        (true, "CFLAGS = -O0", "CFLAGS = -O2 -Wall"),
        (true, "cc -o $@ $(SRC)", "gcc -o $@ $(SRC)"),
        (false, "CFLAGS = -O0", "CFLAGS = -O0 -DNDEBUG"),
        (false, "-o $@ tests/unit.c", "-DNDEBUG -o $@ tests/unit.c"),
        (false, "tests/unit.c $(SRC)", "src/fine.c $(SRC)"),
        (false, "\tsh tests/run.sh build/unit\n", ""),
    ];
    for (kept, from, to) in rows {
        let today = text.replace(from, to);
        assert_ne!(today, text, "{from}");
        assert_eq!(of(&text).is_kept_by(&of(&today)), kept, "{from} => {to}");
    }
}

#[test]
fn what_a_program_of_the_work_reads_line_by_line_is_work() {
    check(
        "
        tools/gen.sh = while read -r a; do echo $a; done < spec/list.txt > docs/list.md\\n
        tools/each.sh = while read -r a; do pytest $a; done < suite.txt\\n
        spec/list.txt
        suite.txt
        docs/list.md
        ",
        "
        fresh :: sh tools/gen.sh && git diff --exit-code -- docs =>
        start :: sh tools/each.sh => suite.txt
        ",
    );
}

#[test]
fn a_package_that_tries_itself_out_is_work() {
    check(
        "
        shelf/__init__.py = from .stock import add\\n
        shelf/stock.py = def add(): pass\\n
        shelf/selfcheck.py = from shelf import add\\nsys.exit(add())\\n
        app/__main__.py = from shelf import add\\n
        rules/selfcheck.py = from rules.known import KNOWN\\nsys.exit(1)\\n
        rules/known.py = KNOWN = 1\\n
        ",
        "
        works :: python -m shelf.selfcheck => shelf/selfcheck.py
        works :: python -m rules.selfcheck => rules/known.py rules/selfcheck.py
        ",
    );
}

#[test]
fn what_a_comparing_script_is_fed_with_judges_where_its_name_says_so() {
    check(
        "
        tools/check_queries.py = open(os.path.join(ROOT, 'data', 'seed.sql'))\\nopen(ROOT / 'expected' / 'top.csv')\\nsys.exit(1)\\n
        tools/check_links.py = open(os.path.join(ROOT, 'data', 'seed.sql'))\\nsys.exit(1)\\n
        data/seed.sql
        data/rates.sql
        expected/top.csv
        queries/top.sql
        ",
        "
        report :: python tools/check_queries.py => data/seed.sql expected/top.csv tools/check_queries.py
        report :: python tools/check_links.py => expected/top.csv tools/check_links.py
        ",
    );
}

#[test]
fn a_rule_that_runs_a_script_of_the_project_that_checks_leaves_a_stamp() {
    check(
        "
        tools/check.py = sys.exit(1)\\n
        src/a.py
        Makefile = PYTHON = python3\\n-include config.mk\\ncheck: build/.checked\\nbuild/.checked: src/a.py\\n\\t$(PYTHON) tools/check.py\\n\\ttouch $@\\n.PHONY: check\\n
        ",
        "
        errors :: make check => ~Makefile tools/check.py
        ",
    );
}
