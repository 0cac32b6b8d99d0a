//! What the proxy adds to an agent's prompts, which carry the whole conversation with every step.
//! `cargo bench -p tslp-io --bench agent_history -- --help`.

#[allow(
    dead_code,
    reason = "the other benchmark uses the rest of what both share"
)]
#[path = "../first_chunk/client.rs"]
mod client;
mod conversation;
mod nginx;
mod proxy;
#[path = "../first_chunk/relay.rs"]
mod relay;
#[allow(
    dead_code,
    reason = "the other benchmark uses the rest of what both share"
)]
#[path = "../first_chunk/report.rs"]
mod report;
#[path = "../first_chunk/upstream.rs"]
mod upstream;

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use client::Client;
use conversation::{Conversation, Project};
use nginx::Nginx;
use proxy::{Memory, Proxy};
use report::{Report, Times, mb};
use upstream::Upstream;

const HELP: &str = "\
Measures the real tslp with an agent's conversation that reads a C file with every step, against the same requests
direct, through a bare byte relay and, where it is installed, through nginx, all on loopback, in one run.

usage: cargo bench -p tslp-io --bench agent_history [-- WORD...]

  quick      no conversation of 4 MB, fewer steps
  FOLDER     real C files to read; without it the sources in cargo's registry are used

Nothing fails because of a figure. TSLP_BENCH_PROGRAM names another tslp to measure.";

/// How large the conversation is when it is measured, in KB, and the target of what a step adds, in milliseconds.
const SIZES: [(usize, f64); 3] = [(300, 2.0), (1_240, 5.0), (4_000, 15.0)];

/// Most microseconds added for each KB of a history that didn't change.
const MICROS_PER_KB_MAX: f64 = 3.0;

/// Steps measured at each size.
const STEPS: usize = 60;
/// Of these steps one in so many brings a new file of 30 KB.
const NEW_FILE_EVERY: usize = 6;
const NEW_FILE_BYTES: usize = 30 << 10;
const UNCOUNTED: usize = 4;

/// How long the model thinks before its first word, and pauses between words.
const THINKING: Duration = Duration::from_millis(5);
const PAUSE: Duration = Duration::from_millis(1);

/// Memory allowed for the conversation of 1.2 MB.
const RSS_MB_MAX: f64 = 40.0;

/// What a step takes on each way: direct, a bare relay, tslp, nginx.
type Ways = [Times; 4];

const TSLP: usize = 2;

/// Times of one size's steps.
#[derive(Default)]
struct Measured {
    /// How long the conversation was, in KB, at the middle of the steps.
    kb: f64,
    /// How many messages it had then.
    messages: usize,
    /// Steps that add some words to the history.
    small: Ways,
    /// Steps that bring a file which the model has not seen.
    new_file: Ways,
    /// A second client's prompts of 4 KB through tslp, while the agent is silent, and while it works.
    beside: [Times; 2],
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments
        .iter()
        .any(|word| word == "--help" || word == "-h")
    {
        tslp_io::out::Out::stdout().line(HELP)?;
        return Ok(());
    }
    // `cargo test --all-targets` runs this file, too; only `cargo bench` measures.
    if !arguments.iter().any(|word| word == "--bench") {
        return Ok(());
    }
    let is_quick = arguments.iter().any(|word| word == "quick");
    let folder = arguments
        .iter()
        .find(|word| !word.starts_with('-') && *word != "quick");
    let dir = tempfile::tempdir()?;
    let project = Project::collect(folder.map(PathBuf::from), dir.path())?;
    let mut report = Report::new();
    report.line(format_args!(
        "{} C files, {} entities known, {} of the files changed since the conversation read them",
        project.files.len(),
        project.entities,
        project.outdated_files,
    ))?;
    let upstream = Upstream::start()?;
    upstream.play(THINKING, 4, PAUSE, 24);
    let proxy = Proxy::start(&project.workspace, &project.data_dir, upstream.address)?;
    let nginx = Nginx::start(dir.path(), upstream.address)?;
    if nginx.is_none() {
        report.line("nginx isn't installed: its column stays empty")?;
    }
    let ways = [
        Some(upstream.address),
        Some(relay::start(upstream.address)?),
        Some(proxy.address),
        nginx.as_ref().map(|nginx| nginx.address),
    ];
    headline(&mut report)?;
    let sizes = if is_quick { &SIZES[..2] } else { &SIZES[..] };
    let steps = if is_quick { STEPS / 2 } else { STEPS };
    let mut conversation = Conversation::new(&project);
    let mut before = None;
    for (kib, target) in sizes {
        // It grows while it is measured, by the new files above all: half of that before the size that is meant.
        let growth = steps / NEW_FILE_EVERY * NEW_FILE_BYTES;
        let size = kib * 1000 - growth / 2;
        conversation.grow_to(size, &mut Client::connect(proxy.address)?)?;
        let measured = measure(&mut conversation, &ways, steps)?;
        let memory = proxy.memory()?;
        let row = row(&mut report, &measured, memory)?;
        let name = format!("step added at {} KB", kib);
        report.verdict(&format!("{name}, p50"), row.added_p50, *target, "ms");
        report.verdict(
            &format!("{name}, p99"),
            row.added_p99,
            3.0 * row.added_p50,
            "ms",
        );
        report.verdict(
            &format!("a new file of 30 KB at {kib} KB, beyond that"),
            row.new_file - row.added_p50,
            5.0,
            "ms",
        );
        if let Some((smaller, added)) = before {
            let micros_per_kb = (row.added_p50 - added) * 1e3 / (row.kb - smaller);
            report.verdict(
                &format!("each KB of history up to {kib} KB"),
                micros_per_kb,
                MICROS_PER_KB_MAX,
                "µs",
            );
        }
        if *kib == 1_240 {
            report.verdict("peak RSS", mb(memory.peak), RSS_MB_MAX, "MB");
        }
        before = Some((row.kb, row.added_p50));
    }
    report.verdicts()?;
    Ok(())
}

fn measure(
    conversation: &mut Conversation<'_>,
    ways: &[Option<SocketAddr>; 4],
    steps: usize,
) -> Result<Measured, Box<dyn Error>> {
    let mut clients = Vec::new();
    for address in ways {
        clients.push(address.map(Client::connect).transpose()?);
    }
    let mut measured = Measured::default();
    for step in 0..steps + UNCOUNTED {
        if step == steps / 2 {
            measured.kb = conversation.bytes() as f64 / 1e3;
            measured.messages = conversation.message_count();
        }
        let has_new_file = step % NEW_FILE_EVERY == NEW_FILE_EVERY - 1;
        if has_new_file {
            conversation.read_file(NEW_FILE_BYTES);
        } else {
            conversation.list_folder();
        }
        let body = conversation.body();
        let counted = if has_new_file {
            &mut measured.new_file
        } else {
            &mut measured.small
        };
        for turn in 0..clients.len() {
            let way = (step + turn) % clients.len();
            let Some(client) = &mut clients[way] else {
                continue;
            };
            let time = client.chat(&body)?;
            if step >= UNCOUNTED {
                counted[way].push(time);
            }
            if way == TSLP {
                conversation.replied(&client.reply());
            }
        }
    }
    let address = ways[TSLP].ok_or("tslp has no address")?;
    measured.beside = second_client(conversation, address, steps)?;
    Ok(measured)
}

/// Prompts of 4 KB through tslp, alone and beside the agent's.
fn second_client(
    conversation: &mut Conversation<'_>,
    address: SocketAddr,
    steps: usize,
) -> Result<[Times; 2], Box<dyn Error>> {
    let mut client = Client::connect(address)?;
    let mut beside = [Times::default(), Times::default()];
    for step in 0..steps {
        beside[0].push(client.chat(&conversation.small_prompt(step))?);
    }
    let is_over = AtomicBool::new(false);
    let prompts: Vec<String> = (0..4 * steps)
        .map(|step| conversation.small_prompt(step))
        .collect();
    beside[1] = thread::scope(|scope| {
        let second = scope.spawn(|| {
            let mut times = Times::default();
            for prompt in prompts.iter().cycle() {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                times.push(client.chat(prompt)?);
            }
            Ok::<_, std::io::Error>(times)
        });
        let mut agent = Client::connect(address)?;
        let worked = (0..steps).try_for_each(|_| {
            conversation.list_folder();
            agent.chat(&conversation.body())?;
            conversation.replied(&agent.reply());
            Ok::<_, std::io::Error>(())
        });
        is_over.store(true, Ordering::Relaxed);
        worked?;
        Ok::<_, Box<dyn Error>>(second.join().map_err(|_| "the second client panicked")??)
    })?;
    Ok(beside)
}

fn headline(report: &mut Report) -> std::io::Result<()> {
    report.line("")?;
    report.line("first chunk, from the last byte sent, in milliseconds: direct, and what each way adds to it;")?;
    report.line("`beside` is a second client's prompt of 4 KB through tslp: alone, and while the agent works")?;
    report.line(format_args!(
        "{:>8} {:>5}  {:>7} {:>7} {:>7}  {:>7} {:>7} {:>6}  {:>8} {:>7} {:>7} {:>7}  {:>8}",
        "history",
        "msgs",
        "direct",
        "relay",
        "nginx",
        "tslp",
        "p99",
        "ratio",
        "new file",
        "beside",
        "p50",
        "max",
        "peak RSS",
    ))
}

/// The figures that have targets.
struct Row {
    kb: f64,
    added_p50: f64,
    added_p99: f64,
    new_file: f64,
}

fn row(report: &mut Report, measured: &Measured, memory: Memory) -> std::io::Result<Row> {
    let millis = |times: &Times, share| times.micros(share) / 1e3;
    let added =
        |ways: &Ways, way: usize, share| millis(&ways[way], share) - millis(&ways[0], share);
    let [alone, beside] = &measured.beside;
    let row = Row {
        kb: measured.kb,
        added_p50: added(&measured.small, TSLP, 0.5),
        added_p99: added(&measured.small, TSLP, 0.99),
        new_file: added(&measured.new_file, TSLP, 0.5),
    };
    report.line(format_args!(
        "{:>5.0} KB {:>5}  {:>7.2} {:>+7.2} {:>+7.2}  {:>+7.2} {:>+7.2} {:>6.2}  {:>+8.2} {:>7.2} {:>7.2} {:>7.2}  {:>5.1} MB",
        row.kb,
        measured.messages,
        millis(&measured.small[0], 0.5),
        added(&measured.small, 1, 0.5),
        added(&measured.small, 3, 0.5),
        row.added_p50,
        row.added_p99,
        millis(&measured.small[TSLP], 0.5) / millis(&measured.small[0], 0.5),
        row.new_file,
        millis(alone, 0.5),
        millis(beside, 0.5),
        millis(beside, 1.0),
        mb(memory.peak),
    ))?;
    Ok(row)
}
