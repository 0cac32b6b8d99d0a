//! What an event says in words: a sentence for `tslp log` and `why`, and [entries] for `/recent`.

pub mod entries;

use std::fmt::Write as _;

use tslp_core::artifact::{Origin, Transition};
use tslp_core::entity::EntityId;
use tslp_core::event::{
    ArtifactCaptured, ArtifactResolved, AuditAnswered, Author, Content, DiskFinding, DiskObserved,
    Event, Extent, LostCallFound, LostCallOutcome, PartKind, PathResolved, PlaceKind,
    PlaceObserved, PromotionRefused, PromptAmended, PromptComposed, PromptMeasured, PromptReceived,
    PromptSent, ReplyEnded, ReplyOutcome, ReplyPart, RulesInForce, Transitioned, VersionsPromoted,
};
use tslp_core::gate::{self, GateReport};
use tslp_core::ids::SessionId;
use tslp_core::reason::Reason;
use tslp_decide::wording::user_line;

use super::moments::utc_moment;

/// Longest piece of content that is shown, in characters.
const PREVIEW_CHARACTERS: usize = 60;

/// The sentence for an event.
#[must_use]
pub fn sentence(event: &Event) -> String {
    match event {
        Event::RulesInForce(event) => rules_words(event),
        Event::Content(event) => content_words(event),
        Event::PromptReceived(event) => prompt_words(event),
        Event::ReplySegment(event) => {
            format!("a piece of the reply, {:.12}", event.content)
        }
        Event::ReplyEnded(event) => reply_words(event),
        Event::DiskObserved(event) => disk_words(event),
        Event::PlaceObserved(event) => place_words(event),
        Event::PathResolved(event) => path_words(event),
        Event::DirectiveGiven(event) => {
            format!("{} {}", event.verb.as_str(), event.target)
        }
        Event::AuditAsked(event) => {
            let about = event.about.iter().map(|it| it.entity.to_string());
            format!("asked about {}", comma_separated(about))
        }
        Event::AuditAnswered(event) => audit_words(event),
        Event::PromptMeasured(event) => prompt_cost_words(event),
        Event::WindowExceeded(event) => event.sentence(),
        Event::ReplyPart(event) => reply_part_words(event),
        Event::PromptSent(event) => sent_prompt_words(event),
        Event::ArtifactCaptured(event) => captured_words(event),
        Event::ArtifactResolved(event) => resolved_words(event),
        Event::Transitioned(event) => transition_words(event),
        Event::VersionsPromoted(event) => promoted_words(event),
        Event::PromotionRefused(event) => refused_words(event),
        Event::NoticeIssued(event) => {
            let mut text = format!("for {}: {}", event.session, event.reason);
            for entity in event.entity.iter().chain(&event.other) {
                let _ = write!(text, " {entity}");
            }
            text
        }
        Event::SideRequestReceived(event) => format!(
            "a request of the client's own, {}, model {}",
            count_text(event.messages as usize, "message", "messages"),
            event.model
        ),
        Event::ReplyImported(event) => {
            format!("an answer of {}, {:.12}", event.source, event.content)
        }
        Event::ScopeChanged(event) => match event.session {
            SessionId(0) => format!("{} {}", event.change, event.pattern),
            session => format!("{} {} in {session}", event.change, event.pattern),
        },
        Event::GoalChanged(event) => format!("{} {}", event.change, event.text),
        Event::ContextCleared(event) => match event.cut {
            None => "the conversation begins anew with its next prompt".to_owned(),
            Some(cut) => format!("the conversation begins anew with message {}", cut.position),
        },
        Event::RecordChanged(event) => match event.statement.as_str() {
            "" => format!("#{} {} ({})", event.key, event.standing, event.cause),
            statement => {
                let (kind, key, cause) = (event.kind, &event.key, event.cause);
                format!("{kind} #{key} {} ({cause}): {statement}", event.standing)
            }
        },
        Event::CheckRan(event) => format!(
            "`{}`: {}, {} ms",
            event.command, event.outcome, event.duration_ms
        ),
        Event::DraftRefused(event) => {
            let faults = event.refused.iter();
            let faults = faults.map(|it| format!("{} ({})", it.entity, it.reason));
            let faults = comma_separated(faults);
            match event.told {
                Some(_) => format!("{faults}: asked for once more"),
                None => format!("{faults}: no better, the first reply goes out"),
            }
        }
        Event::WorkCounted(event) => format!(
            "{} changed, {} of code, {}, {}",
            count_text(event.files.len(), "file", "files"),
            count_text(event.lines as usize, "line", "lines"),
            count_text(event.builds as usize, "build", "builds"),
            count_text(event.tests as usize, "test run", "test runs"),
        ),
        Event::PromptAmended(event) => amended_words(event),
        Event::PromptComposed(event) => composed_words(event),
        Event::ActionRequested(event) => {
            let commands = event.commands.iter().map(|command| command.words.join(" "));
            let what = event
                .flaw
                .clone()
                .unwrap_or_else(|| comma_separated(commands));
            format!("{}: round {} asks for {what}", event.call, event.round)
        }
        Event::ActionJudged(event) => {
            let denials = event.denials.iter();
            let why = denials.map(|it| format!("{} ({})", it.why, it.code));
            let why = comma_separated(why);
            let space = if why.is_empty() { "" } else { ": " };
            format!(
                "{}: {} {}{space}{why}",
                event.call,
                event.class,
                event.decision.as_str()
            )
        }
        Event::ToolRan(event) => format!(
            "{}: {}, {} ms, {}{}",
            event.call,
            event.outcome,
            event.duration_ms,
            count_text(
                usize::try_from(event.bytes).unwrap_or(usize::MAX),
                "byte",
                "bytes"
            ),
            if event.redacted {
                ", a credential in them"
            } else {
                ""
            }
        ),
        Event::LostCallFound(event) => lost_call_words(event),
        Event::PolicyApproved(event) => {
            format!("profile {}, {:.12}", event.profile_id, event.text)
        }
        Event::AuthorFound(event) => {
            let whose = match (event.opens_subagent, event.author) {
                (true, _) => "a call of the model's, which opens its subagent's conversation,",
                (false, Author::Model | Author::Thought | Author::Call) => "the model's words",
                (false, Author::Tool) => "a tool's words",
                (false, Author::User) => "the user's words",
            };
            format!(
                "{} of {} repeat {whose} in {}, {:.12}",
                event.lines,
                count_text(event.of as usize, "line", "lines"),
                event.said_in,
                event.source
            )
        }
        Event::CapabilityChanged(event) => format!(
            "{}: {} {} until {}",
            event.session,
            event.capability,
            event.change.as_str(),
            utc_moment(event.expires_at.0)
        ),
    }
}

/// What became of calls that a reply wrote as text.
#[must_use]
pub fn lost_call_words(event: &LostCallFound) -> String {
    let tools = event.tools.join(", ");
    match event.outcome {
        LostCallOutcome::Delivered if event.tools.is_empty() => {
            "calls written as text were kept back".into()
        }
        LostCallOutcome::Delivered => format!("written as text, delivered as calls: {tools}"),
        LostCallOutcome::AskedAgain => {
            format!("written as text, asked for once more: {}", event.flaw)
        }
        LostCallOutcome::Fitted => {
            format!("{tools}: {}; it was given the file's own text", event.flaw)
        }
        LostCallOutcome::LeftAsText => "the model gave no call when asked once more".into(),
    }
}

fn rules_words(event: &RulesInForce) -> String {
    let grammars = event.grammars.iter();
    let grammars = comma_separated(grammars.map(|tag| format!("{} {}", tag.language, tag.version)));
    let settings = event.policy.settings().into_iter();
    let settings = comma_separated(settings.map(|(name, value)| format!("{name} {value}")));
    format!(
        "tslp {}, rules {}, grammars {grammars}, patterns {:.12}; {settings}",
        event.program, event.rules, event.patterns
    )
}

/// The rules that keep a version out.
pub fn unmet_verdicts(report: &GateReport) -> impl Iterator<Item = &gate::Verdict> {
    report
        .verdicts
        .iter()
        .filter(|verdict| !verdict.met && gate::is_needed(verdict.rule))
}

/// Whether the file was refused for something in it alone, which is told.
pub(crate) fn goes_along(refused: &PromotionRefused) -> bool {
    refused.entity.symbol.is_none() && !refused.report.failed_by_itself()
}

/// Why a version stays out: the conclusion, then the rules that weren't met, with what was seen and needed.
fn refusal_words(report: &GateReport) -> String {
    let conclusion = report.conclusion.map_or("no conclusion", |it| it.code());
    let rules = comma_separated(
        unmet_verdicts(report).map(|it| format!("{} {}/{}", it.rule, it.seen, it.needed)),
    );
    if rules.is_empty() {
        conclusion.to_owned()
    } else {
        format!("{conclusion} ({rules})")
    }
}

/// Captured code's source and kind.
fn capture_words(event: &ArtifactCaptured) -> String {
    let from = match event.origin {
        Origin::User => "the user",
        Origin::Model => "the model",
        Origin::Unattributed => "no known author",
    };
    let mut text = format!("from {from}, {}", event.format.as_str());
    match &event.path {
        Some(path) => {
            let _ = write!(text, ", path {path} by {}", event.evidence.as_str());
        }
        None => text.push_str(", no path"),
    }
    if event.edit.is_some() {
        text.push_str(", an edit");
    }
    let _ = write!(text, ", {}", event.completeness.as_str());
    text
}

/// A reason's meaning, in the middle of a line.
pub(crate) fn reason_words(reason: Reason) -> String {
    let meaning = reason.meaning();
    let mut characters = meaning.chars();
    match characters.next() {
        // A name in capitals stays as it is.
        Some(first) if !characters.clone().next().is_some_and(char::is_uppercase) => {
            first.to_lowercase().chain(characters).collect()
        }
        _ => meaning.to_owned(),
    }
}

pub(crate) fn outcome_words(outcome: ReplyOutcome) -> String {
    match outcome {
        ReplyOutcome::Completed => "completed".to_owned(),
        ReplyOutcome::ClientGone => "the client closed its connection".to_owned(),
        ReplyOutcome::UpstreamBroken => "the upstream broke off".to_owned(),
        ReplyOutcome::UpstreamRefused(status) => format!("the upstream refused it with {status}"),
        ReplyOutcome::UpstreamUnreachable => "the upstream couldn't be reached".to_owned(),
        ReplyOutcome::Interrupted => "the proxy stopped first".to_owned(),
        ReplyOutcome::Withheld => "the prompt was not sent".to_owned(),
    }
}

fn comma_separated(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

fn count_text(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn content_words(event: &Content) -> String {
    let bytes = count_text(event.bytes.len(), "byte", "bytes");
    let text = String::from_utf8_lossy(&event.bytes);
    let first = text.lines().map(str::trim).find(|line| !line.is_empty());
    let mut preview: String = first
        .unwrap_or("")
        .chars()
        .take(PREVIEW_CHARACTERS)
        .collect();
    if preview.len() < text.trim().len() {
        preview.push('…');
    }
    format!(
        "{} {:.12}, {bytes}: {preview}",
        event.kind.as_str(),
        event.hash
    )
}

fn prompt_words(event: &PromptReceived) -> String {
    let mut text = format!(
        "model {}, {}, conversation of {}",
        event.model,
        count_text(event.messages.len(), "new message", "new messages"),
        event.length
    );
    if let Some(name) = &event.session_name {
        let _ = write!(text, ", session named {name}");
    }
    if let Some(fork) = event.fork {
        let _ = write!(text, ", forked off {}", fork.session);
    }
    text
}

fn reply_words(event: &ReplyEnded) -> String {
    let mut text = outcome_words(event.outcome).to_string();
    if let Some(reason) = &event.finish_reason {
        let _ = write!(text, " ({reason})");
    }
    let _ = write!(
        text,
        ", {}",
        count_text(event.segments.len(), "piece on record", "pieces on record")
    );
    for call in &event.tool_calls {
        let _ = write!(text, ", calls {}", call.name);
    }
    text
}

fn reply_part_words(event: &ReplyPart) -> String {
    let what = match event.kind {
        PartKind::Reasoning => "what the model thought",
        PartKind::Refusal => "why the model refuses",
        PartKind::OtherText => "another choice's text",
        PartKind::OtherToolCalls => "another choice's calls",
        PartKind::Error => "the upstream's error",
    };
    let mut text = format!("{what}, {:.12}", event.content);
    if event.choice > 0 {
        let _ = write!(text, ", choice {}", event.choice);
    }
    if event.left_out_bytes > 0 {
        let bytes = event.left_out_bytes;
        let _ = write!(text, "; {bytes} more bytes of it were left out");
    }
    text
}

fn sent_prompt_words(event: &PromptSent) -> String {
    let new = count_text(event.messages.len(), "message", "messages");
    match event.base {
        None => format!("{new}, frame {:.12}", event.frame),
        Some(base) => format!(
            "the first {} of {}, then {new}, frame {:.12}",
            count_text(base.messages as usize, "message", "messages"),
            base.episode,
            event.frame
        ),
    }
}

fn place_words(event: &PlaceObserved) -> String {
    let (written, ours) = (&event.written, folder_words(&event.ours));
    match event.place {
        PlaceKind::WorkingFolder => format!("the client works in {written}"),
        PlaceKind::Beneath => format!("{written} is {ours}"),
        PlaceKind::Elsewhere => format!("{written} is outside of the workspace"),
        PlaceKind::Nowhere => format!("{written} isn't on this machine"),
        PlaceKind::MatchedOnce | PlaceKind::Unseen => format!("{written}: {}", event.place),
    }
}

fn path_words(event: &PathResolved) -> String {
    let theirs = &event.theirs;
    match &event.file {
        Some(file) => {
            let ours = folder_words(&event.ours);
            format!("recognised {file}: what the client calls {theirs} may be {ours}")
        }
        None => user_line::not_beneath(theirs, "the workspace"),
    }
}

fn folder_words(ours: &str) -> &str {
    match ours {
        "" => "the workspace",
        ours => ours,
    }
}

fn disk_words(event: &DiskObserved) -> String {
    match &event.finding {
        DiskFinding::Missing => format!("{}: no such file", event.path),
        DiskFinding::Unreadable(failure) => {
            format!("{}: can't be read, {}", event.path, failure.as_str())
        }
        DiskFinding::File(file) => {
            let definitions = count_text(file.definitions as usize, "definition", "definitions");
            let slices = file.slices.iter().map(|found| match found.slice {
                Some(slice) => format!("{} {slice:.12}", found.symbol),
                None => format!("{} isn't defined", found.symbol),
            });
            let slices = comma_separated(slices);
            let colon = if slices.is_empty() { "" } else { ": " };
            format!(
                "{}: {:.12}, {definitions}{colon}{slices}",
                event.path, file.whole
            )
        }
    }
}

fn audit_words(event: &AuditAnswered) -> String {
    let verdicts = event.verdicts.iter();
    let verdicts =
        comma_separated(verdicts.map(|it| format!("{} {}", it.entity, it.status.as_str())));
    let colon = if verdicts.is_empty() { "" } else { ": " };
    format!("{}{colon}{verdicts}", event.outcome.as_str())
}

fn prompt_cost_words(event: &PromptMeasured) -> String {
    let mut text = format!(
        "{} of {} characters read anew, directly {} of {}",
        event.sent.chars_anew,
        event.sent.chars_total,
        event.client.chars_anew,
        event.client.chars_total
    );
    let Some(server) = event.server else {
        return text;
    };
    let figures = [
        (server.prompt_tokens, "tokens in all"),
        (server.cached_tokens, "in its cache"),
        (server.evaluated_tokens, "read"),
    ];
    let figures = figures.into_iter();
    let said =
        comma_separated(figures.filter_map(|(figure, what)| Some(format!("{} {what}", figure?))));
    if !said.is_empty() {
        let _ = write!(text, "; the server says {said}");
    }
    text
}

fn captured_words(event: &ArtifactCaptured) -> String {
    format!("{} {}", event.capture, capture_words(event))
}

fn resolved_words(event: &ArtifactResolved) -> String {
    let extent = match event.extent {
        Extent::WholeFile => "whole file",
        Extent::Fragment => "fragment",
    };
    let versions = event.versions.iter();
    let versions =
        comma_separated(versions.map(|it| format!("{} {} {:.12}", it.id, it.entity, it.slice)));
    let colon = if versions.is_empty() { "" } else { ": " };
    format!(
        "{} {} ({}), {extent}{colon}{versions}",
        event.capture,
        event.level.as_str(),
        event.reason
    )
}

fn transition_words(event: &Transitioned) -> String {
    format!(
        "{} {}: {} → {} ({})",
        event.version,
        event.entity,
        event.transition.from().as_str(),
        event.transition.to().as_str(),
        event.cause
    )
}

fn promoted_words(event: &VersionsPromoted) -> String {
    let (from, to) = (Transition::Promote.from(), Transition::Promote.to());
    let moves = event.transitions();
    format!(
        "{}: {} → {} ({})",
        comma_separated(moves.map(|it| format!("{} {}", it.version, it.entity))),
        from.as_str(),
        to.as_str(),
        event.cause
    )
}

fn refused_words(event: &PromotionRefused) -> String {
    let renamed = event.rename_of.as_ref();
    let renamed = renamed.map_or_else(String::new, |known| format!(", looks like {known}"));
    format!(
        "{} {} stays PROPOSED: {}{renamed}",
        event.version,
        event.entity,
        refusal_words(&event.report)
    )
}

fn amended_words(event: &PromptAmended) -> String {
    let mut text = String::new();
    if let Some(injected) = &event.injected {
        let _ = write!(
            text,
            "{:.12} put {} message {:.12}",
            injected.text,
            injected.side.as_str(),
            injected.message
        );
    }
    let withheld = comma_separated(event.withheld.iter().map(|it| it.entity.to_string()));
    if !withheld.is_empty() {
        let space = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{space}withheld from older messages: {withheld}");
    }
    text
}

fn composed_words(event: &PromptComposed) -> String {
    let named = |entity: &EntityId, reason: Reason| format!("{entity} ({reason})");
    let shown = comma_separated(event.hydrated.iter().map(|it| named(&it.entity, it.reason)));
    let dropped = comma_separated(event.dropped.iter().map(|it| named(&it.entity, it.reason)));
    let tokens: u64 = event.hydrated.iter().map(|it| u64::from(it.tokens)).sum();
    let mut text = format!(
        "shown {}",
        if shown.is_empty() { "nothing" } else { &shown }
    );
    if !dropped.is_empty() {
        let _ = write!(text, "; withheld {dropped}");
    }
    if event.notices > 0 {
        let _ = write!(
            text,
            "; {}",
            count_text(event.notices as usize, "notice", "notices")
        );
    }
    let _ = write!(
        text,
        "; {tokens} of {} tokens, history {}",
        event.budget_tokens,
        event.history.as_str()
    );
    text
}
