//! How a ledger is opened.

use std::sync::Arc;

use tslp_projections::table::Table;

use super::disk::{Disk, FileSystem};

/// The handling of a ledger with events and no intact anchor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingAnchor {
    /// Refuse it: nothing vouches that its tail is all there. The anchor is made before the first event, so a crash
    /// never leads here.
    #[default]
    Refuse,
    /// Take the ledger as it is and make a new anchor: for a person who said so, after a verification.
    Adopt,
}

/// Options for opening a ledger.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// The projections' tables.
    pub tables: &'static [Table],
    /// The handling of a missing anchor.
    pub missing_anchor: MissingAnchor,
    /// The disk that the data directory is on.
    pub disk: Arc<dyn Disk>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            tables: tslp_projections::TABLES,
            missing_anchor: MissingAnchor::Refuse,
            disk: Arc::new(FileSystem),
        }
    }
}
