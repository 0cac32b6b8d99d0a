//! `tslp policy approve`: records a profile as the one in force, while no proxy runs.

use tslp_core::event::Event;
use tslp_core::hash::ArtifactHash;
use tslp_store::content_cache::{ArchiveTrust, ContentCache};
use tslp_store::data_dir;
use tslp_store::ledger::OpenOptions;
use tslp_store::startup::{self, StartError};
use tslp_workspace::observer::{SystemClock, WallClock};

use crate::accept::commit_batch;
use crate::config::ServeConfig;
use crate::engine::new_engine;

/// Records a profile that was read and is sound; gives the hash by which it is known from now on.
///
/// # Errors
/// When the ledger is in use, damaged, or can't be written.
///
/// # Panics
/// Never: the event that says so is in the batch.
pub fn approve_profile(
    config: &ServeConfig,
    profile_id: &str,
    text: &str,
) -> Result<ArtifactHash, StartError> {
    data_dir::prepare(&config.data_dir)?;
    let (mut opened, state) =
        startup::start(&OpenOptions::default(), &config.data_dir, &config.workspace)?;
    let contents = ContentCache::new(opened.readers.open()?, ArchiveTrust::Sound);
    let mut engine = new_engine(state, &config.policy, contents);
    let batch = engine.approve_policy(SystemClock.now(), profile_id, text);
    let approved = batch
        .recorded
        .iter()
        .find_map(|recorded| match &recorded.event {
            Event::PolicyApproved(approved) => Some(approved.text),
            _ => None,
        });
    commit_batch(&mut opened.log, batch)?;
    Ok(approved.expect("the batch says what was approved"))
}
