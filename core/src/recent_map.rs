//! A map of bounded weight that keeps what was asked for lately.

use core::convert::Infallible;
use core::hash::Hash;

use hashbrown::HashMap;

/// A cache in two generations: what is asked for moves to the young one, and when that is full the old one is forgotten. So it
/// holds at most twice the weight of one generation, and looking something up costs no bookkeeping.
#[derive(Debug)]
pub struct RecentMap<K, V> {
    young: HashMap<K, Weighed<V>>,
    old: HashMap<K, Weighed<V>>,
    young_weight: usize,
    generation_weight_max: usize,
    /// What an entry weighs besides its value.
    entry_weight: usize,
}

#[derive(Debug)]
struct Weighed<V> {
    value: V,
    weight: usize,
}

impl<K: Hash + Eq + Clone, V> RecentMap<K, V> {
    /// An empty map; `generation_weight_max` is in whatever unit [`insert`](Self::insert) is told.
    #[must_use]
    pub fn new(generation_weight_max: usize) -> Self {
        Self {
            young: HashMap::new(),
            old: HashMap::new(),
            young_weight: 0,
            generation_weight_max,
            entry_weight: 0,
        }
    }

    /// An empty map of at most so many bytes a generation. [`insert`](Self::insert) is told what its value has allocated; what
    /// the map itself takes for it is added, since many small values would take several times their own bytes.
    #[must_use]
    pub fn of_bytes(generation_bytes_max: usize) -> Self {
        Self {
            // A table that has just grown has two slots for an entry; the rest is what allocations cost.
            entry_weight: 2 * size_of::<(K, Weighed<V>)>() + 32,
            ..Self::new(generation_bytes_max)
        }
    }

    /// The value of a key, which is kept for longer from now on.
    pub fn get(&mut self, key: &K) -> Option<&mut V> {
        if !self.young.contains_key(key)
            && let Some(weighed) = self.old.remove(key)
        {
            self.insert_weighed(key.clone(), weighed);
        }
        self.young.get_mut(key).map(|weighed| &mut weighed.value)
    }

    /// Keeps a value; one that is heavier than a whole generation is kept until the next one comes.
    pub fn insert(&mut self, key: K, value: V, weight: usize) {
        let weight = weight + self.entry_weight;
        self.insert_weighed(key, Weighed { value, weight });
    }

    fn insert_weighed(&mut self, key: K, weighed: Weighed<V>) {
        let weight = weighed.weight;
        if self.young_weight + weight > self.generation_weight_max && !self.young.is_empty() {
            self.old = core::mem::take(&mut self.young);
            self.young_weight = 0;
        }
        self.young_weight += weight;
        if let Some(replaced) = self.young.insert(key, weighed) {
            self.young_weight -= replaced.weight;
        }
    }

    /// The value of a key, made if there is none; `make` gives it with its weight.
    pub fn get_or_insert_with(&mut self, key: &K, make: impl FnOnce() -> (V, usize)) -> &mut V {
        match self.get_or_try_insert_with(key, || Ok::<_, Infallible>(make())) {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// The value of a key, made if there is none; `make` gives it with its weight.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn get_or_try_insert_with<E>(
        &mut self,
        key: &K,
        make: impl FnOnce() -> Result<(V, usize), E>,
    ) -> Result<&mut V, E> {
        if !self.young.contains_key(key) {
            match self.old.remove(key) {
                Some(weighed) => self.insert_weighed(key.clone(), weighed),
                None => {
                    let (value, weight) = make()?;
                    self.insert(key.clone(), value, weight);
                }
            }
        }
        match self.young.get_mut(key) {
            Some(weighed) => Ok(&mut weighed.value),
            None => unreachable!("it was just inserted"),
        }
    }

    /// Notes that the value of a key has become heavier.
    pub fn add_weight(&mut self, key: &K, weight: usize) {
        if let Some(weighed) = self.young.get_mut(key) {
            weighed.weight += weight;
            self.young_weight += weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is asked for stays, and the rest goes.
    #[test]
    fn recent_kept() {
        let mut map = RecentMap::new(10);
        map.insert(1, "one", 4);
        map.insert(2, "two", 4);
        // The next one doesn't fit with them.
        map.insert(3, "three", 4);
        assert_eq!(map.get(&1), Some(&mut "one"));
        map.insert(4, "four", 4);
        assert_eq!(map.get(&2), None);
        assert_eq!(map.get(&1), Some(&mut "one"));
        assert_eq!(map.get(&3), Some(&mut "three"));
    }

    /// The total weight is bounded, and a value that is too heavy can be used once.
    #[test]
    fn bounded_weight() {
        let mut map = RecentMap::new(10);
        for key in 0..1000 {
            let value = map.get_or_insert_with(&key, || (key, 1 + key % 25));
            assert_eq!(*value, key);
            let total: usize = map.young.values().map(|weighed| weighed.weight).sum();
            assert_eq!(total, map.young_weight);
            assert!(total <= 10 || map.young.len() == 1);
        }
    }

    /// Values without bytes of their own are bounded by the size of their slots.
    #[test]
    fn weightless_values() {
        let mut map = RecentMap::of_bytes(64 << 10);
        for key in 0..100_000_u64 {
            map.insert(key, (), 0);
            let slots = map.young.allocation_size() + map.old.allocation_size();
            assert!(slots <= 2 * (64 << 10), "{key}: {slots}");
        }
    }

    #[test]
    fn what_grows_counts() {
        let mut map = RecentMap::new(10);
        map.insert(1, (), 4);
        map.add_weight(&1, 4);
        map.insert(2, (), 4);
        assert!(map.young.len() == 1 && map.old.len() == 1);
        map.insert(2, (), 1);
        assert_eq!(map.young_weight, 1);
    }
}
