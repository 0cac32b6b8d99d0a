//! What is kept of prompts and replies, by counting what is allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tslp_core::event::{DiskFinding, ReplyOutcome};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{Seq, UnixMillis};
use tslp_core::message::Attempt;
use tslp_core::policy::Policy;
use tslp_core::request::Request;
use tslp_decide::reply::Reply;
use tslp_grammars::TreeSitterGrammars;
use tslp_projections::state::State;
use tslp_projections::store::{Store, Unreadable};
use tslp_projections::vault::VaultLocation;
use tslp_replay::engine::Engine;
use tslp_replay::pending::DiskAnswers;
use tslp_wire::chat::dialect::Dialect;
use tslp_wire::chat::request::{KnownMessages, RequestEnvelope, read_request};

/// Bytes that are allocated now.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: all is the system's allocator's; only sizes are counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A store that took everything and gives nothing back: what the engine keeps is counted without it.
struct Sink;

impl Store for Sink {
    fn has_archives(&self) -> bool {
        true
    }

    fn content(&self, _: Seq) -> Option<Arc<[u8]>> {
        None
    }

    fn location(&self, _: ArtifactHash) -> Result<Option<VaultLocation>, Unreadable> {
        Ok(None)
    }

    fn outdated_since(&self, _: ArtifactHash) -> Result<Option<Seq>, Unreadable> {
        Ok(None)
    }

    fn made_by(&self, _: ArtifactHash, _: Seq) -> Result<Option<ArtifactHash>, Unreadable> {
        Ok(None)
    }
}

/// A client's requests on their way through the wire's reader and the engine, each with its reply.
struct Soak {
    known: KnownMessages,
    engine: Engine<TreeSitterGrammars, Sink>,
    clock: i64,
}

impl Soak {
    fn read(&mut self, body: &str) -> Request {
        let envelope = RequestEnvelope {
            dialect: Dialect::ChatCompletions,
            session_name: None,
            attempt: Attempt::First,
        };
        let read = read_request(body.as_bytes(), envelope, &mut self.known);
        read.expect("a request").expect("a prompt").1
    }

    fn ask(&mut self, body: &str, answer: &str) {
        let request = self.read(body);
        self.clock += 1000;
        let at = UnixMillis(self.clock);
        let pending = self.engine.receive(at, request);
        let missing = |path: &_| (Clone::clone(path), DiskFinding::Missing);
        let answers = DiskAnswers {
            findings: pending
                .checks
                .iter()
                .map(|check| missing(&check.path))
                .collect(),
            ..DiskAnswers::default()
        };
        let composed = self.engine.compose(pending, answers);
        let episode = composed.episode;
        if let Some(conversation) = composed.conversation {
            self.engine
                .keep_sent(episode, conversation, &composed.request, &composed.outgoing);
        }
        let reply = Reply {
            tail: answer.into(),
            finish_reason: Some("stop".into()),
            ..Reply::default()
        };
        let pending = self
            .engine
            .end_reply(at, episode, reply, ReplyOutcome::Completed);
        let answers = DiskAnswers {
            findings: pending
                .checks
                .iter()
                .map(|check| missing(&check.path))
                .collect(),
            ..DiskAnswers::default()
        };
        self.engine.judge(pending, answers);
        self.engine.rows_made_durable(self.engine.state().head());
    }
}

/// Runs `count` prompts, and returns the most that was kept in the first two fifths and in the rest.
fn most_kept(count: usize, mut ask: impl FnMut(&mut Soak, usize)) -> [usize; 2] {
    let before = ALLOCATED.load(Ordering::Relaxed);
    let mut soak = Soak {
        known: KnownMessages::default(),
        engine: Engine::new(
            State::default(),
            TreeSitterGrammars,
            Policy::default(),
            Sink,
        ),
        clock: 1_700_000_000_000,
    };
    let mut most = [0; 2];
    for number in 0..count {
        ask(&mut soak, number);
        let kept = ALLOCATED.load(Ordering::Relaxed) - before;
        let most = &mut most[usize::from(number >= count * 2 / 5)];
        *most = kept.max(*most);
    }
    most
}

fn body_of(text: &str) -> String {
    serde_json::json!({"model": "m", "messages": [{"role": "user", "content": text}]}).to_string()
}

/// Twice what a generation of remembered messages may weigh, and a fifth for what its weights leave out.
const KEPT_BYTES_MAX: usize = 2 * (6 << 20) * 6 / 5;

/// The proxy grew by 2.1 to 4.9 KB a prompt without an end. One test, since both count what the whole process has.
#[test]
fn fifty_thousand_prompts_leave_no_more_than_twenty_thousand() {
    let [early, late] = most_kept(50_000, |soak, number| {
        let question = format!("question {number}: {}", "why? ".repeat(number % 400));
        soak.read(&body_of(&question));
    });
    assert!(early > KEPT_BYTES_MAX / 3, "it fills: {early}");
    assert!(late <= early + (64 << 10), "it is flat: {early}, {late}");
    assert!(late <= KEPT_BYTES_MAX, "it is bounded: {late}");

    // Whole episodes: a file is pasted, or its function is named and improved, over and over.
    let [early, late] = most_kept(50_000, |soak, number| {
        let file = number / 2 % 40;
        let code = format!("int f{file}(void) {{\n    return {number};\n}}\n");
        let fenced = format!("```c:src/m{file}.c\n{code}```\n");
        let asked = if number % 10 == 0 {
            fenced.clone()
        } else {
            format!("Question {number}: improve `f{file}` in src/m{file}.c, please.")
        };
        let answer = if number % 10 == 1 {
            fenced
        } else {
            format!("Answer {number}.")
        };
        soak.ask(&body_of(&asked), &answer);
    });
    let flat = early + (256 << 10);
    assert!(late <= flat, "it is flat: {early}, {late}");
}
