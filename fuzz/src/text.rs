//! Everything that reads what users and models write: blocks, mentions, delimiters, credentials, paths.

use std::cell::RefCell;

use tslp_core::capture;
use tslp_core::delimiter;
use tslp_core::event::{DiskFinding, DiskObserved, Event, FileAuthor, PathEvidence};
use tslp_core::known_lines::{KnownLines, TextLines, WordSet};
use tslp_core::measure::{self, Effect, MeasuredCode, PartCounts};
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_core::redact;
use tslp_core::slice::Span;
use tslp_decide::prompt::mention;

use tslp_snapshots::script::{self, Step};
use tslp_snapshots::stage::{AT, ROOT, Stage};

/// Blocks come in order, inside the text, at characters' boundaries, and hold what they say.
pub(crate) fn capture_blocks(data: &[u8]) {
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

/// Code that only gains lines has lost none, and any two texts can be measured. A NUL parts the two.
pub(crate) fn measured(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (base, new) = text.split_once('\0').unwrap_or((&text, ""));
    let remarks = |text: &str| -> Vec<Span> {
        let found = text.match_indices("//");
        let end = |at: usize| text[at..].find('\n').map_or(text.len(), |line| at + line);
        let offset = |at| u32::try_from(at).unwrap_or(u32::MAX);
        let spans = found.map(|(at, _)| Span {
            start: offset(at),
            end: offset(end(at)),
        });
        spans.collect()
    };
    let compared = |base: &str, new: &str| {
        let (of_base, of_new) = (remarks(base), remarks(new));
        let code = |text, remarks| MeasuredCode {
            text,
            remarks,
            nested: &[],
            parts: PartCounts::default(),
        };
        measure::measure(
            code(base, &of_base),
            code(new, &of_new),
            PartCounts::default(),
        )
    };
    compared(base, new);
    let grown: String = base
        .split_inclusive('\n')
        .flat_map(|line| [line, "\ngained;\n"])
        .collect();
    assert_eq!(compared(base, &grown).effect, Effect::Whole, "{grown}");
}

/// A definition that texts are searched for.
const KNOWN: &str = "// Adds.\nint add(int a) {\n    int b = a;\n\n    return b;\n}\n";

/// What is found in a text is, line for line, what was looked for; and it is found after any gutter.
pub(crate) fn known_lines(data: &[u8]) {
    let Some(known) = KnownLines::new(KNOWN, "add") else {
        unreachable!("the definition has its name");
    };
    let text = String::from_utf8_lossy(data);
    let lines = TextLines::new(&text);
    let words = WordSet::new(["add"]);
    for (line, _) in lines.with_words(&words) {
        let Some(shown) = known.shown_at(&lines, line) else {
            continue;
        };
        let found = text[shown.bytes].lines().map(str::trim_end);
        let wanted = KNOWN.lines().map(str::trim).filter(|line| !line.is_empty());
        let wanted: Vec<&str> = wanted.collect();
        let mut wanted = wanted[wanted.len() - shown.line_count..].iter().peekable();
        for line in found {
            wanted.next_if(|wanted| line.ends_with(**wanted));
        }
        assert!(wanted.peek().is_none(), "{text}");
    }
    let gutter: String = text.chars().filter(|c| !c.is_control()).take(12).collect();
    // What a diff takes away isn't there.
    if gutter.trim() == "-" {
        return;
    }
    let framed: String = KNOWN
        .lines()
        .map(|line| format!("{gutter}{line}\n"))
        .collect();
    let lines = TextLines::new(&framed);
    let mut found = lines.with_words(&words).into_iter();
    assert!(
        found.any(|(line, _)| known.shown_at(&lines, line).is_some()),
        "{framed}"
    );
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
pub(crate) fn mention_scan(data: &[u8]) {
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
        let found = mention::scan(&text, AT, &view, &[]);
        for (index, entity) in found.symbols.iter().enumerate() {
            assert!(view.current_version(entity).is_some(), "{entity}");
            assert!(!found.symbols[..index].contains(entity), "{entity}");
        }
        for (index, path) in found.files.iter().enumerate() {
            assert!(view.state.state_map().tracks(path), "{path}");
            assert!(!found.files[..index].contains(path), "{path}");
        }
    });
}

/// A text that is stripped and defused can't open or close a block, whatever stood in it.
pub(crate) fn delimiters(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let stripped = delimiter::strip_blocks(&text);
    assert!(stripped.len() <= text.len());
    let defused = delimiter::defused(&stripped);
    assert!(!delimiter::quoted_in(&defused), "{defused}");
    assert!(defused.len() <= stripped.len());
    assert_eq!(delimiter::strip_blocks(&defused), defused);
    assert_eq!(
        delimiter::quoted_in(&stripped),
        defused != stripped,
        "{stripped}"
    );
}

/// What is redacted stays as it is when it is redacted again, and text that comes in pieces is redacted as if it came whole.
pub(crate) fn redaction(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let once = redact::without_credentials(&text);
    assert_eq!(redact::without_credentials(&once), once);
    let mut come = text.len() / 2;
    while !text.is_char_boundary(come) {
        come -= 1;
    }
    let (one, other) = text.split_at(redact::safe_cut(&text[..come]));
    let in_two = format!(
        "{}{}",
        redact::without_credentials(one),
        redact::without_credentials(other)
    );
    assert_eq!(
        in_two,
        redact::without_credentials(&text),
        "{one:?} {other:?}"
    );
}

/// A path that is taken is relative, without anything odd, means itself, and can be read from a ledger.
pub(crate) fn rel_path(data: &[u8]) {
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
    // A space at the front, which only an absolute path can bring there, is trimmed from what is written.
    if text.trim() == text {
        assert_eq!(RelPath::parse(text, ROOT).as_ref(), Ok(&path), "{text:?}");
    }
    let event = Event::DiskObserved(DiskObserved {
        path,
        finding: DiskFinding::Missing,
        author: FileAuthor::USER,
    });
    let stored = tslp_migrations::encode(&event)
        .map(|encoded| tslp_migrations::decode(encoded.kind, &encoded.payload));
    assert_eq!(stored.ok(), Some(Ok(event)), "a ledger that can't be read");
}
