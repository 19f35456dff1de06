//! Files that a shell reads before it does what a check says: `bash -lc './check.sh'`.

use std::path::{Path, PathBuf};

/// What login shells and interactive ones read in the home directory.
pub(super) const LOGIN: [&str; 9] = [
    ".bash_profile",
    ".bash_login",
    ".profile",
    ".bashrc",
    ".bash_aliases",
    ".zprofile",
    ".zshrc",
    ".zlogin",
    ".zshenv",
];
/// What zsh reads always.
const ALWAYS: [&str; 1] = [".zshenv"];
const SHELLS: [&str; 6] = ["bash", "sh", "zsh", "dash", "ksh", "ash"];

/// The files at home that shells which the text starts would read.
pub(super) fn read_by(text: &str) -> &'static [&'static str] {
    let is_end = |own: char| own.is_whitespace() || "\"'`;|&(),=[]:".contains(own);
    let mut words = text.split(is_end).filter(|word| !word.is_empty()).peekable();
    let mut found: &'static [&'static str] = &[];
    while let Some(word) = words.next() {
        let name = word.rsplit(['/', '!']).next().unwrap_or(word);
        let is_flags = word == ".SHELLFLAGS" || word == "SHELLFLAGS";
        if !SHELLS.contains(&name) && !is_flags {
            continue;
        }
        if words.peek().is_some_and(|option| reads_settings(option)) {
            return &LOGIN;
        }
        if name == "zsh" && found.is_empty() {
            found = &ALWAYS;
        }
    }
    found
}

/// Whether an option of a shell makes it read a person's settings: `-lc`, `--login`, `-i`.
fn reads_settings(option: &str) -> bool {
    let letters = option.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let is_letters = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_alphabetic());
    option == "--login" || letters.is_some_and(|own| is_letters(own) && own.contains(['l', 'i']))
}

/// What a new file says in an original run instead of nothing, where an empty one would keep the
/// shell from reading the next one.
pub(super) fn instead_of(path: &Path, home: Option<&Path>) -> Option<Vec<u8>> {
    let name = path.strip_prefix(home?).ok()?.to_str()?;
    let next = match name {
        ".bash_profile" => {
            "if [ -r ~/.bash_login ]; then . ~/.bash_login; \
             elif [ -r ~/.profile ]; then . ~/.profile; fi\n"
        }
        ".bash_login" => "if [ -r ~/.profile ]; then . ~/.profile; fi\n",
        _ => return None,
    };
    Some(next.into())
}

/// Those files, by their paths; zsh may have its own elsewhere.
pub(super) fn paths(names: &[&str], home: &Path, zsh: Option<&Path>) -> Vec<PathBuf> {
    let place = |name: &str| if name.starts_with(".z") { zsh.unwrap_or(home) } else { home };
    names.iter().map(|name| place(name).join(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_settings_where_it_is_told_to() {
        for text in [
            "bash -lc 'sh tests/run.sh'",
            "exec /bin/bash --login -c x",
            "#!/bin/sh -l\n",
            ".SHELLFLAGS := -lc\n",
            "[\"bash\", \"-lc\", \"make\"]",
        ] {
            assert_eq!(read_by(text), LOGIN, "{text}");
        }
        for text in ["bash -c 'ls -l'", "sh tests/run.sh", "bash --noprofile -x a", "ls -l"] {
            assert!(read_by(text).is_empty(), "{text}");
        }
        assert_eq!(read_by("zsh tests/run.zsh"), ALWAYS);
    }

    #[test]
    fn a_new_login_file_leads_to_the_one_that_was_read_before() {
        let home = Path::new("/home/ann");
        let said = instead_of(&home.join(".bash_profile"), Some(home)).unwrap();
        assert!(String::from_utf8(said).unwrap().contains(". ~/.profile"));
        assert_eq!(instead_of(&home.join(".profile"), Some(home)), None);
    }
}
