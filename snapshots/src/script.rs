//! The line language: one step a line, text in lines that begin with a bar.
//!
//! ```text
//! disk src/a.c            the file now holds the text that follows
//! | int f(void) { return 1; }
//! gone src/a.c            the file is deleted
//! new                     a new conversation begins
//! context                 a user message that the client adds before the prompt
//! | …
//! user                    the prompt
//! | What does f() do?
//! model                   the reply; `model cut` ends it by length, `model broken` breaks it off
//! | …
//! ```
//!
//! Empty lines and lines that begin with `#` say nothing.

/// One step of a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A file's content changes.
    Disk {
        /// Relative to the workspace.
        path: String,
        /// What the file holds now.
        text: String,
    },
    /// A file is deleted.
    Gone {
        /// Relative to the workspace.
        path: String,
    },
    /// A new conversation begins.
    New,
    /// A user message that the client adds on its own.
    Context(String),
    /// The user's prompt.
    User(String),
    /// The model's reply.
    Model {
        /// What it says.
        text: String,
        /// How it ends.
        ending: Ending,
    },
}

/// How a reply ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As it should.
    Whole,
    /// By its length limit.
    Cut,
    /// With a broken connection.
    Broken,
}

/// Reads a story.
///
/// # Panics
/// When a line is no step: the story's author must know.
#[must_use]
pub fn parse(story: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut lines = story.lines().map(str::trim_start).peekable();
    while let Some(line) = lines.next() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut text = String::new();
        while let Some(part) = lines.next_if(|line| line.starts_with('|')) {
            text.push_str(
                part.strip_prefix("| ")
                    .or(part.strip_prefix('|'))
                    .unwrap_or(part),
            );
            text.push('\n');
        }
        steps.push(step(line, text));
    }
    steps
}

fn step(line: &str, text: String) -> Step {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match (word, rest) {
        ("disk", path) => Step::Disk {
            path: path.into(),
            text,
        },
        ("gone", path) => Step::Gone { path: path.into() },
        ("new", "") => Step::New,
        ("context", "") => Step::Context(text),
        ("user", "") => Step::User(text),
        ("model", ending) => Step::Model {
            text,
            ending: match ending {
                "" => Ending::Whole,
                "cut" => Ending::Cut,
                "broken" => Ending::Broken,
                other => panic!("a reply can't end so: {other}"),
            },
        },
        _ => panic!("no such step: {line}"),
    }
}
