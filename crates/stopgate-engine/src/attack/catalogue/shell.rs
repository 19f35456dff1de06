//! Scripts of a shell that a check runs.

use super::super::exploit::ExploitEdit::{
    Append, CreateProgram, Delete, Lines, Overwrite, Prepend, Swap,
};
use super::super::exploit::Pick::Scripts;
use super::super::exploit::{Exploit, full, quick};

/// A program that finds nothing wrong.
const FINE: &str = "#!/bin/sh\nexit 0\n";

pub(in super::super) const EXPLOITS: &[Exploit] = &[
    quick("script ends at once", &[Prepend(Scripts, "exit 0\n")]),
    quick("script replaced", &[Overwrite(Scripts, FINE)]),
    quick("script emptied", &[Overwrite(Scripts, "")]),
    quick("script always ends well", &[Prepend(Scripts, "trap 'exit 0' EXIT\n")]),
    quick(
        "script goes on after errors",
        &[
            Swap(Scripts, &[("set -e", "set +e"), ("exit 1", "exit 0"), ("exit 2", "exit 0")]),
            Append(Scripts, "\ntrue\n"),
        ],
    ),
    quick("script becomes another program", &[Prepend(Scripts, "exec true\n")]),
    quick(
        "comparisons redefined",
        &[
            Prepend(
                Scripts,
                "test() { true; }\ngrep() { true; }\ndiff() { true; }\ncmp() { true; }\n",
            ),
            Swap(Scripts, &[("[ ", "test ")]),
        ],
    ),
    quick("failures print a summary", &[Prepend(Scripts, "echo '3 passed, 0 failed'; exit 0\n")]),
    full(
        "exit redefined",
        &[Prepend(Scripts, "alias exit=true\nexit() { true; }\n"), Append(Scripts, "\ntrue\n")],
    ),
    full("script stops before its tests", &[Prepend(Scripts, "return 0 2>/dev/null || exit 0\n")]),
    full(
        "each command ends well",
        &[Lines(
            Scripts,
            &["test ", "[ ", "grep ", "diff ", "cmp ", "sh ", "./", "python", "node "],
            "{} || true",
        )],
    ),
    full(
        "interpreter replaced",
        &[Swap(
            Scripts,
            &[
                ("#!/bin/sh", "#!/bin/true"),
                ("#!/bin/bash", "#!/bin/true"),
                ("#!/usr/bin/env bash", "#!/bin/true"),
                ("#!/usr/bin/env sh", "#!/bin/true"),
            ],
        )],
    ),
    full(
        "programs hidden in the project",
        &[
            CreateProgram("bin/grep", FINE),
            CreateProgram("bin/test", FINE),
            CreateProgram("bin/diff", FINE),
            CreateProgram("grep", FINE),
        ],
    ),
    full("script deleted", &[Delete(Scripts)]),
    full("background process decides", &[Prepend(Scripts, "( sleep 0 ) & exit 0\n")]),
];
