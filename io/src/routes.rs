//! The routes table: which request goes where, and nothing else.

use tslp_core::ids::EpisodeId;
use tslp_core::path::percent_decoded;
use tslp_wire::chat::dialect::Dialect;
use tslp_wire::http::error::Refusal;
use tslp_wire::http::request::RequestHead;

use crate::channel::{DiagnosticPage, MissingLines, RecentQuery, StateQuery, TurnQuery};
use crate::page::{self, PageFile};

/// Where a request goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// The whole body to the engine.
    Chat,
    /// To the upstream as it is, streamed both ways.
    Relay,
    /// Answered on the loop.
    Health,
    /// A file of the page to look at, answered on the loop.
    Page(&'static PageFile),
    /// Server-sent events, written by the loop.
    Events,
    /// Answered by the diagnostics thread.
    Diagnostic(DiagnosticPage),
}

/// The route of a request, or why it is refused.
pub fn route_request(head: &RequestHead, has_debug_pages: bool) -> Result<Route, Refusal> {
    let method = head.method.as_str();
    if Dialect::of_path(head.path()).is_some() {
        return only_methods(method, &["POST"], "POST", Route::Chat);
    }
    if let Some(file) = page::file_asked_for(head) {
        return Ok(Route::Page(file));
    }
    match (head.path(), has_debug_pages) {
        // Ollama's clients ask for the root to see whether somebody is there.
        ("/health" | "/", _) => only_reading(method, Route::Health),
        ("/doctor", _) => only_reading(method, Route::Diagnostic(DiagnosticPage::Doctor)),
        ("/recent", _) => {
            let wanted = recent_query(head.query())?;
            only_reading(method, Route::Diagnostic(DiagnosticPage::Recent(wanted)))
        }
        ("/state", _) => {
            let wanted = state_query(head.query())?;
            only_reading(method, Route::Diagnostic(DiagnosticPage::State(wanted)))
        }
        ("/turn", _) => {
            let wanted = turn_query(head.query())?;
            only_reading(method, Route::Diagnostic(DiagnosticPage::Turn(wanted)))
        }
        ("/sent", _) => {
            let wanted = turn_query(head.query())?;
            only_reading(method, Route::Diagnostic(DiagnosticPage::Sent(wanted)))
        }
        ("/entity", _) => {
            let name = text_parameter(head.query(), "name")
                .ok_or_else(|| Refusal::malformed("name must be given"))?;
            only_reading(method, Route::Diagnostic(DiagnosticPage::Entity(name)))
        }
        ("/overview", _) => only_reading(method, Route::Diagnostic(DiagnosticPage::Overview)),
        ("/events", _) => only_methods(method, &["GET"], "GET", Route::Events),
        ("/metrics", _) => only_reading(method, Route::Diagnostic(DiagnosticPage::Metrics)),
        ("/debug/last-prompt", true) => {
            only_reading(method, Route::Diagnostic(DiagnosticPage::LastPrompt))
        }
        (path, _) => match dialect_meant(path) {
            Some(dialect) => Err(Refusal::new("unknown_route", right_base(head, dialect))),
            None if path.starts_with("/v1/") || path.starts_with("/api/") => relay_route(path),
            None if path == "/debug/last-prompt" => Err(Refusal::new(
                "unknown_route",
                "what the model saw is shown here with `tslp serve --debug`; `tslp show-prompt` always has it",
            )),
            None => {
                let chat_routes = Dialect::ALL.map(Dialect::route_path).join(", ");
                Err(Refusal::new(
                    "unknown_route",
                    format!(
                        "no such route; chat goes to one of {chat_routes}, and other routes under /v1/ and /api/ are the model server's"
                    ),
                ))
            }
        },
    }
}

fn only_reading(method: &str, route: Route) -> Result<Route, Refusal> {
    only_methods(method, &["GET", "HEAD"], "GET, HEAD", route)
}

fn only_methods(
    method: &str,
    allowed: &[&str],
    allow: &'static str,
    route: Route,
) -> Result<Route, Refusal> {
    if allowed.contains(&method) {
        return Ok(route);
    }
    let message = format!("this route takes {allow} only");
    Err(Refusal::new("method_not_allowed", message).with_header("allow", allow))
}

/// The dialect of a chat route, also where a wrong base URL leaves out its `/v1` or doubles it, or where it is spelt otherwise: servers
/// may take such a path for the route, and relayed, a prompt would bypass the ledger.
pub fn dialect_meant(path: &str) -> Option<Dialect> {
    let decoded = percent_decoded(path).to_ascii_lowercase();
    let mut dialects = Dialect::ALL.into_iter();
    dialects.find(|dialect| after_base(&decoded).eq(after_base(dialect.route_path())))
}

/// The parts of a path after what a base URL may end in.
fn after_base(path: &str) -> impl Iterator<Item = &str> {
    let parts = path.split('/').filter(|part| !part.is_empty());
    parts.skip_while(|part| matches!(*part, "v1" | "api"))
}

/// Says how a client that asks for another path finds its dialect's route.
fn right_base(head: &RequestHead, dialect: Dialect) -> String {
    let base = match dialect {
        Dialect::ChatCompletions | Dialect::Completions | Dialect::Responses => "/v1",
        Dialect::Messages | Dialect::OllamaChat | Dialect::OllamaGenerate => "",
    };
    format!(
        "tslp takes {} at {}, spelt exactly so, and was asked for {}: set the client's base URL to http://{}{base}",
        dialect.display_name(),
        dialect.route_path(),
        head.path(),
        head.headers.first_text("host").unwrap_or_default(),
    )
}

/// A path that the upstream could resolve to a place outside `/v1/` is refused.
fn relay_route(path: &str) -> Result<Route, Refusal> {
    let climbs = path.split('/').any(|segment| {
        let plain = segment.replace("%2e", ".").replace("%2E", ".");
        plain == ".." || plain == "."
    });
    if climbs {
        return Err(Refusal::malformed("the path has dot segments"));
    }
    Ok(Route::Relay)
}

fn recent_query(query: Option<&str>) -> Result<RecentQuery, Refusal> {
    let missing_lines = match query_parameter(query, "missing_lines") {
        None | Some("false") => MissingLines::Hidden,
        Some("true") => MissingLines::Shown,
        Some(_) => return Err(Refusal::malformed("missing_lines must be true or false")),
    };
    Ok(RecentQuery {
        limit: limit_parameter(query)?,
        missing_lines,
    })
}

fn state_query(query: Option<&str>) -> Result<StateQuery, Refusal> {
    let text = |name| text_parameter(query, name);
    let limit = limit_parameter(query)?;
    if limit == Some(0) {
        return Err(Refusal::malformed("limit must be above 0"));
    }
    Ok(StateQuery {
        // Every path begins with nothing, so none given means all.
        path: text("path").unwrap_or_default(),
        after: text("after"),
        contains: text("contains").map(|text| text.to_lowercase()),
        limit,
    })
}

fn turn_query(query: Option<&str>) -> Result<TurnQuery, Refusal> {
    let episode = query_parameter(query, "episode").and_then(|digits| digits.parse().ok());
    Ok(TurnQuery {
        episode: EpisodeId(episode.ok_or_else(|| Refusal::malformed("episode must be a number"))?),
        is_whole: query_parameter(query, "whole") == Some("true"),
    })
}

fn text_parameter(query: Option<&str>, name: &str) -> Option<String> {
    query_parameter(query, name).map(|text| percent_decoded(&text.replace('+', " ")))
}

fn limit_parameter(query: Option<&str>) -> Result<Option<usize>, Refusal> {
    let Some(digits) = query_parameter(query, "limit") else {
        return Ok(None);
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Refusal::malformed("limit must be a number"));
    }
    Ok(Some(digits.parse().unwrap_or(usize::MAX)))
}

fn query_parameter<'q>(query: Option<&'q str>, name: &str) -> Option<&'q str> {
    let mut pairs = query?.split('&');
    pairs.find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}
