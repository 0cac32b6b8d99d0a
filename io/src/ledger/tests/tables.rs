//! Projection tables: made, changed, read, found out of date, made anew.

use super::*;
use crate::ledger::tables::TablesState;

fn state(path: &str, symbol: &str, note: Option<&str>) -> Vec<Value> {
    vec![path.into(), symbol.into(), note.into()]
}

fn rows(log: &SqliteLog, table: usize) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    log.read_table(table, &mut |row| {
        rows.push(row);
        ControlFlow::Continue(())
    })
    .unwrap();
    rows
}

/// Appends the next event with these changes.
fn change(log: &mut SqliteLog, changes: &[RowChange]) -> Result<Head, String> {
    let head = log.head().map_err(|error| error.to_string())?;
    let next = stored(head.chain, head.seq.0 + 1);
    log.append_with(head.seq, &[next], changes)
        .map_err(|error| format!("{error:?}"))
}

fn check_rebuild(fixture: &Fixture, word: &str) {
    match fixture.open().tables {
        TablesState::Rebuild { reason } => assert!(reason.contains(word), "{reason}"),
        TablesState::Current => panic!("tables were taken for current"),
    }
}

fn rebuild(log: &mut SqliteLog) {
    let head = log.head().unwrap().seq;
    let mut rebuild = log.rebuild().unwrap();
    assert_eq!(rebuild.recreate(VAULT, []).unwrap(), 0);
    assert_eq!(
        rebuild.recreate(STATE, [state("a.c", "f", None)]).unwrap(),
        1
    );
    rebuild.recreate(ORDER, [vec![Value::Integer(1)]]).unwrap();
    rebuild.commit(head).unwrap();
}

#[test]
fn rows_are_put_replaced_removed_and_read_in_key_order() {
    let fixture = Fixture::new();
    let mut log = fixture.open().log;
    change(
        &mut log,
        &[
            put(STATE, state("b.c", "f", None)),
            put(STATE, state("a.c", "g", Some("first"))),
            put(STATE, state("a.c", "f", None)),
            put(STATE, state("a.c", "g", Some("second"))),
            RowChange {
                table: STATE,
                change: Change::Remove(vec!["b.c".into(), "f".into()]),
            },
            RowChange {
                table: STATE,
                change: Change::Remove(vec!["never".into(), "there".into()]),
            },
        ],
    )
    .unwrap();
    let expected = [state("a.c", "f", None), state("a.c", "g", Some("second"))];
    assert_eq!(rows(&log, STATE), expected);
    drop(log);
    let opened = fixture.open();
    assert_eq!(opened.tables, TablesState::Current);
    assert_eq!(rows(&opened.log, STATE), expected);
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    for misfit in [
        put(STATE, vec!["a.c".into()]),
        put(STATE, vec![Value::Null, "f".into(), Value::Null]),
        put(ORDER, vec!["text".into()]),
        put(9, vec![]),
        RowChange {
            table: STATE,
            change: Change::Remove(vec!["a.c".into()]),
        },
    ] {
        let fixture = Fixture::new();
        let mut log = fixture.open().log;
        change(&mut log, &[misfit]).unwrap_err();
        drop(log);
        assert_eq!(fixture.open().log.head().unwrap().seq, Seq(0));
    }
}

#[test]
fn an_append_only_table_takes_new_rows_alone() {
    let fixture = Fixture::new();
    let mut log = fixture.open().log;
    let row = |byte: u8, seq: u64| put(VAULT, vec![(&[byte; 32]).into(), seq.into()]);
    change(&mut log, &[row(1, 1), row(2, 1)]).unwrap();
    change(&mut log, &[row(1, 1)]).unwrap();
    let shell = fixture.shell();
    for sql in [
        "UPDATE vault SET seq = 2",
        "DELETE FROM vault",
        "INSERT OR REPLACE INTO vault SELECT hash, 9 FROM vault",
    ] {
        let error = shell.execute(sql, []).unwrap_err().to_string();
        assert!(error.contains("vault is append-only"), "{sql}: {error}");
    }
    drop(shell);
    let error = change(&mut log, &[row(1, 7)]).unwrap_err();
    assert!(error.contains("append-only"), "{error}");
}

#[test]
fn events_appended_without_rows_leave_tables_to_rebuild() {
    let fixture = Fixture::new();
    let mut log = fixture.open().log;
    let head = append_one(&mut log, 1);
    log.append(Seq(1), &[stored(head.chain, 2)]).unwrap();
    // Later rows don't hide the gap.
    append_one(&mut log, 3);
    drop(log);
    check_rebuild(&fixture, "tables stand at #1, the ledger at #3");
    rebuild(&mut fixture.open().log);
    let opened = fixture.open();
    assert_eq!(opened.tables, TablesState::Current);
    assert_eq!(rows(&opened.log, STATE), [state("a.c", "f", None)]);
    assert_eq!(rows(&opened.log, ORDER), [vec![Value::Integer(1)]]);
}

#[test]
fn tables_that_are_damaged_missing_or_of_another_version_are_rebuilt() {
    let fixture = Fixture::new();
    fixture.filled(2);
    for (sql, word) in [
        ("DROP TABLE state", "state is missing"),
        ("ALTER TABLE state ADD COLUMN extra TEXT", "was altered"),
        (
            "UPDATE meta SET value = 9 WHERE key = 'table:state'",
            "should have version 1, there is 9",
        ),
        ("DELETE FROM meta WHERE key = 'applied_seq'", "never filled"),
        ("DROP TRIGGER vault_refuses_update", "vault is missing or"),
    ] {
        fixture.shell().execute_batch(sql).unwrap();
        check_rebuild(&fixture, word);
        rebuild(&mut fixture.open().log);
        assert_eq!(fixture.open().tables, TablesState::Current, "{sql}");
    }
}

#[test]
fn a_rebuild_that_is_dropped_leaves_the_old_rows() {
    let fixture = Fixture::new();
    let mut log = fixture.open().log;
    change(&mut log, &[put(STATE, state("a.c", "f", None))]).unwrap();
    let mut rebuild = log.rebuild().unwrap();
    rebuild.recreate(STATE, []).unwrap();
    drop(rebuild);
    assert_eq!(rows(&log, STATE), [state("a.c", "f", None)]);
    assert_eq!(log.tables_state().unwrap(), TablesState::Current);
    append_one(&mut log, 2);
}

#[test]
fn tables_of_projections_that_are_no_more_are_dropped() {
    let mut fixture = Fixture::new();
    fixture.filled(1);
    fixture.options.tables = &[];
    let mut log = fixture.open().log;
    let head = log.head().unwrap().seq;
    log.rebuild().unwrap().commit(head).unwrap();
    drop(log);
    let left: i64 = fixture
        .shell()
        .query_row(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('vault', 'state', 'order')",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(left, 0);
}
