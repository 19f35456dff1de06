//! Unix: by its descriptor.

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How wide the window of standard output is, where it is one.
pub(crate) fn columns() -> Option<usize> {
    let stdout = rustix::stdio::stdout();
    let size = rustix::termios::isatty(stdout).then(|| rustix::termios::tcgetwinsize(stdout).ok());
    size.flatten().map(|size| usize::from(size.ws_col))
}

/// Whether nobody reads what is printed any more.
pub(crate) fn is_unread() -> bool {
    let out = rustix::stdio::stdout();
    let mut asked = [PollFd::new(&out, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let looked = poll(&mut asked, Some(&now));
    looked.is_ok() && asked[0].revents().contains(PollFlags::ERR)
}

/// Whether a pipe or a file brings an answer within a moment; an open pipe may never.
pub(crate) fn has_piped_answer() -> bool {
    let input = rustix::stdio::stdin();
    let mut asked = [PollFd::new(&input, PollFlags::IN)];
    let moment = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
    !rustix::termios::isatty(input) && poll(&mut asked, Some(&moment)).is_ok_and(|ready| ready > 0)
}

/// Waits for input, a signal or the time; tells whether the terminal is gone.
///
/// The terminal's library reads on and on from a terminal that was closed, so it is never asked
/// about one.
#[cfg(feature = "tui")]
pub(crate) fn is_hung_up(wait: std::time::Duration) -> bool {
    let input = rustix::stdio::stdin();
    let mut watched = [PollFd::new(&input, PollFlags::IN)];
    let wait = Timespec::try_from(wait).ok();
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    // A signal, such as a new size of the window, ends the wait early.
    poll(&mut watched, wait.as_ref()).is_ok() && watched[0].revents().intersects(gone)
}

/// Stops this process until the shell lets it go on.
#[cfg(feature = "tui")]
pub(crate) fn stop_here() -> std::io::Result<()> {
    use rustix::process::{Signal, getpid, kill_process};
    Ok(kill_process(getpid(), Signal::TSTP)?)
}
