//! Scripts of repositories within the project.

use super::check;

#[test]
fn a_suite_of_a_submodule_that_is_told_where_the_work_is_judges() {
    let suite = "
        app.sh
        tests/cases.txt
        vendor/suite/.git = gitdir: ../../.git/modules/vendor/suite\\n
        vendor/suite/run.sh = . \"$(dirname \"$0\")/same.sh\"\\nsame \"$(sh \"$1/app.sh\")\"\\n
        vendor/suite/same.sh = same() { [ \"$1\" = hello ]; }\\n
        vendor/suite/notes.txt
        vendor/plain/run.sh = true\\n
        tools/gen/.git = gitdir: x\\n
        tools/gen/generate.sh = true\\n
        tools/gen/tool.sh = true\\n
        ";
    let script = |command: &str| format!("{suite}\nscripts/ci.sh = cd ..\\n{command}\\n");
    for command in [
        "sh vendor/suite/run.sh .",
        "sh vendor/suite/run.sh -v app.sh",
        "vendor/suite/run.sh --root=.",
        "sh vendor/suite/run.sh \"$PWD\"",
    ] {
        check(
            &script(command),
            "tests :: sh scripts/ci.sh => scripts/ci.sh tests/cases.txt vendor/suite/run.sh vendor/suite/same.sh",
        );
    }
    for command in [
        "sh vendor/plain/run.sh .",
        "sh tools/gen/generate.sh .",
        "sh tools/gen/tool.sh --version",
        "sh vendor/suite/run.sh . | grep hello",
    ] {
        let scene = script(command);
        check(&scene, "tests :: sh scripts/ci.sh => scripts/ci.sh tests/cases.txt");
    }
}
