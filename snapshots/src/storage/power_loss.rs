//! What of the unsynced is on disk after the power went.

use crate::dice::Dice;

/// Which unsynced operations a power loss leaves. What was synced is always there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerLoss {
    /// None.
    Synced,
    /// All: the disk was quick, or only the process died.
    All,
    /// Those up to some moment in their order, the last one torn at a sector's border.
    Prefix {
        /// Determines the moment.
        seed: u64,
        /// A sector's bytes: 512 or 4096.
        sector: usize,
    },
    /// Each sector of each write by itself, so also later ones without earlier ones. Names change in their order, as
    /// journaling file systems do it.
    Scattered {
        /// Determines which.
        seed: u64,
        /// A sector's bytes: 512 or 4096.
        sector: usize,
    },
}

impl PowerLoss {
    /// A prefix; the seed determines the sector's size, too.
    #[must_use]
    pub const fn prefix(seed: u64) -> Self {
        Self::Prefix {
            seed,
            sector: sector(seed),
        }
    }

    /// Scattered sectors; the seed determines their size, too.
    #[must_use]
    pub const fn scattered(seed: u64) -> Self {
        Self::Scattered {
            seed,
            sector: sector(seed),
        }
    }

    /// Starts to say what is left of so many operations, so many of which are about names.
    pub(super) fn begin(self, operations: usize, names: usize) -> LossOrder {
        let (seed, sector) = match self {
            Self::Synced | Self::All => (0, usize::MAX),
            Self::Prefix { seed, sector } | Self::Scattered { seed, sector } => (seed, sector),
        };
        let mut dice = Dice::new(seed);
        let whole = match self {
            Self::Synced => 0,
            Self::All => operations,
            Self::Prefix { .. } => dice.below(operations + 1),
            Self::Scattered { .. } => dice.below(names + 1),
        };
        LossOrder {
            mode: self,
            dice,
            sector: sector.max(1),
            whole,
            met: 0,
            names: 0,
        }
    }
}

const fn sector(seed: u64) -> usize {
    if seed & 1 == 0 { 512 } else { 4096 }
}

/// Decides about one operation after the other, in their order.
pub(super) struct LossOrder {
    mode: PowerLoss,
    dice: Dice,
    sector: usize,
    /// How many are kept whole: of all, or of those about names.
    whole: usize,
    met: usize,
    names: usize,
}

impl LossOrder {
    /// Whether an operation that is done whole or not at all is kept.
    pub(super) fn keeps(&mut self) -> bool {
        self.met += 1;
        match self.mode {
            PowerLoss::Scattered { .. } => self.dice.coin(),
            _ => self.met <= self.whole,
        }
    }

    /// Whether a change of names is kept.
    pub(super) fn keeps_name(&mut self) -> bool {
        self.met += 1;
        self.names += 1;
        match self.mode {
            PowerLoss::Scattered { .. } => self.names <= self.whole,
            _ => self.met <= self.whole,
        }
    }

    /// Which parts of a write are kept, as ranges of its bytes.
    pub(super) fn pieces(&mut self, offset: usize, len: usize) -> Vec<std::ops::Range<usize>> {
        self.met += 1;
        match self.mode {
            PowerLoss::Scattered { .. } => {
                let all = sectors(offset, len, self.sector);
                all.into_iter().filter(|_| self.dice.coin()).collect()
            }
            _ if self.met <= self.whole => std::iter::once(0..len).collect(),
            PowerLoss::Prefix { .. } if self.met == self.whole + 1 => {
                let mut all = sectors(offset, len, self.sector);
                all.truncate(self.dice.below(all.len() + 1));
                all
            }
            _ => Vec::new(),
        }
    }
}

/// A write's bytes, cut at the borders of sectors.
fn sectors(offset: usize, len: usize, sector: usize) -> Vec<std::ops::Range<usize>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < len {
        let end = len.min(at + sector - (offset + at) % sector);
        pieces.push(at..end);
        at = end;
    }
    pieces
}
