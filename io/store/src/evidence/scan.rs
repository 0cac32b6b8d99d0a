//! Reads a ledger in order, verified link by link and held against the head anchor.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::Path;

use tslp_core::event::Event;
use tslp_core::ids::Seq;
use tslp_replay::fold::{ChainCheck, ReplayError};
use tslp_replay::log::{Head, Stored};

use crate::ledger::anchor::{self, AnchorState};
use crate::ledger::{AnchorMismatch, DataFiles, LedgerError, LedgerReader, ReaderFactory};
use crate::startup::StartError;

/// A walk over all events of a ledger, which others may be writing to.
pub struct LedgerScan {
    reader: LedgerReader,
    /// The same ledger with or without its WAL, whichever `reader` isn't, once it was asked for.
    other_view: Option<LedgerReader>,
    /// A head that the ledger must contain, or why nothing outside the ledger vouches for it.
    anchor: Result<Option<Head>, Option<LedgerError>>,
    head: Head,
    chain: ChainCheck,
    page: VecDeque<Stored>,
}

impl LedgerScan {
    /// Starts before the first event. What is appended later isn't seen, unless by [`Self::extend_to_head`].
    ///
    /// # Errors
    /// When the ledger can't be read, or nothing vouches for its tail.
    pub fn begin(data_dir: &Path, readers: &ReaderFactory) -> Result<Self, StartError> {
        let mut scan = Self::begin_unvouched(data_dir, readers)?;
        match &mut scan.anchor {
            Err(unvouched) => Err(unvouched.take().expect("it isn't told yet").into()),
            Ok(_) => Ok(scan),
        }
    }

    /// As [`Self::begin`], also where nothing vouches for the ledger's tail: that is told at its end.
    ///
    /// # Errors
    /// When the ledger can't be read.
    pub fn begin_unvouched(data_dir: &Path, readers: &ReaderFactory) -> Result<Self, StartError> {
        let files = DataFiles::of(data_dir);
        let reader = readers.open()?;
        // In this order: the anchor follows the head.
        let reading = anchor::read(readers.disk(), &files.anchor)?;
        let head = reader.head().or_else(|error| match reading {
            AnchorState::Head(anchor) => Ok(anchor),
            _ => Err(error),
        })?;
        let anchor = match reading {
            AnchorState::Head(anchor) => match reader.chain_at(anchor.seq) {
                Ok(Some(chain)) if chain != anchor.chain => {
                    Err(Some(LedgerError::AnchorMismatch {
                        path: files.database,
                        anchor,
                        ledger: head,
                        mismatch: AnchorMismatch::OtherHistory,
                    }))
                }
                _ => Ok(Some(anchor)),
            },
            _ if head.seq == Seq(0) => Ok(None),
            reading => Err(Some(LedgerError::AnchorMissing {
                path: files.database,
                anchor: files.anchor,
                state: if reading == AnchorState::Missing {
                    "missing"
                } else {
                    "damaged"
                },
                head,
            })),
        };
        Ok(Self {
            reader,
            other_view: None,
            anchor,
            head,
            chain: ChainCheck::default(),
            page: VecDeque::new(),
        })
    }

    /// The last event of the walk.
    #[must_use]
    pub const fn head(&self) -> Head {
        self.head
    }

    /// The connection.
    #[must_use]
    pub const fn reader(&self) -> &LedgerReader {
        &self.reader
    }

    /// Goes on after this event; what lies before isn't verified.
    ///
    /// # Errors
    /// When there is no such event, or the ledger can't be read.
    pub fn go_on_after(&mut self, seq: Seq) -> Result<(), StartError> {
        self.chain = self.reader.check_after(seq)?;
        self.page.clear();
        Ok(())
    }

    /// Moves the end to the ledger's head of now.
    ///
    /// # Errors
    /// When the ledger can't be read.
    pub fn extend_to_head(&mut self) -> Result<(), StartError> {
        self.head = self.reader.head()?;
        Ok(())
    }

    /// The next event; `None` at the end.
    ///
    /// # Errors
    /// When the ledger can't be read or believed from here on.
    pub fn next_event(&mut self) -> Result<Option<(Stored, Event)>, StartError> {
        let done = self.chain.head().seq;
        if self.page.is_empty() && done < self.head.seq {
            let (page, read) = self.reader.page(done.next(), self.head.seq);
            // The events before a flaw are handed out first; the next page meets it again.
            if page.is_empty() {
                read?;
            }
            self.page = page;
        }
        let Some(stored) = self.page.pop_front() else {
            self.check_end()?;
            return Ok(None);
        };
        let event = (self.chain.step_decoded(&stored, tslp_migrations::decode))
            .map_err(|flaw| StartError::from_replay_error(flaw, &stored))?;
        Ok(Some((stored, event)))
    }

    /// As [`Self::next_event`], from file and WAL each by itself where both together don't hold it. In a damaged file a later commit may
    /// have taken a page for free that held events: those are still in the file, and the later ones in its WAL.
    ///
    /// # Errors
    /// When no event follows.
    pub fn next_valid(&mut self) -> Result<Option<(Stored, Event)>, StartError> {
        let flaw = match self.next_event() {
            Err(flaw) if !flaw.is_other_version() => flaw,
            found => return found,
        };
        let other = match self.other_view.take() {
            Some(other) => Ok(other),
            None => self.reader.without_wal(),
        };
        let Ok(other) = other else {
            return Err(flaw);
        };
        self.other_view = Some(std::mem::replace(&mut self.reader, other));
        self.page.clear();
        match self.next_event() {
            Ok(Some(found)) => Ok(Some(found)),
            _ => Err(flaw),
        }
    }

    /// One event by its position, verified before.
    ///
    /// # Errors
    /// When it can't be read any more.
    pub fn event_at(&self, seq: Seq) -> Result<Option<(Stored, Event)>, StartError> {
        let mut found = None;
        self.reader
            .read_between(&[], seq..=seq, &mut |stored, event| {
                found = Some((stored, event));
                ControlFlow::Break(())
            })?;
        Ok(found)
    }

    fn check_end(&mut self) -> Result<(), StartError> {
        let done = self.chain.head();
        if let Err(unvouched) = &mut self.anchor
            && done.seq == self.head.seq
            && let Some(error) = unvouched.take()
        {
            return Err(error.into());
        }
        match self.anchor {
            Ok(Some(anchor)) if anchor.seq > done.seq => {
                Err(StartError::Ledger(LedgerError::AnchorMismatch {
                    path: self.reader.path().to_owned(),
                    anchor,
                    ledger: self.head,
                    mismatch: AnchorMismatch::LostTail {
                        ledger_ends_at: done.seq,
                    },
                }))
            }
            _ if done.seq < self.head.seq => Err(ReplayError::Gap {
                after: done.seq.0,
                found: self.head.seq.0,
            }
            .into()),
            _ => Ok(()),
        }
    }
}
