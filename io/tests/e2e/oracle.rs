//! Odd replies, as the official SDKs read them: through the proxy they read what they read without it, and where calls are held nothing that
//! wasn't judged. `snapshots/agents/oracle.py` asks the SDKs themselves, and more of the same cases.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tslp_scripted::{Case, Encoding, End, Prompt, Reply, case, case_of, encoded};
use tslp_wire::chat::dialect::Dialect;

use crate::harness::{JSON, Places, Tslp};
use crate::readers::{Body, Reading, readings};
use crate::upstream::Upstream;

const CASES: u64 = 300;

/// What the proxy doesn't get right yet, by the kind of oddities, and the mode if it is only one.
const KNOWN: [(&str, Option<Mode>, &str); 0] = [];

/// What marks the calls of a case that no agent should make.
const HARMFUL: [&str; 3] = ["rm -rf ~", "push --force", ".git/hooks"];
/// Tools whose calls say what they do; the Guardian has nothing to judge of the others.
const JUDGED: [&str; 3] = ["bash", "read", "write"];
const SENTENCE: &str = "The Guardian kept back";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Default,
    Hold,
}

fn is_known(case: &Case, mode: Mode) -> bool {
    let knows = |it: &(&str, Option<Mode>, &str)| {
        case.kinds.contains(&it.0) && it.1.is_none_or(|only| only == mode)
    };
    KNOWN.iter().any(knows)
}

fn is_harmful(call: &(String, String)) -> bool {
    HARMFUL.iter().any(|mark| call.1.contains(mark))
}

/// A call with its arguments as a value, however they are written.
fn same_call((name, arguments): &(String, String)) -> String {
    let value: Option<Value> = serde_json::from_str(arguments).ok();
    json!([name, value.unwrap_or_else(|| arguments.as_str().into())]).to_string()
}

/// What the readers make of the reply itself.
fn direct(case: &Case) -> Vec<(&'static str, Reading)> {
    let encoding = match case.reply.encoding {
        Encoding::Mark => Encoding::Mark,
        _ => Encoding::Plain,
    };
    let reply = Reply {
        encoding,
        ..case.reply.clone()
    };
    let mut bytes = encoded(case.dialect, case.streams, &reply).1.concat();
    let is_whole = match reply.end {
        End::Whole => true,
        End::Close(end) | End::Reset(end) | End::Silent(end) => {
            bytes.truncate(end);
            false
        }
    };
    readings(&Body {
        dialect: case.dialect,
        streams: case.streams,
        bytes: &bytes,
        is_whole,
    })
}

/// What they make of it through the proxy, and the episode.
fn through(
    tslp: &Tslp,
    upstream: &Upstream,
    case: &Case,
) -> (Vec<(&'static str, Reading)>, Option<u64>) {
    upstream.will(case.reply.clone());
    let mut prompt = Prompt::user(&format!("Case {}. Go on.", case.number)).streaming(case.streams);
    if case.offers {
        for tool in ["bash", "read", "write", "note", "plan", "status"] {
            prompt = prompt.offering(tool, &[]);
        }
    }
    let mut body = prompt.body(case.dialect);
    if case.streams
        && matches!(
            case.dialect,
            Dialect::ChatCompletions | Dialect::Completions
        )
    {
        body["stream_options"] = json!({"include_usage": true});
    }
    let got = tslp.request("POST", case.path, &[JSON], body.to_string().as_bytes());
    let mut read = readings(&Body {
        dialect: case.dialect,
        streams: case.streams,
        bytes: &got.body,
        is_whole: got.whole,
    });
    if got.status() >= 300 {
        let refused = Reading {
            error: Some("status"),
            ..Reading::default()
        };
        read.iter_mut().for_each(|it| it.1 = refused.clone());
    }
    let episode = got.header("x-tslp-episode");
    let episode = episode.and_then(|it| it.strip_prefix('e')?.parse().ok());
    (read, episode)
}

/// Whether the signs of a text stand in another in this order.
fn is_within(part: &str, whole: &str) -> bool {
    let mut rest = whole.chars();
    part.chars().all(|sign| rest.any(|it| it == sign))
}

/// What is wrong with what a reader makes of a reply through the proxy.
fn fault(case: &Case, mode: Mode, direct: &Reading, got: &Reading) -> Option<&'static str> {
    let breaks = case.reply.end != End::Whole;
    // How much arrives before a reset is anybody's guess, and how much of a coded body's beginning can be read.
    let is_steady = !breaks
        || matches!(case.reply.end, End::Close(_))
            && matches!(case.reply.encoding, Encoding::Plain | Encoding::Mark);
    if mode == Mode::Hold && got.calls.iter().any(is_harmful) {
        return Some("a harmful call came through");
    }
    let denies =
        mode == Mode::Hold && (direct.calls.iter().any(is_harmful) || got.text.contains(SENTENCE));
    let is_same_error =
        got.error == direct.error || breaks && got.error.is_some() && direct.error.is_some();
    match (denies, direct.error) {
        (false, _) if !is_same_error => Some("another error"),
        (false, error) if is_steady && (error.is_none() || mode == Mode::Default) => {
            let is_same =
                (&got.text, &got.calls, &got.end) == (&direct.text, &direct.calls, &direct.end);
            (!is_same).then_some("another reading")
        }
        (true, None) => {
            let kept = direct.calls.iter().filter(|it| !is_harmful(it));
            let calls: Vec<String> = got.calls.iter().map(same_call).collect();
            if got.error.is_some() {
                Some("an error beside a call that was kept back")
            } else if calls != kept.map(same_call).collect::<Vec<_>>() {
                Some("other calls beside one that was kept back")
            } else if !got.text.contains(SENTENCE) || !is_within(&direct.text, &got.text) {
                Some("another text beside a call that was kept back")
            } else {
                None
            }
        }
        _ => None,
    }
}

/// The calls that are on record as let go, by episode, and whether each that can be judged was.
fn recorded(places: &Places) -> BTreeMap<u64, (Vec<String>, bool)> {
    let output = places.in_workspace(&["export"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let rows = text
        .lines()
        .skip(1)
        .map(|it| serde_json::from_str::<Value>(it).unwrap());
    let (mut contents, mut ended, mut allowed) = (
        BTreeMap::new(),
        BTreeMap::new(),
        BTreeMap::<u64, usize>::new(),
    );
    for row in rows {
        let (kind, event) = (row["kind"].as_str().unwrap(), &row["event"]);
        let episode = row["episode"].as_u64().unwrap_or_default();
        match kind.split('.').next() {
            Some("content") => {
                drop(contents.insert(event["hash"].to_string(), event["text"].clone()))
            }
            Some("reply_ended") => drop(ended.insert(episode, event["tool_calls"].clone())),
            Some("action_judged") if event["decision"] == "ALLOW" => {
                *allowed.entry(episode).or_default() += 1
            }
            _ => {}
        }
    }
    let calls = ended.into_iter().map(|(episode, calls)| {
        let calls = calls.as_array().unwrap();
        let judged = calls
            .iter()
            .filter(|it| JUDGED.contains(&it["name"].as_str().unwrap()))
            .count();
        let calls = calls.iter().map(|call| {
            let arguments = contents
                .get(&call["arguments"].to_string())
                .and_then(Value::as_str);
            same_call(&(
                call["name"].as_str().unwrap().to_owned(),
                arguments.unwrap_or_default().to_owned(),
            ))
        });
        let is_judged = allowed.get(&episode).copied().unwrap_or_default() >= judged;
        (episode, (calls.collect(), is_judged))
    });
    calls.collect()
}

fn check(mode: Mode, flags: &[&str]) {
    let (upstream, places) = (Upstream::start(), Places::new());
    let tslp = Tslp::with(&places, &upstream.url, flags);
    let (mut faults, mut held) = (Vec::new(), Vec::new());
    for case in (0..CASES).map(case).filter(|it| !is_known(it, mode)) {
        let (got, episode) = through(&tslp, &upstream, &case);
        // What the server meant may be read in spite of the oddity.
        let meant = direct(&case_of(case.number, &[]));
        let both = direct(&case).into_iter().zip(meant);
        for (((reader, direct), (_, meant)), (_, got)) in both.zip(got) {
            let found = fault(&case, mode, &direct, &got);
            let found = found.filter(|_| fault(&case, mode, &meant, &got).is_some());
            if let Some(fault) = found {
                faults.push(format!(
                    "{} {:?} {reader}: {fault}:\n  {direct:?}\n  {got:?}",
                    case.number, case.kinds
                ));
            }
            if mode == Mode::Hold && got.error.is_none() && !got.calls.is_empty() {
                held.push((case.number, case.kinds.clone(), reader, episode, got.calls));
            }
        }
    }
    tslp.stop();
    let recorded = recorded(&places);
    for (number, kinds, reader, episode, calls) in held {
        let (known, is_judged) = episode
            .and_then(|it| recorded.get(&it).cloned())
            .unwrap_or_default();
        let is_on_record = calls.iter().all(|it| known.contains(&same_call(it)));
        if !is_on_record || !is_judged {
            faults.push(format!("{number} {kinds:?} {reader}: read {calls:?}, on record {known:?}, judged: {is_judged}"));
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// law 8.5 | What clients read of an odd reply is the same through the proxy
#[test]
fn same_readings() {
    check(Mode::Default, &[]);
}

/// law 8.5 | Where calls are held, no reading of an odd reply has a call that wasn't judged
#[test]
fn held_readings() {
    check(Mode::Hold, &["--guardian-client-tools", "hold"]);
}
