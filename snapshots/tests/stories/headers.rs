//! What shows a rule of the law: stories, and tests with a `/// law …` line (`snapshots/src/law.rs`).

use std::fs;
use std::path::{Path, PathBuf};

use tslp_snapshots::law::Law;
use tslp_snapshots::script;

use super::{files, story_files};

/// A story: its name, the rules that it shows, and its golden end, which is empty before it is written.
pub(crate) struct Story {
    /// `TOPIC/NAME`.
    pub(crate) name: String,
    pub(crate) laws: Vec<Law>,
    pub(crate) golden: String,
}

/// A test in Rust: where it is, and the rules that it shows.
pub(crate) struct Test {
    /// From the workspace's root.
    pub(crate) file: String,
    pub(crate) name: String,
    pub(crate) laws: Vec<Law>,
}

/// The folders whose tests may show a rule.
const SOURCES: [&str; 8] = [
    "core",
    "projections",
    "replay",
    "migrations",
    "grammars",
    "io",
    "snapshots",
    "fuzz",
];

pub(crate) fn root() -> PathBuf {
    let crates_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crates_folder.parent().expect("the workspace").into()
}

pub(crate) fn stories() -> Vec<Story> {
    let paths = story_files().into_iter();
    let paths = paths.filter(|path| path.extension().is_some_and(|it| it == "story"));
    let read = |path: PathBuf| {
        let stem = path.with_extension("");
        let names = stem.components().rev().take(2).map(|it| it.as_os_str());
        let names: Vec<_> = names.map(|it| it.to_string_lossy()).collect();
        let text = fs::read_to_string(&path).expect("a story is text");
        Story {
            name: format!("{}/{}", names[1], names[0]),
            laws: script::parse(&text).laws,
            golden: fs::read_to_string(path.with_extension("snap")).unwrap_or_default(),
        }
    };
    paths.map(read).collect()
}

pub(crate) fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    for folder in SOURCES {
        for path in files(&root().join(folder)) {
            let file = path.strip_prefix(root()).expect("below the root");
            if path.extension().is_some_and(|it| it == "rs") {
                let text = fs::read_to_string(&path).expect("source is text");
                tests.extend(tests_in(&file.to_string_lossy(), &text));
            }
        }
    }
    tests
}

/// The tests of a source file. A function's attributes and docs are the lines above it, up to an empty one or the end of a block.
fn tests_in(file: &str, text: &str) -> Vec<Test> {
    let mut tests = Vec::new();
    let (mut laws, mut is_test) = (Vec::new(), false);
    for line in text.lines().map(str::trim) {
        if let Some(law) = line.strip_prefix("/// ").and_then(Law::parse) {
            laws.push(law);
            continue;
        }
        is_test |= line == "#[test]";
        let function = line.split_once("fn ").filter(|_| is_test);
        let name = function.and_then(|(_, rest)| Some(rest.split_once('(')?.0));
        if let Some(name) = name {
            tests.push(Test {
                file: file.into(),
                name: name.into(),
                laws: std::mem::take(&mut laws),
            });
            is_test = false;
        } else if line.is_empty() || line == "}" {
            assert!(laws.is_empty(), "{file}: no test below {laws:?}");
            is_test = false;
        }
    }
    tests
}
