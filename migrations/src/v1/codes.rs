//! The numbers of enums without data in stored events. New variants get new numbers; a number never changes its meaning.

use tslp_core::artifact::{Level, Origin, Transition};
use tslp_core::event::{
    AuditOutcome, AuditStatus, ContentKind, Extent, Format, GrantChange, History, PartKind,
    PathEvidence, ReadFailure, Side, Verb,
};
use tslp_core::gate::{Completeness, GateProfile};
use tslp_core::guardian::{Capability, Class, Decision, Door, Join, Mode, Risk, Step};
use tslp_core::message::{Role, Tools};
use tslp_core::policy::{AuditChoice, HistoryChoice, Placement};

/// An enum with a stored number for each variant.
pub(crate) trait Code: Copy + 'static {
    /// The enum's name in error texts.
    const NAME: &'static str;

    /// The stored number.
    fn code(self) -> u8;

    /// The variant with this number.
    fn from_code(code: u8) -> Option<Self>;
}

macro_rules! codes {
    ($($type:ident: $($variant:ident = $code:literal),+;)+) => {
        $(impl Code for $type {
            const NAME: &'static str = <$type>::TITLE;

            fn code(self) -> u8 {
                match self { $(Self::$variant => $code,)+ }
            }

            fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)+ _ => None }
            }
        })+
    };
}

codes! {
    Role: System = 1, User = 2, Assistant = 3, Tool = 4, Other = 5;
    ContentKind:
        Message = 1, Reply = 2, Code = 3, ToolArguments = 4, Injection = 5, PromptPiece = 6,
        Evidence = 7;
    PartKind:
        Reasoning = 1, Refusal = 2, OtherText = 3, OtherToolCalls = 4, Error = 5;
    ReadFailure:
        Denied = 1, NotAFile = 2, Escapes = 3, TooLarge = 4, Unsteady = 5, TimedOut = 6, Failed = 7;
    Origin: Model = 1, User = 2;
    Level: Unresolved = 1, Inferred = 2, Confirmed = 3;
    Transition: Promote = 1, Discard = 2, Supersede = 3, Remove = 4;
    Completeness: Full = 1, Elided = 2, Truncated = 3;
    PathEvidence:
        None = 1, SentenceBefore = 2, FirstLineComment = 3, LineBefore = 4, InfoString = 5, Header = 6;
    Format:
        Fence = 1, SearchReplace = 2, UnifiedDiff = 3, ApplyPatch = 4, Tags = 5, ToolCall = 6, LeakedToolCall = 7,
        Disk = 8;
    AuditStatus: Completed = 1, Partial = 2, Discussion = 3;
    AuditOutcome: Answered = 1, NoAnswer = 2, Cancelled = 3, Failed = 4;
    Verb:
        Accept = 1, Reject = 2, Confirm = 3, Unknown = 4, Allow = 5, Revoke = 6, Stop = 7, Resume = 8;
    Class:
        Read = 1, Build = 2, FsMutate = 3, Package = 4, Network = 5, Shell = 6, System = 7, Unknown = 8;
    Door: Bridge = 1, Client = 2, Operator = 3;
    Capability: FsRead = 1, BuildExec = 2, ShellExec = 3;
    Risk: Low = 1, Medium = 2, High = 3, Critical = 4;
    Mode:
        Ready = 1, NoAiProvider = 2, Attest = 3, Boot = 4, SafeMode = 5, OpPreserve = 6;
    Decision: Deny = 1, AllowWithLimits = 2, Allow = 3;
    Join: First = 1, And = 2, Or = 3, Then = 4, Pipe = 5;
    Step:
        Invariants = 1, Mode = 2, Scope = 3, Capability = 4, Class = 5, Budget = 6, Rules = 7, DefaultDeny = 8;
    GrantChange: Granted = 1, Renewed = 2, Revoked = 3;
    Extent: WholeFile = 1, Fragment = 2;
    History: Window = 1, Client = 2;
    Tools: None = 1, Offered = 2;
    GateProfile: Standard = 1, Strict = 2;
    AuditChoice: Off = 1, On = 2, Auto = 3;
    HistoryChoice: Auto = 1, Window = 2, Client = 3;
    Placement: System = 1, User = 2;
    Side: Before = 1, After = 2;
}
