//! Files that are there for tests, wherever they are.

use std::path::Path;

use super::super::{JudgeRole, MixedKind};
use super::{Scene, check, criterion};

#[test]
fn a_script_that_compares_for_tests_judges() {
    check(
        "
        package.json = {}
        lib/slug.js
        bin/compare.js = require('../lib/slug.js')
        bin/same.js = require('../lib/slug.js')
        bin/slugs.js = require('../lib/slug.js')
        lib/run.js = spawn('bin/same.js')
        test/slug.test.js = spawnSync('node', ['bin/compare.js', 'bin/slugs.js', 'bin/same.js'])
        ",
        "node --test => bin/compare.js ~package.json test/slug.test.js",
    );
    check(
        "
        package.json = {}
        bin/compare.js
        test/compare.test.js = spawnSync('node', ['bin/compare.js'])
        test/more.test.js = spawnSync('node', ['bin/compare.js'])
        ",
        "node --test => ~package.json test/compare.test.js test/more.test.js",
    );
    check(
        "
        package.json = {\"bin\": \"bin/compare.js\"}
        bin/compare.js
        test/cli.test.js = spawnSync('node', ['bin/compare.js'])
        ",
        "node --test => ~package.json test/cli.test.js",
    );
}

#[test]
fn what_only_tests_measure_by_judges() {
    let tests =
        "package.json = {}\ntest/a.test.js = read('config/limits.json')\nconfig/limits.json";
    let row = "node --test => config/limits.json ~package.json test/a.test.js";
    check(&format!("{tests}\nlib/a.js = module.exports = 1"), row);
    let row = "node --test => ~package.json test/a.test.js";
    check(&format!("{tests}\nlib/a.js = read('config/limits.json')"), row);
    check(&format!("{tests}\nlib/a.js = readdirSync('config')"), row);
}

#[test]
fn what_a_checking_script_looks_at_is_work_and_what_it_goes_by_judges() {
    check(
        "
        tools/check.js = require('../i18n/en.json'); require('./words.json'); require('../data/limits.json')
        i18n/en.json
        tools/words.json
        data/limits.json
        ",
        "node tools/check.js => data/limits.json tools/check.js tools/words.json",
    );
}

#[test]
fn source_with_tests_for_vitest_has_sections() {
    check(
        "
        package.json = {}
        src/a.js = export const a = 1;\\nif (import.meta.vitest) {\\n}\\n
        src/b.js = export const b = 1;
        ",
        "
        npx vitest run => ~package.json ~src/a.js
        npx jest => ~package.json
        ",
    );
}

#[test]
fn pages_judge_by_the_examples_that_a_script_goes_through() {
    let pages = |script: &str| {
        let scene = Scene::new(&format!(
            "
            tools/docs.py = import sys\\n{script}
            docs/slugs.md = ```python\\nassert 1\\n```
            docs/deep/more.md
            docs/notes.txt
            README.md
            ",
        ));
        let set = scene.set(&criterion("docs", "python3 tools/docs.py"));
        let paths = ["docs/slugs.md", "docs/deep/more.md", "docs/notes.txt", "README.md"];
        let is_page =
            |path: &&str| set.role(Path::new(*path)) == JudgeRole::Sections(MixedKind::Page);
        paths.into_iter().filter(is_page).collect::<Vec<_>>().join(" ")
    };
    let runs = "sys.exit(run(re.findall(r\"```python\\\\n(.*?)```\", text)))";
    let both = "docs/slugs.md docs/deep/more.md";
    assert_eq!(pages(&format!("for p in Path(\"docs\").rglob(\"*.md\"): {runs}")), both);
    assert_eq!(pages(&format!("for p in glob(\"docs/*.md\"): {runs}")), "docs/slugs.md");
    // It passes over blocks, whatever they say.
    assert_eq!(
        pages("for p in glob(\"docs/*.md\"): sys.exit(re.sub(r\"```.*?```\", \"\", text))"),
        ""
    );
    assert_eq!(pages("for p in glob(\"docs/*.md\"): sys.exit(links(p))"), "");
}

#[test]
fn what_a_check_reads_is_found_by_what_it_names() {
    let watched = |name: &str, command: &str, script: &str| {
        let scene = Scene::new(&format!(
            "
            tools/check.py = {script}
            config/eu.json
            scripts/a.sh
            src/a.py
            "
        ));
        let set = scene.set(&criterion(name, command));
        set.watched().cloned().collect::<Vec<_>>().join(" ")
    };
    for (command, expected) in [
        ("shellcheck scripts/*.sh", "scripts/*.sh"),
        ("shellcheck scripts/a.sh", ""),
        ("test -z \"$(grep -rn DEBUG src 2>/dev/null)\"", "src"),
        ("! grep -rn DEBUG .", ""),
        ("for f in config/*.json; do jq . \"$f\" || exit 1; done", "config/*.json"),
        ("for f in config/*.json; do echo \"$f\"; done", ""),
        ("find scripts -name '*.sh' | xargs shellcheck", "scripts/**/*.sh"),
        ("find src -name '*.js' | grep -q .", ""),
        ("test -z \"$(find src -name '*.js')\"", ""),
        ("ls config/*.json", ""),
        ("ruff check src", "src"),
        ("python3 -m pytest src", ""),
    ] {
        assert_eq!(watched("done", command, ""), expected, "{command}");
    }
    let run = "python3 tools/check.py";
    let ends = "json.load(open(p))\\nsys.exit(1)";
    for (script, expected) in [
        (format!("for p in glob.glob(\"config/*.json\"): {ends}"), "config/*.json"),
        (format!("for p in Path('config').glob('*.json'): {ends}"), "config/**/*.json"),
        (format!("for p in os.listdir('config'): {ends}"), "config"),
        ("sys.exit(len(glob.glob(\"config/*.json\")))".to_string(), ""),
    ] {
        assert_eq!(watched("done", run, &script), expected, "{script}");
    }
}
