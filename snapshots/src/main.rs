//! `simulate`: runs the whole proxy under simulated storage, sockets, files and clocks, seed by seed.

use std::io::{self, Write};
use std::ops::Range;
use std::process::ExitCode;

use clap::Parser;
use tslp_snapshots::simulation::{Report, run};

/// Runs the whole proxy under simulated storage, sockets, files and clocks, and checks the law after each step.
#[derive(Parser)]
#[command(name = "simulate")]
struct Arguments {
    /// The seed that decides everything.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Steps of each seed.
    #[arg(long, default_value_t = 2000)]
    steps: u64,
    /// All seeds from A up to B, B not included, in place of one.
    #[arg(long, value_name = "A..B", value_parser = seeds)]
    seeds: Option<Range<u64>>,
    /// Goes on after a seed that fails.
    #[arg(long)]
    keep_going: bool,
    /// Says what happens in each step.
    #[arg(long)]
    trace: bool,
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let (from, to) = text.split_once("..").ok_or("must be like 0..1000")?;
    let number = |text: &str| text.parse::<u64>().map_err(|error| error.to_string());
    Ok(number(from)?..number(to)?)
}

fn main() -> io::Result<ExitCode> {
    let arguments = Arguments::parse();
    let seeds = arguments
        .seeds
        .unwrap_or(arguments.seed..arguments.seed + 1);
    let mut out = io::stdout().lock();
    let mut total = Report::default();
    let mut failed = 0_u64;
    for seed in seeds.clone() {
        let report = run(seed, arguments.steps, &mut |line| {
            if arguments.trace {
                // A reader that has gone away doesn't change the run.
                let _ = writeln!(out, "{line}");
            }
        });
        if let Some(failure) = &report.failure {
            writeln!(
                out,
                "seed {seed} fails at step {}: {}",
                failure.step, failure.what
            )?;
            writeln!(
                out,
                "replay: cargo run --release -p tslp-snapshots -- --seed {seed} --steps {} --trace",
                arguments.steps
            )?;
            failed += 1;
            if !arguments.keep_going {
                return Ok(ExitCode::FAILURE);
            }
        }
        total.add(&report);
        if (seed + 1 - seeds.start).is_multiple_of(1000) {
            writeln!(
                out,
                "{} seeds, {} steps",
                seed + 1 - seeds.start,
                total.steps
            )?;
        }
    }
    writeln!(out, "{} steps, trace {}", total.steps, total.trace)?;
    for (what, count) in &total.counters {
        writeln!(out, "{count:>10} {what}")?;
    }
    if failed > 0 {
        writeln!(out, "{failed} seeds failed")?;
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
