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
        describe::sentence(event)
    )
}
