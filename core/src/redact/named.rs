//! Credentials recognised by the name before them: `password = "…"`, `API_KEY=…`, `Bearer …`, and passwords in URLs.

use core::ops::Range;

use super::data_file::{next_entry, next_word};
use super::looks;
use super::reading::{ScannedText, is_word_byte};

/// The kind of value that a name has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NameFamily {
    Password,
    Secret,
    /// Base64 of a user and a password.
    Pair,
    Bearer,
    Basic,
    /// A program that is given a password by `-p`.
    Client,
}

const LINES: &[u8] = include_bytes!("names.txt");

/// Names in lower case, with their families.
pub(super) const NAMES: [(NameFamily, &[u8]); count_entries(false)] = {
    let mut names = [(NameFamily::Password, b"".as_slice()); count_entries(false)];
    let mut at = 0;
    let mut rest = LINES;
    while let (Some(entry), after) = next_entry(rest) {
        let (family, name) = next_word(entry);
        let family = match family {
            b"password" => Some(NameFamily::Password),
            b"secret" => Some(NameFamily::Secret),
            b"bearer" => Some(NameFamily::Bearer),
            b"basic" => Some(NameFamily::Basic),
            b"pair" => Some(NameFamily::Pair),
            b"client" => Some(NameFamily::Client),
            b"harmless" => None,
            _ => panic!("names.txt says which families there are"),
        };
        if let Some(family) = family {
            names[at] = (family, name);
            at += 1;
        }
        rest = after;
    }
    names
};

/// Ends of names whose values are harmless.
const HARMLESS: [&[u8]; count_entries(true)] = {
    let mut endings = [b"".as_slice(); count_entries(true)];
    let mut at = 0;
    let mut rest = LINES;
    while let (Some(entry), after) = next_entry(rest) {
        if let (b"harmless", ending) = next_word(entry) {
            endings[at] = ending;
            at += 1;
        }
        rest = after;
    }
    endings
};

const fn count_entries(harmless: bool) -> usize {
    let mut count = 0;
    let mut rest = LINES;
    while let (Some(entry), after) = next_entry(rest) {
        if matches!(next_word(entry).0, b"harmless") == harmless {
            count += 1;
        }
        rest = after;
    }
    count
}

/// The text before a URL's user and password.
pub(super) const URL: &[u8] = b"://";

/// Most bytes after a name's known part, between a name and its value, of a type, and of a value. The rest of a longer value is
/// read once it is known to be a credential.
const NAME_REST_MAX: usize = 32;
const SPACES_MAX: usize = 40;
const TYPE_MAX: usize = 48;
const VALUE_BYTES_READ_MAX: usize = 512;

/// Words that passwords in examples and tests consist of.
const TEST_WORDS: [&[u8]; 12] = [
    b"password",
    b"passwd",
    b"pass",
    b"pwd",
    b"secret",
    b"test",
    b"example",
    b"dummy",
    b"sample",
    b"foo",
    b"bar",
    b"changeme",
];

/// Most bytes between a program's name and the password that it is given.
const OPTIONS_MAX: usize = 160;

/// The credential that is the value of the name at `at`, or the password of the URL whose `://` is there.
pub(super) fn credential_at(reading: &mut ScannedText<'_>, at: usize) -> Option<Range<usize>> {
    if reading.text[at] == b':' {
        return url_password_at(reading, at);
    }
    let first = reading.text[at].to_ascii_lowercase();
    let mut names = NAMES.iter().filter(|(_, name)| name[0] == first);
    names.find_map(|(family, name)| {
        let is_named = reading.has_bytes(at, name) && !is_public(&reading.text[..at]);
        is_named.then(|| value_after(reading, *family, at + name.len()))?
    })
}

/// Whether the name begins as that of something public: `publicKeyToken`.
fn is_public(before: &[u8]) -> bool {
    let word = before.iter().rev();
    let word = word
        .take_while(|byte| is_word_byte(**byte))
        .take(NAME_REST_MAX)
        .count();
    has_word(&before[before.len() - word..], &[b"public"])
}

/// The separator between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NameSeparator {
    /// `=`, `:=`, `=>`, `==`
    Assigns,
    Colon,
    /// `(`, and `,` after a quoted name
    Passes,
    /// `>`, of an element
    Tag,
    Space,
}

fn value_after(
    reading: &mut ScannedText<'_>,
    family: NameFamily,
    at: usize,
) -> Option<Range<usize>> {
    if matches!(family, NameFamily::Bearer | NameFamily::Basic) {
        let start = reading.end_of_run(at, SPACES_MAX, is_space);
        return (start > at).then(|| scheme_value(reading, family, start))?;
    }
    if family == NameFamily::Client {
        return password_option_after(reading, at);
    }
    let is_name = |byte: u8| is_word_byte(byte) || byte == b'-';
    let named = reading.end_of_run(at, NAME_REST_MAX, is_name);
    let is_other = named > at && family == NameFamily::Pair;
    if named - at == NAME_REST_MAX || is_other || is_harmless(&reading.text[at..named]) {
        return None;
    }
    let mut closed = reading.end_of_run(named, 6, |byte| {
        is_quote(byte) || matches!(byte, b'\\' | b']')
    });
    let is_quoted_name = closed > named;
    if !is_quoted_name && reading.byte_at(closed) == Some(b'[') {
        let inner = reading.end_of_run(closed + 1, 8, |byte| byte.is_ascii_digit());
        if reading.byte_at(inner) == Some(b']') {
            closed = inner + 1;
        }
    }
    let spaced = reading.end_of_run(closed, SPACES_MAX, is_space);
    let (sign, after) = sign_at(reading, spaced, is_quoted_name, spaced > closed)?;
    let start = reading.end_of_run(after, SPACES_MAX, is_space);
    let is_tight = spaced == closed && start == after;
    // What a password is found by: `PASSWORD_KEY = "user.password.v1"`.
    let is_key =
        family == NameFamily::Password && named >= at + 3 && reading.has_bytes(named - 3, b"key");
    if let Some(found) = quoted_value(reading, family, start) {
        let is_listed = |value: &Range<usize>| {
            let is_name = is_key || sign == NameSeparator::Passes;
            is_name && is_identifier_like(&reading.text[value.clone()])
        };
        return found.filter(|value| !is_listed(value));
    }
    if sign == NameSeparator::Colon {
        let typed = reading.end_of_run(start, TYPE_MAX, is_type_byte);
        if reading.byte_at(typed) == Some(b'=') {
            let start = reading.end_of_run(typed + 1, SPACES_MAX, is_space);
            return quoted_value(reading, family, start)?;
        }
    }
    bare_value(reading, family, sign, is_tight, start)
}

fn sign_at(
    reading: &mut ScannedText<'_>,
    at: usize,
    is_quoted_name: bool,
    is_apart: bool,
) -> Option<(NameSeparator, usize)> {
    let next = reading.byte_at(at)?;
    Some(match next {
        b'=' => (
            NameSeparator::Assigns,
            reading.end_of_run(at, 2, |byte| matches!(byte, b'=' | b'>')),
        ),
        b':' => match reading.byte_at(at + 1) {
            Some(b':') => return None,
            Some(b'=') => (NameSeparator::Assigns, at + 2),
            _ => (NameSeparator::Colon, at + 1),
        },
        b'(' => (NameSeparator::Passes, at + 1),
        b',' if is_quoted_name => (NameSeparator::Passes, at + 1),
        b'>' => (NameSeparator::Tag, at + 1),
        _ if is_apart => (NameSeparator::Space, at),
        _ => return None,
    })
}

/// The value between quotes: `None` without quotes, `Some(None)` if the value is no credential.
fn quoted_value(
    reading: &mut ScannedText<'_>,
    family: NameFamily,
    at: usize,
) -> Option<Option<Range<usize>>> {
    let wrapper: &[u8] = if reading.has_bytes(at, b"String::from(") {
        b"String::from("
    } else if reading.has_bytes(at, b"Some(") {
        b"Some("
    } else {
        b""
    };
    let prefixed = reading.end_of_run(at + wrapper.len(), 2, |byte| b"bBrRuUfFL@#".contains(&byte));
    let escaped = reading.end_of_run(prefixed, 4, |byte| byte == b'\\');
    let quote = reading.byte_at(escaped).filter(|byte| is_quote(*byte))?;
    let start = reading.end_of_run(escaped, 3, |byte| byte == quote);
    let stops = |byte: u8| match family {
        NameFamily::Password => !is_password_byte(byte),
        _ => !is_secret_byte(byte),
    };
    let end = reading.end_of_run(start, VALUE_BYTES_READ_MAX, |byte| !stops(byte));
    let closes = reading.end_of_run(end, 4, |byte| byte == b'\\');
    let is_long = end - start == VALUE_BYTES_READ_MAX;
    if !is_long && reading.byte_at(closes) != Some(quote) {
        return Some(None);
    }
    let value = &reading.text[start..end];
    let is_credential = match family {
        NameFamily::Password => is_password(value) && !is_of_test_words(value),
        NameFamily::Pair => is_user_and_password(value),
        _ => is_secret(value),
    };
    Some(is_credential.then(|| start..reading.end_of_run(end, usize::MAX, |byte| !stops(byte))))
}

fn bare_value(
    reading: &mut ScannedText<'_>,
    family: NameFamily,
    sign: NameSeparator,
    is_tight: bool,
    start: usize,
) -> Option<Range<usize>> {
    let is_part = |byte: u8| match family {
        NameFamily::Password => is_password_byte(byte) && !matches!(byte, b',' | b';' | b'&'),
        _ => is_secret_byte(byte),
    };
    let end = reading.end_of_run(start, VALUE_BYTES_READ_MAX, is_part);
    let ends_well = match reading.byte_at(end) {
        None => true,
        Some(b'<') => sign == NameSeparator::Tag,
        Some(byte) => {
            byte.is_ascii_whitespace()
                || is_quote(byte)
                || matches!(byte, b'&' | b';' | b'\\')
                || end - start == VALUE_BYTES_READ_MAX
        }
    };
    let value = &reading.text[start..end];
    let is_credential = match (family, sign) {
        (_, NameSeparator::Passes) => false,
        (NameFamily::Password, NameSeparator::Assigns | NameSeparator::Tag) if is_tight => {
            is_password(value) && !is_identifier_like(value)
        }
        (NameFamily::Password, NameSeparator::Assigns | NameSeparator::Colon) => {
            is_password(value)
                && (looks::is_jumbled(value)
                    || value.iter().any(|byte| b"!#$%^*+?~@".contains(byte))
                        && value.iter().any(u8::is_ascii_digit))
        }
        (NameFamily::Password, _) => false,
        (NameFamily::Pair, NameSeparator::Assigns | NameSeparator::Colon) => {
            is_user_and_password(value)
        }
        (NameFamily::Pair, _) => false,
        (_, NameSeparator::Space) => value.len() >= 20 && is_secret(value),
        _ => is_secret(value) && !is_name_of_code(value),
    };
    (ends_well && is_credential).then(|| start..reading.end_of_run(end, usize::MAX, is_part))
}

/// The password of `mysql -u root -phunter2` and `sshpass -p hunter2`, on the same line.
fn password_option_after(reading: &mut ScannedText<'_>, at: usize) -> Option<Range<usize>> {
    let line = reading.end_of_run(at, OPTIONS_MAX, |byte| {
        !matches!(byte, b'\n' | b'|' | b';' | b'&')
    });
    let option = reading.text[at..line].windows(4).position(|option| {
        option.starts_with(b" -p") && option[3].is_ascii_graphic() || option == b" -p "
    })?;
    let opened = reading.end_of_run(at + option + 3, 2, |byte| is_space(byte) || is_quote(byte));
    let end = reading.end_of_run(opened, VALUE_BYTES_READ_MAX, is_password_byte);
    is_password(&reading.text[opened..end]).then_some(opened..end)
}

/// The credential after the scheme of an `Authorization` field.
fn scheme_value(
    reading: &mut ScannedText<'_>,
    family: NameFamily,
    start: usize,
) -> Option<Range<usize>> {
    let end = reading.end_of_run(start, VALUE_BYTES_READ_MAX, is_secret_byte);
    if reading
        .byte_at(end)
        .is_some_and(|byte| matches!(byte, b'(' | b'[' | b'{' | b'<' | b':'))
    {
        return None;
    }
    let value = &reading.text[start..end];
    let is_credential = match family {
        NameFamily::Basic => is_user_and_password(value),
        _ => value.len() >= 16 && looks::has_mixed_run(value) && looks::entropy_tenths(value) >= 30,
    };
    is_credential.then(|| start..reading.end_of_run(end, usize::MAX, is_secret_byte))
}

/// The password of `scheme://user:password@host`.
fn url_password_at(reading: &mut ScannedText<'_>, at: usize) -> Option<Range<usize>> {
    if !reading.has_bytes(at, URL) {
        return None;
    }
    let is_part =
        |byte: u8| !byte.is_ascii_whitespace() && !b"/?#\"'`<>{}()|\\@:,;".contains(&byte);
    let user = reading.end_of_run(at + URL.len(), 64, is_part);
    if reading.byte_at(user) != Some(b':') {
        return None;
    }
    let start = user + 1;
    let end = reading.end_of_run(start, 256, |byte| is_part(byte) || byte == b':');
    if reading.byte_at(end) != Some(b'@') || !reading.byte_at(end + 1).is_some_and(is_host_start) {
        return None;
    }
    let value = &reading.text[start..end];
    let is_placeholder =
        value.starts_with(b"$") || value.starts_with(b"%s") || value.starts_with(b"[");
    let is_mixed = value.iter().any(|byte| !byte.is_ascii_lowercase()) || value.len() >= 12;
    let is_mixed = is_mixed && value.iter().any(|byte| !byte.is_ascii_uppercase());
    (value.len() >= 4 && is_mixed && !is_placeholder).then_some(start..end)
}

fn is_host_start(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'['
}

/// Whether a value is a password: letters with a digit or a sign, and no placeholder of a program.
fn is_password(value: &[u8]) -> bool {
    let has = |kind: fn(&u8) -> bool| value.iter().any(kind);
    let is_sign = |byte: &u8| b"!#$%^&*+?~".contains(byte);
    value.len() >= 6
        && has(u8::is_ascii_alphabetic)
        && has(|byte| byte.is_ascii_digit() || b"!#$%^&*+?~".contains(byte))
        && !matches!(
            value[0],
            b'/' | b'$' | b'%' | b'#' | b'.' | b'@' | b'&' | b'*' | b'-'
        )
        && !has_word(
            value,
            &[b"::", b"://", b"${", b"%s", b"%d", b"xxx", b"***", b"..."],
        )
        && value.iter().filter(|byte| is_sign(byte)).count() * 2 <= value.len()
}

/// Whether a password is none that anybody uses: `password1`, `test_secret`.
fn is_of_test_words(value: &[u8]) -> bool {
    let mut words = value
        .split(|byte| !byte.is_ascii_alphabetic())
        .filter(|word| !word.is_empty());
    let is_test = |word: &[u8]| {
        TEST_WORDS
            .iter()
            .any(|known| known.eq_ignore_ascii_case(word))
    };
    value
        .iter()
        .all(|byte| is_word_byte(*byte) || *byte == b'-')
        && words.all(is_test)
}

/// Whether a value is a secret: at least sixteen characters that look random.
fn is_secret(value: &[u8]) -> bool {
    value.len() >= 16
        && looks::is_jumbled(value)
        && !matches!(value[0], b'/' | b'.' | b'-')
        && !has_word(value, &[b"::", b"://", b"xxxx", b"...", b"your"])
}

/// Whether a value is a name in code: words joined by dots or in camel case, `addresses.l1NativeTokenVault`. A generated key has no words.
fn is_name_of_code(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| *byte == b'.');
    let is_name = parts.all(|part| {
        part.first()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
            && part.iter().all(|byte| is_word_byte(*byte))
    });
    is_name && looks::is_of_words(value)
}

/// Whether a value is code rather than a password: `my.password2`, `password_2`.
fn is_identifier_like(value: &[u8]) -> bool {
    let is_path = value
        .iter()
        .all(|byte| is_word_byte(*byte) || *byte == b'.');
    is_path && has_word(value, &[b".", b"_", b"pass", b"pwd", b"secret", b"token"])
}

fn has_word(value: &[u8], words: &[&[u8]]) -> bool {
    let same = |window: &[u8], word: &[u8]| window.eq_ignore_ascii_case(word);
    let mut words = words.iter();
    words.any(|word| value.windows(word.len()).any(|window| same(window, word)))
}

/// Whether the rest of a name, such as `_file` or `_length`, shows that the value isn't the credential itself.
fn is_harmless(rest: &[u8]) -> bool {
    let start = rest
        .iter()
        .take_while(|byte| matches!(byte, b'_' | b'-' | b'.'))
        .count();
    let rest = &rest[start..];
    let is_part = |byte: u8| matches!(byte, b'_' | b'-' | b'.');
    HARMLESS.iter().any(|harmless| {
        let begins = rest
            .get(..harmless.len())
            .is_some_and(|part| part.eq_ignore_ascii_case(harmless));
        let Some(before) = rest.len().checked_sub(harmless.len()) else {
            return false;
        };
        let ends = rest[before..].eq_ignore_ascii_case(harmless)
            && (before > 0 && is_part(rest[before - 1]) || rest[before].is_ascii_uppercase());
        begins || ends
    })
}

/// Whether this is Base64 of `user:password`.
fn is_user_and_password(value: &[u8]) -> bool {
    let body = value.iter().take_while(|byte| **byte != b'=').count();
    let mut bits = 0_u32;
    let mut bit_count = 0;
    let mut has_colon = false;
    for byte in &value[..body] {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return false,
        };
        bits = bits << 6 | u32::from(digit);
        bit_count += 6;
        if bit_count >= 8 {
            bit_count -= 8;
            let character = (bits >> bit_count & 0xff) as u8;
            if !(b' '..0x7f).contains(&character) {
                return false;
            }
            has_colon |= character == b':';
        }
    }
    body >= 8 && has_colon
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// A byte of a type between a name and its value.
fn is_type_byte(byte: u8) -> bool {
    is_word_byte(byte) || is_space(byte) || b"&'<>[]?|.*".contains(&byte)
}

fn is_secret_byte(byte: u8) -> bool {
    is_word_byte(byte) || matches!(byte, b'-' | b'.' | b'~' | b'+' | b'/' | b'=')
}

fn is_password_byte(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !byte.is_ascii_control() && !b"\"'`\\<>{}()[]|".contains(&byte)
}
