//! The rules in force: what decides from the last change of rules on.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::ops::ControlFlow;

use tslp_core::event::{Event, Recorded, RulesInForce};

use crate::part::{Part, Visit};
use crate::table::{Changes, Column, ColumnType, Keep, Table, Value, column};

const COLUMNS: &[Column] = &[
    column("name", ColumnType::Text),
    column("value", ColumnType::Text),
];

/// `rules_in_force`: each rule's name with its version or value.
pub const TABLE: Table = Table {
    name: "rules_in_force",
    version: 1,
    columns: COLUMNS,
    key: 1,
    keep: Keep::Latest,
};

/// The last rules that were recorded.
#[derive(Default)]
pub struct Rules {
    in_force: Option<RulesInForce>,
}

impl Rules {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        let Event::RulesInForce(rules) = &recorded.event else {
            return;
        };
        for name in self.in_force.iter().flat_map(named).map(|(name, _)| name) {
            changes.remove(crate::RULES, || key(&name));
        }
        for (name, value) in named(rules) {
            changes.put(crate::RULES, || row(&name, &value));
        }
        self.in_force = Some(rules.clone());
    }

    /// The rules by which what comes next is decided, if the ledger says so.
    #[must_use]
    pub const fn in_force(&self) -> Option<&RulesInForce> {
        self.in_force.as_ref()
    }

    /// All of it as plain data.
    pub fn parts(&self, visit: Visit<'_>) -> ControlFlow<()> {
        match &self.in_force {
            Some(rules) => visit(Part::Rules(Box::new(rules.clone()))),
            None => ControlFlow::Continue(()),
        }
    }

    /// Takes back a part.
    pub fn restore(&mut self, rules: RulesInForce) {
        self.in_force = Some(rules);
    }

    /// All rows, by key.
    pub fn rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        let mut named: Vec<_> = self.in_force.iter().flat_map(named).collect();
        named.sort();
        for (name, value) in named {
            visit(row(&name, &value));
        }
    }
}

/// Each rule's name and value; names differ.
fn named(rules: &RulesInForce) -> Vec<(String, String)> {
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

fn row(name: &str, value: &str) -> Vec<Value> {
    Vec::from([Value::text(name), Value::text(value)])
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in self.in_force.iter().flat_map(named) {
            writeln!(f, "{name}: {value}")?;
        }
        Ok(())
    }
}
