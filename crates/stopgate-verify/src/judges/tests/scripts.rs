//! Scripts and programs: which judge, and which are judged.

use super::check;

#[test]
fn files_that_a_command_only_looks_at_are_work() {
    check(
        "
        config.yaml
        status.json
        deploy.sh = echo hi
        app.sh = echo hello
        main.py
        index.js
        bin/app
        app
        tests/test_a.py
        check.sh = grep x config.yaml
        expected.txt
        ",
        "
        grep -q x config.yaml =>
        grep -q def_test tests/test_a.py =>
        test -s tests/test_a.py =>
        tests :: grep -q x config.yaml =>
        jq -e .ready status.json =>
        bash -n deploy.sh =>
        sh -n check.sh =>
        test -f deploy.sh =>
        [ -x deploy.sh ] =>
        node --check index.js =>
        python -m py_compile main.py =>
        sh app.sh | grep -q hello =>
        tests :: sh app.sh | grep -q hello =>
        check :: python main.py =>
        python main.py =>
        tests :: python main.py =>
        tests :: ./bin/app =>
        ./app =>
        tests :: ./app =>
        tests :: node index.js =>
        test \"$(sh app.sh)\" = hello =>
        tests :: [ \"$(./deploy.sh)\" = ok ] =>
        ./deploy.sh > out.txt && grep -q hi out.txt =>
        true =>
        git diff --quiet =>
        curl -fsS localhost =>
        shellcheck deploy.sh =>
        ",
    );
}

#[test]
fn what_an_output_is_compared_with_judges() {
    check(
        "
        app.sh
        expected.txt
        golden/out.json
        other.txt
        want.txt
        ",
        "
        sh app.sh | diff - expected.txt => expected.txt golden/out.json
        sh app.sh > out && diff out golden/out.json => expected.txt golden/out.json
        sh app.sh | diff - other.txt =>
        sh app.sh | diff - want.txt => want.txt
        sh app.sh | cmp - want.txt => want.txt
        grep -q x want.txt =>
        ",
    );
}

#[test]
fn scripts_judge_by_name_directory_or_criterion() {
    check(
        "
        check.sh = grep -q x config.yaml
        run.sh = echo ok
        ci/build.sh = echo ok
        scripts/verify.py = print()
        scripts/lint.sh = echo ok
        scripts/deploy.sh = echo ok
        tools/e2e.js
        checkout.py
        specials.sh = echo ok
        config.yaml
        ",
        "
        ./check.sh => check.sh
        sh check.sh => check.sh
        bash ./check.sh => check.sh
        sh check.sh | tee log => check.sh
        sh check.sh > log.txt => check.sh
        bash -x check.sh => check.sh
        ci/build.sh => ci/build.sh
        python scripts/verify.py => scripts/verify.py
        sh scripts/lint.sh => scripts/lint.sh
        node tools/e2e.js => tools/e2e.js
        sh scripts/deploy.sh =>
        ./run.sh =>
        tests :: ./run.sh => run.sh
        lint :: sh run.sh => run.sh
        ci-gate :: bash run.sh --fast => run.sh
        tests :: ./run.sh | grep ok =>
        tests :: ./run.sh && true =>
        python checkout.py =>
        ./specials.sh =>
        cd ci && ./build.sh => ci/build.sh
        cd scripts; sh lint.sh => scripts/lint.sh
        (cd scripts && true); sh lint.sh =>
        sh -c './check.sh' => check.sh
        sh -c \"cd scripts && sh lint.sh\" => scripts/lint.sh
        eval './check.sh' => check.sh
        find scripts -name 'l*.sh' -exec sh {} \\; => scripts/lint.sh scripts/verify.py
        for f in scripts/l*.sh; do sh $f; done => scripts/lint.sh
        ",
    );
}

#[test]
fn scripts_that_are_called_like_tests_judge_wherever_they_are() {
    check(
        "
        run_tests.sh = echo ok
        runTests.sh = echo ok
        test-all.sh = echo ok
        app.sh
        ",
        "
        ./run_tests.sh => runTests.sh run_tests.sh test-all.sh
        ./app.sh =>
        ",
    );
}

#[test]
fn what_a_judging_script_calls_or_sources_judges_too() {
    check(
        "
        check.sh = #!/bin/sh\\n. ./lib.sh\\n./inner.sh\\nsh app.sh | grep hello\\npython main.py\\nrun_it
        lib.sh = run_it() { sh more/deep.sh; }
        inner.sh = exec sh innermost.sh
        innermost.sh = echo ok
        more/deep.sh = . \"$(dirname \"$0\")/deeper.sh\"
        more/deeper.sh = true
        app.sh = echo hello
        main.py
        ci/all.sh = #!/usr/bin/env bash\\nDIR=$(cd \"$(dirname \"$0\")\" && pwd)\\nsource \"$DIR/common.sh\"\\n\"$DIR\"/one.sh\\ncat <<END\\nsh app.sh\\nEND\\n
        ci/common.sh
        ci/one.sh = [ -f ci/local.sh ] && . ci/local.sh
        verify/run.py = import helpers\\nfrom lib import x\\nimport calc\\nimport json
        verify/helpers.py = import deeper
        verify/deeper.py
        verify/lib.py
        calc.py
        test.sh = . ./greet.sh\\n[ \"$(greet)\" = hi ]
        greet.sh = greet() { echo hi; }
        ",
        "
        sh check.sh => check.sh inner.sh innermost.sh lib.sh more/deep.sh more/deeper.sh test.sh
        ci/all.sh => ci/all.sh ci/common.sh ci/one.sh test.sh
        python verify/run.py => test.sh verify/deeper.py verify/helpers.py verify/lib.py verify/run.py
        sh test.sh => test.sh
        ",
    );
}

#[test]
fn a_script_that_only_runs_a_runner_leads_to_the_tests() {
    check(
        "
        go.sh = pytest -q
        calc.py
        test_calc.py
        tests/test_b.py
        ",
        "
        ./go.sh => test_calc.py tests/test_b.py
        tests :: ./go.sh => go.sh test_calc.py tests/test_b.py
        ",
    );
}

#[test]
fn a_program_that_a_check_script_tries_out_is_work() {
    check(
        "
        check.sh = ./greeter Bob\\npython calc.py 1 2\\npython report.py\\nsh build.sh\\nsh steps/two.sh\\nout=$(./tool.sh)\\n
        greeter = #!/bin/sh\\necho hi
        calc.py
        report.py
        build.sh = true
        steps/two.sh = true
        tool.sh = true
        ",
        "sh check.sh => check.sh steps/two.sh",
    );
}

#[test]
fn scripts_of_a_package_and_recipes_judge_by_the_names_they_have() {
    check(
        "
        Makefile = test:\\n\\t./all.sh\\nrun:\\n\\t./all.sh\\ncheck: app\\n\\t./app | grep x\\n\\tsh part.sh\\n\\tpython tool.py\\n
        package.json = {\"scripts\":{\"test\":\"node all.js\",\"start\":\"node all.js\",\"lint\":\"node index.js\"}}
        justfile = test:\\n  ./all.sh\\n
        all.sh = echo ok
        part.sh = echo ok
        tool.py
        all.js
        index.js
        app = echo
        ",
        "
        make test => ~Makefile all.sh
        make run => ~Makefile
        make check => ~Makefile part.sh
        npm test => all.js ~package.json
        npm start => ~package.json
        npm run lint => ~package.json
        just test => all.sh ~justfile
        ",
    );
}

#[test]
fn scripts_of_project_managers_may_run_anything() {
    check(
        "
        pyproject.toml
        tests/test_a.py
        ",
        "
        hatch run test => ~pyproject.toml tests/test_a.py
        hatch test => ~pyproject.toml tests/test_a.py
        pdm run test => ~pyproject.toml tests/test_a.py
        rye test => ~pyproject.toml tests/test_a.py
        uv run pytest => ~pyproject.toml tests/test_a.py
        uv run -m pytest => ~pyproject.toml tests/test_a.py
        uv run python -m pytest => ~pyproject.toml tests/test_a.py
        uv run ruff check => ~pyproject.toml
        uv sync => ~pyproject.toml
        diff <(python main.py) tests/test_a.py => ~pyproject.toml tests/test_a.py
        ",
    );
}

#[test]
fn what_a_file_adds_to_the_command_judges() {
    check(
        "
        calc.py
        suite.txt = tests/a.py
        x.env = LEVEL=1
        out.txt
        want = hello
        ",
        "
        xargs pytest -q < suite.txt => suite.txt ~x.env
        cat suite.txt | xargs pytest => suite.txt ~x.env
        pytest -q $(cat suite.txt) => suite.txt ~x.env
        pytest @suite.txt => suite.txt ~x.env
        env $(cat x.env) pytest => x.env
        export $(cat x.env | xargs) && pytest => x.env
        while read -r a; do echo $a; done < suite.txt => suite.txt
        test \"$(cat out.txt)\" = fine =>
        test \"$(sh app.sh)\" = \"$(cat want)\" => want
        sort < out.txt =>
        ",
    );
}

#[test]
fn scripts_that_a_check_runs_one_by_one_judge() {
    check(
        "
        scenarios/a.sh = true
        scenarios/b = true
        bin/app.sh
        ",
        "
        tests :: for s in scenarios/*; do sh \"$s\"; done => scenarios/a.sh scenarios/b
        tests :: for s in scenarios/*.sh; do \"$s\"; done => scenarios/a.sh scenarios/b
        tests :: for s in scenarios/*.sh; do sh -n \"$s\"; done =>
        tests :: for s in bin/*; do \"$s\"; done =>
        start :: for s in scenarios/*; do sh \"$s\"; done =>
        ",
    );
}

#[test]
fn cases_that_tests_name_judge_and_other_data_does_not() {
    check(
        "
        calc.py = open('rates/cases.json')
        tests/test_calc.py = open('samples/one.csv'); open('rates/cases.json'); open('rates/a.json')
        samples/one.csv
        samples/unused.csv
        rates/cases.json
        rates/a.json
        ",
        "pytest => samples/one.csv samples/unused.csv tests/test_calc.py",
    );
    check(
        "
        go.mod = module x
        a.go = package x
        a_test.go = package x\\n//go:embed table.txt\\nvar t string
        table.txt
        other.txt
        ",
        "go test ./... => a_test.go ~go.mod table.txt",
    );
}

#[test]
fn modules_that_hand_values_on_to_assertions_judge_beside_what_is_tested() {
    check(
        "
        package.json = {}
        lib/slug.js = exports.slug = 1
        lib/same.js = const assert = require('node:assert');\\nexports.same = (a, b) => assert.strictEqual(a, b)
        lib/tree.js = const assert = require('node:assert');\\nassert(1)
        test/slug.test.js = require('../lib/slug.js'); require('../lib/same.js')
        test/words.test.js = require('../lib/slug.js'); require('../lib/same.js')
        test/other.test.js = require('../lib/tree.js')
        ",
        "node --test => lib/same.js ~package.json test/other.test.js test/slug.test.js test/words.test.js",
    );
}

#[test]
fn crates_for_tests_judge_and_crates_under_test_do_not() {
    check(
        "
        Cargo.toml = [package]\\nname = 'a'\\n[dev-dependencies]\\nproofs = { path = 'proofs' }\\n
        src/lib.rs
        proofs/Cargo.toml = [package]\\nname = 'proofs'\\n
        proofs/src/lib.rs = pub fn holds(it: bool) { assert!(it) }
        suite/Cargo.toml = [package]\\nname = 'suite'\\n[dev-dependencies]\\nproduct = { path = '../product' }\\n
        product/Cargo.toml = [package]\\nname = 'product'\\n
        product/src/lib.rs = pub fn f() { assert!(true) }
        ",
        "cargo test => ~Cargo.toml ~product/Cargo.toml ~product/src/lib.rs ~proofs/Cargo.toml proofs/src/lib.rs ~src/lib.rs ~suite/Cargo.toml",
    );
}

#[test]
fn a_hook_of_git_in_the_project_judges() {
    check(
        "
        .git/config = [core]\\n\\thooksPath = .githooks\\n
        .githooks/pre-commit = sh tests/run.sh
        .githooks/pre-push = true
        tests/run.sh
        ",
        "git hook run pre-commit => .githooks/pre-commit tests/run.sh",
    );
}

#[test]
fn tests_under_other_names_and_what_they_include_judge() {
    check(
        "
        package.json = {}
        src/cart.js = exports.cart = 1
        src/cart.probe.js = test('a', () => {}); require('./table.json')
        src/table.json
        src/used.json
        src/other.js = require('./used.json')
        ",
        "npx jest => ~package.json src/cart.probe.js src/table.json",
    );
    check(
        "
        Cargo.toml = [package]\\nname = 'a'
        src/lib.rs = const A: &str = include_str!(\"a.txt\");
        src/a.txt
        leases.txt
        tests/api.rs = const A: &str = include_str!(\"../leases.txt\");
        ",
        "cargo test => ~Cargo.toml leases.txt ~src/lib.rs tests/api.rs",
    );
    check(
        "
        lib/expectations.bash = run x; [ \"$output\" = y ]
        lib/greet.bash = greet() { echo hi; }
        tests/a.bats = load ../lib/expectations\\nload ../lib/greet
        ",
        "bats tests => lib/expectations.bash tests/a.bats",
    );
}

#[test]
fn tests_in_a_directory_that_the_script_names_judge() {
    check(
        "
        package.json = {\"scripts\": {\"test\": \"node --test probes/\"}}
        lib/slug.js = exports.slug = 1
        probes/slug.js = const test = require('node:test');\\ntest('a', () => {});\\n
        ",
        "tests :: npm test => ~package.json probes/slug.js",
    );
}

#[test]
fn a_script_may_go_to_a_directory_that_only_the_shell_knows() {
    check(
        "
        ci/check.sh = #!/bin/sh\\ncd \"$(dirname \"$0\")/..\"\\nsh tools/gate.sh\\n
        ci/whole.sh = #!/bin/bash\\nROOT=$(cd \"$(dirname \"$0\")/..\" && pwd)\\ncd \"$ROOT\"\\nsh tools/gate.sh\\n. ./env-rules.sh\\n
        ci/all.sh = #!/bin/sh\\nfor part in api web; do\\n  (cd \"$part\" && ./check)\\ndone\\n
        tools/gate.sh = run || exit 1\\n
        env-rules.sh = set -e\\n
        api/check = #!/bin/sh\\nrun\\n
        web/check = #!/bin/sh\\nrun\\n
        web/main.py
        ",
        "
        sh ci/check.sh => ci/check.sh tools/gate.sh
        bash ci/whole.sh => ci/whole.sh env-rules.sh tools/gate.sh
        sh ci/all.sh => api/check ci/all.sh web/check
        ",
    );
}

#[test]
fn cases_that_a_loop_compares_an_output_with_judge() {
    check(
        "
        check.sh = for f in examples/*.in; do\\n  ./app < \"$f\" | diff - \"${f%.in}.out\" || exit 1\\ndone\\n
        same.sh = for f in examples/*.in; do\\n  [ \"$(./app \"$f\")\" = \"$(cat \"$f.out\")\" ] || exit 1\\ndone\\n
        deploy-check.sh = for f in conf/*.json; do\\n  diff \"$f\" \"live/$(basename \"$f\")\"\\ndone\\n
        examples/a.in
        examples/a.out
        examples/b.in
        examples/notes.md
        conf/x.json
        live/x.json
        answers.txt
        table.txt
        app = #!/bin/sh\\n
        ",
        "
        sh check.sh => check.sh examples/a.in examples/a.out examples/b.in
        sh same.sh => examples/a.in examples/a.out examples/b.in same.sh
        for f in examples/*.in; do ./app $f | diff - ${f%.in}.out; done => examples/a.in examples/a.out examples/b.in
        sh deploy-check.sh => deploy-check.sh
        ./app | diff - answers.txt => answers.txt
        ./app | diff - table.txt =>
        cmp answers.txt table.txt =>
        ",
    );
}

#[test]
fn the_last_script_of_a_check_judges_behind_what_prepares_for_it() {
    check(
        "
        final.sh = run\\n
        final.py = import app\\n
        setup.sh = x\\n
        gen.py = x\\n
        main.py = x\\n
        answer.txt
        Makefile = all:\\n\\tx\\n
        ",
        "
        tests :: make all && sh final.sh => ~Makefile final.sh
        tests :: sh setup.sh && python3 final.py => final.py
        tests :: mkdir -p out && npm ci && ./final.sh => final.sh
        tests :: env LC_ALL=C timeout 60 nice -n 1 ./final.sh => final.sh
        tests :: python gen.py && diff out.txt table.txt =>
        tests :: make all && python main.py => ~Makefile
        runs :: make all && sh final.sh => ~Makefile
        tests :: sh -c \"$(cat final.sh)\" => final.sh
        tests :: eval \"$(cat final.sh)\" => final.sh
        ",
    );
}
