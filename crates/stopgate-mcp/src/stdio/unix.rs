//! Unix: standard input and output as descriptors that the reactor can watch.
//!
//! Runtimes read and write standard streams on a pool of threads, twice a message. Pipes
//! and sockets need none of that; whatever else it is (a file, a terminal) goes that way.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// What a client writes to us.
#[derive(Debug)]
pub(crate) enum Input {
    Pipe(pipe::Receiver),
    Socket(UnixStream),
    Other(tokio::io::Stdin),
}

/// What a client reads from us.
#[derive(Debug)]
pub(crate) enum Output {
    Pipe(pipe::Sender),
    Socket(UnixStream),
    Other(tokio::io::Stdout),
}

/// What a descriptor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nature {
    Pipe,
    Socket,
    Other,
}

impl Input {
    /// This process's standard input.
    pub(crate) fn standard() -> Self {
        Self::of(&io::stdin()).unwrap_or_else(|_| Self::Other(tokio::io::stdin()))
    }

    fn of(stream: &impl AsFd) -> io::Result<Self> {
        let own = stream.as_fd().try_clone_to_owned()?;
        let (own, nature) = nature(own)?;
        Ok(match nature {
            Nature::Pipe => Self::Pipe(pipe::Receiver::from_owned_fd(own)?),
            Nature::Socket => Self::Socket(socket(own)?),
            Nature::Other => Self::Other(tokio::io::stdin()),
        })
    }
}

impl Output {
    /// This process's standard output.
    pub(crate) fn standard() -> Self {
        Self::of(&io::stdout()).unwrap_or_else(|_| Self::Other(tokio::io::stdout()))
    }

    fn of(stream: &impl AsFd) -> io::Result<Self> {
        let own = stream.as_fd().try_clone_to_owned()?;
        let (own, nature) = nature(own)?;
        Ok(match nature {
            Nature::Pipe => Self::Pipe(pipe::Sender::from_owned_fd(own)?),
            Nature::Socket => Self::Socket(socket(own)?),
            Nature::Other => Self::Other(tokio::io::stdout()),
        })
    }
}

fn nature(own: OwnedFd) -> io::Result<(OwnedFd, Nature)> {
    let file = File::from(own);
    let kind = file.metadata()?.file_type();
    let nature = match (kind.is_fifo(), kind.is_socket()) {
        (true, _) => Nature::Pipe,
        (_, true) => Nature::Socket,
        (false, false) => Nature::Other,
    };
    Ok((file.into(), nature))
}

fn socket(own: OwnedFd) -> io::Result<UnixStream> {
    let stream = std::os::unix::net::UnixStream::from(own);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

impl AsyncRead for Input {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Pipe(pipe) => Pin::new(pipe).poll_read(cx, buffer),
            Self::Socket(socket) => Pin::new(socket).poll_read(cx, buffer),
            Self::Other(stdin) => Pin::new(stdin).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Output {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Pipe(pipe) => Pin::new(pipe).poll_write(cx, bytes),
            Self::Socket(socket) => Pin::new(socket).poll_write(cx, bytes),
            Self::Other(stdout) => Pin::new(stdout).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Pipe(pipe) => Pin::new(pipe).poll_flush(cx),
            Self::Socket(socket) => Pin::new(socket).poll_flush(cx),
            Self::Other(stdout) => Pin::new(stdout).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Pipe(pipe) => Pin::new(pipe).poll_shutdown(cx),
            Self::Socket(socket) => Pin::new(socket).poll_shutdown(cx),
            Self::Other(stdout) => Pin::new(stdout).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests;
