//! The Recent Context window (spec §8.4): the last turns, in the place of the client's own older messages.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use tslp_projections::state::StateView;

use crate::prompt::facts::Prompt;
use crate::prompt::sight::{self, Sight};
use crate::prompt::text_index::TextIndex;
use tslp_core::capture;
use tslp_core::delimiter::{RECENT_CLOSE, RECENT_OPEN};
use tslp_core::entity::EntityId;
use tslp_core::hash::ArtifactHash;
use tslp_core::limits::{RECENT_MESSAGE_BYTES_MAX, RECENT_MESSAGE_READ_BYTES, RECENT_PAIRS};
use tslp_core::message::Role;
use tslp_projections::sessions::Exchange;

/// The window; what is withheld of it is added to `withheld`. Of a conversation that the ledger doesn't know, what the client
/// sent is the window.
pub(crate) fn recent_context(
    view: &StateView<'_>,
    prompt: &Prompt<'_>,
    index: &mut TextIndex,
    withheld: &mut BTreeSet<EntityId>,
) -> Option<String> {
    let exchanges = view.state.sessions().exchanges_kept(prompt.session);
    let mut messages: Vec<(Role, String)> = Vec::new();
    for Exchange { user, assistant } in exchanges {
        messages.push((Role::User, recent_text(view, &user)));
        messages.push((Role::Assistant, recent_text(view, &assistant)));
    }
    if messages.is_empty() {
        let older = &prompt.request.messages[..prompt.request.current_from()];
        let said = older.iter().filter(|message| {
            matches!(message.role, Role::User | Role::Assistant) && !message.recorded().is_empty()
        });
        let said = said.map(|message| (message.role, message.recorded().into()));
        messages.extend(said);
        messages.drain(..messages.len().saturating_sub(2 * RECENT_PAIRS));
    }
    if messages.is_empty() {
        return None;
    }
    let mut text = String::from(RECENT_OPEN);
    for (speaker, said) in messages {
        let name = match speaker {
            Role::Assistant => "Assistant",
            _ => "User",
        };
        let strict = Sight::withhold_strictly(view, prompt.session, index, &said, withheld);
        let said = sight::cleaned_text(speaker, &said, strict).unwrap_or(said);
        // Cut after code was withheld: a cut in the middle of outdated code would hide it from the search.
        let said = beginning(&said, RECENT_MESSAGE_BYTES_MAX);
        text.push_str(&format!("\n{name}:\n{}\n", said.trim_end()));
    }
    text.push_str(RECENT_CLOSE);
    Some(text)
}

/// A message of the window as it was recorded, up to the bytes that are read of it.
pub(crate) fn recent_text(view: &StateView<'_>, pieces: &[ArtifactHash]) -> String {
    let mut text = String::new();
    for piece in pieces {
        // A piece that can't be read is left out: recent turns are a reminder, and nothing is decided by them.
        if let Some(bytes) = view.artifact_content(*piece) {
            text.push_str(&String::from_utf8_lossy(&bytes));
        }
        if text.len() > RECENT_MESSAGE_READ_BYTES {
            break;
        }
    }
    text
}

/// The first `bytes_max` bytes of a text, cut before the line that they end in; within a block of code before the
/// definition, or before the block: a model makes up the rest of code that breaks off.
fn beginning(text: &str, bytes_max: usize) -> Cow<'_, str> {
    if text.len() <= bytes_max {
        return Cow::Borrowed(text);
    }
    let mut bytes = bytes_max;
    while !text.is_char_boundary(bytes) {
        bytes -= 1;
    }
    // A line that is longer than all that may be shown is cut, since nothing would be left of the message.
    let cut = text[..bytes].rfind('\n').map_or(bytes, |end| end + 1);
    let mut blocks = capture::blocks(text).into_iter();
    let Some(block) = blocks.find(|block| (block.outer.start + 1..block.outer.end).contains(&cut))
    else {
        return Cow::Borrowed(&text[..cut]);
    };
    let shown = &text[block.outer.start..cut];
    let mark = shown.trim_start();
    let mark = &mark[..mark.len() - mark.trim_start_matches(['`', '~']).len()];
    match last_definition(shown).filter(|_| !mark.is_empty()) {
        Some(end) => Cow::Owned(format!(
            "{}{}\n{mark}",
            &text[..block.outer.start],
            shown[..end].trim_end()
        )),
        None => Cow::Borrowed(&text[..block.outer.start]),
    }
}

/// Where the last definition begins in the beginning of a fence: at a line after a blank one that isn't indented.
fn last_definition(fence: &str) -> Option<usize> {
    let (mut at, mut is_after_blank, mut last) = (0, false, None);
    for (index, line) in fence.split_inclusive('\n').enumerate() {
        let begins = line.starts_with(|c: char| !c.is_whitespace() && !"})]".contains(c));
        if index > 1 && is_after_blank && begins {
            last = Some(at);
        }
        is_after_blank = line.trim().is_empty();
        at += line.len();
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, bytes_max: usize, expected: &str) {
        assert_eq!(beginning(text, bytes_max), expected);
    }

    /// A text is cut before a line, a definition or a block.
    #[test]
    fn cut_points() {
        check("one\ntwo\nthree", 20, "one\ntwo\nthree");
        check("one\ntwo\nthree", 10, "one\ntwo\n");
        check("\u{fc}\u{fc}", 3, "\u{fc}");
        let code = "def a():\n    one()\n\n    two()\n\ndef b():\n    three()\n\n    four()\n";
        let text = format!("Look:\n```python\n{code}```\nSo?");
        check(
            &text,
            70,
            "Look:\n```python\ndef a():\n    one()\n\n    two()\n```",
        );
        check(&text, 30, "Look:\n");
        check(&text, text.len() - 1, &text[..text.len() - 3]);
    }
}
