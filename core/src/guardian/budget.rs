//! How much tools may use up.

use crate::stored::stored_words;

stored_words! {
    /// A thing that tools use up.
    BudgetItem, "kind of spending" {
        /// Files changed or proposed in a cycle.
        Files = "files",
        /// Lines changed in a cycle.
        Lines = "lines",
        /// Builds of a goal.
        Builds = "builds",
        /// Tokens of a goal.
        Tokens = "tokens",
        /// Seconds of work on a goal.
        Seconds = "seconds",
        /// Requests to the model for a goal.
        Requests = "requests",
        /// Rounds of a prompt.
        Rounds = "rounds",
        /// Calls of a round.
        Calls = "calls",
    }
}

/// An amount of each [`BudgetItem`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetAmounts([u64; BudgetItem::ALL.len()]);

impl BudgetAmounts {
    /// What may be spent unless the Operator says otherwise.
    pub const DEFAULT_MAX: Self = Self([50, 2_000, 5, 500_000, 30 * 60, 200, 8, 8]);

    /// The amount of one item.
    #[must_use]
    pub const fn amount_of(&self, spend: BudgetItem) -> u64 {
        self.0[spend as usize]
    }

    /// The same amounts, but for one item.
    #[must_use]
    pub const fn with_amount(mut self, spend: BudgetItem, amount: u64) -> Self {
        self.0[spend as usize] = amount;
        self
    }

    /// The amounts that are left after `spent`, zero at least.
    #[must_use]
    pub fn left_after(&self, spent: &Self) -> Self {
        let mut left = *self;
        for (left, spent) in left.0.iter_mut().zip(spent.0) {
            *left = left.saturating_sub(spent);
        }
        left
    }

    /// The first item of which there isn't enough for `cost`.
    #[must_use]
    pub fn lacking_for(&self, cost: &Self) -> Option<BudgetItem> {
        let mut all = BudgetItem::ALL.iter().copied();
        all.find(|spend| cost.amount_of(*spend) > self.amount_of(*spend))
    }
}
