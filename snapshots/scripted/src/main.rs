//! The scripted model as a process of its own, for harnesses in other languages.
//!
//! It says where it is (`{"url": …}`), and from then on tells each request in a line of JSON, `{"number", "method", "path", "head",
//! "body"}`. Its answer is a line on standard input: `{"number": …, "reply": {…}}`, or `{"number": …, "status": 404, "json": {…}}`.
//!
//! `scripted-model cases FROM..TO [KIND,…]` prints these [cases](tslp_scripted::case) in place of serving, a line of JSON each; with these kinds of
//! oddities in the place of their own, if some are named.
#![allow(clippy::print_stdout, reason = "its lines are what it is for")]

use std::collections::HashMap;
use std::io::{self, BufRead as _, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Sender, bounded};
use serde::Deserialize;
use serde_json::{Value, json};
use tslp_scripted::{Answer, KINDS, Reply, Server, case, case_of};

/// A line of the script.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    number: u64,
    reply: Option<Reply>,
    #[serde(default = "ok")]
    status: u16,
    #[serde(default)]
    json: Value,
}

const fn ok() -> u16 {
    200
}

/// Who waits for an answer.
type Waiting = Arc<Mutex<HashMap<u64, Sender<Answer>>>>;

fn say(line: &Value) {
    let mut out = io::stdout().lock();
    // Whoever reads it is gone: then its standard input is at an end as well.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Prints cases.
fn print_cases(arguments: &[String]) -> io::Result<()> {
    let wrong = || io::Error::other("usage: scripted-model cases FROM..TO [KIND,…]");
    let (from, to) = arguments
        .first()
        .and_then(|it| it.split_once(".."))
        .ok_or_else(wrong)?;
    let bounds = (from.parse::<u64>(), to.parse::<u64>());
    let (Ok(from), Ok(to)) = bounds else {
        return Err(wrong());
    };
    let kinds = arguments.get(1).map(|named| {
        let named: Vec<&str> = named.split(',').collect();
        let known = KINDS.iter().map(|it| it.0);
        // In the order in which they are named, which is that in which they are added.
        let known: Vec<&'static str> = known.filter(|it| named.contains(it)).collect();
        let of = |name: &&str| known.iter().copied().find(|it| it == name);
        named.iter().filter_map(of).collect::<Vec<_>>()
    });
    let mut out = io::stdout().lock();
    for number in from..to {
        let case = match &kinds {
            Some(kinds) => case_of(number, kinds),
            None => case(number),
        };
        let line = serde_json::to_string(&case)?;
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|it| it == "cases") {
        return print_cases(&arguments[1..]);
    }
    let waiting = Waiting::default();
    let (asked, numbers) = (Arc::clone(&waiting), AtomicU64::new(0));
    let server = Server::start(move |request| {
        let number = numbers.fetch_add(1, Ordering::Relaxed);
        let (tell, told) = bounded(1);
        let mut waiting = asked.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.insert(number, tell);
        drop(waiting);
        let method = request.line.split(' ').next().unwrap_or_default();
        let target = request.line.split(' ').nth(1).unwrap_or_default();
        say(
            &json!({"number": number, "method": method, "path": target, "head": request.head, "body": request.text()}),
        );
        told.recv()
            .unwrap_or_else(|_| Answer::json(500, &json!({"error": "the script has ended"})))
    })?;
    say(&json!({"url": server.url()}));
    for line in io::stdin().lock().lines() {
        let line: Line = serde_json::from_str(&line?)?;
        let answer = match line.reply {
            Some(reply) => reply.into(),
            None => Answer::json(line.status, &line.json),
        };
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tell) = waiting.remove(&line.number) {
            let _ = tell.send(answer);
        }
    }
    Ok(())
}
