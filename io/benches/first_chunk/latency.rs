//! First-chunk latency through the proxy beside direct, in interleaved rounds of one run.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use crate::Effort;
use crate::client::Client;
use crate::corpus;
use crate::proxy;
use crate::report::{Report, Times};
use crate::upstream::Upstream;

const KIB: usize = 1024;
const PROMPTS: [usize; 4] = [2 * KIB, 4 * KIB, 32 * KIB, 512 * KIB];
const THINKING: Duration = Duration::from_millis(20);
const CHUNKS: u64 = 4;
/// Between two chunks, as models speak: the first one travels alone.
const PAUSE: Duration = Duration::from_millis(1);
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

/// Times of one cell, on each way.
type Ways = Vec<Times>;

/// A way to the model server.
pub(crate) struct Way {
    pub(crate) name: &'static str,
    pub(crate) address: SocketAddr,
    /// The process whose processor time is told.
    pub(crate) process: Option<u32>,
}

/// The figures that everything is measured on.
pub(crate) struct Setting<'a> {
    pub(crate) upstream: &'a Upstream,
    /// Directly first, through the `tslp` that is measured last.
    pub(crate) ways: Vec<Way>,
    pub(crate) files: usize,
    pub(crate) effort: Effort,
    /// Only prompts of so many KB.
    pub(crate) prompt: Option<usize>,
}

/// Prints what precedes all tables.
pub(crate) fn headline(report: &mut Report) -> Result<(), Box<dyn Error>> {
    report.line("")?;
    report.line("first chunk: from the last request byte sent to the first data chunk received, microseconds;")?;
    report.line(
        "what each way adds to the direct one's p50 and p99, and processor milliseconds a prompt",
    )?;
    report.line(format_args!(
        "{:>8} {:>7} {:>5} {:>5}",
        "entities", "prompt", "delay", "conns"
    ))?;
    Ok(())
}

/// Measures one State Map.
pub(crate) fn measure(report: &mut Report, setting: &Setting<'_>) -> Result<(), Box<dyn Error>> {
    let mut turns = 0;
    for cell in cells(setting) {
        let rounds = rounds(setting.effort, &cell);
        let before = processor_times(setting)?;
        let (ways, prompts) = match cell.connections {
            1 => {
                let ways = sequential(setting, &cell, rounds, &mut turns)?;
                (ways, rounds + UNCOUNTED)
            }
            connections => {
                let ways = concurrent(setting, &cell, rounds, &mut turns)?;
                (ways, connections * (rounds + 1) * BURST)
            }
        };
        // What is done behind the last reply belongs to it.
        thread::sleep(Duration::from_millis(200));
        let after = processor_times(setting)?;
        let taken = before.iter().zip(after).map(|(before, after)| {
            Some((after? - (*before)?).as_secs_f64() * 1e3 / prompts as f64)
        });
        row(report, setting, &cell, &ways, &taken.collect::<Vec<_>>())?;
    }
    Ok(())
}

fn processor_times(setting: &Setting<'_>) -> std::io::Result<Vec<Option<Duration>>> {
    let ways = setting.ways.iter();
    ways.map(|way| way.process.map(proxy::processor_time).transpose())
        .collect()
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
        (1, true) => 200,
        (1, false) => 80,
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
) -> Result<Ways, Box<dyn Error>> {
    setting
        .upstream
        .play(cell.delay, CHUNKS, PAUSE, CHUNK_BYTES);
    let mut clients = connect(setting)?;
    let mut ways = vec![Times::default(); setting.ways.len()];
    for round in 0..rounds + UNCOUNTED {
        let body = request(setting, cell, turns);
        for step in 0..ways.len() {
            let way = (round + step) % ways.len();
            let time = clients[way].chat(&body)?;
            if round >= UNCOUNTED {
                ways[way].push(time);
            }
        }
    }
    Ok(ways)
}

fn connect(setting: &Setting<'_>) -> std::io::Result<Vec<Client>> {
    let ways = setting.ways.iter();
    ways.map(|way| Client::connect(way.address)).collect()
}

/// All connections ask again and again; the ways take turns.
fn concurrent(
    setting: &Setting<'_>,
    cell: &Cell,
    rounds: usize,
    turns: &mut usize,
) -> Result<Ways, Box<dyn Error>> {
    setting
        .upstream
        .play(cell.delay, CHUNKS, PAUSE, CHUNK_BYTES);
    let bodies: Vec<Vec<Vec<String>>> = (0..cell.connections)
        .map(|_| {
            (0..=rounds)
                .map(|_| (0..BURST).map(|_| request(setting, cell, turns)).collect())
                .collect()
        })
        .collect();
    let barrier = Barrier::new(cell.connections);
    let run = |at: usize, bodies: &[Vec<String>]| -> std::io::Result<Ways> {
        let mut clients = connect(setting)?;
        let mut ways = vec![Times::default(); setting.ways.len()];
        let spread = cell.delay.mul_f64(at as f64 / cell.connections as f64);
        for (round, bodies) in bodies.iter().enumerate() {
            for (way, client) in clients.iter_mut().enumerate() {
                barrier.wait();
                thread::sleep(spread);
                for body in bodies {
                    let time = client.chat(body)?;
                    if round > 0 {
                        ways[way].push(time);
                    }
                }
            }
        }
        Ok(ways)
    };
    thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = bodies
            .iter()
            .enumerate()
            .map(|(at, bodies)| scope.spawn(move || run(at, bodies)))
            .collect();
        let mut all = vec![Times::default(); setting.ways.len()];
        for thread in threads {
            let ways = thread.join().map_err(|_| "a client panicked")??;
            for (all, way) in all.iter_mut().zip(ways) {
                all.extend(way);
            }
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
    ways: &[Times],
    taken: &[Option<f64>],
) -> Result<(), Box<dyn Error>> {
    let direct = [0.5, 0.99].map(|share| ways[0].micros(share));
    let entities = setting.files * corpus::FUNCTIONS_PER_FILE;
    let mut line = format!(
        "{entities:>8} {:>4} KB {:>2} ms {:>5}  direct {:.0} {:.0}",
        cell.prompt / KIB,
        cell.delay.as_millis(),
        cell.connections,
        direct[0],
        direct[1]
    );
    for ((way, times), taken) in setting.ways.iter().zip(ways).zip(taken).skip(1) {
        let [p50, p99] = [(0.5, 0), (0.99, 1)].map(|(share, at)| times.micros(share) - direct[at]);
        let taken = taken.map_or_else(String::new, |taken| format!(" {taken:.2} ms"));
        line.push_str(&format!("  {} {p50:+.0} {p99:+.0}{taken}", way.name));
    }
    if cell.mentions == Mentions::Anywhere {
        line.push_str("  mentions anywhere");
    }
    report.line(line)?;
    let through = ways.last().ok_or("no way")?;
    let [added50, added99] =
        [(0.5, 0), (0.99, 1)].map(|(share, at)| through.micros(share) - direct[at]);
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
        report.verdict(&format!("{name}, p50"), added50 / 1e3, target, "ms");
        report.verdict(&format!("{name}, p99"), added99 / 1e3, 3.0, "ms");
    }
    Ok(())
}
