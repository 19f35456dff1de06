//! The Debian package: installed, used and purged, with nothing left.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::TrialRow;
use super::room::{TrialRoom, find};
use crate::tools;

/// In an empty root of its own, with this machine's dpkg. It has no scripts, so nothing is missed.
pub(super) fn by_dpkg(out: &Path) -> Result<TrialRow> {
    let room = TrialRoom::new(&[])?;
    let base = room.path("root");
    for directory in
        ["var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers", "var/log"]
    {
        fs::create_dir_all(base.join(directory))?;
    }
    for file in ["var/lib/dpkg/status", "var/lib/dpkg/available"] {
        fs::write(base.join(file), "")?;
    }
    let dpkg = || {
        let mut dpkg = Command::new("dpkg");
        dpkg.arg(format!("--root={}", base.display())).arg("--force-not-root");
        dpkg.stdout(std::process::Stdio::null());
        dpkg
    };
    let package = find(out, "_amd64.deb")?;
    let before = files(&base)?;
    let begun = Instant::now();
    tools::run(dpkg().arg("--install").arg(&package))?;
    let program = base.join("usr/bin/stopgate");
    room.shows(&program, &[])?;
    let row = room.row("dpkg", fs::metadata(&package)?.len(), begun, &program, &[])?;
    tools::run(dpkg().args(["--purge", "stopgate"]))?;
    let left = left_behind(&before, &files(&base)?);
    ensure!(left.is_empty(), "purge everything: {left:?} is left");
    Ok(row)
}

/// In a fresh Debian, with its own dpkg.
pub(super) fn by_fresh_root(out: &Path) -> Result<TrialRow> {
    let room = TrialRoom::new(&[])?;
    let base = room.path("debian");
    let mut debootstrap = Command::new("debootstrap");
    debootstrap
        .args(["--variant=minbase", "stable"])
        .arg(&base)
        .stdout(std::process::Stdio::null());
    tools::run(&mut debootstrap).context("make a fresh Debian")?;
    let package = find(out, "_amd64.deb")?;
    fs::copy(&package, base.join("tmp/stopgate.deb"))?;
    let inside = |words: &[&str]| {
        let mut chroot = Command::new("chroot");
        chroot.arg(&base).args(["env", "-i", "HOME=/root", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]);
        chroot.args(words).stdout(std::process::Stdio::null());
        tools::run(&mut chroot).with_context(|| format!("run {words:?}"))
    };
    let before = files(&base)?;
    let begun = Instant::now();
    inside(&["dpkg", "-i", "/tmp/stopgate.deb"])?;
    // A system that runs has /proc.
    inside(&["mount", "-t", "proc", "proc", "/proc"])?;
    let tried = inside(&["stopgate", "try", "--fast"]);
    inside(&["umount", "/proc"])?;
    tried?;
    let program = base.join("usr/bin/stopgate");
    let row =
        room.row("dpkg, fresh Debian", fs::metadata(&package)?.len(), begun, &program, &[])?;
    inside(&["dpkg", "--purge", "stopgate"])?;
    let left = left_behind(&before, &files(&base)?);
    ensure!(left.is_empty(), "purge everything: {left:?} is left");
    Ok(row)
}

/// What is there now and was not, dpkg's own books aside.
fn left_behind(before: &[PathBuf], after: &[PathBuf]) -> Vec<PathBuf> {
    let is_book = |path: &PathBuf| {
        let text = path.to_string_lossy();
        text.contains("/var/lib/dpkg/") || text.contains("/var/log/")
    };
    after.iter().filter(|path| !before.contains(path) && !is_book(path)).cloned().collect()
}

fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() && !entry.path().ends_with("debian/proc") {
                open.push(entry.path());
            }
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}
