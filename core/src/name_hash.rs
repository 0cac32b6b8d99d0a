//! Names as hashes: of identifiers, paths and file names.

use crate::entity::{EntityId, Symbol};
use crate::hash::quick_hash;
use crate::known_lines;
use crate::path::RelPath;

/// The hash of an identifier, path or file name.
pub type NameHash = u64;

/// A hash for look-ups within one process. If two names share one, the only cost is another comparison or another read of a file.
#[must_use]
pub fn name_hash(name: &str) -> NameHash {
    quick_hash(name.as_bytes())
}

/// The word by which texts are searched for a symbol; `None` for a file, and for a name without one.
#[must_use]
pub fn search_word(entity: &EntityId) -> Option<&str> {
    known_lines::identifier_in(entity.symbol.as_ref()?.last_component())
}

/// Whether a text whose words these are may name a symbol.
#[must_use]
pub fn may_name(symbol: &Symbol, has_word: impl Fn(NameHash) -> bool) -> bool {
    known_lines::identifier_in(symbol.last_component()).is_none_or(|word| has_word(name_hash(word)))
}

/// The hash of an entity's [`search_word`].
#[must_use]
pub fn search_word_hash(entity: &EntityId) -> Option<NameHash> {
    search_word(entity).map(name_hash)
}

/// The hash of a path's last part, upper and lower case alike.
#[must_use]
pub fn basename_hash(path: &RelPath) -> NameHash {
    name_hash(&path.basename().to_ascii_lowercase())
}

/// A path that a text names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedPath {
    /// The hash of its last part in lower case. The first field, so that the paths of a text are sorted by it.
    pub basename: NameHash,
    /// The hash of the normalised path.
    pub path: NameHash,
    /// Whether it is a file's name alone, so that it may mean a file in any folder.
    pub is_bare: bool,
}
