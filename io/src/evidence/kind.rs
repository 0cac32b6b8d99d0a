//! The names of all kinds of events, closed, so that nothing that reads names can forget one.

use tslp_core::event::Event;

/// What kind an event is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// The rules by which what follows is decided.
    RulesInForce,
    /// Bytes that the Vault didn't hold before.
    Content,
    /// A prompt came in.
    PromptReceived,
    /// A piece of a reply.
    ReplySegment,
    /// A reply came to an end.
    ReplyEnded,
    /// A file was looked at.
    DiskObserved,
    /// The user told the proxy something.
    DirectiveGiven,
    /// A shadow audit came to its end.
    AuditAnswered,
    /// What a prompt cost the model server.
    PromptMeasured,
    /// A piece of what a reply holds besides what is judged.
    ReplyPart,
    /// A prompt went to the model.
    PromptSent,
    /// A block of code was found.
    ArtifactCaptured,
    /// A block was, or was not, linked to entities.
    ArtifactResolved,
    /// A version moved.
    Transitioned,
    /// A version stays PROPOSED.
    PromotionRefused,
    /// A shadow audit begins.
    AuditAsked,
    /// Something to tell.
    NoticeIssued,
    /// A request beside the conversations came in.
    SideRequestReceived,
    /// What was put into the client's messages, or withheld from them.
    PromptAmended,
    /// What the model was given to see.
    PromptComposed,
    /// A reply asks for a tool.
    ActionRequested,
    /// The Guardian's decision on a call.
    ActionJudged,
    /// What came of an allowed call.
    ToolRan,
    /// The Operator approved a policy profile.
    PolicyApproved,
    /// A grant was given, prolonged or taken back.
    CapabilityChanged,
}

impl EventKind {
    /// All of them.
    pub const ALL: [Self; 25] = [
        Self::RulesInForce,
        Self::Content,
        Self::PromptReceived,
        Self::ReplySegment,
        Self::ReplyEnded,
        Self::DiskObserved,
        Self::DirectiveGiven,
        Self::AuditAnswered,
        Self::PromptMeasured,
        Self::ReplyPart,
        Self::PromptSent,
        Self::ArtifactCaptured,
        Self::ArtifactResolved,
        Self::Transitioned,
        Self::PromotionRefused,
        Self::AuditAsked,
        Self::NoticeIssued,
        Self::SideRequestReceived,
        Self::PromptAmended,
        Self::PromptComposed,
        Self::ActionRequested,
        Self::ActionJudged,
        Self::ToolRan,
        Self::PolicyApproved,
        Self::CapabilityChanged,
    ];

    /// The event's kind.
    #[must_use]
    pub const fn of(event: &Event) -> Self {
        match event {
            Event::RulesInForce(_) => Self::RulesInForce,
            Event::Content(_) => Self::Content,
            Event::PromptReceived(_) => Self::PromptReceived,
            Event::ReplySegment(_) => Self::ReplySegment,
            Event::ReplyEnded(_) => Self::ReplyEnded,
            Event::DiskObserved(_) => Self::DiskObserved,
            Event::DirectiveGiven(_) => Self::DirectiveGiven,
            Event::AuditAnswered(_) => Self::AuditAnswered,
            Event::PromptMeasured(_) => Self::PromptMeasured,
            Event::ReplyPart(_) => Self::ReplyPart,
            Event::PromptSent(_) => Self::PromptSent,
            Event::ArtifactCaptured(_) => Self::ArtifactCaptured,
            Event::ArtifactResolved(_) => Self::ArtifactResolved,
            Event::Transitioned(_) => Self::Transitioned,
            Event::PromotionRefused(_) => Self::PromotionRefused,
            Event::AuditAsked(_) => Self::AuditAsked,
            Event::NoticeIssued(_) => Self::NoticeIssued,
            Event::SideRequestReceived(_) => Self::SideRequestReceived,
            Event::PromptAmended(_) => Self::PromptAmended,
            Event::PromptComposed(_) => Self::PromptComposed,
            Event::ActionRequested(_) => Self::ActionRequested,
            Event::ActionJudged(_) => Self::ActionJudged,
            Event::ToolRan(_) => Self::ToolRan,
            Event::PolicyApproved(_) => Self::PolicyApproved,
            Event::CapabilityChanged(_) => Self::CapabilityChanged,
        }
    }

    /// Its name in the ledger, without a layout version.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RulesInForce => "rules_in_force",
            Self::Content => "content",
            Self::PromptReceived => "prompt_received",
            Self::ReplySegment => "reply_segment",
            Self::ReplyEnded => "reply_ended",
            Self::DiskObserved => "disk_observed",
            Self::DirectiveGiven => "directive_given",
            Self::AuditAnswered => "audit_answered",
            Self::PromptMeasured => "prompt_measured",
            Self::ReplyPart => "reply_part",
            Self::PromptSent => "prompt_sent",
            Self::ArtifactCaptured => "artifact_captured",
            Self::ArtifactResolved => "artifact_resolved",
            Self::Transitioned => "transitioned",
            Self::PromotionRefused => "promotion_refused",
            Self::AuditAsked => "audit_asked",
            Self::NoticeIssued => "notice_issued",
            Self::SideRequestReceived => "side_request_received",
            Self::PromptAmended => "prompt_amended",
            Self::PromptComposed => "prompt_composed",
            Self::ActionRequested => "action_requested",
            Self::ActionJudged => "action_judged",
            Self::ToolRan => "tool_ran",
            Self::PolicyApproved => "policy_approved",
            Self::CapabilityChanged => "capability_changed",
        }
    }

    /// The kind with this name, with or without a layout version.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let bare = match name.rsplit_once(".v") {
            Some((bare, version)) if version.bytes().all(|byte| byte.is_ascii_digit()) => bare,
            _ => name,
        };
        Self::ALL.into_iter().find(|kind| kind.name() == bare)
    }
}
