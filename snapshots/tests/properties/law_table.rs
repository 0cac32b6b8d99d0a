//! `docs/law.md` is true: every reason has a row, every story exists, and its golden end holds the row's codes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tslp_core::reason::Reason;

/// The sections of the specification that rule anything.
const SECTIONS: [&str; 40] = [
    "1", "2", "3.1", "3.2", "3.3", "4", "4.1", "5", "6", "7", "8.1", "8.2", "8.3", "8.4", "8.5",
    "9.1", "9.2", "10", "11", "12", "13", "14.1", "14.2", "14.3", "14.4", "14.5", "15.1", "15.2",
    "15.3", "15.4", "15.5", "15.6", "15.7", "15.8", "6 A", "6 B", "engine 4", "engine 5",
    "engine 7", "engine 8",
];

/// One row of a table: where its rule stands, its reason codes, and what shows it.
struct Row {
    sections: Vec<String>,
    reasons: Vec<String>,
    shown_by: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn rows() -> Vec<Row> {
    let page = std::fs::read_to_string(root().join("docs/law.md")).expect("docs/law.md is there");
    page.lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| §"))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
            assert_eq!(cells.len(), 4, "a row has four cells: {line}");
            Row {
                sections: sections(cells[0]),
                reasons: words(cells[2]),
                shown_by: words(cells[3]),
            }
        })
        .collect()
}

/// What stands in backticks.
fn words(cell: &str) -> Vec<String> {
    cell.split('`')
        .skip(1)
        .step_by(2)
        .map(String::from)
        .collect()
}

/// The sections that a row's first cell names; `4.1 (2)` is a step of 4.1.
fn sections(cell: &str) -> Vec<String> {
    let cell = cell.trim_start_matches('|').trim();
    let named = cell
        .split(", ")
        .map(|section| match section.split_once(" (") {
            Some((section, _)) => section,
            None => section,
        });
    named.map(String::from).collect()
}

#[test]
fn every_section_has_a_row() {
    let named: BTreeSet<String> = rows().into_iter().flat_map(|row| row.sections).collect();
    let mut sections = SECTIONS.into_iter();
    // A gate's rules are those of its section.
    let has = |section: &str| {
        named
            .iter()
            .any(|named| named.split(' ').next() == Some(section))
    };
    let missing: Vec<_> = sections
        .by_ref()
        .filter(|section| !named.contains(*section) && !has(section))
        .collect();
    assert!(missing.is_empty(), "without a row: {missing:?}");
}

#[test]
fn every_reason_has_a_row() {
    let named: BTreeSet<String> = rows().into_iter().flat_map(|row| row.reasons).collect();
    let known: BTreeSet<String> = Reason::ALL
        .iter()
        .map(|reason| String::from(reason.code()))
        .collect();
    let missing: Vec<_> = known.difference(&named).collect();
    let unknown: Vec<_> = named.difference(&known).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "without a row: {missing:?}; no reasons: {unknown:?}"
    );
}

#[test]
fn every_row_is_shown() {
    let mut flaws = Vec::new();
    for row in rows() {
        assert!(!row.shown_by.is_empty(), "nothing shows {:?}", row.reasons);
        let mut shown = BTreeSet::new();
        for name in &row.shown_by {
            match name.split_once("::") {
                Some((file, test)) => {
                    let text = std::fs::read_to_string(root().join(file)).unwrap_or_default();
                    if text.contains(&format!("fn {test}(")) {
                        shown.extend(row.reasons.iter().cloned());
                    } else {
                        flaws.push(format!("{file} has no test {test}"));
                    }
                }
                None => {
                    let golden = root().join(format!("snapshots/golden/{name}.snap"));
                    let text = std::fs::read_to_string(golden).unwrap_or_default();
                    if text.is_empty() {
                        flaws.push(format!("there is no story {name}"));
                    }
                    let holds = |code: &&String| {
                        text.split(|c: char| !c.is_ascii_lowercase() && c != '_')
                            .any(|word| word == code.as_str())
                    };
                    shown.extend(row.reasons.iter().filter(holds).cloned());
                }
            }
        }
        for reason in &row.reasons {
            if !shown.contains(reason) {
                flaws.push(format!(
                    "{reason} is in no golden end of {:?}",
                    row.shown_by
                ));
            }
        }
    }
    assert!(flaws.is_empty(), "{}", flaws.join("\n"));
}
