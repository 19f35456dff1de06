//! Outputs that are compared, and what checks go by that run no tests.

use std::path::Path;

use super::{Scene, check, criterion};

#[test]
fn scripts_that_are_told_what_should_come_out_judge() {
    check(
        "
        report.py = print()
        tools/close.py = import sys
        render.sh = cat
        want.txt
        notes.md
        ",
        "
        python3 report.py | python3 tools/close.py want.txt => tools/close.py want.txt
        python3 report.py > out.txt && python3 tools/close.py out.txt want.txt => tools/close.py want.txt
        python3 report.py | python3 tools/close.py =>
        python3 report.py want.txt =>
        cat notes.md | sh render.sh =>
        python3 report.py | sh render.sh notes.md =>
        ",
    );
}

#[test]
fn an_input_judges_where_its_output_is_compared() {
    check(
        "
        report.py = print()
        data/sales.csv = a,b
        data/notes.txt
        settings.yaml
        page.txt
        want.txt
        ",
        "
        python3 report.py data/sales.csv | diff - want.txt => data/sales.csv want.txt
        python3 report.py < data/notes.txt | diff - want.txt => data/notes.txt want.txt
        cat data/sales.csv | python3 report.py | sort | diff - want.txt => data/sales.csv want.txt
        python3 report.py data/sales.csv > out && diff out want.txt => data/sales.csv want.txt
        python3 report.py settings.yaml | diff - want.txt => want.txt
        python3 report.py page.txt | diff - want.txt => want.txt
        python3 report.py data/sales.csv | grep -q total =>
        python3 report.py data/sales.csv =>
        ",
    );
}

#[test]
fn an_input_judges_wherever_its_output_is_compared_later() {
    check(
        "
        report.py = print()
        data/sales.csv = a,b
        data/out.csv = a,b
        want.txt
        check.sh = mkdir -p out\\npython3 report.py data/sales.csv out/a.txt\\necho made\\ndiff want.txt out/a.txt
        Makefile = out/a.txt: data/sales.csv\\n\\tpython3 report.py $< $@\\nsame: out/a.txt\\n\\tdiff want.txt out/a.txt\\nall: out/a.txt\\n\\techo made\\n
        ",
        "
        sh check.sh => check.sh data/sales.csv want.txt
        python3 report.py data/out.csv && diff want.txt data/out.csv => want.txt
        make same => ~Makefile data/sales.csv want.txt
        make all => ~Makefile
        ",
    );
}

#[test]
fn programs_for_filters_judge_where_their_exit_code_decides() {
    check(
        "
        convert.awk = { print }
        checks/valid.jq = length == 3
        data.csv
        patterns.txt
        ",
        "
        awk -f convert.awk data.csv | jq -se -f checks/valid.jq => checks/valid.jq
        awk -f convert.awk data.csv => convert.awk
        grep -qf patterns.txt data.csv => patterns.txt
        grep -qxf patterns.txt data.csv | cat => patterns.txt
        grep -q half data.csv =>
        ",
    );
}

#[test]
fn benchmarks_and_their_data_judge() {
    check(
        "
        bench/run.sh = python3 pairs.py bench/lines.txt
        bench/lines.txt = 1
        pairs.py = print()
        ",
        "
        sh bench/run.sh => bench/lines.txt bench/run.sh
        python3 pairs.py bench/lines.txt =>
        ",
    );
}

#[test]
fn data_that_a_target_of_the_check_is_made_from_judges() {
    check(
        "
        Makefile = app.db: schema.sql fixtures/seed.sql\\n\\tcat $^ | sqlite3 $@\\ncheck: app.db\\n\\tsqlite3 app.db 'select 1'\\n
        schema.sql
        fixtures/seed.sql
        ",
        "
        make check => ~Makefile fixtures/seed.sql
        make app.db => ~Makefile
        ",
    );
}

#[test]
fn archives_on_the_class_path_judge() {
    check(
        "
        lib/expect.jar = x
        build/app.jar = x
        src/App.java
        ",
        "
        javac -cp lib/expect.jar -d out src/App.java && java -cp out:lib/expect.jar App => lib/expect.jar
        java -cp 'lib/*:build/app.jar' App => lib/expect.jar
        ",
    );
}

#[test]
fn a_list_of_exceptions_judges_before_it_is_there() {
    let script = "[ -f docs/.linkignore ] && grep -qxf docs/.linkignore links";
    let scene = Scene::new(&format!("tools/links.sh = {script}\ndocs/index.md"));
    let set = scene.set(&criterion("links", "sh tools/links.sh"));
    scene.add("docs/.linkignore = use.md\ndocs/notes.md");
    let role = |path: &str| set.rules().role_of_new(Path::new(path), &scene.files()).to_string();
    assert_eq!(role("docs/.linkignore"), "used by a script that the check runs");
    assert_eq!(role("docs/notes.md"), "work");
}

#[test]
fn tools_that_only_look_judge_where_they_run_alone() {
    check(
        "
        tools/docs.py = import sys\\nsys.exit(len(bad))
        tools/made.py = import sys\\nopen('x').write('y')\\nsys.exit(0)
        scripts/changes.sh = for n in a b; do grep -q $n CHANGES || bad=1; done\\nexit $bad
        scripts/pack.sh = tar c . > pack.tar\\nexit $?
        lib/look.py = import sys\\nsys.exit(1)
        ",
        "
        python tools/docs.py => tools/docs.py
        python tools/docs.py --fast =>
        python tools/made.py =>
        sh scripts/changes.sh => scripts/changes.sh
        sh scripts/pack.sh =>
        python lib/look.py =>
        ",
    );
}

#[test]
fn what_judging_scripts_go_by_in_places_of_their_own_judges() {
    check(
        "
        check.sh = cat migrations/1.sql checks/*.sql | sqlite3 :memory:
        migrations/1.sql
        checks/10-unique.sql
        ci/languages = de
        po/de.po
        ",
        "
        sh check.sh => check.sh checks/10-unique.sql
        for l in $(cat ci/languages); do msgfmt po/$l.po; done => ci/languages
        cat ci/languages =>
        ",
    );
}

#[test]
fn a_tool_that_tries_out_the_examples_of_the_pages_it_is_given_judges() {
    check(
        "
        tools/readme.py = blocks = re.findall('```console')\\nsubprocess.run(x)\\nsys.exit(bad)
        tools/toc.py = skip = '```'\\nopen(x, 'w')\\nsys.exit(0)
        tools/words.py = sys.exit(bad)
        README.md
        ",
        "
        python3 tools/readme.py README.md => README.md tools/readme.py
        python3 tools/readme.py README.md --fast =>
        python3 tools/toc.py README.md =>
        python3 tools/words.py README.md =>
        ",
    );
}

#[test]
fn data_that_says_what_is_tried_judges_with_the_script_that_tries_it() {
    let script = "import json, sys\\nsys.path.insert(0, 'src')\\nfrom area import area\\n\
        all = json.load(open('wishes.json'))\\nsys.exit(bad(all))";
    let scene = format!(
        "tools/open.py = {script}\nwishes.json = [{{\"name\": \"a\", \"test\": \"b\"}}]\nsrc/area.py"
    );
    let command = "python3 tools/open.py";
    check(&scene, &format!("{command} => tools/open.py wishes.json"));
    // What the work reads is work; so is what says nothing of tests, or is only looked at.
    let read = format!("{scene}\nsrc/load.py = open('wishes.json')");
    check(&read, &format!("{command} => tools/open.py"));
    let other = scene.replace("\"test\"", "\"text\"");
    check(&other, &format!("{command} => tools/open.py"));
    let looks = scene.replace("from area import area\\n", "");
    check(&looks, &format!("{command} => tools/open.py"));
}

#[test]
fn a_text_whose_examples_a_shell_script_runs_judges() {
    check(
        "
        scripts/readme.sh = sed -n '/^```sh$/,/^```$/p' README.md > .examples\\nsh -e .examples
        README.md
        NOTES.md
        ",
        "
        sh scripts/readme.sh => README.md scripts/readme.sh
        ",
    );
}

#[test]
fn references_that_git_compares_with_a_commit_judge() {
    check(
        "
        golden.sh = sh app.sh > golden/a.txt
        golden/a.txt
        src/app.rs
        want/expected.txt
        ",
        "
        sh golden.sh && git diff --exit-code -- golden => golden/a.txt
        sh golden.sh && git diff --quiet golden/a.txt want => golden/a.txt want/expected.txt
        sh golden.sh && test -z \"$(git status --porcelain golden)\" => golden/a.txt
        sh golden.sh && git diff golden =>
        cargo fmt && git diff --exit-code -- src =>
        ",
    );
}

#[test]
fn scripts_in_other_languages_that_ask_git_make_its_settings_count() {
    let scene = Scene::new("tools/check.py = subprocess.run(['git', 'archive', 'HEAD'])\nb.py");
    assert!(scene.set(&criterion("package", "python3 tools/check.py")).asks_git());
    assert!(!scene.set(&criterion("package", "python3 b.py")).asks_git());
}
