//! `kill -9` at random moments under load: everything acknowledged is in the ledger, and the ledger is sound.
//!
//! `TSLP_KILLS=1000 cargo test -p tslp-io --test e2e kills -- --nocapture` kills a thousand times; `TSLP_SEED` names the
//! first seed.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use serde_json::json;
use tslp_core::event::{Event, ReplyOutcome};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, Seq};
use tslp_store::ledger::reader::ReaderFactory;
use tslp_store::ledger::{DataFiles, OpenOptions};

use crate::harness::{CHAT, PATIENCE, Places, RING, Tslp, eventually, fenced, user};
use crate::upstream::Upstream;

/// Kills of a common run.
const KILLS: u64 = 16;

/// After so many kills a new ledger is begun, so that looking at the whole of it stays cheap.
const KILLS_PER_LEDGER: u64 = 10;

/// SplitMix64: the load and the moment of a kill, by its seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// What a client was told before the process died.
#[derive(Clone, Debug)]
struct Told {
    episode: u64,
    /// What it had asked.
    prompt: String,
    /// Whether the reply's end came, too.
    whole: bool,
}

/// Asks one prompt and reads until the reply or the process ends. `None` if not even a head came.
fn ask(address: SocketAddr, prompt: String, stream: bool, seen: &AtomicU64) -> Option<Told> {
    let body = json!({"model": "m", "messages": [user(&prompt)], "stream": stream}).to_string();
    let request = format!(
        "POST {CHAT} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let mut connection = TcpStream::connect(address).ok()?;
    connection.set_read_timeout(Some(PATIENCE)).ok()?;
    connection.write_all(request.as_bytes()).ok()?;
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    // A killed process resets its connections; what came before that counts.
    while let Ok(count @ 1..) = connection.read(&mut piece) {
        bytes.extend_from_slice(&piece[..count]);
        seen.fetch_add(1, Ordering::Relaxed);
    }
    let text = String::from_utf8_lossy(&bytes);
    let head = &text[..text.find("\r\n\r\n")?];
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let episode = head.split("x-tslp-episode: e").nth(1)?;
    let episode = episode.split("\r\n").next()?.parse().ok()?;
    let whole = text.contains("[DONE]") || text.contains("\"usage\"");
    Some(Told {
        episode,
        prompt,
        whole,
    })
}

/// Loads the process with clients, each on a connection after the other, and kills it when they have seen so many
/// pieces. Returns what they were told.
fn load_and_kill(tslp: Tslp<'_>, seed: u64) -> Vec<Told> {
    let mut dice = Dice(seed);
    let clients = 1 + dice.below(4);
    let pieces = dice.below(60);
    let turns = dice.below(2000);
    let address = tslp.address;
    let seen = AtomicU64::new(0);
    let running = AtomicU64::new(clients);
    thread::scope(|scope| {
        let asking: Vec<_> = (0..clients)
            .map(|client| {
                let mut dice = Dice(seed ^ (client << 32));
                let (seen, running) = (&seen, &running);
                scope.spawn(move || {
                    let mut told = Vec::new();
                    for number in 0.. {
                        let name = format!("ring_put_{seed}_{client}_{number}");
                        let code = fenced("src/ring.c", &RING.replace("ring_put", &name));
                        let padding = "more ".repeat(dice.below(2000) as usize);
                        let prompt = format!("{code}{padding}");
                        match ask(address, prompt, dice.below(2) == 0, seen) {
                            Some(answer) => told.push(answer),
                            None => break,
                        }
                        if told.last().is_some_and(|told| !told.whole) {
                            break;
                        }
                    }
                    running.fetch_sub(1, Ordering::Relaxed);
                    told
                })
            })
            .collect();
        let ended = || running.load(Ordering::Relaxed) == 0;
        eventually(|| (seen.load(Ordering::Relaxed) >= pieces || ended()).then_some(()));
        (0..turns).for_each(|_| thread::yield_now());
        tslp.kill();
        let told = asking.into_iter().map(|client| client.join().unwrap());
        told.flatten().collect()
    })
}

/// What the ledger holds of prompts and replies.
#[derive(Default)]
struct Kept {
    prompts: BTreeMap<u64, Vec<ArtifactHash>>,
    replies: BTreeMap<u64, ReplyOutcome>,
    texts: BTreeMap<ArtifactHash, Vec<u8>>,
}

fn kept(data: &Path) -> Kept {
    let readers = ReaderFactory::new(&DataFiles::of(data), &OpenOptions::default());
    let mut kept = Kept::default();
    let mut take = |episode: EpisodeId, event| match event {
        Event::Content(content) => {
            kept.texts.insert(content.hash, content.bytes.to_vec());
        }
        Event::PromptReceived(prompt) => {
            let contents = prompt.messages.iter().map(|message| message.content);
            kept.prompts.insert(episode.0, contents.collect());
        }
        Event::ReplyEnded(ended) => {
            kept.replies.insert(episode.0, ended.outcome);
        }
        _ => {}
    };
    let read = readers.open().unwrap().read(Seq(1), &mut |stored| {
        take(
            stored.episode,
            tslp_migrations::decode(stored.kind, &stored.payload).unwrap(),
        );
        ControlFlow::Continue(())
    });
    read.unwrap();
    kept
}

/// Everything that clients were told is there; gives how many ends of replies were told and are not.
fn check_kept(places: &Places, told: &[Told], story: &str) -> u64 {
    let (code, report) = places.cli_json(&["verify"]);
    assert_eq!(
        (code, &report["ok"]),
        (0, &json!(true)),
        "{story}: {report}"
    );
    let kept = kept(&places.data);
    let mut ends_lost = 0;
    for told in told {
        let prompt = kept.prompts.get(&told.episode);
        let prompt = prompt.unwrap_or_else(|| panic!("{story}: {} was lost", told.episode));
        let text = prompt
            .iter()
            .filter_map(|content| kept.texts.get(content))
            .any(|text| text == told.prompt.as_bytes());
        assert!(text, "{story}: another prompt in episode {}", told.episode);
        let completed = kept.replies.get(&told.episode) == Some(&ReplyOutcome::Completed);
        ends_lost += u64::from(told.whole && !completed);
    }
    ends_lost
}

/// Replies of several chunks, some with code.
fn upstream_says(upstream: &Upstream, seed: u64) {
    let mut dice = Dice(seed);
    for _ in 0..dice.below(30) {
        let lines = "a line of a reply that takes a while\n".repeat(dice.below(300) as usize);
        upstream.will_say(format!("{lines}{}", fenced("src/ring.c", RING)));
    }
}

/// Runs a command and kills it after so many turns of ours, unless it has ended by then. Says whether it was killed.
fn run_and_kill(mut command: Command, turns: u64) -> bool {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    (0..turns).for_each(|_| thread::yield_now());
    child.kill().unwrap();
    child.wait().unwrap().code().is_none()
}

/// Kills copies again and again, each time a little later, until one gets to its end. Each time the copy isn't there, or whole, and what
/// is left is cleaned up by the next.
fn check_killed(made: &Path, copy: impl Fn() -> Command) {
    let mut killed = 0_u32;
    for attempt in 0.. {
        let was_killed = run_and_kill(copy(), attempt * attempt * 40);
        killed += u32::from(was_killed);
        if made.exists() {
            break;
        }
        assert!(was_killed, "{:?}", copy().output());
    }
    assert!(killed > 0, "it was never killed");
    std::fs::remove_dir_all(made).unwrap();
    assert!(copy().output().unwrap().status.success());
    let names = std::fs::read_dir(made.parent().unwrap()).unwrap();
    let left: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [made.file_name().unwrap()]);
}

/// A ledger of some twenty prompts.
fn with_history(places: &Places, upstream: &Upstream) {
    let tslp = Tslp::start(places, upstream);
    for number in 0..20 {
        let name = format!("ring_put_{number}");
        tslp.say(&fenced("src/ring.c", &RING.replace("ring_put", &name)));
    }
    tslp.stop();
}

/// A killed copy, of a ledger or of lines, leaves the whole or nothing.
#[test]
fn killed_copies() {
    let (mut places, upstream) = (Places::new(), Upstream::start());
    with_history(&places, &upstream);
    let everything = ["log", "--json", "--limit", "0"];
    let printed = places.in_workspace(&everything).output().unwrap().stdout;
    let lines = places.path("ledger.jsonl");
    std::fs::write(&lines, &printed).unwrap();
    let copy = places.path("copies/data");
    check_killed(&copy, || {
        let mut command = places.in_workspace(&["copy"]);
        command.arg(&copy);
        command
    });
    assert_eq!(places.cli_json(&["verify"]).0, 0);
    places.data.clone_from(&copy);
    assert_eq!(places.cli_json(&["verify"]).0, 0);
    let from_lines = places.path("from_lines/data");
    places.data.clone_from(&from_lines);
    check_killed(&from_lines, || {
        let mut command = places.in_workspace(&["copy"]);
        command.arg("--from").arg(&lines);
        command
    });
    assert!(places.in_workspace(&everything).output().unwrap().stdout == printed);
    assert_eq!(places.cli_json(&["verify"]).0, 0);
}

fn number(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(
        value
            .parse()
            .unwrap_or_else(|_| panic!("{name} is a number")),
    )
}

/// Kills at random moments under load lose nothing that was acknowledged.
#[test]
#[expect(clippy::print_stdout, reason = "the figures of a long run")]
fn random_kills() {
    let kills = number("TSLP_KILLS").unwrap_or(KILLS);
    let first = number("TSLP_SEED").unwrap_or(1);
    let (mut acknowledged, mut whole, mut ends_lost) = (0, 0, 0);
    let mut seed = first;
    while seed < first + kills {
        let (places, upstream) = (Places::new(), Upstream::start());
        let (mut told, mut lost) = (Vec::new(), 0);
        for _ in 0..KILLS_PER_LEDGER.min(first + kills - seed) {
            upstream_says(&upstream, seed);
            let tslp = Tslp::start(&places, &upstream);
            told.extend(load_and_kill(tslp, seed));
            lost = check_kept(&places, &told, &format!("seed {seed}"));
            seed += 1;
        }
        acknowledged += told.len();
        ends_lost += lost;
        whole += told.iter().filter(|told| told.whole).count();
        // The next process goes on from there.
        let tslp = Tslp::start(&places, &upstream);
        assert_eq!(tslp.page("/doctor")["ok"], true, "seed {seed}");
        let next = tslp.say("hello").episode();
        assert!(told.iter().all(|told| told.episode < next));
    }
    assert!(acknowledged > 0);
    println!(
        "{kills} kills: {acknowledged} prompts acknowledged and kept; {whole} replies seen to their end, of which the ends \
         of {ends_lost} weren't committed yet"
    );
}
