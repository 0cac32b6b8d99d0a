//! From core events to version 1 layouts. Nothing is copied but numbers, hashes and the frames of lists.

use tslp_core::artifact::Version;
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event;
use tslp_core::extract::GrammarTag;
use tslp_core::gate::GateReport;
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_core::reason::Reason;

use super::codes::Code;

fn to_layouts<'a, T, L: From<&'a T>>(items: &'a [T]) -> Vec<L> {
    items.iter().map(L::from).collect()
}

impl<'a> From<&'a event::Content> for super::Content<'a> {
    fn from(content: &'a event::Content) -> Self {
        Self {
            hash: content.hash.0,
            kind: content.kind.code(),
            bytes: &content.bytes,
        }
    }
}

impl From<&event::MessageRef> for super::MessageRef {
    fn from(message: &event::MessageRef) -> Self {
        Self {
            role: message.role.code(),
            key: message.key.0,
            content: message.content.0,
        }
    }
}

impl<'a> From<&'a event::PromptReceived> for super::PromptReceived<'a> {
    fn from(prompt: &'a event::PromptReceived) -> Self {
        Self {
            episode: prompt.episode.0,
            session: prompt.session.0,
            session_name: prompt.session_name.as_deref(),
            fork: prompt.fork.map(|fork| super::Fork {
                session: fork.session.0,
                messages: fork.messages,
            }),
            transcript: prompt.transcript.0,
            length: prompt.length,
            model: &prompt.model,
            system: prompt.system.map(|hash| hash.0),
            messages: to_layouts(&prompt.messages),
            older: prompt.older,
            tools: prompt.tools.code(),
        }
    }
}

impl From<&event::ReplySegment> for super::ReplySegment {
    fn from(segment: &event::ReplySegment) -> Self {
        Self {
            episode: segment.episode.0,
            content: segment.content.0,
        }
    }
}

impl From<event::ReplyOutcome> for super::ReplyOutcome {
    fn from(outcome: event::ReplyOutcome) -> Self {
        match outcome {
            event::ReplyOutcome::Completed => Self::Completed,
            event::ReplyOutcome::ClientGone => Self::ClientGone,
            event::ReplyOutcome::UpstreamBroken => Self::UpstreamBroken,
            event::ReplyOutcome::UpstreamRefused(status) => Self::UpstreamRefused(status),
            event::ReplyOutcome::UpstreamUnreachable => Self::UpstreamUnreachable,
            event::ReplyOutcome::Interrupted => Self::Interrupted,
        }
    }
}

impl<'a> From<&'a event::ToolCallRef> for super::ToolCallRef<'a> {
    fn from(call: &'a event::ToolCallRef) -> Self {
        Self {
            name: &call.name,
            arguments: call.arguments.0,
        }
    }
}

impl<'a> From<&'a event::ReplyEnded> for super::ReplyEnded<'a> {
    fn from(reply: &'a event::ReplyEnded) -> Self {
        Self {
            episode: reply.episode.0,
            outcome: reply.outcome.into(),
            finish_reason: reply.finish_reason.as_deref(),
            key: reply.key.0,
            segments: reply.segments.iter().map(|hash| hash.0).collect(),
            tool_calls: to_layouts(&reply.tool_calls),
        }
    }
}

impl<'a> From<&'a GrammarTag> for super::GrammarTag<'a> {
    fn from(tag: &'a GrammarTag) -> Self {
        Self {
            language: &tag.language,
            version: &tag.version,
        }
    }
}

impl<'a> From<&'a Policy> for super::Policy<'a> {
    fn from(policy: &'a Policy) -> Self {
        Self {
            workspace_root: &policy.workspace_root,
            profile: policy.profile.code(),
            thresholds: super::Thresholds {
                nodes_percent: policy.thresholds.nodes_percent,
                tokens_percent: policy.thresholds.tokens_percent,
                correlation_percent: policy.thresholds.correlation_percent,
                rename_percent: policy.thresholds.rename_percent,
            },
            audit: policy.audit.code(),
            history: policy.history.code(),
            placement: policy.placement.code(),
            budget_tokens: policy.budget_tokens,
        }
    }
}

impl<'a> From<&'a event::RulesInForce> for super::RulesInForce<'a> {
    fn from(rules: &'a event::RulesInForce) -> Self {
        Self {
            program: &rules.program,
            rules: rules.rules,
            grammars: to_layouts(&rules.grammars),
            patterns: rules.patterns.0,
            policy: (&rules.policy).into(),
        }
    }
}

impl<'a> From<&'a event::DiskSlice> for super::DiskSlice<'a> {
    fn from(slice: &'a event::DiskSlice) -> Self {
        Self {
            symbol: slice.symbol.as_str(),
            slice: slice.slice.map(|hash| hash.0),
        }
    }
}

impl<'a> From<&'a event::DiskFinding> for super::DiskFinding<'a> {
    fn from(finding: &'a event::DiskFinding) -> Self {
        match finding {
            event::DiskFinding::Missing => Self::Missing,
            event::DiskFinding::File(file) => Self::File(super::DiskFile {
                whole: file.whole.0,
                slices: to_layouts(&file.slices),
                definitions: file.definitions,
                grammar: file.grammar.as_ref().map(Into::into),
            }),
            event::DiskFinding::Unreadable(failure) => Self::Unreadable(Code::code(*failure)),
        }
    }
}

impl<'a> From<&'a event::DirectiveGiven> for super::DirectiveGiven<'a> {
    fn from(given: &'a event::DirectiveGiven) -> Self {
        Self {
            episode: given.episode.0,
            verb: given.verb.code(),
            target: &given.target,
        }
    }
}

impl<'a> From<&'a event::DiskObserved> for super::DiskObserved<'a> {
    fn from(observed: &'a event::DiskObserved) -> Self {
        Self {
            path: observed.path.as_str(),
            finding: (&observed.finding).into(),
        }
    }
}

impl<'a> From<&'a event::ArtifactCaptured> for super::ArtifactCaptured<'a> {
    fn from(captured: &'a event::ArtifactCaptured) -> Self {
        Self {
            capture: captured.capture.0,
            episode: captured.episode.0,
            origin: captured.origin.code(),
            artifact: captured.artifact.0,
            within: captured.within.map(|within| super::Within {
                container: within.container.0,
                start: within.start,
                end: within.end,
            }),
            format: Code::code(captured.format),
            edit: captured.edit.as_ref().map(|edit| super::EditRef {
                texts: edit.texts.iter().map(|text| text.0).collect(),
                bases: edit.bases.iter().map(|version| version.0).collect(),
            }),
            language: captured.language.as_deref(),
            evidence: captured.evidence.code(),
            path: captured.path.as_ref().map(RelPath::as_str),
            completeness: captured.completeness.code(),
        }
    }
}

impl<'a> From<&'a EntityId> for super::Entity<'a> {
    fn from(entity: &'a EntityId) -> Self {
        Self {
            path: entity.path.as_str(),
            symbol: entity.symbol.as_ref().map(Symbol::as_str),
        }
    }
}

impl<'a> From<&'a Version> for super::Version<'a> {
    fn from(version: &'a Version) -> Self {
        Self {
            id: version.id.0,
            entity: (&version.entity).into(),
            slice: version.slice.0,
            spans: version
                .spans
                .iter()
                .map(|span| super::Span {
                    start: span.start,
                    end: span.end,
                })
                .collect(),
            nodes: version.figures.nodes,
            tokens: version.figures.tokens,
        }
    }
}

impl<'a> From<&'a event::ArtifactResolved> for super::ArtifactResolved<'a> {
    fn from(resolved: &'a event::ArtifactResolved) -> Self {
        Self {
            capture: resolved.capture.0,
            level: resolved.level.code(),
            reason: resolved.reason.code(),
            grammar: resolved.grammar.as_ref().map(Into::into),
            patterns: resolved.patterns.0,
            extent: resolved.extent.code(),
            versions: to_layouts(&resolved.versions),
        }
    }
}

impl<'a> From<&'a GateReport> for super::GateReport<'a> {
    fn from(report: &'a GateReport) -> Self {
        Self {
            verdicts: report
                .verdicts
                .iter()
                .map(|verdict| super::Verdict {
                    rule: verdict.rule.code(),
                    met: verdict.met,
                    seen: verdict.seen,
                    needed: verdict.needed,
                })
                .collect(),
            conclusion: report.conclusion.map(Reason::code),
            passed: report.passed,
        }
    }
}

impl<'a> From<&'a event::Transitioned> for super::Transitioned<'a> {
    fn from(moved: &'a event::Transitioned) -> Self {
        Self {
            episode: moved.episode.0,
            version: moved.version.0,
            entity: (&moved.entity).into(),
            transition: moved.transition.code(),
            origin: moved.origin.code(),
            cause: moved.cause.code(),
            report: moved.report.as_ref().map(Into::into),
        }
    }
}

impl<'a> From<&'a event::PromotionRefused> for super::PromotionRefused<'a> {
    fn from(refused: &'a event::PromotionRefused) -> Self {
        Self {
            episode: refused.episode.0,
            version: refused.version.0,
            entity: (&refused.entity).into(),
            rename_of: refused.rename_of.as_ref().map(Into::into),
            report: (&refused.report).into(),
        }
    }
}

impl<'a> From<&'a event::Audited> for super::Audited<'a> {
    fn from(audited: &'a event::Audited) -> Self {
        Self {
            version: audited.version.0,
            entity: (&audited.entity).into(),
        }
    }
}

impl<'a> From<&'a event::AuditAsked> for super::AuditAsked<'a> {
    fn from(asked: &'a event::AuditAsked) -> Self {
        Self {
            episode: asked.episode.0,
            about: to_layouts(&asked.about),
        }
    }
}

impl<'a> From<&'a event::AuditVerdict> for super::AuditVerdict<'a> {
    fn from(verdict: &'a event::AuditVerdict) -> Self {
        Self {
            version: verdict.version.0,
            entity: (&verdict.entity).into(),
            status: Code::code(verdict.status),
        }
    }
}

impl<'a> From<&'a event::AuditAnswered> for super::AuditAnswered<'a> {
    fn from(answered: &'a event::AuditAnswered) -> Self {
        Self {
            episode: answered.episode.0,
            outcome: Code::code(answered.outcome),
            answer: answered.answer.map(|hash| hash.0),
            verdicts: to_layouts(&answered.verdicts),
        }
    }
}

impl<'a> From<&'a event::NoticeIssued> for super::NoticeIssued<'a> {
    fn from(notice: &'a event::NoticeIssued) -> Self {
        Self {
            episode: notice.episode.0,
            session: notice.session.0,
            reason: notice.reason.code(),
            entity: notice.entity.as_ref().map(Into::into),
            other: notice.other.as_ref().map(Into::into),
        }
    }
}

impl<'a> From<&'a event::Hydrated> for super::Hydrated<'a> {
    fn from(hydrated: &'a event::Hydrated) -> Self {
        Self {
            entity: (&hydrated.entity).into(),
            version: hydrated.version.0,
            reason: hydrated.reason.code(),
            tokens: hydrated.tokens,
        }
    }
}

impl<'a> From<&'a event::Dropped> for super::Dropped<'a> {
    fn from(dropped: &'a event::Dropped) -> Self {
        Self {
            entity: (&dropped.entity).into(),
            reason: dropped.reason.code(),
        }
    }
}

impl From<event::PromptCost> for super::PromptCost {
    fn from(cost: event::PromptCost) -> Self {
        Self {
            chars_total: cost.chars_total,
            chars_anew: cost.chars_anew,
        }
    }
}

impl From<event::ServerUsage> for super::ServerUsage {
    fn from(usage: event::ServerUsage) -> Self {
        Self {
            prompt_tokens: usage.prompt_tokens,
            cached_tokens: usage.cached_tokens,
            evaluated_tokens: usage.evaluated_tokens,
        }
    }
}

impl From<&event::PromptMeasured> for super::PromptMeasured {
    fn from(measured: &event::PromptMeasured) -> Self {
        Self {
            episode: measured.episode.0,
            client: measured.client.into(),
            sent: measured.sent.into(),
            server: measured.server.map(Into::into),
        }
    }
}

impl From<&event::ReplyPart> for super::ReplyPart {
    fn from(part: &event::ReplyPart) -> Self {
        Self {
            episode: part.episode.0,
            kind: Code::code(part.kind),
            choice: part.choice,
            content: part.content.0,
            left_out_bytes: part.left_out_bytes,
        }
    }
}

impl From<&event::PromptSent> for super::PromptSent {
    fn from(sent: &event::PromptSent) -> Self {
        Self {
            episode: sent.episode.0,
            frame: sent.frame.0,
            base: sent.base.map(|base| super::PromptBase {
                episode: base.episode.0,
                messages: base.messages,
            }),
            messages: sent.messages.iter().map(|hash| hash.0).collect(),
        }
    }
}

impl<'a> From<&'a event::PromptComposed> for super::PromptComposed<'a> {
    fn from(composed: &'a event::PromptComposed) -> Self {
        Self {
            episode: composed.episode.0,
            history: composed.history.code(),
            hydrated: to_layouts(&composed.hydrated),
            dropped: to_layouts(&composed.dropped),
            notices: composed.notices,
            budget_tokens: composed.budget_tokens,
        }
    }
}

impl<'a> From<&'a event::SideRequestReceived> for super::SideRequestReceived<'a> {
    fn from(request: &'a event::SideRequestReceived) -> Self {
        Self {
            episode: request.episode.0,
            model: &request.model,
            messages: request.messages,
            transcript: request.transcript.0,
        }
    }
}

impl From<&event::Injected> for super::Injected {
    fn from(injected: &event::Injected) -> Self {
        Self {
            message: injected.message.0,
            position: injected.position,
            side: injected.side.code(),
            text: injected.text.0,
        }
    }
}

impl<'a> From<&'a event::Withheld> for super::Withheld<'a> {
    fn from(withheld: &'a event::Withheld) -> Self {
        Self {
            entity: (&withheld.entity).into(),
            slice: withheld.slice.0,
            position: withheld.position,
        }
    }
}

impl<'a> From<&'a event::PromptAmended> for super::PromptAmended<'a> {
    fn from(amended: &'a event::PromptAmended) -> Self {
        Self {
            episode: amended.episode.0,
            injected: amended.injected.as_ref().map(Into::into),
            withheld: to_layouts(&amended.withheld),
        }
    }
}
