//! A story's golden end: its verdicts, a summary of each prompt, and what is true in the end.
//!
//! ```text
//! e2 c3 by the Model: fence InfoString src/a.c, Full; CONFIRMED ast_match Fragment
//!    v5 src/a.c::f 06184804                      a captured block defines version 5 of f
//!    v4 PROPOSED -> TOMBSTONED replaced          steps of the state machine with their reasons,
//!    v5 PROPOSED -> AUTHORITATIVE structural_parity: nodes_kept 38/16      and rules: seen/needed
//! e3 s1 prompt in window history, messages 4; without src/b.c stale
//!    system: code src/a.c::f v5, 6 lines, mentioned; notice elided src/b.c::g; recent context, 32 lines, 5 "Ok."
//! true: src/a.c ::f v5
//! ```
//!
//! The prompt of episode 3 goes out with the client's message 4, and src/b.c was a candidate whose code is kept back. Its system
//! message has the code of f, a notice and the window, line 5 of which nobody wrote. The words of notices are in
//! `notices__wording.snap`; full stories show all texts.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tslp_core::delimiter::{
    NOTICE_CLOSE, NOTICE_OPEN, RECENT_CLOSE, RECENT_OPEN, STATE_CLOSE, STATE_OPEN,
};
use tslp_core::entity::EntityId;
use tslp_core::event::{Event, History, NoticeIssued, PromptAmended, PromptComposed, Recorded};
use tslp_core::hash::SliceHash;
use tslp_core::ids::Seq;
use tslp_core::read_message::ONLY_DIRECTIVES;
use tslp_decide::prompt::outside;
use tslp_decide::wording::notice;
use tslp_projections::state::State;

use crate::script;
use crate::stage::{EngineMemory, ModelInput, SentPrompt, Stage, play_script};
use crate::state_text;
use crate::verdicts::{self, Detail};

/// Plays a story and returns its golden end, with every text that went to the model if the story is a full one.
///
/// # Panics
/// When the story can't be read, when replaying its events gives another state, or when an engine that keeps nothing in memory
/// decides otherwise.
#[must_use]
pub fn play(story: &str) -> String {
    let script = script::parse(story);
    let detail = script.detail;
    let stage = play_script(script.clone(), EngineMemory::All);
    stage.check_replay();
    let forgetful = play_script(script, EngineMemory::Nothing);
    assert_eq!(forgetful.ledger(), stage.ledger(), "without memory");
    assert_eq!(
        forgetful.model_inputs(),
        stage.model_inputs(),
        "without memory"
    );
    golden_end(&stage, detail)
}

/// The sections of the state that are shown among decisions alone. What is true comes before them.
const SECTIONS_SHOWN: [&str; 4] = ["proposals", "tombstones", "stale", "anomalies"];

/// The golden end of a story that was played.
#[must_use]
pub fn golden_end(stage: &Stage, detail: Detail) -> String {
    let ledger = stage.ledger();
    let mut text = String::new();
    let mut listed = 0;
    for (until, input) in stage.model_inputs() {
        let new = &ledger[listed..*until];
        listed = *until;
        match input {
            ModelInput::Audit(question) => {
                text.push_str(&verdicts::listing(new, detail));
                if detail == Detail::Everything {
                    let _ = writeln!(text, "the audit asks:\n{question}");
                }
            }
            ModelInput::Prompt(sent) => {
                let summary = PromptSummary::new(&ledger[..listed], new, sent);
                // A notice that arises with the prompt that shows it needs no line of its own.
                let is_shown_at_once = |recorded: &&Recorded| match &recorded.event {
                    Event::NoticeIssued(issued) => {
                        issued.episode == sent.episode && summary.notices.contains(&recorded.seq)
                    }
                    _ => false,
                };
                let others = new.iter().filter(|recorded| !is_shown_at_once(recorded));
                text.push_str(&verdicts::listing(others, detail));
                summary.write(detail, &mut text);
            }
        }
    }
    text.push_str(&verdicts::listing(&ledger[listed..], detail));
    match detail {
        Detail::Decisions => text + &truth_summary(stage.state()),
        Detail::Everything => format!(
            "{text}\n{}[episode entries]\n{}",
            state_text::state_text(stage.state()),
            state_text::entries_text(&stage.episode_entries())
        ),
    }
}

/// What is true, proposed, removed and STALE.
fn truth_summary(state: &State) -> String {
    let mut text = String::new();
    let truth = state.state_map();
    for path in truth.paths() {
        let whole = EntityId::file(path.clone());
        let entities = [whole].into_iter().chain(truth.entities_in(path));
        let current = entities.filter_map(|entity| {
            let version = truth.current(&entity)?.version;
            let symbol = entity.symbol.map(|symbol| format!("::{symbol} "));
            Some(symbol.unwrap_or_default() + &version.to_string())
        });
        let current: Vec<String> = current.collect();
        let _ = writeln!(text, "true: {path} {}", current.join(", "));
    }
    let sections = state_text::sections(state).into_iter();
    for (name, rows) in sections.filter(|(name, _)| SECTIONS_SHOWN.contains(name)) {
        let _ = writeln!(text, "{name}: {}", rows.join(", "));
    }
    text
}

/// A text of a prompt that is the proxy's own or was changed.
struct ChangedText {
    place: String,
    text: String,
    parts: Vec<TextPart>,
}

/// A part of such a text.
enum TextPart {
    /// True code, with the reason for it if it is new in this prompt.
    Code {
        entity: String,
        version: String,
        lines: String,
        reason: Option<String>,
    },
    Other(String),
}

/// A prompt as it went out, with the code that was hydrated or withheld.
struct PromptSummary<'l> {
    ledger: &'l [Recorded],
    sent: &'l SentPrompt,
    /// Its session, and the treatment of its older messages.
    header: String,
    /// Decisions about entities that no text shows.
    others: String,
    texts: Vec<ChangedText>,
    /// The notices that the model is shown.
    notices: BTreeSet<Seq>,
    /// Lines that the client has sent in this request.
    clients_lines: BTreeSet<&'l str>,
    /// Lines on record.
    recorded_lines: BTreeSet<&'l str>,
}

impl<'l> PromptSummary<'l> {
    fn new(ledger: &'l [Recorded], new: &[Recorded], sent: &'l SentPrompt) -> Self {
        let messages = sent.request.messages.iter();
        let clients_lines = messages.flat_map(|message| {
            let calls = message.tool_calls.iter().map(|call| &call.arguments);
            let texts = message.parts.iter().chain(&message.thoughts).chain(calls);
            texts.flat_map(|text| text.lines()).map(str::trim_end)
        });
        let recorded_lines = ledger.iter().flat_map(|recorded| match &recorded.event {
            Event::Content(content) => {
                let text = std::str::from_utf8(&content.bytes).unwrap_or_default();
                text.lines()
            }
            _ => "".lines(),
        });
        let mut summary = Self {
            ledger,
            sent,
            header: String::new(),
            others: String::new(),
            texts: Vec::new(),
            notices: BTreeSet::new(),
            clients_lines: clients_lines.chain([""]).collect(),
            recorded_lines: recorded_lines
                .map(str::trim_end)
                .chain(["User:", "Assistant:", ""])
                .collect(),
        };
        summary.read_texts();
        summary.read_events(new);
        summary
    }

    fn read_texts(&mut self) {
        let outgoing = &self.sent.outgoing;
        self.read_text("system".into(), outgoing.system.as_deref().unwrap_or(""));
        for message in &outgoing.messages {
            let index = message.index;
            self.read_text(format!("before {index}"), &message.before);
            for (_, text) in &message.rewritten {
                self.read_text(format!("message {index}"), text);
            }
            for (_, text) in &message.thoughts {
                self.read_text(format!("thought of {index}"), text);
            }
            for (call, text) in &message.arguments {
                self.read_text(format!("call {call} of {index}"), text);
            }
            self.read_text(format!("after {index}"), &message.after);
        }
    }

    fn read_text(&mut self, place: String, text: &str) {
        if text.is_empty() {
            return;
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((at, close)) = next_block(rest) {
            self.read_own_text(&rest[..at], &mut parts);
            let end = rest[at..].find(close).expect("a block is closed");
            let (block, after) = rest[at..].split_at(end + close.len());
            parts.push(match close {
                STATE_CLOSE => self.code_of(block),
                NOTICE_CLOSE => TextPart::Other(self.notice_of(block)),
                _ => {
                    let inner = block.lines().count() - 2;
                    let lines = block.lines().skip(1).take(inner);
                    let odd = odd_lines(lines, &self.recorded_lines);
                    TextPart::Other(format!("recent context, {}{odd}", lines_text(inner)))
                }
            });
            rest = after;
        }
        self.read_own_text(rest, &mut parts);
        let text = text.into();
        self.texts.push(ChangedText { place, text, parts });
    }

    /// Text outside of blocks, which the client wrote.
    fn read_own_text(&self, text: &str, parts: &mut Vec<TextPart>) {
        let text = text.trim_matches('\n');
        if text == ONLY_DIRECTIVES {
            parts.push(TextPart::Other("directives only".into()));
        } else if !text.is_empty() {
            let odd = odd_lines(text.lines(), &self.clients_lines);
            let lines = lines_text(text.lines().count());
            parts.push(TextPart::Other(format!("own text, {lines}{odd}")));
        }
    }

    fn code_of(&self, block: &str) -> TextPart {
        let mut lines = block.lines().skip(1);
        let mut field = |name: &str| {
            let line = lines.next().and_then(|line| line.strip_prefix(name));
            line.unwrap_or("?")
        };
        let (entity, slice) = (field("Entity: "), field("Artifact: "));
        let source = field("Source: Confirmed via ");
        let mut version =
            self.version_of(|of, is| of.to_string() == entity && is.to_string().starts_with(slice));
        if source != "AST" {
            version = format!("{version} by {source}");
        }
        // After a blank line and the fence's first one, up to its last one and the delimiter.
        let code = lines.count().saturating_sub(4);
        TextPart::Code {
            entity: entity.into(),
            version,
            lines: lines_text(code),
            reason: None,
        }
    }

    fn version_of(&self, is_meant: impl Fn(&EntityId, SliceHash) -> bool) -> String {
        let resolved = self
            .ledger
            .iter()
            .filter_map(|recorded| match &recorded.event {
                Event::ArtifactResolved(resolved) => Some(&resolved.versions),
                _ => None,
            });
        let mut versions = resolved.flatten();
        let version = versions.find(|version| is_meant(&version.entity, version.slice));
        version.map_or_else(|| "?".into(), |version| version.id.to_string())
    }

    /// The notice's reason and entity, or its first line if no notice on record has this text.
    fn notice_of(&mut self, block: &str) -> String {
        let outside = self
            .ledger
            .iter()
            .filter_map(|recorded| match &recorded.event {
                Event::NoticeIssued(issued)
                    if issued
                        .reason
                        .is(tslp_core::reason::ReasonClass::ChangedOutside) =>
                {
                    Some((recorded.seq, issued))
                }
                _ => None,
            });
        let outside: Vec<_> = outside.collect();
        for (seq, issued) in outside {
            let front = outside::blocks(&[issued]).concat();
            let front = front.split_once(": ").map_or(&*front, |(front, _)| front);
            let named = issued.entity.as_ref().map(ToString::to_string);
            if block.starts_with(front) && named.is_some_and(|name| block.contains(&name)) {
                self.notices.insert(seq);
            }
        }
        for recorded in self.ledger.iter().rev() {
            let Event::NoticeIssued(issued) = &recorded.event else {
                continue;
            };
            let Some((form, more)) = self.form_of(issued, block) else {
                continue;
            };
            self.notices.insert(recorded.seq);
            let about = [&issued.entity, &issued.other].into_iter().flatten();
            let about: String = about.map(|entity| format!(" {entity}")).collect();
            let more = match more {
                0 => String::new(),
                count => format!(" and {} on what is missing", lines_text(count)),
            };
            return format!("notice {}{about}{form}{more}", issued.reason);
        }
        format!("notice {:?}", block.lines().nth(1).unwrap_or_default())
    }

    /// The form of this notice that the block begins with, and the number of lines that the block has after it.
    fn form_of(&self, issued: &NoticeIssued, block: &str) -> Option<(&'static str, usize)> {
        let fits = |text: &str| {
            let rest = block.strip_prefix(text.strip_suffix(NOTICE_CLOSE)?.trim_end())?;
            Some(rest.lines().count() - 2)
        };
        let users = notice::users_code_notice(issued);
        if let Some(more) = users.and_then(|text| fits(&text)) {
            return Some((" of the user's code", more));
        }
        if let Some(entity) = &issued.entity {
            for is_edit in [false, true] {
                if let Some(more) = fits(&notice::not_linked_notice(entity, is_edit)) {
                    return Some((" as it isn't linked", more));
                }
            }
        }
        let looks = self
            .ledger
            .iter()
            .filter_map(|recorded| match &recorded.event {
                Event::DiskObserved(seen) => Some((&seen.finding).into()),
                _ => None,
            });
        let mut looks = looks.map(Some).chain([None]);
        let more = looks.find_map(|disk| fits(&notice::block(issued, disk, None)))?;
        Some(("", more))
    }

    fn read_events(&mut self, new: &[Recorded]) {
        for recorded in new {
            match &recorded.event {
                Event::PromptReceived(received) => {
                    let _ = write!(self.header, " {}", recorded.session);
                    if let Some(fork) = received.fork {
                        let (session, messages) = (fork.session, fork.messages);
                        let _ = write!(self.header, " from {session} after {messages}");
                    }
                    if let Some(name) = &received.session_name {
                        let _ = write!(self.header, " {name:?}");
                    }
                }
                Event::SideRequestReceived(_) => self.header.push_str(" side request"),
                Event::PromptAmended(amended) => self.read_withheld(amended),
                Event::PromptComposed(composed) => self.read_composed(composed),
                _ => {}
            }
        }
    }

    fn read_withheld(&mut self, amended: &PromptAmended) {
        for withheld in &amended.withheld {
            let (entity, slice) = (&withheld.entity, withheld.slice);
            let version = self.version_of(|of, is| of == entity && is == slice);
            let position = withheld.position;
            let _ = write!(
                self.others,
                "; no_longer_current {entity} {version} at {position}"
            );
        }
    }

    fn read_composed(&mut self, composed: &PromptComposed) {
        for hydrated in &composed.hydrated {
            let (name, shown) = (hydrated.entity.to_string(), hydrated.version);
            let texts = self.texts.iter_mut().rev();
            let mut parts = texts.flat_map(|text| text.parts.iter_mut().rev());
            let reason = parts.find_map(|part| match part {
                TextPart::Code { entity, reason, .. } if *entity == name => Some(reason),
                _ => None,
            });
            match reason.filter(|_| hydrated.tokens > 0) {
                Some(reason) => *reason = Some(hydrated.reason.to_string()),
                None => {
                    let reason = hydrated.reason;
                    let _ = write!(self.others, "; {name} {shown} {reason}");
                }
            }
        }
        for dropped in &composed.dropped {
            let (entity, reason) = (&dropped.entity, dropped.reason);
            let _ = write!(self.others, "; without {entity} {reason}");
        }
        self.header.push_str(match composed.history {
            History::Window => " prompt in window history",
            History::Client => " prompt in client history",
        });
    }

    fn write(&self, detail: Detail, text: &mut String) {
        let messages = self.sent.outgoing.messages.iter();
        let messages: Vec<String> = messages.map(|it| it.index.to_string()).collect();
        let (episode, header, others) = (self.sent.episode, &self.header, &self.others);
        let messages = messages.join(" ");
        let _ = writeln!(text, "{episode}{header}, messages {messages}{others}");
        for changed in &self.texts {
            let parts: Vec<String> = changed.parts.iter().map(TextPart::to_string).collect();
            let _ = writeln!(text, "   {}: {}", changed.place, parts.join("; "));
            if detail == Detail::Everything {
                let _ = writeln!(text, "{}\n", changed.text);
            }
        }
    }
}

impl std::fmt::Display for TextPart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code {
                entity,
                version,
                lines,
                reason,
            } => {
                write!(f, "code {entity} {version}, {lines}")?;
                reason.iter().try_for_each(|reason| write!(f, ", {reason}"))
            }
            Self::Other(text) => f.write_str(text),
        }
    }
}

fn lines_text(count: usize) -> String {
    format!("{count} line{}", if count == 1 { "" } else { "s" })
}

/// The next block's first byte, and the delimiter that closes it.
fn next_block(text: &str) -> Option<(usize, &'static str)> {
    let blocks = [
        (STATE_OPEN, STATE_CLOSE),
        (NOTICE_OPEN, NOTICE_CLOSE),
        (RECENT_OPEN, RECENT_CLOSE),
    ];
    let found = blocks.map(|(open, close)| Some((text.find(open)?, close)));
    found.into_iter().flatten().min()
}

/// The lines that are not among the known ones, by their numbers from 1.
fn odd_lines<'t>(lines: impl Iterator<Item = &'t str>, known: &BTreeSet<&str>) -> String {
    let mut odd = String::new();
    for (number, line) in (1..).zip(lines) {
        if line == ONLY_DIRECTIVES {
            let _ = write!(odd, ", {number} directives only");
        } else if !known.contains(line.trim_end()) {
            let start: String = line.chars().take(60).collect();
            let _ = write!(odd, ", {number} {start:?}");
        }
    }
    odd
}
