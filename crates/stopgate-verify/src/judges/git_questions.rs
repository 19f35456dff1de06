//! Whether a text in any language asks git about the files of the project.

/// What somebody says who asks git which files there are, or whether they differ from a commit.
const QUESTIONS: [&str; 9] =
    ["ls-files", "ls-tree", "status", "diff", "diff-index", "grep", "archive", "clone", "stash"];

/// Whether a text asks git about the files of the project: `["git", "ls-files"]`, `git status`.
pub(crate) fn asks_git(text: &str) -> bool {
    let is_sign = |letter: char| !(letter.is_ascii_alphanumeric() || letter == '-');
    text.lines().any(|line| {
        let words = line.split(is_sign).filter(|word| !word.is_empty());
        let mut words = words.skip_while(|word| *word != "git").skip(1);
        words.any(|word| QUESTIONS.contains(&word))
    })
}

#[cfg(test)]
mod tests {
    use super::asks_git;

    #[test]
    fn tests_that_ask_git_are_known_by_the_words_after_its_name() {
        for text in [
            "names = subprocess.run([\"git\", \"ls-files\"], cwd=ROOT)",
            "    test -z \"$(git status --porcelain)\"",
            "Command::new(\"git\").args([\"-C\", root, \"diff\", \"--quiet\"])",
        ] {
            assert!(asks_git(text), "{text}");
        }
        for text in ["digit status", "run([\"git\", \"describe\"])", "git log -1", "legit diff"] {
            assert!(!asks_git(text), "{text}");
        }
    }
}
