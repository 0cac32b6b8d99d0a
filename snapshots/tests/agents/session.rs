//! Plays a recording through the engine, and records what became of each of its requests.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use serde_json::value::RawValue;
use tslp_core::artifact::{Origin, Transition};
use tslp_core::event::{Event, Recorded, ReplyOutcome};
use tslp_core::ids::EpisodeId;
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_decide::judge::reply::Reply;
use tslp_snapshots::disk::DiskEntry;
use tslp_snapshots::recording::{self, RecordedEdit, RecordedStep};
use tslp_snapshots::stage::Stage;
use tslp_wire::chat::request::{self, KnownMessages, RequestEnvelope};
use tslp_wire::chat::rewrite::RewrittenMessages;

/// A recording that was played.
pub(super) struct Session {
    /// The recording's name.
    pub(super) name: String,
    /// Its requests in order.
    pub(super) exchanges: Vec<Exchange>,
}

/// One request.
pub(super) struct Exchange {
    /// As the client sent it.
    pub(super) client: Vec<u8>,
    /// As it went out.
    pub(super) sent: Vec<u8>,
    /// What was decided about it, and about its reply.
    pub(super) events: Vec<Event>,
    /// What the reply changes.
    pub(super) edits: Vec<Judged>,
}

/// A change that a reply makes.
pub(super) struct Judged {
    edit: RecordedEdit,
    /// Whether the reply's version of all that it changes became true.
    pub(super) became_true: bool,
}

impl Judged {
    /// Whether it leaves nothing out.
    pub(super) const fn is_healthy(&self) -> bool {
        self.edit.is_healthy
    }

    pub(super) fn entities(&self) -> String {
        self.edit.entities.join(", ")
    }
}

impl Session {
    /// The edits with their steps. What a model changes in its reply to a side request is no edit: it can't be asked for one.
    pub(super) fn edits(&self) -> impl Iterator<Item = (usize, &Judged)> {
        let exchanges = self.exchanges.iter().enumerate();
        let prompts = exchanges.filter(|(_, exchange)| !exchange.is_side_request());
        prompts.flat_map(|(step, exchange)| exchange.edits.iter().map(move |edit| (step, edit)))
    }
}

impl Exchange {
    pub(super) fn is_unchanged(&self) -> bool {
        self.sent == self.client
    }

    /// Each message as the client sent it.
    pub(super) fn client_messages(&self) -> Vec<String> {
        messages(&self.client)
    }

    /// Each message as it went out.
    pub(super) fn sent_messages(&self) -> Vec<String> {
        messages(&self.sent)
    }

    /// The reasons of notices, and of versions that stay proposed.
    pub(super) fn reasons(&self) -> String {
        let reasons = self.events.iter().filter_map(|event| match event {
            Event::NoticeIssued(notice) => Some(notice.reason.code()),
            Event::PromotionRefused(refused) => Some(refused.report.conclusion?.code()),
            _ => None,
        });
        reasons.collect::<Vec<_>>().join(", ")
    }

    /// Whether the client asked for something outside of its conversation.
    pub(super) fn is_side_request(&self) -> bool {
        let mut events = self.events.iter();
        events.any(|event| matches!(event, Event::SideRequestReceived(_)))
    }

    /// Whether code was withheld from it that wasn't before.
    pub(super) fn withholds(&self) -> bool {
        self.events.iter().any(
            |event| matches!(event, Event::PromptAmended(amended) if !amended.withheld.is_empty()),
        )
    }
}

/// The JSON of each message of a body.
fn messages(body: &[u8]) -> Vec<String> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_slice(body).expect("a body");
    let messages: Vec<&RawValue> =
        serde_json::from_str(fields["messages"].get()).expect("messages");
    messages
        .iter()
        .map(|message| message.get().to_owned())
        .collect()
}

/// Plays a recording.
pub(super) fn play(name: &str, text: &str) -> Session {
    play_steps(name, recording::read(text).steps)
}

/// Plays requests in a project of which nothing is known, and replays its ledger.
pub(super) fn play_steps(name: &str, requests: Vec<RecordedStep>) -> Session {
    play_without(name, requests, None)
}

/// … after the user has turned a file off, if one is named.
pub(super) fn play_without(name: &str, requests: Vec<RecordedStep>, off: Option<&str>) -> Session {
    let mut stage = Stage::new(Policy {
        workspace_root: recording::ROOT.into(),
        ..Policy::default()
    });
    // No file of a language that is read is hidden or ignored by git in these projects.
    stage.adopt_on_touch();
    let mut steps = Vec::new();
    if let Some(path) = off {
        let words = json!({"role": "user", "content": format!("@tslp off {path}")});
        let said = RecordedStep {
            body: json!({"model": "m", "messages": [words]})
                .to_string()
                .into_bytes(),
            text: "Noted.".into(),
            files: requests[0].files.clone(),
            written: Vec::new(),
            calls: Vec::new(),
            edits: Vec::new(),
        };
        step_through(&mut stage, &said);
    }
    for step in requests {
        let before = stage.ledger().len();
        let (episode, sent) = step_through(&mut stage, &step);
        steps.push((episode, step, sent, before..stage.ledger().len()));
    }
    stage.check_replay();
    let promoted = promoted(stage.ledger());
    let exchanges = steps.into_iter().map(|(episode, step, sent, range)| {
        let is_promoted = |entity: &String| promoted.contains(&(episode, entity.clone()));
        let judged = |edit: RecordedEdit| Judged {
            became_true: edit.entities.iter().all(is_promoted),
            edit,
        };
        let recorded = stage.ledger()[range].iter();
        Exchange {
            client: step.body,
            sent,
            events: recorded.map(|recorded| recorded.event.clone()).collect(),
            edits: step.edits.into_iter().map(judged).collect(),
        }
    });
    Session {
        name: name.into(),
        exchanges: exchanges.collect(),
    }
}

/// The request goes out, as the proxy writes it, and is answered.
pub(super) fn step_through(stage: &mut Stage, step: &RecordedStep) -> (EpisodeId, Vec<u8>) {
    put_files(stage, &step.files);
    let mut known = KnownMessages::default();
    let Ok(Some((body, request))) =
        request::read_request(&step.body, RequestEnvelope::default(), &mut known)
    else {
        panic!("a request");
    };
    let episode = stage.receive(request);
    let went_out = stage.last_sent().expect("it went out");
    let sent = if went_out.outgoing.is_unchanged(&went_out.request) {
        step.body.clone()
    } else {
        let mut rewritten = RewrittenMessages::default();
        body.with_messages(
            &went_out.request,
            &went_out.outgoing,
            &mut rewritten,
            Vec::with_capacity,
        )
        .bytes
    };
    put_files(stage, &step.written);
    let ends_with_calls = !step.calls.is_empty();
    let reply = Reply {
        tail: step.text.clone(),
        tool_calls: step.calls.clone(),
        finish_reason: Some(
            if ends_with_calls {
                "tool_calls"
            } else {
                "stop"
            }
            .into(),
        ),
        ..Reply::default()
    };
    stage.end_reply(episode, reply, ReplyOutcome::Completed);
    (episode, sent)
}

fn put_files(stage: &mut Stage, files: &[(String, Option<String>)]) {
    for (path, text) in files {
        let path = RelPath::from_normalised(path);
        match text {
            Some(text) => stage.disk_mut().put(path, DiskEntry::File(text.clone())),
            None => stage.disk_mut().delete(&path),
        }
    }
}

/// The entities of which a version became true that this episode's reply proposed.
pub(crate) fn promoted(ledger: &[Recorded]) -> BTreeSet<(EpisodeId, String)> {
    let mut captures = BTreeMap::new();
    let mut versions = BTreeMap::new();
    let mut promoted = BTreeSet::new();
    for recorded in ledger {
        match &recorded.event {
            Event::ArtifactCaptured(captured) if captured.origin == Origin::Model => {
                captures.insert(captured.capture, recorded.episode);
            }
            Event::ArtifactResolved(resolved) => {
                let Some(episode) = captures.get(&resolved.capture) else {
                    continue;
                };
                for version in &resolved.versions {
                    versions.insert(version.id, (*episode, version.entity.to_string()));
                }
            }
            event => {
                let moves = event.transitions();
                let moves = moves.filter(|moved| moved.transition == Transition::Promote);
                promoted.extend(moves.filter_map(|it| versions.get(&it.version).cloned()));
            }
        }
    }
    promoted
}
