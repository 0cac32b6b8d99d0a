//! How much tools may use up.

use crate::words;

words! {
    /// What is counted.
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

/// An amount of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetAmounts([u64; BudgetItem::ALL.len()]);

impl BudgetAmounts {
    /// What may be spent unless the Operator says otherwise.
    pub const DEFAULT_MAX: Self = Self([50, 2_000, 5, 500_000, 30 * 60, 200, 8, 8]);

    /// How much of one.
    #[must_use]
    pub const fn amount_of(&self, spend: BudgetItem) -> u64 {
        self.0[spend as usize]
    }

    /// The same with another amount of one.
    #[must_use]
    pub const fn with_amount(mut self, spend: BudgetItem, amount: u64) -> Self {
        self.0[spend as usize] = amount;
        self
    }

    /// What is left of each after `spent`.
    #[must_use]
    pub fn left_after(&self, spent: &Self) -> Self {
        let mut left = *self;
        for (left, spent) in left.0.iter_mut().zip(spent.0) {
            *left = left.saturating_sub(spent);
        }
        left
    }

    /// The first of which there is less here than `cost` takes.
    #[must_use]
    pub fn lacking_for(&self, cost: &Self) -> Option<BudgetItem> {
        let mut all = BudgetItem::ALL.iter().copied();
        all.find(|spend| cost.amount_of(*spend) > self.amount_of(*spend))
    }
}
