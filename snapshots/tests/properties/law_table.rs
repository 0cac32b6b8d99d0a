//! `docs/law.md` is true: every reason has a row, every story exists, and its golden end holds the row's codes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tslp_core::reason::Reason;

/// One row of a table: reason codes, and what shows them.
struct Row {
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
