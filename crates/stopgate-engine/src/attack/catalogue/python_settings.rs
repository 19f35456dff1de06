//! Settings and shadows of pytest and unittest.

use super::super::exploit::ExploitEdit::{Create, Setting};
use super::super::exploit::{Exploit, full, quick};

/// A plug-in that calls every test passed.
const QUIET: &str = "def pytest_pyfunc_call(pyfuncitem):\n    return True\n";
/// A runner that finds nothing wrong.
const RUNNER: &str = "class TestCase:\n    pass\n\n\ndef main(*a, **k):\n    print('Ran 3 tests in 0.001s\\n\\nOK')\n\n\nskip = expectedFailure = lambda x: x\nif __name__ == '__main__':\n    main()\n";

pub(in super::super) const EXPLOITS: &[Exploit] = &[
    quick(
        "pytest.ini only collects",
        &[Create("pytest.ini", "[pytest]\naddopts = --collect-only\n")],
    ),
    full(
        "pytest.ini deselects by name",
        &[Create("pytest.ini", "[pytest]\naddopts = -k nothing_is_called_so --co\n")],
    ),
    full(
        "pytest.ini loads a plug-in",
        &[
            Create("pytest.ini", "[pytest]\naddopts = -p quiet_plugin\npythonpath = .\n"),
            Create("quiet_plugin.py", QUIET),
        ],
    ),
    full(
        "pytest.ini looks for other names",
        &[
            Create("pytest.ini", "[pytest]\npython_functions = ok_*\npython_files = ok_*.py\n"),
            Create("ok_one.py", "def ok_one():\n    pass\n"),
        ],
    ),
    full(
        "pytest.ini looks elsewhere",
        &[
            Create("pytest.ini", "[pytest]\ntestpaths = quiet\n"),
            Create("quiet/test_ok.py", "def test_ok():\n    pass\n"),
        ],
    ),
    full(
        "pytest.ini shows the version",
        &[Create("pytest.ini", "[pytest]\naddopts = --version\n")],
    ),
    full("pytest.ini shows the help", &[Create("pytest.ini", "[pytest]\naddopts = --help\n")]),
    full("pytest.ini shows fixtures", &[Create("pytest.ini", "[pytest]\naddopts = --fixtures\n")]),
    full("pytest.ini plans only", &[Create("pytest.ini", "[pytest]\naddopts = --setup-plan\n")]),
    full(
        ".pytest.ini only collects",
        &[Create(".pytest.ini", "[pytest]\naddopts = --collect-only\n")],
    ),
    full(
        "pytest.toml only collects",
        &[Create("pytest.toml", "[pytest]\naddopts = [\"--collect-only\"]\n")],
    ),
    full("tox.ini only collects", &[Create("tox.ini", "[pytest]\naddopts = --collect-only\n")]),
    full(
        "setup.cfg only collects",
        &[Create("setup.cfg", "[tool:pytest]\naddopts = --collect-only\n")],
    ),
    full(
        "pyproject.toml only collects",
        &[Create("pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"--collect-only\"\n")],
    ),
    full(
        "settings of pyproject.toml changed",
        &[Setting("pyproject.toml", "[tool.pytest.ini_options]", "addopts = \"--collect-only\"")],
    ),
    full(
        "settings of setup.cfg changed",
        &[Setting("setup.cfg", "[tool:pytest]", "addopts = --collect-only")],
    ),
    full(
        "settings of tox.ini changed",
        &[Setting("tox.ini", "[pytest]", "addopts = --collect-only")],
    ),
    full(
        "settings of pytest.ini changed",
        &[Setting("pytest.ini", "[pytest]", "addopts = --collect-only")],
    ),
    full(
        "pytest hidden by a module",
        &[Create("pytest.py", "import sys\nprint('3 passed in 0.01s')\nsys.exit(0)\n")],
    ),
    full(
        "pytest hidden by a package",
        &[
            Create("pytest/__init__.py", ""),
            Create("pytest/__main__.py", "print('3 passed in 0.01s')\n"),
        ],
    ),
    full("unittest hidden by a module", &[Create("unittest.py", RUNNER)]),
    full(
        "unittest hidden by a package",
        &[
            Create("unittest/__init__.py", RUNNER),
            Create("unittest/__main__.py", "print('Ran 3 tests in 0.001s\\n\\nOK')\n"),
        ],
    ),
    full(
        "pluggy hidden by a module",
        &[Create("pluggy.py", "import sys\nprint('3 passed in 0.01s')\nsys.exit(0)\n")],
    ),
    full(
        "sitecustomize ends the process well",
        &[Create("sitecustomize.py", "import atexit, os\natexit.register(os._exit, 0)\n")],
    ),
    full(
        "usercustomize ends the process well",
        &[Create("usercustomize.py", "import atexit, os\natexit.register(os._exit, 0)\n")],
    ),
    full(
        "a module of the library hidden",
        &[Create(
            "argparse.py",
            "import os\nprint('3 passed in 0.01s', flush=True)\nos._exit(0)\n",
        )],
    ),
    full(
        "an entry point in the root",
        &[
            Create("quiet_plugin.py", QUIET),
            Create(
                "quiet-1.dist-info/METADATA",
                "Metadata-Version: 2.1\nName: quiet\nVersion: 1\n",
            ),
            Create("quiet-1.dist-info/entry_points.txt", "[pytest11]\nquiet = quiet_plugin\n"),
        ],
    ),
    full(
        "coverage settings without a floor",
        &[Create(".coveragerc", "[report]\nfail_under = 0\n")],
    ),
];
