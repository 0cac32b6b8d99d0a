//! Conversations about code, as events: the same for the same numbers.

use tslp_core::artifact::{Level, Origin, Transition, Version};
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{
    ArtifactCaptured, ArtifactResolved, Content, ContentKind, Envelope, Event, Extent, Format,
    History, Hydrated, MessageRef, PathEvidence, PromptComposed, PromptMessages, PromptReceived,
    ReplyEnded, ReplyOutcome, ReplySegment, Transitioned, Within,
};
use tslp_core::extract::GrammarTag;
use tslp_core::gate::Completeness;
use tslp_core::hash::{ArtifactHash, MessageKey, SliceHash, TranscriptHash};
use tslp_core::ids::{CaptureId, EpisodeId, Seq, SessionId, UnixMillis, VersionId};
use tslp_core::message::{Role, Tools};
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;
use tslp_core::slice::{Figures, Span};

/// Entities that the conversations are about.
const ENTITIES: u64 = 10_000;

/// Definitions in one file.
const ENTITIES_PER_FILE: u64 = 25;

/// Turns of one conversation.
const TURNS_PER_SESSION: u64 = 20;

/// Bytes of payload that an event takes beside the text of messages, on average.
const REST_BYTES: usize = 107;

/// Prompts and replies in turn; each second prompt supplies a definition anew.
pub(crate) struct Turns {
    turn: u64,
    message_bytes: usize,
    /// The last version of each entity.
    current: Vec<Option<VersionId>>,
    captures: u64,
}

impl Turns {
    pub(crate) fn new(bytes_per_event: usize) -> Self {
        // A turn has seven and a half events on average, and two texts.
        let message_bytes = (bytes_per_event.saturating_sub(REST_BYTES) * 15 / 4).max(64);
        Self {
            turn: 0,
            message_bytes,
            current: vec![None; ENTITIES as usize],
            captures: 0,
        }
    }

    /// The envelope of an event of the last turn.
    pub(crate) const fn envelope(&self, seq: Seq, at: UnixMillis) -> Envelope {
        Envelope {
            episode: EpisodeId(self.turn),
            session: SessionId(1 + (self.turn - 1) / TURNS_PER_SESSION),
            ..Envelope::outside(seq, at)
        }
    }

    pub(crate) fn next(&mut self) -> Vec<Event> {
        self.turn += 1;
        let (prompt, asked) = self.content("prompt", ContentKind::Message);
        let (reply, answered) = self.content("reply", ContentKind::Reply);
        let mut events = vec![
            prompt,
            Event::PromptReceived(PromptReceived {
                session_name: None,
                fork: None,
                transcript: TranscriptHash(self.hash("transcript").0),
                length: u32::try_from((self.turn - 1) % TURNS_PER_SESSION * 2 + 1)
                    .unwrap_or(u32::MAX),
                model: "qwen2.5-coder:7b".into(),
                system: Some(ArtifactHash::of(b"You are a careful programmer.")),
                messages: PromptMessages::new(
                    Vec::new(),
                    &[MessageRef {
                        role: Role::User,
                        key: MessageKey(asked.0),
                        content: asked,
                    }],
                ),
                tools: Tools::None,
            }),
        ];
        if self.turn.is_multiple_of(2) {
            events.extend(self.supplied(asked));
        }
        events.push(Event::PromptComposed(self.composed()));
        events.extend([
            reply,
            Event::ReplySegment(ReplySegment { content: answered }),
            Event::ReplyEnded(ReplyEnded {
                outcome: ReplyOutcome::Completed,
                finish_reason: Some("stop".into()),
                key: MessageKey(answered.0),
                segments: vec![answered],
                tool_calls: Vec::new(),
            }),
        ]);
        events
    }

    /// The user's code: captured, resolved, and true from now on.
    fn supplied(&mut self, container: ArtifactHash) -> Vec<Event> {
        self.captures += 1;
        let number = (self.turn / 2) * 7919 % ENTITIES;
        let entity = entity(number);
        let version = VersionId(self.captures);
        let end = u32::try_from(self.message_bytes).unwrap_or(u32::MAX);
        let mut events = vec![
            Event::ArtifactCaptured(ArtifactCaptured {
                capture: CaptureId(self.captures),
                origin: Origin::User,
                artifact: self.hash("artifact"),
                within: Some(Within {
                    container,
                    span: Span { start: 16, end },
                }),
                format: Format::Fence,
                edit: None,
                language: Some("c".into()),
                evidence: PathEvidence::LineBefore,
                path: Some(entity.path.clone()),
                completeness: Completeness::Full,
            }),
            Event::ArtifactResolved(ArtifactResolved {
                capture: CaptureId(self.captures),
                level: Level::Confirmed,
                reason: Reason::AstMatch,
                grammar: Some(GrammarTag {
                    language: "c".into(),
                    version: "0.24.2+1".into(),
                }),
                patterns: ArtifactHash::of(b"patterns"),
                extent: Extent::Fragment,
                versions: vec![Version {
                    id: version,
                    entity: entity.clone(),
                    slice: SliceHash(self.hash("slice").0),
                    spans: vec![Span {
                        start: 0,
                        end: end - 16,
                    }],
                    figures: Figures {
                        nodes: 80,
                        tokens: 120,
                    },
                }],
            }),
        ];
        let moved = |version, transition, cause| {
            Event::Transitioned(Transitioned {
                version,
                entity: entity.clone(),
                transition,
                origin: Origin::User,
                cause,
                report: None,
            })
        };
        if let Some(old) = self.current[number as usize].replace(version) {
            events.push(moved(old, Transition::Supersede, Reason::WriteHead));
        }
        events.push(moved(version, Transition::Promote, Reason::WriteHead));
        events
    }

    fn composed(&self) -> PromptComposed {
        let hydrated = (0..2).map(|nth| Hydrated {
            entity: entity((self.turn * 31 + nth) % ENTITIES),
            version: VersionId(self.captures),
            reason: Reason::Mentioned,
            tokens: 150,
        });
        PromptComposed {
            history: History::Window,
            hydrated: hydrated.collect(),
            dropped: Vec::new(),
            notices: 0,
            budget_tokens: 4096,
        }
    }

    /// Text that stands nowhere else in the ledger.
    fn content(&self, what: &str, kind: ContentKind) -> (Event, ArtifactHash) {
        let mut text = format!("{what} {:>8}\n", self.turn);
        while text.len() < self.message_bytes {
            let line = text.len() as u64 + self.turn;
            text.push_str(&format!(
                "    total += weight[{line}] * step; /* {what} */\n"
            ));
        }
        text.truncate(self.message_bytes);
        let bytes = text.into_bytes();
        let hash = ArtifactHash::of(&bytes);
        let bytes = bytes.into();
        (Event::Content(Content { hash, kind, bytes }), hash)
    }

    fn hash(&self, what: &str) -> ArtifactHash {
        ArtifactHash::of(format!("{what} {}", self.turn).as_bytes())
    }
}

fn entity(number: u64) -> EntityId {
    let file = number / ENTITIES_PER_FILE;
    EntityId {
        path: RelPath::from_normalised(&format!("src/module{}/part{file}.c", file % 40)),
        symbol: Some(Symbol::new(&format!("module_step_{number}"))),
    }
}
