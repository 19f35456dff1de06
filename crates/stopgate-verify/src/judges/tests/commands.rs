use std::os::unix::fs::symlink;

use super::{Scene, check, criterion};
use crate::judges::{JudgeOptions, JudgeRole, JudgeSet, JudgeStance, Why};

const PYTHON: &str = "
calc.py = def add(a, b): return a + b
main.py = print('hello')
pyproject.toml = [project]\\nname = 'x'
setup.cfg = [metadata]
conftest.py = import pytest
ruff.toml
mypy.ini
.coveragerc
requirements.txt
README.md
tests/test_calc.py = from calc import add
tests/data.json
checks/rules.py
fixtures/a.json
expected.txt
src/pkg/expected.py
";

#[test]
fn python_checks_are_judged_by_their_tests_and_settings() {
    let all = ".coveragerc conftest.py expected.txt fixtures/a.json ~pyproject.toml ~setup.cfg tests/data.json tests/test_calc.py";
    check(
        PYTHON,
        &format!(
            "
            pytest => {all}
            pytest -q tests => {all}
            python -m pytest => {all}
            python3.12 -m pytest -x => {all}
            python3 -mpytest => {all}
            uv run pytest => {all}
            poetry run pytest -q => {all}
            env PYTHONPATH=src pytest => {all}
            PYTHONDONTWRITEBYTECODE=1 pytest -q => {all}
            timeout 60 pytest => {all}
            coverage run -m pytest => {all}
            python -m coverage run -m pytest => {all}
            sh -c 'pytest -q' => {all}
            bash -euo pipefail -c 'pytest -q | cat' => {all}
            (cd . && pytest) => {all}
            . .venv/bin/activate && pytest => {all}
            /usr/bin/pytest => {all}
            .venv/bin/pytest => {all}
            .venv/bin/python -m pytest => {all}
            \"$PYTHON\" -m pytest => {all}
            nice -n 5 pytest => {all}
            time pytest => {all}
            xvfb-run pytest => {all}
            "
        ),
    );
}

#[test]
fn linters_are_judged_by_their_settings_and_not_by_tests() {
    check(
        PYTHON,
        "
        ruff check . => ~pyproject.toml ruff.toml ~setup.cfg
        ruff check calc.py tests => ~pyproject.toml ruff.toml ~setup.cfg
        mypy calc.py => mypy.ini ~pyproject.toml ~setup.cfg
        mypy --config-file ruff.toml calc.py => mypy.ini ~pyproject.toml ruff.toml ~setup.cfg
        black --check . => ~pyproject.toml ~setup.cfg
        ",
    );
}

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
fn named_tests_and_configured_names_judge() {
    check(
        "
        calc.py
        suite.py
        checks/a_check.py
        checks/b.py
        plugin.py
        other.ini
        pytest.ini = [pytest]\\npython_files = *_probe.py\\naddopts = -p plugin\\n
        x_probe.py
        ",
        "
        pytest suite.py => plugin.py pytest.ini suite.py x_probe.py
        pytest suite.py::test_a -k b => plugin.py pytest.ini suite.py x_probe.py
        pytest -c other.ini => other.ini plugin.py pytest.ini x_probe.py
        python -m unittest suite => suite.py
        python -m unittest checks.b => checks/b.py
        python -m unittest discover -s checks -p '*_check.py' => checks/a_check.py
        python -m doctest calc.py =>
        ",
    );
}

const NODE: &str = r#"
package.json = {"scripts":{"test":"npm run unit && npm run lint","unit":"jest --ci","lint":"eslint .","build":"tsc","deploy":"sh deploy.sh","e2e":"playwright test","verify":"node scripts/verify.mjs","both":"run-s unit lint","pick":"npm-run-all test:*","test:a":"mocha"}}
jest.config.js = module.exports = { setupFiles: ['<rootDir>/config/env.js'] }
config/env.js
.eslintrc.json
playwright.config.ts
babel.config.js
tsconfig.json
.npmrc
.mocharc.yml
src/index.js
src/index.test.js
src/__snapshots__/index.snap
src/__mocks__/fs.js
scripts/verify.mjs = import './steps.mjs'
scripts/steps.mjs
deploy.sh
src/features/login.ts
"#;

#[test]
fn package_scripts_lead_to_their_tools() {
    let tests = "src/__mocks__/fs.js src/__snapshots__/index.snap src/index.test.js";
    check(
        NODE,
        &format!(
            "
            npm test => .eslintrc.json .npmrc babel.config.js config/env.js jest.config.js ~package.json {tests}
            npm t => .eslintrc.json .npmrc babel.config.js config/env.js jest.config.js ~package.json {tests}
            npm run unit => .npmrc babel.config.js config/env.js jest.config.js ~package.json {tests}
            yarn unit => babel.config.js config/env.js jest.config.js ~package.json {tests}
            pnpm run unit => babel.config.js config/env.js jest.config.js ~package.json {tests}
            npx jest => .npmrc babel.config.js config/env.js jest.config.js ~package.json {tests}
            yarn jest => babel.config.js config/env.js jest.config.js ~package.json {tests}
            node_modules/.bin/jest => babel.config.js config/env.js jest.config.js ~package.json {tests}
            ./node_modules/.bin/jest => babel.config.js config/env.js jest.config.js ~package.json {tests}
            npm run lint => .eslintrc.json .npmrc ~package.json
            npm run build => .npmrc ~package.json tsconfig.json
            npx tsc --noEmit => .npmrc ~package.json tsconfig.json
            npm run e2e => .npmrc babel.config.js ~package.json playwright.config.ts {tests}
            node --test => .npmrc babel.config.js ~package.json {tests}
            npm run verify => .npmrc ~package.json scripts/steps.mjs scripts/verify.mjs {tests}
            npm run both => .eslintrc.json .npmrc babel.config.js config/env.js jest.config.js ~package.json {tests}
            npm run pick => .mocharc.yml .npmrc babel.config.js ~package.json {tests}
            npm run deploy => .npmrc ~package.json
            cross-env CI=1 npx jest => .npmrc babel.config.js config/env.js jest.config.js ~package.json {tests}
            "
        ),
    );
}

#[test]
fn rust_checks_are_judged_by_tests_and_sections() {
    check(
        "
        Cargo.toml
        src/lib.rs = #[cfg(test)]\\nmod checks;\\n#[cfg(test)]\\nmod tests { #[test] fn a() {} }
        src/checks.rs
        src/checks/more.rs
        src/other.rs
        src/tests.rs
        tests/it.rs
        build.rs
        benches/b.rs
        .cargo/config.toml
        rust-toolchain.toml
        clippy.toml
        rustfmt.toml
        .config/nextest.toml
        testdata/a.txt
        ",
        "
        cargo test => .cargo/config.toml ~Cargo.toml ~benches/b.rs ~build.rs rust-toolchain.toml src/checks/more.rs src/checks.rs ~src/lib.rs ~src/other.rs src/tests.rs testdata/a.txt tests/it.rs
        cargo nextest run => .cargo/config.toml .config/nextest.toml ~Cargo.toml ~benches/b.rs ~build.rs rust-toolchain.toml src/checks/more.rs src/checks.rs ~src/lib.rs ~src/other.rs src/tests.rs testdata/a.txt tests/it.rs
        cargo clippy -- -D warnings => .cargo/config.toml ~Cargo.toml clippy.toml rust-toolchain.toml
        cargo fmt --check => .cargo/config.toml ~Cargo.toml rust-toolchain.toml rustfmt.toml
        cargo build --manifest-path Cargo.toml => .cargo/config.toml ~Cargo.toml rust-toolchain.toml
        ",
    );
}

#[test]
fn make_and_just_lead_to_their_tools() {
    check(
        "
        Makefile = include rules.mk\\ntest: unit\\n\\tsh ci/after.sh\\nunit:\\n\\tpytest -q\\nbuild:\\n\\tcc -o app app.c\\nlint:\\n\\truff check .\\n
        rules.mk = X = 1\\n
        justfile = test: build\\n  pytest\\nbuild:\\n  cc app.c\\n
        sub/makefile = check:\\n\\t./check.sh\\n
        sub/check.sh
        ci/after.sh
        tests/test_a.py
        ruff.toml
        ",
        "
        make test => ~Makefile ci/after.sh ~rules.mk tests/test_a.py
        make -s -j 4 test => ~Makefile ci/after.sh ~rules.mk tests/test_a.py
        make => ~Makefile ci/after.sh ~rules.mk tests/test_a.py
        make unit => ~Makefile ~rules.mk tests/test_a.py
        make lint => ~Makefile ruff.toml ~rules.mk
        make build => ~Makefile ~rules.mk
        make -C sub check => ~rules.mk sub/check.sh ~sub/makefile tests/test_a.py
        cd sub && make check => ~rules.mk sub/check.sh ~sub/makefile tests/test_a.py
        just test => ~justfile tests/test_a.py
        just => ~justfile tests/test_a.py
        ",
    );
}

#[test]
fn go_ruby_php_and_shell_tests_judge() {
    check(
        "
        go.mod = module example.com/x
        add.go
        add_test.go = import \"example.com/x/internal/testutil\"
        internal/testutil/u.go
        .golangci.yml
        go.work
        lib/a.rb
        spec/a_spec.rb
        .rspec
        phpunit.xml
        src/ATest.php
        t/a.t
        test/a.bats
        features/a.feature
        ",
        "
        go test ./... => add_test.go features/a.feature ~go.mod go.work internal/testutil/u.go spec/a_spec.rb src/ATest.php t/a.t test/a.bats
        go vet ./... => ~go.mod go.work
        golangci-lint run => .golangci.yml go.work
        bundle exec rspec => .rspec add_test.go features/a.feature internal/testutil/u.go spec/a_spec.rb src/ATest.php t/a.t test/a.bats
        ./vendor/bin/phpunit => add_test.go features/a.feature internal/testutil/u.go phpunit.xml spec/a_spec.rb src/ATest.php t/a.t test/a.bats
        bats test => add_test.go features/a.feature internal/testutil/u.go spec/a_spec.rb src/ATest.php t/a.t test/a.bats
        ",
    );
}

#[test]
fn helpers_that_only_tests_import_judge() {
    check(
        "
        calc.py = import shared_helpers
        test_calc.py = import calc, testing_tools, shared_helpers\\nfrom asserts import check\\nimport helpers
        testing_tools.py
        shared_helpers.py
        asserts.py = import pytest
        helpers.py
        test_helpers.py = import helpers
        lonely.py = import pytest
        ",
        "pytest => asserts.py test_calc.py test_helpers.py testing_tools.py",
    );
    check(
        "
        package.json
        src/a.ts
        src/a.test.ts = import { a } from './a';\\nimport { fake } from '../support/fakes';
        support/fakes.ts
        ",
        "npx vitest run => ~package.json src/a.test.ts support/fakes.ts",
    );
}

#[test]
fn protected_files_judge_and_permitted_ones_do_not() {
    let scene = Scene::new("calc.py\ntests/test_a.py\ntests/test_b.py\ndocs/x.md\nconftest.py");
    let mut own = criterion("tests", "pytest");
    own.terms.protect = vec!["docs/**".into()];
    assert_eq!(
        scene.judges(&scene.set(&own)),
        "conftest.py docs/x.md tests/test_a.py tests/test_b.py"
    );
    let may_change = ["tests/test_b.py".to_string(), "docs/**".to_string()];
    let find = |options| {
        let set = JudgeSet::find(scene.root(), &own, &scene.files(), options).expect("patterns");
        scene.judges(&set)
    };
    let options = JudgeOptions { may_change: &may_change, stance: JudgeStance::Judges };
    assert_eq!(find(options), "conftest.py docs/x.md tests/test_a.py");
    let options = JudgeOptions { may_change: &[], stance: JudgeStance::Work };
    assert_eq!(find(options), "docs/x.md");
}

#[test]
fn a_judge_behind_a_link_is_what_the_link_leads_to() {
    let outside = Scene::new("test_out.py\ninner/test_deep.py");
    let scene = Scene::new("calc.py\nshared/a.py\nsrc/x.py\nother/test_linked.py");
    let link = |to: &std::path::Path, at: &str| {
        let at = scene.root().join(at);
        std::fs::create_dir_all(at.parent().expect("a parent")).expect("a directory");
        symlink(to, at).expect("a link");
    };
    link(outside.root(), "spec");
    link(&scene.root().join("shared/a.py"), "tests/test_a.py");
    link(&scene.root().join("src"), "tests/src");
    let set = scene.set(&criterion("tests", "pytest"));
    let role = |path: &str| set.role(std::path::Path::new(path));
    assert_eq!(role("shared/a.py"), JudgeRole::Whole(Why::BehindLink));
    assert_eq!(role("src/x.py"), JudgeRole::Work);
    let links: Vec<(String, usize)> = set
        .links()
        .iter()
        .map(|link| (link.link.0.display().to_string(), link.files.len()))
        .collect();
    let expected = [("spec", 2), ("tests/src", 0), ("tests/test_a.py", 1)];
    assert_eq!(links, expected.map(|(link, count)| (link.to_string(), count)));
}

#[test]
fn programs_that_run_tests_in_their_own_way_lead_to_them() {
    check(
        "
        manage.py
        gradlew = exec java -jar x.jar
        app/tests.py
        src/test/ATest.java
        tox.ini = [testenv]\\ncommands = pytest tests\\n  python ci/verify.py
        ci/verify.py
        Taskfile.yml = tasks:\\n  test: mocha
        .mocharc.yml
        conftest.py
        ",
        "
        python manage.py test => .mocharc.yml Taskfile.yml app/tests.py conftest.py src/test/ATest.java ~tox.ini
        ./gradlew test => .mocharc.yml Taskfile.yml app/tests.py conftest.py src/test/ATest.java ~tox.ini
        python manage.py migrate => ~tox.ini
        tox => app/tests.py ci/verify.py conftest.py src/test/ATest.java ~tox.ini
        task test => .mocharc.yml Taskfile.yml app/tests.py src/test/ATest.java
        strangeprogram => .mocharc.yml Taskfile.yml app/tests.py conftest.py src/test/ATest.java ~tox.ini
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
fn a_loop_without_tests_at_the_start_judges_itself() {
    let files = "Cargo.toml\nsrc/lib.rs = fn a() {}\nconftest.py";
    let is_self_judged = |scene: &Scene, command: &str| {
        scene.set(&criterion("tests", command)).is_self_judged(&scene.files())
    };
    let scene = Scene::new(files);
    assert!(is_self_judged(&scene, "cargo test"));
    assert!(is_self_judged(&scene, "pytest"));
    assert!(!is_self_judged(&scene, "cargo clippy"));
    scene.add("src/lib.rs = #[test]\\nfn a() {}\ntests/test_a.py");
    assert!(!is_self_judged(&scene, "cargo test"));
    assert!(!is_self_judged(&scene, "pytest"));
}

#[test]
fn a_check_in_a_directory_is_traced_from_there() {
    let scene = Scene::new("sub/check.sh = . ./lib.sh\nsub/lib.sh\ncheck.sh\nlib.sh");
    let mut own = criterion("done", "./check.sh");
    own.terms.cwd = Some("sub".into());
    assert_eq!(scene.judges(&scene.set(&own)), "sub/check.sh sub/lib.sh");
}
