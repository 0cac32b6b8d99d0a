//! The paths that a tool may name: the workspace and the system's own read-only folders.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Where tools may look. All paths are absolute and normal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Jail {
    /// The workspace.
    pub root: String,
    /// Folders and files outside of it that are visible in the sandbox, too.
    pub visible: Vec<String>,
    /// Folders in the workspace that no tool may name: the data directory, git's hooks.
    pub protected: Vec<String>,
    /// The user's home folder, for calls of the client's own tools; empty if it isn't known.
    pub home: String,
    /// The only files that the client's own tools may write, if the user has locked any.
    pub locked: Vec<String>,
}

/// Why a path is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathTrespass {
    /// It is neither in the workspace nor visible.
    Outside,
    /// It is protected.
    Protected,
}

// Prefixes of the lines in a jail's text.
const ROOT: &str = "root ";
const VISIBLE: &str = "visible ";
const PROTECTED: &str = "protected ";
const HOME: &str = "home ";
const LOCKED: &str = "locked ";

impl Jail {
    /// The jail as text, for the ledger: a path in each line, after its kind. A path with a line break can't be
    /// written; tools don't run in such a workspace.
    #[must_use]
    pub fn to_text(&self) -> Option<String> {
        let visible = self.visible.iter().map(|path| (VISIBLE, path));
        let protected = self.protected.iter().map(|path| (PROTECTED, path));
        let locked = self.locked.iter().map(|path| (LOCKED, path));
        let home = Some((HOME, &self.home)).filter(|(_, home)| !home.is_empty());
        let mut text = String::new();
        for (what, path) in core::iter::once((ROOT, &self.root))
            .chain(visible)
            .chain(protected)
            .chain(home)
            .chain(locked)
        {
            if path.contains('\n') {
                return None;
            }
            text.push_str(what);
            text.push_str(path);
            text.push('\n');
        }
        Some(text)
    }

    /// Reads what [`to_text`](Self::to_text) writes.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let mut jail = Self::default();
        for line in text.lines() {
            if let Some(path) = line.strip_prefix(ROOT) {
                jail.root = path.to_string();
            } else if let Some(path) = line.strip_prefix(VISIBLE) {
                jail.visible.push(path.to_string());
            } else if let Some(path) = line.strip_prefix(HOME) {
                jail.home = path.to_string();
            } else if let Some(path) = line.strip_prefix(LOCKED) {
                jail.locked.push(path.to_string());
            } else {
                jail.protected
                    .push(line.strip_prefix(PROTECTED)?.to_string());
            }
        }
        (!jail.root.is_empty()).then_some(jail)
    }

    /// Why a path is refused, if it is; it must be absolute and normal.
    #[must_use]
    pub fn trespass_of(&self, path: &str) -> Option<PathTrespass> {
        let inside = |folder: &String| is_within(path, folder);
        // A folder that the workspace itself lies in, such as `/tmp`, isn't visible: the sandbox has one of its own.
        let is_shown = |folder: &String| inside(folder) && !is_within(&self.root, folder);
        if self.protected.iter().any(inside) {
            Some(PathTrespass::Protected)
        } else if is_within(path, &self.root) || self.visible.iter().any(is_shown) {
            None
        } else {
            Some(PathTrespass::Outside)
        }
    }
}

/// Whether a normal path is a folder or lies in it.
#[must_use]
pub fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || folder.ends_with('/'))
}

/// A path as written, made absolute and normal; `..` of the topmost folder is that folder, as the kernel has it.
#[must_use]
pub fn absolute_path(written: &str, cwd: &str) -> String {
    let from: &str = if written.starts_with('/') { "" } else { cwd };
    let mut parts: Vec<&str> = Vec::new();
    for part in from.split('/').chain(written.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut path = String::new();
    for part in parts {
        path.push('/');
        path.push_str(part);
    }
    if path.is_empty() { "/".into() } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn only_the_workspace_and_what_is_visible_can_be_named() {
        let jail = Jail {
            root: "/home/u/w".into(),
            visible: vec!["/usr".into(), "/dev/null".into()],
            protected: vec!["/home/u/w/.git/hooks".into()],
            home: String::new(),
            locked: Vec::new(),
        };
        let check = |written: &str, expected| {
            let path = absolute_path(written, "/home/u/w/src");
            assert_eq!(jail.trespass_of(&path), expected, "{written} is {path}");
        };
        check("a.c", None);
        check("..", None);
        check("../..", Some(PathTrespass::Outside));
        check("../../w/src/./a.c", None);
        check("../../w2/a.c", Some(PathTrespass::Outside));
        check("/usr/include/stdio.h", None);
        check("/usr/../etc/passwd", Some(PathTrespass::Outside));
        check("/usrlocal", Some(PathTrespass::Outside));
        check("/dev/null", None);
        check("/", Some(PathTrespass::Outside));
        check("../.git/hooks/pre-commit", Some(PathTrespass::Protected));
        check("../../../../../..", Some(PathTrespass::Outside));
        let in_tmp = Jail {
            root: "/tmp/u/w".into(),
            visible: vec!["/tmp".into()],
            ..Jail::default()
        };
        for outside in ["/tmp", "/tmp/u", "/tmp/etc/passwd", "/tmp/other/w"] {
            assert_eq!(in_tmp.trespass_of(outside), Some(PathTrespass::Outside));
        }
        assert_eq!(in_tmp.trespass_of("/tmp/u/w/a.c"), None);
    }
}
