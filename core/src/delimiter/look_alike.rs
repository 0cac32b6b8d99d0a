//! The ASCII characters that others look like, so that a delimiter can't be disguised.

use crate::word_list;

/// The appearance of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Appearance {
    /// It looks like this ASCII character; letters are in upper case.
    As(u8),
    /// Whitespace, a mark on the character before it, or invisible.
    Nothing,
    /// It looks like no character of a delimiter.
    Otherwise,
}

const LOOK_ALIKES: &str = include_str!("look_alikes.txt");

/// The appearance of `c`.
pub(super) fn appearance_of(c: char) -> Appearance {
    if c.is_whitespace() || c.is_control() || is_unseen(c) {
        return Appearance::Nothing;
    }
    let plain = match c {
        '\0'..='\x7f' => Some(c),
        // Full-width forms.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0),
        // Circled letters.
        '\u{24b6}'..='\u{24cf}' => latin_letter(u32::from(c) - 0x24b6),
        '\u{24d0}'..='\u{24e9}' => latin_letter(u32::from(c) - 0x24d0),
        // Bold, slanted, script and other letters of mathematics.
        '\u{1d400}'..='\u{1d6a3}' => latin_letter((u32::from(c) - 0x1d400) % 26),
        _ => listed_look_alike(c),
    };
    match plain.map(|plain| u8::try_from(plain.to_ascii_uppercase())) {
        Some(Ok(byte)) => Appearance::As(byte),
        _ => Appearance::Otherwise,
    }
}

fn latin_letter(number: u32) -> Option<char> {
    char::from_u32(u32::from('A') + number)
}

fn listed_look_alike(c: char) -> Option<char> {
    let rows = word_list::entries(LOOK_ALIKES).filter_map(|row| row.split_once(' '));
    let mut found = rows.filter(|(_, alike)| alike.contains(c));
    found.next().and_then(|(plain, _)| plain.chars().next())
}

/// Whether a character has no width or ink of its own, or is a mark on the one before it.
const fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{300}'..='\u{36f}'
            | '\u{483}'..='\u{489}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{20d0}'..='\u{20ff}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{fe20}'..='\u{fe2f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1d167}'..='\u{1d182}'
            | '\u{e0000}'..='\u{e01ef}'
    )
}

/// Whether `c` looks like `[`. Faster than [`appearance_of`], because each character of a text is asked.
pub(super) const fn is_opening(c: char) -> bool {
    matches!(c, '[' | '\u{ff3b}' | '\u{fe47}' | '【' | '〔' | '⟦' | '〚')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opening_brackets() {
        for c in '\0'..=char::MAX {
            assert_eq!(
                is_opening(c),
                appearance_of(c) == Appearance::As(b'['),
                "{c:?}"
            );
        }
    }
}
