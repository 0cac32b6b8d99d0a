//! `docs/law.md` is true: every reason has a row, every story exists, and its golden end holds the row's codes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tslp_core::reason::Reason;

/// Every rule of the specification, in its order. Who adds a rule adds its row, and who drops a row has to drop it here.
const RULES: &[(&str, &str)] = &[
    (
        "1",
        "No access to the inside of an editor: only what crosses the proxy",
    ),
    ("1", "No write to the file system"),
    ("1", "No access to Git metadata"),
    ("1", "What tools print grants no authority"),
    ("2", "The model is stateless: what it needs is put there"),
    ("2", "The proxy is authoritative"),
    ("2", "State advances by structural proof alone"),
    ("2", "It materialises reality or refuses to act"),
    ("3", "One SQLite database"),
    ("3.1", "Deduplicated by hash"),
    ("3.1", "Never modified"),
    ("3.1", "Never deleted automatically"),
    ("3.2", "Append-only"),
    (
        "3.2",
        "Holds times, prompts, replies, audits and transitions",
    ),
    ("3.2", "Never injected into prompts"),
    ("3.3", "Exactly one authoritative artifact of an entity"),
    ("3.3", "Rebuilt from Vault and ledger"),
    ("3.3", "Nothing outside of it is real"),
    ("4", "CONFIRMED may update the State Map"),
    ("4", "INFERRED is PROPOSED only"),
    ("4", "UNRESOLVED is logged only"),
    ("4.1", "The syntax tree first"),
    (
        "4.1",
        "Then the patterns of `symbols.json`: unique and exact, or in part",
    ),
    ("4.1", "Then overlap with one known entity"),
    ("4.1", "Else UNRESOLVED"),
    ("4.1", "No embeddings and no fuzzy search"),
    ("5", "Four arrows and no others"),
    ("5", "PROPOSED is the default"),
    ("5", "TOMBSTONED is what an authoritative update took out"),
    ("6", "Gate A: resolution is CONFIRMED"),
    ("6", "Gate A: the full definition is there"),
    ("6", "Gate A: structural parity"),
    ("6", "Gate B: the same or an expanded symbol set"),
    ("6", "Gate B: an audit says completed"),
    (
        "6",
        "Gate B: hydrated in the turn before, and the user goes on without replacement content",
    ),
    ("6", "Gate B: the user's code is true at once"),
    ("7", "No loss of top-level symbols"),
    ("7", "The node count may not collapse"),
    ("7", "A collapse of the token count means PROPOSED"),
    (
        "8.1",
        "Names that stand in the State Map are looked for in every prompt",
    ),
    ("8.1", "Their full content is injected"),
    ("8.2", "The template, to the letter"),
    ("8.3", "The notice after what was INFERRED or UNRESOLVED"),
    ("8.4", "The last four pairs"),
    ("8.4", "4 KB of a message, cut hard"),
    ("8.4", "System, code, recent context, prompt"),
    ("8.4", "Strict delimiters"),
    ("8.4", "It never affects the State Map"),
    ("8.5", "Tool calls and results are on record"),
    (
        "8.5",
        "A closed tool block is executed, its result injected, and the model goes on",
    ),
    ("8.5", "They never advance state"),
    ("9.1", "The user's code is resolved and true at once"),
    ("9.1", "What the model made before is superseded"),
    ("9.1", "The user always wins"),
    ("9.2", "An omitted symbol is TOMBSTONED"),
    ("9.2", "Removed from hydration"),
    ("9.2", "Kept for N episodes, 10 by default"),
    (
        "10",
        "The user's stream comes at once, the audit after it, in one turn",
    ),
    (
        "10",
        "The answer is an entity and completed, partial or discussion",
    ),
    ("10", "Its result is on record; a late one only takes away"),
    ("10", "It never blocks the user"),
    ("11", "Likeness is asked of known entities alone"),
    ("11", "It introduces none"),
    ("11", "It advances nothing by itself"),
    ("12", "Resolution fails: nothing changes"),
    ("12", "A base that isn't acknowledged: PROPOSED"),
    (
        "12",
        "A rename without confirmation: the old name stays, and it is said",
    ),
    ("13", "SQLite with a WAL, and syntax trees"),
    ("13", "The first chunk isn't held up"),
    ("13", "Memory is bounded"),
    ("14.1", "Never visible to the model"),
    ("14.2", "Read-only: no state, no artifact, no event"),
    ("14.2", "No call of the model"),
    ("14.2", "Deterministic"),
    ("14.3", "`/health`: the process lives"),
    (
        "14.3",
        "`/doctor`: integrity, WAL, migrations, disk space, grammars, model; it fixes nothing",
    ),
    (
        "14.3",
        "`/recent`: the last N episodes, their entities and states; metadata",
    ),
    (
        "14.3",
        "`/state`: the whole State Map, no history and nothing inferred",
    ),
    (
        "14.3",
        "`/debug/last-prompt`: exactly what the model saw, with debug alone",
    ),
    ("14.4", "Six endpoints that must not exist"),
    ("14.5", "No endpoint changes what the model sees"),
    ("15.1", "Never unaware of divergence"),
    (
        "15.2",
        "The user's paste, the disk, the State Map, the model: in this order",
    ),
    (
        "15.2",
        "Disk verifies and never changes the state by itself",
    ),
    (
        "15.3",
        "Files may be read, hashed and parsed; nothing is written, applied or synced",
    ),
    (
        "15.4",
        "STALE where the file exists and differs; derived, not stored",
    ),
    ("15.4", "Not hydrated"),
    ("15.4", "No base of a promotion"),
    ("15.4", "A STATE NOTICE"),
    ("15.4", "Blocks the model's promotions"),
    ("15.5", "Before each promotion: resolution, parity, disk"),
    ("15.5", "The user alone ends STALE"),
    ("15.6", "What refers to a STALE base is invalid"),
    (
        "15.6",
        "The model never sees stale code, in older messages neither",
    ),
    ("15.7", "`/state`: artifact, last_updated, stale"),
    (
        "15.7",
        "`/doctor`: how many are STALE, and what can't be read",
    ),
    (
        "15.8",
        "A contradiction stops the proxy until the user says what holds",
    ),
    (
        "15.8",
        "No guessing and no silent repair: nothing is written over a record that nobody verified",
    ),
];

/// One row of a table: its reason codes, and what shows it.
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
                reasons: words_in_backticks(cells[2]),
                shown_by: words_in_backticks(cells[3]),
            }
        })
        .collect()
}

/// The texts in backticks.
fn words_in_backticks(cell: &str) -> Vec<String> {
    cell.split('`')
        .skip(1)
        .step_by(2)
        .map(String::from)
        .collect()
}

#[test]
fn every_rule_of_the_specification_has_a_row() {
    let page = std::fs::read_to_string(root().join("docs/law.md")).expect("docs/law.md is there");
    let (_, table) = page
        .split_once("| § | rule of the specification |")
        .expect("the page has the table");
    let rows: Vec<(&str, &str)> = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with("| "))
        .filter_map(|line| {
            let mut cells = line.trim_start_matches("| ").split(" | ");
            Some((cells.next()?, cells.next()?))
        })
        .collect();
    assert_eq!(rows, RULES);
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
