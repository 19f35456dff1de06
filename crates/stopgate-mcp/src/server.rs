//! One client's server: lists tools, checks arguments, calls the desk.
//!
//! Keeps nothing between calls, so any of its revisions of the protocol will do and a
//! client that comes back finds everything.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};

use crate::arguments::problems;
use crate::catalogue::{Catalogue, Entry, Pace, ToolSet, kept};
use crate::chores::Chores;
use crate::desk::{Desk, Refusal};

/// What a model is told before it sees the tools.
const INSTRUCTIONS: &str = "Work in proven steps: task_create, hook_register, iteration_start; \
     after each step iteration_validate, then iteration_next on CONTINUE or iteration_complete \
     on COMPLETE.";
const LOOP_INSTRUCTIONS: &str =
    "loop_start holds you to a goal until its checks pass; loop_done asks for the proof.";

/// What serves one client.
#[derive(Clone)]
pub(crate) struct Server {
    set: ToolSet,
    catalogue: Arc<Catalogue>,
    desk: Arc<dyn Desk>,
    chores: Arc<Chores>,
}

impl Server {
    /// A server of the tools in `set`, over `desk`.
    pub(crate) fn new(set: ToolSet, desk: Arc<dyn Desk>) -> Self {
        let catalogue = Arc::new(Catalogue::new(set));
        Self { set, catalogue, desk, chores: Arc::default() }
    }

    /// Checks and carries out one call.
    async fn call(&self, entry: &Entry, arguments: Map<String, Value>) -> Answer {
        let wrong = problems(&entry.schema, &arguments);
        if !wrong.is_empty() {
            return Err(bad_arguments(&entry.tool.name, &wrong));
        }
        let arguments = kept(&entry.schema, arguments);
        let name = entry.tool.name.clone();
        if entry.pace == Pace::Quick && self.desk.is_near(&name, &arguments) {
            self.here(&name, arguments)
        } else {
            self.elsewhere(name, arguments).await
        }
    }

    /// On this thread: nobody is kept waiting for long.
    fn here(&self, name: &str, arguments: Map<String, Value>) -> Answer {
        let answer = carry_out(&*self.desk, name, arguments);
        self.chores.put_off(&self.desk);
        answer
    }

    /// On a thread of its own.
    async fn elsewhere(&self, name: Cow<'static, str>, arguments: Map<String, Value>) -> Answer {
        let desk = Arc::clone(&self.desk);
        let slow = move || carry_out(&*desk, &name, arguments);
        tokio::task::spawn_blocking(slow).await.unwrap_or_else(|_| Err(broke()))
    }
}

type Answer = Result<Value, Refusal>;

/// A desk that breaks costs one answer, never the server.
fn carry_out(desk: &dyn Desk, name: &str, arguments: Map<String, Value>) -> Answer {
    catch_unwind(AssertUnwindSafe(|| desk.call(name, arguments))).unwrap_or_else(|_| Err(broke()))
}

fn broke() -> Refusal {
    Refusal::new("stopgate broke while it did this")
        .next("Try once more; if it breaks again, tell the person.")
}

fn bad_arguments(name: &str, wrong: &[String]) -> Refusal {
    Refusal::new(format!("Invalid arguments for {name}: {}", wrong.join("; ")))
        .next("Nothing was stored. Correct them and call again.")
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let text = match self.set {
            ToolSet::All => INSTRUCTIONS,
            ToolSet::Loop => LOOP_INSTRUCTIONS,
        };
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("stopgate", env!("CARGO_PKG_VERSION")))
            .with_instructions(text)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.catalogue.tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.catalogue.find(name).map(|entry| entry.tool.clone())
    }

    /// What has a known method and still could not be read.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method == "tools/call" {
            let text = "tools/call takes a name and arguments, and arguments must be an object";
            return Err(ErrorData::invalid_params(text, None));
        }
        let text = format!("Unknown method: {}", request.method);
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(entry) = self.catalogue.find(&request.name) else {
            let known = self.catalogue.names();
            let text = format!("Unknown tool: {}. Call one of: {known}.", request.name);
            return Err(ErrorData::invalid_params(text, None));
        };
        let answer = self.call(entry, request.arguments.unwrap_or_default()).await;
        Ok(match answer {
            Ok(value) => CallToolResult::structured(value),
            Err(refusal) => CallToolResult::error(vec![ContentBlock::text(refusal.to_string())]),
        }
        .into())
    }
}
