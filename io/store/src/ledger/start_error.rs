//! Why a ledger gives no state to start from.

use tslp_migrations::DecodeError;
use tslp_replay::fold::ReplayError;
use tslp_replay::log::Stored;

use super::error::LedgerError;
use crate::data_dir::DataDirError;

/// An error that leaves no state to start from.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The data directory can't be used.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// The ledger can't be opened.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The ledger opens, and what it holds can't be believed.
    #[error(
        "the ledger is damaged: {0}. tslp writes nothing more to it. Keep the data directory as evidence, and go on from a copy, or \
         take everything before that position with `tslp copy NEW_DIR`"
    )]
    Damaged(#[from] ReplayError),
    /// The ledger opens and its chain holds, and it says what isn't known here.
    #[error(
        "the ledger was written by a newer tslp: event #{seq}: {source}. It was left untouched; use that version of tslp, \
         or a newer one"
    )]
    Newer {
        /// The event.
        seq: u64,
        /// The decoding error.
        source: DecodeError,
    },
}

impl StartError {
    /// Whether the proxy should come up in safe mode: diagnostics work, nothing is written.
    #[must_use]
    pub const fn asks_for_safe_mode(&self) -> bool {
        match self {
            Self::Ledger(error) => error.asks_for_safe_mode(),
            Self::DataDir(_) | Self::Newer { .. } => false,
            Self::Damaged(_) => true,
        }
    }

    /// Whether another version of tslp wrote the ledger, which is no damage.
    #[must_use]
    pub const fn is_other_version(&self) -> bool {
        match self {
            Self::Ledger(error) => error.is_other_version(),
            Self::Newer { .. } => true,
            Self::DataDir(_) | Self::Damaged(_) => false,
        }
    }

    /// Sorts the error of an event whose link holds: it is a newer program's, or no event at all.
    pub(crate) fn from_decode_error(stored: &Stored, source: DecodeError) -> Self {
        let seq = stored.seq.0;
        if source.is_unknown_kind() {
            Self::Newer { seq, source }
        } else {
            let reason = source.to_string();
            Self::Damaged(ReplayError::Undecodable { seq, reason })
        }
    }

    /// Sorts what a replay says of an event.
    pub(crate) fn from_replay_error(flaw: ReplayError, stored: &Stored) -> Self {
        // A replay decodes what fits the chain alone.
        match tslp_migrations::decode(stored.kind, &stored.payload) {
            Err(source) if matches!(flaw, ReplayError::Undecodable { .. }) => {
                Self::from_decode_error(stored, source)
            }
            _ => Self::Damaged(flaw),
        }
    }
}
