//! As much HTTP/1.1 as the clients speak to their model.
//!
//! Bodies come with a length; answers go out whole, or as a chunked stream of
//! server-sent events.

use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

use crate::sort::Headers;

const BODY_BYTES_MAX: u64 = 64 << 20;

/// One request as it came over the wire.
pub(crate) struct HttpRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Headers,
    pub(crate) body: Vec<u8>,
}

impl HttpRequest {
    /// The next request of a connection, or nothing when the peer has hung up.
    pub(crate) fn read(from: &mut impl BufRead) -> io::Result<Option<Self>> {
        let Some(first) = read_line(from)? else { return Ok(None) };
        let mut words = first.split(' ');
        let (Some(method), Some(target)) = (words.next(), words.next()) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no request line"));
        };
        let path = target.split('?').next().unwrap_or_default();
        let (method, path) = (method.to_owned(), path.to_owned());
        let headers = read_headers(from)?;
        let body = read_body(from, &headers)?;
        Ok(Some(Self { method, path, headers, body }))
    }

    /// Whether the peer wants the connection closed after this request.
    pub(crate) fn closes(&self) -> bool {
        self.headers.get("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }

    /// Answers with one JSON value; a HEAD gets its headers only.
    pub(crate) fn answer(&self, to: &mut impl Write, status: u16, value: &Value) -> io::Result<()> {
        self.answer_with(to, status, &[], value)
    }

    /// The same with further headers.
    pub(crate) fn answer_with(
        &self,
        to: &mut impl Write,
        status: u16,
        headers: &[(&str, String)],
        value: &Value,
    ) -> io::Result<()> {
        let body = value.to_string();
        let mut text = format!(
            "HTTP/1.1 {status} {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
            reason(status),
            body.len()
        );
        for (name, value) in headers {
            text.extend([name, ": ", value, "\r\n"]);
        }
        text.push_str("\r\n");
        if self.method != "HEAD" {
            text.push_str(&body);
        }
        to.write_all(text.as_bytes())?;
        to.flush()
    }
}

/// How far a stream of events gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    /// To its end.
    Whole,
    /// No further than its first half; then the connection has to be closed.
    Cut,
}

/// Answers with a stream of events, each flushed as a chunk of its own.
pub(crate) fn answer_events(
    to: &mut impl Write,
    events: &[String],
    end: StreamEnd,
) -> io::Result<()> {
    to.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
          cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n",
    )?;
    let events = match end {
        StreamEnd::Whole => events,
        StreamEnd::Cut => &events[..events.len().div_ceil(2)],
    };
    for chunk in events {
        write!(to, "{:x}\r\n{chunk}\r\n", chunk.len())?;
        to.flush()?;
    }
    if end == StreamEnd::Whole {
        to.write_all(b"0\r\n\r\n")?;
    }
    to.flush()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        _ => "Answer",
    }
}

fn read_line(from: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    let bytes = from.read_line(&mut line)?;
    Ok((bytes > 0).then(|| line.trim_end().to_owned()))
}

fn read_headers(from: &mut impl BufRead) -> io::Result<Headers> {
    let mut headers = Headers::new();
    while let Some(line) = read_line(from)?.filter(|line| !line.is_empty()) {
        if let Some((name, value)) = line.split_once(':') {
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    Ok(headers)
}

fn read_body(from: &mut impl BufRead, headers: &Headers) -> io::Result<Vec<u8>> {
    let length = headers.get("content-length").map_or(Ok(0), |value| value.parse::<u64>());
    let length = length.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    if length > BODY_BYTES_MAX || headers.contains_key("transfer-encoding") {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a body the lab does not read"));
    }
    let mut body = Vec::new();
    from.take(length).read_to_end(&mut body)?;
    Ok(body)
}
