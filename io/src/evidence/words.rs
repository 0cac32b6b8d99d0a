//! The stable words that stand for the variants of closed enums in exported events.

use tslp_core::artifact::{Level, Origin, Transition};
use tslp_core::event::{
    AuditOutcome, AuditStatus, ContentKind, Extent, Format, GrantChange, History, PartKind,
    PathEvidence, ReadFailure, Side, Verb,
};
use tslp_core::gate::{Completeness, Profile};
use tslp_core::guardian::{Capability, Class, Decision, Door, Join, Mode, Risk, Step};
use tslp_core::message::{Role, Tools};
use tslp_core::policy::{AuditChoice, HistoryChoice, Placement};

/// An enum with a word for each variant.
pub trait Word: Copy + 'static {
    /// What the enum is called in error texts.
    const NAME: &'static str;

    /// The word.
    fn word(self) -> &'static str;

    /// The variant that a word stands for.
    fn from_word(word: &str) -> Option<Self>;
}

macro_rules! words {
    ($($type:ident, $name:literal: $($variant:ident = $word:literal),+;)+) => {
        $(impl Word for $type {
            const NAME: &'static str = $name;

            fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        })+
    };
}

words! {
    Role, "role": System = "system", User = "user", Assistant = "assistant", Tool = "tool", Other = "other";
    ContentKind, "content kind":
        Message = "message", Reply = "reply", Code = "code", ToolArguments = "tool_arguments",
        Injection = "injection", PromptPiece = "prompt_piece", Evidence = "evidence";
    PartKind, "kind of a reply's part":
        Reasoning = "reasoning", Refusal = "refusal", OtherText = "other_text",
        OtherToolCalls = "other_tool_calls", Error = "error";
    ReadFailure, "read failure":
        Denied = "denied", NotAFile = "not_a_file", Escapes = "escapes_workspace", TooLarge = "too_large",
        Unsteady = "unsteady", TimedOut = "timed_out", Failed = "failed";
    Origin, "origin": Model = "model", User = "user";
    Level, "level": Unresolved = "UNRESOLVED", Inferred = "INFERRED", Confirmed = "CONFIRMED";
    Transition, "transition":
        Promote = "promote", Discard = "discard", Supersede = "supersede", Remove = "remove";
    Completeness, "completeness": Full = "full", Elided = "elided", Truncated = "truncated";
    PathEvidence, "path evidence":
        None = "none", SentenceBefore = "sentence_before", FirstLineComment = "first_line_comment",
        LineBefore = "line_before", InfoString = "info_string", Header = "header";
    Format, "format":
        Fence = "fence", SearchReplace = "search_replace", UnifiedDiff = "unified_diff",
        ApplyPatch = "apply_patch", Tags = "tags", ToolCall = "tool_call",
        LeakedToolCall = "leaked_tool_call", Disk = "disk";
    AuditStatus, "audit status":
        Completed = "completed", Partial = "partial", Discussion = "discussion";
    AuditOutcome, "audit outcome":
        Answered = "answered", NoAnswer = "no_answer", Cancelled = "cancelled", Failed = "failed";
    Verb, "verb": Accept = "accept", Reject = "reject", Confirm = "confirm", Unknown = "unknown",
        Allow = "allow", Revoke = "revoke", Stop = "stop", Resume = "resume";
    GrantChange, "change of a grant":
        Granted = "granted", Renewed = "renewed", Revoked = "revoked";
    Decision, "decision on an action":
        Deny = "DENY", AllowWithLimits = "ALLOW_WITH_LIMITS", Allow = "ALLOW";
    Join, "join of commands": First = "first", And = "&&", Or = "||", Then = ";", Pipe = "|";
    Extent, "extent": WholeFile = "whole_file", Fragment = "fragment";
    History, "history policy": Window = "window", Client = "client";
    Tools, "word on tools": None = "none", Offered = "offered";
    Profile, "profile": Standard = "standard", Strict = "strict";
    AuditChoice, "choice of audits": Off = "off", On = "on", Auto = "auto";
    HistoryChoice, "choice of history": Auto = "auto", Window = "window", Client = "client";
    Placement, "placement": System = "system", User = "user";
    Side, "side of a message": Before = "before", After = "after";
}

/// Enums of the Guardian, which have words of their own.
macro_rules! words_of_their_own {
    ($($type:ident, $name:literal;)+) => {
        $(impl Word for $type {
            const NAME: &'static str = $name;

            fn word(self) -> &'static str {
                self.as_str()
            }

            fn from_word(word: &str) -> Option<Self> {
                Self::of_word(word)
            }
        })+
    };
}

words_of_their_own! {
    Class, "class of commands";
    Door, "door";
    Capability, "capability";
    Risk, "risk";
    Mode, "mode";
    Step, "step of the Guardian";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_those_that_the_engine_uses() {
        for format in [
            Format::Fence,
            Format::SearchReplace,
            Format::UnifiedDiff,
            Format::ApplyPatch,
            Format::Tags,
            Format::ToolCall,
            Format::LeakedToolCall,
            Format::Disk,
        ] {
            assert_eq!(format.word(), format.code());
        }
        for part in [
            PartKind::Reasoning,
            PartKind::Refusal,
            PartKind::OtherText,
            PartKind::OtherToolCalls,
            PartKind::Error,
        ] {
            assert_eq!(part.word(), part.code());
        }
        for verb in [
            Verb::Accept,
            Verb::Reject,
            Verb::Confirm,
            Verb::Unknown,
            Verb::Allow,
            Verb::Revoke,
            Verb::Stop,
            Verb::Resume,
        ] {
            assert_eq!(verb.word(), verb.as_str());
        }
        for level in [Level::Unresolved, Level::Inferred, Level::Confirmed] {
            assert_eq!(level.word(), level.as_str());
        }
        for choice in [AuditChoice::Off, AuditChoice::On, AuditChoice::Auto] {
            assert_eq!(choice.word(), choice.as_str());
        }
        for choice in [
            HistoryChoice::Auto,
            HistoryChoice::Window,
            HistoryChoice::Client,
        ] {
            assert_eq!(choice.word(), choice.as_str());
        }
        for placement in [Placement::System, Placement::User] {
            assert_eq!(placement.word(), placement.as_str());
        }
        for profile in [Profile::Standard, Profile::Strict] {
            assert_eq!(profile.word(), profile.as_str());
        }
        for outcome in [
            AuditOutcome::Answered,
            AuditOutcome::NoAnswer,
            AuditOutcome::Cancelled,
            AuditOutcome::Failed,
        ] {
            assert_eq!(outcome.word(), outcome.code());
        }
    }
}
