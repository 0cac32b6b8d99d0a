//! The lines that `tslp log --json` prints, an event each. docs/storage.md describes them.
//!
//! A line has exactly one form. Whoever reads one prints it again and compares: what was edited in any way, be it by a
//! blank or a field that nobody knows, isn't the same line any more.

use std::borrow::Cow;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tslp_core::event::{Envelope, Event, EventKind};
use tslp_core::ids::{EpisodeId, Seq, SessionId, UnixMillis};
use tslp_core::visible::visible_json;
use tslp_migrations::{decode, encode};
use tslp_replay::chain::ChainHash;
use tslp_replay::log::Stored;

/// An error in a line.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It isn't JSON, or a field is missing or wrong.
    #[error("it can't be read: {0}")]
    Json(#[from] serde_json::Error),
    /// There is no such layout of an event.
    #[error("{0} is no number of that kind of event known to this version of tslp; update tslp")]
    Number(u32),
    /// There is no such kind of event.
    #[error("`{0}` is no kind of event known to this version of tslp; update tslp")]
    Kind(String),
    /// The event can't be stored.
    #[error("the event can't be stored: {0}")]
    Encode(#[from] tslp_migrations::EncodeError),
    /// The payload isn't the event's.
    #[error("its payload is not that of its event")]
    Payload,
    /// The line isn't as tslp prints it.
    #[error("it is not as tslp wrote it: it was edited or formatted anew")]
    Edited,
}

/// An event's line.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    seq: Seq,
    at: UnixMillis,
    episode: EpisodeId,
    session: SessionId,
    ends_step: bool,
    number: u32,
    #[serde(flatten)]
    event: Cow<'a, Event>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<String>,
    digest: String,
    #[serde(with = "chain_text")]
    chain: ChainHash,
}

impl<'a> Line<'a> {
    fn new(stored: &Stored, event: Cow<'a, Event>) -> Self {
        let follows =
            encode(&event).is_ok_and(|it| it.kind == stored.kind && it.payload == stored.payload);
        Self {
            seq: stored.seq,
            at: stored.at,
            episode: stored.episode,
            session: stored.session,
            ends_step: stored.ends_step,
            number: stored.kind,
            event,
            payload: (!follows).then(|| BASE64_STANDARD.encode(&stored.payload)),
            digest: blake3::hash(&stored.payload).to_string(),
            chain: stored.chain,
        }
    }

    /// Nothing in it is for a terminal to obey.
    fn to_text(&self) -> String {
        visible_json(&serde_json::to_string(self).expect("all its keys are names"))
    }

    /// The stored event; its chain is not looked at.
    fn to_stored(&self) -> Result<Stored, LineError> {
        let payload = match &self.payload {
            Some(text) => BASE64_STANDARD
                .decode(text)
                .ok()
                .filter(|payload| decode(self.number, payload).as_ref() == Ok(&*self.event))
                .ok_or(LineError::Payload)?,
            None => {
                let encoded = encode(&self.event)?;
                if encoded.kind != self.number {
                    return Err(LineError::Number(self.number));
                }
                encoded.payload
            }
        };
        Ok(Stored {
            envelope: Envelope {
                seq: self.seq,
                at: self.at,
                episode: self.episode,
                session: self.session,
                ends_step: self.ends_step,
            },
            kind: self.number,
            payload,
            chain: self.chain,
        })
    }
}

mod chain_text {
    use serde::{Deserialize, Deserializer, Serializer};
    use tslp_replay::chain::ChainHash;

    pub(super) fn serialize<S: Serializer>(chain: &ChainHash, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(chain)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<ChainHash, D::Error> {
        let text = String::deserialize(from)?;
        match blake3::Hash::from_hex(&text) {
            Ok(hash) => Ok(ChainHash(hash.into())),
            Err(_) => Err(serde::de::Error::custom("`chain` is no hash")),
        }
    }
}

/// An event's line, without its end.
///
/// The payload itself is left out where encoding the event gives it, which is always so for events of this program's own
/// layouts.
#[must_use]
pub fn event_line(stored: &Stored, event: &Event) -> String {
    Line::new(stored, Cow::Borrowed(event)).to_text()
}

/// Reads an event's line; its chain is not looked at.
///
/// # Errors
/// When it isn't exactly what [`event_line`] prints.
pub fn read_event(text: &str) -> Result<Stored, LineError> {
    let line: Line<'_> = serde_json::from_str(text).map_err(|error| unreadable(text, error))?;
    let stored = line.to_stored()?;
    let again = Line::new(&stored, line.event);
    if again.to_text() == text {
        Ok(stored)
    } else {
        Err(LineError::Edited)
    }
}

/// Why a line can't be read: a newer tslp may know its kind of event.
fn unreadable(text: &str, error: serde_json::Error) -> LineError {
    let value: Option<Value> = serde_json::from_str(text).ok();
    match value.as_ref().and_then(|value| value["kind"].as_str()) {
        Some(kind) if EventKind::of_word(kind).is_none() => LineError::Kind(kind.to_owned()),
        _ => LineError::Json(error),
    }
}

/// The event's fields as a JSON object.
#[must_use]
pub fn event_fields(event: &Event) -> Value {
    let mut whole = serde_json::to_value(event).expect("all its keys are names");
    whole["event"].take()
}
