//! Random events from a seed, small and without any outside help.

use tslp_core::artifact::{Level, Origin, Transition, Version};
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{
    ArtifactCaptured, ArtifactResolved, AuditAnswered, AuditAsked, AuditOutcome, AuditStatus,
    AuditVerdict, Audited, Content, ContentKind, DirectiveGiven, DiskFile, DiskFinding,
    DiskObserved, DiskSlice, Dropped, EditRef, Event, Extent, Fork, Format, History, Hydrated,
    MessageRef, NoticeIssued, PartKind, PathEvidence, PolicyApproved, PromotionRefused, PromptBase,
    PromptComposed, PromptCost, PromptMeasured, PromptReceived, PromptSent, ReadFailure,
    ReplyEnded, ReplyOutcome, ReplyPart, ReplySegment, RulesInForce, ServerUsage, ToolCallRef,
    Transitioned, Verb, Within,
};
use tslp_core::extract::GrammarTag;
use tslp_core::gate::{Completeness, GateProfile, GateReport, Thresholds, Verdict};
use tslp_core::hash::{ArtifactHash, MessageKey, SliceHash, TranscriptHash};
use tslp_core::ids::{CaptureId, EpisodeId, SessionId, VersionId};
use tslp_core::message::{Role, Tools};
use tslp_core::path::RelPath;
use tslp_core::policy::{AuditChoice, HistoryChoice, Placement, Policy};
use tslp_core::reason::Reason;
use tslp_core::slice::{Figures, Span};

use super::samples::samples_of_v5;

/// A splitmix64 generator.
pub(crate) struct Generator(u64);

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound as u64) as usize
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.number() as u8).collect()
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn flag(&mut self) -> bool {
        self.number() & 1 == 1
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.flag().then(|| make(self))
    }

    fn list<T>(&mut self, make: impl Fn(&mut Self) -> T) -> Vec<T> {
        (0..self.below(6)).map(|_| make(self)).collect()
    }

    fn hash(&mut self) -> [u8; 32] {
        let mut hash = [0; 32];
        hash.copy_from_slice(&self.bytes(32));
        hash
    }

    fn text(&mut self) -> String {
        let length = self.below(20);
        (0..length)
            .map(|_| self.pick(&['a', 'ß', '語', '\n', '"', '\0', '🦀', '_']))
            .collect()
    }

    fn path(&mut self) -> RelPath {
        let parts: Vec<String> = (0..=self.below(4))
            .map(|_| format!("d{}", self.below(99)))
            .collect();
        RelPath::from_normalised(&parts.join("/"))
    }

    fn entity(&mut self) -> EntityId {
        EntityId {
            path: self.path(),
            symbol: self.maybe(|it| Symbol::new(&it.text())),
        }
    }

    fn range(&mut self) -> (u32, u32) {
        let (a, b) = (self.number() as u32, self.number() as u32);
        (a.min(b), a.max(b))
    }

    fn reason(&mut self) -> Reason {
        self.pick(Reason::ALL)
    }

    fn origin(&mut self) -> Origin {
        self.pick(&[Origin::Model, Origin::User])
    }

    fn grammar(&mut self) -> GrammarTag {
        GrammarTag {
            language: self.text(),
            version: self.text(),
        }
    }

    fn report(&mut self) -> GateReport {
        GateReport {
            verdicts: self.list(|it| Verdict {
                rule: it.reason(),
                met: it.flag(),
                seen: it.number(),
                needed: it.number(),
            }),
            conclusion: self.maybe(Self::reason),
            passed: self.flag(),
        }
    }

    fn rules(&mut self) -> RulesInForce {
        RulesInForce {
            program: self.text(),
            rules: self.number() as u32,
            grammars: self.list(|it| GrammarTag {
                language: it.text(),
                version: it.text(),
            }),
            patterns: ArtifactHash(self.hash()),
            policy: Policy {
                workspace_root: self.text(),
                profile: self.pick(&[GateProfile::Standard, GateProfile::Strict]),
                thresholds: Thresholds {
                    nodes_percent: self.number() as u8,
                    tokens_percent: self.number() as u8,
                    correlation_percent: self.number() as u8,
                    rename_percent: self.number() as u8,
                },
                audit: self.pick(&[AuditChoice::Off, AuditChoice::On, AuditChoice::Auto]),
                history: self.pick(&[
                    HistoryChoice::Auto,
                    HistoryChoice::Window,
                    HistoryChoice::Client,
                ]),
                placement: self.pick(&[Placement::System, Placement::User]),
                budget_tokens: self.number() as u32,
                tombstone_episodes: self.number() as u32,
            },
        }
    }

    fn prompt(&mut self) -> PromptReceived {
        let messages = self.list(|it| MessageRef {
            role: it.pick(&[
                Role::System,
                Role::User,
                Role::Assistant,
                Role::Tool,
                Role::Other,
            ]),
            key: MessageKey(it.hash()),
            content: ArtifactHash(it.hash()),
        });
        PromptReceived {
            episode: EpisodeId(self.number()),
            session: SessionId(self.number()),
            session_name: self.maybe(Self::text),
            fork: self.maybe(|it| Fork {
                session: SessionId(it.number()),
                messages: it.number() as u32,
            }),
            transcript: TranscriptHash(self.hash()),
            length: self.number() as u32,
            model: self.text(),
            system: self.maybe(|it| ArtifactHash(it.hash())),
            older: self.below(messages.len() + 1) as u32,
            tools: self.pick(&[Tools::None, Tools::Offered]),
            messages,
        }
    }

    fn reply(&mut self) -> ReplyEnded {
        let status = self.number() as u16;
        ReplyEnded {
            episode: EpisodeId(self.number()),
            outcome: self.pick(&[
                ReplyOutcome::Completed,
                ReplyOutcome::ClientGone,
                ReplyOutcome::UpstreamBroken,
                ReplyOutcome::UpstreamRefused(status),
                ReplyOutcome::UpstreamUnreachable,
                ReplyOutcome::Interrupted,
            ]),
            finish_reason: self.maybe(Self::text),
            key: MessageKey(self.hash()),
            segments: self.list(|it| ArtifactHash(it.hash())),
            tool_calls: self.list(|it| ToolCallRef {
                name: it.text(),
                arguments: ArtifactHash(it.hash()),
            }),
        }
    }

    fn finding(&mut self) -> DiskFinding {
        match self.below(3) {
            0 => DiskFinding::Missing,
            1 => DiskFinding::Unreadable(self.pick(&[
                ReadFailure::Denied,
                ReadFailure::NotAFile,
                ReadFailure::Escapes,
                ReadFailure::TooLarge,
                ReadFailure::Unsteady,
                ReadFailure::TimedOut,
                ReadFailure::Failed,
            ])),
            _ => DiskFinding::File(DiskFile {
                whole: SliceHash(self.hash()),
                slices: self.list(|it| DiskSlice {
                    symbol: Symbol::new(&it.text()),
                    slice: it.maybe(|it| SliceHash(it.hash())),
                }),
                definitions: self.number() as u32,
                grammar: self.maybe(Self::grammar),
            }),
        }
    }

    fn captured(&mut self) -> ArtifactCaptured {
        ArtifactCaptured {
            capture: CaptureId(self.number()),
            episode: EpisodeId(self.number()),
            origin: self.origin(),
            artifact: ArtifactHash(self.hash()),
            within: self.maybe(|it| {
                let (start, end) = it.range();
                Within {
                    container: ArtifactHash(it.hash()),
                    start,
                    end,
                }
            }),
            format: self.pick(&[Format::Fence, Format::UnifiedDiff, Format::Disk]),
            edit: self.maybe(|it| EditRef {
                texts: it.list(|it| ArtifactHash(it.hash())),
                bases: it.list(|it| VersionId(it.number())),
            }),
            language: self.maybe(Self::text),
            evidence: self.pick(&[
                PathEvidence::None,
                PathEvidence::SentenceBefore,
                PathEvidence::FirstLineComment,
                PathEvidence::LineBefore,
                PathEvidence::InfoString,
                PathEvidence::Header,
            ]),
            path: self.maybe(Self::path),
            completeness: self.pick(&[
                Completeness::Full,
                Completeness::Elided,
                Completeness::Truncated,
            ]),
        }
    }

    fn resolved(&mut self) -> ArtifactResolved {
        ArtifactResolved {
            capture: CaptureId(self.number()),
            level: self.pick(&[Level::Unresolved, Level::Inferred, Level::Confirmed]),
            reason: self.reason(),
            grammar: self.maybe(Self::grammar),
            patterns: ArtifactHash(self.hash()),
            extent: self.pick(&[Extent::WholeFile, Extent::Fragment]),
            versions: self.list(|it| Version {
                id: VersionId(it.number()),
                entity: it.entity(),
                slice: SliceHash(it.hash()),
                spans: it.list(|it| {
                    let (start, end) = it.range();
                    Span { start, end }
                }),
                figures: Figures {
                    nodes: it.number() as u32,
                    tokens: it.number() as u32,
                },
            }),
        }
    }

    fn prompt_cost(&mut self) -> PromptCost {
        PromptCost {
            chars_total: self.number() as u32,
            chars_anew: self.number() as u32,
        }
    }

    /// An event of any kind.
    pub(crate) fn event(&mut self) -> Event {
        match self.below(21) {
            20 => Event::PolicyApproved(PolicyApproved {
                profile_id: self.text(),
                text: ArtifactHash(self.hash()),
            }),
            18 | 19 => {
                let samples = samples_of_v5();
                samples[self.below(samples.len())].clone()
            }
            0 => {
                let length = self.below(300);
                let bytes = self.bytes(length);
                Event::Content(Content {
                    hash: ArtifactHash::of(&bytes),
                    kind: self.pick(&[
                        ContentKind::Message,
                        ContentKind::Reply,
                        ContentKind::Code,
                        ContentKind::ToolArguments,
                    ]),
                    bytes: bytes.into(),
                })
            }
            1 => Event::PromptReceived(self.prompt()),
            2 => Event::ReplySegment(ReplySegment {
                episode: EpisodeId(self.number()),
                content: ArtifactHash(self.hash()),
            }),
            3 => Event::ReplyEnded(self.reply()),
            14 => Event::RulesInForce(self.rules()),
            15 => Event::PromptMeasured(PromptMeasured {
                episode: EpisodeId(self.number()),
                client: self.prompt_cost(),
                sent: self.prompt_cost(),
                server: self.maybe(|it| ServerUsage {
                    prompt_tokens: it.maybe(|it| it.number() as u32),
                    cached_tokens: it.maybe(|it| it.number() as u32),
                    evaluated_tokens: it.maybe(|it| it.number() as u32),
                }),
            }),
            16 => Event::ReplyPart(ReplyPart {
                episode: EpisodeId(self.number()),
                kind: self.pick(&[PartKind::Reasoning, PartKind::OtherText, PartKind::Error]),
                choice: self.number() as u32,
                content: ArtifactHash(self.hash()),
                left_out_bytes: self.number(),
            }),
            17 => Event::PromptSent(PromptSent {
                episode: EpisodeId(self.number()),
                frame: ArtifactHash(self.hash()),
                base: self.maybe(|it| PromptBase {
                    episode: EpisodeId(it.number()),
                    messages: it.number() as u32,
                }),
                messages: self.list(|it| ArtifactHash(it.hash())),
            }),
            10 => Event::DirectiveGiven(DirectiveGiven {
                episode: EpisodeId(self.number()),
                verb: self.pick(&[Verb::Accept, Verb::Reject, Verb::Confirm, Verb::Unknown]),
                target: self.text(),
            }),
            4 => Event::DiskObserved(DiskObserved {
                path: self.path(),
                finding: self.finding(),
            }),
            5 => Event::ArtifactCaptured(self.captured()),
            6 => Event::ArtifactResolved(self.resolved()),
            7 => Event::Transitioned(Transitioned {
                episode: EpisodeId(self.number()),
                version: VersionId(self.number()),
                entity: self.entity(),
                transition: self.pick(&[
                    Transition::Promote,
                    Transition::Discard,
                    Transition::Supersede,
                    Transition::Remove,
                ]),
                origin: self.origin(),
                cause: self.reason(),
                report: self.maybe(Self::report),
            }),
            8 => Event::PromotionRefused(PromotionRefused {
                episode: EpisodeId(self.number()),
                version: VersionId(self.number()),
                entity: self.entity(),
                rename_of: self.maybe(Self::entity),
                report: self.report(),
            }),
            11 => Event::AuditAsked(AuditAsked {
                episode: EpisodeId(self.number()),
                about: self.list(|it| Audited {
                    version: VersionId(it.number()),
                    entity: it.entity(),
                }),
            }),
            12 => Event::AuditAnswered(AuditAnswered {
                episode: EpisodeId(self.number()),
                outcome: self.pick(&[
                    AuditOutcome::Answered,
                    AuditOutcome::NoAnswer,
                    AuditOutcome::Cancelled,
                    AuditOutcome::Failed,
                ]),
                answer: self.maybe(|it| ArtifactHash(it.hash())),
                verdicts: self.list(|it| AuditVerdict {
                    version: VersionId(it.number()),
                    entity: it.entity(),
                    status: it.pick(&[
                        AuditStatus::Completed,
                        AuditStatus::Partial,
                        AuditStatus::Discussion,
                    ]),
                }),
            }),
            9 => Event::NoticeIssued(NoticeIssued {
                episode: EpisodeId(self.number()),
                session: SessionId(self.number()),
                reason: self.reason(),
                entity: self.maybe(Self::entity),
                other: self.maybe(Self::entity),
            }),
            _ => Event::PromptComposed(PromptComposed {
                episode: EpisodeId(self.number()),
                history: self.pick(&[History::Window, History::Client]),
                hydrated: self.list(|it| Hydrated {
                    entity: it.entity(),
                    version: VersionId(it.number()),
                    reason: it.reason(),
                    tokens: it.number() as u32,
                }),
                dropped: self.list(|it| Dropped {
                    entity: it.entity(),
                    reason: it.reason(),
                }),
                notices: self.number() as u32,
                budget_tokens: self.number() as u32,
            }),
        }
    }
}
