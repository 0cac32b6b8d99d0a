//! Edits: what is read out of texts and tool calls, and what applying it does.

use tslp_core::capture::{self, CodeBlock, StatedExtent};
use tslp_core::edit::{self, BaseTexts, Edit, EditError, EditPosition, Hunk, MatchUnit};
use tslp_core::event::PathEvidence;

use crate::text::capture_blocks;

/// Edits in texts are well formed, and applying them to any text gives a text or an error.
pub(crate) fn capture_edits(data: &[u8]) {
    capture_blocks(data);
    let text = String::from_utf8_lossy(data);
    for block in capture::blocks(&text) {
        well_formed(&block);
        apply_to(&block, &text);
    }
}

/// A block in tags covers its tags and is well formed.
pub(crate) fn capture_tags(data: &[u8]) {
    capture_edits(data);
}

/// A call with a name and arguments, the first line and the rest.
pub(crate) fn tool_call(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (name, arguments) = text.split_once('\n').unwrap_or(("edit", &text));
    for block in capture::tool_call(name, arguments) {
        assert!(block.path.is_some() || matches!(block.edit, Some(Err(_))));
        assert_eq!(block.path.is_some(), block.evidence == PathEvidence::Header);
        well_formed(&block);
        apply_to(&block, "int x;\nint y;\n");
    }
}

fn hunks_of<'b>(block: &'b CodeBlock<'_>) -> &'b [Hunk] {
    match &block.edit {
        Some(Ok(Edit::Change(hunks) | Edit::Move { hunks, .. })) => hunks,
        _ => &[],
    }
}

fn well_formed(block: &CodeBlock<'_>) {
    if let Some(Ok(Edit::Change(hunks))) = &block.edit {
        assert!(!hunks.is_empty());
    }
    if let Some(Ok(Edit::Create(_))) = &block.edit {
        assert_eq!(block.stated_extent, StatedExtent::Whole);
    }
    for hunk in hunks_of(block) {
        if let Hunk::Replace { old, .. } = hunk {
            assert!(!old.is_empty(), "{block:?}");
        }
    }
}

fn apply_to(block: &CodeBlock<'_>, base: &str) {
    let hunks = hunks_of(block);
    let before = edit::apply(hunks, BaseTexts::Whole(base));
    if let Ok(texts) = before {
        assert_eq!(texts.len(), 1);
    }
    let _ = edit::apply(hunks, BaseTexts::Slices(&[base, "int x;"]));
}

/// A base, an old and a new text, divided by `\u{1}`: applied as a naïve model does it.
pub(crate) fn edit_apply(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut parts = text.split('\u{1}');
    let (Some(base), Some(old)) = (parts.next(), parts.next()) else {
        return;
    };
    let new = parts.next().unwrap_or_default();
    let outcome = |place: &EditPosition, unit| {
        let hunk = Hunk::Replace {
            old: old.to_owned(),
            new: new.to_owned(),
            place: place.clone(),
            unit,
        };
        edit::apply(&[hunk], BaseTexts::Whole(base))
            .map(|mut texts| texts.remove(0).unwrap_or_else(|| base.to_owned()))
    };
    let without_cr = ![base, old, new].iter().any(|text| text.contains('\r'));
    for place in [
        EditPosition::Once,
        EditPosition::Everywhere,
        EditPosition::End,
        EditPosition::After("a".to_owned()),
    ] {
        for unit in [MatchUnit::Lines, MatchUnit::Text] {
            let outcome = outcome(&place, unit);
            if without_cr && place == EditPosition::Once {
                assert_eq!(
                    outcome,
                    by_hand(base, old, new, unit),
                    "{base:?} {old:?} {new:?}"
                );
            }
            // Whatever applies was there, line ends aside.
            if outcome.is_ok() {
                let unix = |text: &str| text.replace("\r\n", "\n");
                let last = unix(old);
                let last = last.strip_suffix('\n').unwrap_or(&last);
                assert!(unix(base).contains(last), "{base:?} {old:?}");
            }
        }
    }
}

/// Exactly one place, tried one after the other.
fn by_hand(base: &str, old: &str, new: &str, unit: MatchUnit) -> Result<String, EditError> {
    let is_bare = |text: &str| !text.is_empty() && !text.ends_with('\n');
    let fits = |start: usize, end: usize| match unit {
        MatchUnit::Text => true,
        MatchUnit::Lines => {
            (start == 0 || base[..start].ends_with('\n'))
                && (old.ends_with('\n') || end == base.len())
                && (!is_bare(new) || end == base.len())
        }
    };
    let mut places: Vec<(usize, usize, &str)> = base
        .char_indices()
        .map(|(start, _)| (start, start + old.len()))
        .filter(|(start, end)| {
            !old.is_empty() && base[*start..].starts_with(old) && fits(*start, *end)
        })
        .map(|(start, end)| (start, end, new))
        .collect();
    // A last line without its newline.
    if let Some(bare) = old
        .strip_suffix('\n')
        .filter(|_| unit == MatchUnit::Lines && is_bare(base))
        && !bare.is_empty()
        && base.ends_with(bare)
    {
        let start = base.len() - bare.len();
        if start == 0 || base[..start].ends_with('\n') {
            let new = new.strip_suffix('\n').unwrap_or(new);
            places.push((start, base.len(), new.strip_suffix('\r').unwrap_or(new)));
        }
    }
    match places[..] {
        [] => Err(EditError::NotFound),
        [(start, end, new)] => Ok(format!("{}{new}{}", &base[..start], &base[end..])),
        _ => Err(EditError::NotUnique),
    }
}
