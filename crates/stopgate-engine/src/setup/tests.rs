//! Files of a made-up person, before and after.

use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};

use tempfile::TempDir;

use super::skill::{Author, author, stamped};
use super::*;

const PROGRAM: &str = "/opt/bin/stopgate";

struct Stage {
    folder: TempDir,
    place: Place,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let claude = folder.path().join(".claude");
        let place = Place {
            scope: Scope::Project,
            settings: claude.join("settings.json"),
            skill: claude.join(SKILL_PATH),
        };
        Self { folder, place }
    }

    fn with(settings: &str) -> Self {
        let stage = Self::new();
        fs::create_dir_all(stage.place.settings.parent().unwrap()).unwrap();
        fs::write(&stage.place.settings, settings).unwrap();
        stage
    }

    fn install(&self) -> Plan {
        self.place.install(Settings, self.folder.path(), Path::new(PROGRAM)).unwrap()
    }

    fn uninstall(&self) -> Plan {
        self.place.uninstall(Settings, self.folder.path()).unwrap()
    }

    fn settings(&self) -> String {
        self.place.read().unwrap().unwrap()
    }
}

#[test]
fn a_plan_alone_changes_nothing() {
    let stage = Stage::new();
    assert_eq!(stage.install().files.len(), 2);
    assert!(!stage.folder.path().join(".claude").exists());
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
    assert!(stage.place.skill.exists());
    stage.uninstall().carry_out().unwrap();
    assert_eq!(stage.settings(), before);
    assert!(!stage.folder.path().join(".claude/skills").exists());
}

#[test]
fn each_change_leaves_a_backup_of_its_own() {
    let before = "{\"model\":\"opus\"}";
    let stage = Stage::with(before);
    let name = stage.place.settings.display().to_string();
    let first = stage.install().carry_out().unwrap();
    assert_eq!(first, [PathBuf::from(format!("{name}.stopgate-backup"))]);
    let second = stage.uninstall().carry_out().unwrap();
    assert_eq!(second, [PathBuf::from(format!("{name}.stopgate-backup-2"))]);
    assert_eq!(fs::read_to_string(&first[0]).unwrap(), before);
}

#[test]
fn permissions_and_links_survive() {
    let stage = Stage::with("{}");
    let real = stage.folder.path().join("dotfile.json");
    fs::rename(&stage.place.settings, &real).unwrap();
    fs::set_permissions(&real, Permissions::from_mode(0o600)).unwrap();
    symlink(&real, &stage.place.settings).unwrap();
    stage.install().carry_out().unwrap();
    assert!(stage.place.settings.is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains(PROGRAM));
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
    assert_eq!(author(None), Author::Nobody);
    assert_eq!(author(Some(&stamped())), Author::Us);
    assert_eq!(author(Some(stopgate_agents::claude::SKILL)), Author::Earlier);
    assert_eq!(author(Some(&format!("{}mine\n", stamped()))), Author::Somebody);
    assert_eq!(author(Some(&stamped().replacen("loop", "round", 1))), Author::Somebody);
    assert_eq!(author(Some("---\nname: stopgate\n---\nmine")), Author::Somebody);
}

#[test]
fn a_changed_skill_stays() {
    let stage = Stage::new();
    stage.install().carry_out().unwrap();
    fs::write(&stage.place.skill, "mine").unwrap();
    let notes = stage.install().notes;
    assert!(notes.iter().any(|note| note.contains("somebody's own")), "{notes:?}");
    stage.uninstall().carry_out().unwrap();
    assert_eq!(fs::read_to_string(&stage.place.skill).unwrap(), "mine");
}

#[test]
fn another_program_in_other_settings_is_pointed_out() {
    let stage = Stage::new();
    stage.install().carry_out().unwrap();
    let local = Place {
        scope: Scope::Local,
        settings: stage.place.settings.with_file_name("settings.local.json"),
        skill: stage.place.skill.clone(),
    };
    let plan = |program| local.install(Settings, stage.folder.path(), Path::new(program)).unwrap();
    assert!(plan("/elsewhere/stopgate").notes.iter().any(|note| note.contains("count twice")));
    assert!(!plan(PROGRAM).notes.iter().any(|note| note.contains(".claude/settings.json has")));
}

#[test]
fn the_skill_stays_while_other_settings_of_the_project_need_it() {
    let stage = Stage::new();
    stage.install().carry_out().unwrap();
    let local = stage.place.settings.with_file_name("settings.local.json");
    fs::copy(&stage.place.settings, local).unwrap();
    stage.uninstall().carry_out().unwrap();
    assert!(stage.place.skill.exists());
}
