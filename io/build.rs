//! A fingerprint of everything that a state comes of: what folds it, what its parts are and how they are stored. A checkpoint
//! of other sources is thrown away, so that nobody has to remember to raise a number.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The crates whose sources make a state.
const CRATES: [&str; 4] = ["core", "projections", "replay", "migrations"];

fn main() -> io::Result<()> {
    let here = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let workspace = here.as_deref().and_then(Path::parent);
    let workspace = workspace.ok_or_else(|| io::Error::other("io lies in no workspace"))?;
    let mut files = Vec::new();
    for name in CRATES {
        let sources = workspace.join(name).join("src");
        println!("cargo::rerun-if-changed={}", sources.display());
        collect(&sources, &mut files)?;
    }
    files.sort();
    let mut hash = FNV_OFFSET;
    for file in files {
        let name = file.strip_prefix(workspace).unwrap_or(&file);
        hash = fnv(hash, name.to_string_lossy().as_bytes());
        hash = fnv(hash, &fs::read(&file)?);
    }
    println!("cargo::rustc-env=STATE_SOURCES_FINGERPRINT={hash:016x}");
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// FNV-1a, which needs no crate and is the same everywhere.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME)
    })
}
