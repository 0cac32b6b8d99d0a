//! The door of a running proxy: a Unix socket by which the user's other commands act on it (docs/using.md). One line of JSON in,
//! one out. Nothing else acts on a proxy from outside: no HTTP endpoint does.

pub mod client;
mod keeper;
pub mod message;
pub mod server;

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use tslp_core::hash::ArtifactHash;

pub(crate) use keeper::ProxyKeeper;

/// Longest line, in bytes.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// Longest path that a Unix socket can have on all systems, in bytes.
const SOCKET_PATH_MAX: usize = 100;

/// The path of the socket for this data directory. Where that would be too long, it is in the folder that
/// `XDG_RUNTIME_DIR` names; `None` if there is no such folder either.
#[must_use]
pub fn socket_path(data_dir: &Path) -> Option<PathBuf> {
    let inside = data_dir.join("door");
    if inside.as_os_str().len() <= SOCKET_PATH_MAX {
        return Some(inside);
    }
    let runtime = PathBuf::from(std::env::var_os("XDG_RUNTIME_DIR")?);
    let hash = ArtifactHash::of(data_dir.as_os_str().as_encoded_bytes());
    let outside = runtime.join(format!("tslp-{hash:.12}.door"));
    (runtime.is_absolute() && outside.as_os_str().len() <= SOCKET_PATH_MAX).then_some(outside)
}

/// Whether a proxy that runs no more has left its socket: it was killed.
pub(crate) fn is_left_behind(data_dir: &Path) -> bool {
    socket_path(data_dir).is_some_and(|path| path.exists())
}

/// Whether the other end runs as this process's user. Elsewhere than on Linux the socket's permissions alone see to that.
fn is_own_user(stream: &UnixStream) -> bool {
    #[cfg(target_os = "linux")]
    {
        let peer = rustix::net::sockopt::socket_peercred(stream);
        peer.is_ok_and(|peer| peer.uid == rustix::process::geteuid())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = stream;
        true
    }
}
