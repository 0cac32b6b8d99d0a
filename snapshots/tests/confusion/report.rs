//! What was measured, in words and tables.

use std::collections::{BTreeMap, BTreeSet};

use crate::case::Case;
use crate::edit::Worth;
use crate::measure::Played;
use crate::table::Table;

/// Prints everything there is to say and returns the table.
pub(crate) fn report(cases: &[Case], played: &[Played]) -> Table {
    let mut table = Table::default();
    let mut without_base: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (case, trials) in cases.iter().zip(played) {
        let name = format!("{} {}", case.path, case.function.name);
        match trials {
            Err(reason) => without_base.entry(reason).or_default().push(name),
            Ok(trials) => trials.outcomes.iter().for_each(|outcome| {
                table.count(outcome, || {
                    format!("{name} ({}) `{}`", case.group, outcome.variant)
                });
            }),
        }
    }
    println!("{}\n{}", composition(cases), table.markdown());
    for (reason, names) in without_base {
        println!("without a base, {reason}: {} in all", names.len());
        names
            .iter()
            .take(10)
            .for_each(|name| println!("    {name}"));
    }
    println!("{}", texts_with_errors(cases, played));
    let all = |_: &str| true;
    println!(
        "faithful, not promoted:\n{}",
        table.surprises(Worth::Faithful, all)
    );
    println!(
        "damaging, promoted:\n{}",
        table.surprises(Worth::Damaging, all)
    );
    table
}

/// The texts that have parse errors as they are, and where.
fn texts_with_errors(cases: &[Case], played: &[Played]) -> String {
    let mut texts: BTreeMap<(&str, bool), BTreeSet<&str>> = BTreeMap::new();
    let mut count = 0;
    for (case, trials) in cases.iter().zip(played) {
        if let Ok(trials) = trials
            && let Some(damaged) = &trials.damaged
        {
            count += 1;
            let key = (case.path.as_str(), case.shows_the_whole_file());
            let text = texts.entry(key).or_default();
            text.extend(damaged.iter().map(String::as_str));
        }
    }
    let mut text = format!("shown texts with parse errors as they are: {count}\n");
    for ((path, is_whole), damaged) in texts {
        let extent = if is_whole { "whole" } else { "part" };
        let damaged: Vec<&str> = damaged.into_iter().collect();
        text.push_str(&format!(
            "    {path} ({extent}): in {}\n",
            damaged.join(", ")
        ));
    }
    text
}

/// How many functions of each class, and of which sizes.
fn composition(cases: &[Case]) -> String {
    let mut classes: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for case in cases {
        let lines = classes
            .entry((case.group, case.function.class_of()))
            .or_default();
        lines.push(case.function.lines);
    }
    let mut text = String::from(
        "| source | class | functions | lines, least | median | most |\n|---|---|--:|--:|--:|--:|\n",
    );
    for ((group, class), mut lines) in classes {
        lines.sort_unstable();
        text.push_str(&format!(
            "| {group} | {class} | {} | {} | {} | {} |\n",
            lines.len(),
            lines[0],
            lines[lines.len() / 2],
            lines[lines.len() - 1]
        ));
    }
    let whole = cases
        .iter()
        .filter(|case| case.shows_the_whole_file())
        .count();
    text.push_str(&format!(
        "{} functions; {whole} shown with their whole file\n",
        cases.len()
    ));
    text
}
