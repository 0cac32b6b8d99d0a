//! What a conversation costs on disk when the client sends its whole history with every turn.

use std::error::Error;
use std::time::Duration;

use crate::Effort;
use crate::corpus;
use crate::proxy::Place;
use crate::report::{Report, Times, mb};
use crate::upstream::Upstream;

const USER_BYTES: usize = 800;
const CHUNKS: u64 = 40;
const CHUNK_BYTES: usize = 32;

/// Bytes so far.
#[derive(Clone, Copy, Default)]
struct Count {
    requests: u64,
    new: u64,
    ledger: u64,
}

/// Plays the conversation in two halves; the proxy is stopped after each, so that all lies in the database file.
pub(crate) fn measure(
    report: &mut Report,
    upstream: &Upstream,
    effort: Effort,
) -> Result<(), Box<dyn Error>> {
    let turns = match effort {
        Effort::Quick => 60,
        Effort::Full => 200,
    };
    upstream.play(Duration::ZERO, CHUNKS, Duration::ZERO, CHUNK_BYTES);
    let place = Place::new()?;
    place.start(upstream.address)?.stop()?;
    let mut marks = vec![Count {
        ledger: place.ledger_bytes()?,
        ..Count::default()
    }];
    let mut messages = vec![corpus::message("system", &corpus::prose(7, 500))];
    let mut count = marks[0];
    let mut times = Times::default();
    for half in 0..2 {
        let proxy = place.start(upstream.address)?;
        let mut client = proxy.client()?;
        for turn in half * turns / 2..(half + 1) * turns / 2 {
            let prompt = format!("Turn {turn}. {}", corpus::prose(9000 + turn, USER_BYTES));
            messages.push(corpus::message("user", &prompt));
            let body = corpus::body(&messages);
            times.push(client.chat(&body)?);
            let reply = client.reply();
            messages.push(corpus::message("assistant", &reply));
            count.requests += body.len() as u64;
            count.new += (prompt.len() + reply.len()) as u64;
        }
        proxy.stop()?;
        count.ledger = place.ledger_bytes()?;
        marks.push(count);
    }
    report.line("")?;
    report.line(format_args!(
        "ledger over {turns} turns that resend their history, {USER_BYTES} bytes of prompt and {} of reply each",
        CHUNKS as usize * CHUNK_BYTES
    ))?;
    report.line(format_args!(
        "{:12} {:>12} {:>10} {:>10} {:>16} {:>12}",
        "", "requests MB", "new MB", "ledger MB", "ledger/request", "ledger/new"
    ))?;
    let mut slopes = Vec::new();
    let parts = [("first half", 0, 1), ("second half", 1, 2), ("whole", 0, 2)];
    for (name, from, to) in parts {
        let (from, to) = (marks[from], marks[to]);
        let ledger = to.ledger - from.ledger;
        let requests = to.requests - from.requests;
        let new = to.new - from.new;
        slopes.push(ledger as f64 / new as f64);
        report.line(format_args!(
            "{name:12} {:>12.2} {:>10.3} {:>10.3} {:>16.4} {:>12.2}",
            mb(requests),
            mb(new),
            mb(ledger),
            ledger as f64 / requests as f64,
            ledger as f64 / new as f64
        ))?;
    }
    let payload = place.query("SELECT sum(length(payload)) FROM ledger")?;
    let events = place.query("SELECT count(*) FROM ledger")?;
    report.line(format_args!(
        "{events} events with {:.3} MB of payload; first chunk p50 {:.0} µs at 0 ms delay; the empty ledger holds {:.3} MB",
        mb(payload),
        times.micros(0.5),
        mb(marks[0].ledger)
    ))?;
    report.verdict(
        "ledger growth per new byte, second half over first",
        slopes[1] / slopes[0],
        1.1,
        "x",
    );
    Ok(())
}
