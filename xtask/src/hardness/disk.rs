//! A disk on paper: what a program asked of its files, and what a loss of power may leave.
//!
//! Until a file is synced, each of its writes may be there, missing, torn at a sector, or
//! there without the ones before it. What was synced stays. The model grants no order
//! between files and none between a cut and a write.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::figures::Chance;
use crate::trace::Asked;

const SECTOR_BYTES: usize = 512;

/// One thing that happened, in the order in which it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A stop begins.
    Begin,
    /// Bytes are written to a file.
    Write { file: String, offset: usize, bytes: Vec<u8> },
    /// A file is cut or stretched.
    Cut { file: String, length: usize },
    /// A file is safe.
    Sync { file: String },
    /// The stop is answered.
    Answer,
}

/// How a power loss treats what was not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// All of it is gone.
    Everything,
    /// The last writes are gone, and the one before them is torn.
    End,
    /// Some writes are gone, whichever they are.
    Writes,
    /// Some sectors are gone, whichever they are.
    Sectors,
    /// Nothing is gone.
    Nothing,
}

pub(super) const LOSSES: [Loss; 5] =
    [Loss::Everything, Loss::End, Loss::Writes, Loss::Sectors, Loss::Nothing];

/// Whether a sync is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Honesty {
    /// As it should be.
    Honest,
    /// The disk says yes and does nothing: the control, for a test that can't fail proves nothing.
    Lying,
}

/// The files of a directory: what is safe, and what is under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    safe: BTreeMap<String, Vec<u8>>,
    pending: BTreeMap<String, Vec<Change>>,
}

#[derive(Clone, Debug)]
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Cut { length: usize },
}

impl Disk {
    /// The files named `names` in `directory`, all of them safe.
    pub(super) fn read(directory: &Path, names: &[&str]) -> Result<Self> {
        let mut disk = Self::default();
        for name in names {
            let bytes = fs::read(directory.join(name)).with_context(|| format!("read {name}"))?;
            disk.safe.insert((*name).into(), bytes);
        }
        Ok(disk)
    }

    /// Follows one step.
    pub(super) fn follow(&mut self, step: &Step, honesty: Honesty) {
        let change = match step {
            Step::Begin | Step::Answer => return,
            Step::Sync { file } => {
                if honesty == Honesty::Honest {
                    self.sync(file);
                }
                return;
            }
            Step::Write { file, offset, bytes } => {
                (file, Change::Write { offset: *offset, bytes: bytes.clone() })
            }
            Step::Cut { file, length } => (file, Change::Cut { length: *length }),
        };
        self.pending.entry(change.0.clone()).or_default().push(change.1);
    }

    fn sync(&mut self, file: &str) {
        let safe = self.safe.entry(file.into()).or_default();
        for change in self.pending.remove(file).unwrap_or_default() {
            apply(safe, &change);
        }
    }

    /// Puts down what a loss of power now may leave, into `directory`.
    pub(super) fn lose(&self, directory: &Path, loss: Loss, chance: &mut Chance) -> Result<()> {
        for (name, safe) in &self.safe {
            let mut bytes = safe.clone();
            let pending = self.pending.get(name).map_or(&[][..], Vec::as_slice);
            survive(&mut bytes, pending, loss, chance);
            fs::write(directory.join(name), bytes)?;
        }
        Ok(())
    }
}

/// Does to `bytes` what survives of `pending`.
fn survive(bytes: &mut Vec<u8>, pending: &[Change], loss: Loss, chance: &mut Chance) {
    let count = pending.len() as u64;
    match loss {
        Loss::Everything => {}
        Loss::Nothing => pending.iter().for_each(|change| apply(bytes, change)),
        Loss::End => {
            let kept = usize::try_from(chance.below(count + 1)).unwrap_or(0);
            pending.iter().take(kept).for_each(|change| apply(bytes, change));
            if let Some(change) = pending.get(kept) {
                tear(bytes, change, chance);
            }
        }
        Loss::Writes => {
            // Few or many are lost: both happen.
            let share = 1 + chance.below(9);
            let kept = pending.iter().filter(|_| chance.below(10) >= share);
            kept.for_each(|change| apply(bytes, change));
        }
        Loss::Sectors => pending.iter().for_each(|change| tear(bytes, change, chance)),
    }
    if loss == Loss::Sectors && chance.below(2) == 0 {
        // The length is there, the bytes are not.
        let longest = pending.iter().map(end).max().unwrap_or(0);
        bytes.resize(bytes.len().max(longest), 0);
    }
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Cut { length } => bytes.resize(*length, 0),
        Change::Write { offset, bytes: written } => put(bytes, *offset, written),
    }
}

/// Only some sectors of a write arrive; a cut arrives or does not.
fn tear(bytes: &mut Vec<u8>, wanted: &Change, chance: &mut Chance) {
    match wanted {
        Change::Cut { .. } if chance.below(2) == 0 => apply(bytes, wanted),
        Change::Cut { .. } => {}
        Change::Write { offset, bytes: written } => {
            let mut at = 0;
            while at < written.len() {
                // Sectors lie on the disk, not in the write.
                let room = SECTOR_BYTES - (offset + at) % SECTOR_BYTES;
                let until = written.len().min(at + room);
                if chance.below(2) == 0 {
                    put(bytes, offset + at, &written[at..until]);
                }
                at = until;
            }
        }
    }
}

fn put(bytes: &mut Vec<u8>, offset: usize, written: &[u8]) {
    let end = offset + written.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[offset..end].copy_from_slice(written);
}

fn end(change: &Change) -> usize {
    match change {
        Change::Write { offset, bytes } => offset + bytes.len(),
        Change::Cut { length } => *length,
    }
}

/// What one traced stop did to the files named `names`, and when it answered.
pub(super) fn steps(asked: &[Asked], names: &[&str]) -> Result<Vec<Step>> {
    let mut steps = vec![Step::Begin];
    for Asked { name, line, .. } in asked {
        let read = || step(name, line, names).with_context(|| format!("understand {name}"));
        steps.extend(read()?);
    }
    Ok(steps)
}

fn step(call: &str, line: &str, names: &[&str]) -> Result<Option<Step>> {
    let Some((arguments, result)) = line.rsplit_once(") = ") else { return Ok(None) };
    let arguments = arguments.split_once('(').map_or("", |(_, rest)| rest);
    if call == "write" && arguments.starts_with("1<") {
        return Ok(Some(Step::Answer));
    }
    let touched = text(arguments);
    if matches!(call, "rename" | "unlink") {
        if names.iter().any(|name| touched.contains(name)) {
            bail!("follow a journal that is moved or removed");
        }
        return Ok(None);
    }
    let Some(file) = file(&touched, names) else { return Ok(None) };
    let parts: Vec<&str> = arguments.split(", ").collect();
    let number = |at: usize| -> Result<usize> {
        let part = parts.get(at).context("find an argument")?;
        part.trim().parse().context("read a number")
    };
    match call {
        "fsync" | "fdatasync" if result.starts_with('0') => Ok(Some(Step::Sync { file })),
        "ftruncate" if result.starts_with('0') => Ok(Some(Step::Cut { file, length: number(1)? })),
        "pwrite64" => {
            let bytes = bytes(parts.get(1).context("find what is written")?)?;
            if bytes.len().to_string() != result.trim() {
                bail!("see all that is written: {} of {result} bytes", bytes.len());
            }
            Ok(Some(Step::Write { file, offset: number(3)?, bytes }))
        }
        _other => bail!("know what it does to {file}"),
    }
}

/// The file behind the descriptor that comes first.
fn file(touched: &str, names: &[&str]) -> Option<String> {
    let path = touched.split_once('<')?.1.split_once('>')?.0;
    let own = Path::new(path).file_name()?.to_str()?;
    names.contains(&own).then(|| own.into())
}

/// Text in which every character may be `\x2f`.
fn text(shown: &str) -> String {
    let mut text = String::new();
    let mut rest = shown.split("\\x");
    text.push_str(rest.next().unwrap_or_default());
    for part in rest {
        let code = part.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok());
        text.extend(code.map(char::from));
        text.push_str(part.get(2..).unwrap_or_default());
        if text.len() > 4096 {
            // Longer than any path: what follows is content.
            break;
        }
    }
    text
}

/// The bytes of a quoted string, each as `\x2f`.
fn bytes(quoted: &str) -> Result<Vec<u8>> {
    let inside = quoted.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let inside = inside.context("see all that is written")?;
    let codes = inside.split("\\x").skip(1);
    codes.map(|code| u8::from_str_radix(code, 16).context("read a byte")).collect()
}

#[cfg(test)]
mod tests;
