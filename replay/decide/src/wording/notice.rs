//! The texts of STATE NOTICEs, which tell the model that something it might count on didn't happen.

use alloc::format;
use alloc::string::String;

use crate::judge::lost::LostCode;
use tslp_core::delimiter::{self, NOTICE_CLOSE, NOTICE_OPEN};
use tslp_core::entity::EntityId;
use tslp_core::event::{NoticeIssued, ReadFailure};
use tslp_core::limits::DIRECTIVES_PER_PROMPT_MAX;
use tslp_core::reason::Reason;
use tslp_core::word_list;
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

/// What is said of every reason.
const ROWS: &str = include_str!("reasons.txt");

/// A reason's row: the frame of its notice, and the texts that it holds.
struct Row {
    frame: &'static str,
    why: &'static str,
    /// What the model can do; may be empty.
    remedy: &'static str,
    /// What the user can do about code of their own that isn't taken; empty where that can't happen.
    users_remedy: &'static str,
}

fn row(reason: Reason) -> Option<Row> {
    word_list::entries(ROWS).find_map(|line| {
        let mut cells = line.split('|').map(str::trim);
        let mut next = || cells.next().unwrap_or_default();
        (next() == reason.code()).then(|| Row {
            frame: next(),
            why: next(),
            remedy: next(),
            users_remedy: next(),
        })
    })
}

/// Why, as a clause; the code of a reason that nobody is told.
pub(crate) fn why(reason: Reason) -> &'static str {
    row(reason).map_or(reason.code(), |row| row.why)
}

/// Why, if the notice of this reason says it in such a frame.
#[must_use]
pub fn why_in(frame: &str, reason: Reason) -> Option<&'static str> {
    row(reason)
        .filter(|row| row.frame == frame)
        .map(|row| row.why)
}

/// The text between the delimiters.
fn notice_text(notice: &NoticeIssued, disk: Option<LastFinding<'_>>) -> String {
    let NoticeIssued {
        reason,
        entity,
        other,
        ..
    } = notice;
    if (*reason, entity) == (Reason::QuotesDelimiters, &None) {
        return QUOTED_DELIMITERS.into();
    }
    let named = |entity: &Option<EntityId>, otherwise: &str| {
        let name = entity.as_ref().map(|entity| format!("{entity}"));
        name.unwrap_or_else(|| otherwise.into())
    };
    let (name, known) = (named(entity, "the code"), named(other, "a known one"));
    let row = row(*reason);
    // Conclusions of reports and causes of transitions have no row: none of these becomes a notice.
    let (frame, why, remedy) = row.map_or(("refused", reason.code(), ""), |row| {
        (row.frame, row.why, row.remedy)
    });
    let remedy = match remedy {
        "" => String::new(),
        remedy => format!("; {remedy}"),
    };
    let text = match frame {
        "says" => why.into(),
        "refused" => format!("{} {why}{remedy}.", refusal_opening(&name)),
        "edit" => format!(
            "{UNLINKED}\nThe edit of {name} does not apply to its authoritative version: {why}{remedy}."
        ),
        "halts" => format!(
            "Tools are halted: {why}.\nNothing more is run until the user lets tools go on."
        ),
        "accept" => format!("The user could not accept {name}: {why}."),
        "record" if entity.is_some() => {
            format!("The record {name} of a reply is not kept: {why}{remedy}.")
        }
        "record" => format!("The user's directive did nothing: {why}{remedy}."),
        "directive" => format!("The user's directive {why}."),
        _ => format!("{UNLINKED}\n{}{remedy}.", capitalised(why)),
    };
    let filled = [
        ("\\n", "\n"),
        ("{not}", NOT_MODIFIED),
        ("{unparsed}", unparsed_remark(disk)),
        ("{failure}", read_failure_text(disk)),
        ("{disk}", &disk_comparison(disk)),
        ("{directives}", &format!("{DIRECTIVES_PER_PROMPT_MAX}")),
        // Last, since they may hold anything.
        ("{known}", &known),
        ("{name}", &name),
    ];
    let fill = |text: String, (mark, by): (&str, &str)| text.replace(mark, by);
    filled.into_iter().fold(text, fill)
}

fn capitalised(text: &str) -> String {
    let (first, rest) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
    first.to_uppercase() + rest
}

const QUOTED_DELIMITERS: &str = "A text in this conversation quotes delimiters like the ones around this notice. They are shown in round brackets here; where they come from, they have square ones.";

/// The notice about pasted code of the user's that wasn't taken: the reason, and what the user can do. `None` if the ordinary
/// text of the notice already says that.
#[must_use]
pub fn users_code_notice(notice: &NoticeIssued) -> Option<String> {
    let row = row(notice.reason).filter(|row| !row.users_remedy.is_empty())?;
    let why = match row.frame {
        "says" => "it is an edit of code that is not known",
        _ => row.why,
    };
    let of = notice
        .entity
        .as_ref()
        .map_or_else(String::new, |entity| format!(" for {entity}"));
    Some(within_delimiters(&format!(
        "The user's code{of} was NOT taken: {why}.{NOT_MODIFIED} {}.",
        row.users_remedy
    )))
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
    within_delimiters(&format!(
        "The proposed change to {entity} can't be confirmed: {why}.{NOT_MODIFIED}"
    ))
}

/// The law's own words (spec §8.3).
const UNLINKED: &str = "The previous output could not be structurally linked to a known entity.\nIt has NOT modified the State Map.";
const NOT_MODIFIED: &str = "\nIt has NOT modified the State Map.";

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
pub(crate) fn read_failure_text(disk: Option<LastFinding<'_>>) -> &'static str {
    let Some(LastFinding::Unreadable(failure)) = disk else {
        return "its file on disk can't be read";
    };
    match failure {
        ReadFailure::Denied => "there is no permission to read its file",
        ReadFailure::NotAFile => "its path is not a file",
        ReadFailure::Escapes => "its path leads through a link",
        ReadFailure::TooLarge => "its file is larger than what is read (16 MiB)",
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

/// How the notice of a refusal begins.
pub(crate) fn refusal_opening(name: &str) -> String {
    format!("The last change to {name} was not accepted:")
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
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

    #[test]
    fn one_row_a_reason() {
        let codes: Vec<&str> = word_list::entries(ROWS)
            .map(|line| line.split('|').next().unwrap_or_default().trim())
            .collect();
        for (at, code) in codes.iter().enumerate() {
            let reason = Reason::from_code(code);
            assert!(reason.is_some() && !codes[..at].contains(code), "{code}");
            let frame = reason.and_then(row).map_or("", |row| row.frame);
            let known = [
                "says",
                "refused",
                "edit",
                "halts",
                "accept",
                "record",
                "directive",
                "unlinked",
            ];
            assert!(known.contains(&frame), "{code}: {frame}");
        }
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
