//! What judges although it is in another package or directory than the check that leads to it.

use super::check;

#[test]
fn helpers_in_packages_of_their_own_judge() {
    check(
        r#"
        packages/shop/src/shop/cart.py = from common.money import cents
        packages/common/src/common/money.py = def cents(text): pass
        packages/kit/src/kit/asserts.py = def assert_due(a, b):\n    assert a == b
        packages/kit/src/kit/plugin.py = import pytest
        packages/shop/conftest.py = pytest_plugins = ["kit.plugin"]
        packages/shop/tests/test_cart.py = from kit.asserts import assert_due\nfrom common.money import cents
        "#,
        "
        cd packages/shop && pytest => packages/kit/src/kit/asserts.py packages/kit/src/kit/plugin.py packages/shop/conftest.py packages/shop/tests/test_cart.py
        ",
    );
    check(
        r#"
        package.json = { "workspaces": ["packages/*"], "scripts": { "test": "node --test packages/routes" } }
        packages/testkit/package.json = { "name": "@fleet/testkit", "main": "src/index.js" }
        packages/testkit/src/index.js = exports.assertRoute = () => {}
        packages/core/package.json = { "name": "@fleet/core" }
        packages/core/index.js
        packages/routes/index.js = require('@fleet/core')
        packages/routes/test/plan.test.js = require('@fleet/testkit'); require('@fleet/core')
        "#,
        "
        npm test => ~package.json ~packages/core/package.json packages/routes/test/plan.test.js ~packages/testkit/package.json packages/testkit/src/index.js
        ",
    );
    check(
        "
        Makefile = test: tests/a.c third_party/check/check.h\\n\\tcc -Ithird_party/check tests/a.c && ./a.out\\n
        third_party/check/check.h = #define CHECK(it) do { if (!(it)) failed++; } while (0)
        src/a.h = int a(void);
        src/a.c = #include \"a.h\"
        tests/a.c = #include \"check.h\"\\n#include \"a.h\"
        ",
        "
        make test => ~Makefile ~src/a.h tests/a.c third_party/check/check.h
        ",
    );
}

#[test]
fn make_is_followed_below_a_stamp_and_by_its_functions() {
    check(
        "
        Makefile = PARTS := $(patsubst %/Makefile,%,$(wildcard libs/*/Makefile))\\ncheck: build/.checked\\nbuild/.checked: $(wildcard libs/*/*.sh)\\n\\t@for part in $(PARTS); do $(MAKE) -C $$part check || exit 1; done\\n\\t@mkdir -p build; touch $@\\n.PHONY: check
        libs/left/Makefile = include ../part.mk
        libs/part.mk = check:\\n\\twhile read -r want; do sh main.sh | grep -qx $$want; done < cases
        libs/left/main.sh
        libs/left/cases
        ",
        "
        make check => ~Makefile ~libs/left/Makefile libs/left/cases ~libs/part.mk
        ",
    );
    check(
        "
        Makefile = CHECKS := $(basename $(notdir $(wildcard db/checks/*.sql)))\\ncheck: $(CHECKS:%=check-%)\\ncheck-%: build/a.db\\n\\tsqlite3 $< < db/checks/$*.sql > build/$*.got\\n\\tdiff db/checks/$*.out build/$*.got\\nbuild/a.db: db/schema.sql db/seed.sql\\n\\tcat db/schema.sql db/seed.sql | sqlite3 $@\\n
        db/schema.sql
        db/seed.sql
        db/checks/a.sql
        db/checks/a.out
        ",
        "
        make check => ~Makefile db/checks/a.out db/checks/a.sql db/seed.sql
        ",
    );
}

#[test]
fn a_tool_that_ends_by_a_verdict_judges_with_what_it_goes_by() {
    check(
        r#"
        tools/pins.sh = loose=$(grep -rn uses .github | grep -vFf tools/pins.allow)\nif [ -n "$loose" ]; then echo "$loose"; exit 1; fi\necho pinned
        tools/pins.allow
        tools/since.sh = set -e\ntest "$(sh app.sh)" = hello\ntouch .checked\necho well
        tools/copy.sh = set -e\ntest -d out\ncp a out/
        tools/release-check.pl = use FindBin;\nuse lib "$FindBin::Bin/lib";\nuse Release;\nRelease::slurp("$FindBin::Bin/next");
        tools/lib/Release.pm
        tools/next
        app.sh
        "#,
        "
        pins :: bash tools/pins.sh => tools/pins.allow tools/pins.sh
        since :: sh tools/since.sh => tools/since.sh
        sh tools/copy.sh =>
        perl tools/release-check.pl | grep -c PROBLEM => tools/lib/Release.pm tools/next tools/release-check.pl
        ",
    );
}

#[test]
fn programs_that_write_tests_for_go_judge() {
    check(
        r#"
        go.mod = module example.org/feed
        slug/slug.go = package slug\n\n//go:generate go run ../tools/gencases
        slug/slug_test.go = package slug
        tools/gencases/main.go = os.WriteFile("documented_test.go", out, 0o644)
        tools/gentable/main.go = os.WriteFile("table.go", out, 0o644)
        slug/table.go = //go:generate go run ../tools/gentable
        "#,
        "
        go generate ./... && go test ./... => ~go.mod slug/slug_test.go tools/gencases/main.go
        go test ./... => ~go.mod slug/slug_test.go
        ",
    );
}
