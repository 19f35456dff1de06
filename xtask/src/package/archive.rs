//! Archives, written so that the same content gives the same bytes: no time, no owner, no order of
//! a disk.

use std::io::Write;

use anyhow::{Result, ensure};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};

/// A file of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PackedFile {
    /// Its path in the package, with slashes.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) mode: u32,
}

impl PackedFile {
    /// A file to be read.
    pub(crate) fn text(path: impl Into<String>, text: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: text.into(), mode: 0o644 }
    }

    /// A file to be run.
    pub(crate) fn program(path: impl Into<String>, bytes: &[u8]) -> Self {
        Self { path: path.into(), bytes: bytes.to_vec(), mode: 0o755 }
    }

    /// The same file below a directory.
    pub(crate) fn below(self, directory: &str) -> Self {
        Self { path: format!("{directory}/{}", self.path), ..self }
    }
}

/// Whether an archive names the directories that its files are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directories {
    Named,
    Implied,
}

/// A tar archive (ustar), compressed by gzip.
pub(crate) fn tar_gz(files: &[PackedFile], directories: Directories) -> Result<Vec<u8>> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let mut known: Vec<&str> = Vec::new();
    for file in files {
        let fresh = parents(&file.path).filter(|_| directories == Directories::Named);
        let fresh: Vec<&str> = fresh.filter(|path| !known.contains(path)).collect();
        for directory in &fresh {
            gzip.write_all(&tar_header(&format!("{directory}/"), 0, 0o755, b'5')?)?;
        }
        known.extend(fresh);
        gzip.write_all(&tar_header(&file.path, file.bytes.len(), file.mode, b'0')?)?;
        gzip.write_all(&file.bytes)?;
        gzip.write_all(&vec![0; file.bytes.len().next_multiple_of(512) - file.bytes.len()])?;
    }
    gzip.write_all(&[0; 1024])?;
    Ok(gzip.finish()?)
}

/// The directories of a path, the outermost first.
fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

fn tar_header(path: &str, size: usize, mode: u32, kind: u8) -> Result<[u8; 512]> {
    ensure!(path.len() <= 100, "pack {path}: the name is longer than 100 bytes");
    let mut header = [0_u8; 512];
    let mut put =
        |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, path);
    put(100, &format!("{mode:07o}"));
    put(108, "0000000");
    put(116, "0000000");
    put(124, &format!("{size:011o}"));
    put(136, "00000000000");
    put(148, "        ");
    put(257, "ustar\u{0}00");
    put(265, "root");
    put(297, "root");
    header[156] = kind;
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\u{0}").as_bytes());
    Ok(header)
}

/// An `ar` archive, as a Debian package is one.
pub(crate) fn ar(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let size = bytes.len();
        let header = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, "100644");
        archive.extend(header.as_bytes());
        archive.extend(bytes);
        if size % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

/// A zip archive.
pub(crate) fn zip(files: &[PackedFile]) -> Result<Vec<u8>> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for file in files {
        let at = u32::try_from(archive.len())?;
        let entry = ZipEntry::of(file)?;
        archive.extend(b"PK\x03\x04");
        archive.extend(&entry.common);
        archive.extend([0; 2]);
        archive.extend(file.path.as_bytes());
        archive.extend(&entry.packed);
        directory.extend(b"PK\x01\x02");
        // Made on Unix, so that the mode counts.
        directory.extend([20, 3]);
        directory.extend(&entry.common);
        directory.extend([0; 8]);
        directory.extend(((file.mode | 0o100_000) << 16).to_le_bytes());
        directory.extend(at.to_le_bytes());
        directory.extend(file.path.as_bytes());
    }
    let (at, count) = (u32::try_from(archive.len())?, u16::try_from(files.len())?);
    let size = u32::try_from(directory.len())?;
    archive.extend(directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend(count.to_le_bytes());
    archive.extend(count.to_le_bytes());
    archive.extend(size.to_le_bytes());
    archive.extend(at.to_le_bytes());
    archive.extend([0; 2]);
    Ok(archive)
}

/// A file of a zip archive: what both of its headers share, and its packed bytes.
struct ZipEntry {
    common: Vec<u8>,
    packed: Vec<u8>,
}

impl ZipEntry {
    fn of(file: &PackedFile) -> Result<Self> {
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::best());
        deflate.write_all(&file.bytes)?;
        let packed = deflate.finish()?;
        let mut crc = flate2::Crc::new();
        crc.update(&file.bytes);
        let mut common = Vec::new();
        // Version 2.0, names in UTF-8, deflated, 1980-01-01.
        for half in [20_u16, 0x0800, 8, 0, 0x0021] {
            common.extend(half.to_le_bytes());
        }
        for word in [crc.sum(), u32::try_from(packed.len())?, u32::try_from(file.bytes.len())?] {
            common.extend(word.to_le_bytes());
        }
        common.extend(u16::try_from(file.path.len())?.to_le_bytes());
        Ok(Self { common, packed })
    }
}
