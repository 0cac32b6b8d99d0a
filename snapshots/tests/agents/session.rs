//! Plays a recording through the engine, and tells what became of each of its requests.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use tslp_core::artifact::{Origin, Transition};
use tslp_core::decide::reply::Reply;
use tslp_core::event::{Event, Recorded, ReplyOutcome};
use tslp_core::ids::EpisodeId;
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_io::chat::request::{self, Envelope};
use tslp_snapshots::disk::Place;
use tslp_snapshots::recording::{self, Edit, Step};
use tslp_snapshots::stage::Stage;

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
    /// What the reply changes, and whether all of that became true.
    pub(super) edits: Vec<(Edit, bool)>,
}

impl Exchange {
    /// Whether the client asked for something beside its conversation.
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

/// Each message of a body, as it stands there.
pub(super) fn messages(body: &[u8]) -> Vec<String> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_slice(body).unwrap();
    let messages: Vec<&RawValue> = serde_json::from_str(fields["messages"].get()).unwrap();
    messages
        .iter()
        .map(|message| message.get().to_owned())
        .collect()
}

/// Plays a recording in a project of which nothing is known, and replays its ledger.
pub(super) fn play(name: &str, text: &str) -> Session {
    let mut stage = Stage::new(Policy {
        workspace_root: recording::ROOT.into(),
        ..Policy::default()
    });
    // No file of a language that is read is hidden or ignored by git in these projects.
    stage.adopt_on_touch();
    let mut steps = Vec::new();
    for step in recording::read(text).steps {
        let before = stage.ledger().len();
        let (episode, sent) = step_through(&mut stage, &step);
        steps.push((episode, step, sent, before..stage.ledger().len()));
    }
    stage.check_replay();
    let promoted = promoted(stage.ledger());
    let exchanges = steps.into_iter().map(|(episode, step, sent, range)| {
        let became_true = |entity: &String| promoted.contains(&(episode, entity.clone()));
        let recorded = stage.ledger()[range].iter();
        Exchange {
            client: step.body,
            sent,
            events: recorded.map(|recorded| recorded.event.clone()).collect(),
            edits: step
                .edits
                .into_iter()
                .map(|edit| {
                    let became_true = edit.entities.iter().all(became_true);
                    (edit, became_true)
                })
                .collect(),
        }
    });
    Session {
        name: name.into(),
        exchanges: exchanges.collect(),
    }
}

/// The request goes out, as the proxy writes it, and is answered.
fn step_through(stage: &mut Stage, step: &Step) -> (EpisodeId, Vec<u8>) {
    for (path, text) in &step.files {
        let path = RelPath::from_normalised(path);
        match text {
            Some(text) => stage.disk_mut().put(path, Place::File(text.clone())),
            None => stage.disk_mut().delete(&path),
        }
    }
    let (body, request) = request::read(&step.body, Envelope::default()).unwrap();
    let episode = stage.receive(request);
    let went_out = stage.sent().unwrap();
    let sent = match went_out.outgoing.is_unchanged(&went_out.request) {
        true => step.body.clone(),
        false => body.with(&went_out.request, &went_out.outgoing).bytes,
    };
    let ends_with_calls = !step.calls.is_empty();
    let reply = Reply {
        tail: step.text.clone(),
        tool_calls: step.calls.clone(),
        finish_reason: Some(if ends_with_calls { "tool_calls" } else { "stop" }.into()),
        ..Reply::default()
    };
    stage.end(episode, reply, ReplyOutcome::Completed);
    (episode, sent)
}

/// The entities of which a version became true that this episode's reply proposed.
fn promoted(ledger: &[Recorded]) -> BTreeSet<(EpisodeId, String)> {
    let mut captures = BTreeMap::new();
    let mut versions = BTreeMap::new();
    let mut promoted = BTreeSet::new();
    for recorded in ledger {
        match &recorded.event {
            Event::ArtifactCaptured(captured) if captured.origin == Origin::Model => {
                captures.insert(captured.capture, captured.episode);
            }
            Event::ArtifactResolved(resolved) => {
                let Some(episode) = captures.get(&resolved.capture) else {
                    continue;
                };
                for version in &resolved.versions {
                    versions.insert(version.id, (*episode, version.entity.to_string()));
                }
            }
            Event::Transitioned(moved) if moved.transition == Transition::Promote => {
                promoted.extend(versions.get(&moved.version).cloned());
            }
            _ => {}
        }
    }
    promoted
}
