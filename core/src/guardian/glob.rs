//! Path patterns: `*` and `?` within one part of a path, `**` for any number of parts, `!` in front for "not".

use alloc::string::String;
use alloc::vec::Vec;

/// A pattern that paths and URLs are held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    negated: bool,
    parts: Vec<String>,
}

impl Glob {
    /// Reads a pattern; `None` if it is empty or has `**` beside other characters, which would say nothing more than `*`.
    #[must_use]
    pub fn parse(written: &str) -> Option<Self> {
        let (negated, written) = match written.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, written),
        };
        let mut parts: Vec<String> = written.split('/').map(String::from).collect();
        let is_odd = |part: &String| part.contains("**") && part != "**";
        if written.is_empty() || parts.iter().any(is_odd) {
            return None;
        }
        // What is in a folder isn't the folder.
        if parts.len() > 1 && parts.last().is_some_and(|last| last == "**") {
            parts.push("*".into());
        }
        Some(Self { negated, parts })
    }

    /// Whether a path, or a URL, fits.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        let parts: Vec<&str> = path.split('/').collect();
        let fits = starred(
            &self.parts,
            &parts,
            |part| part == "**",
            |part, one| {
                let (part, one): (Vec<char>, Vec<char>) =
                    (part.chars().collect(), one.chars().collect());
                starred(&part, &one, |c| *c == '*', |c, one| *c == '?' || c == one)
            },
        );
        fits != self.negated
    }
}

/// Whether a pattern fits a whole text, where `is_star` tells what stands for any number of items. Goes back to the last
/// star only, which is enough, so it takes at most the product of both lengths.
fn starred<P, T>(
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
            let glob = Glob::parse(pattern).unwrap();
            for path in fitting {
                assert!(glob.matches(path), "{pattern} {path}");
            }
            for path in others {
                assert!(!glob.matches(path), "{pattern} {path}");
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
        assert!(Glob::parse("").is_none() && Glob::parse("a**b").is_none());
    }
}
