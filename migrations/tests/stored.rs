//! Stored events and their JSON, frozen: whatever was written once is read as the same for ever.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use arbitrary::Unstructured;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use tslp_core::event::{Event, EventKind};
use tslp_core::hash::ArtifactHash;
use tslp_core::reason::Reason;
use tslp_migrations::{DecodeError, NUMBERS, decode, decode_content, encode, kind_of, number_of};

/// Samples of each kind.
const SAMPLES: u64 = 4;

const ADVICE: &str = "a change here is a new layout (docs/storage.md); what is new is added to the fixtures by \
                      `cargo test -p tslp-migrations -- --ignored freeze`";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(name)
}

fn fixture_text(name: &str) -> String {
    fs::read_to_string(fixture(name)).unwrap_or_default()
}

/// A frozen event: the number of its layout, its JSON and its bytes.
struct Frozen {
    number: u32,
    json: String,
    payload: Vec<u8>,
}

impl Frozen {
    fn of(event: &Event) -> Self {
        let encoded = encode(event).unwrap();
        Self {
            number: encoded.kind,
            json: serde_json::to_string(event).unwrap(),
            payload: encoded.payload,
        }
    }

    fn to_line(&self) -> String {
        let payload = BASE64_STANDARD.encode(&self.payload);
        format!("{} {payload} {}", self.number, self.json)
    }

    fn read(line: &str) -> Self {
        let mut parts = line.splitn(3, ' ');
        let mut part = || parts.next().unwrap();
        Self {
            number: part().parse().unwrap(),
            payload: BASE64_STANDARD.decode(part()).unwrap(),
            json: part().to_owned(),
        }
    }
}

fn frozen_events() -> Vec<Frozen> {
    fixture_text("events").lines().map(Frozen::read).collect()
}

/// An arbitrary event, the same each time.
fn sample(kind: EventKind, number: u64) -> Event {
    let block = |at: u64| ArtifactHash::of(format!("{kind} {number} {at}").as_bytes()).0;
    let bytes: Vec<u8> = (0..16).flat_map(block).collect();
    Event::arbitrary_of(kind, &mut Unstructured::new(&bytes)).unwrap()
}

/// law 12 | Words of earlier rules are read for ever | file_exists
#[test]
fn read_as_before() {
    for frozen in frozen_events() {
        let Frozen {
            number,
            json,
            payload,
        } = &frozen;
        let event: Event =
            serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}: {ADVICE}"));
        assert_eq!(decode(*number, payload).as_ref(), Ok(&event), "{ADVICE}");
        if number_of(event.kind()) != *number {
            continue;
        }
        let again = Frozen::of(&event);
        match event {
            // Settings are stored by name: written again, it has those of today.
            Event::RulesInForce(_) => {
                let read = decode(again.number, &again.payload);
                assert_eq!(read.as_ref(), Ok(&event), "{ADVICE}");
            }
            _ => assert_eq!(again.to_line(), frozen.to_line(), "{ADVICE}"),
        }
    }
}

#[test]
fn frozen_layouts() {
    let mut count: BTreeMap<u32, u64> = BTreeMap::new();
    for frozen in frozen_events() {
        *count.entry(frozen.number).or_default() += 1;
    }
    let numbers: BTreeMap<u32, u64> = NUMBERS.iter().map(|number| (*number, SAMPLES)).collect();
    assert_eq!(count, numbers, "{ADVICE}");
}

#[test]
fn unique_numbers() {
    let kinds = EventKind::ALL.iter();
    assert!(
        kinds
            .clone()
            .all(|kind| kind_of(number_of(*kind)) == Some(*kind))
    );
    let mut numbers = NUMBERS.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), NUMBERS.len());
    let unknown = numbers.last().unwrap() + 1;
    assert_eq!(kind_of(unknown), None);
    assert_eq!(
        decode(unknown, &[]),
        Err(DecodeError::UnknownKind { number: unknown })
    );
}

/// Words that events hold are stored by their place in the declaration.
#[test]
fn words_only_appended() {
    let declared = declared_words();
    for line in fixture_text("words").lines() {
        let (name, words) = line.split_once(": ").unwrap();
        let now = declared.get(name).map_or("", String::as_str);
        if name == REASON {
            // Stored as words, so their order may change.
            let kept = words
                .split(' ')
                .all(|word| Reason::from_code(word).is_some());
            assert!(kept, "a reason of `{words}` is gone; {ADVICE}");
            continue;
        }
        assert!(
            now == words || now.starts_with(&format!("{words} ")),
            "{name} was `{words}` and is `{now}`: variants of stored words are only appended; {ADVICE}"
        );
    }
}

#[test]
fn words_frozen() {
    assert_eq!(words_text(), fixture_text("words"), "{ADVICE}");
}

/// The name under which reasons are frozen.
const REASON: &str = "Reason";

/// The reasons, and the words of each `stored_words!` in core, in the order of their declaration.
fn declared_words() -> BTreeMap<String, String> {
    let mut words = BTreeMap::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let source = fs::read_to_string(path).unwrap();
            let declarations = source.split("\nstored_words! {").skip(1);
            for declaration in declarations {
                let declaration = declaration.split("\n}").next().unwrap();
                let code = declaration.lines().map(str::trim);
                let mut code =
                    code.filter(|line| !line.starts_with("//") && !line.starts_with('#'));
                let name = code.find_map(|line| line.split_once(", \"")).unwrap().0;
                let variants = code.filter_map(|line| line.split('"').nth(1));
                words.insert(name.to_owned(), variants.collect::<Vec<_>>().join(" "));
            }
        }
    }
    assert!(words.len() > 20, "{words:?}");
    let mut reasons: Vec<&str> = Reason::ALL.iter().map(|reason| reason.code()).collect();
    reasons.sort_unstable();
    words.insert(REASON.to_owned(), reasons.join(" "));
    words
}

fn words_text() -> String {
    declared_words()
        .iter()
        .fold(String::new(), |mut text, (name, words)| {
            writeln!(text, "{name}: {words}").unwrap();
            text
        })
}

#[test]
fn round_trips() {
    for kind in EventKind::ALL {
        for number in 0..200 {
            let event = sample(*kind, number);
            let encoded = encode(&event).unwrap();
            assert_eq!(decode(encoded.kind, &encoded.payload).as_ref(), Ok(&event));
            let json = serde_json::to_string(&event).unwrap();
            let back: Event =
                serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
            assert_eq!(back, event, "{json}");
            let content = decode_content(encoded.kind, &encoded.payload).unwrap();
            match &event {
                Event::Content(whole) => assert_eq!(content.unwrap().bytes, &*whole.bytes),
                _ => assert_eq!(content, None),
            }
        }
    }
}

/// Whatever damage does to bytes, it gives an error or an event that is stored again as the same.
#[test]
fn damaged_bytes() {
    for frozen in frozen_events() {
        let bits = 0..frozen.payload.len() * 8;
        let flipped = bits.map(|bit| {
            let mut bytes = frozen.payload.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            bytes
        });
        let cut = (0..frozen.payload.len()).map(|end| frozen.payload[..end].to_vec());
        for bytes in flipped.chain(cut) {
            let _ = decode_content(frozen.number, &bytes);
            if let Ok(event) = decode(frozen.number, &bytes) {
                let again = encode(&event).unwrap();
                assert_eq!(decode(again.kind, &again.payload), Ok(event));
            }
        }
    }
}

/// Each type that means more than its bytes is checked where it is read, in both forms.
#[test]
fn meaningless_values() {
    let check = |kind: &str, fields: &str, changes: [(&str, &str); 2], said: &str| {
        let text = format!("{{\"kind\":\"{kind}\",\"event\":{fields}}}");
        let sound: Event = serde_json::from_str(&text).unwrap();
        let [json, bytes] = changes;
        let refused = serde_json::from_str::<Event>(&text.replace(json.0, json.1)).unwrap_err();
        assert!(refused.to_string().contains(said), "{refused}");
        let mut payload = encode(&sound).unwrap().payload;
        let at = payload
            .windows(bytes.0.len())
            .position(|window| window == bytes.0.as_bytes());
        let at = at.unwrap_or_else(|| panic!("{kind} holds {:?}", bytes.0));
        payload[at..at + bytes.1.len()].copy_from_slice(bytes.1.as_bytes());
        let refused = decode(number_of(sound.kind()), &payload).unwrap_err();
        assert!(refused.to_string().contains(said), "{refused}");
    };
    let both = |from, to| [(from, to), (from, to)];
    for path in [
        "src/../main.c",
        "src/./a/main.c",
        "src//xy/main.c",
        "src\\abc/main.c",
    ] {
        let sound = "src/abcd/main.c";
        let path = &format!("{path:x<15}")[..15];
        check(
            "disk_observed",
            &format!(
                "{{\"path\":\"{sound}\",\"finding\":\"missing\",\"author\":{{\"origin\":\"user\",\"reply\":0}}}}"
            ),
            [(sound, &path.replace('\\', "\\\\")), (sound, path)],
            "normalised",
        );
    }
    check(
        "notice_issued",
        "{\"episode\":1,\"session\":1,\"reason\":\"nodes_collapsed\",\"entity\":null,\"other\":null}",
        both("nodes_collapsed", "nodes_collapsex"),
        "reason known",
    );
    let hash = "0".repeat(64);
    let message = format!("{{\"role\":\"user\",\"key\":\"{hash}\",\"content\":\"{hash}\"}}");
    check(
        "prompt_received",
        &format!(
            "{{\"episode\":1,\"session\":1,\"session_name\":null,\"fork\":null,\"transcript\":\"{hash}\",\"length\":7,\
             \"model\":\"m\",\"system\":null,\"messages\":[{message}],\"older\":1,\"tools\":\"none\"}}"
        ),
        [
            ("\"older\":1", "\"older\":2"),
            ("\u{1}\0\0\0\u{1}\0\0\0", "\u{1}\0\0\0\u{2}\0\0\0"),
        ],
        "older",
    );
    let hex = hash.replacen('0', "g", 1);
    let text =
        format!("{{\"kind\":\"reply_segment\",\"event\":{{\"episode\":1,\"content\":\"{hex}\"}}}}");
    let refused = serde_json::from_str::<Value>(&text).and_then(serde_json::from_value::<Event>);
    assert!(refused.unwrap_err().to_string().contains("hash"));
}

/// Adds what isn't frozen yet; what is stays as it was written.
#[test]
#[ignore = "writes the fixtures"]
fn freeze() {
    let mut lines = frozen_events();
    let is_frozen = |number| lines.iter().any(|frozen| frozen.number == number);
    let kinds = EventKind::ALL
        .iter()
        .filter(|kind| !is_frozen(number_of(**kind)));
    let samples = kinds.flat_map(|kind| (0..SAMPLES).map(|number| sample(*kind, number)));
    let added: Vec<Frozen> = samples.map(|event| Frozen::of(&event)).collect();
    lines.extend(added);
    lines.sort_by_key(|frozen| frozen.number);
    let text: String = lines.iter().map(|frozen| frozen.to_line() + "\n").collect();
    fs::create_dir_all(fixture("")).unwrap();
    fs::write(fixture("events"), text).unwrap();
    fs::write(fixture("words"), words_text()).unwrap();
}
