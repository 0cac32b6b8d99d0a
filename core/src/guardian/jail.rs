//! The paths that a tool may name: the workspace and the system's own read-only folders.

use alloc::format;
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

const OUTSIDE: &str = "outside of the workspace";
const PROTECTED: &str = "protected";

impl Jail {
    /// The jail as text, for the ledger: a path in each line, after its kind. A path with a line break can't be
    /// written; tools don't run in such a workspace.
    #[must_use]
    pub fn to_text(&self) -> Option<String> {
        let one = core::slice::from_ref;
        let mut text = String::new();
        for (kind, paths) in [
            ("root", one(&self.root)),
            ("visible", &self.visible),
            ("protected", &self.protected),
            ("home", one(&self.home)),
            ("locked", &self.locked),
        ] {
            for path in paths.iter().filter(|path| !path.is_empty()) {
                let is_line = !path.contains('\n');
                text += &is_line.then(|| format!("{kind} {path}\n"))?;
            }
        }
        Some(text)
    }

    /// Reads what [`to_text`](Self::to_text) writes.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let mut jail = Self::default();
        for line in text.lines() {
            let (kind, path) = line.split_once(' ')?;
            let path = path.to_string();
            match kind {
                "root" => jail.root = path,
                "visible" => jail.visible.push(path),
                "protected" => jail.protected.push(path),
                "home" => jail.home = path,
                "locked" => jail.locked.push(path),
                _ => return None,
            }
        }
        (!jail.root.is_empty()).then_some(jail)
    }

    /// Why a path is refused, if it is, in words; it must be absolute and normal.
    #[must_use]
    pub fn trespass_of(&self, path: &str) -> Option<&'static str> {
        let inside = |folder: &String| is_within(path, folder);
        // A folder that the workspace itself lies in, such as `/tmp`, isn't visible: the sandbox has one of its own.
        let is_shown = |folder: &String| inside(folder) && !is_within(&self.root, folder);
        if self.protected.iter().any(inside) {
            Some(PROTECTED)
        } else if is_within(path, &self.root) || self.visible.iter().any(is_shown) {
            None
        } else {
            Some(OUTSIDE)
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

    /// Only the workspace and what is visible can be named.
    #[test]
    fn visible_paths() {
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
        check("../..", Some(OUTSIDE));
        check("../../w/src/./a.c", None);
        check("../../w2/a.c", Some(OUTSIDE));
        check("/usr/include/stdio.h", None);
        check("/usr/../etc/passwd", Some(OUTSIDE));
        check("/usrlocal", Some(OUTSIDE));
        check("/dev/null", None);
        check("/", Some(OUTSIDE));
        check("../.git/hooks/pre-commit", Some(PROTECTED));
        check("../../../../../..", Some(OUTSIDE));
        let in_tmp = Jail {
            root: "/tmp/u/w".into(),
            visible: vec!["/tmp".into()],
            ..Jail::default()
        };
        for outside in ["/tmp", "/tmp/u", "/tmp/etc/passwd", "/tmp/other/w"] {
            assert_eq!(in_tmp.trespass_of(outside), Some(OUTSIDE));
        }
        assert_eq!(in_tmp.trespass_of("/tmp/u/w/a.c"), None);
    }
}
