//! The folder that a client says it works in.

use crate::limits::PATH_BYTES_MAX;
use crate::path::is_absolute;

/// What separates the name of a working folder from its path, and what ends the path.
const FORMS: [(&str, &[char]); 4] = [
    ("\":\"", &['"']),
    (": ", &[]),
    (" (", &[')']),
    (">", &['<']),
];

/// The folder in `<cwd>/w</cwd>`, `Working directory: /w`, `"cwd": "/w"` or `# Current Working Directory (/w) Files`: the first
/// absolute path that follows the name of a working folder on its line.
#[must_use]
pub fn stated_folder(text: &str) -> Option<&str> {
    // Most texts state none, and some are megabytes long.
    let names = ["cwd", "workdir", "irectory", "older"];
    let is_possible = names.iter().any(|name| text.contains(name));
    is_possible
        .then(|| text.lines().find_map(folder_in_line))
        .flatten()
}

fn folder_in_line(line: &str) -> Option<&str> {
    FORMS.iter().find_map(|(separator, ends)| {
        let (name, rest) = line.split_once(separator)?;
        let path = rest.split(*ends).next()?;
        let path = path.trim_matches([' ', '\t', '\r', '"', '\'', '`', ',']);
        let is_path = is_absolute(path) && path.len() <= PATH_BYTES_MAX;
        (names_working_folder(name) && is_path).then_some(path)
    })
}

/// Whether words end in `cwd`, `workdir`, or a directory or folder that somebody is working in.
fn names_working_folder(words: &str) -> bool {
    let mut last = words
        .rsplit(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let is = |word: &str, names: &[&str]| names.iter().any(|it| word.eq_ignore_ascii_case(it));
    last.next().is_some_and(|word| {
        is(word, &["cwd", "workdir"])
            || is(word, &["directory", "folder", "dir"])
                && last.take(3).any(|before| is(before, &["working"]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Codex, Claude Code, OpenCode, Cline, Qwen Code and Continue state it.
    #[test]
    fn forms_of_clients() {
        for (text, folder) in [
            ("<environment_context>\n  <cwd>/w</cwd>\n", Some("/w")),
            ("<env>\nWorking directory: /w/a b\nIs", Some("/w/a b")),
            (" - Primary working directory: /w", Some("/w")),
            ("# Current Working Directory (/w) Files", Some("/w")),
            ("I'm currently working in the directory: /w", Some("/w")),
            ("the current working directory (/w), so", Some("/w")),
            ("{\"cwd\":\"/w\"}", Some("/w")),
            ("\"cwd\": \"/w\",", Some("/w")),
            ("Working directory: `C:\\w`", Some("C:\\w")),
            ("The current working directory is used.", None),
            ("Defaults to the current working directory.", None),
            ("working directory: src", None),
            ("The directory: /w", None),
        ] {
            assert_eq!(stated_folder(text), folder, "{text}");
        }
    }
}
