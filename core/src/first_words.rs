//! The first words of a prompt, as the user wrote them.

use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;

use crate::capture::vocabulary::USERS_TAGS;
use crate::opening_fence::lines_outside;

/// Longest beginning of a prompt that is shown, in characters.
const WORDS_MAX: usize = 60;

/// The first line of prose: what a client wraps around it, and code, are left out.
#[must_use]
pub fn first_words(text: &str) -> String {
    let ends = text.split("</").skip(1);
    let closed: BTreeSet<&str> = ends
        .filter_map(|end| Some(end.split_once('>')?.0))
        .collect();
    let mut element = None;
    for line in lines_outside(text).map(str::trim) {
        let tag = line
            .strip_prefix('<')
            .and_then(|rest| rest.strip_suffix('>'))
            .filter(|name| !name.contains('>'));
        if let Some(name) = element {
            if tag.is_some_and(|tag| tag.strip_prefix('/') == Some(name)) {
                element = None;
            }
        } else if let Some(name) = tag {
            // The user's own words may be all that an element holds.
            let is_wrapper = USERS_TAGS.contains(&name);
            element = (!is_wrapper && closed.contains(name)).then_some(name);
        } else {
            let said = within_users_tag(line);
            if !said.is_empty() && !said.starts_with("@tslp") {
                return shortened(said);
            }
        }
    }
    String::new()
}

/// What a line says between the tags that a client puts around the user's own words: `<task>Fix it.</task>`.
fn within_users_tag(line: &str) -> &str {
    let opened = line.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    let Some((name, said)) = opened.filter(|(name, _)| USERS_TAGS.contains(name)) else {
        return line;
    };
    let end = said
        .strip_suffix('>')
        .and_then(|rest| rest.strip_suffix(name));
    end.and_then(|rest| rest.strip_suffix("</"))
        .unwrap_or(said)
        .trim()
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(WORDS_MAX) {
        None => line.to_owned(),
        Some((end, _)) => {
            let cut = &line[..end];
            let cut = cut.rsplit_once(' ').map_or(cut, |(words, _)| words);
            format!("{cut}…")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_own_words() {
        let check = |text: &str, expected: &str| assert_eq!(first_words(text), expected);
        check("Make it faster.\nPlease.", "Make it faster.");
        check("@tslp accept src/a.c\n\n  What now?", "What now?");
        check("```c:src/a.c\nint a;\n```\nWhy is that?", "Why is that?");
        check(
            "<system-reminder>\nBe brief.\n</system-reminder>\nFix `f`.",
            "Fix `f`.",
        );
        check(
            "<task>\nFix `f`.\n</task>\n<environment_details>\nx\n</environment_details>",
            "Fix `f`.",
        );
        check("<task>Fix `f`.</task>\n# Environment", "Fix `f`.");
        check("<answer>\nThe second.\n</answer>", "The second.");
        check("<b>\nbold, and never closed", "bold, and never closed");
        check("```\ncode alone\n```", "");
        let long = "word ".repeat(30);
        let words = first_words(&long);
        assert!(
            words.ends_with("word…") && words.chars().count() <= WORDS_MAX + 1,
            "{words}"
        );
        check(&"ü".repeat(61), &format!("{}…", "ü".repeat(60)));
    }
}
