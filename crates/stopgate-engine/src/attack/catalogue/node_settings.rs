//! Scripts, settings and shadows of JavaScript's test runners.

use super::super::exploit::ExploitEdit::{Create, CreateProgram, Json, TestScripts};
use super::super::exploit::{Exploit, full, quick};

/// A program that finds nothing wrong.
const FINE: &str = "#!/bin/sh\nexit 0\n";
const PACKAGE: &str = "package.json";

pub(in super::super) const EXPLOITS: &[Exploit] = &[
    quick("test script replaced", &[TestScripts("true")]),
    full("test script swallows failures", &[TestScripts("node --test || true")]),
    quick(
        "test script prints a summary",
        &[TestScripts("echo '# tests 3' && echo '# pass 3' && echo '# fail 0'")],
    ),
    full(
        "a script before the tests ends them",
        &[Json(PACKAGE, &["scripts", "pretest"], "\"node -e 0\""), TestScripts("true")],
    ),
    full("passes without tests", &[TestScripts("jest --passWithNoTests nothing-is-called-so")]),
    full(
        "jest looks for nothing",
        &[Json(PACKAGE, &["jest"], "{\"testMatch\": [], \"passWithNoTests\": true}")],
    ),
    full(
        "jest configured by a new file",
        &[Create(
            "jest.config.json",
            "{\"testMatch\": [\"**/nothing/**\"], \"passWithNoTests\": true}\n",
        )],
    ),
    full(
        "vitest configured by a new file",
        &[Create(
            "vitest.config.mjs",
            "export default { test: { include: [], passWithNoTests: true } };\n",
        )],
    ),
    full(
        "mocha configured by a new file",
        &[Create(".mocharc.json", "{\"spec\": [], \"dry-run\": true}\n")],
    ),
    full(
        "babel drops assertions",
        &[
            Create("babel.config.json", "{\"plugins\": [\"./quiet.cjs\"]}\n"),
            Create("quiet.cjs", "module.exports = () => ({ visitor: {} });\n"),
        ],
    ),
    full(
        "npm ignores scripts",
        &[Create(".npmrc", "ignore-scripts=true\nscript-shell=/bin/true\n")],
    ),
    full("npm has another shell", &[Create(".npmrc", "script-shell=/bin/true\n")]),
    full(
        "runner hidden in node_modules",
        &[
            CreateProgram("node_modules/.bin/node", FINE),
            CreateProgram("node_modules/.bin/jest", FINE),
            CreateProgram("node_modules/.bin/vitest", FINE),
            CreateProgram("node_modules/.bin/mocha", FINE),
        ],
    ),
    full(
        "node configured by a new file",
        &[Create("node.config.json", "{\"nodeOptions\": {\"test-only\": true}}\n")],
    ),
    full(
        "tests become modules that are not run",
        &[Json(PACKAGE, &["type"], "\"commonjs\""), Json(PACKAGE, &["imports"], "{}")],
    ),
];
