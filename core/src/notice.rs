//! The words of a STATE NOTICE: what the model is told when something it might count on didn't happen.

use alloc::format;
use alloc::string::String;

use crate::delimiter::{NOTICE_CLOSE, NOTICE_OPEN};
use crate::entity::EntityId;
use crate::event::NoticeIssued;
use crate::reason::Reason;

/// The whole block, delimiters included.
#[must_use]
pub fn block(notice: &NoticeIssued) -> String {
    format!(
        "{NOTICE_OPEN}\n{}\n{NOTICE_CLOSE}",
        body(notice.reason, notice.entity.as_ref(), notice.other.as_ref())
    )
}

/// What stands between the delimiters; also what people are shown.
#[must_use]
pub fn body(reason: Reason, entity: Option<&EntityId>, other: Option<&EntityId>) -> String {
    let name = entity.map_or_else(|| String::from("the code"), |entity| format!("{entity}"));
    let known = other.map_or_else(|| String::from("a known one"), |other| format!("{other}"));
    match reason {
        Reason::Unlinked => String::from(UNLINKED),
        Reason::PasteWithoutPath => String::from(
            "The user's code could not be linked to a file, because nothing names its path.\nIt has NOT modified the State Map.",
        ),
        Reason::Stale if other.is_some() => format!(
            "The last change to {known} was not accepted: {name} was STALE, the file on disk differed from the authoritative version.\nIt has NOT modified the State Map. If it still differs, the user can paste the file, or say \"@tslp accept {name}\" to take it as it is on disk, or \"@tslp confirm {known}\" to take the change all the same.",
        ),
        Reason::Stale => format!(
            "{name} is STALE: the file on disk differs from the authoritative version.\nIts code is withheld until the user pastes or accepts the current one. Do not guess it.",
        ),
        Reason::DiskHoldsSuperseded => format!(
            "{name} is STALE: the file on disk still holds the version before the last accepted change.\nIts code is withheld until the file is updated or the user pastes the current one. Do not guess it.",
        ),
        Reason::DiskUnreadable => format!(
            "{name} could not be checked: its file on disk can't be read.\nIts code is withheld. Do not guess it.",
        ),
        Reason::BaseUnacknowledged => refused(
            &name,
            "it was not made on the current version; ask again to be shown that",
        ),
        Reason::Elided => refused(
            &name,
            "it left out code behind a placeholder; give every definition in full",
        ),
        Reason::Truncated => refused(
            &name,
            "it broke off before its end; give the whole definition",
        ),
        Reason::Stub => refused(
            &name,
            "its body was replaced by one that does nothing; give the whole definition",
        ),
        Reason::DuplicateDefinition => refused(
            &name,
            "the code defines it more than once; give the new definition alone",
        ),
        Reason::RenameSuspected => format!(
            "{name} looks like {known} under another name or path.\nThe old name is preserved: {known} is still AUTHORITATIVE. Keep it, unless the user confirms the change.",
        ),
        Reason::RemovedByUser => refused(
            &name,
            "the user removed it; leave it out unless the user asks for it",
        ),
        Reason::SymbolsLost => refused(
            &name,
            "existing symbols are missing from it; keep every one",
        ),
        Reason::NodesCollapsed | Reason::TokensCollapsed => refused(
            &name,
            "it lost most of the existing code; keep what the change doesn't concern",
        ),
        Reason::GrantMissing => refused(&name, "it waits for the user's confirmation"),
        Reason::OverBudget => format!(
            "{name} is authoritative but did not fit into this prompt.\nIts code is NOT shown. Do not guess it.",
        ),
        Reason::QuotesDelimiters => {
            format!("{name} quotes the delimiters of this very block and is NOT shown.",)
        }
        Reason::CredentialRedacted => refused(&name, "it holds a credential"),
        Reason::UserAccepted => {
            format!("The user accepted {name} as it stands on disk. It is AUTHORITATIVE.")
        }
        Reason::UserRejected => format!(
            "The user rejected the proposed change to {name}.\nIt has NOT modified the State Map."
        ),
        Reason::UserConfirmed => {
            format!("The user confirmed the proposed change to {name}. It is AUTHORITATIVE.")
        }
        Reason::NothingToDo => format!("The user's directive found nothing to do for {name}."),
        Reason::UnknownDirective => String::from(
            "The user gave a directive that the state ledger doesn't know.\nKnown are: accept PATH[::SYMBOL], reject ENTITY, confirm ENTITY.",
        ),
        Reason::NotConfirmable => format!(
            "The proposed change to {name} can't be confirmed: it is not a full definition that keeps what exists.\nIt has NOT modified the State Map.",
        ),
        Reason::PathCaseDiffers => unlinked(
            "Its path differs from a known file's in upper and lower case alone; write the path as it is known.",
        ),
        Reason::PathNotUsable | Reason::PathEscapesWorkspace => {
            unlinked("Its path can't be used; write it relative to the workspace.")
        }
        Reason::SeveralCandidates => {
            unlinked("Its name stands for several files; write the whole path.")
        }
        Reason::EditTextNotFound => unapplied(
            &name,
            "the text that it replaces is not there exactly so; copy it from the current version",
        ),
        Reason::EditTextNotUnique => unapplied(
            &name,
            "the text that it replaces is there more than once; add lines around it",
        ),
        Reason::EditNeedsWholeFile => unapplied(
            &name,
            "it names a line, and the whole file isn't known; replace text that is shown instead",
        ),
        Reason::EditMalformed => {
            unapplied(&name, "it isn't well-formed; write the whole definition")
        }
        Reason::EditWithoutPath => unlinked("It is an edit that names no file."),
        Reason::FileExists => unapplied(
            &name,
            "it makes a file that exists; give the change to the existing one",
        ),
        Reason::FileDeletion => unapplied(&name, "only the user can remove a file"),
        Reason::FileMove => unapplied(
            &name,
            "only the user can rename a file; the old path is preserved",
        ),
        Reason::BaseUnknown => format!(
            "The last edit of {name} changes code that the state ledger does not know.\nIt has NOT modified the State Map.",
        ),
        Reason::AuditContested => format!(
            "An audit doubts that the last change to {name} is complete.\nCheck it against what was asked.",
        ),
        Reason::ParseErrors => unlinked("The code doesn't parse; give every definition whole."),
        Reason::NoDefinition => {
            unlinked("The code defines nothing whole; give complete definitions.")
        }
        Reason::NoGrammar => unlinked("Its language is not one that is read here."),
        Reason::TooLargeToParse => unlinked("It is too large to be read."),
        other => refused(&name, other.code()),
    }
}

/// The law's own words (spec §8.3).
const UNLINKED: &str = "The previous output could not be structurally linked to a known entity.\nIt has NOT modified the State Map.";

fn unlinked(why: &str) -> String {
    format!("{UNLINKED}\n{why}")
}

fn unapplied(name: &str, why: &str) -> String {
    format!("{UNLINKED}\nThe edit of {name} does not apply to its authoritative version: {why}.")
}

fn refused(name: &str, why: &str) -> String {
    format!(
        "The last change to {name} was not accepted: {why}.\nIt has NOT modified the State Map."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{EpisodeId, SessionId};

    #[test]
    fn the_laws_own_notice_is_verbatim() {
        let notice = NoticeIssued {
            episode: EpisodeId(1),
            session: SessionId(1),
            reason: Reason::Unlinked,
            entity: None,
            other: None,
        };
        assert_eq!(
            block(&notice),
            "[STATE NOTICE]\nThe previous output could not be structurally linked to a known entity.\nIt has NOT modified the State Map.\n[END NOTICE]"
        );
    }
}
