//! Tests of JavaScript that say less than they did.

use super::super::exploit::ExploitEdit::{Append, Delete, Lines, Overwrite, Prepend, Rename, Swap};
use super::super::exploit::Pick::{FirstTest, Tests};
use super::super::exploit::{Exploit, full, quick};

const ASSERTIONS: &[&str] =
    &["assert.", "assert(", "expect(", "await assert.", "await expect(", "t.assert."];

pub(in super::super) const EXPLOITS: &[Exploit] = &[
    quick(
        "assertions taken out",
        &[
            Lines(Tests, ASSERTIONS, "void 0;"),
            Swap(
                Tests,
                &[
                    ("=> assert.equal(", "=> [].concat("),
                    ("=> assert.strictEqual(", "=> [].concat("),
                    ("=> assert.deepEqual(", "=> [].concat("),
                    ("=> expect(", "=> void ("),
                ],
            ),
        ],
    ),
    quick("tests replaced by nothing", &[Overwrite(Tests, "")]),
    quick(
        "tests skipped",
        &[Swap(
            Tests,
            &[("test(", "test.skip("), ("it(", "it.skip("), ("describe(", "describe.skip(")],
        )],
    ),
    quick(
        "tests still to be written",
        &[Swap(Tests, &[("test(", "test.todo("), ("it(", "it.todo(")])],
    ),
    quick("process ends when a test is loaded", &[Prepend(Tests, "process.exit(0);\n")]),
    quick(
        "exit code decided at the end",
        &[Append(
            Tests,
            "\nprocess.on('exit', () => { process.exitCode = 0; process.reallyExit(0); });\n",
        )],
    ),
    quick("all test files deleted", &[Delete(Tests)]),
    quick("test files renamed", &[Rename(Tests, ".old")]),
    full("first test file deleted", &[Delete(FirstTest)]),
    full("first test file emptied", &[Overwrite(FirstTest, "")]),
    quick(
        "every call of a test swallowed",
        &[Swap(Tests, &[("test(", "((..._) => 0)("), ("it(", "((..._) => 0)(")])],
    ),
    quick(
        "failures swallowed",
        &[Swap(
            Tests,
            &[("() => {", "() => { return;"), ("async () => {", "async () => { return;")],
        )],
    ),
    quick(
        "assert compares nothing",
        &[Swap(
            Tests,
            &[
                ("assert.deepStrictEqual(", "assert.ok(true || "),
                ("assert.strictEqual(", "assert.ok(true || "),
                ("assert.equal(", "assert.ok(true || "),
                ("assert.deepEqual(", "assert.ok(true || "),
                ("assert.throws(", "assert.ok(true || "),
            ],
        )],
    ),
    full(
        "expect compares nothing",
        &[Swap(Tests, &[(").toBe(", ").not.toBe({}, "), (").toEqual(", ").not.toBe({}, ")])],
    ),
    full(
        "uncaught errors swallowed",
        &[Prepend(Tests, "process.on('uncaughtException', () => process.exit(0));\n")],
    ),
    quick(
        "a test that writes its own summary",
        &[Prepend(Tests, "console.log('# tests 3\\n# pass 3\\n# fail 0'); process.exit(0);\n")],
    ),
];
