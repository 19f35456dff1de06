//! Files of a made-up person, before and after.

use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};

use tempfile::TempDir;

use super::skill::{SkillAuthor, author, stamped};
use super::*;

const PROGRAM: &str = "/opt/bin/stopgate";

struct Stage {
    directory: TempDir,
    place: ScopeFiles,
}

impl Stage {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let claude = directory.path().join(".claude");
        let place = ScopeFiles {
            agent: Agent::Claude,
            scope: SettingsScope::Project,
            settings: claude.join("settings.json"),
            skill: Some(claude.join(SKILL_PATH)),
            floor: directory.path().into(),
        };
        Self { directory, place }
    }

    fn with(settings: &str) -> Self {
        let stage = Self::new();
        fs::create_dir_all(stage.place.settings.parent().unwrap()).unwrap();
        fs::write(&stage.place.settings, settings).unwrap();
        stage
    }

    fn install(&self) -> Plan {
        self.place.install(Settings, self.directory.path(), Path::new(PROGRAM)).unwrap()
    }

    fn uninstall(&self) -> Plan {
        self.place.uninstall(Settings, self.directory.path(), None).unwrap()
    }

    fn skill(&self) -> &Path {
        self.place.skill.as_deref().unwrap()
    }

    fn settings(&self) -> String {
        self.place.read().unwrap().unwrap()
    }
}

#[test]
fn a_plan_alone_changes_nothing() {
    let stage = Stage::new();
    assert_eq!(stage.install().files.len(), 2);
    assert!(!stage.directory.path().join(".claude").exists());
}

#[test]
fn installing_twice_changes_nothing_the_second_time() {
    let stage = Stage::new();
    assert_eq!(stage.install().carry_out().unwrap(), [""; 0].map(PathBuf::from));
    let again = stage.install();
    assert_eq!(again.changes, [""; 0]);
    assert!(again.files.is_empty());
}

#[test]
fn uninstalling_gives_back_what_was_there_and_leaves_no_skill() {
    let before = "{\n  // mine\n  \"model\": \"opus\"\n}\n";
    let stage = Stage::with(before);
    stage.install().carry_out().unwrap();
    assert!(stage.skill().exists());
    stage.uninstall().carry_out().unwrap();
    assert_eq!(stage.settings(), before);
    assert!(!stage.directory.path().join(".claude/skills").exists());
}

#[test]
fn a_file_that_was_there_has_one_backup_however_often_we_come_and_go() {
    let before = "{\"model\":\"opus\"}";
    let stage = Stage::with(before);
    let backup = PathBuf::from(format!("{}.stopgate-backup", stage.place.settings.display()));
    for _ in 0..3 {
        assert_eq!(stage.install().carry_out().unwrap(), std::slice::from_ref(&backup));
        assert_eq!(stage.uninstall().carry_out().unwrap(), [""; 0].map(PathBuf::from));
        assert_eq!(fs::read_to_string(&backup).unwrap(), before);
        assert_eq!(stage.settings(), before);
    }
    let files = fs::read_dir(stage.directory.path().join(".claude")).unwrap().count();
    assert_eq!(files, 2, "the settings and their backup");
}

#[test]
fn nothing_is_left_where_nothing_was() {
    let stage = Stage::new();
    stage.install().carry_out().unwrap();
    stage.uninstall().carry_out().unwrap();
    assert!(!stage.directory.path().join(".claude").exists());
    assert!(stage.directory.path().exists());
}

#[test]
fn permissions_and_links_survive() {
    let stage = Stage::with("{}");
    let real = stage.directory.path().join("dotfile.json");
    fs::rename(&stage.place.settings, &real).unwrap();
    fs::set_permissions(&real, Permissions::from_mode(0o600)).unwrap();
    symlink(&real, &stage.place.settings).unwrap();
    stage.install().carry_out().unwrap();
    assert!(stage.place.settings.is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("stopgate hook claude"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_file_that_changed_meanwhile_is_left_alone() {
    let stage = Stage::with("{}");
    let plan = stage.install();
    fs::write(&stage.place.settings, "{\"model\":\"opus\"}").unwrap();
    assert!(plan.carry_out().is_err());
    assert_eq!(stage.settings(), "{\"model\":\"opus\"}");
}

#[test]
fn a_skill_is_ours_until_somebody_changes_it() {
    assert_eq!(author(None), SkillAuthor::Nobody);
    assert_eq!(author(Some(&stamped())), SkillAuthor::Us);
    assert_eq!(author(Some(stopgate_agents::SKILL)), SkillAuthor::Earlier);
    assert_eq!(author(Some(&format!("{}mine\n", stamped()))), SkillAuthor::Somebody);
    assert_eq!(author(Some(&stamped().replacen("loop", "round", 1))), SkillAuthor::Somebody);
    assert_eq!(author(Some("---\nname: stopgate\n---\nmine")), SkillAuthor::Somebody);
}

#[test]
fn a_changed_skill_stays() {
    let stage = Stage::new();
    stage.install().carry_out().unwrap();
    fs::write(stage.skill(), "mine").unwrap();
    let notes = stage.install().notes;
    assert!(notes.iter().any(|note| note.contains("changed by hand")), "{notes:?}");
    stage.uninstall().carry_out().unwrap();
    assert_eq!(fs::read_to_string(stage.skill()).unwrap(), "mine");
}

#[test]
fn another_program_in_other_settings_is_pointed_out_and_a_shared_entry_is_not() {
    let stage = Stage::new();
    let place = |scope, name: &str| ScopeFiles {
        scope,
        settings: stage.place.settings.with_file_name(name),
        ..stage.place.clone()
    };
    let local = place(SettingsScope::Local, "settings.local.json");
    let plan =
        |program| local.install(Settings, stage.directory.path(), Path::new(program)).unwrap();
    stage.install().carry_out().unwrap();
    assert!(!plan(PROGRAM).notes.iter().any(|note| note.contains("count twice")), "it is shared");
    let other = text::install(None, &HookEntry::new(Agent::Claude, "/elsewhere/stopgate")).unwrap();
    fs::write(&stage.place.settings, other.text).unwrap();
    assert!(plan(PROGRAM).notes.iter().any(|note| note.contains("count twice")));
}

#[test]
fn the_skill_stays_while_other_settings_of_the_project_need_it() {
    let stage = Stage::new();
    stage.install().carry_out().unwrap();
    let local = stage.place.settings.with_file_name("settings.local.json");
    fs::copy(&stage.place.settings, local).unwrap();
    stage.uninstall().carry_out().unwrap();
    assert!(stage.skill().exists());
}
