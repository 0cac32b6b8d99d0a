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
    /// What else definitions may be once what isn't theirs is left out.
    pub(super) others: Vec<Forms>,
    /// Where the last of all of them ends.
    pub(super) end: usize,
}

/// One definition with more and with fewer of the lines above its name, the longest form first.
#[derive(Debug)]
pub(super) struct Forms {
    pub(super) symbol: Symbol,
    pub(super) slices: Vec<SliceHash>,
}

impl Definitions {
    /// Each symbol with what it may be.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Symbol, &[SliceHash])> {
        let whole = self.slices.iter();
        let whole = whole.map(|(symbol, slice)| (symbol, core::slice::from_ref(slice)));
        let others = self.others.iter();
        whole.chain(others.map(|forms| (&forms.symbol, &forms.slices[..])))
    }

    /// What it takes to keep this, in symbols; a form that is only a hash takes about a fourth of one.
    fn weight(&self) -> usize {
        let symbols = self.all().map(|(_, slices)| 1 + slices.len() / 4);
        1 + symbols.sum::<usize>()
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
        self.weight += definitions.weight();
        self.young.insert(key, Arc::clone(definitions));
    }
}
