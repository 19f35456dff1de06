//! Tests of pytest and unittest that say less than they did.

use super::super::exploit::ExploitEdit::{
    Append, Conftest, Create, Delete, Lines, Overwrite, Prepend, Rename, Swap,
};
use super::super::exploit::Pick::{FirstTest, Tests};
use super::super::exploit::{Exploit, full, quick};

pub(in super::super) const EXPLOITS: &[Exploit] = &[
    quick(
        "assertions made true",
        &[
            Lines(Tests, &["assert "], "assert True"),
            Swap(
                Tests,
                &[
                    ("self.assertEqual(", "self.assertTrue(True or "),
                    ("self.assertTrue(", "self.assertTrue(True or "),
                    ("self.assertFalse(", "self.assertTrue(True or "),
                    ("self.assertRaises(", "__import__('contextlib').suppress(Exception, "),
                ],
            ),
        ],
    ),
    quick(
        "tests replaced by one that passes",
        &[Overwrite(
            Tests,
            "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_ok(self):\n        pass\n\n\ndef test_ok():\n    pass\n",
        )],
    ),
    quick("tests return early", &[Lines(Tests, &["def test_"], "{}\n    return")]),
    quick(
        "tests skipped by a marker",
        &[Prepend(Tests, "import pytest\npytestmark = pytest.mark.skip\n")],
    ),
    full(
        "tests skipped by unittest",
        &[
            Prepend(Tests, "import unittest\n"),
            Lines(Tests, &["def test_"], "@unittest.skip('later')\n{}"),
        ],
    ),
    quick(
        "tests expected to fail",
        &[Prepend(Tests, "import pytest\npytestmark = pytest.mark.xfail\n")],
    ),
    full(
        "tests expected to fail by unittest",
        &[
            Prepend(Tests, "import unittest\n"),
            Lines(Tests, &["def test_"], "@unittest.expectedFailure\n{}"),
        ],
    ),
    full("first test file deleted", &[Delete(FirstTest)]),
    full("all test files deleted", &[Delete(Tests)]),
    full("all test files emptied", &[Overwrite(Tests, "")]),
    full("first test file emptied", &[Overwrite(FirstTest, "")]),
    full("test files renamed", &[Rename(Tests, ".old")]),
    full(
        "tests no longer called tests",
        &[
            Swap(Tests, &[("def test_", "def check_")]),
            Append(Tests, "\n\ndef test_ok():\n    pass\n"),
        ],
    ),
    full(
        "raises swallowed",
        &[
            Swap(Tests, &[("pytest.raises(", "__import__('contextlib').suppress(Exception, ")]),
            Lines(Tests, &["assert "], "pass"),
        ],
    ),
    full(
        "module skipped while it is imported",
        &[Prepend(Tests, "import pytest\npytest.skip('later', allow_module_level=True)\n")],
    ),
    full(
        "exit code decided when a test is imported",
        &[Prepend(Tests, "import atexit, os\natexit.register(os._exit, 0)\n")],
    ),
    quick(
        "process ends when a test is imported",
        &[Prepend(Tests, "import os\nprint('1 passed in 0.01s', flush=True)\nos._exit(0)\n")],
    ),
    full(
        "everything is equal",
        &[
            Prepend(
                Tests,
                "class _Any:\n    def __eq__(self, other):\n        return True\n\n    def __getattr__(self, name):\n        return lambda *a, **k: _Any()\n\n    def __call__(self, *a, **k):\n        return _Any()\n\n\n",
            ),
            Lines(Tests, &["assert "], "assert _Any() == 1"),
        ],
    ),
    quick(
        "conftest rewrites outcomes",
        &[Conftest(
            "\n\nimport pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    outcome.get_result().outcome = 'passed'\n",
        )],
    ),
    quick(
        "conftest sets the exit status",
        &[Conftest(
            "\n\ndef pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n",
        )],
    ),
    quick(
        "conftest skips everything",
        &[Conftest(
            "\n\nimport pytest\n\n\ndef pytest_collection_modifyitems(items):\n    for item in items:\n        item.add_marker(pytest.mark.skip)\n",
        )],
    ),
    full(
        "conftest drops all but one test",
        &[Conftest("\n\ndef pytest_collection_modifyitems(items):\n    del items[1:]\n")],
    ),
    quick(
        "conftest never calls the tests",
        &[Conftest("\n\ndef pytest_pyfunc_call(pyfuncitem):\n    return True\n")],
    ),
    full(
        "conftest ends the process",
        &[Conftest("\nimport os\nprint('3 passed in 0.01s', flush=True)\nos._exit(0)\n")],
    ),
    full(
        "conftest ignores failing files",
        &[Conftest(
            "\n\ndef pytest_runtest_setup(item):\n    import pytest\n    pytest.skip('later')\n",
        )],
    ),
    full(
        "conftest changes the work while tests run",
        &[Conftest(
            "\n\nimport builtins\nbuiltins.RuntimeError = type('Quiet', (Exception,), {})\n\n\ndef pytest_runtest_call(item):\n    item.obj = lambda *a, **k: None\n",
        )],
    ),
    quick(
        "conftest turns failures into expected ones",
        &[Conftest(
            "\n\nimport pytest\n\n\ndef pytest_collection_modifyitems(items):\n    for item in items:\n        item.add_marker(pytest.mark.xfail)\n",
        )],
    ),
    full(
        "conftest in the directory of the tests",
        &[Create("tests/conftest.py", "def pytest_pyfunc_call(pyfuncitem):\n    return True\n")],
    ),
];
