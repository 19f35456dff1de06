//! Where stopgate keeps its things.

use std::fs;
use std::path::Path;

use stopgate_core::Timestamp;
use stopgate_store::EndedFilter;
use stopgate_system::CanonicalPath;
use stopgate_system::fs::PermissionsExt;

use super::DoctorFinding;
use crate::address::Address;
use crate::context::Context;
use crate::settings::Settings;
use crate::stores::Stores;
use crate::view::{Views, time_text};
use crate::world::CLOCK_EARLIEST;

/// How far clocks of one network may be apart.
const CLOCK_SLACK_MS: i64 = 60_000;

/// Where a journal is not safe: locks and shared memory don't work as they do on a disk.
const FOREIGN: [&str; 14] = [
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "davfs",
    "drvfs",
    "glusterfs",
    "lustre",
    "nfs",
    "nfs4",
    "smb3",
    "smbfs",
    "vboxsf",
];

/// Kill switches that are thrown.
pub(super) fn switches(settings: Settings) -> Vec<DoctorFinding> {
    let mut findings = Vec::new();
    if settings.is_disabled() {
        findings.push(DoctorFinding::problem(
            "switches",
            "STOPGATE_DISABLE or IDLE_LOOP_DISABLE is 1 in this shell: an agent started here is never held",
            "unset STOPGATE_DISABLE IDLE_LOOP_DISABLE",
        ));
    }
    let stopped = settings.home().ok().filter(crate::home::Home::is_stopped);
    findings.extend(stopped.map(|home| {
        let file = home.directory().join("STOP");
        DoctorFinding::problem(
            "switches",
            format!("{} exists: no agent is ever held", file.display()),
            format!("rm {}", file.display()),
        )
    }));
    findings
}

/// The directory itself.
pub(super) fn directory(settings: Settings) -> Vec<DoctorFinding> {
    let home = match settings.home() {
        Ok(home) => home,
        Err(failure) => {
            let hint = failure.hint.clone().unwrap_or_default();
            return vec![DoctorFinding::problem("home", failure.story(), hint)];
        }
    };
    let directory = home.directory();
    let Ok(found) = fs::metadata(directory) else {
        let text = format!("{} does not exist yet", directory.display());
        return vec![DoctorFinding::warning("home", text, "stopgate install claude makes it")];
    };
    let mut findings = Vec::new();
    let mode = found.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        findings.push(DoctorFinding::warning(
            "home",
            format!("{} is open to others (mode {mode:o})", directory.display()),
            format!("chmod 700 {}", directory.display()),
        ));
    }
    findings.extend(unwritable(directory));
    findings.extend(foreign(directory));
    if findings.is_empty() {
        let text = format!("{} exists, private and writable", directory.display());
        findings.push(DoctorFinding::ok("home", text));
    }
    findings
}

fn unwritable(directory: &Path) -> Option<DoctorFinding> {
    let trial = directory.join(format!(".doctor-{}", std::process::id()));
    let tried = fs::write(&trial, "").and_then(|()| fs::remove_file(&trial));
    let error = tried.err()?;
    Some(DoctorFinding::problem(
        "home",
        format!("{} can't be written to: {error}", directory.display()),
        "make it yours, or set STOPGATE_HOME to a directory that is",
    ))
}

fn foreign(directory: &Path) -> Option<DoctorFinding> {
    let real = directory.canonical().ok()?;
    let mounts = fs::read_to_string("/proc/mounts").ok()?;
    let kind = kind_of(&mounts, &real)?;
    if !FOREIGN.contains(&kind) && !kind.starts_with("fuse.") {
        return None;
    }
    Some(DoctorFinding::warning(
        "home",
        format!("{} is on {kind}, where locks can't be relied on", directory.display()),
        "set STOPGATE_HOME to a directory on a local disk",
    ))
}

/// The file system that `path` is on, by a table of mounts.
pub(super) fn kind_of<'a>(mounts: &'a str, path: &Path) -> Option<&'a str> {
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let point = words.next()?.replace("\\040", " ");
        Some((point, words.next()?))
    });
    // Of two mounts on one point the later one is seen.
    let over = mounts.filter(|(point, _)| path.starts_with(point));
    over.max_by_key(|(point, _)| point.len()).map(|(_, kind)| kind)
}

/// What is wrong with the clock, as far as the journal tells.
pub(super) fn clock(newest: Option<Timestamp>, now: Timestamp) -> Option<DoctorFinding> {
    let hint = "set the clock of this machine; until then limits in minutes and ages are wrong";
    if now < CLOCK_EARLIEST {
        let text = format!("this machine's clock says {}: every stop is allowed", time_text(now));
        return Some(DoctorFinding::problem("clock", text, hint));
    }
    let newest = newest.filter(|newest| newest.since(now) > CLOCK_SLACK_MS)?;
    let (newest, now) = (time_text(newest), time_text(now));
    let text = format!("the journal's newest event is from {newest}, this clock says {now}");
    Some(DoctorFinding::warning("clock", text, hint))
}

/// Whether everything in the journal can be read.
pub(super) fn journal(settings: Settings, stores: Stores) -> Vec<DoctorFinding> {
    let read = Context::open(settings, stores).and_then(|mut context| {
        let fresh = context.choice.address == Address::Own && !context.home.journal().exists();
        if fresh {
            return Ok(None);
        }
        let all = Views { context: &mut context }.list(None, EndedFilter::Any)?;
        let running = Views { context: &mut context }.list(None, EndedFilter::Running)?.len();
        let newest = all.iter().map(|one| one.updated).max();
        Ok(Some((all.len(), running, clock(newest, context.now()))))
    });
    let finding = match read {
        Ok(None) => DoctorFinding::ok("journal", "there is none yet; the first loop begins it"),
        Ok(Some((all, running, clock))) => {
            let plural = if all == 1 { "" } else { "s" };
            let text = format!("consistent: {all} loop{plural}, {running} running");
            return std::iter::once(DoctorFinding::ok("journal", text)).chain(clock).collect();
        }
        Err(failure) => {
            let hint = failure.hint.clone();
            let hint = hint.unwrap_or_else(|| "until then every stop is allowed".into());
            DoctorFinding::problem("journal", failure.story(), hint)
        }
    };
    vec![finding]
}
