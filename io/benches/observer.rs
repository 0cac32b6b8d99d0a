//! What a check of unchanged files costs: through the observer, and bare, in one run. `cargo bench -p tslp-io`.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags};
use tslp_core::extract::{ExtractError, Extraction, Grammars, LanguageId};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::UnixMillis;
use tslp_core::path::RelPath;
use tslp_io::out::Out;
use tslp_replay::pending::DiskCheck;
use tslp_workspace::observer::EtvConfig;
use tslp_workspace::observer::{Observer, WallClock, WorkspaceObserver as _};

const FILES: usize = 20;
const ROUNDS: usize = 2001;

/// Reads nothing.
struct NoGrammar;

impl Grammars for NoGrammar {
    fn patterns(&self) -> ArtifactHash {
        ArtifactHash::of(b"")
    }

    fn language_of_path(&self, _: &RelPath) -> Option<LanguageId> {
        None
    }

    fn language_of_tag(&self, _: &str) -> Option<LanguageId> {
        None
    }

    fn extract(&self, _: LanguageId, _: &[u8]) -> Result<Extraction, ExtractError> {
        Err(ExtractError::Unparsable)
    }
}

/// So late that every file counts as settled.
struct Late;

impl WallClock for Late {
    fn now(&self) -> UnixMillis {
        UnixMillis(32_503_680_000_000)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo test --all-targets` runs this file, too; only `cargo bench` measures.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let dir = tempfile::tempdir()?;
    let names: Vec<String> = (0..FILES)
        .map(|n| format!("src/deep/er/file{n}.c"))
        .collect();
    std::fs::create_dir_all(dir.path().join("src/deep/er"))?;
    for name in &names {
        std::fs::write(dir.path().join(name), "int x;\n".repeat(1000))?;
    }
    let root = rustix::fs::open(dir.path(), OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let mut observer = Observer::new(
        dir.path(),
        EtvConfig::default(),
        Arc::new(NoGrammar),
        Arc::new(Late),
    );
    let checks: Vec<DiskCheck> = names
        .iter()
        .map(|name| DiskCheck {
            path: RelPath::from_normalised(name),
            symbols: Vec::new(),
            last_seen: None,
        })
        .collect();

    let stat = median(|| {
        for name in &names {
            let _ = rustix::fs::statat(&root, name.as_str(), AtFlags::empty());
        }
    });
    let beneath = median(|| {
        for name in &names {
            let opened = rustix::fs::openat2(
                &root,
                name.as_str(),
                OFlags::PATH | OFlags::CLOEXEC,
                Mode::empty(),
                ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS,
            );
            let _ = opened.map(rustix::fs::fstat);
        }
    });
    let read = median(|| {
        for name in &names {
            let _ = std::fs::read(dir.path().join(name));
        }
    });
    let through = median(|| {
        observer.check(checks.clone());
    });
    let one = median(|| {
        observer.check(checks[..1].to_vec());
    });

    let mut out = Out::stdout();
    out.line(format_args!(
        "{FILES} unchanged files of 7 KB, median of {ROUNDS} rounds"
    ))?;
    let mut row = |name: &str, time: Duration| {
        let micros = time.as_secs_f64() * 1e6;
        let ratio = time.as_secs_f64() / stat.as_secs_f64();
        out.line(format_args!("{name:34} {micros:8.1} µs  {ratio:5.2} x"))
    };
    row("bare fstatat", stat)?;
    row("bare openat2 beneath, fstat, close", beneath)?;
    row("bare read", read)?;
    row("observer, with its thread", through)?;
    row("observer, one file", one)?;
    Ok(())
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}
