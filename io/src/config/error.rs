//! Errors of a configuration. Every message names the place and says what to do.

use std::net::SocketAddr;
use std::path::PathBuf;

use tslp_store::data_dir::DataDirError;

/// A configuration that can't be used; nothing has been bound or created yet.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A named configuration file, or one that exists, can't be read.
    #[error("can't read the configuration file {}: {cause}", path.display())]
    FileUnreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        cause: std::io::Error,
    },
    /// Not TOML.
    #[error("{}:{line}: {problem}", path.display())]
    FileMalformed {
        /// The file.
        path: PathBuf,
        /// Line from 1.
        line: usize,
        /// The parser's reason.
        problem: String,
    },
    /// A key that nobody reads.
    #[error("{}:{line}: unknown key `{name}`{}", path.display(), name_instead(*nearest))]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// Line from 1.
        line: usize,
        /// As written, with its table.
        name: String,
        /// The known key that resembles it most.
        nearest: Option<&'static str>,
    },
    /// A value that isn't allowed.
    #[error("{place}: `{name}` {problem}{}", written_instead(problem, written.as_deref()))]
    WrongValue {
        /// The key.
        name: &'static str,
        /// The place: a file and line, a variable or a flag.
        place: String,
        /// The allowed values.
        problem: String,
        /// The written text; `None` for credentials.
        written: Option<String>,
    },
    /// The workspace isn't a folder that we can read.
    #[error("the workspace {} {problem}; name the project folder with --workspace DIR", path.display())]
    Workspace {
        /// As given.
        path: PathBuf,
        /// The reason.
        problem: String,
    },
    /// The data directory has no place.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// A reachable proxy without a token.
    #[error(
        "listening on {listen} would let others on the network in: set a token, for example with \
         TSLP_TOKEN=$(openssl rand -hex 32), or listen on 127.0.0.1"
    )]
    TokenNeeded {
        /// The address.
        listen: SocketAddr,
    },
}

fn name_instead(nearest: Option<&str>) -> String {
    nearest.map_or_else(
        || "; `tslp config --all` lists all keys".into(),
        |name| format!("; did you mean `{name}`?"),
    )
}

/// What was written in the place of what must be, where the problem doesn't say that.
fn written_instead(problem: &str, written: Option<&str>) -> String {
    let text = written.filter(|text| !text.is_empty() && problem.starts_with("must "));
    let text = text.map(|text| format!("{text:?}"));
    let text = text.filter(|text| !problem.contains(text.as_str()));
    text.map_or_else(String::new, |text| format!(", not {text}"))
}
