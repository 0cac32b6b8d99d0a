//! Choices out of a seed: SplitMix64.

/// A sequence of choices that its seed determines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dice(u64);

impl Dice {
    /// The sequence of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        let end = end.max(1) as u64;
        usize::try_from(self.roll() % end).unwrap_or(0)
    }

    /// A number from `least` to `most`, both included.
    pub fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    /// Whether something with this probability in percent happens.
    pub fn percent(&mut self, probability: usize) -> bool {
        self.below(100) < probability
    }

    /// True or false, equally likely.
    pub const fn coin(&mut self) -> bool {
        self.roll() & 1 == 1
    }

    /// One item of a list that isn't empty.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// The length of a piece of `rest` bytes: often all of them, often a few.
    pub fn piece(&mut self, rest: usize) -> usize {
        let piece = match self.below(6) {
            0 => 1,
            1 => self.between(2, 16),
            2 | 3 => self.between(17, 700),
            _ => rest,
        };
        piece.clamp(1, rest.max(1))
    }
}
