//! The server's two doors: standard streams, and HTTP on this machine.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use rmcp::service::ServerInitializeError;
use tokio::runtime::{Builder, Runtime};

use crate::catalogue::ToolSet;
use crate::desk::ToolHandler;
use crate::ending::{CALLS_GRACE, Shutdown};
use crate::http::{self, HttpOptions};
use crate::lines::LineTransport;
use crate::server::Server;
use crate::stdio::{Input, Output};

/// Why the server could not serve.
#[derive(Debug)]
pub enum ServeError {
    /// The runtime could not be set up.
    Runtime(io::Error),
    /// The client did not speak the protocol.
    Opening(Box<ServerInitializeError>),
    /// The address can't be listened on.
    Listen {
        /// The address.
        at: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The address is not this machine's alone.
    NotLoopback(SocketAddr),
}

impl std::fmt::Display for ServeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Runtime(_) => f.write_str("set up the server"),
            Self::Opening(_) => f.write_str("open the conversation with the client"),
            Self::Listen { at, .. } => write!(f, "listen on {at}"),
            Self::NotLoopback(at) => write!(f, "serve on {at}: it can be reached from outside"),
        }
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Runtime(source) | Self::Listen { source, .. } => Some(source),
            Self::Opening(source) => Some(source),
            Self::NotLoopback(_) => None,
        }
    }
}

/// Serves one client over standard input and output, until it leaves or a signal comes.
pub fn serve_stdio(set: ToolSet, desk: Arc<dyn ToolHandler>) -> Result<(), ServeError> {
    let chores = Arc::clone(&desk);
    let ending = Shutdown::by_signals().map_err(ServeError::Runtime)?;
    run(&ending, async {
        let server = Server::new(set, desk, ending.clone());
        let lines = LineTransport::new(Input::standard(), Output::standard());
        match rmcp::serve_server(server, lines).await {
            Ok(running) => {
                let _ = running.waiting().await;
                chores.settle();
                Ok(())
            }
            // It came and left without a word.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(ServeError::Opening(Box::new(error))),
        }
    })
}

/// Serves clients over HTTP until a signal comes; `listening` hears the address once it
/// is open.
pub fn serve_http(
    set: ToolSet,
    desk: Arc<dyn ToolHandler>,
    options: HttpOptions,
    listening: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    if !options.address.ip().is_loopback() {
        return Err(ServeError::NotLoopback(options.address));
    }
    let ending = Shutdown::by_signals().map_err(ServeError::Runtime)?;
    run(&ending, http::serve(Server::new(set, desk, ending.clone()), options, listening))
}

/// One thread for the protocol; what may take long has threads of its own.
fn run(
    ending: &Shutdown,
    serving: impl Future<Output = Result<(), ServeError>>,
) -> Result<(), ServeError> {
    let runtime: Runtime = Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(ServeError::Runtime)?;
    runtime
        .block_on(async {
            tokio::select! {
                served = serving => served.map(|()| Ended::ByItself),
                () = ending.asked() => Ok(Ended::Asked),
            }
        })
        .map(|ended| match ended {
            Ended::ByItself => {}
            // The caller does not wait for a read of standard input that never returns.
            Ended::Asked => runtime.shutdown_timeout(CALLS_GRACE),
        })
}

/// What ended the server.
#[derive(Clone, Copy, Debug)]
enum Ended {
    ByItself,
    Asked,
}
