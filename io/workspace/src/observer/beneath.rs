//! Opens files beneath the workspace root, never anything else, without ever waiting for a FIFO or device.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use tslp_core::event::ReadFailure;
use tslp_core::path::RelPath;

use super::identity::{is_regular, same_inode};

/// The workspace's root folder, held open.
pub(super) struct WorkspaceRoot {
    path: PathBuf,
    folder: OwnedFd,
    found: Stat,
    resolution: PathResolution,
}

/// The way in which a path is resolved without leaving the root. A file is read under its own name alone: through a link it would be
/// another one for every rule (`place.rs` says which).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathResolution {
    /// The kernel does it: `openat2` with `RESOLVE_BENEATH` and `RESOLVE_NO_SYMLINKS` (Linux 5.6 and later).
    #[cfg(target_os = "linux")]
    Kernel,
    /// We open part by part.
    PartByPart,
}

impl WorkspaceRoot {
    pub(super) fn open(path: &Path) -> Result<Self, ReadFailure> {
        let folder = rustix::fs::open(path, FOLDER, Mode::empty()).map_err(read_failure)?;
        Ok(Self {
            path: path.to_owned(),
            found: rustix::fs::fstat(&folder).map_err(read_failure)?,
            resolution: supported_resolution(&folder),
            folder,
        })
    }

    /// Opens the root anew if its path leads to another folder now, for example after a fresh checkout.
    pub(super) fn reopen_if_moved(&mut self) -> Result<(), ReadFailure> {
        let now = rustix::fs::stat(&self.path).map_err(read_failure)?;
        if !same_inode(&now, &self.found) {
            *self = Self::open(&self.path)?;
        }
        Ok(())
    }

    /// The metadata of the file that the path leads to, in one call. It follows links, even out of the root, so it may only be
    /// used to recognise a file that was opened beneath the root before, by its whole identity.
    pub(super) fn stat(&self, path: &RelPath) -> Option<Stat> {
        rustix::fs::statat(&self.folder, path.as_str(), AtFlags::empty()).ok()
    }

    /// Opens a regular file for reading; `None` if there is nothing.
    pub(super) fn open_file(&self, path: &RelPath) -> Result<Option<File>, ReadFailure> {
        match self.try_open_file(path.as_str()) {
            Ok(file) => Ok(Some(file)),
            Err(OpenRefusal::Missing) => Ok(None),
            Err(OpenRefusal::Unreadable(failure)) => Err(failure),
        }
    }

    /// Checks the file's type before it opens it, because opening a device can have an effect.
    fn try_open_file(&self, path: &str) -> Result<File, OpenRefusal> {
        match self.resolution {
            #[cfg(target_os = "linux")]
            PathResolution::Kernel => {
                let found = self.open_resolved(path, OFlags::PATH | OFlags::CLOEXEC)?;
                require_regular(&rustix::fs::fstat(&found)?)?;
                self.open_resolved(path, READ).map(File::from)
            }
            PathResolution::PartByPart => self.open_by_steps(path),
        }
    }

    #[cfg(target_os = "linux")]
    fn open_resolved(&self, path: &str, how: OFlags) -> Result<OwnedFd, OpenRefusal> {
        // A rename somewhere on the way makes the kernel unsure whether `..` still leads inside.
        for _ in 0..RESOLVE_ATTEMPTS {
            match rustix::fs::openat2(&self.folder, path, how, Mode::empty(), BENEATH) {
                Err(Errno::AGAIN) => {}
                other => return other.map_err(OpenRefusal::from),
            }
        }
        Err(OpenRefusal::Unreadable(ReadFailure::Unsteady))
    }

    fn open_by_steps(&self, path: &str) -> Result<File, OpenRefusal> {
        let (folders, name) = path
            .rsplit_once('/')
            .map_or((None, path), |(folders, name)| (Some(folders), name));
        let mut folder = self
            .folder
            .try_clone()
            .map_err(|_| OpenRefusal::Unreadable(ReadFailure::Failed))?;
        for part in folders.into_iter().flat_map(|folders| folders.split('/')) {
            not_a_link(&folder, part)?;
            folder = rustix::fs::openat(&folder, part, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
        }
        require_regular(&not_a_link(&folder, name)?)?;
        let file = rustix::fs::openat(&folder, name, READ | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(File::from(file))
    }

    #[cfg(test)]
    pub(super) fn with_resolution(mut self, resolution: PathResolution) -> Self {
        self.resolution = resolution;
        self
    }
}

/// Flags for opening a folder. On Linux they need only the right to search it.
#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// Flags for opening a file: never waits for a FIFO's other end, never takes a terminal, never leaks to a child.
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

#[cfg(target_os = "linux")]
const BENEATH: rustix::fs::ResolveFlags =
    rustix::fs::ResolveFlags::BENEATH.union(rustix::fs::ResolveFlags::NO_SYMLINKS);

#[cfg(target_os = "linux")]
const RESOLVE_ATTEMPTS: usize = 8;

/// The reason why there is no file to read.
enum OpenRefusal {
    Missing,
    Unreadable(ReadFailure),
}

impl From<Errno> for OpenRefusal {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOENT | Errno::NOTDIR => Self::Missing,
            other => Self::Unreadable(read_failure(other)),
        }
    }
}

/// The read failure for an error of the system.
pub(super) fn read_failure(errno: Errno) -> ReadFailure {
    match errno {
        Errno::ACCESS | Errno::PERM => ReadFailure::Denied,
        Errno::XDEV | Errno::LOOP => ReadFailure::Escapes,
        Errno::ISDIR | Errno::NXIO => ReadFailure::NotAFile,
        Errno::FBIG | Errno::OVERFLOW => ReadFailure::TooLarge,
        Errno::TIMEDOUT => ReadFailure::TimedOut,
        _ => ReadFailure::Failed,
    }
}

fn require_regular(stat: &Stat) -> Result<(), OpenRefusal> {
    if is_regular(stat) {
        Ok(())
    } else {
        Err(OpenRefusal::Unreadable(ReadFailure::NotAFile))
    }
}

fn not_a_link(folder: &OwnedFd, part: &str) -> Result<Stat, OpenRefusal> {
    let stat = rustix::fs::statat(folder, part, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
        return Err(OpenRefusal::Unreadable(ReadFailure::Escapes));
    }
    Ok(stat)
}

/// Kernels before 5.6 don't know `openat2`, and some container sandboxes refuse it.
#[cfg(target_os = "linux")]
fn supported_resolution(folder: &OwnedFd) -> PathResolution {
    match rustix::fs::openat2(folder, ".", FOLDER, Mode::empty(), BENEATH) {
        Ok(_) => PathResolution::Kernel,
        Err(_) => PathResolution::PartByPart,
    }
}

#[cfg(not(target_os = "linux"))]
fn supported_resolution(_: &OwnedFd) -> PathResolution {
    PathResolution::PartByPart
}
