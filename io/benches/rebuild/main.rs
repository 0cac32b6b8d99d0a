//! `tslp rebuild` and `tslp verify` on ledgers of different lengths with the same truth: memory must not grow with history.
//! And what it costs to ask the archives, instead of memory.
//! `cargo bench -p tslp-io --bench rebuild [-- EVENTS]`; `TSLP_BENCH_LEDGERS=DIR` keeps the ledgers for the next run.

mod fill;

use std::error::Error;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tslp_core::hash::ArtifactHash;
use tslp_io::out::Out;
use tslp_projections::store::Store as _;
use tslp_projections::vault::VaultLocation;
use tslp_store::content_cache::ContentCache;
use tslp_store::ledger::{DataFiles, OpenOptions, ReaderFactory};

use fill::Truth;

/// Events of the longest ledger.
const EVENTS: u64 = 1_100_000;

/// What is true at the end of each ledger.
const TRUTH: Truth = Truth {
    files: 40,
    functions: 50,
};

/// Artifacts to ask for.
const LOOK_UPS: usize = 20_000;

/// The target.
const RSS_MIB_MAX: f64 = 64.0;

/// One run of the program.
struct Run {
    time: Duration,
    rss_mib: f64,
    printed: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo test --all-targets` runs this file, too; only `cargo bench` measures.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let events = std::env::args().skip(1).find_map(|it| it.parse().ok());
    let events = events.unwrap_or(EVENTS);
    let temporary = tempfile::tempdir()?;
    let kept = std::env::var_os("TSLP_BENCH_LEDGERS").map(PathBuf::from);
    let dir = kept.unwrap_or_else(|| temporary.path().to_owned());
    let mut out = Out::stdout();
    let mut most = 0.0_f64;
    for events in [events / 10, events] {
        let place = dir.join(events.to_string());
        let (workspace, data) = (place.join("workspace"), place.join("data"));
        fs::create_dir_all(&workspace)?;
        let begun = Instant::now();
        let filled = fill::fill(&data, &workspace, TRUTH, events)?;
        let bytes = fs::metadata(data.join("ledger.db"))?.len();
        out.line(format_args!(
            "{} events, {} artifacts, {} MB; filled in {:.1} s",
            filled.events,
            filled.artifacts,
            bytes / 1_000_000,
            begun.elapsed().as_secs_f64()
        ))?;
        let (known, unknown) = look_ups(&data)?;
        out.line(format_args!(
            "asking the vault for what it has {known:.1} µs, for what it hasn't {unknown:.1} µs"
        ))?;
        for command in ["rebuild", "verify"] {
            let run = run(command, &workspace, &data)?;
            most = most.max(run.rss_mib);
            out.line(format_args!(
                "tslp {command:8} {:6.2} s, peak RSS {:5.1} MiB",
                run.time.as_secs_f64(),
                run.rss_mib
            ))?;
            if command == "rebuild" {
                out.line(run.printed.trim_end())?;
            }
        }
    }
    let verdict = match most <= RSS_MIB_MAX {
        true => "within target",
        false => "OVER TARGET",
    };
    out.line(format_args!(
        "peak RSS {most:.1} MiB, at most {RSS_MIB_MAX}: {verdict}"
    ))?;
    Ok(())
}

/// Microseconds for one location that is there, in no order, and for one that isn't.
fn look_ups(data: &Path) -> Result<(f64, f64), Box<dyn Error>> {
    let readers = ReaderFactory::new(&DataFiles::of(data), &OpenOptions::default());
    let mut hashes = Vec::new();
    readers.open()?.visit_rows(&mut |row: VaultLocation| {
        hashes.push(row.hash);
        ControlFlow::Continue(())
    })?;
    // So far apart that the store has none of them at hand.
    let known = (0..LOOK_UPS).map(|at| hashes[at * 7919 % hashes.len()]);
    let unknown = (0..LOOK_UPS as u64).map(|at| ArtifactHash::of(&at.to_le_bytes()));
    let ask = |asked: Vec<ArtifactHash>, there: bool| -> Result<f64, Box<dyn Error>> {
        let store = ContentCache::new(readers.open()?);
        let begun = Instant::now();
        for hash in asked {
            if store.location(hash).map(|found| found.is_some()) != Ok(there) {
                return Err(format!("{hash}: not as expected").into());
            }
        }
        Ok(begun.elapsed().as_secs_f64() * 1e6 / LOOK_UPS as f64)
    };
    Ok((ask(known.collect(), true)?, ask(unknown.collect(), false)?))
}

/// Runs the program and watches the high-water mark of its memory.
fn run(command: &str, workspace: &Path, data: &Path) -> Result<Run, Box<dyn Error>> {
    let program = std::env::var("TSLP_BENCH_PROGRAM");
    let program = program.unwrap_or_else(|_| env!("CARGO_BIN_EXE_tslp").to_owned());
    let begun = Instant::now();
    let mut child = Command::new(program)
        .args([command, "--log-level", "error", "--workspace"])
        .arg(workspace)
        .arg("--data-dir")
        .arg(data)
        .stdout(Stdio::piped())
        .spawn()?;
    let mut rss_kib = 0;
    while child.try_wait()?.is_none() {
        rss_kib = rss_kib.max(high_water_kib(child.id()));
        thread::sleep(Duration::from_millis(5));
    }
    let time = begun.elapsed();
    let output = child.wait_with_output()?;
    let printed = String::from_utf8(output.stdout)?;
    if !output.status.success() {
        return Err(format!("tslp {command} failed: {printed}").into());
    }
    Ok(Run {
        time,
        rss_mib: f64::from(rss_kib) / 1024.0,
        printed,
    })
}

/// `VmHWM` never falls, so the last look before the end tells nearly all.
fn high_water_kib(pid: u32) -> u32 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or(0)
}
