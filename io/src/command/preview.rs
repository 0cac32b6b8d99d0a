//! `tslp preview`: what would go to the model, before it does. Nothing is appended: the state is read from the ledger's tables, and
//! the same engine composes the prompt that would.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tslp_core::entity::EntityId;
use tslp_core::event::{Event, EventKind, PromptComposed};
use tslp_core::ids::SessionId;
use tslp_core::limits::BYTES_PER_TOKEN;
use tslp_core::message::Role;
use tslp_core::reason::Reason;
use tslp_decide::work::WithheldPrompt;
use tslp_grammars::TreeSitterGrammars;
use tslp_projections::state::State;
use tslp_projections::store::{EmptyStore, Store};
use tslp_replay::pending::ComposedPrompt;
use tslp_store::content_cache::{ArchiveTrust, ContentCache};
use tslp_store::startup;
use tslp_wire::chat::dialect::Dialect;
use tslp_wire::chat::request::{self, KnownMessages, RequestBody, RequestEnvelope};
use tslp_wire::chat::rewrite::RewrittenMessages;
use tslp_workspace::observer::{Observer, SystemClock, WallClock as _};

use super::{CommandFailure, diagnosed_subject, has_ledger, print_page, read_config};
use crate::cli::{OutputFormat, PreviewArgs};
use crate::config::ServeConfig;
use crate::engine::{RequestLength, compose_request, new_engine};
use crate::exit::Exit;
use crate::out::Out;

pub(super) fn run_preview(args: &PreviewArgs) -> Result<Exit, CommandFailure> {
    let (config, _) = read_config(&args.flags.0)?;
    let (body, dialect) = match (&args.request, &args.prompt) {
        (Some(file), _) => {
            let body = read_body(file)?;
            let dialect = args.route.as_deref().map_or_else(
                || dialect_of(&body),
                |route| Dialect::of_path(route).unwrap_or_default(),
            );
            (body, dialect)
        }
        (None, prompt) => {
            let message = json!({"role": "user", "content": prompt});
            let body = json!({"model": "preview", "messages": [message]});
            (body.to_string().into_bytes(), Dialect::ChatCompletions)
        }
    };
    let envelope = RequestEnvelope {
        dialect,
        ..RequestEnvelope::default()
    };
    let reading = request::read_request(&body, envelope, &mut KnownMessages::default());
    let invalid = |error| CommandFailure::new(Exit::Failure, error);
    let Some((wire, mut request)) = reading.map_err(invalid)? else {
        // What is no conversation goes out as it comes.
        Out::stdout().verbatim(String::from_utf8_lossy(&body))?;
        return Ok(Exit::Ok);
    };
    let is_prompt_alone = args.request.is_none();
    request.continues = args.session.map(SessionId);
    let composed = match has_ledger(&config)? {
        false => compose_with(&config, State::default(), EmptyStore, request, None),
        true => {
            let readers = diagnosed_subject(&config).readers;
            let reader = readers.open()?;
            let head = reader.head()?.seq;
            let (state, _) = startup::state_of_tables(&reader, head).map_err(|why| {
                CommandFailure::new(
                    Exit::Failure,
                    format!("{why}: start the proxy once, or run `tslp rebuild`"),
                )
            })?;
            if is_prompt_alone && request.continues.is_none() {
                request.continues = state.current_session();
            }
            // It follows from the model's context size, which the running proxy has asked for.
            let mut budget = None;
            reader.read_back(EventKind::PromptComposed, &mut |_, event| {
                if let Event::PromptComposed(composed) = event {
                    budget = Some(composed.budget_tokens);
                }
                ControlFlow::Break(())
            })?;
            let contents = ContentCache::new(readers.open()?, ArchiveTrust::Sound);
            compose_with(&config, state, contents, request, budget)
        }
    };
    if let Some(WithheldPrompt { message, .. }) = composed.withheld {
        return Err(CommandFailure::new(Exit::Failure, message));
    }
    if !is_prompt_alone && args.output == OutputFormat::Human {
        let sent = outgoing_body(&wire, &composed);
        let sent = sent.as_deref().unwrap_or(&body);
        Out::stdout().verbatim(String::from_utf8_lossy(sent))?;
        return Ok(Exit::Ok);
    }
    let sections = Sections::of(&composed);
    print_page(
        args.output,
        || sections.json().to_string(),
        || sections.lines(),
    )?;
    Ok(Exit::Ok)
}

fn read_body(file: &Path) -> Result<Vec<u8>, CommandFailure> {
    fs::read(file)
        .map_err(|error| CommandFailure::new(Exit::Failure, format!("{}: {error}", file.display())))
}

/// The dialect of a request by its fields.
fn dialect_of(body: &[u8]) -> Dialect {
    let json: Value = serde_json::from_slice(body).unwrap_or_default();
    let has = |field: &str| json.get(field).is_some();
    match () {
        () if has("input") => Dialect::Responses,
        () if has("prompt") => Dialect::Completions,
        () if has("system") => Dialect::Messages,
        () => Dialect::ChatCompletions,
    }
}

fn compose_with<S: Store>(
    config: &ServeConfig,
    state: State,
    store: S,
    request: tslp_core::request::Request,
    budget: Option<u32>,
) -> ComposedPrompt {
    let mut observer = Observer::new(
        &config.workspace,
        config.etv,
        Arc::new(TreeSitterGrammars),
        Arc::new(SystemClock),
    );
    let mut engine = new_engine(state, &config.policy, store);
    if let Some(tokens) = budget {
        engine.set_budget_tokens(tokens);
    }
    compose_request(
        &mut engine,
        &mut observer,
        SystemClock.now(),
        request,
        RequestLength::default(),
    )
}

/// The body that would go out; `None` if that is the client's own.
fn outgoing_body(wire: &RequestBody<'_>, composed: &ComposedPrompt) -> Option<Vec<u8>> {
    let (request, outgoing) = (&composed.request, &composed.outgoing);
    if outgoing.is_unchanged(request) {
        return None;
    }
    let mut known = RewrittenMessages::default();
    let written = wire.with_messages(request, outgoing, &mut known, Vec::with_capacity);
    Some(written.bytes)
}

/// The parts of a prompt, in the order in which the model sees them.
struct Sections {
    /// Each with its name, its tokens, and what is in it with its reason.
    parts: Vec<(&'static str, u32, Vec<(EntityId, Reason)>)>,
    dropped: Vec<(EntityId, Reason)>,
    notices: u32,
    budget: u32,
}

impl Sections {
    fn of(composed: &ComposedPrompt) -> Self {
        let events = composed.batch.recorded.iter();
        let record = events.rev().find_map(|recorded| match &recorded.event {
            Event::PromptComposed(composed) => Some(composed.clone()),
            _ => None,
        });
        let request = &composed.request;
        let record = record.unwrap_or_else(|| PromptComposed {
            history: tslp_core::event::History::Client,
            hydrated: Vec::new(),
            dropped: Vec::new(),
            notices: 0,
            budget_tokens: 0,
        });
        let current_from = request.current_from();
        let (mut system, mut own, mut recent, mut current) = (0, 0, 0, 0);
        system += composed.outgoing.system.as_deref().map_or(0, str::len);
        for going in &composed.outgoing.messages {
            let message = &request.messages[going.index];
            own += going.before.len() + going.after.len();
            let parts = message.parts.iter().enumerate().map(|(at, part)| {
                let new = going.rewritten.iter().find(|(index, _)| *index == at);
                new.map_or(part.len(), |(_, new)| new.len())
            });
            let calls = message.tool_calls.iter().map(|call| call.arguments.len());
            let bytes: usize = parts.chain(calls).sum();
            match message.role {
                Role::System => system += bytes,
                _ if going.index < current_from => recent += bytes,
                _ => current += bytes,
            }
        }
        let is_locked = |reason| reason == Reason::Locked;
        let shown = |locked: bool| {
            let shown = record
                .hydrated
                .iter()
                .filter(|it| is_locked(it.reason) == locked);
            let tokens = shown.clone().map(|it| it.tokens).sum::<u32>();
            let shown = shown.map(|it| (it.entity.clone(), it.reason));
            (tokens, shown.collect::<Vec<_>>())
        };
        let ((lock_tokens, locked), (code_tokens, code)) = (shown(true), shown(false));
        let notices = tokens_of(own).saturating_sub(lock_tokens + code_tokens);
        Self {
            parts: vec![
                ("client's system text", tokens_of(system), Vec::new()),
                ("project memory", 0, Vec::new()),
                ("session recovery", 0, Vec::new()),
                ("locked files", lock_tokens, locked),
                ("code hydration", code_tokens, code),
                ("state notices and earlier sections", notices, Vec::new()),
                ("recent context", tokens_of(recent), Vec::new()),
                ("current prompt", tokens_of(current), Vec::new()),
            ],
            dropped: record
                .dropped
                .into_iter()
                .map(|it| (it.entity, it.reason))
                .collect(),
            notices: record.notices,
            budget: record.budget_tokens,
        }
    }

    fn total(&self) -> u32 {
        self.parts.iter().map(|(_, tokens, _)| tokens).sum()
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (name, tokens, shown) in &self.parts {
            lines.push(format!("{name:36}{tokens:>8}"));
            lines.extend(
                shown
                    .iter()
                    .map(|(entity, reason)| format!("  {entity}  {reason}")),
            );
        }
        lines.extend(self.dropped.iter().map(|(entity, reason)| {
            format!("  not shown: {entity}  {reason} ({})", reason.meaning())
        }));
        lines.push(format!(
            "total {} tokens, estimated at {BYTES_PER_TOKEN} bytes each; {} notices; at most {} tokens of code are added",
            self.total(),
            self.notices,
            self.budget
        ));
        lines
    }

    fn json(&self) -> Value {
        let named = |list: &[(EntityId, Reason)]| -> Vec<Value> {
            let list = list.iter();
            list.map(
                |(entity, reason)| json!({"entity": entity.to_string(), "reason": reason.code()}),
            )
            .collect()
        };
        let parts = self.parts.iter().map(|(name, tokens, shown)| {
            json!({"section": name, "tokens": tokens, "shown": named(shown)})
        });
        json!({
            "budget_tokens": self.budget,
            "dropped": named(&self.dropped),
            "notices": self.notices,
            "sections": parts.collect::<Vec<_>>(),
            "total_tokens": self.total(),
        })
    }
}

fn tokens_of(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(BYTES_PER_TOKEN)).unwrap_or(u32::MAX)
}
