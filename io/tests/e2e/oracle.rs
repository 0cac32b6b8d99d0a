//! Odd replies, as the official SDKs read them: through the proxy they read what they read without it, and where calls are held nothing that
//! wasn't judged. `snapshots/agents/oracle.py` asks the SDKs themselves, and more of the same cases.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tslp_scripted::{Case, Encoding, End, Prompt, Reply, case, case_of, encoded};
use tslp_wire::chat::dialect::Dialect;

use crate::harness::{JSON, Places, Tslp};
use crate::readers::{Body, Reading, readings};
use crate::upstream::Upstream;

/// How many of the cases are read; `TSLP_CASES` names another number.
fn count() -> u64 {
    let named = std::env::var("TSLP_CASES").ok();
    named.map_or(300, |it| it.parse().unwrap())
}

/// What the proxy doesn't get right yet: modes, kinds of oddities that a case has then, why.
const KNOWN: &str = include_str!("../../../snapshots/agents/oracle_known.txt");

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
    let mode = match mode {
        Mode::Default => "default",
        Mode::Hold => "hold",
    };
    let rows = KNOWN
        .lines()
        .filter(|it| !it.is_empty() && !it.starts_with('#'));
    let mut rows = rows.map(|it| it.split_whitespace());
    rows.any(|mut row| {
        row.next() == Some(mode)
            && row
                .next()
                .unwrap()
                .split('+')
                .all(|it| case.kinds.contains(&it))
    })
}

fn is_harmful(call: &(String, String)) -> bool {
    HARMFUL.iter().any(|mark| call.1.contains(mark))
}

/// A call with its arguments as a value, however they are written; none at all are no members.
fn same_call((name, arguments): &(String, String)) -> String {
    let arguments = match &**arguments {
        "" | "null" => "{}",
        arguments => arguments,
    };
    let value: Option<Value> = serde_json::from_str(arguments).ok();
    json!([name, value.unwrap_or_else(|| arguments.into())]).to_string()
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
    let holds = mode == Mode::Hold;
    if holds && got.calls.iter().any(is_harmful) {
        return Some("a harmful call came through");
    }
    let breaks = case.reply.end != End::Whole;
    let is_coded = matches!(case.reply.encoding, Encoding::Gzip | Encoding::Deflate);
    // How much arrives before a reset is anybody's guess, and how much of a coded body's beginning can be read.
    if matches!(case.reply.end, End::Reset(_)) || breaks && is_coded {
        return None;
    }
    // A break may be told in words, and where calls are held another event may be the first that can't be read.
    let is_any_error = (breaks || holds) && got.error.is_some() && direct.error.is_some();
    let is_same_error = got.error == direct.error || is_any_error;
    let denies = holds && (direct.calls.iter().any(is_harmful) || got.text.contains(SENTENCE));
    if !denies {
        let said = |it: &Reading| (it.text.clone(), it.calls.clone(), it.end.clone());
        let is_same = match direct.error.is_some() {
            true if holds => true,
            // The event in which it breaks off may be whole but for the blank line, which the proxy puts before its own words.
            true if breaks => got.text.starts_with(&direct.text),
            _ if holds => {
                let calls = |it: &Reading| it.calls.iter().map(same_call).collect::<Vec<_>>();
                (&got.text, calls(got), &got.end) == (&direct.text, calls(direct), &direct.end)
            }
            _ => said(got) == said(direct),
        };
        return match is_same_error {
            false => Some("another error"),
            true => (!is_same).then_some("another reading"),
        };
    }
    if direct.error.is_some() {
        return None;
    }
    // Readers join several calls into one, of which a part is kept back.
    let is_joined = ["index_absent", "index_null"]
        .iter()
        .any(|it| case.kinds.contains(it));
    let kept = direct.calls.iter().filter(|it| !is_harmful(it));
    let kept: Vec<String> = kept.map(same_call).collect();
    let calls: Vec<String> = got.calls.iter().map(same_call).collect();
    if got.error.is_some() {
        Some("an error beside a call that was kept back")
    } else if calls != kept && !is_joined {
        Some("other calls beside one that was kept back")
    } else {
        let is_said = got.text.contains(SENTENCE) && is_within(&direct.text, &got.text);
        (!is_said).then_some("another text beside a call that was kept back")
    }
}

/// Pairs that say nothing: such a reader makes no sense of such a reply, with the proxy or without.
const NO_PAIR: [(&str, &str); 2] = [
    // Calls without arguments.
    ("pieces", "response_no_deltas"),
    // Two calls, by the halves of a name.
    ("AI SDK", "name_in_two"),
];

/// Whether a call that a reader has is on record.
fn is_recorded(kinds: &[&str], call: &(String, String), known: &[String]) -> bool {
    let read: Value = serde_json::from_str(&same_call(call)).unwrap();
    let known: Vec<Value> = known
        .iter()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    // Readers join such names in ways of their own.
    let by_arguments = ["name_everywhere", "name_in_two"]
        .iter()
        .any(|it| kinds.contains(it));
    // What is no object is no call that can be made, and where no arguments came there is nothing to judge.
    let is_empty = read[1] == json!({});
    !read[1].is_object()
        || known.contains(&read)
        || known
            .iter()
            .any(|it| it[1] == read[1] && by_arguments || it[0] == read[0] && is_empty)
}

/// The calls that are on record as let go, by episode, and whether each that can be judged was.
fn recorded(places: &Places) -> BTreeMap<u64, (Vec<String>, bool)> {
    let output = places
        .in_workspace(&["log", "--json", "--limit", "0"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let rows = text
        .lines()
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
        let call = |call: &Value| {
            let arguments = contents.get(&call["arguments"].to_string());
            let arguments = arguments.and_then(Value::as_str).unwrap_or_default();
            same_call(&(
                call["name"].as_str().unwrap().to_owned(),
                arguments.to_owned(),
            ))
        };
        let calls: Vec<String> = calls.as_array().unwrap().iter().map(call).collect();
        let says_what = |call: &&String| {
            let call: Value = serde_json::from_str(call).unwrap();
            JUDGED.contains(&call[0].as_str().unwrap()) && call[1] != json!({})
        };
        let judged = calls.iter().filter(says_what).count();
        let is_judged = allowed.get(&episode).copied().unwrap_or_default() >= judged;
        (episode, (calls, is_judged))
    });
    calls.collect()
}

fn check(mode: Mode, flags: &[&str]) {
    let (upstream, places) = (Upstream::start(), Places::new());
    let tslp = Tslp::with(&places, &upstream.url, flags);
    let (mut faults, mut held) = (Vec::new(), Vec::new());
    for case in (0..count()).map(case).filter(|it| !is_known(it, mode)) {
        let (got, episode) = through(&tslp, &upstream, &case);
        // What the server meant may be read in spite of the oddity.
        let meant = direct(&case_of(case.number, &[]));
        let both = direct(&case).into_iter().zip(meant);
        for (((reader, direct), (_, meant)), (_, got)) in both.zip(got) {
            let is_no_pair = |it: &(&str, &str)| reader == it.0 && case.kinds.contains(&it.1);
            if NO_PAIR.iter().any(is_no_pair) {
                continue;
            }
            let found = fault(&case, mode, &direct, &got);
            // Why it ends, an oddity may say otherwise.
            let meant = Reading {
                end: got.end.clone(),
                ..meant
            };
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
        let is_on_record = calls.iter().all(|it| is_recorded(&kinds, it, &known));
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

/// What clients read of an odd reply is the same through the proxy
#[test]
fn same_readings() {
    // What no agent should do is the other test's.
    check(Mode::Default, &["--guardian-client-tools", "observe"]);
}

/// Where calls are held, no reading of an odd reply has a call that wasn't judged
#[test]
fn held_readings() {
    check(Mode::Hold, &["--guardian-client-tools", "strict"]);
}
