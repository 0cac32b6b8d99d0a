//! The lines of an export: one header, then one event each. docs/export.md describes them.
//!
//! A line has exactly one form. Whoever reads one prints it again and compares: what was edited in any way, be it by a
//! blank or a field that nobody knows, isn't the same line any more.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use serde_json::{Value, json};
use tslp_core::event::Event;
use tslp_migrations::{decode, encode};
use tslp_replay::chain::ChainHash;
use tslp_replay::log::{Head, Stored};

use super::json::{self, JsonMismatch, member_value, read_member};
use super::kind::kind_of_name;

/// The value of `format` in a header.
const FORMAT: &str = "tslp-export";

/// The version of the export's form.
const VERSION: u64 = 1;

/// An error in a line of an export.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It isn't JSON.
    #[error("it is no JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A field is missing or wrong.
    #[error(transparent)]
    Field(#[from] JsonMismatch),
    /// It is no header of an export.
    #[error("it is no header of a tslp export")]
    NoHeader,
    /// A newer program wrote it.
    #[error("the export has version {0}, this version of tslp reads {VERSION}; update tslp")]
    Version(u64),
    /// There is no such kind of event, or not with this layout.
    #[error("`{0}` is no kind of event known to this version of tslp; update tslp")]
    Kind(String),
    /// The event can't be stored.
    #[error("the event can't be stored: {0}")]
    Encode(#[from] tslp_migrations::EncodeError),
    /// The payload isn't the event's.
    #[error("its payload is not that of its event")]
    Payload,
    /// The line isn't as an export writes it.
    #[error("it is not as tslp wrote it: it was edited or formatted anew")]
    Edited,
}

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportHeader {
    /// The workspace that the ledger belongs to.
    pub workspace: PathBuf,
    /// The last event.
    pub head: Head,
}

impl ExportHeader {
    /// The line, without its end.
    #[must_use]
    pub fn to_line(&self) -> String {
        let (form, workspace) = json::text_or_base64(self.workspace.as_os_str().as_bytes());
        let object = json!({
            "format": FORMAT,
            "version": VERSION,
            "workspace": { form: workspace },
            "head": { "seq": self.head.seq.0, "chain": self.head.chain.to_string() },
            "genesis": ChainHash::GENESIS.to_string(),
        });
        let text = object.to_string();
        let open = text.strip_suffix('}').unwrap_or(&text);
        // The chain vouches for the events alone; this does for the workspace.
        let check = blake3::hash(open.as_bytes());
        format!("{open},\"check\":\"{check}\"}}")
    }

    /// Reads a line.
    ///
    /// # Errors
    /// When it isn't exactly what [`Self::to_line`] prints.
    pub fn read(line: &str) -> Result<Self, LineError> {
        let value: Value = serde_json::from_str(line)?;
        if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err(LineError::NoHeader);
        }
        match read_member(&value, "version")? {
            VERSION => {}
            other => return Err(LineError::Version(other)),
        }
        let head = member_value(&value, "head")?;
        let header = Self {
            workspace: OsString::from_vec(json::member_bytes(member_value(&value, "workspace")?)?)
                .into(),
            head: Head {
                seq: read_member(head, "seq")?,
                chain: read_member(head, "chain")?,
            },
        };
        if header.to_line() == line {
            Ok(header)
        } else {
            Err(LineError::Edited)
        }
    }
}

/// An event's line, without its end.
///
/// The payload itself is left out where encoding the event gives it, which is always so for events of this program's own
/// layouts.
#[must_use]
pub fn event_line(stored: &Stored, event: &Event) -> String {
    let follows =
        encode(event).is_ok_and(|it| it.kind == stored.kind && it.payload == stored.payload);
    let mut line = json!({
        "seq": stored.seq.0,
        "at": stored.at.0,
        "kind": stored.kind,
        "event": json::of_event(event),
    });
    if !follows {
        line["payload"] = json::base64(&stored.payload).into();
    }
    line["digest"] = blake3::hash(&stored.payload).to_string().into();
    line["chain"] = stored.chain.to_string().into();
    line.to_string()
}

/// Reads an event's line; its chain is not looked at.
///
/// # Errors
/// When it isn't exactly what [`event_line`] prints.
pub fn read_event(line: &str) -> Result<Stored, LineError> {
    let value: Value = serde_json::from_str(line)?;
    let kind: String = read_member(&value, "kind")?;
    let unknown = || LineError::Kind(kind.clone());
    let event = json::read_event(
        kind_of_name(&kind).ok_or_else(unknown)?,
        member_value(&value, "event")?,
    )?;
    let payload = match value.get("payload") {
        Some(_) => {
            let text: String = read_member(&value, "payload")?;
            let payload = json::bytes_of_base64(&text).ok_or(LineError::Payload)?;
            let same = decode(&kind, &payload).is_ok_and(|decoded| decoded == event);
            if !same {
                return Err(LineError::Payload);
            }
            payload
        }
        None => {
            let encoded = encode(&event)?;
            if encoded.kind != kind {
                return Err(unknown());
            }
            encoded.payload
        }
    };
    let stored = Stored {
        seq: read_member(&value, "seq")?,
        at: read_member(&value, "at")?,
        kind,
        payload,
        chain: read_member(&value, "chain")?,
    };
    if event_line(&stored, &event) == line {
        Ok(stored)
    } else {
        Err(LineError::Edited)
    }
}
