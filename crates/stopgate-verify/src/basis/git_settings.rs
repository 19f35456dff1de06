//! Which of git's settings decide what a check gets to see.
//!
//! Nearly every setting can change what some command prints, and scripts keep settings of their own
//! among git's. So all count but those that only matter to people who commit, fetch and push.

/// Beginnings of settings for people at work.
const PEOPLE: [&str; 55] = [
    "advice.",
    "alias.",
    "am.",
    "author.",
    "branch.",
    "browser.",
    "bundle.",
    "checkout.",
    "clean.",
    "clone.",
    "column.",
    "commit.",
    "committer.",
    "credential.",
    "difftool.",
    "extensions.",
    "feature.",
    "fetch.",
    "filter.lfs.",
    "gc.",
    "gpg.",
    "gui.",
    "guitool.",
    "help.",
    "http.",
    "https.",
    "index.",
    "init.",
    "interactive.",
    "lfs.",
    "maintenance.",
    "man.",
    "merge.",
    "mergetool.",
    "pack.",
    "pager.",
    "protocol.",
    "pull.",
    "push.",
    "rebase.",
    "receive.",
    "remote.",
    "rerere.",
    "safe.",
    "sendemail.",
    "sequence.",
    "ssh.",
    "stash.",
    "submodule.",
    "tag.",
    "trace2.",
    "transfer.",
    "uploadpack.",
    "user.",
    "web.",
];

/// Settings of the core that make no difference to what is shown.
const CORE: [&str; 17] = [
    "core.abbrev",
    "core.askpass",
    "core.bare",
    "core.bigfilethreshold",
    "core.commentchar",
    "core.commitgraph",
    "core.compression",
    "core.editor",
    "core.fsync",
    "core.logallrefupdates",
    "core.longpaths",
    "core.multipackindex",
    "core.pager",
    "core.preloadindex",
    "core.repositoryformatversion",
    "core.sshcommand",
    "core.untrackedcache",
];

/// Whether a setting may change what a check sees.
pub(super) fn steers(key: &str, value: &str) -> bool {
    let is_switch = ["true", "false", "auto", "never", "yes", "no", "1", "0"].contains(&value);
    // A watcher of git's own, and colours for people: anything else is for programs.
    let is_usual = key == "core.fsmonitor" || key.starts_with("color.");
    !(PEOPLE.iter().any(|begin| key.starts_with(begin))
        || CORE.contains(&key)
        || is_usual && is_switch)
}

#[cfg(test)]
mod tests {
    use super::steers;

    #[test]
    fn settings_for_people_do_not_count_and_others_do() {
        for (key, value) in [
            ("user.name", "Pat"),
            ("branch.main.remote", "origin"),
            ("remote.origin.url", "x"),
            ("pull.rebase", "true"),
            ("core.editor", "vi"),
            ("core.fsmonitor", "true"),
            ("color.ui", "auto"),
            ("filter.lfs.clean", "git-lfs clean -- %f"),
        ] {
            assert!(!steers(key, value), "{key}");
        }
        for (key, value) in [
            ("core.fsmonitor", ".git/hooks/watch"),
            ("core.whitespace", "-blank-at-eol"),
            ("color.ui", "always"),
            ("diff.noprefix", "true"),
            ("grep.patterntype", "fixed"),
            ("mailmap.file", ".git/names"),
            ("url.x.insteadof", "y"),
            ("filter.none.clean", "true"),
            ("budget.bytes", "4000"),
        ] {
            assert!(steers(key, value), "{key}");
        }
    }
}
