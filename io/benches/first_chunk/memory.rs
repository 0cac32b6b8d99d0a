//! Resident memory of the process: idle, with a State Map, while streaming.

use std::error::Error;
use std::thread;
use std::time::Duration;

use crate::corpus;
use crate::proxy::{Memory, Place, Proxy};
use crate::report::{Report, mb};
use crate::upstream::Upstream;

const STREAMS: usize = 64;

/// How long after its last work a process counts as idle.
const SETTLED: Duration = Duration::from_millis(300);

/// Idle and empty, then with so many streams at once.
pub(crate) fn empty_and_streaming(
    report: &mut Report,
    upstream: &Upstream,
) -> Result<(), Box<dyn Error>> {
    report.line("")?;
    report.line("resident memory of tslp, MB")?;
    let place = Place::new()?;
    let proxy = place.start(upstream.address)?;
    let idle = settled(&proxy)?;
    line(report, "idle, empty", idle)?;
    report.verdict("RSS idle and empty", mb(idle.now), 12.0, "MB");
    upstream.play(
        Duration::from_millis(20),
        100,
        Duration::from_millis(10),
        24,
    );
    let streaming = thread::scope(|scope| -> Result<Memory, Box<dyn Error>> {
        let clients: Vec<_> = (0..STREAMS)
            .map(|at| {
                let mut client = proxy.client()?;
                Ok(scope.spawn(move || client.chat(&corpus::chat(4096, at, &[]))))
            })
            .collect::<Result<_, std::io::Error>>()?;
        let mut most = Memory::default();
        while !clients.iter().all(thread::ScopedJoinHandle::is_finished) {
            let memory = proxy.memory()?;
            most.now = most.now.max(memory.now);
            most.peak = memory.peak;
            thread::sleep(Duration::from_millis(10));
        }
        for client in clients {
            client.join().map_err(|_| "a client panicked")??;
        }
        Ok(most)
    })?;
    line(
        report,
        &format!("{STREAMS} streaming connections"),
        streaming,
    )?;
    report.verdict(
        &format!("RSS at {STREAMS} streaming connections"),
        mb(streaming.peak),
        24.0,
        "MB",
    );
    line(report, "afterwards", settled(&proxy)?)?;
    proxy.stop()
}

/// The largest body that the defaults take, less what JSON adds.
const LARGEST: usize = (6 << 20) - (256 << 10);

/// The peaks of processes of their own that get large prompts, or many at once.
pub(crate) fn in_flight(report: &mut Report, upstream: &Upstream) -> Result<(), Box<dyn Error>> {
    report.line("")?;
    report.line("peak memory of tslp with prompts in flight, MB")?;
    upstream.play(Duration::ZERO, 4, Duration::ZERO, 24);
    let prose = |seed| corpus::body(&[corpus::message("user", &corpus::prose(seed, LARGEST))]);
    let mut room = LARGEST;
    let fits = |paste: &String| match room.checked_sub(corpus::message("user", paste).len()) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    };
    let pastes: Vec<String> = (0..).map(corpus::paste).take_while(fits).collect();
    let code = corpus::body(&[corpus::message("user", &pastes.concat())]);
    let conversation = |seed| corpus::chat(LARGEST, seed, &[]);
    peak(
        report,
        upstream,
        "one of 6 MB, one message of prose",
        &[prose(1)],
    )?;
    peak(report, upstream, "one of 6 MB, pasted files", &[code])?;
    peak(
        report,
        upstream,
        "one of 6 MB, a conversation",
        &[conversation(1)],
    )?;
    let four: Vec<String> = (0..4).map(prose).collect();
    peak(report, upstream, "4 at once of 6 MB", &four)?;
    let many: Vec<String> = (0..64)
        .map(|seed| corpus::body(&[corpus::message("user", &corpus::prose(seed, 512 << 10))]))
        .collect();
    peak(report, upstream, "64 at once of 512 KB", &many)
}

/// The peak of a process that gets these bodies all at once, and once more.
fn peak(
    report: &mut Report,
    upstream: &Upstream,
    what: &str,
    bodies: &[String],
) -> Result<(), Box<dyn Error>> {
    let place = Place::new()?;
    let proxy = place.start(upstream.address)?;
    for _ in 0..2 {
        thread::scope(|scope| -> Result<(), Box<dyn Error>> {
            let clients: Vec<_> = bodies
                .iter()
                .map(|body| {
                    let mut client = proxy.client()?;
                    Ok(scope.spawn(move || client.chat(body)))
                })
                .collect::<Result<_, std::io::Error>>()?;
            for client in clients {
                client.join().map_err(|_| "a client panicked")??;
            }
            Ok(())
        })?;
    }
    let memory = settled(&proxy)?;
    line(report, what, memory)?;
    report.verdict(&format!("RSS with {what}"), mb(memory.peak), 64.0, "MB");
    proxy.stop()
}

/// After a State Map was filled, and again after a restart. Gives back the proxy as restarted.
pub(crate) fn populated(
    report: &mut Report,
    upstream: &Upstream,
    place: &Place,
    proxy: Proxy,
    target: Option<f64>,
) -> Result<Proxy, Box<dyn Error>> {
    let entities = place.query("SELECT sum(entities) FROM state_map")?;
    let filled = settled(&proxy)?;
    proxy.stop()?;
    let proxy = place.start(upstream.address)?;
    let restarted = settled(&proxy)?;
    let name = format!("{entities} entities");
    line(report, &format!("{name}, just pasted"), filled)?;
    line(report, &format!("{name}, restarted"), restarted)?;
    report.line(format_args!(
        "{:38} {:8.0} ms",
        "  its start-up",
        proxy.startup.as_secs_f64() * 1e3
    ))?;
    if let Some(target) = target {
        report.verdict(
            &format!("RSS with {name}, just pasted"),
            mb(filled.now),
            target,
            "MB",
        );
        report.verdict(
            &format!("RSS with {name}, restarted"),
            mb(restarted.now),
            target,
            "MB",
        );
    }
    Ok(proxy)
}

/// The process's memory once it has nothing to do.
pub(crate) fn settled(proxy: &Proxy) -> Result<Memory, Box<dyn Error>> {
    thread::sleep(SETTLED);
    Ok(proxy.memory()?)
}

/// One row.
pub(crate) fn line(report: &mut Report, what: &str, memory: Memory) -> Result<(), Box<dyn Error>> {
    report.line(format_args!(
        "{what:38} {:8.1} now {:8.1} peak",
        mb(memory.now),
        mb(memory.peak)
    ))?;
    Ok(())
}
