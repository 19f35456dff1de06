//! How git was set up when the work began, and what of it must be put back.
//!
//! Settings of the repository belong to the people who work in it. Only those that decide what
//! git sees and whom it asks are kept, and no passwords.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stopgate_system::CanonicalPath;
use stopgate_system::fs::PermissionsExt;

use super::super::places::{self, Content};
use super::{Repository, TIMEOUT, Trouble, ask};
use crate::environment::variable;

/// So many files that git was told not to look at are noted.
const UNWATCHED_MAX: usize = 500;
const NOTE_BYTES_MAX: u64 = 1024 * 1024;

/// Settings that decide what git sees, and what they are where nothing is set.
const STEERING: [(&str, &str); 9] = [
    ("core.filemode", "true"),
    ("core.symlinks", "true"),
    ("core.ignorecase", "false"),
    ("core.autocrlf", "false"),
    ("core.eol", "native"),
    ("core.attributesfile", ""),
    ("core.sparsecheckout", "false"),
    ("core.sshcommand", ""),
    ("core.gitproxy", ""),
];

/// What `git lfs install` writes, wherever it writes it.
const LFS: [(&str, &str); 4] = [
    ("filter.lfs.clean", "git-lfs clean -- %f"),
    ("filter.lfs.smudge", "git-lfs smudge -- %f"),
    ("filter.lfs.process", "git-lfs filter-process"),
    ("filter.lfs.required", "true"),
];

/// How git was set up when the work began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitBasis {
    /// Settings that decide what git sees, each with its last value.
    pub settings: BTreeMap<String, String>,
    /// Where each remote is pushed to, without passwords.
    pub remotes: BTreeMap<String, String>,
    /// Fingerprints of the files outside the tree that say what is ignored.
    pub excludes: BTreeMap<String, String>,
    /// Where the repository itself is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Fingerprints of files that a person had told git not to look at, such as local settings.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unwatched: BTreeMap<String, String>,
}

impl GitBasis {
    /// Notes how git is set up in `root`; nothing where that is not in a work tree.
    pub fn take(root: &Path) -> Option<Self> {
        let repository = Repository::open(root, None).ok()?;
        let steers = |key: &str| {
            key.starts_with("filter.") || is_redirection(key) || default_of(key).is_some()
        };
        let values = &repository.settings.values;
        let settings = values.iter().filter(|(key, _)| steers(key));
        let settings = settings.map(|(key, setting)| (key.clone(), setting.value.clone()));
        let mut remotes = BTreeMap::new();
        for name in repository.remotes().ok()? {
            if let Some(url) = repository.push_url(&name).ok()? {
                remotes.insert(name, without_password(&url));
            }
        }
        let mut excludes = BTreeMap::new();
        for path in repository.exclude_files() {
            excludes.insert(path.display().to_string(), fingerprint(&path));
        }
        let directory = repository.common_dir.canonical().ok();
        let directory = directory.map(|path| path.display().to_string());
        let unwatched = repository.unwatched().ok()?;
        Some(Self { settings: settings.collect(), remotes, excludes, directory, unwatched })
    }
}

impl Repository<'_> {
    /// Files that git was told not to look at (`update-index --skip-worktree`), as they are.
    fn unwatched(&self) -> Result<BTreeMap<String, String>, Trouble> {
        let listed = self.names(&["ls-files", "-v", "-z"])?;
        let is_marked = |entry: &&Vec<u8>| {
            entry.first().is_some_and(|sign| *sign == b'S' || sign.is_ascii_lowercase())
        };
        let names = listed.iter().filter(is_marked).filter_map(|entry| entry.get(2..));
        let names =
            names.take(UNWATCHED_MAX).map(|name| String::from_utf8_lossy(name).into_owned());
        Ok(names.map(|name| (name.clone(), fingerprint(&self.top.join(&name)))).collect())
    }

    /// Whether git was told so before the work began, of the file as it is.
    pub(super) fn was_unwatched(&self, name: &str) -> bool {
        let then = self.basis.and_then(|basis| basis.unwatched.get(name));
        then.is_some_and(|then| *then == fingerprint(&self.top.join(name)))
    }
}

fn default_of(key: &str) -> Option<&'static str> {
    STEERING.iter().find(|(known, _)| *known == key).map(|(_, default)| *default)
}

/// Whether a setting may send a question to another place than the address that was named.
fn is_redirection(key: &str) -> bool {
    let ends = |end: &str| key.ends_with(end);
    (key.starts_with("url.") && (ends(".insteadof") || ends(".pushinsteadof")))
        || (key.starts_with("http.") && ends(".proxy"))
}

/// A fingerprint of a small file; one that is not there has none.
fn fingerprint(path: &Path) -> String {
    match places::read(path, NOTE_BYTES_MAX) {
        Content::Whole(bytes) => blake3::hash(&bytes).to_hex().to_string(),
        Content::Missing => String::new(),
        Content::TooLarge | Content::Unreadable(_) => "unreadable".into(),
    }
}

/// `https://token@host/a` is `https://host/a`, and `ssh://me:secret@host/a` is `ssh://me@host/a`.
pub(super) fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.into() };
    let end = rest.find('/').unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    match host.rsplit_once('@') {
        // For the web, the name itself may be the secret.
        Some((_, host)) if scheme.starts_with("http") => format!("{scheme}://{host}{path}"),
        Some((person, host)) => {
            let name = person.split(':').next().unwrap_or_default();
            format!("{scheme}://{name}@{host}{path}")
        }
        None => url.into(),
    }
}

/// Git's settings as they are now.
#[derive(Default)]
pub(super) struct GitSettings {
    values: BTreeMap<String, Setting>,
}

struct Setting {
    value: String,
    /// `local` and `worktree` settings are the repository's own.
    is_own: bool,
}

impl GitSettings {
    pub(super) fn read(top: &Path) -> Result<Self, Trouble> {
        let words = ["config", "--list", "-z", "--show-scope"];
        let text = ask(top, &[], &words, TIMEOUT)?.unless_refused(&words)?;
        let mut parts = text.split(|byte| *byte == 0);
        let mut values = BTreeMap::new();
        while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
            let entry = String::from_utf8_lossy(entry);
            // A key without a value is true.
            let (key, value) = entry.split_once('\n').unwrap_or((&entry, "true"));
            let is_own = scope == b"local" || scope == b"worktree";
            if scope == b"command" {
                continue;
            }
            let mut value = value.to_owned();
            // Each of several rules for one address counts.
            if let Some(Setting { value: known, .. }) =
                values.get(key).filter(|_| is_redirection(key))
            {
                value = format!("{known}\n{value}");
            }
            values.insert(key.to_owned(), Setting { value, is_own });
        }
        Ok(Self { values })
    }

    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(|setting| setting.value.as_str())
    }

    /// The value that counts: that of the start where it is known.
    pub(super) fn steering(&self, basis: Option<&GitBasis>, key: &str) -> Option<String> {
        match basis {
            Some(basis) => basis.settings.get(key).cloned(),
            None => self.get(key).map(str::to_owned),
        }
    }

    /// Whether the person's own settings send questions elsewhere than they did at the start.
    pub(super) fn are_redirected(&self, basis: Option<&GitBasis>) -> bool {
        let Some(basis) = basis else { return false };
        let now =
            self.values.iter().filter(|(key, setting)| is_redirection(key) && !setting.is_own);
        now.into_iter().any(|(key, setting)| basis.settings.get(key) != Some(&setting.value))
    }

    /// `key=value` for all that is not as it must be.
    pub(super) fn overrides(&self, basis: Option<&GitBasis>, common_dir: &Path) -> Vec<String> {
        let mut overrides = self.filters(basis);
        let Some(basis) = basis else {
            let mode = self.values.get("core.filemode").filter(|setting| setting.is_own);
            if mode.is_some_and(|mode| mode.value == "false") && knows_modes(common_dir) {
                overrides.push("core.filemode=true".into());
            }
            return overrides;
        };
        for (key, default) in STEERING {
            let then = basis.settings.get(key).map(String::as_str);
            if then != self.get(key) {
                overrides.push(format!("{key}={}", then.unwrap_or(default)));
            }
        }
        overrides
    }

    /// Filters may say that any content is the committed one: only those of the start are run.
    fn filters(&self, basis: Option<&GitBasis>) -> Vec<String> {
        let mut overrides = Vec::new();
        for (key, setting) in &self.values {
            let is_known = match basis {
                Some(basis) => basis.settings.get(key) == Some(&setting.value),
                None => !setting.is_own || LFS.contains(&(key.as_str(), setting.value.as_str())),
            };
            if key.starts_with("filter.") && !is_known {
                overrides.push(switched_off(key));
            }
        }
        let then = basis.into_iter().flat_map(|basis| &basis.settings);
        for (key, value) in then.filter(|(key, _)| key.starts_with("filter.")) {
            if self.get(key) != Some(value) {
                overrides.push(format!("{key}={value}"));
            }
        }
        overrides
    }
}

/// An empty command is none.
fn switched_off(key: &str) -> String {
    let off = if key.ends_with(".required") { "false" } else { "" };
    format!("{key}={off}")
}

/// Where every file can be executed, git can't tell by the mode whether one was changed.
fn knows_modes(common_dir: &Path) -> bool {
    let mode = common_dir.join("HEAD").metadata().map(|metadata| metadata.permissions().mode());
    mode.is_ok_and(|mode| mode & 0o111 == 0)
}

impl Repository<'_> {
    pub(super) fn remotes(&self) -> Result<Vec<String>, Trouble> {
        let text = self.told(&["remote"])?;
        Ok(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
    }

    /// Where a remote is pushed to, as git is set up now.
    pub(super) fn push_url(&self, remote: &str) -> Result<Option<String>, Trouble> {
        let said = self.ask(&["remote", "get-url", "--push", remote])?;
        let text = String::from_utf8_lossy(&said.text);
        Ok(text.lines().next().filter(|_| said.code == 0).map(str::to_owned))
    }

    /// The files outside the tree that say what is ignored: the repository's, and the person's.
    fn exclude_files(&self) -> Vec<PathBuf> {
        let named = self.settings.values.get("core.excludesfile");
        // A list that the repository names for itself counts only if it did so at the start.
        let named = named.filter(|setting| !setting.is_own || self.basis.is_some());
        let home = || variable("HOME").map(PathBuf::from);
        let person = if let Some(setting) = named {
            match setting.value.strip_prefix("~/") {
                Some(inside) => home().map(|home| home.join(inside)),
                None => Some(self.top.join(&setting.value)),
            }
        } else {
            let config = variable("XDG_CONFIG_HOME").map(PathBuf::from);
            let config = config.or_else(|| home().map(|home| home.join(".config")));
            config.map(|config| config.join("git/ignore"))
        };
        let own = self.common_dir.join("info/exclude");
        [Some(own), person].into_iter().flatten().collect()
    }

    /// Those of them that say what they said at the start.
    pub(super) fn known_exclude_files(&self) -> Vec<PathBuf> {
        let mut files = self.exclude_files();
        files.retain(|path| {
            path.is_file()
                && self.basis.is_none_or(|basis| {
                    basis.excludes.get(&path.display().to_string()) == Some(&fingerprint(path))
                })
        });
        files
    }
}
