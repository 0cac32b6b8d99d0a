//! Reads a ledger in order, verified link by link and held against the head anchor.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::Path;

use tslp_core::event::Event;
use tslp_core::ids::Seq;
use tslp_replay::fold::{ChainCheck, ReplayError};
use tslp_replay::log::{Head, Stored};

use crate::ledger::anchor::{self, AnchorState};
use crate::ledger::disk::FileSystem;
use crate::ledger::{AnchorMismatch, DataFiles, LedgerError, LedgerReader, ReaderFactory};
use crate::startup::{StartError, check_after};

/// A walk over all events of a ledger, which others may be writing to.
pub struct LedgerScan {
    reader: LedgerReader,
    /// A head that the ledger must contain; `None` if nothing outside the ledger vouches for it.
    anchor: Option<Head>,
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
        let files = DataFiles::of(data_dir);
        let reader = readers.open()?;
        // In this order: the anchor follows the head.
        let reading = anchor::read(&FileSystem, &files.anchor)?;
        let head = reader.head()?;
        let anchor = match reading {
            AnchorState::Head(anchor) => Some(anchor),
            _ if head.seq == Seq(0) => None,
            reading => {
                return Err(StartError::Ledger(LedgerError::AnchorMissing {
                    path: files.database,
                    anchor: files.anchor,
                    state: if reading == AnchorState::Missing {
                        "missing"
                    } else {
                        "damaged"
                    },
                    head,
                }));
            }
        };
        Ok(Self {
            reader,
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

    /// Goes on behind this event, or before the anchor's if that one is earlier; what lies before isn't verified.
    ///
    /// # Errors
    /// When there is no such event, or the ledger can't be read.
    pub fn go_on_after(&mut self, seq: Seq) -> Result<(), StartError> {
        let vouched = self
            .anchor
            .map_or(seq, |anchor| Seq(anchor.seq.0.saturating_sub(1)));
        self.chain = check_after(&self.reader, seq.min(vouched))?;
        self.page.clear();
        Ok(())
    }

    /// Checks this ledger, a copy, against the head that vouches for its source.
    pub fn check_against_anchor_of(&mut self, source: &Self) {
        self.anchor = source.anchor;
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
        self.chain.step(&stored)?;
        if let Some(anchor) = self.anchor
            && anchor.seq == stored.seq
            && anchor.chain != stored.chain
        {
            return Err(self.anchor_mismatch(anchor, AnchorMismatch::OtherHistory));
        }
        let event = tslp_migrations::decode(stored.kind, &stored.payload)
            .map_err(|error| StartError::from_decode_error(&stored, error))?;
        Ok(Some((stored, event)))
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

    fn check_end(&self) -> Result<(), StartError> {
        let done = self.chain.head();
        match self.anchor {
            Some(anchor) if anchor.seq > done.seq => Err(self.anchor_mismatch(
                anchor,
                AnchorMismatch::LostTail {
                    ledger_ends_at: done.seq,
                },
            )),
            _ if done.seq < self.head.seq => Err(ReplayError::Gap {
                after: done.seq.0,
                found: self.head.seq.0,
            }
            .into()),
            _ => Ok(()),
        }
    }

    fn anchor_mismatch(&self, anchor: Head, mismatch: AnchorMismatch) -> StartError {
        StartError::Ledger(LedgerError::AnchorMismatch {
            path: self.reader.path().to_owned(),
            anchor,
            ledger: self.head,
            mismatch,
        })
    }
}
