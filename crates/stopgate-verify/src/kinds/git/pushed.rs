//! Every commit is pushed: the remote itself says so.
//!
//! A remote-tracking branch is only what this repository remembers. The remote is asked at
//! the address that it had at the start, and outside of the repository, whose settings
//! could send the question elsewhere.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use super::basis::without_password;
use super::status::{Head, WorkTreeStanding};
use super::{Answer, Repository, Trouble, ask_after};
use crate::environment::variable;
use crate::kinds::FindingBasis;

const REMOTE_TIMEOUT: Duration = Duration::from_secs(20);

/// Where a branch is pushed to.
struct Target {
    remote: String,
    reference: String,
}

/// Adds what keeps the branch from being pushed.
pub(super) fn look(
    repository: &Repository<'_>,
    standing: &WorkTreeStanding,
    answer: &mut Answer,
) -> Result<(), Trouble> {
    let branch = match &standing.head {
        Head::Detached => {
            answer.faults.push("HEAD is detached: check out a branch and push it".into());
            return Ok(());
        }
        Head::Unborn => {
            answer.faults.push("there is no commit yet: commit and push".into());
            return Ok(());
        }
        Head::Branch(branch) => branch,
    };
    let targets = targets(repository, branch)?;
    if targets.is_empty() {
        answer.faults.push(no_target(standing, branch));
        return Ok(());
    }
    let mut why = None;
    for target in &targets {
        match asked(repository, target, answer)? {
            Reached::Whole => return Ok(()),
            Reached::Short(fault) => why = why.or(Some(fault)),
        }
    }
    answer.faults.extend(why);
    Ok(())
}

fn no_target(standing: &WorkTreeStanding, branch: &str) -> String {
    match &standing.upstream {
        Some(upstream) => format!("{upstream}, the upstream of {branch}, is not on a remote"),
        None => format!("{branch} has no upstream: git push -u origin {branch}"),
    }
}

/// Where git would push, and where the branch comes from.
fn targets(repository: &Repository<'_>, branch: &str) -> Result<Vec<Target>, Trouble> {
    let get = |key: String| repository.settings.get(&key).map(str::to_owned);
    let upstream = get(format!("branch.{branch}.remote"));
    let merged = get(format!("branch.{branch}.merge"));
    let own = format!("refs/heads/{branch}");
    let mut targets: Vec<Target> = Vec::new();
    let pushed = [get(format!("branch.{branch}.pushremote")), get("remote.pushdefault".into())];
    for remote in pushed.into_iter().flatten().take(1) {
        targets.push(Target { remote, reference: own.clone() });
    }
    if let Some(remote) = upstream.filter(|remote| remote != ".") {
        targets.push(Target { remote, reference: merged.unwrap_or_else(|| own.clone()) });
    } else if targets.is_empty() && get(format!("branch.{branch}.remote")).is_none() {
        // Pushed without -u, the branch is on the remote all the same.
        let remotes = repository.remotes()?;
        let only = if remotes.len() == 1 { remotes.first() } else { None };
        let origin = remotes.iter().find(|remote| *remote == "origin");
        let target = |remote: &String| Target { remote: remote.clone(), reference: own.clone() };
        targets.extend(origin.or(only).map(target));
    }
    Ok(targets)
}

/// What a remote says of a branch.
enum Reached {
    Whole,
    Short(String),
}

fn asked(
    repository: &Repository<'_>,
    target: &Target,
    answer: &mut Answer,
) -> Result<Reached, Trouble> {
    let Target { remote, reference } = target;
    let branch = reference.strip_prefix("refs/heads/").unwrap_or(reference);
    let name = format!("{remote}/{branch}");
    let Some(url) = address(repository, remote, answer)? else {
        return Ok(Reached::Short(format!("{remote} is not a remote: git remote add {remote} …")));
    };
    let Some(there) = at_remote(repository, remote, &url, reference)? else {
        return Ok(Reached::Short(format!(
            "{name} is not on the remote: git push {remote} {branch}"
        )));
    };
    let known = repository.ask(&["cat-file", "-e", &format!("{there}^{{commit}}")])?;
    if known.code != 0 {
        return Ok(Reached::Short(format!(
            "{name} has commits that are not here: git pull, then git push"
        )));
    }
    let range = format!("{there}..HEAD");
    let ahead = repository.told(&["rev-list", "--count", &range])?;
    let ahead = String::from_utf8_lossy(&ahead).trim().to_owned();
    Ok(match ahead.as_str() {
        "0" => Reached::Whole,
        "1" => Reached::Short(format!("1 commit is not on {name}: git push")),
        count => Reached::Short(format!("{count} commits are not on {name}: git push")),
    })
}

/// Where the remote is: as at the start; one that is new since then is somebody's word.
fn address(
    repository: &Repository<'_>,
    remote: &str,
    answer: &mut Answer,
) -> Result<Option<String>, Trouble> {
    // A branch may name an address instead of a remote.
    let is_address = remote.contains("://") || remote.starts_with(['/', '.']);
    let now = repository.push_url(remote)?.or_else(|| is_address.then(|| remote.to_owned()));
    let Some(basis) = repository.basis else { return Ok(now) };
    match basis.remotes.get(remote) {
        Some(then) if now.as_deref().map(without_password).as_ref() == Some(then) => Ok(now),
        Some(then) => Ok(Some(then.clone())),
        None => {
            if let Some(now) = &now {
                answer.basis = FindingBasis::Word;
                let url = without_password(now);
                answer.notes.push(format!("{remote} ({url}) was not a remote at the start"));
            }
            Ok(now)
        }
    }
}

/// The commit that a reference has on the remote; none where it does not exist there.
fn at_remote(
    repository: &Repository<'_>,
    remote: &str,
    url: &str,
    reference: &str,
) -> Result<Option<String>, Trouble> {
    let is_path = !url.contains("://") && Path::new(url).is_relative() && !is_host(url);
    let url = if is_path { repository.top.join(url).display().to_string() } else { url.into() };
    let outside = Path::new("/");
    let words = ["ls-remote", "--", &url, reference];
    // A rule that is new may hide a longer or an equal one, so all of them are left out.
    let redirected = repository.settings.are_redirected(repository.basis);
    let plain = ["env", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"];
    let prefix: Vec<OsString> = plain.iter().filter(|_| redirected).map(OsString::from).collect();
    let said = ask_after(&prefix, outside, &transport(repository), &words, REMOTE_TIMEOUT);
    let shown = without_password(&url);
    let said = said.map_err(|trouble| match trouble {
        Trouble::Late => {
            let seconds = REMOTE_TIMEOUT.as_secs();
            format!("could not ask {remote} ({shown}): no answer in {seconds} s").into()
        }
        Trouble::Other(_) => trouble,
    })?;
    if said.code != 0 {
        let complaint = said.complaint.replace(&url, &shown);
        return Err(format!("could not ask {remote} ({shown}): {complaint}").into());
    }
    let text = String::from_utf8_lossy(&said.text);
    let line = text.lines().find_map(|line| line.strip_suffix(reference)?.strip_suffix('\t'));
    Ok(line.map(str::to_owned))
}

/// `git@host:path` is not a path.
fn is_host(url: &str) -> bool {
    let colon = url.find(':');
    colon.is_some_and(|colon| url.find('/').is_none_or(|slash| colon < slash))
}

/// How the remote is reached, as it was at the start.
fn transport(repository: &Repository<'_>) -> Vec<String> {
    let mut overrides = Vec::new();
    let value = |key: &str| repository.settings.steering(repository.basis, key);
    match value("core.sshcommand").filter(|command| !command.is_empty()) {
        Some(command) => overrides.push(format!("core.sshCommand={command}")),
        // Nobody is there to type a passphrase.
        None if ["GIT_SSH", "GIT_SSH_COMMAND"].iter().all(|name| variable(name).is_none()) => {
            overrides.push("core.sshCommand=ssh -o BatchMode=yes".into());
        }
        None => {}
    }
    overrides
}
