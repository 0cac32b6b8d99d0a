//! One or more events of every kind, with every optional part both there and not. Their bytes are frozen.

use tslp_core::artifact::{Level, Origin, Transition, Version};
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{
    ActionJudged, ActionRequested, ArtifactCaptured, ArtifactResolved, AuditAnswered, AuditAsked,
    AuditOutcome, AuditStatus, AuditVerdict, Audited, CallId, CapabilityChanged, Content,
    ContentKind, Denial, DirectiveGiven, DiskFile, DiskFinding, DiskObserved, DiskSlice, Dropped,
    EditRef, Event, Extent, Fork, Format, GrantChange, History, Hydrated, Injected, LinkSeen,
    MessageRef, NoticeIssued, PartKind, PathEvidence, PolicyApproved, PromotionRefused,
    PromptAmended, PromptBase, PromptComposed, PromptCost, PromptMeasured, PromptReceived,
    PromptSent, ReadFailure, ReplyEnded, ReplyOutcome, ReplyPart, ReplySegment, RequestedCommand,
    RulesInForce, ServerUsage, Side, SideRequestReceived, ToolCallRef, ToolOutcome, ToolRan,
    Transitioned, Verb, Withheld, Within,
};
use tslp_core::extract::GrammarTag;
use tslp_core::gate::{Completeness, GateProfile, GateReport, Thresholds, Verdict};
use tslp_core::guardian::{Capability, Class, Decision, Door, Join, Mode, Risk, Step};
use tslp_core::hash::{ArtifactHash, MessageKey, SliceHash, TranscriptHash};
use tslp_core::ids::{CaptureId, EpisodeId, SessionId, UnixMillis, VersionId};
use tslp_core::message::{Role, Tools};
use tslp_core::path::RelPath;
use tslp_core::policy::{AuditChoice, HistoryChoice, Placement, Policy};
use tslp_core::reason::Reason;
use tslp_core::slice::{Figures, Span};

/// The events of release v1, in their frozen order. Later events are samples of later releases.
pub(crate) fn samples_of_v1() -> Vec<Event> {
    [
        contents(),
        prompts(),
        replies(),
        disk(),
        directives(),
        captures(),
        resolutions(),
        transitions(),
        audits(),
        notices(),
        compositions(),
        rules(),
    ]
    .concat()
}

/// Events of layouts that came with release v4: the rules say how long tombstones are kept.
pub(crate) fn samples_of_v4() -> Vec<Event> {
    let numbers = [0, 11, u32::MAX];
    let events = numbers.into_iter().zip(rules()).map(|(number, mut event)| {
        if let Event::RulesInForce(rules) = &mut event {
            rules.policy.tombstone_episodes = number;
        }
        event
    });
    events.collect()
}

/// Events of tools, which came with release v5, and the directives about them.
pub(crate) fn samples_of_v5() -> Vec<Event> {
    const OUTPUT: &[u8] = b"[evidence]\nsrc/a.c:1: \xff";
    let call = |number| CallId {
        episode: EpisodeId(3),
        number,
    };
    let requested = |number, flaw: Option<&str>, join, mode| {
        Event::ActionRequested(ActionRequested {
            call: call(number),
            session: SessionId(2),
            door: *Door::ALL.iter().cycle().nth(number as usize).unwrap(),
            round: u32::MAX,
            text: hash(1),
            flaw: flaw.map(str::to_owned),
            commands: match flaw {
                Some(_) => Vec::new(),
                None => vec![RequestedCommand {
                    join,
                    words: vec!["grep".into(), String::new(), "ä\n".into()],
                }],
            },
            mode,
            scope: hash(2),
            links: vec![LinkSeen {
                path: "/w/a".into(),
                leads_to: "/etc".into(),
            }],
        })
    };
    let mut events = vec![Event::Content(Content {
        hash: ArtifactHash::of(OUTPUT),
        kind: ContentKind::Evidence,
        bytes: OUTPUT.to_vec().into(),
    })];
    events.push(requested(1, Some("it is no JSON"), Join::First, Mode::Boot));
    let joins = [
        Join::First,
        Join::And,
        Join::Or,
        Join::Then,
        Join::Pipe,
        Join::First,
    ];
    let modes = Mode::ALL.iter().copied();
    events.extend(
        joins
            .into_iter()
            .zip(modes)
            .zip(2..)
            .map(|((join, mode), number)| requested(number, None, join, mode)),
    );
    let decisions = Decision::ALL.iter().copied().cycle();
    events.extend(Class::ALL.iter().zip(decisions).map(|(class, decision)| {
        let is_denied = decision == Decision::Deny;
        Event::ActionJudged(ActionJudged {
            call: call(1),
            class: *class,
            decision,
            denials: match is_denied {
                false => Vec::new(),
                true => Step::ALL
                    .iter()
                    .zip(0..)
                    .map(|(step, command)| Denial {
                        command,
                        step: *step,
                        code: "SCOPE-BREACH".into(),
                        why: "/etc is outside of the workspace".into(),
                    })
                    .collect(),
            },
            timeout_seconds: (!is_denied).then_some(300),
            rule: (!is_denied).then(|| "read".into()),
            policy: is_denied.then(|| hash(5)),
        })
    }));
    let outcomes = [
        ToolOutcome::Exited(-1),
        ToolOutcome::Signalled(9),
        ToolOutcome::TimedOut,
        ToolOutcome::Limit("memory".into()),
        ToolOutcome::NotStarted("no program".into()),
        ToolOutcome::Breach("ptrace".into()),
        ToolOutcome::Stopped,
        ToolOutcome::Interrupted,
    ];
    events.extend(outcomes.into_iter().zip(0u8..).map(|(outcome, at)| {
        Event::ToolRan(ToolRan {
            call: call(at.into()),
            outcome,
            output: (at % 2 == 0).then(|| ArtifactHash::of(OUTPUT)),
            redacted: at == 3,
            bytes: u64::MAX,
            duration_ms: 12,
            cpu_ms: 3,
            rss_bytes_max: 1 << 40,
        })
    }));
    events.push(Event::PolicyApproved(PolicyApproved {
        profile_id: "tests-only".into(),
        text: hash(5),
    }));
    let changes = [
        GrantChange::Granted,
        GrantChange::Renewed,
        GrantChange::Revoked,
    ];
    let grants = Capability::ALL.iter().zip(changes);
    events.extend(
        grants
            .zip(Risk::ALL.iter().rev())
            .map(|((capability, change), risk)| {
                Event::CapabilityChanged(CapabilityChanged {
                    session: SessionId(2),
                    change,
                    capability: *capability,
                    risk: *risk,
                    scope_root: hash(6),
                    issued_at: UnixMillis(-1),
                    expires_at: UnixMillis(i64::MAX),
                    renewed_count: 7,
                    last_renewed_at: (change == GrantChange::Renewed).then_some(UnixMillis(5)),
                })
            }),
    );
    events.push(Event::CapabilityChanged(CapabilityChanged {
        session: SessionId(u64::MAX),
        change: GrantChange::Granted,
        capability: Capability::BuildExec,
        risk: Risk::Low,
        scope_root: hash(6),
        issued_at: UnixMillis(0),
        expires_at: UnixMillis(1),
        renewed_count: 0,
        last_renewed_at: None,
    }));
    let verbs = [Verb::Allow, Verb::Revoke, Verb::Stop, Verb::Resume];
    events.extend(verbs.map(|verb| {
        Event::DirectiveGiven(DirectiveGiven {
            episode: EpisodeId(3),
            verb,
            target: "BUILD_EXEC for 15m".into(),
        })
    }));
    events
}

/// Events of layouts that came with release v2.
pub(crate) fn samples_of_v2() -> Vec<Event> {
    [measurements(), amendments(), side_requests()].concat()
}

/// Events of layouts that came with release v3.
pub(crate) fn samples_of_v3() -> Vec<Event> {
    const PIECE: &[u8] = b"{\"role\":\"user\",\"content\":\"\xff\"}";
    let kinds = [
        PartKind::Reasoning,
        PartKind::Refusal,
        PartKind::OtherText,
        PartKind::OtherToolCalls,
        PartKind::Error,
    ];
    let parts = kinds.into_iter().zip(1u8..).map(|(kind, byte)| {
        Event::ReplyPart(ReplyPart {
            episode: EpisodeId(3),
            kind,
            choice: u32::from(byte) - 1,
            content: hash(byte),
            left_out_bytes: if byte == 5 { u64::MAX } else { 0 },
        })
    });
    let sent = |episode, base, messages| {
        Event::PromptSent(PromptSent {
            episode: EpisodeId(episode),
            frame: hash(9),
            base,
            messages,
        })
    };
    let base = PromptBase {
        episode: EpisodeId(3),
        messages: u32::MAX,
    };
    let mut events: Vec<Event> = parts.collect();
    events.push(Event::Content(Content {
        hash: ArtifactHash::of(PIECE),
        kind: ContentKind::PromptPiece,
        bytes: PIECE.to_vec().into(),
    }));
    events.push(sent(3, None, vec![ArtifactHash::of(PIECE), hash(8)]));
    events.push(sent(u64::MAX, Some(base), Vec::new()));
    events
}

fn amendments() -> Vec<Event> {
    const INJECTION: &[u8] = b"[STATE NOTICE]\nx\n[END NOTICE]";
    let injected = |side, position| Injected {
        message: MessageKey([7; 32]),
        position,
        side,
        text: ArtifactHash::of(INJECTION),
    };
    let withheld = |entity, position| Withheld {
        entity,
        slice: SliceHash([9; 32]),
        position,
    };
    let amended = |injected, withheld| {
        Event::PromptAmended(PromptAmended {
            episode: EpisodeId(3),
            injected,
            withheld,
        })
    };
    vec![
        Event::Content(Content {
            hash: ArtifactHash::of(INJECTION),
            kind: ContentKind::Injection,
            bytes: INJECTION.into(),
        }),
        amended(Some(injected(Side::Before, 1)), Vec::new()),
        amended(
            Some(injected(Side::After, u32::MAX)),
            vec![withheld(file_entity(), 0), withheld(symbol_entity(), 7)],
        ),
        amended(None, vec![withheld(symbol_entity(), 2)]),
    ]
}

fn side_requests() -> Vec<Event> {
    let received = |episode, model: &str, messages| {
        Event::SideRequestReceived(SideRequestReceived {
            episode: EpisodeId(episode),
            model: model.into(),
            messages,
            transcript: TranscriptHash([5; 32]),
        })
    };
    vec![received(1, "", 0), received(u64::MAX, "größe", u32::MAX)]
}

/// The samples of all releases.
pub(crate) fn all_samples() -> Vec<Event> {
    [
        samples_of_v1(),
        samples_of_v2(),
        samples_of_v3(),
        samples_of_v4(),
        samples_of_v5(),
    ]
    .concat()
}

fn hash(byte: u8) -> ArtifactHash {
    ArtifactHash([byte; 32])
}

fn path(text: &str) -> RelPath {
    RelPath::from_normalised(text)
}

fn file_entity() -> EntityId {
    EntityId::file(path("src/list.c"))
}

fn symbol_entity() -> EntityId {
    EntityId::symbol(path("src/größe.cpp"), Symbol::new("ns::List::push"))
}

fn grammar() -> GrammarTag {
    GrammarTag {
        language: "cpp".into(),
        version: "0.23.4+1".into(),
    }
}

fn rules() -> Vec<Event> {
    let choices = [
        (AuditChoice::Off, HistoryChoice::Auto),
        (AuditChoice::On, HistoryChoice::Window),
        (AuditChoice::Auto, HistoryChoice::Client),
    ];
    let mut events = vec![Event::RulesInForce(RulesInForce {
        program: String::new(),
        rules: 0,
        grammars: Vec::new(),
        patterns: hash(0),
        policy: Policy::default(),
    })];
    events.extend(choices.map(|(audit, history)| {
        Event::RulesInForce(RulesInForce {
            program: "0.1.0".into(),
            rules: 1,
            grammars: vec![grammar(), grammar()],
            patterns: hash(5),
            policy: Policy {
                workspace_root: "/home/größer/project".into(),
                profile: GateProfile::Strict,
                thresholds: Thresholds {
                    nodes_percent: 1,
                    tokens_percent: 2,
                    correlation_percent: 3,
                    rename_percent: 4,
                },
                audit,
                history,
                placement: Placement::User,
                budget_tokens: u32::MAX,
                tombstone_episodes: 10,
            },
        })
    }));
    events
}

fn contents() -> Vec<Event> {
    let texts: [(ContentKind, &[u8]); 5] = [
        (ContentKind::Message, b"Please add a test to `src/list.c`."),
        (ContentKind::Reply, b""),
        (ContentKind::Code, b"int f(void) {\n  return 1;\n}\n"),
        (ContentKind::ToolArguments, br#"{"path":"a.c"}"#),
        (ContentKind::Message, b"\x00\xff not UTF-8 \xc3"),
    ];
    texts
        .iter()
        .map(|(kind, bytes)| {
            Event::Content(Content {
                hash: ArtifactHash::of(bytes),
                kind: *kind,
                bytes: (*bytes).into(),
            })
        })
        .collect()
}

fn prompts() -> Vec<Event> {
    let roles = [
        Role::System,
        Role::User,
        Role::Assistant,
        Role::Tool,
        Role::Other,
    ];
    let messages = roles
        .iter()
        .zip(1u8..)
        .map(|(role, byte)| MessageRef {
            role: *role,
            key: MessageKey([byte; 32]),
            content: hash(byte + 16),
        })
        .collect();
    vec![
        Event::PromptReceived(PromptReceived {
            episode: EpisodeId(1),
            session: SessionId(1),
            session_name: None,
            fork: None,
            transcript: TranscriptHash::EMPTY,
            length: 0,
            model: String::new(),
            system: None,
            messages: Vec::new(),
            older: 0,
            tools: Tools::None,
        }),
        Event::PromptReceived(PromptReceived {
            episode: EpisodeId(u64::MAX),
            session: SessionId(2),
            session_name: Some("größer".into()),
            fork: Some(Fork {
                session: SessionId(1),
                messages: 3,
            }),
            transcript: TranscriptHash([7; 32]),
            length: 9,
            model: "qwen2.5-coder:7b".into(),
            system: Some(hash(9)),
            messages,
            older: 4,
            tools: Tools::Offered,
        }),
    ]
}

fn replies() -> Vec<Event> {
    let outcomes = [
        ReplyOutcome::Completed,
        ReplyOutcome::ClientGone,
        ReplyOutcome::UpstreamBroken,
        ReplyOutcome::UpstreamRefused(429),
        ReplyOutcome::UpstreamUnreachable,
        ReplyOutcome::Interrupted,
    ];
    let mut events = vec![Event::ReplySegment(ReplySegment {
        episode: EpisodeId(2),
        content: hash(1),
    })];
    events.extend(outcomes.iter().map(|outcome| {
        let completed = *outcome == ReplyOutcome::Completed;
        Event::ReplyEnded(ReplyEnded {
            episode: EpisodeId(2),
            outcome: *outcome,
            finish_reason: completed.then(|| "tool_calls".into()),
            key: MessageKey([3; 32]),
            segments: if completed {
                vec![hash(1), hash(2)]
            } else {
                Vec::new()
            },
            tool_calls: if completed {
                vec![ToolCallRef {
                    name: "write_file".into(),
                    arguments: hash(4),
                }]
            } else {
                Vec::new()
            },
        })
    }));
    events
}

fn disk() -> Vec<Event> {
    let failures = [
        ReadFailure::Denied,
        ReadFailure::NotAFile,
        ReadFailure::Escapes,
        ReadFailure::TooLarge,
        ReadFailure::Unsteady,
        ReadFailure::TimedOut,
        ReadFailure::Failed,
    ];
    let mut findings = vec![
        DiskFinding::Missing,
        DiskFinding::File(DiskFile {
            whole: SliceHash([5; 32]),
            slices: Vec::new(),
            definitions: 0,
            grammar: None,
        }),
        DiskFinding::File(DiskFile {
            whole: SliceHash([6; 32]),
            slices: vec![
                DiskSlice {
                    symbol: Symbol::new("gone"),
                    slice: None,
                },
                DiskSlice {
                    symbol: Symbol::new("ns::List::push"),
                    slice: Some(SliceHash([7; 32])),
                },
            ],
            definitions: 12,
            grammar: Some(grammar()),
        }),
    ];
    findings.extend(failures.map(DiskFinding::Unreadable));
    findings
        .into_iter()
        .map(|finding| {
            Event::DiskObserved(DiskObserved {
                path: path("src/list.c"),
                finding,
            })
        })
        .collect()
}

fn directives() -> Vec<Event> {
    [Verb::Accept, Verb::Reject, Verb::Confirm, Verb::Unknown]
        .map(|verb| {
            Event::DirectiveGiven(DirectiveGiven {
                episode: EpisodeId(6),
                verb,
                target: "src/größe.c::f".into(),
            })
        })
        .into()
}

fn captures() -> Vec<Event> {
    let captured = |evidence, completeness, origin, named: bool| {
        Event::ArtifactCaptured(ArtifactCaptured {
            capture: CaptureId(1),
            episode: EpisodeId(2),
            origin,
            artifact: hash(8),
            within: named.then_some(Within {
                container: hash(9),
                start: 10,
                end: 4_000_000_000,
            }),
            format: match completeness {
                Completeness::Full => Format::Fence,
                Completeness::Elided => Format::SearchReplace,
                Completeness::Truncated => Format::LeakedToolCall,
            },
            edit: (completeness == Completeness::Elided).then(|| EditRef {
                texts: vec![hash(11), hash(14)],
                bases: vec![VersionId(3), VersionId(4)],
            }),
            language: named.then(|| "c++".into()),
            evidence,
            path: named.then(|| path("src/größe.cpp")),
            completeness,
        })
    };
    vec![
        captured(PathEvidence::None, Completeness::Full, Origin::Model, false),
        captured(
            PathEvidence::SentenceBefore,
            Completeness::Full,
            Origin::User,
            false,
        ),
        captured(
            PathEvidence::FirstLineComment,
            Completeness::Elided,
            Origin::Model,
            true,
        ),
        captured(
            PathEvidence::LineBefore,
            Completeness::Truncated,
            Origin::Model,
            true,
        ),
        captured(
            PathEvidence::InfoString,
            Completeness::Full,
            Origin::User,
            true,
        ),
        captured(PathEvidence::Header, Completeness::Full, Origin::User, true),
    ]
}

fn resolutions() -> Vec<Event> {
    let version = |id, entity, spans| Version {
        id: VersionId(id),
        entity,
        slice: SliceHash([10; 32]),
        spans,
        figures: Figures {
            nodes: 70,
            tokens: 90,
        },
    };
    vec![
        Event::ArtifactResolved(ArtifactResolved {
            capture: CaptureId(1),
            level: Level::Unresolved,
            reason: Reason::NoEntity,
            grammar: None,
            patterns: hash(12),
            extent: Extent::Fragment,
            versions: Vec::new(),
        }),
        Event::ArtifactResolved(ArtifactResolved {
            capture: CaptureId(2),
            level: Level::Inferred,
            reason: Reason::CorrelatedWithOneFile,
            grammar: Some(grammar()),
            patterns: hash(12),
            extent: Extent::Fragment,
            versions: vec![version(1, symbol_entity(), vec![Span { start: 0, end: 9 }])],
        }),
        Event::ArtifactResolved(ArtifactResolved {
            capture: CaptureId(3),
            level: Level::Confirmed,
            reason: Reason::AstMatch,
            grammar: Some(grammar()),
            patterns: hash(12),
            extent: Extent::WholeFile,
            versions: vec![
                version(2, file_entity(), Vec::new()),
                version(
                    3,
                    symbol_entity(),
                    vec![Span { start: 0, end: 9 }, Span { start: 20, end: 20 }],
                ),
            ],
        }),
    ]
}

/// The reasons as they were when version 1 was frozen: later ones don't change these bytes.
pub(crate) fn frozen_reasons() -> Vec<Reason> {
    include_str!("../../fixtures/reasons.txt")
        .lines()
        .map(|code| {
            Reason::from_code(code)
                .unwrap_or_else(|| panic!("`{code}` stands in ledgers and is gone"))
        })
        .collect()
}

fn report(passed: bool) -> GateReport {
    let verdicts = frozen_reasons()
        .into_iter()
        .zip(0u64..)
        .map(|(rule, number)| Verdict {
            rule,
            met: number % 2 == 0,
            seen: number,
            needed: u64::MAX - number,
        })
        .collect();
    GateReport {
        verdicts,
        conclusion: passed.then_some(Reason::StructuralParity),
        passed,
    }
}

fn transitions() -> Vec<Event> {
    let arrows = [
        (Transition::Promote, Reason::WriteHead, Origin::User),
        (
            Transition::Discard,
            Reason::ProposalOverruled,
            Origin::Model,
        ),
        (Transition::Supersede, Reason::Replaced, Origin::Model),
        (Transition::Remove, Reason::OmittedByUpdate, Origin::User),
    ];
    let mut events: Vec<Event> = arrows
        .iter()
        .map(|(transition, cause, origin)| {
            Event::Transitioned(Transitioned {
                episode: EpisodeId(4),
                version: VersionId(5),
                entity: symbol_entity(),
                transition: *transition,
                origin: *origin,
                cause: *cause,
                report: (*transition == Transition::Promote).then(|| report(true)),
            })
        })
        .collect();
    events.push(Event::PromotionRefused(PromotionRefused {
        episode: EpisodeId(4),
        version: VersionId(6),
        entity: file_entity(),
        rename_of: Some(symbol_entity()),
        report: report(false),
    }));
    events.push(Event::PromotionRefused(PromotionRefused {
        episode: EpisodeId(4),
        version: VersionId(6),
        entity: file_entity(),
        rename_of: None,
        report: GateReport::default(),
    }));
    events
}

fn audits() -> Vec<Event> {
    let mut events = vec![Event::AuditAsked(AuditAsked {
        episode: EpisodeId(4),
        about: vec![Audited {
            version: VersionId(6),
            entity: symbol_entity(),
        }],
    })];
    let outcomes = [
        (AuditOutcome::Answered, AuditStatus::Completed),
        (AuditOutcome::NoAnswer, AuditStatus::Partial),
        (AuditOutcome::Cancelled, AuditStatus::Discussion),
        (AuditOutcome::Failed, AuditStatus::Completed),
    ];
    events.extend(outcomes.map(|(outcome, status)| {
        Event::AuditAnswered(AuditAnswered {
            episode: EpisodeId(4),
            outcome,
            answer: (outcome != AuditOutcome::Cancelled).then(|| hash(13)),
            verdicts: vec![AuditVerdict {
                version: VersionId(6),
                entity: file_entity(),
                status,
            }],
        })
    }));
    events
}

fn notices() -> Vec<Event> {
    [None, Some(symbol_entity())]
        .into_iter()
        .map(|entity| {
            Event::NoticeIssued(NoticeIssued {
                episode: EpisodeId(7),
                session: SessionId(8),
                reason: Reason::Unlinked,
                other: entity.as_ref().map(|_| file_entity()),
                entity,
            })
        })
        .collect()
}

fn measurements() -> Vec<Event> {
    let measured = |server| {
        Event::PromptMeasured(PromptMeasured {
            episode: EpisodeId(3),
            client: PromptCost {
                chars_total: 40_000,
                chars_anew: 30_000,
            },
            sent: PromptCost {
                chars_total: 50_000,
                chars_anew: 700,
            },
            server,
        })
    };
    let usage = |prompt_tokens, cached_tokens, evaluated_tokens| ServerUsage {
        prompt_tokens,
        cached_tokens,
        evaluated_tokens,
    };
    Vec::from([
        measured(None),
        measured(Some(usage(Some(12_000), None, None))),
        measured(Some(usage(None, Some(11_800), Some(200)))),
    ])
}

fn compositions() -> Vec<Event> {
    vec![
        Event::PromptComposed(PromptComposed {
            episode: EpisodeId(9),
            history: History::Window,
            hydrated: Vec::new(),
            dropped: Vec::new(),
            notices: 0,
            budget_tokens: 8192,
        }),
        Event::PromptComposed(PromptComposed {
            episode: EpisodeId(10),
            history: History::Client,
            hydrated: vec![Hydrated {
                entity: symbol_entity(),
                version: VersionId(3),
                reason: Reason::Mentioned,
                tokens: 120,
            }],
            dropped: vec![
                Dropped {
                    entity: file_entity(),
                    reason: Reason::Stale,
                },
                Dropped {
                    entity: symbol_entity(),
                    reason: Reason::OverBudget,
                },
            ],
            notices: 2,
            budget_tokens: 4096,
        }),
    ]
}
