//! Sessions of real clients, as they were recorded (`agents/README.md`), against the rules for what a prompt may cost them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use session::Session;
use table::Row;
use tslp_core::event::Event;
use tslp_snapshots::recording::{self, RecordedStep};

mod daily;
mod derived;
mod price;
pub(crate) mod session;
mod table;

/// What a session may make a model server read, in parts of what it reads without the proxy.
const RATIO_MAX: f64 = 1.05;

/// Sessions that cost more. Continue changes its system message when a session is resumed, so that a server reads all of it
/// again, and with it what was shown in the turn before. In two turns on small files that is much.
const RATIOS_MAX: [(&str, f64); 1] = [("continue-c", 1.07)];

/// The share of healthy edits that has to become true.
const PROMOTED_MIN: f64 = 0.95;

/// `STEPS=1 cargo nextest run -p tslp-snapshots --no-capture recorded_sessions` shows each request.
#[test]
#[allow(clippy::print_stderr)]
fn recorded_sessions_hold() {
    let sessions = recorded();
    let rows: Vec<Row> = sessions.iter().map(Row::new).collect();
    let mut broken = edits(&sessions);
    for (session, row) in sessions.iter().zip(&rows) {
        if std::env::var_os("STEPS").is_some() {
            eprintln!("{}", table::steps(session, row));
        }
        broken.extend(growth(session));
        broken.extend(side_requests(session));
        broken.extend(price(session, row));
    }
    let table = table::table(&rows);
    assert!(broken.is_empty(), "{}\n\n{table}", broken.join("\n"));
    insta::with_settings!({
        omit_expression => true,
        description => "What recorded sessions make a model server read anew, in characters; requests that went out byte for byte; edits that became true.",
        snapshot_path => "../../golden",
        prepend_module_to_snapshot => false,
    }, {
        insta::assert_snapshot!("agents__recorded_sessions", table);
    });
}

/// The lines of the file's versions that no other file has, as in a header.
fn own_lines(path: &str, steps: &[RecordedStep]) -> BTreeSet<String> {
    let lines = |is_own: bool| {
        let files = steps
            .iter()
            .flat_map(|step| step.files.iter().chain(&step.written));
        let texts = files.filter(move |(other, _)| (other == path) == is_own);
        let lines = texts
            .filter_map(|(_, text)| text.as_ref())
            .flat_map(|text| text.lines());
        lines.map(|line| line.trim().trim_end_matches(';'))
    };
    let others: BTreeSet<&str> = lines(false).collect();
    // In JSON a quote looks otherwise.
    let own = lines(true).filter(|line| !others.contains(line) && !line.contains(['"', '\\']));
    own.filter(|line| line.len() >= 12)
        .map(str::to_owned)
        .collect()
}

/// Whatever a client reads a file with, by its tools, its shell or by attaching it, and whatever it writes of it: no line goes out.
///
/// All recordings are played to their ends, since each client has its own ways to read a file, and
/// some repeat its text only when they compact a long conversation.
#[test]
fn recorded_sessions_off() {
    const OFF: &str = "src/ring.c";
    let mut shown = Vec::new();
    for file in recordings() {
        let name = file
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let text = fs::read_to_string(&file).expect("a recording");
        let steps = recording::read(&text).steps;
        let own = own_lines(OFF, &steps);
        let session = session::play_without(&name, steps, Some(OFF));
        let (mut brought, mut withheld) = (0, 0);
        for (at, exchange) in session.exchanges.iter().enumerate() {
            let client = String::from_utf8_lossy(&exchange.client);
            let sent = String::from_utf8_lossy(&exchange.sent);
            brought += own.iter().filter(|line| client.contains(*line)).count();
            withheld += sent.matches("withheld: off by the user").count();
            let lines = own.iter().filter(|line| sent.contains(*line));
            shown.extend(lines.map(|line| format!("{name} {at}: {line}")));
        }
        assert!(
            brought > 50 && withheld > 0,
            "{name}: {brought} lines came, {withheld} withheld"
        );
    }
    assert!(
        shown.is_empty(),
        "{} lines:\n{}",
        shown.len(),
        shown.join("\n")
    );
}

fn recordings() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("agents/recorded");
    let files = fs::read_dir(folder).expect("the recordings");
    let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    files
}

fn recorded() -> Vec<Session> {
    let files = recordings();
    let play = |file: &PathBuf| {
        let name = file.file_stem().expect("a name").to_string_lossy();
        session::play(&name, &fs::read_to_string(file).expect("a recording"))
    };
    thread::scope(|scope| {
        let threads = files.iter().map(|file| scope.spawn(move || play(file)));
        let threads: Vec<_> = threads.collect();
        let sessions = threads
            .into_iter()
            .map(|thread| thread.join().expect("played"));
        sessions.collect()
    })
}

/// The prompt only grows: what goes on from an earlier request goes out as that one did, and on from there. Side requests
/// don't count, since nothing of ours is in them, and neither does a request from which code is withheld for the first time.
fn growth(session: &Session) -> Vec<String> {
    let mut broken = Vec::new();
    let mut before: Vec<(usize, Vec<String>, Vec<String>)> = Vec::new();
    let exchanges = session.exchanges.iter().enumerate();
    for (step, exchange) in exchanges.filter(|(_, exchange)| !exchange.is_side_request()) {
        let (client, sent) = (exchange.client_messages(), exchange.sent_messages());
        let earlier = before
            .iter()
            .filter(|(_, earlier, _)| client.starts_with(earlier));
        let longest = earlier.max_by_key(|(_, earlier, _)| earlier.len());
        if let Some((earlier, _, sent_earlier)) = longest
            && !exchange.withholds()
            && let Some(at) =
                (0..sent_earlier.len()).find(|at| sent.get(*at) != sent_earlier.get(*at))
        {
            broken.push(format!(
                "{} step {step}: message {at} isn't as in step {earlier}:\n  {}\n  {}",
                session.name,
                sent_earlier[at],
                sent.get(at).map_or("nothing", String::as_str),
            ));
        }
        before.push((step, client, sent));
    }
    broken
}

/// Titles, summaries and commit messages go out byte for byte, but for what the conversation that they repeat went out with, and nothing
/// is read in their replies.
fn side_requests(session: &Session) -> Vec<String> {
    let mut broken = Vec::new();
    let exchanges = session.exchanges.iter().enumerate();
    for (step, exchange) in exchanges.filter(|(_, exchange)| exchange.is_side_request()) {
        let (client, sent) = (exchange.client_messages(), exchange.sent_messages());
        let prompts = session.exchanges[..step].iter();
        let before: Vec<_> = prompts.map(|it| it.sent_messages()).collect();
        let other = (0..sent.len()).find(|at| {
            let went_out = |before: &Vec<_>| before.get(*at) == sent.get(*at);
            client.get(*at) != sent.get(*at) && !before.iter().any(went_out)
        });
        if let Some(at) = other {
            broken.push(format!(
                "{} step {step}: a side request went out with another message {at}",
                session.name
            ));
        }
        let is_code = |event: &&Event| matches!(event, Event::ArtifactCaptured(_));
        if let Some(captured) = exchange.events.iter().find(is_code) {
            broken.push(format!(
                "{} step {step}: code was found in a side request or in its reply: {captured:?}",
                session.name
            ));
        }
    }
    broken
}

fn price(session: &Session, row: &Row) -> Option<String> {
    let mut known = RATIOS_MAX.iter();
    let known = known.find(|(name, _)| *name == session.name);
    let ratio_max = known.map_or(RATIO_MAX, |(_, ratio)| *ratio);
    (row.ratio() > ratio_max).then(|| {
        format!(
            "{}: {:.3} times as much is read as without the proxy, more than {ratio_max}",
            session.name,
            row.ratio()
        )
    })
}

/// Healthy edits become true, damaging ones don't.
fn edits(sessions: &[Session]) -> Vec<String> {
    let all = sessions.iter().flat_map(|session| {
        let edits = session.edits();
        edits.map(move |(step, edit)| (format!("{} step {step}", session.name), edit))
    });
    let (healthy, damaging): (Vec<_>, Vec<_>) = all.partition(|(_, edit)| edit.is_healthy());
    let mut broken: Vec<String> = damaging
        .iter()
        .filter(|(_, edit)| edit.became_true)
        .map(|(place, edit)| {
            format!(
                "{place}: a damaging edit of {} became true",
                edit.entities()
            )
        })
        .collect();
    let missed: Vec<String> = healthy
        .iter()
        .filter(|(_, edit)| !edit.became_true)
        .map(|(place, edit)| {
            format!(
                "{place}: the edit of {} did not become true",
                edit.entities()
            )
        })
        .collect();
    let count = |edits: usize| f64::from(u32::try_from(edits).expect("few"));
    if count(missed.len()) > (1.0 - PROMOTED_MIN) * count(healthy.len()) {
        broken.extend(missed);
    }
    broken
}
