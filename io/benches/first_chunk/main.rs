//! What the proxy adds: time to the first chunk, memory, disk. `cargo bench -p tslp-io --bench first_chunk -- --help`.

mod client;
mod corpus;
mod latency;
mod ledger;
mod memory;
mod mentions;
#[path = "../agent_history/nginx.rs"]
mod nginx;
mod proxy;
mod relay;
mod report;
mod upstream;

use std::error::Error;

use latency::{Setting, Way};
use nginx::Nginx;
use proxy::Place;
use report::Report;
use upstream::Upstream;

const HELP: &str = "\
Measures the real tslp between a scripted model server and clients, all on loopback, in one run.

usage: cargo bench -p tslp-io --bench first_chunk [-- WORD...]

  latency   first-chunk latency and processor time through tslp beside direct and nginx, with 0, 10,000 and 100,000 entities
  rss       resident memory: idle, populated, restarted, 64 streams
  inflight  peak memory with the largest prompts, and with many at once
  mentions  the mention scan on State Maps of 1,000, 10,000 and 100,000 entities
  ledger    bytes on disk over 200 turns that resend their history
  quick     fewer rounds, no map of 100,000 entities; alone or with other words
  entities=N  only the State Map of N entities (a multiple of 1000)
  prompt=N  only prompts of N KB

Without a word: everything. Nothing fails because of a figure. TSLP_BENCH_PROGRAM names another tslp to measure, TSLP_BENCH_BEFORE one to take turns with it.";

/// How long to measure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Under a minute.
    Quick,
    /// A few minutes.
    Full,
}

/// What to measure.
struct Plan {
    effort: Effort,
    parts: Vec<String>,
    files: Option<usize>,
    prompt: Option<usize>,
}

impl Plan {
    fn read(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut plan = Self {
            effort: Effort::Full,
            parts: Vec::new(),
            files: None,
            prompt: None,
        };
        for argument in arguments.filter(|argument| argument != "--bench") {
            match argument.as_str() {
                "quick" => plan.effort = Effort::Quick,
                "latency" | "rss" | "inflight" | "mentions" | "ledger" => plan.parts.push(argument),
                other => {
                    let number = |name: &str| other.strip_prefix(name)?.parse::<usize>().ok();
                    match (number("entities="), number("prompt=")) {
                        (Some(entities), _) => {
                            plan.files = Some(entities / corpus::FUNCTIONS_PER_FILE);
                        }
                        (_, Some(kib)) => plan.prompt = Some(kib),
                        _ => return Err(format!("{other}: unknown word\n\n{HELP}")),
                    }
                }
            }
        }
        Ok(plan)
    }

    fn has(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|word| word == part)
    }

    /// Files of each State Map, and its limit of memory in MB.
    fn maps(&self) -> Vec<(usize, Option<f64>)> {
        let known = [(0, None), (10, Some(16.0)), (100, Some(40.0))];
        match (self.files, self.effort) {
            (Some(files), _) => known
                .into_iter()
                .find(|(size, _)| *size == files)
                .map_or_else(|| vec![(files, None)], |map| vec![map]),
            (None, Effort::Quick) => known[..2].to_vec(),
            (None, Effort::Full) => known.to_vec(),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments
        .iter()
        .any(|argument| argument == "--help" || argument == "-h")
    {
        tslp_io::out::Out::stdout().line(HELP)?;
        return Ok(());
    }
    // `cargo test --all-targets` runs this file, too; only `cargo bench` measures.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let plan = Plan::read(arguments.into_iter())?;
    let mut report = Report::new();
    let upstream = Upstream::start()?;
    if plan.has("mentions") {
        mentions::measure(&mut report, plan.effort)?;
    }
    if plan.has("ledger") {
        ledger::measure(&mut report, &upstream, plan.effort)?;
    }
    if plan.has("rss") {
        memory::empty_and_streaming(&mut report, &upstream)?;
    }
    if plan.has("inflight") {
        memory::in_flight(&mut report, &upstream)?;
    }
    if plan.has("latency") || plan.has("rss") {
        for (files, limit) in plan.maps() {
            state_map(&mut report, &upstream, &plan, files, limit)?;
        }
    }
    report.verdicts()?;
    Ok(())
}

/// Everything on one State Map.
fn state_map(
    report: &mut Report,
    upstream: &Upstream,
    plan: &Plan,
    files: usize,
    limit: Option<f64>,
) -> Result<(), Box<dyn Error>> {
    let place = Place::new()?;
    let mut proxy = place.start(upstream.address)?;
    proxy.populate(0..files)?;
    if plan.has("rss") && files > 0 {
        report.line("")?;
        proxy = memory::populated(report, upstream, &place, proxy, limit)?;
    }
    if plan.has("latency") {
        let way = |name, address, process| Way {
            name,
            address,
            process,
        };
        let mut ways = vec![
            way("direct", upstream.address, None),
            way("relay", relay::start(upstream.address)?, None),
        ];
        let nginx = Nginx::start(place.dir(), upstream.address)?;
        ways.extend(
            nginx
                .iter()
                .map(|it| way("nginx", it.address, Some(it.child.id()))),
        );
        let before_place = Place::new()?;
        let before = match std::env::var_os("TSLP_BENCH_BEFORE") {
            Some(program) => Some(before_place.start_program(program, upstream.address)?),
            None => None,
        };
        if let Some(before) = &before {
            before.populate(0..files)?;
            ways.push(way("before", before.address, Some(before.process())));
        }
        ways.push(way("tslp", proxy.address, Some(proxy.process())));
        let setting = Setting {
            upstream,
            ways,
            files,
            effort: plan.effort,
            prompt: plan.prompt,
        };
        latency::headline(report)?;
        latency::measure(report, &setting)?;
        if plan.has("rss") {
            memory::line(
                report,
                "memory after these requests",
                memory::settled(&proxy)?,
            )?;
        }
    }
    proxy.stop()
}
