//! The process's environment: variables, current folder, the user's folders. Plain data, so that tests can make one up.

use std::collections::BTreeMap;
use std::path::PathBuf;

use etcetera::BaseStrategy;

/// Environment variables and folders, read once.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Environment variables that begin with `TSLP_`.
    pub variables: BTreeMap<String, String>,
    /// Variables that begin with `TSLP_` and aren't UTF-8.
    pub unreadable_variables: Vec<String>,
    /// The folder that relative paths of flags and variables start from.
    pub current_dir: PathBuf,
    /// The user's home, for `~/` in the configuration file.
    pub home_dir: Option<PathBuf>,
    /// The user's configuration folder, such as `~/.config`.
    pub config_dir: Option<PathBuf>,
    /// The user's data folder, such as `~/.local/share`.
    pub data_dir: Option<PathBuf>,
}

impl Environment {
    /// This process's environment.
    #[must_use]
    pub fn of_process() -> Self {
        let user = etcetera::choose_base_strategy().ok();
        let mut environment = Self {
            // A folder that was deleted has no path any more. Whatever is looked for in it fails with this one in the message.
            current_dir: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
            home_dir: user.as_ref().map(|user| user.home_dir().to_owned()),
            config_dir: user.as_ref().map(BaseStrategy::config_dir),
            data_dir: user.as_ref().map(BaseStrategy::data_dir),
            ..Self::default()
        };
        for (name, value) in std::env::vars_os() {
            let Some(name) = name.to_str().filter(|name| name.starts_with("TSLP_")) else {
                continue;
            };
            match value.into_string() {
                Ok(value) => {
                    environment.variables.insert(name.to_owned(), value);
                }
                Err(_) => environment.unreadable_variables.push(name.to_owned()),
            }
        }
        environment
    }
}
