//! What is kept of prompts and replies, by counting what is allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tslp_core::artifact::{Level, Origin, Transition, Version};
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{
    ArtifactCaptured, ArtifactResolved, Author, DiskFile, DiskFinding, DiskObserved, DiskSlice,
    Envelope, Event, Extent, FileAuthor, Format, PathEvidence, RecordChanged, Recorded,
    ReplyOutcome, Transitioned,
};
use tslp_core::extract::GrammarTag;
use tslp_core::gate::Completeness;
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::ids::{CaptureId, Seq, UnixMillis, VersionId};
use tslp_core::message::Attempt;
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_core::reason::Reason;
use tslp_core::record::{RecordKind, RecordStanding};
use tslp_core::request::Request;
use tslp_core::slice::{Figures, Span};
use tslp_decide::judge::reply::Reply;
use tslp_grammars::TreeSitterGrammars;
use tslp_projections::changes::{Change, RowChange};
use tslp_projections::row::UnfitRow;
use tslp_projections::state::State;
use tslp_projections::store::Store;
use tslp_projections::{STATE_MAP, TABLES};
use tslp_replay::engine::Engine;
use tslp_replay::pending::{DiskAnswers, DiskCheck};
use tslp_snapshots::store::MemoryFiles;
use tslp_wire::chat::dialect::Dialect;
use tslp_wire::chat::request::{KnownMessages, RequestEnvelope, read_request};

/// Held by the test that counts.
static COUNTS: Mutex<()> = Mutex::new(());

/// Bytes that are allocated now.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: all is the system's allocator's; only sizes are counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A store that took everything and gives nothing back: what the engine keeps is counted without it.
struct Sink;

impl Store for Sink {
    fn archived(&self) -> Seq {
        Seq(u64::MAX)
    }
}

/// The findings of a workspace without files.
fn all_missing(checks: &[DiskCheck]) -> DiskAnswers {
    let findings = checks
        .iter()
        .map(|check| (check.path.clone(), DiskFinding::Missing));
    DiskAnswers {
        findings: findings.collect(),
        ..DiskAnswers::default()
    }
}

/// A client's requests on their way through the wire's reader and the engine, each with its reply.
struct Soak {
    known: KnownMessages,
    engine: Engine<TreeSitterGrammars, Sink>,
    clock: i64,
}

impl Soak {
    fn read(&mut self, body: &str) -> Request {
        let envelope = RequestEnvelope {
            dialect: Dialect::ChatCompletions,
            session_name: None,
            attempt: Attempt::First,
        };
        let read = read_request(body.as_bytes(), envelope, &mut self.known);
        read.expect("a request").expect("a prompt").1
    }

    fn ask(&mut self, body: &str, answer: &str) {
        let request = self.read(body);
        self.clock += 1000;
        let at = UnixMillis(self.clock);
        let pending = self.engine.receive(at, request, &mut |_| Vec::new());
        let answers = all_missing(&pending.checks);
        let composed = self.engine.compose(pending, answers);
        let episode = composed.episode;
        if let Some(conversation) = composed.conversation {
            self.engine
                .keep_sent(episode, conversation, &composed.request, &composed.outgoing);
        }
        let reply = Reply {
            tail: answer.into(),
            finish_reason: Some("stop".into()),
            ..Reply::default()
        };
        let pending =
            self.engine
                .end_reply(at, episode, reply, ReplyOutcome::Completed, &mut |_| {
                    Vec::new()
                });
        let answers = all_missing(&pending.checks);
        self.engine.judge(pending, answers);
        drop(self.engine.take_rows());
        self.engine.rows_made_durable(self.engine.state().head());
    }
}

/// Twice the generations of the caches that these prompts fill: of messages (6 MiB), of texts (3), of pairs of lines (3) and of
/// the lines of definitions (1); and 2 MiB for the state.
const KEPT_BYTES_MAX: usize = (2 * 13 + 2) << 20;

/// More prompts than any bound counts or takes to be reached: the state keeps 1,000 episodes, 256 sessions, 2,048 texts with their
/// authors and 16 former versions of a symbol, each prompt has 11 messages, and each cache's bytes are exceeded.
const PROMPTS_TO_FILL: usize = 1_100;

/// A conversation of its own with each prompt: a file is pasted, or one of its functions is named, over and over.
fn episode(soak: &mut Soak, number: usize) {
    let (pasted, file) = (number / 10, number / 10 % 4);
    let line = format!("    total += step_{pasted}(total);\n");
    let functions = (0..4).map(|function| {
        let body = line.repeat(60);
        format!("int f{file}_{function}(int total) {{\n{body}    return {function};\n}}\n\n")
    });
    let code: String = functions.collect();
    let fenced = format!("```c:src/m{file}.c\n{code}```\n");
    let said = |earlier: usize| {
        let words = (0..60).map(|word| format!("w{number}_{earlier}_{word} "));
        serde_json::json!({"role": "assistant", "content": words.collect::<String>()})
    };
    let mut messages: Vec<_> = (0..10).map(said).collect();
    let asked = if number.is_multiple_of(10) {
        fenced.clone()
    } else {
        format!("Question {number}: improve `f{file}_{}`.", number % 4)
    };
    messages.push(serde_json::json!({"role": "user", "content": asked}));
    let answer = if number % 10 == 5 {
        fenced
    } else {
        format!("Answer {number}.")
    };
    let body = serde_json::json!({"model": "m", "messages": messages});
    soak.ask(&body.to_string(), &answer);
}

/// How many rows the state keeps in each table.
fn rows_kept(state: &State) -> BTreeMap<&'static str, usize> {
    let tables = TABLES.iter().enumerate();
    let counted = tables.map(|(index, table)| {
        let mut rows = 0;
        state.visit_rows(index, &mut |_| rows += 1);
        (table.name, rows)
    });
    counted.collect()
}

/// The proxy grew by 2.1 to 4.9 KB a prompt without an end: caches counted the bytes of small values and not their own.
///
/// Growth shows only once everything that is bounded is full, which takes the first half of the run.
#[test]
fn bounded_per_prompt() {
    let _counts = COUNTS.lock();
    let before = ALLOCATED.load(Ordering::Relaxed);
    let mut soak = Soak {
        known: KnownMessages::default(),
        engine: Engine::new(
            State::default(),
            TreeSitterGrammars,
            Policy::default(),
            Sink,
        ),
        clock: 1_700_000_000_000,
    };
    let mut most_of = |prompts: Range<usize>| {
        let mut most = 0;
        for number in prompts {
            episode(&mut soak, number);
            most = most.max(ALLOCATED.load(Ordering::Relaxed) - before);
        }
        (most, rows_kept(soak.engine.state()))
    };
    let (early, early_rows) = most_of(0..PROMPTS_TO_FILL);
    let (late, late_rows) = most_of(PROMPTS_TO_FILL..2 * PROMPTS_TO_FILL);
    assert_eq!(early_rows, late_rows);
    assert!(early > KEPT_BYTES_MAX / 3, "it fills: {early}");
    assert!(late <= early + early / 20, "it is flat: {early}, {late}");
    assert!(late <= KEPT_BYTES_MAX, "it is bounded: {late}");
}

const FILES: u64 = 500;
const FUNCTIONS: u64 = 400;

/// The events of a file before those by which its functions become true, the look at it first.
const EVENTS_BEFORE: u64 = 3;

fn path_of(file: u64) -> RelPath {
    RelPath::from_normalised(&format!("components/part_{file}/source_{file}.cc"))
}

fn versions_of(file: u64) -> Vec<Version> {
    let versions = (0..FUNCTIONS).map(|number| {
        let symbol = Symbol::new(&format!("Handler::answer_{number:05}"));
        let start = u32::try_from(number * 300).expect("a place fits");
        let end = start + 280;
        Version {
            id: VersionId(file * FUNCTIONS + number + 1),
            slice: SliceHash(ArtifactHash::of(format!("{file} {number}").as_bytes()).0),
            entity: EntityId::symbol(path_of(file), symbol),
            spans: vec![Span { start, end }],
            figures: Figures {
                nodes: 120,
                tokens: 150,
            },
        }
    });
    versions.collect()
}

fn grammar() -> GrammarTag {
    GrammarTag {
        language: "cpp".into(),
        version: "1".into(),
    }
}

/// A look that finds a file's functions as they are true.
fn look_at(file: u64) -> DiskObserved {
    let slices = versions_of(file).into_iter().filter_map(|version| {
        Some(DiskSlice {
            symbol: version.entity.symbol?,
            slice: Some(version.slice),
        })
    });
    let found = DiskFile {
        whole: SliceHash([1; 32]),
        slices: slices.collect(),
        definitions: u32::try_from(FUNCTIONS).expect("few definitions"),
        grammar: Some(grammar()),
        changed_at: UnixMillis(0),
    };
    DiskObserved {
        path: path_of(file),
        finding: DiskFinding::File(found),
        author: FileAuthor::USER,
    }
}

fn recorded(seq: Seq, event: Event) -> Recorded {
    let envelope = Envelope::outside(seq, UnixMillis(1_700_000_000_000));
    Recorded { envelope, event }
}

/// What a record says stays in the ledger.
#[test]
fn ten_thousand_records() {
    let _counts = COUNTS.lock();
    let mut state = State::default();
    let before = ALLOCATED.load(Ordering::Relaxed);
    for number in 0..10_000 {
        let record = RecordChanged {
            key: format!("part.{number}"),
            kind: RecordKind::Fact,
            standing: RecordStanding::Kept,
            author: Author::User,
            cause: Reason::RecordNoted,
            statement: format!("The queue of part {number} refuses what comes when it is full."),
            path: format!("components/part_{number}/queue.c"),
            quotation: "    if (full) return -1;\n".repeat(20),
            inputs: Vec::new(),
            expires_at: UnixMillis(0),
        };
        let recorded = recorded(state.head().next(), Event::RecordChanged(record));
        state.apply(&recorded);
    }
    let kept = ALLOCATED.load(Ordering::Relaxed) - before;
    assert!(kept <= 1 << 20, "{kept}");
    assert!(kept > 480_000, "they are kept: {kept}");
}

/// A file's functions become true as disk holds them.
fn adopt(file: u64, state: &mut State) {
    let artifact = ArtifactHash::of(path_of(file).as_str().as_bytes());
    let versions = versions_of(file);
    let promoted = versions.clone().into_iter().map(|version| {
        Event::Transitioned(Transitioned {
            version: version.id,
            entity: version.entity,
            transition: Transition::Promote,
            origin: Origin::User,
            cause: Reason::UserAccepted,
            report: None,
        })
    });
    let before: [_; EVENTS_BEFORE as usize] = [
        Event::DiskObserved(look_at(file)),
        Event::ArtifactCaptured(ArtifactCaptured {
            capture: CaptureId(file + 1),
            origin: Origin::User,
            artifact,
            within: None,
            format: Format::Fence,
            edit: None,
            language: None,
            evidence: PathEvidence::None,
            path: Some(path_of(file)),
            completeness: Completeness::Full,
        }),
        Event::ArtifactResolved(ArtifactResolved {
            capture: CaptureId(file + 1),
            level: Level::Confirmed,
            reason: Reason::UserAccepted,
            grammar: Some(grammar()),
            patterns: artifact,
            extent: Extent::WholeFile,
            versions,
        }),
    ];
    for event in before.into_iter().chain(promoted) {
        let recorded = recorded(state.head().next(), event);
        state.apply(&recorded);
    }
}

/// Takes all rows of a state into another one.
fn restore(folded: &State, mut restoring: State) -> State {
    for table in (0..TABLES.len()).filter(|table| !TABLES[*table].is_archive()) {
        folded.visit_rows(table, &mut |row| {
            let taken = restoring.restore_row(table, &row, &|_| None);
            assert_eq!(taken, Ok(()), "{row:?}");
        });
    }
    let restored = restoring.restored(folded.head(), &|_| None);
    restored.unwrap_or_else(|UnfitRow(what)| panic!("{what}"))
}

/// Of a project with 200,000 entities, whether it was folded or taken from the tables; a third of that where the store has the files' code,
/// however much of it was asked for.
#[test]
fn many_entities() {
    const BYTES_MAX: usize = 20_000_000;
    const BYTES_MAX_WITH_STORE: usize = 6_500_000;
    let _counts = COUNTS.lock();
    let allocated = || ALLOCATED.load(Ordering::Relaxed);
    let before = allocated();
    let mut folded = State::default();
    (0..FILES).for_each(|file| adopt(file, &mut folded));
    let kept = allocated() - before;
    assert_eq!(folded.state_map().len() as u64, FILES * FUNCTIONS);
    assert!(kept < BYTES_MAX, "{kept}");
    let before = allocated();
    let restored = restore(&folded, State::default());
    let kept = allocated() - before;
    assert!(kept < BYTES_MAX, "{kept}");
    let stored = MemoryFiles::default();
    folded.visit_rows(STATE_MAP, &mut |row| {
        let change = Change::Put(row);
        stored.apply(&[RowChange {
            table: STATE_MAP,
            change,
        }]);
    });
    let before = allocated();
    let mut with_store = State::default();
    with_store.set_stored_files(Box::new(stored), 0);
    let mut with_store = restore(&folded, with_store);
    let kept = allocated() - before;
    assert!(kept < BYTES_MAX_WITH_STORE, "{kept}");
    for state in [&folded, &restored, &with_store] {
        let (map, look) = (state.state_map(), look_at(7));
        assert_eq!(map.disk_finding_in_full(&look.path), Some(look.finding));
        let named = map.entities_named("answer_00123", 2);
        let named: Vec<_> = named.iter().map(|entity| entity.path.clone()).collect();
        assert_eq!(named, [path_of(FILES - 1), path_of(FILES - 2)]);
        assert_eq!(map.true_entities().count() as u64, FILES * FUNCTIONS);
    }
    with_store.rows_made_durable(with_store.head());
    let kept = allocated() - before;
    assert!(kept < BYTES_MAX_WITH_STORE, "{kept}");
}
