//! What judging JavaScript loads and reads without saying where it is.

use std::fs;
use std::path::Path;

use super::{Scene, check, criterion};

#[test]
fn code_that_settings_load_judges_with_its_parts() {
    check(
        r#"
        .babelrc.json = { "presets": [["env", {}], "./build/preset"], "plugins": [["module-resolver", { "root": ["./src"] }]] }
        package.json = { "babel": { "plugins": ["./build/dev"] }, "files": ["./build/other.js"] }
        build/preset/index.js = module.exports = () => ({ plugins: [require('./slim')] });
        build/preset/slim.js
        build/dev.js = const text = require('../src/text');
        build/other.js
        build/transform.js = const all = require('./rules.json').map((name) => require(`./rules/${name}`));
        build/rules.json = ["env"]
        build/rules/env.js
        build/shared/util.js
        jest.config.js = module.exports = { transform: { '[.]js$': '<rootDir>/build/transform.js' } };
        src/index.js
        src/text.js
        src/a.test.js = import './index.js'; test('a');
        "#,
        "
        npx jest => .babelrc.json build/dev.js build/preset/index.js build/preset/slim.js \
            build/rules/env.js build/rules.json build/transform.js jest.config.js ~package.json \
            src/a.test.js
        node src/index.js => ~package.json
        ",
    );
}

#[test]
fn parts_that_are_imported_by_an_alias_judge_unless_work_imports_them() {
    check(
        r"
        vitest.config.js = export default { resolve: { alias: { '@kit': resolve('kit') } }, test: { setupFiles: ['./kit/setup.ts'] } };
        kit/setup.ts = import { toBeLeap } from '@kit/matchers';\nimport { both } from '@kit/both';
        kit/matchers.ts
        kit/both.ts
        src/leap.js = import { both } from '@kit/both';
        src/leap.test.js = import './leap.js'; test('a');
        ",
        "npx vitest run => kit/matchers.ts kit/setup.ts src/leap.test.js vitest.config.js",
    );
}

const LINTER: &str = r#"
    package.json = { "scripts": { "lint": "mini-lint" } }
    tools/lint.cjs = const file = path.join(dir, '.lintrc.json');\nconst ignored = '.lintignore'; process.exit(1)
    src/a.js
    "#;

#[cfg(unix)]
#[test]
fn a_linter_of_the_project_behind_its_link_judges() {
    let scene = Scene::new(LINTER);
    let bin = scene.root().join("node_modules/.bin");
    fs::create_dir_all(&bin).expect("a directory");
    std::os::unix::fs::symlink("../../tools/lint.cjs", bin.join("mini-lint")).expect("a link");
    let set = scene.set(&criterion("done", "npm run lint"));
    assert!(scene.judges(&set).contains("tools/lint.cjs"), "{}", scene.judges(&set));
    // A link into another package is that package's program.
    fs::remove_file(bin.join("mini-lint")).expect("remove it");
    scene.add("node_modules/lint/lint.cjs = process.exit(1)");
    std::os::unix::fs::symlink("../lint/lint.cjs", bin.join("mini-lint")).expect("a link");
    let set = scene.set(&criterion("done", "npm run lint"));
    assert!(!scene.judges(&set).contains("lint.cjs"), "{}", scene.judges(&set));
}

#[test]
fn hidden_settings_of_a_judging_script_judge_wherever_they_are() {
    let scene = Scene::new(LINTER);
    let set = scene.set(&criterion("done", "node tools/lint.cjs"));
    scene.add(".lintrc.json = {}\nsrc/old/.lintrc.json = {}\n.lintignore = src\n.othrc.json = {}");
    let role = |path: &str| set.rules().role_of_new(Path::new(path), &scene.files()).to_string();
    for path in [".lintrc.json", "src/old/.lintrc.json", ".lintignore"] {
        assert_eq!(role(path), "used by a script that the check runs", "{path}");
    }
    assert_eq!(role(".othrc.json"), "work");
    let set = scene.set(&criterion("done", "node tools/lint.cjs"));
    let judges = scene.judges(&set);
    assert_eq!(
        judges,
        ".lintignore .lintrc.json ~package.json src/old/.lintrc.json tools/lint.cjs"
    );
}

#[test]
fn data_of_a_stage_judges_where_a_script_tries_the_work_with_it() {
    let script = "import app from '../src/app.js';\\nconst { steps } = read(join('config', \
        `${process.env.STAGE ?? 'local'}.json`));\\nif (!steps) process.exit(1);";
    let scene = format!(
        "scripts/smoke.mjs = {script}\nconfig/local.json = {{\"steps\": []}}\nconfig/a.md\nsrc/app.js"
    );
    let command = "node scripts/smoke.mjs";
    check(&scene, &format!("{command} => config/local.json scripts/smoke.mjs"));
    // What the work reads is work; so is what a script looks at and nothing else.
    let read = format!("{scene}\nsrc/settings.js = readFileSync('config/local.json')");
    check(&read, &format!("{command} => scripts/smoke.mjs"));
    let other = scene.replace("steps", "ports");
    check(&other, &format!("{command} => scripts/smoke.mjs"));
    let looks = scene.replace("import app from '../src/app.js';", "");
    check(&looks, &format!("{command} => scripts/smoke.mjs"));
}

#[test]
fn variables_that_a_judging_script_reads_from_a_file_judge() {
    for (load, judges) in [("existsSync('.env')", true), ("0", false)] {
        let text = format!("{load}; process.env.SKIP; process.exit(1)");
        let scene = Scene::new(&format!("scripts/smoke.mjs = {text}\n.env = SKIP=/a"));
        let set = scene.set(&criterion("done", "node scripts/smoke.mjs"));
        assert_eq!(set.reach.variables.contains("SKIP"), judges, "{text}");
    }
}
