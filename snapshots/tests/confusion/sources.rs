//! Real sources: those of packages that lie in the local registry, in the versions that `Cargo.lock` names, and functions in
//! languages of which no package there has any.
//!
//! Nothing is downloaded here. A package that isn't there is named, and measured without.

use std::fs;
use std::path::{Path, PathBuf};

/// Names a folder with C or C++ sources besides the fixed ones, to be measured too.
const MORE: &str = "TSLP_CONFUSION_SOURCES";

/// Longest file that is looked into; the generated parsers of grammars are no code that anybody edits.
const FILE_BYTES_MAX: usize = 400 << 10;

/// Where sources come from: a package's folder, and how many of its functions are taken.
struct Origin {
    group: &'static str,
    package: &'static str,
    folder: &'static str,
    functions: usize,
}

const ORIGINS: [Origin; 5] = [
    Origin {
        group: "sqlite",
        package: "libsqlite3-sys",
        folder: "sqlite3",
        functions: 106,
    },
    Origin {
        group: "zstd",
        package: "zstd-sys",
        folder: "zstd/lib",
        functions: 80,
    },
    Origin {
        group: "tree-sitter",
        package: "tree-sitter",
        folder: "src",
        functions: 40,
    },
    Origin {
        group: "libfuzzer",
        package: "libfuzzer-sys",
        folder: "libfuzzer",
        functions: 80,
    },
    Origin {
        group: "rust",
        package: "insta",
        folder: "src",
        functions: 100,
    },
];

/// Languages of which this repository holds functions: see `functions/README.md`.
const KEPT: [(&str, &str); 5] = [
    ("python", "py"),
    ("javascript", "js"),
    ("typescript", "ts"),
    ("go", "go"),
    ("java", "java"),
];

/// Functions taken from one file of a package, so that no file decides.
const PER_FILE: usize = 7;

/// Functions taken of each: all, for there are fewer.
const KEPT_FUNCTIONS: usize = 120;

const EXTENSIONS: [&str; 12] = [
    "c", "cc", "cpp", "cxx", "h", "hpp", "py", "js", "ts", "rs", "go", "java",
];

/// One source file.
pub(crate) struct Source {
    /// As in the project that it comes from.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The sources of one origin.
pub(crate) struct Group {
    pub(crate) name: &'static str,
    /// Functions to take from it.
    pub(crate) functions: usize,
    /// Functions to take from one file at the most.
    pub(crate) functions_per_file: usize,
    /// In the order of their paths.
    pub(crate) sources: Vec<Source>,
}

/// All sources that are there, and the packages that aren't.
pub(crate) fn collect() -> (Vec<Group>, Vec<String>) {
    let mut groups = Vec::new();
    let mut missing = Vec::new();
    for origin in &ORIGINS {
        match package_folder(origin.package) {
            Some(folder) => groups.push(Group {
                name: origin.group,
                functions: origin.functions,
                functions_per_file: PER_FILE,
                sources: sources_under(&folder.join(origin.folder)),
            }),
            None => missing.push(origin.package.to_owned()),
        }
    }
    for (name, extension) in KEPT {
        let mut sources = sources_under(&repository().join("snapshots/tests/confusion/functions"));
        sources.retain(|source| source.path.ends_with(&format!(".{extension}")));
        groups.push(Group {
            name,
            functions: KEPT_FUNCTIONS,
            functions_per_file: KEPT_FUNCTIONS,
            sources,
        });
    }
    if missing.len() == ORIGINS.len() {
        groups.push(Group {
            name: "repository",
            functions: 50,
            functions_per_file: PER_FILE,
            sources: sources_under(&repository().join("grammars/tests/corpus")),
        });
    }
    (groups, missing)
}

/// The sources of a folder that the environment names.
pub(crate) fn more() -> Option<Group> {
    let folder = std::env::var_os(MORE)?;
    Some(Group {
        name: "more",
        functions: 300,
        functions_per_file: PER_FILE,
        sources: sources_under(Path::new(&folder)),
    })
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Where cargo unpacked a package of this workspace's lock file.
fn package_folder(name: &str) -> Option<PathBuf> {
    let lock = fs::read_to_string(repository().join("Cargo.lock")).expect("the lock file is read");
    let entry = lock
        .split("[[package]]")
        .find(|entry| entry.contains(&format!("\nname = \"{name}\"\n")))?;
    let version = entry.split("\nversion = \"").nth(1)?.split('"').next()?;
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))?;
    fs::read_dir(home.join("registry/src"))
        .ok()?
        .flatten()
        .map(|registry| registry.path().join(format!("{name}-{version}")))
        .find(|folder| folder.is_dir())
}

fn sources_under(folder: &Path) -> Vec<Source> {
    let mut paths = Vec::new();
    files_under(folder, &mut paths);
    paths.sort();
    let mut sources: Vec<Source> = Vec::new();
    for path in paths {
        let Ok(text) = fs::read_to_string(&path) else {
            continue; // Not UTF-8: no client would send it as it is.
        };
        if path.file_name().is_some_and(|name| name == "sqlite3.c") {
            sources.extend(amalgamated(&text));
            continue;
        }
        let below = path.strip_prefix(folder).unwrap_or(&path);
        sources.push(Source {
            path: format!("src/{}", below.display()).replace('\\', "/"),
            text,
        });
    }
    sources.retain(|source| source.text.len() <= FILE_BYTES_MAX && !source.text.contains("```"));
    sources
}

fn files_under(folder: &Path, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() {
            files_under(&path, paths);
        } else if matches!(extension, Some(extension) if EXTENSIONS.contains(&extension)) {
            paths.push(path);
        }
    }
}

/// The files that SQLite's amalgamation was made of, by the marks that it keeps of them.
fn amalgamated(text: &str) -> Vec<Source> {
    let mut open: Vec<Source> = Vec::new();
    let mut closed = Vec::new();
    for line in text.split_inclusive('\n') {
        let mark = line.strip_prefix("/************** ");
        let name = |words: &str| {
            mark.and_then(|mark| mark.strip_prefix(words))
                .and_then(|rest| rest.split(' ').next())
        };
        if let Some(name) = name("Begin file ") {
            open.push(Source {
                path: format!("src/{name}"),
                text: String::new(),
            });
        } else if name("End of ").is_some() {
            closed.extend(open.pop());
        } else if name("Continuing where ").is_none()
            && let Some(source) = open.last_mut()
        {
            source.text.push_str(line);
        }
    }
    closed
}
