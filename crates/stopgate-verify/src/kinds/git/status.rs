//! What `git status` says.

use super::{Repository, Trouble};

/// How a work tree stands.
#[derive(Debug, Default)]
pub(super) struct WorkTreeStanding {
    pub(super) head: Head,
    pub(super) upstream: Option<String>,
    pub(super) changed: Vec<String>,
    pub(super) unmerged: Vec<String>,
}

/// What is checked out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Head {
    #[default]
    Detached,
    /// A branch without a commit.
    Unborn,
    Branch(String),
}

impl WorkTreeStanding {
    pub(super) fn read(repository: &Repository<'_>) -> Result<Self, Trouble> {
        let text = repository.told(&[
            "status",
            "--porcelain=v2",
            "-z",
            "--branch",
            "--no-ahead-behind",
            "--untracked-files=no",
            "--ignore-submodules=none",
            "--no-renames",
        ])?;
        let mut standing = Self::default();
        for entry in text.split(|byte| *byte == 0) {
            standing.take(&String::from_utf8_lossy(entry));
        }
        Ok(standing)
    }

    fn take(&mut self, entry: &str) {
        let field = |count: usize| entry.splitn(count, ' ').nth(count - 1).map(str::to_owned);
        match entry.as_bytes().first() {
            Some(b'#') => self.take_header(entry),
            Some(b'1') => self.changed.extend(field(9)),
            Some(b'2') => self.changed.extend(field(10)),
            Some(b'u') => self.unmerged.extend(field(11)),
            Some(_) | None => {}
        }
    }

    fn take_header(&mut self, entry: &str) {
        let Some((name, value)) = entry.trim_start_matches("# ").split_once(' ') else { return };
        match name {
            "branch.oid" if value == "(initial)" => self.head = Head::Unborn,
            "branch.head" if value != "(detached)" && self.head != Head::Unborn => {
                self.head = Head::Branch(value.into());
            }
            "branch.upstream" => self.upstream = Some(value.into()),
            _ => {}
        }
    }
}
