//! Reason codes: one stable snake_case word per rule, for events, notices and diagnostics. docs/rules.md lists them, CONTRIBUTING.md says what a new one needs.

use core::fmt;

use crate::stored::{Meaningless, stored_text};

/// What several reasons have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReasonClass {
    /// A change is refused because code is missing. The notice about it names what is missing.
    LostCode,
    /// A change is judged by nobody: it is neither true nor refused.
    Unjudged,
    /// A change is refused until the user confirms it: something other than gate A keeps it out.
    LeftToUser,
    /// What is true of an entity is contradicted, by its file or by the user (spec §15).
    Divergence,
    /// A notice of a change outside of the conversation, or one that takes such a notice back.
    ChangedOutside,
    /// The model's next step depends on the notice: it says what to mend, or what not to count on. All others wait for the user's next
    /// prompt, so that a chain of tool calls goes on undisturbed.
    NextStep,
    /// A directive did what it says.
    Done,
    /// A directive is answered with it.
    Answer,
    /// Tools are halted until the Operator resumes them.
    Halts,
    /// The tools of every session are halted, and not of one alone.
    HaltsAll,
}

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal $([$($class:ident)+])?,)+) => {
        /// The reason for a decision. The codes are stable, because ledgers hold them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Reason {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Reason {
            /// Every reason, in the order of declaration.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The stable code.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)+ }
            }

            /// What it means, for people: its documentation, without a full stop.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                let text = match self { $(Self::$name => concat!($($doc),+),)+ };
                let (text, _) = text.split_once(" (spec").unwrap_or((text, ""));
                text.trim().trim_end_matches('.')
            }

            /// Whether it is of a class.
            #[must_use]
            pub const fn is(self, class: ReasonClass) -> bool {
                let classes: &[ReasonClass] = match self {
                    $(Self::$name => &[$($(ReasonClass::$class),+)?],)+
                };
                let mut at = 0;
                while at < classes.len() {
                    if classes[at] as u8 == class as u8 {
                        return true;
                    }
                    at += 1;
                }
                false
            }

            /// The reason with this code.
            #[must_use]
            pub fn from_code(code: &str) -> Option<Self> {
                match code { $($code => Some(Self::$name),)+ _ => None }
            }
        }
    };
}

reasons! {
    // Paths.
    /// The path leads out of the workspace.
    PathEscapesWorkspace = "path_escapes_workspace",
    /// The path is empty, too long, a device, or holds characters that no file name should.
    PathNotUsable = "path_not_usable",

    // Resolution (spec §4).
    /// Path evidence and a clean parse.
    AstMatch = "ast_match",
    /// No path evidence, but the definitions' names belong to exactly one tracked file.
    CorrelatedWithOneFile = "correlated_with_one_file",
    /// Neither a path nor a unique correlation.
    NoEntity = "no_entity",
    /// Several tracked files fit.
    SeveralCandidates = "several_candidates",
    /// The path's language has no grammar here.
    NoGrammar = "no_grammar" [Unjudged],
    /// The parser met an error inside every definition, or found none.
    ParseErrors = "parse_errors" [NextStep],
    /// A pattern of `symbols.json` matches exactly, and path evidence.
    PatternMatch = "pattern_match",
    /// A pattern of `symbols.json` matches only in part, or the name isn't unique.
    PatternPartial = "pattern_partial",
    /// The code defines nothing that is read here: a prototype, a few statements, prose.
    NoDefinition = "no_definition" [Unjudged],
    /// The path differs from a tracked one in upper and lower case alone.
    PathCaseDiffers = "path_case_differs",
    /// The edit applies exactly to the code that is true.
    EditApplied = "edit_applied",
    /// The edit can't be read, or is too large.
    EditMalformed = "edit_malformed",
    /// The edit names no file.
    EditWithoutPath = "edit_without_path",
    /// Nothing of the edited file is known.
    BaseUnknown = "base_unknown",
    /// A text that the edit replaces isn't in the code that is true.
    EditTextNotFound = "edit_text_not_found" [NextStep],
    /// A text that the edit replaces is there more than once.
    EditTextNotUnique = "edit_text_not_unique",
    /// In older ledgers: the edit makes a file that is known already, which now counts as written whole.
    FileExists = "file_exists",
    /// The edit names a line or an end, and the whole file isn't known.
    EditNeedsWholeFile = "edit_needs_whole_file",
    /// The edit removes a file.
    FileDeletion = "file_deletion",
    /// The edit gives the file another path.
    FileMove = "file_move",
    /// Nothing here reads the file, so nobody judged its change: disk says what counts.
    Unjudged = "unjudged" [Unjudged],
    /// The block is larger than what is parsed.
    TooLargeToParse = "too_large_to_parse" [Unjudged],
    /// The block quotes the proxy's own delimiters and could forge state if it were shown.
    QuotesDelimiters = "quotes_delimiters" [NextStep],
    /// The block held a credential, which was redacted before it was recorded.
    CredentialRedacted = "credential_redacted",

    // Gate A (spec §6, §7).
    /// The code surely belongs to the entity.
    Confirmed = "confirmed",
    /// It isn't sure that the code belongs to the entity.
    NotConfirmed = "not_confirmed",
    /// The definition is there in full.
    FullDefinition = "full_definition",
    /// A placeholder replaces code that was left out.
    Elided = "elided" [LostCode LeftToUser NextStep],
    /// The reply or its code block broke off.
    Truncated = "truncated" [LostCode NextStep],
    /// A body that did something isn't replaced by one that does nothing.
    BodyGiven = "body_given",
    /// A body that did something is replaced by one that does nothing: a stub, a TODO.
    Stub = "stub" [LostCode NextStep],
    /// Nothing is defined twice.
    DefinedOnce = "defined_once",
    /// A symbol is defined more often than before, with the same head: old and new in one block.
    DuplicateDefinition = "duplicate_definition" [NextStep],
    /// No top-level symbol of the base is missing.
    SymbolsKept = "symbols_kept",
    /// A top-level symbol of the base is missing.
    SymbolsLost = "symbols_lost" [LostCode NextStep],
    /// It keeps the project's rules for code.
    SpecMet = "spec_met",
    /// It breaks the project's rules for code.
    SpecBroken = "spec_broken" [LeftToUser NextStep],
    /// The reply has one block of code, as the project's rules want it.
    OneBlock = "one_block",
    /// Its syntax tree has about as many nodes as before, or more.
    NodesKept = "nodes_kept",
    /// Its syntax tree has far fewer nodes than before.
    NodesCollapsed = "nodes_collapsed" [LostCode NextStep],
    /// It has about as many tokens as before, or more.
    TokensKept = "tokens_kept",
    /// It has far fewer tokens than before.
    TokensCollapsed = "tokens_collapsed" [LostCode NextStep],
    /// Nothing was taken out of the code that nobody asked to take out.
    CodeKept = "code_kept",
    /// Code was replaced by a statement that only returns or fails.
    StubInPlace = "stub_in_place" [LostCode LeftToUser NextStep],
    /// Code was removed without a replacement, and nobody asked for that.
    RemovedUnasked = "removed_unasked" [LostCode LeftToUser NextStep],
    /// The code that the change replaces can't be had from the Vault, so nothing can be compared.
    BaseUnreadable = "base_unreadable" [LeftToUser],
    /// The definition has its known name, or a new one (spec §12).
    NameKept = "name_kept",
    /// The definition is a known one under another name.
    RenameSuspected = "rename_suspected" [LeftToUser NextStep],
    /// The definition is a known one of another file, which keeps it.
    MovedOrCopied = "moved_or_copied" [LeftToUser NextStep],
    /// No tombstone of the user's forbids it (spec §9.2).
    NotRemoved = "not_removed",
    /// The user removed it a short while ago and didn't ask for it by name.
    RemovedByUser = "removed_by_user" [LeftToUser NextStep],

    // Gate B (spec §6).
    /// Same or expanded symbol set.
    StructuralParity = "structural_parity",
    /// The user supplied the code.
    WriteHead = "write_head",
    /// A shadow audit says that it is complete.
    ShadowAudit = "shadow_audit",
    /// The user saw the code and went on from it.
    UserVerified = "user_verified",

    /// It lacks nothing, and nothing vouches for it yet: no structure, no audit, and not the user.
    GrantMissing = "grant_missing" [LeftToUser],

    // ETV (spec §15).
    /// The file on disk agrees with what is held true.
    DiskAgrees = "disk_agrees" [ChangedOutside NextStep],
    /// The file on disk differs from what is held true.
    Stale = "stale" [LeftToUser Divergence NextStep],
    /// The file could not be read, so nothing is known of it.
    DiskUnreadable = "disk_unreadable" [LeftToUser Divergence NextStep],
    /// Nothing of it changed but definitions inside it, and the file on disk differs in something else.
    PartsChanged = "parts_changed",
    /// The base that the change was made on is still the current one.
    BaseUnmoved = "base_unmoved",
    /// The change was made on a version that isn't current any more, or on a definition that the ledger never knew.
    BaseUnacknowledged = "base_unacknowledged" [LeftToUser],
    /// The file on disk still holds an earlier version.
    DiskHoldsSuperseded = "disk_holds_superseded" [Divergence],

    // Transitions.
    /// A newer version that is true took its place.
    Replaced = "replaced",
    /// A part of the file changed by itself, so the older whole is no longer true.
    PartReplaced = "part_replaced",
    /// An update of the whole file that is true left the symbol out.
    OmittedByUpdate = "omitted_by_update",
    /// The user supplied the code, so the model's proposal is moot.
    ProposalOverruled = "proposal_overruled",

    // Directives.
    /// The user took what disk holds as true.
    UserAccepted = "user_accepted" [Done Answer],
    /// The user dropped the proposal.
    UserRejected = "user_rejected" [Done Answer],
    /// The user confirmed the proposal.
    UserConfirmed = "user_confirmed" [Done Answer],
    /// The directive names nothing that it applies to.
    NothingToDo = "nothing_to_do" [Answer],
    /// The proxy doesn't know the directive.
    UnknownDirective = "unknown_directive" [Answer],
    /// The proposal didn't pass gate A, so nobody can confirm it.
    NotConfirmable = "not_confirmable" [Answer],
    /// A line reads as a directive, and the user didn't type it: it repeats somebody else's words, or stands inside the message.
    DirectiveNotTyped = "directive_not_typed",
    /// A directive that lets tools do more isn't its message's first line.
    GrantNotFirst = "grant_not_first",
    /// The prompt gives more directives than are carried out.
    TooManyDirectives = "too_many_directives",
    /// The directive names nothing.
    TargetMissing = "target_missing" [Answer],
    /// The directive names a path outside of the workspace.
    TargetOutside = "target_outside" [Answer],
    /// The directive's path can't be used, or matches several files.
    TargetNotUsable = "target_not_usable" [Answer],
    /// The file that the user accepts isn't on disk.
    FileMissing = "file_missing" [Answer],
    /// The file that the user accepts doesn't define the symbol.
    SymbolMissing = "symbol_missing" [Answer],
    /// The file that the user accepts is a folder, too large, out of reach, or otherwise can't be read.
    FileUnreadable = "file_unreadable" [Answer],
    /// The file that the user accepts isn't UTF-8.
    NotText = "not_text" [Answer],
    /// The file that the user accepts is larger than what is parsed.
    TooLargeToAccept = "too_large_to_accept" [Answer],
    /// The file that the user accepts is in a language that isn't supported.
    LanguageNotRead = "language_not_read" [Answer],
    /// The file that the user accepts defines nothing that parses.
    NothingToAccept = "nothing_to_accept" [Answer],

    // Hydration (spec §8).
    /// The prompt names the entity.
    Mentioned = "mentioned",
    /// The prompt names the entity's file.
    FileMentioned = "file_mentioned",
    /// A proposal for the entity is open in this session.
    UnderProposal = "under_proposal",
    /// The name matches too many entities.
    AmbiguousName = "ambiguous_name",
    /// The token budget is used up.
    OverBudget = "over_budget",
    /// It is shown as a part of its file or class.
    CoveredByFile = "covered_by_file",
    /// The conversation shows the current version already, where the model sees it.
    InSight = "in_sight",
    /// An older message shows a version that isn't current any more, and nothing after it shows the current one.
    NoLongerCurrent = "no_longer_current" [ChangedOutside NextStep],
    /// Only the file is named, and the client has tools to read it with.
    LeftToTools = "left_to_tools",
    /// Its text isn't on record.
    ContentMissing = "content_missing",

    // Replies and notices.
    /// A shadow audit doubts that it is complete (spec §10).
    AuditContested = "audit_contested",
    /// The previous output could not be linked to a known entity (spec §8.3).
    Unlinked = "unlinked",
    /// The user's code could not be linked to a file.
    PasteWithoutPath = "paste_without_path",
    /// Code in a user's message is the model's or a tool's, by the record or by the message's own form.
    CodeOfAnother = "code_of_another",
    /// The user sent the same message before, and the file now holds another version than its code.
    SaidBefore = "said_before",

    // Tools (spec §8.5).
    /// The user granted tools a capability.
    CapabilityGranted = "capability_granted" [Done Answer],
    /// The user took a grant back.
    CapabilityRevoked = "capability_revoked" [Done Answer],
    /// Tools can't be granted what the directive names.
    NotGrantable = "not_grantable" [Answer],
    /// The user lets tools run again.
    ToolsResumed = "tools_resumed" [Done Answer],
    /// The user stopped all tools.
    ToolsStopped = "tools_stopped" [Done Answer Halts HaltsAll],
    /// The user stopped all agents, and with them all tools.
    AgentsStopped = "agents_stopped" [Done Answer Halts HaltsAll],
    /// A breach of the sandbox is lifted at a terminal only, and nothing is granted until then.
    BreachStands = "breach_stands" [Answer],
    /// A tool used a grant that is no longer valid.
    CapabilityEscalation = "capability_escalation" [Halts],
    /// A tool named a path that is protected or outside of the workspace.
    ScopeBreach = "scope_breach" [Halts],
    /// Tools asked several times for what no tool may do.
    CommandClassViolation = "command_class_violation" [Halts],
    /// The budget of tools is used up.
    BudgetExhausted = "budget_exhausted" [Halts],
    /// The same call gave the same output several times.
    RecursiveLoop = "recursive_loop" [Halts],
    /// A tool printed a credential.
    CredentialInOutput = "credential_in_output" [Halts],
    /// A tool tried to get out of the sandbox.
    SandboxBreach = "sandbox_breach" [Halts HaltsAll],
    /// The model wrote a tool's result itself.
    ForgedResult = "forged_result",
    /// Other hands have changed many files since the agent's last step.
    ManyFilesChanged = "many_files_changed" [NextStep],
    /// The model asked for a tool where none is run.
    ToolNotRun = "tool_not_run",
    /// Of something that a budget bounds nine tenths are used.
    BudgetNearlyUsed = "budget_nearly_used" [NextStep],
    /// A budget of the agents' work is used up: requests are refused until the Operator says `tslp resume`.
    AgentBudgetUsed = "agent_budget_used",
    /// A prompt is longer than what its model reads at once, and wasn't sent.
    WindowExceeded = "window_exceeded",
    /// The model has made the same call three times, with the same result each time.
    CallRepeated = "call_repeated" [NextStep],
    /// The model has written the same file three times in its last five replies, and nothing of it became true.
    FileRewritten = "file_rewritten" [NextStep],
    /// The version that is shown was accepted in another conversation, and its file doesn't hold it yet.
    UnsavedElsewhere = "unsaved_elsewhere",
    /// Disk holds a change of the model's that was refused.
    DiskHoldsRefused = "disk_holds_refused" [Divergence NextStep],
    /// The file was deleted.
    FileGone = "file_gone" [Divergence],
    /// The file was changed outside, and the conversation was shown what it holds now: that counts, without what it lost.
    TakenAsShown = "taken_as_shown" [NextStep],
    /// The user accepted that it is gone from disk.
    DeletionAccepted = "deletion_accepted" [Done Answer],
    /// The user supplied another version of it, which isn't complete: until it is, neither counts.
    Contradicted = "contradicted" [Divergence],
    /// A whole file that nothing here can parse, and that is what disk or the user's paste holds, byte for byte.
    ExactMatch = "exact_match",
    /// The client has run the calls of the reply that changed it, and the file holds it as it was before: that counts.
    ChangeNotSaved = "change_not_saved" [NextStep],

    // Scope.
    /// The user turned the file off.
    OffByUser = "off_by_user" [NextStep],
    /// A message shows a file that the user turned off, and goes out without it.
    OffInMessage = "off_in_message" [NextStep],
    /// The user locked the file: it is shown whole, and nothing else is.
    Locked = "locked" [Done Answer],
    /// The user locked other files, and nothing else is shown.
    BypassedByLock = "bypassed_by_lock",
    /// A locked file can't be shown whole, so that the prompt isn't sent.
    LockMiss = "lock_miss",
    /// The change is of a locked file, or none is locked.
    WithinLock = "within_lock",
    /// The user locked other files, and no other may be changed.
    OutsideLock = "outside_lock" [LeftToUser NextStep],
    /// The user turned files off.
    TurnedOff = "turned_off" [Done Answer],
    /// The user turned files on again.
    TurnedOn = "turned_on" [Done Answer],
    /// The user took a lock away.
    Unlocked = "unlocked" [Done Answer],
    /// There are as many rules of scope as are kept.
    TooManyRules = "too_many_rules" [Answer],
    /// The user says that the message holds another model's answer.
    ExternalAnswer = "external_answer" [Answer],
    /// The user said what the work is for.
    GoalChanged = "goal_changed" [Done Answer],
    /// A conversation begins, and is told what the work is for.
    GoalTold = "goal_told",
    /// What a conversation held so far goes to no model any more, and it is told where the work stands.
    ContextCleared = "context_cleared" [Done Answer],
    /// The user clears a conversation from elsewhere: its next prompt begins it anew.
    ClearAsked = "clear_asked" [Done Answer],
    /// The conversation isn't cleared: decisions made since the last time lack evidence.
    DecisionsUngrounded = "decisions_ungrounded" [Answer],
    /// It is cleared though decisions lack evidence.
    ClearedUngrounded = "cleared_ungrounded" [Done Answer],
    /// A call was given the file's own text in the place of an old text that isn't there, before the client had it.
    EditFitted = "edit_fitted" [NextStep],
    /// The user's check was run after a change.
    CheckRan = "check_ran",

    // Records (docs/memory.md).
    /// The user keeps a statement for the project.
    RecordNoted = "record_noted" [Done Answer],
    /// The user keeps a statement no longer.
    RecordForgotten = "record_forgotten" [Done Answer],
    /// The statement isn't written as one, is too long, quotes a delimiter or holds a credential.
    RecordNotUsable = "record_not_usable" [Answer],
    /// The code that the statement quotes isn't true of the file.
    QuotationMissing = "quotation_missing" [Answer],
    /// The code that the statement quotes is in the file more than once.
    QuotationAmbiguous = "quotation_ambiguous" [Answer],
    /// The model proposes a statement: the user may accept or reject it.
    RecordProposed = "record_proposed" [Done Answer],
    /// The model's statement of a fact is kept, because the code that it quotes is true.
    RecordProven = "record_proven" [Done Answer],
    /// The user keeps a statement that the model proposed.
    RecordAccepted = "record_accepted" [Done Answer],
    /// The user drops a statement that the model proposed.
    RecordRejected = "record_rejected" [Done Answer],
    /// The time of a hypothesis is over.
    RecordExpired = "record_expired",
    /// A hypothesis doesn't say how long it counts.
    RecordWithoutEnd = "record_without_end" [Answer],
    /// What a statement is derived from isn't kept, or it doesn't say.
    RecordWithoutInputs = "record_without_inputs" [Answer],
    /// There are as many statements as are kept, or as one reply may propose.
    TooManyRecords = "too_many_records" [Answer],
    /// The code that a statement quotes, or what it is derived from, is no longer true.
    RecordUngrounded = "record_ungrounded",
}

// By its code: reasons are declared by topic, so their order changes.
stored_text!(Reason, code, |code| {
    Reason::from_code(code).ok_or_else(|| Meaningless::Word {
        title: "reason known to this version of tslp",
        value: code.into(),
    })
});

#[cfg(feature = "arbitrary")]
impl<'a> arbitrary::Arbitrary<'a> for Reason {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        u.choose(Self::ALL).copied()
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snake_case_codes() {
        for reason in Reason::ALL {
            assert_eq!(Reason::from_code(reason.code()), Some(*reason));
            assert!(
                reason
                    .code()
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
                "{reason}"
            );
        }
    }
}
