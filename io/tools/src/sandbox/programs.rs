//! The search for programs: in folders that only the system's administrator, or the Operator, can put programs into.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Folders of the system that are visible in the sandbox.
pub const SYSTEM_FOLDERS: &[&str] = &[
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
];

/// The folders of the system's programs, in search order.
const PROGRAM_FOLDERS: &[&str] = &["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/// The reason why a program isn't run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProgramError {
    /// It isn't there.
    #[error("{0} isn't installed in a folder that tools may use (TOOLCHAIN-MISSING)")]
    Missing(String),
    /// Others can change it.
    #[error("{0} can be changed by others than its owner, or its owner isn't root")]
    Untrusted(PathBuf),
}

/// All folders that programs are looked for in: the toolchains' first.
pub(super) fn program_folders(toolchains: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    let of_toolchains = toolchains.iter().map(|folder| folder.join("bin"));
    of_toolchains.chain(PROGRAM_FOLDERS.iter().map(PathBuf::from))
}

/// The path of a program. Neither the workspace nor `PATH` is consulted.
///
/// # Errors
/// If there is none, or one that others can change.
pub fn find_program(name: &str, toolchains: &[PathBuf]) -> Result<PathBuf, ProgramError> {
    let missing = || ProgramError::Missing(name.to_owned());
    if name.is_empty() || name.contains('/') {
        return Err(missing());
    }
    let is_program = |path: &PathBuf| {
        let found = path.metadata();
        found.is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    let path = program_folders(toolchains)
        .map(|folder| folder.join(name))
        .find(is_program)
        .ok_or_else(missing)?;
    // A link from a system folder may lead anywhere.
    let real = path.canonicalize().map_err(|_| missing())?;
    let is_of_toolchain = toolchains.iter().any(|folder| real.starts_with(folder));
    if !is_of_toolchain && !is_of_system(&real) {
        return Err(ProgramError::Untrusted(real));
    }
    Ok(path)
}

/// Whether only root can change a file, and it lies where the sandbox sees it.
fn is_of_system(path: &Path) -> bool {
    let is_roots = path
        .metadata()
        .is_ok_and(|it| it.uid() == 0 && it.mode() & 0o022 == 0);
    is_roots && SYSTEM_FOLDERS.iter().any(|folder| path.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trusted_folders() {
        assert!(find_program("sh", &[]).unwrap().is_absolute());
        for name in ["", "./sh", "/bin/sh", "nosuchprogram"] {
            assert_eq!(
                find_program(name, &[]),
                Err(ProgramError::Missing(name.to_owned()))
            );
        }
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        std::fs::copy("/bin/sh", bin.join("mytool")).unwrap();
        let toolchain = folder.path().canonicalize().unwrap();
        assert!(find_program("mytool", &[]).is_err());
        assert_eq!(
            find_program("mytool", std::slice::from_ref(&toolchain)),
            Ok(toolchain.join("bin/mytool"))
        );
    }
}
