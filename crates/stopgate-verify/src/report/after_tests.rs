//! Hooks that fail after the tests, and errors outside of them.

use super::tests::check_text;

#[test]
fn what_fails_after_the_tests_is_no_test() {
    let vitest = " RUN  v3.2.4 /tmp/v

 ❯ a.test.js (2 tests) 3ms
   ✓ one 0ms
   ✓ two 0ms
 FAIL  a.test.js [ a.test.js ]
Error: open
 FAIL  c.test.js [ c.test.js ]
Error: Cannot find module './nothing.js' imported from '/tmp/v/c.test.js'

 Test Files  2 failed (2)
      Tests  2 passed (2)
     Errors  2 errors
";
    let names = "a.test.js [ a.test.js ]\nc.test.js [ c.test.js ]\n2 unhandled errors";
    check_text(vitest, &format!("3 tests, 4 failed, 0 skipped\n{names}"));
    let jest = |line: &str| {
        format!(
            "FAIL ./a.test.js
  ● Test suite failed to run

    open

    > 1 | {line}
        |                                                                      ^
      at Object.<anonymous> (a.test.js:1:70)

PASS ./b.test.js

Test Suites: 1 failed, 1 passed, 2 total
Tests:       3 passed, 3 total
"
        )
    };
    let name = "./a.test.js › Test suite failed to run";
    let after = jest("afterAll(() => { throw new Error('open') });");
    check_text(&after, &format!("3 tests, 1 failed, 0 skipped\n{name}"));
    let broken = jest("const { total } = require('./missing');");
    check_text(&broken, &format!("4 tests, 1 failed, 0 skipped\n{name}"));
    let mocha = "
  d
    ✔ one
    ✔ two
    1) \"after all\" hook for \"two\"

  f
    2) \"before all\" hook for \"one\"


  2 passing (25ms)
  2 failing

  1) d
       \"after all\" hook for \"two\":
     Error: open

  2) f
       \"before all\" hook for \"one\":
     Error: open
";
    let names = "d › \"after all\" hook for \"two\"\nf › \"before all\" hook for \"one\"";
    check_text(mocha, &format!("3 tests, 2 failed, 0 skipped\n{names}"));
}

#[test]
fn a_file_of_nodes_runner_that_fails_after_its_tests_is_no_test() {
    let tap = |late: &str, place: &str| {
        format!(
            "TAP version 13
# Subtest: four
ok 1 - four
{late}
not ok 2 - /tmp/n/test/c.test.js
  ---
  duration_ms: 92.786121
  location: '/tmp/n/test/c.test.js:{place}'
  failureType: 'testCodeFailure'
  ...
1..2
# tests 2
# pass 1
# fail 1
"
        )
    };
    let late = "Error: Test \"four\" at test/c.test.js:2:1 generated asynchronous activity after \
        the test ended. This activity created the error \"Error: late\".";
    let failed = "1 failed, 0 skipped\n/tmp/n/test/c.test.js";
    check_text(&tap(&format!("# {late}"), "1:1"), &format!("1 tests, {failed}"));
    check_text(&tap("# open", "2:47"), &format!("1 tests, {failed}"));
    check_text(&tap("# Error: Cannot find module", "1:1"), &format!("2 tests, {failed}"));
    let spec = |late: &str| {
        format!(
            "✔ four (0.918821ms)
{late}
✖ /tmp/n/test/c.test.js (88.286005ms)
ℹ tests 2
ℹ pass 1
ℹ fail 1

✖ failing tests:

test at test/c.test.js:1:1
✖ /tmp/n/test/c.test.js (88.286005ms)
"
        )
    };
    let failed = "1 failed, 0 skipped\ntest/c.test.js › /tmp/n/test/c.test.js";
    check_text(&spec(&format!("ℹ {late}")), &format!("1 tests, {failed}"));
    check_text(&spec("ℹ Error: Cannot find module"), &format!("2 tests, {failed}"));
}
