//! Credentials don't enter the ledger: common key formats are replaced before anything is recorded.

use alloc::borrow::Cow;
use alloc::string::String;
use core::ops::Range;

/// What stands in the ledger in a credential's place.
pub const MARKER: &str = "[REDACTED CREDENTIAL]";

/// A key format: a fixed prefix and at least so many characters of the body.
struct Format {
    prefix: &'static str,
    body_chars_min: usize,
}

const FORMATS: &[Format] = &[
    Format {
        prefix: "sk-",
        body_chars_min: 20,
    },
    Format {
        prefix: "sk_live_",
        body_chars_min: 16,
    },
    Format {
        prefix: "rk_live_",
        body_chars_min: 16,
    },
    Format {
        prefix: "ghp_",
        body_chars_min: 20,
    },
    Format {
        prefix: "gho_",
        body_chars_min: 20,
    },
    Format {
        prefix: "ghu_",
        body_chars_min: 20,
    },
    Format {
        prefix: "ghs_",
        body_chars_min: 20,
    },
    Format {
        prefix: "ghr_",
        body_chars_min: 20,
    },
    Format {
        prefix: "github_pat_",
        body_chars_min: 20,
    },
    Format {
        prefix: "glpat-",
        body_chars_min: 20,
    },
    Format {
        prefix: "hf_",
        body_chars_min: 30,
    },
    Format {
        prefix: "xoxb-",
        body_chars_min: 10,
    },
    Format {
        prefix: "xoxp-",
        body_chars_min: 10,
    },
    Format {
        prefix: "xoxa-",
        body_chars_min: 10,
    },
    Format {
        prefix: "xoxr-",
        body_chars_min: 10,
    },
    Format {
        prefix: "xoxs-",
        body_chars_min: 10,
    },
    Format {
        prefix: "AKIA",
        body_chars_min: 16,
    },
    Format {
        prefix: "ASIA",
        body_chars_min: 16,
    },
    Format {
        prefix: "AIza",
        body_chars_min: 35,
    },
    Format {
        prefix: "npm_",
        body_chars_min: 30,
    },
    Format {
        prefix: "pypi-",
        body_chars_min: 40,
    },
];

const PEM_OPEN: &str = "-----BEGIN ";
const PEM_KEY: &str = "PRIVATE KEY-----";
const PEM_CLOSE: &str = "-----END ";

/// The text with each credential replaced by [`MARKER`].
///
/// Nearly all text holds none, so the search leaps from one byte that no format lacks to the next.
#[must_use]
pub fn redacted(text: &str) -> Cow<'_, str> {
    let mut out: Option<String> = None;
    let mut copied = 0;
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(found) = memchr::memchr3(b'-', b'_', b'A', &bytes[at..]) {
        let anchor = at + found;
        let credential = if may_be_anchor(bytes, anchor) {
            credential_around(text, copied, anchor)
        } else {
            None
        };
        let Some(credential) = credential else {
            at = anchor + 1;
            continue;
        };
        let buffer = out.get_or_insert_with(|| String::with_capacity(text.len()));
        buffer.push_str(&text[copied..credential.start]);
        buffer.push_str(MARKER);
        copied = credential.end;
        at = credential.end;
    }
    match out {
        None => Cow::Borrowed(text),
        Some(mut buffer) => {
            buffer.push_str(&text[copied..]);
            Cow::Owned(buffer)
        }
    }
}

/// Whether the two bytes at an anchor can be any format's: code is full of `_`.
fn may_be_anchor(bytes: &[u8], anchor: usize) -> bool {
    let before = anchor.checked_sub(1).map(|at| bytes[at]);
    let after = bytes.get(anchor + 1).copied();
    before.is_some_and(|before| BEFORE_ANCHOR[usize::from(before)])
        || after.is_some_and(|after| BEHIND_ANCHOR[usize::from(after)])
}

/// Bytes that stand before the anchor of a format.
const BEFORE_ANCHOR: [bool; 256] = {
    let mut bytes = [false; 256];
    let mut at = 0;
    while at < FORMATS.len() {
        if let Some(anchor @ 1..) = anchor_of(FORMATS[at].prefix) {
            bytes[FORMATS[at].prefix.as_bytes()[anchor - 1] as usize] = true;
        }
        at += 1;
    }
    bytes
};

/// Bytes that stand behind the anchor of a format that begins with it, or of a private key.
const BEHIND_ANCHOR: [bool; 256] = {
    let mut bytes = [false; 256];
    bytes[PEM_OPEN.as_bytes()[1] as usize] = true;
    let mut at = 0;
    while at < FORMATS.len() {
        if let Some(0) = anchor_of(FORMATS[at].prefix) {
            bytes[FORMATS[at].prefix.as_bytes()[1] as usize] = true;
        }
        at += 1;
    }
    bytes
};

/// The credential whose first `-`, `_` or `A` stands at `anchor`, if there is one that starts at `from` or later.
fn credential_around(text: &str, from: usize, anchor: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let before = bytes[from..anchor]
        .iter()
        .rev()
        .take(ANCHOR_MAX + 1)
        .take_while(|byte| is_key_byte(**byte))
        .count();
    let start = anchor - before;
    let token = if before > ANCHOR_MAX || follows_word(bytes, start) {
        None
    } else {
        token_at(bytes, start, before).map(|end| start..end)
    };
    match bytes[anchor] {
        b'-' => token.or_else(|| private_key_at(text, anchor).map(|end| anchor..end)),
        _ => token,
    }
}

/// The end of the token that starts at `at` and has its anchor so many bytes further.
fn token_at(bytes: &[u8], at: usize, anchor: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let format = FORMATS.iter().find(|format| {
        anchor_of(format.prefix) == Some(anchor) && rest.starts_with(format.prefix.as_bytes())
    })?;
    let body = &rest[format.prefix.len()..];
    let len = body.iter().take_while(|byte| is_key_byte(**byte)).count();
    let mixed = body[..len].iter().any(u8::is_ascii_digit);
    (len >= format.body_chars_min && mixed).then_some(at + format.prefix.len() + len)
}

/// Where the first `-`, `_` or `A` of a prefix stands.
const fn anchor_of(prefix: &str) -> Option<usize> {
    let bytes = prefix.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if matches!(bytes[at], b'-' | b'_' | b'A') {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// The furthest anchor of any format.
const ANCHOR_MAX: usize = 6;

const _: () = {
    let mut at = 0;
    while at < FORMATS.len() {
        match anchor_of(FORMATS[at].prefix) {
            Some(anchor) => assert!(anchor <= ANCHOR_MAX, "the search looks back so far"),
            None => panic!("a format without an anchor would never be found"),
        }
        at += 1;
    }
};

fn private_key_at(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?.strip_prefix(PEM_OPEN)?;
    let head = rest.lines().next()?;
    if !head.trim_end().ends_with(PEM_KEY) {
        return None;
    }
    let end = rest.find(PEM_CLOSE).map_or(rest.len(), |close| {
        close + rest[close..].find('\n').unwrap_or(rest.len() - close)
    });
    Some(at + PEM_OPEN.len() + end)
}

/// How much of the text can be redacted by itself, whatever comes after it: what is left is a word that may become a
/// credential, or a private key whose end hasn't come.
#[must_use]
pub fn safe_cut(text: &str) -> usize {
    let mut cut = after_last_word(text);
    while let Some(key) = unclosed_key(&text[..cut]) {
        cut = after_last_word(&text[..key]);
    }
    cut
}

/// Where the text's last word begins, of the characters that keys are made of.
fn after_last_word(text: &str) -> usize {
    let word = text.bytes().rev().take_while(|byte| is_key_byte(*byte));
    text.len() - word.count()
}

/// Where a private key begins whose last line isn't whole, or a line that may be a private key's first.
fn unclosed_key(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find(PEM_OPEN).map(|found| from + found) {
        let rest = &text[at + PEM_OPEN.len()..];
        let Some((head, _)) = rest.split_once('\n') else {
            return Some(at);
        };
        from = at + PEM_OPEN.len();
        if head.trim_end().ends_with(PEM_KEY) {
            let Some(close) = rest.find(PEM_CLOSE) else {
                return Some(at);
            };
            let Some(end) = rest[close..].find('\n') else {
                return Some(at);
            };
            from += close + end;
        }
    }
    None
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

fn follows_word(bytes: &[u8], at: usize) -> bool {
    at > 0 && is_key_byte(bytes[at - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    use alloc::format;

    #[test]
    fn keys_of_common_services_are_replaced() {
        for key in [
            "sk-proj-abcdEFGH1234567890abcd",
            "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            "AKIAIOSFODNN7EXAMPLE",
            "xoxb-1234567890-abcdef",
            "hf_abcdefghijklmnopqrstuvwxyz012345",
        ] {
            assert_eq!(
                redacted(&format!("key = \"{key}\";")),
                format!("key = \"{MARKER}\";"),
                "{key}"
            );
        }
    }

    #[test]
    fn every_format_is_found_at_the_beginning_in_the_middle_and_at_the_end() {
        for Format {
            prefix,
            body_chars_min,
        } in FORMATS
        {
            let key = format!("{prefix}{}1", "x".repeat(body_chars_min - 1));
            assert_eq!(redacted(&key), MARKER, "{prefix}");
            for (before, behind) in [("a_b = ", ""), ("", " - A_"), ("A-A_A ", ";\n_")] {
                assert_eq!(
                    redacted(&format!("{before}{key}{behind}")),
                    format!("{before}{MARKER}{behind}"),
                    "{prefix}"
                );
            }
        }
    }

    #[test]
    fn private_keys_are_replaced_to_their_end_or_the_texts() {
        let pem = "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb";
        assert_eq!(redacted(pem), format!("a\n{MARKER}\nb"));
        assert_eq!(redacted("-----BEGIN PRIVATE KEY-----\nMIIE"), MARKER);
    }

    #[test]
    fn code_that_only_looks_similar_stays() {
        for text in [
            "task-scheduler-implementation-details",
            "sk-short1",
            "risk-abcdefghij1234567890abcd",
            "hf_init(x)",
            "-----BEGIN CERTIFICATE-----\nx",
        ] {
            assert!(matches!(redacted(text), Cow::Borrowed(_)), "{text}");
        }
    }

    /// Tries every format at every byte.
    fn naively_redacted(text: &str) -> String {
        let bytes = text.as_bytes();
        let mut out = String::new();
        let mut copied = 0;
        let mut at = 0;
        while at < bytes.len() {
            let token = FORMATS
                .iter()
                .filter(|_| !follows_word(bytes, at))
                .find(|format| bytes[at..].starts_with(format.prefix.as_bytes()))
                .and_then(|format| token_at(bytes, at, anchor_of(format.prefix)?));
            let Some(end) = token.or_else(|| private_key_at(text, at)) else {
                at += 1;
                continue;
            };
            out.push_str(&text[copied..at]);
            out.push_str(MARKER);
            copied = end;
            at = end;
        }
        out + &text[copied..]
    }

    #[test]
    fn text_is_cut_where_no_credential_can_go_on() {
        let check = |text: &str, rest: &str| {
            assert_eq!(&text[safe_cut(text)..], rest, "{text:?}");
        };
        check("", "");
        check("a line\n", "");
        check("some words and ", "");
        check("some words and a", "a");
        check("key = sk-abc", "sk-abc");
        check("-----BEGIN CERTIFICATE-----\nMIIE\n", "");
        let open = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n";
        let close = "-----END RSA PRIVATE KEY-----\n";
        check(&format!("a\n{open}"), open);
        check(&format!("a {open}{close}b "), "");
        check(
            &format!("a\n{open}-----END RSA "),
            &format!("{open}-----END RSA "),
        );
        check(&format!("{open}{close}{open}"), open);
        check("a -----BEGIN RSA ", "-----BEGIN RSA ");
    }

    #[test]
    fn what_is_cut_and_redacted_is_what_is_redacted_whole() {
        let pieces = [
            "sk-",
            "ghp_",
            "AKIA",
            "-",
            " ",
            "\n",
            "é",
            "x1",
            "abcdefghijklmnopqrstuvwxyz0123456789",
            "-----BEGIN RSA PRIVATE KEY-----\n",
            "-----BEGIN ",
            "PRIVATE KEY-----",
            "-----END ",
        ];
        let mut state = 1_u64;
        let mut below = |end: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % end
        };
        let mut cuts = 0;
        for _ in 0..20_000 {
            let text: String = (0..8).map(|_| pieces[below(pieces.len())]).collect();
            let mut come = below(text.len() + 1);
            while !text.is_char_boundary(come) {
                come -= 1;
            }
            let (one, other) = text.split_at(safe_cut(&text[..come]));
            cuts += usize::from(!one.is_empty() && one != text);
            let in_two = format!("{}{}", redacted(one), redacted(other));
            assert_eq!(in_two, redacted(&text), "{one:?} {other:?}");
        }
        assert!(cuts > 1_000, "{cuts}");
    }

    #[test]
    fn leaping_finds_what_looking_at_every_byte_finds() {
        let pieces = [
            "sk-",
            "ghp_",
            "github_pat_",
            "AKIA",
            "AIza",
            "sk_live_",
            "pypi-",
            "A",
            "-",
            "_",
            " ",
            "\n",
            "é",
            "x1",
            "abcdefghijklmnopqrstuvwxyz0123456789",
            "-----BEGIN RSA PRIVATE KEY-----\n",
            "-----END ",
        ];
        let mut state = 1_u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..6 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
            }
            assert_eq!(redacted(&text), naively_redacted(&text), "{text:?}");
        }
    }
}
