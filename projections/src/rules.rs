//! The rules in force since the last change of rules.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use tslp_core::event::{Event, Recorded, RulesInForce};
use tslp_core::ids::Seq;

use crate::EventAt;
use crate::table::{Changes, Column, ColumnType, Keep, RowCells, Table, UnfitRow, Value, column};

const COLUMNS: &[Column] = &[
    column("name", ColumnType::Text),
    column("value", ColumnType::Text),
    column("seq", ColumnType::Integer),
];

/// `rules_in_force`: each rule's name with its version or value, from the event `seq`.
pub const TABLE: Table = Table {
    name: "rules_in_force",
    version: 2,
    columns: COLUMNS,
    key: 1,
    keep: Keep::Latest,
};

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
        for (name, _) in self.in_force().iter().copied().flat_map(names_and_values) {
            changes.remove(crate::RULES, || key(&name));
        }
        for (name, value) in names_and_values(rules) {
            changes.put(crate::RULES, || row(&name, &value, recorded.seq));
        }
        self.in_force = Some((rules.clone(), recorded.seq));
    }

    /// The rules by which the next event is decided, if the ledger names any.
    #[must_use]
    pub fn in_force(&self) -> Option<&RulesInForce> {
        self.in_force.as_ref().map(|(rules, _)| rules)
    }

    /// All rows, by key.
    pub fn rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        if let Some((rules, seq)) = &self.in_force {
            for (name, value) in names_and_values(rules) {
                visit(row(&name, &value, *seq));
            }
        }
    }

    /// Restores a row; `event` looks up the event that it names, which holds all of the rules.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore(&mut self, row: &[Value], event: EventAt<'_>) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        let (_name, _value, seq) = (
            cells.next::<String>()?,
            cells.next::<String>()?,
            cells.next()?,
        );
        match &self.in_force {
            Some((_, known)) if *known == seq => return Ok(()),
            Some(_) => return Err(UnfitRow("rules of two events are in force")),
            None => {}
        }
        match event(seq).map(|recorded| recorded.event) {
            Some(Event::RulesInForce(rules)) => {
                self.in_force = Some((rules, seq));
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

fn key(name: &str) -> Vec<Value> {
    Vec::from([Value::text(name)])
}

fn row(name: &str, value: &str, seq: Seq) -> Vec<Value> {
    Vec::from([Value::text(name), Value::text(value), Value::from(seq.0)])
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in self.in_force().iter().copied().flat_map(names_and_values) {
            writeln!(f, "{name}: {value}")?;
        }
        Ok(())
    }
}
