//! Everything that reads what users and models write: blocks, mentions, delimiters, credentials, paths.

use std::cell::RefCell;

use tslp_core::capture;
use tslp_core::capture::older::{self, Gone, Judge, Verdict};
use tslp_core::delimiter;
use tslp_core::event::{DiskFinding, DiskObserved, Event, PathEvidence};
use tslp_core::mention;
use tslp_core::message::ToolCall;
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_core::redact;
use tslp_core::view::View as _;
use tslp_snapshots::script::{self, Step};
use tslp_snapshots::stage::{ROOT, Stage};

/// Blocks stand in order, inside the text, at characters' boundaries, and hold what they say.
pub fn capture_blocks(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut end = 0;
    for block in capture::blocks(&text) {
        assert!(block.outer.start >= end, "blocks overlap");
        assert!(text.get(block.outer.clone()).is_some());
        end = block.outer.end;
        if let Some(verbatim) = block.verbatim {
            assert_eq!(text.get(verbatim), Some(&*block.code));
        }
        assert_eq!(block.path.is_some(), block.evidence != PathEvidence::None);
        if let Some(path) = block.path {
            let _ = RelPath::parse(&path, ROOT);
        }
    }
}

/// A history of which everything stays goes out as it came in, and one of which something goes is changed.
pub fn older_code(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let command = in_json(&text);
    let call = |arguments: String| ToolCall {
        name: "bash".into(),
        arguments,
    };
    let shell = call(format!("{{\"command\":{command}}}"));
    let reader = call(format!("{{\"path\":{command}}}"));
    let look = |judge: &mut Judge<'_>| {
        [
            older::talk(&text, judge),
            older::result(&text, None, judge),
            older::result(&text, Some(&shell), judge),
            older::result(&text, Some(&reader), judge),
            older::arguments(&shell, None, judge),
            older::arguments(&call(text.to_string()), None, judge),
        ]
    };
    let kept = look(&mut |_| Verdict::Open);
    assert!(kept.iter().all(Option::is_none), "all of it stays");
    let mut gone = 0;
    let changed = look(&mut |piece| {
        assert!(!piece.code.trim().is_empty() || piece.block.is_some());
        gone += usize::from(piece.code.contains("int"));
        match piece.code.find("int") {
            Some(at) => Verdict::Goes(Gone {
                reach: at + 3,
                marker: "(gone)".into(),
            }),
            None => Verdict::Open,
        }
    });
    let is_changed = changed.iter().flatten().any(|text| text.contains("(gone)"));
    assert_eq!(is_changed, gone > 0);
}

/// A text as a string in JSON.
fn in_json(text: &str) -> String {
    let mut json = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if c < ' ' => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => json.push(c),
        }
    }
    json + "\""
}

/// What a project's prompt may name.
const PROJECT: &str = "
    user
    | ```c:src/list.c
    | int push(int x) { return x + 1; }
    | int list_len(int x) { return x + 2; }
    | ```
    | ```cpp:src/tree.cpp
    | #include <tree.h>
    | namespace ns { struct Tree { int grow() { return 1; } }; }
    | ```
    | ```c:lib/list.c
    | int push(int x) { return x + 3; }
    | ```
";

thread_local! {
    static STAGE: RefCell<Option<Stage>> = const { RefCell::new(None) };
}

/// Whatever is mentioned is tracked, and named once.
pub fn mention_scan(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    STAGE.with_borrow_mut(|stage| {
        let stage = stage.get_or_insert_with(|| {
            let mut stage = Stage::new(Policy::default());
            script::parse(PROJECT)
                .steps
                .into_iter()
                .for_each(|step: Step| stage.step(step));
            stage
        });
        let view = stage.view();
        let found = mention::scan(&text, ROOT, &view);
        for (index, entity) in found.symbols.iter().enumerate() {
            assert!(view.current(entity).is_some(), "{entity}");
            assert!(!found.symbols[..index].contains(entity), "{entity}");
        }
        for (index, path) in found.files.iter().enumerate() {
            assert!(view.tracks(path), "{path}");
            assert!(!found.files[..index].contains(path), "{path}");
        }
    });
}

/// A text that is stripped and defused can't open or close a block, whatever stood in it.
pub fn delimiters(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let stripped = delimiter::strip_blocks(&text);
    assert!(stripped.len() <= text.len());
    let defused = delimiter::defused(&stripped);
    assert!(!delimiter::quoted_in(&defused), "{defused}");
    assert_eq!(defused.len(), stripped.len());
    assert_eq!(delimiter::strip_blocks(&defused), defused);
    assert_eq!(
        delimiter::quoted_in(&stripped),
        defused != stripped,
        "{stripped}"
    );
}

/// What is redacted stays as it is when it is redacted again.
pub fn redaction(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let once = redact::redacted(&text);
    assert_eq!(redact::redacted(&once), once);
    if let Some(at) = redact::unclosed_key(&text) {
        assert!(text.is_char_boundary(at));
    }
}

/// A path that is taken is relative, without anything odd, means itself, and can be read from a ledger.
pub fn rel_path(data: &[u8]) {
    let written = String::from_utf8_lossy(data);
    let Ok(path) = RelPath::parse(&written, ROOT) else {
        return;
    };
    let text = path.as_str();
    assert!(!text.starts_with('/') && !text.ends_with('/') && !text.contains('\\'));
    assert!(
        text.split('/')
            .all(|part| !part.is_empty() && part != "." && part != ".."),
        "{text:?}"
    );
    assert!(!text.chars().any(char::is_control), "{text:?}");
    // A blank at the front, which only an absolute path can bring there, is trimmed from what is written.
    if text.trim() == text {
        assert_eq!(RelPath::parse(text, ROOT).as_ref(), Ok(&path), "{text:?}");
    }
    let event = Event::DiskObserved(DiskObserved {
        path,
        finding: DiskFinding::Missing,
    });
    let stored = tslp_migrations::encode(&event)
        .map(|encoded| tslp_migrations::decode(encoded.kind, &encoded.payload));
    assert_eq!(stored.ok(), Some(Ok(event)), "a ledger that can't be read");
}
