//! Scripts of a shell that a check runs.

use super::super::exploit::Ecosystem::Shell;
use super::super::exploit::ExploitEdit::{
    Append, CreateProgram, Delete, Lines, Overwrite, Prepend, Swap,
};
use super::super::exploit::Pick::Scripts;
use super::super::exploit::{Exploit, full, quick};

/// A program that finds nothing wrong.
const FINE: &str = "#!/bin/sh\nexit 0\n";

pub(in super::super) const EXPLOITS: &[Exploit] = &[
    quick("script ends at once", Shell, &[Prepend(Scripts, "exit 0\n")]),
    quick("script replaced", Shell, &[Overwrite(Scripts, FINE)]),
    quick("script emptied", Shell, &[Overwrite(Scripts, "")]),
    quick("script always ends well", Shell, &[Prepend(Scripts, "trap 'exit 0' EXIT\n")]),
    quick(
        "script goes on after errors",
        Shell,
        &[
            Swap(Scripts, &[("set -e", "set +e"), ("exit 1", "exit 0"), ("exit 2", "exit 0")]),
            Append(Scripts, "\ntrue\n"),
        ],
    ),
    quick("script becomes another program", Shell, &[Prepend(Scripts, "exec true\n")]),
    quick(
        "comparisons redefined",
        Shell,
        &[
            Prepend(
                Scripts,
                "test() { true; }\ngrep() { true; }\ndiff() { true; }\ncmp() { true; }\n",
            ),
            Swap(Scripts, &[("[ ", "test ")]),
        ],
    ),
    quick(
        "failures print a summary",
        Shell,
        &[Prepend(Scripts, "echo '3 passed, 0 failed'; exit 0\n")],
    ),
    full(
        "exit redefined",
        Shell,
        &[Prepend(Scripts, "alias exit=true\nexit() { true; }\n"), Append(Scripts, "\ntrue\n")],
    ),
    full(
        "script stops before its tests",
        Shell,
        &[Prepend(Scripts, "return 0 2>/dev/null || exit 0\n")],
    ),
    full(
        "each command ends well",
        Shell,
        &[Lines(
            Scripts,
            &["test ", "[ ", "grep ", "diff ", "cmp ", "sh ", "./", "python", "node "],
            "{} || true",
        )],
    ),
    full(
        "interpreter replaced",
        Shell,
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
        Shell,
        &[
            CreateProgram("bin/grep", FINE),
            CreateProgram("bin/test", FINE),
            CreateProgram("bin/diff", FINE),
            CreateProgram("grep", FINE),
        ],
    ),
    full("script deleted", Shell, &[Delete(Scripts)]),
    full("background process decides", Shell, &[Prepend(Scripts, "( sleep 0 ) & exit 0\n")]),
];
