//! Small files of random bytes, made once and readable by their owner alone.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use stopgate_system::fs::OpenOptionsExt;
use stopgate_system::set_file_mode;

use crate::files::{make_private_directory, read_regular};

/// Far more than a key has.
const KEY_FILE_BYTES_MAX: u64 = 4096;

/// The secret at `path`; made where there is none yet.
pub(crate) fn secret<const N: usize>(path: &Path) -> io::Result<[u8; N]> {
    match existing(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut bytes = [0; N];
            getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
            place(path, &bytes)?;
            existing(path)
        }
        read => read,
    }
}

/// The secret at `path`; an error where there is none.
pub(crate) fn existing<const N: usize>(path: &Path) -> io::Result<[u8; N]> {
    let broken = |_| io::Error::new(io::ErrorKind::InvalidData, "it does not hold a key");
    read_regular(path, KEY_FILE_BYTES_MAX)?.try_into().map_err(broken)
}

/// Puts `content` at `path`, unless another process does so at the same time: then that counts.
pub(crate) fn place(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut name = [0; 8];
    getrandom::fill(&mut name).map_err(|error| io::Error::other(error.to_string()))?;
    let directory = path.parent().unwrap_or(Path::new("."));
    make_private_directory(directory)?;
    let own = directory.join(format!("new-{:016x}", u64::from_le_bytes(name)));
    let mut open = fs::OpenOptions::new();
    let mut file = open.create_new(true).write(true).mode(0o600).open(&own)?;
    set_file_mode(&file, 0o600)?;
    file.write_all(content)?;
    file.sync_all()?;
    let linked = fs::hard_link(&own, path);
    fs::remove_file(&own)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
