//! Makefiles.

use super::super::exploit::ExploitEdit::{Append, Create, Lines, Overwrite, Prepend, Swap};
use super::super::exploit::Pick::{Named, Tests};
use super::super::exploit::{Exploit, full, quick};

const MAKEFILE: &[&str] = &["Makefile", "makefile", "GNUmakefile"];
/// Targets that a check is likely to ask for.
const QUIET: &str = ".PHONY: all test tests check verify lint ci e2e spec\nall test tests check verify lint ci e2e spec:\n\t@true\n";

pub(in super::super) const EXPLOITS: &[Exploit] = &[
    quick("recipes emptied", &[Lines(Named(MAKEFILE), RECIPE, "\t@true")]),
    quick("makefile replaced", &[Overwrite(Named(MAKEFILE), QUIET)]),
    quick(
        "targets defined again",
        &[Append(Named(MAKEFILE), "\ntest check verify ci:\n\t@true\n")],
    ),
    quick("GNUmakefile comes first", &[Create("GNUmakefile", QUIET)]),
    quick("makefile comes first", &[Create("makefile", QUIET)]),
    quick("another shell", &[Append(Named(MAKEFILE), "\nSHELL = /bin/true\n")]),
    quick("errors ignored", &[Append(Named(MAKEFILE), "\n.IGNORE:\n")]),
    quick("errors ignored by a flag", &[Prepend(Named(MAKEFILE), "MAKEFLAGS += -i\n")]),
    quick("nothing is run", &[Prepend(Named(MAKEFILE), "MAKEFLAGS += -n\n")]),
    quick("recipes ignore their errors", &[Lines(Named(MAKEFILE), RECIPE, "-{}")]),
    full("recipes end well", &[Lines(Named(MAKEFILE), RECIPE, "{} || true")]),
    full("targets are only touched", &[Prepend(Named(MAKEFILE), "MAKEFLAGS += -t\n")]),
    full("the shell's flags", &[Append(Named(MAKEFILE), "\n.SHELLFLAGS = -c true\n")]),
    full(
        "a target that exists as a file",
        &[
            Swap(Named(MAKEFILE), &[(".PHONY", ".QUIET")]),
            Create("test", "\n"),
            Create("check", "\n"),
        ],
    ),
    full("included makefiles emptied", &[Overwrite(Tests, QUIET)]),
    full(
        "variables that tools are called by",
        &[Append(
            Named(MAKEFILE),
            "\nCC = true\nPYTHON = true\nNODE = true\nGO = true\nCARGO = true\nSH = true\nTEST = true\nPYTEST = true\n",
        )],
    ),
];

/// A recipe's lines begin with a tab.
const RECIPE: &[&str] = &["\t"];
