//! Fills a ledger of any size with conversations about code.

use std::error::Error;
use std::path::Path;

use tslp_core::ids::UnixMillis;
use tslp_replay::log::{Head, Stored};
use tslp_store::ledger::OpenOptions;

use crate::turns::Turns;

/// Events written in one transaction.
const BATCH: usize = 4096;

/// What was written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Filled {
    pub(crate) events: u64,
    pub(crate) payload_bytes: u64,
}

/// Writes at least `events` events of `bytes_per_event` bytes of payload on average into a new ledger, without the rows
/// of any projection.
pub(crate) fn fill(
    data_dir: &Path,
    workspace: &Path,
    events: u64,
    bytes_per_event: usize,
) -> Result<Filled, Box<dyn Error>> {
    let mut log = OpenOptions::default().open(data_dir, workspace)?.log;
    let mut head = log.head()?;
    let mut filled = Filled::default();
    let mut turns = Turns::new(bytes_per_event);
    let mut batch = Vec::with_capacity(BATCH);
    while filled.events < events {
        while batch.len() < BATCH {
            for event in turns.next() {
                let encoded = tslp_migrations::encode(&event)?;
                let at = UnixMillis(i64::try_from(head.seq.0)?);
                let envelope = turns.envelope(head.seq.next(), at);
                filled.payload_bytes += encoded.payload.len() as u64;
                let stored = Stored::after(head.chain, envelope, encoded.kind, encoded.payload);
                head = Head {
                    seq: stored.seq,
                    chain: stored.chain,
                };
                batch.push(stored);
            }
        }
        filled.events += batch.len() as u64;
        log.append(&batch)?;
        batch.clear();
    }
    Ok(filled)
}
