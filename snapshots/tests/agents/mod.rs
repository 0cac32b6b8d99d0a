//! Sessions of real clients, as they were recorded, against the rules for what a prompt may cost them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tslp_core::event::Event;

use session::{Exchange, Session, messages};

mod price;
mod session;

/// What a session may make the model server read anew through the proxy, in parts of what it does without.
const PRICE_MAX: f64 = 1.05;

/// The share of healthy edits that have to become true.
const PROMOTED_MIN: f64 = 0.95;

/// `STEPS=1 cargo nextest run -p tslp-snapshots --no-capture recorded_sessions` shows each request.
#[test]
fn recorded_sessions_hold_the_line() {
    let sessions = recorded();
    let rows: Vec<Row> = sessions.iter().map(Row::new).collect();
    let table = table(&rows);
    show_steps(&sessions);
    let mut broken = Vec::new();
    for session in &sessions {
        broken.extend(growth(session));
        broken.extend(side_requests(session));
    }
    for row in &rows {
        broken.extend(row.price());
    }
    broken.extend(edits(&sessions));
    assert!(broken.is_empty(), "{}\n\n{table}", broken.join("\n"));
    insta::with_settings!({
        omit_expression => true,
        description => "what recorded sessions of real clients cost through the proxy, and what became of their edits",
        snapshot_path => "../../golden",
        prepend_module_to_snapshot => false,
    }, {
        insta::assert_snapshot!("agents__recorded", table);
    });
}

fn recorded() -> Vec<Session> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("agents/recorded");
    let files = fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let sessions = files.iter().map(|file| {
        let name = file.file_stem().unwrap().to_string_lossy();
        session::play(&name, &fs::read_to_string(file).unwrap())
    });
    sessions.collect()
}

/// What the model has been shown stays where it was: a request that goes on from an earlier one goes out as the earlier one
/// did, and on from there. Side requests are left out, since nothing that was injected is in them; and so are requests from
/// which code is withheld that has become wrong.
fn growth(session: &Session) -> Vec<String> {
    let mut broken = Vec::new();
    let mut before: Vec<(usize, Vec<String>, Vec<String>)> = Vec::new();
    for (step, exchange) in session.exchanges.iter().enumerate() {
        if exchange.is_side_request() {
            continue;
        }
        let client = messages(&exchange.client);
        let sent = messages(&exchange.sent);
        let earlier = before.iter().filter(|(_, earlier, _)| client.starts_with(earlier));
        let longest = earlier.max_by_key(|(step, earlier, _)| (earlier.len(), *step));
        if let Some((earlier, _, sent_earlier)) = longest
            && !exchange.withholds()
            && let Some(message) =
                (0..sent_earlier.len()).find(|at| sent.get(*at) != sent_earlier.get(*at))
        {
            broken.push(format!(
                "{} step {step}: message {message} isn't as in step {earlier}:\n  {}\n  {}",
                session.name,
                sent_earlier[message],
                sent.get(message).map_or("nothing", String::as_str),
            ));
        }
        before.push((step, client, sent));
    }
    broken
}

/// Titles, summaries and commit messages go out as they came, and nothing is read in them or in their replies.
fn side_requests(session: &Session) -> Vec<String> {
    let mut broken = Vec::new();
    for (step, exchange) in session.exchanges.iter().enumerate() {
        if !exchange.is_side_request() {
            continue;
        }
        if exchange.sent != exchange.client {
            let at = messages(&exchange.client)
                .iter()
                .zip(messages(&exchange.sent))
                .position(|(client, sent)| *client != sent);
            broken.push(format!(
                "{} step {step}: a side request changed in message {at:?}",
                session.name
            ));
        }
        let is_code = |event: &&Event| matches!(event, Event::ArtifactCaptured(_));
        if let Some(captured) = exchange.events.iter().find(is_code) {
            broken.push(format!(
                "{} step {step}: of a side request's reply code was captured: {captured:?}",
                session.name
            ));
        }
    }
    broken
}

/// Edits that leave nothing out become true, all others don't. Those of aider count, too. What a model changes in its reply
/// to a side request is nobody's edit.
fn edits(sessions: &[Session]) -> Vec<String> {
    let (mut healthy, mut promoted) = (0_u32, 0_u32);
    let mut missed = Vec::new();
    let mut broken = Vec::new();
    for session in sessions {
        for (step, exchange) in session.exchanges.iter().enumerate() {
            if exchange.is_side_request() {
                continue;
            }
            for (edit, is_promoted) in &exchange.edits {
                let entities = edit.entities.join(", ");
                match (edit.is_healthy, is_promoted) {
                    (true, true) => promoted += 1,
                    (true, false) => missed.push(format!(
                        "{} step {step}: the edit of {entities} did not become true: {}",
                        session.name,
                        reasons(exchange)
                    )),
                    (false, true) => broken.push(format!(
                        "{} step {step}: the damaging edit of {entities} became true",
                        session.name
                    )),
                    (false, false) => {}
                }
                healthy += u32::from(edit.is_healthy);
            }
        }
    }
    if f64::from(promoted) < PROMOTED_MIN * f64::from(healthy) {
        broken.push(format!("only {promoted} of {healthy} healthy edits became true"));
        broken.append(&mut missed);
    }
    broken
}

/// Why nothing came of a reply's code.
fn reasons(exchange: &Exchange) -> String {
    let reasons = exchange.events.iter().filter_map(|event| match event {
        Event::NoticeIssued(notice) => Some(notice.reason.code()),
        Event::PromotionRefused(refused) => Some(refused.report.conclusion?.code()),
        _ => None,
    });
    reasons.collect::<Vec<_>>().join(", ")
}

/// One recording's figures.
struct Row {
    name: String,
    requests: usize,
    direct: Vec<usize>,
    sent: Vec<usize>,
    unchanged: usize,
    promoted: usize,
    edits: usize,
}

impl Row {
    fn new(session: &Session) -> Self {
        let exchanges = &session.exchanges;
        let edits = || {
            let own = exchanges.iter().filter(|exchange| !exchange.is_side_request());
            own.flat_map(|exchange| &exchange.edits)
        };
        Self {
            name: session.name.clone(),
            requests: exchanges.len(),
            direct: price::read_anew(exchanges.iter().map(|exchange| &exchange.client[..])),
            sent: price::read_anew(exchanges.iter().map(|exchange| &exchange.sent[..])),
            unchanged: exchanges.iter().filter(|exchange| exchange.sent == exchange.client).count(),
            promoted: edits().filter(|(_, promoted)| *promoted).count(),
            edits: edits().count(),
        }
    }

    fn ratio(&self) -> f64 {
        let sum = |prices: &[usize]| u32::try_from(prices.iter().sum::<usize>()).unwrap();
        f64::from(sum(&self.sent)) / f64::from(sum(&self.direct))
    }

    fn price(&self) -> Option<String> {
        let is_too_much = self.ratio() > PRICE_MAX;
        is_too_much.then(|| format!("{}: reads {:.3} times as much", self.name, self.ratio()))
    }
}

fn table(rows: &[Row]) -> String {
    let mut table = String::from(
        "recording         requests  direct    sent  ratio  unchanged  promoted\n",
    );
    for row in rows {
        let _ = writeln!(
            table,
            "{:<17} {:>8} {:>7} {:>7}  {:.3} {:>10}  {:>5}/{}",
            row.name,
            row.requests,
            row.direct.iter().sum::<usize>(),
            row.sent.iter().sum::<usize>(),
            row.ratio(),
            row.unchanged,
            row.promoted,
            row.edits,
        );
    }
    table
}

#[allow(clippy::print_stderr)]
fn show_steps(sessions: &[Session]) {
    if std::env::var_os("STEPS").is_none() {
        return;
    }
    for session in sessions {
        let row = Row::new(session);
        eprintln!("== {}", session.name);
        for (step, exchange) in session.exchanges.iter().enumerate() {
            eprintln!(
                "{step:>3} {}{}{} direct {} sent {} {}",
                if exchange.sent == exchange.client { "=" } else { "+" },
                if exchange.is_side_request() { "s" } else { " " },
                if exchange.withholds() { "w" } else { " " },
                row.direct[step],
                row.sent[step],
                reasons(exchange)
            );
            for (client, sent) in messages(&exchange.client).iter().zip(messages(&exchange.sent)).filter(|(a,b)| **a != *b) {
                eprintln!("      - {client}\n      + {sent}");
            }
            for (edit, promoted) in &exchange.edits {
                eprintln!("      {} {}", edit.entities.join(", "), if *promoted { "became true" } else { "did NOT become true" });
            }
        }
    }
}
