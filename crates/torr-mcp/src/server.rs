//! The server: lists the tools, and carries out calls one after the other.

use crate::bounds::Bounds;
use crate::process::{self, Ended};
use crate::property::schema;
use crate::tools::{TOOLS, Tool};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::stdio;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::Map;
use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use tokio::time::interval;

/// The time between two notices that a call is still being carried out: clients give up on calls that are silent for a minute.
const NOTICE: Duration = Duration::from_secs(2);

/// Serves the tools to the client at standard input and output until it leaves. `program` is Torr's own, which runs the commands.
///
/// # Errors
/// If the client does not speak the protocol, or its connection fails.
pub async fn serve(program: PathBuf, bounds: Bounds) -> Result<(), Box<dyn Error + Send + Sync>> {
    let service = Tools { program, bounds, turn: Mutex::new(()) }.serve(stdio()).await?;
    service.waiting().await?;
    Ok(())
}

/// The tools.
struct Tools {
    program: PathBuf,
    bounds: Bounds,
    /// The turn of a call: two loads at a time would disturb each other's figures.
    turn: Mutex<()>,
}

impl Tools {
    fn instructions(&self) -> String {
        let mut servers = vec!["this machine's loopback".to_owned()];
        servers.extend(self.bounds.allowed.iter().map(ToString::to_string));
        format!(
            "Torr measures HTTP services. Servers that may be loaded: {}. A run or budget takes at most {} s. Begin with 'once'; 'run' \
             measures, 'doctor' names what limits the service, 'limit' finds the highest good rate, 'compare' tells two versions apart. \
             Calls are carried out one after the other.",
            servers.join(", "),
            self.bounds.longest.as_secs_f64()
        )
    }

    /// Carries out a call of a tool.
    async fn call(
        &self,
        tool: &Tool,
        arguments: &Map<String, serde_json::Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Ended, String> {
        let line = tool.line(arguments, &self.bounds)?;
        let carried_out = async {
            let _turn = self.turn.lock().await;
            process::run(&self.program, &line, context.ct.cancelled()).await
        };
        tokio::pin!(carried_out);
        let (begun, mut notices) = (Instant::now(), interval(NOTICE));
        loop {
            tokio::select! {
                ended = &mut carried_out => return ended,
                _ = notices.tick() => {
                    if let Some(token) = context.meta.get_progress_token() {
                        let notice = ProgressNotificationParam::new(token, begun.elapsed().as_secs_f64());
                        // A client that has gone needs none.
                        let _ = context.peer.notify_progress(notice).await;
                    }
                }
            }
        }
    }
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("torr", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.instructions())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(described).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = TOOLS.iter().find(|tool| tool.name == request.name) else {
            let names: Vec<_> = TOOLS.iter().map(|tool| tool.name).collect();
            let line = format!("unknown tool '{}': use {}", request.name, names.join(", "));
            return Err(ErrorData::invalid_params(line, None));
        };
        let result = match self.call(tool, &request.arguments.unwrap_or_default(), &context).await {
            Ok(Ended { text, failed: true, .. }) | Err(text) => CallToolResult::error(vec![ContentBlock::text(text)]),
            Ok(Ended { text, result, failed: false }) => {
                let mut called = CallToolResult::success(vec![ContentBlock::text(text)]);
                called.structured_content = result;
                called
            }
        };
        Ok(result.into())
    }
}

/// Returns a tool as clients see it.
fn described(tool: &Tool) -> rmcp::model::Tool {
    let mut described = rmcp::model::Tool::new(tool.name, tool.about, schema(tool.arguments, tool.required));
    // A load changes what its requests change, and may take the service down.
    let annotations = ToolAnnotations::new().read_only(!tool.sends).destructive(tool.sends).open_world(tool.sends);
    described.annotations = Some(annotations);
    described
}
