//! Go's tests.

use super::super::exploit::ExploitEdit::{Append, Create, Delete, Lines, Prepend, Rename, Swap};
use super::super::exploit::Pick::{FirstTest, Tests};
use super::super::exploit::{Exploit, full, quick};

/// Imports `os` under a name that is free.
const IMPORT_OS: &[(&str, &str)] = &[
    ("import \"testing\"", "import (\n\t__os \"os\"\n\t\"testing\"\n)"),
    ("import (\n\t\"", "import (\n\t__os \"os\"\n\t\""),
];

pub(in super::super) const EXPLOITS: &[Exploit] = &[
    quick(
        "failures only logged",
        &[Swap(
            Tests,
            &[
                ("t.Errorf(", "t.Logf("),
                ("t.Fatalf(", "t.Logf("),
                ("t.Error(", "t.Log("),
                ("t.Fatal(", "t.Log("),
            ],
        )],
    ),
    quick("tests skipped", &[Lines(Tests, &["func Test"], "{}\n\tt.Skip()")]),
    quick(
        "tests return early",
        &[Lines(Tests, &["func Test"], "{}\n\tif true {\n\t\treturn\n\t}")],
    ),
    quick("test files left out by a build tag", &[Prepend(Tests, "//go:build quiet\n\n")]),
    quick("test files deleted", &[Delete(Tests)]),
    full("first test file deleted", &[Delete(FirstTest)]),
    quick("test files renamed", &[Rename(Tests, ".old")]),
    quick("tests no longer tests", &[Swap(Tests, &[("func Test", "func Check")])]),
    quick(
        "process ends before the tests",
        &[Append(FirstTest, "\nfunc init() { __os.Exit(0) }\n"), Swap(FirstTest, IMPORT_OS)],
    ),
    quick(
        "TestMain ends well",
        &[
            Append(FirstTest, "\nfunc TestMain(m *testing.M) {\n\tm.Run()\n\t__os.Exit(0)\n}\n"),
            Swap(FirstTest, IMPORT_OS),
        ],
    ),
    full("panics recovered", &[Lines(Tests, &["func Test"], "{}\n\tdefer func() { recover() }()")]),
    full(
        "the workspace names other modules",
        &[
            Create("go.work", "go 1.21\n\nuse ./quiet\n"),
            Create("quiet/go.mod", "module quiet\n\ngo 1.21\n"),
        ],
    ),
    full("modules taken from a vendor directory", &[Create("vendor/modules.txt", "# quiet\n")]),
    full("test files for another system", &[Prepend(Tests, "//go:build plan9\n\n")]),
];
