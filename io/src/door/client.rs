//! The side of the door where commands ask.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::{is_own_user, message, socket_path};
use crate::config::secret::Secret;
use crate::config::upstream::UpstreamUrl;

/// A connection to a running proxy.
#[derive(Debug)]
pub struct DoorClient {
    stream: BufReader<UnixStream>,
}

/// Why a proxy that runs doesn't do what it is asked for.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// The socket can't be reached, though it is there.
    #[error("the running proxy can't be reached through {}: {cause}", path.display())]
    Unreachable {
        /// The socket.
        path: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
    /// The proxy is another user's.
    #[error("the proxy of {} is another user's: only that user may act on it", .0.display())]
    OtherUser(PathBuf),
    /// It ended, or broke off.
    #[error(
        "the proxy has ended before it answered: {0}; what it had done is on record (`tslp recent`)"
    )]
    BrokenOff(io::Error),
    /// It refused the line.
    #[error("the running proxy refuses: {0}")]
    Refused(String),
}

impl DoorClient {
    /// A connection to the proxy of this data directory; `None` if none runs.
    ///
    /// # Errors
    /// If one runs, and this process may not ask it.
    pub fn connect(data_dir: &Path) -> Result<Option<Self>, DoorError> {
        let Some(path) = socket_path(data_dir) else {
            return Ok(None);
        };
        let stream = match UnixStream::connect(&path) {
            Ok(stream) => stream,
            // Nobody listens at a file that a killed proxy has left.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound
                        | io::ErrorKind::ConnectionRefused
                        | io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(None);
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(DoorError::OtherUser(data_dir.to_owned()));
            }
            Err(cause) => return Err(DoorError::Unreachable { path, cause }),
        };
        if !is_own_user(&stream) {
            return Err(DoorError::OtherUser(data_dir.to_owned()));
        }
        let stream = BufReader::new(stream);
        Ok(Some(Self { stream }))
    }

    /// A connection that waits no longer than this for an answer; `None` if no proxy runs that may be asked.
    #[must_use]
    pub fn connect_for(data_dir: &Path, time: Duration) -> Option<Self> {
        let door = Self::connect(data_dir).ok().flatten()?;
        door.stream.get_ref().set_read_timeout(Some(time)).ok()?;
        Some(door)
    }

    /// Asks, and waits for the answer, however long that takes.
    ///
    /// # Errors
    /// If the proxy ends first or refuses the line. What it only couldn't do is in the payload.
    pub fn ask(&mut self, kind: &str, goal: &str, payload: Value) -> Result<Value, DoorError> {
        let line = message::request_line(kind, "1", goal, payload);
        let stream = self.stream.get_mut();
        writeln!(stream, "{line}").map_err(DoorError::BrokenOff)?;
        let mut answer = String::new();
        let read = self.stream.read_line(&mut answer);
        if read.map_err(DoorError::BrokenOff)? == 0 {
            return Err(DoorError::BrokenOff(io::ErrorKind::UnexpectedEof.into()));
        }
        let answer: Value = serde_json::from_str(&answer)
            .map_err(|error| DoorError::BrokenOff(io::Error::other(error)))?;
        let payload = answer["payload"].as_object();
        match (answer["escalate"]["reason"].as_str(), payload) {
            (Some(why), None) => Err(DoorError::Refused(why.to_owned())),
            (Some(why), Some(payload)) if payload.is_empty() => {
                Err(DoorError::Refused(why.to_owned()))
            }
            _ => Ok(answer["payload"].clone()),
        }
    }
}

impl DoorClient {
    /// Waits until the proxy closes the door.
    pub fn wait_for_end(&mut self) {
        // A connection that fails is over, too.
        let _ = io::copy(&mut self.stream, &mut io::sink());
    }
}

impl AsFd for DoorClient {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.get_ref().as_fd()
    }
}

/// What a running proxy serves, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningProxy {
    /// Where clients connect.
    pub address: SocketAddr,
    /// The token that they need.
    pub token: Option<Secret>,
    /// The model server.
    pub upstream: UpstreamUrl,
    /// Whether that is the built-in demo model.
    pub is_demo: bool,
    /// Its API key.
    pub upstream_api_key: Option<Secret>,
    /// Certificates for it.
    pub upstream_ca_file: Option<PathBuf>,
}

impl RunningProxy {
    /// Asks the proxy of this data directory; `None` if none runs.
    ///
    /// # Errors
    /// If one runs and doesn't say.
    pub fn find(data_dir: &Path) -> Result<Option<Self>, DoorError> {
        let door = DoorClient::connect(data_dir)?;
        door.map(|mut door| Self::ask(&mut door)).transpose()
    }

    /// Asks through this door.
    ///
    /// # Errors
    /// If it doesn't say.
    pub fn ask(door: &mut DoorClient) -> Result<Self, DoorError> {
        let status = door.ask("status", "find the running proxy", json!({}))?;
        let text = |field: &str| status[field].as_str().map(str::to_owned);
        let read = || {
            Some(Self {
                address: text("address")?.parse().ok()?,
                token: text("token").map(Secret::new),
                upstream: UpstreamUrl::parse(&text("upstream")?).ok()?,
                is_demo: status["demo"] == true,
                upstream_api_key: text("upstream_api_key").map(Secret::new),
                upstream_ca_file: text("upstream_ca_file").map(PathBuf::from),
            })
        };
        read().ok_or_else(|| DoorError::Refused("it doesn't say where it listens".into()))
    }
}
