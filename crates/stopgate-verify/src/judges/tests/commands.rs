//! Which files judge, by the command of the check.

use super::check;

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
        python -m doctest calc.py => ~calc.py ~checks/a_check.py ~checks/b.py ~plugin.py ~suite.py ~x_probe.py
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
        go test ./... => add_test.go features/a.feature ~go.mod ~go.work internal/testutil/u.go spec/a_spec.rb src/ATest.php t/a.t test/a.bats
        go vet ./... => ~go.mod ~go.work
        golangci-lint run => .golangci.yml ~go.work
        bundle exec rspec => .rspec add_test.go features/a.feature internal/testutil/u.go spec/a_spec.rb src/ATest.php t/a.t test/a.bats
        ./vendor/bin/phpunit => add_test.go features/a.feature internal/testutil/u.go phpunit.xml spec/a_spec.rb src/ATest.php t/a.t test/a.bats
        bats test => add_test.go features/a.feature internal/testutil/u.go spec/a_spec.rb src/ATest.php t/a.t test/a.bats
        ",
    );
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
        python manage.py test => .mocharc.yml ~Taskfile.yml app/tests.py conftest.py src/test/ATest.java ~tox.ini
        ./gradlew test => .mocharc.yml ~Taskfile.yml app/tests.py conftest.py src/test/ATest.java ~tox.ini
        python manage.py migrate => ~tox.ini
        tox => app/tests.py ci/verify.py conftest.py src/test/ATest.java ~tox.ini
        task test => .mocharc.yml ~Taskfile.yml app/tests.py src/test/ATest.java
        strangeprogram => .mocharc.yml ~Taskfile.yml app/tests.py conftest.py src/test/ATest.java ~tox.ini
        ",
    );
}

#[test]
fn a_script_that_makes_tests_judges_and_one_that_builds_them_does_not() {
    check(
        "
        Makefile = all: app\\n\\ntest: build/unit\\n\\tbuild/unit\\n\\nbuild/unit: build/unit.c app.c\\n\\tsh tools/build.sh $^\\n\\nbuild/unit.c: tests/unit.steps tools/gen.sh\\n\\tsh tools/gen.sh < $< > $@\\n
        app.c
        tools/gen.sh = cat
        tools/build.sh = cc
        tests/unit.steps
        ",
        "
        make test => ~Makefile tests/unit.steps tools/gen.sh
        ",
    );
}

#[test]
fn what_a_judging_script_goes_by_judges_where_nothing_else_reads_it() {
    check(
        "
        tools/spell.py = known = (here / \"words.txt\").read_text()\\nmore = open(\"tools/shared.txt\")
        tools/words.txt
        tools/shared.txt
        tools/limits.sh = jq .limit tools/limits.json
        tools/limits.json
        .linkignore
        tools/links.py = open(\".linkignore\")
        app.py = open(\"tools/shared.txt\")
        ",
        "
        spelling :: python3 tools/spell.py docs => tools/spell.py tools/words.txt
        check :: sh tools/limits.sh => tools/limits.json tools/limits.sh
        links :: python3 tools/links.py => .linkignore tools/links.py
        python3 tools/links.py =>
        ",
    );
}

#[test]
fn what_reads_the_results_of_a_runner_judges_and_so_do_scripts_among_goldens() {
    check(
        "
        tools/threshold.js
        golden/one.sh = diff a b
        golden/a.out
        lib/a.js
        ",
        "
        node --test | node tools/threshold.js => golden/a.out tools/threshold.js
        node lib/a.js | node tools/threshold.js =>
        echo test | node tools/threshold.js =>
        ls golden/*.args | xargs -n1 sh golden/one.sh => golden/a.out golden/one.sh
        ",
    );
}

#[test]
fn tools_that_a_judging_script_calls_judge_if_they_only_check() {
    check(
        "
        bin/check = python3 tools/api.py\\npython3 tools/sync.py\\npython3 -m unittest
        tools/api.py = STORED = \"api/public.json\"\\nif \"--write\" in argv: dump()\\nsys.exit(1)
        tools/sync.py = open(x, \"w\").write(y)\\nsys.exit(0)
        api/public.json
        scripts/golden.sh = PATH=\"$PWD/scripts/bin:$PATH\"\\nbuild/join | normalize
        scripts/bin/normalize
        checks/run.py
        checks/sql/unique.sql
        tools/run_examples.py = BLOCK = \"```\"\\n(HERE / \"prelude.py\")
        tools/prelude.py
        docs/usage.md
        other.md
        ",
        "
        bin/check => api/public.json bin/check tools/api.py
        golden :: scripts/golden.sh => scripts/bin/normalize scripts/golden.sh
        python3 checks/run.py => checks/run.py checks/sql/unique.sql
        examples :: python3 tools/run_examples.py docs/usage.md => docs/usage.md tools/prelude.py tools/run_examples.py
        ",
    );
}

#[test]
fn a_long_chain_of_rules_is_not_followed_to_its_end() {
    let rules = (0..3_000).map(|at| format!("a{at}: a{}\\n\\tx\\n", at + 1));
    let rules = rules.collect::<Vec<_>>().concat();
    let scene = format!("Makefile = test: a0\\n\\tx\\n{rules}\n        tests/run.sh\n");
    check(&scene, "make test => ~Makefile tests/run.sh");
}
