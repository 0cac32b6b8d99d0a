//! `tslp mcp`: what is going on, for clients that speak the Model Context Protocol, on standard input and output (docs/mcp.md). It reads the
//! ledger and writes nothing. It is a process of the client's, so the asynchronous runtime that the protocol's SDK needs is in no other.

use std::future::{Future, ready};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, JsonObject, ListPromptsResult,
    ListToolsResult, PaginatedRequestParams, Prompt, PromptMessage, Role, ServerCapabilities,
    ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _, transport};
use serde_json::{Value, json};

use super::{CommandFailure, diagnosed_subject, has_ledger, read_config, status_lines};
use crate::config::ServeConfig;
use crate::config::layers::WrittenFlags;
use crate::diagnostics::DiagnosedSubject;
use crate::diagnostics::status;
use crate::exit::Exit;

/// The tool that tells a model what is going on.
const READ_STATE: &str = "read_state";

/// What a client offers its user as a command, each with what it does.
const PROMPTS: [(&str, &str); 2] = [
    ("status", "Say what is going on, by tslp's ledger"),
    ("stop", "End all tools of tslp and all agents' replies"),
];

/// Serves one client until it closes standard input.
pub(super) fn run_mcp(flags: &WrittenFlags) -> Result<Exit, CommandFailure> {
    let (config, _) = read_config(flags)?;
    let server = Server {
        subject: diagnosed_subject(&config),
        config,
    };
    let failed =
        |error: &dyn std::fmt::Display| CommandFailure::new(Exit::Failure, format!("MCP: {error}"));
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build();
    let runtime = runtime.map_err(|error| failed(&error))?;
    runtime.block_on(async {
        let service = server.serve(transport::stdio()).await;
        let service = service.map_err(|error| failed(&error))?;
        service.waiting().await.map_err(|error| failed(&error))
    })?;
    Ok(Exit::Ok)
}

struct Server {
    config: ServeConfig,
    subject: DiagnosedSubject,
}

impl Server {
    /// What is going on, as text; or why that can't be said.
    fn state_text(&self) -> Result<String, String> {
        if !has_ledger(&self.config).map_err(|failure| failure.message)? {
            return Ok(status_lines(&status::Status::default()).join("\n"));
        }
        let read = status::read_status(&self.subject).map_err(|error| error.to_string())?;
        match read.flaw {
            Some(flaw) => Err(format!("the ledger can't be trusted: {flaw}")),
            None => Ok(status_lines(&read.page).join("\n")),
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let offers = ServerCapabilities::builder().enable_tools();
        ServerConfig::new(offers.enable_prompts().build())
            .with_server_info(Implementation::new("tslp", env!("CARGO_PKG_VERSION")))
    }

    fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListToolsResult, ErrorData>> {
        let what = "What is going on in this project, by the record: the user's last request, changes in flight and why they \
            were refused, files that are STALE, the last build and test run.";
        let mut takes = JsonObject::new();
        takes.insert("type".into(), Value::from("object"));
        takes.insert("additionalProperties".into(), json!(false));
        let tool = Tool::new(READ_STATE, what, takes)
            .with_annotations(ToolAnnotations::new().read_only(true));
        ready(Ok(ListToolsResult::with_all_items(vec![tool])))
    }

    fn call_tool(
        &self,
        call: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<CallToolResponse, ErrorData>> {
        if call.name != READ_STATE {
            let unknown = format!("no tool {:?}; there is {READ_STATE}", call.name);
            return ready(Err(ErrorData::invalid_params(unknown, None)));
        }
        let result = match self.state_text() {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            // The model is to read it.
            Err(why) => CallToolResult::error(vec![ContentBlock::text(why)]),
        };
        ready(Ok(result.into()))
    }

    fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListPromptsResult, ErrorData>> {
        let prompts = PROMPTS.map(|(name, what)| Prompt::new(name, Some(what), None));
        ready(Ok(ListPromptsResult::with_all_items(prompts.to_vec())))
    }

    fn get_prompt(
        &self,
        asked: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<GetPromptResponse, ErrorData>> {
        let text = match asked.name.as_str() {
            "status" => self
                .state_text()
                .map_err(|why| ErrorData::internal_error(why, None)),
            // The client sends it as its user's words: whoever can't say it there can't do it here.
            "stop" => Ok("@tslp stop".to_owned()),
            _ => {
                let [(status, _), (stop, _)] = PROMPTS;
                let unknown = format!("no prompt {:?}; there are {status}, {stop}", asked.name);
                Err(ErrorData::invalid_params(unknown, None))
            }
        };
        let result = |text| GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
        ready(text.map(|text| result(text).into()))
    }
}
