//! Everything that is left to chance, out of one seed.

use crate::storage::Dice;

/// A row of choices that its seed determines.
pub(super) struct Chance(Dice);

impl Chance {
    /// The row of a seed.
    #[must_use]
    pub(super) const fn new(seed: u64) -> Self {
        Self(Dice::new(seed))
    }

    /// A number below `end`; 0 if there is none.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0.below(end)
    }

    /// A number between both, which are possible as well.
    pub(super) fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    /// Whether something of this probability in a hundred happens.
    pub(super) fn percent(&mut self, probability: usize) -> bool {
        self.below(100) < probability
    }

    /// One of several; the list must not be empty.
    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A seed for something of its own.
    pub(super) const fn seed(&mut self) -> u64 {
        self.0.roll()
    }

    /// A length of a piece of `rest`: often all of it, often a few bytes.
    pub(super) fn piece(&mut self, rest: usize) -> usize {
        let piece = match self.below(6) {
            0 => 1,
            1 => self.between(2, 16),
            2 | 3 => self.between(17, 700),
            _ => rest,
        };
        piece.clamp(1, rest.max(1))
    }
}
