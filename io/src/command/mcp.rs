//! `tslp mcp`: what is going on and what is kept, for clients that speak the Model Context Protocol, on standard input and output (docs/memory.md).
//! What a model writes through it is a proposal. It is a process of the client's, so the asynchronous runtime that the protocol's SDK needs is in no other.

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
use tslp_core::record::{MCP_SOURCE, RecordKind};

use super::status::work_lines;
use super::{CommandFailure, acting, diagnosed_subject, has_ledger, read_config};
use crate::acts::Act;
use crate::config::layers::WrittenFlags;
use crate::config::settings::Settings;
use crate::diagnostics::DiagnosedSubject;
use crate::diagnostics::records::{read_records, recalled_lines};
use crate::diagnostics::status;
use crate::exit::Exit;

/// The tools, each with what it does.
const TOOLS: [(&str, &str); 3] = [
    (
        "read_state",
        "What is going on in this project, by the record: the user's last request, changes in flight and why they were refused, \
         files that are STALE, the last build and test run.",
    ),
    (
        "append_delta",
        "Propose a statement for the project's memory. A fact is kept if its quotation is true of its file; all else waits for the user.",
    ),
    (
        "recall",
        "What is kept for the project, by an exact key or exact words; without them all.",
    ),
];

/// What a client offers its user as a command, each with what it does.
const PROMPTS: [(&str, &str); 4] = [
    ("status", "Say what is going on, by tslp's ledger"),
    ("stop", "End all tools of tslp and all agents' replies"),
    ("clear", "Cut this conversation's context, by tslp"),
    ("undo", "Take back what the last reply changed"),
];

/// What a user asks for with the prompt `undo`: the patch is made and applied outside of any model.
const UNDO: &str = "Run `tslp undo | git apply` in the project's root, without changing anything else, and say which files it changed.";

/// Longest statement with its quotation that is passed on, in bytes: less is taken.
const DELTA_BYTES_MAX: usize = 128 << 10;

/// Serves one client until it closes standard input.
pub(super) fn run_mcp(flags: &WrittenFlags) -> Result<Exit, CommandFailure> {
    let config = read_config(flags)?;
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
    config: Settings,
    subject: DiagnosedSubject,
}

/// What a tool takes, as a JSON schema.
fn schema_of(tool: &str) -> JsonObject {
    let text = |what: &str| json!({"type": "string", "description": what});
    let (properties, required) = match tool {
        "append_delta" => (
            json!({
                "kind": {"enum": RecordKind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>()},
                "key": text("a-z, 0-9, '.', '_', '-'"),
                "statement": text("one line"),
                "path": text("of the quotation"),
                "quotation": text("code, word for word"),
                "from": {"type": "array", "items": {"type": "string"}, "description": "keys that it is derived from"},
                "ttl": text("of a hypothesis, such as 3d"),
            }),
            json!(["kind", "key", "statement"]),
        ),
        "recall" => (json!({"about": text("a key, or words")}), json!([])),
        _ => (json!({}), json!([])),
    };
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    schema.as_object().cloned().unwrap_or_default()
}

/// A record as a reply would propose it, from a call's arguments.
fn record_fence(arguments: &JsonObject) -> String {
    let text = |field: &str| {
        arguments
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let key = |written: &str| format!("#{}", written.trim_start_matches('#'));
    let marks = |text: &str, least| {
        let runs = text.split(|c| c != '`').map(str::len);
        "`".repeat(runs.max().unwrap_or(0).saturating_add(1).max(least))
    };
    let mut note = format!(
        "{} {}: {}",
        text("kind"),
        key(text("key")),
        text("statement")
    );
    let quotation = text("quotation");
    if !quotation.is_empty() {
        let mark = marks(quotation, 1);
        note += &format!(" {mark} {quotation} {mark} [{}]", text("path"));
    }
    let from = arguments.get("from").and_then(Value::as_array);
    let from = from.into_iter().flatten().filter_map(Value::as_str);
    let from: Vec<String> = from.map(key).collect();
    if !from.is_empty() {
        note += &format!(" from {}", from.join(" "));
    }
    if !text("ttl").is_empty() {
        note += &format!(" ttl {}", text("ttl"));
    }
    let fence = marks(&note, 3);
    format!("{fence}record\n{note}\n{fence}\n")
}

impl Server {
    /// What came of a call.
    fn called(&self, tool: &str, arguments: &JsonObject) -> Result<String, String> {
        match tool {
            "read_state" => self.state_text(),
            "append_delta" => self.propose(arguments),
            _ => {
                if !has_ledger(&self.config).map_err(|failure| failure.message)? {
                    return Ok("Nothing is kept yet.".to_owned());
                }
                let about = arguments.get("about").and_then(Value::as_str);
                let records = read_records(&self.subject).map_err(|error| error.to_string())?;
                Ok(recalled_lines(&records, about.unwrap_or_default()).join("\n"))
            }
        }
    }

    /// Has the proxy judge a record, or does so here while none runs.
    fn propose(&self, arguments: &JsonObject) -> Result<String, String> {
        let text = record_fence(arguments);
        if text.len() > DELTA_BYTES_MAX {
            return Err("not kept: too long".to_owned());
        }
        if !has_ledger(&self.config).map_err(|failure| failure.message)? {
            return Err("not kept: nothing is on record here yet".to_owned());
        }
        let source = MCP_SOURCE.to_owned();
        let results = acting::carry_out(&self.config, &Act::ImportReply { source, text });
        let results = results.map_err(|failure| failure.message)?;
        let said = results.iter();
        let said = said.map(|it| format!("{} {}", it.target, it.words).trim().to_owned());
        let said = said.collect::<Vec<_>>().join("\n");
        match results.iter().all(|it| it.is_done) {
            true => Ok(said),
            false => Err(said),
        }
    }

    /// What is going on, as text; or why that can't be said.
    fn state_text(&self) -> Result<String, String> {
        if !has_ledger(&self.config).map_err(|failure| failure.message)? {
            return Ok(work_lines(&status::Status::default()).join("\n"));
        }
        let read = status::read_status(&self.subject).map_err(|error| error.to_string())?;
        match read.flaw {
            Some(flaw) => Err(format!("the ledger can't be trusted: {flaw}")),
            None => Ok(work_lines(&read.page).join("\n")),
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
        let tools = TOOLS.map(|(name, what)| {
            let reads = ToolAnnotations::new().read_only(name != "append_delta");
            Tool::new(name, what, schema_of(name)).with_annotations(reads)
        });
        ready(Ok(ListToolsResult::with_all_items(tools.to_vec())))
    }

    fn call_tool(
        &self,
        call: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<CallToolResponse, ErrorData>> {
        if TOOLS.iter().all(|(name, _)| *name != call.name) {
            let unknown = format!("no tool {:?}", call.name);
            return ready(Err(ErrorData::invalid_params(unknown, None)));
        }
        let arguments = call.arguments.unwrap_or_default();
        let result = match self.called(&call.name, &arguments) {
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
            "clear" => Ok("@tslp clear".to_owned()),
            "undo" => Ok(UNDO.to_owned()),
            _ => {
                let unknown = format!("no prompt {:?}", asked.name);
                Err(ErrorData::invalid_params(unknown, None))
            }
        };
        let result = |text| GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
        ready(text.map(|text| result(text).into()))
    }
}
