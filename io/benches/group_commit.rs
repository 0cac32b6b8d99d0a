//! Conversations that each wait until their prompt is durable: how many share a commit, and how long they wait.
//! `cargo bench -p tslp-io --bench group_commit`.

use std::error::Error;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use tslp_core::event::Recorded;
use tslp_core::ids::{Seq, UnixMillis};
use tslp_io::out::Out;
use tslp_projections::changes::RowsUpTo;
use tslp_projections::state::State;
use tslp_store::ledger::OpenOptions;
use tslp_store::ledger::writer::{self, Commit, WriterLimits};

#[path = "replay/turns.rs"]
mod turns;

/// Payload bytes of an event on average.
const BYTES_PER_EVENT: usize = 1024;

/// Prompts of one stream alone and of all 16 together.
const PROMPTS_ALONE: usize = 2_000;
const PROMPTS: usize = 20_000;

/// Commits that may wait for the writer, as in `tslp serve`.
const COMMIT_QUEUE: usize = 256;

/// Prompts that one commit should make durable when 16 conversations ask at once.
const PROMPTS_PER_COMMIT_MIN: f64 = 8.0;

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo test --all-targets` runs this file, too; only `cargo bench` measures.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let mut out = Out::stdout();
    out.line(
        "from handing a prompt's events to the writer until it may be answered, microseconds",
    )?;
    out.line(
        "streams  prompts/s  prompts/commit  checkpoints      p50      p99    p99.9      max",
    )?;
    let alone = measure(&mut out, 1, PROMPTS_ALONE)?;
    let many = measure(&mut out, 16, PROMPTS)?;
    out.line(format_args!(
        "16 streams make {:.1} x as many prompts durable as one",
        many.prompts_per_second / alone.prompts_per_second
    ))?;
    let word = if many.prompts_per_commit >= PROMPTS_PER_COMMIT_MIN {
        "within target"
    } else {
        "BELOW TARGET"
    };
    out.line(format_args!(
        "{:.1} prompts a commit, at least {PROMPTS_PER_COMMIT_MIN}: {word}",
        many.prompts_per_commit
    ))?;
    Ok(())
}

struct Measured {
    prompts_per_second: f64,
    prompts_per_commit: f64,
}

/// What the engine's thread does for all: numbers, folds and hands over in one order.
struct Engine {
    turns: turns::Turns,
    state: State,
    commits: Sender<Commit>,
}

impl Engine {
    /// Hands the next turn to the writer; gives the position that must be durable.
    fn ask(&mut self) -> Result<Seq, Box<dyn Error + Send + Sync>> {
        let mut commit = Commit::default();
        for event in self.turns.next() {
            let recorded = Recorded {
                envelope: self.turns.envelope(self.state.head().next(), UnixMillis(0)),
                event,
            };
            self.state.apply(&recorded);
            commit.recorded.push(recorded);
        }
        commit.rows = Some(RowsUpTo {
            seq: self.state.head(),
            changes: self.state.take_changes(),
        });
        self.commits.send(commit)?;
        Ok(self.state.head())
    }
}

fn measure(out: &mut Out, streams: usize, prompts: usize) -> Result<Measured, Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let data_dir = dir.path().join("data");
    std::fs::create_dir(&data_dir)?;
    let opened = OpenOptions::default().open(&data_dir, dir.path())?;
    let (commits, queue) = writer::commit_queue(COMMIT_QUEUE);
    let writer =
        writer::spawn_writer(opened.log, queue, WriterLimits::default(), Box::new(|_| {}))?;
    let (durable, figures) = (Arc::clone(writer.durable()), Arc::clone(writer.figures()));
    let mut state = State::default();
    state.follow_changes(true);
    let engine = Mutex::new(Engine {
        turns: turns::Turns::new(BYTES_PER_EVENT),
        state,
        commits,
    });
    let started = Instant::now();
    let converse = || -> Result<Vec<Duration>, Box<dyn Error + Send + Sync>> {
        let mut waits = Vec::new();
        for _ in 0..prompts / streams {
            let mut engine = engine.lock().unwrap_or_else(PoisonError::into_inner);
            let seq = engine.ask()?;
            drop(engine);
            let handed = Instant::now();
            durable.wait_for(seq)?;
            waits.push(handed.elapsed());
        }
        Ok(waits)
    };
    let mut waits = Vec::new();
    thread::scope(|scope| -> Result<(), Box<dyn Error>> {
        let asking: Vec<_> = (0..streams).map(|_| scope.spawn(converse)).collect();
        for stream in asking {
            let waited = stream.join().map_err(|_| "a conversation panicked")?;
            waits.extend(waited.map_err(|error| error.to_string())?);
        }
        Ok(())
    })?;
    let seconds = started.elapsed().as_secs_f64();
    drop(engine);
    writer.join()?;
    waits.sort_unstable();
    let at = |share: f64| {
        let last = waits.len() - 1;
        waits[((last as f64 * share) as usize).min(last)].as_secs_f64() * 1e6
    };
    let measured = Measured {
        prompts_per_second: waits.len() as f64 / seconds,
        prompts_per_commit: waits.len() as f64 / figures.commits.load(Relaxed) as f64,
    };
    out.line(format_args!(
        "{streams:>7}  {:>9.0}  {:>14.1}  {:>11}  {:>7.0}  {:>7.0}  {:>7.0}  {:>7.0}",
        measured.prompts_per_second,
        measured.prompts_per_commit,
        figures.checkpoints.load(Relaxed),
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0),
    ))?;
    Ok(measured)
}
