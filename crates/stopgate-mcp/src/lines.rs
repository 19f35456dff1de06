//! Messages as lines of standard input and output.
//!
//! Lines are bounded, and what can't be read is answered here: its sender may be
//! waiting. A call of `receive` may be dropped halfway; what it read and what it still
//! has to say are kept for the next one.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

use crate::incoming::{self, Incoming, MESSAGE_BYTES_MAX, UnreadableMessage};

type Sending = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// A conversation in lines.
pub(crate) struct LineTransport<R, W> {
    from: BufReader<R>,
    /// None once the conversation is over.
    to: Arc<Mutex<Option<W>>>,
    line: Vec<u8>,
    is_skipping: bool,
    /// An answer that is on its way.
    answering: Option<Sending>,
}

/// What reading came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    Line,
    TooLong,
    End,
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Reads messages from one and writes them to the other.
    pub(crate) fn new(from: R, to: W) -> Self {
        Self {
            from: BufReader::new(from),
            to: Arc::new(Mutex::new(Some(to))),
            line: Vec::new(),
            is_skipping: false,
            answering: None,
        }
    }

    /// Reads the rest of a line; never holds more of it than a message may have.
    async fn read_line(&mut self) -> io::Result<Read> {
        loop {
            let found = self.from.fill_buf().await?;
            if found.is_empty() {
                self.is_skipping = false;
                return Ok(self.last());
            }
            let end = found.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(found.len(), |end| end + 1);
            let fits = self.line.len() + taken <= MESSAGE_BYTES_MAX + 1;
            let was_skipping = self.is_skipping;
            if fits && !was_skipping {
                self.line.extend_from_slice(&found[..taken]);
            } else {
                self.line.clear();
            }
            self.from.consume(taken);
            self.is_skipping = (was_skipping || !fits) && end.is_none();
            match (was_skipping, fits, end) {
                (false, false, _) => return Ok(Read::TooLong),
                (false, true, Some(_)) => return Ok(Read::Line),
                (false, true, None) | (true, ..) => {}
            }
        }
    }

    /// What the end of the input is: the last line may lack its own.
    fn last(&self) -> Read {
        if self.line.is_empty() { Read::End } else { Read::Line }
    }

    /// The next thing that came in; none at the end.
    async fn next(&mut self) -> Option<Incoming> {
        match self.read_line().await.ok()? {
            Read::End => None,
            Read::TooLong => Some(Incoming::Unreadable(UnreadableMessage::too_long())),
            Read::Line => {
                let read = incoming::read(&self.line);
                self.line.clear();
                Some(read)
            }
        }
    }

    fn sending(&self, message: Vec<u8>) -> Sending {
        let to = Arc::clone(&self.to);
        Box::pin(async move {
            let mut to = to.lock().await;
            let to = to.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            to.write_all(&message).await?;
            to.flush().await
        })
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let text = serde_json::to_vec(&item);
        let sending = text.map(|text| self.sending(line(text)));
        async move { sending?.await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(answering) = &mut self.answering {
                let answered = answering.await;
                self.answering = None;
                answered.ok()?;
            }
            match self.next().await? {
                Incoming::Message(message) => return Some(*message),
                Incoming::Nothing => {}
                Incoming::Unreadable(why) => {
                    self.answering = Some(self.sending(line(why.answer().to_string().into())));
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.to.lock().await.take();
        Ok(())
    }
}

fn line(mut text: Vec<u8>) -> Vec<u8> {
    text.push(b'\n');
    text
}

#[cfg(test)]
mod tests;
