use std::pin::Pin;
use std::task::{Context, Poll};

use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncRead, ReadBuf};

use super::{LineTransport, MESSAGE_BYTES_MAX};

/// Hands its bytes out in pieces of this size.
struct Pieces {
    bytes: Vec<u8>,
    size: usize,
    at: usize,
}

impl AsyncRead for Pieces {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = self.get_mut();
        let end = this.bytes.len().min(this.at + this.size.min(buffer.remaining()));
        buffer.put_slice(&this.bytes[this.at..end]);
        this.at = end;
        Poll::Ready(Ok(()))
    }
}

fn ping(id: u32) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}")
}

/// The ids of the requests that came through, and the answers to what did not.
fn heard(input: &[u8], size: usize) -> (Vec<Value>, Vec<Value>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let from = Pieces { bytes: input.into(), size, at: 0 };
        let mut lines = LineTransport::new(from, Vec::new());
        let mut ids = Vec::new();
        while let Some(message) = lines.receive().await {
            ids.push(serde_json::to_value(message).expect("a message")["id"].clone());
        }
        let said = lines.to.lock().await.clone().expect("still open");
        let read = |line: &[u8]| serde_json::from_slice(line).expect("an answer");
        let answers = said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(read);
        (ids, answers.collect())
    })
}

#[test]
fn pieces_of_any_size_say_the_same() {
    let input = format!("{}\nnonsense\n\n{}\r\n[]\n{}", ping(1), ping(2), ping(3));
    for size in [1, 2, 7, 40, 8192] {
        let (ids, answers) = heard(input.as_bytes(), size);
        assert_eq!(ids, [1, 2, 3], "size {size}");
        let codes: Vec<&Value> = answers.iter().map(|answer| &answer["error"]["code"]).collect();
        assert_eq!(codes, [-32700, -32600], "size {size}");
    }
}

#[test]
fn a_line_that_is_too_long_is_answered_once_and_skipped() {
    let long = "x".repeat(3 * MESSAGE_BYTES_MAX);
    let input = format!("{}\n{long}\n{}\n{long}", ping(1), ping(2));
    let (ids, answers) = heard(input.as_bytes(), 100_000);
    assert_eq!(ids, [1, 2]);
    assert_eq!(answers.len(), 2);
    for answer in answers {
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
        assert_eq!(answer["id"], Value::Null, "{answer}");
    }
}

#[test]
fn the_longest_line_that_fits_goes_through() {
    let bare = ping(1).len();
    let input = format!("{}{}\n", ping(1), " ".repeat(MESSAGE_BYTES_MAX - bare));
    assert_eq!(heard(input.as_bytes(), 8192).0, [1]);
    let input = format!("{}{}\n", ping(1), " ".repeat(MESSAGE_BYTES_MAX - bare + 1));
    assert_eq!(heard(input.as_bytes(), 8192).0.len(), 0);
}
