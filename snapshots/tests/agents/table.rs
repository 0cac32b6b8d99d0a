//! What recorded sessions cost, one line each.

use std::fmt::Write as _;

use super::price;
use super::session::{Exchange, Session};

/// One session's figures.
pub(super) struct Row {
    name: String,
    /// Characters that the client's own requests would have made the server read anew, each.
    pub(super) direct: Vec<usize>,
    /// Those that the requests as they went out made it read.
    pub(super) sent: Vec<usize>,
    side_requests: usize,
    unchanged: usize,
    promoted: usize,
    edits: usize,
}

impl Row {
    pub(super) fn new(session: &Session) -> Self {
        let exchanges = || session.exchanges.iter();
        let edits = || session.edits().map(|(_, edit)| edit);
        Self {
            name: session.name.clone(),
            direct: price::read_anew(exchanges().map(|exchange| &exchange.client[..])),
            sent: price::read_anew(exchanges().map(|exchange| &exchange.sent[..])),
            side_requests: exchanges().filter(|it| it.is_side_request()).count(),
            unchanged: exchanges().filter(|it| it.is_unchanged()).count(),
            promoted: edits().filter(|edit| edit.became_true).count(),
            edits: edits().count(),
        }
    }

    /// How much is read, in parts of what the client's own requests would have cost.
    pub(super) fn ratio(&self) -> f64 {
        let sum = |prices: &[usize]| u32::try_from(prices.iter().sum::<usize>()).expect("few");
        f64::from(sum(&self.sent)) / f64::from(sum(&self.direct))
    }
}

/// All rows below their head.
pub(super) fn table(rows: &[Row]) -> String {
    let mut table = String::from(
        "recording         requests  side  direct    sent  ratio  unchanged  promoted\n",
    );
    for row in rows {
        let _ = writeln!(
            table,
            "{:<17} {:>8} {:>5} {:>7} {:>7} {:>6.3} {:>10} {:>9}",
            row.name,
            row.sent.len(),
            row.side_requests,
            row.direct.iter().sum::<usize>(),
            row.sent.iter().sum::<usize>(),
            row.ratio(),
            row.unchanged,
            format!("{}/{}", row.promoted, row.edits),
        );
    }
    table
}

/// Each request of a session: `=` if it went out as it came, `s` if it is a side request, `w` if code was withheld from it;
/// what it cost; the reasons of notices and refusals; the messages that changed, and the edits.
pub(super) fn steps(session: &Session, row: &Row) -> String {
    let mut text = format!("{}\n", session.name);
    for (step, exchange) in session.exchanges.iter().enumerate() {
        let mark = |is_so: bool, mark: char| if is_so { mark } else { ' ' };
        let _ = writeln!(
            text,
            "{step:>3} {}{}{} direct {:>5} sent {:>5} {}",
            mark(exchange.is_unchanged(), '='),
            mark(exchange.is_side_request(), 's'),
            mark(exchange.withholds(), 'w'),
            row.direct[step],
            row.sent[step],
            exchange.reasons(),
        );
        changed(exchange, &mut text);
        for edit in &exchange.edits {
            let fate = if edit.became_true { "true" } else { "not true" };
            let _ = writeln!(text, "    {} became {fate}", edit.entities());
        }
    }
    text
}

fn changed(exchange: &Exchange, text: &mut String) {
    let messages = exchange.client_messages();
    for (at, (client, sent)) in messages.iter().zip(exchange.sent_messages()).enumerate() {
        if *client != sent {
            let _ = writeln!(text, "    - {at} {client}\n    + {at} {sent}");
        }
    }
}
