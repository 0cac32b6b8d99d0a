//! Workspace-relative paths, normalised without touching a disk (engine: "Entities and slices").

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use crate::delimiter;
use crate::limits::PATH_BYTES_MAX;
use crate::reason::Reason;
use crate::stored::{Meaningless, stored_text};

/// A normalised path below the workspace root: `/`-separated, relative, without `.`, `..`, empty parts, control
/// characters or NUL. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(Arc<str>);

stored_text!(RelPath, as_str, RelPath::read);

#[cfg(feature = "arbitrary")]
impl<'a> arbitrary::Arbitrary<'a> for RelPath {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        u.choose(&["a.c", "src/a.c", "lib/b.c"])
            .map(|path| Self::from_normalised(path))
    }
}

impl From<RelPath> for Arc<str> {
    /// Without a copy.
    fn from(path: RelPath) -> Self {
        path.0
    }
}

impl RelPath {
    /// Normalises a path as a client, a model or a person wrote it.
    ///
    /// `root` is the absolute workspace path (`/`-separated); absolute paths below it become relative.
    ///
    /// # Errors
    /// [`Reason::PathEscapesWorkspace`] for `..` beyond the root and absolute paths elsewhere,
    /// [`Reason::PathNotUsable`] for empty, overlong, NUL-bearing, control- or bidi-bearing, device and UNC paths,
    /// and for those that hold a delimiter of ours.
    pub fn parse(written: &str, root: &str) -> Result<Self, Reason> {
        let trimmed = written.trim();
        // A block that names such a path would open or close another one.
        let is_usable = trimmed.len() <= PATH_BYTES_MAX
            && !trimmed.chars().any(is_unusable)
            && !delimiter::quoted_in(trimmed);
        if trimmed.is_empty() || !is_usable {
            return Err(Reason::PathNotUsable);
        }
        let unified: String = trimmed
            .chars()
            .map(|c| if c == '\\' { '/' } else { c })
            .collect();
        if unified.starts_with("//") {
            return Err(Reason::PathNotUsable);
        }
        let relative = if is_absolute(&unified) {
            below_root(&unified, root).ok_or(Reason::PathEscapesWorkspace)?
        } else {
            unified.as_str()
        };
        let mut parts = alloc::vec::Vec::new();
        for part in relative.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or(Reason::PathEscapesWorkspace)?;
                }
                part if is_device(part) => return Err(Reason::PathNotUsable),
                part => parts.push(part),
            }
        }
        if parts.is_empty() || unified.ends_with('/') {
            return Err(Reason::PathNotUsable);
        }
        let path = parts.join("/");
        // `..` may have moved a drive letter to the front: `a/../C:/x`.
        if is_absolute(&path) {
            return Err(Reason::PathEscapesWorkspace);
        }
        Ok(Self(path.into()))
    }

    /// Reads a path that was normalised before it was stored.
    ///
    /// # Errors
    /// [`Meaningless::Path`] if it isn't: it could lead out of the workspace.
    pub fn read(stored: &str) -> Result<Self, Meaningless> {
        let is_normalised = !stored.contains(['\0', '\\'])
            && stored
                .split('/')
                .all(|part| !matches!(part, "" | "." | ".."));
        if is_normalised {
            Ok(Self(stored.into()))
        } else {
            Err(Meaningless::Path(stored.into()))
        }
    }

    /// Takes a path that is already normalised, for example one that a ledger holds.
    #[must_use]
    pub fn from_normalised(path: &str) -> Self {
        Self(path.into())
    }

    /// As [`from_normalised`](Self::from_normalised), without a copy.
    #[must_use]
    pub const fn from_shared(path: Arc<str>) -> Self {
        Self(path)
    }

    /// The path's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part.
    #[must_use]
    pub fn basename(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The text after the last dot of the base name, unless nothing is before or after that dot.
    #[must_use]
    pub fn extension(&self) -> Option<&str> {
        let (stem, extension) = self.basename().rsplit_once('.')?;
        (!stem.is_empty() && !extension.is_empty()).then_some(extension)
    }
}

/// Whether a path is `end`, or `end` in some folder.
#[must_use]
pub fn ends_in(path: &str, end: &str) -> bool {
    let before = path.strip_suffix(end);
    before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Control characters, NUL, bidirectional overrides and zero-width characters have no place in a file name that a
/// person should be able to check by eye.
pub(crate) fn is_unusable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

pub(crate) fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    path.starts_with('/')
        || (bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':')
}

fn below_root<'a>(path: &'a str, root: &str) -> Option<&'a str> {
    let root = root.trim_end_matches('/');
    if root.is_empty() {
        return None;
    }
    path.strip_prefix(root)?.strip_prefix('/')
}

/// Windows device names would open a device on some disks, whatever their extension.
fn is_device(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part);
    let numbered = |prefix: &str| {
        stem.len() == 4
            && stem.is_char_boundary(3)
            && stem[..3].eq_ignore_ascii_case(prefix)
            && stem.as_bytes()[3].is_ascii_digit()
    };
    ["con", "prn", "aux", "nul"]
        .iter()
        .any(|name| stem.eq_ignore_ascii_case(name))
        || numbered("com")
        || numbered("lpt")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, expected: Result<&str, Reason>) {
        let parsed = RelPath::parse(written, "/home/u/proj");
        assert_eq!(
            parsed
                .as_ref()
                .map(RelPath::as_str)
                .map_err(|reason| *reason),
            expected,
            "{written:?}"
        );
    }

    #[test]
    fn inside_root() {
        check("src/a.c", Ok("src/a.c"));
        check("./src//b/../a.c", Ok("src/a.c"));
        check("src\\a.c", Ok("src/a.c"));
        check("/home/u/proj/src/a.c", Ok("src/a.c"));
    }

    #[test]
    fn outside_root() {
        check("../a.c", Err(Reason::PathEscapesWorkspace));
        check("src/../../a.c", Err(Reason::PathEscapesWorkspace));
        check("/etc/passwd", Err(Reason::PathEscapesWorkspace));
        check("/home/u/project2/a.c", Err(Reason::PathEscapesWorkspace));
        check("C:/windows/a.c", Err(Reason::PathEscapesWorkspace));
        check("a/../C:/windows/a.c", Err(Reason::PathEscapesWorkspace));
    }

    /// Paths that no person could check by eye are refused.
    #[test]
    fn unusable_spellings() {
        for written in [
            "",
            "  ",
            "a\0.c",
            "src/\u{202e}c.a",
            "src/\u{e0041}a.c",
            "//server/share/a.c",
            "NUL",
            "com1.c",
            "src/",
            ".",
        ] {
            check(written, Err(Reason::PathNotUsable));
        }
    }
}
