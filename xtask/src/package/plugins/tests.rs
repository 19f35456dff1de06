use super::{PluginCommand, TYPED, plugin_files, portable_skill};
use crate::package::about::PackageFacts;
use crate::tools;
use stopgate_agents::SKILL;

#[test]
fn the_plugins_in_the_repository_are_those_that_are_made() {
    let root = tools::root().unwrap();
    let made = plugin_files(&PackageFacts::read().unwrap()).unwrap();
    for file in &made {
        let kept = std::fs::read(root.join(&file.path)).unwrap_or_default();
        let (kept, made) = (String::from_utf8_lossy(&kept), String::from_utf8_lossy(&file.bytes));
        assert_eq!(kept, made, "{}: run cargo xtask package --plugins", file.path);
    }
    let kept = files_below(&root.join("plugins"));
    let strays: Vec<_> = kept
        .iter()
        .filter(|path| !made.iter().any(|file| root.join(&file.path) == **path))
        .collect();
    assert!(strays.is_empty(), "nobody makes {strays:?}");
}

fn files_below(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files_below(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn the_portable_skill_has_nothing_that_only_one_client_fills_in() {
    assert!(SKILL.contains(TYPED), "the line is still there to be replaced");
    let skill = portable_skill();
    assert!(!skill.contains("$ARGUMENTS") && !skill.contains("argument-hint"), "{skill}");
    for exit in ["stopgate done", "stopgate blocked", "stopgate impossible", "stopgate ask"] {
        assert!(skill.contains(exit), "{exit} is taught");
    }
}

#[test]
fn a_command_is_the_same_for_every_client() {
    let command =
        PluginCommand::parse("go".into(), "About it\n[GOAL]\n\nDo $ARGUMENTS.\n").unwrap();
    assert_eq!(
        command.as_markdown(),
        "---\ndescription: About it\nargument-hint: \"[GOAL]\"\n---\n\nDo $ARGUMENTS.\n"
    );
    let toml: toml::Table = toml::from_str(&command.as_toml()).unwrap();
    assert_eq!(toml["description"].as_str(), Some("About it"));
    assert_eq!(toml["prompt"].as_str(), Some("Do {{args}}.\n"));
}
