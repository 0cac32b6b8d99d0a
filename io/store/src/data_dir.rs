//! The data directory of a workspace: in the user's data folder, never inside the workspace.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use tslp_core::hash::ArtifactHash;

/// Longest part of a workspace's name that its data directory bears.
const NAME_CHARACTERS_MAX: usize = 40;

/// An error that leaves no data directory.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    /// It would be written to, and the workspace is only ever read.
    #[error(
        "the workspace {} holds the data directory {}, and the proxy never writes to a workspace; \
         go to a project's own folder, or name another data directory with --data-dir DIR",
        workspace.display(),
        path.display()
    )]
    InsideWorkspace {
        /// The data directory.
        path: PathBuf,
        /// The workspace.
        workspace: PathBuf,
    },
    /// Its ledger is another project's.
    #[error(
        "the ledger in {} is of another folder that was at {}, with other files; name another data directory with --data-dir DIR, or \
         delete the file `root` in that one if it is this project",
        path.display(),
        workspace.display()
    )]
    OtherProject {
        /// The data directory.
        path: PathBuf,
        /// The workspace.
        workspace: PathBuf,
    },
    /// Neither a home nor a data folder is known.
    #[error("there is no home folder to keep the ledger in; name a folder with --data-dir DIR")]
    NoHome,
    /// It can't be found out where it is, created, or written to.
    #[error("the data directory {} can't be used: {cause}; mend that, or name another one with --data-dir DIR", path.display())]
    Unusable {
        /// The data directory.
        path: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
}

/// The data directory of `workspace`, which must be an absolute path without symbolic links. Creates nothing.
///
/// # Errors
/// If it would lie inside the workspace, or no user's data folder is known and none is given.
pub fn choose_data_dir(
    workspace: &Path,
    given: Option<&Path>,
    user_data: Option<&Path>,
) -> Result<PathBuf, DataDirError> {
    let path = match (given, user_data) {
        (Some(given), _) => given.to_owned(),
        (None, Some(user_data)) => user_data.join("tslp").join(data_dir_name(workspace)),
        (None, None) => return Err(DataDirError::NoHome),
    };
    let resolved = resolve_links(&path).map_err(|cause| DataDirError::Unusable {
        path: path.clone(),
        cause,
    })?;
    if resolved.starts_with(workspace) {
        return Err(DataDirError::InsideWorkspace {
            path: resolved,
            workspace: workspace.to_owned(),
        });
    }
    Ok(resolved)
}

/// Creates the data directory, for its owner's eyes only, and makes sure that it can be written to.
///
/// # Errors
/// If it can't.
pub fn prepare(path: &Path) -> Result<(), DataDirError> {
    let unusable = |cause| DataDirError::Unusable {
        path: path.to_owned(),
        cause,
    };
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(unusable)?;
    #[cfg(unix)]
    rustix::fs::access(
        path,
        rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK,
    )
    .map_err(|errno| unusable(errno.into()))?;
    Ok(())
}

/// `<name>-<12 hexadecimal digits of the path's BLAKE3>`.
fn data_dir_name(workspace: &Path) -> String {
    let base = workspace
        .file_name()
        .map_or("root".into(), |name| name.to_string_lossy());
    let base: String = base
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') {
                c
            } else {
                '_'
            }
        })
        .take(NAME_CHARACTERS_MAX)
        .collect();
    let hash = ArtifactHash::of(workspace.as_os_str().as_encoded_bytes());
    format!("{base}-{hash:.12}")
}

/// The absolute path without symbolic links, though its last parts need not exist yet.
fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    let mut existing = std::path::absolute(path)?;
    let mut missing: Vec<OsString> = Vec::new();
    loop {
        match existing.canonicalize() {
            Ok(found) => {
                return Ok(missing
                    .iter()
                    .rev()
                    .fold(found, |path, part| path.join(part)));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        match existing.components().next_back() {
            Some(Component::Normal(part)) if !existing.is_symlink() => {
                missing.push(part.to_owned())
            }
            _ => {
                return Err(io::Error::new(
                    io::ErrorKind::NotFound,
                    "it leads through `..` or a symbolic link to something that doesn't exist",
                ));
            }
        }
        existing.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Places {
        _dir: tempfile::TempDir,
        workspace: PathBuf,
        home: PathBuf,
    }

    fn places() -> Places {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (workspace, home) = (root.join("my proj"), root.join("home"));
        std::fs::create_dir(&workspace).unwrap();
        std::fs::create_dir(&home).unwrap();
        Places {
            _dir: dir,
            workspace,
            home,
        }
    }

    /// The default is named after the workspace and the hash of its path.
    #[test]
    fn name_and_hash() {
        let at = places();
        let path = choose_data_dir(&at.workspace, None, Some(&at.home)).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let (base, hash) = name.rsplit_once('-').unwrap();
        assert_eq!((base, hash.len()), ("my_proj", 12));
        assert_eq!(path.parent().unwrap(), at.home.join("tslp"));
        assert!(!path.exists());
    }

    /// Nothing is kept inside the workspace.
    #[test]
    fn inside_workspace() {
        let at = places();
        let refused = |given: &Path| {
            let result = choose_data_dir(&at.workspace, Some(given), None);
            assert!(
                matches!(result, Err(DataDirError::InsideWorkspace { .. })),
                "{result:?}"
            );
        };
        refused(&at.workspace);
        refused(&at.workspace.join("not/there/yet"));
        let result = choose_data_dir(&at.workspace, None, Some(&at.workspace));
        assert!(matches!(result, Err(DataDirError::InsideWorkspace { .. })));
        #[cfg(unix)]
        {
            let link = at.home.join("link");
            std::os::unix::fs::symlink(&at.workspace, &link).unwrap();
            refused(&link.join("data"));
        }
    }

    /// A neighbour with a longer name is not inside the workspace.
    #[test]
    fn longer_neighbour() {
        let at = places();
        let neighbour = at.workspace.with_file_name("my proj data");
        assert_eq!(
            choose_data_dir(&at.workspace, Some(&neighbour), None).unwrap(),
            neighbour
        );
    }

    #[test]
    fn without_home() {
        let at = places();
        assert!(matches!(
            choose_data_dir(&at.workspace, None, None),
            Err(DataDirError::NoHome)
        ));
    }

    #[test]
    fn unresolvable_paths() {
        let at = places();
        let result = choose_data_dir(&at.workspace, Some(&at.home.join("gone/../x")), None);
        assert!(
            matches!(result, Err(DataDirError::Unusable { .. })),
            "{result:?}"
        );
    }

    #[test]
    fn owner_only() {
        let at = places();
        let path = at.home.join("a/b");
        prepare(&path).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = path.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
    }

    #[test]
    fn file_in_the_way() {
        let at = places();
        let path = at.home.join("file");
        std::fs::write(&path, "").unwrap();
        let message = prepare(&path.join("x")).unwrap_err().to_string();
        assert!(message.contains("--data-dir"), "{message}");
    }
}
