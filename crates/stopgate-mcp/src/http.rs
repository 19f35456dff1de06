//! Streamable HTTP on this machine: who may come in, and what they find.
//!
//! Every request needs the token; a `Host` or an `Origin` from elsewhere is refused, so
//! that no page in a browser can reach the tools.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};

use crate::serve::ServeError;
use crate::server::Server;

/// Where the tools are found.
const PATH: &str = "/mcp";
/// Pages that were loaded from this machine.
const ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

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
    let door = Arc::new(Door { service: service(server), token: options.token });
    loop {
        // Who gives up before being let in costs the others nothing.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::task::yield_now().await;
            continue;
        };
        tokio::spawn(converse(stream, Arc::clone(&door)));
    }
}

fn service(server: Server) -> Service {
    let config = StreamableHttpServerConfig::default().with_allowed_origins(ORIGINS);
    StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(LocalSessionManager::default()),
        config,
    )
}

async fn converse(stream: TcpStream, door: Arc<Door>) {
    let _ = stream.set_nodelay(true);
    let answer = service_fn(move |request| {
        let door = Arc::clone(&door);
        async move { Ok::<_, Infallible>(door.answer(request).await) }
    });
    // What breaks off ends this conversation only.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), answer)
        .await;
}

/// Who stands between the network and the tools.
struct Door {
    service: Service,
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
        self.service.handle(request).await
    }
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("text/plain"));
    answer
}

#[cfg(test)]
mod tests;
