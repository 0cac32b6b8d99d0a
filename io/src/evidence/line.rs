//! The lines of an export: one header, then one event each. docs/export.md describes them.
//!
//! A line has exactly one form. Whoever reads one prints it again and compares: what was edited in any way, be it by a
//! blank or a field that nobody knows, isn't the same line any more.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use serde_json::{Value, json};
use tslp_core::event::Event;
use tslp_core::ids::{Seq, UnixMillis};
use tslp_migrations::{decode, encode};
use tslp_replay::chain::ChainHash;
use tslp_replay::log::{Head, Stored};

use super::from_json::{self, Unreadable};
use super::kind::EventKind;
use super::to_json::{self, hex};

/// The value of `format` in a header.
const FORMAT: &str = "tslp-export";

/// The version of the export's form.
const VERSION: u64 = 1;

/// Why a line is none of an export.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It isn't JSON.
    #[error("it is no JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A field is missing or wrong.
    #[error(transparent)]
    Field(#[from] Unreadable),
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
pub struct Header {
    /// The workspace that the ledger belongs to.
    pub workspace: PathBuf,
    /// The last event.
    pub head: Head,
}

impl Header {
    /// The line, without its end.
    #[must_use]
    pub fn line(&self) -> String {
        let (form, workspace) = to_json::text_or_base64(self.workspace.as_os_str().as_bytes());
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
    /// When it isn't exactly what [`Self::line`] prints.
    pub fn read(line: &str) -> Result<Self, LineError> {
        let value: Value = serde_json::from_str(line)?;
        if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err(LineError::NoHeader);
        }
        match from_json::number(&value, "version")? {
            VERSION => {}
            other => return Err(LineError::Version(other)),
        }
        let head = from_json::field(&value, "head")?;
        let header = Self {
            workspace: workspace(from_json::field(&value, "workspace")?)?,
            head: Head {
                seq: Seq(from_json::number(head, "seq")?),
                chain: ChainHash(from_json::hash(head, "chain")?),
            },
        };
        if header.line() == line {
            Ok(header)
        } else {
            Err(LineError::Edited)
        }
    }
}

fn workspace(value: &Value) -> Result<PathBuf, Unreadable> {
    if value.get("text").is_some() {
        return Ok(PathBuf::from(from_json::text(value, "text")?));
    }
    let encoded = from_json::text(value, "base64")?;
    let bytes = from_json::bytes_of_base64(encoded).ok_or_else(|| Unreadable {
        field: "workspace",
        detail: "can't be decoded".to_owned(),
    })?;
    Ok(PathBuf::from(OsString::from_vec(bytes)))
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
        "event": to_json::event(event),
    });
    if !follows {
        line["payload"] = to_json::base64(&stored.payload).into();
    }
    line["digest"] = hex(blake3::hash(&stored.payload).as_bytes()).into();
    line["chain"] = stored.chain.to_string().into();
    line.to_string()
}

/// Reads an event's line; its chain is not looked at.
///
/// # Errors
/// When it isn't exactly what [`event_line`] prints.
pub fn read_event(line: &str) -> Result<Stored, LineError> {
    let value: Value = serde_json::from_str(line)?;
    let kind = from_json::text(&value, "kind")?;
    let unknown = || LineError::Kind(kind.to_owned());
    let event = from_json::event(
        EventKind::named(kind).ok_or_else(unknown)?,
        from_json::field(&value, "event")?,
    )?;
    let payload = match value.get("payload") {
        Some(_) => {
            let text = from_json::text(&value, "payload")?;
            let payload = from_json::bytes_of_base64(text).ok_or(LineError::Payload)?;
            let same = decode(kind, &payload).is_ok_and(|decoded| decoded == event);
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
    let at = from_json::field(&value, "at")?.as_i64();
    let stored = Stored {
        seq: Seq(from_json::number(&value, "seq")?),
        at: UnixMillis(at.ok_or(LineError::Edited)?),
        kind: kind.to_owned(),
        payload,
        chain: ChainHash(from_json::hash(&value, "chain")?),
    };
    if event_line(&stored, &event) == line {
        Ok(stored)
    } else {
        Err(LineError::Edited)
    }
}
