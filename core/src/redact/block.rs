//! Private keys of several lines: PEM and PGP, SSH2, PuTTY's; also in one line, as JSON and C write them.

use super::reading::{ByteClass, ScannedText};

/// The beginnings of a block's first and last line.
pub(super) struct KeyBlock {
    pub(super) open: &'static [u8],
    close: &'static [u8],
}

pub(super) const BLOCKS: [KeyBlock; 3] = [
    KeyBlock {
        open: b"-----BEGIN ",
        close: b"-----END ",
    },
    KeyBlock {
        open: b"---- BEGIN ",
        close: b"---- END ",
    },
    KeyBlock {
        open: b"PuTTY-User-Key-File-",
        close: b"Private-MAC:",
    },
];

/// The part of the label that marks a private key.
const PRIVATE_KEY: &[u8] = b"PRIVATE KEY";

static DASH: ByteClass = ByteClass::of(b"-");
static LABEL: ByteClass = ByteClass::of(b"a-zA-Z0-9 ");
static BASE64: ByteClass = ByteClass::of(b"a-zA-Z0-9+/=");

/// Line ends, quotes and signs of comments between a block's first line and its content.
static SEPARATOR: ByteClass = ByteClass::of(b" \t\r\n\\\"'`+,/*#|>");

const LABEL_BYTES_MAX: usize = 48;

const SEPARATORS_MAX: usize = 96;

/// The end of the private key that begins at `at`; if nothing closes it, the text's end, which then counts as read.
pub(super) fn private_key_at(reading: &mut ScannedText<'_>, at: usize) -> Option<usize> {
    let block = BLOCKS
        .iter()
        .find(|block| reading.text[at..].starts_with(block.open))?;
    let body = body_of(reading, at + block.open.len(), block)?;
    let Some(close) = memchr::memmem::find(&reading.text[body..], block.close) else {
        reading.byte_at(reading.text.len());
        return Some(reading.text.len());
    };
    let label = body + close + block.close.len();
    let end = reading.end_of_run(label, LABEL_BYTES_MAX, &LABEL);
    Some(reading.end_of_run(end, 5, &DASH))
}

/// The start of the key's content, if there is any: code that only mentions the first line has none.
fn body_of(reading: &mut ScannedText<'_>, label: usize, block: &KeyBlock) -> Option<usize> {
    if block.close == BLOCKS[2].close {
        let head = &reading.text[label..(label + 256).min(reading.text.len())];
        reading.byte_at(label + 255);
        return memchr::memmem::find(head, b"Encryption:").map(|found| label + found);
    }
    let labelled = reading.end_of_run(label, LABEL_BYTES_MAX, &LABEL);
    memchr::memmem::find(&reading.text[label..labelled], PRIVATE_KEY)?;
    let dashed = reading.end_of_run(labelled, 5, &DASH);
    if dashed < labelled + 4 {
        return None;
    }
    let mut at = dashed;
    while at - dashed < SEPARATORS_MAX {
        at = reading.end_of_run(at, SEPARATORS_MAX, &SEPARATOR);
        // The letter of an escaped line end is none of the content's.
        let is_escape = reading.text[dashed..at].ends_with(b"\\");
        if !is_escape || !matches!(reading.byte_at(at), Some(b'n' | b'r')) {
            break;
        }
        at += 1;
    }
    let has_line_end = reading.text[dashed..at].contains(&b'\n');
    let end = reading.end_of_run(at, 16, &BASE64);
    let is_line = has_line_end
        && end - at >= 4
        && reading
            .byte_at(end)
            .is_none_or(|byte| byte.is_ascii_whitespace());
    let is_header = [b"Proc-Type:".as_slice(), b"Version:", b"Comment:", b"Hash:"];
    let has_header = is_header.iter().any(|header| reading.has_bytes(at, header));
    (end - at == 16 || is_line || has_header).then_some(at)
}
