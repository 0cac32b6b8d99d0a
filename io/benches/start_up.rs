//! How long `tslp serve` takes from its start to its `listening on` line: from the tables, and from the first event.
//! `cargo bench -p tslp-io --bench start_up [-- EVENTS]`; `TSLP_BENCH_LEDGERS=DIR` keeps the ledger for the next run.

#[path = "rebuild/fill.rs"]
mod fill;

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tslp_io::out::Out;

use fill::Truth;

/// Events of the ledger.
const EVENTS: u64 = 1_000_000;

/// Starts of each kind; the median counts.
const ROUNDS: usize = 7;

/// What is true at its end.
const TRUTH: Truth = Truth {
    files: 40,
    functions: 50,
};

/// The target.
const TARGET: Duration = Duration::from_millis(200);

/// One start.
#[derive(Clone, Copy)]
struct Start {
    time: Duration,
    /// When it listens.
    rss_mib: f64,
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
    let place = dir.join(events.to_string());
    let (workspace, data) = (place.join("workspace"), place.join("data"));
    fs::create_dir_all(&workspace)?;
    let mut out = Out::stdout();
    let filled = fill::fill(&data, &workspace, TRUTH, events)?;
    out.line(format_args!(
        "{} events, {} artifacts, {} MB",
        filled.events,
        filled.artifacts,
        fs::metadata(data.join("ledger.db"))?.len() / 1_000_000,
    ))?;
    // Whatever filled the ledger, the program that is measured has folded its tables.
    start(&workspace, &data)?.1.kill()?;
    let ledger = data.join("ledger.db");
    let genesis = median(&workspace, &data, 3, || {
        let distrusted = rusqlite::Connection::open(&ledger)
            .and_then(|shell| shell.execute_batch("DELETE FROM meta WHERE key = 'applied_seq'"));
        distrusted.map_err(std::io::Error::other)
    })?;
    let from_tables = median(&workspace, &data, ROUNDS, || Ok(()))?;
    let cases = [
        ("from the tables", from_tables),
        ("from the first event", genesis),
    ];
    for (name, start) in cases {
        out.line(format_args!(
            "{name:24} {:8.1} ms, RSS {:6.1} MiB, {:6.1} times as fast as from the first event",
            start.time.as_secs_f64() * 1000.0,
            start.rss_mib,
            genesis.time.as_secs_f64() / start.time.as_secs_f64()
        ))?;
    }
    let verdict = match from_tables.time <= TARGET {
        true => "within target",
        false => "OVER TARGET",
    };
    out.line(format_args!(
        "start from the tables: {:.1} ms, target {} ms: {verdict}",
        from_tables.time.as_secs_f64() * 1000.0,
        TARGET.as_millis()
    ))?;
    Ok(())
}

fn median(
    workspace: &Path,
    data: &Path,
    rounds: usize,
    prepare: impl Fn() -> std::io::Result<()>,
) -> Result<Start, Box<dyn Error>> {
    let mut starts = Vec::new();
    for _ in 0..rounds {
        prepare()?;
        let (begun, mut child) = start(workspace, data)?;
        child.kill()?;
        child.wait()?;
        starts.push(begun);
    }
    starts.sort_by_key(|start| start.time);
    Ok(starts[starts.len() / 2])
}

/// Starts the proxy and waits until it listens.
fn start(workspace: &Path, data: &Path) -> Result<(Start, Child), Box<dyn Error>> {
    let begun = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_tslp"))
        .args(["serve", "--listen", "127.0.0.1:0", "--upstream", "demo"])
        .arg("--workspace")
        .arg(workspace)
        .arg("--data-dir")
        .arg(data)
        .env_clear()
        .env("TSLP_LOG", "warn")
        .stdout(Stdio::piped())
        .spawn()?;
    let stdout = child.stdout.take().ok_or("no output")?;
    let mut lines = BufReader::new(stdout);
    let mut line = String::new();
    lines.read_line(&mut line)?;
    let time = begun.elapsed();
    if !line.starts_with("listening on") {
        let mut rest = String::new();
        lines.read_to_string(&mut rest)?;
        return Err(format!("it says {line}{rest}").into());
    }
    let rss_mib = rss_mib(child.id())?;
    Ok((Start { time, rss_mib }, child))
}

fn rss_mib(pid: u32) -> Result<f64, Box<dyn Error>> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(kib.ok_or("the system doesn't tell")?.parse::<f64>()? / 1024.0)
}
