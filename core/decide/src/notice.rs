//! The texts of STATE NOTICEs, which tell the model that something it might count on didn't happen.

use alloc::format;
use alloc::string::String;

use crate::lost::LostCode;
use tslp_core::delimiter::{self, NOTICE_CLOSE, NOTICE_OPEN};
use tslp_core::entity::EntityId;
use tslp_core::event::{NoticeIssued, ReadFailure};
use tslp_core::limits::DIRECTIVES_PER_PROMPT_MAX;
use tslp_core::reason::Reason;
use tslp_projections::disk::LastFinding;

/// The whole notice, delimiters included. `disk` is the last observation of the entity's path, `lost` the code that the refused
/// change would have lost.
#[must_use]
pub fn block(
    notice: &NoticeIssued,
    disk: Option<LastFinding<'_>>,
    lost: Option<&LostCode>,
) -> String {
    let mut said = notice_text(notice, disk);
    if let Some(lost) = lost {
        said.push_str(&delimiter::defused(&missing_code_text(lost)));
    }
    within_delimiters(&said)
}

/// The whole notice with a text that may quote what others wrote.
#[must_use]
pub(crate) fn notice_of(text: &str) -> String {
    within_delimiters(&delimiter::defused(text))
}

fn within_delimiters(said: &str) -> String {
    format!("{NOTICE_OPEN}\n{said}\n{NOTICE_CLOSE}")
}

/// Between a place that an edit must have meant and its lines.
pub(crate) const MEANT_SHOWN: &str = " read:\n";
const PLACEHOLDER_SHOWN: &str = " has a placeholder: ";
const WHOLE_SHOWN: &str = "\nThis is the code to keep:\n\n";
const LINES_SHOWN: &str = "\nMissing lines:";

/// Broken rules for code that one notice names.
const BROKEN_RULES_TOLD_MAX: usize = 10;

/// The paragraph about the code to put back.
fn missing_code_text(lost: &LostCode) -> String {
    let mut text = String::new();
    for rule in lost.broken.iter().take(BROKEN_RULES_TOLD_MAX) {
        text.push_str(&format!("\n{rule}"));
    }
    match lost.broken.len().saturating_sub(BROKEN_RULES_TOLD_MAX) {
        0 => {}
        more => text.push_str(&format!("\n(and {more} more)")),
    }
    if let Some((placeholder, line)) = &lost.placeholder {
        text.push_str(&format!("\nLine {line}{PLACEHOLDER_SHOWN}{placeholder}"));
    }
    if !lost.symbols.is_empty() {
        text.push_str(&format!(
            "\nMissing definitions: {}.",
            lost.symbols.join(", ")
        ));
    }
    if let Some(code) = &lost.whole {
        let code = code.trim_end_matches(['\n', '\r']);
        text.push_str(&format!("{WHOLE_SHOWN}{code}\n"));
    } else if !lost.lines.is_empty() {
        text.push_str(LINES_SHOWN);
        for line in &lost.lines {
            text.push_str(&format!("\n{line}"));
        }
        if lost.more_lines > 0 {
            text.push_str(&format!("\n(and {} more)", lost.more_lines));
        }
    }
    text
}

/// The text between the delimiters.
fn notice_text(notice: &NoticeIssued, disk: Option<LastFinding<'_>>) -> String {
    let NoticeIssued {
        reason,
        entity,
        other,
        ..
    } = notice;
    let named = |entity: &Option<EntityId>, otherwise: &str| {
        let name = entity.as_ref().map(|entity| format!("{entity}"));
        name.unwrap_or_else(|| otherwise.into())
    };
    let (name, known) = (named(entity, "the code"), named(other, "a known one"));
    match *reason {
        Reason::Unlinked => String::from(UNLINKED),
        Reason::PasteWithoutPath => String::from(
            "The user's code could not be linked to a file, because nothing names its path.\nIt has NOT modified the State Map. The user can paste it again below a line with its path.",
        ),
        Reason::SaidBefore => format!(
            "The user sent this message before, word for word. Its code for {name} {}, so it was NOT taken again.\nIt has NOT modified the State Map.",
            disk_comparison(disk)
        ),
        Reason::Stale => format!(
            "{name} is STALE: its file was changed{}, and what it holds now is not shown here.",
            unparsed_remark(disk)
        ),
        Reason::DiskHoldsSuperseded => format!(
            "{name} is STALE: its file holds a former version again, not the last accepted one. Ask the user which of them counts.",
        ),
        Reason::DiskHoldsRefused => {
            format!("The file has the change of {name} that was refused.")
        }
        Reason::FileGone => {
            format!("{name} doesn't exist any more: its file was deleted on disk.",)
        }
        Reason::Contradicted => format!(
            "The user's newer code for {name} is incomplete or can't be read, and the older version is no longer what they want.\nIts code is withheld until the user says which of them counts. Do not guess it.",
        ),
        Reason::DeletionAccepted => format!("The user accepted that {name} is gone."),
        Reason::TakenAsShown => format!(
            "{name} was changed outside of this conversation, and counts as the file shows it now. It no longer has: {known}.",
        ),
        Reason::ChangeNotSaved => format!(
            "The last change to {name} isn't in the file, which holds it as it was before, though other changes of the same reply are there. Make it again if it is still wanted.",
        ),
        Reason::UnsavedElsewhere => format!(
            "{name} as shown was accepted in another conversation, and its file doesn't hold it yet: save that change first, or the two will overwrite each other.",
        ),
        Reason::DiskUnreadable => format!(
            "{name} could not be checked: {}. Ask the user to paste it.",
            read_failure_text(disk)
        ),
        Reason::BaseUnacknowledged => refused_text(
            &name,
            "the current version was not shown to the model, or has changed since",
        ),
        Reason::Elided => refused_text(
            &name,
            "it left out code behind a placeholder; give every definition in full",
        ),
        Reason::Truncated => refused_text(
            &name,
            "it broke off before its end; give the whole definition",
        ),
        Reason::Stub => refused_text(
            &name,
            "its body was replaced by one that does nothing; give the whole definition",
        ),
        Reason::DuplicateDefinition => refused_text(
            &name,
            "the code defines it more than once; give the new definition alone",
        ),
        Reason::SpecBroken => refused_text(
            &name,
            "it breaks the user's rules for code; keep each of them",
        ),
        Reason::StubInPlace => refused_text(
            &name,
            "code was replaced by a statement that only returns or fails; give the whole definition",
        ),
        Reason::RemovedUnasked => refused_text(
            &name,
            "it removes code that nobody asked to remove; put it back",
        ),
        Reason::BaseUnreadable => refused_text(
            &name,
            "the ledger can't give the code that it replaces, so nobody can tell what it removes",
        ),
        Reason::MovedOrCopied => format!(
            "{name} looks like {known}, which is still AUTHORITATIVE in its own file.\nA copy is NOT taken. Write the path of the file that you mean.",
        ),
        Reason::RenameSuspected => format!(
            "{name} looks like {known} under another name or path.\nThe old name is preserved: {known} is still AUTHORITATIVE. Keep it.",
        ),
        Reason::RemovedByUser => refused_text(
            &name,
            "the user removed it; leave it out unless the user asks for it",
        ),
        Reason::SymbolsLost => refused_text(
            &name,
            "existing symbols are missing from it; keep every one",
        ),
        Reason::NodesCollapsed | Reason::TokensCollapsed => refused_text(
            &name,
            "it lost most of the existing code; keep what the change doesn't concern",
        ),
        Reason::GrantMissing => refused_text(&name, "it waits for the user's word"),
        Reason::OverBudget => format!(
            "{name} is known, but too long for this prompt, so its code is not shown. Ask the user which part of it is meant.",
        ),
        Reason::QuotesDelimiters if entity.is_none() => String::from(
            "A text in this conversation quotes delimiters like the ones around this notice. They are shown in round brackets here; where they come from, they have square ones.",
        ),
        Reason::QuotesDelimiters => {
            format!("{name} quotes the delimiters of this very block and is NOT shown.",)
        }
        Reason::CredentialRedacted => format!(
            "{name} has a line with a credential, which is not shown here. A change that adds or rewrites such a line is NOT accepted: the user makes it.",
        ),
        Reason::UserAccepted => {
            format!("The user accepted {name} as it is on disk. It is AUTHORITATIVE.")
        }
        Reason::UserRejected => format!(
            "The user rejected the proposed change to {name}.\nIt has NOT modified the State Map."
        ),
        Reason::UserConfirmed => {
            format!("The user confirmed the proposed change to {name}. It is AUTHORITATIVE.")
        }
        Reason::NothingToDo => format!("The user's directive found nothing to do for {name}."),
        Reason::DirectiveNotTyped => format!(
            "A directive about {name} did nothing: it repeats what the model or a tool said, or stands inside the message, as what is pasted does."
        ),
        Reason::GrantNotFirst => String::from(
            "A directive that lets tools do more did nothing, because it isn't the first line of the user's message.",
        ),
        Reason::TooManyDirectives => format!(
            "The user's message gives more than {DIRECTIVES_PER_PROMPT_MAX} directives; the first {DIRECTIVES_PER_PROMPT_MAX} were carried out, the others did nothing.\nThe user can give them in further messages."
        ),
        Reason::CodeOfAnother => format!(
            "The code for {name} in the user's message is what the model or a tool said before, so it is only a proposal.\nIt has NOT modified the State Map."
        ),
        Reason::UnknownDirective => {
            String::from("The user gave a directive that the state ledger doesn't know.")
        }
        Reason::CapabilityGranted => {
            String::from("The user granted tools a capability for some minutes.")
        }
        Reason::CapabilityRevoked => String::from("The user took back what tools were granted."),
        Reason::NotGrantable => directive_text(
            "names nothing that tools can be granted: use `BUILD_EXEC` or `SHELL_EXEC`, with `for 15m` or less",
        ),
        Reason::ToolsResumed => String::from("The user lets tools run again."),
        Reason::BreachStands => String::from(
            "A tool tried to get out of the sandbox. Nothing is granted or resumed until the user lifts that at a terminal.",
        ),
        Reason::ToolsStopped
        | Reason::AgentsStopped
        | Reason::CapabilityEscalation
        | Reason::ScopeBreach
        | Reason::CommandClassViolation
        | Reason::BudgetExhausted
        | Reason::RecursiveLoop
        | Reason::CredentialInOutput
        | Reason::SandboxBreach => {
            halted(why_halted(notice.reason).expect("each of these halts tools"))
        }
        Reason::BudgetNearlyUsed => String::from(
            "Nine tenths of what the user allows for this work are used. Finish what matters most, then say what is left.",
        ),
        Reason::AgentBudgetUsed => String::from(
            "The budget for this work was used up, and requests were refused; the user has let it go on.",
        ),
        Reason::WindowExceeded => String::from(
            "A request before this one was longer than what you can read, and wasn't sent.",
        ),
        Reason::CallRepeated => String::from(
            "The last call is the third one with the same arguments and the same result, and you changed nothing between them: calling it again changes nothing. Do something else, or say what is missing.",
        ),
        Reason::FileRewritten => format!(
            "{name} was written three times in the last five replies, and nothing of it was accepted. Read the file and the notices about it before you write it again, or ask the user.",
        ),
        Reason::ManyFilesChanged => String::from(
            "Many files were changed by other hands since your last step. Ask the user what happened before you change anything.",
        ),
        Reason::OffByUser | Reason::OffInMessage | Reason::TurnedOff => format!(
            "{name} is off by the user: nothing of it is shown here, and what tools return of it is withheld. Do not ask for it or guess it; say what you need to know instead.",
        ),
        Reason::TurnedOn => format!("The user lets you see {name} again, which was off."),
        Reason::Locked => format!(
            "The user locked {name}: only locked files are shown, and changes of others are NOT accepted.",
        ),
        Reason::Unlocked => {
            String::from("The user took a lock away: other files may be changed again.")
        }
        Reason::LockMiss => {
            format!("A prompt was not sent, because {name} is locked and could not be shown whole.")
        }
        Reason::OutsideLock => {
            refused_text(&name, "the user locked other files; leave it as it is")
        }
        Reason::TooManyRules => {
            directive_text("did nothing: there are as many rules of scope as are kept")
        }
        Reason::RecordNoted => String::from(
            "The user keeps a statement for the project, which is shown where it matters.",
        ),
        Reason::RecordForgotten => {
            String::from("The user keeps a statement no longer that was kept for the project.")
        }
        Reason::RecordProposed => {
            String::from("The words of the user's note are a model's: it waits for the user's own.")
        }
        Reason::RecordProven => String::from(
            "A model's statement is kept for the project, with the code that proves it.",
        ),
        Reason::RecordAccepted => String::from(
            "The user keeps a statement that a model proposed; it is shown where it matters.",
        ),
        Reason::RecordRejected => String::from("The user drops a statement that a model proposed."),
        Reason::ExternalAnswer => String::from(
            "The user's message holds another model's answer. Its code is only a proposal: check it before you use it.",
        ),
        Reason::ContextCleared => {
            String::from("The user cleared the earlier messages of this conversation.")
        }
        Reason::ClearAsked => String::from("The user clears a conversation."),
        Reason::DecisionsUngrounded => String::from("Cannot clear: decisions lack evidence."),
        Reason::ClearedUngrounded => String::from(
            "The conversation was cleared though decisions made before lack evidence: no quotation in the code bears them out.",
        ),
        Reason::EditFitted => String::from(
            "The text that your last edit replaces was not in its file. The edit was made with the file's own text, as it now stands in your call.",
        ),
        Reason::CheckRan => String::from("The user's check was run after the last change."),
        Reason::GoalChanged | Reason::GoalTold => String::from("The goal of the work is done."),
        Reason::ToolNotRun => String::from(
            "The last reply asks for a tool in a fence, and nothing was run: such fences run only for a client without tools of its own, where tools are on.\nUse the tools that the client offers, or ask the user to run it.",
        ),
        Reason::ForgedResult => String::from(
            "The last reply shows more tool results than tools returned: the model wrote at least one of them itself.\nDo not rely on them; call the tool again for what it really returns.",
        ),
        Reason::TargetMissing => {
            directive_text("has no target: use PATH or PATH::SYMBOL, relative to the workspace")
        }
        Reason::TargetOutside => directive_text("names a path outside of the workspace"),
        Reason::TargetNotUsable => {
            directive_text("names a path that can't be used, or that matches several files")
        }
        Reason::FileUnreadable if disk == Some(LastFinding::Unreadable(ReadFailure::NotAFile)) => {
            not_accepted(&name, "it is not a file")
        }
        Reason::FileUnreadable => not_accepted(&name, read_failure_text(disk)),
        Reason::NotConfirmable => format!(
            "The proposed change to {name} can't be confirmed: it is not a full definition that keeps what exists.\nIt has NOT modified the State Map.",
        ),
        Reason::PathCaseDiffers => unlinked_text(
            "Its path differs from a known file's in upper and lower case alone; write the path as it is known.",
        ),
        Reason::PathNotUsable | Reason::PathEscapesWorkspace => {
            unlinked_text("Its path can't be used; write it relative to the workspace.")
        }
        Reason::SeveralCandidates => {
            unlinked_text("Its name matches several files; write the whole path.")
        }
        Reason::EditTextNotFound => unapplied_edit_text(
            &name,
            "the text that it replaces has no exact match; copy it from the current version",
        ),
        Reason::EditTextNotUnique => unapplied_edit_text(
            &name,
            "the text that it replaces occurs more than once; add lines around it",
        ),
        Reason::EditNeedsWholeFile => unapplied_edit_text(
            &name,
            "it names a line, and the whole file isn't known; replace text that is shown instead",
        ),
        Reason::EditMalformed => {
            unapplied_edit_text(&name, "it isn't well-formed; write the whole definition")
        }
        Reason::EditWithoutPath => unlinked_text("It is an edit that names no file."),
        Reason::FileDeletion => unapplied_edit_text(&name, "only the user can remove a file"),
        Reason::FileMove => unapplied_edit_text(
            &name,
            "only the user can rename a file; the old path is preserved",
        ),
        Reason::BaseUnknown => format!(
            "The last edit of {name} changes code that the state ledger does not know.\nIt has NOT modified the State Map.",
        ),
        Reason::AuditContested => format!(
            "An audit doubts that the last change to {name} is complete.\nCheck it against what was asked.",
        ),
        Reason::ParseErrors => {
            unlinked_text("The code doesn't parse; give every definition in full.")
        }
        Reason::NoDefinition => {
            unlinked_text("The code has no complete definition; give complete ones.")
        }
        Reason::NoGrammar => unlinked_text("Its language is not supported."),
        Reason::TooLargeToParse => unlinked_text("It is too large to be read."),
        Reason::PatternPartial => unlinked_text(PARTLY_MATCHED),
        Reason::NoEntity => {
            unlinked_text("Nothing names its file; write the path on the line above it.")
        }
        Reason::NotConfirmed => {
            unlinked_text("Nothing proves which file it belongs to; name its path.")
        }
        reason => match (why_not_kept(reason), why_not_accepted(reason)) {
            (Some(why), _) => not_kept(notice, why),
            (_, Some(why)) => not_accepted(&name, why),
            // Conclusions of reports and causes of transitions: none of these becomes a notice.
            _ => refused_text(&name, reason.code()),
        },
    }
}

const PARTLY_MATCHED: &str = "The patterns of its language match only part of it; give each definition separately and in full.";

/// The notice about pasted code of the user's that wasn't taken: the reason, and what the user can do. `None` if the ordinary
/// text of the notice already says that.
#[must_use]
pub fn users_code_notice(notice: &NoticeIssued) -> Option<String> {
    let why = match notice.reason {
        Reason::ParseErrors => "it doesn't parse, and has no complete definition",
        Reason::NoDefinition => "it has no complete definition",
        Reason::NoGrammar => "its language is not supported",
        Reason::TooLargeToParse => "it is too large to be read",
        Reason::PatternPartial => "the patterns of its language match only part of it",
        Reason::PathNotUsable => "its path can't be used",
        Reason::PathEscapesWorkspace => "its path leads out of the workspace",
        Reason::PathCaseDiffers => {
            "its path differs from a known file's in upper and lower case alone"
        }
        Reason::SeveralCandidates => "its name matches several files",
        Reason::Elided => "it leaves out code behind a placeholder",
        Reason::Truncated => "it breaks off before its end",
        Reason::BaseUnknown => "it is an edit of code that is not known",
        Reason::EditTextNotFound => "the text that its edit replaces has no exact match",
        Reason::EditTextNotUnique => "the text that its edit replaces occurs more than once",
        Reason::EditNeedsWholeFile => "its edit names a line, and the whole file isn't known",
        Reason::EditMalformed => "its edit isn't well-formed",
        Reason::EditWithoutPath => "it is an edit that names no file",
        _ => return None,
    };
    let can = match notice.reason {
        Reason::NoGrammar | Reason::TooLargeToParse => "It is recorded, but can't become true",
        Reason::PathNotUsable
        | Reason::PathEscapesWorkspace
        | Reason::PathCaseDiffers
        | Reason::SeveralCandidates
        | Reason::EditWithoutPath => {
            "The user can paste it again below its path, written from the workspace's root"
        }
        Reason::PatternPartial => "The user can paste each definition separately",
        _ => "The user can paste every definition in full, or save the file",
    };
    let of = notice
        .entity
        .as_ref()
        .map_or_else(String::new, |entity| format!(" for {entity}"));
    Some(format!(
        "{NOTICE_OPEN}\nThe user's code{of} was NOT taken: {why}.\nIt has NOT modified the State Map. {can}.\n{NOTICE_CLOSE}"
    ))
}

/// The notice about a proposal that the user can't confirm because nothing proves its entity. `is_edit`: it is an edit that
/// doesn't apply.
#[must_use]
pub fn not_linked_notice(entity: &EntityId, is_edit: bool) -> String {
    let why = if is_edit {
        "it is an edit that does not apply to the current version; ask for the whole definition"
    } else {
        "nothing proves that it belongs to that file; ask for it again with the path above it"
    };
    format!(
        "{NOTICE_OPEN}\nThe proposed change to {entity} can't be confirmed: {why}.\nIt has NOT modified the State Map.\n{NOTICE_CLOSE}"
    )
}

/// The law's own words (spec §8.3).
const UNLINKED: &str = "The previous output could not be structurally linked to a known entity.\nIt has NOT modified the State Map.";

fn unlinked_text(why: &str) -> String {
    format!("{UNLINKED}\n{why}")
}

/// Why tools are halted, if they are for this reason.
#[must_use]
pub const fn why_halted(reason: Reason) -> Option<&'static str> {
    Some(match reason {
        Reason::ToolsStopped => "the user stopped them",
        Reason::AgentsStopped => "the user stopped all agents",
        Reason::CapabilityEscalation => "one was called under a grant that is no longer valid",
        Reason::ScopeBreach => "one named a path that is protected or outside of the workspace",
        Reason::CommandClassViolation => "several calls asked for what no tool may do",
        Reason::BudgetExhausted => "their budget is used up",
        Reason::RecursiveLoop => "the same call gave the same output several times",
        Reason::CredentialInOutput => "one printed a credential, which was redacted",
        Reason::SandboxBreach => "one tried to get out of its sandbox",
        _ => return None,
    })
}

fn halted(why: &str) -> String {
    format!("Tools are halted: {why}.\nNothing more is run until the user lets tools go on.")
}

/// Why a statement isn't kept, if it is for this reason.
#[must_use]
pub const fn why_not_kept(reason: Reason) -> Option<&'static str> {
    Some(match reason {
        Reason::RecordNotUsable => {
            "write `KIND #key: STATEMENT` on one line without credentials, KIND one of fact, preference, decision, hypothesis, derived"
        }
        Reason::RecordWithoutEnd => {
            "a hypothesis ends with its time to live, such as `ttl 3d`, at most 90 days"
        }
        Reason::RecordWithoutInputs => {
            "what is derived ends with `from #key`, of other records that are kept"
        }
        Reason::QuotationMissing => "the code that it quotes isn't true of that file",
        Reason::QuotationAmbiguous => {
            "the code that it quotes is in that file more than once: quote more of it"
        }
        Reason::TooManyRecords => {
            "there are as many records as are kept, or as one reply may propose"
        }
        _ => return None,
    })
}

/// Why a file isn't accepted, if it is for this reason.
#[must_use]
pub const fn why_not_accepted(reason: Reason) -> Option<&'static str> {
    Some(match reason {
        Reason::FileMissing => "there is no such file on disk",
        Reason::SymbolMissing => "the file on disk doesn't define it",
        Reason::NotText => "the file is not UTF-8",
        Reason::TooLargeToAccept => "the file is too large to be parsed",
        Reason::LanguageNotRead => "its language is not supported",
        Reason::NothingToAccept => "the file defines nothing that can be parsed",
        _ => return None,
    })
}

/// A record that is not kept, a reply's or the user's.
fn not_kept(notice: &NoticeIssued, why: &str) -> String {
    match &notice.entity {
        Some(record) => format!("The record {record} of a reply is not kept: {why}."),
        None => directive_text(&format!("did nothing: {why}")),
    }
}

fn directive_text(why: &str) -> String {
    format!("The user's directive {why}.")
}

fn not_accepted(name: &str, why: &str) -> String {
    format!("The user could not accept {name}: {why}.")
}

/// The clause that compares repeated code with its file on disk.
fn disk_comparison(disk: Option<LastFinding<'_>>) -> String {
    match disk {
        Some(LastFinding::Unreadable(_)) => {
            format!("can't be compared now ({})", read_failure_text(disk))
        }
        _ => "is not what the file on disk holds now".into(),
    }
}

/// The reason why a file can't be read, as a clause.
pub(super) fn read_failure_text(disk: Option<LastFinding<'_>>) -> &'static str {
    let Some(LastFinding::Unreadable(failure)) = disk else {
        return "its file on disk can't be read";
    };
    match failure {
        ReadFailure::Denied => "there is no permission to read its file",
        ReadFailure::NotAFile => "its path is not a file",
        ReadFailure::Escapes => "its path leads through a link",
        ReadFailure::TooLarge => "its file is larger than what is read (`etv.read_bytes_max`)",
        ReadFailure::Unsteady => "its file changed while it was read",
        ReadFailure::TimedOut => "its file did not answer in time",
        ReadFailure::Failed => "its file on disk can't be read",
    }
}

/// A remark for files that weren't parsed, where the whole file's hash is compared for each symbol.
fn unparsed_remark(disk: Option<LastFinding<'_>>) -> &'static str {
    match disk {
        Some(LastFinding::File(file)) if file.grammar.is_none() => {
            " (it is too large to be parsed, so any change of the file counts)"
        }
        _ => "",
    }
}

fn unapplied_edit_text(name: &str, why: &str) -> String {
    format!("{UNLINKED}\nThe edit of {name} does not apply to its authoritative version: {why}.")
}

/// How the notice of a refusal begins.
pub(crate) fn refusal_opening(name: &str) -> String {
    format!("The last change to {name} was not accepted:")
}

fn refused_text(name: &str, why: &str) -> String {
    format!("{} {why}.", refusal_opening(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tslp_core::entity::Symbol;
    use tslp_core::ids::{EpisodeId, SessionId};
    use tslp_core::path::RelPath;

    /// The notice that the specification prescribes is used word for word.
    #[test]
    fn verbatim_wording() {
        let notice = NoticeIssued {
            episode: EpisodeId(1),
            session: SessionId(1),
            reason: Reason::Unlinked,
            entity: None,
            other: None,
        };
        assert_eq!(
            block(&notice, None, None),
            "[STATE NOTICE]\nThe previous output could not be structurally linked to a known entity.\nIt has NOT modified the State Map.\n[END NOTICE]"
        );
    }

    /// What acts is the user's to say: a model that is told the words writes them into a shell.
    #[test]
    fn no_word_that_acts() {
        for reason in Reason::ALL {
            for entity in [None, Some(EntityId::file(RelPath::from_normalised("a.c")))] {
                let notice = NoticeIssued {
                    episode: EpisodeId(1),
                    session: SessionId(1),
                    reason: *reason,
                    entity,
                    other: None,
                };
                let told =
                    block(&notice, None, None) + &users_code_notice(&notice).unwrap_or_default();
                assert!(!told.contains("tslp "), "{reason:?}: {told}");
            }
        }
    }

    #[test]
    fn said_before() {
        let path = RelPath::from_normalised("src/a.c");
        let notice = NoticeIssued {
            episode: EpisodeId(2),
            session: SessionId(2),
            reason: Reason::SaidBefore,
            entity: Some(EntityId::symbol(path, Symbol::new("add"))),
            other: None,
        };
        let told = notice_text(&notice, None);
        assert_eq!(
            told,
            "The user sent this message before, word for word. Its code for src/a.c::add is not what the file on disk holds now, so it was NOT taken again.\nIt has NOT modified the State Map."
        );
        let unreadable = LastFinding::Unreadable(ReadFailure::TimedOut);
        assert!(
            notice_text(&notice, Some(unreadable))
                .contains("can't be compared now (its file did not answer in time)")
        );
    }
}
