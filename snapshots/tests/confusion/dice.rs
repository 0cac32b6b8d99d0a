//! Choices that look like chance and are the same in every run.

/// A sequence of numbers out of a seed (SplitMix64).
#[derive(Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    /// A seed out of what a choice is about, so that one choice more elsewhere changes nothing here.
    pub(crate) fn about(words: &[&str]) -> Self {
        let mut seed = 0xcbf2_9ce4_8422_2325_u64;
        for byte in words.iter().flat_map(|word| word.bytes().chain([0])) {
            seed = (seed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which isn't 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 11) as usize % bound
    }

    /// One of them.
    pub(crate) fn of<'t, T>(&mut self, things: &'t [T]) -> Option<&'t T> {
        (!things.is_empty()).then(|| &things[self.below(things.len())])
    }

    /// Puts them in another order.
    pub(crate) fn shuffle<T>(&mut self, things: &mut [T]) {
        for at in (1..things.len()).rev() {
            things.swap(at, self.below(at + 1));
        }
    }
}
