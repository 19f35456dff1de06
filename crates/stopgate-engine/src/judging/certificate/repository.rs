//! Which repository this is, as far as git can tell.

use std::path::Path;
use std::time::Duration;

use stopgate_core::Repository;

const GIT_TIMEOUT: Duration = Duration::from_secs(10);
const REMOTES_MAX: usize = 8;
const ROOTS_MAX: usize = 8;

/// The repository around `project`; nothing where there is none, or git can't say.
pub(super) fn at(project: &Path) -> Option<Repository> {
    // Outside of one, git would have to be started to say so.
    let is_around = |above: &Path| above.join(".git").symlink_metadata().is_ok();
    project.ancestors().find(|above| is_around(above))?;
    git(project, &["rev-parse", "--git-dir"])?;
    let head = git(project, &["rev-parse", "--verify", "--quiet", "HEAD"]);
    let shallow = git(project, &["rev-parse", "--is-shallow-repository"]);
    // Where history is cut off, the oldest commit at hand is not the first one.
    let roots = match shallow.as_deref() {
        Some("true") => Vec::new(),
        _whole => lines(git(project, &["rev-list", "--max-parents=0", "HEAD"]), ROOTS_MAX),
    };
    let remotes = git(project, &["config", "--get-regexp", r"^remote\..*\.url$"]);
    let mut remotes: Vec<String> = lines(remotes, REMOTES_MAX)
        .iter()
        .filter_map(|line| Some(bare(line.split_once(' ')?.1)))
        .collect();
    remotes.sort_unstable();
    remotes.dedup();
    Some(Repository { roots, remotes, head })
}

/// Whether two repositories have something in common that tells them from others.
pub(super) fn are_same(proven: &Repository, here: &Repository) -> bool {
    let share = |one: &[String], other: &[String]| one.iter().any(|name| other.contains(name));
    share(&proven.roots, &here.roots)
        || share(&proven.remotes, &here.remotes)
        || (proven.head.is_some() && proven.head == here.head)
}

/// A remote's address without scheme, credentials and suffix: the same for every way to it.
fn bare(url: &str) -> String {
    let url = url.trim();
    let (rest, is_url) = match url.split_once("://") {
        Some((_, rest)) => (rest, true),
        None => (url, false),
    };
    let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = place.rsplit_once('@').map_or(place, |(_, host)| host);
    let whole = match (is_url, host.split_once(':')) {
        // A port is a way to the same place.
        (true, Some((host, _port))) => format!("{host}/{path}"),
        (false, Some((host, first))) => format!("{host}/{first}/{path}"),
        (_, None) => format!("{host}/{path}"),
    };
    let whole = whole.trim_end_matches('/');
    let whole = whole.strip_suffix(".git").unwrap_or(whole);
    whole.split('/').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
}

fn lines(text: Option<String>, max: usize) -> Vec<String> {
    text.unwrap_or_default().lines().take(max).map(String::from).collect()
}

fn git(project: &Path, arguments: &[&str]) -> Option<String> {
    let argv: Vec<&str> = std::iter::once("git").chain(arguments.iter().copied()).collect();
    let said = stopgate_verify::tool(&argv, project, GIT_TIMEOUT).ok()?;
    let text = String::from_utf8(said.stdout).ok()?;
    (said.status_code == Some(0)).then(|| text.trim_end().to_string())
}

#[cfg(test)]
mod tests {
    use stopgate_core::Repository;

    use super::{are_same, bare};

    #[test]
    fn every_way_to_a_remote_has_one_name_and_no_secret() {
        let ways = [
            "https://example.org/team/project.git",
            "https://user:secret@example.org/team/project",
            "ssh://git@example.org:2222/team/project.git",
            "git@example.org:team/project.git",
            "https://example.org:8443/team/project/",
        ];
        for way in ways {
            assert_eq!(bare(way), "example.org/team/project", "{way}");
        }
        assert_eq!(bare("/srv/git/project.git"), "srv/git/project");
        assert_eq!(bare("file:///srv/git/project"), "srv/git/project");
    }

    #[test]
    fn repositories_are_the_same_by_root_remote_or_commit() {
        let named = |root: &str, remote: &str, head: &str| Repository {
            roots: vec![root.into()],
            remotes: vec![remote.into()],
            head: Some(head.into()),
        };
        let one = named("r1", "a/b", "h1");
        assert!(are_same(&one, &named("r1", "c/d", "h2")));
        assert!(are_same(&one, &named("r2", "a/b", "h2")));
        assert!(are_same(&one, &named("r2", "c/d", "h1")));
        assert!(!are_same(&one, &named("r2", "c/d", "h2")));
        assert!(!are_same(&Repository::default(), &Repository::default()));
    }
}
