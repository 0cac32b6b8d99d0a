//! How tests show edits.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::capture::block::CodeBlock;
use crate::capture::payload::sections::ParsedEdits;
use crate::edit::{Edit, EditPosition, Hunk, Malformed};

/// One line a file: its path and what is done to it.
pub(in crate::capture) fn files(edits: &ParsedEdits) -> Vec<String> {
    let sections = edits.sections.iter();
    let shown = sections.map(|section| {
        let path = section.hint.as_ref().and_then(|hint| hint.path.as_deref());
        format!("{}{}", path.unwrap_or("-"), edit(&section.edit))
    });
    shown.collect()
}

/// An edit with its hunks.
pub(in crate::capture) fn edit(edit: &Result<Edit, Malformed>) -> String {
    match edit {
        Ok(Edit::Change(hunks)) => hunks.iter().map(hunk).collect(),
        Ok(Edit::Move { to, hunks }) => {
            format!(" to {to}{}", hunks.iter().map(hunk).collect::<String>())
        }
        Ok(edit) => format!(" {edit:?}"),
        Err(Malformed) => " malformed".to_string(),
    }
}

fn hunk(hunk: &Hunk) -> String {
    match hunk {
        Hunk::Replace {
            old, new, place, ..
        } => match place {
            EditPosition::Once => format!(" {old:?}>{new:?}"),
            place => format!(" {place:?} {old:?}>{new:?}"),
        },
        hunk => format!(" {hunk:?}"),
    }
}

/// A block's code, or its edit with the number of hunks.
pub(in crate::capture) fn payload(block: &CodeBlock<'_>) -> String {
    match &block.edit {
        None => format!("{:?}", block.code),
        Some(Ok(Edit::Change(hunks))) => format!("change {}", hunks.len()),
        Some(Ok(Edit::Create(text))) => format!("create {text:?}"),
        Some(Ok(Edit::Delete)) => "delete".to_string(),
        Some(Ok(Edit::Move { to, hunks })) => format!("move to {to} {}", hunks.len()),
        Some(Err(Malformed)) => "malformed".to_string(),
    }
}
