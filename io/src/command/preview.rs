//! `tslp preview`: what would go to the model, before it does. Nothing is appended: the state is read from the ledger's tables, and
//! the same engine composes the prompt that would.

use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};
use tslp_core::entity::EntityId;
use tslp_core::event::Event;
use tslp_core::ids::SessionId;
use tslp_core::limits::BYTES_PER_TOKEN;
use tslp_core::message::Role;
use tslp_core::reason::Reason;
use tslp_core::request::Request;
use tslp_decide::scope::work::WithheldPrompt;
use tslp_grammars::TreeSitterGrammars;
use tslp_projections::state::State;
use tslp_projections::store::{EmptyStore, Store};
use tslp_replay::pending::ComposedPrompt;
use tslp_store::content_cache::ContentCache;
use tslp_wire::chat::checksum::hold_checksum;
use tslp_wire::chat::dialect::Dialect;
use tslp_wire::chat::request::{self, KnownMessages, RequestEnvelope};
use tslp_wire::chat::rewrite::RewrittenMessages;
use tslp_workspace::observer::{Observer, SystemClock, WallClock as _};

use super::{CommandFailure, diagnosed_subject, has_ledger, print_page, read_config};
use crate::cli::{OutputFormat, PreviewArgs};
use crate::config::settings::Settings;
use crate::engine::{compose_request, new_engine};
use crate::exit::Exit;
use crate::out::Out;
use crate::probe::{self, ProbeTarget};
use crate::prompt_cost;
use crate::windows::Windows;

pub(super) fn run_preview(args: &PreviewArgs) -> Result<Exit, CommandFailure> {
    let config = read_config(&args.common.flags.0)?;
    let (body, dialect) = match (&args.request, &args.prompt) {
        (Some(file), _) => {
            let mut body = fs::read(file).map_err(|error| {
                CommandFailure::new(Exit::Failure, format!("{}: {error}", file.display()))
            })?;
            if config.holds_checksum {
                hold_checksum(&mut body);
            }
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
    let places = wire.prompt_in(&body);
    let chars = prompt_cost::chars_of(places.prompt_pieces(&body, (&body, &places.messages)));
    request.continues = args.session.map(SessionId);
    let composed = match has_ledger(&config)? {
        false => compose_with(&config, State::default(), EmptyStore, request, chars),
        true => {
            let readers = diagnosed_subject(&config).readers;
            let reader = readers.open()?;
            let state = reader.state().map_err(|why| {
                CommandFailure::new(
                    Exit::Failure,
                    format!("{why}: start the proxy once, or run `tslp rebuild`"),
                )
            })?;
            if is_prompt_alone && request.continues.is_none() {
                request.continues = state.current_session();
            }
            let contents = ContentCache::new(readers.open()?);
            compose_with(&config, state, contents, request, chars)
        }
    };
    if let Some(WithheldPrompt { message, .. }) = composed.withheld {
        return Err(CommandFailure::new(Exit::Failure, message));
    }
    if !is_prompt_alone && args.common.output == OutputFormat::Human {
        let (request, outgoing) = (&composed.request, &composed.outgoing);
        let mut known = RewrittenMessages::default();
        let rewritten = (!outgoing.is_unchanged(request)).then(|| {
            wire.with_messages(request, outgoing, &mut known, Vec::with_capacity)
                .bytes
        });
        let sent = rewritten.as_deref().unwrap_or(&body);
        Out::stdout().verbatim(String::from_utf8_lossy(sent))?;
        return Ok(Exit::Ok);
    }
    let page = sections_of(&composed);
    print_page(args.common.output, || page.to_string(), || lines_of(&page))?;
    Ok(Exit::Ok)
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
    config: &Settings,
    state: State,
    store: S,
    request: Request,
    chars: u32,
) -> ComposedPrompt {
    let mut windows = Windows::of_record(&state);
    // What the model server says, if it is there.
    let subject = diagnosed_subject(config);
    let target = subject.upstream.as_ref().map(|url| ProbeTarget {
        url,
        api_key: subject.settings.upstream.api_key.as_ref(),
        ca_file: subject.settings.upstream.ca_file.as_deref(),
    });
    if let Some(Ok(server)) = target.map(|target| probe::ask_server(&target)) {
        windows.hear(server.windows);
    }
    let settings = (config.budget, config.window_guard);
    let window = windows.look(settings, &request.model, chars);
    let mut observer = Observer::new(
        &config.workspace,
        config.etv(),
        Arc::new(TreeSitterGrammars),
        Arc::new(SystemClock),
    );
    let mut engine = new_engine(state, &config.policy, store);
    engine.set_budget_tokens(window.hydration);
    compose_request(
        &mut engine,
        &mut observer,
        SystemClock.now(),
        request,
        window.length,
    )
}

/// The parts of a prompt, in the order in which the model sees them, each with its tokens, what is in it, and why.
fn sections_of(composed: &ComposedPrompt) -> Value {
    let mut events = composed.batch.recorded.iter().rev();
    let record = events.find_map(|recorded| match &recorded.event {
        Event::PromptComposed(composed) => Some(composed),
        _ => None,
    });
    let (request, current_from) = (&composed.request, composed.request.current_from());
    let mut system = composed.outgoing.system.as_deref().map_or(0, str::len);
    let (mut own, mut recent, mut current) = (0, 0, 0);
    for going in &composed.outgoing.messages {
        let message = &request.messages[going.index];
        own += going.before.len() + going.after.len();
        let bytes: usize = message.texts().map(str::len).sum();
        let changed = going
            .rewritten
            .iter()
            .map(|(at, new)| (message.parts[*at].len(), new.len()));
        let bytes = changed.fold(bytes, |bytes, (old, new)| bytes + new - old);
        match message.role {
            Role::System => system += bytes,
            _ if going.index < current_from => recent += bytes,
            _ => current += bytes,
        }
    }
    let named = |entity: &EntityId, reason: Reason| json!({"entity": entity.to_string(), "reason": reason.code()});
    let shown = |locked: bool| {
        let all = record.iter().flat_map(|record| &record.hydrated);
        let all = all.filter(|it| (it.reason == Reason::Locked) == locked);
        let entities: Vec<Value> = all.clone().map(|it| named(&it.entity, it.reason)).collect();
        (all.map(|it| it.tokens).sum::<u32>(), entities)
    };
    let ((locked_tokens, locked), (code_tokens, code)) = (shown(true), shown(false));
    let notices = tokens_of(own).saturating_sub(locked_tokens + code_tokens);
    let none = Vec::new;
    let sections = [
        ("client's system text", tokens_of(system), none()),
        ("locked files", locked_tokens, locked),
        ("code hydration", code_tokens, code),
        ("state notices, and what was added before", notices, none()),
        ("recent context", tokens_of(recent), none()),
        ("current prompt", tokens_of(current), none()),
    ];
    let total: u32 = sections.iter().map(|(_, tokens, _)| tokens).sum();
    let sections = sections.into_iter();
    let sections = sections
        .map(|(name, tokens, shown)| json!({"section": name, "shown": shown, "tokens": tokens}));
    let dropped = record.iter().flat_map(|record| &record.dropped);
    json!({
        "budget_tokens": record.map(|record| record.budget_tokens),
        "dropped": dropped.map(|it| named(&it.entity, it.reason)).collect::<Vec<_>>(),
        "sections": sections.collect::<Vec<_>>(),
        "total_tokens": total,
    })
}

/// The page for people.
fn lines_of(page: &Value) -> Vec<String> {
    let entries = |of: &Value, before: &str| -> Vec<String> {
        let entries = of.as_array().into_iter().flatten().map(|it| {
            let reason = it["reason"].as_str().unwrap_or_default();
            let meaning = Reason::from_code(reason).map_or("", Reason::meaning);
            let entity = it["entity"].as_str().unwrap_or_default();
            format!("  {before}{entity}  {reason} ({meaning})")
        });
        entries.collect()
    };
    let mut lines = Vec::new();
    for section in page["sections"].as_array().into_iter().flatten() {
        let name = section["section"].as_str().unwrap_or_default();
        lines.push(format!("{name:42}{:>8}", section["tokens"]));
        lines.extend(entries(&section["shown"], ""));
    }
    lines.extend(entries(&page["dropped"], "not shown: "));
    let (total, budget) = (&page["total_tokens"], &page["budget_tokens"]);
    lines.push(format!(
        "total {total} tokens, estimated at {BYTES_PER_TOKEN} bytes each; at most {budget} of code are added"
    ));
    lines
}

fn tokens_of(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(BYTES_PER_TOKEN)).unwrap_or(u32::MAX)
}
