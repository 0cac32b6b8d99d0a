//! The names in a text, as hashes: enough to rule out, without reading the text again, that it holds a name.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::prompt::mention;
use tslp_core::capture::json_text;
use tslp_core::known_lines;
use tslp_core::name_hash::{NameHash, NamedPath, basename_hash, name_hash};
use tslp_core::path::RelPath;

/// The identifiers and paths in a text. They take about a third of the text's own memory.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TextFacts {
    /// Sorted.
    identifiers: Box<[NameHash]>,
    /// Sorted.
    paths: Box<[NamedPath]>,
}

impl TextFacts {
    /// Reads a text. `root` is the workspace's absolute path.
    #[must_use]
    pub fn of(text: &str, root: &str) -> Self {
        let mut identifiers = DistinctValues::default();
        json_text::change_strings(text, &mut |string| {
            for at in known_lines::identifiers(string) {
                identifiers.push(name_hash(&string[at]));
            }
            None
        });
        let mut paths = DistinctValues::default();
        for word in mention::path_words(text) {
            let path = mention::path_in(word);
            // A path may be a part of its word: `src/a.c:12:int`, ` ```c:src/a.c`, `path=src/a.c`.
            let parts = path.split([':', '=']).filter(|part| *part != path);
            for written in parts.chain([path]) {
                let is_path = written.contains(['.', '/']);
                let path = RelPath::parse(written, root);
                let name = written.rsplit('/').next().unwrap_or_default();
                // Of another root only the name tells something.
                let is_bare = !written.contains(['/', '\\']) || path.is_err();
                if is_path && let Ok(path) = path.or_else(|_| RelPath::parse(name, root)) {
                    paths.push(NamedPath {
                        path: name_hash(path.as_str()),
                        basename: basename_hash(&path),
                        is_bare,
                    });
                }
            }
        }
        Self {
            identifiers: identifiers.into_sorted(),
            paths: paths.into_sorted(),
        }
    }

    /// The identifiers in the text, each once; in JSON those inside its strings as well.
    pub fn identifiers(&self) -> impl Iterator<Item = NameHash> {
        self.identifiers.iter().copied()
    }

    /// Whether the text has an identifier.
    #[must_use]
    pub fn has_identifier(&self, name: NameHash) -> bool {
        self.identifiers.binary_search(&name).is_ok()
    }

    /// The paths in the text, each once.
    pub fn paths(&self) -> impl Iterator<Item = NamedPath> {
        self.paths.iter().copied()
    }

    /// Whether the text names a file with this [`basename_hash`], in any folder.
    #[must_use]
    pub fn names_file(&self, basename: NameHash) -> bool {
        let paths = &self.paths;
        let found = paths.binary_search_by_key(&basename, |path| path.basename);
        found.is_ok()
    }

    /// Bytes of memory.
    #[must_use]
    pub fn weight(&self) -> usize {
        size_of_val(&*self.identifiers) + size_of_val(&*self.paths)
    }
}

/// Collects values that repeat, in memory proportional to the distinct ones.
struct DistinctValues<T> {
    values: Vec<T>,
    /// The number of values at which repeated ones are removed.
    dedup_at: usize,
}

const DEDUP_AT_MIN: usize = 1 << 12;

impl<T> Default for DistinctValues<T> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            dedup_at: DEDUP_AT_MIN,
        }
    }
}

impl<T: Ord> DistinctValues<T> {
    fn push(&mut self, value: T) {
        self.values.push(value);
        if self.values.len() == self.dedup_at {
            self.dedup();
            // Doubled, so that the total work stays linear except for the sorting.
            self.dedup_at = DEDUP_AT_MIN.max(2 * self.values.len());
        }
    }

    fn dedup(&mut self) {
        self.values.sort_unstable();
        self.values.dedup();
    }

    fn into_sorted(mut self) -> Box<[T]> {
        self.dedup();
        self.values.into_boxed_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, path: &str) -> bool {
        let facts = TextFacts::of(text, "/home/u/proj");
        let found = facts.paths().any(|named| named.path == name_hash(path));
        let basename = basename_hash(&RelPath::from_normalised(path));
        assert!(!found || facts.names_file(basename));
        found
    }

    fn has_identifier(text: &str, name: &str) -> bool {
        let facts = TextFacts::of(text, "/");
        let mut identifiers = facts.identifiers();
        identifiers.any(|hash| hash == name_hash(name))
    }

    #[test]
    fn paths_in_every_spelling() {
        for text in [
            "see src/a.c.",
            "src/a.c:12:int add(",
            "```c:src/a.c",
            "path=src/a.c",
            "in `./src/a.c`",
            "/home/u/proj/src/a.c",
            "src/a.c::add",
            r#"{"path":"src/a.c","x":1}"#,
        ] {
            assert!(names(text, "src/a.c"), "{text}");
        }
        assert!(names("a.c", "a.c"));
        assert!(!names("/etc/src/a.c", "src/a.c"));
        assert!(!names("src/a.cc", "src/a.c"));
    }

    #[test]
    fn identifiers_in_json() {
        assert!(has_identifier("int add(int a)", "add"));
        assert!(!has_identifier("int padding(int a)", "add"));
        assert!(has_identifier(r#"{"t":"x\nadd(1)"}"#, "add"));
        assert!(!has_identifier(r#"{"t":"x\nadd(1)"}"#, "nadd"));
    }

    #[test]
    fn kept_once() {
        let facts = TextFacts::of(&"one two a/b.c ".repeat(10_000), "/");
        assert_eq!((facts.identifiers().count(), facts.paths().count()), (5, 1));
        let many: alloc::string::String = (0..10_000).map(|n| alloc::format!("x{n} ")).collect();
        assert_eq!(TextFacts::of(&many, "/").identifiers().count(), 10_000);
    }

    /// Names that differ in length or content have different hashes.
    #[test]
    fn hash_collisions() {
        let names = ["", "\0", "a", "b", "aaaaaaaa", "aaaaaaaa\0", "aaaaaaab"];
        for (index, name) in names.iter().enumerate() {
            for other in &names[..index] {
                assert_ne!(name_hash(name), name_hash(other), "{name:?} {other:?}");
            }
        }
    }
}
