//! The rules in force since the last change of rules.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use tslp_core::event::{Event, Recorded, RulesInForce};
use tslp_core::ids::Seq;

use crate::changes::Changes;
use crate::row::{EventAt, Keeps, UnfitRow};

row! {
    /// `rules_in_force`: each rule's name with its version or value, from the event `seq`.
    pub struct RuleRow in table "rules_in_force", version 9;
    key {
        /// The rule.
        name: String,
    }
    values {
        /// Its version or value.
        value: String,
        /// The event that put all of them in force.
        seq: Seq,
    }
}

/// The last rules that were recorded.
#[derive(Default)]
pub struct Rules {
    in_force: Option<(RulesInForce, Seq)>,
}

impl Rules {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        let Event::RulesInForce(rules) = &recorded.event else {
            return;
        };
        // Removed before the new ones are put: a rule that is gone has no row to replace it.
        self.visit_rows(&mut |row| changes.remove::<RuleRow>(|| (row.name,)));
        self.in_force = Some((rules.clone(), recorded.seq));
        self.visit_rows(&mut |row| changes.put(|| row));
    }

    /// The rules by which the next event is decided, if the ledger names any.
    #[must_use]
    pub fn in_force(&self) -> Option<&RulesInForce> {
        self.in_force.as_ref().map(|(rules, _)| rules)
    }
}

impl Keeps<RuleRow> for Rules {
    fn visit_rows(&self, visit: &mut dyn FnMut(RuleRow)) {
        let Some((rules, seq)) = &self.in_force else {
            return;
        };
        for (name, value) in names_and_values(rules) {
            let seq = *seq;
            visit(RuleRow { name, value, seq });
        }
    }

    /// The event of the first row holds all of the rules.
    fn restore_row(&mut self, row: RuleRow, event: EventAt<'_>) -> Result<(), UnfitRow> {
        match &self.in_force {
            Some((_, known)) if *known == row.seq => return Ok(()),
            Some(_) => return Err(UnfitRow("rules of two events are in force")),
            None => {}
        }
        match event(row.seq).map(|recorded| recorded.event) {
            Some(Event::RulesInForce(rules)) => {
                self.in_force = Some((rules, row.seq));
                Ok(())
            }
            _ => Err(UnfitRow("rules are in force by no event")),
        }
    }
}

/// Each rule's name and value; names differ.
fn names_and_values(rules: &RulesInForce) -> Vec<(String, String)> {
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
