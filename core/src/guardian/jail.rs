//! What a tool may name: the workspace and the system's own read-only folders.

use alloc::string::String;
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
}

/// What is wrong with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trespass {
    /// It is neither in the workspace nor visible.
    Outside,
    /// It is protected.
    Protected,
}

impl Jail {
    /// What a path, given as an absolute and normal one, trespasses on.
    #[must_use]
    pub fn trespass(&self, path: &str) -> Option<Trespass> {
        let inside = |folder: &String| is_within(path, folder);
        if self.protected.iter().any(inside) {
            Some(Trespass::Protected)
        } else if is_within(path, &self.root) || self.visible.iter().any(inside) {
            None
        } else {
            Some(Trespass::Outside)
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
pub fn absolute(written: &str, cwd: &str) -> String {
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
        };
        let check = |written: &str, expected| {
            let path = absolute(written, "/home/u/w/src");
            assert_eq!(jail.trespass(&path), expected, "{written} is {path}");
        };
        check("a.c", None);
        check("..", None);
        check("../..", Some(Trespass::Outside));
        check("../../w/src/./a.c", None);
        check("../../w2/a.c", Some(Trespass::Outside));
        check("/usr/include/stdio.h", None);
        check("/usr/../etc/passwd", Some(Trespass::Outside));
        check("/usrlocal", Some(Trespass::Outside));
        check("/dev/null", None);
        check("/", Some(Trespass::Outside));
        check("../.git/hooks/pre-commit", Some(Trespass::Protected));
        check("../../../../../..", Some(Trespass::Outside));
    }
}
