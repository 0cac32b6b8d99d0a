//! The unsynced changes that a power loss leaves on disk.

use crate::dice::Dice;

/// The unsynced operations that a power loss leaves. Synced ones always stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerLoss {
    /// None.
    Synced,
    /// All: the disk had written them, or only the process died.
    All,
    /// The first ones, the last of them torn at a sector's border.
    Prefix {
        /// Determines how many.
        seed: u64,
        /// The size of a sector: 512 or 4096 bytes.
        sector_bytes: usize,
    },
    /// A random choice of the sectors of all writes, so also later ones without earlier ones. Of the changes of names the first
    /// ones, as with a journaling file system.
    Scattered {
        /// Determines which.
        seed: u64,
        /// The size of a sector: 512 or 4096 bytes.
        sector_bytes: usize,
    },
}

impl PowerLoss {
    /// A prefix; the seed determines the sector's size, too.
    #[must_use]
    pub const fn prefix(seed: u64) -> Self {
        Self::Prefix {
            seed,
            sector_bytes: sector_bytes(seed),
        }
    }

    /// Scattered sectors; the seed determines their size, too.
    #[must_use]
    pub const fn scattered(seed: u64) -> Self {
        Self::Scattered {
            seed,
            sector_bytes: sector_bytes(seed),
        }
    }

    /// Decides for `operations` in their order which are kept; `names` of them are changes of names.
    pub(super) fn survival_of(self, operations: usize, names: usize) -> Survival {
        let (seed, sector_bytes) = match self {
            Self::Synced | Self::All => (0, usize::MAX),
            Self::Prefix { seed, sector_bytes } | Self::Scattered { seed, sector_bytes } => {
                (seed, sector_bytes)
            }
        };
        let mut dice = Dice::new(seed);
        let kept = match self {
            Self::Synced => 0,
            Self::All => operations,
            Self::Prefix { .. } => dice.below(operations + 1),
            Self::Scattered { .. } => dice.below(names + 1),
        };
        Survival {
            mode: self,
            dice,
            sector_bytes: sector_bytes.max(1),
            kept,
            seen: 0,
            names_seen: 0,
        }
    }
}

const fn sector_bytes(seed: u64) -> usize {
    if seed & 1 == 0 { 512 } else { 4096 }
}

/// The decisions of a power loss about one operation after the other, in their order.
pub(super) struct Survival {
    mode: PowerLoss,
    dice: Dice,
    sector_bytes: usize,
    /// The number that are kept whole: of all, or of the changes of names.
    kept: usize,
    seen: usize,
    names_seen: usize,
}

impl Survival {
    /// Whether an operation is kept that can't be kept in part.
    pub(super) fn keeps_whole(&mut self) -> bool {
        self.seen += 1;
        match self.mode {
            PowerLoss::Scattered { .. } => self.dice.coin(),
            _ => self.seen <= self.kept,
        }
    }

    /// Whether a change of names is kept.
    pub(super) fn keeps_name(&mut self) -> bool {
        self.seen += 1;
        self.names_seen += 1;
        match self.mode {
            PowerLoss::Scattered { .. } => self.names_seen <= self.kept,
            _ => self.seen <= self.kept,
        }
    }

    /// The parts of a write that are kept, as ranges of its bytes.
    pub(super) fn kept_pieces(&mut self, offset: usize, len: usize) -> Vec<std::ops::Range<usize>> {
        self.seen += 1;
        match self.mode {
            PowerLoss::Scattered { .. } => {
                let all = sectors(offset, len, self.sector_bytes);
                all.into_iter().filter(|_| self.dice.coin()).collect()
            }
            _ if self.seen <= self.kept => std::iter::once(0..len).collect(),
            PowerLoss::Prefix { .. } if self.seen == self.kept + 1 => {
                let mut all = sectors(offset, len, self.sector_bytes);
                all.truncate(self.dice.below(all.len() + 1));
                all
            }
            _ => Vec::new(),
        }
    }
}

/// A write's bytes, cut at the borders of sectors.
fn sectors(offset: usize, len: usize, sector_bytes: usize) -> Vec<std::ops::Range<usize>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < len {
        let end = len.min(at + sector_bytes - (offset + at) % sector_bytes);
        pieces.push(at..end);
        at = end;
    }
    pieces
}
