//! Bytes that no encoder wrote: every one gives an event or an error value.

use tslp_core::event::Event;
use tslp_core::hash::ArtifactHash;
use tslp_migrations::{DecodeError, decode, decode_content, encode};

use crate::generate::Generator;
use crate::samples::{all_samples, samples_of_v1};

/// Decodes any bytes; an event that they give can be encoded again.
fn check_survives(kind: &str, bytes: &[u8]) {
    if let Ok(event) = decode(kind, bytes) {
        encode(&event).unwrap();
    }
    let _ = decode_content(kind, bytes);
}

#[test]
fn every_flipped_bit_is_survived() {
    for event in all_samples() {
        let mut encoded = encode(&event).unwrap();
        for bit in 0..encoded.payload.len() * 8 {
            encoded.payload[bit / 8] ^= 1 << (bit % 8);
            check_survives(encoded.kind, &encoded.payload);
            encoded.payload[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn every_cut_and_every_extension_is_survived() {
    for event in all_samples() {
        let encoded = encode(&event).unwrap();
        for cut in 0..encoded.payload.len() {
            check_survives(encoded.kind, &encoded.payload[..cut]);
            check_survives(encoded.kind, &encoded.payload[cut..]);
        }
        check_survives(encoded.kind, &[&encoded.payload[..], &[0; 7]].concat());
    }
}

#[test]
fn bytes_of_another_kind_are_survived() {
    let encoded: Vec<_> = all_samples()
        .iter()
        .map(|event| encode(event).unwrap())
        .collect();
    for bytes in &encoded {
        for kind in &encoded {
            check_survives(kind.kind, &bytes.payload);
        }
    }
}

#[test]
fn random_bytes_are_survived() {
    let mut generator = Generator::new(7);
    let kinds: Vec<&str> = all_samples()
        .iter()
        .map(|event| encode(event).unwrap().kind)
        .collect();
    for _ in 0..20_000 {
        let length = generator.below(200);
        let bytes = generator.bytes(length);
        check_survives(generator.pick(&kinds), &bytes);
    }
}

#[test]
fn events_are_read_at_any_alignment() {
    for event in all_samples() {
        let encoded = encode(&event).unwrap();
        for shift in 0..8 {
            let mut shifted = vec![0; shift];
            shifted.extend_from_slice(&encoded.payload);
            assert_eq!(decode(encoded.kind, &shifted[shift..]).unwrap(), event);
        }
    }
}

#[test]
fn unknown_kinds_and_newer_layouts_are_told_apart() {
    for (kind, may_be_newer) in [
        ("", false),
        ("v1", false),
        (".v1", false),
        ("nonsense", false),
        ("nonsense.v1", true),
        ("Nonsense.v1", false),
        ("nonsense\u{0}.v1", false),
        ("nonsense.v+1", false),
        ("content", false),
        ("content.v0", false),
        ("content.vX", false),
    ] {
        let error = decode(kind, b"").unwrap_err();
        assert!(matches!(error, DecodeError::UnknownKind { .. }), "{kind}");
        assert_eq!(error.may_be_newer(), may_be_newer, "{kind}");
    }
    let newer = decode("content.v2", b"").unwrap_err();
    assert!(matches!(newer, DecodeError::NewerVersion { known: 1, .. }));
    assert!(newer.may_be_newer());
    assert!(decode_content("content.v2", b"").is_err());
}

#[test]
fn words_and_numbers_that_a_newer_program_may_know_are_told_from_damage() {
    let payload = encode(&samples_of_v1()[0]).unwrap().payload;
    let mut other_number = payload.clone();
    let kind_at = payload.len() - 9;
    other_number[kind_at] = 77;
    let error = decode("content.v1", &other_number).unwrap_err();
    assert!(error.may_be_newer(), "{error}");
    let error = decode("content.v1", &payload[1..]).unwrap_err();
    assert!(!error.may_be_newer(), "{error}");
}

#[test]
fn numbers_words_and_paths_without_meaning_are_refused() {
    // The kind of a content event follows its hash in the 41 bytes at the end.
    let mut payload = encode(&samples_of_v1()[0]).unwrap().payload;
    let kind_at = payload.len() - 9;
    payload[kind_at] = 77;
    assert_eq!(
        decode("content.v1", &payload).unwrap_err().to_string(),
        "a `content.v1` event says what no event can: 77 is no content kind"
    );
    assert!(decode_content("content.v1", &payload).is_err());

    for (from, to, text) in [
        ("src/list.c", "../../list", "no normalised path"),
        ("src/list.c", "/etc/passw", "no normalised path"),
        ("src/list.c", "src//ist.c", "no normalised path"),
        ("unlinked", "unlinkee", "no reason known"),
    ] {
        let refused = samples_of_v1()
            .iter()
            .map(|event| encode(event).unwrap())
            .filter_map(|encoded| {
                let at = encoded
                    .payload
                    .windows(from.len())
                    .position(|window| window == from.as_bytes())?;
                let mut payload = encoded.payload;
                payload[at..at + to.len()].copy_from_slice(to.as_bytes());
                (encoded.kind != "content.v1").then(|| decode(encoded.kind, &payload))
            })
            .map(Result::unwrap_err)
            .collect::<Vec<_>>();
        assert!(!refused.is_empty(), "{from}");
        for error in refused {
            assert!(error.to_string().contains(text), "{error}");
            // A later version may know more reasons; none knows other paths.
            assert_eq!(error.may_be_newer(), text == "no reason known", "{error}");
        }
    }
}

#[test]
fn content_is_read_where_it_lies() {
    for event in all_samples() {
        let encoded = encode(&event).unwrap();
        let found = decode_content(encoded.kind, &encoded.payload).unwrap();
        let Event::Content(event) = event else {
            assert_eq!(found, None);
            continue;
        };
        let found = found.unwrap();
        assert_eq!(
            (found.hash, found.kind, found.bytes),
            (event.hash, event.kind, &event.bytes[..])
        );
        assert!(found.is_intact());
        assert!(
            event.bytes.is_empty()
                || encoded
                    .payload
                    .as_ptr_range()
                    .contains(&found.bytes.as_ptr())
        );
        assert_eq!(found.hash, ArtifactHash::of(found.bytes));
    }
}
