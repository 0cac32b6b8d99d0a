//! From version 1 layouts to core events. Shapes are proven by then; meanings are checked here.

use rkyv::boxed::ArchivedBox;
use rkyv::option::ArchivedOption;
use rkyv::primitive::ArchivedU32;
use rkyv::vec::ArchivedVec;
use tslp_core::artifact::Version;
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{self, Event};
use tslp_core::extract::GrammarTag;
use tslp_core::gate::{GateReport, Thresholds, Verdict};
use tslp_core::hash::{ArtifactHash, MessageKey, SliceHash, TranscriptHash};
use tslp_core::ids::{CaptureId, EpisodeId, SessionId, VersionId};
use tslp_core::limits::TOMBSTONE_EPISODES_DEFAULT;
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_core::reason::Reason;
use tslp_core::slice::{Figures, Span};

use super::codes::Code;
use crate::decode::InvalidValue;

/// A stored layout that is read into a core type.
pub(crate) trait Load {
    /// The core type.
    type Core;

    /// The core value, or the stored value that has no meaning.
    fn load(&self) -> Result<Self::Core, InvalidValue>;
}

pub(crate) fn load_list<T: Load>(items: &ArchivedVec<T>) -> Result<Vec<T::Core>, InvalidValue> {
    items.iter().map(Load::load).collect()
}

pub(crate) fn load_optional<T: Load>(
    item: &ArchivedOption<T>,
) -> Result<Option<T::Core>, InvalidValue> {
    item.as_ref().map(Load::load).transpose()
}

pub(crate) fn load_text(text: &ArchivedOption<ArchivedBox<str>>) -> Option<String> {
    text.as_ref().map(|text| text.to_string())
}

fn load_number(number: &ArchivedOption<ArchivedU32>) -> Option<u32> {
    number.as_ref().map(|number| number.to_native())
}

pub(crate) fn load_code<T: Code>(code: u8) -> Result<T, InvalidValue> {
    T::from_code(code).ok_or(InvalidValue::Code {
        what: T::NAME,
        code: code.into(),
    })
}

pub(crate) fn load_reason(word: &str) -> Result<Reason, InvalidValue> {
    Reason::from_code(word).ok_or_else(|| InvalidValue::Reason(word.to_owned()))
}

/// A stored path was normalised before it was stored; anything else would open a way out of the workspace.
pub(crate) fn load_path(stored: &str) -> Result<RelPath, InvalidValue> {
    let normalised = !stored.contains(['\0', '\\'])
        && stored
            .split('/')
            .all(|part| !matches!(part, "" | "." | ".."));
    if normalised {
        Ok(RelPath::from_normalised(stored))
    } else {
        Err(InvalidValue::Path(stored.to_owned()))
    }
}

/// Ranges come out of the ledger ordered, so that no reader of them has to think of it.
pub(crate) fn load_range(start: u32, end: u32) -> Result<(u32, u32), InvalidValue> {
    if start <= end {
        Ok((start, end))
    } else {
        Err(InvalidValue::Range { start, end })
    }
}

impl Load for super::ArchivedContent<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::Content(event::Content {
            hash: ArtifactHash(self.hash),
            kind: load_code(self.kind)?,
            bytes: (*self.bytes).into(),
        }))
    }
}

impl Load for super::ArchivedMessageRef {
    type Core = event::MessageRef;

    fn load(&self) -> Result<event::MessageRef, InvalidValue> {
        Ok(event::MessageRef {
            role: load_code(self.role)?,
            key: MessageKey(self.key),
            content: ArtifactHash(self.content),
        })
    }
}

impl Load for super::ArchivedPromptReceived<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        let messages = load_list(&self.messages)?;
        let older = self.older.to_native();
        if older as usize > messages.len() {
            return Err(InvalidValue::Older {
                older,
                messages: messages.len(),
            });
        }
        Ok(Event::PromptReceived(event::PromptReceived {
            episode: EpisodeId(self.episode.to_native()),
            session: SessionId(self.session.to_native()),
            session_name: load_text(&self.session_name),
            fork: self.fork.as_ref().map(|fork| event::Fork {
                session: SessionId(fork.session.to_native()),
                messages: fork.messages.to_native(),
            }),
            transcript: TranscriptHash(self.transcript),
            length: self.length.to_native(),
            model: self.model.to_string(),
            system: self.system.as_ref().map(|hash| ArtifactHash(*hash)),
            messages,
            older,
            tools: load_code(self.tools)?,
        }))
    }
}

impl Load for super::ArchivedReplySegment {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::ReplySegment(event::ReplySegment {
            episode: EpisodeId(self.episode.to_native()),
            content: ArtifactHash(self.content),
        }))
    }
}

impl Load for super::ArchivedReplyOutcome {
    type Core = event::ReplyOutcome;

    fn load(&self) -> Result<event::ReplyOutcome, InvalidValue> {
        Ok(match self {
            Self::Completed => event::ReplyOutcome::Completed,
            Self::ClientGone => event::ReplyOutcome::ClientGone,
            Self::UpstreamBroken => event::ReplyOutcome::UpstreamBroken,
            Self::UpstreamRefused(status) => {
                event::ReplyOutcome::UpstreamRefused(status.to_native())
            }
            Self::UpstreamUnreachable => event::ReplyOutcome::UpstreamUnreachable,
            Self::Interrupted => event::ReplyOutcome::Interrupted,
        })
    }
}

impl Load for super::ArchivedToolCallRef<'_> {
    type Core = event::ToolCallRef;

    fn load(&self) -> Result<event::ToolCallRef, InvalidValue> {
        Ok(event::ToolCallRef {
            name: self.name.to_string(),
            arguments: ArtifactHash(self.arguments),
        })
    }
}

impl Load for super::ArchivedReplyEnded<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::ReplyEnded(event::ReplyEnded {
            episode: EpisodeId(self.episode.to_native()),
            outcome: self.outcome.load()?,
            finish_reason: load_text(&self.finish_reason),
            key: MessageKey(self.key),
            segments: self.segments.iter().copied().map(ArtifactHash).collect(),
            tool_calls: load_list(&self.tool_calls)?,
        }))
    }
}

impl Load for super::ArchivedGrammarTag<'_> {
    type Core = GrammarTag;

    fn load(&self) -> Result<GrammarTag, InvalidValue> {
        Ok(GrammarTag {
            language: self.language.to_string(),
            version: self.version.to_string(),
        })
    }
}

impl Load for super::ArchivedPolicy<'_> {
    type Core = Policy;

    fn load(&self) -> Result<Policy, InvalidValue> {
        Ok(Policy {
            workspace_root: self.workspace_root.to_string(),
            profile: load_code(self.profile)?,
            thresholds: Thresholds {
                nodes_percent: self.thresholds.nodes_percent,
                tokens_percent: self.thresholds.tokens_percent,
                correlation_percent: self.thresholds.correlation_percent,
                rename_percent: self.thresholds.rename_percent,
            },
            audit: load_code(self.audit)?,
            history: load_code(self.history)?,
            placement: load_code(self.placement)?,
            budget_tokens: self.budget_tokens.to_native(),
            // That was the number before there was a setting.
            tombstone_episodes: TOMBSTONE_EPISODES_DEFAULT,
        })
    }
}

impl Load for super::ArchivedRulesInForce<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::RulesInForce(event::RulesInForce {
            program: self.program.to_string(),
            rules: self.rules.to_native(),
            grammars: load_list(&self.grammars)?,
            patterns: ArtifactHash(self.patterns),
            policy: self.policy.load()?,
        }))
    }
}

impl Load for super::ArchivedDiskSlice<'_> {
    type Core = event::DiskSlice;

    fn load(&self) -> Result<event::DiskSlice, InvalidValue> {
        Ok(event::DiskSlice {
            symbol: Symbol::new(&self.symbol),
            slice: self.slice.as_ref().map(|hash| SliceHash(*hash)),
        })
    }
}

impl Load for super::ArchivedDiskFinding<'_> {
    type Core = event::DiskFinding;

    fn load(&self) -> Result<event::DiskFinding, InvalidValue> {
        Ok(match self {
            Self::Missing => event::DiskFinding::Missing,
            Self::File(file) => event::DiskFinding::File(event::DiskFile {
                whole: SliceHash(file.whole),
                slices: load_list(&file.slices)?,
                definitions: file.definitions.to_native(),
                grammar: load_optional(&file.grammar)?,
            }),
            Self::Unreadable(failure) => event::DiskFinding::Unreadable(load_code(*failure)?),
        })
    }
}

impl Load for super::ArchivedDiskObserved<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::DiskObserved(event::DiskObserved {
            path: load_path(&self.path)?,
            finding: self.finding.load()?,
        }))
    }
}

impl Load for super::ArchivedDirectiveGiven<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::DirectiveGiven(event::DirectiveGiven {
            episode: EpisodeId(self.episode.to_native()),
            verb: load_code(self.verb)?,
            target: self.target.to_string(),
        }))
    }
}

impl Load for super::ArchivedWithin {
    type Core = event::Within;

    fn load(&self) -> Result<event::Within, InvalidValue> {
        let (start, end) = load_range(self.start.to_native(), self.end.to_native())?;
        Ok(event::Within {
            container: ArtifactHash(self.container),
            start,
            end,
        })
    }
}

impl Load for super::ArchivedEditRef {
    type Core = event::EditRef;

    fn load(&self) -> Result<event::EditRef, InvalidValue> {
        let bases = self.bases.iter();
        Ok(event::EditRef {
            texts: self.texts.iter().map(|text| ArtifactHash(*text)).collect(),
            bases: bases
                .map(|version| VersionId(version.to_native()))
                .collect(),
        })
    }
}

impl Load for super::ArchivedArtifactCaptured<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::ArtifactCaptured(event::ArtifactCaptured {
            capture: CaptureId(self.capture.to_native()),
            episode: EpisodeId(self.episode.to_native()),
            origin: load_code(self.origin)?,
            artifact: ArtifactHash(self.artifact),
            within: load_optional(&self.within)?,
            format: load_code(self.format)?,
            edit: load_optional(&self.edit)?,
            language: load_text(&self.language),
            evidence: load_code(self.evidence)?,
            path: self.path.as_ref().map(|it| load_path(it)).transpose()?,
            completeness: load_code(self.completeness)?,
        }))
    }
}

impl Load for super::ArchivedEntity<'_> {
    type Core = EntityId;

    fn load(&self) -> Result<EntityId, InvalidValue> {
        Ok(EntityId {
            path: load_path(&self.path)?,
            symbol: self.symbol.as_ref().map(|symbol| Symbol::new(symbol)),
        })
    }
}

impl Load for super::ArchivedSpan {
    type Core = Span;

    fn load(&self) -> Result<Span, InvalidValue> {
        let (start, end) = load_range(self.start.to_native(), self.end.to_native())?;
        Ok(Span { start, end })
    }
}

impl Load for super::ArchivedVersion<'_> {
    type Core = Version;

    fn load(&self) -> Result<Version, InvalidValue> {
        Ok(Version {
            id: VersionId(self.id.to_native()),
            entity: self.entity.load()?,
            slice: SliceHash(self.slice),
            spans: load_list(&self.spans)?,
            figures: Figures {
                nodes: self.nodes.to_native(),
                tokens: self.tokens.to_native(),
            },
        })
    }
}

impl Load for super::ArchivedArtifactResolved<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::ArtifactResolved(event::ArtifactResolved {
            capture: CaptureId(self.capture.to_native()),
            level: load_code(self.level)?,
            reason: load_reason(&self.reason)?,
            grammar: load_optional(&self.grammar)?,
            patterns: ArtifactHash(self.patterns),
            extent: load_code(self.extent)?,
            versions: load_list(&self.versions)?,
        }))
    }
}

impl Load for super::ArchivedVerdict<'_> {
    type Core = Verdict;

    fn load(&self) -> Result<Verdict, InvalidValue> {
        Ok(Verdict {
            rule: load_reason(&self.rule)?,
            met: self.met,
            seen: self.seen.to_native(),
            needed: self.needed.to_native(),
        })
    }
}

impl Load for super::ArchivedGateReport<'_> {
    type Core = GateReport;

    fn load(&self) -> Result<GateReport, InvalidValue> {
        Ok(GateReport {
            verdicts: load_list(&self.verdicts)?,
            conclusion: self
                .conclusion
                .as_ref()
                .map(|word| load_reason(word))
                .transpose()?,
            passed: self.passed,
        })
    }
}

impl Load for super::ArchivedTransitioned<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::Transitioned(event::Transitioned {
            episode: EpisodeId(self.episode.to_native()),
            version: VersionId(self.version.to_native()),
            entity: self.entity.load()?,
            transition: load_code(self.transition)?,
            origin: load_code(self.origin)?,
            cause: load_reason(&self.cause)?,
            report: load_optional(&self.report)?,
        }))
    }
}

impl Load for super::ArchivedPromotionRefused<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::PromotionRefused(event::PromotionRefused {
            episode: EpisodeId(self.episode.to_native()),
            version: VersionId(self.version.to_native()),
            entity: self.entity.load()?,
            rename_of: load_optional(&self.rename_of)?,
            report: self.report.load()?,
        }))
    }
}

impl Load for super::ArchivedAudited<'_> {
    type Core = event::Audited;

    fn load(&self) -> Result<event::Audited, InvalidValue> {
        Ok(event::Audited {
            version: VersionId(self.version.to_native()),
            entity: self.entity.load()?,
        })
    }
}

impl Load for super::ArchivedAuditAsked<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::AuditAsked(event::AuditAsked {
            episode: EpisodeId(self.episode.to_native()),
            about: load_list(&self.about)?,
        }))
    }
}

impl Load for super::ArchivedAuditVerdict<'_> {
    type Core = event::AuditVerdict;

    fn load(&self) -> Result<event::AuditVerdict, InvalidValue> {
        Ok(event::AuditVerdict {
            version: VersionId(self.version.to_native()),
            entity: self.entity.load()?,
            status: load_code(self.status)?,
        })
    }
}

impl Load for super::ArchivedAuditAnswered<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::AuditAnswered(event::AuditAnswered {
            episode: EpisodeId(self.episode.to_native()),
            outcome: load_code(self.outcome)?,
            answer: self.answer.as_ref().map(|hash| ArtifactHash(*hash)),
            verdicts: load_list(&self.verdicts)?,
        }))
    }
}

impl Load for super::ArchivedNoticeIssued<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::NoticeIssued(event::NoticeIssued {
            episode: EpisodeId(self.episode.to_native()),
            session: SessionId(self.session.to_native()),
            reason: load_reason(&self.reason)?,
            entity: load_optional(&self.entity)?,
            other: load_optional(&self.other)?,
        }))
    }
}

impl Load for super::ArchivedHydrated<'_> {
    type Core = event::Hydrated;

    fn load(&self) -> Result<event::Hydrated, InvalidValue> {
        Ok(event::Hydrated {
            entity: self.entity.load()?,
            version: VersionId(self.version.to_native()),
            reason: load_reason(&self.reason)?,
            tokens: self.tokens.to_native(),
        })
    }
}

impl Load for super::ArchivedDropped<'_> {
    type Core = event::Dropped;

    fn load(&self) -> Result<event::Dropped, InvalidValue> {
        Ok(event::Dropped {
            entity: self.entity.load()?,
            reason: load_reason(&self.reason)?,
        })
    }
}

impl Load for super::ArchivedPromptCost {
    type Core = event::PromptCost;

    fn load(&self) -> Result<event::PromptCost, InvalidValue> {
        Ok(event::PromptCost {
            chars_total: self.chars_total.to_native(),
            chars_anew: self.chars_anew.to_native(),
        })
    }
}

impl Load for super::ArchivedServerUsage {
    type Core = event::ServerUsage;

    fn load(&self) -> Result<event::ServerUsage, InvalidValue> {
        Ok(event::ServerUsage {
            prompt_tokens: load_number(&self.prompt_tokens),
            cached_tokens: load_number(&self.cached_tokens),
            evaluated_tokens: load_number(&self.evaluated_tokens),
        })
    }
}

impl Load for super::ArchivedPromptMeasured {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::PromptMeasured(event::PromptMeasured {
            episode: EpisodeId(self.episode.to_native()),
            client: self.client.load()?,
            sent: self.sent.load()?,
            server: load_optional(&self.server)?,
        }))
    }
}

impl Load for super::ArchivedReplyPart {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::ReplyPart(event::ReplyPart {
            episode: EpisodeId(self.episode.to_native()),
            kind: load_code(self.kind)?,
            choice: self.choice.to_native(),
            content: ArtifactHash(self.content),
            left_out_bytes: self.left_out_bytes.to_native(),
        }))
    }
}

impl Load for super::ArchivedPromptBase {
    type Core = event::PromptBase;

    fn load(&self) -> Result<event::PromptBase, InvalidValue> {
        Ok(event::PromptBase {
            episode: EpisodeId(self.episode.to_native()),
            messages: self.messages.to_native(),
        })
    }
}

impl Load for super::ArchivedPromptSent {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::PromptSent(event::PromptSent {
            episode: EpisodeId(self.episode.to_native()),
            frame: ArtifactHash(self.frame),
            base: load_optional(&self.base)?,
            messages: self.messages.iter().copied().map(ArtifactHash).collect(),
        }))
    }
}

impl Load for super::ArchivedPromptComposed<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::PromptComposed(event::PromptComposed {
            episode: EpisodeId(self.episode.to_native()),
            history: load_code(self.history)?,
            hydrated: load_list(&self.hydrated)?,
            dropped: load_list(&self.dropped)?,
            notices: self.notices.to_native(),
            budget_tokens: self.budget_tokens.to_native(),
        }))
    }
}

impl Load for super::ArchivedSideRequestReceived<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::SideRequestReceived(event::SideRequestReceived {
            episode: EpisodeId(self.episode.to_native()),
            model: self.model.to_string(),
            messages: self.messages.to_native(),
            transcript: TranscriptHash(self.transcript),
        }))
    }
}

impl Load for super::ArchivedInjected {
    type Core = event::Injected;

    fn load(&self) -> Result<event::Injected, InvalidValue> {
        Ok(event::Injected {
            message: MessageKey(self.message),
            position: self.position.to_native(),
            side: load_code(self.side)?,
            text: ArtifactHash(self.text),
        })
    }
}

impl Load for super::ArchivedWithheld<'_> {
    type Core = event::Withheld;

    fn load(&self) -> Result<event::Withheld, InvalidValue> {
        Ok(event::Withheld {
            entity: self.entity.load()?,
            slice: SliceHash(self.slice),
            position: self.position.to_native(),
        })
    }
}

impl Load for super::ArchivedPromptAmended<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::PromptAmended(event::PromptAmended {
            episode: EpisodeId(self.episode.to_native()),
            injected: load_optional(&self.injected)?,
            withheld: load_list(&self.withheld)?,
        }))
    }
}
