//! Sessions of older clients over HTTP: as many as there is room for.
//!
//! Where one more comes than may be kept, the one that was silent for longest goes; its
//! client is told that there is no such session and begins a new one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::HeaderMap;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{SessionId, SessionManager};

/// How many are kept.
const SESSIONS_MAX: usize = 64;
/// How long one may be silent: longer than any rule may take.
const SILENT_MAX: Duration = Duration::from_mins(30);
const HEADER: &str = "mcp-session-id";

/// Knows which sessions spoke last.
#[derive(Debug)]
pub(crate) struct Sessions {
    keeper: Arc<LocalSessionManager>,
    /// From the one that was silent for longest to the one that spoke last.
    order: Mutex<VecDeque<SessionId>>,
}

impl Sessions {
    /// None yet.
    pub(crate) fn new() -> Self {
        let mut keeper = LocalSessionManager::default();
        keeper.session_config.keep_alive = Some(SILENT_MAX);
        Self { keeper: Arc::new(keeper), order: Mutex::default() }
    }

    /// Who keeps them.
    pub(crate) fn keeper(&self) -> Arc<LocalSessionManager> {
        Arc::clone(&self.keeper)
    }

    /// Notes the session that a request or an answer names; where that makes one too many,
    /// another one goes.
    pub(crate) async fn note(&self, headers: &HeaderMap) {
        let Some(id) = headers.get(HEADER).and_then(|value| value.to_str().ok()) else { return };
        let id: SessionId = id.into();
        if !matches!(self.keeper.has_session(&id).await, Ok(true)) {
            return;
        }
        if let Some(silent) = self.spoke(id) {
            // One that is gone already needs no farewell.
            let _ = self.keeper.close_session(&silent).await;
        }
    }

    fn spoke(&self, id: SessionId) -> Option<SessionId> {
        let mut order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        order.retain(|known| *known != id);
        order.push_back(id);
        if order.len() > SESSIONS_MAX { order.pop_front() } else { None }
    }
}
