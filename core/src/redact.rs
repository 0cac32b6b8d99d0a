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
use core::ops::Range;

use reading::ScannedText;

/// The text that replaces a credential in the ledger.
pub const MARKER: &str = "[REDACTED CREDENTIAL]";

/// The text with each credential replaced by [`MARKER`].
#[must_use]
pub fn without_credentials(text: &str) -> Cow<'_, str> {
    let mut out: Option<String> = None;
    let mut copied = 0;
    for_each_look(text, |look| {
        let Some(credential) = look.credential else {
            return;
        };
        let buffer = out.get_or_insert_with(|| String::with_capacity(text.len()));
        buffer.push_str(&text[copied..credential.start]);
        buffer.push_str(MARKER);
        copied = credential.end;
    });
    match out {
        None => Cow::Borrowed(text),
        Some(mut buffer) => {
            buffer.push_str(&text[copied..]);
            Cow::Owned(buffer)
        }
    }
}

/// A file's bytes as they may be on record: without credentials, and without what says [`MARKER`] itself, so that a file in which it
/// overwrote a credential isn't taken for the one on record.
#[must_use]
pub fn recordable(bytes: &[u8]) -> Cow<'_, [u8]> {
    let Ok(text) = core::str::from_utf8(bytes) else {
        return Cow::Borrowed(bytes);
    };
    let is_marked = memchr::memmem::find(bytes, MARKER.as_bytes()).is_some();
    let own = is_marked.then(|| text.replace(MARKER, OWN_MARKER));
    match without_credentials(own.as_deref().unwrap_or(text)) {
        Cow::Owned(redacted) => Cow::Owned(redacted.into_bytes()),
        Cow::Borrowed(_) => own.map_or(Cow::Borrowed(bytes), |own| Cow::Owned(own.into_bytes())),
    }
}

/// What files that say [`MARKER`] themselves have on record.
const OWN_MARKER: &str = "[REDACTED-CREDENTIAL]";

/// The source with a name of the same length for each credential that was cut out of it, so that it parses as it did before.
#[must_use]
pub fn with_names_for_markers(source: &[u8]) -> Cow<'_, [u8]> {
    let mut named = Cow::Borrowed(source);
    for at in memchr::memmem::find_iter(source, MARKER) {
        let marker = &mut named.to_mut()[at..at + MARKER.len()];
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
fn for_each_look(text: &str, mut found: impl FnMut(CandidateSpot)) {
    let bytes = text.as_bytes();
    let mut from = 0;
    let mut at = 0;
    while let Some(start) = format::next_start(bytes, at) {
        at = start;
        let formats = format::formats_at(bytes, start);
        if formats == 0 {
            at += 1;
            continue;
        }
        let mut reading = ScannedText::new(bytes, from);
        let credential = credential_at(&mut reading, at, formats);
        let next = credential.as_ref().map_or(at + 1, |found| found.end);
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
        at = next;
    }
}

fn credential_at(reading: &mut ScannedText<'_>, at: usize, first: u64) -> Option<Range<usize>> {
    // By form first: it is the surest sign, and the cheapest test.
    if let Some(found) = format::credential_at(reading, at, first) {
        return Some(found);
    }
    if first & format::OTHERS_BIT == 0 {
        return None;
    }
    if let Some(end) = block::private_key_at(reading, at) {
        return Some(at..end);
    }
    let named = named::credential_at(reading, at)?;
    // A value of a known form may go on over what cuts it.
    let formats = format::formats_at(reading.text, named.start);
    let formed = format::credential_at(reading, named.start, formats);
    let end = formed.map_or(named.end, |formed| formed.end.max(named.end));
    Some(named.start..end)
}

/// The length of the text that can be redacted by itself, whatever follows. The rest is a word that may become a credential,
/// a name whose value may be one, or a private key without its end.
#[must_use]
pub fn safe_cut(text: &str) -> usize {
    let mut looks: Vec<(usize, usize)> = Vec::new();
    for_each_look(text, |look| looks.push((look.at, look.read_to)));
    // The last word may go on in the next segment, so it waits, however harmless it looks.
    let mut cut = word_start(text, text.len());
    // Backwards, because a cut that moves may divide an earlier candidate.
    for (at, read_to) in looks.into_iter().rev() {
        if at < cut && read_to > cut {
            cut = word_start(text, at);
        }
    }
    cut
}

/// The start of the word that holds `at`: after the last whitespace.
fn word_start(text: &str, at: usize) -> usize {
    let word = text.as_bytes()[..at].iter().rev();
    at - word.take_while(|byte| !byte.is_ascii_whitespace()).count()
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
                without_credentials(&format!("key = \"{key}\";")),
                format!("key = \"{MARKER}\";"),
                "{key}"
            );
        }
    }

    #[test]
    fn keys_after_escapes_and_in_other_forms_are_replaced() {
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
        ] {
            let found =
                without_credentials(&format!("{{\"text\":\"a{escape}{key}\"}}")).into_owned();
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
        ] {
            let text = format!("{before}{secret}{after}");
            assert_eq!(
                without_credentials(&text),
                format!("{before}{MARKER}{after}"),
                "{text}"
            );
        }
        for harmless in [
            "mysql -u root -p shop",
            "mysql --port 3306 -P3306",
            "{\"auth\": \"required\"}",
            "the author = \"dXNlcjpodW50ZXIy\"",
            "sk-loading-spinner-with-long-name",
            "C:\\nested\\boxes",
        ] {
            assert_eq!(without_credentials(harmless), harmless);
        }
    }

    #[test]
    fn private_keys_are_replaced_to_their_end_or_the_texts() {
        let pem = "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb";
        assert_eq!(without_credentials(pem), format!("a\n{MARKER}\nb"));
        assert_eq!(
            without_credentials("-----BEGIN PRIVATE KEY-----\nMIIE"),
            MARKER
        );
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
    fn text_is_cut_where_no_credential_can_go_on() {
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

    #[test]
    fn what_is_cut_and_redacted_is_what_is_redacted_whole() {
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
    fn what_is_redacted_stays_as_it_is() {
        let mut state = 2;
        for _ in 0..100_000 {
            let text = random_text(&mut state, 12);
            let once = without_credentials(&text);
            assert_eq!(without_credentials(&once), once, "{text:?}");
        }
    }

    #[test]
    fn leaping_finds_what_looking_at_every_byte_finds() {
        let [first, second, third] = &format::FIRST;
        for at in 0..1 << 24_u32 {
            let bytes = [at & 0xff, at >> 8 & 0xff, at >> 16].map(|byte| byte as usize);
            if first[bytes[0]] & second[bytes[1]] & third[bytes[2]] & !format::OTHERS_BIT != 0 {
                let text = bytes.map(|byte| byte as u8);
                let found = format::next_start(&text, 0);
                // The bits of two formats may make a triple that neither has.
                let is_real = format::FORMATS
                    .iter()
                    .any(|format| format.begins_with(text));
                assert!(found.is_some() || !is_real, "{text:?}");
            }
        }
    }

    /// How many bytes were looked at.
    fn work(text: &str) -> usize {
        let mut work = 0;
        for_each_look(text, |look| work += look.looks);
        work
    }

    /// Twice the text is twice the work, whatever it is made of.
    #[test]
    fn no_text_costs_more_than_its_length() {
        let mut state = 3;
        let mut texts: Vec<String> = PIECES
            .iter()
            .map(|piece| piece.repeat(40_000 / piece.len()))
            .collect();
        for _ in 0..300 {
            let count = 2 + below(&mut state, 4);
            let pieces = random_text(&mut state, count);
            texts.push(pieces.repeat(40_000 / pieces.len()));
        }
        for text in texts {
            let (once, twice) = (work(&text), work(&text.repeat(2)));
            let start = &text[..text.char_indices().nth(40).map_or(text.len(), |(at, _)| at)];
            assert!(twice <= once * 2 + 100_000, "{once} {twice} {start:?}");
            assert!(once <= text.len() * 200, "{once} {} {start:?}", text.len());
        }
    }
}
