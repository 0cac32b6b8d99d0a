//! Replies of a real small model, as they were recorded (`value/README.md`), replayed through the engine: what the model is
//! shown of the code that it is asked to change, what becomes of its replies, and what it reads anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tslp_core::event::Event;
use tslp_core::outgoing::{Outgoing, OutgoingMessage};
use tslp_core::policy::Policy;
use tslp_snapshots::script::{Ending, Step};
use tslp_snapshots::stage::{SentPrompt, Stage};

use crate::agents::session::promoted;

/// What a session may make a model server read, in parts of what it reads without the proxy.
const RATIO_MAX: f64 = 1.2;

/// The share of the last replies that break something and may become true, as they add or rewrite what is wrong and take nothing away.
const WRONG_PROMOTED_MAX: f64 = 6.0 / 58.0;

/// How many of the damaging replies may become true. The aim is 2 of 26, which would be 4 here; of these six two rewrite the whole
/// function in a like shape, and one is wrong in what it means.
const DAMAGING_PROMOTED_MAX: usize = 6;

/// `value/recorded/NAME.json`.
struct Recording(Value);

/// A turn: the user's words, the reply, the file when they are said.
struct Turn<'r> {
    user: &'r str,
    reply: &'r str,
    disk: &'r str,
}

/// A conversation up to one request, and the model's reply to it.
struct Probe<'r> {
    name: &'r str,
    turns: Vec<Turn<'r>>,
    function: &'r str,
    /// The function's code as it is on disk, or accepted and not saved yet.
    current: &'r str,
    /// Whether the reply, taken as it is, makes a unit test fail.
    is_damaging: bool,
    /// Whether the reply does what was asked, by its unit test.
    is_met: bool,
}

impl Recording {
    fn text(&self, number: &Value) -> &str {
        let number = number
            .as_u64()
            .and_then(|number| usize::try_from(number).ok());
        self.0["texts"][number.expect("a text's number")]
            .as_str()
            .expect("a text")
    }

    fn path(&self) -> &str {
        self.0["path"].as_str().expect("a path")
    }

    fn turns(&self, turns: &Value) -> Vec<Turn<'_>> {
        let turns = turns.as_array().expect("turns").iter().map(|turn| Turn {
            user: self.text(&turn[0]),
            reply: self.text(&turn[1]),
            disk: self.text(&turn[2]),
        });
        turns.collect()
    }

    fn probes(&self) -> Vec<Probe<'_>> {
        let probes = self.0["probes"].as_array().expect("probes").iter();
        let probes = probes.map(|probe| Probe {
            name: probe["name"].as_str().expect("a name"),
            turns: self.turns(&probe["turns"]),
            function: probe["function"].as_str().expect("a function"),
            current: self.text(&probe["current"]),
            is_damaging: probe["broken"] == true,
            is_met: probe["met"] == true,
        });
        probes.collect()
    }
}

/// What became of probes of one kind.
#[derive(Default)]
struct Tally {
    prompts: usize,
    in_sight: usize,
    last: usize,
    damaging: usize,
    damaging_promoted: usize,
    healthy: usize,
    healthy_promoted: usize,
    reasons: BTreeMap<&'static str, usize>,
    /// The symbols whose damaging reply was promoted.
    let_through: Vec<String>,
}

/// No damage in a small model's recorded replies is promoted.
#[test]
fn recorded_replies() {
    let recordings = recordings();
    let mut broken = Vec::new();
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for recording in &recordings {
        for probe in recording.probes() {
            broken.extend(play_probe(
                recording.path(),
                &probe,
                tallies.entry(probe.name).or_default(),
            ));
        }
    }
    let mut page = String::from(
        "probes | prompts | current code in sight | and last | damaging replies promoted | healthy ones promoted | notices and refusals\n",
    );
    for (name, tally) in &tallies {
        let reasons = tally
            .reasons
            .iter()
            .map(|(reason, count)| format!("{reason} {count}"));
        let _ = writeln!(
            page,
            "{name} | {} | {} | {} | {} of {} | {} of {} | {}",
            tally.prompts,
            tally.in_sight,
            tally.last,
            tally.damaging_promoted,
            tally.damaging,
            tally.healthy_promoted,
            tally.healthy,
            reasons.collect::<Vec<_>>().join(", "),
        );
        for entity in &tally.let_through {
            let _ = writeln!(page, "    promoted: {entity}");
        }
    }
    let sum = |count: fn(&Tally) -> usize| tallies.values().map(count).sum::<usize>();
    let (damaging, promoted) = (sum(|it| it.damaging), sum(|it| it.damaging_promoted));
    if promoted > DAMAGING_PROMOTED_MAX {
        broken.push(format!(
            "{promoted} of {damaging} damaging replies were promoted"
        ));
    }
    page.push_str("\nsession | read anew directly | through the proxy, in characters\n");
    for recording in &recordings {
        let (direct, through) = play_session(recording, &mut broken);
        let _ = writeln!(page, "{} | {direct} | {through}", recording.path());
        if through as f64 > direct as f64 * RATIO_MAX {
            broken.push(format!(
                "{}: {through} characters read anew, {direct} directly",
                recording.path()
            ));
        }
    }
    assert!(broken.is_empty(), "{}\n\n{page}", broken.join("\n"));
    insta::with_settings!({
        omit_expression => true,
        description => "What a small model is shown of the code it is asked to change, and what becomes of its recorded replies.",
        snapshot_path => "../../golden",
        prepend_module_to_snapshot => false,
    }, {
        insta::assert_snapshot!("value__recorded_replies", page);
    });
}

/// What a small model breaks is refused, and nothing else is.
#[test]
fn refused_breakage() {
    let (mut damaging, mut promoted) = (0, Vec::new());
    let mut broken = Vec::new();
    for recording in recordings() {
        for probe in recording.probes() {
            let name = format!("{}: {}::{}", probe.name, recording.path(), probe.function);
            let mut stage = stage();
            let mut before_last = false;
            let last = probe.turns.len() - 1;
            let is_true = |stage: &Stage| {
                let episode = stage.last_sent().expect("a prompt").episode;
                let entity = format!("{}::{}", recording.path(), probe.function);
                crate::agents::session::promoted(stage.ledger()).contains(&(episode, entity))
            };
            for (index, turn) in probe.turns.iter().enumerate() {
                play_turn(&mut stage, recording.path(), turn);
                if index + 1 == last {
                    before_last = is_true(&stage);
                }
            }
            if probe.name.starts_with("damaged before") && before_last {
                broken.push(format!("{name}: the damaged reply became true"));
            }
            if probe.is_damaging {
                damaging += 1;
                promoted.extend(is_true(&stage).then_some(name));
            } else if probe.is_met && !is_true(&stage) {
                broken.push(format!("{name}: the healthy reply was refused"));
            }
        }
    }
    assert!(
        broken.is_empty() && promoted.len() as f64 <= damaging as f64 * WRONG_PROMOTED_MAX,
        "{}\n{} of {damaging} damaging replies:\n{}",
        broken.join("\n"),
        promoted.len(),
        promoted.join("\n")
    );
}

fn recordings() -> Vec<Recording> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("value/recorded");
    let files = fs::read_dir(folder).expect("the recordings");
    let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    let read = |file: &_| serde_json::from_str(&fs::read_to_string(file).expect("a recording"));
    files
        .iter()
        .map(|file| Recording(read(file).expect("JSON")))
        .collect()
}

/// Plays it; what is wrong with the last prompt, or with what became of its reply.
fn play_probe<'r>(path: &str, probe: &Probe<'r>, tally: &mut Tally) -> Vec<String> {
    let mut stage = stage();
    let mut before = 0;
    for turn in &probe.turns {
        before = stage.ledger().len();
        play_turn(&mut stage, path, turn);
    }
    let sent = stage.last_sent().expect("a prompt");
    let mut broken = mutilated(sent);
    let entity = format!("{path}::{}", probe.function);
    let (count, is_last) = sight(&rendered(sent), probe.current);
    tally.prompts += 1;
    tally.in_sight += usize::from(count > 0);
    tally.last += usize::from(is_last);
    // What the user changed on disk is the user's to accept; until then nothing is shown as current.
    let is_edited = probe.name.starts_with("hand edit untold");
    // Shown once by the proxy, unless it is the last version that the client itself sends.
    let (clients, is_clients_last) = sight(&rendered(&unchanged(sent)), probe.current);
    if !is_edited && (!is_last || count != clients + usize::from(!is_clients_last)) {
        broken.push(format!(
            "current code {count} times in sight, last: {is_last}"
        ));
    }
    let episode = sent.episode;
    let became_true = promoted(stage.ledger()).contains(&(episode, entity.clone()));
    if probe.is_damaging {
        tally.damaging += 1;
        tally.damaging_promoted += usize::from(became_true);
        tally
            .let_through
            .extend(became_true.then(|| entity.clone()));
    } else if probe.is_met {
        tally.healthy += 1;
        tally.healthy_promoted += usize::from(became_true);
        if !became_true {
            broken.push("a healthy reply did not become true".into());
        }
    }
    for recorded in &stage.ledger()[before..] {
        let reason = match &recorded.event {
            Event::NoticeIssued(notice) => notice.reason.code(),
            Event::PromotionRefused(refused) => match refused.report.conclusion {
                Some(reason) => reason.code(),
                None => continue,
            },
            _ => continue,
        };
        *tally.reasons.entry(reason).or_default() += 1;
    }
    broken
        .iter()
        .map(|what| format!("{}: {entity}: {what}", probe.name))
        .collect()
}

/// How often the text holds the code, and whether no other version of its function follows.
fn sight(text: &str, current: &str) -> (usize, bool) {
    let signature = current.split_inclusive('(').next().expect("a signature");
    let last = text.rfind(signature);
    let is_last = last.is_some_and(|at| text[at..].starts_with(current));
    (text.matches(current).count(), is_last)
}

/// Plays a session; what would be read anew of its prompts directly, and what is.
fn play_session(recording: &Recording, broken: &mut Vec<String>) -> (usize, usize) {
    let mut stage = stage();
    let (mut direct, mut through) = (ReadAnew::default(), ReadAnew::default());
    for turn in recording.turns(&recording.0["session"]) {
        play_turn(&mut stage, recording.path(), &turn);
        let sent = stage.last_sent().expect("a prompt");
        broken.extend(mutilated(sent));
        direct.add(rendered(&unchanged(sent)));
        through.add(rendered(sent));
    }
    stage.check_replay();
    (direct.characters, through.characters)
}

fn stage() -> Stage {
    let mut stage = Stage::new(Policy::default());
    stage.adopt_on_touch();
    stage
}

fn play_turn(stage: &mut Stage, path: &str, turn: &Turn<'_>) {
    stage.step(Step::Disk {
        path: path.into(),
        text: turn.disk.into(),
    });
    stage.step(Step::User(turn.user.into()));
    stage.step(Step::Model {
        text: turn.reply.into(),
        ending: Ending::Whole,
    });
}

/// The prompt as the client sent it.
fn unchanged(sent: &SentPrompt) -> SentPrompt {
    let messages = (0..sent.request.messages.len()).map(|index| OutgoingMessage {
        index,
        ..OutgoingMessage::default()
    });
    SentPrompt {
        episode: sent.episode,
        request: sent.request.clone(),
        outgoing: Outgoing {
            system: None,
            messages: messages.collect(),
        },
    }
}

fn rendered(sent: &SentPrompt) -> String {
    let system = sent.outgoing.system.iter().cloned();
    system.chain(sent.messages()).collect::<Vec<_>>().join("\n")
}

/// Code blocks of the prompt that neither the client sent nor the proxy injected as a whole.
fn mutilated(sent: &SentPrompt) -> Vec<String> {
    let client = unchanged(sent).messages().concat();
    let rewritten = sent
        .outgoing
        .messages
        .iter()
        .flat_map(|message| &message.rewritten);
    let texts = rewritten.map(|(_, text)| text).chain(&sent.outgoing.system);
    let blocks = texts.flat_map(|text| text.split("```").skip(1).step_by(2));
    let strange = blocks.filter(|block| !client.contains(*block));
    let lines = |block: &str| block.lines().count();
    strange
        .map(|block| format!("a code block of {} lines that nobody sent", lines(block)))
        .collect()
}

/// What follows each prompt's longest common prefix with one before it.
#[derive(Default)]
struct ReadAnew {
    known: Vec<String>,
    characters: usize,
}

impl ReadAnew {
    fn add(&mut self, text: String) {
        let shared = |known: &String| {
            let pairs = known.chars().zip(text.chars());
            pairs.take_while(|(one, other)| one == other).count()
        };
        let known = self.known.iter().map(shared).max().unwrap_or(0);
        self.characters += text.chars().count() - known;
        self.known.push(text);
    }
}
