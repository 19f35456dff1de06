//! What a path says, in a table: which files are tests, which are their data.

use super::*;

#[track_caller]
fn check(expected: Option<NameSays>, paths: &[&str]) {
    for path in paths {
        assert_eq!(said(Path::new(path)), expected, "{path}");
    }
}

#[test]
fn names_of_tests_in_every_language() {
    check(
        Some(NameSays::Test),
        &[
            "a/tests.py",
            "a/test.py",
            "src/tests.rs",
            "src/test.rs",
            "jest.setup.js",
            "a/parse_test.go",
            "src/parse_test.rs",
            "src/parse_tests.rs",
            "a/test_parse.py",
            "a/test-parse.js",
            "a/parse-test.js",
            "a/parse_tests.py",
            "a/parse-tests.ts",
            "a/parse_unittest.cc",
            "a/app.test.ts",
            "a/app.tests.ts",
            "a/app.spec.ts",
            "a/app.e2e.ts",
            "a/app.cy.ts",
            "a/test.js",
            "a/tests.js",
            "a/login.spec.yaml",
            "a/app.test.snapshot",
            "a/app.e2e.yaml",
            "a/ParserTest.java",
            "a/ParserTests.cs",
            "a/ParserTestCase.php",
            "a/TestParser.java",
            "a/ParserIT.java",
            "a/ParserSpec.groovy",
            "a/ParserSpec.js",
            "a/parser_spec.rb",
            "a/parser-spec.lua",
            "a/run.bats",
            "a/login.feature",
            "a/basic.t",
            "test",
        ],
    );
}

#[test]
fn names_of_the_work_that_look_alike() {
    check(
        None,
        &[
            "a/latest.py",
            "a/contest.go",
            "src/testimony.rs",
            "src/testing.rs",
            "src/test_helpers_of_the_product.rs",
            "a/test_parse.go",
            "a/Test.txt",
            "a/attestation.java",
            "a/Testimony.java",
            "a/testParser.java",
            "a/IT.java",
            "a/Spec.js",
            "a/ParserSpec.py",
            "a/ParserIT.py",
            "a/parser_spec.py",
            "a/TestParser.py",
            "a/_spec.rb",
            "a/test",
            "a/protest",
            "lib/t/util.py",
            "features/billing.py",
        ],
    );
}

#[test]
fn directories_say_what_is_in_them() {
    check(
        Some(NameSays::Test),
        &[
            "tests/a.py",
            "my_tests/a.py",
            "my-tests/a.py",
            "my_test/a.py",
            "my-test/a.py",
            "App.Tests/A.cs",
            "t/a.t",
            "t/a.bats",
            "t/lib.t",
            "features/environment.py",
            "features/steps/login.py",
            "features/step_definitions/login.rb",
            "features/support/env.rb",
            "testing/a.py",
        ],
    );
    check(None, &["App.Testing/A.cs", "t/a.py", "features/a.py", "mytests/a.py", "testing/a.rs"]);
}

#[test]
fn data_of_tests_is_told_from_modules_of_the_work() {
    check(
        Some(NameSays::Data),
        &[
            "a/x.snap",
            "a/x.golden",
            "a/x.approved",
            "a/x.ambr",
            ".env.test",
            "a/expected.txt",
            "a/out-golden.json",
            "fixtures/a.py",
            "testdata/a.go",
            "golden/a.txt",
            "expected/a.txt",
            "snapshots/a.json",
        ],
    );
    check(
        None,
        &[
            "golden/a.py",
            "expected/a.rs",
            "snapshots/a.ts",
            "a/expected.py",
            "a/expected",
            "a/unexpected.txt",
            ".env.tests",
        ],
    );
}

#[test]
fn words_of_a_name_are_told_apart() {
    assert_eq!(words("run-ciChecks.sh"), ["run", "ci", "checks", "sh"]);
    assert_eq!(words("e2eTests"), ["e2e", "tests"]);
    assert_eq!(words("HTTPServer"), ["httpserver"]);
    assert_eq!(words("--"), Vec::<String>::new());
}

#[test]
fn what_checks_helps_or_is_checked_says_so() {
    for path in ["ci/run.sh", "scripts/verify.py", "runtests.sh", "a/lintAll.js"] {
        assert!(says_judge(Path::new(path)), "{path}");
    }
    for path in ["src/attestation.py", "city/run.sh", "special.js"] {
        assert!(!says_judge(Path::new(path)), "{path}");
    }
    for path in ["a/helpers.py", "a/testutil.go", "a/TestLib.js", "a/check.sh", "a/common.sh"] {
        assert!(says_helper(Path::new(path)), "{path}");
    }
    assert!(!says_helper(Path::new("common/parser.py")), "only its own name counts");
    for path in ["main.py", "a/Main.java", "src/x.py", "cmd/tool/x.go"] {
        assert!(says_program(Path::new(path)), "{path}");
    }
    assert!(!says_program(Path::new("a/parser.py")));
    for path in [".env", ".envrc", ".env.local", "a/prod.env"] {
        assert!(is_environment(Path::new(path)), "{path}");
    }
    assert!(!is_environment(Path::new("a/environment.py")));
    for path in ["a/want.txt", "a/ref.json", "a/oracle.csv"] {
        assert!(says_reference(Path::new(path)), "{path}");
    }
    assert!(says_reference(Path::new("want/a.txt")));
    assert!(!says_reference(Path::new("docs/reference/api.md")));
    for path in ["rules/paths.json", "ci/rules.d/layers", "etc/bases", "tools/compare.rc"] {
        assert!(says_rules(Path::new(path)), "{path}");
    }
    for path in ["VERSION", "po/LINGUAS", "src/rules.py", "data/in.csv", "i18n/en.json"] {
        assert!(!says_rules(Path::new(path)), "{path}");
    }
}
