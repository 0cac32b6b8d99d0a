//! Configuration: read wholly, from every layer, before anything is bound or created.
//!
//! [`table`] names every key once; [`layers`] puts defaults, file, environment and flags over each other as one value, from which
//! serde reads [`settings::Settings`].

pub mod environment;
pub mod error;
pub mod http;
pub mod kind;
pub mod layers;
pub mod page;
pub mod secret;
pub mod settings;
pub mod table;
pub mod upstream;

pub mod network;

mod file;
mod workspace;

#[cfg(test)]
mod tests;

use std::path::Path;

use tslp_store::project;

use environment::Environment;
use error::ConfigError;
use layers::{ConfigLayers, WrittenFlags};

/// Reads every layer and holds the settings against this machine.
///
/// # Errors
/// If anything at all is wrong; nothing has been created then.
pub fn load(flags: &WrittenFlags, environment: &Environment) -> Result<ConfigLayers, ConfigError> {
    let mut layers = ConfigLayers::read(flags, environment)?;
    layers.settings.settle(environment)?;
    Ok(layers)
}

/// As [`load`], for a command that is given somewhere in a project: where no workspace is named, it is the project's root. `counts`
/// says whether the ledger in a data directory makes its folder one.
///
/// # Errors
/// As [`load`].
pub fn load_from_within(
    flags: &WrittenFlags,
    environment: &Environment,
    counts: impl Fn(&Path) -> bool,
) -> Result<ConfigLayers, ConfigError> {
    let mut layers = ConfigLayers::read(flags, environment)?;
    let settings = &mut layers.settings;
    if settings.workspace.as_os_str().is_empty() && settings.data_dir.as_os_str().is_empty() {
        let user_data = environment.data_dir.as_deref();
        let data_dir_of = |folder: &Path| project::data_dir_of(folder, None, user_data).ok();
        let root = workspace::project_root(&environment.current_dir, data_dir_of, counts);
        settings.workspace = root.unwrap_or_default();
    }
    settings.settle(environment)?;
    Ok(layers)
}
