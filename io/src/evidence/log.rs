//! `tslp log`: the ledger's events, one a line, filtered, and as they are appended.

pub mod filter;

use std::collections::VecDeque;
use std::io::{self, Write};

use serde_json::Value;
use tslp_core::entity::EntityId;
use tslp_core::event::{Content, Envelope, Event};
use tslp_core::ids::{EpisodeId, Seq, SessionId};
use tslp_replay::log::Stored;
use tslp_store::evidence::line::{event_fields, event_line};
use tslp_store::evidence::scan::LedgerScan;
use tslp_store::startup::StartError;

use self::filter::EventFilter;
use super::describe::{lost_call_words, unmet_verdicts};
use super::moments::utc_moment;
use super::story::{Told, entries_of};
use crate::cli::OutputFormat;
use crate::out::{Out, OutputReader};

/// An error that ended printing.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The ledger can't be read or believed from there on; everything before was printed.
    #[error(transparent)]
    Ledger(#[from] StartError),
    /// The lines can't be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Longest piece of content, and longest text of a field, that is shown, in characters.
const PREVIEW_CHARACTERS: usize = 60;

/// Items of a list that are shown.
const ITEMS_MAX: usize = 8;

/// Digits of a hash that are shown.
const HASH_DIGITS: usize = 12;

/// The events at a ledger's end among which the last ones are looked for first.
const LOOKED_AT_FIRST: u64 = 1024;

/// A ledger being printed.
pub struct EventPrinter {
    scan: LedgerScan,
    filter: EventFilter,
    form: OutputFormat,
    met: bool,
}

impl EventPrinter {
    /// A printer at the beginning of the ledger.
    #[must_use]
    pub fn new(scan: LedgerScan, filter: EventFilter, form: OutputFormat) -> Self {
        Self {
            scan,
            filter,
            form,
            met: false,
        }
    }

    /// Prints the last `limit` events that pass the filter; all of them if it is `None`.
    ///
    /// # Errors
    /// See [`LogError`].
    pub fn print_last<W: Write>(
        &mut self,
        limit: Option<usize>,
        out: &mut Out<W>,
    ) -> Result<(), LogError> {
        let Some(limit) = limit else {
            while let Some((stored, event)) = self.next_wanted()? {
                self.print_event(&stored, &event, out)?;
                if out.reader_state() == OutputReader::Gone {
                    break;
                }
            }
            return Ok(());
        };
        let head = self.scan.head().seq.0;
        let mut looked_at = LOOKED_AT_FIRST;
        loop {
            let before = head.saturating_sub(looked_at);
            self.scan.go_on_after(Seq(before))?;
            let (last, ended) = self.last_wanted(limit);
            // What comes before is looked at as long as it may hold some of them.
            if last.len() < limit && before > 0 {
                looked_at = looked_at.saturating_mul(8);
                continue;
            }
            for seq in last {
                if let Some((stored, event)) = self.scan.event_at(seq)? {
                    self.print_event(&stored, &event, out)?;
                }
            }
            return Ok(ended?);
        }
    }

    /// The last events from here on that pass the filter, and why there are no more.
    fn last_wanted(&mut self, limit: usize) -> (VecDeque<Seq>, Result<(), StartError>) {
        let mut last = VecDeque::new();
        loop {
            match self.next_wanted() {
                Ok(Some((stored, _))) => last.push_back(stored.seq),
                Ok(None) => return (last, Ok(())),
                Err(error) => return (last, Err(error)),
            }
            if last.len() > limit {
                last.pop_front();
            }
        }
    }

    /// Prints what was appended since the last call.
    ///
    /// # Errors
    /// See [`LogError`].
    pub fn print_appended<W: Write>(&mut self, out: &mut Out<W>) -> Result<(), LogError> {
        self.scan.extend_to_head()?;
        self.print_last(None, out)
    }

    /// The entity that was asked for, if it never occurred.
    #[must_use]
    pub fn never_met(&self) -> Option<&EntityId> {
        self.filter.entity.as_ref().filter(|_| !self.met)
    }

    fn next_wanted(&mut self) -> Result<Option<(Stored, Event)>, StartError> {
        while let Some((stored, event)) = self.scan.next_event()? {
            if let Some(wanted) = self.filter.entity.as_ref() {
                self.met |= filter::is_about(&event, wanted);
            }
            if self.filter.passes(&stored, &event) {
                return Ok(Some((stored, event)));
            }
        }
        Ok(None)
    }

    fn print_event<W: Write>(
        &self,
        stored: &Stored,
        event: &Event,
        out: &mut Out<W>,
    ) -> io::Result<()> {
        match self.form {
            OutputFormat::Json => out.json(&event_line(stored, event)),
            OutputFormat::Human => out.line(log_line(stored, event)),
        }
    }
}

/// Position, time, kind, episode and session, and what it says.
#[must_use]
pub fn log_line(envelope: &Envelope, event: &Event) -> String {
    let place = match (envelope.episode, envelope.session) {
        (EpisodeId::OUTSIDE, _) => String::new(),
        (episode, SessionId(0)) => format!("{episode}: "),
        (episode, session) => format!("{episode} {session}: "),
    };
    format!(
        "{:>6}  {}  {:<17}  {place}{}",
        envelope.seq.0,
        utc_moment(envelope.at.0),
        event.name(),
        sentence(event)
    )
}

/// What an event says: what it tells of entities in sentences, anything else by its fields.
#[must_use]
pub fn sentence(event: &Event) -> String {
    match event {
        Event::Content(event) => return content_words(event),
        Event::WindowExceeded(event) => return event.sentence(),
        Event::LostCallFound(event) => return lost_call_words(event),
        // By the hash of the user's rules for code, and not by their text.
        Event::RulesInForce(event) => {
            let (program, rules) = (&event.program, event.rules);
            let settings = event.policy.settings().into_iter();
            let settings = settings.map(|(name, value)| format!(", {name} {value}"));
            return format!(
                "tslp {program}, rules {rules}{}",
                settings.collect::<String>()
            );
        }
        _ => {}
    }
    let told = entries_of(Seq(0), event).into_iter().map(|entry| {
        let report = entry.report.iter().filter(|_| entry.told == Told::Refused);
        let unmet = report.flat_map(unmet_verdicts);
        let unmet = unmet.map(|it| format!("; {} {}/{}", it.rule, it.seen, it.needed));
        entry.sentence(&format!("{}{}", entry.reason, unmet.collect::<String>()))
    });
    let told: Vec<String> = told.collect();
    match told.is_empty() {
        true => shown(&event_fields(event)).unwrap_or_default(),
        false => told.join("; "),
    }
}

/// A value in words; `None` if there is nothing in it.
fn shown(value: &Value) -> Option<String> {
    let parts = |parts: Vec<String>| (!parts.is_empty()).then(|| parts.join(", "));
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::Bool(true) => Some("yes".into()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => {
            let is_hash = text.len() == 64 && text.bytes().all(|it| it.is_ascii_hexdigit());
            let longest = if is_hash {
                HASH_DIGITS
            } else {
                PREVIEW_CHARACTERS
            };
            let mut cut: String = text.chars().take(longest).collect();
            if !is_hash && cut.len() < text.len() {
                cut.push('…');
            }
            Some(cut)
        }
        Value::Array(items) => {
            let mut all: Vec<String> = items.iter().filter_map(shown).collect();
            let more = all.len().saturating_sub(ITEMS_MAX);
            all.truncate(ITEMS_MAX);
            all.extend((more > 0).then(|| format!("and {more} more")));
            parts(all)
        }
        Value::Object(fields) => {
            let fields = fields.iter().filter_map(|(name, value)| {
                let (open, close) = match value {
                    Value::Object(_) | Value::Array(_) => ("(", ")"),
                    _ => ("", ""),
                };
                Some(format!("{name} {open}{}{close}", shown(value)?))
            });
            parts(fields.collect())
        }
    }
}

fn content_words(event: &Content) -> String {
    let bytes = event.bytes.len();
    let text = String::from_utf8_lossy(&event.bytes);
    let first = text.lines().map(str::trim).find(|line| !line.is_empty());
    let mut preview: String = first
        .unwrap_or("")
        .chars()
        .take(PREVIEW_CHARACTERS)
        .collect();
    if preview.len() < text.trim().len() {
        preview.push('…');
    }
    format!(
        "{} {:.12}, {bytes} bytes: {preview}",
        event.kind.as_str(),
        event.hash
    )
}
