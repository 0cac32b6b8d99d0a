//! Entities, the keys of the State Map: `filepath::symbol` or a whole file.

use alloc::sync::Arc;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::path::RelPath;
use crate::stored::{Archive, Load, Store, stored_text};

/// A definition's name in its language's own qualified form, such as `ns::Class::method`. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(Arc<str>);

impl Symbol {
    /// Takes a name as a grammar gave it.
    #[must_use]
    pub fn new(qualified: &str) -> Self {
        Self(qualified.into())
    }

    /// As [`new`](Self::new), without a copy.
    #[must_use]
    pub const fn from_shared(qualified: Arc<str>) -> Self {
        Self(qualified)
    }

    /// The qualified name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last component: `method` of `ns::Class::method` or of `Class.method`.
    #[must_use]
    pub fn last_component(&self) -> &str {
        last_component(&self.0)
    }
}

stored_text!(Symbol, as_str, |text| Ok(Symbol::new(text)));

#[cfg(feature = "arbitrary")]
impl<'a> arbitrary::Arbitrary<'a> for Symbol {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        u.choose(&["one", "ns::one", "two", "T::two"])
            .map(|name| Self::new(name))
    }
}

impl From<Symbol> for Arc<str> {
    /// Without a copy.
    fn from(symbol: Symbol) -> Self {
        symbol.0
    }
}

/// The last component of a qualified name; an operator's or destructor's own punctuation stays with it.
#[must_use]
pub fn last_component(qualified: &str) -> &str {
    // One walk from the end, since a start asks this of every name; a search for a text prepares itself first.
    let bytes = qualified.as_bytes();
    let (mut after_colons, mut after_dot) = (0, 0);
    for at in (0..bytes.len()).rev() {
        match bytes[at] {
            b'.' if after_dot == 0 => after_dot = at + 1,
            b':' if bytes.get(at + 1) == Some(&b':') => {
                after_colons = at + 2;
                break;
            }
            _ => {}
        }
    }
    match &qualified[after_colons..] {
        operator if operator.starts_with("operator") => operator,
        _ => &qualified[after_colons.max(after_dot)..],
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `filepath::symbol`, or the file as a whole when there is no symbol.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Archive, Store, Load, Serialize, Deserialize,
)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct EntityId {
    /// The file, relative to the workspace.
    pub path: RelPath,
    /// The definition in it; `None` is the whole file.
    pub symbol: Option<Symbol>,
}

impl EntityId {
    /// Those that are around it by its name, the outermost first.
    pub fn holders(&self) -> impl Iterator<Item = Self> {
        let name = self.symbol_str().unwrap_or_default();
        let ends = name.match_indices([':', '.', '#']).map(|(at, _)| at);
        let names = ends.filter(|at| *at > 0).map(|at| Symbol::new(&name[..at]));
        names.map(|name| Self::symbol(self.path.clone(), name))
    }

    /// The file as a whole.
    #[must_use]
    pub fn file(path: RelPath) -> Self {
        Self { path, symbol: None }
    }

    /// One definition of a file.
    #[must_use]
    pub fn symbol(path: RelPath, symbol: Symbol) -> Self {
        Self {
            path,
            symbol: Some(symbol),
        }
    }

    /// The symbol's text, if this isn't a whole file.
    #[must_use]
    pub fn symbol_str(&self) -> Option<&str> {
        self.symbol.as_ref().map(Symbol::as_str)
    }
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.symbol {
            Some(symbol) => write!(f, "{}::{symbol}", self.path),
            None => write!(f, "{}", self.path),
        }
    }
}
