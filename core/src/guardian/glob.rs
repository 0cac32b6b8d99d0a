//! Path patterns: `*` and `?` within one part of a path, `**` for any number of parts, `!` in front for "not".

use alloc::string::String;
use alloc::vec::Vec;

/// A pattern that paths and URLs are held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    negated: bool,
    parts: Vec<GlobPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum GlobPart {
    /// `**`.
    AnyParts,
    /// Without `*` and `?`.
    Plain(String),
    Wild(Vec<char>),
}

impl GlobPart {
    fn from_written(written: &str) -> Self {
        match written {
            "**" => Self::AnyParts,
            _ if written.contains(['*', '?']) => Self::Wild(written.chars().collect()),
            _ => Self::Plain(written.into()),
        }
    }

    fn fits_part(&self, part: &str) -> bool {
        match self {
            Self::AnyParts => true,
            Self::Plain(text) => text == part,
            Self::Wild(pattern) => {
                let part: Vec<char> = part.chars().collect();
                let fits = |c: &char, one: &char| *c == '?' || c == one;
                fits_with_stars(pattern, &part, |c| *c == '*', fits)
            }
        }
    }
}

impl Glob {
    /// Reads a pattern; `None` if it is empty or has `**` next to other characters, which would mean no more than `*`.
    #[must_use]
    pub fn parse_pattern(written: &str) -> Option<Self> {
        let (negated, written) = match written.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, written),
        };
        let is_odd = |part: &str| part.contains("**") && part != "**";
        if written.is_empty() || written.split('/').any(is_odd) {
            return None;
        }
        let mut parts: Vec<GlobPart> = written.split('/').map(GlobPart::from_written).collect();
        // What is in a folder isn't the folder.
        if parts.len() > 1 && parts.last() == Some(&GlobPart::AnyParts) {
            parts.push(GlobPart::from_written("*"));
        }
        Some(Self { negated, parts })
    }

    /// Whether a path, or a URL, fits.
    #[must_use]
    pub fn matches_path(&self, path: &str) -> bool {
        // Most patterns name a folder that most paths aren't in.
        let first = path
            .split('/')
            .next()
            .expect("a split text has a first part");
        if !self.parts.first().is_some_and(|part| part.fits_part(first)) {
            return self.negated;
        }
        let parts: Vec<&str> = path.split('/').collect();
        let is_any = |part: &GlobPart| *part == GlobPart::AnyParts;
        let fits = fits_with_stars(&self.parts, &parts, is_any, |part, one| part.fits_part(one));
        fits != self.negated
    }
}

/// Whether a pattern fits a whole text; an item for which `is_star` holds fits any number of the text's items. Backtracking to
/// the last star is enough, so the work is at most the product of both lengths.
pub fn fits_with_stars<P, T>(
    pattern: &[P],
    text: &[T],
    is_star: impl Fn(&P) -> bool,
    fits: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(part) if is_star(part) => {
                back = Some((p, t));
                p += 1;
            }
            Some(part) if fits(part, &text[t]) => {
                p += 1;
                t += 1;
            }
            _ => match back {
                Some((star, at)) => {
                    back = Some((star, at + 1));
                    (p, t) = (star + 1, at + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(is_star)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_people_expect() {
        let check = |pattern: &str, fitting: &[&str], others: &[&str]| {
            let glob = Glob::parse_pattern(pattern).unwrap();
            for path in fitting {
                assert!(glob.matches_path(path), "{pattern} {path}");
            }
            for path in others {
                assert!(!glob.matches_path(path), "{pattern} {path}");
            }
        };
        check(
            "src/*.c",
            &["src/a.c", "src/.c"],
            &["src/a/b.c", "a.c", "src/a.h"],
        );
        check("src/**", &["src/a", "src/a/b"], &["src", "srcs/a"]);
        check("**/a.c", &["a.c", "x/y/a.c"], &["a.cc", "xa.c"]);
        check("a/**/b", &["a/b", "a/x/y/b"], &["a/x", "b"]);
        check("**", &["a", "a/b"], &[]);
        check("a?c*", &["abc", "axcde"], &["ac", "a/c"]);
        check("!tests/**", &["src/a"], &["tests/a"]);
        check("*a*a*a*b", &["aaab"], &["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]);
        assert!(Glob::parse_pattern("").is_none() && Glob::parse_pattern("a**b").is_none());
    }
}
