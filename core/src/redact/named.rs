//! Credentials recognised by the name before them: `password = "…"`, `API_KEY=…`, `Bearer …`, and passwords in URLs.

use core::ops::Range;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::data_file::{count_entries, next_entry, next_word};
use super::looks;
use super::reading::{ByteClass, ScannedText, WORD};

/// The kind of value that a name has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NameFamily {
    Password,
    Secret,
    /// Base64 of a user and a password.
    Pair,
    Bearer,
    Basic,
    /// A program that is given a password by one of these options.
    Client(&'static [u8]),
    /// Not a name, but the end of one whose value is harmless.
    Harmless,
}

impl NameFamily {
    /// The bytes of its values between quotes.
    fn class(self) -> &'static ByteClass {
        match self {
            Self::Password => &PASSWORD,
            Self::Secret => &SIGNED_SECRET,
            _ => &SECRET,
        }
    }

    fn is_credential(self, value: &[u8]) -> bool {
        match self {
            Self::Password => is_password(value),
            Self::Pair | Self::Basic => is_user_and_password(value),
            Self::Bearer => {
                value.len() >= 16
                    && looks::has_mixed_run(value)
                    && looks::entropy_tenths(value) >= 30
            }
            _ => is_secret(value) || looks::is_scattered(value) && !has_word(value, &[b"://"]),
        }
    }
}

const LINES: &[u8] = include_bytes!("names.txt");

/// Names in lower case, and ends of names, with their families.
pub(super) static NAMES: [(NameFamily, &[u8]); count_entries(LINES)] = {
    let mut names = [(NameFamily::Harmless, b"".as_slice()); count_entries(LINES)];
    let mut at = 0;
    let mut rest = LINES;
    while let (Some(entry), after) = next_entry(rest) {
        let (family, mut name) = next_word(entry);
        let family = match family {
            b"password" => NameFamily::Password,
            b"secret" => NameFamily::Secret,
            b"bearer" => NameFamily::Bearer,
            b"basic" => NameFamily::Basic,
            b"pair" => NameFamily::Pair,
            b"client" => {
                let (program, options) = next_word(name);
                name = program;
                NameFamily::Client(options)
            }
            b"harmless" => NameFamily::Harmless,
            _ => panic!("names.txt says which families there are"),
        };
        names[at] = (family, name);
        at += 1;
        rest = after;
    }
    names
};

/// Names, without ends of names.
pub(super) fn names() -> impl Iterator<Item = &'static (NameFamily, &'static [u8])> {
    let is_name = |(family, _): &&(NameFamily, _)| *family != NameFamily::Harmless;
    NAMES.iter().filter(is_name)
}

/// The name that things have, too, which are no credentials.
const TOKEN: &[u8] = b"token";

/// The text before a URL's user and password.
pub(super) const URL: &[u8] = b"://";

static SPACE: ByteClass = ByteClass::of(b" \t");
static QUOTE: ByteClass = ByteClass::of(b"\"'`");
static OPENING: ByteClass = ByteClass::of(b" \t\"'`");
static BACKSLASH: ByteClass = ByteClass::of(b"\\");
static DIGITS: ByteClass = ByteClass::of(b"0-9");
static NAME_REST: ByteClass = ByteClass::of(b"a-zA-Z0-9_-");
static NAME_END: ByteClass = ByteClass::of(b"\"'`\\]");
static EITHER: ByteClass = ByteClass::of(b"|?");
static BRACKET: ByteClass = ByteClass::of(b"[{(");
/// What stands between a name that is a value itself and the field with its value: `"name": "API_KEY", "value": "…"`.
static FIELD: ByteClass = ByteClass::of(b"\"' \t,");
static ARROW: ByteClass = ByteClass::of(b"=>");
/// A type between a name and its value, and the letters before a string's quote.
static TYPE: ByteClass = ByteClass::of(b"a-zA-Z0-9_ \t&'<>[]?|.*");
static PREFIX: ByteClass = ByteClass::of(b"bBrRuUfFL@#");
static SECRET: ByteClass = ByteClass::of(b"a-zA-Z0-9_.~+/=-");
/// The same between quotes.
static SIGNED_SECRET: ByteClass = ByteClass::of(b"^\0- \x7f\"'`\\<>{}[]|");
static PASSWORD: ByteClass = ByteClass::of(b"^\0- \x7f\"'`\\<>{}()[]|");
static BARE_PASSWORD: ByteClass = ByteClass::of(b"^\0- \x7f\"'`\\<>{}()[]|,;&");
/// What may follow a value without quotes.
static VALUE_END: ByteClass = ByteClass::of(b" \t\n\r\x0c\"'`&;\\");
static URL_PART: ByteClass = ByteClass::of(b"^\0- \x7f/?#\"'`<>{}()|\\@:,;");
static URL_PASSWORD: ByteClass = ByteClass::of(b"^\0- \x7f/?#\"'`<>{}()|\\@,;");
static HOST_START: ByteClass = ByteClass::of(b"a-zA-Z0-9[");
/// What a program is given on the same line.
static OPTIONS: ByteClass = ByteClass::of(b"^\n|;&");

/// Most bytes after a name's known part, between a name and its value, of a type, and of a value. The rest of a longer value is
/// read once it is known to be a credential.
const NAME_REST_MAX: usize = 32;
const SPACES_MAX: usize = 40;
const TYPE_MAX: usize = 48;
const VALUE_BYTES_READ_MAX: usize = 48;

/// Words that passwords in examples and tests consist of.
const TEST_WORDS: &str =
    "password passwd pass pwd secret test example dummy sample foo bar changeme";

/// Most bytes between a program's name and the password that it is given.
const OPTIONS_MAX: usize = 96;

/// The credential that is the value of the name at `at`, or the password of the URL whose `://` is there.
pub(super) fn credential_at(reading: &mut ScannedText<'_>, at: usize) -> Option<Range<usize>> {
    if reading.text[at] == b':' {
        return url_password_at(reading, at);
    }
    let first = reading.text[at].to_ascii_lowercase();
    let mut names = names().filter(|(_, name)| name[0] == first);
    names.find_map(|(family, name)| {
        let is_named = reading.has_bytes(at, name) && !is_public(&reading.text[..at], name);
        let value = is_named.then(|| value_after(reading, *family, at + name.len()))??;
        let is_public = *name == TOKEN && is_public_address(&reading.text[value.clone()]);
        (!is_public).then_some(value)
    })
}

/// Whether a name is that of something public: `publicKeyToken`, `nextPageToken`.
fn is_public(before: &[u8], name: &[u8]) -> bool {
    let word = before.iter().rev();
    let word = word
        .take_while(|byte| WORD.has(**byte))
        .take(NAME_REST_MAX)
        .count();
    let word = &before[before.len() - word..];
    let page = word.strip_suffix(b"_").unwrap_or(word);
    let is_of_page = page.len() >= 4 && page[page.len() - 4..].eq_ignore_ascii_case(b"page");
    has_word(word, &[b"public"]) || name == TOKEN && is_of_page
}

/// The separator between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NameSeparator {
    /// `=`, `:=`, `=>`, `==`
    Assigns,
    Colon,
    /// `(`, `{`, `,` after a quoted name, and `||` and `??`
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
        let start = reading.end_of_run(at, SPACES_MAX, &SPACE);
        return (start > at).then(|| scheme_value(reading, family, start))?;
    }
    if let NameFamily::Client(options) = family {
        return password_option_after(reading, at, options);
    }
    let named = reading.end_of_run(at, NAME_REST_MAX, &NAME_REST);
    let is_other = named > at && family == NameFamily::Pair;
    if named - at == NAME_REST_MAX || is_other || is_harmless(&reading.text[at..named]) {
        return None;
    }
    let mut closed = reading.end_of_run(named, 6, &NAME_END);
    let is_quoted_name = closed > named;
    if !is_quoted_name && reading.byte_at(closed) == Some(b'[') {
        let inner = reading.end_of_run(closed + 1, 8, &DIGITS);
        if reading.byte_at(inner) == Some(b']') {
            closed = inner + 1;
        }
    }
    if is_quoted_name {
        let field = reading.end_of_run(closed, 4, &FIELD);
        if reading.has_bytes(field, b"value") {
            closed = reading.end_of_run(field + b"value".len(), 6, &NAME_END);
        }
    }
    let spaced = reading.end_of_run(closed, SPACES_MAX, &SPACE);
    let (sign, after) = sign_at(reading, spaced, is_quoted_name, spaced > closed)?;
    let start = reading.end_of_run(after, SPACES_MAX, &SPACE);
    let is_tight = spaced == closed && start == after;
    // What a password is found by: `PASSWORD_KEY = "user.password.v1"`.
    let is_key =
        family == NameFamily::Password && named >= at + 3 && reading.has_bytes(named - 3, b"key");
    if let Some(found) = quoted_value(reading, family, start) {
        let is_listed = |value: &Range<usize>| {
            let is_in_list = BRACKET.has(reading.text[start]);
            let is_name = is_key || is_in_list || sign == NameSeparator::Passes;
            is_name && is_identifier_like(&reading.text[value.clone()])
        };
        return found.filter(|value| !is_listed(value));
    }
    if sign == NameSeparator::Colon {
        let typed = reading.end_of_run(start, TYPE_MAX, &TYPE);
        if reading.byte_at(typed) == Some(b'=') {
            let start = reading.end_of_run(typed + 1, SPACES_MAX, &SPACE);
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
        b'=' => (NameSeparator::Assigns, reading.end_of_run(at, 2, &ARROW)),
        b':' => match reading.byte_at(at + 1) {
            Some(b':') => return None,
            Some(b'=') => (NameSeparator::Assigns, at + 2),
            _ => (NameSeparator::Colon, at + 1),
        },
        b'(' | b'{' => (NameSeparator::Passes, at + 1),
        // A table's next cell, or a value for want of one.
        b'|' | b'?' => match reading.end_of_run(at, 2, &EITHER) - at {
            2 => (NameSeparator::Passes, at + 2),
            _ if next == b'|' => (NameSeparator::Space, at + 1),
            _ => return None,
        },
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
    let wrappers: [&[u8]; 2] = [b"String::from(", b"Some("];
    let wrapper = wrappers.iter().find(|it| reading.has_bytes(at, it));
    let wrapped = at + wrapper.map_or(0, |it| it.len());
    let inner = reading.end_of_run(wrapped, 1, &BRACKET);
    let prefixed = reading.end_of_run(inner, 2, &PREFIX);
    let escaped = reading.end_of_run(prefixed, 4, &BACKSLASH);
    let quote = reading.byte_at(escaped).filter(|byte| QUOTE.has(*byte))?;
    let start = reading.end_of_run(escaped, 3, &QUOTE);
    let class = family.class();
    let end = reading.end_of_run(start, VALUE_BYTES_READ_MAX, class);
    let closes = reading.end_of_run(end, 4, &BACKSLASH);
    let is_long = end - start == VALUE_BYTES_READ_MAX;
    if !is_long && reading.byte_at(closes) != Some(quote) {
        return Some(None);
    }
    let value = reading.value(start, end);
    let is_test = family == NameFamily::Password && is_of_test_words(value);
    let is_credential = family.is_credential(value) && !is_test;
    Some(is_credential.then(|| start..reading.end_of_run(end, usize::MAX, class)))
}

fn bare_value(
    reading: &mut ScannedText<'_>,
    family: NameFamily,
    sign: NameSeparator,
    is_tight: bool,
    start: usize,
) -> Option<Range<usize>> {
    let class = match family {
        NameFamily::Password => &BARE_PASSWORD,
        _ => &SECRET,
    };
    let end = reading.end_of_run(start, VALUE_BYTES_READ_MAX, class);
    let ends_well = match reading.byte_at(end) {
        None => true,
        Some(b'<') => sign == NameSeparator::Tag,
        Some(byte) => VALUE_END.has(byte) || end - start == VALUE_BYTES_READ_MAX,
    };
    let value = reading.value(start, end);
    let is_assigned = matches!(sign, NameSeparator::Assigns | NameSeparator::Colon);
    let is_sure = match (family, sign) {
        (_, NameSeparator::Passes) => false,
        (NameFamily::Password, NameSeparator::Assigns | NameSeparator::Tag) if is_tight => {
            !is_identifier_like(value)
        }
        (NameFamily::Password, _) => {
            let has_sign = value.iter().any(|byte| b"!#$%^*+?~@".contains(byte));
            let has_digit = value.iter().any(u8::is_ascii_digit);
            is_assigned && (has_sign && has_digit || looks::is_jumbled(value))
        }
        (NameFamily::Pair, _) => is_assigned,
        (_, NameSeparator::Space) => value.len() >= 20,
        _ => !is_name_of_code(value),
    };
    (ends_well && is_sure && family.is_credential(value))
        .then(|| start..reading.end_of_run(end, usize::MAX, class))
}

/// The password of `mysql -u root -phunter2` and `curl --user me:hunter2`, on the same line.
fn password_option_after(
    reading: &mut ScannedText<'_>,
    at: usize,
    options: &[u8],
) -> Option<Range<usize>> {
    let line = reading.end_of_run(at, OPTIONS_MAX, &OPTIONS);
    let rest = &reading.text[at..line];
    let mut options = options.split(|byte| *byte == b' ');
    let given = options.find_map(|option| {
        let mut found = memchr::memmem::find_iter(rest, option);
        let option_at = found.find(|found| rest[..*found].ends_with(b" "))?;
        Some(at + option_at + option.len())
    })?;
    let opened = reading.end_of_run(given, 2, &OPENING);
    let end = reading.end_of_run(opened, VALUE_BYTES_READ_MAX, &PASSWORD);
    is_password(reading.value(opened, end)).then_some(opened..end)
}

/// The credential after the scheme of an `Authorization` field.
fn scheme_value(
    reading: &mut ScannedText<'_>,
    family: NameFamily,
    start: usize,
) -> Option<Range<usize>> {
    let end = reading.end_of_run(start, VALUE_BYTES_READ_MAX, &SECRET);
    if (reading.byte_at(end)).is_some_and(|byte| b"([{<:".contains(&byte)) {
        return None;
    }
    let is_credential = family.is_credential(reading.value(start, end));
    is_credential.then(|| start..reading.end_of_run(end, usize::MAX, &SECRET))
}

/// The password of `scheme://user:password@host`.
fn url_password_at(reading: &mut ScannedText<'_>, at: usize) -> Option<Range<usize>> {
    if !reading.has_bytes(at, URL) {
        return None;
    }
    let user = reading.end_of_run(at + URL.len(), 64, &URL_PART);
    if reading.byte_at(user) != Some(b':') {
        return None;
    }
    let start = user + 1;
    let end = reading.end_of_run(start, 256, &URL_PASSWORD);
    if reading.byte_at(end) != Some(b'@') || !reading.is_at(end + 1, &HOST_START) {
        return None;
    }
    let value = reading.value(start, end);
    let is_placeholder =
        value.starts_with(b"$") || value.starts_with(b"%s") || value.starts_with(b"[");
    let is_mixed = value.iter().any(|byte| !byte.is_ascii_lowercase()) || value.len() >= 12;
    let is_mixed = is_mixed && value.iter().any(|byte| !byte.is_ascii_uppercase());
    (value.len() >= 4 && is_mixed && !is_placeholder).then_some(start..end)
}

/// Whether a value is a password: letters with a digit or a sign, and no placeholder of a program.
fn is_password(value: &[u8]) -> bool {
    let has = |kind: fn(&u8) -> bool| value.iter().any(kind);
    let is_sign = |byte: &u8| b"!#$%^&*+?~".contains(byte);
    value.len() >= 6
        && has(u8::is_ascii_alphabetic)
        && has(|byte| byte.is_ascii_digit() || b"!#$%^&*+?~".contains(byte))
        && !b"/$%#.@&*-".contains(&value[0])
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
        let mut known = TEST_WORDS.split(' ');
        known.any(|known| known.as_bytes().eq_ignore_ascii_case(word))
    };
    value.iter().all(|byte| WORD.has(*byte) || *byte == b'-') && words.all(is_test)
}

/// Whether a value is a secret: at least sixteen characters that look random.
fn is_secret(value: &[u8]) -> bool {
    value.len() >= 16
        && value.iter().all(|byte| SECRET.has(*byte))
        && looks::is_jumbled(value)
        && !matches!(value[0], b'/' | b'.' | b'-')
        && !has_word(value, &[b"::", b"://", b"xxxx", b"...", b"your"])
}

/// Whether a token's value is the public address of its contract, which is shorter than a private key: `0x` and 40 hexadecimal digits.
fn is_public_address(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"0x");
    digits.is_some_and(|it| it.len() == 40 && it.iter().all(u8::is_ascii_hexdigit))
}

/// Whether a value is a name in code: words joined by dots or in camel case, `addresses.l1NativeTokenVault`. A generated key has no words.
fn is_name_of_code(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| *byte == b'.');
    let is_name = parts.all(|part| {
        part.first()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
            && part.iter().all(|byte| WORD.has(*byte))
    });
    is_name && looks::is_of_words(value)
}

/// Whether a value is code rather than a password: `my.password2`, `password_2`.
fn is_identifier_like(value: &[u8]) -> bool {
    let is_path = value.iter().all(|byte| WORD.has(*byte) || *byte == b'.');
    is_path && has_word(value, &[b".", b"_", b"pass", b"pwd", b"secret", b"token"])
}

fn has_word(value: &[u8], words: &[&[u8]]) -> bool {
    let same = |window: &[u8], word: &[u8]| window.eq_ignore_ascii_case(word);
    let mut words = words.iter();
    words.any(|word| value.windows(word.len()).any(|window| same(window, word)))
}

/// Whether the rest of a name, such as `_file` or `_length`, shows that the value isn't the credential itself.
fn is_harmless(rest: &[u8]) -> bool {
    let is_part = |byte: u8| b"_-.".contains(&byte);
    let start = rest.iter().take_while(|byte| is_part(**byte)).count();
    let rest = &rest[start..];
    let is_ending = |(family, _): &&(NameFamily, _)| *family == NameFamily::Harmless;
    let mut endings = NAMES.iter().filter(is_ending);
    endings.any(|(_, harmless)| {
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

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const BASE64: [GeneralPurpose; 2] = [
    GeneralPurpose::new(&alphabet::STANDARD, LENIENT),
    GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT),
];

/// Whether this is Base64 of `user:password`, in either alphabet and with or without padding.
fn is_user_and_password(value: &[u8]) -> bool {
    value.len() >= 8
        && BASE64.iter().any(|base64| {
            let text = base64.decode(value);
            text.is_ok_and(|text| {
                text.contains(&b':') && text.iter().all(|byte| matches!(byte, b' '..=b'~'))
            })
        })
}
