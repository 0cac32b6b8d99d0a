//! `tslp log`: the ledger's events, one a line, filtered, and as they are appended.

pub mod filter;

use std::collections::VecDeque;
use std::io::{self, Write};

use tslp_core::entity::EntityId;
use tslp_core::event::{Envelope, Event};
use tslp_core::ids::{EpisodeId, Seq, SessionId};
use tslp_replay::log::Stored;
use tslp_store::evidence::line::event_line;
use tslp_store::evidence::scan::LedgerScan;
use tslp_store::startup::StartError;

use self::filter::EventFilter;
use super::describe;
use super::moments::utc_moment;
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
        let mut last: VecDeque<Seq> = VecDeque::new();
        let ended = loop {
            let (stored, event) = match self.next_wanted() {
                Ok(Some(found)) => found,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            let Some(limit) = limit else {
                self.print_event(&stored, &event, out)?;
                if out.reader_state() == OutputReader::Gone {
                    return Ok(());
                }
                continue;
            };
            if last.len() == limit {
                last.pop_front();
            }
            if limit > 0 {
                last.push_back(stored.seq);
            }
        };
        for seq in last {
            if let Some((stored, event)) = self.scan.event_at(seq)? {
                self.print_event(&stored, &event, out)?;
            }
        }
        Ok(ended?)
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
        self.filter.wanted_entity().filter(|_| !self.met)
    }

    fn next_wanted(&mut self) -> Result<Option<(Stored, Event)>, StartError> {
        while let Some((stored, event)) = self.scan.next_event()? {
            if let Some(wanted) = self.filter.wanted_entity() {
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
        describe::sentence(event)
    )
}
