//! `tslp log`: the ledger's events, one a line, filtered, and as they are appended.

pub mod filter;
pub mod moments;
pub mod sentence;

use std::collections::{BTreeSet, VecDeque};
use std::io::{self, Write};

use tslp_core::entity::EntityId;
use tslp_core::event::Event;
use tslp_core::ids::Seq;
use tslp_replay::log::Stored;

use self::filter::{Belonging, Filter};
use super::line::event_line;
use super::scan::Scan;
use crate::cli::OutputFormat;
use crate::out::{Out, Reader};
use crate::startup::StartError;

/// Why printing ended early.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The ledger can't be read or believed from there on; everything before was printed.
    #[error(transparent)]
    Ledger(#[from] StartError),
    /// The lines can't be written.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// Nothing was ever recorded about what was asked for.
    #[error("{0}")]
    Unknown(String),
}

/// A ledger being printed.
pub struct Log {
    scan: Scan,
    filter: Filter,
    form: OutputFormat,
    belonging: Belonging,
    /// What a wrong name may have meant; filled only where a name was given.
    known: BTreeSet<EntityId>,
    met: bool,
}

impl Log {
    /// Prints nothing yet.
    #[must_use]
    pub fn new(scan: Scan, filter: Filter, form: OutputFormat) -> Self {
        Self {
            scan,
            filter,
            form,
            belonging: Belonging::default(),
            known: BTreeSet::new(),
            met: false,
        }
    }

    /// Prints the last `limit` events that pass the filter; all of them if it is `None`.
    ///
    /// # Errors
    /// See [`LogError`].
    pub fn print<W: Write>(
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
                self.show(&stored, &event, out)?;
                if out.reader() == Reader::Gone {
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
            if let Some((stored, event)) = self.scan.at(seq)? {
                self.show(&stored, &event, out)?;
            }
        }
        Ok(ended?)
    }

    /// Prints what was appended since the last call.
    ///
    /// # Errors
    /// See [`LogError`].
    pub fn go_on<W: Write>(&mut self, out: &mut Out<W>) -> Result<(), LogError> {
        self.scan.extend()?;
        self.print(None, out)
    }

    /// Says so if the entity that was asked for never occurred.
    ///
    /// # Errors
    /// [`LogError::Unknown`], with what resembles it.
    pub fn check_entity(&self) -> Result<(), LogError> {
        match self.filter.entity() {
            Some(wanted) if !self.met => {
                let text = super::near::no_entity(&wanted.to_string(), &self.known);
                Err(LogError::Unknown(text))
            }
            _ => Ok(()),
        }
    }

    fn next_wanted(&mut self) -> Result<Option<(Stored, Event)>, StartError> {
        while let Some((stored, event)) = self.scan.next_event()? {
            let episode = self.belonging.follow(&event);
            if let Some(wanted) = self.filter.entity() {
                self.met |= filter::is_about(&event, wanted);
                filter::entities(&event, &mut |entity| {
                    if !self.known.contains(entity) {
                        self.known.insert(entity.clone());
                    }
                });
            }
            let session = self.belonging.session(&event, episode);
            if self.filter.passes(&event, stored.at, episode, session) {
                return Ok(Some((stored, event)));
            }
        }
        Ok(None)
    }

    fn show<W: Write>(&self, stored: &Stored, event: &Event, out: &mut Out<W>) -> io::Result<()> {
        match self.form {
            OutputFormat::Json => out.json(&event_line(stored, event)),
            OutputFormat::Human => out.line(sentence::line(stored.seq, stored.at, event)),
        }
    }
}
