//! One client's server: lists tools, checks arguments, calls the desk.
//!
//! Keeps nothing between calls, so any of its revisions of the protocol will do and a
//! client that comes back finds everything.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, ConstString, ContentBlock, CustomRequest, CustomResult,
    ErrorCode, Implementation, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};
use stopgate_verify::RunStop;

use crate::arguments::problems;
use crate::catalogue::{Catalogue, Pace, ToolEntry, ToolSet, kept};
use crate::chores::Chores;
use crate::desk::{CallRefusal, ToolHandler};
use crate::ending::Shutdown;
use crate::tool_name::ToolName;
use crate::watch::watched;

/// What a model is told before it sees the tools.
const INSTRUCTIONS: &str = "Work in checked steps: task_create, hook_register, iteration_start; \
     after each step iteration_validate, then iteration_next on CONTINUE or iteration_complete \
     on COMPLETE. A task ends on your word, which its rules can refuse; loop_start ends on proof: \
     checks that stopgate runs at your stop.";
const LOOP_INSTRUCTIONS: &str =
    "loop_start holds you to a goal until its checks pass; loop_done asks for the proof.";

/// What serves one client.
#[derive(Clone)]
pub(crate) struct Server {
    set: ToolSet,
    catalogue: Arc<Catalogue>,
    desk: Arc<dyn ToolHandler>,
    chores: Arc<Chores>,
    ending: Shutdown,
}

impl Server {
    /// A server of the tools in `set`, over `desk`, until `ending`.
    pub(crate) fn new(set: ToolSet, desk: Arc<dyn ToolHandler>, ending: Shutdown) -> Self {
        let catalogue = Arc::new(Catalogue::new(set));
        Self { set, catalogue, desk, chores: Arc::default(), ending }
    }

    /// Checks and carries out one call.
    async fn call(
        &self,
        entry: &ToolEntry,
        arguments: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Answer {
        let wrong = problems(&entry.schema, &arguments);
        if !wrong.is_empty() {
            return Err(bad_arguments(&entry.tool.name, &wrong));
        }
        let arguments = kept(&entry.schema, arguments);
        if entry.pace == Pace::Quick && self.desk.is_near(entry.name, &arguments) {
            self.here(entry.name, arguments)
        } else {
            let stop = self.ending.stop();
            let work = self.elsewhere(entry.name, arguments, stop.clone());
            watched(work, &entry.tool.name, stop, context).await
        }
    }

    /// On this thread: nobody is kept waiting for long.
    fn here(&self, name: ToolName, arguments: Map<String, Value>) -> Answer {
        let answer = carry_out(&*self.desk, name, arguments);
        self.chores.put_off(&self.desk);
        answer
    }

    /// On a thread of its own; `stop` ends the programs that it runs.
    async fn elsewhere(
        &self,
        name: ToolName,
        arguments: Map<String, Value>,
        stop: RunStop,
    ) -> Answer {
        let desk = Arc::clone(&self.desk);
        let slow = move || stop.while_heeded(|| carry_out(&*desk, name, arguments));
        tokio::task::spawn_blocking(slow).await.unwrap_or_else(|_| Err(broke()))
    }
}

type Answer = Result<Value, CallRefusal>;

/// A desk that breaks costs one answer, never the server.
fn carry_out(desk: &dyn ToolHandler, name: ToolName, arguments: Map<String, Value>) -> Answer {
    catch_unwind(AssertUnwindSafe(|| desk.call(name, arguments))).unwrap_or_else(|_| Err(broke()))
}

fn broke() -> CallRefusal {
    CallRefusal::new("stopgate failed while it did this, because of a bug")
        .next("Try once more; if it fails again, tell the person.")
}

fn bad_arguments(name: &str, wrong: &[String]) -> CallRefusal {
    CallRefusal::new(format!("Invalid arguments for {name}: {}", wrong.join("; ")))
        .next("Nothing was stored. Correct them and call again.")
}

/// For what was not declared as a capability.
fn not_offered<M: ConstString>() -> ErrorData {
    ErrorData::method_not_found::<M>()
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
        page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // All tools are on the first page, so nobody was ever given a cursor.
        if page.is_some_and(|page| page.cursor.is_some()) {
            return Err(ErrorData::invalid_params("Unknown cursor: there is one page", None));
        }
        Ok(ListToolsResult::with_all_items(self.catalogue.tools()))
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(not_offered::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(not_offered::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(not_offered::<ListResourceTemplatesRequestMethod>())
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(not_offered::<CompleteRequestMethod>())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.catalogue.find(name).map(|entry| entry.tool.clone())
    }

    /// What has no method that is served.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let text = format!("Unknown method: {}", request.method);
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(entry) = self.catalogue.find(&request.name) else {
            let known = self.catalogue.names();
            let text = format!("Unknown tool: {}. Call one of: {known}.", request.name);
            return Err(ErrorData::invalid_params(text, None));
        };
        let answer = self.call(entry, request.arguments.unwrap_or_default(), &context).await;
        Ok(match answer {
            Ok(value) => CallToolResult::structured(value),
            Err(refusal) => CallToolResult::error(vec![ContentBlock::text(refusal.to_string())]),
        }
        .into())
    }
}
