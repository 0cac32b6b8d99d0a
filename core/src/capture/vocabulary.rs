//! What clients call their tools, arguments and tags: `clients.json`, read and checked when this crate is compiled.

use alloc::format;
use alloc::string::ToString;

use crate::extract::GrammarTag;
use crate::hash::ArtifactHash;

const CLIENTS: &str = include_str!("../../clients.json");

/// Gives the words of each section a name, in the file's order, which is that of precedence.
macro_rules! sections {
    ($($name:ident $section:literal,)*) => {
        $(
            #[doc = concat!("Each ", $section, ".")]
            pub const $name: &[&str] = {
                const COUNT: usize = section::<0>($section).1;
                assert!(COUNT > 0, concat!("clients.json lacks: ", $section));
                &section::<COUNT>($section).0
            };
        )*
        #[cfg(test)]
        const SECTIONS: &[&str] = &[$($section),*];
    };
}

sections! {
    PATH "path argument",
    CONTENT "content argument",
    OLD "old text argument",
    NEW "new text argument",
    NEW_WITHOUT_OLD "new text argument that may come without an old one",
    INSERTED "inserted text argument",
    INSERT_LINE "insert line argument",
    LINE_NUMBERS "argument that names lines",
    EVERYWHERE "replace everywhere argument",
    EXPECTED_REPLACEMENTS "number of replacements argument",
    EDITS "list of edits argument",
    DIFF "diff argument",
    PATCH "patch argument",
    SHELL "shell argument that may hold a patch",
    COMMAND_LINE "command line argument",
    EDITOR_COMMAND "editor command argument",
    CREATE_COMMANDS "editor command that creates",
    REPLACE_COMMANDS "editor command that replaces",
    INSERT_COMMANDS "editor command that inserts",
    ADDING_TOOLS "part of the name of a tool that adds to a file",
    CREATING_TOOLS "part of the name of a tool that creates",
    CALL_ARGUMENTS "arguments of a call in text",
    WRITE_TAGS "tag that a model writes a file with",
    CLINE_DIFF_TAGS "tag around Cline's SEARCH/REPLACE blocks",
    ROO_DIFF_TAGS "tag or tool around Roo's SEARCH/REPLACE blocks",
    PATH_TAGS "tag around a path",
    PATH_ATTRIBUTES "attribute of a tag that names a path",
    ATTACHED_FILE_TAGS "tag around a file that the user attached",
    WRITTEN_FILE_TAGS "tag around a file that a tool has just written",
    FILE_TAGS "tag around a file, if a path is with it",
    FENCE_TAGS "tag in the place of a fence",
    ANSWER_TOOLS "tool whose result is the user's answer",
    LISTING_TOOLS "tool that prints names of files alone",
    FILE_TOOLS "part of the name of a tool on a file",
    AFTER_RESULT_TAGS "beginning of a line that ends a result",
    READING_REMARKS "remark of a tool that reads",
    TEXT_NOT_FOUND_REMARKS "remark of a tool that an edit's old text isn't in the file",
    EXAMPLES_END "sentence that ends a client's examples",
    CONVERSATION_MARKS "text that marks a quoted conversation",
    USERS_TAGS "tag around the user's own words",
    REMINDER_TAGS "tag around a client's reminders, between which the user speaks",
    SUMMARY_BEGINNINGS "beginning of a line that opens a summary or an agent's orders",
    SUMMARY_WORDS "beginning of a word for a summary",
    CONVERSATION_WORDS "beginning of a word for a conversation",
    ASKING_WORDS "word that asks for something",
    TAKES_TEXT_FOR_CALL "product that takes a text in a call's place",
}

/// The version of this data, for the record of the rules in force.
#[must_use]
pub fn tag() -> GrammarTag {
    let hash = ArtifactHash::of(CLIENTS.as_bytes());
    GrammarTag {
        language: "clients.json".to_string(),
        version: format!("{hash:.16}"),
    }
}

/// The first words of a section, and how many it has.
const fn section<const N: usize>(name: &str) -> ([&'static str; N], usize) {
    let mut words = [""; N];
    let mut count = 0;
    let mut is_inside = false;
    let mut strings = JsonStrings::new(CLIENTS);
    while let Some((depth, string)) = strings.next() {
        if depth == SECTION {
            is_inside = is_equal(string.as_bytes(), name.as_bytes());
        } else if depth == WORD && is_inside {
            if count < N {
                words[count] = string;
            }
            count += 1;
        }
    }
    (words, count)
}

const fn is_equal(one: &[u8], other: &[u8]) -> bool {
    match (one, other) {
        ([], []) => true,
        ([first, one @ ..], [second, other @ ..]) => *first == *second && is_equal(one, other),
        _ => false,
    }
}

/// How deep in the file a string is.
const SECTION: usize = 1;
const WORD: usize = 2;

/// The strings of a JSON text without escapes, each with the number of brackets that are open around it.
struct JsonStrings {
    json: &'static str,
    at: usize,
    depth: usize,
}

impl JsonStrings {
    const fn new(json: &'static str) -> Self {
        let (at, depth) = (0, 0);
        Self { json, at, depth }
    }

    const fn next(&mut self) -> Option<(usize, &'static str)> {
        let bytes = self.json.as_bytes();
        while self.at < bytes.len() {
            let byte = bytes[self.at];
            self.at += 1;
            match byte {
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth -= 1,
                b'"' => {
                    let start = self.at;
                    while bytes[self.at] != b'"' {
                        assert!(bytes[self.at] != b'\\', "clients.json has no escapes");
                        self.at += 1;
                    }
                    let (before, _) = self.json.split_at(self.at);
                    self.at += 1;
                    return Some((self.depth, before.split_at(start).1));
                }
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use alloc::vec::Vec;

    /// The first thing that is wrong with such a file.
    fn flaw(json: &'static str) -> Option<String> {
        if serde_json::from_str::<serde_json::Value>(json).is_err() {
            return Some("no JSON".to_string());
        }
        let mut strings = JsonStrings::new(json);
        let mut open: Vec<&str> = Vec::new();
        let mut seen: Vec<Vec<&str>> = Vec::new();
        while let Some((depth, string)) = strings.next() {
            let is_inner = depth == open.len() + 1;
            if !is_inner && open.len() < 3 || depth > 3 {
                return Some(format!("nothing in {open:?}"));
            }
            open.truncate(depth - 1);
            open.push(string);
            if depth == SECTION && !SECTIONS.contains(&string) {
                return Some(format!("unknown: {string}"));
            }
            if seen.contains(&open) {
                return Some(format!("twice: {open:?}"));
            }
            seen.push(open.clone());
        }
        (open.len() < 3).then(|| format!("nothing in {open:?}"))
    }

    #[test]
    fn the_file_is_sound() {
        assert_eq!(flaw(CLIENTS), None);
        assert_eq!(PATH[..2], ["filePath", "file_path"]);
    }

    #[test]
    fn flaws_are_found() {
        let check = |json, expected: &str| assert_eq!(flaw(json).as_deref(), Some(expected));
        check(r#"{"tag around a path": {"a": ["x"]"#, "no JSON");
        check(r#"{"tags": {"a": ["x"]}}"#, "unknown: tags");
        check(
            r#"{"tag around a path": {}}"#,
            r#"nothing in ["tag around a path"]"#,
        );
        check(
            r#"{"tag around a path": {}, "path argument": {"a": ["x"]}}"#,
            r#"nothing in ["tag around a path"]"#,
        );
        check(
            r#"{"tag around a path": {"a": [], "b": ["x"]}}"#,
            r#"nothing in ["tag around a path", "a"]"#,
        );
        check(
            r#"{"tag around a path": {"a": ["x"], "a": ["y"]}}"#,
            r#"twice: ["tag around a path", "a"]"#,
        );
        check(
            r#"{"tag around a path": {"a": ["x"]}, "tag around a path": {"b": ["x"]}}"#,
            r#"twice: ["tag around a path"]"#,
        );
    }
}
