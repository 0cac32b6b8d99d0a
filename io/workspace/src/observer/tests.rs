//! The observer on real folders, with a frozen clock and a grammar of one line a definition.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use tslp_core::entity::Symbol;
use tslp_core::event::DiskFile;
use tslp_core::extract::{
    Body, Definition, ExtractError, Extraction, GrammarTag, LanguageId, Proof,
};
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::ids::UnixMillis;
use tslp_core::limits::PARSE_BYTES_MAX;
use tslp_core::measure::PartCounts;
use tslp_core::path::RelPath;
use tslp_core::slice::{Figures, Span};

use super::beneath::PathResolution;
use super::*;

/// In files that end in `.c`, each line is a definition; its first word is the symbol, an indented one isn't top-level.
struct Lines;

impl Grammars for Lines {
    fn patterns(&self) -> ArtifactHash {
        ArtifactHash::of(b"")
    }

    fn tags(&self) -> Vec<GrammarTag> {
        vec![todays_grammar()]
    }

    fn language_of_path(&self, path: &RelPath) -> Option<LanguageId> {
        (path.extension() == Some("c")).then_some(LanguageId(0))
    }

    fn language_of_tag(&self, _: &str) -> Option<LanguageId> {
        None
    }

    fn extract(&self, _: LanguageId, source: &[u8]) -> Result<Extraction, ExtractError> {
        if source.len() > PARSE_BYTES_MAX {
            return Err(ExtractError::TooLarge);
        }
        let text = std::str::from_utf8(source).map_err(|_| ExtractError::Unparsable)?;
        assert!(!text.contains("PANIC"), "a parser that panics");
        let mut definitions = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let body = line.trim_start_matches(['\u{feff}', ' ']).trim_end();
            if let Some(symbol) = body.split_whitespace().next() {
                let begin = start + line.find(body).unwrap();
                definitions.push(Definition {
                    symbol: Symbol::new(symbol),
                    span: Span {
                        start: u32::try_from(begin).unwrap(),
                        end: u32::try_from(begin + body.len()).unwrap(),
                    },
                    head: Span { start: 0, end: 0 },
                    body: Body::Code,
                    proof: Proof::Ast,
                    figures: Figures::default(),
                    parts: PartCounts::default(),
                    top_level: !line.starts_with(' '),
                    damaged: false,
                });
            }
            start += line.len();
        }
        Ok(Extraction {
            grammar: todays_grammar(),
            definitions,
            figures: Figures::default(),
            elisions: Vec::new(),
            remarks: Vec::new(),
            imports: Vec::new(),
            preamble: false,
            clean: true,
            errors: 0,
            breaks_off: false,
            unread: Vec::new(),
        })
    }
}

fn todays_grammar() -> GrammarTag {
    GrammarTag {
        language: "lines".into(),
        version: "1".into(),
    }
}

/// A clock that stands still. It is asked in front of each read, so its reader can be made to wait, as a dead file
/// system would, and a file can be changed under a read.
struct FrozenClock {
    now: Mutex<UnixMillis>,
    changes: Mutex<Vec<(PathBuf, &'static str)>>,
    gate: Mutex<Option<mpsc::Receiver<()>>>,
}

impl WallClock for FrozenClock {
    fn now(&self) -> UnixMillis {
        if let Some((path, content)) = self.changes.lock().unwrap().pop() {
            fs::write(path, content).unwrap();
        }
        // A statement of its own, so that the lock isn't held while waiting.
        let gate = self.gate.lock().unwrap().take();
        if let Some(gate) = gate {
            // Ends when the test lets the gate's other end go.
            let _ = gate.recv();
        }
        *self.now.lock().unwrap()
    }
}

fn observer(dir: &std::path::Path, config: EtvConfig, clock: &Arc<FrozenClock>) -> Observer {
    let clock = Arc::clone(clock) as Arc<dyn WallClock>;
    Observer::new(&dir.join("proj"), config, Arc::new(Lines), clock)
}

/// Far from the time of any file that a test makes.
const LONG_AFTER: UnixMillis = UnixMillis(32_503_680_000_000);

struct Workspace {
    dir: tempfile::TempDir,
    clock: Arc<FrozenClock>,
    observer: Observer,
}

impl Workspace {
    fn new() -> Self {
        Self::with(EtvConfig {
            read_bytes_max: 2 << 20,
            timeout: Duration::from_secs(60),
            ..EtvConfig::default()
        })
    }

    fn with(config: EtvConfig) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("proj")).unwrap();
        let clock = Arc::new(FrozenClock {
            now: Mutex::new(LONG_AFTER),
            gate: Mutex::new(None),
            changes: Mutex::default(),
        });
        Self {
            observer: observer(dir.path(), config, &clock),
            dir,
            clock,
        }
    }

    /// An observer that knows nothing yet.
    fn new_observer(&self) -> Observer {
        observer(self.dir.path(), EtvConfig::default(), &self.clock)
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join("proj").join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        fs::write(self.at(path), content).unwrap();
    }

    /// Writes until the file's time of change differs: the kernel's clock ticks every few milliseconds only.
    fn write_later(&self, path: &str, content: &str) {
        let before = rustix::fs::stat(self.at(path)).unwrap();
        loop {
            self.write(path, content);
            let after = rustix::fs::stat(self.at(path)).unwrap();
            if (after.st_ctime, after.st_ctime_nsec) != (before.st_ctime, before.st_ctime_nsec) {
                return;
            }
        }
    }

    fn find(&mut self, path: &str, symbols: &[&str]) -> DiskFinding {
        let check = DiskCheck {
            path: RelPath::from_normalised(path),
            symbols: symbols.iter().map(|symbol| Symbol::new(symbol)).collect(),
            last_seen: None,
        };
        self.observer.check(vec![check]).remove(0)
    }

    /// What is found at the path, in words: `missing`, a failure's code, or the symbols that the file defines out of
    /// `f`, `g` and `m`, and its count of definitions.
    fn check(&mut self, path: &str, expected: &str) {
        let shown = match self.find(path, &["g", "f", "f", "m"]) {
            DiskFinding::Missing => "missing".to_owned(),
            DiskFinding::Unreadable(failure) => failure.as_str().to_owned(),
            DiskFinding::File(file) => {
                let mut shown: Vec<String> = file
                    .slices
                    .iter()
                    .filter(|slice| slice.slice.is_some())
                    .map(|slice| slice.symbol.to_string())
                    .collect();
                shown.push(file.definitions.to_string());
                shown.push(
                    file.grammar
                        .map_or("no grammar".into(), |grammar| grammar.language),
                );
                shown.join(" ")
            }
        };
        assert_eq!(shown, expected, "{path}");
    }

    /// The file's content hash and slices now differ from, or equal, those of before.
    fn check_change(&mut self, path: &str, expected: Change, change: impl FnOnce(&Self)) {
        let find = |workspace: &mut Self| match workspace.find(path, &["f"]) {
            DiskFinding::File(file) => DiskFile {
                changed_at: UnixMillis(0),
                ..file
            },
            other => panic!("{path}: {other:?}"),
        };
        let before = find(self);
        change(self);
        let after = find(self);
        assert_eq!(
            after == before,
            expected == Change::Unseen,
            "{path}: {after:?}"
        );
    }

    fn reads(&self) -> u64 {
        self.observer.counters().reads()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Seen,
    Unseen,
}

#[test]
fn sorted_symbols() {
    let mut workspace = Workspace::new();
    workspace.write("a.c", "g 1\nf 1\n  m 1\nf 2\n");
    workspace.check("a.c", "f g m 2 lines");
    let DiskFinding::File(file) = workspace.find("a.c", &["z", "f"]) else {
        panic!("a readable file");
    };
    let slices: Vec<(&str, bool)> = file
        .slices
        .iter()
        .map(|slice| (slice.symbol.as_str(), slice.slice.is_some()))
        .collect();
    assert_eq!(slices, [("f", true), ("z", false)]);
}

/// A symbol is all of its definitions and nothing else.
#[test]
fn all_definitions() {
    let mut workspace = Workspace::new();
    let slice = |finding: DiskFinding| match finding {
        DiskFinding::File(file) => file.slices[0].slice,
        other => panic!("{other:?}"),
    };
    workspace.write("a.c", "f 1\nf 2\n");
    let both = slice(workspace.find("a.c", &["f"]));
    workspace.write_later("a.c", "f 1\ng 9\nf 2\n");
    assert_eq!(slice(workspace.find("a.c", &["f"])), both);
    workspace.write_later("a.c", "f 1\ng 9\nf 3\n");
    assert_ne!(slice(workspace.find("a.c", &["f"])), both);
}

#[test]
fn unchanged_file() {
    let mut workspace = Workspace::new();
    workspace.write("a.c", "f 1\n");
    for _ in 0..5 {
        workspace.check("a.c", "f 1 lines");
    }
    let counters = workspace.observer.counters();
    assert_eq!(
        (counters.reads(), counters.parses(), counters.unchanged()),
        (1, 1, 4)
    );
}

/// A file within the clock's granularity is read again but not parsed.
#[test]
fn young_file() {
    let mut workspace = Workspace::new();
    workspace.write("a.c", "f 1\n");
    let changed = rustix::fs::stat(workspace.at("a.c")).unwrap().st_ctime * 1000;
    for after in [0, 1000, 1999] {
        *workspace.clock.now.lock().unwrap() = UnixMillis(changed + after);
        workspace.check("a.c", "f 1 lines");
    }
    assert_eq!(
        (workspace.reads(), workspace.observer.counters().parses()),
        (3, 1)
    );
    *workspace.clock.now.lock().unwrap() = UnixMillis(changed + 10_000);
    workspace.check("a.c", "f 1 lines");
    workspace.check("a.c", "f 1 lines");
    assert_eq!(workspace.reads(), 4);
}

#[test]
fn file_from_the_future() {
    let mut workspace = Workspace::new();
    workspace.write("a.c", "f 1\n");
    *workspace.clock.now.lock().unwrap() = UnixMillis(0);
    for _ in 0..3 {
        workspace.check("a.c", "f 1 lines");
    }
    assert_eq!(workspace.reads(), 3);
}

/// The same size and a restored time hide nothing.
#[test]
fn same_size_and_time() {
    let mut workspace = Workspace::new();
    workspace.write("a.c", "f 1\n");
    workspace.check_change("a.c", Change::Seen, |workspace| {
        let modified = fs::metadata(workspace.at("a.c"))
            .unwrap()
            .modified()
            .unwrap();
        workspace.write_later("a.c", "f 2\n");
        let file = fs::File::options()
            .write(true)
            .open(workspace.at("a.c"))
            .unwrap();
        file.set_modified(modified).unwrap();
        let restored = fs::metadata(workspace.at("a.c"))
            .unwrap()
            .modified()
            .unwrap();
        assert_eq!(restored, modified);
    });
}

#[test]
fn renamed_over() {
    let mut workspace = Workspace::new();
    workspace.write("a.c", "f 1\n");
    workspace.check_change("a.c", Change::Seen, |workspace| {
        workspace.write("new", "f 2\n");
        fs::rename(workspace.at("new"), workspace.at("a.c")).unwrap();
    });
}

#[test]
fn truncated_file() {
    let mut workspace = Workspace::new();
    workspace.write("a.c", "f 1\ng 1\n");
    workspace.check_change("a.c", Change::Seen, |workspace| workspace.write("a.c", "f"));
    workspace.write("a.c", "");
    workspace.check("a.c", "0 lines");
}

/// Line endings, a byte order mark and a touch are no change.
#[test]
fn unseen_changes() {
    let mut workspace = Workspace::new();
    workspace.write("a.c", "f 1\ng 1\n");
    workspace.check_change("a.c", Change::Unseen, |workspace| {
        workspace.write_later("a.c", "f 1\r\ng 1\r\n");
    });
    workspace.check_change("a.c", Change::Unseen, |workspace| {
        workspace.write_later("a.c", "\u{feff}f 1\ng 1\n");
    });
    workspace.check_change("a.c", Change::Unseen, |workspace| {
        workspace.write_later("a.c", "\u{feff}f 1\ng 1\n");
    });
}

#[test]
fn gone_and_back() {
    let mut workspace = Workspace::new();
    workspace.check("a.c", "missing");
    workspace.check("no/such/folder/a.c", "missing");
    workspace.write("a.c", "f 1\n");
    workspace.check("a.c", "f 1 lines");
    workspace.check("a.c/b.c", "missing");
    fs::remove_file(workspace.at("a.c")).unwrap();
    workspace.check("a.c", "missing");
    workspace.write("a.c", "g 1\n");
    workspace.check("a.c", "g 1 lines");
}

#[test]
fn special_files() {
    let mut workspace = Workspace::new();
    fs::create_dir(workspace.at("dir.c")).unwrap();
    workspace.check("dir.c", "not_a_file");
    let status = std::process::Command::new("mkfifo")
        .arg(workspace.at("fifo.c"))
        .status();
    assert!(status.unwrap().success());
    workspace.check("fifo.c", "not_a_file");
    let _socket = std::os::unix::net::UnixListener::bind(workspace.at("socket.c")).unwrap();
    workspace.check("socket.c", "not_a_file");
    assert_eq!(workspace.reads(), 0);
}

#[test]
fn file_becomes_folder() {
    let mut workspace = Workspace::new();
    workspace.write("a.c", "f 1\n");
    workspace.check("a.c", "f 1 lines");
    fs::remove_file(workspace.at("a.c")).unwrap();
    fs::create_dir(workspace.at("a.c")).unwrap();
    workspace.check("a.c", "not_a_file");
}

/// A file that changes while it is read is read again and at last given up.
#[test]
fn changed_while_read() {
    let mut workspace = Workspace::new();
    workspace.write("a.c", "f 1\n");
    let path = workspace.at("a.c");
    *workspace.clock.changes.lock().unwrap() = vec![(path.clone(), "g 1\ng 2\n")];
    workspace.check("a.c", "g 1 lines");
    assert_eq!(workspace.reads(), 2);
    let contents = ["f 4444\n", "f 333\n", "f 22\n", "f 1\n"];
    workspace.write("a.c", "");
    *workspace.clock.changes.lock().unwrap() =
        contents.map(|content| (path.clone(), content)).into();
    workspace.check("a.c", "unsteady");
    assert_eq!(workspace.reads(), 6);
    workspace.check("a.c", "f 1 lines");
}

#[test]
fn inner_links() {
    let mut workspace = Workspace::new();
    fs::write(workspace.dir.path().join("outside.c"), "f 1\n").unwrap();
    fs::create_dir(workspace.at("sub")).unwrap();
    workspace.write("a.c", "f 1\n");
    symlink("../a.c", workspace.at("sub/inside.c")).unwrap();
    symlink("../outside.c", workspace.at("relative.c")).unwrap();
    symlink(
        workspace.dir.path().join("outside.c"),
        workspace.at("absolute.c"),
    )
    .unwrap();
    symlink("..", workspace.at("up")).unwrap();
    symlink("loop.c", workspace.at("loop.c")).unwrap();
    symlink("nothing", workspace.at("dangling.c")).unwrap();
    symlink("/proc/self/root", workspace.at("magic")).unwrap();
    workspace.check("sub/inside.c", "escapes_workspace");
    workspace.check("relative.c", "escapes_workspace");
    workspace.check("absolute.c", "escapes_workspace");
    workspace.check("up/outside.c", "escapes_workspace");
    workspace.check("magic/etc/passwd", "escapes_workspace");
    workspace.check("loop.c", "escapes_workspace");
    workspace.check("dangling.c", "escapes_workspace");
}

#[test]
fn link_to_elsewhere() {
    let mut workspace = Workspace::new();
    fs::write(workspace.dir.path().join("outside.c"), "f 1\n").unwrap();
    workspace.write("a.c", "f 1\n");
    workspace.check("a.c", "f 1 lines");
    fs::remove_file(workspace.at("a.c")).unwrap();
    symlink("../outside.c", workspace.at("a.c")).unwrap();
    workspace.check("a.c", "escapes_workspace");
}

/// What each path leads to: its place, what of the path is another name of it, and files that may be meant.
#[test]
fn places_of_paths() {
    let workspace = Workspace::new();
    let outside = workspace.dir.path().canonicalize().unwrap();
    fs::create_dir_all(workspace.at("src/deep")).unwrap();
    fs::create_dir(outside.join("other")).unwrap();
    workspace.write("src/a.c", "f 1\n");
    workspace.write("src/deep/b.c", "f 1\n");
    let root = workspace.at("").canonicalize().unwrap();
    symlink("src", workspace.at("lib")).unwrap();
    symlink("lib/a.c", workspace.at("again.c")).unwrap();
    symlink("../../other", workspace.at("src/out")).unwrap();
    symlink(&root, outside.join("link")).unwrap();
    fs::hard_link(workspace.at("src/a.c"), workspace.at("hard.c")).unwrap();
    let name = root.file_name().unwrap().to_str().unwrap();
    let twin = |_| Some(RelPath::from_normalised("src/a.c"));
    let check = |written: &str, expected: &str| {
        let written = written.replace("WS", name);
        let asked = match written.strip_prefix('/') {
            Some(_) => written,
            None => format!("{}/{written}", outside.display()),
        };
        let found = place::find(&root, &asked, twin).unwrap();
        let seen = found.seen.written.replace(outside.to_str().unwrap(), "");
        let seen = seen.replace(name, "WS");
        let mut shown = format!("{seen} {} {}", found.seen.place, found.seen.ours);
        for candidate in found.candidates {
            shown = format!("{shown} {candidate}?");
        }
        assert_eq!(shown, expected, "{asked}");
    };
    check("WS/src/deep/b.c", "/WS beneath ");
    check("WS/src/new.c", "/WS beneath ");
    check("WS/lib/deep/b.c", "/WS/lib beneath src");
    check("WS/lib/new.c", "/WS/lib beneath src");
    check("WS/again.c", "/WS/again.c beneath src/a.c");
    check("WS/hard.c", "/WS/hard.c beneath src/a.c");
    check("link/src/deep/b.c", "/link beneath ");
    check("WS/src/out/x.c", "/WS/src/out elsewhere ");
    check("other/x.c", "/other elsewhere ");
    check("other", "/other elsewhere ");
    check("other/src/deep/b.c", "/other/src nowhere  src/deep/b.c?");
    check("/nowhere/src/a.c", "/nowhere nowhere  src/a.c?");
    check("/nowhere/proj/x.c", "/nowhere nowhere ");
    check("WS/WS/src/a.c", "/WS/WS beneath  src/a.c?");
}

/// Root reads everything, so the rights are only tested where they bind.
#[test]
fn denied_file() {
    let mut workspace = Workspace::new();
    workspace.write("a.c", "f 1\n");
    fs::create_dir(workspace.at("closed")).unwrap();
    workspace.write("closed/b.c", "f 1\n");
    fs::set_permissions(workspace.at("a.c"), fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(workspace.at("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    let binding = fs::File::open(workspace.at("a.c")).is_err();
    if binding {
        workspace.check("a.c", "denied");
        workspace.check("closed/b.c", "denied");
    }
    fs::set_permissions(workspace.at("closed"), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(
        beneath::read_failure(rustix::io::Errno::ACCESS),
        ReadFailure::Denied
    );
}

/// A file over the limit is too large; one over the parser's bound is only hashed.
#[test]
fn sizes_over_limits() {
    let mut workspace = Workspace::new();
    workspace.write("limit.c", vec![b'\n'; 2 << 20]);
    workspace.check("limit.c", "0 no grammar");
    workspace.write("over.c", vec![b'\n'; (2 << 20) + 1]);
    workspace.check("over.c", "too_large");
    workspace.write("bound.c", vec![b'\n'; PARSE_BYTES_MAX]);
    workspace.check("bound.c", "0 lines");
}

#[test]
fn hashed_as_a_whole() {
    let mut workspace = Workspace::new();
    workspace.write("notes.txt", "f 1\n");
    workspace.check("notes.txt", "0 no grammar");
    workspace.write("image.c", b"f \xe9\x00\n");
    workspace.check("image.c", "0 no grammar");
}

#[test]
fn read_as_latin1() {
    let mut workspace = Workspace::new();
    workspace.write("latin1.c", b"f \xe9\n");
    workspace.check("latin1.c", "f 1 lines");
}

/// A text that was seen before the start is not parsed again.
#[test]
fn seen_before_start() {
    let parses = |change: &dyn Fn(&mut DiskFile), symbols: &[&str]| {
        let mut workspace = Workspace::new();
        workspace.write("a.c", "f 1\ng 2\n");
        let DiskFinding::File(mut last_seen) = workspace.find("a.c", &["f", "m"]) else {
            panic!("a file");
        };
        change(&mut last_seen);
        let mut parses = Vec::new();
        workspace.observer = workspace.new_observer();
        for _ in 0..2 {
            let check = DiskCheck {
                path: RelPath::from_normalised("a.c"),
                symbols: symbols.iter().map(|symbol| Symbol::new(symbol)).collect(),
                last_seen: Some(last_seen.clone()),
            };
            let found = workspace.observer.check(vec![check]).remove(0);
            assert_eq!(found, workspace.find("a.c", symbols));
            parses.push(workspace.observer.counters().parses());
        }
        parses
    };
    assert_eq!(parses(&|_| {}, &["f", "m"]), [0, 0]);
    assert_eq!(parses(&|_| {}, &["m"]), [0, 0]);
    assert_eq!(parses(&|_| {}, &["f", "g"]), [1, 1]);
    assert_eq!(
        parses(&|seen| seen.whole = SliceHash([0; 32]), &["f"]),
        [1, 1]
    );
    let other = |seen: &mut DiskFile| {
        let mut grammar = todays_grammar();
        grammar.version.push('0');
        seen.grammar = Some(grammar);
    };
    assert_eq!(parses(&other, &["f"]), [1, 1]);
}

#[test]
fn many_paths() {
    let mut workspace = Workspace::new();
    workspace.write("a.c", "f 1\n");
    let checks = ["none.c", "a.c", "none.c"].map(|path| DiskCheck {
        path: RelPath::from_normalised(path),
        symbols: Vec::new(),
        last_seen: None,
    });
    let findings = workspace.observer.check(checks.into());
    assert!(matches!(
        findings[..],
        [
            DiskFinding::Missing,
            DiskFinding::File(_),
            DiskFinding::Missing
        ]
    ));
    assert!(workspace.observer.check(Vec::new()).is_empty());
}

/// A workspace that vanishes is a failure, and a new one in its place is seen.
#[test]
fn workspace_replaced() {
    let mut workspace = Workspace::new();
    workspace.write("a.c", "f 1\n");
    workspace.check("a.c", "f 1 lines");
    fs::rename(workspace.at(""), workspace.dir.path().join("old")).unwrap();
    workspace.check("a.c", "failed");
    fs::create_dir(workspace.at("")).unwrap();
    workspace.check("a.c", "missing");
    workspace.write("a.c", "g 1\n");
    workspace.check("a.c", "g 1 lines");
}

/// A hanging file system delays nobody longer than the limit.
#[test]
fn hanging_file_system() {
    let mut workspace = Workspace::with(EtvConfig {
        read_bytes_max: 1 << 20,
        timeout: Duration::from_millis(20),
        ..EtvConfig::default()
    });
    workspace.write("a.c", "f 1\n");
    let mut gates = Vec::new();
    for stuck in 0..=STUCK_THREADS_MAX {
        assert_eq!(workspace.observer.stuck_threads(), stuck);
        if stuck < STUCK_THREADS_MAX {
            let (gate, closed) = mpsc::channel();
            *workspace.clock.gate.lock().unwrap() = Some(closed);
            gates.push(gate);
        }
        workspace.check("a.c", "timed_out");
    }
    assert_eq!(workspace.observer.counters().failures(), 5);
    drop(gates);
    while workspace.observer.stuck_threads() > 0 {
        std::thread::yield_now();
    }
    workspace.observer.timeout = Duration::from_secs(60);
    workspace.check("a.c", "f 1 lines");
    assert_eq!(workspace.observer.counters().failures(), 5);
}

/// What was answered before the file system hung counts.
#[test]
fn answered_before_hang() {
    let mut workspace = Workspace::with(EtvConfig {
        read_bytes_max: 1 << 20,
        timeout: Duration::from_secs(60),
        ..EtvConfig::default()
    });
    workspace.write("a.c", "f 1\n");
    workspace.write("b.c", "f 1\n");
    workspace.check("a.c", "f 1 lines");
    workspace.observer.timeout = Duration::from_millis(200);
    let (_gate, closed) = mpsc::channel();
    *workspace.clock.gate.lock().unwrap() = Some(closed);
    let checks = ["a.c", "b.c"].map(|path| DiskCheck {
        path: RelPath::from_normalised(path),
        symbols: Vec::new(),
        last_seen: None,
    });
    let findings = workspace.observer.check(checks.into());
    assert!(matches!(
        findings[..],
        [
            DiskFinding::File(_),
            DiskFinding::Unreadable(ReadFailure::TimedOut)
        ]
    ));
}

/// A parser that panics costs its file and nothing else.
#[test]
fn panicking_parser() {
    let mut workspace = Workspace::new();
    workspace.write("bad.c", "PANIC\n");
    workspace.write("a.c", "f 1\n");
    workspace.check("bad.c", "failed");
    workspace.check("a.c", "f 1 lines");
}

/// Without the kernel's help no link is followed.
#[test]
fn links_without_openat2() {
    let workspace = Workspace::new();
    fs::create_dir_all(workspace.at("sub/deep")).unwrap();
    workspace.write("sub/deep/a.c", "f 1\n");
    symlink("sub", workspace.at("folder")).unwrap();
    symlink("sub/deep/a.c", workspace.at("file.c")).unwrap();
    let root = WorkspaceRoot::open(&workspace.at("")).unwrap();
    let root = root.with_resolution(PathResolution::PartByPart);
    let check = |path: &str, expected: Result<bool, ReadFailure>| {
        let opened = root.open_file(&RelPath::from_normalised(path));
        assert_eq!(opened.map(|file| file.is_some()), expected, "{path}");
    };
    check("sub/deep/a.c", Ok(true));
    check("sub/deep/gone.c", Ok(false));
    check("sub/gone/a.c", Ok(false));
    check("sub/deep/a.c/x", Ok(false));
    check("sub/deep", Err(ReadFailure::NotAFile));
    check("folder/deep/a.c", Err(ReadFailure::Escapes));
    check("file.c", Err(ReadFailure::Escapes));
}
