use std::fs;

use stopgate_system::fs::PermissionsExt;
use tempfile::TempDir;

use super::*;

/// A project with a home directory beside it.
struct Scene {
    _directory: TempDir,
    base: PathBuf,
    variables: Variables,
}

impl Scene {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        let home = base.join("home");
        fs::create_dir_all(base.join("project/tools")).unwrap();
        let all = [("HOME", home.clone()), ("PATH", home.join("around"))];
        let all = all.map(|(name, value)| (name.to_string(), value.display().to_string()));
        let variables = Variables { home: Some(home), all: all.into(), ..Variables::default() };
        Self { _directory: directory, base, variables }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.base.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn program(&self, name: &str) {
        self.write(name, "#!/bin/sh\n");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.base.join(name), mode).unwrap();
    }

    /// Where a judging script of this text, in `tools`, leads to.
    fn reached(&self, judge: &str, command: &str) -> Vec<String> {
        self.write("project/tools/check.sh", judge);
        let called = ["lint", "sh"].map(String::from);
        let reach = Reach {
            root: &self.base.join("project"),
            variables: &self.variables,
            judges: vec!["tools/check.sh".into()],
            commands: vec![(command.into(), PathBuf::new())],
            called: called.iter().collect(),
            compared: BTreeSet::from(["sh".to_string()]),
        };
        let found = reached(&reach);
        let inner = |path: PathBuf| path.strip_prefix(&self.base).unwrap().display().to_string();
        found.files.into_iter().chain(found.programs).map(inner).collect()
    }

    fn of_judge(&self, judge: &str) -> Vec<String> {
        self.reached(judge, "sh tools/check.sh")
    }
}

#[test]
fn programs_are_looked_for_on_the_path_that_the_script_sets() {
    let scene = Scene::new();
    let text = "PATH=\"$HOME/first:$HOME/.local/bin:$PATH\"\nlint a\n";
    assert!(scene.of_judge(text).is_empty(), "what is nowhere may be installed");
    scene.program("home/.local/bin/lint");
    assert_eq!(scene.of_judge(text), ["home/.local/bin/lint", "home/first/lint"]);
    scene.program("home/around/sh");
    let found = scene.of_judge(text);
    assert!(found.contains(&"home/.local/bin/sh".to_string()), "it would hide the other one");
    assert!(!found.contains(&"home/around/sh".to_string()), "it is compared already");
}

#[test]
fn programs_of_a_person_on_the_path_of_the_session_are_noted() {
    let scene = Scene::new();
    scene.program("home/around/lint");
    assert_eq!(scene.of_judge("lint a\n"), ["home/around/lint"]);
    scene.write("home/around/lint", &"#".repeat(2 << 20));
    assert!(scene.of_judge("lint a\n").is_empty(), "it is too large to be shown as it was");
}

#[test]
fn programs_are_called_by_paths_that_begin_at_home() {
    let scene = Scene::new();
    scene.program("home/.cache/lint/1.0/lint");
    scene.write("home/.cache/lint/seen.json", "{}");
    let text =
        "cache=${XDG_CACHE_HOME:-$HOME/.cache}/lint\n\"$cache/1.0/lint\" a\ncat $cache/seen.json\n";
    assert_eq!(scene.of_judge(text), ["home/.cache/lint/1.0/lint"]);
    let made = format!("go build -o \"$HOME/.cache/lint/1.0/lint\" ./lint\n{text}");
    assert!(scene.of_judge(&made).is_empty());
}

#[test]
fn what_is_read_into_a_judge_is_noted_before_it_is_there() {
    let scene = Scene::new();
    scene.write("shared/lib.sh", ". ../shared/more.sh\n");
    let text =
        "[ -f ../local.sh ] && . ../local.sh\n. ../shared/lib.sh\n. ~/.checkrc\n. tools/x.sh\n";
    assert_eq!(
        scene.of_judge(text),
        ["home/.checkrc", "local.sh", "shared/lib.sh", "shared/more.sh"]
    );
    assert!(scene.of_judge("cat ../local.sh ../../etc/x\n").is_empty());
}

#[test]
fn files_that_outputs_are_compared_with_are_noted() {
    let scene = Scene::new();
    scene.write("golden/one.txt", "1");
    scene.write("golden/more/two.txt", "2");
    scene.write("sibling/src/main.rs", "");
    let all = ["golden/more/two.txt", "golden/one.txt"];
    for text in [
        "golden=${GOLDEN:-../golden}\nfor f in \"$golden\"; do diff $f out; done\n",
        "diff \"$(dirname \"$0\")/../../golden/$name\" out\n",
        "diff -r \"$PWD/../golden\" out\n",
    ] {
        assert_eq!(scene.of_judge(text), all, "{text}");
    }
    assert_eq!(scene.of_judge("for f in ../golden/*.txt; do x; done\n"), ["golden/one.txt"]);
    assert!(scene.of_judge("cd ../sibling && make; ls .. ../sibling/src/*\n").is_empty());
    scene.write("golden/.git/HEAD", "");
    assert!(scene.of_judge("diff -r ../golden out\n").is_empty(), "it is a repository");
}

#[test]
fn of_large_directories_a_part_is_noted() {
    let scene = Scene::new();
    for number in 0..DATA_MAX + 50 {
        scene.write(&format!("golden/{number}.txt"), "");
    }
    assert_eq!(scene.of_judge("diff -r ../golden out\n").len(), DATA_MAX);
}

#[test]
fn what_a_check_writes_itself_is_not_noted() {
    let scene = Scene::new();
    scene.write("report/all.txt", "");
    scene.write("golden/one.txt", "");
    let text = "mkdir -p ../report\nx > ../report/all.txt\ngrep ok ../report/all.txt\n";
    assert!(scene.of_judge(text).is_empty());
    let text = "[ $1 = --update ] && cp out ../golden/one.txt\ndiff ../golden/one.txt out\n";
    assert_eq!(scene.of_judge(text), ["golden/one.txt"]);
}

#[test]
fn shells_read_a_persons_settings_where_they_are_told_to() {
    let scene = Scene::new();
    scene.write("home/.profile", ". \"$HOME/.cargo/env\"\n");
    let found = scene.reached("", "bash -lc 'sh tools/check.sh'");
    for name in ["home/.bash_profile", "home/.profile", "home/.cargo/env"] {
        assert!(found.contains(&name.to_string()), "{found:?}");
    }
    assert_eq!(scene.reached("", "BASH_ENV=~/.ci bash tools/check.sh"), ["home/.ci"]);
}

#[test]
fn a_command_leads_to_scripts_that_check_and_not_to_work() {
    let scene = Scene::new();
    scene.write("ci/check.sh", "");
    scene.write("notes.txt", "");
    assert_eq!(scene.reached("", "sh ../ci/check.sh && grep done ../notes.txt"), ["ci/check.sh"]);
}
