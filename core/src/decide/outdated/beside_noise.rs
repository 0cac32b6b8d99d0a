//! Where a definition may stand in a text that a parser doesn't understand as a whole, because other output stands around it.

use alloc::vec::Vec;
use core::ops::Range;

/// Lines in front of a definition's last line at the margin that may belong to it: its type, attributes, a comment. What a
/// tool says above a file's text is among them, so each number of lines is tried.
const LINES_ABOVE_MAX: usize = 8;

/// Places tried in one text, at most.
const PLACES_MAX: usize = 512;

/// What may follow the word that ends a body in some languages.
const ENDS_WITH_END: [char; 3] = [';', ',', ')'];

/// What a line can be of a definition.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Blank,
    /// Text at the margin.
    Margin,
    /// Text that is indented, or what opens a body.
    Body,
    /// A line of a comment of several lines.
    Comment,
    /// What ends a body.
    Closer,
}

/// Where definitions may stand that begin in front of `before`, each as all lines of one, at most `bytes_max` bytes in all.
pub(super) fn places(text: &str, before: usize, bytes_max: usize) -> Vec<Range<usize>> {
    let lines = lines(text);
    let kind = |line: usize| lines.get(line).map(|(_, kind)| *kind);
    let mut places = Vec::new();
    let mut left = bytes_max;
    for line in 0..lines.len() {
        if lines[line].0.start >= before {
            break;
        }
        if kind(line) != Some(Kind::Margin) {
            continue;
        }
        let end = end_of(&lines, line);
        let opens = |text: &str| text.contains(['{', '=']) || text.starts_with("#define");
        if end == line + 1 && !opens(&text[lines[line].0.clone()]) {
            continue;
        }
        let end = lines[end - 1].0.end;
        for first in (line.saturating_sub(LINES_ABOVE_MAX)..=line).rev() {
            let belongs = matches!(kind(first), Some(Kind::Margin | Kind::Comment));
            let place = lines[first].0.start..end;
            let Some(less) = left.checked_sub(place.len()).filter(|_| belongs) else {
                break;
            };
            left = less;
            places.push(place);
        }
        if places.len() >= PLACES_MAX {
            break;
        }
    }
    places
}

/// Behind the last line of what begins at a line at the margin.
fn end_of(lines: &[(Range<usize>, Kind)], line: usize) -> usize {
    let mut end = line + 1;
    for (at, (_, kind)) in lines.iter().enumerate().skip(line + 1) {
        match kind {
            Kind::Blank => {}
            Kind::Body | Kind::Comment | Kind::Closer => end = at + 1,
            Kind::Margin => break,
        }
    }
    end
}

fn lines(text: &str) -> Vec<(Range<usize>, Kind)> {
    let mut at = 0;
    text.split_inclusive('\n')
        .map(|line| {
            let start = at;
            at += line.len();
            (start..at, kind(line))
        })
        .collect()
}

fn kind(line: &str) -> Kind {
    let word = line.trim();
    match (word.as_bytes().first(), line.starts_with([' ', '\t'])) {
        (None, _) => Kind::Blank,
        (Some(b'*'), true) => Kind::Comment,
        (_, true) | (Some(b'{'), _) => Kind::Body,
        (Some(b'}' | b')' | b']'), _) => Kind::Closer,
        _ if word.trim_end_matches(ENDS_WITH_END) == "end" => Kind::Closer,
        _ => Kind::Margin,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = places(text, text.len(), 4096)
            .into_iter()
            .map(|place| &text[place])
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn definitions_below_and_above_other_output() {
        check(
            "Output:\nint\nadd(int a)\n{\n  x;\n\n  y;\n}\n[done]\n",
            &[
                "add(int a)\n{\n  x;\n\n  y;\n}\n",
                "int\nadd(int a)\n{\n  x;\n\n  y;\n}\n",
                "Output:\nint\nadd(int a)\n{\n  x;\n\n  y;\n}\n",
            ],
        );
        check(
            "4 a.py\n\n@x\ndef f(a,\n    b\n):\n    return a\nint b = 1;\ndone\n",
            &[
                "def f(a,\n    b\n):\n    return a\n",
                "@x\ndef f(a,\n    b\n):\n    return a\n",
                "int b = 1;\n",
            ],
        );
        check(
            "ok.\ndef f(a)\n  a\nend\nok\n",
            &["def f(a)\n  a\nend\n", "ok.\ndef f(a)\n  a\nend\n"],
        );
        check("one\ntwo\n\nthree\n", &[]);
        check("", &[]);
    }

    #[test]
    fn none_behind_what_is_understood() {
        let text = "ok.\na = 1\n\nb = 1\n";
        assert_eq!(places(text, 11, 4096), [4..10, 0..10]);
        assert_eq!(places(text, 0, 4096), []);
    }

    #[test]
    fn work_is_bounded() {
        let text = "a = 1\n".repeat(10_000);
        let found = places(&text, text.len(), 4096);
        assert!(found.iter().map(Range::len).sum::<usize>() <= 4096);
        assert!(places(&text, text.len(), usize::MAX).len() < PLACES_MAX + LINES_ABOVE_MAX + 1);
    }
}
