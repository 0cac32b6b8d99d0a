//! The files that a command shows.

use alloc::string::String;
use alloc::vec::Vec;

use super::Reader;
use crate::capture::path_hint;

/// What a command shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::capture) struct Shows {
    /// The files whose text is all that it shows, in order; none if it may show anything else.
    pub(in crate::capture) files: Vec<String>,
    /// All words that may name a file.
    pub(in crate::capture) named: Vec<String>,
}

/// Files that one command names, at most; more is a list that nobody reads whole.
const FILES_NAMED_MAX: usize = 64;

/// What a command shows.
pub(in crate::capture) fn shows(command: &str) -> Shows {
    let reader = Reader::of(command);
    let mut shows = Shows::default();
    let mut only_files = true;
    for run in &reader.runs {
        let words: Vec<&str> = run.words.iter().map(String::as_str).collect();
        let named = words
            .iter()
            .filter(|word| path_hint::names_file(word) || is_pattern(word));
        shows.named.extend(named.map(|word| run.place(word)));
        match files_shown(&words) {
            Some(files) => shows.files.extend(files.iter().map(|word| run.place(word))),
            None => only_files = false,
        }
    }
    if !only_files {
        shows.files.clear();
    }
    shows.files.truncate(FILES_NAMED_MAX);
    shows.named.truncate(FILES_NAMED_MAX);
    shows
}

/// Whether a word stands for several files.
fn is_pattern(word: &str) -> bool {
    word.contains(['*', '?', '[', '{'])
}

/// The files whose text a simple command prints; `None` if it may print anything else.
fn files_shown<'w>(words: &[&'w str]) -> Option<Vec<&'w str>> {
    const SILENT: [&str; 6] = ["cd", "pushd", "mkdir", "true", "set", "export"];
    const PLAIN: [&str; 11] = [
        "cat",
        "head",
        "tail",
        "nl",
        "less",
        "more",
        "bat",
        "batcat",
        "type",
        "tac",
        "Get-Content",
    ];
    const WITH_SCRIPT: [&str; 3] = ["sed", "awk", "gawk"];
    let (command, arguments) = words.split_first()?;
    let mut files = arguments
        .iter()
        .copied()
        .filter(|word| !word.starts_with(['-', '+']));
    if files.clone().any(is_pattern) && !WITH_SCRIPT.contains(command) {
        return None;
    }
    let is_file = |word: &&str| !word.bytes().all(|byte| byte.is_ascii_digit());
    match *command {
        silent if SILENT.contains(&silent) => Some(Vec::new()),
        plain if PLAIN.contains(&plain) => Some(files.filter(is_file).collect()),
        scripted if WITH_SCRIPT.contains(&scripted) => {
            let names_script = arguments.iter().any(|word| matches!(*word, "-e" | "-f"));
            if names_script {
                return None;
            }
            files.next();
            (!files.clone().any(is_pattern)).then(|| files.collect())
        }
        _ => None,
    }
}
