//! Text from outside as it may be printed: nothing in it that a terminal would obey, or that eyes wouldn't see.

use alloc::format;
use alloc::string::String;

/// The text with whatever a terminal would obey, or eyes wouldn't see, written out. A tab stays.
#[must_use]
pub fn visible_text(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// JSON that says the same and holds nothing that a terminal would obey: that can only stand in its strings.
#[must_use]
pub fn visible_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if is_hidden(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                shown.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Whether a terminal would obey the character, or eyes wouldn't see it: control characters but the tab, and those that
/// reorder text, join it or have no width.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control() && c != '\t'
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}
