//! Streamable HTTP on this machine: who may come in, and what they find.
//!
//! Every request needs the token; a `Host` or an `Origin` from elsewhere is refused, so
//! that no page in a browser can reach the tools. Connections, sessions, bodies and the
//! time for a body are bounded, so that nobody keeps the others out.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Collected, Full, LengthLimitError, Limited};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::connections::{Busy, CONNECTIONS_MAX, Connections, Seat};
use crate::incoming::{self, Incoming as Read, MESSAGE_BYTES_MAX, UnreadableMessage};
use crate::serve::ServeError;
use crate::server::Server;
use crate::sessions::Sessions;

/// Where the tools are found.
const PATH: &str = "/mcp";
/// Pages that were loaded from this machine.
const ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
/// How long a client may take to send a head, and then a body.
const BODY_TIME: Duration = Duration::from_secs(10);
/// How long we wait where nobody can be let in, for want of descriptors mostly.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

type Service = StreamableHttpService<Server, LocalSessionManager>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// How HTTP is served.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// An address of this machine alone; port 0 takes any.
    pub address: SocketAddr,
    /// What clients must show.
    pub token: Token,
}

/// A secret that clients show in every request.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Accepts what is long enough not to be guessed and fits into a header.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = text.len() >= 16 && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self(text.into()))
    }

    /// A new one.
    pub fn generate() -> Result<Self, getrandom::Error> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes)?;
        let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
        Ok(Self(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()))
    }

    /// The secret itself, for the file it is kept in.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    fn is_shown_in(&self, headers: &HeaderMap) -> bool {
        let mut shown = headers.get_all(AUTHORIZATION).iter();
        let (Some(only), None) = (shown.next(), shown.next()) else { return false };
        let text = only.to_str().unwrap_or_default();
        let Some((scheme, secret)) = text.split_once(' ') else { return false };
        scheme.eq_ignore_ascii_case("bearer") && same(secret.trim().as_bytes(), self.0.as_bytes())
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Compares without telling by the time it takes where the difference is.
fn same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |acc, (a, b)| acc | (a ^ b)) == 0
}

/// Answers until the process ends.
pub(crate) async fn serve(
    server: Server,
    options: HttpOptions,
    listening: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    let at = options.address;
    let fault = |source| ServeError::Listen { at, source };
    let listener = TcpListener::bind(at).await.map_err(fault)?;
    listening(listener.local_addr().map_err(fault)?);
    let sessions = Sessions::new();
    let service = service(server, sessions.keeper());
    let door = Arc::new(Door { service, sessions, token: options.token });
    let connections = Connections::new(CONNECTIONS_MAX);
    loop {
        // Out of descriptors, trying again at once would only keep a core busy.
        let Ok((stream, _)) = listener.accept().await else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        if let Some(seat) = connections.seat().await {
            tokio::spawn(converse(stream, seat, Arc::clone(&door)));
        }
    }
}

fn service(server: Server, sessions: Arc<LocalSessionManager>) -> Service {
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins(ORIGINS)
        .with_max_request_body_bytes(MESSAGE_BYTES_MAX);
    StreamableHttpService::new(move || Ok(server.clone()), sessions, config)
}

async fn converse(stream: TcpStream, seat: Seat, door: Arc<Door>) {
    let _ = stream.set_nodelay(true);
    let begin = seat.requests();
    let answer = service_fn(move |request| {
        let door = Arc::clone(&door);
        let busy = begin();
        async move {
            let answer = door.answer(request).await;
            Ok::<_, Infallible>(answer.map(|body| BusyBody { body, _busy: busy }))
        }
    });
    let conversation = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(BODY_TIME)
        .serve_connection(TokioIo::new(stream), answer);
    // What breaks off ends this conversation only.
    tokio::select! {
        _ended = conversation => {}
        () = seat.unwanted() => {}
    }
}

/// An answer that keeps its connection busy until the last of it is sent: it may be a
/// stream.
struct BusyBody {
    body: BoxBody<Bytes, Infallible>,
    _busy: Busy,
}

impl Body for BusyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Who stands between the network and the tools.
struct Door {
    service: Service,
    sessions: Sessions,
    token: Token,
}

impl Door {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        if request.uri().path() != PATH {
            return plain(StatusCode::NOT_FOUND, "the tools are at /mcp");
        }
        if !self.token.is_shown_in(request.headers()) {
            let mut answer =
                plain(StatusCode::UNAUTHORIZED, "send Authorization: Bearer and the token");
            answer.headers_mut().insert(WWW_AUTHENTICATE, http::HeaderValue::from_static("Bearer"));
            return answer;
        }
        self.sessions.note(request.headers()).await;
        let (head, body) = request.into_parts();
        let body = match whole(body).await {
            Ok(body) => body,
            Err(refusal) => return refusal,
        };
        if head.method == Method::POST
            && let Read::Unreadable(why) = incoming::read(&body)
        {
            return unreadable(&why);
        }
        let answer = self.service.handle(Request::from_parts(head, Full::new(body))).await;
        self.sessions.note(answer.headers()).await;
        answer
    }
}

/// All of a body, unless it is too long or too slow.
async fn whole(body: Incoming) -> Result<Bytes, Answer> {
    let too_long = || plain(StatusCode::PAYLOAD_TOO_LARGE, "the body is larger than 4 MiB");
    // What is announced as far too long need not be waited for; else the sender gets to read why.
    if body.size_hint().lower() > 16 * MESSAGE_BYTES_MAX as u64 {
        return Err(too_long());
    }
    let Ok(read) = timeout(BODY_TIME, Limited::new(body, MESSAGE_BYTES_MAX).collect()).await else {
        return Err(plain(
            StatusCode::REQUEST_TIMEOUT,
            "the body did not arrive within 10 seconds",
        ));
    };
    read.map(Collected::to_bytes).map_err(|error| {
        if error.is::<LengthLimitError>() {
            too_long()
        } else {
            plain(StatusCode::BAD_REQUEST, "the body was cut off")
        }
    })
}

fn unreadable(why: &UnreadableMessage) -> Answer {
    let text = why.answer().to_string();
    let mut answer = Response::new(Full::new(Bytes::from(text)).boxed());
    *answer.status_mut() = StatusCode::BAD_REQUEST;
    let kind = http::HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("text/plain"));
    answer
}

#[cfg(test)]
mod tests;
