//! Unix: the system says which pipes have something to be read.

use std::io::{self, PipeReader};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::child::EndHandle;

/// The end of a pipe that is read.
pub(crate) type OutputPipe = PipeReader;

/// The pipe that a child writes to, for reading.
pub(crate) const fn output_of(reader: PipeReader) -> OutputPipe {
    reader
}

/// Waits for output, or for the end of a program, up to `time`; says which pipes have news.
pub(crate) fn wait_for_news<'a>(
    outputs: &[Option<&OutputPipe>],
    ends: impl Iterator<Item = &'a EndHandle>,
    time: Duration,
) -> io::Result<Vec<bool>> {
    let mut watched: Vec<PollFd<'_>> =
        outputs.iter().flatten().map(|pipe| PollFd::new(*pipe, PollFlags::IN)).collect();
    watched.extend(ends.map(|end| PollFd::new(end, PollFlags::IN)));
    let time = Timespec::try_from(time).map_err(io::Error::other)?;
    let woken = match poll(&mut watched, Some(&time)) {
        Ok(_) => true,
        // An interrupted wait is one that saw nothing.
        Err(rustix::io::Errno::INTR) => false,
        Err(error) => return Err(error.into()),
    };
    let mut states = watched.iter().map(|one| woken && !one.revents().is_empty());
    Ok(outputs.iter().map(|pipe| pipe.is_some() && states.next() == Some(true)).collect())
}
