//! Symbols by the word by which texts are searched for them; kept up to date, because each prompt asks for all of its words.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use tslp_core::entity::EntityId;
use tslp_core::name_hash::{NameHash, search_word_hash};

/// Bits of the filter; a thousand symbols set one in sixty of them.
const BITS: usize = 1 << 16;

/// A set of symbols, by their search words.
#[derive(Default)]
pub struct SymbolWords {
    by_word: BTreeMap<NameHash, Vec<EntityId>>,
    /// The bit of every word that was ever added; empty before the first. It rules out most words.
    filter: Box<[u64]>,
}

impl SymbolWords {
    /// Adds an entity, unless it has no symbol, or its symbol no word.
    pub fn add(&mut self, entity: &EntityId) {
        let Some(word) = search_word_hash(entity) else {
            return;
        };
        if self.filter.is_empty() {
            // 8 KiB, taken only once there is a symbol.
            self.filter = alloc::vec![0; BITS / 64].into_boxed_slice();
        }
        let (index, bit) = bit_position(word);
        self.filter[index] |= bit;
        let symbols = self.by_word.entry(word).or_default();
        if !symbols.contains(entity) {
            symbols.push(entity.clone());
        }
    }

    /// Removes an entity. Its word's bit stays, which only costs a look-up.
    pub fn remove(&mut self, entity: &EntityId) {
        let word = search_word_hash(entity);
        if let Some(symbols) = word.and_then(|word| self.by_word.get_mut(&word)) {
            symbols.retain(|known| known != entity);
        }
    }

    /// Whether any symbol may have this word.
    #[must_use]
    pub fn may_have(&self, word: NameHash) -> bool {
        let (index, bit) = bit_position(word);
        self.filter.get(index).is_some_and(|bits| bits & bit != 0)
    }

    /// The symbols with this word.
    pub fn with_word(&self, word: NameHash) -> impl Iterator<Item = &EntityId> {
        self.by_word.get(&word).into_iter().flatten()
    }
}

/// The index and mask of a word's bit.
const fn bit_position(word: NameHash) -> (usize, u64) {
    let bit = word as usize % BITS;
    (bit / 64, 1 << (bit % 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use tslp_core::entity::Symbol;
    use tslp_core::name_hash::name_hash;
    use tslp_core::path::RelPath;

    #[test]
    fn symbols_come_and_go() {
        let entity =
            |name: &str| EntityId::symbol(RelPath::from_normalised("a.cc"), Symbol::new(name));
        let found = |words: &SymbolWords, word: &str| -> Vec<String> {
            let word = name_hash(word);
            let found = words.with_word(word).map(|it| alloc::format!("{it}"));
            let found: Vec<String> = found.collect();
            assert!(found.is_empty() || words.may_have(word));
            found
        };
        let mut words = SymbolWords::default();
        assert!(!words.may_have(name_hash("Foo")));
        for name in ["ns::Foo", "ns::Foo::~Foo", "ns::Foo", "bar"] {
            words.add(&entity(name));
        }
        words.add(&EntityId::file(RelPath::from_normalised("a.cc")));
        assert_eq!(
            found(&words, "Foo"),
            ["a.cc::ns::Foo", "a.cc::ns::Foo::~Foo"]
        );
        words.remove(&entity("ns::Foo"));
        assert_eq!(found(&words, "Foo"), ["a.cc::ns::Foo::~Foo"]);
        assert_eq!(found(&words, "ns"), [""; 0]);
    }
}
