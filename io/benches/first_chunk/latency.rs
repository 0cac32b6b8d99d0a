//! First-chunk latency through the proxy beside direct, in interleaved rounds of one run.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use crate::Effort;
use crate::client::Client;
use crate::corpus;
use crate::proxy::Proxy;
use crate::report::{Report, Times};
use crate::upstream::Upstream;

const KIB: usize = 1024;
const PROMPTS: [usize; 4] = [2 * KIB, 4 * KIB, 32 * KIB, 512 * KIB];
const THINKING: Duration = Duration::from_millis(20);
const CHUNKS: u64 = 8;
const CHUNK_BYTES: usize = 24;

/// Files that a person works in at one time: mentions stay within them.
const WORKING_SET: usize = 4;

/// Rounds before the first that counts.
const UNCOUNTED: usize = 5;

/// One row of the table.
struct Cell {
    prompt: usize,
    delay: Duration,
    connections: usize,
    mentions: Mentions,
}

/// What the prompts name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mentions {
    /// Functions of a few files.
    Near,
    /// Functions anywhere in the State Map.
    Anywhere,
}

/// Times of one cell, both ways.
#[derive(Default)]
struct Pair {
    direct: Times,
    via: Times,
}

/// The figures that everything is measured on.
pub(crate) struct Setting<'a> {
    pub(crate) upstream: &'a Upstream,
    pub(crate) proxy: &'a Proxy,
    pub(crate) files: usize,
    pub(crate) effort: Effort,
    /// Only prompts of so many KB.
    pub(crate) prompt: Option<usize>,
}

/// Prints what precedes all tables.
pub(crate) fn headline(report: &mut Report) -> Result<(), Box<dyn Error>> {
    report.line("")?;
    report.line("first chunk: from the last request byte sent to the first data chunk received; microseconds")?;
    report.line(format_args!(
        "{:>9} {:>7} {:>6} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>6}",
        "entities",
        "prompt",
        "delay",
        "conns",
        "dir p50",
        "dir p99",
        "via p50",
        "via p99",
        "add p50",
        "add p99",
        "ratio"
    ))?;
    Ok(())
}

/// Measures one State Map.
pub(crate) fn measure(report: &mut Report, setting: &Setting<'_>) -> Result<(), Box<dyn Error>> {
    let mut turns = 0;
    for cell in cells(setting) {
        let rounds = rounds(setting.effort, &cell);
        let pair = match cell.connections {
            1 => sequential(setting, &cell, rounds, &mut turns)?,
            _ => concurrent(setting, &cell, rounds, &mut turns)?,
        };
        row(report, setting, &cell, &pair)?;
    }
    Ok(())
}

fn cells(setting: &Setting<'_>) -> Vec<Cell> {
    let mut cells = Vec::new();
    let cell = |prompt, delay, connections| Cell {
        prompt,
        delay,
        connections,
        mentions: Mentions::Near,
    };
    for prompt in PROMPTS {
        if setting.prompt.is_some_and(|kib| kib * KIB != prompt) {
            continue;
        }
        cells.push(cell(prompt, Duration::ZERO, 1));
        cells.push(cell(prompt, THINKING, 1));
        if setting.effort == Effort::Quick && prompt != 4 * KIB {
            continue;
        }
        cells.push(cell(prompt, THINKING, 16));
        cells.push(cell(prompt, THINKING, 64));
    }
    if setting.files > WORKING_SET && setting.prompt.is_none_or(|kib| kib == 4) {
        cells.push(Cell {
            mentions: Mentions::Anywhere,
            ..cell(4 * KIB, THINKING, 1)
        });
    }
    cells
}

fn rounds(effort: Effort, cell: &Cell) -> usize {
    let whole = match (cell.connections, cell.delay.is_zero()) {
        (1, true) => 300,
        (1, false) => 120,
        _ => 4,
    };
    let whole = if cell.prompt >= 512 * KIB {
        (whole / 2).max(2)
    } else {
        whole
    };
    match effort {
        Effort::Quick => (whole / 3).max(2),
        Effort::Full => whole,
    }
}

/// Requests of one connection in one round.
const BURST: usize = 5;

fn sequential(
    setting: &Setting<'_>,
    cell: &Cell,
    rounds: usize,
    turns: &mut usize,
) -> Result<Pair, Box<dyn Error>> {
    setting
        .upstream
        .play(cell.delay, CHUNKS, Duration::ZERO, CHUNK_BYTES);
    let mut direct = Client::connect(setting.upstream.address)?;
    let mut via = setting.proxy.client()?;
    let mut pair = Pair::default();
    for round in 0..rounds + UNCOUNTED {
        let body = request(setting, cell, turns);
        let (first, second) = if round % 2 == 0 {
            let first = direct.chat(&body)?;
            (first, via.chat(&body)?)
        } else {
            let second = via.chat(&body)?;
            (direct.chat(&body)?, second)
        };
        if round >= UNCOUNTED {
            pair.direct.push(first);
            pair.via.push(second);
        }
    }
    Ok(pair)
}

/// All connections ask again and again; direct and through the proxy take turns.
fn concurrent(
    setting: &Setting<'_>,
    cell: &Cell,
    rounds: usize,
    turns: &mut usize,
) -> Result<Pair, Box<dyn Error>> {
    setting
        .upstream
        .play(cell.delay, CHUNKS, Duration::ZERO, CHUNK_BYTES);
    let bodies: Vec<Vec<Vec<String>>> = (0..cell.connections)
        .map(|_| {
            (0..=rounds)
                .map(|_| (0..BURST).map(|_| request(setting, cell, turns)).collect())
                .collect()
        })
        .collect();
    let barrier = Barrier::new(cell.connections);
    let run = |at: usize, bodies: &[Vec<String>]| -> std::io::Result<Pair> {
        let addresses: [SocketAddr; 2] = [setting.upstream.address, setting.proxy.address];
        let mut clients = [
            Client::connect(addresses[0])?,
            Client::connect(addresses[1])?,
        ];
        let mut pair = Pair::default();
        let spread = cell.delay.mul_f64(at as f64 / cell.connections as f64);
        for (round, bodies) in bodies.iter().enumerate() {
            for (way, client) in clients.iter_mut().enumerate() {
                barrier.wait();
                thread::sleep(spread);
                for body in bodies {
                    let time = client.chat(body)?;
                    match (round, way) {
                        (0, _) => {}
                        (_, 0) => pair.direct.push(time),
                        _ => pair.via.push(time),
                    }
                }
            }
        }
        Ok(pair)
    };
    thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = bodies
            .iter()
            .enumerate()
            .map(|(at, bodies)| scope.spawn(move || run(at, bodies)))
            .collect();
        let mut all = Pair::default();
        for thread in threads {
            let pair = thread.join().map_err(|_| "a client panicked")??;
            all.direct.extend(pair.direct);
            all.via.extend(pair.via);
        }
        Ok(all)
    })
}

fn request(setting: &Setting<'_>, cell: &Cell, turns: &mut usize) -> String {
    *turns += 1;
    let turn = *turns;
    let files = match cell.mentions {
        Mentions::Near => setting.files.clamp(1, WORKING_SET),
        Mentions::Anywhere => setting.files.max(1),
    };
    let name = |at: usize| {
        let step = turn * 7919 + at * 104_729;
        corpus::function(step % files, step / files % corpus::FUNCTIONS_PER_FILE)
    };
    let mentions = [
        name(0),
        name(1),
        format!(
            "{}::{}",
            corpus::path(turn % files),
            corpus::function(turn % files, turn % 997)
        ),
    ];
    corpus::chat(cell.prompt, turn, &mentions)
}

fn row(
    report: &mut Report,
    setting: &Setting<'_>,
    cell: &Cell,
    pair: &Pair,
) -> Result<(), Box<dyn Error>> {
    let [direct50, direct99] = [0.5, 0.99].map(|share| pair.direct.micros(share));
    let [via50, via99] = [0.5, 0.99].map(|share| pair.via.micros(share));
    let entities = setting.files * corpus::FUNCTIONS_PER_FILE;
    report.line(format_args!(
        "{entities:>9} {:>4} KB {:>3} ms {:>6} {direct50:>9.0} {direct99:>9.0} {via50:>9.0} {via99:>9.0} {:>9.0} {:>9.0} {:>6.2}{}",
        cell.prompt / KIB,
        cell.delay.as_millis(),
        cell.connections,
        via50 - direct50,
        via99 - direct99,
        via50 / direct50,
        match cell.mentions {
            Mentions::Near => "",
            Mentions::Anywhere => "  mentions anywhere",
        }
    ))?;
    let is_target = setting.files == 10
        && cell.connections == 1
        && cell.delay == THINKING
        && cell.mentions == Mentions::Near;
    let target = match cell.prompt / KIB {
        4 => Some(0.3),
        32 => Some(1.0),
        _ => None,
    };
    if let (true, Some(target)) = (is_target, target) {
        let name = format!(
            "added to the first chunk, {} KB, {entities} entities",
            cell.prompt / KIB
        );
        report.verdict(
            &format!("{name}, p50"),
            (via50 - direct50) / 1e3,
            target,
            "ms",
        );
        report.verdict(&format!("{name}, p99"), (via99 - direct99) / 1e3, 3.0, "ms");
    }
    Ok(())
}
