//! A scripted stand-in for the models of every client, on loopback only.
//!
//! It answers in the API in which it is asked: Anthropic's messages, `OpenAI`'s responses and
//! chat completions, Gemini's contents. The conversation of each session is answered from that
//! session's script, and everything else a client may ask with something harmless. It remembers
//! all it was asked and never writes to disk.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, BufReader};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use crate::api::ModelApi;
use crate::door;
use crate::error::LabError;
use crate::http::{HttpRequest, StreamEnd, answer_events};
use crate::reply::{ReplyWire, tokens_of};
use crate::sort::{Kind, said_since_last_answer, session_of};
use crate::turn::{ModelFault, ScriptedTurn, TurnUsage};

/// Begins a path that names its session.
const NAMED: &str = "/as/";

/// A model that says what its script says. Gone when dropped.
pub struct FakeModel {
    address: SocketAddr,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

/// One request that the fake model was sent.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// The verb, as `POST`.
    pub method: String,
    /// The path without its query.
    pub path: String,
    /// What it is for.
    pub kind: Kind,
    /// Whose it is, or `-`.
    pub session: String,
    /// Which main call of its session it is, from 1; for other kinds, how many came before.
    pub call: usize,
    /// The parsed body, or null.
    pub body: Value,
}

/// What the model was sent after its own last message, in one main call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInput {
    /// Whose call it was.
    pub session: String,
    /// Which main call of that session, from 1.
    pub call: usize,
    /// All texts and tool results, joined by line ends.
    pub text: String,
}

/// An answer that was sent to its end.
#[derive(Clone, Debug)]
pub struct SentAnswer {
    /// What it was for.
    pub kind: Kind,
    /// Whose it was.
    pub session: String,
    /// What it was said to have used.
    pub usage: TurnUsage,
}

impl FakeModel {
    /// Listens on a free port of 127.0.0.1 and answers from now on.
    pub fn start() -> Result<Self, LabError> {
        let listen = |source| LabError::Listen { source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let shared = Arc::new(Shared::new());
        let theirs = Arc::clone(&shared);
        let listening = thread::spawn(move || accept(&listener, &theirs));
        Ok(Self { address, shared, listening: Some(listening) })
    }

    /// Where the model is, for `ANTHROPIC_BASE_URL`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where the model is for a client that does not name its sessions: whatever is asked here
    /// belongs to the session of this name.
    pub fn url_for(&self, session: &str) -> String {
        format!("http://{}{NAMED}{session}", self.address)
    }

    /// What this session's main calls are answered, in order; then the default turn.
    pub fn script(&self, session: &str, turns: impl IntoIterator<Item = ScriptedTurn>) {
        self.shared.book().scripts.insert(session.into(), turns.into_iter().collect());
    }

    /// What any session without a script of its own is answered, each from its beginning.
    pub fn script_for_all(&self, turns: impl IntoIterator<Item = ScriptedTurn>) {
        self.shared.book().script_for_all = turns.into_iter().collect();
    }

    /// The answer where a script has ended: `turn {n}` unless told otherwise.
    pub fn default_turn(&self, turn: ScriptedTurn) {
        self.shared.book().default = turn;
    }

    /// Everything the model was asked so far, in order of arrival.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.shared.book().requests.clone()
    }

    /// The answers that were sent to their end, in order.
    pub fn sent(&self) -> Vec<SentAnswer> {
        self.shared.book().sent.clone()
    }

    /// The main calls of every session.
    pub fn main_calls(&self) -> Vec<ModelRequest> {
        let mut requests = self.requests();
        requests.retain(|request| request.kind == Kind::Main);
        requests
    }

    /// The main calls of one session.
    pub fn main_calls_of(&self, session: &str) -> Vec<ModelRequest> {
        let mut calls = self.main_calls();
        calls.retain(|call| call.session == session);
        calls
    }

    /// What the model was told after its own last message, for each main call that had one.
    pub fn told(&self) -> Vec<ModelInput> {
        let told = |request: ModelRequest| {
            let text = said_since_last_answer(&request.body)?;
            Some(ModelInput { session: request.session, call: request.call, text })
        };
        self.main_calls().into_iter().filter_map(told).collect()
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        // The listener sleeps in accept: one last connection wakes it.
        let woken = TcpStream::connect(self.address).is_ok();
        if let Some(listening) = self.listening.take().filter(|_| woken) {
            listening.join().ok();
        }
        for stream in self.shared.streams().drain(..) {
            stream.shutdown(Shutdown::Both).ok();
        }
    }
}

struct Shared {
    book: Mutex<Book>,
    streams: Mutex<Vec<TcpStream>>,
    closing: AtomicBool,
}

impl Shared {
    fn new() -> Self {
        let book = Book {
            requests: Vec::new(),
            sent: Vec::new(),
            calls: BTreeMap::new(),
            scripts: BTreeMap::new(),
            script_for_all: Vec::new(),
            default: ScriptedTurn::text("turn {n}"),
        };
        Self {
            book: Mutex::new(book),
            streams: Mutex::new(Vec::new()),
            closing: AtomicBool::new(false),
        }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn streams(&self) -> MutexGuard<'_, Vec<TcpStream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Book {
    requests: Vec<ModelRequest>,
    sent: Vec<SentAnswer>,
    calls: BTreeMap<String, usize>,
    scripts: BTreeMap<String, Vec<ScriptedTurn>>,
    script_for_all: Vec<ScriptedTurn>,
    default: ScriptedTurn,
}

impl Book {
    /// Writes a request down and says which one it is, from 1.
    fn record(&mut self, call: &HttpRequest, kind: Kind, session: &str, body: &Value) -> usize {
        let count = self.calls.entry(session.into()).or_default();
        *count += usize::from(kind == Kind::Main);
        self.requests.push(ModelRequest {
            method: call.method.clone(),
            path: call.path.clone(),
            kind,
            session: session.into(),
            call: *count,
            body: body.clone(),
        });
        self.requests.len()
    }

    fn turn(&self, kind: Kind, session: &str) -> ScriptedTurn {
        match kind {
            Kind::Main => {
                let script = self.scripts.get(session).unwrap_or(&self.script_for_all);
                let at = self.call(session).saturating_sub(1);
                script.get(at).unwrap_or(&self.default).clone()
            }
            Kind::Subagent => ScriptedTurn::text("sub-agent finished"),
            Kind::Compact => ScriptedTurn::text("<summary>SUMMARY-OF-CONVERSATION</summary>"),
            Kind::Verifier => ScriptedTurn::text(r#"{"ok": true, "reason": "scripted"}"#),
            Kind::Side | Kind::Other => ScriptedTurn::text("ok"),
        }
    }

    fn call(&self, session: &str) -> usize {
        self.calls.get(session).copied().unwrap_or_default()
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming().map_while(Result::ok) {
        if shared.closing.load(Ordering::SeqCst) {
            return;
        }
        if let Ok(kept) = stream.try_clone() {
            shared.streams().push(kept);
        }
        let shared = Arc::clone(shared);
        // A peer that hangs up in mid-answer is its own business.
        thread::spawn(move || serve(stream, &shared).ok());
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(call) = HttpRequest::read(&mut reader)? {
        if answer(&mut stream, shared, call)? == Connection::Close {
            return stream.shutdown(Shutdown::Both);
        }
    }
    Ok(())
}

fn answer(
    stream: &mut TcpStream,
    shared: &Shared,
    mut call: HttpRequest,
) -> io::Result<Connection> {
    let body = serde_json::from_slice::<Value>(&call.body).unwrap_or_default();
    let session = named_session(&mut call).unwrap_or_else(|| session_of(&call.headers, &body));
    if let Some(api) = ModelApi::of(&call) {
        return answer_message(stream, shared, api, &call, &session, &body);
    }
    shared.book().record(&call, Kind::Other, &session, &body);
    let (status, value) = harmless(&call, &body);
    call.answer(stream, status, &value)?;
    Ok(Connection::of(&call))
}

/// Takes the session's name out of a path that has one.
fn named_session(call: &mut HttpRequest) -> Option<String> {
    let rest = call.path.strip_prefix(NAMED)?;
    let (session, path) = rest.split_once('/').unwrap_or((rest, ""));
    let session = session.to_owned();
    call.path = format!("/{path}");
    Some(session)
}

/// The answer to what is not a request for a message.
fn harmless(call: &HttpRequest, body: &Value) -> (u16, Value) {
    let path = call.path.as_str();
    match call.method.as_str() {
        "POST" if path.ends_with("/count_tokens") => {
            (200, json!({"input_tokens": tokens_of(body)}))
        }
        "POST" if path.ends_with(":countTokens") => (200, json!({"totalTokens": tokens_of(body)})),
        "GET" if path.ends_with("/models") => (
            200,
            json!({"data": [], "models": [], "has_more": false, "first_id": null, "last_id": null}),
        ),
        "GET" | "HEAD" if path == "/" => (200, json!({})),
        _ => {
            let error = json!({"type": "not_found_error", "message": path});
            (404, json!({"type": "error", "error": error}))
        }
    }
}

fn answer_message(
    stream: &mut TcpStream,
    shared: &Shared,
    api: ModelApi,
    call: &HttpRequest,
    session: &str,
    body: &Value,
) -> io::Result<Connection> {
    let kind = api.kind_of(call, body);
    let (turn, reply) = {
        let mut book = shared.book();
        let serial = book.record(call, kind, session, body);
        let turn = book.turn(kind, session);
        let reply = ReplyWire::new(&turn, body, book.call(session), serial);
        (turn, reply)
    };
    thread::sleep(turn.delay);
    let end = match turn.fault {
        None => StreamEnd::Whole,
        Some(ModelFault::Cut) => StreamEnd::Cut,
        Some(ModelFault::Drop) => return Ok(Connection::Close),
        Some(ModelFault::Hang) => return hang(stream),
        Some(ModelFault::Status { status, retry_after }) => {
            let headers = retry_after.map(limit_headers).unwrap_or_default();
            call.answer_with(stream, status, &headers, &api.refusal(status, retry_after))?;
            return Ok(Connection::of(call));
        }
        Some(ModelFault::TooLong) => {
            call.answer(stream, 400, &api.too_long())?;
            return Ok(Connection::of(call));
        }
    };
    if end == StreamEnd::Whole {
        // Noted first: a client may be done with it before this thread goes on.
        let (session, usage) = (session.to_owned(), reply.usage());
        shared.book().sent.push(SentAnswer { kind, session, usage });
    }
    if api.streams(call, body) {
        answer_events(stream, &api.events(&reply), end)?;
    } else if end == StreamEnd::Whole {
        call.answer(stream, 200, &api.whole(&reply))?;
    }
    Ok(if end == StreamEnd::Whole { Connection::of(call) } else { Connection::Close })
}

/// What says when to come back: for everybody, and as a plan's window that is used up.
fn limit_headers(retry_after: Duration) -> Vec<(&'static str, String)> {
    let resets_at = (door::unix_seconds() + retry_after.as_secs()).to_string();
    vec![
        ("retry-after", retry_after.as_secs().to_string()),
        ("anthropic-ratelimit-unified-status", "rejected".into()),
        ("anthropic-ratelimit-unified-reset", resets_at.clone()),
        ("anthropic-ratelimit-unified-representative-claim", "five_hour".into()),
        ("anthropic-ratelimit-unified-overage-status", "rejected".into()),
        ("anthropic-ratelimit-unified-5h-status", "rejected".into()),
        ("anthropic-ratelimit-unified-5h-utilization", "1.0".into()),
        ("anthropic-ratelimit-unified-5h-reset", resets_at.clone()),
        ("x-codex-primary-used-percent", "100".into()),
        ("x-codex-primary-window-minutes", "300".into()),
        ("x-codex-primary-reset-at", resets_at),
    ]
}

/// Says nothing until the peer hangs up, or the model is dropped.
fn hang(stream: &mut TcpStream) -> io::Result<Connection> {
    io::copy(stream, &mut io::sink())?;
    Ok(Connection::Close)
}

/// What becomes of a connection after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Connection {
    Keep,
    Close,
}

impl Connection {
    fn of(call: &HttpRequest) -> Self {
        if call.closes() { Self::Close } else { Self::Keep }
    }
}
