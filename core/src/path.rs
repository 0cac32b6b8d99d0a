//! Workspace-relative paths, normalised without touching a disk (engine: "Entities and slices").

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
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
    /// `root` is the absolute workspace path (`/`-separated). What leads below it becomes relative, however it is spelled.
    ///
    /// # Errors
    /// [`Reason::PathEscapesWorkspace`] for `..` beyond the root and absolute paths elsewhere,
    /// [`Reason::PathNotUsable`] for empty, overlong, NUL-bearing, control- or bidi-bearing, device and UNC paths,
    /// and for those that hold a delimiter of ours.
    pub fn parse(written: &str, root: &str) -> Result<Self, Reason> {
        Self::beneath(&absolute(written, root, root)?, root)
    }

    /// The path of an [absolute] one beneath the root.
    ///
    /// # Errors
    /// [`Reason::PathEscapesWorkspace`] if it is elsewhere, [`Reason::PathNotUsable`] for the root itself and for devices.
    pub fn beneath(absolute: &str, root: &str) -> Result<Self, Reason> {
        let mut parts = absolute.split('/').filter(|part| !part.is_empty());
        let mut above = without_private(root).split('/').filter(|it| !it.is_empty());
        if !above.all(|part| parts.next() == Some(part)) {
            return Err(Reason::PathEscapesWorkspace);
        }
        let parts: Vec<&str> = parts.collect();
        if parts.is_empty() || parts.iter().any(|part| is_device(part)) {
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

/// A written path from the root of the file system on, `/`-separated and normalised; a relative one is in `folder`. `root` is the
/// workspace's.
///
/// # Errors
/// As for [`RelPath::parse`].
pub fn absolute(written: &str, folder: &str, root: &str) -> Result<String, Reason> {
    let (folder, root) = (without_private(folder), without_private(root));
    let plain = spelled_plainly(written.trim(), root).ok_or(Reason::PathNotUsable)?;
    // A block that names such a path would open or close another one.
    let is_usable = plain.len() <= PATH_BYTES_MAX
        && !plain.chars().any(is_unusable)
        && !delimiter::quoted_in(&plain);
    if plain.is_empty() || plain.starts_with("//") || !is_usable {
        return Err(Reason::PathNotUsable);
    }
    let is_absolute = is_absolute(&plain);
    if is_absolute && root.trim_matches('/').is_empty() {
        return Err(Reason::PathEscapesWorkspace);
    }
    let start = if is_absolute { "" } else { folder };
    let mut parts = Vec::from([""]);
    for part in start.split('/').chain(without_private(&plain).split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.len() == 1 => return Err(Reason::PathEscapesWorkspace),
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    match plain.ends_with('/') {
        true => Err(Reason::PathNotUsable),
        false => Ok(parts.join("/")),
    }
}

/// A path and the folders that it is in, the longest first, without the root.
pub fn with_folders(path: &str) -> impl Iterator<Item = &str> {
    fn folder<'p>(path: &&'p str) -> Option<&'p str> {
        let (folder, _) = path.rsplit_once('/')?;
        (!folder.is_empty()).then_some(folder)
    }
    core::iter::successors(Some(path), folder)
}

/// A path with the folder `from` in front replaced by `to`; `None` if it isn't in `from`. An empty folder is the root.
#[must_use]
pub fn moved(path: &str, from: &str, to: &str) -> Option<String> {
    let below = match from {
        "" => path,
        from => match path.strip_prefix(from)? {
            "" => return Some(to.into()),
            below => below.strip_prefix('/')?,
        },
    };
    Some([to, below].join("/").trim_start_matches('/').into())
}

/// The folders in front of what two paths end in alike.
#[must_use]
pub fn unlike_folders<'p>(mut one: &'p str, mut other: &'p str) -> (&'p str, &'p str) {
    let split = |path: &'p str| path.rsplit_once('/').unwrap_or(("", path));
    while !one.is_empty() && !other.is_empty() && split(one).1 == split(other).1 {
        (one, other) = (split(one).0, split(other).0);
    }
    (one, other)
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

/// A path with `/` between its parts and without what only stands for its beginning: `file://`, the `~` of the home folder that the
/// root is in, and a drive that WSL has mounted where the root is. `None` if it is a URL and no path.
fn spelled_plainly(written: &str, root: &str) -> Option<String> {
    let url = written.strip_prefix("file://");
    let url = url.map(|it| it.strip_prefix("localhost").unwrap_or(it));
    if url.is_some_and(|it| !it.starts_with('/')) {
        return None;
    }
    let path = url
        .map_or_else(|| written.into(), percent_decoded)
        .replace('\\', "/");
    let on_drive = path.strip_prefix('/').unwrap_or(&path).split_once(":/");
    let mut top = root.split('/').skip(1);
    Some(match (top.next(), path.strip_prefix("~/"), on_drive) {
        (Some("root"), Some(below), _) => ["/root/", below].concat(),
        (Some(homes @ ("home" | "Users")), Some(below), _) => {
            ["/", homes, "/", top.next()?, "/", below].concat()
        }
        (Some("mnt"), _, Some((letter, below))) => {
            let drive = top.next().filter(|it| it.eq_ignore_ascii_case(letter));
            drive.map_or(path.clone(), |it| ["/mnt/", it, "/", below].concat())
        }
        _ => path,
    })
}

/// A path as it is without what macOS has linked into `/private`.
fn without_private(path: &str) -> &str {
    let linked = path.strip_prefix("/private");
    let is_linked = |path: &&str| matches!(path.split('/').nth(1), Some("tmp" | "var" | "etc"));
    linked.filter(is_linked).unwrap_or(path)
}

/// The text that a URL's part stands for; what is no escape stays.
#[must_use]
pub fn percent_decoded(path: &str) -> String {
    let mut pieces = path.split('%');
    let mut out = Vec::from(pieces.next().unwrap_or_default());
    for piece in pieces {
        let digits = piece.get(..2);
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => out.extend([&[byte], &piece.as_bytes()[2..]].concat()),
            None => out.extend(["%", piece].concat().into_bytes()),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
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

    /// A path means one file whatever its spelling, and where it isn't clear which, it is refused.
    #[test]
    fn spellings_of_one_file() {
        let escapes = Err(Reason::PathEscapesWorkspace);
        let unusable = Err(Reason::PathNotUsable);
        let (home, wsl, tmp) = ("/home/u/proj", "/mnt/c/Users/u/proj", "/tmp/ws");
        for (root, written, expected) in [
            ("/root/ws", "file:///root/ws/a%20b.py", Ok("a b.py")),
            (home, "file://localhost/home/u/proj/%C3%A9.py", Ok("é.py")),
            (home, "file:///etc/passwd", escapes),
            (home, "file://server/share/a.c", unusable),
            (home, "file:///home/u/proj/a%00.c", unusable),
            (home, "file:///home/u/proj/%2e%2e/b.c", escapes),
            (home, "file:///home/u/proj/100%.c", Ok("100%.c")),
            (home, "100%25.c", Ok("100%25.c")),
            (home, "~/proj/a.c", Ok("a.c")),
            (home, "~/proj2/a.c", escapes),
            (home, "~v/proj/a.c", Ok("~v/proj/a.c")),
            ("/root/ws", "~/ws/a.c", Ok("a.c")),
            ("/root", "~/a.c", Ok("a.c")),
            ("/Users/u/x/proj", "~/x/proj/a.c", Ok("a.c")),
            ("/srv/proj", "~/proj/a.c", Ok("~/proj/a.c")),
            (home, "../proj/a.c", Ok("a.c")),
            (home, "src/../../../u/proj/b/a.c", Ok("b/a.c")),
            (home, "/home/u/x/../proj/a.c", Ok("a.c")),
            (home, "../proj2/a.c", escapes),
            (home, "../proj", unusable),
            ("", "../ws/a.c", escapes),
            ("", "/a.c", escapes),
            ("/", "/a.c", escapes),
            (wsl, "C:\\Users\\u\\proj\\a.c", Ok("a.c")),
            (wsl, "c:/Users/u/proj/a.c", Ok("a.c")),
            (wsl, "/C:/Users/u/proj/a.c", Ok("a.c")),
            (wsl, "file:///C:/Users/u/proj/a.c", Ok("a.c")),
            (wsl, "D:\\Users\\u\\proj\\a.c", escapes),
            (wsl, "C:a.c", escapes),
            (home, "C:\\home\\u\\proj\\a.c", escapes),
            ("C:/ws", "C:\\ws\\a.c", Ok("a.c")),
            (tmp, "/private/tmp/ws/a.c", Ok("a.c")),
            ("/private/tmp/ws", "/tmp/ws/a.c", Ok("a.c")),
            ("/private/tmp/ws", "/private/tmp/ws/a.c", Ok("a.c")),
            (home, "/private/home/u/proj/a.c", escapes),
            (tmp, "private/tmp/ws/a.c", Ok("private/tmp/ws/a.c")),
        ] {
            let parsed = RelPath::parse(written, root);
            let parsed = parsed.as_ref().map(RelPath::as_str).map_err(|it| *it);
            assert_eq!(parsed, expected, "{written} in {root}");
        }
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
