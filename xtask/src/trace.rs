//! What a program asks of the system, and what happens when the system fails it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::scene::{Call, Ran};

/// One system call of a traced program.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Which process or thread.
    pub(crate) by: u32,
    /// Its name.
    pub(crate) name: String,
    /// The whole line, with the paths behind its descriptors.
    pub(crate) line: String,
}

/// The k-th call of a name within one process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Point {
    /// The call's name.
    pub(crate) name: String,
    /// Which one, from 1.
    pub(crate) when: usize,
}

/// Runs `call` under strace; gives all it asked for.
pub(crate) fn trace(call: &Call, notes: &Path) -> Result<(Vec<Asked>, Ran)> {
    trace_with(call, notes, &[])
}

/// Runs `call` under strace; gives all that it did to files, with every byte, in hexadecimal.
pub(crate) fn trace_writes(call: &Call, notes: &Path) -> Result<(Vec<Asked>, Ran)> {
    let calls = "trace=write,pwrite64,fsync,fdatasync,ftruncate,rename,unlink";
    trace_with(call, notes, &["-xx", "-s", "65536", "-e", calls])
}

fn trace_with(call: &Call, notes: &Path, options: &[&str]) -> Result<(Vec<Asked>, Ran)> {
    let file = notes.display().to_string();
    let plain = ["strace", "-f", "-y", "-o", &file];
    let ran = call.under(&[&plain[..], options].concat()).run()?;
    let text = fs::read(notes).context("read what strace saw")?;
    let text = String::from_utf8_lossy(&text);
    let seen: Vec<Asked> = text.lines().filter_map(asked).collect();
    if seen.is_empty() {
        bail!("trace a program: strace saw nothing");
    }
    Ok((seen, ran))
}

fn asked(line: &str) -> Option<Asked> {
    let (by, rest) = line.trim_start().split_once(' ')?;
    let rest = rest.trim_start();
    let name = rest.split('(').next()?;
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let sound = rest.contains('(') && !name.is_empty() && name.chars().all(is_name);
    sound.then(|| Asked { by: by.parse().unwrap_or(0), name: name.into(), line: rest.into() })
}

/// Every point at which a run may be hit; the first and the last call are excluded.
pub(crate) fn points(asked: &[Asked]) -> Vec<Point> {
    let mut seen = BTreeMap::new();
    let mut met = BTreeSet::new();
    let mut points = Vec::new();
    for Asked { by, name, .. } in asked {
        if matches!(name.as_str(), "execve" | "exit_group") {
            continue;
        }
        let when = seen.entry((*by, name.clone())).or_insert(0);
        *when += 1;
        let point = Point { name: name.clone(), when: *when };
        if met.insert(point.clone()) {
            points.push(point);
        }
    }
    points
}

/// Runs `call` and lets `fault` (`signal=KILL`, `error=EIO`) happen at `point`.
pub(crate) fn strike(call: &Call, point: &Point, fault: &str) -> Result<Ran> {
    strike_with(call, point, fault, &["-f", "-o", "/dev/null"])
}

/// As [`strike`], for the first thread of the program itself: those below it are left alone.
pub(crate) fn strike_alone(call: &Call, point: &Point, fault: &str) -> Result<Ran> {
    strike_with(call, point, fault, &["-o", "/dev/null"])
}

fn strike_with(call: &Call, point: &Point, fault: &str, options: &[&str]) -> Result<Ran> {
    let Point { name, when } = point;
    let trace = format!("trace={name},execve,exit_group");
    let inject = format!("inject={name}:{fault}:when={when}");
    call.under(&[&["strace"], options, &["-e", &trace, "-e", &inject]].concat()).run()
}

/// As [`strike`], and how long it took until the program wanted to end: strace itself waits for a
/// call that it holds, when the process is long gone.
pub(crate) fn strike_timed(
    call: &Call,
    point: &Point,
    fault: &str,
    notes: &Path,
) -> Result<(Ran, Duration)> {
    let file = notes.display().to_string();
    let ran = strike_with(call, point, fault, &["-f", "-ttt", "-o", &file])?;
    let text = fs::read(notes).context("read what strace saw")?;
    let text = String::from_utf8_lossy(&text);
    let at = |line: &str| -> Option<f64> { line.split_whitespace().nth(1)?.parse().ok() };
    let first = text.lines().next().and_then(at).context("find the beginning in a trace")?;
    let last = text.lines().find(|line| line.contains(" exit_group("));
    let last = last.and_then(at).context("find the end in a trace")?;
    Ok((ran, Duration::from_secs_f64((last - first).max(0.0))))
}

/// A process's memory, in KiB.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    /// The most it had at once, the program's own file included.
    pub(crate) peak: u64,
    /// What it had of its own at its end: stack, heap, data.
    pub(crate) own: u64,
}

/// The memory that `call` takes.
///
/// Its exit is delayed, so that the kernel can be asked while the process is there.
pub(crate) fn memory(call: &Call) -> Result<Memory> {
    let delay = "inject=exit_group:delay_enter=60000";
    let tool = ["strace", "-o", "/dev/null", "-e", "trace=exit_group", "-e", delay];
    let program = call.line.first().cloned().context("call nothing")?;
    let mut child = call.under(&tool).spawn()?;
    let tracer = child.id();
    let mut memory = Memory::default();
    while child.try_wait()?.is_none() {
        memory = traced_memory(tracer, &program).unwrap_or(memory);
        thread::sleep(Duration::from_millis(1));
    }
    if memory.peak == 0 {
        bail!("measure a program's memory");
    }
    Ok(memory)
}

fn traced_memory(tracer: u32, program: &Path) -> Option<Memory> {
    let children = fs::read_to_string(format!("/proc/{tracer}/task/{tracer}/children")).ok()?;
    let child = children.split_whitespace().next()?;
    if fs::read_link(format!("/proc/{child}/exe")).ok()? != program {
        return None;
    }
    let status = fs::read_to_string(format!("/proc/{child}/status")).ok()?;
    let figure = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    };
    Some(Memory { peak: figure("VmHWM:")?, own: figure("RssAnon:")? })
}

/// The instructions that `call` takes, counted by callgrind.
pub(crate) fn instructions(call: &Call, notes: &Path) -> Result<u64> {
    let file = format!("--callgrind-out-file={}", notes.display());
    call.under(&["valgrind", "-q", "--tool=callgrind", &file]).run()?;
    let text = fs::read_to_string(notes).context("read what callgrind counted")?;
    let total = text
        .lines()
        .find_map(|line| line.strip_prefix("summary: ").or_else(|| line.strip_prefix("totals: ")));
    let total = total.and_then(|total| total.split_whitespace().next());
    total.and_then(|total| total.parse().ok()).context("find callgrind's total")
}

/// The functions that `call` runs through, by their names in the program's file.
pub(crate) fn functions(call: &Call, notes: &Path) -> Result<Vec<String>> {
    let file = format!("--callgrind-out-file={}", notes.display());
    let plain = ["--tool=callgrind", "--demangle=no", "--compress-strings=no", &file];
    call.under(&[&["valgrind", "-q"], &plain[..]].concat()).run()?;
    let text = fs::read_to_string(notes).context("read what callgrind saw")?;
    let named = text.lines().filter_map(|line| {
        let name = line.strip_prefix("fn=").or_else(|| line.strip_prefix("cfn="))?;
        // A function that calls itself is listed once more, with its depth.
        name.split('\'').next()
    });
    let known = named.filter(|name| !name.starts_with("0x") && !name.starts_with('('));
    Ok(known.map(String::from).collect())
}

#[cfg(test)]
mod tests;
