//! What older messages' code defines, kept from prompt to prompt.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::RefCell;

use crate::entity::Symbol;
use crate::extract::LanguageId;
use crate::hash::{ArtifactHash, SliceHash};
use crate::limits::OLDER_DEFINITIONS_KEPT;

/// What a text defines.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    /// Each symbol with the hash of its canonical form.
    pub(super) slices: Vec<(Symbol, SliceHash)>,
    /// The same of places in it, where the text as a whole isn't understood.
    pub(super) in_places: Vec<(Symbol, SliceHash)>,
    /// Where the last of all of them ends.
    pub(super) end: usize,
}

impl Definitions {
    pub(super) fn all(&self) -> impl Iterator<Item = &(Symbol, SliceHash)> {
        self.slices.iter().chain(&self.in_places)
    }
}

/// What older messages' code defines, as far as it was read lately: clients send their whole history with each prompt.
#[derive(Debug, Default)]
pub struct ReadCode(RefCell<Generations>);

#[derive(Debug, Default)]
struct Generations {
    young: BTreeMap<(ArtifactHash, LanguageId), Arc<Definitions>>,
    old: BTreeMap<(ArtifactHash, LanguageId), Arc<Definitions>>,
    weight: usize,
}

impl ReadCode {
    pub(super) fn get(&self, key: (ArtifactHash, LanguageId)) -> Option<Arc<Definitions>> {
        let mut generations = self.0.borrow_mut();
        if let Some(known) = generations.young.get(&key) {
            return Some(Arc::clone(known));
        }
        let known = generations.old.remove(&key)?;
        generations.put(key, &known);
        Some(known)
    }

    pub(super) fn put(&self, key: (ArtifactHash, LanguageId), definitions: &Arc<Definitions>) {
        self.0.borrow_mut().put(key, definitions);
    }
}

impl Generations {
    fn put(&mut self, key: (ArtifactHash, LanguageId), definitions: &Arc<Definitions>) {
        if self.weight > OLDER_DEFINITIONS_KEPT {
            self.old = core::mem::take(&mut self.young);
            self.weight = 0;
        }
        self.weight += 1 + definitions.slices.len() + definitions.in_places.len();
        self.young.insert(key, Arc::clone(definitions));
    }
}
