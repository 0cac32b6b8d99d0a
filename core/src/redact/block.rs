//! Private keys of several lines: PEM and PGP, SSH2, PuTTY's; also in one line, as JSON and C write them.

use super::reading::ScannedText;

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

const LABEL_BYTES_MAX: usize = 48;

/// Line ends, quotes and signs of comments between a block's first line and its content.
const SEPARATORS_MAX: usize = 96;

/// The end of the private key that begins at `at`; if nothing closes it, the text's end, which then counts as read.
pub(super) fn private_key_at(reading: &mut ScannedText<'_>, at: usize) -> Option<usize> {
    if !matches!(reading.text[at], b'-' | b'P') {
        return None;
    }
    let block = BLOCKS
        .iter()
        .find(|block| reading.text[at..].starts_with(block.open))?;
    let body = body_of(reading, at + block.open.len(), block)?;
    let Some(close) = memchr::memmem::find(&reading.text[body..], block.close) else {
        reading.byte_at(reading.text.len());
        return Some(reading.text.len());
    };
    let label = body + close + block.close.len();
    let is_label = |byte: u8| byte.is_ascii_alphanumeric() || byte == b' ';
    let end = reading.end_of_run(label, LABEL_BYTES_MAX, is_label);
    Some(reading.end_of_run(end, 5, |byte| byte == b'-'))
}

/// The start of the key's content, if there is any: code that only mentions the first line has none.
fn body_of(reading: &mut ScannedText<'_>, label: usize, block: &KeyBlock) -> Option<usize> {
    if block.close == BLOCKS[2].close {
        let head = &reading.text[label..(label + 256).min(reading.text.len())];
        reading.byte_at(label + 255);
        return memchr::memmem::find(head, b"Encryption:").map(|found| label + found);
    }
    let is_label = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ';
    let labelled = reading.end_of_run(label, LABEL_BYTES_MAX, is_label);
    memchr::memmem::find(&reading.text[label..labelled], PRIVATE_KEY)?;
    let dashed = reading.end_of_run(labelled, 5, |byte| byte == b'-');
    if dashed < labelled + 4 {
        return None;
    }
    let mut at = dashed;
    let mut has_line_end = false;
    while at - dashed < SEPARATORS_MAX {
        match reading.byte_at(at)? {
            b'\n' => has_line_end = true,
            b'\\' if matches!(reading.byte_at(at + 1), Some(b'n' | b'r')) => at += 1,
            b' ' | b'\t' | b'\r' | b'\\' | b'"' | b'\'' | b'`' | b'+' | b',' | b'/' | b'*'
            | b'#' | b'|' | b'>' => {}
            _ => break,
        }
        at += 1;
    }
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let end = reading.end_of_run(at, 16, is_base64);
    let is_line = has_line_end
        && end - at >= 4
        && reading
            .byte_at(end)
            .is_none_or(|byte| byte.is_ascii_whitespace());
    let is_header = [b"Proc-Type:".as_slice(), b"Version:", b"Comment:", b"Hash:"];
    let has_header = is_header.iter().any(|header| reading.has_bytes(at, header));
    (end - at == 16 || is_line || has_header).then_some(at)
}
