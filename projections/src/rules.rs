//! The rules in force since the last change of rules.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use tslp_core::event::{Event, Recorded, RulesInForce};
use tslp_core::ids::Seq;

use crate::row_map::RowMap;

row! {
    /// `rules_in_force`: the rules by which the next event is decided, if the ledger names any.
    pub struct RulesRow in table "rules_in_force", version 10;
    key {
        /// The event that put them in force.
        seq: Seq,
    }
    values {
        /// The rules.
        rules: RulesInForce,
    }
}

crate::stored_cells!(RulesInForce);

/// The last rules that were recorded.
#[derive(Default)]
pub struct Rules {
    pub(crate) in_force: RowMap<RulesRow>,
}

impl Rules {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded) {
        if let Event::RulesInForce(rules) = &recorded.event {
            self.in_force.put(RulesRow {
                seq: recorded.seq,
                rules: rules.clone(),
            });
            self.in_force.keep_last(1);
        }
    }

    /// The rules by which the next event is decided, if the ledger names any.
    #[must_use]
    pub fn in_force(&self) -> Option<&RulesInForce> {
        self.in_force.values().next().map(|row| &row.rules)
    }
}

/// Each rule's name and value; names differ.
#[must_use]
pub fn names_and_values(rules: &RulesInForce) -> Vec<(String, String)> {
    let mut named = Vec::from([
        ("program".into(), rules.program.clone()),
        ("rules".into(), rules.rules.to_string()),
        ("patterns".into(), rules.patterns.to_string()),
    ]);
    let grammars = rules.grammars.iter();
    named.extend(grammars.map(|tag| (format!("grammar {}", tag.language), tag.version.clone())));
    let settings = rules.policy.settings().into_iter();
    named.extend(settings.map(|(name, value)| (format!("policy {name}"), value)));
    named.sort();
    named.dedup_by(|one, other| one.0 == other.0);
    named
}
