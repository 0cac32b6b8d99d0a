//! Stories with their golden ends: `stories/TOPIC/NAME.story`, and beside it `NAME.snap`.
//!
//! `INSTA_GLOB_FILTER='gates/lazy*' cargo test -p tslp-snapshots stories::gates` plays some of a topic.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use tslp_snapshots::golden::play;
use tslp_snapshots::script;

pub(crate) mod headers;
mod mentioned;
mod variants;

/// One test for each folder of stories.
macro_rules! topics {
    ($($topic:ident)*) => {
        const TOPICS: &[&str] = &[$(stringify!($topic)),*];

        $(
            #[test]
            fn $topic() {
                play_topic(stringify!($topic));
            }
        )*
    };
}

topics! {
    agents audits authors clear code_spec cpp delimiters directives edits edits_of_pieces
    evidence extent gates goals hydration links loops mentions moving_files older_code
    older_shapes patterns recent_context records refusals renames repeats resolution scope
    sessions stale tombstones unseen users_word verification write_head
}

/// Plays a topic's stories and compares their ends with the goldens.
fn play_topic(topic: &str) {
    insta::glob!("../../stories", &format!("{topic}/*.story"), |path| {
        let story = fs::read_to_string(path).expect("a story is text");
        let played = catch_unwind(AssertUnwindSafe(|| {
            (script::parse(&story).about, play(&story))
        }));
        let (about, end) = played.unwrap_or_else(|_| panic!("{} failed", path.display()));
        assert!(!about.is_empty(), "{} has no sentence", path.display());
        let mut settings = insta::Settings::clone_current();
        settings.remove_snapshot_suffix();
        settings.remove_input_file();
        settings.set_snapshot_path(path.parent().expect("a topic's folder"));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.set_description(about);
        let name = path.file_stem().expect("a name").to_string_lossy();
        settings.bind(|| insta::assert_snapshot!(&*name, end));
    });
}

/// The files below `folder`.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|_| panic!("{} exists", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let (folders, mut found): (Vec<_>, Vec<_>) = paths.partition(|path| path.is_dir());
    found.extend(folders.iter().flat_map(|folder| files(folder)));
    found.sort();
    found
}

/// All stories and their goldens.
pub(crate) fn story_files() -> Vec<PathBuf> {
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("stories"))
}

#[test]
fn every_file_is_played() {
    let mut topics = BTreeSet::new();
    for path in story_files() {
        let topic = path.parent().and_then(Path::file_name).expect("a topic");
        topics.insert(topic.to_string_lossy().into_owned());
        match path.extension().and_then(|it| it.to_str()) {
            Some("story") => {}
            Some("snap") => {
                let is_there = path.with_extension("story").exists();
                assert!(is_there, "{} has no story", path.display());
            }
            _ => panic!("{} is neither a story nor its golden", path.display()),
        }
    }
    let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
    assert_eq!(topics, TOPICS, "a folder is a topic with a test");
}
