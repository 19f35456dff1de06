//! Judges by names, places and languages that are less usual.

use std::path::Path;

use super::{JudgeRole, Scene, check, criterion};

/// Rows of `new file => role`, for a command in a scene.
#[track_caller]
fn check_new(scene: &str, command: &str, rows: &[(&str, &str)]) {
    let scene = Scene::new(scene);
    let set = scene.set(&criterion("tests", command));
    for (path, _) in rows {
        scene.add(path);
    }
    let rules = set.rules();
    let files = scene.files();
    let found: Vec<(&str, String)> = rows
        .iter()
        .map(|(path, _)| (*path, rules.role_of_new(Path::new(path), &files).to_string()))
        .collect();
    let wanted: Vec<(&str, String)> =
        rows.iter().map(|(path, role)| (*path, (*role).to_string())).collect();
    assert_eq!(found, wanted, "{command}");
}

#[test]
fn modules_in_c_and_inner_ones_are_hidden_by_new_files() {
    check_new(
        "calc.py\ntests/test_calc.py\n_abc.py",
        "python -m unittest",
        &[
            ("_heapq.py", "hides the module _heapq"),
            ("_opcode.py", "hides the module _opcode"),
            ("_limits.py", "work"),
            ("calc/_heapq.py", "work"),
            ("_abc.py", "work"),
        ],
    );
}

#[test]
fn what_code_on_the_command_line_imports_is_hidden_by_new_files() {
    let command = "sh app.sh | python3 -c 'import json, os.path as p; from re import match'";
    check_new(
        "app.sh",
        command,
        &[
            ("json.py", "hides the module json"),
            ("os.py", "hides the module os"),
            ("re/__init__.py", "hides the module re"),
            ("csv.py", "work"),
            ("sub/json.py", "work"),
        ],
    );
    check_new("app.sh\njson.py", command, &[("json.py", "work")]);
}

#[test]
fn modules_that_are_installed_beside_the_runner_are_hidden_by_new_files() {
    let scene = Scene::new("calc.py\ntests/test_calc.py\nown.py");
    let place = Scene::new("lib/python3.11/site-packages/equals/__init__.py\nbin/pytest");
    place.add("lib/python3.11/site-packages/own.py");
    let program = place.root().join("bin/pytest");
    #[cfg(unix)]
    stopgate_system::set_mode(&program, 0o755).expect("a mode");
    let mut criterion = criterion("tests", "pytest");
    criterion.terms.set = vec![("PATH".into(), place.root().join("bin").display().to_string())];
    let set = scene.set(&criterion);
    scene.add("equals.py\nown.py\nother.py");
    let files = scene.files();
    let role = |path: &str| set.rules().role_of_new(Path::new(path), &files).to_string();
    assert_eq!(role("equals.py"), "hides the module equals");
    assert_eq!(role("own.py"), "work", "it was there");
    assert_eq!(role("other.py"), "work");
}

#[test]
fn sources_that_are_found_before_others_hide_them() {
    check_new(
        "package.json = {\"scripts\":{\"test\":\"jest\"}}\nsrc/a.js\nsrc/b.ts\nsrc/c/index.js\nx.css",
        "npm test",
        &[
            ("src/a", "hides src/a.js"),
            ("src/b.js", "hides src/b.ts"),
            ("src/c.js", "hides src/c/index.js"),
            ("src/a.mjs", "work"),
            ("src/d.js", "work"),
            ("x", "work"),
            ("src/a.d.ts", "work"),
        ],
    );
    check_new("a.js\ntest_a.py", "pytest", &[("a", "work")]);
}

#[test]
fn what_comes_with_perl_is_hidden_by_new_files() {
    check_new(
        "lib/Tally.pm\nt/a.t",
        "prove -l t",
        &[
            ("lib/strict.pm", "hides the module strict"),
            ("lib/Test/Builder/Module.pm", "hides the module Test/Builder/Module"),
            ("lib/Test/More.pm", "hides the module Test/More"),
            ("lib/My/strict.pm", "work"),
            ("lib/Test/Mine.pm", "work"),
        ],
    );
}

#[test]
fn what_tests_in_ruby_are_written_with_is_hidden_by_new_files() {
    check_new(
        "lib/tally.rb\ntest/tally_test.rb",
        "ruby -Ilib test/tally_test.rb",
        &[
            ("lib/minitest/autorun.rb", "hides the library minitest"),
            ("lib/test/unit.rb", "hides the library test/unit"),
            ("lib/tally/rake.rb", "work"),
        ],
    );
}

#[test]
fn helpers_and_data_beside_tests_in_perl_judge() {
    check(
        "lib/Tally.pm\nt/a.t\nt/lib/Votes.pm\nt/votes/list.txt\nxt/b.t\nxt/lib/X.pm\nREADME.md",
        "
        prove -l t => t/a.t t/lib/Votes.pm t/votes/list.txt xt/b.t
        prove -l => t/a.t t/lib/Votes.pm t/votes/list.txt xt/b.t
        prove xt/*.t => t/a.t xt/b.t xt/lib/X.pm
        perl -Ilib t/a.t => t/a.t t/lib/Votes.pm t/votes/list.txt xt/b.t
        ",
    );
}

#[test]
fn rules_that_make_makes_by_itself_hide_the_makefile() {
    check_new(
        "Makefile = test:\\n\\tsh app.sh\napp.sh",
        "make test",
        &[
            ("Makefile.sh", "hides Makefile"),
            ("Makefile,v", "hides Makefile"),
            ("build.sh", "work"),
        ],
    );
}

#[test]
fn tests_in_c_are_found_by_what_they_do() {
    let main = "int main(void) {\\n    assert(1);\\n}";
    let rule = "build/u: $(T)\\n\\tcc -o $@ $(T)\\ntest: build/u\\n\\tbuild/u\\n";
    check(
        &format!(
            "Makefile = {rule}\nsrc/stack.h = int pop(void);\nsrc/stack.c = #include \"stack.h\"\nchecks/u.c = #include \"stack.h\"\\n#include \"mini.h\"\\n{main}\nsrc/mini.h = #define must(x) if (!(x)) exit(1)\nsrc/main.c = {main}"
        ),
        "
        make test => ~Makefile checks/u.c src/mini.h ~src/stack.h
        ",
    );
}

#[test]
fn a_test_program_in_c_counts_whether_it_is_built_or_not() {
    let rule = "build/u: checks/u.c\\n\\tcc -o $@ $<\\ntest: build/u\\n\\tbuild/u\\n";
    let scene = Scene::new(&format!(
        "Makefile = {rule}\nchecks/u.c = int main(void) {{\\n    assert(1);\\n}}\nbuild/u = \u{7f}ELF\0"
    ));
    let set = scene.set(&criterion("tests", "make test"));
    assert_ne!(set.role(Path::new("checks/u.c")), JudgeRole::Work);
}

#[test]
fn tests_that_git_counts_below_a_directory_called_target_judge() {
    check(
        "target/tests/test_a.py\ntarget/price.py\npyproject.toml",
        "pytest => ~pyproject.toml target/tests/test_a.py",
    );
}

#[test]
fn the_class_that_a_command_names_for_its_checks_judges() {
    check(
        "src/pace/Pace.java\nsrc/pace/PaceCheck.java",
        "
        java -ea -cp out pace.PaceCheck => src/pace/PaceCheck.java
        java -cp out pace.Pace =>
        ",
    );
}

#[test]
fn a_class_that_is_there_before_it_is_built_hides_its_source() {
    check_new(
        "src/pace/Pace.java\ntest/pace/PaceTest.java",
        "sh -c 'javac -d out src/pace/*.java && java -cp lib:out pace.PaceTest'",
        &[("lib/pace/Pace.class", "hides the class of pace/Pace.java"), ("lib/a/B.class", "work")],
    );
}

#[test]
fn a_file_called_spec_is_a_test_where_javascript_is_written() {
    let scene = Scene::new("src/spec.js\nsrc/spec.py\npackage.json");
    let set = scene.set(&criterion("tests", "npx jest"));
    assert_ne!(set.role(Path::new("src/spec.js")), JudgeRole::Work);
    assert_eq!(set.role(Path::new("src/spec.py")), JudgeRole::Work);
}

#[test]
fn what_was_there_before_hides_nothing() {
    let node = "lib/cart.ts\nlib/cart.js\nlib/slug.js\nlib/slug/index.js\ntests/cart.test.js";
    let rows = [
        ("lib/cart.js", "work"),
        ("lib/slug.js", "work"),
        ("lib/cart", "hides lib/cart.js"),
        ("lib/cart.mjs", "hides lib/cart.ts"),
    ];
    check_new(node, "node --test", &rows);
    let perl = "lib/Test/Deep.pm\nlib/Tally.pm\nt/tally.t";
    let rows = [("lib/Test/Deep.pm", "work"), ("lib/Carp.pm", "hides the module Carp")];
    check_new(perl, "prove -l", &rows);
}
