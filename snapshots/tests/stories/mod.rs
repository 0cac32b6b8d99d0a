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
    ($($(#[$about:meta])* $topic:ident)*) => {
        const TOPICS: &[&str] = &[$(stringify!($topic)),*];

        $(
            $(#[$about])*
            #[test]
            fn $topic() {
                play_topic(stringify!($topic));
            }
        )*
    };
}

topics! {
    /// Agents: the prompt only grows, and what an agent touches is known.
    agents
    /// The shadow audit: early, late, doubtful and silent (spec §10).
    audits
    /// Who speaks: what a message repeats of the model's or a tool's, and what it quotes, isn't the
    /// user's.
    authors
    /// Files that broke, by a merge or by a slip: what can't be read is as it was, and nothing is made of
    /// it.
    broken
    /// A conversation's context cleared: what goes to the model afterwards.
    clear
    /// The user's rules for code that models write (docs/repair.md).
    code_spec
    /// C++: qualified names, methods, overloads, namespaces.
    cpp
    /// Our own delimiters: stripped from what is recorded, defused on their way to the model, never
    /// forged.
    delimiters
    /// Directives in prompts: accept, reject, confirm.
    directives
    /// Edits in every format: applied to what is authoritative exactly, or not at all (spec §12).
    edits
    /// Edits of files of which only parts are known: pieces that the user and the model supplied
    /// (spec §12).
    edits_of_pieces
    /// What names a block's file: every path evidence that there is (engine: "Resolution").
    evidence
    /// Whole file or fragment: what a block leaves out is removed only where the block is the whole
    /// file.
    extent
    /// Promotion of the model's code: gate A, gate B, and what each refusal leads to (spec §6, §7,
    /// §12).
    gates
    /// What the work is for: said by the user, told to conversations that begin.
    goals
    /// What the model is shown of the truth (spec §8, engine: "Prompt assembly").
    hydration
    /// Code that names no file, or a method out of its class: linked by what the model was shown
    /// (spec §4.1).
    links
    /// Agents send the user's message again with every step of their loops, and clients with every
    /// regenerated turn.
    loops
    /// Which tracked entities a prompt names.
    mentions
    /// Files move while a conversation goes on: somebody saves late, undoes, edits by hand, renames
    /// or deletes.
    moving_files
    /// Code in older messages: what isn't true any more is withheld however it got there, all else
    /// stays (spec §15.6).
    older_code
    /// Code in older messages in the shapes that agents' histories have as well as blocks:
    /// thoughts, here-documents, what a terminal showed, quotes, JSON in JSON.
    older_shapes
    /// Languages that are read by the patterns of `symbols.json` (spec §4.1, step 2), and one with
    /// a grammar.
    patterns
    /// Which file a path means: other mounts, links, working folders, worktrees, names with blanks.
    places
    /// The Recent Context window (spec §8.4).
    recent_context
    /// What is kept for the project: note, forget and accept, what a model proposes, and its life
    /// with the code that it quotes.
    records
    /// Input that is never taken for an entity, with the reason that is recorded.
    refusals
    /// Renames and other changes of what a name means: flagged, never guessed (spec §12).
    renames
    /// A message that was said before, word for word, where a regenerated reply looks like another
    /// conversation.
    repeats
    /// Confidence levels (spec §4): CONFIRMED by path and parse, INFERRED by correlation, else
    /// UNRESOLVED.
    resolution
    /// Which files the user lets a model see: off, on, lock and unlock.
    scope
    /// Which conversation a prompt belongs to.
    sessions
    /// External truth (spec §15): disk against what is held true.
    stale
    /// What an authoritative update of a whole file leaves out (spec §9.2).
    tombstones
    /// What calls change on disk by other ways than judged edits.
    unattributed
    /// Code that the model writes over without having seen it (spec §12: mutation base
    /// unacknowledged).
    unseen
    /// What the user's word does to what is true, where it is incomplete, late, or about what isn't
    /// there.
    users_word
    /// User verification: going on from a proposal takes it (spec §6, gate B).
    verification
    /// The user as write-head: pasted code is true at once and wins over everything (spec §6,
    /// §9.1).
    write_head
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

/// The files below `folder` except for what is built.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|_| panic!("{} exists", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let paths = paths.filter(|path| !path.ends_with("target"));
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
