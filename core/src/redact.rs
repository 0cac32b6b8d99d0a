//! Credentials don't enter the ledger: everything that looks like one is replaced before anything is recorded.
//!
//! A credential is recognised by its form (`redact/formats.txt`), by the name whose value it is (`redact/names.txt`), or by the
//! first line of a private key. Only its own line or block decides, so that text that comes in pieces can be cut between
//! lines; and each byte is read at most a bounded number of times.

mod block;
mod data_file;
mod format;
mod looks;
mod named;
mod reading;

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;
use core::ops::Range;

use crate::hash::ArtifactHash;
use reading::{ScannedText, SeenText};

/// How the text begins that replaces a credential in the ledger: a space, two digits of the credential's hash and `]` follow, so that a
/// text with another credential is another text. Eight bits tell most changes, and nobody can guess a password from them.
pub const MARKER: &str = "[REDACTED CREDENTIAL";

/// Whether a text holds a name that credentials have, such as `password`.
#[must_use]
pub fn names_credential(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    named::names().any(|(_, name)| memchr::memmem::find(text.as_bytes(), name).is_some())
}

/// The text with each credential replaced by its [`MARKER`].
#[must_use]
pub fn without_credentials(text: &str) -> Cow<'_, str> {
    let seen = SeenText::of(text);
    let mut out: Option<String> = None;
    let mut copied = 0;
    for_each_look(&seen, |look| {
        let Some(credential) = look.credential else {
            return;
        };
        let buffer = out.get_or_insert_with(|| String::with_capacity(text.len()));
        buffer.push_str(&text[copied..seen.start_in_text(credential.start)]);
        let hash = ArtifactHash::of(&seen.bytes[credential.clone()]);
        write!(buffer, "{MARKER} {hash:.2}]").expect("a string takes everything");
        copied = seen.end_in_text(credential.end);
    });
    match out {
        None => Cow::Borrowed(text),
        Some(mut buffer) => {
            buffer.push_str(&text[copied..]);
            Cow::Owned(buffer)
        }
    }
}

/// The range of the first [`MARKER`] in a text, with what tells it from others.
#[must_use]
pub fn marker_in(text: &str) -> Option<Range<usize>> {
    let start = text.find(MARKER)?;
    let end = start + text[start..].find(']')? + 1;
    Some(start..end)
}

/// A file's bytes as they may be on record: as UTF-8, without credentials, and without what says [`MARKER`] itself, so that a file in
/// which it overwrote a credential isn't taken for the one on record. Bytes with a NUL are no text, and stay, but for UTF-16 that begins with its mark.
#[must_use]
pub fn recordable(bytes: &[u8]) -> Cow<'_, [u8]> {
    let text = match core::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) if bytes.contains(&0) => match from_utf16(bytes) {
            Some(text) => Cow::Owned(text),
            None => return Cow::Borrowed(bytes),
        },
        Err(_) => Cow::Owned(as_latin1(bytes)),
    };
    let text = if text.contains(MARKER) {
        Cow::Owned(text.replace(MARKER, OWN_MARKER))
    } else {
        text
    };
    match (without_credentials(&text), &text) {
        (Cow::Owned(redacted), _) => Cow::Owned(redacted.into_bytes()),
        (Cow::Borrowed(_), Cow::Borrowed(_)) => Cow::Borrowed(bytes),
        (Cow::Borrowed(text), Cow::Owned(_)) => Cow::Owned(text.as_bytes().to_vec()),
    }
}

/// The text of a file in an older encoding: what isn't UTF-8 is read as Latin-1, which gives each byte a character of its own. In
/// Shift-JIS, Big5 and GBK a backslash is half of a character where it comes after a byte that is a control character in Latin-1.
fn as_latin1(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + bytes.len() / 8);
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        let is_halved =
            valid.starts_with('\\') && text.ends_with(|c| matches!(c, '\u{81}'..='\u{9f}'));
        text.push_str(if is_halved { "\u{ff3c}" } else { "" });
        text.push_str(&valid[usize::from(is_halved)..]);
        text.extend(chunk.invalid().iter().map(|byte| char::from(*byte)));
    }
    text
}

/// A text in UTF-16 with a byte order mark.
fn from_utf16(bytes: &[u8]) -> Option<String> {
    let (mark, units) = bytes.split_first_chunk()?;
    let unit = match mark {
        [0xff, 0xfe] => u16::from_le_bytes,
        [0xfe, 0xff] => u16::from_be_bytes,
        _ => return None,
    };
    let units = units.as_chunks().0.iter().map(|pair| unit(*pair));
    let text: String = char::decode_utf16(units).collect::<Result<_, _>>().ok()?;
    (!text.contains('\0')).then_some(text)
}

/// What files that say [`MARKER`] themselves have on record.
const OWN_MARKER: &str = "[REDACTED-CREDENTIAL";

/// The source with a name of the same length for each credential that was cut out of it, so that it parses as it did before.
#[must_use]
pub fn with_names_for_markers(source: &[u8]) -> Cow<'_, [u8]> {
    let mut named = Cow::Borrowed(source);
    for at in memchr::memmem::find_iter(source, MARKER) {
        let mut rest = source[at + MARKER.len()..].iter().take(4);
        let closes = rest.position(|byte| *byte == b']');
        let end = at + MARKER.len() + closes.map_or(0, |closes| closes + 1);
        let marker = &mut named.to_mut()[at..end];
        let signs = marker.iter_mut().filter(|byte| !byte.is_ascii_alphabetic());
        signs.for_each(|byte| *byte = b'_');
    }
    named
}

/// The redacted text with the credentials that `original` has in the same lines; `None` if it lacks one of these lines.
#[must_use]
pub fn with_credentials_of(text: &str, original: &str) -> Option<String> {
    let mut found = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let is_same = |other: &&str| without_credentials(other) == line;
        let original = match line.contains(MARKER) {
            true => original.split_inclusive('\n').find(is_same)?,
            false => line,
        };
        found.push_str(original);
    }
    Some(found)
}

/// A position that might begin a credential, and the credential if it does.
struct CandidateSpot {
    at: usize,
    credential: Option<Range<usize>>,
    /// One past the last byte that the decision depends on.
    read_to: usize,
    #[cfg(test)]
    looks: usize,
}

/// Checks each position whose first three bytes can begin a credential or a name that has one as its value. Most text has few.
fn for_each_look(seen: &SeenText<'_>, mut found: impl FnMut(CandidateSpot)) {
    let mut from = 0;
    let mut next = 0;
    while let Some((at, begins)) = format::next_start(&seen.bytes, next) {
        let mut reading = ScannedText::new(seen, from);
        let credential = credential_at(&mut reading, at, begins);
        next = credential.as_ref().map_or(at + 1, |found| found.end);
        debug_assert!(
            next > at,
            "a credential has a length, so the search moves on"
        );
        // What was redacted must not be context for the next one: the text after redaction has to give the same result.
        if let Some(credential) = &credential {
            from = credential.end;
        }
        found(CandidateSpot {
            at,
            credential,
            read_to: reading.read_to,
            #[cfg(test)]
            looks: reading.looks,
        });
    }
}

fn credential_at(reading: &mut ScannedText<'_>, at: usize, begins: u64) -> Option<Range<usize>> {
    // By form first: it is the surest sign, and the cheapest test.
    if let Some(found) = format::credential_at(reading, at, begins) {
        return Some(found);
    }
    if begins & format::OTHERS == 0 {
        return None;
    }
    if let Some(end) = block::private_key_at(reading, at) {
        return Some(at..end);
    }
    let named = named::credential_at(reading, at)?;
    // A value of a known form may go on over what cuts it.
    let begins = format::starts_at(reading.text, named.start);
    let formed = format::credential_at(reading, named.start, begins);
    let end = formed.map_or(named.end, |formed| formed.end.max(named.end));
    Some(named.start..end)
}

/// The length of the text that can be redacted by itself, whatever follows. The rest is a word that may become a credential,
/// a name whose value may be one, or a private key without its end.
#[must_use]
pub fn safe_cut(text: &str) -> usize {
    let seen = SeenText::of(text);
    let mut looks: Vec<(usize, usize)> = Vec::new();
    for_each_look(&seen, |look| looks.push((look.at, look.read_to)));
    // The last word may go on in the next segment, so it waits, however harmless it looks.
    let mut cut = word_start(&seen.bytes, seen.bytes.len());
    // Backwards, because a cut that moves may divide an earlier candidate.
    for (at, read_to) in looks.into_iter().rev() {
        if at < cut && read_to > cut {
            cut = word_start(&seen.bytes, at);
        }
    }
    seen.end_in_text(cut)
}

/// The start of the word that holds `at`: after the last whitespace.
fn word_start(text: &[u8], at: usize) -> usize {
    let word = text[..at].iter().rev();
    at - word.take_while(|byte| !byte.is_ascii_whitespace()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    use alloc::borrow::ToOwned;
    use alloc::format;

    /// The text without its credentials, and without what tells them apart.
    fn redacted(text: &str) -> String {
        let clean = without_credentials(text);
        let mut parts = clean.split(MARKER);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| text + MARKER + &part[4..])
    }

    /// Another credential gives another text, which shows eight bits of its hash.
    #[test]
    fn marker_tells_apart() {
        let line = |password: &str| format!("password = \"{password}\";");
        let clean = |password: &str| without_credentials(&line(password)).into_owned();
        let one = clean("Tr0ub4dor");
        assert_eq!(one, clean("Tr0ub4dor"));
        assert_ne!(one, clean("Tr0ub4dor&3"));
        assert_eq!(one.len(), line("").len() + MARKER.len() + " 5e]".len());
        assert_eq!(without_credentials(&one), one);
        let named = with_names_for_markers(one.as_bytes()).into_owned();
        let named = String::from_utf8(named).unwrap();
        assert!(
            !named.contains(['[', ']']) && named.len() == one.len(),
            "{named}"
        );
    }

    #[test]
    fn older_encoding() {
        let java = b"// Gr\xfc\xdfe \xc3\xa9\nString password = \"Tr0ub4dor\";\n";
        let text = String::from_utf8(recordable(java).into_owned()).unwrap();
        assert!(
            text.starts_with("// Grüße é\n") && text.contains(MARKER),
            "{text}"
        );
        let japanese = b"// \x95\x5c\nint a = '\\n';\n";
        let text = "// \u{95}\u{ff3c}\nint a = '\\n';\n";
        assert_eq!(&*recordable(japanese), text.as_bytes());
        let wide = "int a; // Größe 😀\n".encode_utf16();
        let wide = |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            [0xfeff]
                .into_iter()
                .chain(wide.clone())
                .flat_map(bytes)
                .collect()
        };
        for wide in [wide(u16::to_le_bytes), wide(u16::to_be_bytes)] {
            assert_eq!(&*recordable(&wide), "int a; // Größe 😀\n".as_bytes());
            assert_eq!(&*recordable(&wide[2..]), &wide[2..]);
        }
        let image = b"\x89PNG\x00\xff";
        assert_eq!(&*recordable(image), image);
    }

    #[test]
    fn service_keys() {
        for key in [
            "sk-proj-abcdEFGH1234567890abcd",
            "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            "AKIAIOSFODNN7EXAMPLE",
            "AKIAIOSFODNNQEXAMPLE",
            "ASIAQWERTYUIOPLKJHGF",
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
    fn escaped_keys() {
        let key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
        for escape in [
            "\\u003e",
            "\\u0026",
            "\\U003C",
            "\\b",
            "\\f",
            "\\n",
            "\\v",
            "\\x1b",
            "%3D",
            "\\\\u003e",
            "\\u000a",
            "\\u00e9",
            "\\ud83d\\ude00",
            "\\U00000022",
            "\\u{22}",
            "\\012",
            "\\0",
            "\\Z",
            "%0a",
            "=0A",
            "&#34;",
            "&#x0a;",
            "&nbsp;",
        ] {
            let found = redacted(&format!("{{\"text\":\"a{escape}{key}\"}}"));
            assert_eq!(found, format!("{{\"text\":\"a{escape}{MARKER}\"}}"));
        }
        for (before, secret, after) in [
            ("key = ", "sk-AbCdEfGhIjKlMnOpQrStUvWx", "\n"),
            ("{\"passwd\": \"", "Tr0ub4dor", "\"}"),
            ("{\\\"passwd\\\":\\\"", "Tr0ub4dor", "\\\"}"),
            ("\"auth\": \"", "dXNlcjpodW50ZXIy", "\""),
            ("mysql -u root -p", "hunter2", " shop"),
            ("mysqldump -h db -p'", "hunter2!", "' shop > x"),
            ("sshpass -p ", "hunter2", " ssh host"),
            (
                "SECRET_KEY = \"",
                "8h@k2!x9v$w3(m#q7z&p5r*t1y^u6i0o-_=+l4n)",
                "\"\n",
            ),
            ("client_secret: '", "qT7$mK2!vB9#xL4&nR6*", "',"),
        ] {
            let text = format!("{before}{secret}{after}");
            assert_eq!(
                redacted(&text),
                format!("{before}{MARKER}{after}"),
                "{text}"
            );
        }
        for harmless in [
            "mysql -u root -p shop",
            "ciogetConfigurationForEveryWorkspace",
            "mysql --port 3306 -P3306",
            "{\"auth\": \"required\"}",
            "the author = \"dXNlcjpodW50ZXIy\"",
            "sk-loading-spinner-with-long-name",
            "C:\\nested\\boxes",
            "token = \"(0[xX][0-9a-fA-F]+|[0-9]+)(u|U|l|L)*\"",
            "api_key = \"%Y-%m-%dT%H:%M:%S.%fZ\"",
            "secret = \"https://a1.example.com/x?y=2&z=3#f4\"",
            "token = \"user.name@mail-2.example.org\"",
            "password_env = \"APP_PASSWORD_1\"",
        ] {
            assert_eq!(without_credentials(harmless), harmless);
        }
    }

    /// A private key is replaced up to its end, or else up to the text's.
    #[test]
    fn private_keys() {
        let pem = "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb";
        assert_eq!(redacted(pem), format!("a\n{MARKER}\nb"));
        assert_eq!(redacted("-----BEGIN PRIVATE KEY-----\nMIIE"), MARKER);
    }

    /// A number below `end`, of a fixed row.
    fn below(state: &mut u64, end: usize) -> usize {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(*state >> 33).unwrap() % end
    }

    /// What credentials, and what gives them away, are made of.
    const PIECES: [&str; 40] = [
        "sk-",
        "ghp_",
        "AKIA",
        "eyJ",
        ".",
        "-",
        "_",
        " ",
        " ",
        "\n",
        "é",
        "x1",
        "=",
        ": ",
        "\"",
        "'",
        "\\",
        "\\n",
        "(",
        ",",
        ">",
        "password",
        "token",
        "api_key",
        "_id",
        "Bearer ",
        "Basic ",
        "dXNlcjpwYXNz",
        "hunter2",
        "Zm9vYmFyOmJhej1234",
        "://",
        "@h",
        "&",
        "abcdefghijklmnopqrstuvwxyz0123456789",
        "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----BEGIN ",
        "PRIVATE KEY-----",
        "MIIE",
        "-----END ",
    ];

    fn random_text(state: &mut u64, pieces: usize) -> String {
        (0..pieces)
            .map(|_| PIECES[below(state, PIECES.len())])
            .collect()
    }

    #[test]
    fn safe_cuts() {
        let check = |text: &str, rest: &str| {
            assert_eq!(&text[safe_cut(text)..], rest, "{text:?}");
        };
        check("", "");
        check("a line\n", "");
        check("some words and ", "");
        check("some words and a", "a");
        check("key = sk-abc", "sk-abc");
        check("the password = ", "password = ");
        check("the password = \"hun", "password = \"hun");
        check("Authorization: Bearer ", "Bearer ");
        check("the password is ", "");
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

    /// A text that is redacted piece by piece is the same as one redacted as a whole.
    #[test]
    fn pieces_like_whole() {
        let mut state = 1;
        let (mut cuts, mut hits) = (0, 0);
        for _ in 0..100_000 {
            let text = random_text(&mut state, 12);
            let mut come = below(&mut state, text.len() + 1);
            while !text.is_char_boundary(come) {
                come -= 1;
            }
            let (one, other) = text.split_at(safe_cut(&text[..come]));
            let whole = without_credentials(&text);
            cuts += usize::from(!one.is_empty() && one != text);
            hits += usize::from(whole != text);
            let in_two = format!("{}{}", without_credentials(one), without_credentials(other));
            assert_eq!(in_two, whole, "{one:?} {other:?}");
        }
        assert!(cuts > 10_000 && hits > 10_000, "{cuts} {hits}");
    }

    #[test]
    fn twice_is_once() {
        let mut state = 2;
        for _ in 0..100_000 {
            let text = random_text(&mut state, 12);
            let once = without_credentials(&text);
            assert_eq!(without_credentials(&once), once, "{text:?}");
        }
    }

    /// How many bytes were looked at.
    fn work(text: &str) -> usize {
        let mut work = 0;
        for_each_look(&SeenText::of(text), |look| work += look.looks);
        work
    }

    /// The beginnings of all patterns, and all names with what may come after them.
    fn beginnings() -> Vec<String> {
        let entries = |list: &'static str| {
            let lines = list.lines().filter(|line| !line.starts_with('#'));
            lines.filter_map(|line| line.split_whitespace().nth(1))
        };
        let formats = entries(include_str!("redact/formats.txt")).flat_map(|pattern| {
            let pattern = pattern.rsplit('|').next().unwrap_or_default();
            let mut parts = pattern.split('<').next().unwrap().split('[');
            let mut start = parts.next().unwrap_or_default().to_owned();
            for (set, rest) in parts.filter_map(|part| part.split_once(']')) {
                start += &set[..1];
                start += rest;
            }
            ["", "a1", "aB3d", " ", "\n"].map(|end| format!("{start}{end}"))
        });
        let names = entries(include_str!("redact/names.txt")).flat_map(|name| {
            let ends = ["", "=", ": ", "=\"", "(\"", "_", "=abc", ": a1b2,", " "];
            ends.map(|end| format!("{name}{end}"))
        });
        formats
            .chain(names)
            .chain(PIECES.map(str::to_owned))
            .collect()
    }

    /// Twice the text is twice the work, whatever it is made of, and no byte is read more than some forty times: that holds the engine
    /// for less than a tenth of a second a megabyte.
    #[test]
    fn linear_cost() {
        let mut state = 3;
        let beginnings = beginnings();
        let mut texts: Vec<String> = beginnings
            .iter()
            .filter(|piece| !piece.is_empty())
            .map(|piece| piece.repeat(8_000 / piece.len()))
            .collect();
        for _ in 0..300 {
            let count = 2 + below(&mut state, 4);
            let pieces = (0..count).map(|_| &*beginnings[below(&mut state, beginnings.len())]);
            let pieces: String = pieces.collect();
            texts.push(pieces.repeat(8_000 / pieces.len().max(1)));
        }
        for text in texts {
            let (once, twice) = (work(&text), work(&text.repeat(2)));
            let start: String = text.chars().take(40).collect();
            assert!(twice <= once * 2 + 20_000, "{once} {twice} {start:?}");
            assert!(once <= text.len() * 48, "{once} {} {start:?}", text.len());
        }
    }
}
