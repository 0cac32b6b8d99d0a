//! Replay of a whole ledger (every event read, verified in the chain, validated and folded) beside reading and hashing the
//! same rows and nothing else, in one run. `cargo bench -p tslp-io --bench replay`.

use std::error::Error;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};
use tslp_core::event::Envelope;
use tslp_core::ids::{EpisodeId, Seq, SessionId, UnixMillis};
use tslp_io::out::Out;
use tslp_replay::chain::ChainHash;
use tslp_replay::fold::Replay;
use tslp_store::ledger::{DataFiles, OpenOptions, ReaderFactory};

mod fill;
mod turns;

/// Rounds in which both take turns.
const ROUNDS: usize = 5;

/// What replay may take, as a multiple of reading and hashing.
const RATIO_MAX: f64 = 1.25;

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo test --all-targets` runs this file, too; only `cargo bench` measures.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let mut out = Out::stdout();
    for (events, bytes) in [(400_000, 400), (60_000, 4096)] {
        measure(&mut out, events, bytes)?;
    }
    Ok(())
}

fn measure(out: &mut Out, events: u64, bytes_per_event: usize) -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let data_dir = dir.path().join("data");
    std::fs::create_dir(&data_dir)?;
    let filled = fill::fill(&data_dir, dir.path(), events, bytes_per_event)?;
    let files = DataFiles::of(&data_dir);
    let (mut bare, mut replay) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        bare.push(timed(|| read_and_hash(&files.database, filled.events))?);
        replay.push(timed(|| fold(&files, filled.events))?);
    }
    let (bare, replay) = (median(bare), median(replay));
    let ratio = replay.as_secs_f64() / bare.as_secs_f64();
    let rate = |time: Duration| filled.events as f64 / time.as_secs_f64() / 1e3;
    out.line(format_args!(
        "{} events of {} bytes on average, {:.0} MB, median of {ROUNDS} rounds",
        filled.events,
        filled.payload_bytes / filled.events,
        filled.payload_bytes as f64 / 1e6,
    ))?;
    out.line(format_args!(
        "  reading and hashing   {:7.0} ms  {:6.0} thousand events/s",
        bare.as_secs_f64() * 1e3,
        rate(bare)
    ))?;
    out.line(format_args!(
        "  replay                {:7.0} ms  {:6.0} thousand events/s",
        replay.as_secs_f64() * 1e3,
        rate(replay)
    ))?;
    let word = if ratio <= RATIO_MAX {
        "within target"
    } else {
        "OVER TARGET"
    };
    out.line(format_args!(
        "  ratio {ratio:.2}, at most {RATIO_MAX}: {word}"
    ))?;
    Ok(())
}

fn timed(work: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<Duration, Box<dyn Error>> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// The peer: every row read where SQLite holds it, every link of the chain made and compared.
fn read_and_hash(database: &Path, events: u64) -> Result<(), Box<dyn Error>> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut statement =
        connection.prepare("SELECT seq, at, episode, session, ends_step, kind, payload, chain FROM ledger ORDER BY seq")?;
    let mut rows = statement.query([])?;
    let mut chain = ChainHash::GENESIS;
    let mut seen = 0;
    while let Some(row) = rows.next()? {
        let seq = Seq(u64::try_from(row.get::<_, i64>(0)?)?);
        let envelope = Envelope {
            seq,
            at: UnixMillis(row.get(1)?),
            episode: EpisodeId(row.get::<_, i64>(2)?.cast_unsigned()),
            session: SessionId(row.get::<_, i64>(3)?.cast_unsigned()),
            ends_step: row.get(4)?,
        };
        let (kind, payload) = (row.get(5)?, row.get_ref(6)?.as_blob()?);
        chain = chain.extended(&envelope, kind, payload);
        if row.get_ref(7)?.as_blob()? != chain.0 {
            return Err("the chain is broken".into());
        }
        seen += 1;
    }
    check(seen, events)
}

fn fold(files: &DataFiles, events: u64) -> Result<(), Box<dyn Error>> {
    let reader = ReaderFactory::new(files, &OpenOptions::default()).open()?;
    let (mut replay, mut folded) = (Replay::default(), Ok(()));
    reader.read(Seq(1), &mut |stored| {
        folded = replay.step(&stored, tslp_migrations::decode);
        if stored.seq.0.is_multiple_of(1024) {
            replay.settle();
        }
        match folded {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    folded?;
    let state = black_box(replay.into_state());
    if !state.anomalies().is_empty() {
        return Err("the filled ledger contradicts itself".into());
    }
    check(state.head().0, events)
}

fn check(seen: u64, events: u64) -> Result<(), Box<dyn Error>> {
    if seen == events {
        return Ok(());
    }
    Err(format!("{seen} of {events} events were read").into())
}
